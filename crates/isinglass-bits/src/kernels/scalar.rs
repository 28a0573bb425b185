//! Any machine: what the other kernels are checked against.

use super::Quads;
use super::layout::{BytePanels, Counts, GROUP, SpinPanels};

/// For every group of neurons and every image, the number of inputs that differ from the weights. `inputs` has a word of 32 spins of every image, then the next; the result is
/// `[group][image]`.
pub fn mismatches<const IMAGES: usize>(panels: &SpinPanels, inputs: &[[u32; IMAGES]], counts: &mut [Counts]) {
    for (panel, counts) in panels.weights.chunks_exact(panels.panel).zip(counts.chunks_exact_mut(IMAGES)) {
        counts.fill([0; GROUP]);
        for (weights, words) in panel.as_chunks::<{ 4 * GROUP }>().0.iter().zip(inputs) {
            for (counts, word) in counts.iter_mut().zip(words) {
                for (count, &weights) in counts.iter_mut().zip(weights.as_chunks::<4>().0) {
                    *count += (u32::from_le_bytes(weights) ^ word).count_ones() as i32;
                }
            }
        }
    }
}

/// For every group of neurons and every image, minus the sum of weights times bytes. `inputs` are four bytes of every image, then the next four, without those that are 0 in all of them; `totals` the sum of an image's bytes.
pub fn deficits<const IMAGES: usize>(panels: &BytePanels, inputs: Quads<'_, IMAGES>, totals: &[i32; IMAGES], counts: &mut [Counts]) {
    for (group, counts) in panels.weights.chunks_exact(panels.quads).zip(counts.chunks_exact_mut(IMAGES)) {
        for (count, total) in counts.iter_mut().zip(totals) {
            *count = [*total; GROUP];
        }
        for (&place, quads) in inputs.places.iter().zip(inputs.values) {
            let weights = group[place as usize];
            for (counts, quad) in counts.iter_mut().zip(quads) {
                let sums = subset_sums(quad.to_le_bytes());
                for (lane, count) in counts.iter_mut().enumerate() {
                    *count -= 2 * sums[(weights >> (4 * lane) & 0xf) as usize];
                }
            }
        }
    }
}

/// The sum of every choice of four bytes.
fn subset_sums(bytes: [u8; 4]) -> [i32; 16] {
    let mut sums = [0; 16];
    for (index, byte) in bytes.into_iter().enumerate() {
        for chosen in 0..1 << index {
            sums[chosen + (1 << index)] = sums[chosen] + i32::from(byte);
        }
    }
    sums
}
