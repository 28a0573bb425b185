//! Your own data: pairs of IDX or `.npy` files, or CSV.
//!
//! The first bytes of a file tell its format; its name does not matter. Any of them may be gzipped.

use std::io::BufRead;
use std::path::Path;

use crate::{Dataset, Error, Pixels, Split, contents, csv, idx, npy};

impl Split {
    /// Reads images, and their labels from a file of their own. Without one, `images` is a CSV file that holds both.
    ///
    /// # Errors
    ///
    /// [`Error::File`] with the name of the file and what is wrong with it; [`Error::Counts`] if they differ in number.
    pub fn read(images: &Path, labels: Option<&Path>) -> Result<Self, Error> {
        let Some(labels) = labels else { return in_file(images, read_both) };
        let (height, width, pixels) = in_file(images, read_images)?;
        let labels = in_file(labels, read_labels)?;
        Self::new(height, width, pixels, labels).map_err(|error| error.in_file(images))
    }

    /// Reads images and labels from the contents of files, as [`read`](Self::read) does.
    ///
    /// # Errors
    ///
    /// [`Error`] says what is wrong with them.
    pub fn read_from(images: impl BufRead, labels: Option<impl BufRead>) -> Result<Self, Error> {
        let Some(labels) = labels else { return read_both(&mut *contents::unpacked(images)?) };
        let (height, width, pixels) = read_images(&mut *contents::unpacked(images)?)?;
        Self::new(height, width, pixels, read_labels(&mut *contents::unpacked(labels)?)?)
    }
}

fn read_both(from: &mut dyn BufRead) -> Result<Split, Error> {
    match kind(from)? {
        Kind::Other => csv::read(from),
        _ => Err(Error::Format("a CSV file: IDX and .npy files of images need a second file with the labels")),
    }
}

pub(crate) fn read_images(from: &mut dyn BufRead) -> Result<(usize, usize, Pixels), Error> {
    match kind(from)? {
        Kind::Idx => idx::read_images(from).map(|images| (images.height, images.width, Pixels::Bytes(images.pixels))),
        Kind::Npy => npy::read_images(from),
        Kind::Png | Kind::Other => {
            Err(Error::Format("an IDX or .npy file of images (a CSV file contains its labels: give no second file)"))
        }
    }
}

pub(crate) fn read_labels(from: &mut dyn BufRead) -> Result<Vec<u8>, Error> {
    match kind(from)? {
        Kind::Idx => idx::read_labels(from),
        Kind::Npy => npy::read_labels(from),
        Kind::Png | Kind::Other => Err(Error::Format("an IDX or .npy file of labels")),
    }
}

impl Dataset {
    /// Reads a data set from files: images and labels for training, images and labels for testing, as for [`Split::read`].
    ///
    /// # Errors
    ///
    /// Those of [`Split::read`] and [`Dataset::new`].
    pub fn from_files(name: impl Into<String>, train: (&Path, Option<&Path>), test: (&Path, Option<&Path>)) -> Result<Self, Error> {
        Self::new(name, Split::read(train.0, train.1)?, Split::read(test.0, test.1)?).map_err(|error| error.in_file(test.0))
    }
}

/// The format of a file.
pub(crate) enum Kind {
    Idx,
    Npy,
    Png,
    Other,
}

pub(crate) fn kind(from: &mut dyn BufRead) -> Result<Kind, Error> {
    let start = from.fill_buf().map_err(contents::read_error)?;
    Ok(match start {
        // No text starts with zeros.
        [0, 0, ..] => Kind::Idx,
        _ if start.starts_with(npy::MAGIC) => Kind::Npy,
        _ if start.starts_with(b"\x89PNG") => Kind::Png,
        _ => Kind::Other,
    })
}

pub(crate) fn in_file<T>(path: &Path, read: impl FnOnce(&mut dyn BufRead) -> Result<T, Error>) -> Result<T, Error> {
    contents::open(path).and_then(|mut from| read(&mut *from)).map_err(|error| error.in_file(path))
}
