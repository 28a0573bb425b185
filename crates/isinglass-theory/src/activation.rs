//! Activations `φ` and their Gaussian expectations.
//!
//! The theory rests on four expectations over fields `h ~ N(0, q)`, or pairs of fields with variances `q_a`, `q_b` and correlation `c`:
//!
//! | letter | expectation | method |
//! |---|---|---|
//! | `A` | `E φ²` | [`Activation::moments`] |
//! | `B` | `E φ'²` | [`Activation::moments`] |
//! | `C` | `E φ_a φ_b` | [`Activation::pair_moments`] |
//! | `D` | `E φ'_a φ'_b` | [`Activation::slope_product`] |
//!
//! `erf`, `sign`, `relu` and `linear` have closed forms; `tanh` is a mixture of error functions ([`Tanh`]); for any other
//! smooth `φ` the trait's default methods integrate numerically ([`quadrature`]).
//!
//! ```
//! use isinglass_theory::activation::{Activation, Parity, Tanh};
//!
//! // E tanh²(z) and E sech⁴(z), z ~ N(0, 1).
//! let moments = Tanh::new(1.0).moments(1.0)?;
//! assert!((moments.mean_square - 0.394294490397841).abs() < 1e-15);
//! assert!((moments.slope_square - 0.464402902448268).abs() < 1e-15);
//!
//! // Your own φ: the arctangent. Derivatives can be given in closed form; here they are computed numerically.
//! struct Arctan;
//! impl Activation for Arctan {
//!     fn value(&self, h: f64) -> f64 { h.atan() }
//!     fn parity(&self) -> Parity { Parity::Odd }
//! }
//! let moments = Arctan.moments(1.0)?;
//! assert!((moments.mean_square - 0.449700916434902).abs() < 1e-13);
//! # Ok::<(), isinglass_theory::Error>(())
//! ```

mod erf;
mod rectifier;
mod sign;
mod smooth;
mod tanh;

pub use erf::Erf;
pub use rectifier::{Linear, Relu};
pub use sign::Sign;
pub use smooth::{Derivative, differentiate, differentiate_twice};
pub use tanh::Tanh;

use crate::{Correlation, Error, quadrature};

/// Symmetry of an activation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parity {
    /// `φ(−h) = −φ(h)`.
    Odd,
    /// No known symmetry.
    General,
}

/// Expectations over one field `h ~ N(0, q)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    /// `A = E φ²`.
    pub mean_square: f64,
    /// `1 − A`, accurate as `A → 1`.
    pub deficit: f64,
    /// `B = E φ'²`; infinite for the sign function.
    pub slope_square: f64,
    /// `dA/dq = E[φ'² + φφ'']`.
    pub growth: f64,
}

/// A pair of Gaussian fields of zero mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FieldPair {
    /// Variance of the first field.
    pub q_a: f64,
    /// Variance of the second field.
    pub q_b: f64,
    /// Their correlation.
    pub correlation: Correlation,
}

impl FieldPair {
    /// Two fields of equal variance.
    pub fn equal(q: f64, correlation: Correlation) -> Self {
        Self { q_a: q, q_b: q, correlation }
    }
}

/// Expectations over a pair of fields.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairMoments {
    /// `C = E φ_a φ_b`.
    pub product: f64,
    /// `1 − C`, accurate as `C → 1`.
    pub deficit: f64,
    /// `E (φ_a − φ_b)² = A_a + A_b − 2C`, accurate where the signals are close.
    pub distance: f64,
    /// `1 − C²/(A_a A_b)`, the squared sine of the angle between `φ_a` and `φ_b`, accurate where the signals are close.
    pub decorrelation: f64,
}

/// A neuron's response `φ` to its field.
///
/// Only [`value`](Self::value) is required. Derivatives default to [`differentiate`] and [`differentiate_twice`], whose error is given by
/// [`derivative_error`](Self::derivative_error), and expectations to certified quadrature.
pub trait Activation {
    /// `φ(h)`.
    fn value(&self, h: f64) -> f64;

    /// `φ'(h)`.
    fn slope(&self, h: f64) -> f64 {
        differentiate(|x| self.value(x), h).value
    }

    /// `φ''(h)`.
    fn curvature(&self, h: f64) -> f64 {
        differentiate_twice(|x| self.value(x), h).value
    }

    /// The error of `φ'` and `φ''`, relative to the size of `φ` and its derivatives. Return 0 if they are closed forms.
    fn derivative_error(&self) -> f64 {
        smooth::STATED_ERROR
    }

    /// Symmetry of `φ`. For an odd `φ` the fixed point `c = 0` is found exactly.
    fn parity(&self) -> Parity {
        Parity::General
    }

    /// `A`, `B` and `dA/dq` at variance `q`.
    fn moments(&self, q: f64) -> Result<Moments, Error> {
        quadrature::moments(self, q)
    }

    /// `C` and the distances between the two signals.
    fn pair_moments(&self, pair: &FieldPair) -> Result<PairMoments, Error> {
        quadrature::pair_moments(self, pair)
    }

    /// `D = E φ'_a φ'_b`.
    fn slope_product(&self, pair: &FieldPair) -> Result<f64, Error> {
        quadrature::slope_product(self, pair)
    }

    /// `qB − A`, which is O(q³) for an odd `φ`: the bias variance on a critical line is proportional to it.
    fn critical_excess(&self, q: f64) -> Result<f64, Error> {
        quadrature::critical_excess(self, q)
    }

    /// `κ` if `φ` is homogeneous, so that `A = κq` at every `q`.
    fn homogeneity(&self) -> Option<f64> {
        None
    }
}

/// The activations of the paper's networks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Phi {
    /// `erf(a h)`.
    Erf(Erf),
    /// `tanh(k h)`.
    Tanh(Tanh),
    /// The sign function.
    Sign,
    /// `max(0, h)`.
    Relu,
    /// `h`.
    Linear,
}

/// Calls a method of the activation inside [`Phi`].
macro_rules! delegate {
    ($self:ident, $phi:ident => $call:expr) => {
        match $self {
            Phi::Erf($phi) => $call,
            Phi::Tanh($phi) => $call,
            Phi::Sign => {
                let $phi = &Sign;
                $call
            }
            Phi::Relu => {
                let $phi = &Relu;
                $call
            }
            Phi::Linear => {
                let $phi = &Linear;
                $call
            }
        }
    };
}

impl Activation for Phi {
    fn value(&self, h: f64) -> f64 {
        delegate!(self, phi => phi.value(h))
    }
    fn slope(&self, h: f64) -> f64 {
        delegate!(self, phi => phi.slope(h))
    }
    fn curvature(&self, h: f64) -> f64 {
        delegate!(self, phi => phi.curvature(h))
    }
    fn derivative_error(&self) -> f64 {
        delegate!(self, phi => phi.derivative_error())
    }
    fn parity(&self) -> Parity {
        delegate!(self, phi => phi.parity())
    }
    fn moments(&self, q: f64) -> Result<Moments, Error> {
        delegate!(self, phi => phi.moments(q))
    }
    fn pair_moments(&self, pair: &FieldPair) -> Result<PairMoments, Error> {
        delegate!(self, phi => phi.pair_moments(pair))
    }
    fn slope_product(&self, pair: &FieldPair) -> Result<f64, Error> {
        delegate!(self, phi => phi.slope_product(pair))
    }
    fn critical_excess(&self, q: f64) -> Result<f64, Error> {
        delegate!(self, phi => phi.critical_excess(q))
    }
    fn homogeneity(&self) -> Option<f64> {
        delegate!(self, phi => phi.homogeneity())
    }
}
