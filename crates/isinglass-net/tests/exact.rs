//! Class probabilities of whole networks, against the plain `f64` network and against exact enumeration of all weights and neurons.

mod support;

use isinglass_net::{Init, InputRule, Network, Neuron, Preprocessing, Surrogate};
use support::networks::{changed, oracle_arrays, plain, with_preprocessing};
use support::oracle;
use support::problem::Problem;
use support::random::Random;
use support::reference::{self, Activation, Batch};

/// Neurons of the deterministic surrogate, as the reference and the oracle know them.
fn neurons() -> [(Neuron, reference::Surrogate, oracle::Neuron); 4] {
    [
        (Neuron::Sign, reference::Surrogate::sign(), oracle::Neuron::Sign),
        (Neuron::Probit(0.7), reference::Surrogate::probit(0.7), oracle::Neuron::Probit(0.7)),
        (Neuron::Logistic(0.8), reference::Surrogate::logistic(0.8), oracle::Neuron::Logistic(0.8)),
        // A chosen gain is not the mean of a real neuron: the sign is behind it.
        (Neuron::Tanh(1.2), reference::Surrogate::scaled(Activation::Tanh(1.2)), oracle::Neuron::Sign),
    ]
}

fn inputs(network: &Network, values: &[u8]) -> Vec<Vec<f64>> {
    let preprocessing = network.input().preprocessing();
    let input = |&byte: &u8| f64::from(preprocessing.apply(f32::from(byte)));
    values.chunks(network.config().inputs).map(|row| row.iter().map(input).collect()).collect()
}

fn standardised(network: Network) -> Network {
    with_preprocessing(network, Preprocessing::standardising(127.0, 74.0).unwrap())
}

#[test]
fn surrogate_predictions_match_the_plain_network() {
    for hidden in [&[5][..], &[48, 17, 31, 64], &[3, 130, 2]] {
        for (neuron, reference, _) in neurons() {
            let builder = Network::builder(9).hidden(hidden).classes(4).neuron(neuron).tau(1.7).sigma_b2(0.1);
            let network = standardised(builder.init(Init::Uniform, 3).unwrap());
            // More than one batch of the engine's.
            let problem = Problem::noise(9, 4, 300, 2);
            let prediction = network.surrogate().threads(2).predict(&problem.values).unwrap();
            let batch = Batch { inputs: inputs(&network, &problem.values), labels: vec![0; 300], noise: Vec::new() };
            for (row, expected) in plain(&network, reference).class_probabilities(&batch).iter().enumerate() {
                let found = prediction.probabilities_of(row);
                let worst = found.iter().zip(expected).fold(0f64, |worst, (a, b)| worst.max((a - b).abs()));
                assert!(worst < 1e-5, "{neuron} {hidden:?}, row {row}: {found:?}, not {expected:?}");
                let best = (0..4).max_by(|&a, &b| expected[a].total_cmp(&expected[b])).unwrap();
                let is_clear = (0..4).all(|class| class == best || expected[best] - expected[class] > 1e-4);
                assert!(!is_clear || prediction.classes()[row] == best, "{neuron} {hidden:?}, row {row}");
            }
        }
    }
}

#[test]
fn the_binary_network_is_the_exact_average_where_nothing_is_random() {
    let mut random = Random(5);
    for (hidden, seed) in [(&[3][..], 1), (&[4, 2], 2), (&[2, 4, 3], 3), (&[1, 4, 1], 4)] {
        for neuron in [Neuron::Sign, Neuron::Tanh(1.2)] {
            let builder = Network::builder(4).hidden(hidden).classes(3).neuron(neuron).tau(1.3).sigma_b2(0.2);
            let network = changed(builder.init(Init::Uniform, seed).unwrap(), |_, means, _| {
                means.iter_mut().for_each(|mean| *mean = random.spin() as f32);
            });
            let network = standardised(network);
            let problem = Problem::noise(4, 3, 20, seed);
            let (means, biases) = oracle_arrays(&network);
            for counterpart in [network.binary(), network.binary().in_floats(), network.sampled(2), network.sampled(2).in_floats()] {
                let prediction = counterpart.predict(&problem.values).unwrap();
                for (row, input) in inputs(&network, &problem.values).iter().enumerate() {
                    let exact = oracle::class_probabilities(&means, &biases, 1.3, input, oracle::Neuron::Sign);
                    let found = prediction.probabilities_of(row);
                    let worst = found.iter().zip(&exact).fold(0f64, |worst, (a, b)| worst.max((a - b).abs()));
                    assert!(worst < 1e-12, "{neuron} {hidden:?}, row {row}: {found:?}, not {exact:?}");
                }
            }
        }
    }
}

#[test]
fn the_surrogate_is_close_to_the_exact_average() {
    // The bounds are of `docs/accuracy.md`: 0.01 to 0.03 with noisy neurons and 0.04 to 0.12 with signs, on average over networks of four neurons to a layer.
    for (neuron, _, exact) in neurons().into_iter().filter(|(neuron, ..)| !matches!(neuron, Neuron::Tanh(_))) {
        let mut errors = Vec::new();
        for seed in 0..60 {
            let builder = Network::builder(4).hidden([4, 4]).classes(3).neuron(neuron).sigma_m2(0.5).sigma_b2(0.09);
            let network = standardised(builder.init(Init::TwoPoint, seed).unwrap());
            let problem = Problem::noise(4, 3, 1, seed);
            let (means, biases) = oracle_arrays(&network);
            let expected = oracle::class_probabilities(&means, &biases, 1.0, &inputs(&network, &problem.values)[0], exact);
            let found = network.surrogate().predict(&problem.values).unwrap();
            errors.push(found.probabilities().iter().zip(&expected).fold(0f64, |worst, (a, b)| worst.max((a - b).abs())));
        }
        let mean = errors.iter().sum::<f64>() / errors.len() as f64;
        let bound = if neuron == Neuron::Sign { 0.08 } else { 0.03 };
        assert!(mean > 1e-3 && mean < bound, "{neuron}: off by {mean} on average");
    }
}

#[test]
fn drawn_networks_on_bits_average_to_the_exact_probabilities() {
    const SAMPLES: usize = 4000;
    let network = Network::builder(3).hidden([4, 3]).classes(3).tau(1.5).sigma_m2(0.5).sigma_b2(0.2).init(Init::TwoPoint, 4).unwrap();
    let mut network = network;
    network.set_input(InputRule::shared(Preprocessing::standardising(127.0, 74.0).unwrap())).unwrap();
    let image = [200u8, 13, 90];
    let (means, biases) = oracle_arrays(&network);
    let exact = oracle::class_probabilities(&means, &biases, 1.5, &inputs(&network, &image)[0], oracle::Neuron::Sign);
    let found = network.sampled(SAMPLES).seed(3).predict(&image).unwrap();
    for (class, exact) in exact.iter().enumerate() {
        // A probability varies by at most √(p(1 − p)) from draw to draw.
        let error = (exact * (1.0 - exact) / SAMPLES as f64).sqrt();
        let found = found.probabilities()[class];
        assert!((found - exact).abs() < 4.0 * error, "class {class}: {found} ± {error}, not {exact}");
    }
    assert_eq!(network.config().surrogate, Surrogate::Deterministic);
}
