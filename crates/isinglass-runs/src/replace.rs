//! Writing files that users name: complete or not at all, and never over a file that is not ours.
//!
//! For each kind of file there is a function that writes it, and one that checks the place beforehand, so that a command can refuse a bad one before it computes anything.
//! Both replace nothing but a file of the same kind that isinglass has made, which they recognise by its first bytes ([`Kind`]). With `force` they replace any regular file.
//! Directories, pipes and devices are never replaced.

mod error;
mod kind;

use std::fs;
use std::path::Path;

use isinglass_bits::PackedModel;
use isinglass_chart::{Drawing, Format};

pub use error::ReplaceError;
pub use kind::Kind;

/// Writes a packed network, and returns its size in bytes. Replaces no file but a packed network.
///
/// # Errors
///
/// [`ReplaceError`].
pub fn write_packed(model: &PackedModel, path: &Path) -> Result<usize, ReplaceError> {
    let bytes = model.to_bytes();
    write(path, Kind::Packed, false, &bytes)?;
    Ok(bytes.len())
}

/// Checks that [`write_packed`] can write to `path`.
///
/// # Errors
///
/// [`ReplaceError`].
pub fn check_packed_target(path: &Path) -> Result<(), ReplaceError> {
    check(path, Kind::Packed, false)
}

/// Writes what a packed network was exported to.
///
/// # Errors
///
/// [`ReplaceError`].
pub fn write_export(export: &[u8], path: &Path, force: bool) -> Result<(), ReplaceError> {
    write(path, Kind::Export, force, export)
}

/// Checks that [`write_export`] can write to `path`.
///
/// # Errors
///
/// [`ReplaceError`].
pub fn check_export_target(path: &Path, force: bool) -> Result<(), ReplaceError> {
    check(path, Kind::Export, force)
}

/// Writes a chart in the format that the file's name asks for.
///
/// # Errors
///
/// [`ReplaceError`].
pub fn write_chart(chart: &impl Drawing, path: &Path, force: bool) -> Result<(), ReplaceError> {
    let format = Format::from_path(path)?;
    write(path, Kind::Chart(format), force, &chart.draw(format)?)
}

/// Checks that [`write_chart`] can write to `path`.
///
/// # Errors
///
/// [`ReplaceError`].
pub fn check_chart_target(path: &Path, force: bool) -> Result<(), ReplaceError> {
    check(path, Kind::Chart(Format::from_path(path)?), force)
}

/// Writes the page of a report.
///
/// # Errors
///
/// [`ReplaceError`].
pub fn write_page(html: &str, path: &Path, force: bool) -> Result<(), ReplaceError> {
    check_page_name(path)?;
    write(path, Kind::Page, force, html.as_bytes())
}

/// Checks that [`write_page`] can write to `path`.
///
/// # Errors
///
/// [`ReplaceError`].
pub fn check_page_target(path: &Path, force: bool) -> Result<(), ReplaceError> {
    check_page_name(path)?;
    check(path, Kind::Page, force)
}

/// A report that would go to `results.csv` is a slip of the keyboard.
fn check_page_name(path: &Path) -> Result<(), ReplaceError> {
    let extension = path.extension().and_then(|extension| extension.to_str()).map(str::to_ascii_lowercase);
    match extension.as_deref() {
        Some("html" | "htm") => Ok(()),
        _ => Err(ReplaceError::PageName(path.to_owned())),
    }
}

fn write(path: &Path, kind: Kind, force: bool, bytes: &[u8]) -> Result<(), ReplaceError> {
    check(path, kind, force)?;
    isinglass_files::write(path, bytes).map_err(|source| ReplaceError::Write { path: path.to_owned(), source })
}

/// Checks that a file can be written, and that there is none that must stay.
fn check(path: &Path, kind: Kind, force: bool) -> Result<(), ReplaceError> {
    let directory = isinglass_files::directory_of(path);
    match fs::metadata(path) {
        // Before it is opened: reading a pipe would wait for ever.
        Ok(metadata) if !metadata.is_file() => return Err(ReplaceError::NotAFile(path.to_owned())),
        Ok(_) if force => {}
        Ok(_) => match kind.is_at(path) {
            Ok(true) => {}
            Ok(false) => return Err(ReplaceError::NotOurs { path: path.to_owned(), kind }),
            Err(source) => return Err(ReplaceError::Unknown { path: path.to_owned(), kind, source }),
        },
        Err(_) if !directory.is_dir() => {
            return Err(ReplaceError::NoDirectory { path: path.to_owned(), directory: directory.to_owned() });
        }
        Err(_) => {}
    }
    isinglass_files::check(path).map_err(|source| ReplaceError::Directory { directory: directory.to_owned(), source })
}
