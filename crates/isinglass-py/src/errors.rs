//! Errors as exceptions, with the sentence of the command line.
//!
//! | error | exception |
//! |---|---|
//! | a file that cannot be read or written | `OSError`, or its kind (`FileNotFoundError`, …) |
//! | a loss that diverges | `FloatingPointError` |
//! | what the command line ends with exit code 2 | `ValueError` |
//! | anything else | `RuntimeError` |

use std::error::Error as _;
use std::io;

use isinglass::CliError;
use isinglass::data::Error as DataError;
use isinglass::lab::run::RunError;
use isinglass::net::Error as NetError;
use pyo3::PyErr;
use pyo3::exceptions::{
    PyFileExistsError, PyFileNotFoundError, PyFloatingPointError, PyIsADirectoryError, PyNotADirectoryError, PyOSError, PyPermissionError,
    PyRuntimeError, PyValueError,
};

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
        error if error.exit_code() == 2 => PyValueError::new_err(message),
        _ => PyRuntimeError::new_err(message),
    }
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
