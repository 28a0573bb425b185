//! Simulations of random networks, as the tests make them.

use isinglass_lab::simulate::{Comparison, Measurement, Simulation};
use isinglass_theory::{MeanField, Model, RandomNetwork};

pub fn field(model: Model, neuron: &str, sigma2: Option<f64>, sigma_b2: f64) -> MeanField {
    RandomNetwork::new(model, neuron.parse().unwrap()).unwrap().at(sigma2, sigma_b2).unwrap()
}

pub fn run(simulation: &Simulation, field: &MeanField) -> Measurement {
    simulation.run(field, &|_, _| {}).unwrap()
}

#[track_caller]
pub fn overall(comparison: &Comparison, quantity: &str) -> f64 {
    comparison.overall.iter().find(|overall| overall.quantity == quantity).unwrap_or_else(|| panic!("{quantity}")).worst()
}
