//! AVX-512 with population counts and byte dot products (Ice Lake, Zen 4, and later).
//!
//! 16 neurons to a vector. Spins: an `xor` with a broadcast word finds 512 differences. Counting and adding them at once would take three instructions on two ports. Instead the `xor`
//! updates the parity of all differences so far, and two differences are counted only where it falls back from 1 to 0, which one instruction finds for two words: five
//! instructions for 1024 products.
//!
//! Bytes: for six inputs of one image there is a table of 64 entries: the sums of all choices from them. The six weights of 64 neurons, as indices, choose 64 sums with one
//! instruction (`vpermb`). A sum has eleven bits: its last six come from one table and are added up in bytes four times, the rest from another and eight times, before they go to
//! 16 bits. That is five instructions for 384 products, where `vpdpbusd` has 64 for one and needs the weights as bytes.

use alloc::vec::Vec;
use core::arch::x86_64::*;

use super::layout::{BLOCK, Counts, GROUP, IndexBlock, IndexPanels, SIX, SpinPanels};

/// See [`super::scalar::mismatches`].
#[target_feature(enable = "avx512f,avx512bw,avx512vpopcntdq")]
pub fn mismatches<const IMAGES: usize>(panels: &SpinPanels, inputs: &[[u32; IMAGES]], counts: &mut [Counts]) {
    // No closures here: they would not be compiled for these instructions.
    let (input_blocks, input_rest) = inputs.as_chunks::<4>();
    for (panel, counts) in panels.weights.chunks_exact(panels.panel).zip(counts.chunks_exact_mut(IMAGES)) {
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

/// The sums of all choices from six bytes: their last six bits, and the rest.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct Table {
    low: [u8; 64],
    high: [u8; 64],
}

/// Tables of a block of inputs, for every image.
pub type Tables<const IMAGES: usize> = [[Table; BLOCK]; IMAGES];

/// Blocks whose sums always fit 16 bits.
const BLOCKS: usize = u16::MAX as usize / (BLOCK * SIX * u8::MAX as usize);

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
    tables.resize(inputs.div_ceil(SIX * BLOCK), [[Table { low: [0; 64], high: [0; 64] }; BLOCK]; IMAGES]);
    for (image, bytes) in images.chunks_exact(inputs).enumerate() {
        let (blocks, rest) = bytes.as_chunks::<{ SIX * BLOCK }>();
        for (tables, block) in tables.iter_mut().zip(blocks) {
            tabulate_block(&mut tables[image], block);
        }
        if let Some(tables) = tables.get_mut(blocks.len()) {
            let mut block = [0; SIX * BLOCK];
            block[..rest.len()].copy_from_slice(rest);
            tabulate_block(&mut tables[image], &block);
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn tabulate_block(tables: &mut [Table; BLOCK], block: &[u8; SIX * BLOCK]) {
    let chosen = load_words(&CHOSEN);
    let even = _mm512_set1_epi16(0xff);
    for (table, &[a, b, c, d, fifth, sixth]) in tables.iter_mut().zip(block.as_chunks::<SIX>().0) {
        // The sums of four in 32 bits, each beside itself plus the sixth byte, in 16, and all of them plus the fifth.
        let four =
            _mm512_dpbusd_epi32(_mm512_set1_epi32(i32::from(sixth) << 16), _mm512_set1_epi32(i32::from_le_bytes([a, b, c, d])), chosen);
        let five = _mm512_add_epi32(four, _mm512_slli_epi32::<16>(four));
        let six = _mm512_add_epi16(five, _mm512_set1_epi16(i16::from(fifth)));
        let low = choose(even, five, _mm512_slli_epi16::<8>(six));
        store_bytes(&mut table.low, _mm512_and_si512(low, _mm512_set1_epi8(63)));
        store_bytes(&mut table.high, choose(even, _mm512_srli_epi16::<6>(five), _mm512_slli_epi16::<2>(six)));
    }
}

/// Bits of `yes` where `mask` has a 1, of `no` where it has a 0.
#[inline]
#[target_feature(enable = "avx512f")]
fn choose(mask: __m512i, yes: __m512i, no: __m512i) -> __m512i {
    _mm512_ternarylogic_epi32::<0b1100_1010>(mask, yes, no)
}

/// See [`super::scalar::deficits`].
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub fn deficits<const IMAGES: usize>(panels: &IndexPanels, tables: &[Tables<IMAGES>], totals: &[i32; IMAGES], counts: &mut [Counts]) {
    for counts in counts.chunks_exact_mut(IMAGES) {
        for (counts, &total) in counts.iter_mut().zip(totals) {
            *counts = [total; GROUP];
        }
    }
    // Four images fill the registers, and their tables the first cache while all weights go by.
    let fours = IMAGES / 4;
    for (part, tables) in tables.chunks(BLOCKS).enumerate() {
        for four in 0..fours {
            subtract_chosen::<IMAGES, 4>(panels, part * BLOCKS, tables, 4 * four, counts);
        }
        for image in 4 * fours..IMAGES {
            subtract_chosen::<IMAGES, 1>(panels, part * BLOCKS, tables, image, counts);
        }
    }
}

/// Subtracts twice the sums of the bytes whose weights are +1, for some images from `first` on and the blocks from `start` on.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn subtract_chosen<const IMAGES: usize, const SOME: usize>(
    panels: &IndexPanels,
    start: usize,
    tables: &[Tables<IMAGES>],
    first: usize,
    counts: &mut [Counts],
) {
    for (panel, counts) in panels.weights.chunks_exact(panels.blocks).zip(counts.chunks_exact_mut(4 * IMAGES)) {
        // Sums of odd bytes, and those of even bytes with 256 times the odd ones on top, modulo 2¹⁶.
        let mut odd = [_mm512_setzero_si512(); SOME];
        let mut both = [_mm512_setzero_si512(); SOME];
        for (IndexBlock(indices), tables) in panel[start..].iter().zip(tables) {
            let Some(tables) = tables[first..].first_chunk::<SOME>() else { return };
            let mut high = [_mm512_setzero_si512(); SOME];
            for half in 0..2 {
                let mut low = [_mm512_setzero_si512(); SOME];
                for place in 4 * half..4 * half + 4 {
                    let indices = load(&indices[place]);
                    for image in 0..SOME {
                        let table = &tables[image][place];
                        // Saturating, though nothing saturates: on Intel a plain addition may take the one port that can permute.
                        low[image] = _mm512_adds_epu8(low[image], _mm512_permutexvar_epi8(indices, load(&table.low)));
                        high[image] = _mm512_adds_epu8(high[image], _mm512_permutexvar_epi8(indices, load(&table.high)));
                    }
                }
                for image in 0..SOME {
                    both[image] = _mm512_add_epi16(both[image], low[image]);
                    odd[image] = _mm512_add_epi16(odd[image], _mm512_srli_epi16::<8>(low[image]));
                }
            }
            for image in 0..SOME {
                both[image] = _mm512_add_epi16(both[image], _mm512_slli_epi16::<6>(high[image]));
                odd[image] = _mm512_add_epi16(odd[image], _mm512_slli_epi16::<6>(_mm512_srli_epi16::<8>(high[image])));
            }
        }
        for image in 0..SOME {
            let even = _mm512_sub_epi16(both[image], _mm512_slli_epi16::<8>(odd[image]));
            for (pair, sums) in [even, odd[image]].into_iter().enumerate() {
                let groups = [_mm512_castsi512_si256(sums), _mm512_extracti64x4_epi64::<1>(sums)];
                for (group, sums) in groups.into_iter().enumerate() {
                    subtract_twice(&mut counts[(2 * pair + group) * IMAGES + first + image], _mm512_cvtepu16_epi32(sums));
                }
            }
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn subtract_twice(counts: &mut Counts, sums: __m512i) {
    store(counts, _mm512_sub_epi32(load_counts(counts), _mm512_add_epi32(sums, sums)));
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
