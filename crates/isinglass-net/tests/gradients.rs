//! The engine's losses and gradients against the plain f64 network, for every surrogate and for sizes that fit no vector.

mod support;

use isinglass_net::{Examples, Gradients, Init, Network, NetworkConfig, Neuron, Surrogate, Values, lrt_noise};
use support::networks;
use support::reference::{self, Activation, Batch};

struct Case {
    surrogate: Surrogate,
    neuron: Neuron,
    reference: reference::Surrogate,
}

fn cases() -> Vec<Case> {
    use reference::Surrogate as Plain;
    let case = |surrogate, neuron, reference| Case { surrogate, neuron, reference };
    let probit = |alpha: f64| Activation::Erf(1.0 / (alpha * 2f64.sqrt()));
    vec![
        case(Surrogate::Deterministic, Neuron::Sign, Plain::sign()),
        case(Surrogate::Deterministic, Neuron::Probit(0.7), Plain::probit(0.7)),
        case(Surrogate::Deterministic, Neuron::Logistic(0.8), Plain::logistic(0.8)),
        case(Surrogate::Deterministic, Neuron::Erf(0.9), Plain::scaled(Activation::Erf(0.9))),
        case(Surrogate::Deterministic, Neuron::Tanh(1.3), Plain::scaled(Activation::Tanh(1.3))),
        case(Surrogate::LrtBinary, Neuron::Logistic(0.8), Plain::LrtBinary { activation: Activation::Tanh(1.25) }),
        case(Surrogate::LrtBinary, Neuron::Probit(0.5), Plain::LrtBinary { activation: probit(0.5) }),
        case(Surrogate::LrtContinuous, Neuron::Tanh(1.1), Plain::LrtContinuous { activation: Activation::Tanh(1.1) }),
        case(Surrogate::Continuous, Neuron::Tanh(0.9), Plain::Continuous { activation: Activation::Tanh(0.9) }),
        case(Surrogate::Continuous, Neuron::Erf(0.6), Plain::Continuous { activation: Activation::Erf(0.6) }),
        case(Surrogate::Ste, Neuron::Sign, Plain::Ste),
    ]
}

type Size = (usize, &'static [usize], usize, usize);

/// (inputs, hidden, classes, batch): most are not multiples of what the kernels like, and some are. Widths grow and shrink from layer to layer in the last three.
const SIZES: [Size; 9] = [
    (5, &[3; 2], 2, 3),
    (1, &[1], 2, 1),
    (17, &[31; 3], 10, 33),
    (64, &[48; 2], 3, 16),
    (300, &[101], 10, 50),
    (20, &[33; 12], 4, 20),
    (23, &[48, 17, 31, 64], 5, 21),
    (3, &[130, 1, 65, 2], 10, 40),
    (70, &[16, 128, 15], 2, 17),
];

fn plain(network: &Network, case: &Case, variance_gradient: bool) -> reference::Network {
    reference::Network { variance_gradient, ..networks::plain(network, case.reference) }
}

fn check(case: &Case, (inputs, hidden, classes, batch): Size, variance_gradient: bool, tau: f64, carry: bool) {
    let label = format!("{} {} {inputs}-{hidden:?}-{classes}, batch {batch}", case.surrogate, case.neuron);
    let config = NetworkConfig {
        inputs,
        hidden: hidden.to_vec(),
        classes,
        surrogate: case.surrogate,
        neuron: case.neuron,
        init: Init::Uniform,
        sigma_m2: Some(0.3),
        sigma_b2: Some(0.1),
        tau,
        carry,
    };
    let network = config.init(5).unwrap();
    let mut random = support::random::Random(9);
    let values: Vec<f32> = (0..inputs * batch).map(|_| random.normal() as f32).collect();
    let labels: Vec<u8> = (0..batch).map(|i| (i * 7 % classes) as u8).collect();
    let examples = Examples::new(Values::Floats(&values), inputs, &labels, classes).unwrap();
    let indices: Vec<u32> = (0..batch as u32).collect();
    let ours = Gradients::new(&network, &examples, &indices, variance_gradient, 2).unwrap();

    let noise = network.layers().iter().enumerate().map(|(index, layer)| {
        let noise = lrt_noise(0, 0, index, layer.outputs(), batch).unwrap();
        noise.into_iter().map(|row| row.into_iter().map(f64::from).collect()).collect()
    });
    let batch = Batch {
        inputs: values.chunks(inputs).map(|row| row.iter().map(|&v| f64::from(v)).collect()).collect(),
        labels: labels.iter().map(|&l| usize::from(l)).collect(),
        noise: noise.collect(),
    };
    let expected = plain(&network, case, variance_gradient).gradients(&batch);
    assert!((ours.loss - expected.loss).abs() < 2e-6 * expected.loss.max(1.0), "{label}: loss {} for {}", ours.loss, expected.loss);
    for (index, (ours, expected)) in ours.layers.iter().zip(&expected.layers).enumerate() {
        let means: Vec<f64> = expected.means.iter().flatten().copied().collect();
        for (what, ours, expected) in [("means", &ours.means, &means), ("bias", &ours.bias, &expected.bias)] {
            let largest = expected.iter().fold(1e-9f64, |largest, g| largest.max(g.abs()));
            let worst = ours.iter().zip(expected).map(|(&a, &b)| (f64::from(a) - b).abs()).fold(0.0, f64::max);
            assert!(worst < 2e-5 * largest, "{label}: {what} of layer {index} are off by {worst:e} of {largest:e}");
        }
    }
}

#[test]
fn gradients_match_the_plain_network() {
    for case in cases() {
        for size in SIZES {
            check(&case, size, true, 1.0, false);
        }
    }
}

#[test]
fn gradients_match_without_the_variance_gradient_and_with_other_logit_scales() {
    for case in cases() {
        for size in [SIZES[2], SIZES[6]] {
            check(&case, size, false, 1.0, false);
            check(&case, size, true, 2.5, false);
        }
    }
}

#[test]
fn gradients_of_carried_fields_match_the_plain_network() {
    // Whole chains, chains that a change of width breaks, and a first layer with as many inputs as neurons.
    let sizes: [Size; 4] =
        [(17, &[31; 5], 10, 33), (20, &[33; 14], 4, 20), (23, &[48, 48, 48, 17, 17, 17, 64], 5, 21), (16, &[16, 16, 16, 16], 3, 40)];
    for case in cases() {
        for size in sizes {
            check(&case, size, true, 1.0, true);
        }
        check(&case, sizes[2], false, 1.0, true);
        check(&case, sizes[0], true, 2.5, true);
    }
}
