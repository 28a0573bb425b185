//! Random networks of finite width beside the mean-field theory.
//!
//! The theory describes networks of infinite width. Here every weight of every layer is drawn, for any of the eight models, and two signals are sent through: their overlaps
//! `q_aa`, `q_bb`, `q_ab` and correlation `c` are measured layer by layer, over many realisations; one layer by itself gives the correlation map; and where the network can be differentiated
//! a gradient is sent back. A [`Comparison`] sets all of it against the theory and counts standard errors, so that a map that is wrong is seen to be wrong.
//!
//! ```
//! use isinglass_lab::simulate::Simulation;
//! use isinglass_theory::{Model, Neuron, RandomNetwork};
//!
//! let network = RandomNetwork::new(Model::Deterministic, Neuron::Sign)?;
//! let field = network.at(Some(0.5), 0.1)?;
//! let simulation = Simulation { width: 200, realisations: 20, depth: 5, ..Simulation::default() };
//! let measurement = simulation.run(&field, &|_, _| {})?;
//! let comparison = measurement.compare(&field)?;
//! assert_eq!(comparison.agrees(), Some(true));
//! // Another theory is refuted by the same networks.
//! let other = network.at(Some(0.7), 0.1)?;
//! assert_eq!(measurement.compare(&other)?.agrees(), Some(false));
//! # Ok::<(), isinglass_lab::simulate::SimulateError>(())
//! ```

mod carried;
mod carried_comparison;
mod comparison;
mod error;
mod expectations;
mod gaussian;
mod layer;
mod picture;
mod realisation;
mod residuals;
mod statistics;
mod weights;

use isinglass_net::Rng;
use isinglass_theory::activation::FieldPair;
use isinglass_theory::{Correlation, Error as TheoryError, MeanField, linspace};

pub use carried::CarriedOverlaps;
pub use comparison::{CarriedComparison, Comparison, JacobianComparison, LayerComparison, MapPoint, Measured, SpreadComparison, THRESHOLD};
pub use error::SimulateError;
pub use picture::{Shown, picture};
pub use realisation::{Jacobian, Overlaps, Realisation, SpreadJacobian};
pub use statistics::{Overall, Spread};

use crate::parallel;
use layer::Rule;

/// Which random networks, and how many.
#[derive(Debug, Clone, PartialEq)]
pub struct Simulation {
    /// Units in every layer, `N`.
    pub width: usize,
    /// Networks, `R`.
    pub realisations: usize,
    /// Layers after layer 0.
    pub depth: usize,
    /// The fields in layer 0: Gaussian, a pair for each unit.
    pub start: FieldPair,
    /// Correlations before the layer whose correlation map is measured; none to leave the map out.
    pub map: Vec<f64>,
    /// Whether gradients are sent back, where there are any.
    pub backwards: bool,
    /// Whether layers carry their fields on. There is no correlation map then: it is another one in every layer.
    pub carry: bool,
    /// Equal seeds give equal numbers.
    pub seed: u64,
    /// Number of threads (0: one per core), which changes nothing but the time.
    pub threads: usize,
}

impl Default for Simulation {
    fn default() -> Self {
        let start = FieldPair { q_a: 1.0, q_b: 1.0, correlation: Correlation::new(0.5).unwrap_or(Correlation::ZERO) };
        Self {
            width: 1000,
            realisations: 50,
            depth: 30,
            start,
            map: linspace(0.0, 1.0, 11),
            backwards: true,
            carry: false,
            seed: 1,
            threads: 0,
        }
    }
}

/// Networks of one width.
#[derive(Debug, Clone, PartialEq)]
pub struct Ensemble {
    /// `N`.
    pub width: usize,
    /// All layers, a network each.
    pub networks: Vec<Realisation>,
    /// For every point of the map, one layer of as many networks.
    pub map: Vec<Vec<Realisation>>,
}

/// What was measured, before it is compared with anything.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// The settings.
    pub simulation: Simulation,
    /// The variance at which the map was measured.
    pub map_variance: f64,
    /// The networks of the width asked for.
    pub ensemble: Ensemble,
    /// Networks of a quarter of the width, which tell how much the width matters.
    pub narrow: Ensemble,
}

/// The second width at which everything is simulated: a quarter. The nearer the two widths, the larger the standard error of what is extrapolated from them; a quarter makes it 1.5 times
/// that of the width itself, a half 2.4 times.
pub fn narrow_width(width: usize) -> usize {
    (width / 4).max(1)
}

/// Streams of random numbers: of the networks and of the maps, for each width.
const NETWORKS: u64 = 101;
const MAP: u64 = 102;

impl Simulation {
    /// Simulates the networks of a model at its variances. `progress` is told how much is done of how much, from any thread.
    pub fn run(&self, field: &MeanField, progress: &(dyn Fn(usize, usize) + Sync)) -> Result<Measurement, SimulateError> {
        self.check()?;
        if self.carry {
            return self.run_carried(field, progress);
        }
        // Whatever the theory refuses is refused before it is simulated.
        field.trajectory(self.start, self.depth)?;
        let (map_layer, map_variance) = field.at_fixed_point()?;
        let map_starts =
            self.map.iter().map(|&c| Ok(FieldPair::equal(map_variance, Correlation::new(c)?))).collect::<Result<Vec<_>, TheoryError>>()?;
        let (rule, map_rule) = (Rule::new(field), Rule::new(&map_layer));
        let backwards = self.backwards && field.is_differentiable();
        let widths = [self.width, narrow_width(self.width)];
        let points = self.map.len();
        // One piece of work is one realisation at one width, with its map.
        let pieces = 2 * self.realisations;
        let done = |finished: usize| progress(finished, pieces);
        let results = parallel::in_order(
            pieces,
            self.threads,
            |piece| {
                let (width, index) = (widths[piece / self.realisations], (piece % self.realisations) as u64);
                let root = Rng::new(self.seed);
                let rng = root.stream(NETWORKS, width as u64).stream(NETWORKS, index);
                let network = Realisation::new(&rule, &self.start, width, self.depth, backwards, &rng);
                let rng = root.stream(MAP, width as u64).stream(MAP, index);
                let map: Vec<Realisation> = (0..points)
                    .map(|point| Realisation::new(&map_rule, &map_starts[point], width, 1, false, &rng.stream(MAP, point as u64)))
                    .collect();
                (network, map)
            },
            done,
        );
        let mut ensembles = widths.map(|width| Ensemble { width, networks: Vec::new(), map: vec![Vec::new(); points] });
        for (piece, (network, map)) in results.into_iter().enumerate() {
            let ensemble = &mut ensembles[piece / self.realisations];
            ensemble.networks.push(network);
            ensemble.map.iter_mut().zip(map).for_each(|(point, layer)| point.push(layer));
        }
        let [ensemble, narrow] = ensembles;
        Ok(Measurement { simulation: self.clone(), map_variance, ensemble, narrow })
    }

    fn run_carried(&self, field: &MeanField, progress: &(dyn Fn(usize, usize) + Sync)) -> Result<Measurement, SimulateError> {
        field.carried_trajectory(self.start, self.depth)?;
        let rule = Rule::new(field);
        let backwards = self.backwards && field.is_differentiable();
        let widths = [self.width, narrow_width(self.width)];
        let pieces = 2 * self.realisations;
        let work = |piece: usize| {
            let (width, index) = (widths[piece / self.realisations], (piece % self.realisations) as u64);
            let rng = Rng::new(self.seed).stream(NETWORKS, width as u64).stream(NETWORKS, index);
            Realisation::carried(&rule, &self.start, width, self.depth, backwards, &rng)
        };
        let mut networks = parallel::in_order(pieces, self.threads, work, |finished| progress(finished, pieces));
        let narrow = networks.split_off(self.realisations);
        let ensemble = |width, networks| Ensemble { width, networks, map: Vec::new() };
        Ok(Measurement {
            simulation: Self { map: Vec::new(), ..self.clone() },
            map_variance: 0.0,
            ensemble: ensemble(widths[0], networks),
            narrow: ensemble(widths[1], narrow),
        })
    }

    fn check(&self) -> Result<(), SimulateError> {
        let size = |what, value, limit| Err(SimulateError::Size { what, value, limit });
        match self {
            Self { width: 0 | 1, .. } => size("width", self.width, "at least 2 units are needed (narrower networks are simulated too)"),
            Self { realisations: 0 | 1, .. } => size("realisations", self.realisations, "at least 2 are needed for a standard deviation"),
            Self { depth: 0, .. } => size("depth", 0, "at least 1 layer is needed"),
            Self { width: 100_001.., .. } => size("width", self.width, "at most 100000 units, every weight is drawn"),
            _ if self.depth.saturating_mul(self.width) > 100_000_000 => {
                size("depth", self.depth, "depth times width is at most 100000000, or gradients would not fit into memory")
            }
            _ if self.depth.saturating_mul(self.realisations) > 100_000_000 => {
                size("realisations", self.realisations, "realisations times depth is at most 100000000")
            }
            _ => Ok(()),
        }
    }
}
