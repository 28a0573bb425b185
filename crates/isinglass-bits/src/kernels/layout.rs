//! How weights are laid out in memory, so that one instruction serves many neurons.
//!
//! Neurons are side by side in the lanes of a vector, not the bits of one neuron: every lane counts for its own neuron, and nothing has to be summed across lanes. Rows are short
//! (98 bytes for 784 inputs), so a sum across lanes at the end of each would cost more than the counting.

use alloc::vec;
use alloc::vec::Vec;

use isinglass_simd::{Aligned, LANES};

use crate::{BitMatrix, PackedLayer};

/// Neurons in a group: the lanes of counts.
pub const GROUP: usize = LANES;
/// Counts of a group of neurons for one image.
pub type Counts = [i32; GROUP];

/// Weights for spins: panels of `neurons` rows, cut into pieces of `piece` bytes, `[panel][piece][neuron][byte]`. Missing rows of the last panel are 0, as are the bits beyond the columns.
pub struct SpinPanels {
    /// `[panel][piece][neuron][byte]`.
    pub weights: Aligned<u8>,
    /// Bytes of a panel.
    pub panel: usize,
    /// Words of 32 spins in a row.
    pub words: usize,
    /// Groups of 16 neurons in all panels.
    pub groups: usize,
}

impl SpinPanels {
    pub fn new(matrix: &BitMatrix, neurons: usize, piece: usize) -> Self {
        let words = words_of(matrix.columns());
        let pieces = 4 * words / piece;
        let panels = matrix.rows().div_ceil(neurons);
        let panel = pieces * neurons * piece;
        let mut weights = Aligned::new(panels * panel);
        for row in 0..matrix.rows() {
            for (index, &byte) in matrix.row(row).iter().enumerate() {
                let place = (index / piece * neurons + row % neurons) * piece + index % piece;
                weights[row / neurons * panel + place] = byte;
            }
        }
        Self { weights, panel, words, groups: panels * neurons / GROUP }
    }
}

/// Weights for bytes: for every group of 16 neurons and every four inputs a word with bit `4·neuron + input`, `[group][quad]`.
pub struct BytePanels {
    /// `[group][quad]`.
    pub weights: Vec<u64>,
    /// Words of a group.
    pub quads: usize,
    /// Groups of 16 neurons.
    pub groups: usize,
}

impl BytePanels {
    pub fn new(matrix: &BitMatrix) -> Self {
        let (quads, groups) = (matrix.columns().div_ceil(4), matrix.rows().div_ceil(GROUP));
        let mut weights = vec![0; groups * quads];
        for row in 0..matrix.rows() {
            let bytes = matrix.row(row);
            for (quad, word) in weights[row / GROUP * quads..][..quads].iter_mut().enumerate() {
                let nibble = bytes[quad / 2] >> (quad % 2 * 4) & 0xf;
                *word |= u64::from(nibble) << (row % GROUP * 4);
            }
        }
        Self { weights, quads, groups }
    }
}

/// Inputs that share a table of sums.
#[cfg(target_arch = "x86_64")]
pub const SIX: usize = 6;

/// Weights for bytes as indices into tables of sums: for every 64 neurons and every six inputs a byte per neuron, `[panel][six]`. The fifth and sixth input have the least bits and the
/// first four follow. Neurons 0 to 31 have the even bytes and 32 to 63 the odd ones, in the order that [`IndexPanels::place`] gives.
#[cfg(target_arch = "x86_64")]
pub struct IndexPanels {
    /// `[panel][six]`.
    pub weights: Vec<Indices>,
    /// Vectors of indices of a panel.
    pub sixes: usize,
    /// Groups of 16 neurons in all panels.
    pub groups: usize,
}

/// Indices of 64 neurons, where a cache line begins.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct Indices(pub [u8; 64]);

#[cfg(target_arch = "x86_64")]
impl IndexPanels {
    pub fn new(matrix: &BitMatrix) -> Self {
        let (sixes, panels) = (matrix.columns().div_ceil(SIX), matrix.rows().div_ceil(64));
        let mut weights = vec![Indices([0; 64]); panels * sixes];
        for row in 0..matrix.rows() {
            let (bytes, place) = (matrix.row(row), Self::place(row % 64));
            for column in (0..matrix.columns()).filter(|column| bytes[column / 8] >> (column % 8) & 1 == 1) {
                let Indices(indices) = &mut weights[row / 64 * sixes + column / SIX];
                indices[place] |= 1 << ((column % SIX + 2) % SIX);
            }
        }
        Self { weights, sixes, groups: 4 * panels }
    }

    /// The byte of one of 64 neurons. Pairs of vectors of 16-bit sums are interleaved at the end, by `vpunpcklwd` for the first of two groups and `vpunpckhwd` for the second: each takes
    /// four words of every eight.
    fn place(neuron: usize) -> usize {
        let (group, lane) = (neuron / GROUP, neuron % GROUP);
        let word = lane / 4 * 8 + group % 2 * 4 + lane % 4;
        2 * word + group / 2
    }
}

/// Words of 32 spins in a row.
pub fn words_of(columns: usize) -> usize {
    columns.div_ceil(32)
}

/// Leaves out what is 0 in all rows side by side, `step` words at a time, and says where the rest was. The last may be filled up with zeros.
///
/// The borders of images are black, and a product with 0 adds nothing.
pub fn leave_out_zeros<const ROWS: usize>(words: &mut Vec<[u32; ROWS]>, step: usize, places: &mut Vec<u32>) {
    words.resize(words.len().next_multiple_of(step), [0; ROWS]);
    places.clear();
    places.reserve(words.len() / step);
    for place in 0..words.len() / step {
        let step_words = place * step..(place + 1) * step;
        if words[step_words.clone()].as_flattened().iter().any(|&word| word != 0) {
            words.copy_within(step_words, places.len() * step);
            places.push(place as u32);
        }
    }
    words.truncate(places.len() * step);
}

/// Puts rows side by side: four bytes of each, then the next four; missing bytes are 0.
pub fn interleave<const ROWS: usize>(rows: &[u8], stride: usize, words: &mut Vec<[u32; ROWS]>) {
    words.resize(stride.div_ceil(4), [0; ROWS]);
    for (row, bytes) in rows.chunks_exact(stride).enumerate() {
        let (whole, rest) = bytes.as_chunks::<4>();
        for (words, &word) in words.iter_mut().zip(whole) {
            words[row] = u32::from_le_bytes(word);
        }
        if !rest.is_empty() {
            let mut word = [0; 4];
            word[..rest.len()].copy_from_slice(rest);
            words[whole.len()][row] = u32::from_le_bytes(word);
        }
    }
}

/// The largest counts of bytes, −s, at which the neurons of a layer are +1.
pub fn limits_of_bytes(layer: &PackedLayer) -> Vec<Counts> {
    limits(layer, |threshold| -threshold)
}

/// The largest counts of spins, (L − s)/2 for sums of at most L, at which the neurons of a layer are +1.
pub fn limits_of_spins(layer: &PackedLayer, largest: i32) -> Vec<Counts> {
    limits(layer, |threshold| (i64::from(largest) - threshold).div_euclid(2))
}

/// The missing neurons of the last group are never +1.
fn limits(layer: &PackedLayer, limit: impl Fn(i64) -> i64) -> Vec<Counts> {
    let mut limits = vec![[i32::MIN; GROUP]; layer.weights().rows().div_ceil(GROUP)];
    for (row, &threshold) in layer.thresholds().iter().enumerate() {
        limits[row / GROUP][row % GROUP] = limit(i64::from(threshold)).clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32;
    }
    limits
}
