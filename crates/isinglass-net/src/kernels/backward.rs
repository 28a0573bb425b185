//! Backward to some inputs of a layer: `∂L/∂x_j = Σ_i M_ij P_i ± x_j Σ_i W_ij Q_i`, with `W = M²` (plus) for random spins, `W = 1 − M²` (minus) for given numbers.
//!
//! `P` and `Q` arrive as gradients of the layer's `h̄/√N` and of `−2Σ/N`, and leave as those of the layer below.

use super::forward::Moments;
use super::lanes::{LANES, Lanes};
use super::math::flush;
use super::product::{Broadcast, Panels, block};
use super::{BLOCK, MAX_ROWS, Scratch};

/// A layer's backward pass to its inputs. Arrays are in panels of 16 examples, `[panel][feature][16]`.
pub struct Backward {
    pub inputs: usize,
    pub outputs: usize,
    /// From one row of the means to the next.
    pub stride: usize,
    pub panels: usize,
    pub means: *const f32,
    pub moments: Moments,
    /// The inputs.
    pub x: *const f32,
    /// Features per panel of `p` and `q`.
    pub out_rows: usize,
    pub p: *const f32,
    /// Null without a gradient through `Σ`.
    pub q: *const f32,
    /// What the layer below left in its forward pass: `∂x/∂h̄/√N`, `−2∂x/∂Σ/N`, with [`Backward::in_rows`] features per panel.
    pub below_p: *const f32,
    /// Null without a gradient through `Σ`.
    pub below_q: *const f32,
    pub in_rows: usize,
    /// The gradients of the layer below.
    pub out_p: *mut f32,
    /// Null without a gradient through `Σ`.
    pub out_q: *mut f32,
}

/// # Safety
///
/// The machine has the instructions of `L`; all pointers that are not null are good for the layer's sizes; nobody else writes to the inputs
/// `first..first + count`, of which there are at most [`MAX_ROWS`]; `first` is a multiple of 16.
#[inline(always)]
pub unsafe fn backward<L: Lanes, const MR: usize, const NP: usize>(layer: &Backward, first: usize, count: usize, scratch: &mut Scratch) {
    let (a1, a2) = (scratch.a1.as_mut_ptr(), scratch.a2.as_mut_ptr());
    let (c1, c2) = (scratch.c1.as_mut_ptr(), scratch.c2.as_mut_ptr());
    let has_q = !layer.q.is_null();
    // SAFETY: as the caller vouches. A block of BLOCK × MAX_ROWS means fits the scratch, with room for the last tile.
    unsafe {
        let mut o = 0;
        while o < layer.outputs {
            let depth = BLOCK.min(layer.outputs - o);
            for k in 0..depth {
                let from = layer.means.add((o + k) * layer.stride + first);
                copy_columns::<L>(layer.moments, has_q, from, count, a1.add(k * MAX_ROWS), a2.add(k * MAX_ROWS));
            }
            let a = |start: *mut f32| Broadcast { start, row_stride: 1, k_stride: MAX_ROWS };
            let b = |start: *const f32| Panels { start: start.add(o * LANES), panel_stride: layer.out_rows * LANES };
            block::<L, MR, NP>(count, layer.panels, depth, a(a1), b(layer.p), c1, MAX_ROWS, o == 0);
            if has_q {
                block::<L, MR, NP>(count, layer.panels, depth, a(a2), b(layer.q), c2, MAX_ROWS, o == 0);
            }
            o += depth;
        }
        let sign = L::splat(if layer.moments == Moments::Spins { 1.0 } else { -1.0 });
        for row in 0..count {
            for p in 0..layer.panels {
                let c = (p * MAX_ROWS + row) * LANES;
                let mut gradient = L::load(c1.add(c));
                if has_q {
                    let x = L::load(layer.x.add((p * layer.inputs + first + row) * LANES));
                    gradient = L::fma(L::mul(x, sign), L::load(c2.add(c)), gradient);
                }
                let at = (p * layer.in_rows + first + row) * LANES;
                L::store(layer.out_p.add(at), flush::<L>(L::mul(gradient, L::load(layer.below_p.add(at)))));
                if !layer.out_q.is_null() {
                    L::store(layer.out_q.add(at), flush::<L>(L::mul(gradient, L::load(layer.below_q.add(at)))));
                }
            }
        }
    }
}

/// Copies a piece of a row of means, and its `M²` or `1 − M²`.
#[inline(always)]
unsafe fn copy_columns<L: Lanes>(moments: Moments, has_q: bool, from: *const f32, count: usize, to: *mut f32, to_second: *mut f32) {
    // SAFETY: as the caller vouches; rows are padded to whole vectors.
    unsafe {
        let one = L::splat(1.0);
        for i in (0..count).step_by(LANES) {
            let m = L::load(from.add(i));
            L::store(to.add(i), m);
            if has_q {
                let second = if moments == Moments::Spins { L::mul(m, m) } else { L::mul(L::sub(one, m), L::add(one, m)) };
                L::store(to_second.add(i), second);
            }
        }
    }
}
