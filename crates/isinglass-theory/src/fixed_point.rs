//! Fixed points of the variance and of the correlation.
//!
//! Iterating a map crawls at criticality, where the distance to the fixed point falls only as `1/ℓ`; the fixed points are found
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

/// Where the variance of a signal ends up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum VarianceFixedPoint {
    /// The signal keeps a finite size `q* > 0`.
    Positive(f64),
    /// The signal dies out, `q* = 0`.
    Zero,
    /// Every `q` is a fixed point (`relu` at `σ_w² = 2`, `linear` at 1, without biases).
    Every,
    /// The variance grows without limit.
    Diverges,
}

impl VarianceFixedPoint {
    /// `q*`, if there is one and it is finite.
    pub fn finite(self) -> Option<f64> {
        match self {
            Self::Positive(q) => Some(q),
            Self::Zero => Some(0.0),
            Self::Every | Self::Diverges => None,
        }
    }
}

/// How far a slope may be from 1 and still count as 1: rounding in `σ² φ'(0)²`.
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
                // For a map that grows with q the images are the better bounds, and a good place to start between.
                let start = (low_image.sqrt() * high_image.sqrt()).clamp(low, high);
                return self.newton_between(low, high, start).map(VarianceFixedPoint::Positive);
            }
            (low, low_image) = (high, high_image);
        }
    }

    /// The zero of `ln q' − ln q` by Newton's method in `ln q`, falling back on bisection whenever a step would leave the bracket.
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

    /// `c*`, the stable fixed point of the correlation between fields of variance `q > 0`, itself a fixed point.
    ///
    /// At equal variances `c'` is a power series in `c` with coefficients that are not negative, hence convex on `[0, 1]`: apart from `c = 1` there is at most one
    /// fixed point, and it is the stable one whenever `χ₁ > 1` or noise per input moves equal signals apart.
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
            // c* < ½: solved for c. As c' grows with c, c* is not below c'(0).
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
        // c* ≥ ½: solved for δ = 1 − c.
        let excess = |log_deficit: f64| -> Result<f64, Error> {
            Ok(libm::log(map(Correlation::from_deficit(libm::exp(log_deficit))?)?.deficit()) - log_deficit)
        };
        let mut low = map(Correlation::ONE)?.deficit();
        if keeps_equal {
            // δ = 0 is the unstable fixed point: go towards it until δ' > δ. It is never far, since χ₁ is above 1 by more than rounding.
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

/// The root of a function that falls through zero between `low` and `high`, up to rounding at either end: `low` if it is not positive there, `None`
/// if it has not fallen below zero at `high`.
fn root_of_decreasing(low: f64, high: f64, f: impl Fn(f64) -> Result<f64, Error>) -> Result<Option<f64>, Error> {
    if f(low)? <= 0.0 {
        return Ok(Some(low));
    }
    if f(high)? >= 0.0 {
        return Ok(None);
    }
    bracketed("c*", low, high, f).map(Some)
}
