//! AVX-512 with population counts and byte dot products (Ice Lake, Zen 4, and later).
//!
//! 16 neurons to a vector. Spins: an `xor` with a broadcast word finds 512 differences. To count and add them at once would take three instructions on two ports. Instead the `xor`
//! goes on into the parity of all differences so far, and only where that falls back from 1 to 0, found by one instruction for two words, two differences are counted: five
//! instructions for 1024 products.
//!
//! Bytes: for five inputs of one image there is a table of 32 entries: the sums of all choices from them. The five weights of 32 neurons, as indices, choose 32 sums with one
//! instruction (`vpermw`), and a second one adds them to 16 bits: two instructions for 160 products, where `vpdpbusd` has 64 and needs the weights as bytes.

use alloc::vec::Vec;
use core::arch::x86_64::*;

use super::layout::{Counts, FIVE, GROUP, IndexLine, IndexPanels, SpinPanels, THREE};

/// See [`super::scalar::mismatches`].
#[target_feature(enable = "avx512f,avx512bw,avx512vpopcntdq")]
pub fn mismatches<const IMAGES: usize>(panels: &SpinPanels, inputs: &[[u32; IMAGES]], counts: &mut [Counts]) {
    // No closures in here: they would not be compiled for these instructions.
    let (input_blocks, input_rest) = inputs.as_chunks::<4>();
    for (panel, counts) in panels.weights.bytes().chunks_exact(panels.panel).zip(counts.chunks_exact_mut(IMAGES)) {
        let (blocks, rest) = panel.as_chunks::<64>().0.as_chunks::<4>();
        let mut twos = [_mm512_setzero_si512(); IMAGES];
        let mut odd = [_mm512_setzero_si512(); IMAGES];
        for ([first, second, third, fourth], [a, b, c, d]) in blocks.iter().zip(input_blocks) {
            // Two pairs, because the parity of one ends in another register than it began: of two, in the same.
            let (first, second) = (load(first), load(second));
            for image in 0..IMAGES {
                (twos[image], odd[image]) = with_pair(twos[image], odd[image], [first, second], [a[image], b[image]]);
            }
            let (third, fourth) = (load(third), load(fourth));
            for image in 0..IMAGES {
                (twos[image], odd[image]) = with_pair(twos[image], odd[image], [third, fourth], [c[image], d[image]]);
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

/// The complete pairs of differences, and the parity of all, with two more words.
#[inline]
#[target_feature(enable = "avx512f,avx512vpopcntdq")]
fn with_pair(twos: __m512i, odd: __m512i, weights: [__m512i; 2], words: [u32; 2]) -> (__m512i, __m512i) {
    let between = odd_after(odd, weights[0], words[0]);
    let after = odd_after(between, weights[1], words[1]);
    // Where the parity falls from 1 to 0, at either step, two differences are complete.
    let complete = _mm512_ternarylogic_epi32::<0b0111_0100>(odd, between, after);
    (_mm512_add_epi32(twos, _mm512_popcnt_epi32(complete)), after)
}

/// The parity of differences, bit by bit, with one more word: `odd ^ weights ^ word`.
#[inline]
#[target_feature(enable = "avx512f")]
fn odd_after(odd: __m512i, weights: __m512i, word: u32) -> __m512i {
    _mm512_ternarylogic_epi32::<0b1001_0110>(odd, weights, _mm512_set1_epi32(word as i32))
}

/// The sums of all choices from five bytes.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct Sums([u16; 32]);

/// Tables of sums of some images, for three times five inputs and then the next.
pub type Tables<const IMAGES: usize> = [[Sums; IMAGES]; THREE];

/// Lines of indices whose sums surely fit 16 bits.
const LINES: usize = u16::MAX as usize / (FIVE * THREE * u8::MAX as usize);

/// For every choice of four inputs their bytes as 0 or 1.
static CHOSEN: [u32; 16] = {
    let mut chosen = [0; 16];
    let mut place = 0;
    while place < 64 {
        chosen[place / 4] |= ((place as u32 / 4) >> (place % 4) & 1) << (8 * (place % 4));
        place += 1;
    }
    chosen
};

/// Makes the tables of images.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
pub fn tabulate<const IMAGES: usize>(images: &[u8], inputs: usize, tables: &mut Vec<Tables<IMAGES>>) {
    let chosen = load_words(&CHOSEN);
    tables.resize(inputs.div_ceil(FIVE * THREE), [[Sums([0; 32]); IMAGES]; THREE]);
    for (image, bytes) in images.chunks_exact(inputs).enumerate() {
        let (fives, rest) = bytes.as_chunks::<FIVE>();
        let mut last = [0; FIVE];
        last[..rest.len()].copy_from_slice(rest);
        let beyond = [[0; FIVE]; THREE];
        let fives = fives.iter().chain([&last]).chain(&beyond);
        for (table, &[first, second, third, fourth, fifth]) in tables.iter_mut().flatten().zip(fives) {
            // Every sum beside itself plus the fifth byte.
            let fifth = _mm512_set1_epi32(i32::from(fifth) << 16);
            let four = _mm512_set1_epi32(i32::from_le_bytes([first, second, third, fourth]));
            let sums = _mm512_dpbusd_epi32(fifth, four, chosen);
            store_sums(&mut table[image], _mm512_add_epi32(sums, _mm512_slli_epi32::<16>(sums)));
        }
    }
}

/// See [`super::scalar::deficits`].
#[target_feature(enable = "avx512f,avx512bw")]
pub fn deficits<const IMAGES: usize>(panels: &IndexPanels, tables: &[Tables<IMAGES>], totals: &[i32; IMAGES], counts: &mut [Counts]) {
    for counts in counts.chunks_exact_mut(IMAGES) {
        for (counts, &total) in counts.iter_mut().zip(totals) {
            *counts = [total; GROUP];
        }
    }
    // A block of tables stays in the first cache while all weights go by.
    for (block, tables) in tables.chunks(LINES).enumerate() {
        for (panel, counts) in panels.weights.chunks_exact(panels.lines).zip(counts.chunks_exact_mut(2 * IMAGES)) {
            let mut sums = [_mm512_setzero_si512(); IMAGES];
            for (line, tables) in panel[block * LINES..].iter().zip(tables) {
                let mut indices = load_indices(line);
                for tables in tables {
                    for (sum, table) in sums.iter_mut().zip(tables) {
                        *sum = _mm512_add_epi16(*sum, _mm512_permutexvar_epi16(indices, load_sums(table)));
                    }
                    indices = _mm512_srli_epi16::<{ FIVE as u32 }>(indices);
                }
            }
            let (first, second) = counts.split_at_mut(IMAGES);
            for ((first, second), sum) in first.iter_mut().zip(second).zip(sums) {
                subtract_twice(first, _mm512_cvtepu16_epi32(_mm512_castsi512_si256(sum)));
                subtract_twice(second, _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64::<1>(sum)));
            }
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn subtract_twice(counts: &mut Counts, sums: __m512i) {
    store(counts, _mm512_sub_epi32(load_counts(counts), _mm512_add_epi32(sums, sums)));
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
fn load_words(words: &[u32; 16]) -> __m512i {
    // SAFETY: as above.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load_indices(IndexLine(indices): &IndexLine) -> __m512i {
    // SAFETY: as above.
    unsafe { _mm512_loadu_si512(indices.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load_sums(Sums(sums): &Sums) -> __m512i {
    // SAFETY: as above.
    unsafe { _mm512_loadu_si512(sums.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store_sums(Sums(sums): &mut Sums, new: __m512i) {
    // SAFETY: 64 bytes are there to be written, and no alignment is needed.
    unsafe { _mm512_storeu_si512(sums.as_mut_ptr().cast(), new) }
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
