//! Checkpoints: safetensors files that hold a network and all that is needed to go on training it.
//!
//! | tensor | what |
//! |---|---|
//! | `layers.0.means`, `layers.0.bias`, `layers.1.means`, … | `M` (outputs × inputs) and `b` of every layer, the output layer last |
//! | `layers.0.theta`, … | the parameter behind the means, where it is not the means themselves |
//! | `layers.0.m`, `.v`, `.bias_m`, `.bias_v`, … | the optimiser's memories |
//!
//! The metadata have one key, `isinglass`, with canonical JSON (keys sorted, no spaces): the settings of network and training, the preprocessing, where the run stands,
//! the digest of the training examples, and the SHA-256 of these and of all tensors. Nothing of threads, paths, time or host is in it: equal runs give equal bytes.

mod file;

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{Error, Examples, Network, Partition, Rng, TrainConfig};

pub(crate) use file::{LayerArrays, Snapshot};

/// Where a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Steps done.
    pub step: u64,
    /// Steps in all.
    pub steps: u64,
    /// Steps per epoch.
    pub steps_per_epoch: u64,
    /// Epochs done.
    pub epoch: usize,
    /// Epochs in all.
    pub epochs: usize,
}

impl Progress {
    pub(crate) fn new(config: &TrainConfig, examples: usize, step: u64) -> Self {
        let steps_per_epoch = examples.div_ceil(config.batch) as u64;
        let steps = steps_per_epoch * config.epochs as u64;
        Self { step, steps, steps_per_epoch, epoch: (step / steps_per_epoch) as usize, epochs: config.epochs }
    }
}

/// What a run remembers besides its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct State {
    /// Steps done.
    pub step: u64,
    /// The best accuracy so far, of what the goal is.
    pub best: Option<f64>,
    /// Sums over the epoch at hand.
    pub nll: f64,
    pub correct: u64,
    pub examples: u64,
}

/// What the optimiser remembers of a layer; arrays it has no use for are empty.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Memories {
    pub theta: Vec<f32>,
    pub m: Vec<f32>,
    pub v: Vec<f32>,
    pub bias_m: Vec<f32>,
    pub bias_v: Vec<f32>,
}

/// A network in training.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// The network.
    pub network: Network,
    /// The run's settings.
    pub train: TrainConfig,
    pub(crate) state: State,
    pub(crate) memories: Vec<Memories>,
    /// Number and digest of the training examples.
    pub(crate) examples: usize,
    pub(crate) data: String,
}

impl Checkpoint {
    /// Where the run stands.
    pub fn progress(&self) -> Progress {
        let (trained, _) = Partition::sizes(self.examples, &self.train);
        Progress::new(&self.train, trained.max(1), self.state.step)
    }

    /// Whether these are the examples that the run was given, those held out among them.
    pub fn was_trained_on(&self, examples: &Examples<'_>) -> bool {
        self.examples == examples.len() && self.data == examples.digest()
    }

    /// The network as it was before training: drawn again from the seed.
    ///
    /// # Errors
    ///
    /// Those of [`NetworkConfig::init`](crate::NetworkConfig::init).
    pub fn initial_network(&self) -> Result<Network, Error> {
        let mut network = self.network.config.init(&mut Rng::new(self.train.seed))?;
        network.preprocessing = self.network.preprocessing;
        Ok(network)
    }

    /// Writes the file: beside its place first, then renamed into it.
    ///
    /// # Errors
    ///
    /// [`Error::Write`]; a file that was there before is then untouched.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        let layers = self.network.layers.iter().zip(&self.memories).map(|(layer, memory)| LayerArrays {
            inputs: layer.inputs,
            outputs: layer.outputs,
            stride: layer.inputs,
            means: &layer.means,
            bias: &layer.bias,
            theta: &memory.theta,
            m: &memory.m,
            v: &memory.v,
            bias_m: &memory.bias_m,
            bias_v: &memory.bias_v,
        });
        let snapshot = Snapshot {
            network: &self.network.config,
            train: &self.train,
            preprocessing: self.network.preprocessing,
            state: self.state,
            examples: self.examples,
            data: &self.data,
            layers: layers.collect(),
        };
        snapshot.save(path)
    }

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// [`Error::Read`] if there is none, [`Error::Checkpoint`] if it is damaged or not one of ours.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let name = || path.display().to_string();
        let bytes = std::fs::read(path).map_err(|source| Error::Read { path: name(), source })?;
        file::parse(&bytes).map_err(|reason| Error::Checkpoint { path: name(), reason })
    }
}
