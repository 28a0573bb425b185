//! Correlations that keep their distance from 1.
//!
//! The correlation of two signals that differ by one part in 10¹⁵ cannot be told from 1 in an `f64`. All maps
//! therefore carry the deficit `δ = 1 − c` along with `c`, each accurate to rounding.
//!
//! ```
//! use isinglass_theory::Correlation;
//!
//! let close = Correlation::from_deficit(1e-20)?;
//! assert_eq!(close.c(), 1.0);
//! assert_eq!(close.deficit(), 1e-20);
//! assert_eq!(Correlation::new(0.25)?.deficit(), 0.75);
//! assert!(Correlation::new(1.5).is_err());
//! # Ok::<(), isinglass_theory::Error>(())
//! ```

use crate::Error;

/// A correlation `c ∈ [−1, 1]` together with its deficit `δ = 1 − c`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Correlation {
    c: f64,
    deficit: f64,
}

impl Correlation {
    /// Equal signals, `c = 1`.
    pub const ONE: Self = Self { c: 1.0, deficit: 0.0 };

    /// Unrelated signals, `c = 0`.
    pub const ZERO: Self = Self { c: 0.0, deficit: 1.0 };

    /// From `c`.
    pub fn new(c: f64) -> Result<Self, Error> {
        if !(-1.0..=1.0).contains(&c) {
            return Err(Error::Correlation(c));
        }
        Ok(Self { c, deficit: 1.0 - c })
    }

    /// From the deficit `δ = 1 − c ∈ [0, 2]`.
    pub fn from_deficit(deficit: f64) -> Result<Self, Error> {
        if !(0.0..=2.0).contains(&deficit) {
            return Err(Error::Correlation(1.0 - deficit));
        }
        Ok(Self { c: 1.0 - deficit, deficit })
    }

    /// From both, each computed without cancellation. The smaller of the two is the more accurate and determines the other, so that they stay consistent.
    /// Values about to underflow become 0 before they lose digits.
    pub(crate) fn from_both(c: f64, deficit: f64) -> Self {
        const VANISHED: f64 = 1e-290;
        let flush = |x: f64| if x.abs() < VANISHED { 0.0 } else { x };
        if deficit < 0.5 {
            let deficit = flush(deficit.max(0.0));
            Self { c: 1.0 - deficit, deficit }
        } else if c.abs() < 0.5 {
            let c = flush(c);
            Self { c, deficit: 1.0 - c }
        } else {
            Self { c: c.clamp(-1.0, 1.0), deficit: deficit.clamp(0.0, 2.0) }
        }
    }

    /// `c`.
    pub fn c(self) -> f64 {
        self.c
    }

    /// `δ = 1 − c`.
    pub fn deficit(self) -> f64 {
        self.deficit
    }

    /// `1 − c²`, without cancellation near `|c| = 1`.
    pub fn one_minus_square(self) -> f64 {
        self.deficit * self.sum()
    }

    /// The angle `θ = arccos c`, accurate near 0.
    pub fn angle(self) -> f64 {
        // tan²(θ/2) = (1 − c)/(1 + c)
        2.0 * libm::atan2(self.deficit.sqrt(), self.sum().sqrt())
    }

    /// `1 + c`.
    pub(crate) fn sum(self) -> f64 {
        if self.c < -0.5 { 2.0 - self.deficit } else { 1.0 + self.c }
    }
}
