//! Short names for tests.

#![allow(dead_code)] // Each test file uses its own part.

use isinglass_theory::activation::FieldPair;
use isinglass_theory::{Correlation, MeanField, RandomNetwork};

/// Fails unless `value` is within `tolerance` of `expected`, relative to it.
#[track_caller]
pub fn close(value: f64, expected: f64, tolerance: f64) {
    let error = if expected == 0.0 { value.abs() } else { (value / expected - 1.0).abs() };
    assert!(error <= tolerance, "{value:e} is not {expected:e}: relative error {error:.1e}, allowed {tolerance:.0e}");
}

/// A network by its names.
pub fn network(model: &str, neuron: &str) -> RandomNetwork {
    RandomNetwork::new(model.parse().unwrap(), neuron.parse().unwrap()).unwrap()
}

/// A network with a weight variance, at its initialisation.
pub fn field(model: &str, neuron: &str, sigma2: f64, sigma_b2: f64) -> MeanField {
    network(model, neuron).at(Some(sigma2), sigma_b2).unwrap()
}

/// A pair of fields.
pub fn pair(q_a: f64, q_b: f64, c: f64) -> FieldPair {
    FieldPair { q_a, q_b, correlation: Correlation::new(c).unwrap() }
}
