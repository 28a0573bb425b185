//! Examples: raw values with labels, borrowed from wherever they are kept.
//!
//! ```
//! use isinglass_net::{Examples, Values};
//!
//! let examples = Examples::new(Values::Bytes(&[0, 255, 255, 0]), 2, &[0, 1], 2)?;
//! assert_eq!((examples.len(), examples.features()), (2, 2));
//! assert!(Examples::new(Values::Bytes(&[0, 255]), 2, &[7], 2).is_err()); // no class 7
//! # Ok::<(), isinglass_net::Error>(())
//! ```

use std::sync::OnceLock;

use sha2::{Digest, Sha256};

use crate::{Error, Preprocessing, Rng, TrainConfig};

/// Raw values, example after example.
#[derive(Debug, Clone, Copy)]
pub enum Values<'a> {
    /// Bytes, e.g. grey values.
    Bytes(&'a [u8]),
    /// Any finite numbers.
    Floats(&'a [f32]),
}

/// Labelled examples.
#[derive(Debug, Clone, Copy)]
pub struct Examples<'a> {
    values: Values<'a>,
    features: usize,
    labels: &'a [u8],
    classes: usize,
    memo: Option<&'a OnceLock<String>>,
}

impl<'a> Examples<'a> {
    /// Puts values and labels together.
    ///
    /// # Errors
    ///
    /// [`Error::Examples`] if their numbers do not fit, a label has no class, or a value is not a finite number.
    pub fn new(values: Values<'a>, features: usize, labels: &'a [u8], classes: usize) -> Result<Self, Error> {
        let count = match values {
            Values::Bytes(bytes) => bytes.len(),
            Values::Floats(floats) => floats.len(),
        };
        if features == 0 || labels.len().checked_mul(features) != Some(count) {
            return Err(Error::Examples(format!("{count} values are not {features} for each of {} labels", labels.len())));
        }
        if labels.is_empty() {
            return Err(Error::Examples("there are no examples".into()));
        }
        if let Some(row) = labels.iter().position(|&label| usize::from(label) >= classes) {
            return Err(Error::Examples(format!(
                "label {} of example {row}: the classes are 0 to {}",
                labels[row],
                classes.saturating_sub(1)
            )));
        }
        if let Values::Floats(floats) = values
            && let Some(at) = floats.iter().position(|value| !value.is_finite())
        {
            let (row, column) = (at / features, at % features);
            return Err(Error::Examples(format!("value {} of example {row}, feature {column}: inputs are finite numbers", floats[at])));
        }
        Ok(Self { values, features, labels, classes, memo: None })
    }

    /// The same, remembering their digest in a place that belongs to just these examples: many runs with the same data then work it out once.
    #[must_use]
    pub fn remembering(self, memo: &'a OnceLock<String>) -> Self {
        Self { memo: Some(memo), ..self }
    }

    /// Number of examples.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Never: there is at least one.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Values per example.
    pub fn features(&self) -> usize {
        self.features
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The label of an example.
    pub fn label(&self, index: usize) -> usize {
        usize::from(self.labels[index])
    }

    /// The raw values.
    pub fn values(&self) -> Values<'a> {
        self.values
    }

    /// A raw value.
    #[inline]
    pub(crate) fn value(&self, index: usize, feature: usize) -> f32 {
        let at = index * self.features + feature;
        match self.values {
            Values::Bytes(bytes) => f32::from(bytes[at]),
            Values::Floats(floats) => floats[at],
        }
    }

    /// Copies raw values of an example, from a feature on.
    pub(crate) fn copy_part(&self, index: usize, first: usize, raw: &mut [f32]) {
        let start = index * self.features + first;
        let range = start..start + raw.len();
        match self.values {
            Values::Bytes(bytes) => raw.iter_mut().zip(&bytes[range]).for_each(|(to, &from)| *to = f32::from(from)),
            Values::Floats(floats) => raw.copy_from_slice(&floats[range]),
        }
    }

    /// The SHA-256 of values and labels: what tells one data set from another.
    pub(crate) fn digest(&self) -> String {
        match self.memo {
            Some(memo) => memo.get_or_init(|| self.work_digest_out()).clone(),
            None => self.work_digest_out(),
        }
    }

    fn work_digest_out(&self) -> String {
        let mut hash = Sha256::new();
        match self.values {
            Values::Bytes(bytes) => hash.update(bytes),
            Values::Floats(floats) => floats.iter().for_each(|value| hash.update(value.to_le_bytes())),
        }
        hash.update(self.labels);
        isinglass_files::hex(&hash.finalize())
    }

    /// The preprocessing that gives these examples mean 0 and variance 1.
    pub fn standardising(&self, indices: &[u32]) -> Preprocessing {
        if let Values::Bytes(bytes) = self.values {
            let (mean, variance) = self.moments_of_bytes(bytes, indices);
            return Preprocessing::standardising(mean, variance.sqrt());
        }
        let mut raw = vec![0.0; self.features];
        let count = (indices.len() * self.features) as f64;
        let mut total = |term: &mut dyn FnMut(f64) -> f64| {
            let mut sum = 0.0;
            for &index in indices {
                self.copy_part(index as usize, 0, &mut raw);
                sum += raw.iter().map(|&value| term(f64::from(value))).sum::<f64>();
            }
            sum / count
        };
        let mean = total(&mut |value| value);
        let variance = total(&mut |value| (value - mean) * (value - mean));
        Preprocessing::standardising(mean, variance.sqrt())
    }

    /// Mean and variance by sums of integers, which are exact and fast.
    fn moments_of_bytes(&self, bytes: &[u8], indices: &[u32]) -> (f64, f64) {
        // A part's sum of squares fits 32 bits.
        const PART: usize = 1 << 15;
        let (mut sum, mut squares) = (0u64, 0u64);
        for &index in indices {
            for part in bytes[index as usize * self.features..][..self.features].chunks(PART) {
                sum += u64::from(part.iter().map(|&value| u32::from(value)).sum::<u32>());
                squares += u64::from(part.iter().map(|&value| u32::from(value) * u32::from(value)).sum::<u32>());
            }
        }
        let count = (indices.len() * self.features) as u128;
        let (sum, squares) = (u128::from(sum), u128::from(squares));
        let variance = (count * squares - sum * sum) as f64 / (count * count) as f64;
        (sum as f64 / count as f64, variance)
    }
}

/// Which examples are trained with, and which are held out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    /// Indices of the training examples.
    pub train: Vec<u32>,
    /// Indices of the validation examples.
    pub validation: Vec<u32>,
}

impl Partition {
    /// Chooses at random, by the run's seed.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] if nothing is left to train with, or a setting is impossible.
    pub fn new(count: usize, config: &TrainConfig) -> Result<Self, Error> {
        config.check()?;
        let mut order: Vec<u32> = (0..count as u32).collect();
        Rng::new(config.seed).stream(Rng::PARTITION, 0).shuffle(&mut order);
        let (train, held_out) = Self::sizes(count, config);
        order.truncate(train + held_out);
        let validation = order.split_off(train.min(order.len()));
        if order.is_empty() {
            return Err(Error::config(format!(
                "train-fraction {} and validation {} leave none of {count} examples to train with",
                config.train_fraction, config.validation
            )));
        }
        Ok(Self { train: order, validation })
    }

    /// How many examples are trained with, and how many are held out.
    pub(crate) fn sizes(count: usize, config: &TrainConfig) -> (usize, usize) {
        let used = ((count as f64 * config.train_fraction).round() as usize).max(1);
        let held_out = (used as f64 * config.validation).round() as usize;
        (used.saturating_sub(held_out), held_out)
    }
}
