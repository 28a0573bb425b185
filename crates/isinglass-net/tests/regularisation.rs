//! What keeps a network from learning its examples by heart, setting by setting, on networks where one step can be worked out by hand.

use isinglass_net::{Examples, Goal, Init, Network, Neuron, Optimizer, Schedule, Surrogate, TrainConfig, Trainer};

const INPUTS: usize = 9;
const WIDTH: usize = 40;
const CLASSES: usize = 3;

/// Real weights and gradient descent: a step is the gradient.
fn settings() -> TrainConfig {
    TrainConfig {
        goal: Goal::Surrogate,
        optimizer: Optimizer::Sgd,
        lr: 0.1,
        schedule: Schedule::Constant,
        epochs: 1,
        batch: 64,
        validation: 0.0,
        ..TrainConfig::default()
    }
}

fn network() -> Network {
    let builder =
        Network::builder(INPUTS).hidden([WIDTH, WIDTH]).classes(CLASSES).surrogate(Surrogate::Continuous).neuron(Neuron::Tanh(1.0));
    builder.init(Init::Uniform, 2).unwrap()
}

fn data(count: usize) -> (Vec<u8>, Vec<u8>) {
    let values = (0..count * INPUTS).map(|i| ((i * 7919 + i / INPUTS * 104_729) % 251) as u8).collect();
    (values, (0..count).map(|i| (i % CLASSES) as u8).collect())
}

/// The network at the end of a run on `count` examples.
fn trained(config: TrainConfig, count: usize) -> Network {
    let (values, labels) = data(count);
    let examples = Examples::new(&values, INPUTS, &labels, CLASSES).unwrap();
    Trainer::new(network(), config, &examples).unwrap().run(|_| {}).unwrap()
}

#[test]
fn smoothed_labels_are_the_targets_of_the_loss() {
    let (values, labels) = data(10);
    let smoothing = 0.3;
    let before = network();
    let after = trained(TrainConfig { label_smoothing: smoothing, ..settings() }, 10);
    // The trainer chose the preprocessing; the initial network with it gives the probabilities of the step.
    let mut start = before.clone();
    start.set_input(after.input().clone()).unwrap();
    let prediction = start.surrogate().predict(&values).unwrap();
    for class in 0..CLASSES {
        let gradient: f64 = prediction
            .probabilities()
            .chunks(CLASSES)
            .zip(&labels)
            .map(|(p, &label)| {
                let target =
                    if usize::from(label) == class { 1.0 - smoothing + smoothing / CLASSES as f64 } else { smoothing / CLASSES as f64 };
                (p[class] - target) / 10.0
            })
            .sum();
        let moved = f64::from(before.output().bias()[class] - after.output().bias()[class]);
        assert!((moved - 0.1 * gradient).abs() < 1e-6, "class {class}: {moved} for {}", 0.1 * gradient);
    }
}

#[test]
fn weight_decay_shrinks_weights_by_a_fraction_of_the_rate() {
    let (plain, decayed) = (trained(settings(), 10), trained(TrainConfig { weight_decay: 0.5, ..settings() }, 10));
    for ((start, plain), decayed) in network().layers().iter().zip(plain.layers()).zip(decayed.layers()) {
        for ((start, plain), decayed) in start.means().iter().zip(plain.means()).zip(decayed.means()) {
            assert!((plain - decayed - 0.1 * 0.5 * start).abs() < 1e-6, "{start}: {plain} and {decayed}");
        }
        assert_eq!(plain.bias(), decayed.bias(), "biases do not decay");
    }
}

#[test]
fn weights_of_neurons_left_out_do_not_move() {
    // One example: a neuron that is left out gives no gradient to the weights above it.
    let rate = 0.4;
    let mut still = 0;
    let trials = 20;
    for seed in 0..trials {
        let (values, labels) = data(1);
        let examples = Examples::new(&values, INPUTS, &labels, CLASSES).unwrap();
        let config = TrainConfig { dropout: rate, seed, ..settings() };
        let after = Trainer::new(network(), config, &examples).unwrap().run(|_| {}).unwrap();
        let (before, after) = (&network().layers()[1].clone(), &after.layers()[1]);
        still += (0..WIDTH).filter(|&input| (0..WIDTH).all(|unit| before.row(unit)[input] == after.row(unit)[input])).count();
    }
    let found = still as f64 / (trials as usize * WIDTH) as f64;
    assert!((found - rate).abs() < 0.07, "{found}");
}

#[test]
fn weights_of_inputs_left_out_do_not_move() {
    let (values, labels) = data(1);
    let examples = Examples::new(&values, INPUTS, &labels, CLASSES).unwrap();
    let mut still = 0;
    for seed in 0..100 {
        let config = TrainConfig { input_dropout: 0.3, seed, ..settings() };
        let after = Trainer::new(network(), config, &examples).unwrap().run(|_| {}).unwrap();
        let (before, after) = (&network().layers()[0].clone(), &after.layers()[0]);
        still += (0..INPUTS).filter(|&input| (0..WIDTH).all(|unit| before.row(unit)[input] == after.row(unit)[input])).count();
    }
    let found = still as f64 / (100.0 * INPUTS as f64);
    assert!((found - 0.3).abs() < 0.06, "{found}");
}

#[test]
fn the_average_is_over_the_ends_of_the_last_epochs() {
    let config = TrainConfig { epochs: 3, batch: 4, ..settings() };
    let (values, labels) = data(12);
    let examples = Examples::new(&values, INPUTS, &labels, CLASSES).unwrap();
    let mut trainer = Trainer::new(network(), config.clone(), &examples).unwrap();
    let mut ends = Vec::new();
    while !trainer.is_finished() {
        if trainer.step().unwrap().epoch.is_some() {
            ends.push(trainer.network().unwrap());
        }
    }
    let averaged = trained(TrainConfig { average: 2, ..config }, 12);
    for (layer, found) in averaged.layers().iter().enumerate() {
        let parts = |network: &Network| [network.layers()[layer].means(), network.layers()[layer].bias()].concat();
        let expected = parts(&ends[1]).iter().zip(parts(&ends[2])).map(|(a, b)| 0.5 * (a + b)).collect::<Vec<_>>();
        let found = [found.means(), found.bias()].concat();
        assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-6), "layer {layer}");
    }
    assert_ne!(averaged, ends[2]);
}

#[test]
fn averaged_binary_networks_are_binary() {
    let (values, labels) = data(60);
    let examples = Examples::new(&values, INPUTS, &labels, CLASSES).unwrap();
    let network = Network::builder(INPUTS).hidden([21]).classes(CLASSES).init(Init::Auto, 1).unwrap();
    let config = TrainConfig { epochs: 5, average: 4, validation: 0.2, ..TrainConfig::default() };
    let mut last = None;
    let network = Trainer::new(network, config, &examples).unwrap().run(|epoch| last = epoch.validation_binary).unwrap();
    assert!(network.layers().iter().flat_map(|layer| layer.means()).all(|m| m.abs() == 1.0));
    assert!(last.is_some(), "the last epoch's score is that of the average");
}

#[test]
fn impossible_settings_are_refused() {
    let (values, labels) = data(10);
    let examples = Examples::new(&values, INPUTS, &labels, CLASSES).unwrap();
    for (config, reason) in [
        (TrainConfig { input_dropout: 1.0, ..settings() }, "input-dropout = 1"),
        (TrainConfig { dropout: -0.1, ..settings() }, "dropout = -0.1"),
        (TrainConfig { dropout: f64::NAN, ..settings() }, "dropout = NaN"),
        (TrainConfig { label_smoothing: 1.0, ..settings() }, "label-smoothing = 1"),
        (TrainConfig { adversarial: -0.1, ..settings() }, "adversarial = -0.1"),
        (TrainConfig { adversarial: f64::NAN, ..settings() }, "adversarial = NaN"),
        (TrainConfig { weight_decay: 11.0, ..settings() }, "weight-decay = 11"),
        (TrainConfig { weight_decay: f64::NAN, ..settings() }, "weight-decay = NaN"),
        (TrainConfig { average: 2, ..settings() }, "there are epochs, 1"),
        (TrainConfig { augment: 3, ..settings() }, "only 3 pixels"),
    ] {
        let error = Trainer::new(network(), config, &examples).map(drop).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
    let row = Examples::new(&values[..60], 6, &labels[..10], CLASSES).unwrap();
    let network = Network::builder(6).hidden([4]).classes(CLASSES).init(Init::Auto, 1).unwrap();
    let error = Trainer::new(network, TrainConfig { augment: 1, ..TrainConfig::default() }, &row).map(drop).unwrap_err().to_string();
    assert!(error.contains("square"), "{error}");
}
