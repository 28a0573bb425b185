//! Surrogates: the differentiable networks that stand in for a binary one during training.
//!
//! | surrogate | weights | neurons | forward pass |
//! |---|---|---|---|
//! | `deterministic` | binary, mean `M` | binary | `h = h̄/√(n² + sΣ)`, `x̄ = φ(h)` |
//! | `lrt-binary` | binary, mean `M` | stochastic binary | `h = h̄ + √Σ ε`, `x̄ = φ(h)` |
//! | `lrt-continuous` | binary, mean `M` | continuous | `h = h̄ + √Σ ε`, `x = φ(h)` |
//! | `continuous` | real | continuous | `h = h̄`, `x = φ(h)` |
//! | `ste` | `sign(M)` | sign | `x = sign(h̄)`; backward as if it were the identity on `[−1, 1]` |
//!
//! with `h̄ = M x̄/√N + b`. Where the inputs of a layer are random spins, `Σ = mean(1 − M²) + mean(M²(1 − x̄²))`; where they are given numbers
//! (the first layer, and continuous neurons), `Σ = mean((1 − M²) x²)`.
//!
//! ```
//! use isinglass_net::{Neuron, Surrogate};
//!
//! assert_eq!("lrt-binary".parse::<Surrogate>()?, Surrogate::LrtBinary);
//! assert!(Surrogate::LrtBinary.check_neuron(Neuron::Sign).is_err()); // a step has no gradient
//! # Ok::<(), isinglass_net::Error>(())
//! ```

use isinglass_theory::{Model, Neuron};

use crate::Error;
use crate::named::named;

/// How a binary network is made differentiable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Surrogate {
    /// Averages over weights and neurons (Sec. 2.2).
    Deterministic,
    /// Local reparameterisation with stochastic binary neurons (Sec. 2.3).
    LrtBinary,
    /// Local reparameterisation with continuous neurons.
    LrtContinuous,
    /// No binary network behind it: real weights, continuous neurons.
    Continuous,
    /// Straight-through estimation: binary forward, identity backward.
    Ste,
}

named!("surrogate", Surrogate {
    Deterministic => "deterministic",
    LrtBinary => "lrt-binary",
    LrtContinuous => "lrt-continuous",
    Continuous => "continuous",
    Ste => "ste",
});

impl Surrogate {
    /// The model whose mean-field theory describes the surrogate at initialisation.
    pub fn model(self) -> Model {
        match self {
            Self::Deterministic => Model::Deterministic,
            Self::LrtBinary => Model::LrtBinary,
            Self::LrtContinuous => Model::LrtContinuous,
            Self::Continuous => Model::Continuous,
            Self::Ste => Model::Binary,
        }
    }

    /// The default neuron.
    pub fn default_neuron(self) -> Neuron {
        match self {
            Self::Deterministic | Self::Ste => Neuron::Sign,
            Self::LrtBinary => Neuron::Logistic(1.0),
            Self::LrtContinuous | Self::Continuous => Neuron::Tanh(1.0),
        }
    }

    /// Checks that the surrogate can be trained with this neuron.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] lists the neurons that can be used.
    pub fn check_neuron(self, neuron: Neuron) -> Result<(), Error> {
        let refuse =
            |reason: &str, valid: &str| Err(Error::config(format!("surrogate {self} with neuron {neuron}: {reason}; use {valid}")));
        match (self, neuron) {
            (Self::Ste, Neuron::Sign) => Ok(()),
            (Self::Ste, _) => refuse("straight-through estimation is for the sign function", "sign"),
            (Self::Continuous | Self::LrtContinuous, Neuron::Relu | Neuron::Linear) => {
                refuse("only bounded neurons can be trained", "probit:α, logistic:α, erf:a or tanh:k")
            }
            (_, Neuron::Relu | Neuron::Linear) => refuse("it is not the mean of a ±1 neuron", "probit:α, logistic:α, erf:a or tanh:k"),
            (Self::Deterministic, _) => Ok(()),
            (_, Neuron::Sign) => refuse("a step has no gradient", "probit:α, logistic:α, erf:a or tanh:k"),
            _ => Ok(()),
        }
    }

    /// Whether there are ±1 weights behind the surrogate.
    pub fn has_binary_weights(self) -> bool {
        self != Self::Continuous
    }

    /// Whether there are ±1 neurons behind the surrogate.
    pub fn has_binary_neurons(self) -> bool {
        matches!(self, Self::Deterministic | Self::LrtBinary | Self::Ste)
    }

    /// Whether noise is drawn in every forward pass.
    pub fn is_sampled(self) -> bool {
        matches!(self, Self::LrtBinary | Self::LrtContinuous)
    }

    /// Whether the forward pass has a variance `Σ`.
    pub fn has_variance(self) -> bool {
        !matches!(self, Self::Continuous | Self::Ste)
    }

    /// The default variance of the means: close to 1, where signals travel far.
    pub(crate) fn usual_variance(self) -> f64 {
        if self.has_binary_weights() { 0.99 } else { 1.0 }
    }
}
