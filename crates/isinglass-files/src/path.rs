//! Where a path leads.

use std::fs::{self, File};
use std::io::{self, Read};
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

/// Opens a file for reading, unless it is something that is not read as a file is: opening a named pipe would wait for ever, and a device may never end.
///
/// What the process was given open already, such as `/dev/stdin` or `/dev/fd/63`, is read whatever it is, and `/dev/null` is empty.
///
/// # Errors
///
/// [`io::ErrorKind::IsADirectory`] for a directory, [`io::ErrorKind::InvalidInput`] for a pipe, socket or device, and those of [`File::open`].
pub fn open(path: impl AsRef<Path>) -> io::Result<File> {
    let path = path.as_ref();
    let metadata = fs::metadata(path)?;
    if metadata.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let is_given = ["/dev/stdin", "/dev/null", "/dev/fd", "/proc/self/fd"].iter().any(|given| cfg!(unix) && path.starts_with(given));
    if !metadata.is_file() && !is_given {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "a pipe or a device, not a regular file; write its contents to a file first",
        ));
    }
    File::open(path)
}

/// The contents of a file that [`open`] opens.
///
/// # Errors
///
/// Those of [`open`], and of reading.
pub fn read(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The contents of a safetensors file, or the first bytes of a file that cannot be one, however long it is.
///
/// # Errors
///
/// Those of [`read`].
pub fn read_safetensors(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    /// That of the format's own library.
    const LONGEST_HEADER: u64 = 100_000_000;
    let mut file = open(path)?;
    let mut bytes = Vec::new();
    // The length of the header, then the header, which is JSON.
    file.by_ref().take(9).read_to_end(&mut bytes)?;
    if let Some((length, [b'{'])) = bytes.split_first_chunk()
        && u64::from_le_bytes(*length) <= LONGEST_HEADER
    {
        file.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// The text of a file that [`open`] opens.
///
/// # Errors
///
/// Those of [`read`], and [`io::ErrorKind::InvalidData`] if it is not UTF-8.
pub fn read_to_string(path: impl AsRef<Path>) -> io::Result<String> {
    String::from_utf8(read(path)?).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "not text in UTF-8"))
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
