//! Random networks that carry their fields, against the theory and against theories that are wrong on purpose.

mod support;

use isinglass_lab::simulate::{Simulation, THRESHOLD};
use isinglass_theory::activation::FieldPair;
use isinglass_theory::{Correlation, Model, RandomNetwork};
use support::{field, overall, run};

#[test]
fn every_model_agrees_with_its_theory_if_fields_are_carried() {
    let cases = [
        (Model::Continuous, "tanh", Some(0.8), 0.05),
        (Model::Continuous, "relu", Some(0.3), 0.0),
        (Model::Deterministic, "sign", Some(1.0 / 3.0), 0.0),
        (Model::Deterministic, "probit:0.5", Some(0.6), 0.1),
        (Model::Deterministic, "logistic:0.7", Some(0.8), 0.05),
        (Model::Deterministic, "erf:2", Some(0.95), 0.0),
        (Model::LrtBinary, "probit:1", Some(0.8), 0.05),
        (Model::LrtContinuous, "tanh", Some(0.6), 0.02),
        (Model::Binary, "sign", None, 0.1),
        (Model::StochasticBinary, "tanh:2", None, 0.1),
        (Model::StochasticWeights, "tanh", None, 0.01),
        (Model::StochasticNeurons, "tanh", Some(1.5), 0.1),
    ];
    let start = FieldPair { q_a: 1.0, q_b: 2.0, correlation: Correlation::new(0.6).unwrap() };
    let simulation = Simulation { width: 600, realisations: 16, depth: 6, start, carry: true, seed: 3, ..Simulation::default() };
    for (model, neuron, sigma2, sigma_b2) in cases {
        let field = field(model, neuron, sigma2, sigma_b2);
        let comparison = run(&simulation, &field).compare(&field).unwrap();
        assert_eq!(comparison.agrees(), Some(true), "{model}, {neuron}: {:?}", comparison.worst());
        let backwards = !matches!(model, Model::Binary | Model::StochasticBinary | Model::StochasticNeurons);
        assert_eq!(comparison.jacobians.len(), if backwards { 6 } else { 0 }, "{model}");
        assert!(comparison.map.is_empty());
        for layer in &comparison.layers {
            assert!((layer.q_aa.mean / layer.q_aa.theory - 1.0).abs() < 0.1, "{model}, {neuron}: {:?}", layer.q_aa);
            assert!((layer.c.mean - layer.c.theory).abs() < 0.05, "{model}, {neuron}: {:?}", layer.c);
            let carried = layer.carried.unwrap();
            assert!((carried.v_aa.mean / carried.v_aa.theory - 1.0).abs() < 0.1, "{model}, {neuron}: {:?}", carried.v_aa);
        }
        for jacobian in &comparison.jacobians {
            let outlier = jacobian.outlier;
            assert!((outlier.mean - outlier.theory).abs() <= 0.1 * outlier.theory, "{model}: {outlier:?}");
            // One gradient in each of 16 networks.
            assert!((jacobian.gradient.mean / jacobian.gradient.theory - 1.0).abs() < 0.1, "{model}: {:?}", jacobian.gradient);
            assert_eq!(jacobian.spread.is_some(), model == Model::Deterministic);
        }
    }
}

#[test]
fn a_carried_theory_that_is_wrong_by_two_per_cent_is_refuted() {
    let network = RandomNetwork::new(Model::Deterministic, "sign".parse().unwrap()).unwrap();
    let right = network.at(Some(0.8), 0.05).unwrap();
    let simulation = Simulation { width: 800, realisations: 40, depth: 20, carry: true, ..Simulation::default() };
    let measurement = run(&simulation, &right);
    let agreeing = measurement.compare(&right).unwrap();
    assert_eq!(agreeing.agrees(), Some(true), "{:?}", agreeing.worst());
    for sigma_m2 in [0.8 * 0.98, 0.8 * 1.02] {
        let wrong = measurement.compare(&network.at(Some(sigma_m2), 0.05).unwrap()).unwrap();
        assert_eq!(wrong.agrees(), Some(false), "σ_m² = {sigma_m2}");
        // Forwards and backwards, each by itself, and the way back through Σ.
        for quantity in ["spread", "jacobian", "outlier_gain", "spread_gain"] {
            assert!(overall(&wrong, quantity) > THRESHOLD, "σ_m² = {sigma_m2}, {quantity}: {:?}", wrong.overall);
        }
    }
    // A plain layer, or one that carries a variance scaled by something else, is seen in the fields alone.
    let noisy = field(Model::Deterministic, "probit:0.3", Some(0.8), 0.05);
    assert!(overall(&measurement.compare(&noisy).unwrap(), "q_aa") > THRESHOLD);
    let biased = network.at(Some(0.8), 0.08).unwrap();
    assert!(overall(&measurement.compare(&biased).unwrap(), "q_aa") > THRESHOLD);
}

#[test]
fn the_second_moment_of_the_sampled_field_adds_up_with_its_noise() {
    // Networks of LRT with another noise shared by both inputs: the correlation would be that of `stochastic-weights`.
    let lrt = field(Model::LrtContinuous, "tanh", Some(0.5), 0.05);
    let shared = field(Model::StochasticWeights, "tanh", None, 0.05);
    let simulation = Simulation { width: 400, realisations: 16, depth: 8, carry: true, ..Simulation::default() };
    let measurement = run(&simulation, &lrt);
    assert_eq!(measurement.compare(&lrt).unwrap().agrees(), Some(true));
    let wrong = measurement.compare(&shared).unwrap();
    assert!(overall(&wrong, "c") > THRESHOLD, "{:?}", wrong.overall);
    assert!(overall(&wrong, "q_aa") < THRESHOLD, "variances are the same: {:?}", wrong.overall);
}

/// Steps of carried fields are correlated from layer to layer. Drifts of a right theory must be standard normal numbers all the same.
#[test]
fn overall_deviations_of_a_right_carried_theory_are_standardised() {
    for (model, neuron, sigma2) in [(Model::Binary, "sign", None), (Model::Deterministic, "erf:1.5", Some(0.9))] {
        let field = field(model, neuron, sigma2, 0.05);
        let (mut count, mut square) = (0.0, 0.0);
        for seed in 0..30 {
            let simulation = Simulation { width: 100, realisations: 20, depth: 8, carry: true, seed, ..Simulation::default() };
            for overall in run(&simulation, &field).compare(&field).unwrap().overall {
                count += 1.0;
                square += overall.drift * overall.drift;
            }
        }
        let mean = square / count;
        assert!((0.6..1.6).contains(&mean), "{model}: the mean square of {count} drifts is {mean}");
    }
}

#[test]
fn the_gradient_of_the_spread_is_driven_by_that_of_the_fields() {
    // γ²/N is one squared Gaussian number per network: many small networks.
    let field = field(Model::Deterministic, "sign", Some(0.8), 0.0);
    let simulation = Simulation { width: 100, realisations: 600, depth: 6, carry: true, ..Simulation::default() };
    let comparison = run(&simulation, &field).compare(&field).unwrap();
    for jacobian in &comparison.jacobians {
        let gradient = jacobian.spread.unwrap().gradient;
        assert!((gradient.mean / gradient.theory - 1.0).abs() < 0.25 && gradient.deviation.unwrap().abs() < 5.0, "{gradient:?}");
        assert!((jacobian.gradient.mean / jacobian.gradient_fixed.mean - 1.0).abs() < 0.05, "{jacobian:?}");
    }
}

#[test]
fn threads_change_nothing_in_carried_networks() {
    let field = field(Model::Deterministic, "sign", Some(0.5), 0.01);
    let simulation = Simulation { width: 70, realisations: 5, depth: 4, carry: true, ..Simulation::default() };
    let with = |threads, seed| run(&Simulation { threads, seed, ..simulation.clone() }, &field);
    let (one, three, other) = (with(1, 1), with(3, 1), with(1, 2));
    assert_eq!((&one.ensemble, &one.narrow), (&three.ensemble, &three.narrow));
    assert_ne!(one.ensemble, other.ensemble);
}
