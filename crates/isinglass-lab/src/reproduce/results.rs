//! The results of a sweep, as figures and claims need them. Nothing else here reads the rows of a sweep.

use isinglass_chart::Panel;
use isinglass_runs::run::RunConfig;
use isinglass_runs::sweep::picture::{self, View};
use isinglass_runs::sweep::{Cell, Row, Sweep};

use super::ReproduceError;
use super::accuracy_axis::CHANCE;
use super::judgement::{PerSeed, Undecided};

/// The examples that a network is evaluated on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Train,
    Validation,
    Test,
}

/// The network that is evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scored {
    Surrogate,
    /// `sign(M)`.
    Binary,
    /// The mean of that many draws.
    Stochastic(usize),
}

/// What figures show of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    Accuracy(Part, Scored),
    /// The fraction of weights that changed sign.
    FlipRatio,
    /// What the initialisation came to; null where layers differ.
    InitSigmaM2,
}

impl Column {
    /// What most figures show.
    pub const SURROGATE: Self = Self::Accuracy(Part::Train, Scored::Surrogate);

    /// Its name in the table of the sweep.
    fn name(self) -> String {
        match self {
            Self::Accuracy(part, network) => {
                let part = match part {
                    Part::Train => "train",
                    Part::Validation => "validation",
                    Part::Test => "test",
                };
                match network {
                    Scored::Surrogate => format!("{part}_surrogate_accuracy"),
                    Scored::Binary => format!("{part}_binary_accuracy"),
                    Scored::Stochastic(samples) => format!("{part}_stochastic_{samples}_accuracy"),
                }
            }
            Self::FlipRatio => "flip_ratio".to_owned(),
            Self::InitSigmaM2 => "init_sigma_m2".to_owned(),
        }
    }
}

/// What became of a cell.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Outcome {
    /// There is a result.
    Trained(Row),
    /// Its loss diverged: it has learnt nothing, and its accuracies are those of chance.
    Untrained,
    /// It failed for another reason, which says nothing about the network.
    Missing(String),
}

/// A cell and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub cell: Cell,
    pub outcome: Outcome,
}

impl Entry {
    /// Its number in a column.
    fn value(&self, column: Column) -> Result<f64, Undecided> {
        let cell = &self.cell;
        match (&self.outcome, column) {
            (Outcome::Trained(row), _) => match row.get(&column.name()).and_then(|value| value.as_f64()) {
                Some(value) => Ok(value),
                None => Undecided::because(format!("There is no {} of the cell {cell}.", column.name())),
            },
            (Outcome::Untrained, Column::Accuracy(..)) => Ok(CHANCE),
            (Outcome::Untrained, _) => Undecided::because(format!("The loss of the cell {cell} diverged.")),
            (Outcome::Missing(reason), _) => {
                Undecided::because(format!("It needs the cell {cell} of seed {}, which failed: {reason}.", cell.config.seed))
            }
        }
    }
}

/// A sweep in which every cell has come to its end.
pub(super) struct Results {
    entries: Vec<Entry>,
    /// As the sweep gives them, for its pictures.
    rows: Vec<Row>,
}

impl Results {
    /// Reads them.
    ///
    /// # Errors
    ///
    /// [`ReproduceError::Unfinished`] if cells have not ended.
    pub fn of(sweep: &Sweep) -> Result<Self, ReproduceError> {
        let rows = sweep.rows()?;
        let outcomes: Vec<Option<Outcome>> = rows.iter().map(outcome).collect();
        let left = outcomes.iter().filter(|outcome| outcome.is_none()).count();
        if left > 0 {
            return Err(ReproduceError::Unfinished { sweep: sweep.directory().to_owned(), left, cells: rows.len() });
        }
        let entries = sweep.cells().iter().cloned().zip(outcomes.into_iter().flatten());
        Ok(Self { entries: entries.map(|(cell, outcome)| Entry { cell, outcome }).collect(), rows })
    }

    /// All cells, in the grid's order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub fn all(&self) -> Cells<'_> {
        Cells(self.entries.iter().collect())
    }

    /// How many cells diverged.
    pub fn untrained(&self) -> usize {
        self.entries.iter().filter(|entry| entry.outcome == Outcome::Untrained).count()
    }

    /// The cells that failed otherwise, and why.
    pub fn missing(&self) -> impl Iterator<Item = (&Cell, &str)> {
        self.entries.iter().filter_map(|entry| match &entry.outcome {
            Outcome::Missing(reason) => Some((&entry.cell, reason.as_str())),
            Outcome::Trained(_) | Outcome::Untrained => None,
        })
    }

    /// A column as a map over `σ_m²` and depth, with curves of some depth scales.
    pub fn map(&self, sweep: &Sweep, column: Column, scales: &[f64]) -> Result<Panel, ReproduceError> {
        let view = View { x: "sigma-m2".into(), y: Some("depth".into()) };
        Ok(view.panel_with_scales(&picture::Results::of(sweep, &self.rows), &column.name(), scales)?)
    }
}

/// `None` if the cell has not ended.
fn outcome(row: &Row) -> Option<Outcome> {
    let text = |column: &str| row.get(column).and_then(|value| value.as_str());
    match text("status") {
        Some("done") => Some(Outcome::Trained(row.clone())),
        Some("failed") => {
            let reason = text("error").unwrap_or("no reason given");
            Some(if is_divergence(reason) { Outcome::Untrained } else { Outcome::Missing(reason.to_owned()) })
        }
        _ => None,
    }
}

/// Whether these are the words of [`isinglass_net::Error::Diverged`].
fn is_divergence(error: &str) -> bool {
    error.contains("training diverged")
}

/// Some cells of a sweep.
#[derive(Clone)]
pub(super) struct Cells<'a>(Vec<&'a Entry>);

impl<'a> Cells<'a> {
    /// Those of some settings.
    pub fn with(&self, is_wanted: impl Fn(&RunConfig) -> bool) -> Self {
        Self(self.0.iter().copied().filter(|entry| is_wanted(&entry.cell.config)).collect())
    }

    /// The values of a setting, in the grid's order.
    pub fn values<T: PartialEq>(&self, setting: impl Fn(&RunConfig) -> Option<T>) -> Vec<T> {
        let mut values = Vec::new();
        for value in self.0.iter().filter_map(|entry| setting(&entry.cell.config)) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        values
    }

    /// The values of a setting, in increasing order.
    pub fn numbers(&self, setting: impl Fn(&RunConfig) -> Option<f64>) -> Vec<f64> {
        let mut values = self.values(setting);
        values.sort_by(f64::total_cmp);
        values
    }

    /// The depths, the smallest first.
    pub fn depths(&self) -> Vec<usize> {
        let mut depths = self.values(|config| config.depth);
        depths.sort_unstable();
        depths
    }

    /// The seeds, in the grid's order.
    pub fn seeds(&self) -> Vec<u64> {
        self.values(|config| Some(config.seed))
    }

    /// A measure of every seed's cells.
    ///
    /// # Errors
    ///
    /// The first seed's of which there is none.
    pub fn per_seed<T>(&self, measure: impl Fn(&Self) -> Result<T, Undecided>) -> PerSeed<T> {
        self.seeds().into_iter().map(|seed| measure(&self.with(|config| config.seed == seed))).collect()
    }

    /// The mean of a column.
    ///
    /// # Errors
    ///
    /// If there are no cells, or one of them is missing.
    pub fn mean(&self, column: Column) -> Result<f64, Undecided> {
        let values = self.0.iter().map(|entry| entry.value(column)).collect::<Result<Vec<_>, _>>()?;
        mean(&values)
    }

    /// The mean distance of two columns.
    ///
    /// # Errors
    ///
    /// Those of [`Cells::mean`].
    pub fn distance(&self, column: Column, other: Column) -> Result<f64, Undecided> {
        let distances = self.0.iter().map(|entry| Ok((entry.value(column)? - entry.value(other)?).abs()));
        mean(&distances.collect::<Result<Vec<_>, _>>()?)
    }
}

fn mean(values: &[f64]) -> Result<f64, Undecided> {
    if values.is_empty() {
        return Undecided::because("There are no results.");
    }
    Ok(values.iter().sum::<f64>() / values.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use isinglass_runs::sweep::Grid;
    use serde_json::json;

    fn results(outcomes: [Outcome; 4]) -> Results {
        let cells = Grid::from_toml("[grid]\ndepth = [1, 2]\nseed = [5, 6]\n").unwrap().cells().unwrap();
        Results { entries: cells.into_iter().zip(outcomes).map(|(cell, outcome)| Entry { cell, outcome }).collect(), rows: Vec::new() }
    }

    fn trained(accuracy: f64) -> Outcome {
        let row = json!({ "train_surrogate_accuracy": accuracy, "test_binary_accuracy": 0.5 * accuracy });
        Outcome::Trained(row.as_object().unwrap().clone())
    }

    #[test]
    fn networks_that_diverged_are_untrained_and_have_nothing_else() {
        let results = results([trained(0.9), Outcome::Untrained, trained(0.7), trained(0.5)]);
        let at = |depth: usize| results.all().with(|config| config.depth == Some(depth));
        assert_eq!(at(1).mean(Column::SURROGATE), Ok(0.5));
        assert_eq!(at(2).distance(Column::SURROGATE, Column::Accuracy(Part::Test, Scored::Binary)), Ok(0.3));
        assert!(at(1).mean(Column::FlipRatio).is_err());
        assert_eq!((results.untrained(), results.missing().count()), (1, 0));
        assert_eq!(results.all().per_seed(|cells| cells.mean(Column::SURROGATE)), Ok(vec![0.8, 0.3]));
        assert_eq!(at(3).mean(Column::SURROGATE), Err(Undecided("There are no results.".into())));
    }

    #[test]
    fn other_failures_are_never_a_number() {
        let failed = || Outcome::Missing("it panicked: index out of bounds".into());
        let results = results([trained(0.9), failed(), trained(0.7), trained(0.5)]);
        let reason = results.all().mean(Column::SURROGATE).unwrap_err().0;
        assert!(reason.contains("depth = 1, seed = 6") && reason.contains("it panicked"), "{reason}");
        assert!(results.all().per_seed(|cells| cells.mean(Column::SURROGATE)).is_err());
        // Who does not need the cell is not concerned.
        assert_eq!(results.all().with(|config| config.seed == 5).mean(Column::SURROGATE), Ok(0.8));
        assert_eq!(results.missing().count(), 1);
    }

    #[test]
    fn rows_are_told_apart_by_why_they_failed() {
        let of = |status: &str, error: Option<String>| outcome(json!({ "status": status, "error": error }).as_object().unwrap());
        let diverged = isinglass_net::Error::Diverged { step: 3, loss: f32::NAN, lr: 1.0 }.to_string();
        assert_eq!(of("failed", Some(diverged)), Some(Outcome::Untrained));
        assert_eq!(of("failed", Some("it panicked".into())), Some(Outcome::Missing("it panicked".into())));
        assert!(matches!(of("done", None), Some(Outcome::Trained(_))));
        assert_eq!((of("running", None), of("waiting", None)), (None, None));
    }
}
