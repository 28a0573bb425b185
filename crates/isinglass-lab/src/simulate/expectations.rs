//! What the theory expects of the way back.

use isinglass_theory::activation::Activation;
use isinglass_theory::quadrature::expectation;
use isinglass_theory::{Correlation, Denominator, Error, MeanField, Model};

/// The Jacobian between two layers in the mean-field limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ExpectedJacobian {
    /// `χ(q)` at `c = 1`: the mean squared singular value.
    pub(super) mean_square: f64,
    /// `vᵀh` of the matrix of rank one.
    pub(super) outlier_gain: f64,
}

/// `v = coefficient · xφ'/N` of the matrix of rank one, in the limit.
fn coefficient(field: &MeanField, q: f64) -> Result<f64, Error> {
    let m2 = field.sigma2().unwrap_or(1.0);
    let moments = field.phi().moments(q)?;
    // Σ for ±1 neurons, 1 − σ_m²A without cancellation.
    let spread = (1.0 - m2) + m2 * moments.deficit;
    let over_root = |slope: f64, sigma: f64| if sigma > 0.0 { slope / sigma.sqrt() } else { 0.0 };
    Ok(match (field.network().model(), field.network().denominator()) {
        (Model::Deterministic, Some(Denominator { noise, spread: s })) => s * m2 / (noise + s * spread),
        (Model::LrtBinary, _) => over_root(-m2, spread),
        (Model::LrtContinuous, _) => over_root(1.0 - m2, (1.0 - m2) * moments.mean_square),
        _ => 0.0,
    })
}

/// Of the layer whose fields have variance `q`.
pub(super) fn jacobian(field: &MeanField, q: f64) -> Result<ExpectedJacobian, Error> {
    // E[φφ'h] = q dA/dq, by parts.
    let gain = coefficient(field, q)? * q * field.phi().moments(q)?.growth;
    Ok(ExpectedJacobian { mean_square: field.chi(q, Correlation::ONE)?, outlier_gain: gain })
}

/// The singular value of the matrix of rank one, between layers of variances `q` and `q_next`.
pub(super) fn outlier(field: &MeanField, q: f64, q_next: f64) -> Result<f64, Error> {
    let coefficient = coefficient(field, q)?;
    if coefficient == 0.0 {
        return Ok(0.0);
    }
    // u is the next field of the deterministic surrogate, the noise ε of LRT.
    let u_square = if field.network().model() == Model::Deterministic { q_next } else { 1.0 };
    let phi = field.phi();
    let v_square = expectation("E φ²φ'²", q, |h| (phi.value(h) * phi.slope(h)).powi(2))?;
    Ok(coefficient.abs() * (u_square * v_square).sqrt())
}
