//! Which examples a run trains on, and which it holds out.
//!
//! ```
//! use isinglass_net::{Partition, TrainConfig};
//!
//! let partition = Partition::new(100, &TrainConfig { validation: 0.2, ..TrainConfig::default() })?;
//! assert_eq!((partition.train().len(), partition.validation().len()), (80, 20));
//! # Ok::<(), isinglass_net::Error>(())
//! ```

use crate::{Error, Rng, TrainConfig};

/// Indices of training and validation examples. No example occurs twice; there is at least one training example.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    train: Vec<u32>,
    validation: Vec<u32>,
}

impl Partition {
    /// Splits `count` examples at random, with the run's seed.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] if no training example is left, or a setting is impossible.
    pub fn new(count: usize, config: &TrainConfig) -> Result<Self, Error> {
        config.check()?;
        let most = u32::try_from(count).map_err(|_| Error::config(format!("{count} examples: at most {}", u32::MAX)))?;
        let mut order: Vec<u32> = (0..most).collect();
        Rng::new(config.seed).stream(Rng::PARTITION, 0).shuffle(&mut order);
        let (train, held_out) = Self::sizes(count, config);
        order.truncate(train + held_out);
        let validation = order.split_off(train.min(order.len()));
        if order.is_empty() {
            return Err(Error::config(format!(
                "train-fraction {} and validation {} leave none of {count} examples for training",
                config.train_fraction, config.validation
            )));
        }
        Ok(Self { train: order, validation })
    }

    /// A given partition of `count` examples.
    ///
    /// # Errors
    ///
    /// [`Error::Examples`] if there is no training example, an index is out of range, or one occurs twice.
    pub fn from_indices(train: Vec<u32>, validation: Vec<u32>, count: usize) -> Result<Self, Error> {
        if train.is_empty() {
            return Err(Error::Examples("a partition needs at least one training example".into()));
        }
        let mut all = [&train[..], &validation].concat();
        all.sort_unstable();
        if let Some(twice) = all.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Error::Examples(format!("example {} occurs twice in a partition", twice[0])));
        }
        match all.last() {
            Some(&largest) if largest as usize >= count => {
                Err(Error::Examples(format!("example {largest} in a partition of {count} examples")))
            }
            _ => Ok(Self { train, validation }),
        }
    }

    /// Indices of the training examples.
    pub fn train(&self) -> &[u32] {
        &self.train
    }

    /// Indices of the validation examples; empty if none are held out.
    pub fn validation(&self) -> &[u32] {
        &self.validation
    }

    /// The numbers of training and of validation examples.
    fn sizes(count: usize, config: &TrainConfig) -> (usize, usize) {
        let used = ((count as f64 * config.train_fraction).round() as usize).max(1);
        let held_out = (used as f64 * config.validation).round() as usize;
        (used.saturating_sub(held_out), held_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_and_overlapping_partitions_are_refused() {
        let of = |train: &[u32], validation: &[u32]| Partition::from_indices(train.to_vec(), validation.to_vec(), 5);
        assert!(of(&[0, 4], &[2]).is_ok());
        for (train, validation) in [(&[][..], &[1][..]), (&[5], &[]), (&[1, 1], &[]), (&[1], &[2, 1])] {
            assert!(matches!(of(train, validation), Err(Error::Examples(_))), "{train:?} {validation:?}");
        }
    }
}
