//! The paper's eight models, and the neurons that each can have.
//!
//! | model | weights | neurons | variance | valid neurons |
//! |---|---|---|---|---|
//! | `continuous` | real | continuous | `σ_w²` | all |
//! | `deterministic` | stochastic ±1, averaged | ±1, averaged | `σ_m²` | all but `relu`, `linear` |
//! | `lrt-binary` | stochastic ±1, sampled field | stochastic ±1 | `σ_m²` | all but `relu`, `linear` |
//! | `lrt-continuous` | stochastic ±1, sampled field | continuous | `σ_m²` | all but `relu`, `linear` |
//! | `binary` | random ±1 | sign | none | `sign` |
//! | `stochastic-binary` | random ±1 | stochastic ±1 | none | all but `relu`, `linear` |
//! | `stochastic-weights` | random ±1 | continuous | none | all but `relu`, `linear` |
//! | `stochastic-neurons` | real | stochastic ±1 | `σ_w²` | all but `relu`, `linear` |
//!
//! In models with continuous neurons, the name of a stochastic neuron stands for its mean function `φ`.
//!
//! ```
//! use isinglass_theory::{Model, Neuron, RandomNetwork};
//!
//! assert_eq!("lrt-binary".parse::<Model>()?, Model::LrtBinary);
//! let error = RandomNetwork::new(Model::Binary, Neuron::Tanh(1.0)).unwrap_err();
//! assert_eq!(error.to_string(), "model binary cannot have neuron tanh:1: its neurons are the sign function; valid neurons are sign");
//! # Ok::<(), isinglass_theory::Error>(())
//! ```

use std::fmt;
use std::str::FromStr;

use crate::{Error, Neuron};

/// A kind of random network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Model {
    /// Real weights `N(0, σ_w²)`, continuous neurons (Poole et al. 2016).
    Continuous,
    /// The deterministic surrogate of a stochastic binary network (Sec. 3.2).
    Deterministic,
    /// Local reparameterisation with stochastic binary neurons (Sec. 3.3).
    LrtBinary,
    /// Local reparameterisation with continuous neurons (Sec. 3.3).
    LrtContinuous,
    /// Random ±1 weights, sign neurons.
    Binary,
    /// Random ±1 weights, stochastic ±1 neurons.
    StochasticBinary,
    /// Random ±1 weights, continuous neurons.
    StochasticWeights,
    /// Real weights, stochastic ±1 neurons.
    StochasticNeurons,
}

/// The variance that sets the scale of a model's weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WeightVariance {
    /// `σ_m² ≤ 1`, the variance of the means of the binary weights.
    Means,
    /// `σ_w²`, the variance of real weights.
    Weights,
    /// Weights of ±1 with mean 0: no variance to choose.
    None,
}

impl WeightVariance {
    /// `σ_m²` or `σ_w²`.
    pub fn symbol(self) -> Option<&'static str> {
        match self {
            Self::Means => Some("σ_m²"),
            Self::Weights => Some("σ_w²"),
            Self::None => None,
        }
    }
}

impl Model {
    /// All models, in the order of the paper.
    pub const ALL: [Self; 8] = [
        Self::Continuous,
        Self::Deterministic,
        Self::LrtBinary,
        Self::LrtContinuous,
        Self::Binary,
        Self::StochasticBinary,
        Self::StochasticWeights,
        Self::StochasticNeurons,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Continuous => "continuous",
            Self::Deterministic => "deterministic",
            Self::LrtBinary => "lrt-binary",
            Self::LrtContinuous => "lrt-continuous",
            Self::Binary => "binary",
            Self::StochasticBinary => "stochastic-binary",
            Self::StochasticWeights => "stochastic-weights",
            Self::StochasticNeurons => "stochastic-neurons",
        }
    }

    /// The weight variance that the model takes.
    pub fn weight_variance(self) -> WeightVariance {
        match self {
            Self::Continuous | Self::StochasticNeurons => WeightVariance::Weights,
            Self::Deterministic | Self::LrtBinary | Self::LrtContinuous => WeightVariance::Means,
            Self::Binary | Self::StochasticBinary | Self::StochasticWeights => WeightVariance::None,
        }
    }

    /// Whether the model can have this neuron.
    pub fn check_neuron(self, neuron: Neuron) -> Result<(), Error> {
        const SIGMOIDAL: &str = "sign, probit:α, logistic:α, erf:a and tanh:k";
        let unbounded = matches!(neuron, Neuron::Relu | Neuron::Linear);
        let refuse = |reason, valid| Err(Error::Pair { model: self.name(), neuron: neuron.to_string(), reason, valid });
        match self {
            Self::Binary if neuron != Neuron::Sign => refuse("its neurons are the sign function", "sign"),
            Self::Deterministic | Self::LrtBinary | Self::StochasticBinary | Self::StochasticNeurons if unbounded => {
                refuse("it is not the mean of a ±1 neuron", SIGMOIDAL)
            }
            Self::LrtContinuous | Self::StochasticWeights if unbounded => {
                refuse("the paper's theory of this model assumes bounded neurons", SIGMOIDAL)
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Model {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let named = Self::ALL.into_iter().find(|model| model.name() == text);
        named.ok_or_else(|| Error::UnknownModel(text.to_owned(), Self::ALL.map(Self::name).join(", ")))
    }
}
