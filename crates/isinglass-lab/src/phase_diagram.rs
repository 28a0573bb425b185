//! The theory over a plane of `(σ_m², σ_b²)` or `(σ_w², σ_b²)`, on all cores.
//!
//! ```
//! use isinglass_lab::phase_diagram::{PhaseDiagram, Quantity, linspace};
//! use isinglass_theory::{Model, Neuron, RandomNetwork};
//!
//! let network = RandomNetwork::new(Model::Continuous, Neuron::Linear)?;
//! let diagram = PhaseDiagram::compute(&network, linspace(0.0, 2.0, 3), linspace(0.0, 1.0, 2), Quantity::Chi1, 1, &|_| {})?;
//! // χ₁ of a linear network is σ_w².
//! assert_eq!(diagram.cell(1, 0).chi_1, Some(1.0));
//! # Ok::<(), isinglass_theory::Error>(())
//! ```

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use isinglass_theory::activation::Activation;
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
        if network.model().weight_variance() == WeightVariance::None {
            return Err(Error::Unsupported(format!(
                "model {} has no plane to draw: its weights are random ±1 and only σ_b² can be chosen; use theory point",
                network.model()
            )));
        }
        if quantity == Quantity::Chi1 && network.is_step() {
            return Err(Error::Unsupported("χ₁ of a sign function is infinite everywhere; ask for ξ_c instead".into()));
        }
        let rows: Vec<Mutex<Vec<Cell>>> = y.iter().map(|_| Mutex::default()).collect();
        let (next_row, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let stop = AtomicBool::new(false);
        let failure: Mutex<Option<Error>> = Mutex::default();
        let work = || {
            while !stop.load(Ordering::Relaxed) {
                let index = next_row.fetch_add(1, Ordering::Relaxed);
                let Some(row) = rows.get(index) else { return };
                match x.iter().map(|&sigma2| cell(network, sigma2, y[index], quantity)).collect::<Result<Vec<Cell>, Error>>() {
                    Ok(cells) => *lock(row) = cells,
                    Err(error) => {
                        lock(&failure).get_or_insert(error);
                        stop.store(true, Ordering::Relaxed);
                    }
                }
                progress(done.fetch_add(1, Ordering::Relaxed) + 1);
            }
        };
        let threads = if threads == 0 { std::thread::available_parallelism().map_or(1, NonZeroUsize::get) } else { threads };
        std::thread::scope(|scope| {
            for _ in 1..threads.min(y.len()) {
                scope.spawn(work);
            }
            work();
        });
        if let Some(error) = lock(&failure).take() {
            return Err(error);
        }
        let cells = rows.iter().flat_map(|row| std::mem::take(&mut *lock(row))).collect();
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

/// `count` numbers from `low` to `high`, both included.
pub fn linspace(low: f64, high: f64, count: usize) -> Vec<f64> {
    let last = count.saturating_sub(1).max(1) as f64;
    (0..count).map(|i| if i + 1 == count && count > 1 { high } else { low + (high - low) * i as f64 / last }).collect()
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

/// A poisoned lock means that another thread panicked; its panic is what the user should see.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
