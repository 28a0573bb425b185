//! Files: which format a path means, and writing all of a chart or none of it.

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU64, Ordering},
};

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
    if path.is_dir() {
        return Err(ChartError::Write { path: path.to_owned(), source: io::Error::from(io::ErrorKind::IsADirectory) });
    }
    // Permission bits do not tell the whole truth (read-only mounts, access
    // lists, quotas); creating a file does.
    let (temporary, file) = create_temporary(path)?;
    drop(file);
    fs::remove_file(&temporary).map_err(|source| ChartError::Directory { directory: directory_of(path), source })?;
    Ok(format)
}

/// Writes `bytes` to `path` so that a reader finds the old file or the new
/// one, never a part of it.
pub(crate) fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), ChartError> {
    let (temporary, mut file) = create_temporary(path)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all()).and_then(|()| {
        drop(file);
        fs::rename(&temporary, path)
    });
    written.map_err(|source| {
        // The first failure is the one to report; the clean-up can only fail
        // for the same reason.
        let _ = fs::remove_file(&temporary);
        ChartError::Write { path: path.to_owned(), source }
    })
}

fn directory_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// A new, empty file next to `path`, under a name no other writer uses.
fn create_temporary(path: &Path) -> Result<(PathBuf, File), ChartError> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let directory = directory_of(path);
    loop {
        let mut name = OsString::from(".");
        name.push(path.file_name().unwrap_or_default());
        let count = COUNTER.fetch_add(1, Ordering::Relaxed);
        name.push(format!(".{}-{count}.tmp", process::id()));
        let temporary = directory.join(name);
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Ok(file) => return Ok((temporary, file)),
            // Left over from a process that had this id before.
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(source) => return Err(ChartError::Directory { directory, source }),
        }
    }
}
