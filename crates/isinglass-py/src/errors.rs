//! Errors as exceptions, with the sentence of the command line.
//!
//! | error | exception |
//! |---|---|
//! | a file that cannot be read or written | `OSError`, or its kind (`FileNotFoundError`, …) |
//! | a loss that diverges | `FloatingPointError` |
//! | a network that does not fit the memory | `MemoryError` |
//! | what the command line ends with exit code 2 | `ValueError` |
//! | anything else | `RuntimeError` |

use std::error::Error as _;
use std::io;
use std::path::Path;

use isinglass::CliError;
use isinglass::data::Error as DataError;
use isinglass::lab::run::RunError;
use isinglass::lab::sweep::SweepError;
use isinglass::net::Error as NetError;
use pyo3::exceptions::{
    PyFileExistsError, PyFileNotFoundError, PyFloatingPointError, PyIsADirectoryError, PyMemoryError, PyNotADirectoryError, PyOSError,
    PyPermissionError, PyRuntimeError, PyValueError,
};
use pyo3::{PyErr, PyResult};

/// The exception for an error.
pub fn raise(error: impl Into<CliError>) -> PyErr {
    let error = error.into();
    let message = error.to_string();
    if let Some(kind) = file_error(&error) {
        return match kind {
            io::ErrorKind::NotFound => PyFileNotFoundError::new_err(message),
            io::ErrorKind::PermissionDenied => PyPermissionError::new_err(message),
            io::ErrorKind::AlreadyExists => PyFileExistsError::new_err(message),
            io::ErrorKind::IsADirectory => PyIsADirectoryError::new_err(message),
            io::ErrorKind::NotADirectory => PyNotADirectoryError::new_err(message),
            _ => PyOSError::new_err(message),
        };
    }
    match &error {
        CliError::Net(NetError::Diverged { .. }) | CliError::Run(RunError::Net(NetError::Diverged { .. })) => {
            PyFloatingPointError::new_err(message)
        }
        CliError::Run(RunError::Memory { .. }) => PyMemoryError::new_err(message),
        error if error.exit_code() == 2 => PyValueError::new_err(message),
        _ => PyRuntimeError::new_err(message),
    }
}

/// Checks that a file can be put there at all.
pub fn check_place(path: &Path) -> PyResult<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    if directory.is_some_and(|directory| !directory.is_dir()) {
        return Err(PyFileNotFoundError::new_err(format!("{}: no such directory to write to", path.display())));
    }
    if path.is_dir() {
        return Err(PyIsADirectoryError::new_err(format!("{}: is a directory", path.display())));
    }
    Ok(())
}

/// A value that cannot be.
pub fn wrong(message: impl Into<String>) -> PyErr {
    PyValueError::new_err(message.into())
}

/// What the system said about a file, if that is the cause.
fn file_error(error: &CliError) -> Option<io::ErrorKind> {
    match error {
        CliError::Data(DataError::Missing { .. }) | CliError::Run(RunError::Data(DataError::Missing { .. }) | RunError::NoRun(_)) => {
            return Some(io::ErrorKind::NotFound);
        }
        CliError::Sweep(SweepError::Run(RunError::Data(DataError::Missing { .. })) | SweepError::NoSweep(_)) => {
            return Some(io::ErrorKind::NotFound);
        }
        CliError::Run(RunError::Exists(_)) => return Some(io::ErrorKind::AlreadyExists),
        _ => {}
    }
    let mut cause = error.source();
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            return Some(error.kind());
        }
        cause = error.source();
    }
    None
}
