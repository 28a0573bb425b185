//! Cells: the runs of a sweep, what they are called and what they cost.

use std::fmt;

use isinglass_data::Dataset;
use isinglass_net::{NetworkConfig, Partition, Surrogate};
use serde_json::Value;

use crate::run::{RunConfig, RunError};

/// One run of a sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// The [hash](RunConfig::hash) of its settings.
    pub name: String,
    /// Where it lies in the grid: the value of each axis.
    pub axes: Vec<(String, Value)>,
    /// Its settings, with nothing left open.
    pub config: RunConfig,
}

/// `depth = 2, sigma-m2 = 0.9`.
impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (axis, value)) in self.axes.iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            write!(f, "{comma}{axis} = {}", plain_text(value))?;
        }
        Ok(())
    }
}

/// A value without quotes, a list without brackets.
pub(crate) fn plain_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(plain_text).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

/// What a run takes: time in multiply–adds, and memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// Until the last step.
    pub train: f64,
    /// One step of training.
    pub step: f64,
    /// Everything.
    pub total: f64,
    /// Bytes of memory.
    pub memory: u64,
}

/// Evaluating goes at about half the speed of training: measured with 100 samples and without, at widths of 64.
const EVALUATION: f64 = 2.0;

impl Cost {
    pub(crate) fn of(config: &RunConfig, data: &Dataset) -> Result<Self, RunError> {
        let network = config.network_config(data.train.image_len(), data.classes)?;
        let partition = Partition::new(data.train.len(), &config.train_config()?)?;
        let (train, held_out) = (partition.train().len() as f64, partition.validation().len() as f64);
        let memory = crate::memory::of_training(&network, config.batch)?;
        let network = NetworkCost::of(&network)?;
        let example = network.forward + network.backward;
        let evaluation = EVALUATION * (network.forward + network.binary);
        let per_epoch = train * example + held_out * evaluation;
        let samples = config.samples.iter().max().copied().unwrap_or(0) as f64;
        let report = (train + held_out + data.test.len() as f64) * (evaluation + EVALUATION * samples * network.binary);
        let epochs = config.epochs as f64;
        let batch = (config.batch as f64).min(train);
        Ok(Self { train: epochs * per_epoch, step: batch * example, total: epochs * per_epoch + report, memory })
    }
}

/// One example's way through a network.
struct NetworkCost {
    forward: f64,
    backward: f64,
    /// Of the binary network behind it; 0 without.
    binary: f64,
}

impl NetworkCost {
    fn of(config: &NetworkConfig) -> Result<Self, RunError> {
        // Evaluating a neuron takes as long as about this many of its inputs: narrow layers are not free.
        const NEURON: usize = 16;
        let product: f64 = config.layers()?.iter().map(|layer| ((layer.inputs() + NEURON) * layer.outputs()) as f64).sum();
        // Field and variance are a product each; the gradient takes two for each of them.
        let products = match config.surrogate {
            Surrogate::Continuous | Surrogate::Ste => 1.0,
            _ => 2.0,
        };
        let binary = if config.surrogate.has_binary_weights() { product } else { 0.0 };
        Ok(Self { forward: products * product, backward: 2.0 * products * product, binary })
    }
}
