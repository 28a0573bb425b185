//! What a model looks at: bytes, or real numbers.

use alloc::vec::Vec;
use core::ops::Range;

/// Whole rows of inputs, one after the other: `&[u8]` for models of bytes, `&[f32]` for models with a [`Quantiser`](crate::Quantiser).
///
/// Slices, arrays and vectors turn into it by themselves:
///
/// ```
/// use isinglass_bits::Inputs;
///
/// let images = vec![0u8, 255];
/// assert!(matches!(Inputs::from(&images), Inputs::Bytes([0, 255])));
/// assert!(matches!(Inputs::from(&[0.5, -1.0]), Inputs::Reals(_)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Inputs<'a> {
    /// Bytes, such as the pixels of images.
    Bytes(&'a [u8]),
    /// Real numbers.
    Reals(&'a [f32]),
}

impl<'a> Inputs<'a> {
    /// Number of values.
    pub fn len(self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Reals(reals) => reals.len(),
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
            Self::Reals(reals) => Self::Reals(&reals[range]),
        }
    }
}

impl<'a> From<&'a [u8]> for Inputs<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Bytes(bytes)
    }
}

impl<'a, const LEN: usize> From<&'a [u8; LEN]> for Inputs<'a> {
    fn from(bytes: &'a [u8; LEN]) -> Self {
        Self::Bytes(bytes)
    }
}

impl<'a> From<&'a Vec<u8>> for Inputs<'a> {
    fn from(bytes: &'a Vec<u8>) -> Self {
        Self::Bytes(bytes)
    }
}

impl<'a> From<&'a [f32]> for Inputs<'a> {
    fn from(reals: &'a [f32]) -> Self {
        Self::Reals(reals)
    }
}

impl<'a, const LEN: usize> From<&'a [f32; LEN]> for Inputs<'a> {
    fn from(reals: &'a [f32; LEN]) -> Self {
        Self::Reals(reals)
    }
}

impl<'a> From<&'a Vec<f32>> for Inputs<'a> {
    fn from(reals: &'a Vec<f32>) -> Self {
        Self::Reals(reals)
    }
}
