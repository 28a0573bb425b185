//! `φ(h) = tanh(k h)`, the mean of a neuron with logistic noise.
//!
//! **One field**: the trapezoidal rule. The deficit `1 − A = E sech²` is integrated separately, so that no accuracy is lost at large `q`.
//!
//! **Two fields**: a logistic variable is a Gaussian one whose scale has the Kolmogorov distribution (Andrews and Mallows 1974,
//! Stefanski 1991), hence
//!
//! `tanh(h) = ∫ p_K(s) erf(h/(s√2)) ds = Σ_i w_i erf(h/(s_i√2))`,
//!
//! where the trapezoidal rule in `ln s` with about fifty nodes is accurate to 3e-15 for every `h`. Each pair of nodes then contributes a
//! closed form of [`Erf`](super::Erf), all of the same sign: `C`, `D`, `1 − C`, `A − C` and `qB − A` have full relative accuracy at any `q` and `c`, without
//! a two-dimensional integral.
//!
//! Both rules are certified: the sum over every second node is the rule with twice the step, and the two must agree.

use std::f64::consts::{FRAC_2_PI, PI};
use std::sync::OnceLock;

use super::erf::{ArcPair, Gram, gram_of_mixture, minus_arctan};
use super::{Activation, FieldPair, Moments, PairMoments, Parity};
use crate::Error;
use crate::quadrature::{TOLERANCE, certify};

/// `tanh(k h)`.
///
/// ```
/// use isinglass_theory::activation::{Activation, FieldPair, Tanh};
/// use isinglass_theory::Correlation;
///
/// let close = FieldPair::equal(1.0, Correlation::from_deficit(1e-12)?);
/// // The distance between close signals, 2(A − C) = 2 q B δ, is accurate where the difference A − C would have lost every digit.
/// let distance = Tanh::new(1.0).pair_moments(&close)?.distance;
/// assert!((distance / 2e-12 - 0.464402902448268).abs() < 1e-11);
/// # Ok::<(), isinglass_theory::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tanh {
    gain: f64,
}

impl Tanh {
    /// `tanh(k h)`.
    pub fn new(k: f64) -> Self {
        Self { gain: k }
    }

    /// `k`.
    pub fn gain(&self) -> f64 {
        self.gain
    }

    /// Sums `term(p_i, r_j)` over all pairs of components, `p_i = 2a_i²q_a` and `r_j = 2a_j²q_b`, and certifies the sum.
    fn sum_over_pairs(&self, what: &'static str, pair: &FieldPair, term: impl Fn(f64, f64) -> f64) -> Result<f64, Error> {
        let (scale_a, scale_b) = (self.gain * self.gain * pair.q_a, self.gain * self.gain * pair.q_b);
        let symmetric = pair.q_a == pair.q_b;
        let nodes = kolmogorov_nodes();
        let (mut fine, mut coarse) = (0.0, 0.0);
        for (i, a) in nodes.iter().enumerate() {
            let p = scale_a * a.precision;
            let (mut row, mut coarse_row) = (0.0, 0.0);
            let last = if symmetric { i } else { nodes.len() - 1 };
            for (j, b) in nodes[..=last].iter().enumerate() {
                let double = if symmetric && j < i { 2.0 } else { 1.0 };
                let value = double * b.weight * term(p, scale_b * b.precision);
                row += value;
                if j % 2 == 0 {
                    coarse_row += value;
                }
            }
            fine += a.weight * row;
            if i % 2 == 0 {
                coarse += 4.0 * a.weight * coarse_row;
            }
        }
        certify(what, pair.q_a.max(pair.q_b), fine, coarse, TOLERANCE)
    }
}

impl Tanh {
    /// The distances between fields of different variance: plain differences where these lose little, elsewhere the much slower doubled precision.
    fn gram(&self, pair: &FieldPair, product: f64) -> Result<Gram, Error> {
        // At most one digit is lost: sums certified to 1e-11 give differences accurate to the promised 1e-10.
        const LITTLE: f64 = 0.1;
        let (a_a, a_b) = (self.moments(pair.q_a)?.mean_square, self.moments(pair.q_b)?.mean_square);
        let distance = a_a + a_b - 2.0 * product;
        let decorrelation = 1.0 - (product / a_a) * (product / a_b);
        if decorrelation > LITTLE && distance > LITTLE * (a_a + a_b) {
            Ok(Gram { distance, decorrelation })
        } else {
            self.certified_gram(pair)
        }
    }

    /// The distances from all nodes of the mixture, certified by those from every second node.
    fn certified_gram(&self, pair: &FieldPair) -> Result<Gram, Error> {
        let mixture = |stride: usize| {
            let components = kolmogorov_nodes().iter().step_by(stride);
            let components: Vec<_> = components.map(|n| (self.gain * self.gain * n.precision, stride as f64 * n.weight)).collect();
            gram_of_mixture(&components, pair)
        };
        let (fine, coarse) = (mixture(1), mixture(2));
        // The rounding error of doubled precision relative to E φ². Equal directions (δ = 0) at small q can differ by less.
        const FLOOR: f64 = 1e-29;
        let certify = |what, fine: f64, coarse: f64, scale: f64| {
            let rounding = FLOOR * scale;
            if (fine - coarse).abs() <= rounding { Ok(fine) } else { certify(what, pair.q_a.max(pair.q_b), fine, coarse, TOLERANCE) }
        };
        let size = self.moments(pair.q_a)?.mean_square + self.moments(pair.q_b)?.mean_square;
        Ok(Gram {
            distance: certify("E(φ_a − φ_b)²", fine.distance, coarse.distance, size)?,
            decorrelation: certify("1 − C²/(A_aA_b)", fine.decorrelation, coarse.decorrelation, 1.0)?,
        })
    }
}

impl Activation for Tanh {
    fn value(&self, h: f64) -> f64 {
        libm::tanh(self.gain * h)
    }

    fn slope(&self, h: f64) -> f64 {
        self.gain * sech_square(self.gain * h)
    }

    fn curvature(&self, h: f64) -> f64 {
        -2.0 * self.gain * self.value(h) * self.slope(h)
    }

    fn derivative_error(&self) -> f64 {
        0.0
    }

    fn parity(&self) -> Parity {
        Parity::Odd
    }

    fn moments(&self, q: f64) -> Result<Moments, Error> {
        let gain_square = self.gain * self.gain;
        let unit = unit_moments(gain_square * q)?;
        Ok(Moments { slope_square: gain_square * unit.slope_square, growth: gain_square * unit.growth, ..unit })
    }

    fn pair_moments(&self, pair: &FieldPair) -> Result<PairMoments, Error> {
        let correlation = pair.correlation;
        if pair.q_a != pair.q_b {
            let product = FRAC_2_PI * self.sum_over_pairs("C", pair, |p, r| ArcPair::new(p, r, correlation).arc())?;
            let deficit = FRAC_2_PI * self.sum_over_pairs("1 − C", pair, |p, r| ArcPair::new(p, r, correlation).complement())?;
            let gram = self.gram(pair, product)?;
            return Ok(PairMoments { product, deficit, distance: gram.distance, decorrelation: gram.decorrelation });
        }
        let single = self.moments(pair.q_a)?;
        // One sum suffices: the shortfall A − C near c = 1, C itself elsewhere.
        let (product, shortfall, deficit) = if correlation.c() > 0.5 {
            let shortfall = FRAC_2_PI * self.sum_over_pairs("A − C", pair, |p, r| ArcPair::new(p, r, correlation).shortfall())?;
            (single.mean_square - shortfall, shortfall, single.deficit + shortfall)
        } else if correlation.c() == 0.0 {
            (0.0, single.mean_square, 1.0)
        } else {
            let product = FRAC_2_PI * self.sum_over_pairs("C", pair, |p, r| ArcPair::new(p, r, correlation).arc())?;
            (product, single.mean_square - product, 1.0 - product)
        };
        let decorrelation = shortfall / single.mean_square * (1.0 + product / single.mean_square);
        Ok(PairMoments { product, deficit, distance: 2.0 * shortfall, decorrelation })
    }

    fn slope_product(&self, pair: &FieldPair) -> Result<f64, Error> {
        if pair.q_a == pair.q_b && pair.correlation.deficit() == 0.0 {
            return Ok(self.moments(pair.q_a)?.slope_square);
        }
        let (scale_a, scale_b) = (self.gain * self.gain * pair.q_a, self.gain * self.gain * pair.q_b);
        if scale_a == 0.0 || scale_b == 0.0 {
            return Err(Error::Unsupported("D of tanh requires two fields of positive variance".into()));
        }
        // 2a_ia_j = √(p_i r_j/(q_a q_b))
        let sum = self.sum_over_pairs("D", pair, |p, r| (p * r).sqrt() / ArcPair::new(p, r, pair.correlation).adjacent)?;
        Ok(FRAC_2_PI * sum / (pair.q_a.sqrt() * pair.q_b.sqrt()))
    }

    fn critical_excess(&self, q: f64) -> Result<f64, Error> {
        let pair = FieldPair::equal(q, crate::Correlation::ONE);
        let sum = self.sum_over_pairs("qB − A", &pair, |p, r| minus_arctan((p * r).sqrt() / (1.0 + p + r).sqrt()))?;
        Ok(FRAC_2_PI * sum)
    }
}

/// `sech² u` without cancellation or overflow.
fn sech_square(u: f64) -> f64 {
    let e = libm::exp(-2.0 * u.abs());
    4.0 * e / ((1.0 + e) * (1.0 + e))
}

/// The step of the trapezoidal rule for functions of `tanh u`, `u ~ N(0, q)`.
///
/// Moving the contour by `d` into the complex plane bounds the error of the rule with step `H` by `exp(−2πd/H + d²/2q)`. The best `d` is `2πq/H`, unless the
/// poles of `tanh` at `±iπ/2` are closer: then it is a little less than `π/2`. The step is half the `H` at which the bound is `exp(−38)`, so that the rule with
/// *twice* the step is sure to meet the tolerance.
fn trapezoidal_step(q: f64) -> f64 {
    const EXPONENT: f64 = 38.0;
    const STRIP: f64 = 1.45;
    let gaussian = PI * (2.0 * q / EXPONENT).sqrt();
    let beyond_poles = 2.0 * PI * q / gaussian > STRIP;
    let coarse = if beyond_poles { 2.0 * PI * STRIP / (EXPONENT + 0.5 * STRIP * STRIP / q) } else { gaussian };
    0.5 * coarse
}

/// The moments of `tanh(u)`, `u ~ N(0, q)`. Beyond `u = 20`, `sech²` is below 1e-16 of its peak.
fn unit_moments(q: f64) -> Result<Moments, Error> {
    const GAUSS_RANGE: f64 = 8.6;
    const SECH_RANGE: f64 = 20.0;
    const LINEAR_BELOW: f64 = 1e-18;
    if q < LINEAR_BELOW {
        // tanh²(u) = u² to the last digit, and the sum could underflow.
        return Ok(Moments { mean_square: q, deficit: 1.0, slope_square: 1.0, growth: 1.0 });
    }
    let deviation = q.sqrt();
    let step = trapezoidal_step(q);
    let saturates = GAUSS_RANGE * deviation > SECH_RANGE;
    let range = if saturates { SECH_RANGE } else { GAUSS_RANGE * deviation };
    let nodes = (range / step).ceil() as usize;

    // Sums of φ², 1 − φ², φ'², uφφ' over the even and the odd nodes.
    let mut sums = [[0.0; 4]; 2];
    // e^{−2u} by repeated multiplication. Its relative error grows by half an ulp per node, but sech² decays faster.
    let ratio = libm::exp(-2.0 * step);
    let mut e = 1.0;
    for (i, gaussian) in (0..=nodes).zip(GaussianWeights::new(step / deviation)) {
        let u = i as f64 * step;
        let inverse = 1.0 / (1.0 + e);
        let t = if u < 0.25 { libm::tanh(u) } else { (1.0 - e) * inverse };
        let s = 4.0 * e * inverse * inverse;
        let weight = gaussian * if i == 0 { 0.5 } else { 1.0 };
        let terms = [t * t, s, s * s, u * t * s];
        for (sum, term) in sums[i % 2].iter_mut().zip(terms) {
            *sum += weight * term;
        }
        e *= ratio;
    }
    let scale = 2.0 * step / (deviation * (2.0 * PI).sqrt());
    let [even, odd] = sums;
    let names = ["A", "1 − A", "B", "dA/dq"];
    let mut values = [0.0; 4];
    for k in 0..4 {
        let cut_short = saturates && k == 0;
        values[k] = if cut_short { 0.0 } else { certify(names[k], q, scale * (even[k] + odd[k]), 2.0 * scale * even[k], TOLERANCE)? };
    }
    let [direct, deficit, slope_square, growth] = values;
    let mean_square = if saturates { 1.0 - deficit } else { direct };
    Ok(Moments { mean_square, deficit, slope_square, growth: growth / q })
}

/// `exp(−z²/2)` at `z = 0, step, 2·step, …`, by multiplication: the ratio of neighbours falls by the same factor from node to node.
/// Every eighth weight is computed afresh, so that rounding errors stay within a few ulps.
struct GaussianWeights {
    step: f64,
    index: u32,
    weight: f64,
    ratio: f64,
    ratio_of_ratios: f64,
}

impl GaussianWeights {
    fn new(step: f64) -> Self {
        Self { step, index: 0, weight: 1.0, ratio: 1.0, ratio_of_ratios: libm::exp(-step * step) }
    }
}

impl Iterator for GaussianWeights {
    type Item = f64;

    fn next(&mut self) -> Option<f64> {
        if self.index.is_multiple_of(8) {
            let z = f64::from(self.index) * self.step;
            self.weight = libm::exp(-0.5 * z * z);
            self.ratio = libm::exp(-(z + 0.5 * self.step) * self.step);
        } else {
            self.weight *= self.ratio;
            self.ratio *= self.ratio_of_ratios;
        }
        self.index += 1;
        Some(self.weight)
    }
}

/// One component of the mixture.
struct KolmogorovNode {
    /// `1/s²`.
    precision: f64,
    weight: f64,
}

/// The trapezoidal rule in `ln s` for the Kolmogorov density. The integrand is analytic for `|Im ln s| < π/4`, so the error falls as
/// `exp(−π²/(2 step))`.
fn kolmogorov_nodes() -> &'static [KolmogorovNode] {
    const STEP: f64 = 1.0 / 15.0;
    static NODES: OnceLock<Vec<KolmogorovNode>> = OnceLock::new();
    NODES.get_or_init(|| {
        (-28..=23)
            .map(|i| {
                let s = libm::exp(f64::from(i) * STEP);
                KolmogorovNode { precision: 1.0 / (s * s), weight: STEP * s * kolmogorov_density(s) }
            })
            .collect()
    })
}

/// The density of `sup |Brownian bridge|`, by whichever of its two theta series converges fast.
fn kolmogorov_density(s: f64) -> f64 {
    let s2 = s * s;
    if s > 0.7 {
        let terms = (1..9).map(|n| {
            let n2 = f64::from(n * n);
            let sign = if n % 2 == 1 { 1.0 } else { -1.0 };
            sign * n2 * libm::exp(-2.0 * n2 * s2)
        });
        8.0 * s * terms.sum::<f64>()
    } else {
        let terms = (0..6).map(|m| {
            let e = f64::from((2 * m + 1) * (2 * m + 1)) * PI * PI / (8.0 * s2);
            libm::exp(-e) * (2.0 * e - 1.0)
        });
        (2.0 * PI).sqrt() / s2 * terms.sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixture_of_error_functions_is_tanh() {
        for h in [1e-9, 1e-3, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0, 30.0] {
            let mixture: f64 = kolmogorov_nodes().iter().map(|n| n.weight * libm::erf(h * (0.5 * n.precision).sqrt())).sum();
            assert!((mixture / libm::tanh(h) - 1.0).abs() < 3e-15, "tanh({h}) = {mixture}");
        }
    }

    #[test]
    fn gaussian_weights_are_within_a_few_ulps() {
        for step in [0.01, 0.1, 0.37] {
            for (i, weight) in (0..100).zip(GaussianWeights::new(step)) {
                let exponent = 0.5 * (f64::from(i) * step) * (f64::from(i) * step);
                // The exponent is rounded too.
                let ulps = 8.0 + 2.0 * exponent;
                assert!((weight / libm::exp(-exponent) - 1.0).abs() < ulps * f64::EPSILON, "exp(−{exponent}): {weight}");
            }
        }
    }

    #[test]
    fn tails_of_the_mixture_are_cut_below_rounding() {
        let nodes = kolmogorov_nodes();
        assert!(nodes[0].weight < 1e-17 && nodes[nodes.len() - 1].weight < 1e-17);
    }

    #[test]
    fn the_rule_at_equal_fields_agrees_with_the_mixture() {
        for q in [1e-12, 1e-3, 0.5, 3.0, 5.0, 6.0, 100.0, 1e6] {
            let phi = Tanh::new(1.3);
            let pair = FieldPair::equal(q, crate::Correlation::ONE);
            let mixture = FRAC_2_PI * phi.sum_over_pairs("A", &pair, |p, r| ArcPair::new(p, r, pair.correlation).arc()).unwrap();
            let rule = phi.moments(q).unwrap().mean_square;
            assert!((mixture / rule - 1.0).abs() < 1e-14, "A({q}): {mixture} and {rule}");
        }
    }
}
