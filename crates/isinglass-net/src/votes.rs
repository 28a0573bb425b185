//! Class probabilities of examples, summed over the networks of an ensemble.

use isinglass_bits::{Predictor, argmax};

use crate::examples::Rows;
use crate::spins::SpinNetwork;
use crate::{Error, Examples, InputRule, Score, Values};

/// Examples that go through a packed network in one call, so that the bytes of large tables are never all in memory.
const PACKED_BATCH: usize = 1 << 14;
/// The bytes of chosen examples.
pub(crate) struct Chosen<'a> {
    input: &'a InputRule,
    rows: &'a Rows<'a>,
    indices: &'a [u32],
}

impl<'a> Chosen<'a> {
    pub fn new(input: &'a InputRule, rows: &'a Rows<'a>, indices: &'a [u32]) -> Self {
        Self { input, rows, indices }
    }

    /// The bytes of every batch in turn, with the number of its first example.
    pub fn for_each_batch(&self, mut take: impl FnMut(usize, &[u8]) -> Result<(), Error>) -> Result<(), Error> {
        let features = self.rows.features();
        let mut raw = vec![0.0; features];
        let mut bytes = Vec::new();
        for (batch, indices) in self.indices.chunks(PACKED_BATCH).enumerate() {
            let first = batch * PACKED_BATCH;
            let is_run = indices.windows(2).all(|pair| pair[0] + 1 == pair[1]);
            match (self.rows.values(), self.input.quantiser()) {
                // Without a copy.
                (Values::Bytes(all), None) if is_run => {
                    let start = indices[0] as usize * features;
                    take(first, &all[start..start + indices.len() * features])?;
                    continue;
                }
                (Values::Bytes(all), None) => {
                    bytes.clear();
                    indices.iter().for_each(|&index| bytes.extend_from_slice(&all[index as usize * features..][..features]));
                }
                _ => {
                    bytes.clear();
                    indices.iter().for_each(|&index| self.input.extend_quantised(&mut bytes, self.rows, index as usize, &mut raw));
                }
            }
            take(first, &bytes)?;
        }
        Ok(())
    }
}

/// Class probabilities summed over networks.
pub(crate) struct Votes {
    classes: usize,
    networks: usize,
    /// `[example][class]`.
    sums: Vec<f64>,
}

impl Votes {
    pub fn new(examples: usize, classes: usize) -> Self {
        Self { classes, networks: 0, sums: vec![0.0; examples * classes] }
    }

    pub fn add(&mut self, network: &mut SpinNetwork<'_>, rows: &Rows<'_>, indices: &[u32]) {
        self.networks += 1;
        let sums = self.sums.chunks_mut(network.batch() * self.classes);
        for (indices, sums) in indices.chunks(network.batch()).zip(sums) {
            network.add_probabilities(rows, indices, sums);
        }
    }

    pub fn add_packed(&mut self, predictor: &mut Predictor, chosen: &Chosen<'_>, threads: usize) -> Result<(), Error> {
        self.networks += 1;
        chosen.for_each_batch(|first, bytes| {
            let sums = predictor.sums_on(bytes, threads)?;
            let probabilities = predictor.probabilities_of(&sums);
            self.sums[first * self.classes..].iter_mut().zip(&probabilities).for_each(|(sum, probability)| *sum += probability);
            Ok(())
        })
    }

    pub fn probabilities(&self) -> Vec<f64> {
        self.sums.iter().map(|sum| sum / self.networks as f64).collect()
    }

    pub fn score(&self, examples: &Examples<'_>, indices: &[u32]) -> Score {
        let (mut nll, mut correct) = (0.0, 0);
        for (probabilities, &index) in self.sums.chunks(self.classes).zip(indices) {
            let label = examples.label(index as usize);
            correct += usize::from(argmax(probabilities) == label);
            // A probability that underflowed counts as the smallest positive number.
            nll -= libm::log((probabilities[label] / self.networks as f64).max(f64::MIN_POSITIVE));
        }
        let count = indices.len() as f64;
        Score { accuracy: f64::from(correct as u32) / count, nll: nll / count }
    }
}
