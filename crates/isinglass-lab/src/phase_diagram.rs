//! The theory over a plane of `(σ_m², σ_b²)` or `(σ_w², σ_b²)`, on all cores.
//!
//! ```
//! use isinglass_lab::phase_diagram::{PhaseDiagram, Quantity};
//! use isinglass_theory::{Model, Neuron, RandomNetwork, linspace};
//!
//! let network = RandomNetwork::new(Model::Continuous, Neuron::Linear)?;
//! let diagram = PhaseDiagram::compute(&network, linspace(0.0, 2.0, 3), linspace(0.0, 1.0, 2), Quantity::Chi1, 1, &|_| {})?;
//! // χ₁ of a linear network is σ_w².
//! assert_eq!(diagram.cell(1, 0).chi_1, Some(1.0));
//! # Ok::<(), isinglass_theory::Error>(())
//! ```

use std::sync::atomic::{AtomicBool, Ordering};

use crate::parallel::in_order;
use isinglass_theory::activation::Activation;
use isinglass_theory::carried::Remains;
use isinglass_theory::{Error, MeanField, Phase, Point, RandomNetwork, WeightVariance};

/// What a phase diagram shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// `χ₁`, which needs the variance fixed point only.
    Chi1,
    /// `ξ_c`, which needs the correlation's fixed point too.
    XiC,
}

/// The theory at one point of the plane. Everything is `None` where the point cannot be used (`σ_m² > 1`).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Cell {
    /// `q*`.
    pub q_star: Option<f64>,
    /// `χ₁`.
    pub chi_1: Option<f64>,
    /// `ξ_c`, if it was asked for.
    pub xi_c: Option<f64>,
    /// The phase.
    pub phase: Option<Phase>,
}

/// A grid of cells.
#[derive(Debug, Clone, PartialEq)]
pub struct PhaseDiagram {
    /// `σ_m²` or `σ_w²` of each column.
    pub x: Vec<f64>,
    /// `σ_b²` of each row.
    pub y: Vec<f64>,
    cells: Vec<Cell>,
}

impl PhaseDiagram {
    /// Computes all cells with `threads` threads (0: one per core). `progress` is told each time a row is done, from any thread.
    pub fn compute<A>(
        network: &RandomNetwork<A>,
        x: Vec<f64>,
        y: Vec<f64>,
        quantity: Quantity,
        threads: usize,
        progress: &(dyn Fn(usize) + Sync),
    ) -> Result<Self, Error>
    where
        A: Activation + Clone + Sync,
    {
        check_plane(network)?;
        if quantity == Quantity::Chi1 && network.is_step() {
            return Err(Error::Unsupported("χ₁ of a sign function is infinite everywhere; ask for ξ_c instead".into()));
        }
        let cells = in_rows(&x, &y, threads, progress, &|sigma2, sigma_b2| cell(network, sigma2, sigma_b2, quantity))?;
        Ok(Self { x, y, cells })
    }

    /// The cell of a column and a row.
    pub fn cell(&self, column: usize, row: usize) -> &Cell {
        &self.cells[row * self.x.len() + column]
    }

    /// All cells, row by row from the smallest `σ_b²`.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }
}

/// What is left of signal and gradient at a depth over the same plane, if fields are carried.
#[derive(Debug, Clone, PartialEq)]
pub struct CarriedDiagram {
    /// `σ_m²` or `σ_w²` of each column.
    pub x: Vec<f64>,
    /// `σ_b²` of each row.
    pub y: Vec<f64>,
    /// All cells, row by row from the smallest `σ_b²`.
    pub cells: Vec<CarriedCell>,
}

/// What a diagram of carried fields shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CarriedQuantity {
    /// What is left of the mean squared gradient, and of small differences.
    Gradient,
    /// What is left of the signal: two signals are followed, not one.
    Signal,
}

/// One point of a diagram of carried fields. Everything is `None` where the point cannot be used (`σ_m² > 1`).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CarriedCell {
    /// The variance of the fields at the depth, from 1 in layer 0.
    pub q: Option<f64>,
    /// The fraction of the gradient's mean square.
    pub gradient: Option<f64>,
    /// The fraction of the signal, if it was asked for.
    pub signal: Option<f64>,
}

impl CarriedDiagram {
    /// Computes all cells with `threads` threads (0: one per core). `progress` is told each time a row is done, from any thread.
    pub fn compute(
        network: &RandomNetwork,
        (x, y): (Vec<f64>, Vec<f64>),
        depth: usize,
        quantity: CarriedQuantity,
        threads: usize,
        progress: &(dyn Fn(usize) + Sync),
    ) -> Result<Self, Error> {
        check_plane(network)?;
        if quantity == CarriedQuantity::Gradient && network.is_step() {
            return Err(Error::Unsupported("no gradient goes through a sign function; ask for the signal instead".into()));
        }
        let cell = |sigma2: f64, sigma_b2: f64| {
            let field = match network.at(Some(sigma2), sigma_b2) {
                Err(Error::MeanVariance(_)) => return Ok(CarriedCell::default()),
                other => other?,
            };
            if quantity == CarriedQuantity::Gradient {
                let (q, gradient) = field.carried_gradient(depth)?;
                return Ok(CarriedCell { q: Some(q), gradient: Some(gradient), signal: None });
            }
            let left = if sigma2 == 0.0 && network.denominator().is_none() {
                return Ok(CarriedCell::default());
            } else {
                Remains::after(&field, depth)?
            };
            Ok(CarriedCell { q: Some(left.q), gradient: left.gradient, signal: left.signal })
        };
        let cells = in_rows(&x, &y, threads, progress, &cell)?;
        Ok(Self { x, y, cells })
    }
}

/// Models without a weight variance have no plane.
fn check_plane<A: Activation>(network: &RandomNetwork<A>) -> Result<(), Error> {
    if network.model().weight_variance() != WeightVariance::None {
        return Ok(());
    }
    Err(Error::Unsupported(format!(
        "model {} has no plane to draw: its weights are random ±1 and only σ_b² can be chosen; use theory point",
        network.model()
    )))
}

/// A cell for every point of the grid, row by row, with `threads` threads (0: one per core).
fn in_rows<C: Send>(
    x: &[f64],
    y: &[f64],
    threads: usize,
    progress: &(dyn Fn(usize) + Sync),
    cell: &(dyn Fn(f64, f64) -> Result<C, Error> + Sync),
) -> Result<Vec<C>, Error> {
    let stop = AtomicBool::new(false);
    let row = |index: usize| {
        if stop.load(Ordering::Relaxed) {
            return Ok(Vec::new());
        }
        let row = x.iter().map(|&sigma2| cell(sigma2, y[index])).collect::<Result<Vec<C>, Error>>();
        row.inspect_err(|_| stop.store(true, Ordering::Relaxed))
    };
    let rows = in_order(y.len(), threads, row, progress).into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok(rows.into_iter().flatten().collect())
}

fn cell<A: Activation + Clone>(network: &RandomNetwork<A>, sigma2: f64, sigma_b2: f64, quantity: Quantity) -> Result<Cell, Error> {
    let field = match network.at(Some(sigma2), sigma_b2) {
        Err(Error::MeanVariance(_)) => return Ok(Cell::default()),
        other => other?,
    };
    match quantity {
        Quantity::Chi1 => slope_cell(&field),
        Quantity::XiC => {
            let point = Point::of(&field)?;
            Ok(Cell { q_star: point.q_star.finite(), chi_1: point.chi_1, xi_c: point.xi_c(), phase: Some(point.phase) })
        }
    }
}

/// `χ₁` without the correlation's fixed point.
fn slope_cell<A: Activation>(field: &MeanField<A>) -> Result<Cell, Error> {
    let q_star = field.variance_fixed_point()?;
    let chi_1 = field.chi_1_at(q_star)?;
    Ok(Cell { q_star: q_star.finite(), chi_1, xi_c: None, phase: Some(Phase::of(field, chi_1)) })
}
