//! Checkpoints: safetensors files that hold a network and all that is needed to go on training it.

use std::path::Path;

use crate::{Error, Network, TrainConfig};

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

/// A network in training.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// The network.
    pub network: Network,
    /// The run's settings.
    pub train: TrainConfig,
}

impl Checkpoint {
    /// Where the run stands.
    pub fn progress(&self) -> Progress {
        todo!()
    }

    /// The network as it was before training: drawn again from the seed.
    pub fn initial_network(&self) -> Result<Network, Error> {
        todo!()
    }

    /// Writes the file: beside its place first, then renamed into it.
    pub fn save(&self, _path: &Path) -> Result<(), Error> {
        todo!()
    }

    /// Reads a file.
    pub fn load(_path: &Path) -> Result<Self, Error> {
        todo!()
    }
}
