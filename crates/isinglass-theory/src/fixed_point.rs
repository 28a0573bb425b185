//! Fixed points of the variance and of the correlation.
//!
//! At criticality, iterating a map converges only as `1/ℓ`. Fixed points are found
//! instead by safeguarded Newton steps and bracketing in `ln q` and `ln δ`.
//!
//! ```
//! use isinglass_theory::{Model, Neuron, RandomNetwork};
//!
//! let network = RandomNetwork::new(Model::Deterministic, Neuron::Erf(1.0))?;
//! // erf(h) at σ_m² = 1: q* = 1/2 exactly.
//! let q = network.at(Some(1.0), 0.0)?.variance_fixed_point()?.finite().unwrap();
//! assert!((q - 0.5).abs() < 1e-15);
//! # Ok::<(), isinglass_theory::Error>(())
//! ```

use crate::activation::{Activation, FieldPair, Parity};
use crate::root::bracketed;
use crate::{Correlation, Error, MeanField};

/// The limit of a signal's variance as depth grows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum VarianceFixedPoint {
    /// The signal tends to a finite size `q* > 0`.
    Positive(f64),
    /// The signal dies out, `q* = 0`.
    Zero,
    /// Every `q` is a fixed point (`relu` at `σ_w² = 2` and `linear` at 1, without biases).
    Every,
    /// The variance grows without limit.
    Diverges,
}

impl VarianceFixedPoint {
    /// `q*`, if it is unique and finite.
    pub fn finite(self) -> Option<f64> {
        match self {
            Self::Positive(q) => Some(q),
            Self::Zero => Some(0.0),
            Self::Every | Self::Diverges => None,
        }
    }
}

/// A slope this close to 1 counts as 1: the rounding error of `σ² φ'(0)²`.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// `ln ½`.
const LOG_HALF: f64 = -std::f64::consts::LN_2;

impl<A: Activation> MeanField<A> {
    /// `q*`, the stable fixed point of [`variance_map`](Self::variance_map).
    pub fn variance_fixed_point(&self) -> Result<VarianceFixedPoint, Error> {
        let at_zero = self.variance_map(0.0)?;
        if self.variance_is_constant() {
            return Ok(if at_zero > 0.0 { VarianceFixedPoint::Positive(at_zero) } else { VarianceFixedPoint::Zero });
        }
        if self.phi().homogeneity().is_some() {
            return self.homogeneous_fixed_point();
        }
        if at_zero == 0.0 && self.variance_slope(0.0)? <= 1.0 + ROUNDING {
            return Ok(VarianceFixedPoint::Zero);
        }
        let mut low = if at_zero > 0.0 { at_zero } else { 1.0 };
        let mut low_image = self.variance_map(low)?;
        while low_image < low {
            low *= 0.125;
            if low < f64::MIN_POSITIVE {
                return Ok(VarianceFixedPoint::Zero);
            }
            low_image = self.variance_map(low)?;
        }
        loop {
            let high = 8.0 * low;
            if !high.is_finite() {
                return Ok(VarianceFixedPoint::Diverges);
            }
            let high_image = self.variance_map(high)?;
            if high_image < high {
                // For a map that grows with q the images are tighter bounds; start between them.
                let start = (low_image.sqrt() * high_image.sqrt()).clamp(low, high);
                return self.newton_between(low, high, start).map(VarianceFixedPoint::Positive);
            }
            (low, low_image) = (high, high_image);
        }
    }

    /// The zero of `ln q' − ln q` by Newton's method in `ln q`, with bisection whenever a step would leave the bracket.
    fn newton_between(&self, mut low: f64, mut high: f64, start: f64) -> Result<f64, Error> {
        let mut q = start;
        for _ in 0..200 {
            let (next, slope) = self.variance_step(q)?;
            if next == q {
                return Ok(q);
            }
            if next > q {
                low = q;
            } else {
                high = q;
            }
            let step = libm::log(next / q) / (1.0 - q * slope / next);
            let proposal = q * libm::exp(step);
            let inside = proposal > low && proposal < high && step.is_finite();
            let updated = if inside { proposal } else { low.sqrt() * high.sqrt() };
            let converged = (updated - q).abs() <= 2.0 * f64::EPSILON * q || high - low <= 4.0 * f64::EPSILON * high;
            q = updated;
            if converged {
                return Ok(q);
            }
        }
        Err(Error::NoRoot("q*"))
    }

    /// `q' = mq + σ_b²`.
    fn homogeneous_fixed_point(&self) -> Result<VarianceFixedPoint, Error> {
        let slope = self.variance_slope(1.0)?;
        let b = self.sigma_b2();
        Ok(if (slope - 1.0).abs() <= ROUNDING && b == 0.0 {
            VarianceFixedPoint::Every
        } else if slope >= 1.0 - ROUNDING {
            VarianceFixedPoint::Diverges
        } else if b == 0.0 {
            VarianceFixedPoint::Zero
        } else {
            VarianceFixedPoint::Positive(b / (1.0 - slope))
        })
    }

    /// `c*`, the stable fixed point of the correlation between fields of variance `q > 0`, a fixed point of the variance.
    ///
    /// At equal variances `c'` is a power series in `c` with non-negative coefficients, hence convex on `[0, 1]`. Apart from `c = 1` it has at most one
    /// fixed point, which is stable if `χ₁ > 1` or if noise drawn for each input separates equal signals.
    pub fn correlation_fixed_point(&self, q: f64, chi_1: f64) -> Result<Correlation, Error> {
        let keeps_equal = self.keeps_equal_signals_equal();
        if keeps_equal && chi_1 <= 1.0 + crate::point::CRITICAL_TOLERANCE {
            return Ok(Correlation::ONE);
        }
        if self.phi().parity() == Parity::Odd && self.sigma_b2() == 0.0 {
            return Ok(Correlation::ZERO);
        }
        let map =
            |correlation: Correlation| -> Result<Correlation, Error> { Ok(self.pair_map(&FieldPair::equal(q, correlation))?.correlation) };
        let half = Correlation::new(0.5)?;
        if map(half)?.c() < 0.5 {
            // c* < ½: solve for c. Since c' grows with c, c* is at least c'(0).
            let low = map(Correlation::ZERO)?.c();
            if low <= 0.0 {
                return Ok(Correlation::ZERO);
            }
            let excess = |log_c: f64| -> Result<f64, Error> { Ok(libm::log(map(Correlation::new(libm::exp(log_c))?)?.c()) - log_c) };
            return match root_of_decreasing(libm::log(low), LOG_HALF, excess)? {
                Some(log_c) => Correlation::new(libm::exp(log_c)),
                None => Ok(half),
            };
        }
        // c* ≥ ½: solve for δ = 1 − c.
        let excess = |log_deficit: f64| -> Result<f64, Error> {
            Ok(libm::log(map(Correlation::from_deficit(libm::exp(log_deficit))?)?.deficit()) - log_deficit)
        };
        let mut low = map(Correlation::ONE)?.deficit();
        if keeps_equal {
            // δ = 0 is the unstable fixed point: approach it until δ' > δ, which happens soon, since χ₁ exceeds 1 by more than rounding.
            const NEAREST: f64 = 1e-30;
            low = 0.1;
            while excess(libm::log(low))? <= 0.0 {
                low *= 0.1;
                if low < NEAREST {
                    return Ok(Correlation::ONE);
                }
            }
        }
        if low == 0.0 {
            return Ok(Correlation::ONE);
        }
        match root_of_decreasing(libm::log(low), LOG_HALF, excess)? {
            Some(log_deficit) => Correlation::from_deficit(libm::exp(log_deficit)),
            None => Ok(half),
        }
    }
}

/// The root of a function that decreases through zero between `low` and `high`, up to rounding at either end: `low` if it is not positive there, `None`
/// if it is still not negative at `high`.
fn root_of_decreasing(low: f64, high: f64, f: impl Fn(f64) -> Result<f64, Error>) -> Result<Option<f64>, Error> {
    if f(low)? <= 0.0 {
        return Ok(Some(low));
    }
    if f(high)? >= 0.0 {
        return Ok(None);
    }
    bracketed("c*", low, high, f).map(Some)
}
