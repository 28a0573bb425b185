//! The engine's losses and gradients against the plain f64 network, for every surrogate and for sizes that fit no vector.

mod support;

use isinglass_net::{Examples, Gradients, Init, Network, NetworkConfig, Neuron, Rng, Surrogate, Values, lrt_noise};
use support::reference::{self, Activation, Batch};

/// The least variance that the engine divides by.
const FLOOR: f64 = 1e-6;

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

/// (inputs, depth, width, classes, batch): none a multiple of what the kernels like, and some that are.
const SIZES: [(usize, usize, usize, usize, usize); 6] =
    [(5, 2, 3, 2, 3), (1, 1, 1, 2, 1), (17, 3, 31, 10, 33), (64, 2, 48, 3, 16), (300, 1, 101, 10, 50), (20, 12, 33, 4, 20)];

fn plain(network: &Network, case: &Case, variance_gradient: bool) -> reference::Network {
    let layers = network.layers().iter().map(|layer| reference::Layer {
        means: layer.means().chunks(layer.inputs()).map(|row| row.iter().map(|&m| f64::from(m)).collect()).collect(),
        bias: layer.bias().iter().map(|&b| f64::from(b)).collect(),
    });
    reference::Network { surrogate: case.reference, layers: layers.collect(), tau: network.config().tau, floor: FLOOR, variance_gradient }
}

fn check(case: &Case, (inputs, depth, width, classes, batch): (usize, usize, usize, usize, usize), variance_gradient: bool, tau: f64) {
    let label = format!("{} {} {inputs}-{width}×{depth}-{classes}, batch {batch}", case.surrogate, case.neuron);
    let config = NetworkConfig {
        inputs,
        hidden: vec![width; depth],
        classes,
        surrogate: case.surrogate,
        neuron: case.neuron,
        init: Init::Uniform,
        sigma_m2: Some(0.3),
        sigma_b2: Some(0.1),
        tau,
    };
    let network = config.init(5).unwrap();
    let mut random = support::random::Random(9);
    let values: Vec<f32> = (0..inputs * batch).map(|_| random.normal() as f32).collect();
    let labels: Vec<u8> = (0..batch).map(|i| (i * 7 % classes) as u8).collect();
    let examples = Examples::new(Values::Floats(&values), inputs, &labels, classes).unwrap();
    let indices: Vec<u32> = (0..batch as u32).collect();
    let ours = Gradients::new(&network, &examples, &indices, variance_gradient, 2).unwrap();

    let noise = network.layers().iter().enumerate().map(|(index, layer)| {
        let noise = lrt_noise(0, 0, index, layer.outputs(), batch);
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
fn gradients_are_those_of_the_plain_network() {
    for case in cases() {
        for size in SIZES {
            check(&case, size, true, 1.0);
        }
    }
}

#[test]
fn gradients_hold_without_the_variance_and_with_another_scale_of_logits() {
    for case in cases() {
        check(&case, SIZES[2], false, 1.0);
        check(&case, SIZES[2], true, 2.5);
    }
}
