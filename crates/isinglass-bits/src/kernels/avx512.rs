//! AVX-512 with population counts and byte dot products (Ice Lake, Zen 4, and later).
//!
//! 16 neurons to a vector. Spins: `xor` with a broadcast word, count, add: three instructions for 512 products. Bytes: 64 weights become a mask, the mask bytes of −1, and
//! `vpdpbusd` adds four products to each of 16 counts; the mask is made once for all images of a tile.

use core::arch::x86_64::*;

use super::layout::{BytePanels, Counts, GROUP, SpinPanels};

/// See [`super::scalar::mismatches`].
#[target_feature(enable = "avx512f,avx512bw,avx512vpopcntdq")]
pub fn mismatches<const IMAGES: usize>(panels: &SpinPanels, inputs: &[[u32; IMAGES]], counts: &mut [Counts]) {
    // No closures in here: they would not be compiled for these instructions.
    for (panel, counts) in panels.weights.bytes().chunks_exact(panels.panel).zip(counts.chunks_exact_mut(IMAGES)) {
        let mut sums = [_mm512_setzero_si512(); IMAGES];
        for (weights, words) in panel.as_chunks::<64>().0.iter().zip(inputs) {
            let weights = load(weights);
            for (sum, &word) in sums.iter_mut().zip(words) {
                let differing = _mm512_xor_si512(weights, _mm512_set1_epi32(word as i32));
                *sum = _mm512_add_epi32(*sum, _mm512_popcnt_epi32(differing));
            }
        }
        for (counts, sum) in counts.iter_mut().zip(sums) {
            store(counts, sum);
        }
    }
}

/// See [`super::scalar::deficits`].
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
pub fn deficits<const IMAGES: usize>(panels: &BytePanels, inputs: &[[u32; IMAGES]], totals: &[i32; IMAGES], counts: &mut [Counts]) {
    for (group, counts) in panels.weights.chunks_exact(panels.quads).zip(counts.chunks_exact_mut(IMAGES)) {
        // An addition takes five cycles, and a single image has nothing else to do meanwhile.
        let sums = if IMAGES == 1 { chosen::<IMAGES, 4>(group, inputs) } else { chosen::<IMAGES, 1>(group, inputs) };
        for ((counts, sum), &total) in counts.iter_mut().zip(sums).zip(totals) {
            store(counts, _mm512_add_epi32(_mm512_set1_epi32(total), _mm512_add_epi32(sum, sum)));
        }
    }
}

/// For every image, minus the sum of the bytes whose weight is +1, added up in some parts.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn chosen<const IMAGES: usize, const PARTS: usize>(group: &[u64], inputs: &[[u32; IMAGES]]) -> [__m512i; IMAGES] {
    let mut sums = [[_mm512_setzero_si512(); IMAGES]; PARTS];
    let (blocks, rest) = group.as_chunks::<PARTS>();
    let (input_blocks, input_rest) = inputs.as_chunks::<PARTS>();
    for (weights, quads) in blocks.iter().zip(input_blocks) {
        for part in 0..PARTS {
            add_chosen(&mut sums[part], weights[part], &quads[part]);
        }
    }
    let mut total = sums[0];
    for (&weights, quads) in rest.iter().zip(input_rest) {
        add_chosen(&mut total, weights, quads);
    }
    for others in &sums[1..] {
        for (sum, &other) in total.iter_mut().zip(others) {
            *sum = _mm512_add_epi32(*sum, other);
        }
    }
    total
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn add_chosen<const IMAGES: usize>(sums: &mut [__m512i; IMAGES], weights: u64, quads: &[u32; IMAGES]) {
    let weights = _mm512_movm_epi8(weights);
    for (sum, &quad) in sums.iter_mut().zip(quads) {
        *sum = _mm512_dpbusd_epi32(*sum, _mm512_set1_epi32(quad as i32), weights);
    }
}

/// See [`super::scalar::at_most`].
#[target_feature(enable = "avx512f")]
pub fn at_most(counts: &Counts, limits: &Counts) -> u16 {
    _mm512_cmple_epi32_mask(load_counts(counts), load_counts(limits))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: 64 bytes are there to be read, and no alignment is needed.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load_counts(counts: &Counts) -> __m512i {
    const { assert!(size_of::<Counts>() == 64 && GROUP == 16) };
    // SAFETY: as above.
    unsafe { _mm512_loadu_si512(counts.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store(counts: &mut Counts, sums: __m512i) {
    // SAFETY: 64 bytes are there to be written, and no alignment is needed.
    unsafe { _mm512_storeu_si512(counts.as_mut_ptr().cast(), sums) }
}
