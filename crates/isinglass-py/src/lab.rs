//! Data sets, runs and sweeps.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use isinglass::data::{Pixels, Split};
use isinglass::lab::chart::Figure;
use isinglass::lab::run;
use isinglass::lab::sweep::picture::{PictureError, View};
use isinglass::lab::sweep::{Column, Event, Grid, Results, Standing, Sweep, SweepData, WorkOptions};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use serde_json::{Value, json};

use crate::arrays::matrix;
use crate::errors::{raise, wrong};
use crate::threads_or_all;
use crate::values::{dict_from_python, drawn, settings_to_python, to_python};

/// A data set by name.
#[pyfunction]
pub fn load_data<'py>(py: Python<'py>, name: &str, directory: Option<PathBuf>) -> PyResult<Bound<'py, PyDict>> {
    let data = py.detach(|| isinglass::data::load(name, directory.as_deref())).map_err(raise)?;
    let dict = PyDict::new(py);
    dict.set_item("name", &data.name)?;
    dict.set_item("classes", data.classes)?;
    dict.set_item("class_names", data.train.class_names().map(<[String]>::to_vec))?;
    dict.set_item("image", data.train.shape())?;
    dict.set_item("train", split(py, &data.train)?)?;
    dict.set_item("test", split(py, &data.test)?)?;
    Ok(dict)
}

fn split<'py>(py: Python<'py>, split: &Split) -> PyResult<Bound<'py, PyTuple>> {
    let rows = match split.pixels() {
        Pixels::Bytes(bytes) => matrix(py, bytes.clone(), split.image_len())?.into_any(),
        Pixels::Floats(floats) => matrix(py, floats.clone(), split.image_len())?.into_any(),
    };
    PyTuple::new(py, [rows, PyArray1::from_slice(py, split.labels()).into_any()])
}

/// The directory of a run.
#[pyfunction]
pub fn read_run<'py>(py: Python<'py>, directory: PathBuf) -> PyResult<Bound<'py, PyDict>> {
    let config = run::read_config(&directory).map_err(raise)?;
    let dict = PyDict::new(py);
    dict.set_item("config", settings_to_python(py, &config.to_json())?)?;
    dict.set_item("summary", to_python(py, &json!(run::read_summary(&directory).map_err(raise)?))?)?;
    let metrics = match directory.join(run::METRICS).exists() {
        true => run::read_metrics(&directory).map_err(raise)?,
        false => Vec::new(),
    };
    dict.set_item("metrics", to_python(py, &json!(metrics))?)?;
    Ok(dict)
}

/// The curves of a run, or the inside of its network.
#[pyfunction]
pub fn run_picture<'py>(py: Python<'py>, directory: PathBuf, kind: &str, png: bool) -> PyResult<Bound<'py, PyAny>> {
    let summary = run::read_summary(&directory).map_err(raise)?;
    let figure = match (kind, summary) {
        ("insides", None) => return Err(wrong(format!("{} has not ended: there is no network to look into yet", directory.display()))),
        ("insides", Some(summary)) => run::insides(&summary.title(), &summary.inspection.layers).map_err(raise)?,
        (_, summary) => {
            let epochs: Vec<run::Epoch> = run::epochs(&run::read_metrics(&directory).map_err(raise)?).cloned().collect();
            run::curves(&summary.map(|summary| summary.title()).unwrap_or_default(), &epochs)
        }
    };
    drawn(py, &figure, png)
}

/// Runs a sweep to its end, or until Python asks to stop.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // Called by one function of the package.
pub fn sweep_run(
    py: Python<'_>,
    grid: &Bound<'_, PyAny>,
    out: PathBuf,
    threads: usize,
    keep_runs: bool,
    retry_failed: bool,
    data_dir: Option<PathBuf>,
    watch: Option<Py<PyAny>>,
) -> PyResult<()> {
    let grid = match grid.cast::<PyDict>() {
        Ok(tables) => grid_of(tables)?,
        Err(_) => Grid::read(&grid.extract::<PathBuf>()?).map_err(raise)?,
    };
    let stop = AtomicBool::new(false);
    let mut failure = None;
    let result = py.detach(|| {
        let data = SweepData::load(Sweep::draft(&out, grid.clone(), keep_runs)?.cells(), data_dir.as_deref())?;
        let sweep = Sweep::create(&out, grid, keep_runs)?;
        let options = WorkOptions { threads: threads_or_all(threads), retry_failed, ..WorkOptions::default() };
        sweep.work(&data, &options, &stop, &mut |event| {
            let told = Python::attach(|py| {
                py.check_signals()?;
                match (&watch, standing(&event)) {
                    (Some(watch), Some(standing)) => watch.call1(py, (to_python(py, &describe(standing))?,)).map(drop),
                    _ => Ok(()),
                }
            });
            if let Err(error) = told {
                failure.get_or_insert(error);
                stop.store(true, Ordering::Relaxed);
            }
        })
    });
    match (failure, result) {
        (Some(error), _) => Err(error),
        (None, Err(error)) => Err(raise(error)),
        (None, Ok(_)) => Ok(()),
    }
}

fn standing<'a>(event: &Event<'a>) -> Option<&'a Standing> {
    match event {
        Event::Planned(_) | Event::Restarted(..) => None,
        Event::Ended(_, _, standing) | Event::Tick(standing) => Some(standing),
    }
}

fn describe(standing: &Standing) -> Value {
    json!({
        "cells": standing.cells, "done": standing.done, "failed": standing.failed, "damaged": standing.damaged, "refused": standing.refused, "running": standing.running, "part": standing.part,
        "seconds_left": standing.seconds_left,
    })
}

/// A grid given as tables: `{"train": {…}, "grid": {…}}`.
fn grid_of(tables: &Bound<'_, PyDict>) -> PyResult<Grid> {
    let kebab = |table: Value| match table {
        Value::Object(table) => Value::Object(table.into_iter().map(|(key, value)| (key.replace('_', "-"), value)).collect()),
        other => other,
    };
    let tables: serde_json::Map<String, Value> = dict_from_python(tables)?.into_iter().map(|(key, table)| (key, kebab(table))).collect();
    let text = toml::to_string(&tables).map_err(|error| wrong(format!("the grid cannot be written as TOML: {error}")))?;
    Grid::from_toml(&text).map_err(wrong)
}

/// The axes of a sweep and a row for each of its cells.
#[pyfunction]
pub fn sweep_rows<'py>(py: Python<'py>, directory: PathBuf) -> PyResult<Bound<'py, PyDict>> {
    let results = open(py, &directory)?;
    let dict = PyDict::new(py);
    dict.set_item("axes", results.axes().map(str::to_owned).collect::<Vec<_>>())?;
    dict.set_item("rows", to_python(py, &Value::Array(results.to_json().into_iter().map(Value::Object).collect()))?)?;
    Ok(dict)
}

/// The results of a sweep as a map or as lines.
#[pyfunction]
pub fn sweep_picture<'py>(
    py: Python<'py>,
    directory: PathBuf,
    x: Option<&str>,
    y: Option<&str>,
    value: &str,
    png: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let results = open(py, &directory)?;
    let column: Column = value.parse().map_err(|name| raise(PictureError::NoColumn(name)))?;
    let view = View::choose(&results, x, y).map_err(raise)?;
    drawn(py, &Figure::new().panel(view.panel(&results, column).map_err(raise)?), png)
}

fn open(py: Python<'_>, directory: &Path) -> PyResult<Results> {
    py.detach(|| Sweep::open(directory)?.results()).map_err(raise)
}
