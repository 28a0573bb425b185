//! Measured beside expected.
//!
//! Two questions are asked of every layer, and each has its own deviation in standard errors of the mean over realisations:
//!
//! - [`deviation`](Measured::deviation): is the mean of the networks of this width where the theory's trajectory is? It includes the `O(1/N)` by which a finite network differs, and what earlier layers
//!   have drifted, so neighbouring layers go together.
//! - [`step`](Measured::step): is the theory's map right? The map is applied to what was measured in the layer before, and subtracted; what is left is unrelated from layer to layer.
//!   Its `O(1/N)` is removed with the narrower networks.
//!
//! The verdict rests on the second, all layers together ([`Overall`]).

use isinglass_theory::activation::FieldPair;
use isinglass_theory::{Correlation, Error as TheoryError, MeanField};

use super::expectations;
use super::residuals::{Residuals, Steps, covariance};
use super::statistics::{Overall, Spread};
use super::{Measurement, Overlaps, SimulateError};

/// The theory counts as refuted if any [`Overall`] is further off than so many standard errors. By chance that happens to a right theory once in some hundred thousand runs of many
/// realisations; with ten of them Student's tails make it once in a thousand.
pub const THRESHOLD: f64 = 5.0;

/// With fewer realisations the standard errors themselves are too uncertain for a verdict.
const FEWEST_REALISATIONS: usize = 10;

/// Correlations closer to 1 than this are made of rounding errors in the simulation.
const CLOSEST: f64 = 1e-20;

/// And these are 1 but for rounding.
const ROUNDING: f64 = 1e-15;

/// A quantity in one layer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// Mean over realisations.
    pub mean: f64,
    /// Standard deviation of one realisation.
    pub sd: f64,
    /// The theory's value.
    pub theory: f64,
    /// `mean − theory` in standard errors, at this width.
    pub deviation: Option<f64>,
    /// The error of the theory's last step in standard errors, without the bias of order `1/N`.
    pub step: Option<f64>,
}

/// A layer, beside the theory's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LayerComparison {
    /// `mean(h_a²)`.
    pub q_aa: Measured,
    /// `mean(h_b²)`.
    pub q_bb: Measured,
    /// `mean(h_a h_b)`.
    pub q_ab: Measured,
    /// `q_ab/√(q_aa q_bb)`.
    pub c: Measured,
    /// `1 − c`, with digits where `c` is close to 1.
    pub one_minus_c: Measured,
    /// What the layer carries; `None` if it carries nothing.
    pub carried: Option<CarriedComparison>,
}

/// What a layer carries, for the first input.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CarriedComparison {
    /// The mean square of the carried fields, `V`.
    pub v_aa: Measured,
    /// `Σ`; 0 where none is carried.
    pub spread: Measured,
}

/// The way back from layer `ℓ + 1` to layer `ℓ`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JacobianComparison {
    /// Mean squared singular value, `Σ` held fixed; the theory's is `χ` at `c = 1`.
    pub mean_square: Measured,
    /// The singular value of the outlier; it has no step of its own.
    pub outlier: Measured,
    /// The outlier's response to fields that grow in proportion.
    pub outlier_gain: Measured,
    /// `|g|²/N` in layer `ℓ`, through all of the Jacobian: in layer 0 the mean squared singular value of the whole network. The theory's value is that without outliers.
    pub gradient: Measured,
    /// The same with `Σ` held fixed, that is without outliers.
    pub gradient_fixed: Measured,
    /// The way back through a carried `Σ`; `None` where none is carried.
    pub spread: Option<SpreadComparison>,
}

/// The way back through a carried `Σ`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpreadComparison {
    /// `∂Σ'/∂Σ`.
    pub gain: Measured,
    /// The mean square of `∂h̄'_i/∂Σ`.
    pub response: Measured,
    /// `γ²/N`, `γ` the gradient with respect to `Σ`, which is 0 in the last layer; it has no step of its own.
    pub gradient: Measured,
}

/// A point of the correlation map.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MapPoint {
    /// The correlation before the layer.
    pub c_in: f64,
    /// And after it.
    pub c_out: Measured,
}

/// Simulation beside theory.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Layers `0..=depth`. In layer 0 nothing is tested but the start.
    pub layers: Vec<LayerComparison>,
    /// From layer `ℓ` to `ℓ + 1`; empty where there is no gradient.
    pub jacobians: Vec<JacobianComparison>,
    /// The correlation map.
    pub map: Vec<MapPoint>,
    /// The steps of each quantity, all layers together.
    pub overall: Vec<Overall>,
    /// `R`.
    pub realisations: usize,
}

pub(super) fn measured(values: impl Iterator<Item = f64> + Clone, theory: f64, step: Option<f64>) -> Measured {
    let spread = Spread::of(values);
    Measured { mean: spread.mean, sd: spread.sd, theory, deviation: spread.deviation(theory), step }
}

/// `c` from what is known of `1 − c`.
pub(super) fn mirrored(deficit: &Measured) -> Measured {
    let negative = |z: Option<f64>| z.map(|z| -z);
    Measured {
        mean: 1.0 - deficit.mean,
        theory: 1.0 - deficit.theory,
        deviation: negative(deficit.deviation),
        step: negative(deficit.step),
        ..*deficit
    }
}

/// `1 − c`, unless it is too small to have been simulated, by the theory and by what was measured.
pub(super) fn measured_deficit(values: impl Iterator<Item = f64> + Clone, theory: f64, step: impl FnOnce() -> Option<f64>) -> Measured {
    if theory < CLOSEST && Spread::of(values.clone()).mean < ROUNDING {
        return Measured { deviation: None, ..measured(values, theory, None) };
    }
    measured(values, theory, step())
}

impl Measurement {
    /// Sets the networks against a theory: that of the model they were made from, or another one to be refuted.
    pub fn compare(&self, theory: &MeanField) -> Result<Comparison, SimulateError> {
        if self.simulation.carry {
            return self.compare_carried(theory);
        }
        let trajectory = theory.trajectory(self.simulation.start, self.simulation.depth)?;
        let (map_layer, _) = theory.at_fixed_point()?;
        let threads = self.simulation.threads;
        let of = |ensemble| Residuals::of(theory, &map_layer, ensemble, threads);
        let steps = Steps { widths: [self.ensemble.width, self.narrow.width], residuals: [of(&self.ensemble)?, of(&self.narrow)?] };
        let layers: Vec<LayerComparison> = trajectory.iter().enumerate().map(|(layer, pair)| self.layer(layer, pair, &steps)).collect();
        let jacobians = self.jacobians(theory, &trajectory, &steps)?;
        let map = self.map(&map_layer, &steps)?;
        let realisations = self.simulation.realisations;
        let of_layers = |name, value: fn(&LayerComparison) -> &Measured| {
            Overall::of(name, &layers.iter().map(|layer| value(layer).step).collect::<Vec<_>>(), realisations)
        };
        let of_jacobians = |name, value: fn(&JacobianComparison) -> &Measured| {
            Overall::of(name, &jacobians.iter().map(|jacobian| value(jacobian).step).collect::<Vec<_>>(), realisations)
        };
        let overall = [
            of_layers("q_aa", |layer| &layer.q_aa),
            of_layers("q_bb", |layer| &layer.q_bb),
            of_layers("q_ab", |layer| &layer.q_ab),
            of_layers("c", |layer| &layer.c),
            Overall::of("map", &map.iter().map(|point| point.c_out.step).collect::<Vec<_>>(), realisations),
            of_jacobians("jacobian", |jacobian| &jacobian.mean_square),
            of_jacobians("outlier_gain", |jacobian| &jacobian.outlier_gain),
            // The whole gradient is not the product of the χ where outliers carry more of it than the rest; a wider network only takes more layers to get there.
            of_jacobians("gradient_fixed", |jacobian| &jacobian.gradient_fixed),
        ];
        let overall = overall.into_iter().flatten().collect();
        Ok(Comparison { layers, jacobians, map, overall, realisations })
    }

    fn layer(&self, layer: usize, pair: &FieldPair, steps: &Steps) -> LayerComparison {
        let networks = self.ensemble.networks.iter();
        let values = |value: fn(&Overlaps) -> f64| networks.clone().map(move |network| value(&network.layers[layer]));
        // Layer 0 was not stepped to.
        let step = |size: f64, quantity: usize| layer.checked_sub(1).and_then(|from| steps.deviation(size, |r| &r.layers[from], quantity));
        let plain = |value, theory, quantity| measured(values(value), theory, step(theory, quantity));
        let deficit = pair.correlation.deficit();
        let one_minus_c = measured_deficit(values(|overlaps| overlaps.deficit), deficit, || step(deficit, 3));
        LayerComparison {
            q_aa: plain(|overlaps| overlaps.q_aa, pair.q_a, 0),
            q_bb: plain(|overlaps| overlaps.q_bb, pair.q_b, 1),
            q_ab: plain(|overlaps| overlaps.q_ab, covariance(pair), 2),
            c: mirrored(&one_minus_c),
            one_minus_c,
            carried: None,
        }
    }

    fn map(&self, map_layer: &MeanField, steps: &Steps) -> Result<Vec<MapPoint>, TheoryError> {
        let point = |(point, &c_in): (usize, &f64)| {
            let start = FieldPair::equal(self.map_variance, Correlation::new(c_in)?);
            let deficit = map_layer.pair_map(&start)?.correlation.deficit();
            let values = self.ensemble.map[point].iter().map(|network| network.layers[1].deficit);
            let c_out = measured_deficit(values, deficit, || steps.deviation(deficit, |r| &r.map[point], 3));
            Ok(MapPoint { c_in, c_out: mirrored(&c_out) })
        };
        self.simulation.map.iter().enumerate().map(point).collect()
    }

    fn jacobians(&self, theory: &MeanField, trajectory: &[FieldPair], steps: &Steps) -> Result<Vec<JacobianComparison>, TheoryError> {
        let count = self.ensemble.networks.first().map_or(0, |network| network.jacobians.len());
        let mut comparisons = Vec::with_capacity(count);
        let mut gradient = 1.0;
        for layer in (0..count).rev() {
            let networks = self.ensemble.networks.iter();
            let values = |value: fn(&super::Jacobian) -> f64| networks.clone().map(move |network| value(&network.jacobians[layer]));
            let expected = expectations::jacobian(theory, trajectory[layer].q_a)?;
            let outlier = expectations::outlier(theory, trajectory[layer].q_a, trajectory[layer + 1].q_a)?;
            gradient *= expected.mean_square;
            let step = |size: f64, quantity: usize| steps.deviation(size, |r| &r.jacobians[layer], quantity);
            let mean_square = expected.mean_square;
            comparisons.push(JacobianComparison {
                mean_square: measured(values(|j| j.mean_square), mean_square, step(mean_square, 0)),
                outlier: measured(values(|j| j.outlier), outlier, None),
                outlier_gain: measured(values(|j| j.outlier_gain), expected.outlier_gain, step(expected.outlier_gain, 1)),
                gradient: measured(values(|j| j.gradient), gradient, step(mean_square, 2)),
                gradient_fixed: measured(values(|j| j.gradient_fixed), gradient, step(mean_square, 3)),
                spread: None,
            });
        }
        comparisons.reverse();
        Ok(comparisons)
    }
}

impl Comparison {
    /// The overall deviation that is largest.
    pub fn worst(&self) -> Option<&Overall> {
        self.overall.iter().max_by(|a, b| a.worst().total_cmp(&b.worst()))
    }

    /// Whether no overall deviation exceeds [`THRESHOLD`]. `None` for fewer than ten realisations, and where nothing could be compared.
    pub fn agrees(&self) -> Option<bool> {
        let worst = self.worst().filter(|_| self.realisations >= FEWEST_REALISATIONS)?;
        Some(worst.worst() <= THRESHOLD)
    }
}
