//! Writing files that users name: complete or not at all, and never over a file of another kind.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use isinglass_bits::PackedModel;
use thiserror::Error;

/// What every export has in its head.
const MADE: &[u8] = b"Made by isinglass";

/// Why a file was not written.
#[derive(Debug, Error)]
pub enum ReplaceError {
    /// Something else is in its place.
    #[error("{0}")]
    Refused(String),
    /// The file cannot be written.
    #[error("cannot write {}: {source}", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// Writes a packed network, and returns its size in bytes. Replaces no file but a packed network.
///
/// # Errors
///
/// [`ReplaceError`].
pub fn write_packed(model: &PackedModel, path: &Path) -> Result<usize, ReplaceError> {
    let bytes = model.to_bytes();
    replace(path, PackedModel::is_packed, &bytes)?;
    Ok(bytes.len())
}

/// Writes what a packed network was exported to. Replaces no file but an earlier export.
///
/// # Errors
///
/// [`ReplaceError`].
pub fn write_export(path: &Path, bytes: &[u8]) -> Result<(), ReplaceError> {
    // Both kinds say so near their beginning.
    let is_export = |bytes: &[u8]| bytes[..bytes.len().min(4096)].windows(MADE.len()).any(|window| window == MADE);
    replace(path, is_export, bytes)
}

fn replace(path: &Path, is_replaceable: impl Fn(&[u8]) -> bool, bytes: &[u8]) -> Result<(), ReplaceError> {
    check(path, is_replaceable)?;
    isinglass_files::write(path, bytes).map_err(|source| ReplaceError::Write { path: path.to_owned(), source })
}

/// Checks, before anything is computed, that [`write_packed`] would replace no file but a packed network.
///
/// # Errors
///
/// [`ReplaceError::Refused`].
pub fn check_packed_target(path: &Path) -> Result<(), ReplaceError> {
    check(path, PackedModel::is_packed)
}

/// Checks that there is nothing, or a file that may be replaced.
fn check(path: &Path, is_replaceable: impl Fn(&[u8]) -> bool) -> Result<(), ReplaceError> {
    let refuse = |reason: &str| Err(ReplaceError::Refused(format!("{}: {reason}", path.display())));
    let unreadable = |source| ReplaceError::Write { path: path.to_owned(), source };
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => match isinglass_files::directory_of(path).is_dir() {
            true => Ok(()),
            false => refuse("no such directory to write to"),
        },
        Err(error) => Err(unreadable(error)),
        // Reading a pipe would wait for ever, and a device must not be replaced.
        Ok(metadata) if !metadata.is_file() => refuse("exists and is not a regular file; it is not overwritten"),
        Ok(_) if is_replaceable(&fs::read(path).map_err(unreadable)?) => Ok(()),
        Ok(_) => refuse("this file exists and was not made by this command; it is not overwritten"),
    }
}
