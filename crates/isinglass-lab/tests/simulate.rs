//! Random networks against the theory, against enumeration, and against theories that are wrong on purpose.

mod support;

use isinglass_lab::simulate::{Simulation, THRESHOLD};
use isinglass_theory::activation::FieldPair;
use isinglass_theory::{Correlation, Model, RandomNetwork};
use support::{field, overall, run};

#[test]
fn every_model_agrees_with_its_theory() {
    let cases = [
        (Model::Continuous, "tanh", Some(1.5), 0.05),
        (Model::Deterministic, "sign", Some(0.99), 0.001),
        (Model::Deterministic, "logistic:0.7", Some(0.8), 0.05),
        (Model::Deterministic, "erf:1", Some(0.95), 0.0),
        (Model::LrtBinary, "probit:1", Some(0.8), 0.05),
        (Model::LrtContinuous, "tanh", Some(0.9), 0.02),
        (Model::Binary, "sign", None, 0.1),
        (Model::StochasticBinary, "tanh:2", None, 0.1),
        (Model::StochasticWeights, "tanh", None, 0.01),
        (Model::StochasticNeurons, "tanh", Some(1.5), 0.1),
    ];
    let start = FieldPair { q_a: 1.0, q_b: 2.0, correlation: Correlation::new(0.6).unwrap() };
    let simulation = Simulation { realisations: 12, depth: 5, start, map: vec![-0.5, 0.3, 0.9], seed: 3, ..Simulation::default() };
    for (model, neuron, sigma2, sigma_b2) in cases {
        let field = field(model, neuron, sigma2, sigma_b2);
        let comparison = run(&simulation, &field).compare(&field).unwrap();
        assert_eq!(comparison.agrees(), Some(true), "{model}, {neuron}: {:?}", comparison.worst());
        let backwards = !matches!(model, Model::Binary | Model::StochasticBinary | Model::StochasticNeurons);
        assert_eq!(comparison.jacobians.len(), if backwards { 5 } else { 0 }, "{model}");
        // Twelve realisations of a thousand units: means within a few per cent of the curves.
        for layer in &comparison.layers {
            assert!((layer.q_aa.mean / layer.q_aa.theory - 1.0).abs() < 0.1, "{model}, {neuron}: {:?}", layer.q_aa);
            assert!((layer.c.mean - layer.c.theory).abs() < 0.05, "{model}, {neuron}: {:?}", layer.c);
        }
        for jacobian in &comparison.jacobians {
            assert!(
                (jacobian.outlier.mean - jacobian.outlier.theory).abs() <= 0.1 * jacobian.outlier.theory,
                "{model}: {:?}",
                jacobian.outlier
            );
        }
    }
}

/// Two units, sign neurons and no biases: with `p = ½ + arcsin(c)/π` for one pair of neurons to agree, counting all weights (and `sign(0) = +1`) gives
/// `E q_ab = p² − (1 − p)²` after the first layer, as in the limit, but `p²` after the second, where the limit would be `(2/π) arcsin(2p − 1)`.
#[test]
fn two_units_are_as_enumerated() {
    let field = field(Model::Binary, "sign", None, 0.0);
    let simulation = Simulation { width: 2, realisations: 20_000, depth: 2, map: Vec::new(), ..Simulation::default() };
    let networks = run(&simulation, &field).ensemble.networks;
    let mean = |layer: usize| networks.iter().map(|network| network.layers[layer].q_ab).sum::<f64>() / networks.len() as f64;
    let p: f64 = 2.0 / 3.0;
    assert!((mean(1) - (2.0 * p - 1.0)).abs() < 0.03, "{}", mean(1));
    assert!((mean(2) - p * p).abs() < 0.03, "{}", mean(2));
}

#[test]
fn a_theory_that_is_wrong_by_two_per_cent_is_refuted() {
    let network = RandomNetwork::new(Model::Deterministic, "erf:0.886".parse().unwrap()).unwrap();
    let right = network.at(Some(0.9), 0.05).unwrap();
    let simulation = Simulation { map: vec![0.0, 0.25, 0.5, 0.75], ..Simulation::default() };
    let measurement = run(&simulation, &right);
    assert_eq!(measurement.compare(&right).unwrap().agrees(), Some(true));
    for sigma_m2 in [0.9 * 0.98, 0.9 * 1.02] {
        let wrong = measurement.compare(&network.at(Some(sigma_m2), 0.05).unwrap()).unwrap();
        assert_eq!(wrong.agrees(), Some(false), "σ_m² = {sigma_m2}");
        // Forwards and backwards, each by itself.
        assert!(overall(&wrong, "q_aa") > THRESHOLD, "σ_m² = {sigma_m2}: {:?}", wrong.overall);
        assert!(overall(&wrong, "jacobian") > THRESHOLD, "σ_m² = {sigma_m2}: {:?}", wrong.overall);
    }
    let gain = field(Model::Deterministic, "erf:0.93", Some(0.9), 0.05);
    let wrong = measurement.compare(&gain).unwrap();
    assert!(overall(&wrong, "q_aa") > THRESHOLD && overall(&wrong, "jacobian") > THRESHOLD, "{:?}", wrong.overall);
    // The paper's denominator of another model: the outlier's theory is wrong too.
    let other = field(Model::Deterministic, "logistic:0.1", Some(0.9), 0.05);
    assert!(overall(&measurement.compare(&other).unwrap(), "outlier_gain") > THRESHOLD);
}

#[test]
fn noise_shared_between_inputs_where_it_should_not_be_is_refuted() {
    // Without noise of its own for each input, LRT would be a network of weights of variance 1: `stochastic-weights` has that map.
    let lrt = field(Model::LrtContinuous, "tanh", Some(0.8), 0.05);
    let shared = field(Model::StochasticWeights, "tanh", None, 0.05);
    let simulation = Simulation { width: 500, realisations: 12, depth: 5, map: vec![0.5], ..Simulation::default() };
    let wrong = run(&simulation, &lrt).compare(&shared).unwrap();
    assert!(overall(&wrong, "c") > THRESHOLD, "{:?}", wrong.overall);
    assert!(overall(&wrong, "q_aa") < THRESHOLD, "variances are the same: {:?}", wrong.overall);
}

/// The outlier of LRT sends gradients along the signal, and the outlier of the layer before takes them up: where it is larger than the rest of the Jacobian, as for small means, it
/// carries more of the gradient after a few layers than all other directions together.
#[test]
fn outliers_carry_the_gradient_of_lrt_with_small_means() {
    let field = field(Model::LrtContinuous, "tanh", Some(0.2), 0.001);
    let simulation = Simulation { width: 400, realisations: 10, depth: 20, map: Vec::new(), ..Simulation::default() };
    let comparison = run(&simulation, &field).compare(&field).unwrap();
    assert_eq!(comparison.agrees(), Some(true), "{:?}", comparison.worst());
    let first = comparison.jacobians[0];
    assert!((0.3..3.0).contains(&(first.gradient_fixed.mean / first.gradient_fixed.theory)), "{first:?}");
    assert!(first.gradient.mean > 100.0 * first.gradient_fixed.mean, "{first:?}");
}

/// A right theory's overall deviations are numbers like those of a standard normal variable: no quantity has a bias that is left.
#[test]
fn overall_deviations_of_a_right_theory_are_standardised() {
    let field = field(Model::Deterministic, "erf:0.886", Some(0.9), 0.05);
    let (mut count, mut square) = (0.0, 0.0);
    for seed in 0..30 {
        let simulation = Simulation { width: 100, realisations: 20, depth: 8, map: vec![0.3, 0.8], seed, ..Simulation::default() };
        for overall in run(&simulation, &field).compare(&field).unwrap().overall {
            count += 1.0;
            square += overall.drift * overall.drift;
        }
    }
    let mean = square / count;
    assert!((0.7..1.4).contains(&mean), "the mean square of {count} drifts is {mean}");
}

#[test]
fn threads_change_nothing_and_seeds_change_everything() {
    for (model, neuron, sigma2) in
        [(Model::Deterministic, "sign", Some(0.5)), (Model::LrtContinuous, "tanh", Some(0.5)), (Model::Continuous, "tanh", Some(1.5))]
    {
        let field = field(model, neuron, sigma2, 0.01);
        let simulation = Simulation { width: 70, realisations: 7, depth: 4, ..Simulation::default() };
        let with = |threads, seed| run(&Simulation { threads, seed, ..simulation.clone() }, &field);
        let (one, three, other) = (with(1, 1), with(3, 1), with(1, 2));
        assert_eq!((&one.ensemble, &one.narrow), (&three.ensemble, &three.narrow), "{model}");
        assert_ne!(one.ensemble, other.ensemble, "{model}");
    }
}

#[test]
fn close_signals_keep_their_distance() {
    // χ = 0.13 per layer: after 18 layers 1 − c is 2e-14, and after 26 it is made of rounding errors.
    let field = field(Model::Deterministic, "sign", Some(0.2), 0.001);
    let simulation = Simulation { width: 400, realisations: 12, depth: 26, map: Vec::new(), backwards: false, ..Simulation::default() };
    let comparison = run(&simulation, &field).compare(&field).unwrap();
    assert_eq!(comparison.agrees(), Some(true), "{:?}", comparison.worst());
    let at = |layer: usize| comparison.layers[layer].one_minus_c;
    assert!(at(18).theory < 1e-12 && (at(18).mean / at(18).theory - 1.0).abs() < 0.3, "{:?}", at(18));
    assert_eq!(at(26).step, None, "rounding is not compared: {:?}", at(26));
}

#[test]
fn impossible_sizes_are_refused() {
    let field = field(Model::Deterministic, "sign", Some(0.5), 0.0);
    let base = Simulation::default();
    for (simulation, start) in [
        (Simulation { width: 0, ..base.clone() }, "width = 0: "),
        (Simulation { realisations: 1, ..base.clone() }, "realisations = 1: "),
        (Simulation { depth: 0, ..base.clone() }, "depth = 0: "),
        (Simulation { width: 1_000_000, ..base.clone() }, "width = 1000000: "),
        (Simulation { map: vec![1.5], ..base.clone() }, "c = 1.5: "),
    ] {
        let message = simulation.run(&field, &|_, _| {}).unwrap_err().to_string();
        assert!(message.starts_with(start), "{message}");
    }
}
