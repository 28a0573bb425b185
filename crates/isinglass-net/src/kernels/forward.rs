//! Forward through some rows of a layer: two products, then everything pointwise while the tile is in cache.
//!
//! `h̄ = M x/√N + b`, `Σ` by the rule of the layer's [`Moments`], the field `h` by that of [`Field`], the neuron by that of [`Activation`]. With
//! every neuron goes what the backward pass multiplies its gradient with: `P = ∂x/∂h̄ / √N` and `Q = −2 ∂x/∂Σ / N`.

use super::lanes::{LANES, Lanes};
use super::math::{Response, abs, erf, flush, normal, tanh};
use super::product::{Broadcast, Panels, block};
use super::{BLOCK, BLOCK_STRIDE, MAX_ROWS, Scratch};

/// The least variance under the root that divides a field, and the least that noise is drawn with. A variance of exactly 0 is not raised: there the neuron
/// is the sign of its mean field.
pub const VARIANCE_FLOOR: f32 = 1e-6;

/// What the variance `Σ` of a field is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moments {
    /// There is none.
    None,
    /// Inputs are random spins of mean `x`: `Σ = mean(1 − M²) + mean(M²(1 − x²))`.
    Spins,
    /// Inputs are given numbers: `Σ = mean((1 − M²) x²)`.
    Numbers,
}

/// How the field is made of `h̄` and `Σ`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Field {
    /// `h = h̄/√(noise + spread·Σ)`.
    Averaged { noise: f32, spread: f32 },
    /// `h = h̄ + √Σ ε`; the key names the sequence of `ε`.
    Sampled { key: [u32; 2] },
    /// `h = h̄`.
    Plain,
    /// `h = sign(M) x`, the bare sum of the binary network.
    Sum,
}

/// What the neuron makes of its field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Activation {
    /// `erf(a h)`.
    Erf(f32),
    /// `tanh(k h)`.
    Tanh(f32),
    /// `sign(h)`, with the slope of the identity on `[−1, 1]`.
    Step,
    /// `τ h`: the output.
    Linear(f32),
}

/// A layer's forward pass. Arrays are in panels of 16 examples: `[panel][feature][16]`.
pub struct Forward {
    pub inputs: usize,
    /// From one row of the means to the next.
    pub stride: usize,
    pub panels: usize,
    /// Examples that the arrays have room for.
    pub capacity: usize,
    pub means: *const f32,
    pub bias: *const f32,
    pub moments: Moments,
    pub field: Field,
    pub activation: Activation,
    /// The inputs.
    pub x: *const f32,
    /// `1 − x²` or `x²`, by the moments.
    pub second: *const f32,
    /// Features per panel of the neurons, and of all that has their shape.
    pub x_rows: usize,
    /// The neurons.
    pub out_x: *mut f32,
    /// What the next layer's moments need of them; null if nothing.
    pub out_second: *mut f32,
    pub next_moments: Moments,
    /// Features per panel of `P` and `Q`.
    pub slope_rows: usize,
    /// `P`, null when not training.
    pub out_p: *mut f32,
    /// `Q`, null when not training or without a gradient through `Σ`.
    pub out_q: *mut f32,
    /// The neurons again in panels of 16 features, `[feature/16][example][16]`, for the gradient of the next means; null when not training.
    pub out_transposed: *mut f32,
    /// Their squares; null when not needed.
    pub out_transposed_square: *mut f32,
    /// The fields `h`, or `h̄` where nothing is random; null unless asked for.
    pub out_field: *mut f32,
}

/// # Safety
///
/// The machine has the instructions of `L`; all pointers that are not null are good for the layer's sizes; nobody else writes to the rows `first..first + rows`, of which there are
/// at most [`MAX_ROWS`]; `first` is a multiple of 16.
#[inline(always)]
pub unsafe fn forward<L: Lanes, const MR: usize, const NP: usize>(layer: &Forward, first: usize, rows: usize, scratch: &mut Scratch) {
    // SAFETY: as the caller vouches.
    unsafe {
        products::<L, MR, NP>(layer, first, rows, scratch);
        for row in 0..rows {
            neurons::<L>(layer, first + row, row, scratch);
        }
        if !layer.out_transposed.is_null() {
            transpose::<L>(layer, first, rows);
        }
    }
}

/// `M x` and the second product of all rows, block by block of the inputs.
#[inline(always)]
unsafe fn products<L: Lanes, const MR: usize, const NP: usize>(layer: &Forward, first: usize, rows: usize, scratch: &mut Scratch) {
    let (a1, a2) = (scratch.a1.as_mut_ptr(), scratch.a2.as_mut_ptr());
    let (c1, c2) = (scratch.c1.as_mut_ptr(), scratch.c2.as_mut_ptr());
    // SAFETY: as the caller vouches; a block of MAX_ROWS rows fits the scratch, and the means' rows are padded to whole vectors.
    unsafe {
        for row in 0..rows {
            L::store(scratch.row_sums.as_mut_ptr().add(row * LANES), L::splat(0.0));
        }
        let mut k = 0;
        while k < layer.inputs {
            let depth = BLOCK.min(layer.inputs - k);
            for row in 0..rows {
                let from = layer.means.add((first + row) * layer.stride + k);
                let sums = scratch.row_sums.as_mut_ptr().add(row * LANES);
                match layer.field {
                    Field::Sum => copy_signs::<L>(from, depth, a1.add(row * BLOCK_STRIDE)),
                    _ => copy_row::<L>(layer.moments, from, depth, a1.add(row * BLOCK_STRIDE), a2.add(row * BLOCK_STRIDE), sums),
                }
            }
            let b = |start: *const f32| Panels { start: start.add(k * LANES), panel_stride: layer.inputs * LANES };
            let a = |start: *mut f32| Broadcast { start, row_stride: BLOCK_STRIDE, k_stride: 1 };
            block::<L, MR, NP>(rows, layer.panels, depth, a(a1), b(layer.x), c1, MAX_ROWS, k == 0);
            if layer.moments != Moments::None {
                block::<L, MR, NP>(rows, layer.panels, depth, a(a2), b(layer.second), c2, MAX_ROWS, k == 0);
            }
            k += depth;
        }
    }
}

/// Copies a piece of a row of means, and what goes into the second product: `M²` or `1 − M²`; sums `1 − M²`.
#[inline(always)]
unsafe fn copy_row<L: Lanes>(moments: Moments, from: *const f32, count: usize, to: *mut f32, to_second: *mut f32, sums: *mut f32) {
    // SAFETY: as the caller vouches; rows are padded to whole vectors. The padding of the means is 1, so it adds nothing to the sum.
    unsafe {
        let one = L::splat(1.0);
        let mut sum = L::load(sums);
        for k in (0..count).step_by(LANES) {
            let m = L::load(from.add(k));
            L::store(to.add(k), m);
            match moments {
                Moments::None => {}
                Moments::Spins => {
                    L::store(to_second.add(k), L::mul(m, m));
                    sum = L::fma(L::sub(one, m), L::add(one, m), sum);
                }
                Moments::Numbers => L::store(to_second.add(k), L::mul(L::sub(one, m), L::add(one, m))),
            }
        }
        L::store(sums, sum);
    }
}

/// Copies the signs of a piece of a row of means.
#[inline(always)]
unsafe fn copy_signs<L: Lanes>(from: *const f32, count: usize, to: *mut f32) {
    // SAFETY: as the caller vouches; rows are padded to whole vectors.
    unsafe {
        for k in (0..count).step_by(LANES) {
            L::store(to.add(k), step::<L>(L::load(from.add(k))));
        }
    }
}

/// The sum of 16 lanes, always in the same order.
pub fn sum_of_lanes(lanes: &[f32]) -> f32 {
    let mut sums: [f32; LANES] = std::array::from_fn(|i| lanes[i]);
    let mut half = LANES / 2;
    while half > 0 {
        for i in 0..half {
            sums[i] += sums[i + half];
        }
        half /= 2;
    }
    sums[0]
}

/// All neurons of one row, pointwise.
#[inline(always)]
unsafe fn neurons<L: Lanes>(layer: &Forward, output: usize, row: usize, scratch: &Scratch) {
    let n = layer.inputs as f32;
    let (by_root, by_n) = (1.0 / n.sqrt(), 1.0 / n);
    let own_variance = sum_of_lanes(&scratch.row_sums[row * LANES..(row + 1) * LANES]);
    // SAFETY: as the caller of `forward` vouches.
    unsafe {
        let bias = L::splat(*layer.bias.add(output));
        for p in 0..layer.panels {
            let c = (p * MAX_ROWS + row) * LANES;
            let sum = L::load(scratch.c1.as_ptr().add(c));
            let mean_field = if layer.field == Field::Sum { sum } else { L::fma(sum, L::splat(by_root), bias) };
            let variance = match layer.moments {
                Moments::None => L::splat(0.0),
                Moments::Spins => L::mul(L::add(L::load(scratch.c2.as_ptr().add(c)), L::splat(own_variance)), L::splat(by_n)),
                Moments::Numbers => L::mul(L::load(scratch.c2.as_ptr().add(c)), L::splat(by_n)),
            };
            let counter = ((output * layer.panels + p) * LANES) as u32;
            let made = field::<L>(layer.field, mean_field, variance, counter);
            let mut response = activate::<L>(layer.activation, made.h);
            if matches!(layer.field, Field::Averaged { .. }) && !matches!(layer.activation, Activation::Linear(_)) {
                response = Response {
                    value: L::select(made.is_random, response.value, step::<L>(mean_field)),
                    rest: L::select(made.is_random, response.rest, L::splat(0.0)),
                    slope: L::select(made.is_random, response.slope, L::splat(0.0)),
                };
            }
            write::<L>(layer, p, output, &made, &response, by_root, by_n);
        }
    }
}

/// Stores what later passes need of 16 neurons.
#[inline(always)]
unsafe fn write<L: Lanes>(
    layer: &Forward,
    panel: usize,
    output: usize,
    made: &Made<L>,
    response: &Response<L::Floats>,
    by_root: f32,
    by_n: f32,
) {
    let at = (panel * layer.x_rows + output) * LANES;
    let slope_at = (panel * layer.slope_rows + output) * LANES;
    // SAFETY: as the caller of `forward` vouches.
    unsafe {
        let value = flush::<L>(response.value);
        L::store(layer.out_x.add(at), value);
        if !layer.out_second.is_null() {
            let second = if layer.next_moments == Moments::Spins { response.rest } else { L::mul(value, value) };
            L::store(layer.out_second.add(at), flush::<L>(second));
        }
        if !layer.out_p.is_null() {
            L::store(layer.out_p.add(slope_at), flush::<L>(L::mul(L::mul(response.slope, made.by_mean), L::splat(by_root))));
        }
        if !layer.out_q.is_null() {
            L::store(layer.out_q.add(slope_at), flush::<L>(L::mul(L::mul(response.slope, made.by_variance), L::splat(by_n))));
        }
        if !layer.out_field.is_null() {
            L::store(layer.out_field.add(at), L::select(made.is_random, made.h, made.mean));
        }
    }
}

/// A field and its derivatives.
struct Made<L: Lanes> {
    /// `h̄`.
    mean: L::Floats,
    h: L::Floats,
    /// `∂h/∂h̄`.
    by_mean: L::Floats,
    /// `−2 ∂h/∂Σ`.
    by_variance: L::Floats,
    /// Where the variance is not exactly 0.
    is_random: L::Mask,
}

#[inline(always)]
unsafe fn field<L: Lanes>(rule: Field, mean_field: L::Floats, variance: L::Floats, counter: u32) -> Made<L> {
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        let (zero, one, floor) = (L::splat(0.0), L::splat(1.0), L::splat(VARIANCE_FLOOR));
        match rule {
            Field::Averaged { noise, spread } => {
                let variance = L::fma(variance, L::splat(spread), L::splat(noise));
                let is_random = L::less(zero, variance);
                let below = L::less(variance, floor);
                let by_root = L::div(one, L::sqrt(L::max(variance, floor)));
                let h = L::mul(mean_field, by_root);
                let by_variance = L::mul(L::mul(h, L::splat(spread)), L::mul(by_root, by_root));
                Made { mean: mean_field, h, by_mean: by_root, by_variance: L::select(below, zero, by_variance), is_random }
            }
            Field::Sampled { key } => {
                let is_random = L::less(zero, variance);
                let below = L::less(variance, floor);
                let noise = normal::<L>(counter, key);
                let deviation = L::sqrt(L::max(variance, floor));
                let h = L::select(is_random, L::fma(deviation, noise, mean_field), mean_field);
                let by_variance = L::sub(zero, L::div(noise, deviation));
                Made { mean: mean_field, h, by_mean: one, by_variance: L::select(below, zero, by_variance), is_random }
            }
            Field::Plain | Field::Sum => {
                Made { mean: mean_field, h: mean_field, by_mean: one, by_variance: zero, is_random: L::less(zero, one) }
            }
        }
    }
}

/// `sign(h)`, `sign(0) = +1`.
#[inline(always)]
unsafe fn step<L: Lanes>(h: L::Floats) -> L::Floats {
    // SAFETY: the caller vouches for the instructions.
    unsafe { L::select(L::less(h, L::splat(0.0)), L::splat(-1.0), L::splat(1.0)) }
}

#[inline(always)]
unsafe fn activate<L: Lanes>(rule: Activation, h: L::Floats) -> Response<L::Floats> {
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        match rule {
            Activation::Erf(a) => {
                let response = erf::<L>(L::mul(h, L::splat(a)));
                Response { slope: L::mul(response.slope, L::splat(a)), ..response }
            }
            Activation::Tanh(k) => {
                let response = tanh::<L>(L::mul(h, L::splat(k)));
                Response { slope: L::mul(response.slope, L::splat(k)), ..response }
            }
            Activation::Step => {
                let outside = L::less(L::splat(1.0), abs::<L>(h));
                Response { value: step::<L>(h), rest: L::splat(0.0), slope: L::select(outside, L::splat(0.0), L::splat(1.0)) }
            }
            Activation::Linear(tau) => Response { value: L::mul(h, L::splat(tau)), rest: L::splat(0.0), slope: L::splat(tau) },
        }
    }
}

/// Writes finished rows again in panels of 16 features. Rows beyond the last stay as they are: zero.
#[inline(always)]
unsafe fn transpose<L: Lanes>(layer: &Forward, first: usize, rows: usize) {
    // SAFETY: as the caller of `forward` vouches.
    unsafe {
        for row in (0..rows).step_by(LANES) {
            let count = LANES.min(rows - row);
            for p in 0..layer.panels {
                let from = layer.out_x.add((p * layer.x_rows + first + row) * LANES);
                let at = ((first + row) / LANES * layer.capacity + p * LANES) * LANES;
                let to = layer.out_transposed.add(at);
                for feature in 0..count {
                    for example in 0..LANES {
                        *to.add(example * LANES + feature) = *from.add(feature * LANES + example);
                    }
                }
                if !layer.out_transposed_square.is_null() {
                    for example in 0..LANES {
                        let x = L::load(to.add(example * LANES));
                        L::store(layer.out_transposed_square.add(at + example * LANES), flush::<L>(L::mul(x, x)));
                    }
                }
            }
        }
    }
}
