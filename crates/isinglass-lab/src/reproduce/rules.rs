//! What makes a claim hold: from numbers of each seed to a verdict and its evidence, and nothing else.
//!
//! Every rule reduces a claim to one number for each seed, or several, and judges by their [intervals](super::interval). Where there is not enough to go by, it says so.

pub(super) mod comparison;
pub(super) mod counterparts;
pub(super) mod depth;
pub(super) mod initialisations;
pub(super) mod optimizers;
pub(super) mod plane;
pub(super) mod training;

use super::interval::Interval;
use super::judgement::{PerSeed, Undecided};

/// The interval of what every seed says.
fn interval(values: &PerSeed<f64>) -> Result<Interval, Undecided> {
    Interval::of(values.as_deref().map_err(Undecided::clone)?)
}

/// The differences of two measures, seed by seed.
fn differences(one: &PerSeed<f64>, other: &PerSeed<f64>) -> PerSeed<f64> {
    let (one, other) = (one.as_deref().map_err(Undecided::clone)?, other.as_deref().map_err(Undecided::clone)?);
    Ok(one.iter().zip(other).map(|(a, b)| a - b).collect())
}
