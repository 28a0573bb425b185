//! Accuracy over depth and `σ_m²`, with the theory's depth scale over it.

use std::path::Path;

use isinglass_net::{Neuron, Surrogate};
use isinglass_theory::RandomNetwork;
use serde_json::Value;

use super::ReproduceError;
use super::censored::Censored;
use super::grids::Plane;
use super::interval::Interval;
use super::judgement::{PerSeed, Undecided};
use super::output::{rounded, row};
use super::record::Table;
use super::results::{Cells, Column, Results};
use isinglass_chart::Panel;
use isinglass_runs::sweep::Sweep;

/// Training accuracy from which a network counts as trained.
pub(super) const TRAINED: f64 = 0.5;

/// A sweep over `σ_m²` and depth.
pub(super) struct PlaneResults {
    pub sweep: Sweep,
    pub results: Results,
    network: RandomNetwork,
    sigma_m2: Vec<f64>,
    depths: Vec<usize>,
}

/// To which depth networks of one `σ_m²` train.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reached {
    pub sigma_m2: f64,
    /// The theory's depth scale, infinite where it diverges; `None` where there is none.
    pub xi: Option<f64>,
    /// The depths at which training accuracy falls below [`TRAINED`], between the depths of the grid.
    pub depth: PerSeed<Censored>,
}

impl Reached {
    /// Over all seeds, for a table; `None` if cells are missing.
    pub fn typical(&self) -> Option<Censored> {
        Censored::typical(self.depth.as_deref().ok()?)
    }

    pub fn interval(&self) -> Result<Interval, Undecided> {
        Interval::of_censored(self.depth.as_deref().map_err(Undecided::clone)?)
    }
}

impl PlaneResults {
    pub fn open(directory: &Path, plane: Plane) -> Result<Self, ReproduceError> {
        let sweep = Sweep::open(directory)?;
        let results = Results::of(&sweep)?;
        let surrogate: Surrogate = plane.surrogate.parse().expect("the name of a surrogate");
        let network = RandomNetwork::new(surrogate.model(), plane.neuron.parse::<Neuron>()?)?;
        let (sigma_m2, depths) = (results.all().numbers(|config| config.sigma_m2), results.all().depths());
        Ok(Self { sweep, results, network, sigma_m2, depths })
    }

    /// The heat map of a column, with curves of some depth scales.
    pub fn panel(&self, title: &str, column: Column, scales: &[f64]) -> Result<Panel, ReproduceError> {
        Ok(self.results.map(column, scales)?.title(title))
    }

    /// The depth scale of the signal without biases.
    fn scale(&self, sigma_m2: f64) -> Result<Option<f64>, ReproduceError> {
        Ok(self.network.at(Some(sigma_m2), 0.0)?.signal_scale()?)
    }

    fn at(&self, sigma_m2: f64) -> Cells<'_> {
        self.results.all().with(|config| config.sigma_m2 == Some(sigma_m2))
    }

    /// To which depth networks train, for each `σ_m²`.
    pub fn reached(&self, column: Column) -> Result<Vec<Reached>, ReproduceError> {
        let crossing = |cells: &Cells<'_>| {
            let accuracy = |&depth: &usize| Ok((depth as f64, cells.with(|config| config.depth == Some(depth)).mean(column)?));
            let curve = self.depths.iter().map(accuracy).collect::<Result<Vec<_>, Undecided>>()?;
            Censored::crossing(&curve, TRAINED).ok_or_else(|| Undecided("There are no results.".into()))
        };
        let reached = |&sigma_m2: &f64| Ok(Reached { sigma_m2, xi: self.scale(sigma_m2)?, depth: self.at(sigma_m2).per_seed(crossing) });
        self.sigma_m2.iter().map(reached).collect()
    }

    /// The mean of a column over all depths and seeds; `None` if cells are missing.
    pub fn mean_at(&self, sigma_m2: f64, column: Column) -> Option<f64> {
        self.at(sigma_m2).mean(column).ok()
    }

    /// The mean of a column over all depths, for each `σ_m²`.
    pub fn by_variance(&self, column: Column) -> Vec<(f64, PerSeed<f64>)> {
        let mean = |&sigma_m2: &f64| (sigma_m2, self.at(sigma_m2).per_seed(|cells| cells.mean(column)));
        self.sigma_m2.iter().map(mean).collect()
    }

    /// All `σ_m²`, the smallest first.
    pub fn sigma_m2(&self) -> &[f64] {
        &self.sigma_m2
    }

    /// Epochs of training.
    pub fn epochs(&self) -> usize {
        self.sweep.cells().first().map_or(0, |cell| cell.config.epochs)
    }

    pub fn deepest(&self) -> f64 {
        self.depths.last().map_or(f64::NAN, |&depth| depth as f64)
    }
}

/// A depth scale, or the sign of one that diverges.
pub(super) fn scale_text(scale: f64) -> Value {
    if scale.is_finite() { rounded(scale, 1) } else { "∞".into() }
}

/// `σ_m²`, `ξ`, and how deep networks train.
pub(super) fn table(title: &str, reached: &[Reached]) -> Table {
    let columns = ["σ_m²", "ξ", "3ξ", "6ξ", "trained to depth", "95 % interval"];
    let line = |one: &Reached| {
        let scale = |factor: f64| one.xi.map_or(Value::Null, |xi| scale_text(factor * xi));
        let depth = match one.typical() {
            Some(depth) if depth.may_be_less() || depth.may_be_more() => depth.to_string().into(),
            Some(depth) => rounded(depth.value(), 1),
            None => Value::Null,
        };
        let interval = one.interval().map_or(Value::Null, |interval| interval.range(|depth| format!("{depth:.1}")).into());
        row([Value::from(one.sigma_m2), scale(1.0), scale(3.0), scale(6.0), depth, interval])
    };
    Table { title: title.to_owned(), columns: columns.map(Into::into).into(), rows: reached.iter().map(line).collect() }
}
