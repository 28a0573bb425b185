//! AMX: products of tiles of bytes (Sapphire Rapids and later), for the first layer of many rows.
//!
//! One instruction multiplies 64 inputs of 16 rows with the weights of 16 neurons: 16 384 products in 16 cycles. Weights stay bits in memory: those of 32 neurons at a time are turned into
//! bytes ±1, which serve all rows of a block. Two tiles of rows and two of neurons share their loads, and the four tiles of sums stay in registers.
//!
//! Layers on spins are not multiplied this way. With a core to itself AMX is about as fast as counting bits, but where another program runs on the same core it is half as fast.
//!
//! The compiler has no stable intrinsics for tiles. All that is done with tile registers between loading and storing them is one block of assembly, whose operands are slices of whole tiles.

use alloc::vec;
use alloc::vec::Vec;
use core::arch::asm;
use core::arch::x86_64::*;
use core::marker::PhantomData;
use core::ops::Range;

use isinglass_simd::Amx;

use super::layout::{Counts, GROUP, SpinPanels};
use crate::PackedLayer;

/// Rows of a tile of inputs.
const ROWS: usize = 16;
/// Inputs of a tile.
const DEPTH: usize = 64;
/// Neurons that are computed together: two groups, the spins of a word.
const PAIR: usize = 2 * GROUP;

/// The most rows of a block.
const MOST: usize = 256;
/// Bytes of inputs that stay in the second cache.
const CACHE: usize = 1 << 18;

/// 64 inputs of 16 rows; or, as weights, 16 times four inputs of 16 neurons.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Tile([[u8; DEPTH]; ROWS]);

/// The sums of 16 rows and 16 neurons.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Sums([Counts; ROWS]);

/// A first layer, laid out for [`Block::neurons`].
pub struct Layer {
    token: Amx,
    /// Bits, as for spins.
    weights: SpinPanels,
    /// Of pairs of groups. Neurons beyond the last never reach theirs.
    thresholds: Vec<[Counts; 2]>,
}

impl Layer {
    pub fn new(token: Amx, layer: &PackedLayer) -> Self {
        // No sum is as large: 255 times the most inputs.
        let mut thresholds = vec![[[i32::MAX; GROUP]; 2]; layer.neurons().div_ceil(PAIR)];
        let places = thresholds.as_flattened_mut().as_flattened_mut();
        places[..layer.neurons()].copy_from_slice(layer.thresholds());
        Self { token, weights: SpinPanels::new(layer.weights(), GROUP, 4), thresholds }
    }
}

/// Rows of bytes, as many as share unpacked weights, and working memory for their products.
#[derive(Clone)]
pub struct Block {
    /// Tiles of an even number of times 16 rows, `[rows/16][inputs/64]`. Missing inputs are 0.
    inputs: Vec<Tile>,
    /// The tiles of two times 16 rows from the first to the last that is not 0: the borders of images are black.
    used: Vec<Range<usize>>,
    /// Those of a pair of groups.
    weights: Vec<[Tile; 2]>,
    /// Those of a product, `[rows][group]`.
    sums: [[Sums; 2]; 2],
}

impl Block {
    /// A block for rows of `inputs` bytes.
    pub fn new(inputs: usize) -> Self {
        let (rows, depth) = (Self::rows_of(inputs), inputs.div_ceil(DEPTH));
        let (tile, sums) = (Tile([[0; DEPTH]; ROWS]), Sums([[0; GROUP]; ROWS]));
        Self {
            inputs: vec![tile; rows / ROWS * depth],
            used: vec![0..depth; rows / (2 * ROWS)],
            weights: vec![[tile; 2]; depth],
            sums: [[sums; 2]; 2],
        }
    }

    /// The most rows of a block.
    pub fn rows_of(inputs: usize) -> usize {
        (CACHE / inputs).clamp(2 * ROWS, MOST) / (2 * ROWS) * (2 * ROWS)
    }

    /// Takes rows of bytes, of as many as the block is for.
    pub fn fill(&mut self, rows: &[u8], inputs: usize) {
        let depth = inputs.div_ceil(DEPTH);
        self.used.fill(depth..0);
        for (index, row) in rows.chunks_exact(inputs).enumerate() {
            let tiles = &mut self.inputs[index / ROWS * depth..][..depth];
            let used = &mut self.used[index / (2 * ROWS)];
            for (place, (tile, bytes)) in tiles.iter_mut().zip(row.chunks(DEPTH)).enumerate() {
                tile.0[index % ROWS][..bytes.len()].copy_from_slice(bytes);
                if bytes.iter().fold(0, |any, byte| any | byte) != 0 {
                    *used = used.start.min(place)..used.end.max(place + 1);
                }
            }
        }
    }

    /// The neurons of the first `count` rows: 32 spins of `IMAGES` rows side by side, then the next 32, then the next rows.
    pub fn neurons<const IMAGES: usize>(&mut self, layer: &Layer, count: usize, spins: &mut [[u32; IMAGES]]) {
        let registers = Registers::configure(layer.token);
        let (depth, words) = (self.weights.len(), layer.thresholds.len());
        for (word, thresholds) in layer.thresholds.iter().enumerate() {
            // SAFETY: the token proves the instructions, here and below.
            unsafe { unpack(&layer.weights, word, &mut self.weights) };
            let rows = (0..count).step_by(2 * ROWS).zip(self.inputs.chunks_exact(2 * depth));
            for ((first, tiles), used) in rows.zip(&self.used) {
                // Of black images, one tile: a product takes at least one.
                let used = if used.is_empty() { 0..1 } else { used.clone() };
                let (low, high) = tiles.split_at(depth);
                multiply(&registers, (&low[used.clone()], &high[used.clone()]), &self.weights[used], &mut self.sums);
                for (first, sums) in [first, first + ROWS].into_iter().zip(&self.sums) {
                    let ups = unsafe { compare(sums, thresholds) };
                    for (row, ups) in (first..count).zip(ups) {
                        spins[row / IMAGES * words + word][row % IMAGES] = ups;
                    }
                }
            }
        }
    }
}

/// The tile registers of this thread, configured: all of them for 16 rows of 64 bytes. One at a time in a thread: the first to go releases them.
struct Registers {
    /// They belong to the thread.
    _thread: PhantomData<*const ()>,
}

/// What `ldtilecfg` reads.
#[repr(C, align(64))]
struct Configuration {
    palette: u8,
    start_row: u8,
    reserved: [u8; 14],
    bytes_of_rows: [u16; 16],
    rows: [u8; 16],
}

impl Registers {
    fn configure(_: Amx) -> Self {
        let mut configuration = Configuration { palette: 1, start_row: 0, reserved: [0; 14], bytes_of_rows: [0; 16], rows: [0; 16] };
        configuration.bytes_of_rows[..8].fill(DEPTH as u16);
        configuration.rows[..8].fill(ROWS as u8);
        // SAFETY: the token proves the instructions; a configuration has 64 bytes, and this one is valid.
        unsafe { asm!("ldtilecfg [{}]", in(reg) &raw const configuration, options(nostack, readonly, preserves_flags)) };
        Self { _thread: PhantomData }
    }
}

impl Drop for Registers {
    fn drop(&mut self) {
        // SAFETY: where tiles were configured they can be released, which saves the system from keeping them.
        unsafe { asm!("tilerelease", options(nostack, nomem, preserves_flags)) };
    }
}

/// The sums of two tiles of rows and two groups of neurons.
#[inline]
fn multiply(_: &Registers, (low, high): (&[Tile], &[Tile]), weights: &[[Tile; 2]], [low_sums, high_sums]: &mut [[Sums; 2]; 2]) {
    assert!(
        !weights.is_empty() && low.len() == weights.len() && high.len() == weights.len(),
        "two tiles of weights for every tile of inputs"
    );
    // SAFETY: tiles are configured, as `Registers` proves, and a tile has 1024 bytes. The loop takes as many turns as `low` and `high` have tiles and `weights` pairs of them; sums are two tiles
    // each. Nothing else is touched.
    unsafe {
        asm!(
            "tilezero tmm0",
            "tilezero tmm1",
            "tilezero tmm2",
            "tilezero tmm3",
            "2:",
            "tileloaddt1 tmm4, [{low} + {stride}]",
            "tileloadd tmm6, [{weights} + {stride}]",
            "tdpbusd tmm0, tmm4, tmm6",
            "tileloadd tmm7, [{weights} + {stride} + 1024]",
            "tdpbusd tmm1, tmm4, tmm7",
            "tileloaddt1 tmm5, [{high} + {stride}]",
            "tdpbusd tmm2, tmm5, tmm6",
            "tdpbusd tmm3, tmm5, tmm7",
            "add {low}, 1024",
            "add {high}, 1024",
            "add {weights}, 2048",
            "dec {turns}",
            "jnz 2b",
            "tilestored [{low_sums} + {stride}], tmm0",
            "tilestored [{low_sums} + {stride} + 1024], tmm1",
            "tilestored [{high_sums} + {stride}], tmm2",
            "tilestored [{high_sums} + {stride} + 1024], tmm3",
            low = inout(reg) low.as_ptr() => _,
            high = inout(reg) high.as_ptr() => _,
            weights = inout(reg) weights.as_ptr() => _,
            turns = inout(reg) weights.len() => _,
            low_sums = in(reg) low_sums.as_mut_ptr(),
            high_sums = in(reg) high_sums.as_mut_ptr(),
            stride = in(reg) DEPTH,
            out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _, out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
            options(nostack),
        );
    }
}

/// Weights of a pair of groups as bytes ±1, from their bits. Inputs beyond the last are 0, so their weights do not matter, nor do those of groups beyond the last.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn unpack(panels: &SpinPanels, pair: usize, weights: &mut [[Tile; 2]]) {
    // Byte `b` of a neuron becomes the eight bits of its word from `4·quad + b − 1` on, of which the second is wanted.
    let first = _mm512_set1_epi64(i64::from_le_bytes([63, 0, 1, 2, 31, 32, 33, 34]));
    let (two, one) = (_mm512_set1_epi8(2), _mm512_set1_epi8(1));
    let groups = panels.weights.chunks_exact(panels.panel).skip(2 * pair).take(2);
    for (half, group) in groups.enumerate() {
        for (words, tiles) in group.as_chunks::<64>().0.chunks(2).zip(&mut *weights) {
            for (word, quads) in words.iter().zip(tiles[half].0.as_chunks_mut::<8>().0) {
                // SAFETY: an array of 64 bytes.
                let word = unsafe { _mm512_loadu_si512(word.as_ptr().cast()) };
                for (quad, bytes) in quads.iter_mut().enumerate() {
                    let bits = _mm512_multishift_epi64_epi8(_mm512_add_epi8(first, _mm512_set1_epi8(4 * quad as i8)), word);
                    let spins = _mm512_sub_epi8(_mm512_and_si512(bits, two), one);
                    // SAFETY: as above.
                    unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), spins) };
                }
            }
        }
    }
}

/// Where the sums of a pair of groups reach their thresholds: a bit for each of 32 neurons, for each of 16 rows.
#[target_feature(enable = "avx512f")]
fn compare([low, high]: &[Sums; 2], [low_limits, high_limits]: &[Counts; 2]) -> [u32; ROWS] {
    // SAFETY: arrays of 16 integers, here and below.
    let limits = unsafe { [_mm512_loadu_si512(low_limits.as_ptr().cast()), _mm512_loadu_si512(high_limits.as_ptr().cast())] };
    let mut ups = [0; ROWS];
    for (ups, (low, high)) in ups.iter_mut().zip(low.0.iter().zip(&high.0)) {
        let sums = unsafe { [_mm512_loadu_si512(low.as_ptr().cast()), _mm512_loadu_si512(high.as_ptr().cast())] };
        *ups = u32::from(_mm512_cmpge_epi32_mask(sums[0], limits[0])) | u32::from(_mm512_cmpge_epi32_mask(sums[1], limits[1])) << 16;
    }
    ups
}
