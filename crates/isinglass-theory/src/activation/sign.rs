//! The sign function, `sign(0) = +1`: the arcsine law.

use std::f64::consts::FRAC_2_PI;

use super::{Activation, FieldPair, Moments, PairMoments, Parity};
use crate::Error;

/// `sign(h)`: `E sign(h_a) sign(h_b) = (2/π) arcsin c` at any variances. Its slope is a delta function, so `B` is infinite.
///
/// ```
/// use isinglass_theory::activation::{Activation, FieldPair, Sign};
/// use isinglass_theory::Correlation;
///
/// let pair = FieldPair::equal(1.0, Correlation::new(0.5)?);
/// assert!((Sign.pair_moments(&pair)?.product - 1.0 / 3.0).abs() < 1e-15);
/// # Ok::<(), isinglass_theory::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sign;

impl Activation for Sign {
    fn value(&self, h: f64) -> f64 {
        if h < 0.0 { -1.0 } else { 1.0 }
    }

    fn slope(&self, h: f64) -> f64 {
        if h == 0.0 { f64::INFINITY } else { 0.0 }
    }

    fn curvature(&self, h: f64) -> f64 {
        if h == 0.0 { f64::NAN } else { 0.0 }
    }

    fn derivative_error(&self) -> f64 {
        0.0
    }

    fn parity(&self) -> Parity {
        Parity::Odd
    }

    fn moments(&self, _q: f64) -> Result<Moments, Error> {
        Ok(Moments { mean_square: 1.0, deficit: 0.0, slope_square: f64::INFINITY, growth: 0.0 })
    }

    fn pair_moments(&self, pair: &FieldPair) -> Result<PairMoments, Error> {
        let c = pair.correlation.c();
        let deficit = FRAC_2_PI * pair.correlation.angle();
        let product = if c.abs() < 0.5 { FRAC_2_PI * libm::asin(c) } else { 1.0 - deficit };
        Ok(PairMoments { product, deficit, distance: 2.0 * deficit, decorrelation: deficit * (1.0 + product) })
    }

    fn slope_product(&self, pair: &FieldPair) -> Result<f64, Error> {
        Ok(FRAC_2_PI / (pair.q_a.sqrt() * pair.q_b.sqrt() * pair.correlation.one_minus_square().sqrt()))
    }

    fn critical_excess(&self, _q: f64) -> Result<f64, Error> {
        Ok(f64::INFINITY)
    }
}
