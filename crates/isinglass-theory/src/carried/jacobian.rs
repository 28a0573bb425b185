//! The way back through a layer that carries its field.
//!
//! The state of the deterministic surrogate is `(h̄, Σ)`, and each has its adjoint. With `y = (h̄ + b)/√d`, `x = φ(y)`, means of variance `σ_m²` and a gradient `(g, γ)` with respect to
//! the next layer's `(h̄', Σ')`,
//!
//! `g_j = g'_j + φ'_j (Mᵀg')_j/√(Nd) − γ' (2σ_m²/N√d) x_jφ'_j`,
//! `γ = γ'(1 + sσ_m²qA'/d) − (s/2d) Σ_j y_jφ'_j (Mᵀg')_j/√N`.
//!
//! At random weights the mean squares `G = |g|²/N` and `Γ = γ²/N` follow
//!
//! `G = G'(1 + σ_m²B/d)`,  `Γ = Γ'(1 + sσ_m²qA'/d)² + G' σ_m² (s/2d)² E[y²φ'²]`,
//!
//! up to `O(1/N)`: `Σ` sends back a gradient along the one direction `xφ'`. Models without a `Σ` of their own have the first line alone, with `d = 1` and `v` for `σ_m²`.

use super::START_SPREAD;
use crate::activation::{Activation, FieldPair};
use crate::advice::MOST_ITERATED;
use crate::quadrature::expectation;
use crate::{CarriedState, Correlation, Denominator, Error, MeanField};

/// The Jacobian between two layers in the mean-field limit, for the first signal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CarriedJacobian {
    /// `1 + vB/d`: the mean squared singular value of `∂h̄'/∂h̄`, `Σ` held fixed.
    pub mean_square: f64,
    /// `∂Σ'/∂Σ = 1 + sσ_m²qA'/d`; 1 without `Σ`.
    pub spread_gain: f64,
    /// `−2σ_m²qA'`: how `Σ'` responds if all fields grow in proportion; 0 without `Σ`.
    pub spread_response: f64,
    /// `σ_m² (s/2d)² E[y²φ'²]`: the mean square of `∂h̄'_i/∂Σ`; 0 without `Σ`.
    pub field_response: f64,
}

impl CarriedState {
    /// `1 + vB/d`, the factor by which the mean squared gradient grows on its way back from the next layer to this one. Infinite for a step.
    pub fn gradient_factor<A: Activation>(&self, next: &MeanField<A>) -> Result<f64, Error> {
        let v = next.shared_weight();
        Ok(if v == 0.0 { 1.0 } else { 1.0 + v * next.phi().moments(self.q())?.slope_square / self.denominator()[0] })
    }

    /// The Jacobian from this layer to one that carries its field and has the variances of `next`.
    pub fn jacobian<A: Activation>(&self, next: &MeanField<A>) -> Result<CarriedJacobian, Error> {
        let mean_square = self.gradient_factor(next)?;
        let Some(Denominator { spread: s, .. }) = next.network().denominator() else {
            return Ok(CarriedJacobian { mean_square, spread_gain: 1.0, spread_response: 0.0, field_response: 0.0 });
        };
        let (v, q, d, phi) = (next.shared_weight(), self.q(), self.denominator()[0], next.phi());
        // E[yφφ'] = qA', by parts.
        let growth = q * phi.moments(q)?.growth;
        let slope = |y: f64| y * phi.slope(y);
        let half = 0.5 * s / d;
        let moved = if q == 0.0 { 0.0 } else { expectation("E y²φ'²", q, |y| slope(y) * slope(y))? };
        Ok(CarriedJacobian {
            mean_square,
            spread_gain: 1.0 + s * v * growth / d,
            spread_response: -2.0 * v * growth,
            field_response: v * half * half * moved,
        })
    }

    /// What is left of a difference between two signals as similar as can be, measured at the neurons, from this layer to a layer `later` on the same way:
    /// `factor` is the product of the [`gradient_factor`](Self::gradient_factor)s between them. It is also what is left of the mean squared gradient on the way back.
    pub(crate) fn left(&self, later: &Self, factor: f64) -> f64 {
        factor * (self.denominator()[0] / later.denominator()[0])
    }

    /// The mean squared difference of the two signals at the neurons, `q_a + q_b − 2k`.
    pub(crate) fn distance(&self) -> f64 {
        let pair = self.fields();
        let (a, b) = (pair.q_a.sqrt(), pair.q_b.sqrt());
        (a - b) * (a - b) + 2.0 * a * b * pair.correlation.deficit()
    }

    /// Their correlation at the neurons.
    pub(crate) fn correlation(&self) -> Correlation {
        self.fields().correlation
    }
}

impl<A: Activation> MeanField<A> {
    /// `q` of a signal that starts with variance 1, and what is left of a small difference and of the mean squared gradient, after `depth` layers that carry their fields. Follows
    /// one signal and needs no expectation over pairs; phase diagrams are made of it.
    pub fn carried_gradient(&self, depth: usize) -> Result<(f64, f64), Error> {
        check_depth(depth)?;
        let start = CarriedState::start(self, FieldPair::equal(1.0, Correlation::ONE), START_SPREAD)?;
        let denominator = self.network().denominator();
        let d_of = |sigma: f64| denominator.map_or(1.0, |Denominator { noise, spread }| noise + spread * sigma);
        let (mut v, mut sigma, mut q, mut factor) = (start.carried().q_a, start.spread()[0], 1.0, 1.0);
        let (w, shared) = (self.own_weight(), self.shared_weight());
        for _ in 0..depth {
            let m = self.phi().moments(q)?;
            factor *= if shared == 0.0 { 1.0 } else { 1.0 + shared * m.slope_square / d_of(sigma) };
            v += if self.variance_is_constant() { w } else { w * m.mean_square };
            if denominator.is_some() {
                sigma += (1.0 - w) + w * m.deficit;
            }
            q = (v + self.sigma_b2()) / d_of(sigma);
        }
        Ok((q, factor * (start.denominator()[0] / d_of(sigma))))
    }
}

/// Layers are followed one by one.
pub(super) fn check_depth(depth: usize) -> Result<(), Error> {
    if depth <= MOST_ITERATED {
        return Ok(());
    }
    Err(Error::Unsupported(format!(
        "depth = {depth}: carried fields are followed layer by layer, for at most {MOST_ITERATED} layers; use a smaller depth"
    )))
}
