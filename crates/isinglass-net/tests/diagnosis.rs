//! What a diagnosis measures, against the theory and against what was put in.

mod support;

use isinglass_net::{Diagnosis, Error, Examples, Init, LayerDiagnosis, Network, NetworkConfig, Neuron, Surrogate, Values};
use isinglass_theory::activation::FieldPair;
use isinglass_theory::{Correlation, MeanField};
use support::networks::changed;
use support::random::Random;

const WIDTH: usize = 400;
const CLASSES: usize = 10;

fn config(surrogate: Surrogate, neuron: Neuron) -> NetworkConfig {
    NetworkConfig {
        inputs: WIDTH,
        hidden: vec![WIDTH; 6],
        classes: CLASSES,
        surrogate,
        neuron,
        init: Init::TwoPoint,
        sigma_m2: Some(0.8),
        sigma_b2: Some(0.05),
        ..NetworkConfig::default()
    }
}

/// A network and its diagnosis on Gaussian inputs of this variance.
fn diagnose(config: &NetworkConfig, examples: usize, input_variance: f64) -> (Network, Vec<LayerDiagnosis>) {
    let network = config.init(2).unwrap();
    let mut random = Random(5);
    let values: Vec<f32> = (0..config.inputs * examples).map(|_| (input_variance.sqrt() * random.normal()) as f32).collect();
    let labels: Vec<u8> = (0..examples).map(|i| (i % CLASSES) as u8).collect();
    let indices: Vec<u32> = (0..examples as u32).collect();
    let examples = Examples::new(Values::Floats(&values), config.inputs, &labels, CLASSES).unwrap();
    let mut diagnosis = Diagnosis::new(&network, &examples, &indices, 2).unwrap();
    diagnosis.count_flips(&network, &network).unwrap();
    (network, diagnosis.layers)
}

fn theory(config: &NetworkConfig, layer: &LayerDiagnosis) -> MeanField {
    let network = isinglass_theory::RandomNetwork::new(config.surrogate.model(), config.neuron).unwrap();
    let sigma2 = if config.surrogate == Surrogate::Ste { None } else { Some(layer.sigma_m2) };
    network.at(sigma2, layer.sigma_b2).unwrap()
}

#[test]
fn field_variances_of_wide_layers_match_the_theory() {
    const EXAMPLES: usize = 50;
    let cases = [
        (Surrogate::Deterministic, Neuron::Sign, 0.0),
        (Surrogate::Deterministic, Neuron::Sign, 0.05),
        (Surrogate::Deterministic, Neuron::Probit(0.5), 0.0),
        (Surrogate::Deterministic, Neuron::Logistic(0.5), 0.0),
        (Surrogate::Deterministic, Neuron::Tanh(1.0), 0.0),
        (Surrogate::LrtBinary, Neuron::Logistic(1.0), 0.05),
        (Surrogate::LrtContinuous, Neuron::Tanh(1.0), 0.0),
        (Surrogate::Continuous, Neuron::Tanh(1.0), 0.0),
        (Surrogate::Ste, Neuron::Sign, 0.05),
    ];
    for (surrogate, neuron, sigma_b2) in cases {
        let config = NetworkConfig { sigma_b2: Some(sigma_b2), ..config(surrogate, neuron) };
        let (_, layers) = diagnose(&config, EXAMPLES, 1.3);
        assert_eq!(layers.len(), 7);
        // The chain again, for two inputs that have nothing in common.
        let mut pair = FieldPair::equal(1.3, Correlation::new(0.0).unwrap());
        let independent = 2.0 / (WIDTH * EXAMPLES) as f64;
        let mut squared_error = 0.0;
        for layer in &layers[..6] {
            let at = format!("{surrogate} {neuron}, σ_b² = {sigma_b2}, layer {}", layer.layer);
            let theory = theory(&config, layer);
            pair = if layer.layer == 1 { theory.first_layer(&pair).unwrap() } else { theory.pair_map(&pair).unwrap() };
            let predicted = layer.predicted_variance.unwrap();
            // The prediction starts from the inputs there are: a sample of squares whose standard deviation is √2 times their mean.
            assert!((predicted / pair.q_a - 1.0).abs() < 4.0 * independent.sqrt(), "{at}: {predicted} for {pair:?}");
            // The mean square over N neurons and E examples whose fields correlate by c has a relative variance of (2/N)(c² + (1 − c²)/E); the layers below add theirs.
            let c2 = pair.correlation.c().powi(2);
            squared_error += 2.0 * c2 / WIDTH as f64 + (1.0 - c2) * independent;
            let error = layer.field_variance / predicted - 1.0;
            println!("{at}: {:.4} for {predicted:.4}, {:+.2} ± {:.2} %", layer.field_variance, 100.0 * error, 100.0 * squared_error.sqrt());
            assert!(error.abs() < 4.0 * squared_error.sqrt(), "{at}: {} for {predicted}", layer.field_variance);

            let chi_1 = theory.chi(layer.field_variance, Correlation::ONE).unwrap();
            match layer.chi_1 {
                Some(ours) => assert!((ours - chi_1).abs() < 1e-12, "{at}: χ₁ = {ours}, not {chi_1}"),
                None => assert!(!chi_1.is_finite(), "{at}: no χ₁, but {chi_1}"),
            }
        }
        // The output has no neurons and no map of its own.
        let output = &layers[6];
        assert!(output.predicted_variance.is_none() && output.chi_1.is_none() && output.neurons.is_none() && output.saturated.is_none());
        assert!(layers.iter().all(|layer| layer.gradient_norm.is_finite() && layer.field_variance > 0.0));
    }
}

/// `E min(g², 1)` for `g ~ N(0, σ²)`.
fn clipped_variance(sigma2: f64) -> f64 {
    let a = (0.5 / sigma2).sqrt();
    sigma2 * (libm::erf(a) - 2.0 * a / std::f64::consts::PI.sqrt() * (-a * a).exp()) + libm::erfc(a)
}

#[test]
fn initial_means_have_the_requested_variance() {
    let as_asked = |_: &LayerDiagnosis, asked: f64| asked;
    let clipped = |_: &LayerDiagnosis, asked: f64| clipped_variance(asked);
    let glorot = |layer: &LayerDiagnosis, _: f64| 2.0 / (layer.inputs + layer.outputs) as f64;
    let he = |layer: &LayerDiagnosis, _: f64| 2.0 / layer.inputs as f64;
    type Expected = dyn Fn(&LayerDiagnosis, f64) -> f64;
    let cases: [(Init, Option<f64>, &Expected); 10] = [
        (Init::TwoPoint, Some(0.37), &as_asked),
        (Init::Hadamard, Some(0.37), &as_asked),
        (Init::Uniform, Some(1.0 / 3.0), &as_asked),
        (Init::Uniform, Some(0.1), &as_asked),
        (Init::Uniform, Some(0.8), &as_asked),
        (Init::Uniform, Some(0.99), &as_asked),
        (Init::ClippedGaussian, Some(0.2), &clipped),
        (Init::ClippedGaussian, Some(0.9), &clipped),
        (Init::Glorot, None, &glorot),
        (Init::He, None, &he),
    ];
    for (init, sigma_m2, expected) in cases {
        let config =
            NetworkConfig { init, sigma_m2, inputs: 250, hidden: vec![WIDTH; 2], ..config(Surrogate::Deterministic, Neuron::Sign) };
        let (network, layers) = diagnose(&config, 5, 1.0);
        for (layer, means) in layers.iter().zip(network.layers().iter().map(|layer| layer.means())) {
            let expected = expected(layer, sigma_m2.unwrap_or(0.0));
            let count = means.len() as f64;
            let spread = means.iter().map(|&m| (f64::from(m).powi(2) - layer.sigma_m2).powi(2)).sum::<f64>() / count;
            let error = (spread / count).sqrt().max(1e-7);
            assert!((layer.sigma_m2 - expected).abs() < 4.0 * error, "{init} {sigma_m2:?}: {} ± {error}, not {expected}", layer.sigma_m2);
            assert!(error < 0.01 * expected || layer.layer == 3, "{init}: the bound says nothing");
            assert!(means.iter().all(|m| m.abs() <= 1.0));
        }
    }
}

#[test]
fn real_weights_are_not_clipped_and_glorot_scales_the_effective_weights() {
    for (init, sigma_m2, expected) in
        [(Init::ClippedGaussian, Some(2.5), 2.5), (Init::Uniform, Some(1.7), 1.7), (Init::Glorot, None, 1.0), (Init::He, None, 2.0)]
    {
        let config = NetworkConfig { init, sigma_m2, hidden: vec![WIDTH; 2], ..config(Surrogate::Continuous, Neuron::Tanh(1.0)) };
        let (_, layers) = diagnose(&config, 5, 1.0);
        // Of a square layer; 160000 weights, whose squares have a standard deviation of at most √2 of their mean.
        assert!((layers[1].sigma_m2 / expected - 1.0).abs() < 4.0 * (2.0 / 160_000f64).sqrt(), "{init}: {}", layers[1].sigma_m2);
    }
}

#[test]
fn histograms_count_every_weight_and_every_neuron() {
    for &surrogate in Surrogate::ALL {
        let init = if surrogate == Surrogate::Continuous { Init::ClippedGaussian } else { Init::Uniform };
        let config = NetworkConfig { init, inputs: 30, hidden: vec![51; 2], ..config(surrogate, surrogate.default_neuron()) };
        let (network, layers) = diagnose(&config, 60, 1.0);
        for (layer, network_layer) in layers.iter().zip(network.layers()) {
            let means = network_layer.means();
            assert_eq!(layer.means.counts.iter().sum::<u64>(), means.len() as u64);
            // Twenty bins: the outermost begin at ±0.9.
            let beyond = |bins: &[u64]| bins[0] + bins[19];
            let polarised = means.iter().filter(|m| m.abs() > 0.9).count() as f64 / means.len() as f64;
            assert_eq!(layer.polarised, polarised);
            assert!((beyond(&layer.means.counts) as f64 / means.len() as f64 - polarised).abs() < 1e-12);
            let below = means.iter().filter(|m| **m < 0.0).count() as u64;
            assert_eq!(layer.means.counts[..10].iter().sum::<u64>(), below);
            assert_eq!(layer.flip_ratio, Some(0.0));
            if let (Some(neurons), Some(saturated)) = (&layer.neurons, layer.saturated) {
                let count = (layer.outputs * 60) as u64;
                assert_eq!(neurons.counts.iter().sum::<u64>(), count);
                // A neuron of exactly ±0.9 may be in either.
                assert!((beyond(&neurons.counts) as f64 / count as f64 - saturated).abs() < 1e-3, "{surrogate}: {saturated}");
                assert_eq!(surrogate == Surrogate::Ste, saturated == 1.0);
            }
        }
        assert_eq!(layers.iter().filter(|layer| layer.neurons.is_some()).count(), 2);
    }
}

#[test]
fn flips_are_counted_against_the_initial_network() {
    let config = NetworkConfig { inputs: 10, hidden: vec![20], classes: 2, ..config(Surrogate::Deterministic, Neuron::Sign) };
    let initial = config.init(2).unwrap();
    let network = changed(initial.clone(), |layer, means, bias| match layer {
        0 => means.iter_mut().enumerate().for_each(|(place, mean)| *mean *= if place < 50 { -0.5 } else { 0.5 }),
        _ => bias.fill(7.0),
    });
    let examples = Examples::new(Values::Floats(&[0.5; 10]), 10, &[1], 2).unwrap();
    let flips = |diagnosis: &Diagnosis| -> Vec<Option<f64>> { diagnosis.layers.iter().map(|layer| layer.flip_ratio).collect() };
    let mut diagnosis = Diagnosis::new(&network, &examples, &[0], 1).unwrap();
    assert_eq!(flips(&diagnosis), [None, None]);
    diagnosis.count_flips(&network, &initial).unwrap();
    assert_eq!(flips(&diagnosis), [Some(0.25), Some(0.0)]);
    assert!((diagnosis.layers[0].sigma_m2 - 0.2).abs() < 1e-7 && (diagnosis.layers[1].sigma_b2 - 49.0).abs() < 1e-12);
}

#[test]
fn binary_networks_are_diagnosed_and_misfits_refused() {
    let config = NetworkConfig { sigma_m2: Some(1.0), inputs: 10, hidden: vec![20; 2], ..config(Surrogate::Deterministic, Neuron::Sign) };
    let (network, layers) = diagnose(&config, 5, 1.0);
    for layer in &layers {
        assert_eq!((layer.sigma_m2, layer.polarised), (1.0, 1.0));
        // With no variance left the field is what the sign is taken of, however it is scaled: finite.
        assert!(layer.field_variance.is_finite() && layer.gradient_norm.is_finite(), "{layer:?}");
    }
    let examples = Examples::new(Values::Floats(&[0.5; 10]), 10, &[1], 2).unwrap();
    let none = Diagnosis::new(&network, &examples, &[], 1);
    assert!(matches!(none, Err(Error::Examples(message)) if message.contains("no examples were chosen")));
    let short = Examples::new(Values::Floats(&[0.5; 9]), 9, &[1], 2).unwrap();
    let misfit = Diagnosis::new(&network, &short, &[0], 1);
    assert!(matches!(misfit, Err(Error::Examples(message)) if message.contains("9 values") && message.contains("10 inputs")));
}
