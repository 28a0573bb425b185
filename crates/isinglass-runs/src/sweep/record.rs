//! A finished cell: what it came to, and how it was run.

use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::Cell;
use crate::run::name::iso_time;
use crate::run::{RunConfig, RunError};

/// The contents of `cells/<name>.json`. Everything but `run` depends on the settings alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The cell's name.
    pub cell: String,
    /// Its place in the grid.
    pub axes: Map<String, Value>,
    /// Its settings.
    pub config: Value,
    /// Scores, layers, and a line per epoch; null if it failed.
    pub result: Value,
    /// Why it failed.
    pub error: Option<String>,
    /// How it was run.
    pub run: RunFacts,
}

/// What depends on clock, machine and threads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunFacts {
    /// Everybody who worked on the cell, in order.
    pub attempts: Vec<Attempt>,
    /// How long the last of them took.
    pub seconds: f64,
    /// The same, times the number of threads.
    pub core_seconds: f64,
    /// When the last of them ended.
    pub ended: String,
    /// The version that wrote this.
    pub version: String,
}

/// Somebody who worked on a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// When it began, in UTC.
    pub began: String,
    /// The machine's name.
    pub host: String,
    /// The process.
    pub process: u32,
    /// Threads at its beginning.
    pub threads: usize,
}

impl Attempt {
    pub(crate) fn new(threads: usize) -> Self {
        Self { began: iso_time(SystemTime::now()), host: host(), process: std::process::id(), threads }
    }
}

/// How long an attempt took.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Spent {
    pub seconds: f64,
    pub core_seconds: f64,
}

impl Record {
    /// Puts a finished cell on record: the summary of its run and the lines of its metrics, or what went wrong.
    pub(crate) fn new(cell: &Cell, outcome: Result<(Value, Vec<Value>), String>, attempts: Vec<Attempt>, spent: Spent) -> Self {
        let (result, error) = match outcome {
            Ok((summary, lines)) => (result_of(summary, lines), None),
            Err(error) => (Value::Null, Some(error)),
        };
        // Where the data were found is no part of what the cell is.
        let config = RunConfig { data_dir: None, ..cell.config.clone() };
        Self {
            cell: cell.name.clone(),
            axes: cell.axes.iter().cloned().collect(),
            config: config.to_json(),
            result,
            error,
            run: RunFacts {
                attempts,
                seconds: spent.seconds,
                core_seconds: spent.core_seconds,
                ended: iso_time(SystemTime::now()),
                version: env!("CARGO_PKG_VERSION").to_owned(),
            },
        }
    }

    /// Whether there is no result.
    pub fn is_failed(&self) -> bool {
        self.error.is_some()
    }
}

/// What is kept of a run: not its histograms, which would be most of it, nor its times.
fn result_of(mut summary: Value, lines: Vec<Value>) -> Value {
    let mut result = json!({});
    for key in ["data", "epochs", "steps", "best_epoch", "notices", "test", "train", "validation", "network", "initialisation"] {
        result[key] = summary[key].take();
    }
    result["layers"] = summary["layers"].take();
    for layer in result["layers"].as_array_mut().into_iter().flatten() {
        without(layer, &["means", "neurons", "binary_parameters", "float_parameters", "bits", "bytes", "float32_bytes"]);
    }
    let mut epochs: Vec<Value> = lines.into_iter().filter(|line| line["kind"] == "epoch").collect();
    for epoch in &mut epochs {
        without(epoch, &["kind", "step", "gradient_norms", "seconds", "samples_per_second"]);
    }
    result["curve"] = epochs.into();
    result
}

fn without(object: &mut Value, keys: &[&str]) {
    if let Value::Object(object) = object {
        object.retain(|key, _| !keys.contains(&key.as_str()));
    }
}

/// Whether the fault lies with the machine, so that another try may do better and other cells would fare no better.
pub(crate) fn is_of_the_machine(error: &RunError) -> bool {
    use isinglass_net::Error as NetError;
    matches!(error, RunError::Write { .. } | RunError::Read { .. } | RunError::Directory { .. } | RunError::Net(NetError::Write { .. }))
}

fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let name = name.or_else(|| std::env::var("HOSTNAME").ok()).or_else(|| std::env::var("COMPUTERNAME").ok());
    name.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).unwrap_or_else(|| "unknown".to_owned())
}
