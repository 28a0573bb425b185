//! Networks that do not fit the machine's memory are refused: a failed allocation would end the interpreter.

use isinglass::net::NetworkConfig;
use pyo3::PyResult;
use pyo3::exceptions::PyMemoryError;

use crate::errors::raise;

/// Bytes for a mean and the copies that drawing and packing make.
const AT_REST: u64 = 12;
/// Bytes for a mean in training: θ, two averages, its gradient's part, the initial network and the checkpoint.
const IN_TRAINING: u64 = 32;

/// Checks that a network can be drawn.
pub fn check_drawing(config: &NetworkConfig) -> PyResult<()> {
    check(config, AT_REST)
}

/// Checks that a network can be trained.
pub fn check_training(config: &NetworkConfig) -> PyResult<()> {
    check(config, IN_TRAINING)
}

fn check(config: &NetworkConfig, bytes: u64) -> PyResult<()> {
    let weights: u64 = config.layers().map_err(raise)?.iter().map(|layer| layer.weights() as u64).sum();
    let (needed, free) = (weights.saturating_mul(bytes), available().unwrap_or(u64::MAX));
    if needed <= free {
        return Ok(());
    }
    let gib = |bytes: u64| bytes as f64 / (1u64 << 30) as f64;
    Err(PyMemoryError::new_err(format!(
        "{}: {weights} weights take about {:.1} GiB, and {:.1} GiB of memory are free; use narrower or fewer layers",
        config.shape(),
        gib(needed),
        gib(free)
    )))
}

/// Memory that programs can still have, where the system says so.
fn available() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}
