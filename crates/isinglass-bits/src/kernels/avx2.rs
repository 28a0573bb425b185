//! AVX2, which cannot count bits.
//!
//! Spins: `vpshufb` looks up 32 table entries at once. For four inputs of one image there is a table of 16 entries: how many of four weights differ from them. So the four weights of 32
//! neurons, as indices, give 32 counts with one instruction, and a second one adds them to bytes: four instructions for 256 products, where counting the bits of `w ^ x` with the same
//! instruction takes eight. The tables of an image are looked up once and serve all neurons. Bytes hold sums over 31 input bytes (248 differences), then go to 16 bits.
//!
//! Bytes: 32 weights become bytes 0 or −1, and `vpmaddubsw` adds two products in each of 16 lanes, whose sums go to 32 bits after 64 such steps.

use alloc::vec::Vec;
use core::arch::x86_64::*;

use super::Quads;
use super::layout::{BytePanels, Counts, GROUP, SpinPanels};

/// Input bytes whose differences always fit a byte.
const BYTES: usize = u8::MAX as usize / 8;
/// Input words whose tables stay in the first cache: 4 864 bytes for each of eight images.
const WORDS: usize = 5 * BYTES / 4;
/// Quads of input bytes whose sums, in pairs, always fit 16 bits.
const QUADS: usize = i16::MAX as usize / (2 * u8::MAX as usize);

/// How many of four weights differ from four inputs, `[inputs][weights]`.
static DIFFERENCES: [[u8; 16]; 16] = {
    let mut tables = [[0; 16]; 16];
    let mut place = 0;
    while place < 256 {
        tables[place / 16][place % 16] = ((place / 16) ^ (place % 16)).count_ones() as u8;
        place += 1;
    }
    tables
};

/// The tables of the two halves of an input byte.
pub type Tables = [[u8; 16]; 2];

/// Looks up the tables of some inputs, `[byte][image]`.
#[target_feature(enable = "avx2")]
fn look_up<const IMAGES: usize>(inputs: &[[u32; IMAGES]], tables: &mut [[Tables; IMAGES]]) {
    for (words, tables) in inputs.iter().zip(tables.as_chunks_mut::<4>().0) {
        for (image, &word) in words.iter().enumerate() {
            for (tables, byte) in tables.iter_mut().zip(word.to_le_bytes()) {
                let byte = usize::from(byte);
                tables[image] = [DIFFERENCES[byte & 0xf], DIFFERENCES[byte >> 4]];
            }
        }
    }
}

/// See [`super::scalar::mismatches`].
#[target_feature(enable = "avx2")]
pub fn mismatches<const IMAGES: usize>(
    panels: &SpinPanels,
    inputs: &[[u32; IMAGES]],
    counts: &mut [Counts],
    tables: &mut Vec<[Tables; IMAGES]>,
) {
    counts.fill([0; GROUP]);
    // Parts of one size: the last would otherwise be short, and a part has its costs.
    let words = inputs.len().div_ceil(inputs.len().div_ceil(WORDS).max(1));
    tables.resize(4 * WORDS, [[[0; 16]; 2]; IMAGES]);
    for (part, inputs) in inputs.chunks(words.max(1)).enumerate() {
        let tables = &mut tables[..4 * inputs.len()];
        look_up(inputs, tables);
        for (panel, counts) in panels.weights.chunks_exact(panels.panel).zip(counts.chunks_exact_mut(2 * IMAGES)) {
            count(&panel.as_chunks::<32>().0[4 * words * part..], tables, counts);
        }
    }
}

/// Adds the differences of 32 neurons from inputs whose tables are there.
#[inline]
#[target_feature(enable = "avx2")]
fn count<const IMAGES: usize>(weights: &[[u8; 32]], tables: &[[Tables; IMAGES]], counts: &mut [Counts]) {
    // No closures here: they would not be compiled for these instructions.
    let nibble = _mm256_set1_epi8(0xf);
    let mut sums = [[_mm256_setzero_si256(); 2]; IMAGES];
    for (weights, tables) in weights.chunks(BYTES).zip(tables.chunks(BYTES)) {
        let mut bytes = [_mm256_setzero_si256(); IMAGES];
        for (weights, tables) in weights.iter().zip(tables) {
            let weights = load(weights);
            let low_half = _mm256_and_si256(weights, nibble);
            let high_half = _mm256_and_si256(_mm256_srli_epi16::<4>(weights), nibble);
            for (sum, [left, right]) in bytes.iter_mut().zip(tables) {
                *sum = _mm256_add_epi8(*sum, _mm256_shuffle_epi8(broadcast(left), low_half));
                *sum = _mm256_add_epi8(*sum, _mm256_shuffle_epi8(broadcast(right), high_half));
            }
        }
        for ([first, second], bytes) in sums.iter_mut().zip(bytes) {
            *first = _mm256_add_epi16(*first, _mm256_cvtepu8_epi16(_mm256_castsi256_si128(bytes)));
            *second = _mm256_add_epi16(*second, _mm256_cvtepu8_epi16(_mm256_extracti128_si256::<1>(bytes)));
        }
    }
    for (image, sums) in sums.into_iter().enumerate() {
        for (group, sum) in sums.into_iter().enumerate() {
            let halves = [_mm256_castsi256_si128(sum), _mm256_extracti128_si256::<1>(sum)];
            for (counts, half) in counts[group * IMAGES + image].as_chunks_mut::<8>().0.iter_mut().zip(halves) {
                store(counts, _mm256_add_epi32(load_counts(counts), _mm256_cvtepu16_epi32(half)));
            }
        }
    }
}

/// See [`super::scalar::deficits`].
#[target_feature(enable = "avx2")]
pub fn deficits<const IMAGES: usize>(panels: &BytePanels, inputs: Quads<'_, IMAGES>, totals: &[i32; IMAGES], counts: &mut [Counts]) {
    for (group, counts) in panels.weights.chunks_exact(panels.quads).zip(counts.chunks_exact_mut(IMAGES)) {
        for half in 0..2 {
            // Minus the sum of the bytes whose weight is +1.
            let mut sums = [_mm256_setzero_si256(); IMAGES];
            for inputs in inputs.parts(QUADS) {
                let mut pairs = [_mm256_setzero_si256(); IMAGES];
                for (&place, quads) in inputs.places.iter().zip(inputs.values) {
                    let weights = bytes_of((group[place as usize] >> (32 * half)) as u32);
                    for (pairs, &quad) in pairs.iter_mut().zip(quads) {
                        *pairs = _mm256_add_epi16(*pairs, _mm256_maddubs_epi16(_mm256_set1_epi32(quad as i32), weights));
                    }
                }
                for (sum, pairs) in sums.iter_mut().zip(pairs) {
                    *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
                }
            }
            for ((counts, sum), &total) in counts.iter_mut().zip(sums).zip(totals) {
                let sum = _mm256_add_epi32(_mm256_set1_epi32(total), _mm256_add_epi32(sum, sum));
                store(&mut counts.as_chunks_mut::<8>().0[half], sum);
            }
        }
    }
}

/// 32 bits as bytes, −1 for a 1.
#[inline]
#[target_feature(enable = "avx2")]
fn bytes_of(bits: u32) -> __m256i {
    let spread = _mm256_setr_epi64x(0, 0x0101_0101_0101_0101, 0x0202_0202_0202_0202, 0x0303_0303_0303_0303);
    let bit = _mm256_set1_epi64x(0x8040_2010_0804_0201_u64 as i64);
    let bytes = _mm256_shuffle_epi8(_mm256_set1_epi32(bits as i32), spread);
    _mm256_cmpeq_epi8(_mm256_and_si256(bytes, bit), bit)
}

#[inline]
#[target_feature(enable = "avx2")]
fn load(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: it reads 32 bytes, at any alignment, all within the array.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn broadcast(table: &[u8; 16]) -> __m256i {
    // SAFETY: it reads 16 bytes, at any alignment, all within the array.
    _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(table.as_ptr().cast()) })
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_counts(counts: &[i32; 8]) -> __m256i {
    // SAFETY: it reads 32 bytes, at any alignment, all within the array.
    unsafe { _mm256_loadu_si256(counts.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store(counts: &mut [i32; 8], sums: __m256i) {
    // SAFETY: it writes 32 bytes, at any alignment, all within the array.
    unsafe { _mm256_storeu_si256(counts.as_mut_ptr().cast(), sums) }
}
