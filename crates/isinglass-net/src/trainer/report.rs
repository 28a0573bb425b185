//! What steps and epochs end with.

use std::fmt;

use crate::Score;

/// One step's result.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Counted from 1.
    pub step: u64,
    /// The batch's mean negative log-likelihood.
    pub loss: f32,
    /// Examples of the batch classified correctly.
    pub correct: usize,
    /// Examples of the batch.
    pub examples: usize,
    /// The epoch's result, if this was its last step.
    pub epoch: Option<EpochReport>,
}

/// An epoch's result.
#[derive(Debug, Clone, PartialEq)]
pub struct EpochReport {
    /// Counted from 1.
    pub epoch: usize,
    /// Learning rate of its last step.
    pub lr: f64,
    /// `β` of the output layer in its last step; 1 where the means do not depend on it.
    pub beta: f64,
    /// The surrogate during training: averages over the epoch's steps.
    pub train: Score,
    /// The surrogate on the validation examples; `None` if there are none.
    pub validation: Option<Score>,
    /// The deterministic binary network on the validation examples; `None` if there are none, or no binary weights.
    pub validation_binary: Option<Score>,
    /// Whether no earlier epoch was better, judged by the validation accuracy (without validation examples, the training accuracy) of the network that the goal names.
    pub is_best: bool,
    /// Per layer, the norm of the gradient with respect to the means in the epoch's last step.
    pub gradient_norms: Vec<f64>,
}

impl fmt::Display for EpochReport {
    /// One line: epoch, loss, and the available accuracies.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "epoch {}: loss {:.4}, training accuracy {:.2} %", self.epoch, self.train.nll, 100.0 * self.train.accuracy)?;
        for (name, score) in [("validation", self.validation), ("binary validation", self.validation_binary)] {
            if let Some(score) = score {
                write!(f, ", {name} {:.2} %", 100.0 * score.accuracy)?;
            }
        }
        Ok(())
    }
}
