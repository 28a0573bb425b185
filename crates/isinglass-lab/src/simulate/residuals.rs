//! What is left of a layer when the theory's map of the layer before it is taken away.
//!
//! The map is evaluated at the mean of the realisations, and its slopes there carry each realisation's own departure from that mean. The map's curvature enters at order `1/N`, which is
//! removed with the rest of that order; the cost does not grow with the number of realisations.

use isinglass_theory::activation::FieldPair;
use isinglass_theory::{Correlation, Error as TheoryError, MeanField};

use super::expectations;
use super::parallel;
use super::statistics::{Spread, extrapolated_deviation};
use super::{Ensemble, Overlaps, Realisation};

/// Four quantities of a plain layer, two more of one that carries its field; 0 where there are none.
pub(super) const QUANTITIES: usize = 6;

/// Their residuals in each network.
pub(super) type OfNetworks = Vec<[f64; QUANTITIES]>;

/// Of all networks of one width, by layer or by point of the map.
pub(super) struct Residuals {
    /// `q_aa`, `q_bb`, `q_ab` and `1 − c` of layer `ℓ + 1`, and the carried `V_aa` and `Σ_a`.
    pub(super) layers: Vec<OfNetworks>,
    /// The same of the map.
    pub(super) map: Vec<OfNetworks>,
    /// Mean squared singular value, the outlier's gain, the factors of `|g|²` with and without the outlier, and of carried fields `∂Σ'/∂Σ` and the mean square of `∂h̄'/∂Σ`.
    pub(super) jacobians: Vec<OfNetworks>,
}

/// Residuals at both widths.
pub(super) struct Steps {
    pub(super) widths: [usize; 2],
    pub(super) residuals: [Residuals; 2],
}

impl Steps {
    /// The deviation of one of them from 0, for a quantity of the given size.
    pub(super) fn deviation(&self, size: f64, place: impl Fn(&Residuals) -> &OfNetworks, quantity: usize) -> Option<f64> {
        let [at, narrow] = [0, 1].map(|width| Spread::of(place(&self.residuals[width]).iter().map(|residual| residual[quantity])));
        extrapolated_deviation((self.widths[0], &at), (self.widths[1], &narrow), size)
    }

    /// One quantity in every place: the networks of both widths.
    pub(super) fn by_place(&self, places: impl Fn(&Residuals) -> &[OfNetworks], quantity: usize) -> Vec<[Vec<f64>; 2]> {
        let of = |width: usize, place: usize| places(&self.residuals[width])[place].iter().map(|residual| residual[quantity]).collect();
        (0..places(&self.residuals[0]).len()).map(|place| [of(0, place), of(1, place)]).collect()
    }
}

/// `q_ab` of a pair.
pub(super) fn covariance(pair: &FieldPair) -> f64 {
    (pair.q_a * pair.q_b).sqrt() * pair.correlation.c()
}

impl Residuals {
    pub(super) fn of(theory: &MeanField, map_layer: &MeanField, ensemble: &Ensemble, threads: usize) -> Result<Self, TheoryError> {
        let networks = &ensemble.networks;
        let depth = networks.first().map_or(0, |network| network.layers.len() - 1);
        let backwards = networks.first().map_or(0, |network| network.jacobians.len());
        let each = |count: usize, work: &(dyn Fn(usize) -> Result<OfNetworks, TheoryError> + Sync)| {
            parallel::in_order(count, threads, work, |_| {}).into_iter().collect::<Result<Vec<_>, _>>()
        };
        Ok(Self {
            layers: each(depth, &|layer| of_step(theory, networks, layer))?,
            map: each(ensemble.map.len(), &|point| of_step(map_layer, &ensemble.map[point], 0))?,
            jacobians: each(backwards, &|layer| of_jacobian(theory, networks, layer))?,
        })
    }
}

/// A function of `D` measured numbers by its value and slopes at their mean.
pub(super) struct Linearised<const D: usize> {
    at: [f64; D],
    value: [f64; QUANTITIES],
    slopes: [[f64; QUANTITIES]; D],
}

/// Relative distance of the points that slopes are taken from: the error of the slope is of its square.
const NUDGE: f64 = 1e-3;

impl<const D: usize> Linearised<D> {
    /// `None` where the numbers, or the function of them, do not exist. A number that cannot be certified is left out of the comparison; every other error is the user's to see.
    pub(super) fn new(at: [f64; D], f: impl Fn(&[f64; D]) -> Result<[f64; QUANTITIES], TheoryError>) -> Result<Option<Self>, TheoryError> {
        if at.iter().any(|x| !x.is_finite()) {
            return Ok(None);
        }
        let certain = |x: &[f64; D]| match f(x) {
            Ok(value) => Ok(Some(value)),
            Err(TheoryError::NotConverged { .. } | TheoryError::HeavyTail { .. }) => Ok(None),
            Err(error) => Err(error),
        };
        let Some(value) = certain(&at)? else { return Ok(None) };
        let mut slopes = [[0.0; QUANTITIES]; D];
        for (d, slope) in slopes.iter_mut().enumerate() {
            let (mut low, mut high) = (at, at);
            low[d] *= 1.0 - NUDGE;
            high[d] *= 1.0 + NUDGE;
            let width = high[d] - low[d];
            // What vanishes exactly does so in every network, and has no need of a slope.
            if width > 0.0 {
                let (Some(below), Some(above)) = (certain(&low)?, certain(&high)?) else { return Ok(None) };
                *slope = std::array::from_fn(|k| (above[k] - below[k]) / width);
            }
        }
        Ok(Some(Self { at, value, slopes }))
    }

    /// What is left of `measured` when the function of `x` is taken away.
    pub(super) fn residual(&self, x: &[f64; D], measured: [f64; QUANTITIES]) -> [f64; QUANTITIES] {
        std::array::from_fn(|k| {
            let carried: f64 = (0..D).map(|d| self.slopes[d][k] * (x[d] - self.at[d])).sum();
            measured[k] - self.value[k] - carried
        })
    }
}

pub(super) fn mean<const D: usize>(values: impl Iterator<Item = [f64; D]> + Clone) -> [f64; D] {
    std::array::from_fn(|d| Spread::of(values.clone().map(|value| value[d])).mean)
}

fn state(overlaps: &Overlaps) -> [f64; 3] {
    [overlaps.q_aa, overlaps.q_bb, overlaps.deficit]
}

/// `q_aa`, `q_bb`, `q_ab` and `1 − c` after the theory's map.
fn mapped(theory: &MeanField, &[q_a, q_b, deficit]: &[f64; 3]) -> Result<[f64; QUANTITIES], TheoryError> {
    let correlation = Correlation::from_deficit(deficit.clamp(0.0, 2.0))?;
    let next = theory.pair_map(&FieldPair { q_a, q_b, correlation })?;
    Ok([next.q_a, next.q_b, covariance(&next), next.correlation.deficit(), 0.0, 0.0])
}

fn of_step(theory: &MeanField, networks: &[Realisation], layer: usize) -> Result<OfNetworks, TheoryError> {
    let before = networks.iter().map(|network| state(&network.layers[layer]));
    let Some(map) = Linearised::new(mean(before), |x| mapped(theory, x))? else {
        return Ok(vec![[f64::NAN; QUANTITIES]; networks.len()]);
    };
    let residual = |network: &Realisation| {
        let after = &network.layers[layer + 1];
        map.residual(&state(&network.layers[layer]), [after.q_aa, after.q_bb, after.q_ab, after.deficit, 0.0, 0.0])
    };
    Ok(networks.iter().map(residual).collect())
}

fn of_jacobian(theory: &MeanField, networks: &[Realisation], layer: usize) -> Result<OfNetworks, TheoryError> {
    let q = |network: &Realisation| [network.layers[layer].q_aa];
    let expected = |&[q]: &[f64; 1]| {
        let expected = expectations::jacobian(theory, q)?;
        Ok([expected.mean_square, expected.outlier_gain, expected.mean_square, expected.mean_square, 0.0, 0.0])
    };
    let Some(expected) = Linearised::new(mean(networks.iter().map(q)), expected)? else {
        return Ok(vec![[f64::NAN; QUANTITIES]; networks.len()]);
    };
    let residual = |network: &Realisation| {
        let jacobian = network.jacobians[layer];
        let (after, after_fixed) = network.jacobians.get(layer + 1).map_or((1.0, 1.0), |next| (next.gradient, next.gradient_fixed));
        let factors = [jacobian.gradient / after, jacobian.gradient_fixed / after_fixed];
        expected.residual(&q(network), [jacobian.mean_square, jacobian.outlier_gain, factors[0], factors[1], 0.0, 0.0])
    };
    Ok(networks.iter().map(residual).collect())
}
