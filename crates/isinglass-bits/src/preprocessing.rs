//! From bytes to inputs: one offset and one scale for all columns.
//!
//! ```
//! use isinglass_bits::Preprocessing;
//!
//! let preprocessing = Preprocessing::new(128.0, 0.5)?;
//! assert_eq!(preprocessing.apply(130.0), 1.0);
//! assert!(Preprocessing::new(0.0, -1.0).is_err());
//! # Ok::<(), isinglass_bits::Error>(())
//! ```

use alloc::format;

use isinglass_files::number;
use serde::{Deserialize, Serialize};

use crate::Error;

/// How raw values become inputs: `x = (value − offset) · scale`.
///
/// The offset is finite, the scale finite and above 0.
/// As JSON: `{"offset": 128.0, "scale": 0.5}`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Fields", into = "Fields")]
pub struct Preprocessing {
    offset: f32,
    scale: f32,
}

/// The unchecked form, as read from a file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    offset: f32,
    scale: f32,
}

impl TryFrom<Fields> for Preprocessing {
    type Error = Error;

    fn try_from(Fields { offset, scale }: Fields) -> Result<Self, Error> {
        Self::new(offset, scale)
    }
}

impl From<Preprocessing> for Fields {
    fn from(Preprocessing { offset, scale }: Preprocessing) -> Self {
        Self { offset, scale }
    }
}

impl Default for Preprocessing {
    /// Leaves values unchanged.
    fn default() -> Self {
        Self { offset: 0.0, scale: 1.0 }
    }
}

impl Preprocessing {
    /// Subtracts `offset`, then multiplies by `scale`.
    ///
    /// # Errors
    ///
    /// [`Error::Value`] if either is not finite, or the scale is not above 0.
    pub fn new(offset: f32, scale: f32) -> Result<Self, Error> {
        if offset.is_finite() && scale.is_finite() && scale > 0.0 {
            return Ok(Self { offset, scale });
        }
        let (offset, scale) = (number(offset), number(scale));
        Err(Error::Value(format!("preprocessing with offset {offset} and scale {scale}: both must be finite, and the scale above 0")))
    }

    /// Maps values with this mean and standard deviation to inputs of mean 0 and variance 1.
    /// Where the deviation is 0, or so small that its inverse overflows, the scale is 1.
    ///
    /// # Errors
    ///
    /// [`Error::Value`] if the mean or the deviation is not a number that f32 can hold.
    pub fn standardising(mean: f64, deviation: f64) -> Result<Self, Error> {
        let inverse = (1.0 / deviation) as f32;
        Self::new(mean as f32, if deviation == 0.0 || inverse == f32::INFINITY { 1.0 } else { inverse })
    }

    /// Maps these bytes to inputs of mean 0 and variance 1. The sums behind both are exact, so the order of the rows does not matter.
    pub fn standardising_bytes<'a>(rows: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut moments = ByteMoments::default();
        rows.for_each(|row| moments.add(row));
        moments.standardising()
    }

    /// Subtracted from every value.
    pub fn offset(self) -> f32 {
        self.offset
    }

    /// Factor applied after subtracting the offset.
    pub fn scale(self) -> f32 {
        self.scale
    }

    /// The input for a raw value.
    pub fn apply(self, value: f32) -> f32 {
        (value - self.offset) * self.scale
    }
}

/// Exact sums over bytes.
#[derive(Default)]
pub(crate) struct ByteMoments {
    count: u128,
    sum: u128,
    squares: u128,
}

impl ByteMoments {
    pub fn add(&mut self, bytes: &[u8]) {
        // The sum of the squares of a part fits into 32 bits.
        const PART: usize = 1 << 15;
        for part in bytes.chunks(PART) {
            self.count += part.len() as u128;
            self.sum += u128::from(part.iter().map(|&byte| u32::from(byte)).sum::<u32>());
            self.squares += u128::from(part.iter().map(|&byte| u32::from(byte) * u32::from(byte)).sum::<u32>());
        }
    }

    /// The preprocessing that gives the bytes mean 0 and variance 1.
    pub fn standardising(&self) -> Preprocessing {
        let Self { count, sum, squares } = *self;
        if count == 0 {
            return Preprocessing::default();
        }
        let variance = (count * squares - sum * sum) as f64 / (count * count) as f64;
        Preprocessing::standardising(sum as f64 / count as f64, libm::sqrt(variance)).expect("moments of bytes are finite")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_finite_offsets_and_positive_scales_are_accepted() {
        for (offset, scale) in [(f32::NAN, 1.0), (f32::INFINITY, 1.0), (0.0, 0.0), (0.0, -1.0), (0.0, f32::NAN), (0.0, f32::INFINITY)] {
            assert!(Preprocessing::new(offset, scale).is_err(), "{offset}, {scale}");
        }
        assert!(serde_json::from_str::<Preprocessing>(r#"{"offset":1.0,"scale":0.0}"#).is_err());
        assert!(serde_json::from_str::<Preprocessing>(r#"{"offset":1.0,"scale":1.0,"x":1}"#).is_err());
    }

    #[test]
    fn json_is_offset_and_scale() {
        let preprocessing = Preprocessing::new(33.5, 0.0125).unwrap();
        let text = r#"{"offset":33.5,"scale":0.0125}"#;
        assert_eq!(serde_json::to_string(&preprocessing).unwrap(), text);
        assert_eq!(serde_json::from_str::<Preprocessing>(text).unwrap(), preprocessing);
    }

    #[test]
    fn standardising_survives_every_deviation() {
        let scale = |deviation| Preprocessing::standardising(0.5, deviation).map(Preprocessing::scale).ok();
        assert_eq!(scale(0.0), Some(1.0));
        assert_eq!(scale(1e-300), Some(1.0));
        assert_eq!(scale(4.0), Some(0.25));
        assert!(scale(3.4e38).unwrap() > 0.0);
        assert_eq!(scale(f64::NAN), None);
        assert_eq!(scale(-1.0), None);
        assert!(Preprocessing::standardising(1e39, 1.0).is_err());
    }

    #[test]
    fn bytes_are_standardised_by_exact_sums() {
        // Mean 127.5, variance (256² − 1)/12.
        let bytes: alloc::vec::Vec<u8> = (0..=255).collect();
        let expected = Preprocessing::standardising(127.5, libm::sqrt((65536.0 - 1.0) / 12.0)).unwrap();
        assert_eq!(Preprocessing::standardising_bytes(bytes.chunks(7)), expected);
        assert_eq!(Preprocessing::standardising_bytes(bytes.chunks(7).rev()), expected);
        assert_eq!(Preprocessing::standardising_bytes([&[9; 5][..]].into_iter()), Preprocessing::new(9.0, 1.0).unwrap());
        assert_eq!(Preprocessing::standardising_bytes(core::iter::empty()), Preprocessing::default());
    }
}
