//! What the cells of a sweep came to: for tables, pictures, verdicts and reports.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::cell::plain_text;
use super::{Cell, Column, Measure, Record, Status, Sweep, SweepError};
use crate::run::{Behind, Part};

/// A cell and how it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    cell: Cell,
    status: Status,
}

impl Row {
    /// A cell that stands like this.
    pub fn new(cell: Cell, status: Status) -> Self {
        Self { cell, status }
    }

    /// The cell.
    pub fn cell(&self) -> &Cell {
        &self.cell
    }

    /// How it stands.
    pub fn status(&self) -> &Status {
        &self.status
    }

    /// What is on record of it.
    pub fn record(&self) -> Option<&Record> {
        self.status.record()
    }

    /// Why there is no result though there is a file.
    pub fn error(&self) -> Option<&str> {
        match &self.status {
            Status::Failed(record) => record.error.as_deref(),
            Status::Damaged(reason) => Some(reason),
            _ => None,
        }
    }

    /// Its value of an axis: a number or a text.
    pub fn axis(&self, name: &str) -> Option<Value> {
        let (_, value) = self.cell.axes.iter().find(|(axis, _)| axis == name)?;
        Some(if value.is_array() { plain_text(value).into() } else { value.clone() })
    }

    /// Its number in a column; `None` where there is none.
    pub fn number(&self, column: Column) -> Option<f64> {
        let record = self.record()?;
        let result = record.result.as_ref();
        let number = match column {
            Column::Score { part, network, measure } => {
                let score = result?.evaluation.of(part)?.of(network)?;
                match measure {
                    Measure::Accuracy => score.accuracy,
                    Measure::Nll => score.nll,
                }
            }
            Column::BestEpoch => result?.best_epoch? as f64,
            Column::InitSigmaM2 => result?.initialisation.sigma_m2?,
            Column::InitSigmaB2 => result?.initialisation.sigma_b2,
            Column::Polarised => result?.mean_over_weights(|layer| layer.polarised)?,
            Column::FlipRatio => result?.mean_over_weights(|layer| layer.flip_ratio)?,
            Column::Attempts => record.run.attempts.len() as f64,
            Column::Threads => record.run.attempts.last()?.threads as f64,
            Column::Seconds => record.run.seconds,
        };
        number.is_finite().then_some(number)
    }
}

/// The cells of a sweep, or some of them. Copies are cheap.
#[derive(Debug, Clone)]
pub struct Results {
    axes: Vec<String>,
    /// Numbers of sampled networks that some cell has scores for.
    sampled: BTreeSet<usize>,
    rows: Vec<Arc<Row>>,
}

impl Sweep {
    /// All cells, in the grid's order, the last axis varying fastest.
    ///
    /// # Errors
    ///
    /// If a cell's file cannot be read. One that is damaged is no error: see [`Status::Damaged`].
    pub fn results(&self) -> Result<Results, SweepError> {
        let rows = self.cells().iter().map(|cell| Ok(Row { cell: cell.clone(), status: self.status(cell)? }));
        Ok(Results::new(self.grid().axes().map(str::to_owned).collect(), rows.collect::<Result<_, SweepError>>()?))
    }
}

impl Results {
    /// Some cells of a grid with these axes.
    pub fn new(axes: Vec<String>, rows: Vec<Row>) -> Self {
        let sampled = rows.iter().flat_map(|row| row.cell.config.samples.iter().copied()).collect();
        Self { axes, sampled, rows: rows.into_iter().map(Arc::new).collect() }
    }

    /// The names of the axes.
    pub fn axes(&self) -> impl Iterator<Item = &str> {
        self.axes.iter().map(String::as_str)
    }

    /// The cells.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().map(|row| &**row)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The cells that a condition holds for.
    #[must_use]
    pub fn filter(&self, holds: impl Fn(&Row) -> bool) -> Self {
        let rows = self.rows.iter().filter(|row| holds(row)).cloned().collect();
        Self { axes: self.axes.clone(), sampled: self.sampled.clone(), rows }
    }

    /// The cells with one value of an axis.
    #[must_use]
    pub fn only(&self, axis: &str, value: &Value) -> Self {
        self.filter(|row| row.axis(axis).is_some_and(|own| same(&own, value)))
    }

    /// The values of an axis that these cells have: numbers in increasing order, anything else in the grid's.
    pub fn values(&self, axis: &str) -> Vec<Value> {
        let mut values: Vec<Value> = Vec::new();
        for value in self.rows().filter_map(|row| row.axis(axis)) {
            if values.last() != Some(&value) && !values.contains(&value) {
                values.push(value);
            }
        }
        if values.iter().all(Value::is_number) {
            let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
            values.sort_by(|a, b| number(a).total_cmp(&number(b)));
        }
        values
    }

    /// The axes with several values.
    pub fn varying(&self) -> Vec<&str> {
        self.axes().filter(|axis| self.values(axis).len() > 1).collect()
    }

    /// Whether some cell has a number in this column.
    pub fn has(&self, column: Column) -> bool {
        self.rows().any(|row| row.number(column).is_some())
    }

    /// Whether every cell has a number in this column.
    pub fn is_complete(&self, column: Column) -> bool {
        self.rows().all(|row| row.number(column).is_some())
    }

    /// Whether a cell of this sweep can have a number in this column.
    pub fn knows(&self, column: Column) -> bool {
        match column {
            Column::Score { network: Behind::Stochastic(samples), .. } => self.sampled.contains(&samples),
            _ => true,
        }
    }

    /// The largest number of sampled networks that cells have scores for.
    pub fn most_sampled(&self) -> Option<usize> {
        self.sampled.last().copied()
    }

    /// The cells with the largest numbers in a column, the best first. Of equals the grid's order holds.
    pub fn best(&self, column: Column, count: usize) -> Vec<&Row> {
        let mut rows: Vec<(&Row, f64)> = self.rows().filter_map(|row| Some((row, row.number(column)?))).collect();
        rows.sort_by(|a, b| b.1.total_cmp(&a.1));
        rows.into_iter().take(count).map(|(row, _)| row).collect()
    }

    /// One object for each cell, all with the same keys: its name, its axes, how it stands, its result, and, in columns `run_…`, how it was run. What does not exist is null.
    pub fn to_json(&self) -> Vec<Map<String, Value>> {
        self.rows().map(|row| self.object(row)).collect()
    }

    fn object(&self, row: &Row) -> Map<String, Value> {
        let mut object = Map::new();
        object.insert("cell".into(), row.cell.name.clone().into());
        for axis in &self.axes {
            object.insert(axis.clone(), row.axis(axis).unwrap_or_default());
        }
        object.insert("status".into(), row.status.name().into());
        object.insert("error".into(), row.error().into());
        let kind = match &row.status {
            Status::Damaged(_) => Some("damaged"),
            status => status.record().and_then(|record| record.error_kind).map(super::ErrorKind::name),
        };
        object.insert("error_kind".into(), kind.into());
        let networks = || {
            let fixed = [Behind::Surrogate, Behind::Binary];
            fixed.into_iter().chain(self.sampled.iter().map(|&samples| Behind::Stochastic(samples)))
        };
        let mut add = |column: Column| drop(object.insert(column.to_string(), row.number(column).into()));
        for part in Part::ALL {
            for network in networks() {
                Measure::ALL.into_iter().for_each(|measure| add(Column::Score { part, network, measure }));
            }
        }
        let result = row.record().and_then(|record| record.result.as_ref());
        object.insert(Column::BestEpoch.to_string(), result.and_then(|result| result.best_epoch).into());
        object.insert("init_distribution".into(), result.map(|result| result.initialisation.distribution.clone()).into());
        let mut add = |column: Column| drop(object.insert(column.to_string(), row.number(column).into()));
        [Column::InitSigmaM2, Column::InitSigmaB2, Column::Polarised, Column::FlipRatio].into_iter().for_each(&mut add);
        let run = row.record().map(|record| &record.run);
        let last = run.and_then(|run| run.attempts.last());
        object.insert(Column::Attempts.to_string(), run.map(|run| run.attempts.len()).into());
        object.insert("run_host".into(), last.map(|last| last.host.clone()).into());
        object.insert(Column::Threads.to_string(), last.map(|last| last.threads).into());
        object.insert("run_began".into(), run.and_then(|run| run.attempts.first()).map(|first| first.began.clone()).into());
        object.insert("run_ended".into(), run.map(|run| run.ended.clone()).into());
        object.insert(Column::Seconds.to_string(), run.map(|run| run.seconds).into());
        object.insert("run_version".into(), run.map(|run| run.version.clone()).into());
        object
    }
}

/// `3` and `3.0` are the same place.
fn same(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => a == b,
        _ => a == b,
    }
}
