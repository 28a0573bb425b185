//! The noise of local reparameterisation: standard normal numbers that are addressed, not drawn in sequence.
//!
//! `ε` of a unit and an example depends only on the seed, the step, the layer and their places; it can be computed again at any time.

use crate::kernels::{Kernels, LANES, noise_counter};
use crate::{Error, Rng};

/// The key of a layer's noise in a step.
pub(crate) fn key(seed: u64, step: u64, layer: usize) -> [u32; 2] {
    let bits = Rng::new(seed).stream(Rng::NOISE, step).stream(Rng::NOISE, layer as u64).next_u64();
    [bits as u32, (bits >> 32) as u32]
}

/// The key of the neurons that a layer leaves out in a step.
pub(crate) fn dropout_key(seed: u64, step: u64, layer: usize) -> [u32; 2] {
    let bits = Rng::new(seed).stream(Rng::DROPOUT, step).stream(Rng::DROPOUT, layer as u64).next_u64();
    [bits as u32, (bits >> 32) as u32]
}

/// The noise `ε` of a layer in a training step (counted from 0) with a batch of `examples` examples: `[unit][example]`.
///
/// # Errors
///
/// [`Error::InstructionSet`] if `ISINGLASS_SIMD` names an instruction set that this machine does not have.
///
/// ```
/// let noise = isinglass_net::lrt_noise(1, 0, 0, 1000, 16)?;
/// let mean_square = noise.iter().flatten().map(|e| e * e).sum::<f32>() / 16_000.0;
/// assert!((mean_square - 1.0).abs() < 0.05);
/// # Ok::<(), isinglass_net::Error>(())
/// ```
pub fn lrt_noise(seed: u64, step: u64, layer: usize, units: usize, examples: usize) -> Result<Vec<Vec<f32>>, Error> {
    let kernels = Kernels::choose()?;
    let panels = examples.div_ceil(LANES);
    let unit_noise = |unit: usize| {
        let mut row = vec![0.0; panels * LANES];
        for (panel, lanes) in row.as_chunks_mut().0.iter_mut().enumerate() {
            kernels.normal(noise_counter(unit, panels, panel), key(seed, step, layer), lanes);
        }
        row.truncate(examples);
        row
    };
    Ok((0..units).map(unit_noise).collect())
}
