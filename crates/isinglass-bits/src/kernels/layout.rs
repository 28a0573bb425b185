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

/// Words of 32 spins in a row.
pub fn words_of(columns: usize) -> usize {
    columns.div_ceil(32)
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
