//! Accuracy and likelihood of the surrogate, of the deterministic binary network, and of the stochastic one.

use serde::{Deserialize, Serialize};

use crate::{Examples, Network};

/// How good a network is on some examples.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// The fraction of examples whose class is found.
    pub accuracy: f64,
    /// The mean negative log-likelihood of the right class.
    pub nll: f64,
}

/// A score averaged over samples of a stochastic binary network.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SampledScore {
    /// Number of networks sampled; their class probabilities are averaged.
    pub samples: usize,
    /// The fraction of examples whose class is found.
    pub accuracy: f64,
    /// The mean negative log-likelihood of the right class.
    pub nll: f64,
}

/// Evaluates one network.
pub struct Evaluator<'a> {
    #[allow(dead_code)]
    network: &'a Network,
}

impl<'a> Evaluator<'a> {
    /// Prepares to evaluate with a number of threads.
    pub fn new(network: &'a Network, _threads: usize) -> Self {
        Self { network }
    }

    /// The surrogate; `indices` chooses examples, `None` takes all.
    pub fn surrogate(&mut self, _examples: &Examples<'_>, _indices: Option<&[u32]>) -> Score {
        todo!()
    }

    /// The deterministic binary network `sign(M)`; `None` if there are no binary weights behind the surrogate.
    pub fn binary(&mut self, _examples: &Examples<'_>, _indices: Option<&[u32]>) -> Option<Score> {
        todo!()
    }

    /// Stochastic binary networks: one score for every number in `samples`, the smaller ones being parts of the larger. Empty if there are no binary weights behind the surrogate.
    /// `progress` is told how many networks of how many were sampled.
    pub fn stochastic(
        &mut self,
        _examples: &Examples<'_>,
        _indices: Option<&[u32]>,
        _samples: &[usize],
        _seed: u64,
        _progress: &mut dyn FnMut(usize, usize),
    ) -> Vec<SampledScore> {
        todo!()
    }
}
