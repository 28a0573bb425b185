//! One point of the phase diagram: fixed points, slopes, depth scales, phase.
//!
//! | symbol | meaning |
//! |---|---|
//! | `χ₁` | slope of the correlation map at `c = 1`; also the mean squared singular value of a layer's Jacobian, by which gradients shrink or grow |
//! | `χ` | slope at the stable fixed point `c*` |
//! | `ξ₁ = −1/ln χ₁` | depth scale of the gradient (negative if it grows, `χ₁ > 1`) |
//! | `ξ_c = −1/ln χ` | depth scale of the correlation |
//! | `ξ_q = −1/ln(dq'/dq)` | depth scale of the variance |
//!
//! ```
//! use isinglass_theory::{Model, Neuron, Phase, Point, RandomNetwork};
//!
//! let point = Point::of(&RandomNetwork::new(Model::Deterministic, Neuron::Sign)?.at(Some(0.9), 0.0)?)?;
//! assert_eq!(point.phase, Phase::Ordered);
//! assert_eq!(point.q_star.finite(), Some(0.0));
//! // Without biases the signal shrinks by χ₁ = (2/π)σ_m² per layer and its correlation freezes: there is no c*.
//! assert!((point.chi_1.unwrap() - 0.9 * std::f64::consts::FRAC_2_PI).abs() < 1e-15);
//! assert_eq!(point.c_star, None);
//! # Ok::<(), isinglass_theory::Error>(())
//! ```

use std::fmt;

use crate::activation::{Activation, Parity};
use crate::{Correlation, Error, MeanField, VarianceFixedPoint};

/// A point is called critical if `χ₁` is this close to 1.
pub const CRITICAL_TOLERANCE: f64 = 1e-9;

/// What happens to two nearby signals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// `χ₁ < 1`: they converge, and gradients vanish.
    Ordered,
    /// `χ₁ = 1`: they keep their distance.
    Critical,
    /// `χ₁ > 1`: they separate, and gradients explode.
    Chaotic,
    /// Noise drawn for each input separates even equal signals: `c = 1` is not a fixed point.
    NoiseLimited,
}

impl Phase {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Ordered, Self::Critical, Self::Chaotic, Self::NoiseLimited];

    /// The phase of a network whose slope at `c = 1` is `χ₁`.
    pub fn of<A: Activation>(field: &MeanField<A>, chi_1: Option<f64>) -> Self {
        if !field.keeps_equal_signals_equal() {
            return Self::NoiseLimited;
        }
        match chi_1 {
            Some(chi_1) if (chi_1 - 1.0).abs() <= CRITICAL_TOLERANCE => Self::Critical,
            Some(chi_1) if chi_1 < 1.0 => Self::Ordered,
            _ => Self::Chaotic,
        }
    }

    /// The name used in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ordered => "ordered",
            Self::Critical => "critical",
            Self::Chaotic => "chaotic",
            Self::NoiseLimited => "noise-limited",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The theory of a random network at `(σ², σ_b²)`. A quantity that diverges or does not exist is `None`.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// `q*`.
    pub q_star: VarianceFixedPoint,
    /// `c*`; `None` if the correlation freezes at a value that depends on the initial one.
    pub c_star: Option<Correlation>,
    /// `χ₁`; at `q* = 0` its limit as `σ_b² → 0⁺`. `None` if it is infinite.
    pub chi_1: Option<f64>,
    /// `χ` at `c*`.
    pub chi: Option<f64>,
    /// `dq'/dq` at `q*`.
    pub dq: Option<f64>,
    /// The phase.
    pub phase: Phase,
}

impl Point {
    /// Finds the fixed points and evaluates the slopes there.
    pub fn of<A: Activation>(field: &MeanField<A>) -> Result<Self, Error> {
        let q_star = field.variance_fixed_point()?;
        let (dq, chi_1) = match q_star {
            VarianceFixedPoint::Positive(q) => field.slopes(q).map(|(dq, chi_1)| (Some(dq), finite(chi_1)))?,
            VarianceFixedPoint::Zero => field.slopes(0.0).map(|(dq, chi_1)| (Some(dq), finite(chi_1)))?,
            VarianceFixedPoint::Every => (Some(1.0), field.chi_1_at(q_star)?),
            VarianceFixedPoint::Diverges => (None, field.chi_1_at(q_star)?),
        };
        let (c_star, chi) = correlation_and_slope(field, q_star, chi_1)?;
        Ok(Self { q_star, c_star, chi_1, chi, dq, phase: Phase::of(field, chi_1) })
    }

    /// `ξ₁ = −1/ln χ₁`.
    pub fn xi_1(&self) -> Option<f64> {
        self.chi_1.and_then(depth_scale)
    }

    /// `ξ_c = −1/ln χ`.
    pub fn xi_c(&self) -> Option<f64> {
        self.chi.and_then(depth_scale)
    }

    /// `ξ_q = −1/ln(dq'/dq)`.
    pub fn xi_q(&self) -> Option<f64> {
        self.dq.and_then(depth_scale)
    }
}

impl<A: Activation> MeanField<A> {
    /// `χ₁` alone, which requires neither `c*` nor an expectation over pairs. Phase diagrams are made of it.
    pub fn chi_1(&self) -> Result<Option<f64>, Error> {
        self.chi_1_at(self.variance_fixed_point()?)
    }

    /// `χ₁` at a known fixed point.
    pub fn chi_1_at(&self, q_star: VarianceFixedPoint) -> Result<Option<f64>, Error> {
        let q = match q_star {
            VarianceFixedPoint::Positive(q) => q,
            VarianceFixedPoint::Zero => 0.0,
            // Homogeneous activations have the same slope at every q; for others there is none.
            VarianceFixedPoint::Every | VarianceFixedPoint::Diverges if self.phi().homogeneity().is_some() => 1.0,
            VarianceFixedPoint::Every | VarianceFixedPoint::Diverges => return Ok(None),
        };
        Ok(finite(self.slopes(q)?.1))
    }

    /// Fixed point and slope of the correlation map in the limit `q → 0` of a dying signal; `None` if `c` freezes.
    fn limit_of_dying_signal(&self) -> Option<(Correlation, f64)> {
        // c' = (v/w)c: noise drawn for each input pulls the correlation to zero.
        let ratio = self.correlation_ratio_of_small_signals();
        (self.phi().parity() == Parity::Odd && ratio < 1.0).then_some((Correlation::ZERO, ratio))
    }
}

fn correlation_and_slope<A: Activation>(
    field: &MeanField<A>,
    q_star: VarianceFixedPoint,
    chi_1: Option<f64>,
) -> Result<(Option<Correlation>, Option<f64>), Error> {
    match q_star {
        VarianceFixedPoint::Positive(q) => {
            let c_star = field.correlation_fixed_point(q, chi_1.unwrap_or(f64::INFINITY))?;
            let chi = if c_star == Correlation::ONE { chi_1 } else { finite(field.chi(q, c_star)?) };
            Ok((Some(c_star), chi))
        }
        VarianceFixedPoint::Zero => Ok(field.limit_of_dying_signal().unzip()),
        // The map of a homogeneous φ does not depend on q: relu moves c to 1, linear preserves it.
        VarianceFixedPoint::Every if field.phi().parity() == Parity::General => Ok((Some(Correlation::ONE), chi_1)),
        VarianceFixedPoint::Every | VarianceFixedPoint::Diverges => Ok((None, None)),
    }
}

fn finite(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}

/// `−1/ln(rate)`: the number of layers over which a quantity that is multiplied by `rate` in each layer falls by a factor of `e`. `None` at `rate = 1`, where it
/// diverges; 0 at `rate = 0`; negative above 1.
///
/// ```
/// use isinglass_theory::depth_scale;
///
/// assert!((depth_scale((-0.5f64).exp()).unwrap() - 2.0).abs() < 1e-15);
/// assert_eq!(depth_scale(1.0), None);
/// assert_eq!(depth_scale(0.0), Some(0.0));
/// ```
pub fn depth_scale(rate: f64) -> Option<f64> {
    if !rate.is_finite() || (rate - 1.0).abs() <= CRITICAL_TOLERANCE {
        return None;
    }
    // −1/ln 0 is +0, not −0.
    Some(-1.0 / libm::log(rate)).map(|xi| if xi == 0.0 { 0.0 } else { xi })
}
