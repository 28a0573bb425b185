//! Training on arrays, as `isinglass train` does with the same settings.

use std::time::{Duration, Instant};

use isinglass::lab::run::{self, DataShape, Event, Fit, Fitted, Halt, Open, RunConfig};
use isinglass::net::{Carry, Features};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::{Value, json};

use crate::arrays::Rows;
use crate::errors::{raise, wrong};
use crate::network::Network;
use crate::threads_or_all;
use crate::values::{describe, drawn, from_python, settings_from_python, to_python};

/// How often Python is asked whether to continue, and told about steps.
const INTERVAL: Duration = Duration::from_millis(50);

/// What `train` returns: the network, its epochs, facts, and what stopped it.
type Trained<'py> = (Network, Bound<'py, PyList>, Bound<'py, PyDict>, Option<PyErr>);

/// Trains a network on rows and labels; with `start`, continues its training.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // Called by one function of the package.
pub fn train<'py>(
    py: Python<'py>,
    settings: &Bound<'py, PyDict>,
    x: Rows<'py>,
    y: PyReadonlyArray1<'py, u8>,
    classes: usize,
    class_names: Option<Vec<String>>,
    image: Option<(usize, usize)>,
    start: Option<Py<Network>>,
    threads: usize,
    watch: Option<Py<PyAny>>,
) -> PyResult<Trained<'py>> {
    let (rows, columns) = x.shape();
    // As for files: pictures of real numbers are images too.
    let usual = if image.is_some() { Features::Image } else { Features::usual(x.values()?) };
    let size = image.unwrap_or_else(|| square_or_row(columns, usual));
    let data = DataShape { examples: rows, size, classes, features: usual };
    let examples = x.examples(&y, classes)?;
    let mut watcher = Watcher { watch, failure: None, looked: Instant::now() };
    let threads = threads_or_all(threads);
    let (fitted, config) = match start {
        Some(network) => {
            let checkpoint = network.get().checkpoint.clone();
            let fitted = py.detach(|| Fit::resume(checkpoint, &examples, threads, &mut |event| watcher.see(&event)));
            (fitted, Value::Null)
        }
        None => {
            let config = run_config(settings)?;
            let fit = py.detach(|| Fit::new(config, data, class_names)).map_err(raise)?;
            let config = fit.config().to_json();
            (py.detach(|| fit.run(&examples, threads, &mut |event| watcher.see(&event))), config)
        }
    };
    let Fitted { checkpoint, history, notices, .. } = fitted.map_err(raise)?;
    let network = checkpoint.network().config();
    let facts = json!({
        "config": config,
        "notices": notices,
        "network": { "shape": network.shape(), "surrogate": network.surrogate, "neuron": network.neuron.to_string() },
    });
    let history = history.iter().map(|line| to_python(py, &json!(run::Line::Epoch(line.clone())))).collect::<PyResult<Vec<_>>>()?;
    // Also where it came with the last step, and there was nothing left to stop.
    Ok((checkpoint.into(), PyList::new(py, history)?, describe(py, &facts)?, watcher.failure))
}

/// Images are taken for square ones where they can be: only shifting them asks for their size.
fn square_or_row(columns: usize, features: Features) -> (usize, usize) {
    let side = columns.isqrt();
    if features == Features::Image && side * side == columns { (side, side) } else { (1, columns) }
}

/// Settings of runs that have no meaning for arrays.
const OF_FILES: [&str; 8] = ["recipe", "data", "train-images", "train-labels", "test-images", "test-labels", "data-dir", "samples"];

/// The settings that these flags would mean on the command line.
fn run_config(settings: &Bound<'_, PyDict>) -> PyResult<RunConfig> {
    let given = settings_from_python(settings)?;
    let usual = RunConfig { carry: Some(Carry::Auto), ..RunConfig::default() };
    // One by one, so that an error can name the setting.
    for (key, value) in &given {
        let spelt = key.replace('-', "_");
        let one = serde_json::from_value::<RunConfig>(json!({ key: value })).map_err(|error| error.to_string());
        match one {
            Err(error) if error.starts_with("unknown field") => {
                return Err(wrong(format!("unknown setting {spelt}: the settings are {}", known_settings())));
            }
            Ok(_) if OF_FILES.contains(&key.as_str()) => {
                return Err(wrong(format!("{spelt} is a setting of runs in files: examples are given as arrays here")));
            }
            Err(error) => return Err(wrong(format!("{spelt}: {}", in_plain_words(&error)))),
            Ok(_) => {}
        }
    }
    let [lr, anneal_from, bias_correction] = ["lr", "anneal-from", "bias-correction"].map(|key| !given.contains_key(key));
    let Value::Object(mut all) = usual.to_json() else { unreachable!("settings are an object") };
    all.extend(given);
    let mut config: RunConfig = serde_json::from_value(Value::Object(all)).map_err(|error| wrong(error.to_string()))?;
    config.take_advice(Open { lr, anneal_from, bias_correction });
    Ok(config)
}

/// All settings, as Python spells them: the error for an unknown one lists them.
fn known_settings() -> String {
    let error = serde_json::from_value::<RunConfig>(json!({ "": null })).map_or_else(|error| error.to_string(), |_| String::new());
    let names = error.split('`').skip(3).step_by(2).filter(|name| !OF_FILES.contains(name));
    names.map(|name| name.replace('-', "_")).collect::<Vec<_>>().join(", ")
}

fn in_plain_words(error: &str) -> String {
    error
        .replace("expected usize", "expected a whole number from 0 on")
        .replace("expected u64", "expected a whole number from 0 on")
        .replace("expected f64", "expected a number")
}

/// Tells Python what happens, and listens to it.
struct Watcher {
    watch: Option<Py<PyAny>>,
    failure: Option<PyErr>,
    looked: Instant,
}

impl Watcher {
    fn see(&mut self, event: &Event<'_>) -> Result<(), Halt> {
        let news = match event {
            Event::Step { .. } if self.looked.elapsed() < INTERVAL => return Ok(()),
            Event::Step { step, progress } => {
                self.looked = Instant::now();
                json!({
                    "kind": "step", "step": progress.step, "steps": progress.steps, "epoch": progress.epoch, "epochs": progress.epochs, "loss": step.loss,
                })
            }
            Event::Epoch(epoch) => json!(run::Line::Epoch((*epoch).clone())),
            _ => return Ok(()),
        };
        let told = Python::attach(|py| {
            py.check_signals()?;
            match &self.watch {
                Some(watch) => watch.call1(py, (to_python(py, &news)?,)).map(drop),
                None => Ok(()),
            }
        });
        told.map_err(|error| {
            self.failure.get_or_insert(error);
            Halt
        })
    }
}

/// `784-512×2-10, deterministic, sign`, with the data before it where they have a name.
fn title(facts: &Bound<'_, PyAny>) -> PyResult<String> {
    #[derive(serde::Deserialize)]
    struct Facts {
        data: Option<String>,
        network: Named,
    }
    #[derive(serde::Deserialize)]
    struct Named {
        shape: String,
        surrogate: String,
        neuron: String,
    }
    let facts: Facts =
        serde_json::from_value(from_python(facts)?).map_err(|error| wrong(format!("not the facts of a training: {error}")))?;
    let network = format!("{}, {}, {}", facts.network.shape, facts.network.surrogate, facts.network.neuron);
    Ok(facts.data.map_or(network.clone(), |data| format!("{data}: {network}")))
}

/// The curves of a training, as SVG or PNG.
#[pyfunction]
pub fn curves<'py>(py: Python<'py>, facts: &Bound<'py, PyAny>, history: &Bound<'py, PyAny>, png: bool) -> PyResult<Bound<'py, PyAny>> {
    let epochs: Vec<run::Epoch> =
        serde_json::from_value(from_python(history)?).map_err(|error| wrong(format!("the history is not a list of epochs: {error}")))?;
    drawn(py, &run::curves(&title(facts)?, &epochs), png)
}

/// The inside of a network, as SVG or PNG.
#[pyfunction]
pub fn insides<'py>(py: Python<'py>, inspection: &Bound<'py, PyAny>, png: bool) -> PyResult<Bound<'py, PyAny>> {
    let layers: run::Inspection =
        serde_json::from_value(from_python(inspection)?).map_err(|error| wrong(format!("not an inspection: {error}")))?;
    drawn(py, &run::insides(&title(inspection)?, &layers.layers).map_err(raise)?, png)
}
