//! What can go wrong: a value outside its domain, a pair without a meaning, an integral that cannot be certified.
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
    /// A variance is negative, not a number, or so large or small that its powers would leave the range of numbers.
    #[error("{symbol} = {value:?}: a variance is 0, or a number from 1e-100 to 1e30")]
    Variance {
        /// The symbol of the variance, e.g. `σ_b²`.
        symbol: &'static str,
        /// The offending value.
        value: f64,
    },

    /// The variance of the means exceeds 1.
    #[error("σ_m² = {0}: the variance of means in [-1, 1] cannot exceed 1")]
    MeanVariance(f64),

    /// A correlation lies outside [-1, 1].
    #[error("c = {0}: a correlation lies in [-1, 1]")]
    Correlation(f64),

    /// The model needs a weight variance and none was given.
    #[error("model {model} needs {symbol}, the variance of its {of}")]
    MissingVariance {
        /// The model.
        model: &'static str,
        /// `σ_m²` or `σ_w²`.
        symbol: &'static str,
        /// What it is the variance of.
        of: &'static str,
    },

    /// A weight variance was given to a model that has none (or another one).
    #[error("model {model} takes no {symbol}: {instead}")]
    UnwantedVariance {
        /// The model.
        model: &'static str,
        /// The variance that was given.
        symbol: &'static str,
        /// What the model takes instead.
        instead: &'static str,
    },

    /// The text names no neuron.
    #[error("{0:?} is no neuron: use sign, probit:α, logistic:α, erf:a, tanh:k, relu or linear")]
    UnknownNeuron(String),

    /// The neuron's parameter is not a positive number.
    #[error("{neuron}: the parameter is a number above 0, from 1e-9 to 1e9{hint}")]
    NeuronParameter {
        /// The neuron as it was written.
        neuron: String,
        /// A way out, starting with `; `, or nothing.
        hint: &'static str,
    },

    /// The text names no model.
    #[error("{0:?} is no model: use {1}")]
    UnknownModel(String, String),

    /// The model has no meaning with this neuron.
    #[error("{neuron} has no meaning in model {model}: {reason}; valid neurons are {valid}")]
    Pair {
        /// The model.
        model: &'static str,
        /// The neuron.
        neuron: String,
        /// Why the pair has no meaning.
        reason: &'static str,
        /// The neurons that do.
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

    /// The tails of an integrand do not fall off, or cannot be followed far enough to see it.
    #[error(
        "{what} at q = {q:e} could not be certified: what lies beyond {range} standard deviations is not negligible or not finite; \
         use a smaller q, or a φ that grows more slowly"
    )]
    HeavyTail {
        /// The quantity.
        what: &'static str,
        /// The variance of the field.
        q: f64,
        /// How far from the mean the integrand was seen to be finite.
        range: usize,
    },

    /// The derivatives that an activation states are not those of its value.
    #[error("φ' and φ'' do not belong to φ: dA/dq at q = {q:e} is {by_parts} by parts and {by_curvature} from E[φ'² + φφ'']")]
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

    /// A request that this model cannot answer.
    #[error("{0}")]
    Unsupported(String),
}
