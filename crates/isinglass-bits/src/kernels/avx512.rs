//! AVX-512 with population counts and byte dot products (Ice Lake, Zen 4, and later).
//!
//! 16 neurons to a vector. Spins: an `xor` with a broadcast word finds 512 differences. To count and add them at once would take three instructions on two ports. Instead the `xor`
//! goes on into the parity of all differences so far, and only where that falls back from 1 to 0, found by one instruction for two words, two differences are counted: five
//! instructions for 1024 products. Bytes: 64 weights become a mask, the mask bytes of −1, and
//! `vpdpbusd` adds four products to each of 16 counts; the mask is made once for all images of a tile.

use core::arch::x86_64::*;

use super::layout::{BytePanels, Counts, GROUP, SpinPanels};

/// See [`super::scalar::mismatches`].
#[target_feature(enable = "avx512f,avx512bw,avx512vpopcntdq")]
pub fn mismatches<const IMAGES: usize>(panels: &SpinPanels, inputs: &[[u32; IMAGES]], counts: &mut [Counts]) {
    // No closures in here: they would not be compiled for these instructions.
    let (input_pairs, input_rest) = inputs.as_chunks::<2>();
    for (panel, counts) in panels.weights.bytes().chunks_exact(panels.panel).zip(counts.chunks_exact_mut(IMAGES)) {
        let (pairs, rest) = panel.as_chunks::<64>().0.as_chunks::<2>();
        let mut twos = [_mm512_setzero_si512(); IMAGES];
        let mut odd = [_mm512_setzero_si512(); IMAGES];
        for ([first, second], [first_words, second_words]) in pairs.iter().zip(input_pairs) {
            let (first, second) = (load(first), load(second));
            for image in 0..IMAGES {
                let before = odd[image];
                let between = odd_after(before, first, first_words[image]);
                odd[image] = odd_after(between, second, second_words[image]);
                // Where the parity falls from 1 to 0, at either step, two differences are complete.
                let complete = _mm512_ternarylogic_epi32::<0b0111_0100>(before, between, odd[image]);
                twos[image] = _mm512_add_epi32(twos[image], _mm512_popcnt_epi32(complete));
            }
        }
        for image in 0..IMAGES {
            let mut sum = _mm512_add_epi32(_mm512_add_epi32(twos[image], twos[image]), _mm512_popcnt_epi32(odd[image]));
            for (weights, words) in rest.iter().zip(input_rest) {
                let differing = _mm512_xor_si512(load(weights), _mm512_set1_epi32(words[image] as i32));
                sum = _mm512_add_epi32(sum, _mm512_popcnt_epi32(differing));
            }
            store(&mut counts[image], sum);
        }
    }
}

/// The parity of differences, bit by bit, with one more word: `odd ^ weights ^ word`.
#[inline]
#[target_feature(enable = "avx512f")]
fn odd_after(odd: __m512i, weights: __m512i, word: u32) -> __m512i {
    _mm512_ternarylogic_epi32::<0b1001_0110>(odd, weights, _mm512_set1_epi32(word as i32))
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

/// See [`super::scalar::compare`].
#[target_feature(enable = "avx512f")]
pub fn compare<const IMAGES: usize>(counts: &[Counts], limits: &[Counts], spins: &mut [[u32; IMAGES]]) {
    for ((counts, limits), spins) in counts.chunks(2 * IMAGES).zip(limits.chunks(2)).zip(spins) {
        *spins = [0; IMAGES];
        for (half, (counts, limits)) in counts.chunks_exact(IMAGES).zip(limits).enumerate() {
            for (spins, counts) in spins.iter_mut().zip(counts) {
                *spins |= u32::from(at_most(counts, limits)) << (16 * half);
            }
        }
    }
}

/// See [`super::scalar::at_most`].
#[inline]
#[target_feature(enable = "avx512f")]
fn at_most(counts: &Counts, limits: &Counts) -> u16 {
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
