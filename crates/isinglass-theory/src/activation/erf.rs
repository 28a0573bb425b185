//! `φ(h) = erf(a h)`, with every expectation in closed form.
//!
//! With `p = 2a²q_a`, `r = 2a²q_b` and `κ = c√(pr)`,
//! `E φ_aφ_b = (2/π) arcsin(κ/√((1+p)(1+r))) = (2/π) atan2(κ, √(1 + p + r + pr(1−c²)))`. The second form is free of
//! cancellation and keeps its relative accuracy as `c → 1` and as `q → 0` or `∞`.

use std::f64::consts::{FRAC_2_PI, FRAC_2_SQRT_PI};

use super::{Activation, FieldPair, Moments, PairMoments, Parity};
use crate::double_double::DoubleDouble;
use crate::{Correlation, Error};

/// `erf(a h)`, the mean of a neuron with Gaussian noise.
///
/// ```
/// use isinglass_theory::activation::{Activation, Erf};
///
/// // E erf²(z/√2) = (2/π) arcsin(1/2) = 1/3 at q = 1.
/// let moments = Erf::standard().moments(1.0)?;
/// assert!((moments.mean_square - 1.0 / 3.0).abs() < 1e-15);
/// # Ok::<(), isinglass_theory::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Erf {
    /// `2a²`, stored instead of `a` so that `a = 1/√2` is exact.
    twice_gain_square: f64,
}

impl Erf {
    /// `erf(a h)`.
    pub fn new(a: f64) -> Self {
        Self { twice_gain_square: 2.0 * a * a }
    }

    /// `erf(h/√2)`: a sign neuron averaged over Gaussian noise of variance 1.
    pub fn standard() -> Self {
        Self { twice_gain_square: 1.0 }
    }

    /// `erf(h/(α√2))`: the mean of `sign(h + αL)`, `L ~ N(0, 1)`.
    pub fn probit(alpha: f64) -> Self {
        Self { twice_gain_square: 1.0 / (alpha * alpha) }
    }

    /// `a`.
    pub fn gain(&self) -> f64 {
        (0.5 * self.twice_gain_square).sqrt()
    }
}

impl Activation for Erf {
    fn value(&self, h: f64) -> f64 {
        libm::erf(self.gain() * h)
    }

    fn slope(&self, h: f64) -> f64 {
        let x = self.gain() * h;
        FRAC_2_SQRT_PI * self.gain() * libm::exp(-x * x)
    }

    fn curvature(&self, h: f64) -> f64 {
        -self.twice_gain_square * h * self.slope(h)
    }

    fn derivative_error(&self) -> f64 {
        0.0
    }

    fn parity(&self) -> Parity {
        Parity::Odd
    }

    fn moments(&self, q: f64) -> Result<Moments, Error> {
        let p = self.twice_gain_square * q;
        let root = (1.0 + 2.0 * p).sqrt();
        let slope_square = FRAC_2_PI * self.twice_gain_square / root;
        Ok(Moments {
            mean_square: FRAC_2_PI * libm::atan2(p, root),
            deficit: FRAC_2_PI * libm::atan2(root, p),
            slope_square,
            growth: slope_square / (1.0 + p),
        })
    }

    fn pair_moments(&self, pair: &FieldPair) -> Result<PairMoments, Error> {
        let arcs = ArcPair::new(self.twice_gain_square * pair.q_a, self.twice_gain_square * pair.q_b, pair.correlation);
        let product = FRAC_2_PI * arcs.arc();
        let deficit = FRAC_2_PI * arcs.complement();
        let (distance, decorrelation) = if pair.q_a == pair.q_b {
            let difference = FRAC_2_PI * arcs.shortfall();
            let mean_square = self.moments(pair.q_a)?.mean_square;
            (2.0 * difference, difference / mean_square * (1.0 + product / mean_square))
        } else {
            let gram = gram_of_mixture(&[(self.twice_gain_square, 1.0)], pair);
            (gram.distance, gram.decorrelation)
        };
        Ok(PairMoments { product, deficit, distance, decorrelation })
    }

    fn slope_product(&self, pair: &FieldPair) -> Result<f64, Error> {
        let g = self.twice_gain_square;
        Ok(FRAC_2_PI * g / ArcPair::new(g * pair.q_a, g * pair.q_b, pair.correlation).adjacent)
    }

    fn critical_excess(&self, q: f64) -> Result<f64, Error> {
        // qB = (2/π)t and A = (2/π) arctan t with t = p/√(1+2p).
        let p = self.twice_gain_square * q;
        Ok(FRAC_2_PI * minus_arctan(p / (1.0 + 2.0 * p).sqrt()))
    }
}

/// The right triangle behind `arcsin(κ/√((1+p)(1+r)))`.
pub(super) struct ArcPair {
    /// `√(pr)`.
    root_product: f64,
    p: f64,
    r: f64,
    correlation: Correlation,
    /// `√(1 + p + r + pr(1−c²))`.
    pub(super) adjacent: f64,
}

impl ArcPair {
    pub(super) fn new(p: f64, r: f64, correlation: Correlation) -> Self {
        let adjacent = (1.0 + p + r + p * r * correlation.one_minus_square()).sqrt();
        Self { root_product: p.sqrt() * r.sqrt(), p, r, correlation, adjacent }
    }

    /// `arcsin(κ/√((1+p)(1+r)))`.
    pub(super) fn arc(&self) -> f64 {
        libm::atan2(self.correlation.c() * self.root_product, self.adjacent)
    }

    /// `π/2 − arc`.
    pub(super) fn complement(&self) -> f64 {
        libm::atan2(self.adjacent, self.correlation.c() * self.root_product)
    }

    /// The arc at `c = 1` minus the arc, from the sine and cosine of the difference: no cancellation for `c ≥ 0`.
    pub(super) fn shortfall(&self) -> f64 {
        let c = self.correlation.c();
        let adjacent_at_one = (1.0 + self.p + self.r).sqrt();
        if c < 0.0 {
            return libm::atan2(self.root_product, adjacent_at_one) - self.arc();
        }
        let scale = (1.0 + self.p) * (1.0 + self.r);
        let sine = self.root_product * self.correlation.one_minus_square() * scale / (self.adjacent + c * adjacent_at_one);
        let cosine = c * self.p * self.r + adjacent_at_one * self.adjacent;
        libm::atan2(sine, cosine)
    }
}

/// `t − arctan t`, which is O(t³), without cancellation.
pub(super) fn minus_arctan(t: f64) -> f64 {
    if t > 0.25 {
        return t - libm::atan(t);
    }
    // t³/3 − t⁵/5 + …: 16^{-n} at the switch, so 14 terms reach the last bit.
    let t2 = t * t;
    let series = (0..14).rev().fold(0.0, |sum, n| 1.0 / f64::from(2 * n + 3) - t2 * sum);
    t * t2 * series
}

/// The result of [`gram_of_mixture`].
pub(super) struct Gram {
    pub(super) distance: f64,
    pub(super) decorrelation: f64,
}

/// `E (φ_a − φ_b)²` and `1 − C²/(A_aA_b)` of `φ = Σ w_i erf(a_i h)` (given as `(2a_i², w_i)`), for fields of different variance.
///
/// Both vanish to second order as the fields approach each other, and even faster at small `q`. Twice the precision of `f64`
/// preserves their relative accuracy.
pub(super) fn gram_of_mixture(components: &[(f64, f64)], pair: &FieldPair) -> Gram {
    let exact = DoubleDouble::from;
    let (q_a, q_b) = (exact(pair.q_a), exact(pair.q_b));
    let deficit = exact(pair.correlation.deficit());
    let one_minus_square = deficit * (exact(2.0) - deficit);
    // From whichever of c and 1 − c is exact, so that a small c keeps its relative accuracy.
    let c = if pair.correlation.c().abs() < 0.5 { exact(pair.correlation.c()) } else { DoubleDouble::ONE - deficit };

    let overlap = |q_1: DoubleDouble, q_2: DoubleDouble, c: DoubleDouble, one_minus_square: DoubleDouble| {
        let mut sum = exact(0.0);
        for &(g_1, w_1) in components {
            for &(g_2, w_2) in components {
                let (p, r) = (exact(g_1) * q_1, exact(g_2) * q_2);
                let product = p * r;
                let adjacent = (DoubleDouble::ONE + p + r + product * one_minus_square).sqrt();
                let arc = (c * product.sqrt() / adjacent).atan();
                sum = sum + exact(w_1) * exact(w_2) * arc;
            }
        }
        sum
    };
    let aa = overlap(q_a, q_a, DoubleDouble::ONE, exact(0.0));
    let bb = overlap(q_b, q_b, DoubleDouble::ONE, exact(0.0));
    let ab = overlap(q_a, q_b, c, one_minus_square);
    Gram { distance: FRAC_2_PI * (aa + bb - ab - ab).to_f64(), decorrelation: ((aa * bb - ab * ab) / (aa * bb)).to_f64() }
}
