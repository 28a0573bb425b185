//! How weights lie in memory, so that one instruction serves many neurons.
//!
//! Neurons go side by side in the lanes of a vector, not the bits of one neuron: every lane counts for its own neuron, and nothing has to be summed across lanes. Rows are short
//! (98 bytes for 784 inputs), so a sum across lanes at the end of each would cost more than the counting.

use alloc::vec;
use alloc::vec::Vec;

use crate::{BitMatrix, Layer};

/// Neurons in a group: the lanes of counts.
pub const GROUP: usize = 16;
/// Counts of a group of neurons for one image.
pub type Counts = [i32; GROUP];

/// 64 bytes where a cache line begins.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// Bytes that begin where a cache line does.
pub struct Aligned {
    lines: Vec<Line>,
    len: usize,
}

impl Aligned {
    fn zeros(len: usize) -> Self {
        Self { lines: vec![Line([0; 64]); len.div_ceil(64)], len }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: `Line` is 64 bytes without padding, any of which may have any value; the length is within the lines.
        unsafe { core::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.len) }
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: as above.
        unsafe { core::slice::from_raw_parts(self.lines.as_ptr().cast(), self.len) }
    }
}

/// Weights for spins: panels of `neurons` rows, cut into pieces of `piece` bytes, `[panel][piece][neuron][byte]`. Rows that a panel lacks are 0, as are the bits beyond the columns.
pub struct SpinPanels {
    /// `[panel][piece][neuron][byte]`.
    pub weights: Aligned,
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
        let mut weights = Aligned::zeros(panels * panel);
        let bytes = weights.bytes_mut();
        for row in 0..matrix.rows() {
            for (index, &byte) in matrix.row(row).iter().enumerate() {
                let place = (index / piece * neurons + row % neurons) * piece + index % piece;
                bytes[row / neurons * panel + place] = byte;
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
pub const FIVE: usize = 5;
/// Indices of five bits that fit 16.
#[cfg(target_arch = "x86_64")]
pub const THREE: usize = 3;

/// Weights for bytes as indices into tables of sums: for every 32 neurons and every 15 inputs a line of 16 bits per neuron. From the least bit on there are the indices of three times
/// five inputs; in each the fifth input is the least bit and the first four follow. `[panel][line]`.
#[cfg(target_arch = "x86_64")]
pub struct IndexPanels {
    /// `[panel][line]`.
    pub weights: Vec<IndexLine>,
    /// Lines of a panel.
    pub lines: usize,
    /// Groups of 16 neurons in all panels.
    pub groups: usize,
}

/// Indices of 32 neurons.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct IndexLine(pub [u16; 32]);

#[cfg(target_arch = "x86_64")]
impl IndexPanels {
    pub fn new(matrix: &BitMatrix) -> Self {
        let (lines, panels) = (matrix.columns().div_ceil(FIVE * THREE), matrix.rows().div_ceil(32));
        let mut weights = vec![IndexLine([0; 32]); panels * lines];
        for row in 0..matrix.rows() {
            let bytes = matrix.row(row);
            for column in (0..matrix.columns()).filter(|column| bytes[column / 8] >> (column % 8) & 1 == 1) {
                let place = column % (FIVE * THREE);
                let bit = place / FIVE * FIVE + (place % FIVE + 1) % FIVE;
                weights[row / 32 * lines + column / (FIVE * THREE)].0[row % 32] |= 1 << bit;
            }
        }
        Self { weights, lines, groups: 2 * panels }
    }
}

/// Words of 32 spins in a row.
pub fn words_of(columns: usize) -> usize {
    columns.div_ceil(32)
}

/// Puts rows side by side: four bytes of each, then the next four; what a row lacks is 0.
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
pub fn limits_of_bytes(layer: &Layer) -> Vec<Counts> {
    limits(layer, |threshold| -threshold)
}

/// The largest counts of spins, (N − s)/2, at which the neurons of a layer are +1.
pub fn limits_of_spins(layer: &Layer) -> Vec<Counts> {
    let inputs = layer.weights.columns() as i64;
    limits(layer, |threshold| (inputs - threshold).div_euclid(2))
}

/// Neurons that a group lacks are never +1.
fn limits(layer: &Layer, limit: impl Fn(i64) -> i64) -> Vec<Counts> {
    let mut limits = vec![[i32::MIN; GROUP]; layer.weights.rows().div_ceil(GROUP)];
    for (row, &threshold) in layer.thresholds.iter().enumerate() {
        limits[row / GROUP][row % GROUP] = limit(i64::from(threshold)).clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32;
    }
    limits
}
