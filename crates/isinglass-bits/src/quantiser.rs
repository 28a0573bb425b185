//! From real numbers to bytes, column by column.
//!
//! A table has columns of different kinds, metres beside years, and a packed network sums bytes.
//! A quantiser maps the value `x` of column `j` to
//!
//! ```text
//! t    = (x − centre_j) · factor_j              a subtraction, then a product, each rounded to f32
//! n    = t clamped to [−128, 127], rounded to the nearest integer, ties to even
//! byte = 128 + n
//! ```
//!
//! No other arithmetic takes place, and none of it can be fused: every machine, and the exports to ONNX and C, compute the same byte.
//! Values beyond the range end at byte 0 or 255.
//! A column that was constant in training has factor 0 and always gives byte 128; so does a product 0·∞, which is not a number.
//! Missing values (NaN) and infinite ones are errors that name their row and column, counted from 0.
//!
//! After quantisation one [`Preprocessing`] turns the bytes of all columns into inputs, so that the first layer remains one sum of bytes.
//!
//! ```
//! use isinglass_bits::Quantiser;
//!
//! // Two columns; the second is constant.
//! let values = [1.0, 7.0, 2.0, 7.0, 3.0, 7.0];
//! let (quantiser, preprocessing) = Quantiser::table(&values, 2, 0..3)?;
//! assert_eq!(quantiser.quantise(&values)?, [89, 128, 128, 128, 167, 128]);
//! // Inputs of mean 0 and, up to rounding, variance 1: −√1.5, 0, √1.5.
//! assert!((preprocessing.apply(167.0) - 1.5f32.sqrt()).abs() < 0.01);
//! // Beyond the range of four standard deviations, and missing.
//! assert_eq!(quantiser.quantise(&[1e30, 0.0])?, [255, 128]);
//! assert_eq!(quantiser.quantise(&[2.0, 7.0, 2.0, f32::NAN]).unwrap_err().to_string(), "missing value (NaN) in row 1, column 1");
//! # Ok::<(), isinglass_bits::Error>(())
//! ```

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use crate::preprocessing::ByteMoments;
use crate::{Error, Preprocessing};

/// Standard deviations either side of the mean that [`Quantiser::table`] maps to the bytes 1 to 255.
///
/// Fewer clip more of the data, more make the steps coarser: at 4 a step is 0.03 deviations.
pub const RANGE: f64 = 4.0;

/// The byte of a value at its column's centre.
const CENTRE: u8 = 128;

/// A centre and a factor for every column; see the [module's formula](self).
///
/// Centres are finite, factors finite and not negative.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantiser {
    centres: Vec<f32>,
    factors: Vec<f32>,
}

impl Quantiser {
    /// A quantiser with a centre and a factor for every column.
    ///
    /// # Errors
    ///
    /// [`Error::Shape`] if there are no columns, or not as many factors as centres; [`Error::Value`] if a centre is not finite, or a factor not finite or
    /// negative.
    pub fn new(centres: Vec<f32>, factors: Vec<f32>) -> Result<Self, Error> {
        if centres.len() != factors.len() || centres.is_empty() {
            let (centres, factors) = (centres.len(), factors.len());
            return Err(Error::Shape(format!("a quantiser with {centres} centres and {factors} factors: every column needs one of each")));
        }
        if let Some(column) = centres.iter().position(|centre| !centre.is_finite()) {
            return Err(Error::Value(format!("column {column}: centre {}, which is not finite", centres[column])));
        }
        if let Some(column) = factors.iter().position(|factor| !(factor.is_finite() && *factor >= 0.0)) {
            return Err(Error::Value(format!(
                "column {column}: factor {}, which must be finite and at least 0",
                isinglass_files::number(factors[column])
            )));
        }
        Ok(Self { centres, factors })
    }

    /// The quantiser for a table, chosen on the given rows of row-major `values`, and the preprocessing that follows it.
    ///
    /// Each column's mean becomes byte 128, and [`RANGE`] standard deviations either side of it 127 steps.
    /// After the preprocessing every column has mean 0 and variance 1, up to rounding and clipping.
    /// Columns whose values are all equal, or so close that the factor overflows, get factor 0.
    ///
    /// # Errors
    ///
    /// [`Error::Inputs`] if there are no rows, or one that is not in `values`; [`Error::NotFinite`] if a value is missing or infinite.
    pub fn table(values: &[f32], columns: usize, rows: impl Iterator<Item = usize> + Clone) -> Result<(Self, Preprocessing), Error> {
        let rows = Rows::new(values, columns, rows)?;
        let count = rows.clone().count() as f64;
        let first = rows.clone().next().unwrap_or(&[]);
        // Two passes in 64 bits: no square of an f32 overflows, and large means cost no digits of the deviation.
        let mut means = vec![0.0; columns];
        let mut varies = vec![false; columns];
        for row in rows.clone() {
            for (column, &value) in row.iter().enumerate() {
                means[column] += f64::from(value);
                varies[column] |= value != first[column];
            }
        }
        means.iter_mut().for_each(|mean| *mean /= count);
        let mut squares = vec![0.0; columns];
        for row in rows {
            for ((sum, mean), &value) in squares.iter_mut().zip(&means).zip(row) {
                let difference = f64::from(value) - mean;
                *sum += difference * difference;
            }
        }
        let factor = |(sum, varies): (&f64, &bool)| if *varies { factor(127.0, RANGE * libm::sqrt(sum / count)) } else { 0.0 };
        let factors = squares.iter().zip(&varies).map(factor).collect();
        let quantiser = Self::new(means.iter().map(|&mean| mean as f32).collect(), factors)?;
        Ok((quantiser, Preprocessing::new(CENTRE.into(), (RANGE / 127.0) as f32)?))
    }

    /// The quantiser for images of real numbers, chosen on the given rows of row-major `values`, and the preprocessing that follows it.
    ///
    /// All columns share one centre and factor, which map the smallest value to byte 0 and the largest to 255: `byte/255` becomes `byte` again.
    /// The preprocessing gives the bytes of these rows mean 0 and variance 1.
    ///
    /// # Errors
    ///
    /// As [`Quantiser::table`].
    pub fn image(values: &[f32], columns: usize, rows: impl Iterator<Item = usize> + Clone) -> Result<(Self, Preprocessing), Error> {
        let rows = Rows::new(values, columns, rows)?;
        let widest = |(least, largest): (f32, f32), &value: &f32| (least.min(value), largest.max(value));
        let (least, largest) = rows.clone().flatten().fold((f32::INFINITY, f32::NEG_INFINITY), widest);
        let (least, width) = (f64::from(least), f64::from(largest) - f64::from(least));
        let centre = least + width * (f64::from(CENTRE) / 255.0);
        let quantiser = Self::new(vec![centre as f32; columns], vec![factor(255.0, width); columns])?;
        let (mut bytes, mut moments) = (vec![0; columns], ByteMoments::default());
        for row in rows {
            quantiser.quantise_finite(row, &mut bytes);
            moments.add(&bytes);
        }
        Ok((quantiser, moments.standardising()))
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.centres.len()
    }

    /// Subtracted from the values of each column.
    pub fn centres(&self) -> &[f32] {
        &self.centres
    }

    /// Applied to the values of each column after subtracting its centre; 0 for a constant column.
    pub fn factors(&self) -> &[f32] {
        &self.factors
    }

    /// The bytes of whole rows.
    ///
    /// # Errors
    ///
    /// [`Error::Inputs`] if `values` are not whole rows; [`Error::NotFinite`] names the first value that is missing or infinite.
    pub fn quantise(&self, values: &[f32]) -> Result<Vec<u8>, Error> {
        let mut bytes = vec![0; values.len()];
        self.quantise_into(values, &mut bytes)?;
        Ok(bytes)
    }

    /// Like [`Quantiser::quantise`], into existing memory.
    ///
    /// # Errors
    ///
    /// As [`Quantiser::quantise`]; and [`Error::Inputs`] if `bytes` is not as long as `values`.
    pub fn quantise_into(&self, values: &[f32], bytes: &mut [u8]) -> Result<(), Error> {
        if bytes.len() != values.len() {
            return Err(Error::Inputs(format!("{} bytes for {} values: every value becomes one byte", bytes.len(), values.len())));
        }
        self.check(values)?;
        self.quantise_finite(values, bytes);
        Ok(())
    }

    /// Turns values of a row, from column `first` on, into bytes in place, stored as floats.
    /// Values that are not finite end at the edge of the range, or at byte 128 if they are NaN.
    ///
    /// # Panics
    ///
    /// If there are more values than columns.
    pub fn round_part(&self, first: usize, values: &mut [f32]) {
        let range = first..first + values.len();
        for ((value, centre), factor) in values.iter_mut().zip(&self.centres[range.clone()]).zip(&self.factors[range]) {
            *value = f32::from(byte_of(*value, *centre, *factor));
        }
    }

    /// Checks that these are whole rows of finite values.
    pub(crate) fn check(&self, values: &[f32]) -> Result<(), Error> {
        let columns = self.columns();
        if !values.len().is_multiple_of(columns) {
            return Err(Error::Inputs(format!("{} values do not make whole rows of {columns}", values.len())));
        }
        match values.iter().position(|value| !value.is_finite()) {
            None => Ok(()),
            Some(place) => Err(Error::NotFinite { row: place / columns, column: place % columns, value: values[place] }),
        }
    }

    /// The bytes of whole rows that [`Quantiser::check`] accepted.
    pub(crate) fn quantise_finite(&self, values: &[f32], bytes: &mut [u8]) {
        let columns = self.columns();
        for (values, bytes) in values.chunks_exact(columns).zip(bytes.chunks_exact_mut(columns)) {
            for (((byte, value), centre), factor) in bytes.iter_mut().zip(values).zip(&self.centres).zip(&self.factors) {
                *byte = byte_of(*value, *centre, *factor);
            }
        }
    }
}

/// The rule.
fn byte_of(value: f32, centre: f32, factor: f32) -> u8 {
    /// `1.5·2²³`: in its binade floats are whole numbers, so that adding it rounds to one, ties to even, and leaves it in the lowest bits.
    const WHOLE: f32 = 12_582_912.0;
    let t = (value - centre) * factor;
    let t = if t.is_nan() { 0.0 } else { t.clamp(-128.0, 127.0) };
    // The lowest byte of `WHOLE` is 0.
    ((t + WHOLE).to_bits() as u8).wrapping_add(CENTRE)
}

/// `steps/width`, or 0 where that overflows: for constant and almost constant columns.
fn factor(steps: f64, width: f64) -> f32 {
    let factor = (steps / width) as f32;
    if factor.is_finite() { factor } else { 0.0 }
}

/// Chosen rows of a table.
#[derive(Clone)]
struct Rows<'a, I> {
    values: &'a [f32],
    columns: usize,
    rows: I,
}

impl<'a, I: Iterator<Item = usize> + Clone> Rows<'a, I> {
    /// Checks that there are such rows, at least one, and that all their values are finite.
    fn new(values: &'a [f32], columns: usize, rows: I) -> Result<Self, Error> {
        if columns == 0 || !values.len().is_multiple_of(columns) {
            return Err(Error::Inputs(format!("{} values do not make whole rows of {columns}", values.len())));
        }
        let count = values.len() / columns;
        if let Some(row) = rows.clone().find(|row| *row >= count) {
            return Err(Error::Inputs(format!("row {row} of a table with {count} rows, counted from 0")));
        }
        if rows.clone().next().is_none() {
            return Err(Error::Inputs("no rows to choose a quantiser on".into()));
        }
        let chosen = Self { values, columns, rows };
        for (row, values) in chosen.rows.clone().zip(chosen.clone()) {
            if let Some(column) = values.iter().position(|value| !value.is_finite()) {
                return Err(Error::NotFinite { row, column, value: values[column] });
            }
        }
        Ok(chosen)
    }
}

impl<'a, I: Iterator<Item = usize>> Iterator for Rows<'a, I> {
    type Item = &'a [f32];

    fn next(&mut self) -> Option<&'a [f32]> {
        self.rows.next().map(|row| &self.values[row * self.columns..][..self.columns])
    }
}

#[cfg(test)]
mod tests;
