//! AVX2, which cannot count bits.
//!
//! Spins: `vpshufb` looks up 32 table entries at once. For four inputs there is a table of 16 entries: how many of four weights differ from them, of one image in the low half of a byte
//! and of another in the high half. So the four weights of 32 neurons, as indices, give the counts of two images with one instruction. Halves hold the sum of three such counts, then go to
//! bytes of their own: ten instructions for 768 products, where counting the bits of `w ^ x` with the same instruction takes 24. The tables are looked up once and serve all neurons. Bytes
//! hold sums over 31 input bytes (248 differences), then go to 16 bits.
//!
//! Bytes: for four inputs of an image there are two tables of 16 entries, the lowest five bits of the sums of all choices from them and the other five, looked up in the same way: four
//! instructions for 128 products. Bytes hold sums of eight entries, then go to 16 bits.

use alloc::vec::Vec;
use core::arch::x86_64::*;

use super::Quads;
use super::layout::{Counts, GROUP, SpinPanels};

/// Input bytes whose differences always fit a byte.
const BYTES: usize = u8::MAX as usize / 8;
/// Input words whose tables stay in the first cache: 5 120 bytes for each pair of images. Their differences fit 15 bits.
const WORDS: usize = 40;
/// Pairs of quads of input bytes whose tables stay in the first cache: 6 144 bytes for each of four images. The sums of five of their bits fit 16.
const EIGHTS: usize = 96;
/// Pairs of quads whose sums of five bits always fit a byte.
const FOUR: usize = u8::MAX as usize / (2 * 31);

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

/// Which of the first two bytes of a quad, and of the others, go into the sixteen sums; `0x80` for none.
static CHOICES: [[u8; 32]; 2] = {
    let mut choices = [[0x80; 32]; 2];
    let mut place = 0;
    while place < 16 * 4 {
        let (sum, byte) = (place / 4, place % 4);
        if sum >> byte & 1 == 1 {
            choices[byte / 2][2 * sum + byte % 2] = byte as u8;
        }
        place += 1;
    }
    choices
};

/// Two tables: those of the two halves of an input byte, for two images; or two parts of the sums of four bytes.
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
            for (image, sums) in sums.into_iter().enumerate() {
                let [first, second] = in_order(sums);
                add(&mut counts[image], first);
                add(&mut counts[IMAGES + image], second);
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
        for (sums, bytes) in sums.iter_mut().zip(bytes) {
            widen(bytes, sums);
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

/// See [`super::scalar::deficits`]; the values are two quads for each place.
#[target_feature(enable = "avx2")]
pub fn deficits<const IMAGES: usize>(
    panels: &SpinPanels,
    inputs: Quads<'_, IMAGES>,
    totals: &[i32; IMAGES],
    counts: &mut [Counts],
    tables: &mut Vec<Tables>,
) {
    for counts in counts.chunks_exact_mut(IMAGES) {
        for (counts, &total) in counts.iter_mut().zip(totals) {
            *counts = [total; GROUP];
        }
    }
    let eights = inputs.places.len();
    let part = eights.div_ceil(eights.div_ceil(EIGHTS).max(1)).max(1);
    for (places, values) in inputs.places.chunks(part).zip(inputs.values.chunks(2 * part)) {
        let mut image = 0;
        while image + 4 <= IMAGES {
            subtract::<IMAGES, 4>(panels, Quads { places, values }, image, counts, tables);
            image += 4;
        }
        for image in image..IMAGES {
            subtract::<IMAGES, 1>(panels, Quads { places, values }, image, counts, tables);
        }
    }
}

/// Subtracts twice the sums of the bytes whose weight is +1 from the counts of the images from `first` on.
#[target_feature(enable = "avx2")]
fn subtract<const IMAGES: usize, const SIDE_BY_SIDE: usize>(
    panels: &SpinPanels,
    inputs: Quads<'_, IMAGES>,
    first: usize,
    counts: &mut [Counts],
    tables: &mut Vec<Tables>,
) {
    tables.clear();
    for [left, right] in inputs.values.as_chunks::<2>().0 {
        for (&left, &right) in left.iter().zip(right).skip(first).take(SIDE_BY_SIDE) {
            tables.extend([sums_of(left), sums_of(right)]);
        }
    }
    for (panel, counts) in panels.weights.chunks_exact(panels.panel).zip(counts.chunks_exact_mut(2 * IMAGES)) {
        let sums = sum::<SIDE_BY_SIDE>(panel.as_chunks::<32>().0, inputs.places, tables);
        for (image, sums) in (first..).zip(sums) {
            let [lower, upper] = [in_order(sums[0]), in_order(sums[1])];
            for (group, (lower, upper)) in lower.into_iter().zip(upper).enumerate() {
                let counts = &mut counts[group * IMAGES + image];
                for (counts, (lower, upper)) in counts.as_chunks_mut::<8>().0.iter_mut().zip(lower.into_iter().zip(upper)) {
                    let lower = _mm256_slli_epi32::<1>(_mm256_cvtepu16_epi32(lower));
                    let upper = _mm256_slli_epi32::<6>(_mm256_cvtepu16_epi32(upper));
                    store(counts, _mm256_sub_epi32(load_counts(counts), _mm256_add_epi32(lower, upper)));
                }
            }
        }
    }
}

/// For each image the sums of the bytes whose weight is +1: of their lowest five bits and of the others, those of the even neurons of 32 and of the odd.
#[inline]
#[target_feature(enable = "avx2")]
fn sum<const IMAGES: usize>(weights: &[[u8; 32]], places: &[u32], tables: &[Tables]) -> [[[__m256i; 2]; 2]; IMAGES] {
    let mut sums = [[[_mm256_setzero_si256(); 2]; 2]; IMAGES];
    for (places, tables) in places.chunks(FOUR).zip(tables.chunks(FOUR * 2 * IMAGES)) {
        let mut bytes = [[_mm256_setzero_si256(); 2]; IMAGES];
        for (&place, tables) in places.iter().zip(tables.chunks_exact(2 * IMAGES)) {
            let [low, high] = halves(&weights[place as usize]);
            for ([lower, upper], [left, right]) in bytes.iter_mut().zip(tables.as_chunks::<2>().0) {
                *lower = _mm256_add_epi8(*lower, _mm256_add_epi8(look(&left[0], low), look(&right[0], high)));
                *upper = _mm256_add_epi8(*upper, _mm256_add_epi8(look(&left[1], low), look(&right[1], high)));
            }
        }
        for (sums, bytes) in sums.as_flattened_mut().iter_mut().zip(bytes.as_flattened()) {
            widen(*bytes, sums);
        }
    }
    sums
}

/// The sums of all choices from four bytes: their lowest five bits, then the others.
#[inline]
#[target_feature(enable = "avx2")]
fn sums_of(quad: u32) -> Tables {
    let bytes = _mm256_set1_epi32(quad as i32);
    let ones = _mm256_set1_epi8(1);
    let first = _mm256_maddubs_epi16(_mm256_shuffle_epi8(bytes, load(&CHOICES[0])), ones);
    let second = _mm256_maddubs_epi16(_mm256_shuffle_epi8(bytes, load(&CHOICES[1])), ones);
    let sums = _mm256_add_epi16(first, second);
    let [lower, upper] = [_mm256_and_si256(sums, _mm256_set1_epi16(31)), _mm256_srli_epi16::<5>(sums)];
    let mut tables = [[0; 16]; 2];
    let packed = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packus_epi16(lower, upper));
    // SAFETY: it writes 32 bytes, at any alignment, all within the array.
    unsafe { _mm256_storeu_si256(tables.as_mut_ptr().cast(), packed) };
    tables
}

/// Adds bytes to 16-bit sums, the even ones and the odd.
#[inline]
#[target_feature(enable = "avx2")]
fn widen(bytes: __m256i, [even, odd]: &mut [__m256i; 2]) {
    *even = _mm256_add_epi16(*even, _mm256_and_si256(bytes, _mm256_set1_epi16(0xff)));
    *odd = _mm256_add_epi16(*odd, _mm256_srli_epi16::<8>(bytes));
}

/// 16-bit sums of 32 neurons by parity as two groups of 16, eight by eight.
#[inline]
#[target_feature(enable = "avx2")]
fn in_order([even, odd]: [__m256i; 2]) -> [[__m128i; 2]; 2] {
    // Neurons 0 to 7 and 16 to 23, then 8 to 15 and 24 to 31.
    let [low, high] = [_mm256_unpacklo_epi16(even, odd), _mm256_unpackhi_epi16(even, odd)];
    [[_mm256_castsi256_si128(low), _mm256_castsi256_si128(high)], [_mm256_extracti128_si256::<1>(low), _mm256_extracti128_si256::<1>(high)]]
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
