//! Numbers with twice the precision of `f64`, stored as unevaluated sums `hi + lo`.
//!
//! The deficit `1 − c'` of two signals of *different* variance is a Gram determinant, a difference of nearly equal
//! products, and we know no closed form without cancellation. With thirty-two digits the cancellation is harmless.
//! The algorithms are Dekker's (1971) and Knuth's two-sum, with products by fused multiply–add.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// `hi + lo` with `|lo| ≤ ulp(hi)/2`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct DoubleDouble {
    hi: f64,
    lo: f64,
}

fn two_sum(a: f64, b: f64) -> DoubleDouble {
    let s = a + b;
    let t = s - a;
    DoubleDouble { hi: s, lo: (a - (s - t)) + (b - t) }
}

/// `two_sum` when `|a| ≥ |b|`.
fn quick_two_sum(a: f64, b: f64) -> DoubleDouble {
    let s = a + b;
    DoubleDouble { hi: s, lo: b - (s - a) }
}

impl DoubleDouble {
    pub const ONE: Self = Self { hi: 1.0, lo: 0.0 };

    pub fn to_f64(self) -> f64 {
        self.hi + self.lo
    }

    pub fn sqrt(self) -> Self {
        if self.hi <= 0.0 {
            return Self::from(0.0);
        }
        let root = self.hi.sqrt();
        let rest = self - Self::from(root) * Self::from(root);
        quick_two_sum(root, rest.hi / (2.0 * root))
    }

    /// `arctan`, by halving the angle five times and the alternating series.
    pub fn atan(self) -> Self {
        const HALVINGS: i32 = 5;
        const TERMS: i32 = 14;
        let mut t = self;
        for _ in 0..HALVINGS {
            // tan(θ/2) = tan θ/(1 + sec θ)
            t = t / (Self::ONE + (Self::ONE + t * t).sqrt());
        }
        let t2 = t * t;
        let mut sum = Self::from(0.0);
        for n in (0..TERMS).rev() {
            sum = Self::ONE / Self::from(f64::from(2 * n + 1)) - t2 * sum;
        }
        t * sum * Self::from(f64::from(1 << HALVINGS))
    }
}

impl From<f64> for DoubleDouble {
    fn from(hi: f64) -> Self {
        Self { hi, lo: 0.0 }
    }
}

impl Neg for DoubleDouble {
    type Output = Self;
    fn neg(self) -> Self {
        Self { hi: -self.hi, lo: -self.lo }
    }
}

impl Add for DoubleDouble {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let s = two_sum(self.hi, other.hi);
        let t = two_sum(self.lo, other.lo);
        let s = quick_two_sum(s.hi, s.lo + t.hi);
        quick_two_sum(s.hi, s.lo + t.lo)
    }
}

impl Sub for DoubleDouble {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for DoubleDouble {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let p = self.hi * other.hi;
        let e = self.hi.mul_add(other.hi, -p);
        quick_two_sum(p, e + (self.hi * other.lo + self.lo * other.hi))
    }
}

impl Div for DoubleDouble {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let first = self.hi / other.hi;
        let rest = self - other * Self::from(first);
        let second = rest.hi / other.hi;
        let rest = rest - other * Self::from(second);
        let s = quick_two_sum(first, second);
        s + Self::from(rest.hi / other.hi)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dd(hi: f64, lo: f64) -> DoubleDouble {
        DoubleDouble { hi, lo }
    }

    #[test]
    fn arctan_of_one_is_a_quarter_of_pi_to_thirty_digits() {
        // π/4 = 0.785398163397448309615660845819875721…
        let quarter = dd(std::f64::consts::FRAC_PI_4, 3.061616997868383e-17);
        let error = DoubleDouble::ONE.atan() - quarter;
        assert!(error.to_f64().abs() < 1e-31, "{error:?}");
    }

    #[test]
    fn arctan_keeps_its_relative_precision_for_small_and_large_arguments() {
        // atan x = x − x³/3 + …
        let x = DoubleDouble::from(1e-9);
        let series = x - x * x * x / DoubleDouble::from(3.0);
        assert!(((x.atan() - series) / series).to_f64().abs() < 1e-30);
        // atan x + atan 1/x = π/2
        let x = DoubleDouble::from(7e5);
        let half_pi = dd(std::f64::consts::FRAC_PI_2, 6.123233995736766e-17);
        let error = x.atan() + (DoubleDouble::ONE / x).atan() - half_pi;
        assert!(error.to_f64().abs() < 1e-30, "{error:?}");
    }

    #[test]
    fn square_root_and_quotient_invert_the_product() {
        let x = DoubleDouble::from(0.1) / DoubleDouble::from(0.7);
        let back = x * DoubleDouble::from(0.7) - DoubleDouble::from(0.1);
        assert!(back.to_f64().abs() < 1e-32);
        let root = x.sqrt();
        assert!((root * root - x).to_f64().abs() < 1e-32);
    }
}
