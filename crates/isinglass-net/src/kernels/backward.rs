//! Backward to some inputs of a layer: `∂L/∂x_j = Σ_i M_ij P_i ± x_j Σ_i W_ij Q_i`, with `W = M²` (plus) for random spins, `W = 1 − M²` (minus) for given numbers.
//!
//! `P` and `Q` arrive as gradients of the layer's `√N h̄` and of `−NΣ/2`, and leave as those of the layer below. Where the layer receives the field of the one below, their gradients add
//! up; biases enter at the neurons and are not carried, so their gradients are summed before.

use isinglass_simd::{Buffer, LANES, Lanes};

use super::ahead::{Ahead, MAX_OUTPUTS, Region};
use super::forward::VarianceRule;
use super::math::flush;
use super::narrow::Split;
use super::product::{Broadcast, Panels, Sums};
use super::{BLOCK, MAX_ROWS, Scratch, Span, Turn};

/// What a layer receives from the one below besides its neurons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Received {
    /// Nothing.
    Nothing,
    /// The field as it is: without a variance, or with its noise.
    Field,
    /// Mean and variance of the field.
    Moments,
}

/// A layer's backward pass to its inputs. Arrays are in panels of 16 examples, `[panel][feature][16]`.
pub struct Backward {
    pub inputs: usize,
    pub outputs: usize,
    /// Floats from one row of the means to the next.
    pub stride: usize,
    /// Examples of the batch.
    pub examples: usize,
    pub means: *const f32,
    pub variance: VarianceRule,
    pub received: Received,
    /// The inputs.
    pub x: *const f32,
    /// Features per panel of `p` and `q`.
    pub out_rows: usize,
    pub p: *const f32,
    /// Null without a gradient through `Σ`.
    pub q: *const f32,
    /// Stored by the layer below in its forward pass: `∂x/∂h̄/√N`, `−2∂x/∂Σ/N`, with [`Backward::in_rows`] features per panel.
    pub below_p: *const f32,
    /// Null without a gradient through `Σ`.
    pub below_q: *const f32,
    pub in_rows: usize,
    /// The gradients of the layer below.
    pub out_p: *mut f32,
    /// Null without a gradient through `Σ`.
    pub out_q: *mut f32,
    /// `[input][16]`: sums over panels of `P`, without what is carried, for the gradients of the biases.
    pub out_bias: *mut f32,
}

impl Backward {
    /// Panels of 16 examples, of which the last may not be full.
    #[inline(always)]
    pub fn panels(&self) -> usize {
        self.examples.div_ceil(LANES)
    }
}

/// # Safety
///
/// All pointers that are not null are valid for the layer's sizes; nobody else writes to the inputs of the turn's span, of which there are at most [`MAX_ROWS`]; the first is a multiple of 16.
#[inline(always)]
pub unsafe fn backward<L: Lanes, const MR: usize, const NP: usize>(l: L, layer: &Backward, turn: Turn, scratch: &mut Scratch) {
    let Turn { span, next, has_others } = turn;
    let Span { first, rows: count } = span;
    let has_q = !layer.q.is_null();
    let split = Split::new(layer.examples);
    let c = |sums: &Buffer, add: bool| Sums { start: sums.pointer(), rows: MAX_ROWS, add };
    let products = if has_q { 2 } else { 1 };
    let mut ahead = Ahead::to_write(
        outputs(layer, span).map(|region| region.when(has_others)),
        products * split.requests::<MR, NP>(count, layer.outputs),
    );
    let mut o = 0;
    while o < layer.outputs {
        let depth = BLOCK.min(layer.outputs - o);
        for k in 0..depth {
            let from = layer.means.wrapping_add((o + k) * layer.stride + first);
            // SAFETY: rows of means are padded to whole vectors, and nobody writes to means in a backward pass.
            let from = unsafe { std::slice::from_raw_parts(from, count.next_multiple_of(LANES)) };
            scratch.take_columns(l, layer.variance, has_q, k, from);
        }
        let a = |copied: &Buffer| Broadcast { start: copied.pointer(), row_stride: 1, k_stride: MAX_ROWS };
        let b = |start: *const f32| Panels { start: start.wrapping_add(o * LANES), panel_stride: layer.out_rows * LANES };
        // The next block of these inputs, or the first of those that follow.
        let (soon, from) = if o + depth < layer.outputs { (span, o + depth) } else { (next, 0) };
        let start = layer.means.wrapping_add(from * layer.stride + soon.first);
        let rows = BLOCK.min(layer.outputs - from);
        let means = Region { start, len: soon.rows, stride: layer.stride, rows };
        ahead.read_next(means, products * split.requests::<MR, NP>(count, depth));
        // SAFETY: the caller upholds the contract. A block of BLOCK × MAX_ROWS means fits the scratch, with room for the last tile.
        unsafe {
            split.product::<L, MR, NP>(l, count, depth, a(&scratch.a1), b(layer.p), c(&scratch.c1, o > 0), &mut ahead);
            if has_q {
                split.product::<L, MR, NP>(l, count, depth, a(&scratch.a2), b(layer.q), c(&scratch.c2, o > 0), &mut ahead);
            }
        }
        o += depth;
    }
    // SAFETY: as above.
    unsafe {
        split.finish(l, count, c(&scratch.c1, true));
        if has_q {
            split.finish(l, count, c(&scratch.c2, true));
        }
    }
    let (c1, c2, biases) = (scratch.c1.pointer(), scratch.c2.pointer(), scratch.row_sums.pointer());
    let sign = l.splat(if layer.variance == VarianceRule::Spins { 1.0 } else { -1.0 });
    scratch.row_sums[..count * LANES].fill(0.0);
    // SAFETY: the caller upholds the contract.
    unsafe {
        // Rows of a panel follow each other in memory, so that the processor sees what will be needed next.
        for p in 0..layer.panels() {
            for row in 0..count {
                let c = (p * MAX_ROWS + row) * LANES;
                let mut gradient = l.load(c1.add(c));
                if has_q {
                    let x = l.load(layer.x.add((p * layer.inputs + first + row) * LANES));
                    gradient = l.fma(l.mul(x, sign), l.load(c2.add(c)), gradient);
                }
                let at = (p * layer.in_rows + first + row) * LANES;
                let own = flush(l, l.mul(gradient, l.load(layer.below_p.add(at))));
                l.store(biases.add(row * LANES), l.add(l.load(biases.add(row * LANES)), own));
                // Layers that carry have equal shapes: the place is the same in both.
                let total = if layer.received == Received::Nothing { own } else { flush(l, l.add(own, l.load(layer.p.add(at)))) };
                l.store(layer.out_p.add(at), total);
                if !layer.out_q.is_null() {
                    let below = l.load(layer.below_q.add(at));
                    let q = match layer.received {
                        Received::Nothing => l.mul(gradient, below),
                        Received::Field => l.mul(total, below),
                        Received::Moments => l.fma(gradient, below, l.load(layer.q.add(at))),
                    };
                    l.store(layer.out_q.add(at), flush(l, q));
                }
            }
        }
    }
    // SAFETY: as above; there are at most `MAX_ROWS` rows.
    unsafe { std::ptr::copy_nonoverlapping(biases, layer.out_bias.add(first * LANES), count * LANES) };
}

/// The gradients of some inputs.
#[inline(always)]
fn outputs(layer: &Backward, span: Span) -> [Region; MAX_OUTPUTS] {
    let of = |array: *const f32| match array.is_null() {
        true => Region::NOTHING,
        false => Region {
            start: array.wrapping_add(span.first * LANES),
            len: span.rows * LANES,
            stride: layer.in_rows * LANES,
            rows: layer.panels(),
        },
    };
    let mut outputs = [Region::NOTHING; MAX_OUTPUTS];
    outputs[0] = of(layer.out_p);
    outputs[1] = of(layer.out_q);
    outputs
}

impl Scratch {
    /// Copies a segment of a row of means, whole vectors, and its `M²` or `1 − M²`.
    #[inline(always)]
    fn take_columns<L: Lanes>(&mut self, l: L, variance: VarianceRule, has_q: bool, k: usize, from: &[f32]) {
        let at = k * MAX_ROWS;
        let to = self.a1[at..at + MAX_ROWS].as_chunks_mut::<LANES>().0;
        let second = self.a2[at..at + MAX_ROWS].as_chunks_mut::<LANES>().0;
        for ((from, to), second) in from.as_chunks::<LANES>().0.iter().zip(to).zip(second) {
            let m = l.read(from);
            l.write(to, m);
            if has_q {
                l.write(second, variance.factors(l, m));
            }
        }
    }
}
