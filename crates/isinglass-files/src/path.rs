//! Where a path leads.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// The directory that holds `path`: `.` for a bare file name.
///
/// ```
/// use isinglass_files::directory_of;
/// # use std::path::Path;
/// assert_eq!(directory_of(Path::new("runs/a/config.toml")), Path::new("runs/a"));
/// assert_eq!(directory_of(Path::new("config.toml")), Path::new("."));
/// ```
pub fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Follows symbolic links to the file they name, which need not exist.
pub(crate) fn follow_links(path: &Path) -> io::Result<PathBuf> {
    // As many as Linux follows.
    const MOST_LINKS: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_symlink() => path = directory_of(&path).join(fs::read_link(&path)?),
            _ => return Ok(path),
        }
    }
    Err(io::Error::other("too many levels of symbolic links"))
}

/// Makes a rename survive a power cut. A directory that cannot be synced is no error: the file is there, and nothing more can be done for it.
pub(crate) fn sync_directory(directory: &Path) -> io::Result<()> {
    if !cfg!(unix) {
        // Windows does not open directories as files, and has no call that would sync one.
        return Ok(());
    }
    use io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    match File::open(directory).and_then(|directory| directory.sync_all()) {
        // Some file systems refuse fsync on a directory (EINVAL), and a directory may be writable but not readable.
        Err(error) if matches!(error.kind(), InvalidInput | PermissionDenied | Unsupported) => Ok(()),
        result => result,
    }
}
