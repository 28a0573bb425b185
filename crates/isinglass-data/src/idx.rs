//! IDX, the format of MNIST: a magic number, the dimensions as big-endian 32-bit numbers, then bytes.
//!
//! Reading is strict: the magic number, the dimensions and the length of the data must agree to the byte. Memory grows with the data in the file, whatever the
//! header announces.
//!
//! ```
//! use isinglass_data::idx;
//!
//! let file = [0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 2, 10, 20, 30, 40];
//! let images = idx::read_images(&file[..])?;
//! assert_eq!((images.height, images.width, images.pixels), (2, 2, vec![10, 20, 30, 40]));
//!
//! assert_eq!(idx::read_labels(&[0, 0, 8, 1, 0, 0, 0, 2, 7, 9][..])?, [7, 9]);
//! # Ok::<(), isinglass_data::Error>(())
//! ```

use std::io::{self, Read, Write};

use crate::Error;

/// The magic number of a file of images: bytes in three dimensions.
pub const IMAGES: u32 = 2051;

/// The magic number of a file of labels: bytes in one dimension.
pub const LABELS: u32 = 2049;

/// The contents of a file of images.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Images {
    /// Pixels from top to bottom.
    pub height: usize,
    /// Pixels from left to right.
    pub width: usize,
    /// All pixels, image after image and row after row.
    pub pixels: Vec<u8>,
}

/// Reads images.
///
/// # Errors
///
/// [`Error::Magic`] for another kind of file, [`Error::Shape`] for images without pixels, [`Error::Header`], [`Error::Truncated`] and
/// [`Error::Trailing`] if the length differs from the one announced.
pub fn read_images(mut from: impl Read) -> Result<Images, Error> {
    let [n, height, width] = header(&mut from, "images", IMAGES, "bytes, three dimensions")?;
    if n == 0 || height == 0 || width == 0 {
        return Err(Error::Shape(format!("{n}×{height}×{width}"), "no dimension may be 0"));
    }
    let length = u64::from(n)
        .checked_mul(u64::from(height) * u64::from(width))
        .ok_or_else(|| Error::Shape(format!("{n}×{height}×{width}"), "that is more than any file holds"))?;
    let pixels = read_exactly(from, length)?;
    Ok(Images { height: height as usize, width: width as usize, pixels })
}

/// Reads labels.
///
/// # Errors
///
/// [`Error::Magic`] for another kind of file, [`Error::Header`], [`Error::Truncated`] and [`Error::Trailing`] if the length differs from the one announced.
pub fn read_labels(mut from: impl Read) -> Result<Vec<u8>, Error> {
    let [n] = header(&mut from, "labels", LABELS, "bytes, one dimension")?;
    read_exactly(from, u64::from(n))
}

/// Writes images, all of `height` by `width` pixels.
///
/// # Errors
///
/// Those of writing, and [`io::ErrorKind::InvalidInput`] if the pixels do not fill whole images or are too many.
pub fn write_images(mut to: impl Write, height: usize, width: usize, pixels: &[u8]) -> io::Result<()> {
    let size = height * width;
    if size == 0 || !pixels.len().is_multiple_of(size) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    to.write_all(&IMAGES.to_be_bytes())?;
    for dimension in [pixels.len() / size, height, width] {
        to.write_all(&word(dimension)?)?;
    }
    to.write_all(pixels)
}

/// Writes labels.
///
/// # Errors
///
/// Those of writing, and [`io::ErrorKind::InvalidInput`] if there are too many.
pub fn write_labels(mut to: impl Write, labels: &[u8]) -> io::Result<()> {
    to.write_all(&LABELS.to_be_bytes())?;
    to.write_all(&word(labels.len())?)?;
    to.write_all(labels)
}

fn word(n: usize) -> io::Result<[u8; 4]> {
    u32::try_from(n).map(u32::to_be_bytes).map_err(|_| io::ErrorKind::InvalidInput.into())
}

/// The dimensions, after the magic number.
fn header<const N: usize>(from: &mut impl Read, what: &'static str, expected: u32, meaning: &'static str) -> Result<[u32; N], Error> {
    let bytes = read_at_most(from, 4 + 4 * N as u64)?;
    let words: Vec<u32> = bytes.chunks_exact(4).map(|word| u32::from_be_bytes([word[0], word[1], word[2], word[3]])).collect();
    match words.first() {
        Some(&found) if found != expected => Err(Error::Magic { what, found, expected, meaning }),
        _ if words.len() <= N => Err(Error::Header { length: bytes.len() }),
        _ => Ok(std::array::from_fn(|i| words[i + 1])),
    }
}

/// The rest, which must have the given length. Memory grows with what the file contains, not with `length`.
pub(crate) fn read_exactly(mut from: impl Read, length: u64) -> Result<Vec<u8>, Error> {
    let mut bytes = read_at_most(&mut from, length)?;
    bytes.shrink_to_fit();
    if (bytes.len() as u64) < length {
        return Err(Error::Truncated { expected: length, found: bytes.len() as u64 });
    }
    if !read_at_most(&mut from, 1)?.is_empty() {
        return Err(Error::Trailing { expected: length });
    }
    Ok(bytes)
}

pub(crate) fn read_at_most(from: &mut impl Read, length: u64) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    from.take(length).read_to_end(&mut bytes).map_err(crate::contents::read_error)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn images(words: [u32; 4], data: &[u8]) -> Result<Images, Error> {
        let mut file: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        file.extend(data);
        read_images(&file[..])
    }

    #[test]
    fn what_is_written_is_read() {
        let mut file = Vec::new();
        write_images(&mut file, 2, 3, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]).unwrap();
        let read = read_images(&file[..]).unwrap();
        assert_eq!((read.height, read.width, read.pixels.len()), (2, 3, 12));
        let mut file = Vec::new();
        write_labels(&mut file, &[5, 0, 255]).unwrap();
        assert_eq!(read_labels(&file[..]).unwrap(), [5, 0, 255]);
        assert!(write_images(Vec::new(), 2, 3, &[0; 7]).is_err());
    }

    #[test]
    fn every_length_but_the_right_one_is_refused() {
        let mut file = Vec::new();
        write_images(&mut file, 2, 2, &[9; 8]).unwrap();
        for length in 0..file.len() {
            let error = read_images(&file[..length]).unwrap_err();
            match length {
                0..16 => assert!(matches!(error, Error::Header { length: n } if n == length), "{length}: {error}"),
                _ => {
                    assert!(matches!(error, Error::Truncated { expected: 8, found } if found as usize == length - 16), "{length}: {error}")
                }
            }
        }
        file.push(0);
        assert!(matches!(read_images(&file[..]), Err(Error::Trailing { expected: 8 })));
    }

    #[test]
    fn headers_that_lie_cost_nothing() {
        for words in [[IMAGES, u32::MAX, 28, 28], [IMAGES, 1, u32::MAX, u32::MAX]] {
            assert!(matches!(images(words, &[0; 100]), Err(Error::Truncated { found: 100, .. })));
        }
        assert!(matches!(images([IMAGES, u32::MAX, u32::MAX, u32::MAX], &[0; 100]), Err(Error::Shape(..))));
        assert!(matches!(read_labels(&[0, 0, 8, 1, 255, 255, 255, 255, 3][..]), Err(Error::Truncated { found: 1, .. })));
    }

    #[test]
    fn other_kinds_and_empty_dimensions_are_refused() {
        let error = images([LABELS, 1, 1, 1], &[0]).unwrap_err();
        assert_eq!(error.to_string(), "not an IDX file of images: it starts with 2049, not 2051 (bytes, three dimensions)");
        assert!(matches!(read_labels(&[0, 0, 8, 3, 0, 0, 0, 0][..]), Err(Error::Magic { found: 2051, .. })));
        for words in [[IMAGES, 0, 1, 1], [IMAGES, 1, 0, 1], [IMAGES, 1, 1, 0]] {
            assert!(matches!(images(words, &[]), Err(Error::Shape(..))));
        }
    }
}
