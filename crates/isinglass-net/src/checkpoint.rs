//! Checkpoints: safetensors files that hold a network and everything needed to continue its training.
//!
//! | tensor | what |
//! |---|---|
//! | `layers.0.means`, `layers.0.bias`, `layers.1.means`, … | `M` (outputs × inputs) and `b` of every layer, the output layer last |
//! | `layers.0.theta`, … | the parameter behind the means, where it is not the means themselves |
//! | `layers.0.sum`, `.bias_sum`, … | sums over the last epochs, where these are averaged |
//! | `layers.0.m`, `.v`, `.bias_m`, `.bias_v`, … | the optimiser's averages of gradients and of their squares |
//! | `input.centres`, `input.factors` | how real inputs become bytes, if they are quantised ([`Quantiser`](isinglass_bits::Quantiser)) |
//! | `partition.train`, `partition.validation` | indices of the training and validation examples (U32) |
//!
//! The metadata have one key, `isinglass`, with canonical JSON (keys sorted, no spaces): the settings of network and training, the resolved initialisation and its seed, the
//! preprocessing, the class names, the progress of the run, the digest of the training examples, and the SHA-256 of these and of all tensors. Nothing is recomputed when a checkpoint is
//! read, and it contains nothing about threads, paths, time or host: equal runs give equal bytes.
//!
//! Files of format 1, written before networks were lists of layers, load as well.

mod arrays;
mod file;

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{Error, Examples, Goal, Means, Network, Optimizer, Partition, TrainConfig};

pub(crate) use arrays::{OptimizerState, StoredLayer};
pub(crate) use file::Snapshot;

/// The progress of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Steps done.
    pub step: u64,
    /// Total number of steps.
    pub steps: u64,
    /// Steps per epoch.
    pub steps_per_epoch: u64,
    /// Epochs done.
    pub epoch: usize,
    /// Total number of epochs.
    pub epochs: usize,
}

impl Progress {
    pub(crate) fn new(config: &TrainConfig, examples: usize, step: u64) -> Self {
        let steps_per_epoch = examples.div_ceil(config.batch) as u64;
        let steps = steps_per_epoch * config.epochs as u64;
        Self { step, steps, steps_per_epoch, epoch: (step / steps_per_epoch) as usize, epochs: config.epochs }
    }
}

/// The state of a run besides its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct State {
    /// Steps done.
    pub step: u64,
    /// The best accuracy so far of the network that the goal names.
    pub best: Option<f64>,
    /// Sums over the current epoch.
    pub nll: f64,
    pub correct: u64,
    pub examples: u64,
}

/// A network in training.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    pub(crate) network: Network,
    pub(crate) train: TrainConfig,
    pub(crate) state: State,
    /// Of every layer.
    pub(crate) optimizer: Vec<OptimizerState<Vec<f32>>>,
    pub(crate) partition: Partition,
    /// Number and digest of the training examples.
    pub(crate) examples: usize,
    pub(crate) data: String,
}

impl Checkpoint {
    /// A checkpoint of a network that was not trained here: it names no examples, and training cannot resume from it.
    ///
    /// ```
    /// use isinglass_net::{Checkpoint, Init, Network};
    ///
    /// let network = Network::builder(4).hidden([3]).classes(2).init(Init::Auto, 1)?;
    /// let checkpoint = Checkpoint::at_rest(network.clone());
    /// assert_eq!(Checkpoint::from_bytes(&checkpoint.to_bytes()).unwrap().into_network(), network);
    /// # Ok::<(), isinglass_net::Error>(())
    /// ```
    pub fn at_rest(network: Network) -> Self {
        let train = TrainConfig {
            goal: Goal::Surrogate,
            means: Means::Clip,
            optimizer: Optimizer::Sgd,
            epochs: 1,
            validation: 0.0,
            ..TrainConfig::default()
        };
        Self {
            optimizer: network.layers().iter().map(|_| OptimizerState::default()).collect(),
            partition: Partition::from_indices(vec![0], Vec::new(), 1).expect("one example of one"),
            network,
            train,
            state: State::default(),
            examples: 1,
            data: String::new(),
        }
    }

    /// The network.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Just the network.
    pub fn into_network(self) -> Network {
        self.network
    }

    /// The run's settings.
    pub fn train_config(&self) -> &TrainConfig {
        &self.train
    }

    /// The training and validation examples.
    pub fn partition(&self) -> &Partition {
        &self.partition
    }

    /// The progress of the run.
    pub fn progress(&self) -> Progress {
        Progress::new(&self.train, self.partition.train().len(), self.state.step)
    }

    /// The same checkpoint with other settings for the rest of the run, for instance more epochs. [`Trainer::resume`](crate::Trainer::resume) refuses settings that need a different optimiser state.
    ///
    /// # Errors
    ///
    /// Those of [`TrainConfig::check`].
    pub fn with_train_config(self, train: TrainConfig) -> Result<Self, Error> {
        train.check()?;
        let fixed =
            |train: &TrainConfig| (train.means, train.goal, train.optimizer, train.train_fraction, train.validation, train.average.max(1));
        if fixed(&train) != fixed(&self.train) {
            return Err(Error::config(
                "means, goal, optimizer, average, train-fraction and validation decide what a checkpoint holds: they cannot be changed in the middle of a run",
            ));
        }
        // Sums over epochs belong to the length of the run they were begun with.
        let has_begun = |train: &TrainConfig| {
            let progress = Progress::new(train, self.partition.train().len(), self.state.step);
            progress.epoch + train.average > progress.epochs
        };
        let is_summed = self.optimizer.iter().any(|state| !state.bias_sum.is_empty());
        let is_other_run = (train.epochs, train.batch) != (self.train.epochs, self.train.batch);
        if train.average > 1 && is_other_run && (is_summed || has_begun(&train)) {
            return Err(Error::config(format!(
                "average = {}: the epochs to average over have begun, so epochs and batch cannot be changed any more",
                train.average
            )));
        }
        Ok(Self { train, ..self })
    }

    /// Whether these are the examples that the run was given, held-out ones included.
    pub fn was_trained_on(&self, examples: &Examples<'_>) -> bool {
        self.examples == examples.len() && self.data == examples.digest()
    }

    /// Writes the file atomically.
    ///
    /// # Errors
    ///
    /// [`Error::Write`]; an earlier file is then unchanged.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        self.snapshot().save(path)
    }

    /// The contents of the file that [`Checkpoint::save`] writes.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.snapshot().into_bytes()
    }

    fn snapshot(&self) -> Snapshot<'_> {
        let layers = self.network.layers().iter().zip(&self.optimizer);
        let layers = layers.map(|(layer, state)| StoredLayer::new(layer.spec(), layer.inputs(), layer.means(), layer.bias(), state));
        Snapshot {
            network: self.network.frame(),
            train: &self.train,
            state: self.state,
            partition: &self.partition,
            examples: self.examples,
            data: &self.data,
            layers: layers.collect(),
        }
    }

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// [`Error::Read`] if it cannot be read, [`Error::Checkpoint`] if it is damaged or not a checkpoint.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let name = || path.display().to_string();
        let bytes = isinglass_files::read_safetensors(path).map_err(|source| Error::Read { path: name(), source })?;
        Self::from_bytes(&bytes).map_err(|reason| Error::Checkpoint { path: name(), reason })
    }

    /// Reads a file's contents.
    ///
    /// # Errors
    ///
    /// A sentence that describes the problem.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        file::parse(bytes)
    }
}
