//! The results of a sweep, as figures and claims need them. Nothing else here reads the rows of a sweep.

use isinglass_chart::Panel;
use isinglass_runs::memory;
use isinglass_runs::run::RunConfig;
use isinglass_runs::sweep::picture::View;
use isinglass_runs::sweep::{Cell, Row, Status, Sweep};

use super::ReproduceError;
use super::accuracy_axis::CHANCE;
use super::judgement::{PerSeed, Undecided};

pub(super) use isinglass_runs::run::{Behind, Part};
pub(super) use isinglass_runs::sweep::Column;

/// What most figures show.
pub(super) const SURROGATE: Column = Column::accuracy(Part::Train, Behind::Surrogate);

/// What became of a cell.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Outcome {
    /// There is a result.
    Trained(Box<Row>),
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
    /// `None` if the cell has not ended.
    fn of(row: &Row) -> Option<Self> {
        let outcome = match row.status() {
            Status::Done(_) => Outcome::Trained(Box::new(row.clone())),
            Status::Failed(record) if record.is_untrained() => Outcome::Untrained,
            Status::Failed(_) | Status::Damaged(_) => Outcome::Missing(row.error().unwrap_or("no reason given").to_owned()),
            Status::Waiting if is_too_large(row.cell()) => Outcome::Missing("it does not fit the memory of this machine".to_owned()),
            Status::Running | Status::Waiting => return None,
        };
        Some(Self { cell: row.cell().clone(), outcome })
    }

    /// Its number in a column.
    fn value(&self, column: Column) -> Result<f64, Undecided> {
        let cell = &self.cell;
        match (&self.outcome, column) {
            (Outcome::Trained(row), _) => match row.number(column) {
                Some(value) => Ok(value),
                None => Undecided::because(format!("There is no {column} of the cell {cell}.")),
            },
            (Outcome::Untrained, column) if column.is_accuracy() => Ok(CHANCE),
            (Outcome::Untrained, _) => Undecided::because(format!("The loss of the cell {cell} diverged.")),
            (Outcome::Missing(reason), _) => {
                Undecided::because(format!("It needs the cell {cell} of seed {}, which failed: {reason}.", cell.config.seed))
            }
        }
    }
}

/// Inputs and classes of all data that figures are made with.
const DATA: (usize, usize) = (784, 10);

/// Whether sweeps refuse a cell for lack of memory.
fn is_too_large(cell: &Cell) -> bool {
    let network = cell.config.network_config(DATA.0, DATA.1);
    let needed = network.and_then(|network| memory::of_training(&network, cell.config.batch));
    needed.is_ok_and(|needed| needed > memory::available())
}

/// A sweep in which every cell has come to its end.
pub(super) struct Results {
    entries: Vec<Entry>,
    /// As the sweep gives them, for its pictures.
    all: isinglass_runs::sweep::Results,
}

impl Results {
    /// Reads them.
    ///
    /// # Errors
    ///
    /// [`ReproduceError::Unfinished`] if cells have not ended.
    pub fn of(sweep: &Sweep) -> Result<Self, ReproduceError> {
        let all = sweep.results()?;
        let entries: Vec<Option<Entry>> = all.rows().map(Entry::of).collect();
        let left = entries.iter().filter(|entry| entry.is_none()).count();
        if left > 0 {
            return Err(ReproduceError::Unfinished { sweep: sweep.directory().to_owned(), left, cells: all.len() });
        }
        Ok(Self { entries: entries.into_iter().flatten().collect(), all })
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
    pub fn map(&self, column: Column, scales: &[f64]) -> Result<Panel, ReproduceError> {
        let view = View { x: "sigma-m2".into(), y: Some("depth".into()) };
        Ok(view.panel_with_scales(&self.all, column, scales)?)
    }
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
    use isinglass_runs::sweep::{ErrorKind, Grid, Record};

    /// Two depths and two seeds, each with what became of it.
    fn results(outcomes: [Result<f64, ErrorKind>; 4]) -> Results {
        let grid = Grid::from_toml("[grid]\ndepth = [1, 2]\nseed = [5, 6]\n").unwrap();
        let row = |(cell, outcome): (Cell, Result<f64, ErrorKind>)| Row::new(cell.clone(), status(&cell, outcome));
        let rows: Vec<Row> = grid.cells().unwrap().into_iter().zip(outcomes).map(row).collect();
        let entries = rows.iter().filter_map(Entry::of).collect();
        Results { entries, all: isinglass_runs::sweep::Results::new(vec!["depth".into(), "seed".into()], rows) }
    }

    fn status(cell: &Cell, outcome: Result<f64, ErrorKind>) -> Status {
        let accuracy = *outcome.as_ref().unwrap_or(&0.0);
        let record = Record::with_accuracies(cell, |part, network| match (part, network) {
            (Part::Test, Behind::Binary) => 0.5 * accuracy,
            _ => accuracy,
        });
        match outcome {
            Ok(_) => Status::Done(Box::new(record)),
            Err(kind) => {
                Status::Failed(Box::new(Record { result: None, error: Some("it panicked".into()), error_kind: Some(kind), ..record }))
            }
        }
    }

    #[test]
    fn networks_that_diverged_are_untrained_and_have_nothing_else() {
        let results = results([Ok(0.9), Err(ErrorKind::Diverged), Ok(0.7), Ok(0.5)]);
        let at = |depth: usize| results.all().with(|config| config.depth == Some(depth));
        assert_eq!(at(1).mean(SURROGATE), Ok(0.5));
        assert_eq!(at(2).distance(SURROGATE, Column::accuracy(Part::Test, Behind::Binary)), Ok(0.3));
        assert!(at(1).mean(Column::FlipRatio).is_err());
        assert_eq!((results.untrained(), results.missing().count()), (1, 0));
        assert_eq!(results.all().per_seed(|cells| cells.mean(SURROGATE)), Ok(vec![0.8, 0.3]));
        assert_eq!(at(3).mean(SURROGATE), Err(Undecided("There are no results.".into())));
    }

    #[test]
    fn other_failures_are_never_a_number() {
        let results = results([Ok(0.9), Err(ErrorKind::Panic), Ok(0.7), Ok(0.5)]);
        let reason = results.all().mean(SURROGATE).unwrap_err().0;
        assert!(reason.contains("depth = 1, seed = 6") && reason.contains("it panicked"), "{reason}");
        assert!(results.all().per_seed(|cells| cells.mean(SURROGATE)).is_err());
        // Who does not need the cell is not concerned.
        assert_eq!(results.all().with(|config| config.seed == 5).mean(SURROGATE), Ok(0.8));
        assert_eq!(results.missing().count(), 1);
    }

    #[test]
    fn only_a_diverged_loss_counts_as_untrained() {
        let cell = Grid::from_toml("[grid]\ndepth = [1]\n").unwrap().cells().unwrap().remove(0);
        let of = |status: Status| Entry::of(&Row::new(cell.clone(), status)).map(|entry| entry.outcome);
        assert_eq!(of(status(&cell, Err(ErrorKind::Diverged))), Some(Outcome::Untrained));
        for kind in [ErrorKind::Io, ErrorKind::Panic, ErrorKind::Damaged, ErrorKind::Memory, ErrorKind::Other] {
            assert_eq!(of(status(&cell, Err(kind))), Some(Outcome::Missing("it panicked".into())));
        }
        assert_eq!(of(Status::Damaged("torn".into())), Some(Outcome::Missing("torn".into())));
        assert!(matches!(of(status(&cell, Ok(0.5))), Some(Outcome::Trained(_))));
        assert_eq!((of(Status::Running), of(Status::Waiting)), (None, None));
    }
}
