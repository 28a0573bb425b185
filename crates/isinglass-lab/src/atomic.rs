//! Files that appear complete or not at all.

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU64, Ordering},
};

/// Writes `bytes` to `path` so that a reader finds the old file or the new one, never a part of it, also after a power cut.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let (temporary, file) = create_temporary(path)?;
    write_and_rename(&temporary, file, path, bytes)
}

/// Fills a file made by [`create_temporary`] and puts it into its place, or removes it.
pub(crate) fn write_and_rename(temporary: &Path, mut file: File, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let written = file.write_all(bytes).and_then(|()| file.sync_all()).and_then(|()| {
        drop(file);
        fs::rename(temporary, path)
    });
    if written.is_err() {
        // The first failure is the one to report; the clean-up can only fail for the same reason.
        let _ = fs::remove_file(temporary);
    }
    written
}

/// The directory of a file.
pub(crate) fn directory_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// A new, empty file next to `path`, under a name no other writer uses.
pub(crate) fn create_temporary(path: &Path) -> io::Result<(PathBuf, File)> {
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
            Err(source) => return Err(source),
        }
    }
}
