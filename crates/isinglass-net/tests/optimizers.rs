//! The trainer's steps against an independent `f64` version of optimisers, schedules and parametrisations; only the gradients are the engine's.

mod support;

use std::f64::consts::PI;

use isinglass_net::{
    AnnealOrder, Goal, Gradients, Init, Layer, Means, Network, NetworkConfig, Neuron, Optimizer, Rng, Schedule, Surrogate, TrainConfig,
    Trainer,
};
use support::networks::changed;
use support::problem::Problem;

/// One array of parameters with the optimiser's memories.
struct Parameters {
    theta: Vec<f64>,
    m: Vec<f64>,
    v: Vec<f64>,
}

impl Parameters {
    fn new(theta: Vec<f64>) -> Self {
        Self { m: vec![0.0; theta.len()], v: vec![0.0; theta.len()], theta }
    }

    /// Step `t`, counted from 1 (Kingma & Ba 2015; Polyak 1964; Tieleman & Hinton 2012).
    fn step(&mut self, optimizer: Optimizer, lr: f64, t: i32, gradient: &[f64]) {
        for (i, &g) in gradient.iter().enumerate() {
            let (m, v) = (&mut self.m[i], &mut self.v[i]);
            self.theta[i] -= match optimizer {
                Optimizer::Adam => {
                    *m = 0.9 * *m + 0.1 * g;
                    *v = 0.999 * *v + 0.001 * g * g;
                    let (m_hat, v_hat) = (*m / (1.0 - 0.9f64.powi(t)), *v / (1.0 - 0.999f64.powi(t)));
                    lr * m_hat / (v_hat.sqrt() + 1e-8)
                }
                Optimizer::Sgd => lr * g,
                Optimizer::Momentum => {
                    *m = 0.9 * *m + g;
                    lr * *m
                }
                Optimizer::Rmsprop => {
                    *v = 0.99 * *v + 0.01 * g * g;
                    lr * g / (v.sqrt() + 1e-8)
                }
            };
        }
    }
}

/// How parameters become means.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Free,
    Clip,
    Tanh,
    Sign,
}

impl Kind {
    fn of(surrogate: Surrogate, means: Means) -> Self {
        match (surrogate, means) {
            (Surrogate::Continuous, _) => Self::Free,
            (Surrogate::Ste, _) => Self::Sign,
            (_, Means::Clip) => Self::Clip,
            (_, Means::Tanh) => Self::Tanh,
        }
    }

    fn parameter(self, mean: f64) -> f64 {
        if let Self::Tanh = self { mean.atanh() } else { mean }
    }

    fn mean(self, theta: f64, beta: f64) -> f64 {
        match self {
            Self::Free => theta,
            Self::Clip => (beta * theta).clamp(-1.0, 1.0),
            Self::Tanh => (beta * theta).tanh(),
            Self::Sign => support::reference::sign(theta),
        }
    }

    /// `∂M/∂θ`. Clipping is passed straight through: a mean at ±1 must be able to come back.
    fn slope(self, theta: f64, beta: f64) -> f64 {
        match self {
            Self::Free | Self::Sign => 1.0,
            Self::Clip => beta,
            Self::Tanh => beta * (beta * theta).cosh().powi(-2),
        }
    }

    fn bounds(self, theta: f64) -> f64 {
        if let Self::Clip | Self::Sign = self { theta.clamp(-1.0, 1.0) } else { theta }
    }
}

/// The factor of the learning rate in a step, counted from 0.
fn rate(schedule: Schedule, step: u64, steps: u64, steps_per_epoch: u64) -> f64 {
    match schedule {
        Schedule::Constant => 1.0,
        Schedule::Cosine => (0.5 * PI * step as f64 / steps as f64).cos().powi(2),
        Schedule::Step { epochs, factor } => {
            let epoch = (step / steps_per_epoch) as usize;
            (0..epoch / epochs).fold(1.0, |rate, _| rate * factor)
        }
    }
}

/// `β` of one of three layers: 1 in the first half of a run of 12 steps, then growing by the same factor in every step, to 20 in the last; front to back, each layer has a third of that time.
fn beta(config: &TrainConfig, step: u64, layer: usize) -> f64 {
    let fifths = step.saturating_sub(6) as f64;
    match (config.goal, config.anneal_order) {
        (Goal::Surrogate, _) => 1.0,
        (Goal::Binary, AnnealOrder::Together) => 20f64.powf(fifths / 5.0),
        (Goal::Binary, AnnealOrder::FrontToBack) => {
            let begins = layer as f64 * 5.0 / 3.0;
            20f64.powf(((fifths - begins) / (5.0 / 3.0)).clamp(0.0, 1.0))
        }
    }
}

/// Nineteen of 21 examples are trained with: batches of 7, 7 and 5, for four epochs.
fn config(optimizer: Optimizer, means: Means, goal: Goal, schedule: Schedule) -> TrainConfig {
    let lr = if matches!(optimizer, Optimizer::Adam | Optimizer::Rmsprop) { 0.02 } else { 0.3 };
    TrainConfig {
        optimizer,
        means,
        goal,
        schedule,
        lr,
        anneal_from: 0.5,
        beta: 20.0,
        batch: 7,
        epochs: 4,
        validation: 0.1,
        seed: 6,
        ..TrainConfig::default()
    }
}

fn network(problem: &Problem, surrogate: Surrogate, neuron: Neuron) -> Network {
    let config = NetworkConfig {
        inputs: problem.features,
        hidden: vec![5; 2],
        classes: problem.classes,
        surrogate,
        neuron,
        init: Init::Uniform,
        sigma_m2: Some(0.3),
        sigma_b2: Some(0.1),
        ..NetworkConfig::default()
    };
    // A neuron with the same weight to every class has a gradient of 0, of which Adam would make steps of pure rounding errors.
    changed(config.init(3).unwrap(), |layer, means, _| {
        if layer == 2 {
            means[..5].iter_mut().for_each(|mean| *mean = mean.abs());
            means[5..10].iter_mut().for_each(|mean| *mean = -mean.abs());
        }
    })
}

fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&value| f64::from(value)).collect()
}

fn check(surrogate: Surrogate, neuron: Neuron, config: TrainConfig) {
    let label = format!("{surrogate} {} {} {} {}", config.optimizer, config.means, config.goal, config.schedule);
    let problem = Problem::pictures(6, 3, 21, 0.4, 12);
    let examples = problem.examples();
    let kind = Kind::of(surrogate, config.means);
    let mut trainer = Trainer::new(network(&problem, surrogate, neuron), config.clone(), &examples).unwrap().with_threads(1);
    let start = network(&problem, surrogate, neuron);
    let input = trainer.network().unwrap().input().clone();
    let parameters = |layer: &Layer| {
        let theta = layer.means().iter().map(|&mean| kind.parameter(f64::from(mean))).collect();
        (Parameters::new(theta), Parameters::new(wide(layer.bias())))
    };
    let mut plain: Vec<(Parameters, Parameters)> = start.layers().iter().map(parameters).collect();

    let (steps, steps_per_epoch) = (12, 3);
    assert_eq!((trainer.progress().steps, trainer.progress().steps_per_epoch), (steps, steps_per_epoch));
    for step in 0..steps {
        let beta_now = |layer: usize| beta(&config, step, layer);
        let mut network = changed(start.clone(), |layer, means, bias| {
            let (of_means, of_bias) = &plain[layer];
            means.iter_mut().zip(&of_means.theta).for_each(|(mean, &theta)| *mean = kind.mean(theta, beta_now(layer)) as f32);
            bias.iter_mut().zip(&of_bias.theta).for_each(|(bias, &b)| *bias = b as f32);
        });
        network.set_input(input.clone()).unwrap();
        let mut order = trainer.partition().train().to_vec();
        Rng::new(6).stream(Rng::SHUFFLE, step / steps_per_epoch).shuffle(&mut order);
        let batch = order.chunks(7).nth((step % steps_per_epoch) as usize).unwrap();
        let gradients = Gradients::new(&network, &examples, batch, true, 1).unwrap();

        let lr = config.lr * rate(config.schedule, step, steps, steps_per_epoch);
        for (layer, ((means, bias), gradient)) in plain.iter_mut().zip(&gradients.layers).enumerate() {
            let beta = beta_now(layer);
            let divides = config.anneal_order == AnnealOrder::FrontToBack && matches!(kind, Kind::Clip | Kind::Tanh);
            let of_theta: Vec<f64> =
                means.theta.iter().zip(&gradient.means).map(|(&theta, &g)| f64::from(g) * kind.slope(theta, beta)).collect();
            means.step(config.optimizer, if divides { lr / beta } else { lr }, step as i32 + 1, &of_theta);
            means.theta.iter_mut().for_each(|theta| *theta = kind.bounds(*theta));
            bias.step(config.optimizer, lr, step as i32 + 1, &wide(&gradient.bias));
        }

        let report = trainer.step().unwrap();
        assert!((f64::from(report.loss) - gradients.loss).abs() < 2e-5, "{label}: loss {} in step {step}", report.loss);
        if let Some(epoch) = report.epoch {
            // Real and latent weights have no β.
            let beta = if matches!(kind, Kind::Clip | Kind::Tanh) { beta_now(2) } else { 1.0 };
            assert!((epoch.lr - lr).abs() < 1e-12 * config.lr && (epoch.beta - beta).abs() < 1e-9, "{label}: {epoch:?}");
        }
        let is_polarised = step + 1 == steps && config.goal == Goal::Binary;
        for (index, (layer, (means, bias))) in trainer.network().unwrap().layers().iter().zip(&plain).enumerate() {
            let next = beta(&config, (step + 1).min(steps - 1), index);
            let mean = |&theta: &f64| if is_polarised { support::reference::sign(theta) } else { kind.mean(theta, next) };
            let expected: Vec<f64> = means.theta.iter().map(mean).collect();
            for (what, ours, expected) in [("means", layer.means(), &expected), ("biases", layer.bias(), &bias.theta)] {
                let worst = ours.iter().zip(expected).map(|(&a, &b)| (f64::from(a) - b).abs()).fold(0.0, f64::max);
                assert!(worst < 5e-5, "{label}: {what} of layer {index} are off by {worst:e} after step {step}");
            }
        }
    }
    let moved = trainer.network().unwrap().layers().iter().zip(start.layers()).all(|(now, then)| now.bias() != then.bias());
    assert!(moved, "{label}: nothing was trained");
}

const SCHEDULES: [Schedule; 3] = [Schedule::Constant, Schedule::Cosine, Schedule::Step { epochs: 1, factor: 0.5 }];

#[test]
fn bounded_means_follow_the_textbook_updates() {
    for &optimizer in Optimizer::ALL {
        for &means in Means::ALL {
            for &goal in Goal::ALL {
                for schedule in SCHEDULES {
                    check(Surrogate::Deterministic, Neuron::Probit(0.5), config(optimizer, means, goal, schedule));
                }
            }
        }
    }
}

#[test]
fn layers_are_polarised_one_after_the_other() {
    for &optimizer in Optimizer::ALL {
        for &means in Means::ALL {
            let config = config(optimizer, means, Goal::Binary, Schedule::Cosine);
            check(Surrogate::Deterministic, Neuron::Probit(0.5), TrainConfig { anneal_order: AnnealOrder::FrontToBack, ..config });
        }
    }
    let config = config(Optimizer::Adam, Means::Tanh, Goal::Binary, Schedule::Constant);
    check(Surrogate::Ste, Neuron::Sign, TrainConfig { anneal_order: AnnealOrder::FrontToBack, ..config });
}

#[test]
fn real_and_latent_weights_follow_the_textbook_updates() {
    for &optimizer in Optimizer::ALL {
        for schedule in SCHEDULES {
            check(Surrogate::Continuous, Neuron::Tanh(1.0), config(optimizer, Means::Clip, Goal::Surrogate, schedule));
            check(Surrogate::Ste, Neuron::Sign, config(optimizer, Means::Tanh, Goal::Surrogate, schedule));
        }
    }
}

#[test]
fn schedules_change_the_rate_at_the_right_steps() {
    let every_second = Schedule::Step { epochs: 2, factor: 0.1 };
    let rates: Vec<f64> = (0..10).map(|step| every_second.factor(step, 10, 2)).collect();
    let expected = [1.0, 1.0, 1.0, 1.0, 0.1, 0.1, 0.1, 0.1, 0.01, 0.01];
    assert!(rates.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15), "{rates:?}");
    assert_eq!(Schedule::Cosine.factor(0, 100, 10), 1.0);
    assert!((Schedule::Cosine.factor(50, 100, 10) - 0.5).abs() < 1e-15);
    assert!(Schedule::Cosine.factor(99, 100, 10) < 3e-4);
    assert_eq!(Schedule::Constant.factor(99, 100, 10), 1.0);
    for text in ["constant", "cosine", "step:3:0.25"] {
        assert_eq!(text.parse::<Schedule>().unwrap().to_string(), text);
    }
    for text in ["linear", "step:0:0.5", "step:3:2", "step:3:0.5:1", "step:x", ""] {
        assert!(text.parse::<Schedule>().is_err(), "{text}");
    }
}
