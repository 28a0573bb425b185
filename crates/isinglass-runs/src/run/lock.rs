//! One process at a time trains in a directory.
//!
//! The lock belongs to the open file and ends with the process, however it ends, so that nothing is left to clean up after `kill -9`.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

use super::RunError;

/// Held as long as it lives.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock of a directory.
    pub(crate) fn take(directory: &Path) -> Result<Self, RunError> {
        let path = directory.join(".lock");
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path).map_err(RunError::write(&path))?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(RunError::Busy(directory.to_owned())),
            Err(TryLockError::Error(source)) => Err(RunError::write(&path)(source)),
        }
    }
}
