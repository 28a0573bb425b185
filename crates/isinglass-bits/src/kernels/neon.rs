//! NEON, which counts the bits of bytes.
//!
//! Spins: four neurons to a vector, `eor` with a broadcast word, `cnt`, `add` to bytes; after 31 words these are summed to a count per neuron. Bytes: a mask for 16 neurons chooses
//! where an input is added, to 16 bits first.

use core::arch::aarch64::*;

use super::Quads;
use super::layout::{BytePanels, Counts, GROUP, SpinPanels};

/// Words whose differences always fit a byte, and inputs whose sum always fits 16 bits.
const WORDS: usize = u8::MAX as usize / 8;
const QUADS: usize = u16::MAX as usize / (4 * u8::MAX as usize);

/// See [`super::scalar::mismatches`].
#[target_feature(enable = "neon")]
pub fn mismatches<const IMAGES: usize>(panels: &SpinPanels, inputs: &[[u32; IMAGES]], counts: &mut [Counts]) {
    for (panel, counts) in panels.weights.chunks_exact(panels.panel).zip(counts.chunks_exact_mut(IMAGES)) {
        counts.fill([0; GROUP]);
        let panel = panel.as_chunks::<{ 4 * GROUP }>().0;
        for (panel, inputs) in panel.chunks(WORDS).zip(inputs.chunks(WORDS)) {
            for quarter in 0..4 {
                let mut sums = [vdupq_n_u8(0); IMAGES];
                for (weights, words) in panel.iter().zip(inputs) {
                    let weights = load(&weights.as_chunks::<16>().0[quarter]);
                    for (sum, &word) in sums.iter_mut().zip(words) {
                        let differing = veorq_u8(weights, vreinterpretq_u8_u32(vdupq_n_u32(word)));
                        *sum = vaddq_u8(*sum, vcntq_u8(differing));
                    }
                }
                for (counts, sum) in counts.iter_mut().zip(sums) {
                    add(&mut counts.as_chunks_mut::<4>().0[quarter], vpaddlq_u16(vpaddlq_u8(sum)));
                }
            }
        }
    }
}

/// See [`super::scalar::deficits`].
#[target_feature(enable = "neon")]
pub fn deficits<const IMAGES: usize>(panels: &BytePanels, inputs: Quads<'_, IMAGES>, totals: &[i32; IMAGES], counts: &mut [Counts]) {
    for (group, counts) in panels.weights.chunks_exact(panels.quads).zip(counts.chunks_exact_mut(IMAGES)) {
        counts.fill([0; GROUP]);
        for inputs in inputs.parts(QUADS) {
            let mut sums = [[vdupq_n_u16(0); 2]; IMAGES];
            for (&place, quads) in inputs.places.iter().zip(inputs.values) {
                // The four weights of every neuron, in a byte each.
                let pairs = vcreate_u8(group[place as usize]);
                let nibbles = vzip_u8(vand_u8(pairs, vdup_n_u8(0xf)), vshr_n_u8::<4>(pairs));
                let nibbles = vcombine_u8(nibbles.0, nibbles.1);
                for input in 0..4 {
                    let mask = vtstq_u8(nibbles, vdupq_n_u8(1 << input));
                    for ([low, high], quad) in sums.iter_mut().zip(quads) {
                        let chosen = vandq_u8(mask, vdupq_n_u8(quad.to_le_bytes()[input]));
                        *low = vaddw_u8(*low, vget_low_u8(chosen));
                        *high = vaddw_high_u8(*high, chosen);
                    }
                }
            }
            for (counts, [low, high]) in counts.iter_mut().zip(sums) {
                let quarters = [vmovl_u16(vget_low_u16(low)), vmovl_high_u16(low), vmovl_u16(vget_low_u16(high)), vmovl_high_u16(high)];
                for (counts, quarter) in counts.as_chunks_mut::<4>().0.iter_mut().zip(quarters) {
                    add(counts, quarter);
                }
            }
        }
        for (counts, &total) in counts.iter_mut().zip(totals) {
            for count in counts {
                *count = total - 2 * *count;
            }
        }
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn load(bytes: &[u8; 16]) -> uint8x16_t {
    // SAFETY: it reads 16 bytes, all within the array.
    unsafe { vld1q_u8(bytes.as_ptr()) }
}

#[inline]
#[target_feature(enable = "neon")]
fn load_counts(counts: &[i32; 4]) -> int32x4_t {
    // SAFETY: it reads four numbers, all within the array.
    unsafe { vld1q_s32(counts.as_ptr()) }
}

#[inline]
#[target_feature(enable = "neon")]
fn add(counts: &mut [i32; 4], terms: uint32x4_t) {
    let sums = vaddq_s32(load_counts(counts), vreinterpretq_s32_u32(terms));
    // SAFETY: it writes four numbers, all within the array.
    unsafe { vst1q_s32(counts.as_mut_ptr(), sums) }
}
