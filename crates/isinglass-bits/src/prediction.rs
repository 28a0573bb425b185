//! Classes and their probabilities.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::Error;

/// The classes of some rows, with the probability of every class and, where there are any, the names of the classes.
///
/// ```
/// use isinglass_bits::Prediction;
///
/// let names = ["cat", "dog"].map(String::from);
/// let prediction = Prediction::new(vec![1, 0], vec![0.25, 0.75, 0.5, 0.5], 2, Some(names.into()))?;
/// assert_eq!((prediction.classes(), prediction.name(0)), (&[1, 0][..], Some("dog")));
/// assert_eq!(prediction.probabilities_of(1), [0.5, 0.5]);
/// # Ok::<(), isinglass_bits::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    classes: Vec<usize>,
    probabilities: Vec<f64>,
    class_count: usize,
    names: Option<Arc<[String]>>,
}

impl Prediction {
    /// A class for every row, and the probability of each of `class_count` classes, `[row][class]`.
    ///
    /// # Errors
    ///
    /// [`Error::Shape`] if the sizes do not fit each other, [`Error::Value`] if a class is not below `class_count`.
    pub fn new(classes: Vec<usize>, probabilities: Vec<f64>, class_count: usize, names: Option<Arc<[String]>>) -> Result<Self, Error> {
        if classes.len().checked_mul(class_count) != Some(probabilities.len()) {
            let (found, rows) = (probabilities.len(), classes.len());
            return Err(Error::Shape(format!("{found} probabilities for {rows} rows and {class_count} classes")));
        }
        if let Some(names) = names.as_ref().filter(|names| names.len() != class_count) {
            return Err(Error::Shape(format!("{} names for {class_count} classes", names.len())));
        }
        if let Some(class) = classes.iter().find(|class| **class >= class_count) {
            return Err(Error::Value(format!("class {class} of {class_count}, counted from 0")));
        }
        Ok(Self { classes, probabilities, class_count, names })
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.classes.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    /// The most likely class of every row, the first of equals.
    pub fn classes(&self) -> &[usize] {
        &self.classes
    }

    /// The name of a row's class, if classes have names.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    pub fn name(&self, row: usize) -> Option<&str> {
        let class = self.classes[row];
        self.names.as_ref().map(|names| names[class].as_str())
    }

    /// The probabilities of all rows, `[row][class]`.
    pub fn probabilities(&self) -> &[f64] {
        &self.probabilities
    }

    /// The probability of every class for one row.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    pub fn probabilities_of(&self, row: usize) -> &[f64] {
        &self.probabilities[row * self.class_count..][..self.class_count]
    }

    /// The names of the classes, if they have any.
    pub fn class_names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }
}

/// Turns logits into probabilities, `p_k = exp(l_k)/Σ_j exp(l_j)`, without overflow.
///
/// The exponentials are those of the `libm` crate and the sum runs from the first to the last, so that every machine gives the same bits.
///
/// ```
/// let mut values = [1000.0, 1000.0];
/// isinglass_bits::softmax(&mut values);
/// assert_eq!(values, [0.5, 0.5]);
/// ```
pub fn softmax(logits: &mut [f64]) {
    let largest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    logits.iter_mut().for_each(|logit| *logit = libm::exp(*logit - largest));
    let total: f64 = logits.iter().sum();
    logits.iter_mut().for_each(|logit| *logit /= total);
}

/// The index of the largest value, the first of equals; 0 if there are no values.
///
/// ```
/// assert_eq!(isinglass_bits::argmax(&[0.1, 0.7, 0.7]), 1);
/// ```
pub fn argmax<T: PartialOrd>(values: &[T]) -> usize {
    (1..values.len()).fold(0, |best, index| if values[index] > values[best] { index } else { best })
}
