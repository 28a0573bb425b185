//! The homogeneous activations: `max(0, h)` and `h`.

use std::f64::consts::PI;

use super::{Activation, FieldPair, Moments, PairMoments, Parity};
use crate::{Correlation, Error};

/// `max(0, h)`, with the arc-cosine kernel `C = √(q_aq_b) (sin θ + (π − θ) cos θ)/2π`, `θ = arccos c`.
///
/// ```
/// use isinglass_theory::activation::{Activation, FieldPair, Relu};
/// use isinglass_theory::Correlation;
///
/// let pair = FieldPair::equal(2.0, Correlation::ZERO);
/// assert!((Relu.pair_moments(&pair)?.product - 1.0 / std::f64::consts::PI).abs() < 1e-15);
/// # Ok::<(), isinglass_theory::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Relu;

/// `h`: the deep linear network.
///
/// ```
/// use isinglass_theory::activation::{Activation, FieldPair, Linear};
/// use isinglass_theory::Correlation;
///
/// let pair = FieldPair::equal(2.0, Correlation::new(0.25)?);
/// assert_eq!(Linear.pair_moments(&pair)?.product, 0.5);
/// # Ok::<(), isinglass_theory::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Linear;

/// `A = κq` at every `q`.
fn homogeneous_moments(kappa: f64, q: f64) -> Moments {
    Moments { mean_square: kappa * q, deficit: 1.0 - kappa * q, slope_square: kappa, growth: kappa }
}

/// The pair's expectations, given the correlation `c_out` of the outputs.
fn homogeneous_pair(kappa: f64, pair: &FieldPair, c_out: Correlation) -> PairMoments {
    let scale = kappa * if pair.q_a == pair.q_b { pair.q_a } else { pair.q_a.sqrt() * pair.q_b.sqrt() };
    let product = scale * c_out.c();
    let gap = pair.q_a.sqrt() - pair.q_b.sqrt();
    PairMoments {
        product,
        deficit: 1.0 - product,
        distance: kappa * gap * gap + 2.0 * scale * c_out.deficit(),
        decorrelation: c_out.one_minus_square(),
    }
}

impl Activation for Relu {
    fn value(&self, h: f64) -> f64 {
        h.max(0.0)
    }

    fn slope(&self, h: f64) -> f64 {
        if h > 0.0 { 1.0 } else { 0.0 }
    }

    fn curvature(&self, _h: f64) -> f64 {
        0.0
    }

    fn derivative_error(&self) -> f64 {
        0.0
    }

    fn moments(&self, q: f64) -> Result<Moments, Error> {
        Ok(homogeneous_moments(0.5, q))
    }

    fn pair_moments(&self, pair: &FieldPair) -> Result<PairMoments, Error> {
        let theta = pair.correlation.angle();
        // sin θ + (π − θ) cos θ, in terms of π − θ to avoid cancellation as c → −1.
        let opposite = 2.0 * libm::atan2(pair.correlation.sum().sqrt(), pair.correlation.deficit().sqrt());
        let c_out = sine_minus_theta_cosine(opposite) / PI;
        let deficit = pair.correlation.deficit() - sine_minus_theta_cosine(theta) / PI;
        Ok(homogeneous_pair(0.5, pair, Correlation::from_both(c_out, deficit)))
    }

    fn slope_product(&self, pair: &FieldPair) -> Result<f64, Error> {
        Ok((PI - pair.correlation.angle()) / (2.0 * PI))
    }

    fn critical_excess(&self, _q: f64) -> Result<f64, Error> {
        Ok(0.0)
    }

    fn homogeneity(&self) -> Option<f64> {
        Some(0.5)
    }
}

/// `sin θ − θ cos θ`, which is O(θ³), without cancellation.
fn sine_minus_theta_cosine(theta: f64) -> f64 {
    if theta > 0.5 {
        return libm::sin(theta) - theta * libm::cos(theta);
    }
    // Σ_{n≥1} (−1)^{n+1} 2n θ^{2n+1}/(2n+1)!
    let theta2 = theta * theta;
    let mut power = theta;
    let mut sum = 0.0;
    for n in 1..10 {
        let two_n = f64::from(2 * n);
        power *= -theta2 / (two_n * (two_n + 1.0));
        sum -= two_n * power;
    }
    sum
}

impl Activation for Linear {
    fn value(&self, h: f64) -> f64 {
        h
    }

    fn slope(&self, _h: f64) -> f64 {
        1.0
    }

    fn curvature(&self, _h: f64) -> f64 {
        0.0
    }

    fn derivative_error(&self) -> f64 {
        0.0
    }

    fn parity(&self) -> Parity {
        Parity::Odd
    }

    fn moments(&self, q: f64) -> Result<Moments, Error> {
        Ok(homogeneous_moments(1.0, q))
    }

    fn pair_moments(&self, pair: &FieldPair) -> Result<PairMoments, Error> {
        Ok(homogeneous_pair(1.0, pair, pair.correlation))
    }

    fn slope_product(&self, _pair: &FieldPair) -> Result<f64, Error> {
        Ok(1.0)
    }

    fn critical_excess(&self, _q: f64) -> Result<f64, Error> {
        Ok(0.0)
    }

    fn homogeneity(&self) -> Option<f64> {
        Some(1.0)
    }
}
