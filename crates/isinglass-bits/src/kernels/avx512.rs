//! AVX-512 with population counts and byte dot products (Ice Lake, Zen 4, and later).
//!
//! 16 neurons to a vector. Spins: an `xor` with a broadcast word finds 512 differences. Counting and adding them at once would take three instructions on two ports. Instead the `xor`
//! updates the parity of all differences so far, and two differences are counted only where it falls back from 1 to 0, which one instruction finds for two words: five
//! instructions for 1024 products.
//!
//! Bytes: for six inputs of one image there is a table of 64 entries: the sums of all choices from them. The six weights of 64 neurons, as indices, choose 64 sums with one
//! instruction (`vpermb`). A sum has eleven bits: its last six come from one table and are added up in bytes four times, the rest from another and eight times, before they go to
//! 16 bits. That is five instructions for 384 products, where `vpdpbusd` has 64 for one and needs the weights as bytes. Sixes that are 0 in all images have no table.

use alloc::vec::Vec;
use core::arch::x86_64::*;

use super::layout::{Counts, GROUP, IndexPanels, Indices, SIX, SpinPanels};

/// See [`super::scalar::mismatches`].
#[target_feature(enable = "avx512f,avx512bw,avx512vpopcntdq")]
pub fn mismatches<const IMAGES: usize>(panels: &SpinPanels, inputs: &[[u32; IMAGES]], counts: &mut [Counts]) {
    for (panel, counts) in panels.weights.chunks_exact(panels.panel).zip(counts.as_chunks_mut().0) {
        count::<IMAGES, false>(panel, inputs, counts, &[0; GROUP], &mut [0; IMAGES]);
    }
}

/// [`mismatches`], compared with limits as by [`super::compare::Compare`]. The counts stay in registers.
#[target_feature(enable = "avx512f,avx512bw,avx512vpopcntdq")]
pub fn neurons<const IMAGES: usize>(panels: &SpinPanels, inputs: &[[u32; IMAGES]], limits: &[Counts], spins: &mut [[u32; IMAGES]]) {
    for (group, (panel, limits)) in panels.weights.chunks_exact(panels.panel).zip(limits).enumerate() {
        let mut halves = [0; IMAGES];
        count::<IMAGES, true>(panel, inputs, &mut [[0; GROUP]; IMAGES], limits, &mut halves);
        let words = &mut spins[group / 2];
        for (word, half) in words.iter_mut().zip(halves) {
            *word = if group % 2 == 0 { half } else { *word | half << 16 };
        }
    }
}

/// Counts how many inputs of every image differ from the weights of 16 neurons, or, if `COMPARE`, finds where these counts are at most the limits: a bit per neuron.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vpopcntdq")]
fn count<const IMAGES: usize, const COMPARE: bool>(
    panel: &[u8],
    inputs: &[[u32; IMAGES]],
    counts: &mut [Counts; IMAGES],
    limits: &Counts,
    within: &mut [u32; IMAGES],
) {
    // No closures here: they would not be compiled for these instructions.
    let (input_blocks, input_rest) = inputs.as_chunks::<4>();
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
        if COMPARE {
            within[image] = u32::from(_mm512_cmple_epi32_mask(sum, load_counts(limits)));
        } else {
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

/// The sums of all choices from six bytes: their last six bits, and the rest.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct Table {
    low: [u8; 64],
    high: [u8; 64],
}

/// Images side by side that fill the registers.
const SOME: usize = 4;
/// Tables in use at a time: 36 KiB, which stay in the first cache while all weights go by. The sums of the last six bits of as many fit 15 bits.
const TABLES: usize = 72 * SOME;
/// Two 16-bit factors, −2 and −2·64: what the last six bits of sums and the rest of them are multiplied by.
const FACTORS: i32 = (-2 << 6 << 16) | (-2 & 0xffff);

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

/// Bytes of images in sixes, and which of these are not 0 in all images: a product with 0 adds nothing.
#[derive(Clone, Default)]
pub struct Sixes {
    /// `[image][six]`; the last are filled up with zeros.
    bytes: Vec<[u8; SIX]>,
    /// All images, bit by bit: 1 where one of them has a 1.
    any: Vec<[u8; SIX]>,
    /// The sixes that are not 0 in all images.
    places: Vec<u32>,
}

impl Sixes {
    /// Copies images of `inputs` bytes.
    #[target_feature(enable = "avx512f,avx512bw")]
    pub fn arrange(&mut self, images: &[u8], inputs: usize) {
        let (sixes, count) = (inputs.div_ceil(SIX), images.len() / inputs);
        self.bytes.resize(count * sixes, [0; SIX]);
        self.any.clear();
        self.any.resize(sixes, [0; SIX]);
        for (copy, image) in self.bytes.chunks_exact_mut(sixes).zip(images.chunks_exact(inputs)) {
            let (copy, rest) = copy.as_flattened_mut().split_at_mut(inputs);
            copy.copy_from_slice(image);
            rest.fill(0);
            for (any, byte) in self.any.as_flattened_mut().iter_mut().zip(image) {
                *any |= byte;
            }
        }
        self.places.clear();
        self.places.reserve(sixes);
        for (place, six) in self.any.iter().enumerate() {
            if *six != [0; SIX] {
                self.places.push(place as u32);
            }
        }
    }

    /// Bytes of an image.
    fn image(&self, image: usize) -> &[[u8; SIX]] {
        &self.bytes[image * self.any.len()..][..self.any.len()]
    }
}

/// Makes the tables of an image at some places, the tables of number `image` in each.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn tabulate<const COUNT: usize>(sixes: &[[u8; SIX]], places: &[u32], image: usize, tables: &mut [[Table; COUNT]]) {
    let chosen = load_words(&CHOSEN);
    let even = _mm512_set1_epi16(0xff);
    for (tables, &place) in tables.iter_mut().zip(places) {
        let (first, last) = overlapping_words(&sixes[place as usize]);
        let last = _mm512_set1_epi32(last);
        let fifth = _mm512_shuffle_epi8(last, _mm512_set1_epi32(0x8002_8002_u32 as i32));
        let sixth = _mm512_shuffle_epi8(last, _mm512_set1_epi32(0x8003_8080_u32 as i32));
        // The sums of four in 32 bits, each beside itself plus the sixth byte, in 16, and all of them plus the fifth.
        let four = _mm512_dpbusd_epi32(sixth, _mm512_set1_epi32(first), chosen);
        let five = _mm512_add_epi32(four, _mm512_slli_epi32::<16>(four));
        let six = _mm512_add_epi16(five, fifth);
        let low = choose(even, five, _mm512_slli_epi16::<8>(six));
        let table = &mut tables[image];
        store_bytes(&mut table.low, _mm512_and_si512(low, _mm512_set1_epi8(63)));
        store_bytes(&mut table.high, choose(even, _mm512_srli_epi16::<6>(five), _mm512_slli_epi16::<2>(six)));
    }
}

/// The first four of six bytes, and the last four. (Put together from bytes one by one, they would be loaded so.)
#[inline]
fn overlapping_words(bytes: &[u8; SIX]) -> (i32, i32) {
    let [first, last] = [bytes.first_chunk::<4>(), bytes.last_chunk::<4>()].map(|word| *word.unwrap_or(&[0; 4]));
    (i32::from_le_bytes(first), i32::from_le_bytes(last))
}

/// Bits of `yes` where `mask` has a 1, of `no` where it has a 0.
#[inline]
#[target_feature(enable = "avx512f")]
fn choose(mask: __m512i, yes: __m512i, no: __m512i) -> __m512i {
    _mm512_ternarylogic_epi32::<0b1100_1010>(mask, yes, no)
}

/// See [`super::scalar::deficits`].
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vnni")]
pub fn deficits<const IMAGES: usize>(
    panels: &IndexPanels,
    sixes: &Sixes,
    totals: &[i32; IMAGES],
    counts: &mut [Counts],
    tables: &mut Vec<Table>,
) {
    for counts in counts.chunks_exact_mut(IMAGES) {
        for (counts, &total) in counts.iter_mut().zip(totals) {
            *counts = [total; GROUP];
        }
    }
    tables.resize(TABLES.min(IMAGES.min(SOME) * sixes.any.len()), Table { low: [0; 64], high: [0; 64] });
    let most = TABLES / IMAGES.min(SOME);
    // Parts of one size: the last would otherwise be short, and a part has its costs.
    let parts = sixes.places.len().div_ceil(most).max(1);
    let part = sixes.places.len().div_ceil(parts).next_multiple_of(8).max(8);
    for places in sixes.places.chunks(part) {
        match places {
            // One after the other: nothing between them is left out.
            [first, .., last] if (last - first) as usize + 1 == places.len() => {
                subtract_part::<IMAGES, true>(panels, sixes, places, counts, tables);
            }
            _ => subtract_part::<IMAGES, false>(panels, sixes, places, counts, tables),
        }
    }
}

/// Subtracts twice the sums of the bytes whose weights are +1, for the sixes at some places; `RUN` if these are one after the other.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vnni")]
fn subtract_part<const IMAGES: usize, const RUN: bool>(
    panels: &IndexPanels,
    sixes: &Sixes,
    places: &[u32],
    counts: &mut [Counts],
    tables: &mut [Table],
) {
    let whole = IMAGES / SOME * SOME;
    for first in (0..whole).step_by(SOME) {
        subtract_chosen::<IMAGES, SOME, RUN>(panels, sixes, places, first, counts, tables.as_chunks_mut().0);
    }
    for image in whole..IMAGES {
        subtract_chosen::<IMAGES, 1, RUN>(panels, sixes, places, image, counts, tables.as_chunks_mut().0);
    }
}

/// As [`subtract_part`], for `COUNT` images from `first` on.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vnni")]
fn subtract_chosen<const IMAGES: usize, const COUNT: usize, const RUN: bool>(
    panels: &IndexPanels,
    sixes: &Sixes,
    places: &[u32],
    first: usize,
    counts: &mut [Counts],
    tables: &mut [[Table; COUNT]],
) {
    for image in 0..COUNT {
        tabulate(sixes.image(first + image), places, image, tables);
    }
    let (eights, rest) = places.as_chunks::<8>();
    let (eight_tables, rest_tables) = tables[..places.len()].as_chunks::<8>();
    for (panel, counts) in panels.weights.chunks_exact(panels.sixes).zip(counts.chunks_exact_mut(4 * IMAGES)) {
        let mut low_sums = [Sums::zero(); COUNT];
        let mut high_sums = [Sums::zero(); COUNT];
        // The weights of a run, which need not be looked for.
        let run_eights = if RUN { panel[places[0] as usize..][..places.len()].as_chunks::<8>().0 } else { &[] };
        for (number, (places, tables)) in eights.iter().zip(eight_tables).enumerate() {
            let mut high = [_mm512_setzero_si512(); COUNT];
            for half in 0..2 {
                let mut low = [_mm512_setzero_si512(); COUNT];
                for place in 4 * half..4 * half + 4 {
                    let indices = if RUN { &run_eights[number][place] } else { &panel[places[place] as usize] };
                    look_up(indices, &tables[place], &mut low, &mut high);
                }
                add_bytes(&mut low_sums, low);
            }
            add_bytes(&mut high_sums, high);
        }
        let mut high = [_mm512_setzero_si512(); COUNT];
        for (places, tables) in rest.chunks(4).zip(rest_tables.chunks(4)) {
            let mut low = [_mm512_setzero_si512(); COUNT];
            for (&place, tables) in places.iter().zip(tables) {
                look_up(&panel[place as usize], tables, &mut low, &mut high);
            }
            add_bytes(&mut low_sums, low);
        }
        add_bytes(&mut high_sums, high);
        for image in 0..COUNT {
            let ([even, odd], [even_high, odd_high]) = (low_sums[image].separate(), high_sums[image].separate());
            let groups = [
                _mm512_unpacklo_epi16(even, even_high),
                _mm512_unpackhi_epi16(even, even_high),
                _mm512_unpacklo_epi16(odd, odd_high),
                _mm512_unpackhi_epi16(odd, odd_high),
            ];
            for (group, sums) in groups.into_iter().enumerate() {
                let counts = &mut counts[group * IMAGES + first + image];
                store(counts, _mm512_dpwssd_epi32(load_counts(counts), sums, _mm512_set1_epi32(FACTORS)));
            }
        }
    }
}

/// Looks the sums of 64 neurons up, and adds them to those in bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn look_up<const COUNT: usize>(
    Indices(indices): &Indices,
    tables: &[Table; COUNT],
    low: &mut [__m512i; COUNT],
    high: &mut [__m512i; COUNT],
) {
    let indices = load(indices);
    for image in 0..COUNT {
        // Saturating, though nothing saturates: on Intel a plain addition may take the one port that can permute.
        low[image] = _mm512_adds_epu8(low[image], _mm512_permutexvar_epi8(indices, load(&tables[image].low)));
        high[image] = _mm512_adds_epu8(high[image], _mm512_permutexvar_epi8(indices, load(&tables[image].high)));
    }
}

/// Sums of 64 neurons in 16 bits.
#[derive(Clone, Copy)]
struct Sums {
    /// Those of odd bytes.
    odd: __m512i,
    /// Those of even bytes with 256 times the odd ones on top, modulo 2¹⁶.
    both: __m512i,
}

impl Sums {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn zero() -> Self {
        Self { odd: _mm512_setzero_si512(), both: _mm512_setzero_si512() }
    }

    /// Those of even bytes, and of odd ones.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn separate(self) -> [__m512i; 2] {
        [_mm512_sub_epi16(self.both, _mm512_slli_epi16::<8>(self.odd)), self.odd]
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn add_bytes<const COUNT: usize>(sums: &mut [Sums; COUNT], bytes: [__m512i; COUNT]) {
    for image in 0..COUNT {
        let Sums { odd, both } = sums[image];
        let odd = _mm512_add_epi16(odd, _mm512_srli_epi16::<8>(bytes[image]));
        sums[image] = Sums { odd, both: _mm512_add_epi16(both, bytes[image]) };
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: it reads 64 bytes, at any alignment, all within the array.
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
fn store_bytes(bytes: &mut [u8; 64], new: __m512i) {
    // SAFETY: it writes 64 bytes, at any alignment, all within the array.
    unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), new) }
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
    // SAFETY: it writes 64 bytes, at any alignment, all within the array.
    unsafe { _mm512_storeu_si512(counts.as_mut_ptr().cast(), sums) }
}
