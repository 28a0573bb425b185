//! A study: how independent the neurons of a layer are before and after training (the paper's Assumption 2), measured exactly in tiny networks.
//!
//! `cargo run --release -p isinglass-net --example factorisation` prints the table of `docs/accuracy.md` and checks what is said there about it.

#[allow(dead_code, reason = "the study uses a part")]
#[path = "../tests/support"]
mod support {
    pub mod networks;
    pub mod oracle;
    pub mod problem;
    pub mod random;
    pub mod reference;
}

use isinglass_net::{Goal, Init, Network, NetworkConfig, Neuron, Surrogate, TrainConfig, Trainer};
use support::networks::{changed, oracle_arrays};
use support::oracle;
use support::problem::Problem;
use support::random::Random;

const RUNS: u64 = 5;

/// Averages over the examples.
#[derive(Clone, Copy, Default, Debug)]
struct Row {
    /// `factorisation_error` of hidden layers 2 and 3.
    largest: [f64; 2],
    /// Mean square of the means of these layers.
    sigma_m2: f64,
    accuracy: f64,
}

fn measure(network: &Network, problem: &Problem, neuron: oracle::Neuron) -> Row {
    let (means, biases) = oracle_arrays(network);
    let mut row = Row::default();
    let inputs = problem.values.chunks(problem.features);
    let count = inputs.len() as f64;
    for picture in inputs {
        let input: Vec<f64> = picture.iter().map(|&v| f64::from(network.input().preprocessing().apply(f32::from(v)))).collect();
        let errors = oracle::factorisation_error(&means, &biases, &input, neuron);
        assert!(errors[0] < 1e-9, "neurons of the first layer share nothing: {}", errors[0]);
        row.largest[0] += errors[1] / count;
        row.largest[1] += errors[2] / count;
    }
    let hidden: Vec<f64> = means[1..3].iter().flatten().flatten().map(|m| m * m).collect();
    row.sigma_m2 = hidden.iter().sum::<f64>() / hidden.len() as f64;
    row.accuracy = network.surrogate().score(&problem.examples(), None).unwrap().accuracy;
    row
}

fn mean(rows: &[Row]) -> Row {
    let over = |value: &dyn Fn(&Row) -> f64| rows.iter().map(value).sum::<f64>() / rows.len() as f64;
    Row {
        largest: [over(&|row| row.largest[0]), over(&|row| row.largest[1])],
        sigma_m2: over(&|row| row.sigma_m2),
        accuracy: over(&|row| row.accuracy),
    }
}

fn main() {
    println!("| neuron | N | | σ_m² | largest pair: layer 2 | 3 | accuracy |\n|---|---|---|---|---|---|---|");
    let neurons = [
        (Neuron::Sign, oracle::Neuron::Sign),
        (Neuron::Probit(1.0), oracle::Neuron::Probit(1.0)),
        (Neuron::Logistic(1.0), oracle::Neuron::Logistic(1.0)),
    ];
    for (neuron, exact) in neurons {
        for width in [4, 6] {
            let (mut before, mut after, mut control) = (Vec::new(), Vec::new(), Vec::new());
            for seed in 1..=RUNS {
                let problem = Problem::pictures(6, 3, 24, 0.2, seed);
                let config = NetworkConfig {
                    inputs: 6,
                    hidden: vec![width; 3],
                    classes: 3,
                    surrogate: Surrogate::Deterministic,
                    neuron,
                    init: Init::Uniform,
                    sigma_m2: Some(1.0 / 3.0),
                    sigma_b2: Some(0.01),
                    ..NetworkConfig::default()
                };
                let train = TrainConfig {
                    goal: Goal::Surrogate,
                    lr: 0.05,
                    batch: 24,
                    epochs: 150,
                    validation: 0.0,
                    seed,
                    ..TrainConfig::default()
                };
                let mut trainer = Trainer::new(config.init(seed).unwrap(), train, &problem.examples()).unwrap().with_threads(1);
                before.push(measure(&trainer.network().unwrap(), &problem, exact));
                while !trainer.is_finished() {
                    trainer.step().unwrap();
                }
                let network = trainer.into_network().unwrap();
                after.push(measure(&network, &problem, exact));
                // Means as large as the trained ones, but with nothing in common.
                let mut random = Random(seed);
                let redrawn = changed(network, |_, means, _| means.iter_mut().for_each(|mean| *mean *= random.spin() as f32));
                control.push(measure(&redrawn, &problem, exact));
            }
            let (before, after, control) = (mean(&before), mean(&after), mean(&control));
            for (when, row) in [("before training", before), ("after", after), ("after, random signs", control)] {
                let Row { largest: [second, third], sigma_m2, accuracy } = row;
                println!("| {neuron} | {width} | {when} | {sigma_m2:.2} | {second:.3} | {third:.3} | {accuracy:.2} |");
            }
            assert!(after.accuracy > before.accuracy + 0.3, "{neuron} {width}: nothing was learned");
            assert!(after.sigma_m2 > 0.8, "{neuron} {width}: means did not polarise, {}", after.sigma_m2);
            // The surrogate is least true where training takes it.
            assert!(after.largest[0] > 1.5 * before.largest[0] && after.largest[1] > 2.0 * before.largest[1], "{neuron} {width}");
            // In the last hidden layer that is not only because the means have grown. (Signs without noise vary too much between runs to tell.)
            if neuron != Neuron::Sign {
                let (trained, chance) = (after.largest[1], control.largest[1]);
                assert!(trained > 1.2 * chance, "{neuron} {width}: {trained} after training, {chance} by chance");
            }
        }
    }
}
