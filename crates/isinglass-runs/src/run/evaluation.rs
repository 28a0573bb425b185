//! How good a network is: the surrogate, the deterministic binary network and stochastic ones, on test, training and validation examples.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use isinglass_data::Dataset;
use isinglass_net::{Examples, Network, Partition, SampledScore, Score};
use serde::{Deserialize, Serialize};

use super::RunError;
use super::data::{check_fit, examples};

/// The three networks behind a checkpoint on some examples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    /// The surrogate.
    pub surrogate: Score,
    /// `sign(M)`; `None` without binary weights.
    pub binary: Option<Score>,
    /// Sampled binary networks; empty without binary weights.
    pub stochastic: Vec<SampledScore>,
}

/// What `isinglass evaluate` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// On the test examples.
    pub test: Scores,
    /// On the examples the run trained with.
    pub train: Scores,
    /// On those it held out; `None` if there are none.
    pub validation: Option<Scores>,
}

/// Which examples a score is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// The test examples.
    Test,
    /// Those the run trained with.
    Train,
    /// Those it held out.
    Validation,
}

impl Part {
    /// All of them, in the order of files.
    pub const ALL: [Self; 3] = [Self::Test, Self::Train, Self::Validation];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Train => "train",
            Self::Validation => "validation",
        }
    }
}

impl Evaluation {
    /// The scores on one set of examples.
    pub fn of(&self, part: Part) -> Option<&Scores> {
        match part {
            Part::Test => Some(&self.test),
            Part::Train => Some(&self.train),
            Part::Validation => self.validation.as_ref(),
        }
    }
}

/// One of the networks behind a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Behind {
    /// The surrogate.
    Surrogate,
    /// `sign(M)`.
    Binary,
    /// The mean of this many sampled binary networks.
    Stochastic(usize),
}

impl Scores {
    /// The networks that have a score, the surrogate first.
    pub fn networks(&self) -> impl Iterator<Item = Behind> + '_ {
        let binary = self.binary.map(|_| Behind::Binary);
        let stochastic = self.stochastic.iter().map(|score| Behind::Stochastic(score.samples));
        std::iter::once(Behind::Surrogate).chain(binary).chain(stochastic)
    }

    /// The score of one of them.
    pub fn of(&self, network: Behind) -> Option<Score> {
        match network {
            Behind::Surrogate => Some(self.surrogate),
            Behind::Binary => self.binary,
            Behind::Stochastic(samples) => {
                let score = self.stochastic.iter().find(|score| score.samples == samples)?;
                Some(Score { accuracy: score.accuracy, nll: score.nll })
            }
        }
    }
}

/// How to evaluate.
#[derive(Debug, Clone)]
pub struct Sampling {
    /// Numbers of stochastic binary networks to average over.
    pub samples: Vec<usize>,
    /// The seed they are drawn with.
    pub seed: u64,
    /// Number of threads.
    pub threads: usize,
}

impl Evaluation {
    /// Evaluates a network. `progress` is told how many sampled networks are done, of how many in all.
    ///
    /// # Errors
    ///
    /// If data and network do not fit, and [`RunError::Stopped`] soon after `stop` became true.
    pub fn new(
        network: &Network,
        data: &Dataset,
        partition: &Partition,
        sampling: &Sampling,
        stop: &AtomicBool,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Self, RunError> {
        check_fit(network.config(), data)?;
        let classes = network.config().classes;
        let (train, test) = (examples(&data.train, classes)?, examples(&data.test, classes)?);
        let held_out = (!partition.validation().is_empty()).then_some(partition.validation());
        let parts = if held_out.is_some() { 3 } else { 2 };
        let mut part = 0;
        let mut scores = |examples: &Examples<'_>, indices: Option<&[u32]>| {
            let mut told = |done: usize, of: usize| progress(part * of + done, parts * of);
            let scores = Scores::new(network, examples, indices, sampling, stop, &mut told);
            part += 1;
            scores
        };
        Ok(Self {
            test: scores(&test, None)?,
            train: scores(&train, Some(partition.train()))?,
            validation: held_out.map(|indices| scores(&train, Some(indices))).transpose()?,
        })
    }
}

impl Scores {
    fn new(
        network: &Network,
        examples: &Examples<'_>,
        indices: Option<&[u32]>,
        sampling: &Sampling,
        stop: &AtomicBool,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Self, RunError> {
        let threads = sampling.threads;
        let unless_stopped = || if stop.load(Ordering::Relaxed) { Err(RunError::Stopped) } else { Ok(()) };
        unless_stopped()?;
        let surrogate = network.surrogate().threads(threads).score(examples, indices)?;
        unless_stopped()?;
        if !network.has_binary_weights() {
            return Ok(Self { surrogate, binary: None, stochastic: Vec::new() });
        }
        let binary = Some(network.binary().threads(threads).score(examples, indices)?);
        unless_stopped()?;
        let sampled = network.sampled(1).threads(threads).seed(sampling.seed);
        let mut go_on = |done: usize, of: usize| {
            progress(done, of);
            if stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let stochastic = sampled.scores_while(examples, indices, &sampling.samples, &mut go_on)?.ok_or(RunError::Stopped)?;
        Ok(Self { surrogate, binary, stochastic })
    }
}
