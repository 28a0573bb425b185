//! Accuracy and likelihood of networks that are laid out in an engine.

use serde::{Deserialize, Serialize};

use crate::engine::{Engine, Purpose, Scale};
use crate::layer::Unit;
use crate::packing::{self, LayerBits};
use crate::spins::SpinNetwork;
use crate::votes::{Chosen, Votes};
use crate::{Error, Examples, InputRule, Network, noise};

/// A network's accuracy and likelihood on some examples.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// The fraction of examples classified correctly.
    #[serde(deserialize_with = "crate::or_nan::number")]
    pub accuracy: f64,
    /// The mean negative log-likelihood of the true class.
    #[serde(deserialize_with = "crate::or_nan::number")]
    pub nll: f64,
}

/// A score averaged over samples of a stochastic binary network.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SampledScore {
    /// Number of networks sampled; their class probabilities are averaged.
    pub samples: usize,
    /// The fraction of examples classified correctly.
    #[serde(deserialize_with = "crate::or_nan::number")]
    pub accuracy: f64,
    /// The mean negative log-likelihood of the true class.
    #[serde(deserialize_with = "crate::or_nan::number")]
    pub nll: f64,
}

/// Examples per batch. Changing it changes the noise of sampled surrogates.
pub(crate) const BATCH: usize = 256;
/// The seed of the noise in evaluations.
pub(crate) const NOISE_SEED: u64 = 0x6576_616c;

/// The surrogate laid out once, to score many sets of examples.
pub struct Inference {
    engine: Engine,
    config: crate::NetworkConfig,
    input: InputRule,
}

impl Inference {
    /// Lays a network out for batches of up to `batch` examples.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] for an empty or too large batch, [`Error::InstructionSet`] if `ISINGLASS_SIMD` names a set that this machine does not have.
    pub fn new(network: &Network, batch: usize, threads: usize) -> Result<Self, Error> {
        Ok(Self {
            engine: Engine::new(network, Purpose::Evaluation, batch, threads)?,
            config: network.config().clone(),
            input: network.input().clone(),
        })
    }

    /// The score of the surrogate on some examples.
    ///
    /// # Errors
    ///
    /// [`Error::Examples`] if they do not fit the network, none are chosen, or an index is out of range.
    pub fn score(&mut self, examples: &Examples<'_>, indices: &[u32]) -> Result<Score, Error> {
        examples.check_fit(&self.config)?;
        examples.chosen(Some(indices))?;
        Ok(surrogate_score(&mut self.engine, examples, indices, &self.input))
    }
}

/// The score of the surrogate in an engine, in batches of the engine's size.
pub(crate) fn surrogate_score(engine: &mut Engine, examples: &Examples<'_>, indices: &[u32], input: &InputRule) -> Score {
    let (mut nll, mut correct) = (0.0, 0);
    engine.without_backward(|engine| {
        for (batch, indices) in indices.chunks(engine.batch()).enumerate() {
            engine.load(examples.rows(), indices, input, Scale::Inputs);
            engine.forward(|layer| noise::key(NOISE_SEED, batch as u64, layer));
            let score = engine.score(examples, indices);
            nll += score.nll;
            correct += score.correct;
        }
    });
    Score { accuracy: correct as f64 / indices.len() as f64, nll: nll / indices.len() as f64 }
}

/// The score of the deterministic binary network behind the layers of an engine, without a copy of their means.
pub(crate) fn binary_score(
    engine: &mut Engine,
    examples: &Examples<'_>,
    indices: &[u32],
    input: &InputRule,
    threads: usize,
) -> Result<Score, Error> {
    let (rows, classes) = (examples.rows(), engine.layers.last().map_or(0, |layer| layer.outputs));
    let mut votes = Votes::new(indices.len(), classes);
    let has_signs = engine.layers.iter().all(|layer| !matches!(layer.spec.unit, Unit::Continuous(_)));
    if has_signs && input.gives_bytes(rows.values()) {
        let packed = engine.layers.iter().map(|layer| LayerBits::new(&layer.spec, |unit| layer.row(unit), &layer.bias));
        let mut predictor = packing::predictor_of(input.preprocessing(), packed.collect())?;
        votes.add_packed(&mut predictor, &Chosen::new(input, rows, indices), threads)?;
    } else {
        votes.add(&mut SpinNetwork::deterministic(engine, input, rows), rows, indices);
    }
    Ok(votes.score(examples, indices))
}
