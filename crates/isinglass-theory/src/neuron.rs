//! Neurons, named as on the command line and in the paper.
//!
//! A neuron is `x = sign(h + αL)`: `probit` with Gaussian noise `L`, `logistic` with logistic noise, `sign` without noise. Its mean
//! given the field is `φ(h)`. `erf` and `tanh` specify a mean function directly, by its gain.
//!
//! | neuron | mean `φ(h)` | inside the deterministic surrogate |
//! |---|---|---|
//! | `sign` | `sign(h)` | `erf(h/√2)` over `√Σ` |
//! | `probit:α` | `erf(h/(α√2))` | `erf(h/√2)` over `√(α² + Σ)`, exact |
//! | `logistic:α` | `tanh(h/α)` | `tanh(h)` over `√(α² + πΣ/2)`, slope matching |
//! | `erf:a` | `erf(a h)` | `erf(a h)` over `√Σ`, a chosen gain |
//! | `tanh:k` | `tanh(k h)` | `tanh(k h)` over `√Σ`, a chosen gain |
//! | `relu`, `linear` | `max(0, h)`, `h` | none |
//!
//! ```
//! use isinglass_theory::Neuron;
//!
//! assert_eq!("tanh".parse::<Neuron>()?, Neuron::Tanh(1.0));
//! assert_eq!("probit:0.5".parse::<Neuron>()?.to_string(), "probit:0.5");
//! assert!("softmax".parse::<Neuron>().is_err());
//! # Ok::<(), isinglass_theory::Error>(())
//! ```

use std::f64::consts::FRAC_PI_2;
use std::fmt;
use std::str::FromStr;

use crate::Error;
use crate::activation::{Erf, Phi, Tanh};

/// A neuron model. Parameters are positive; [`FromStr`] and [`RandomNetwork::new`](crate::RandomNetwork::new) check them.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Neuron {
    /// `x = sign(h)`, `sign(0) = +1`.
    Sign,
    /// `x = sign(h + αL)`, `L ~ N(0, 1)`.
    Probit(f64),
    /// `x = sign(h + αL)`, `L ~ Logistic(0, ½)`.
    Logistic(f64),
    /// Mean `erf(a h)`.
    Erf(f64),
    /// Mean `tanh(k h)`.
    Tanh(f64),
    /// `max(0, h)`.
    Relu,
    /// `h`.
    Linear,
}

/// The variance under the root that divides the field of the deterministic surrogate: `d = n² + sΣ`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Denominator {
    /// `n²`, the variance of the neuron's own noise.
    pub noise: f64,
    /// `s`, the weight of `Σ`.
    pub spread: f64,
}

impl Neuron {
    /// The neuron's mean given its field, `φ(h)`.
    pub fn mean(self) -> Phi {
        match self {
            Self::Sign => Phi::Sign,
            Self::Probit(alpha) => Phi::Erf(Erf::probit(alpha)),
            Self::Logistic(alpha) => Phi::Tanh(Tanh::new(1.0 / alpha)),
            Self::Erf(a) => Phi::Erf(Erf::new(a)),
            Self::Tanh(k) => Phi::Tanh(Tanh::new(k)),
            Self::Relu => Phi::Relu,
            Self::Linear => Phi::Linear,
        }
    }

    /// The neuron averaged over a Gaussian field: its response to the normalised field, and the denominator that normalises it (Appendix A).
    /// `None` if the neuron has no deterministic surrogate.
    pub fn averaged(self) -> Option<(Phi, Denominator)> {
        let over_sigma = Denominator { noise: 0.0, spread: 1.0 };
        match self {
            Self::Sign => Some((Phi::Erf(Erf::standard()), over_sigma)),
            Self::Probit(alpha) => Some((Phi::Erf(Erf::standard()), Denominator { noise: alpha * alpha, spread: 1.0 })),
            Self::Logistic(alpha) => Some((Phi::Tanh(Tanh::new(1.0)), Denominator { noise: alpha * alpha, spread: FRAC_PI_2 })),
            Self::Erf(_) | Self::Tanh(_) => Some((self.mean(), over_sigma)),
            Self::Relu | Self::Linear => None,
        }
    }

    fn parameter(self) -> Option<f64> {
        match self {
            Self::Probit(p) | Self::Logistic(p) | Self::Erf(p) | Self::Tanh(p) => Some(p),
            Self::Sign | Self::Relu | Self::Linear => None,
        }
    }

    pub(crate) fn check(self) -> Result<Self, Error> {
        // Powers of the parameter times powers of a variance must not overflow or underflow.
        let in_range = |p: f64| (1e-9..=1e9).contains(&p);
        if self.parameter().is_none_or(in_range) {
            return Ok(self);
        }
        let noisy = matches!(self, Self::Probit(_) | Self::Logistic(_));
        let hint = if noisy { "; for no noise use sign" } else { "" };
        Err(Error::NeuronParameter { neuron: self.to_string(), hint })
    }
}

impl fmt::Display for Neuron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sign => write!(f, "sign"),
            Self::Probit(alpha) => write_parameter(f, "probit", *alpha),
            Self::Logistic(alpha) => write_parameter(f, "logistic", *alpha),
            Self::Erf(a) => write_parameter(f, "erf", *a),
            Self::Tanh(k) => write_parameter(f, "tanh", *k),
            Self::Relu => write!(f, "relu"),
            Self::Linear => write!(f, "linear"),
        }
    }
}

/// `name:parameter`, the shortest text that parses to the same number, with an exponent if it is very large or small.
fn write_parameter(f: &mut fmt::Formatter<'_>, name: &str, parameter: f64) -> fmt::Result {
    if (1e-5..1e7).contains(&parameter) { write!(f, "{name}:{parameter}") } else { write!(f, "{name}:{parameter:e}") }
}

impl FromStr for Neuron {
    type Err = Error;

    /// `name` or `name:parameter`; the parameter defaults to 1.
    fn from_str(text: &str) -> Result<Self, Error> {
        let unknown = || Error::UnknownNeuron(text.to_owned());
        let (name, parameter) = match text.split_once(':') {
            None => (text, None),
            Some((name, parameter)) => (name, Some(parameter.parse::<f64>().map_err(|_| unknown())?)),
        };
        let p = parameter.unwrap_or(1.0);
        let neuron = match (name, parameter) {
            ("sign", None) => Self::Sign,
            ("relu", None) => Self::Relu,
            ("linear", None) => Self::Linear,
            ("probit", _) => Self::Probit(p),
            ("logistic", _) => Self::Logistic(p),
            ("erf", _) => Self::Erf(p),
            ("tanh", _) => Self::Tanh(p),
            _ => return Err(unknown()),
        };
        neuron.check()
    }
}
