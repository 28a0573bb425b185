//! Training.

use crate::{Checkpoint, Error, Examples, Network, Partition, Progress, Score, TrainConfig};

/// One step's result.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Counted from 1.
    pub step: u64,
    /// The batch's mean negative log-likelihood.
    pub loss: f32,
    /// Examples of the batch whose class was found.
    pub correct: usize,
    /// Examples of the batch.
    pub examples: usize,
    /// What the epoch came to, if this was its last step.
    pub epoch: Option<EpochReport>,
}

/// An epoch's result.
#[derive(Debug, Clone, PartialEq)]
pub struct EpochReport {
    /// Counted from 1.
    pub epoch: usize,
    /// Learning rate of its last step.
    pub lr: f64,
    /// `β` of its last step.
    pub beta: f64,
    /// The surrogate while it was trained: averages over the epoch's steps.
    pub train: Score,
    /// The surrogate on the validation examples; `None` without these.
    pub validation: Option<Score>,
    /// The deterministic binary network on the validation examples; `None` without these, or without binary weights.
    pub validation_binary: Option<Score>,
    /// Whether no earlier epoch was better, by the validation accuracy (without validation examples, the training accuracy) of what the run's goal is.
    pub is_best: bool,
    /// Per layer, the norm of the gradient with respect to the means in the epoch's last step.
    pub gradient_norms: Vec<f64>,
}

/// Trains a network on examples, step by step.
pub struct Trainer<'a> {
    _examples: Examples<'a>,
}

impl<'a> Trainer<'a> {
    /// Starts a run: chooses training and validation examples, and standardises the inputs.
    pub fn new(_network: Network, _config: TrainConfig, _examples: Examples<'a>, _threads: usize) -> Result<Self, Error> {
        todo!()
    }

    /// Goes on where a checkpoint was taken. The examples must be the same.
    pub fn resume(_checkpoint: Checkpoint, _examples: Examples<'a>, _threads: usize) -> Result<Self, Error> {
        todo!()
    }

    /// Where the run stands.
    pub fn progress(&self) -> Progress {
        todo!()
    }

    /// Whether all steps are done.
    pub fn is_finished(&self) -> bool {
        todo!()
    }

    /// Training and validation examples.
    pub fn partition(&self) -> &Partition {
        todo!()
    }

    /// The network as it is now.
    pub fn network(&self) -> Network {
        todo!()
    }

    /// One step of the optimiser. The last step of an epoch validates; under [`Goal::Binary`](crate::Goal::Binary) the last of the run sets every mean to ±1.
    ///
    /// # Errors
    ///
    /// [`Error::Diverged`] if the loss is no longer a number; the trainer is then of no more use.
    pub fn step(&mut self) -> Result<Step, Error> {
        todo!()
    }

    /// Everything needed to go on from here.
    pub fn checkpoint(&self) -> Checkpoint {
        todo!()
    }
}
