//! Comma-separated values: one image to a line, its label first.
//!
//! The first line is a header if its first field is not a number. Empty lines are skipped. A missing value (an empty field, `NA`, `nan` and the like) is an error. If every value is a whole number from 0 to 255, pixels are kept as bytes,
//! otherwise as floats. A line of `d` values after the label is an image of 1 × d pixels.
//!
//! Labels are whole numbers from 0 to 255, or all of them words: then the words, sorted, are the names of the classes. A first line with a word and nothing but numbers after it is then an example, not a header.
//!
//! ```
//! use isinglass_data::{Image, csv};
//!
//! let split = csv::read(&b"label,left,right\n1,0,255\n0,7,8\n"[..])?;
//! assert_eq!((split.shape(), split.labels()), ((1, 2), &[1, 0][..]));
//! assert_eq!(split.image(0), Image::Bytes(&[0, 255]));
//! assert_eq!(csv::read(&b"0,0.5\n"[..])?.image(0), Image::Floats(&[0.5]));
//! let named = csv::read(&b"dog,1.5\ncat,0.5\n"[..])?;
//! assert_eq!((named.labels(), named.class_names().unwrap()), (&[1, 0][..], &["cat".to_owned(), "dog".to_owned()][..]));
//! # Ok::<(), isinglass_data::Error>(())
//! ```

use std::collections::BTreeMap;
use std::io::{BufRead, Read};

use crate::{Error, Pixels, Split};

/// Bytes of the longest line, some ten million values. A file without line ends would fill the memory before it could be told to be none of these.
const LONGEST_LINE: u64 = 64 << 20;

/// Reads images and labels.
///
/// # Errors
///
/// [`Error::MissingValue`] and [`Error::MissingLabel`], [`Error::Field`] for a field that is not a number, [`Error::Fields`] for a line that is longer or shorter than the first, [`Error::Label`],
/// [`Error::NotFinite`], [`Error::Format`] for a file that is not text, [`Error::Shape`] for a file without images.
pub fn read(from: impl BufRead) -> Result<Split, Error> {
    let mut labels = Labels::default();
    let mut values = Values::default();
    let fields = for_each_line(from, |line, words, header| {
        let word = words.next().unwrap_or_default();
        // With words for labels, a first line of a word and numbers is an example.
        if let Some((first, text)) = header
            && labels.is_empty()
            && is_word(word)
            && text.split(',').skip(1).map(str::trim).all(|value| value.parse::<f32>().is_ok() || is_missing(value))
        {
            let mut words = text.split(',').map(str::trim);
            labels.push(words.next().unwrap_or_default(), *first)?;
            values.push_line(&mut words, *first, 0, 2)?;
        }
        let row = labels.len();
        labels.push(word, line)?;
        values.push_line(words, line, row, 2)
    })?;
    let width = fields.map_or(0, |fields| fields - 1);
    match labels {
        Labels::Numbers(labels) => Split::new(1, width, values.into_pixels(), labels),
        Labels::Words { names, mut labels } => {
            // From the order in which names were found to that of the alphabet.
            let mut sorted = [0; 256];
            names.values().enumerate().for_each(|(class, &found)| sorted[usize::from(found)] = class as u8);
            labels.iter_mut().for_each(|label| *label = sorted[usize::from(*label)]);
            Split::new(1, width, values.into_pixels(), labels)?.with_class_names(names.into_keys().collect())
        }
    }
}

/// The labels of the lines so far: all numbers, or all words.
enum Labels {
    Numbers(Vec<u8>),
    Words {
        /// The number of every name, in the order in which they were found.
        names: BTreeMap<String, u8>,
        labels: Vec<u8>,
    },
}

impl Default for Labels {
    fn default() -> Self {
        Self::Numbers(Vec::new())
    }
}

impl Labels {
    fn len(&self) -> usize {
        match self {
            Self::Numbers(numbers) => numbers.len(),
            Self::Words { labels, .. } => labels.len(),
        }
    }

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn push(&mut self, word: &str, line: usize) -> Result<(), Error> {
        let row = self.len();
        if is_missing(word) {
            return Err(Error::MissingLabel { row, line });
        }
        if row == 0 && is_word(word) {
            *self = Self::Words { names: BTreeMap::new(), labels: Vec::new() };
        }
        match self {
            Self::Numbers(numbers) => numbers.push(label(word, row)?),
            Self::Words { names, labels } if is_word(word) => labels.push(match names.get(word) {
                Some(&number) => number,
                None => {
                    let number = u8::try_from(names.len()).map_err(|_| Error::TooManyNames)?;
                    names.insert(word.to_owned(), number);
                    number
                }
            }),
            Self::Words { .. } => return Err(Error::MixedLabels { label: word.to_owned(), row }),
        }
        Ok(())
    }
}

/// Whether a label is the name of a class and not its number.
fn is_word(word: &str) -> bool {
    word.parse::<f64>().is_err() && !is_missing(word)
}

/// Reads images without labels: the pixels, and how many there are to a line.
pub(crate) fn read_values(from: impl BufRead) -> Result<(Pixels, usize), Error> {
    let mut values = Values::default();
    let mut row = 0;
    let fields = for_each_line(from, |line, words, _| {
        row += 1;
        values.push_line(words, line, row - 1, 1)
    })?;
    if row == 0 {
        return Err(Error::Images("the file contains no images".into()));
    }
    Ok((values.into_pixels(), fields.unwrap_or(0)))
}

/// The number of a header's line, and the line.
type Header = (usize, String);

/// Passes the number and the fields of every line to `take`, except a header and empty lines, and the header to look at. Returns the number of fields.
fn for_each_line(
    mut from: impl BufRead,
    mut take: impl FnMut(usize, &mut dyn Iterator<Item = &str>, Option<&Header>) -> Result<(), Error>,
) -> Result<Option<usize>, Error> {
    let (mut text, mut fields, mut header) = (Vec::new(), None, None);
    let mut line = 0;
    loop {
        text.clear();
        let length = (&mut from).take(LONGEST_LINE + 1).read_until(b'\n', &mut text).map_err(crate::contents::read_error)?;
        if length == 0 {
            return Ok(fields);
        }
        line += 1;
        if length as u64 > LONGEST_LINE {
            return Err(Error::LongLine { line, limit: LONGEST_LINE });
        }
        let words = std::str::from_utf8(&text).map_err(|_| Error::Format("a CSV, IDX or .npy file: it is not text"))?;
        // Spreadsheets put a byte order mark in front.
        let words = words.trim_start_matches('\u{feff}').trim();
        if words.is_empty() || (fields.is_none() && is_header(words)) {
            if !words.is_empty() {
                fields = Some(words.split(',').count());
                header = Some((line, words.to_owned()));
            }
            continue;
        }
        let found = words.split(',').count();
        let expected = *fields.get_or_insert(found);
        if found != expected {
            return Err(Error::Fields { line, found, expected });
        }
        take(line, &mut words.split(',').map(str::trim), header.as_ref())?;
    }
}

/// Values, kept as bytes as long as they all are.
struct Values {
    bytes: Option<Vec<u8>>,
    floats: Vec<f32>,
}

impl Default for Values {
    fn default() -> Self {
        Self { bytes: Some(Vec::new()), floats: Vec::new() }
    }
}

impl Values {
    /// Takes the values of a line, the first of which is in field `first`.
    fn push_line(&mut self, words: &mut dyn Iterator<Item = &str>, line: usize, row: usize, first: usize) -> Result<(), Error> {
        for (column, word) in words.enumerate() {
            if is_missing(word) {
                return Err(Error::MissingValue { row, column, line });
            }
            let value: f32 = word.parse().map_err(|_| Error::Field { value: word.to_owned(), line, field: column + first })?;
            if !value.is_finite() {
                return Err(Error::NotFinite { value: word.to_owned(), row, column });
            }
            match (&mut self.bytes, word.parse::<u8>()) {
                (Some(bytes), Ok(byte)) => bytes.push(byte),
                (Some(so_far), Err(_)) => {
                    self.floats = so_far.iter().map(|byte| f32::from(*byte)).collect();
                    self.floats.push(value);
                    self.bytes = None;
                }
                (None, _) => self.floats.push(value),
            }
        }
        Ok(())
    }

    fn into_pixels(self) -> Pixels {
        self.bytes.map_or(Pixels::Floats(self.floats), Pixels::Bytes)
    }
}

/// A first line whose label is not a number; the other columns may well be named 0, 1, 2.
fn is_header(words: &str) -> bool {
    words.split(',').next().is_some_and(|word| word.trim().parse::<f64>().is_err())
}

/// Whether a field says that there is no value, in the words of spreadsheets, pandas, R and SQL.
fn is_missing(word: &str) -> bool {
    ["", "\"\"", "na", "n/a", "nan", "null", "none", "?"].iter().any(|name| word.eq_ignore_ascii_case(name))
}

fn label(word: &str, row: usize) -> Result<u8, Error> {
    // `3.0` is a 3: pandas writes whole columns of them.
    let value: Option<f64> = word.parse().ok();
    match value {
        Some(x) if x.fract() == 0.0 && (0.0..=255.0).contains(&x) => Ok(x as u8),
        _ => Err(Error::Label { label: word.to_owned(), row, largest: 255 }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_names_of_classes() {
        let plain = read(&b"kind,a,b\ndog,1,2.5\ncat,3,4\ndog,5,6\n"[..]).unwrap();
        assert_eq!((plain.labels(), plain.class_names().unwrap().join(" ")), (&[1, 0, 1][..], "cat dog".to_owned()));
        // Without a header, and with columns named by numbers.
        assert_eq!(read(&b"dog,1,2.5\ncat,3,4\ndog,5,6\n"[..]).unwrap(), plain);
        assert_eq!(read(&b"kind,x,1\ndog,1,2.5\ncat,3,4\ndog,5,6\n"[..]).unwrap(), plain);
        for (text, message) in [
            ("k,a\ndog,1\n2,1\n", "label 2 of row 1: labels are either all words or all whole numbers"),
            ("k,a\n2,1\ndog,1\n", "label dog of row 1: labels must be whole numbers from 0 to 255"),
            ("k,a\ndog,1\n,1\n", "missing label"),
            ("dog,,1\ncat,2,3\n", "missing value in row 0, column 0"),
        ] {
            let error = read(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(message), "{text:?}: {error}");
        }
    }

    #[test]
    fn a_header_is_optional_and_so_is_the_last_newline() {
        let plain = read(&b"1,2,3\n0,4,5"[..]).unwrap();
        for text in ["y,a,b\n1,2,3\n0,4,5\n", "label,0,1\n1,2,3\n0,4,5\n", "\u{feff}1,2,3\r\n0,4,5\r\n", "\n1, 2, 3\n\n0.0,4,5\n"] {
            assert_eq!(read(text.as_bytes()).unwrap(), plain, "{text}");
        }
    }

    #[test]
    fn bytes_become_floats_at_the_first_value_that_is_not_a_byte() {
        let split = read(&b"0,255,1\n1,256,2\n"[..]).unwrap();
        assert_eq!(split.pixels(), &Pixels::Floats(vec![255.0, 1.0, 256.0, 2.0]));
        assert_eq!(read(&b"0,-1\n"[..]).unwrap().pixels(), &Pixels::Floats(vec![-1.0]));
    }

    #[test]
    fn bad_lines_are_named() {
        for (text, message) in [
            ("0,1,2\n0,1\n", "line 2 has 2 fields, the lines before it have 3"),
            ("a,b,c\n0,1\n", "line 2 has 2 fields, the lines before it have 3"),
            ("0,1\n0,x\n", "\"x\" in line 2, field 2: every field must be a number (only the first line may be a header)"),
            ("0,1\n0,\n", "missing value in row 1, column 0 (line 2): fill it in or drop the row"),
            ("y,a,b\n\n0,1,2\n0,1,NA\n", "missing value in row 1, column 1 (line 4): fill it in or drop the row"),
            ("0,1,nan\n", "missing value in row 0, column 1 (line 1): fill it in or drop the row"),
            ("0,1,\"\"\n", "missing value in row 0, column 1 (line 1): fill it in or drop the row"),
            ("0,1\n,1\n", "missing label in row 1 (line 2): fill it in or drop the row"),
            ("0,1,-inf\n", "-inf in row 0, column 1: values must be finite 32-bit numbers"),
            ("0,1\n1,1e99\n", "1e99 in row 1, column 0: values must be finite 32-bit numbers"),
            ("256,1\n", "label 256 of row 0: labels must be whole numbers from 0 to 255"),
            ("0,1\n0.5,1\n", "label 0.5 of row 1: labels must be whole numbers from 0 to 255"),
            ("-1,1\n", "label -1 of row 0: labels must be whole numbers from 0 to 255"),
            ("", "the shape 0 pixels as images of 1×0 cannot be used: an image has at least one pixel"),
            ("1\n2\n", "the shape 0 pixels as images of 1×0 cannot be used: an image has at least one pixel"),
            ("label,a\n", "the shape 0 pixels as images of 1×1 cannot be used: there must be at least one image, and only whole ones"),
        ] {
            assert_eq!(read(text.as_bytes()).unwrap_err().to_string(), message, "{text:?}");
        }
        assert!(matches!(read(&b"\xff\xfe\n"[..]), Err(Error::Format(_))));
        let endless = std::io::BufReader::new(std::io::repeat(b'0'));
        assert!(matches!(read(endless), Err(Error::LongLine { line: 1, .. })));
    }
}
