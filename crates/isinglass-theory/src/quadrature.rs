//! Certified Gaussian expectations of smooth functions.
//!
//! The trapezoidal rule on the line converges exponentially for analytic integrands; Gauss–Hermite does not when the integrand
//! has poles near the real axis (25 nodes are off by 0.18 on `E erf²` at `q = 100`). The step is halved until the last halving
//! changed the result by less than [`TOLERANCE`]. The range of integration is extended until what lies beyond it is negligible.
//! An integral that fails either test is an error, never a number.
//!
//! ```
//! use isinglass_theory::quadrature::expectation;
//!
//! // E cos(h) = exp(−q/2)
//! let value = expectation("E cos", 2.0, |h| h.cos())?;
//! assert!((value - (-1.0f64).exp()).abs() < 1e-14);
//! // A jump is not smooth, and is refused rather than approximated.
//! assert!(expectation("E step", 2.0, |h| if h > 0.1 { 1.0 } else { 0.0 }).is_err());
//! // So is an integral that diverges.
//! assert!(expectation("E exp(h²/2)", 2.0, |h| (0.5 * h * h).exp()).is_err());
//! # Ok::<(), isinglass_theory::Error>(())
//! ```

mod rule;

use crate::Error;
use crate::activation::{Activation, FieldPair, Moments, PairMoments};
use rule::Request;

/// The largest relative change that the last halving of the step may cause. The result itself is far more accurate, since each halving
/// roughly squares the error of the rule.
pub const TOLERANCE: f64 = 1e-11;

const HALVINGS_1D: u32 = 14;
const HALVINGS_2D: u32 = 6;

/// `fine` if halving the step changed it by less than `tolerance`, relative to its size.
pub(crate) fn certify(what: &'static str, q: f64, fine: f64, coarse: f64, tolerance: f64) -> Result<f64, Error> {
    let change = (fine - coarse).abs();
    // Written so that NaN fails.
    if change <= tolerance * fine.abs() {
        Ok(fine)
    } else {
        Err(Error::NotConverged { what, q, achieved: change / fine.abs(), wanted: tolerance })
    }
}

/// `E f(h)`, `h ~ N(0, q)`, for a smooth `f`.
///
/// The tolerance is relative to `E |f|`, so that expectations that vanish by symmetry can be certified.
pub fn expectation(what: &'static str, q: f64, f: impl Fn(f64) -> f64) -> Result<f64, Error> {
    let [value] = expectations(what, q, TOLERANCE, |h| [f(h)])?;
    Ok(value)
}

/// Several expectations over the same nodes, certified together.
fn expectations<const N: usize>(what: &'static str, q: f64, tolerance: f64, f: impl Fn(f64) -> [f64; N]) -> Result<[f64; N], Error> {
    let deviation = q.sqrt();
    if deviation == 0.0 {
        return Ok(f(0.0));
    }
    rule::line(&Request { what, q, tolerance, halvings: HALVINGS_1D }, |z| f(deviation * z))
}

/// Several expectations over a pair of fields.
fn pair_expectations<const N: usize>(
    what: &'static str,
    pair: &FieldPair,
    tolerance: f64,
    f: impl Fn(f64, f64) -> [f64; N],
) -> Result<[f64; N], Error> {
    let (root_a, root_b) = (pair.q_a.sqrt(), pair.q_b.sqrt());
    // h_a, h_b = √q (common ± own): independent standard normals scaled by √(1−δ/2) and √(δ/2), symmetric in a and b.
    let own = (0.5 * pair.correlation.deficit()).sqrt();
    let common = (1.0 - 0.5 * pair.correlation.deficit()).sqrt();
    let fields = |x: f64, y: f64| f(root_a * (x + y), root_b * (x - y));
    let request = Request { what, q: pair.q_a.max(pair.q_b), tolerance, halvings: HALVINGS_2D };
    if own == 0.0 {
        rule::line(&request, |x| fields(common * x, 0.0))
    } else if common == 0.0 {
        rule::line(&request, |y| fields(0.0, own * y))
    } else {
        rule::plane(&request, |x, y| fields(common * x, own * y))
    }
}

/// The tolerance for integrals over derivatives, which may be numerical.
fn derivative_tolerance(phi: &(impl Activation + ?Sized)) -> f64 {
    TOLERANCE.max(phi.derivative_error())
}

/// [`Activation::moments`] of any smooth activation. The two forms of `dA/dq` check that the derivatives match the value.
pub(crate) fn moments(phi: &(impl Activation + ?Sized), q: f64) -> Result<Moments, Error> {
    let [mean_square, deficit] = expectations("A", q, TOLERANCE, |h| {
        let x = phi.value(h);
        [x * x, (1.0 - x) * (1.0 + x)]
    })?;
    let tolerance = derivative_tolerance(phi);
    let [slope_square, by_parts, by_curvature, size] = expectations("B", q, tolerance, |h| {
        let (x, slope) = (phi.value(h), phi.slope(h));
        let bend = x * phi.curvature(h);
        [slope * slope, x * slope * h, slope * slope + bend, slope * slope + bend.abs()]
    })?;
    let growth = if q == 0.0 { by_curvature } else { by_parts / q };
    // The two forms may differ by the error of the derivatives and by rounding.
    if (growth - by_curvature).abs() > 100.0 * tolerance * size {
        return Err(Error::InconsistentDerivatives { q, by_parts: growth, by_curvature });
    }
    Ok(Moments { mean_square, deficit, slope_square, growth })
}

/// [`Activation::pair_moments`] of any smooth activation.
pub(crate) fn pair_moments(phi: &(impl Activation + ?Sized), pair: &FieldPair) -> Result<PairMoments, Error> {
    let [product, deficit, distance, square_a, square_b] = pair_expectations("C", pair, TOLERANCE, |h_a, h_b| {
        let (x_a, x_b) = (phi.value(h_a), phi.value(h_b));
        let product = x_a * x_b;
        [product, 1.0 - product, (x_a - x_b) * (x_a - x_b), x_a * x_a, x_b * x_b]
    })?;
    let decorrelation = if pair.q_a == pair.q_b {
        let square = 0.5 * (square_a + square_b);
        0.5 * distance / square * (1.0 + product / square)
    } else {
        // min_β E(φ_a − βφ_b)²/A_a: a sum of squares, and flat in β at its minimum β = C/A_b.
        let beta = if square_b > 0.0 { product / square_b } else { 0.0 };
        let [residual] = pair_expectations("1 − C²/(A_aA_b)", pair, TOLERANCE, |h_a, h_b| {
            let residual = phi.value(h_a) - beta * phi.value(h_b);
            [residual * residual]
        })?;
        residual / square_a
    };
    Ok(PairMoments { product, deficit, distance, decorrelation })
}

/// [`Activation::slope_product`] of any smooth activation.
pub(crate) fn slope_product(phi: &(impl Activation + ?Sized), pair: &FieldPair) -> Result<f64, Error> {
    let [value] = pair_expectations("D", pair, derivative_tolerance(phi), |h_a, h_b| [phi.slope(h_a) * phi.slope(h_b)])?;
    Ok(value)
}

/// [`Activation::critical_excess`] of any smooth activation. Fails if the difference has lost its digits.
pub(crate) fn critical_excess(phi: &(impl Activation + ?Sized), q: f64) -> Result<f64, Error> {
    let moments = moments(phi, q)?;
    let excess = q * moments.slope_square - moments.mean_square;
    let error = derivative_tolerance(phi) * moments.mean_square;
    if error > 1e-3 * excess.abs() {
        return Err(Error::NotConverged { what: "qB − A", q, achieved: error / excess.abs(), wanted: 1e-3 });
    }
    Ok(excess)
}
