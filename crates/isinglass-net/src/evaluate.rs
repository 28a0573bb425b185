//! Accuracy and likelihood of the surrogate, of the deterministic binary network, and of the stochastic one.
//!
//! - **surrogate**: what is trained. Local reparameterisation draws its noise once per example.
//! - **binary**: `sign(M)` with the neurons' signs, `sign(0) = +1` (continuous neurons stay as they are).
//! - **stochastic**: `K` networks whose weights are drawn with means `M`, each shared by all examples, and whose stochastic neurons are drawn per example; class probabilities are
//!   averaged.
//!
//! Fields of binary networks are sums of integers as long as inputs are bytes: exact, whatever the machine, for up to 65 793 inputs (255 times as many is 2²⁴).

use serde::{Deserialize, Serialize};

use crate::engine::{Engine, Purpose, most_likely};
use crate::spins::SpinNetwork;
use crate::{Examples, Network, NetworkConfig, Preprocessing, Values, noise};

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

/// Examples that go through a network at once. Changing it changes the noise of sampled surrogates.
pub(crate) const BATCH: usize = 256;
/// The seed of the noise in evaluations.
const NOISE_SEED: u64 = 0x6576_616c;

/// Evaluates one network.
pub struct Evaluator<'a> {
    network: &'a Network,
    threads: usize,
}

impl<'a> Evaluator<'a> {
    /// Prepares to evaluate with a number of threads.
    pub fn new(network: &'a Network, threads: usize) -> Self {
        Self { network, threads }
    }

    /// An engine for some examples.
    fn engine(&self, indices: &[u32]) -> Engine {
        Engine::new(self.network, Purpose::Evaluation, BATCH.min(indices.len()), self.threads)
    }

    /// The surrogate; `indices` chooses examples, `None` takes all.
    ///
    /// # Panics
    ///
    /// If the examples do not fit the network.
    pub fn surrogate(&mut self, examples: &Examples<'_>, indices: Option<&[u32]>) -> Score {
        let indices = chosen(examples, indices);
        Inference::new(self.network, BATCH.min(indices.len()), self.threads).score(examples, &indices)
    }

    /// The deterministic binary network `sign(M)`; `None` if there are no binary weights behind the surrogate.
    ///
    /// # Panics
    ///
    /// If the examples do not fit the network.
    pub fn binary(&mut self, examples: &Examples<'_>, indices: Option<&[u32]>) -> Option<Score> {
        if !self.network.config.surrogate.has_binary_weights() {
            return None;
        }
        let indices = chosen(examples, indices);
        Some(binary_score(&mut self.engine(&indices), &self.network.config, examples, &indices, self.network.preprocessing))
    }

    /// The sums `Σ_j S_kj x_j` of the output layer of `sign(M)`, `[example][class]`: integers. `None` if there are no binary weights and neurons behind the surrogate, or the examples
    /// are not bytes.
    ///
    /// # Panics
    ///
    /// If the examples do not fit the network.
    pub fn binary_sums(&mut self, examples: &Examples<'_>) -> Option<Vec<i32>> {
        let Network { config, preprocessing, .. } = self.network;
        let is_binary = config.surrogate.has_binary_weights() && config.surrogate.has_binary_neurons();
        if !is_binary || !matches!(examples.values(), Values::Bytes(_)) {
            return None;
        }
        let indices = chosen(examples, None);
        let mut engine = self.engine(&indices);
        let mut spins = SpinNetwork::deterministic(&mut engine, config, *preprocessing, examples);
        Some(indices.chunks(spins.batch()).flat_map(|indices| spins.output_sums(examples, indices)).map(|sum| sum as i32).collect())
    }

    /// Stochastic binary networks: one score for every number in `samples`, the smaller ones being parts of the larger. Empty if there are no binary weights
    /// behind the surrogate. `progress` is told how many networks of how many were sampled.
    ///
    /// # Panics
    ///
    /// If the examples do not fit the network.
    pub fn stochastic(
        &mut self,
        examples: &Examples<'_>,
        indices: Option<&[u32]>,
        samples: &[usize],
        seed: u64,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Vec<SampledScore> {
        let most = samples.iter().copied().max().unwrap_or(0);
        if !self.network.config.surrogate.has_binary_weights() || most == 0 {
            return Vec::new();
        }
        let indices = chosen(examples, indices);
        let mut votes = Votes::new(examples, &indices);
        let mut engine = self.engine(&indices);
        let mut spins = SpinNetwork::sampled(&mut engine, self.network, examples);
        let is_random = spins.is_random(self.network);
        let mut scores = vec![None; samples.len()];
        for sample in 0..most {
            // A network without randomness is the same in every sample.
            if sample == 0 || is_random {
                spins.draw(self.network, seed, sample as u64);
                votes.add(&mut spins);
            }
            for (score, _) in scores.iter_mut().zip(samples).filter(|(_, samples)| **samples == sample + 1) {
                *score = Some(votes.score());
            }
            progress(sample + 1, most);
        }
        let sampled =
            |(score, &samples): (Option<Score>, &usize)| score.map(|Score { accuracy, nll }| SampledScore { samples, accuracy, nll });
        scores.into_iter().zip(samples).filter_map(sampled).collect()
    }
}

/// The surrogate laid out once, for one set of examples after the other.
pub struct Inference {
    engine: Engine,
    preprocessing: Preprocessing,
}

impl Inference {
    /// Lays a network out for batches of at most this size.
    pub fn new(network: &Network, batch: usize, threads: usize) -> Self {
        Self { engine: Engine::new(network, Purpose::Evaluation, batch, threads), preprocessing: network.preprocessing }
    }

    /// The surrogate on some examples.
    ///
    /// # Panics
    ///
    /// If the examples do not fit the network.
    pub fn score(&mut self, examples: &Examples<'_>, indices: &[u32]) -> Score {
        surrogate_score(&mut self.engine, examples, indices, self.preprocessing)
    }
}

/// The surrogate in an engine, in batches of the engine's size.
pub(crate) fn surrogate_score(engine: &mut Engine, examples: &Examples<'_>, indices: &[u32], preprocessing: Preprocessing) -> Score {
    let (mut nll, mut correct) = (0.0, 0);
    for (batch, indices) in indices.chunks(engine.batch()).enumerate() {
        engine.load(examples, indices, preprocessing);
        engine.forward(|layer| noise::key(NOISE_SEED, batch as u64, layer));
        let score = engine.score(examples, indices);
        nll += score.nll;
        correct += score.correct;
    }
    Score { accuracy: correct as f64 / indices.len() as f64, nll: nll / indices.len() as f64 }
}

/// The deterministic binary network behind the layers of an engine, in batches of the engine's size.
pub(crate) fn binary_score(
    engine: &mut Engine,
    config: &NetworkConfig,
    examples: &Examples<'_>,
    indices: &[u32],
    preprocessing: Preprocessing,
) -> Score {
    let mut votes = Votes::new(examples, indices);
    votes.add(&mut SpinNetwork::deterministic(engine, config, preprocessing, examples));
    votes.score()
}

fn chosen(examples: &Examples<'_>, indices: Option<&[u32]>) -> Vec<u32> {
    indices.map_or_else(|| (0..examples.len() as u32).collect(), <[u32]>::to_vec)
}

/// Class probabilities summed over networks.
struct Votes<'a> {
    examples: &'a Examples<'a>,
    indices: &'a [u32],
    classes: usize,
    networks: usize,
    /// `[example][class]`.
    sums: Vec<f64>,
}

impl<'a> Votes<'a> {
    fn new(examples: &'a Examples<'a>, indices: &'a [u32]) -> Self {
        Self { examples, indices, classes: 0, networks: 0, sums: Vec::new() }
    }

    fn add(&mut self, network: &mut SpinNetwork<'_>) {
        self.classes = network.classes();
        self.sums.resize(self.indices.len() * self.classes, 0.0);
        self.networks += 1;
        let sums = self.sums.chunks_mut(network.batch() * self.classes);
        for (indices, sums) in self.indices.chunks(network.batch()).zip(sums) {
            network.add_probabilities(self.examples, indices, sums);
        }
    }

    fn score(&self) -> Score {
        let (mut nll, mut correct) = (0.0, 0);
        for (probabilities, &index) in self.sums.chunks(self.classes).zip(self.indices) {
            let label = self.examples.label(index as usize);
            correct += usize::from(most_likely(probabilities) == label);
            // A probability that is no longer a number above 0 counts as the smallest one.
            nll -= libm::log((probabilities[label] / self.networks as f64).max(f64::MIN_POSITIVE));
        }
        let count = self.indices.len() as f64;
        Score { accuracy: f64::from(correct as u32) / count, nll: nll / count }
    }
}
