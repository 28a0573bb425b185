//! Where carried fields tend, and how fast: powers of the depth in place of depth scales.
//!
//! **With a denominator** (`deterministic`), biases and noise fade against `Σ ~ ℓ`. With `f = V/(V + Σ)`, `df/dℓ = (σ_m²A − f)/ℓ`: the fixed points are those of the plain
//! network without biases and noise, and where that one multiplies a departure by a slope `χ` in every layer, this one turns it into `ℓ^(χ−1)`.
//!
//! - `γσ_m² < 1` (`γ = φ'(0)²/s`): the signal fades as `q ~ ℓ^(γσ_m²−1)` and its correlation freezes. At `γσ_m² = 1` it falls as `1/ln ℓ`.
//! - `γσ_m² > 1`: `q → q* > 0`, from which it departs as `ℓ^(dq−1)`, and correlations as `ℓ^(χ−1)`.
//! - Gradients from the output to layer `ℓ` of `L` have a mean square `~ L^(χ₁−1) ℓ^(−χ₁)`, `χ₁ = γσ_m²` if the signal fades.
//!
//! **Without one** (all other models) the fields themselves grow: `q ~ wℓ`. Sigmoids saturate and become steps, whatever their gain, so correlations follow
//! `dc/dℓ = ((v/w)(2/π) arcsin c − c)/ℓ` and are forgotten as `ℓ^((2/π)v/w − 1)`. `B ~ β/√q` with `β = ∫φ'² dh/√(2π)`, so gradients grow as `exp(ρ√L)`, `ρ = 2βv/√w`: faster
//! than any power, slower than the exponential of a plain network.
//!
//! ```
//! use isinglass_theory::{CarriedPoint, Model, Neuron, RandomNetwork};
//!
//! let point = CarriedPoint::of(&RandomNetwork::new(Model::Deterministic, Neuron::Sign)?.at(Some(1.0 / 3.0), 0.0)?)?;
//! // γ = 2/π.
//! assert!((point.q_exponent().unwrap() - (std::f64::consts::FRAC_2_PI / 3.0 - 1.0)).abs() < 1e-15);
//! # Ok::<(), isinglass_theory::Error>(())
//! ```

use std::f64::consts::{FRAC_2_PI, PI};

use crate::activation::Phi;
use crate::{Correlation, Error, MeanField, Model, Neuron, Phase, Point, RandomNetwork, VarianceFixedPoint};

/// The limit of a network that carries its fields. A quantity that diverges or does not exist is `None`.
#[derive(Debug, Clone, PartialEq)]
pub struct CarriedPoint {
    /// `q*`; the variance diverges in all models but the deterministic surrogate.
    pub q_star: VarianceFixedPoint,
    /// `w`, by which `q` grows per layer in the end, if it diverges.
    pub growth: Option<f64>,
    /// `c*`; `None` if the correlation freezes at a value that depends on the start.
    pub c_star: Option<Correlation>,
    /// `χ₁` of the limit; `None` if it is infinite.
    pub chi_1: Option<f64>,
    /// `χ` of the limit, at `c*`.
    pub chi: Option<f64>,
    /// `dq'/dq` of the limit, at `q*`.
    pub dq: Option<f64>,
    /// `ρ` in `exp(ρ√L)`, by which gradients grow if `q` diverges; `None` for a step.
    pub root_rate: Option<f64>,
    /// What happens to two nearby signals: they approach each other (ordered), separate (chaotic) or are separated by noise, as powers of the depth.
    pub phase: Phase,
}

impl CarriedPoint {
    /// The limit of a network, from the fixed points of the plain one.
    pub fn of(field: &MeanField) -> Result<Self, Error> {
        check(field.network())?;
        if field.network().denominator().is_some() {
            let limit = Point::of(&field.network().without_noise().at(field.sigma2(), 0.0)?)?;
            let Point { q_star, c_star, chi_1, chi, dq, .. } = limit;
            return Ok(Self { q_star, growth: None, c_star, chi_1, chi, dq, root_rate: None, phase: Phase::of(field, chi_1) });
        }
        let (w, v) = (field.own_weight(), field.shared_weight());
        if w == 0.0 {
            return Err(Error::Unsupported("σ_w² = 0: layers add nothing to the field they carry; use a variance above 0".into()));
        }
        // Saturated neurons are steps.
        let steps = Point::of(&RandomNetwork::new(Model::LrtBinary, Neuron::Sign)?.at(Some(v / w), 0.0)?)?;
        Ok(Self {
            q_star: VarianceFixedPoint::Diverges,
            growth: Some(w),
            c_star: steps.c_star,
            chi_1: None,
            chi: steps.chi,
            dq: None,
            root_rate: area_of_squared_slope(field.phi()).map(|beta| 2.0 * beta * v / w.sqrt()),
            phase: Phase::of(field, None),
        })
    }

    /// The exponent of `q`: if the signal fades, that of its size; if `q* > 0`, that of the distance from it; 1 if it grows with the number of layers.
    pub fn q_exponent(&self) -> Option<f64> {
        match self.q_star {
            VarianceFixedPoint::Zero => self.chi_1.map(|chi_1| chi_1 - 1.0),
            VarianceFixedPoint::Diverges => Some(1.0),
            VarianceFixedPoint::Positive(_) | VarianceFixedPoint::Every => self.dq.map(|dq| dq - 1.0),
        }
    }

    /// `χ − 1`: the exponent of the correlation's distance from `c*`, the memory of a perturbation. `None` if the correlation freezes.
    pub fn c_exponent(&self) -> Option<f64> {
        self.chi.map(|chi| chi - 1.0)
    }

    /// `χ₁ − 1` and `−χ₁`: gradients from the output to layer `ℓ` of `L` have a mean square `~ L^(χ₁−1) ℓ^(−χ₁)`. `None` where they grow faster than any power.
    pub fn gradient_exponents(&self) -> Option<(f64, f64)> {
        self.chi_1.map(|chi_1| (chi_1 - 1.0, -chi_1))
    }
}

/// Refuses neurons that do not saturate.
pub(super) fn check(network: &RandomNetwork) -> Result<(), Error> {
    if let Some(neuron @ (Neuron::Relu | Neuron::Linear)) = network.neuron() {
        return Err(Error::Unsupported(format!(
            "neuron {neuron} has no power laws: its carried fields grow by a factor in every layer; follow them layer by layer, or use a sigmoid such as tanh"
        )));
    }
    Ok(())
}

/// `β = ∫ φ'² dh/√(2π)`, so that `B ~ β/√q` for large `q`.
fn area_of_squared_slope(phi: &Phi) -> Option<f64> {
    match phi {
        Phi::Erf(erf) => Some(FRAC_2_PI * erf.gain()),
        Phi::Tanh(tanh) => Some(4.0 * tanh.gain() / (3.0 * (2.0 * PI).sqrt())),
        Phi::Sign | Phi::Relu | Phi::Linear => None,
    }
}
