//! AVX2, which cannot count bits.
//!
//! Spins: `vpshufb` looks up 32 table entries at once. For four inputs there is a table of 16 entries: how many of four weights differ from them, of one image in the low half of a byte
//! and of another in the high half. So the four weights of 32 neurons, as indices, give the counts of two images with one instruction. Halves hold the sum of three such counts, then go to
//! bytes of their own: ten instructions for 768 products, where counting the bits of `w ^ x` with the same instruction takes 24. The tables are looked up once and serve all neurons. Bytes
//! hold sums over 31 input bytes (248 differences), then go to 16 bits.
//!
//! Bytes: 32 weights become bytes 0 or −1, and `vpmaddubsw` adds two products in each of 16 lanes, whose sums go to 32 bits after 64 such steps.

use alloc::vec::Vec;
use core::arch::x86_64::*;

use super::Quads;
use super::layout::{BytePanels, Counts, GROUP, SpinPanels};

/// Input bytes whose differences always fit a byte.
const BYTES: usize = u8::MAX as usize / 8;
/// Input words whose tables stay in the first cache: 5 120 bytes for each pair of images. Their differences fit 15 bits.
const WORDS: usize = 40;
/// Quads of input bytes whose sums, in pairs, always fit 16 bits.
const QUADS: usize = i16::MAX as usize / (2 * u8::MAX as usize);

/// How many of four weights differ from four inputs of one image, and 16 times those of another, `[inputs of both][weights]`.
static DIFFERENCES: [[u8; 16]; 256] = {
    let mut tables = [[0; 16]; 256];
    let mut place = 0;
    while place < 256 * 16 {
        let (inputs, weights) = (place / 16, place % 16);
        let [first, second] = [(inputs % 16) ^ weights, (inputs / 16) ^ weights];
        tables[inputs][weights] = (first.count_ones() + 16 * second.count_ones()) as u8;
        place += 1;
    }
    tables
};

/// The tables of the two halves of an input byte, for two images.
pub type Tables = [[u8; 16]; 2];

/// Looks up the tables of some inputs, `[byte][pair of images]`. An image without a partner is its own.
#[target_feature(enable = "avx2")]
fn look_up<const IMAGES: usize>(inputs: &[[u32; IMAGES]], tables: &mut [Tables]) {
    let pairs = const { IMAGES.div_ceil(2) };
    for (words, tables) in inputs.iter().zip(tables.chunks_exact_mut(4 * pairs)) {
        for (pair, words) in words.chunks(2).enumerate() {
            let [first, second] = [words[0], words[words.len() - 1]];
            let mut low_halves = (first & 0x0f0f_0f0f) | ((second & 0x0f0f_0f0f) << 4);
            let mut high_halves = ((first >> 4) & 0x0f0f_0f0f) | (second & 0xf0f0_f0f0);
            for tables in tables.chunks_exact_mut(pairs) {
                tables[pair] = [DIFFERENCES[low_halves as usize & 0xff], DIFFERENCES[high_halves as usize & 0xff]];
                low_halves >>= 8;
                high_halves >>= 8;
            }
        }
    }
}

/// See [`super::scalar::mismatches`].
#[target_feature(enable = "avx2")]
pub fn mismatches<const IMAGES: usize>(panels: &SpinPanels, inputs: &[[u32; IMAGES]], counts: &mut [Counts], tables: &mut Vec<Tables>) {
    counts.fill([0; GROUP]);
    let pairs = const { IMAGES.div_ceil(2) };
    // Parts of one size: the last would otherwise be short, and a part has its costs.
    let words = inputs.len().div_ceil(inputs.len().div_ceil(WORDS).max(1));
    tables.resize(4 * WORDS * pairs, [[0; 16]; 2]);
    for (part, inputs) in inputs.chunks(words.max(1)).enumerate() {
        let tables = &mut tables[..4 * inputs.len() * pairs];
        look_up(inputs, tables);
        for (panel, counts) in panels.weights.chunks_exact(panels.panel).zip(counts.chunks_exact_mut(2 * IMAGES)) {
            let weights = &panel.as_chunks::<32>().0[4 * words * part..][..4 * inputs.len()];
            let sums = count::<IMAGES>(weights, tables);
            for (image, [even, odd]) in sums.into_iter().enumerate() {
                // Neurons 0 to 7 and 16 to 23, then 8 to 15 and 24 to 31.
                let [low, high] = [_mm256_unpacklo_epi16(even, odd), _mm256_unpackhi_epi16(even, odd)];
                add(&mut counts[image], [_mm256_castsi256_si128(low), _mm256_castsi256_si128(high)]);
                add(&mut counts[IMAGES + image], [_mm256_extracti128_si256::<1>(low), _mm256_extracti128_si256::<1>(high)]);
            }
        }
    }
}

/// Whether [`neurons`] can be used.
pub fn fits<const IMAGES: usize>(inputs: &[[u32; IMAGES]]) -> bool {
    inputs.len() <= WORDS
}

/// [`mismatches`] and a comparison with limits, in 16 bits, of no more inputs than [`fits`] says.
#[target_feature(enable = "avx2")]
pub fn neurons<const IMAGES: usize>(
    panels: &SpinPanels,
    inputs: &[[u32; IMAGES]],
    limits: &[Counts],
    spins: &mut [[u32; IMAGES]],
    tables: &mut Vec<Tables>,
) {
    let pairs = const { IMAGES.div_ceil(2) };
    tables.resize(4 * WORDS * pairs, [[0; 16]; 2]);
    let tables = &mut tables[..4 * inputs.len() * pairs];
    look_up(inputs, tables);
    for ((panel, limits), spins) in panels.weights.chunks_exact(panels.panel).zip(limits.chunks(2)).zip(spins) {
        let sums = count::<IMAGES>(panel.as_chunks::<32>().0, tables);
        let [even_limits, odd_limits] = by_parity(&limits[0], limits.get(1).unwrap_or(&[i32::MIN; GROUP]));
        for (spins, [even, odd]) in spins.iter_mut().zip(sums) {
            let above = [_mm256_cmpgt_epi16(even, even_limits), _mm256_cmpgt_epi16(odd, odd_limits)];
            let above = _mm256_blendv_epi8(above[0], above[1], _mm256_set1_epi16(0xff00_u16 as i16));
            *spins = !_mm256_movemask_epi8(above) as u32;
        }
    }
}

/// The differences of 32 neurons from inputs whose tables are there: for each image those of the even neurons, then of the odd.
#[inline]
#[target_feature(enable = "avx2")]
fn count<const IMAGES: usize>(weights: &[[u8; 32]], tables: &[Tables]) -> [[__m256i; 2]; IMAGES] {
    // No closures here: they would not be compiled for these instructions.
    let pairs = const { IMAGES.div_ceil(2) };
    let mut sums = [[_mm256_setzero_si256(); 2]; IMAGES];
    for (weights, tables) in weights.chunks(BYTES).zip(tables.chunks(BYTES * pairs)) {
        let mut bytes = [_mm256_setzero_si256(); IMAGES];
        let (threes, rest) = weights.as_chunks::<3>();
        let (three_tables, rest_tables) = tables.split_at(tables.len().min(threes.len() * 3 * pairs));
        for (weights, tables) in threes.iter().zip(three_tables.chunks_exact(3 * pairs)) {
            let (first, others) = tables.split_at(pairs);
            let (second, third) = others.split_at(pairs);
            let [[a, b], [c, d], [e, f]] = [halves(&weights[0]), halves(&weights[1]), halves(&weights[2])];
            for (pair, sums) in bytes.chunks_mut(2).enumerate() {
                let [t, u] = [&first[pair], &second[pair]];
                split(_mm256_add_epi8(_mm256_add_epi8(look(&t[0], a), look(&t[1], b)), look(&u[0], c)), sums);
            }
            for (pair, sums) in bytes.chunks_mut(2).enumerate() {
                let [u, v] = [&second[pair], &third[pair]];
                split(_mm256_add_epi8(_mm256_add_epi8(look(&u[1], d), look(&v[0], e)), look(&v[1], f)), sums);
            }
        }
        for (weights, tables) in rest.iter().zip(rest_tables.chunks_exact(pairs)) {
            let [a, b] = halves(weights);
            for (sums, tables) in bytes.chunks_mut(2).zip(tables) {
                split(_mm256_add_epi8(look(&tables[0], a), look(&tables[1], b)), sums);
            }
        }
        for ([even, odd], bytes) in sums.iter_mut().zip(bytes) {
            *even = _mm256_add_epi16(*even, _mm256_and_si256(bytes, _mm256_set1_epi16(0xff)));
            *odd = _mm256_add_epi16(*odd, _mm256_srli_epi16::<8>(bytes));
        }
    }
    sums
}

/// The low and the high halves of bytes.
#[inline]
#[target_feature(enable = "avx2")]
fn halves(bytes: &[u8; 32]) -> [__m256i; 2] {
    let (bytes, low) = (load(bytes), _mm256_set1_epi8(0xf));
    [_mm256_and_si256(bytes, low), _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), low)]
}

/// Adds the low halves of bytes to the sums of one image, and the high halves to those of its partner, if there is one.
#[inline]
#[target_feature(enable = "avx2")]
fn split(bytes: __m256i, sums: &mut [__m256i]) {
    let low = _mm256_set1_epi8(0xf);
    for (place, sum) in sums.iter_mut().enumerate() {
        let bytes = if place == 0 { bytes } else { _mm256_srli_epi16::<4>(bytes) };
        *sum = _mm256_add_epi8(*sum, _mm256_and_si256(bytes, low));
    }
}

/// Looks up entries of a table.
#[inline]
#[target_feature(enable = "avx2")]
fn look(table: &[u8; 16], indices: __m256i) -> __m256i {
    _mm256_shuffle_epi8(broadcast(table), indices)
}

/// Limits of 32 neurons in 16 bits, those of the even neurons and of the odd.
#[inline]
#[target_feature(enable = "avx2")]
fn by_parity(first: &Counts, second: &Counts) -> [__m256i; 2] {
    let ordered = [first, second].map(|limits| limits.as_chunks::<8>().0);
    let mut even = [_mm256_setzero_si256(); 2];
    let mut odd = [_mm256_setzero_si256(); 2];
    for (half, limits) in ordered.into_iter().enumerate() {
        let limits = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packs_epi32(load_counts(&limits[0]), load_counts(&limits[1])));
        even[half] = _mm256_and_si256(limits, _mm256_set1_epi32(0xffff));
        odd[half] = _mm256_srli_epi32::<16>(limits);
    }
    [
        _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packus_epi32(even[0], even[1])),
        _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packus_epi32(odd[0], odd[1])),
    ]
}

/// Adds 16-bit counts of 16 neurons.
#[inline]
#[target_feature(enable = "avx2")]
fn add(counts: &mut Counts, halves: [__m128i; 2]) {
    for (counts, half) in counts.as_chunks_mut::<8>().0.iter_mut().zip(halves) {
        store(counts, _mm256_add_epi32(load_counts(counts), _mm256_cvtepu16_epi32(half)));
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
