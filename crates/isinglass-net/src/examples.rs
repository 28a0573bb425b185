//! Examples: borrowed raw values with labels.
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

use isinglass_bits::Values;
use sha2::{Digest, Sha256};

use crate::{Error, NetworkConfig};

/// Whole rows of finite values.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows<'a> {
    values: Values<'a>,
    features: usize,
    count: usize,
}

impl<'a> Rows<'a> {
    /// Checks values; there may be none of them.
    pub fn new(values: Values<'a>, features: usize) -> Result<Self, Error> {
        let len = values.len();
        if features == 0 || !len.is_multiple_of(features) {
            return Err(Error::Examples(format!("{len} values do not make whole examples of {features}")));
        }
        let count = len / features;
        if u32::try_from(count).is_err() {
            return Err(Error::Examples(format!("{count} examples: at most {}", u32::MAX)));
        }
        if let Values::Floats(floats) = values
            && let Some(at) = floats.iter().position(|value| !value.is_finite())
        {
            let (row, column) = (at / features, at % features);
            return Err(Error::Examples(format!("value {} in row {row}, column {column}: inputs are finite numbers", floats[at])));
        }
        Ok(Self { values, features, count })
    }

    pub fn values(&self) -> Values<'a> {
        self.values
    }

    /// Values per row.
    pub fn features(&self) -> usize {
        self.features
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.count
    }

    /// The index of every row.
    pub fn indices(&self) -> Vec<u32> {
        (0..self.count as u32).collect()
    }

    /// Copies raw values of a row, from feature `first` on.
    pub fn copy_part(&self, index: usize, first: usize, raw: &mut [f32]) {
        let start = index * self.features + first;
        let range = start..start + raw.len();
        match self.values {
            Values::Bytes(bytes) => {
                // Sixteen at a time: a batch is loaded in such parts.
                let ((from, from_rest), (to, to_rest)) = (bytes[range].as_chunks::<16>(), raw.as_chunks_mut::<16>());
                to.iter_mut().zip(from).for_each(|(to, from)| *to = from.map(f32::from));
                to_rest.iter_mut().zip(from_rest).for_each(|(to, &from)| *to = f32::from(from));
            }
            Values::Floats(floats) => raw.copy_from_slice(&floats[range]),
        }
    }

    /// Checks that these rows fit a network.
    pub fn check_fit(&self, network: &NetworkConfig) -> Result<(), Error> {
        if network.inputs == self.features {
            return Ok(());
        }
        Err(Error::Examples(format!("examples of {} values for a network with {} inputs", self.features, network.inputs)))
    }

    /// Checks that the indices are those of rows.
    pub fn check_indices(&self, indices: &[u32]) -> Result<(), Error> {
        match indices.iter().find(|&&index| index as usize >= self.count) {
            Some(index) => Err(Error::Examples(format!("example {index}: there are only {}, counted from 0", self.count))),
            None => Ok(()),
        }
    }
}

/// Labelled examples, at least one.
#[derive(Debug, Clone, Copy)]
pub struct Examples<'a> {
    rows: Rows<'a>,
    labels: &'a [u8],
    classes: usize,
    memo: Option<&'a OnceLock<String>>,
}

impl<'a> Examples<'a> {
    /// Pairs values with labels.
    ///
    /// # Errors
    ///
    /// [`Error::Examples`] if there are not `features` values per label, a label is not a class, or a value is not finite.
    pub fn new(values: impl Into<Values<'a>>, features: usize, labels: &'a [u8], classes: usize) -> Result<Self, Error> {
        let values = values.into();
        if features == 0 || labels.len().checked_mul(features) != Some(values.len()) {
            return Err(Error::Examples(format!("{} values for {} labels: expected {features} per label", values.len(), labels.len())));
        }
        if labels.is_empty() {
            return Err(Error::Examples("no examples".into()));
        }
        if let Some(row) = labels.iter().position(|&label| usize::from(label) >= classes) {
            return Err(Error::Examples(format!(
                "label {} of example {row}: the classes are 0 to {}",
                labels[row],
                classes.saturating_sub(1)
            )));
        }
        Ok(Self { rows: Rows::new(values, features)?, labels, classes, memo: None })
    }

    /// Caches the digest in `memo`, which must belong to these examples alone, so that many runs on the same data compute it once.
    #[must_use]
    pub fn remembering(self, memo: &'a OnceLock<String>) -> Self {
        Self { memo: Some(memo), ..self }
    }

    /// Number of examples.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Always false: there is at least one example.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Values per example.
    pub fn features(&self) -> usize {
        self.rows.features
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The label of an example.
    ///
    /// # Panics
    ///
    /// If there is no such example.
    pub fn label(&self, index: usize) -> usize {
        usize::from(self.labels[index])
    }

    /// The raw values.
    pub fn values(&self) -> Values<'a> {
        self.rows.values
    }

    pub(crate) fn rows(&self) -> &Rows<'a> {
        &self.rows
    }

    /// Checks that these examples fit a network.
    pub(crate) fn check_fit(&self, network: &NetworkConfig) -> Result<(), Error> {
        self.rows.check_fit(network)?;
        if network.classes < self.classes {
            return Err(Error::Examples(format!("examples of {} classes for a network with {} outputs", self.classes, network.classes)));
        }
        Ok(())
    }

    /// The given indices, checked, or all of them; an error if there are none or one is out of range.
    pub(crate) fn chosen(&self, indices: Option<&[u32]>) -> Result<Vec<u32>, Error> {
        let Some(indices) = indices else { return Ok(self.rows.indices()) };
        if indices.is_empty() {
            return Err(Error::Examples("no examples were chosen: nothing to score".into()));
        }
        self.rows.check_indices(indices)?;
        Ok(indices.to_vec())
    }

    /// The SHA-256 of values and labels, which identifies the data set.
    pub(crate) fn digest(&self) -> String {
        match self.memo {
            Some(memo) => memo.get_or_init(|| self.compute_digest()).clone(),
            None => self.compute_digest(),
        }
    }

    fn compute_digest(&self) -> String {
        let mut hash = Sha256::new();
        match self.rows.values {
            Values::Bytes(bytes) => hash.update(bytes),
            Values::Floats(floats) => floats.iter().for_each(|value| hash.update(value.to_le_bytes())),
        }
        hash.update(self.labels);
        isinglass_files::hex(&hash.finalize())
    }
}
