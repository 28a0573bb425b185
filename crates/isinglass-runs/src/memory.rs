//! Networks that do not fit the machine's memory are refused in a sentence: a failed allocation would end the process.

use isinglass_net::NetworkConfig;

use crate::run::RunError;

/// Bytes for a mean and the copies that drawing and packing make.
const AT_REST: u64 = 12;
/// Bytes for a mean in training: θ, two averages, its gradient's share, the initial network and the checkpoint.
const IN_TRAINING: u64 = 32;
/// Bytes for an input of a layer and an example of the batch: the input, what the variance needs of it, and both again for the gradient.
const OF_INPUT: u64 = 16;
/// Bytes for a neuron and an example of the batch: two factors of its gradient.
const OF_NEURON: u64 = 8;
/// Names a limit in GiB that is lower than what the machine has.
const LIMIT: &str = "ISINGLASS_MEMORY";

/// Bytes that training a network with batches of this many examples takes, about.
///
/// # Errors
///
/// If there is no such network.
pub fn of_training(config: &NetworkConfig, batch: usize) -> Result<u64, RunError> {
    let of_example = config.layers()?.iter().fold(0u64, |sum, layer| {
        sum.saturating_add(OF_INPUT.saturating_mul(layer.inputs() as u64)).saturating_add(OF_NEURON.saturating_mul(layer.outputs() as u64))
    });
    Ok(weights(config)?.saturating_mul(IN_TRAINING).saturating_add(of_example.saturating_mul(batch as u64)))
}

/// Checks that a network can be trained with batches of this many examples.
///
/// # Errors
///
/// [`RunError::Memory`].
pub fn check_training(config: &NetworkConfig, batch: usize) -> Result<(), RunError> {
    check(config, of_training(config, batch)?)
}

/// Checks that a network can be drawn.
///
/// # Errors
///
/// [`RunError::Memory`].
pub fn check_drawing(config: &NetworkConfig) -> Result<(), RunError> {
    check(config, weights(config)?.saturating_mul(AT_REST))
}

fn check(config: &NetworkConfig, needed: u64) -> Result<(), RunError> {
    let available = available();
    if needed <= available { Ok(()) } else { Err(RunError::Memory { shape: config.shape(), needed, available }) }
}

fn weights(config: &NetworkConfig) -> Result<u64, RunError> {
    Ok(config.layers()?.iter().fold(0u64, |sum, layer| sum.saturating_add(layer.weights() as u64)))
}

/// Bytes that programs can still have, where the system says so, and at most what `ISINGLASS_MEMORY` allows.
pub fn available() -> u64 {
    let limit = std::env::var(LIMIT).ok().and_then(|text| text.parse::<f64>().ok()).map(|gib| (gib * (1u64 << 30) as f64) as u64);
    of_machine().unwrap_or(u64::MAX).min(limit.unwrap_or(u64::MAX))
}

fn of_machine() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let free = line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)?;
    Some(free.min(of_group().unwrap_or(u64::MAX)))
}

/// What the control group of this process may still have: jobs on clusters and containers have less than the machine.
fn of_group() -> Option<u64> {
    let number = |name: &str| std::fs::read_to_string(format!("/sys/fs/cgroup/{name}")).ok()?.trim().parse::<u64>().ok();
    number("memory.max")?.checked_sub(number("memory.current")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_that_cannot_fit_are_refused_in_one_sentence() {
        let config = |width: usize| NetworkConfig { inputs: 784, classes: 10, hidden: vec![width; 3], ..NetworkConfig::default() };
        assert!(check_training(&config(64), 64).is_ok());
        let error = check_training(&config(1_000_000), 64).unwrap_err().to_string();
        // 1000 layers of 100 neurons: the weights are 40 MB, a batch of 65,536 examples 160 GB.
        let deep = NetworkConfig { hidden: vec![100; 1000], ..config(100) };
        assert!(of_training(&deep, 65_536).unwrap() > 140 << 30);
        assert!(of_training(&deep, 64).unwrap() < 1 << 30);
        assert!(error.starts_with("784-1000000×3-10: training takes about ") && error.contains("GiB are available"), "{error}");
    }
}
