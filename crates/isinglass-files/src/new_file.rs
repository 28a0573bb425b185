//! Writing a file beside its place and moving it there.

use std::fs::{self, File, Metadata};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::directory_of;
use crate::path::{follow_links, sync_directory};
use crate::temporary::{self, Temporary};

/// A file that is being written and does not exist yet under its own name.
///
/// - **All or nothing.** Until [`publish`](Self::publish), readers find the old file or none; afterwards they find the new one, complete.
///   A `NewFile` that is dropped instead leaves no trace.
/// - **Durable.** `publish` syncs the file before the rename and the directory after it, where the system can.
/// - **One temporary name per target.** `results.csv` is written as `.results.csv.tmp`. A process that is killed leaves at most this one file, and the next
///   writer of the same target replaces it. [`is_temporary`](crate::is_temporary) recognises such names.
/// - **Writers of the same target take turns.** The temporary file is locked while it is written. A second writer waits for the first one to finish and then
///   replaces its result. The lock belongs to the open file, so it ends with the process, however that ends.
/// - **Permissions.** A new file gets the mode that the umask gives to any new file. A file that is replaced keeps its permission bits, as if it had been
///   written in place; its owner is the process.
/// - **Links.** A symbolic link stays, and the file it points to is replaced, even if that does not exist yet. Other hard links keep the old contents.
/// - **Only files.** A directory, device or pipe is never replaced.
#[derive(Debug)]
pub struct NewFile {
    out: BufWriter<File>,
    temporary: Option<PathBuf>,
    target: PathBuf,
}

impl NewFile {
    /// Begins to write the file that will be at `path`.
    ///
    /// # Errors
    ///
    /// If `path` is not a file's, or its directory is missing or does not take new files.
    pub fn create(path: &Path) -> io::Result<Self> {
        let target = follow_links(path)?;
        let directory = directory_of(&target).to_owned();
        Self::create_at(target, &directory)
    }

    /// Like [`create`](Self::create), with the temporary file in another directory of the same file system: one that is cleaned up anyway if the process is
    /// killed.
    ///
    /// # Errors
    ///
    /// Those of [`create`](Self::create).
    pub fn create_in(directory: &Path, path: &Path) -> io::Result<Self> {
        Self::create_at(follow_links(path)?, directory)
    }

    fn create_at(target: PathBuf, directory: &Path) -> io::Result<Self> {
        let replaced = replaceable(&target)?;
        let name = target.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the path does not end in a file name"))?;
        let Temporary { path, file } = temporary::create(directory, name, replaced.as_ref())?;
        Ok(Self { out: BufWriter::with_capacity(1 << 16, file), temporary: Some(path), target })
    }

    /// Moves the finished file to its place.
    ///
    /// # Errors
    ///
    /// If it cannot be written to the end or moved. The old file, if there was one, is then still there.
    pub fn publish(mut self) -> io::Result<()> {
        self.out.flush()?;
        self.out.get_ref().sync_all()?;
        // Again, because time has passed: a rename would replace an empty directory on some systems, and a device on all.
        replaceable(&self.target)?;
        if let Some(temporary) = &self.temporary {
            if !temporary::is_at(self.out.get_ref(), temporary)? {
                self.temporary = None;
                return Err(io::Error::new(io::ErrorKind::NotFound, "the temporary file was removed while it was written"));
            }
            // The lock is held until after the rename: nobody else writes to this file under its new name.
            fs::rename(temporary, &self.target)?;
            self.temporary = None;
        }
        sync_directory(directory_of(&self.target))
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            // There is already an error to report, or the caller changed its mind.
            let _ = fs::remove_file(temporary);
        }
    }
}

/// The file that is to be replaced, if there is one and it is a file.
fn replaceable(target: &Path) -> io::Result<Option<Metadata>> {
    match fs::symlink_metadata(target) {
        Ok(metadata) if metadata.is_file() => Ok(Some(metadata)),
        Ok(metadata) if metadata.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(_) => Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file; only files are replaced")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Writes `bytes` to `path`, complete or not at all; see [`NewFile`].
///
/// # Errors
///
/// Whatever the file system reports. A file that was there before is then unchanged.
pub fn write(path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    write_with(path, |out| out.write_all(bytes.as_ref()))
}

/// Writes what `contents` writes to `path`, complete or not at all; see [`NewFile`].
///
/// # Errors
///
/// That of `contents`, or whatever the file system reports. A file that was there before is then unchanged.
pub fn write_with<E: From<io::Error>>(path: impl AsRef<Path>, contents: impl FnOnce(&mut NewFile) -> Result<(), E>) -> Result<(), E> {
    let mut file = NewFile::create(path.as_ref())?;
    contents(&mut file)?;
    file.publish()?;
    Ok(())
}

/// Checks that a file could be written at `path`, so that a program can refuse a bad path before a long computation. Leaves everything as it is.
///
/// # Errors
///
/// Those of [`NewFile::create`].
pub fn check(path: impl AsRef<Path>) -> io::Result<()> {
    // Permission bits do not tell the whole truth (read-only mounts, access lists, quotas); creating a file does.
    NewFile::create(path.as_ref()).map(drop)
}

/// Renames a file that is complete and synced, and makes the rename durable.
///
/// # Errors
///
/// Those of [`std::fs::rename`].
pub fn rename(from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<()> {
    fs::rename(&from, &to)?;
    sync_directory(directory_of(to.as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_without_a_file_name_are_refused() {
        for path in ["..", "/", ""] {
            assert!(NewFile::create(Path::new(path)).is_err(), "{path:?}");
        }
    }
}
