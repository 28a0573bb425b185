//! All results in one table.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::cell::plain_text;
use super::{Cell, Record, Status, Sweep, SweepError};

/// One row of the table of all cells: column by column, in order.
pub type Row = Map<String, Value>;

impl Sweep {
    /// One row for each cell, in the grid's order, all with the same columns: its name, its axes, how it stands, its result, and, in columns `run_…`, how it was run. What does not
    /// exist is null.
    ///
    /// # Errors
    ///
    /// If a cell's file cannot be read.
    pub fn rows(&self) -> Result<Vec<Row>, SweepError> {
        let sampled: BTreeSet<usize> = self.cells().iter().flat_map(|cell| cell.config.samples.iter().copied()).collect();
        self.cells().iter().map(|cell| Ok(row(cell, &self.status(cell)?, &sampled))).collect()
    }
}

fn row(cell: &Cell, status: &Status, sampled: &BTreeSet<usize>) -> Row {
    let mut row = Row::new();
    row.insert("cell".into(), cell.name.clone().into());
    for (axis, value) in &cell.axes {
        let value = if value.is_array() { plain_text(value).into() } else { value.clone() };
        row.insert(axis.clone(), value);
    }
    row.insert("status".into(), status.name().into());
    let record = match status {
        Status::Done(record) | Status::Failed(record) => Some(record),
        Status::Running | Status::Waiting => None,
    };
    row.insert("error".into(), record.and_then(|record| record.error.clone()).into());
    let nothing = Value::Null;
    let result = record.map_or(&nothing, |record| &record.result);
    for part in ["test", "train", "validation"] {
        for network in ["surrogate", "binary"] {
            insert_score(&mut row, &format!("{part}_{network}"), &result[part][network]);
        }
        for &samples in sampled {
            let scores = result[part]["stochastic"].as_array().into_iter().flatten();
            let score = scores.into_iter().find(|score| score["samples"] == samples).unwrap_or(&nothing);
            insert_score(&mut row, &format!("{part}_stochastic_{samples}"), score);
        }
    }
    row.insert("best_epoch".into(), result["best_epoch"].clone());
    for key in ["distribution", "sigma_m2", "sigma_b2"] {
        row.insert(format!("init_{key}"), result["initialisation"][key].clone());
    }
    for key in ["polarised", "flip_ratio"] {
        row.insert(key.into(), mean_over_weights(&result["layers"], key));
    }
    insert_facts(&mut row, record);
    row
}

fn insert_score(row: &mut Row, name: &str, score: &Value) {
    for key in ["accuracy", "nll"] {
        row.insert(format!("{name}_{key}"), score[key].clone());
    }
}

/// The mean over all weights of what layers say about theirs.
fn mean_over_weights(layers: &Value, key: &str) -> Value {
    let (mut sum, mut weights) = (0.0, 0.0);
    for layer in layers.as_array().into_iter().flatten() {
        let (Some(inputs), Some(outputs), Some(value)) = (layer["inputs"].as_f64(), layer["outputs"].as_f64(), layer[key].as_f64()) else {
            return Value::Null;
        };
        sum += inputs * outputs * value;
        weights += inputs * outputs;
    }
    if weights > 0.0 { (sum / weights).into() } else { Value::Null }
}

fn insert_facts(row: &mut Row, record: Option<&Record>) {
    let run = record.map(|record| &record.run);
    let last = run.and_then(|run| run.attempts.last());
    row.insert("run_attempts".into(), run.map(|run| run.attempts.len()).into());
    row.insert("run_host".into(), last.map(|last| last.host.clone()).into());
    row.insert("run_threads".into(), last.map(|last| last.threads).into());
    row.insert("run_began".into(), run.and_then(|run| run.attempts.first()).map(|first| first.began.clone()).into());
    row.insert("run_ended".into(), run.map(|run| run.ended.clone()).into());
    row.insert("run_seconds".into(), run.map(|run| run.seconds).into());
    row.insert("run_version".into(), run.map(|run| run.version.clone()).into());
}
