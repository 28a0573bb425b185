//! Errors: a value outside its domain, a model that does not take a neuron, an integral that cannot be certified.
//!
//! Every message names the value, the limit and the way out.
//!
//! ```
//! use isinglass_theory::{Model, Neuron, RandomNetwork};
//!
//! let error = RandomNetwork::new(Model::Deterministic, Neuron::Sign)?.at(Some(1.2), 0.0).unwrap_err();
//! assert_eq!(error.to_string(), "σ_m² = 1.2: the variance of means in [-1, 1] cannot exceed 1");
//! # Ok::<(), isinglass_theory::Error>(())
//! ```

use thiserror::Error;

/// The error type of this crate.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum Error {
    /// A variance is negative, NaN, or so large or small that its powers would overflow or underflow.
    #[error("{symbol} = {value:?}: a variance must be 0 or between 1e-100 and 1e30")]
    Variance {
        /// The symbol of the variance, e.g. `σ_b²`.
        symbol: &'static str,
        /// The offending value.
        value: f64,
    },

    /// The variance of the means exceeds 1.
    #[error("σ_m² = {}: the variance of means in [-1, 1] cannot exceed 1", number(*.0))]
    MeanVariance(f64),

    /// A correlation lies outside [-1, 1].
    #[error("c = {}: a correlation must lie in [-1, 1]", number(*.0))]
    Correlation(f64),

    /// The model requires a weight variance.
    #[error("model {model} needs {symbol}, the variance of its {of}")]
    MissingVariance {
        /// The model.
        model: &'static str,
        /// `σ_m²` or `σ_w²`.
        symbol: &'static str,
        /// What it is the variance of.
        of: &'static str,
    },

    /// The model has no such weight variance.
    #[error("model {model} does not take {symbol}: {instead}")]
    UnwantedVariance {
        /// The model.
        model: &'static str,
        /// The variance that was given.
        symbol: &'static str,
        /// What the model takes instead.
        instead: &'static str,
    },

    /// Not the name of a neuron.
    #[error("unknown neuron {0:?}: use sign, probit:α, logistic:α, erf:a, tanh:k, relu or linear")]
    UnknownNeuron(String),

    /// The neuron's parameter is out of range.
    #[error("{neuron}: the parameter must lie between 1e-9 and 1e9{hint}")]
    NeuronParameter {
        /// The neuron as it was written.
        neuron: String,
        /// What to use instead, starting with `; `, or empty.
        hint: &'static str,
    },

    /// Not the name of a model.
    #[error("unknown model {0:?}: use {1}")]
    UnknownModel(String, String),

    /// The model cannot have this neuron.
    #[error("model {model} cannot have neuron {neuron}: {reason}; valid neurons are {valid}")]
    Pair {
        /// The model.
        model: &'static str,
        /// The neuron.
        neuron: String,
        /// Why not.
        reason: &'static str,
        /// The neurons it can have.
        valid: &'static str,
    },

    /// A numerical integral did not reach its tolerance.
    #[error(
        "{what} at q = {q:e} could not be certified: step halving still changes it by {achieved:.1e} (relative), {wanted:.0e} is required"
    )]
    NotConverged {
        /// The quantity.
        what: &'static str,
        /// The variance of the field.
        q: f64,
        /// The relative change at the last halving.
        achieved: f64,
        /// The tolerance.
        wanted: f64,
    },

    /// An integrand does not decay, or not before it or the Gaussian weight leaves the range of `f64`.
    #[error(
        "{what} at q = {q:e} could not be certified: its tails are not negligible within {range} standard deviations; use a smaller q, or a φ that grows more slowly"
    )]
    HeavyTail {
        /// The quantity.
        what: &'static str,
        /// The variance of the field.
        q: f64,
        /// How far from the mean the integrand could be followed, in standard deviations.
        range: usize,
    },

    /// The derivatives given by an activation are not those of its value.
    #[error("φ' and φ'' are not the derivatives of φ: dA/dq at q = {q:e} is {by_parts:e} by parts and {by_curvature:e} from E[φ'² + φφ'']")]
    InconsistentDerivatives {
        /// The variance of the field.
        q: f64,
        /// `E[φφ'z]/√q`.
        by_parts: f64,
        /// `E[φ'² + φφ'']`.
        by_curvature: f64,
    },

    /// A root could not be found.
    #[error("no solution found for {0}")]
    NoRoot(&'static str),

    /// The denominator of the deterministic surrogate vanishes.
    #[error("Σ = 0 in the first layer: {0}")]
    NothingRandom(&'static str),

    /// A request that cannot be answered.
    #[error("{0}")]
    Unsupported(String),
}

/// A number in as many digits as it has, with an exponent where these would be mostly zeros.
pub(crate) fn number(x: f64) -> String {
    let size = x.abs();
    if size == 0.0 || (1e-6..1e9).contains(&size) || !x.is_finite() { x.to_string() } else { format!("{x:e}") }
}
