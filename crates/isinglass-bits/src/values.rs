//! The inputs of a model: bytes or real numbers.

use alloc::vec::Vec;
use core::ops::Range;

/// Whole rows of inputs, one after the other: `&[u8]` for models of bytes, `&[f32]` for models with a [`Quantiser`](crate::Quantiser).
///
/// References to slices, arrays and vectors convert to it:
///
/// ```
/// use isinglass_bits::Values;
///
/// let images = vec![0u8, 255];
/// assert!(matches!(Values::from(&images), Values::Bytes([0, 255])));
/// assert!(matches!(Values::from(&[0.5, -1.0]), Values::Floats(_)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Values<'a> {
    /// Bytes, such as the pixels of images.
    Bytes(&'a [u8]),
    /// Real numbers.
    Floats(&'a [f32]),
}

impl<'a> Values<'a> {
    /// Number of values.
    pub fn len(self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Floats(reals) => reals.len(),
        }
    }

    /// Whether there are no values.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Some of the values.
    ///
    /// # Panics
    ///
    /// If the range is not within them.
    pub fn slice(self, range: Range<usize>) -> Self {
        match self {
            Self::Bytes(bytes) => Self::Bytes(&bytes[range]),
            Self::Floats(reals) => Self::Floats(&reals[range]),
        }
    }
}

impl<'a> From<&'a [u8]> for Values<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Bytes(bytes)
    }
}

impl<'a, const LEN: usize> From<&'a [u8; LEN]> for Values<'a> {
    fn from(bytes: &'a [u8; LEN]) -> Self {
        Self::Bytes(bytes)
    }
}

impl<'a> From<&'a Vec<u8>> for Values<'a> {
    fn from(bytes: &'a Vec<u8>) -> Self {
        Self::Bytes(bytes)
    }
}

impl<'a> From<&'a [f32]> for Values<'a> {
    fn from(reals: &'a [f32]) -> Self {
        Self::Floats(reals)
    }
}

impl<'a, const LEN: usize> From<&'a [f32; LEN]> for Values<'a> {
    fn from(reals: &'a [f32; LEN]) -> Self {
        Self::Floats(reals)
    }
}

impl<'a> From<&'a Vec<f32>> for Values<'a> {
    fn from(reals: &'a Vec<f32>) -> Self {
        Self::Floats(reals)
    }
}
