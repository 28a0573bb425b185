//! From raw values to a network's inputs.
//!
//! | values | features | rule |
//! |---|---|---|
//! | bytes | `image` | one offset and one scale: `x = (byte − offset)·scale` has mean 0 and variance 1 |
//! | bytes, floats | `table` | each column is standardised and quantised to a byte ([`Quantiser::table`]) |
//! | floats | `image` | all columns share one quantiser, from the smallest to the largest value ([`Quantiser::image`]) |
//!
//! Rules are chosen on the training examples. Training sees the quantised inputs, so nothing is lost when the network is packed.
//!
//! ```
//! use isinglass_net::{Features, InputRule, Values};
//!
//! // Metres and years: columns of different kinds.
//! let table = [1.0, 1990.0, 2.0, 2000.0, 3.0, 2010.0];
//! let rule = InputRule::choose((&table).into(), 2, &[0, 1, 2], Features::Table)?;
//! let inputs = rule.inputs((&table).into(), 2)?;
//! assert_eq!(inputs[..2], inputs[..1].repeat(2)); // −√1.5 in both columns of the first row, up to rounding
//! # Ok::<(), isinglass_net::Error>(())
//! ```

use std::fmt;

use isinglass_bits::{Preprocessing, Quantiser};

use crate::examples::Rows;
use crate::named::named;
use crate::{Error, Values};

/// The kind of the examples' columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Features {
    /// Pixels: all columns share one scale.
    Image,
    /// Columns of different kinds: each has its own scale.
    Table,
}

named!("kind of features", Features { Image => "image", Table => "table" });

impl Features {
    /// The default for these values: bytes are images, floats are tables.
    pub fn usual(values: Values<'_>) -> Self {
        match values {
            Values::Bytes(_) => Self::Image,
            Values::Floats(_) => Self::Table,
        }
    }
}

/// How raw values become inputs.
#[derive(Debug, Clone, PartialEq)]
pub struct InputRule {
    quantiser: Option<Quantiser>,
    preprocessing: Preprocessing,
    /// Whether the values were bytes when the rule was chosen; `None` if nothing is known, as in checkpoints of format 1.
    of_bytes: Option<bool>,
}

impl InputRule {
    /// Values as they are.
    pub fn unchanged() -> Self {
        Self::shared(Preprocessing::default())
    }

    /// One offset and scale for all values, without quantisation.
    pub fn shared(preprocessing: Preprocessing) -> Self {
        Self { quantiser: None, preprocessing, of_bytes: None }
    }

    /// One offset and scale for bytes.
    pub fn of_bytes(preprocessing: Preprocessing) -> Self {
        Self { quantiser: None, preprocessing, of_bytes: Some(true) }
    }

    /// A quantiser that turns real numbers into bytes, and an offset and scale that turn bytes into inputs.
    pub fn quantised(quantiser: Quantiser, preprocessing: Preprocessing) -> Self {
        Self { quantiser: Some(quantiser), preprocessing, of_bytes: Some(true) }
    }

    /// Chooses the rule for values of this kind from the rows at `indices`.
    ///
    /// # Errors
    ///
    /// [`Error::Examples`] if the values are not whole rows or not finite, or an index is out of range.
    pub fn choose(values: Values<'_>, columns: usize, indices: &[u32], features: Features) -> Result<Self, Error> {
        let rows = Rows::new(values, columns)?;
        rows.check_indices(indices)?;
        let numbers = indices.iter().map(|&index| index as usize);
        let quantised = |chosen: Result<(Quantiser, Preprocessing), isinglass_bits::Error>| match chosen {
            Ok((quantiser, preprocessing)) => Ok(Self::quantised(quantiser, preprocessing)),
            Err(error) => Err(Error::Examples(error.to_string())),
        };
        match (values, features) {
            (Values::Bytes(bytes), Features::Image) => {
                let chosen = numbers.map(|row| &bytes[row * columns..][..columns]);
                Ok(Self::of_bytes(Preprocessing::standardising_bytes(chosen)))
            }
            (Values::Bytes(bytes), Features::Table) => {
                let floats: Vec<f32> = bytes.iter().map(|&byte| f32::from(byte)).collect();
                quantised(Quantiser::table(&floats, columns, numbers))
            }
            (Values::Floats(floats), Features::Table) => quantised(Quantiser::table(floats, columns, numbers)),
            (Values::Floats(floats), Features::Image) => quantised(Quantiser::image(floats, columns, numbers)),
        }
    }

    /// How real numbers become bytes; `None` if they are not quantised.
    pub fn quantiser(&self) -> Option<&Quantiser> {
        self.quantiser.as_ref()
    }

    /// How bytes (or values without a quantiser) become inputs.
    pub fn preprocessing(&self) -> Preprocessing {
        self.preprocessing
    }

    /// The inputs for whole rows of values.
    ///
    /// # Errors
    ///
    /// [`Error::Examples`] if they are not whole rows of finite values, or the rule has a different number of columns.
    pub fn inputs(&self, values: Values<'_>, columns: usize) -> Result<Vec<f32>, Error> {
        self.check(columns)?;
        let rows = Rows::new(values, columns)?;
        let mut inputs = vec![0.0; values.len()];
        for (index, row) in inputs.chunks_exact_mut(columns).enumerate() {
            rows.copy_part(index, 0, row);
            self.apply(0, row);
        }
        Ok(inputs)
    }

    /// The bytes behind whole rows; `None` if the values are floats that are not quantised.
    pub(crate) fn bytes<'v>(&self, rows: &Rows<'v>) -> Option<std::borrow::Cow<'v, [u8]>> {
        match (rows.values(), &self.quantiser) {
            (Values::Bytes(bytes), None) => Some(bytes.into()),
            (_, Some(_)) => {
                let mut raw = vec![0.0; rows.features()];
                let mut bytes = Vec::with_capacity(rows.len() * rows.features());
                (0..rows.len()).for_each(|index| self.extend_quantised(&mut bytes, rows, index, &mut raw));
                Some(bytes.into())
            }
            (Values::Floats(_), None) => None,
        }
    }

    /// Adds the quantised bytes of a row; `raw` has room for one.
    pub(crate) fn extend_quantised(&self, bytes: &mut Vec<u8>, rows: &Rows<'_>, index: usize, raw: &mut [f32]) {
        rows.copy_part(index, 0, raw);
        self.quantise(0, raw);
        bytes.extend(raw.iter().map(|&byte| byte as u8));
    }

    /// Whether the network takes bytes, given or quantised.
    pub(crate) fn gives_bytes(&self, values: Values<'_>) -> bool {
        self.quantiser.is_some() || matches!(values, Values::Bytes(_))
    }

    /// Whether the values were bytes, or became bytes, when the rule was chosen; `None` if nothing is known.
    pub fn are_bytes(&self) -> Option<bool> {
        self.of_bytes
    }

    /// Whether a packed network can take the values for bytes; a guess by the scale where nothing is known.
    pub(crate) fn is_for_bytes(&self) -> bool {
        self.of_bytes.unwrap_or(self.preprocessing.scale() <= 1.0)
    }

    /// Checks that the rule has this number of columns.
    pub(crate) fn check(&self, columns: usize) -> Result<(), Error> {
        match &self.quantiser {
            Some(quantiser) if quantiser.columns() != columns => {
                Err(Error::Examples(format!("an input rule for {} columns, applied to {columns}", quantiser.columns())))
            }
            _ => Ok(()),
        }
    }

    /// Turns raw values of a row, from column `first` on, into bytes (as floats) if there is a quantiser.
    pub(crate) fn quantise(&self, first: usize, values: &mut [f32]) {
        if let Some(quantiser) = &self.quantiser {
            quantiser.round_part(first, values);
        }
    }

    /// Turns raw values of a row, from column `first` on, into inputs.
    pub(crate) fn apply(&self, first: usize, values: &mut [f32]) {
        self.quantise(first, values);
        let (chunks, rest) = values.as_chunks_mut::<16>();
        chunks.iter_mut().for_each(|chunk| *chunk = chunk.map(|value| self.preprocessing.apply(value)));
        rest.iter_mut().for_each(|value| *value = self.preprocessing.apply(*value));
    }
}

impl fmt::Display for InputRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (offset, scale) = (self.preprocessing.offset(), self.preprocessing.scale());
        match &self.quantiser {
            None => write!(f, "(x − {offset})·{scale}"),
            Some(_) => write!(f, "(byte − {offset})·{scale}, with one byte per real number"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_that_were_bytes_are_bytes_again() {
        let bytes: Vec<u8> = (0..=255).collect();
        let floats: Vec<f32> = bytes.iter().map(|&byte| f32::from(byte) / 255.0).collect();
        let all: Vec<u32> = (0..64).collect();
        let of_bytes = InputRule::choose(Values::Bytes(&bytes), 4, &all, Features::Image).unwrap();
        let of_floats = InputRule::choose(Values::Floats(&floats), 4, &all, Features::Image).unwrap();
        assert_eq!(of_bytes.preprocessing(), of_floats.preprocessing());
        assert_eq!(of_bytes.inputs(Values::Bytes(&bytes), 4).unwrap(), of_floats.inputs(Values::Floats(&floats), 4).unwrap());
        assert_eq!(of_floats.bytes(&Rows::new(Values::Floats(&floats), 4).unwrap()).unwrap(), bytes);
    }

    #[test]
    fn columns_of_a_table_have_their_own_scales() {
        let table: Vec<f32> = (0..100).flat_map(|i| [i as f32, 1e6 + 1e-3 * (i * 37 % 100) as f32, 7.0, -1e-9 * i as f32]).collect();
        let all: Vec<u32> = (0..100).collect();
        let rule = InputRule::choose((&table).into(), 4, &all, Features::Table).unwrap();
        let inputs = rule.inputs((&table).into(), 4).unwrap();
        for (column, constant) in [(0, false), (2, true), (3, false)] {
            let values: Vec<f64> = inputs.iter().skip(column).step_by(4).map(|&x| f64::from(x)).collect();
            let mean = values.iter().sum::<f64>() / 100.0;
            let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 100.0;
            assert!(mean.abs() < 0.02, "{column}: {mean}");
            assert!((variance - if constant { 0.0 } else { 1.0 }).abs() < 0.02, "{column}: {variance}");
        }
    }

    #[test]
    fn a_rule_is_for_its_own_columns() {
        let rule = InputRule::choose((&[1.0f32, 2.0, 3.0, 4.0]).into(), 2, &[0, 1], Features::Table).unwrap();
        assert!(rule.inputs((&[1.0f32, 2.0, 3.0]).into(), 3).is_err());
        assert!(
            InputRule::choose((&[1.0f32, f32::NAN]).into(), 2, &[0], Features::Table).unwrap_err().to_string().contains("row 0, column 1")
        );
        assert!(InputRule::choose((&[1.0f32, 2.0]).into(), 2, &[1], Features::Table).is_err());
    }
}
