//! Files: which format a path means, and writing all of a chart or none of it.

use std::{
    io::{self, Write},
    path::Path,
};

use isinglass_files::NewFile;

use super::ChartError;

/// The formats a chart can be saved in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Scalable vector graphics.
    Svg,
    /// Portable network graphics.
    Png,
}

impl Format {
    /// The format that the extension of `path` stands for, in either case.
    ///
    /// # Errors
    ///
    /// [`ChartError::Format`] unless the extension is `.svg` or `.png`.
    pub fn from_path(path: impl AsRef<Path>) -> Result<Self, ChartError> {
        let path = path.as_ref();
        match path.extension().and_then(|e| e.to_str()) {
            Some(e) if e.eq_ignore_ascii_case("svg") => Ok(Self::Svg),
            Some(e) if e.eq_ignore_ascii_case("png") => Ok(Self::Png),
            _ => Err(ChartError::Format(path.to_owned())),
        }
    }
}

/// Checks that a chart could be saved at `path`, so that a program can refuse
/// a bad path before it starts a long computation.
///
/// Nothing is left behind, and a file already at `path` is not touched.
///
/// # Errors
///
/// [`ChartError::Format`] for an extension that is not a chart's,
/// [`ChartError::Write`] if `path` is a directory, and
/// [`ChartError::Directory`] if the directory is missing or read-only.
pub fn check_target(path: impl AsRef<Path>) -> Result<Format, ChartError> {
    let path = path.as_ref();
    let format = Format::from_path(path)?;
    create(path)?;
    Ok(format)
}

/// Writes `bytes` to `path` so that a reader finds the old file or the new
/// one, never a part of it.
pub(crate) fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), ChartError> {
    let mut file = create(path)?;
    file.write_all(bytes).and_then(|()| file.publish()).map_err(|source| ChartError::Write { path: path.to_owned(), source })
}

fn create(path: &Path) -> Result<NewFile, ChartError> {
    NewFile::create(path).map_err(|source| match source.kind() {
        // Something else has the name already.
        io::ErrorKind::IsADirectory | io::ErrorKind::InvalidInput => ChartError::Write { path: path.to_owned(), source },
        _ => ChartError::Directory { directory: isinglass_files::directory_of(path).to_owned(), source },
    })
}
