//! The temporary file of a target: its name, and who may write to it.
//!
//! The name depends on the target alone, so two writers of one target meet at the same file and must not both write to it.
//!
//! On Unix, each opens the file and takes an exclusive lock on it. The lock is on the file, not on the name: while a writer waits, the holder renames the file to
//! the target, and the lock that the waiting writer then gets is one on the published file. So it compares what it has locked with what the name refers to
//! now, and starts again if they differ. A file that was there before is one left over by a killed process, or by nobody any more; it is removed and created
//! anew, so that its mode, its owner and its other hard links do not matter.
//!
//! On Windows, the file is opened so that no other process can open it for writing, which is a lock on the name as well.
//!
//! Where the file cannot be locked (some network file systems) or a left-over file is another user's, the writer takes a name of its own, `.NAME.PID-COUNT.tmp`.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A new, empty file that no other writer of this crate writes to while it is open.
pub(crate) struct Temporary {
    pub path: PathBuf,
    pub file: File,
}

/// Whether a file name is one of a temporary file: one that a killed process has left, if nobody is writing.
///
/// Earlier versions wrote `.NAME.PID-COUNT.tmp` and `NAME.safetensors.tmp`; both are recognised.
///
/// ```
/// use isinglass_files::is_temporary;
/// assert!(is_temporary(".config.toml.tmp") && is_temporary(".config.toml.4711-0.tmp") && is_temporary("last.safetensors.tmp"));
/// assert!(!is_temporary("notes.tmp") && !is_temporary(".tmp") && !is_temporary("last.safetensors"));
/// ```
pub fn is_temporary(name: impl AsRef<OsStr>) -> bool {
    let name = name.as_ref().as_encoded_bytes();
    let Some(stem) = name.strip_suffix(b".tmp") else { return false };
    (stem.len() > 1 && stem.starts_with(b".")) || (stem.len() > b".safetensors".len() && stem.ends_with(b".safetensors"))
}

/// Whether a file name is that of a temporary file of this target, as this crate and its earlier versions name it.
///
/// ```
/// use isinglass_files::is_temporary_of;
/// assert!(is_temporary_of(".last.safetensors.tmp", "last.safetensors") && is_temporary_of(".last.safetensors.4711-0.tmp", "last.safetensors"));
/// assert!(is_temporary_of("last.safetensors.tmp", "last.safetensors"));
/// assert!(!is_temporary_of(".notes.tmp", "last.safetensors") && !is_temporary_of(".last.safetensors.old.tmp", "last.safetensors"));
/// ```
pub fn is_temporary_of(name: impl AsRef<OsStr>, target: &str) -> bool {
    let Some(name) = name.as_ref().to_str() else { return false };
    let Some(stem) = name.strip_suffix(".tmp") else { return false };
    if stem == target && target.ends_with(".safetensors") {
        return true;
    }
    let Some(middle) = stem.strip_prefix('.').and_then(|stem| stem.strip_prefix(target)) else { return false };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    middle.is_empty()
        || middle.strip_prefix('.').and_then(|middle| middle.split_once('-')).is_some_and(|(id, count)| is_number(id) && is_number(count))
}

fn temporary_name(target: &OsStr, middle: &str) -> OsString {
    let mut name = OsString::from(".");
    name.push(target);
    name.push(middle);
    name.push(".tmp");
    name
}

/// Permission bits.
type Mode = u32;

/// Creates the temporary file for the target of this name, with the permissions of the file it replaces.
pub(crate) fn create(directory: &Path, target: &OsStr, replaced: Option<&Metadata>) -> io::Result<Temporary> {
    let mode = replaced.and_then(mode_of);
    let path = directory.join(temporary_name(target, ""));
    let (path, file) = match create_exclusively(&path, mode)? {
        Some(file) => (path, file),
        None => create_under_own_name(directory, target, mode)?,
    };
    #[cfg(unix)]
    if let Some(mode) = mode
        // The umask may have taken bits away.
        && mode_of(&file.metadata()?) != Some(mode)
        && let Err(error) = file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(mode))
    {
        let _ = std::fs::remove_file(&path);
        return Err(error);
    }
    Ok(Temporary { path, file })
}

#[cfg(unix)]
fn mode_of(metadata: &Metadata) -> Option<Mode> {
    Some(std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o777)
}

#[cfg(not(unix))]
fn mode_of(_: &Metadata) -> Option<Mode> {
    None
}

/// A file under a name that contains the process and a count, and that nobody else uses.
fn create_under_own_name(directory: &Path, target: &OsStr, mode: Option<Mode>) -> io::Result<(PathBuf, File)> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    loop {
        let middle = format!(".{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = directory.join(temporary_name(target, &middle));
        match options(mode).create_new(true).open(&path) {
            Ok(file) => return Ok((path, file)),
            // Left over from a process that had this id before.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

/// For writing, and from the first moment readable by nobody who may not read the file that is replaced.
fn options(mode: Option<Mode>) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    if let Some(mode) = mode {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    }
    #[cfg(not(unix))]
    let _ = mode;
    options
}

/// A new file at `path` that is locked. `None` if it cannot be had in this way.
#[cfg(unix)]
fn create_exclusively(path: &Path, mode: Option<Mode>) -> io::Result<Option<File>> {
    use io::ErrorKind::{AlreadyExists, IsADirectory, NotFound, PermissionDenied};
    loop {
        match options(mode).create_new(true).open(path) {
            Ok(file) => match lock(&file) {
                // Another writer may have taken it for a left-over between the two calls.
                Ok(()) if is_at(&file, path)? => return Ok(Some(file)),
                Ok(()) => continue,
                Err(_) => {
                    std::fs::remove_file(path)?;
                    return Ok(None);
                }
            },
            Err(error) if error.kind() == AlreadyExists => {}
            Err(error) => return Err(error),
        }
        match std::fs::symlink_metadata(path) {
            Ok(metadata) if metadata.is_file() => {}
            Ok(metadata) if metadata.is_dir() => return Err(IsADirectory.into()),
            // A link or a pipe: none of ours.
            Ok(_) => return Ok(None),
            Err(error) if error.kind() == NotFound => continue,
            Err(error) => return Err(error),
        }
        let left_over = OpenOptions::new().write(true).open(path).or_else(|_| File::open(path));
        match left_over.and_then(|file| lock(&file).map(|()| file)) {
            Ok(file) if is_at(&file, path)? => match std::fs::remove_file(path) {
                Err(error) if error.kind() == PermissionDenied => return Ok(None),
                Err(error) if error.kind() != NotFound => return Err(error),
                _ => {}
            },
            Ok(_) => {}
            Err(error) if error.kind() == NotFound => {}
            Err(_) => return Ok(None),
        }
    }
}

/// Waits for the lock.
#[cfg(unix)]
fn lock(file: &File) -> io::Result<()> {
    loop {
        match file.lock() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Whether the name refers to the open file itself, not to a link to it or to another file.
#[cfg(unix)]
pub(crate) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let identity = |metadata: Metadata| (metadata.dev(), metadata.ino());
    match std::fs::symlink_metadata(path) {
        Ok(found) => Ok(identity(found) == identity(file.metadata()?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// The name of a file that is open exclusively refers to that file.
#[cfg(not(unix))]
pub(crate) fn is_at(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}

/// A new file at `path` that no other process can open for writing or reading. `None` if it cannot be had in this way.
#[cfg(windows)]
fn create_exclusively(path: &Path, mode: Option<Mode>) -> io::Result<Option<File>> {
    use std::os::windows::fs::OpenOptionsExt;
    /// Renaming an open file needs it; reading and writing are left out.
    const FILE_SHARE_DELETE: u32 = 4;
    const ERROR_SHARING_VIOLATION: i32 = 32;
    loop {
        match options(mode).create(true).truncate(true).share_mode(FILE_SHARE_DELETE).open(path) {
            Ok(file) => return Ok(Some(file)),
            Err(error) if error.raw_os_error() == Some(ERROR_SHARING_VIOLATION) => std::thread::sleep(std::time::Duration::from_millis(5)),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied && path.is_file() => return Ok(None),
            Err(error) => return Err(error),
        }
    }
}

/// Elsewhere nothing is known of locks.
#[cfg(not(any(unix, windows)))]
fn create_exclusively(_: &Path, _: Option<Mode>) -> io::Result<Option<File>> {
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_ones_own_are_new_each_time() {
        let directory = std::env::temp_dir().join(format!("isinglass-files-own-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let (first, _) = create_under_own_name(&directory, OsStr::new("a"), None).unwrap();
        let (second, _) = create_under_own_name(&directory, OsStr::new("a"), None).unwrap();
        assert_ne!(first, second);
        assert!([&first, &second].iter().all(|path| is_temporary(path.file_name().unwrap())));
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
