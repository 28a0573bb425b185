//! Networks that do not fit the machine's memory, refused before a failed allocation would end the process.

use isinglass_net::NetworkConfig;

use super::{DataShape, RunConfig, RunError};

/// Bytes for a mean in training: θ, two averages, its gradient's part, the initial network and the checkpoint.
pub const IN_TRAINING: u64 = 32;

/// Why a network of that many bytes for a weight does not fit; `None` if it does, or nothing is known of the memory.
///
/// # Errors
///
/// Those of [`NetworkConfig::check`].
pub fn shortage(config: &NetworkConfig, bytes: u64) -> Result<Option<String>, isinglass_net::Error> {
    let weights: u64 = config.layers()?.iter().map(|layer| layer.weights() as u64).fold(0, u64::saturating_add);
    let (needed, free) = (weights.saturating_mul(bytes), available().unwrap_or(u64::MAX));
    let gib = |bytes: u64| bytes as f64 / (1u64 << 30) as f64;
    Ok((needed > free).then(|| {
        let shape = config.shape();
        let (needed, free) = (gib(needed), gib(free));
        format!("{shape}: {weights} weights take about {needed:.1} GiB, and {free:.1} GiB of memory are free; use narrower or fewer layers")
    }))
}

impl RunConfig {
    /// Checks that the network can be trained on this machine.
    ///
    /// # Errors
    ///
    /// [`RunError::Setting`] if it takes more memory than there is.
    pub fn check_memory(&self, data: impl Into<DataShape>) -> Result<(), RunError> {
        let data = data.into();
        match shortage(&self.network_config(data.inputs(), data.classes)?, IN_TRAINING)? {
            Some(shortage) => Err(RunError::Setting(shortage)),
            None => Ok(()),
        }
    }
}

/// Memory that programs can still have, where the system says so.
fn available() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}
