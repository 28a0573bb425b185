//! Sweeps whose results are made up, so that it is known what `reproduce` must make of them.

use std::fs::{self, File, OpenOptions};

use isinglass_lab::reproduce::{Scale, Study, Subject};
use isinglass_lab::run::RunConfig;
use isinglass_lab::sweep::{CELLS, Cell};
use serde_json::{Value, json};

use super::Scratch;

/// What a cell is said to have come to.
pub enum Made {
    /// Accuracies on all examples alike.
    Trained(Scores),
    /// Its loss diverged.
    Diverged,
    /// It failed otherwise.
    Failed(&'static str),
}

/// Accuracies of the surrogate, of `sign(M)`, and of the mean of some draws.
#[derive(Clone, Copy)]
pub struct Scores {
    pub surrogate: f64,
    pub binary: f64,
    pub stochastic: fn(usize) -> f64,
}

impl Scores {
    /// Of a surrogate, with binary networks that are no better than chance.
    pub fn surrogate(accuracy: f64) -> Self {
        Self { surrogate: accuracy, binary: 0.1, stochastic: |_| 0.1 }
    }

    /// Of `sign(M)`, and of as good a surrogate.
    pub fn binary(accuracy: f64) -> Self {
        Self { surrogate: accuracy, binary: accuracy, stochastic: |_| 0.1 }
    }
}

/// The figures of a directory, drawn with small images in the place of MNIST.
pub fn study(home: &Scratch, scale: Scale, seed: u64) -> Study {
    home.small_images();
    Study { directory: home.path("figures"), scale, data: "mnist".into(), data_dir: Some(home.path("data")), seed, threads: 1 }
}

/// Puts every cell of a figure's sweeps on record, at quick scale. `made` is given the sweep's name and the cell's settings.
pub fn write(home: &Scratch, subject: Subject, made: impl Fn(&str, &RunConfig) -> Made) {
    let study = study(home, Scale::Quick, 1);
    for plan in study.plans(&[subject]) {
        let sweep = study.sweep(&plan).unwrap();
        for cell in sweep.cells() {
            let path = sweep.directory().join(CELLS).join(format!("{}.json", cell.name));
            fs::write(path, record(cell, &made(plan.name, &cell.config)).to_string()).unwrap();
        }
    }
}

/// The record of a cell: all that these tests know of the format of a sweep.
fn record(cell: &Cell, made: &Made) -> Value {
    let (result, error) = match made {
        Made::Trained(scores) => (result(&cell.config, scores), None),
        Made::Diverged => (Value::Null, Some(diverged())),
        Made::Failed(reason) => (Value::Null, Some((*reason).to_owned())),
    };
    let attempt = json!({ "began": "2020-01-01T00:00:00Z", "host": "nowhere", "process": 1, "threads": 1 });
    json!({
        "cell": cell.name,
        "axes": cell.axes.iter().cloned().collect::<serde_json::Map<_, _>>(),
        "config": cell.config.to_json(),
        "result": result,
        "error": error,
        "run": { "attempts": [attempt], "seconds": 1.0, "core_seconds": 1.0, "ended": "2020-01-01T00:00:01Z", "version": "0.1.0" },
    })
}

/// What is on record of a cell whose loss diverged.
pub fn diverged() -> String {
    isinglass_net::Error::Diverged { step: 1, loss: f32::NAN, lr: 1.0 }.to_string()
}

fn result(config: &RunConfig, scores: &Scores) -> Value {
    let score = |accuracy: f64| json!({ "accuracy": accuracy, "nll": 1.0 });
    let drawn = |&samples: &usize| json!({ "samples": samples, "accuracy": (scores.stochastic)(samples), "nll": 1.0 });
    let stochastic: Vec<Value> = config.samples.iter().map(drawn).collect();
    let part = json!({ "surrogate": score(scores.surrogate), "binary": score(scores.binary), "stochastic": stochastic });
    let hidden = config.hidden_layers();
    let layer = json!({
        "layer": 1, "inputs": 64, "outputs": hidden[0], "sigma_m2": 0.5, "sigma_b2": 0.0, "polarised": 0.1, "flip_ratio": 0.25, "field_variance": 1.0,
        "predicted_variance": 1.0, "carries": false, "chi_1": 0.5, "saturated": 0.1, "gradient_norm": 0.1, "initial_sigma_m2": 0.5,
    });
    json!({
        "data": "mnist", "epochs": config.epochs, "steps": 10, "best_epoch": config.epochs, "notices": [],
        "test": part, "train": part, "validation": if config.validation > 0.0 { part.clone() } else { Value::Null },
        "network": {
            "shape": "64-8-10", "surrogate": config.surrogate.to_string(), "neuron": "tanh:1", "binary_parameters": 592, "float_parameters": 18, "bits": 1168,
            "bytes": 146, "float32_bytes": 2440,
        },
        "initialisation": { "distribution": "two-point", "sigma_m2": config.sigma_m2, "sigma_b2": config.sigma_b2.unwrap_or(0.0), "reason": "as asked" },
        "layers": [layer],
        "curve": [],
    })
}

/// Holds a cell of a figure's only sweep, as a process that runs it does: no other can come to its end while the file is open.
pub fn hold_a_cell(study: &Study, subject: Subject) -> File {
    let sweep = study.sweep(&study.plans(&[subject])[0]).unwrap();
    let directory = sweep.run_directory(&sweep.cells()[0]);
    fs::create_dir_all(&directory).unwrap();
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(directory.join(".lock")).unwrap();
    file.lock().unwrap();
    file
}
