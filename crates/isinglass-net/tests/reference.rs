//! The reference network itself: its forward pass against numbers made elsewhere, its gradients against finite differences, and the limits of Σ.

mod support;

use support::random::Random;
use support::reference::{Activation, Batch, Layer, Network, Surrogate, logits, sign};

const FLOOR: f64 = 1e-6;

const SURROGATES_WITH_SLOPES: usize = 10;

/// Everything but STE, whose gradient is not the slope of its loss.
fn surrogates() -> [Surrogate; SURROGATES_WITH_SLOPES] {
    [
        Surrogate::sign(),
        Surrogate::probit(0.7),
        Surrogate::logistic(1.3),
        Surrogate::scaled(Activation::Erf(0.9)),
        Surrogate::scaled(Activation::Tanh(1.1)),
        Surrogate::LrtBinary { activation: Activation::Erf(0.8) },
        Surrogate::LrtBinary { activation: Activation::Tanh(1.0) },
        Surrogate::LrtContinuous { activation: Activation::Tanh(1.5) },
        Surrogate::Continuous { activation: Activation::Tanh(1.0) },
        Surrogate::Continuous { activation: Activation::Erf(1.0) },
    ]
}

/// A random network of `widths` (inputs first, classes last); real weights may leave [−1, 1].
fn network(surrogate: Surrogate, widths: &[usize], tau: f64, random: &mut Random) -> Network {
    let reach = if matches!(surrogate, Surrogate::Continuous { .. }) { 1.8 } else { 0.95 };
    let layer = |w: &[usize]| Layer {
        means: random.matrix(w[1], w[0], |random| reach * random.symmetric()),
        bias: random.vector(w[1], |random| 0.3 * random.normal()),
    };
    Network { surrogate, layers: widths.windows(2).map(layer).collect(), tau, floor: FLOOR, variance_gradient: true, carry: false }
}

fn batch(widths: &[usize], samples: usize, random: &mut Random) -> Batch {
    let classes = widths[widths.len() - 1] as u64;
    Batch {
        inputs: random.matrix(samples, widths[0], Random::normal),
        labels: (0..samples).map(|_| (random.word() % classes) as usize).collect(),
        noise: widths[1..].iter().map(|&width| random.matrix(width, samples, Random::normal)).collect(),
    }
}

/// Means and biases layer by layer, then τ.
fn parameters(network: &Network) -> Vec<f64> {
    flat(&network.layers, network.tau)
}

fn flat(layers: &[Layer], tau: f64) -> Vec<f64> {
    let layer = |layer: &Layer| [layer.means.concat(), layer.bias.clone()].concat();
    [layers.iter().flat_map(layer).collect(), vec![tau]].concat()
}

fn with_parameters(network: &Network, values: &[f64]) -> Network {
    let mut changed = network.clone();
    let places = changed.layers.iter_mut().flat_map(|layer| layer.means.iter_mut().flatten().chain(&mut layer.bias));
    places.chain([&mut changed.tau]).zip(values).for_each(|(place, value)| *place = *value);
    changed
}

/// Fourth-order central differences of `loss` by every parameter.
fn finite_differences(network: &Network, loss: impl Fn(&Network) -> f64) -> Vec<f64> {
    const STEP: f64 = 1e-3;
    let at = parameters(network);
    let moved = |k: usize, by: f64| {
        let mut values = at.clone();
        values[k] += by;
        loss(&with_parameters(network, &values))
    };
    let slope = |k| (8.0 * (moved(k, STEP) - moved(k, -STEP)) - (moved(k, 2.0 * STEP) - moved(k, -2.0 * STEP))) / (12.0 * STEP);
    (0..at.len()).map(slope).collect()
}

/// The largest difference, relative to the largest entry of `expected`.
fn deviation(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let largest = expected.iter().fold(0.0f64, |m, e| m.max(e.abs()));
    found.iter().zip(expected).fold(0.0f64, |m, (f, e)| m.max((f - e).abs())) / largest
}

#[test]
fn the_forward_pass_matches_another_program() {
    // Three inputs, layers 2, 2, 2; computed in 40 digits from the formulas as printed, Σ = 1 − mean(M²x̄²) included.
    let layer = |means: &[&[f64]], bias: [f64; 2]| Layer { means: means.iter().map(|row| row.to_vec()).collect(), bias: bias.to_vec() };
    let layers = vec![
        layer(&[&[0.25, -0.5, 0.75], &[-0.875, 0.125, 0.5]], [0.125, -0.25]),
        layer(&[&[0.5, -0.25], &[0.75, 0.875]], [0.5, -0.125]),
        layer(&[&[-0.5, 0.375], &[0.625, 0.25]], [0.25, -0.5]),
    ];
    let batch = Batch {
        inputs: vec![vec![0.5, -1.25, 2.0]],
        labels: vec![1],
        noise: vec![vec![vec![0.5], vec![-1.0]], vec![vec![0.25], vec![1.5]], vec![vec![-0.75], vec![0.5]]],
    };
    for (surrogate, expected) in [
        (Surrogate::sign(), [0.12323788135720945, -0.20972226445950504, 0.8734215170283426]),
        (Surrogate::probit(0.5), [0.13331731009177575, -0.25223104243728833, 0.9043883422945118]),
        (Surrogate::logistic(0.5), [0.13248775625113365, -0.24969743332080022, 0.902387914941087]),
        (Surrogate::scaled(Activation::Tanh(1.5)), [0.10608358019600161, -0.012897754166861092, 0.75440637467391]),
        (Surrogate::LrtBinary { activation: Activation::Tanh(1.0) }, [-0.842601147070961, 0.6844487543428026, 0.1965329384366303]),
        (Surrogate::LrtContinuous { activation: Activation::Erf(0.75) }, [-0.504974970502338, 0.3380806133120113, 0.35794951765432526]),
        (Surrogate::Continuous { activation: Activation::Tanh(1.5) }, [0.12533570254028567, -0.0480695419881811, 0.7836037753906742]),
        (Surrogate::Ste, [-1.7463203435596426, -0.75, 0.31425263135578646]),
    ] {
        let network = Network { surrogate, layers: layers.clone(), tau: 1.5, floor: FLOOR, variance_gradient: true, carry: false };
        let found = [logits(&network.forward(&batch), 0), vec![network.loss(&batch)]].concat();
        assert!(deviation(&found, &expected) < 1e-14, "{surrogate:?}: {found:?}");
    }
}

#[test]
fn gradients_are_the_slopes_of_the_loss() {
    let mut random = Random(1);
    for surrogate in surrogates() {
        for tau in [1.0, 2.5, 0.4] {
            for widths in [&[5, 3, 7, 4][..], &[5, 7, 3, 5, 2], &[5, 1, 3], &[5, 3]] {
                let network = network(surrogate, widths, tau, &mut random);
                let batch = batch(widths, 3, &mut random);
                let gradients = network.gradients(&batch);
                let off = deviation(&flat(&gradients.layers, gradients.tau), &finite_differences(&network, |n| n.loss(&batch)));
                assert!(off < 1e-8, "{surrogate:?}, τ = {tau}, {widths:?}: {off:e}");
                assert!((gradients.loss - network.loss(&batch)).abs() < 1e-15);
            }
        }
    }
}

#[test]
fn gradients_of_carried_fields_are_the_slopes_of_the_loss() {
    let mut random = Random(11);
    for surrogate in surrogates() {
        for widths in [&[4, 3, 3, 3, 3, 2][..], &[3, 3, 3, 3, 3, 3], &[4, 3, 3, 3, 2, 2, 2, 2, 2]] {
            let network = Network { carry: true, ..network(surrogate, widths, 1.3, &mut random) };
            assert!(!network.carries(1) && network.carries(2) && !network.carries(widths.len() - 2), "{widths:?}");
            let batch = batch(widths, 3, &mut random);
            let gradients = network.gradients(&batch);
            let off = deviation(&flat(&gradients.layers, gradients.tau), &finite_differences(&network, |n| n.loss(&batch)));
            assert!(off < 1e-8, "{surrogate:?}, {widths:?}: {off:e}");
        }
    }
}

#[test]
fn gradients_without_the_variance_are_the_slopes_at_frozen_variances() {
    let mut random = Random(2);
    let widths = [5, 3, 7, 4];
    for surrogate in surrogates() {
        for tau in [1.0, 2.5] {
            let mut network = network(surrogate, &widths, tau, &mut random);
            let batch = batch(&widths, 3, &mut random);
            let all = network.gradients(&batch);
            network.variance_gradient = false;
            let part = network.gradients(&batch);
            let frozen = network.forward(&batch);
            let expected = finite_differences(&network, |n| n.loss_with(&batch, Some(&frozen)));
            let part = flat(&part.layers, part.tau);
            let off = deviation(&part, &expected);
            assert!(off < 1e-8, "{surrogate:?}, τ = {tau}: {off:e}");
            let through_variance = deviation(&part, &flat(&all.layers, all.tau));
            let has_variance = !matches!(surrogate, Surrogate::Continuous { .. });
            assert_eq!(through_variance > 1e-3, has_variance, "{surrogate:?}: {through_variance}");
        }
    }
}

#[test]
fn straight_through_gradients_match_a_hand_calculation() {
    // Fields of the hidden units: −0.025 → −1; 1.375 → +1, outside [−1, 1]; 1 → +1, just inside; 0 → +1. Output fields ½ and 0, so logits 1 and 0.
    let x = [1.0, -0.5, 0.25, 2.0];
    let network = Network {
        surrogate: Surrogate::Ste,
        layers: vec![
            Layer {
                means: vec![vec![0.3, -0.2, 0.9, -0.1], vec![0.0, 0.4, 0.5, 0.6], vec![-0.7, -0.8, 0.1, 0.2], vec![0.2, 0.3, -0.4, -0.9]],
                bias: vec![0.1, 0.0, 0.125, 0.875],
            },
            Layer { means: vec![vec![0.1, -0.2, 0.3, 0.4], vec![-0.5, 0.6, -0.7, -0.8]], bias: vec![0.5, 0.0] },
        ],
        tau: 2.0,
        floor: FLOOR,
        variance_gradient: true,
        carry: false,
    };
    let batch = Batch { inputs: vec![x.to_vec()], labels: vec![1], noise: vec![] };
    let traces = network.forward(&batch);
    assert_eq!(traces[0].neuron.concat(), [-1.0, 1.0, 1.0, 1.0]);
    assert_eq!(logits(&traces, 0), [1.0, 0.0]);

    // ∂loss/∂logits = (p, −p) with p = σ(1).
    let p = 1.0 / (1.0 + (-1f64).exp());
    let gradients = network.gradients(&batch);
    let close = |found: &[f64], expected: &[f64]| assert!(deviation(found, expected) < 1e-15, "{found:?}, not {expected:?}");
    close(&gradients.layers[1].means.concat(), &[-p, p, p, p, p, -p, -p, -p]);
    close(&gradients.layers[1].bias, &[2.0 * p, -2.0 * p]);
    close(&gradients.layers[0].bias, &[2.0 * p, 0.0, 2.0 * p, 2.0 * p]);
    let row = x.map(|x| p * x).to_vec();
    close(&gradients.layers[0].means.concat(), &[row.clone(), vec![0.0; 4], row.clone(), row].concat());
    close(&[gradients.loss, gradients.tau], &[1f64.exp().ln_1p(), 0.5 * p]);
}

#[test]
fn polarised_means_give_the_binary_network() {
    let mut random = Random(3);
    let widths = [5, 3, 7, 4];
    let batch = batch(&widths, 3, &mut random);
    for activation in [Activation::Erf(0.5f64.sqrt()), Activation::Tanh(1.0)] {
        let mut network = network(Surrogate::scaled(activation), &widths, 1.0, &mut random);
        network.layers.iter_mut().flat_map(|layer| layer.means.iter_mut().flatten()).for_each(|m| *m = sign(*m));
        let surrogate = network.forward(&batch);
        let binary = Network { surrogate: Surrogate::Ste, ..network.clone() }.forward(&batch);
        for l in 0..2 {
            assert_eq!(surrogate[l].neuron, binary[l].neuron);
            assert!(surrogate[l].variance.iter().flatten().all(|v| *v == FLOOR));
        }
        // The floor is all that is left of Σ in the logits, and no gradient passes a neuron that is a sign.
        assert!(deviation(&logits(&surrogate, 0), &logits(&binary, 0)) < FLOOR);
        let gradients = network.gradients(&batch);
        assert!(gradients.layers[..2].iter().all(|layer| layer.means.iter().flatten().chain(&layer.bias).all(|g| *g == 0.0)));
        assert!(gradients.layers[2].bias.iter().all(|g| *g != 0.0));
    }
}

#[test]
fn an_all_zero_image_gives_the_signs_of_the_biases() {
    let mut random = Random(4);
    let widths = [5, 3, 7, 4];
    let mut network = network(Surrogate::sign(), &widths, 1.3, &mut random);
    network.layers[0].bias = vec![0.2, 0.0, -0.1];
    let mut batch = batch(&widths, 3, &mut random);
    batch.inputs[1] = vec![0.0; 5];
    let neurons: Vec<f64> = network.forward(&batch)[0].neuron.iter().map(|unit| unit[1]).collect();
    assert_eq!(neurons, [1.0, 1.0, -1.0]);

    network.layers[0].bias[1] = 0.3;
    let gradients = network.gradients(&batch);
    let off = deviation(&flat(&gradients.layers, gradients.tau), &finite_differences(&network, |n| n.loss(&batch)));
    assert!(off < 1e-8, "{off:e}");
}

#[test]
fn no_gradient_flows_through_a_floored_variance() {
    let mut random = Random(5);
    let widths = [5, 3, 7, 4];
    for surrogate in surrogates().into_iter().filter(|s| !matches!(s, Surrogate::Continuous { .. })) {
        let mut network = network(surrogate, &widths, 1.3, &mut random);
        let mut batch = batch(&widths, 3, &mut random);
        batch.inputs.iter_mut().flatten().for_each(|x| *x *= 3.0);
        // Behind the first layer Σ ≤ 1. One floor above that holds some of the first layer's variances, with a gap that no difference quotient crosses; one holds all.
        let mut variances = network.forward(&batch)[0].variance.concat();
        variances.sort_by(f64::total_cmp);
        let widest = variances.windows(2).filter(|pair| pair[0] > 1.0).max_by(|a, b| (a[1] - a[0]).total_cmp(&(b[1] - b[0])));
        let between = widest.map_or(f64::NAN, |pair| 0.5 * (pair[0] + pair[1]));
        for (floor, holds_all) in [(between, false), (2.0 * variances[variances.len() - 1], true)] {
            network.floor = floor;
            let gradients = network.gradients(&batch);
            let found = flat(&gradients.layers, gradients.tau);
            let off = deviation(&found, &finite_differences(&network, |n| n.loss(&batch)));
            assert!(off < 1e-8, "{surrogate:?}, floor {floor}: {off:e}");
            let without = Network { variance_gradient: false, ..network.clone() }.gradients(&batch);
            assert_eq!(found == flat(&without.layers, without.tau), holds_all, "{surrogate:?}");
        }
    }
}

#[test]
fn variance_keeps_its_digits_where_means_and_neurons_polarise() {
    let layer = |m: f64, bias: f64, outputs, inputs| Layer { means: vec![vec![m; inputs]; outputs], bias: vec![bias; outputs] };
    let batch = Batch { inputs: vec![vec![1.0]], labels: vec![0], noise: vec![] };
    let variances = |surrogate, layers| {
        let network = Network { surrogate, layers, tau: 1.0, floor: 0.0, variance_gradient: true, carry: false };
        network.forward(&batch).iter().map(|trace| trace.variance[0][0]).collect::<Vec<_>>()
    };

    // Means: 1 − M = 2⁻³⁰, so 1 − M² = 2⁻²⁹ − 2⁻⁶⁰, in every layer since the neurons are polarised far beyond it.
    let m = 1.0 - 2f64.powi(-30);
    let expected = 2f64.powi(-29) - 2f64.powi(-60);
    let found = variances(Surrogate::sign(), vec![layer(m, 0.0, 3, 1), layer(m, 0.0, 2, 3), layer(m, 0.0, 2, 2)]);
    assert!(deviation(&found, &[expected; 3]) < 1e-15, "{found:?}");

    // Neurons: h = 6.4/√0.64 = 8 in the first layer, means of 1 in the second, whose Σ is then 1 − φ(8)².
    for (activation, expected) in [(Activation::Erf(0.5f64.sqrt()), 2.488384229708712e-15), (Activation::Tanh(1.0), 4.5014059756372915e-7)]
    {
        let found = variances(Surrogate::scaled(activation), vec![layer(0.6, 5.8, 3, 1), layer(1.0, 0.0, 2, 3)]);
        assert!(deviation(&found[1..], &[expected]) < 1e-12, "{found:?}");
    }
}
