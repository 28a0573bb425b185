//! `.npy`, written by `numpy.save`: a text header with type and shape, then numbers.
//!
//! Images are `uint8`, `float32` or `float64` of shape (n, height, width), or (n, d) for images of 1 × d; labels are any whole numbers of shape (n,) or (n, 1).
//! Arrays must be in C order and little-endian, as NumPy writes them unless told otherwise.
//!
//! ```
//! use isinglass_data::npy;
//!
//! let mut file = b"\x93NUMPY\x01\x00\x46\x00".to_vec();
//! file.extend(format!("{:69}\n", "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 1), }").bytes());
//! file.extend([3, 4]);
//! assert_eq!(npy::read_labels(&file[..])?, [3, 4]);
//! # Ok::<(), isinglass_data::Error>(())
//! ```

use std::io::Read;

use isinglass_files::number;

use crate::idx::{read_at_most, read_exactly};
use crate::{Error, Pixels};

/// The first bytes of every file.
pub(crate) const MAGIC: &[u8] = b"\x93NUMPY";

/// For such arrays NumPy writes a few hundred bytes at most.
const LONGEST_HEADER: u64 = 1 << 16;

/// Reads images: height, width and pixels.
///
/// # Errors
///
/// [`Error::Npy`] for other types, orders and headers, [`Error::Shape`] for other shapes, [`Error::Truncated`] and [`Error::Trailing`] if the
/// length differs from the one announced, [`Error::NotFinite`] for a value that is infinite, NaN, or too large for 32 bits.
pub fn read_images(mut from: impl Read) -> Result<(usize, usize, Pixels), Error> {
    let header = Header::read(&mut from)?;
    let (height, width) = match header.shape[..] {
        [_, d] => (1, d),
        [_, height, width] => (height, width),
        _ => return Err(Error::Shape(header.shape_text(), "images are (n, height, width) or (n, d)")),
    };
    let size = match header.kind.as_str() {
        "|u1" => 1,
        "<f4" => 4,
        "<f8" => 8,
        other => return Err(Error::Npy(format!("images of type {other}, not uint8, or little-endian float32 or float64"))),
    };
    let bytes = read_exactly(from, header.bytes(size)?)?;
    let row = height.saturating_mul(width).max(1);
    let pixels = match size {
        1 => Pixels::Bytes(bytes),
        4 => Pixels::Floats(numbers(&bytes, |number: [u8; 4]| f32::from_le_bytes(number)).collect()),
        _ => {
            let mut floats = Vec::with_capacity(bytes.len() / 8);
            for (at, wide) in numbers(&bytes, |number: [u8; 8]| f64::from_le_bytes(number)).enumerate() {
                let narrow = wide as f32;
                if !narrow.is_finite() {
                    return Err(Error::NotFinite { value: number(wide).to_string(), row: at / row, column: at % row });
                }
                floats.push(narrow);
            }
            Pixels::Floats(floats)
        }
    };
    Ok((height, width, pixels))
}

/// Reads labels.
///
/// # Errors
///
/// Those of [`read_images`], and [`Error::Label`] for a label that is not in 0 to 255.
pub fn read_labels(mut from: impl Read) -> Result<Vec<u8>, Error> {
    let header = Header::read(&mut from)?;
    if !matches!(header.shape[..], [_] | [_, 1]) {
        return Err(Error::Shape(header.shape_text(), "labels are (n,) or (n, 1)"));
    }
    let (size, signed) = match header.kind.as_str() {
        "|u1" => (1, false),
        "|i1" => (1, true),
        "<u2" => (2, false),
        "<i2" => (2, true),
        "<u4" => (4, false),
        "<i4" => (4, true),
        "<u8" => (8, false),
        "<i8" => (8, true),
        other => return Err(Error::Npy(format!("labels of type {other}, not whole numbers in little-endian order"))),
    };
    let bytes = read_exactly(from, header.bytes(size)?)?;
    bytes
        .chunks_exact(size as usize)
        .enumerate()
        .map(|(row, number)| {
            // The first byte is the least; above it a label has only zeros.
            if number[1..].iter().all(|byte| *byte == 0) && !(signed && size == 1 && number[0] > 127) {
                return Ok(number[0]);
            }
            let mut wide = [if signed && number[number.len() - 1] > 127 { 0xff } else { 0 }; 16];
            wide[..number.len()].copy_from_slice(number);
            Err(Error::Label { label: i128::from_le_bytes(wide).to_string(), row, largest: 255 })
        })
        .collect()
}

fn numbers<const N: usize, T>(bytes: &[u8], number: impl Fn([u8; N]) -> T) -> impl Iterator<Item = T> {
    bytes.chunks_exact(N).map(move |chunk| {
        let mut own = [0; N];
        own.copy_from_slice(chunk);
        number(own)
    })
}

/// Type and shape.
#[derive(Debug, PartialEq)]
struct Header {
    kind: String,
    shape: Vec<usize>,
}

impl Header {
    fn read(from: &mut impl Read) -> Result<Self, Error> {
        let start = read_at_most(from, 8)?;
        if start.len() < 8 {
            return Err(Error::Header { length: start.len() });
        }
        if !start.starts_with(MAGIC) {
            return Err(Error::Npy("it does not start with \\x93NUMPY".to_owned()));
        }
        // Versions 2 and 3 differ from 1 in the width of the length, and 3 in that names may be beyond ASCII.
        let width = match start[6] {
            1 => 2,
            2 | 3 => 4,
            other => return Err(Error::Npy(format!("version {other} of the format, not 1, 2 or 3"))),
        };
        let mut length = [0; 8];
        let bytes = read_at_most(from, width as u64)?;
        if bytes.len() < width {
            return Err(Error::Header { length: 8 + bytes.len() });
        }
        length[..width].copy_from_slice(&bytes);
        let length = u64::from_le_bytes(length);
        if length > LONGEST_HEADER {
            return Err(Error::Npy(format!("a header of {length} bytes, more than {LONGEST_HEADER}")));
        }
        let text = read_at_most(from, length)?;
        if (text.len() as u64) < length {
            return Err(Error::Header { length: 8 + width + text.len() });
        }
        let text = String::from_utf8(text).map_err(|_| Error::Npy("a header that is not text".to_owned()))?;
        Self::parse(&text)
    }

    /// A dictionary of exactly three entries, as Python writes it.
    fn parse(text: &str) -> Result<Self, Error> {
        // A header may be as long as a file.
        let start: String = text.trim_end().chars().take(200).collect();
        let wrong = || Error::Npy(format!("the header {start:?}"));
        let inside = text.trim().strip_prefix('{').and_then(|text| text.strip_suffix('}')).ok_or_else(wrong)?;
        let (mut kind, mut fortran, mut shape) = (None, None, None);
        let mut rest = inside.trim();
        while !rest.is_empty() {
            let (key, after) = quoted(rest).ok_or_else(wrong)?;
            let value = after.trim_start().strip_prefix(':').ok_or_else(wrong)?.trim_start();
            let after = match key {
                "descr" if kind.is_none() => {
                    let (name, after) = quoted(value).ok_or_else(|| Error::Npy("records, not plain numbers".to_owned()))?;
                    kind = Some(name.to_owned());
                    after
                }
                "fortran_order" if fortran.is_none() => {
                    let (flag, word) = if value.starts_with("True") { (true, "True") } else { (false, "False") };
                    fortran = Some(flag);
                    value.strip_prefix(word).ok_or_else(wrong)?
                }
                "shape" if shape.is_none() => {
                    let (inner, after) = value.strip_prefix('(').and_then(|value| value.split_once(')')).ok_or_else(wrong)?;
                    let inner = inner.trim();
                    let numbers = inner.strip_suffix(',').unwrap_or(inner).split(',').map(str::trim).filter(|word| !word.is_empty());
                    shape = Some(numbers.map(|word| word.parse().map_err(|_| wrong())).collect::<Result<Vec<usize>, _>>()?);
                    after
                }
                _ => return Err(wrong()),
            };
            let after = after.trim_start();
            rest = match after.strip_prefix(',') {
                Some(after) => after.trim_start(),
                None if after.is_empty() => after,
                None => return Err(wrong()),
            };
        }
        match (kind, fortran, shape) {
            (Some(_), Some(true), Some(_)) => Err(Error::Npy("the array is in Fortran order: save numpy.ascontiguousarray(a)".to_owned())),
            // Older versions of NumPy write an order for single bytes too.
            (Some(kind), Some(false), Some(shape)) => {
                Ok(Self { kind: if matches!(&kind[..], "<u1" | "u1") { "|u1".to_owned() } else { kind }, shape })
            }
            _ => Err(wrong()),
        }
    }

    /// Length of the data if every number has `size` bytes.
    fn bytes(&self, size: u64) -> Result<u64, Error> {
        if self.shape.contains(&0) {
            return Err(Error::Shape(self.shape_text(), "no dimension may be 0"));
        }
        let product = self.shape.iter().try_fold(size, |product, n| product.checked_mul(*n as u64));
        product.ok_or_else(|| Error::Shape(self.shape_text(), "that is more than any file holds"))
    }

    fn shape_text(&self) -> String {
        let numbers: Vec<String> = self.shape.iter().map(usize::to_string).collect();
        format!("({})", numbers.join(", "))
    }
}

/// A text in either kind of quotes, and what follows it.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
    text[1..].split_once(quote)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let mut file = MAGIC.to_vec();
        file.extend([1, 0]);
        file.extend((header.len() as u16).to_le_bytes());
        file.extend(header.bytes());
        file.extend(data);
        file
    }

    fn array(kind: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        file(&format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}   \n"), data)
    }

    #[test]
    fn the_three_types_of_images() {
        let (height, width, pixels) = read_images(&array("|u1", "(2, 1, 2)", &[1, 2, 3, 4])[..]).unwrap();
        assert_eq!((height, width, pixels), (1, 2, Pixels::Bytes(vec![1, 2, 3, 4])));
        let data: Vec<u8> = [0.5f32, -1.0].iter().flat_map(|x| x.to_le_bytes()).collect();
        assert_eq!(read_images(&array("<f4", "(1, 2)", &data)[..]).unwrap(), (1, 2, Pixels::Floats(vec![0.5, -1.0])));
        let data: Vec<u8> = [0.5f64, -1.0].iter().flat_map(|x| x.to_le_bytes()).collect();
        assert_eq!(read_images(&array("<f8", "(1,2)", &data)[..]).unwrap(), (1, 2, Pixels::Floats(vec![0.5, -1.0])));
    }

    #[test]
    fn labels_of_every_width() {
        for (kind, size) in [("|u1", 1), ("|i1", 1), ("<u2", 2), ("<i2", 2), ("<u4", 4), ("<i4", 4), ("<u8", 8), ("<i8", 8)] {
            let mut data = vec![0; 2 * size];
            (data[0], data[size]) = (7, 100);
            assert_eq!(read_labels(&array(kind, "(2,)", &data)[..]).unwrap(), [7, 100], "{kind}");
        }
        for (kind, data, label) in [("<i8", (-1i64).to_le_bytes().to_vec(), "-1"), ("<u2", vec![0, 1], "256"), ("|i1", vec![0x80], "-128")]
        {
            let error = read_labels(&array(kind, "(1,)", &data)[..]).unwrap_err();
            assert_eq!(error.to_string(), format!("label {label} of row 0: labels must be whole numbers from 0 to 255"));
        }
    }

    #[test]
    fn every_length_but_the_right_one_is_refused() {
        let whole = array("|u1", "(2, 2)", &[1, 2, 3, 4]);
        for length in 0..whole.len() {
            let error = read_images(&whole[..length]).unwrap_err();
            assert!(matches!(error, Error::Header { .. } | Error::Truncated { .. }), "{length}: {error}");
        }
        assert!(matches!(read_images(&[&whole[..], &[0]].concat()[..]), Err(Error::Trailing { expected: 4 })));
        let lies = array("<f8", "(4294967296, 1000, 1000)", &[0; 64]);
        assert!(matches!(read_images(&lies[..]), Err(Error::Truncated { found: 64, .. })));
        let lies = array("<f8", "(4294967296, 4294967296, 4)", &[0; 64]);
        assert!(matches!(read_images(&lies[..]), Err(Error::Shape(..))));
    }

    #[test]
    fn other_arrays_are_refused_by_name() {
        for (bytes, names) in [
            (array(">f4", "(1, 1)", &[0; 4]), "type >f4"),
            (array("<i8", "(1, 1)", &[0; 8]), "type <i8"),
            (array("|u1", "(4,)", &[0; 4]), "(n, height, width)"),
            (array("|u1", "(0, 4)", &[]), "no dimension may be 0"),
            (array("|u1", "(-1, 4)", &[]), "header"),
            (file("{'descr': '|u1', 'fortran_order': True, 'shape': (1, 1)}", &[0]), "ascontiguousarray"),
            (file("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1, 1)}", &[0]), "records"),
            (file("{'descr': '|u1', 'shape': (1, 1)}", &[0]), "header"),
            (file("{'descr': '|u1', 'descr': '|u1', 'fortran_order': False, 'shape': (1, 1)}", &[0]), "header"),
            (file("", &[0]), "header"),
            (b"PK\x03\x04 zip, not npy".to_vec(), "NUMPY"),
            (b"\x93NUMPY\x09\x00 later".to_vec(), "version 9"),
        ] {
            let message = read_images(&bytes[..]).unwrap_err().to_string();
            assert!(message.contains(names), "{message}");
        }
        assert!(read_labels(&array("<f4", "(1,)", &[0; 4])[..]).unwrap_err().to_string().contains("whole numbers"));
    }

    #[test]
    fn numbers_beyond_32_bits_are_named() {
        for bad in [f64::NAN, f64::INFINITY, 1e300] {
            let data: Vec<u8> = [0.0, 0.0, 0.0, 0.0, 0.0, bad].iter().flat_map(|x: &f64| x.to_le_bytes()).collect();
            let error = read_images(&array("<f8", "(2, 3)", &data)[..]).unwrap_err();
            assert!(matches!(error, Error::NotFinite { row: 1, column: 2, .. }), "{error}");
        }
    }
}
