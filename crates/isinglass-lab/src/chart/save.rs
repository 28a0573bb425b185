//! Files: which format a path means, and writing all of a chart or none of it.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use super::ChartError;
use crate::atomic;

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
    if path.is_dir() {
        return Err(ChartError::Write { path: path.to_owned(), source: io::Error::from(io::ErrorKind::IsADirectory) });
    }
    // Permission bits do not tell the whole truth (read-only mounts, access
    // lists, quotas); creating a file does.
    let (temporary, file) = create_temporary(path)?;
    drop(file);
    fs::remove_file(&temporary).map_err(|source| ChartError::Directory { directory: atomic::directory_of(path), source })?;
    Ok(format)
}

/// Writes `bytes` to `path` so that a reader finds the old file or the new
/// one, never a part of it.
pub(crate) fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), ChartError> {
    let (temporary, file) = create_temporary(path)?;
    atomic::write_and_rename(&temporary, file, path, bytes).map_err(|source| ChartError::Write { path: path.to_owned(), source })
}

fn create_temporary(path: &Path) -> Result<(PathBuf, File), ChartError> {
    atomic::create_temporary(path).map_err(|source| ChartError::Directory { directory: atomic::directory_of(path), source })
}
