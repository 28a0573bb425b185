//! Networks that do not fit the machine's memory are refused: a failed allocation would end the interpreter.

use isinglass::lab::run::memory::{IN_TRAINING, shortage};
use isinglass::net::NetworkConfig;
use pyo3::PyResult;
use pyo3::exceptions::PyMemoryError;

use crate::errors::raise;

/// Bytes for a mean and the copies that drawing and packing make.
const AT_REST: u64 = 12;

/// Checks that a network can be drawn.
pub fn check_drawing(config: &NetworkConfig) -> PyResult<()> {
    check(config, AT_REST)
}

/// Checks that a network can be trained.
pub fn check_training(config: &NetworkConfig) -> PyResult<()> {
    check(config, IN_TRAINING)
}

fn check(config: &NetworkConfig, bytes: u64) -> PyResult<()> {
    match shortage(config, bytes).map_err(raise)? {
        Some(shortage) => Err(PyMemoryError::new_err(shortage)),
        None => Ok(()),
    }
}
