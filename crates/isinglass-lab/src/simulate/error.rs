//! Why a simulation cannot be made.

use thiserror::Error;

/// The error type of simulations.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum SimulateError {
    /// The theory has no answer for the network.
    #[error(transparent)]
    Theory(#[from] isinglass_theory::Error),
    /// A size is too small or too large.
    #[error("{what} = {value}: {limit}")]
    Size {
        /// Which.
        what: &'static str,
        /// The value.
        value: usize,
        /// What is possible instead.
        limit: &'static str,
    },
}
