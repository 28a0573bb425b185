//! Forward through some rows of a layer: two products, then the pointwise functions while the tile is in cache.
//!
//! `h̄ = M x/√N + b`, `Σ` by the layer's [`VarianceRule`], the field `h` by its [`Field`], the neuron by its [`Nonlinearity`]. Every
//! neuron is stored with the factors of its gradient in the backward pass: `P = ∂x/∂h̄ / √N` and `Q = −2 ∂x/∂Σ / N`.
//!
//! Where fields are carried from layer to layer, `h̄` (without its bias) and `Σ` begin with those of the layer below; a sampled field is carried with its noise.

use isinglass_simd::{Buffer, LANES, Lanes};

use super::ahead::{Ahead, MAX_OUTPUTS, Region};
use super::math::flush;
use super::narrow::Split;
use super::neurons::{respond, sign};
use super::product::{Broadcast, Panels, Sums};
use super::{BLOCK, BLOCK_STRIDE, MAX_ROWS, Scratch, Span, Turn};

/// The smallest variance that divides a field or scales its noise. A variance of exactly 0 is not raised: there the neuron
/// is the sign of its mean field.
pub const VARIANCE_FLOOR: f32 = 1e-6;

/// How the variance `Σ` of a field is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VarianceRule {
    /// No variance.
    None,
    /// Inputs are random spins of mean `x`: `Σ = mean(1 − M²) + mean(M²(1 − x²))`.
    Spins,
    /// Inputs are given numbers: `Σ = mean((1 − M²) x²)`.
    Numbers,
}

impl VarianceRule {
    /// The factors of the second product: `M²`, or `1 − M²` where inputs are numbers.
    #[inline(always)]
    pub fn factors<L: Lanes>(self, l: L, m: L::Floats) -> L::Floats {
        if self == Self::Numbers { rest(l, m) } else { l.mul(m, m) }
    }
}

/// `1 − M²`.
#[inline(always)]
fn rest<L: Lanes>(l: L, m: L::Floats) -> L::Floats {
    l.mul(l.sub(l.splat(1.0), m), l.add(l.splat(1.0), m))
}

/// How the field follows from `h̄` and `Σ`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Field {
    /// `h = h̄/√(noise + spread·Σ)`.
    Averaged { noise: f32, spread: f32 },
    /// `h = h̄ + √Σ ε`; the key selects the sequence of `ε`.
    Sampled { key: [u32; 2] },
    /// `h = h̄`.
    Plain,
    /// `h = sign(M) x`, the bare sum of the binary network.
    Sum,
}

/// How the neuron responds to its field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Nonlinearity {
    /// `erf(a h)`.
    Erf(f32),
    /// `tanh(k h)`.
    Tanh(f32),
    /// `sign(h)`, with the slope of `h/w` on `[−w, w]`.
    Step(f32),
    /// `τ h`: the output.
    Linear(f32),
}

/// Neurons that are left out at random in a training step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dropout {
    /// The probability.
    pub rate: f32,
    /// Selects the sequence of random numbers.
    pub key: [u32; 2],
}

/// The fields that pass from a layer to the next, `[panel][unit][16]`: every layer of a chain adds to them in place.
#[derive(Debug, Clone, Copy)]
pub struct Carry {
    /// The sum of the fields without their biases.
    pub field: *mut f32,
    /// The sum of their variances, where the fields are averages; null otherwise.
    pub variance: *mut f32,
    /// Whether the layer adds to the carried field (`true`) or starts a new sum.
    pub receives: bool,
}

/// A layer's forward pass. Arrays are in panels of 16 examples: `[panel][feature][16]`.
#[derive(Clone, Copy)]
pub struct Forward {
    pub inputs: usize,
    /// Floats from one row of the means to the next.
    pub stride: usize,
    /// Examples of the batch.
    pub examples: usize,
    /// Examples that the arrays can hold.
    pub capacity: usize,
    pub means: *const f32,
    pub bias: *const f32,
    pub variance: VarianceRule,
    pub field: Field,
    pub nonlinearity: Nonlinearity,
    /// Where fields are carried into the layer, or out of it.
    pub carry: Option<Carry>,
    /// Whether the next layer receives this one's field.
    pub passes_on: bool,
    pub dropout: Option<Dropout>,
    /// The inputs.
    pub x: *const f32,
    /// `1 − x²` or `x²`, by the rule of the variance.
    pub second: *const f32,
    /// Features per panel of the neurons, and of every array of their shape.
    pub x_rows: usize,
    /// The neurons.
    pub out_x: *mut f32,
    /// What the next layer's variance needs of them; null if it needs nothing.
    pub out_second: *mut f32,
    pub next_variance: VarianceRule,
    /// Features per panel of `P` and `Q`.
    pub slope_rows: usize,
    /// `P`, null when not training.
    pub out_p: *mut f32,
    /// `Q`, null when not training or without a gradient through `Σ`. Where a sampled field is passed on, its gradient is not that of the neuron alone, and this is `−2∂h/∂Σ/√N`.
    pub out_q: *mut f32,
    /// The neurons again in panels of 16 features, `[feature/16][example][16]`, for the gradient of the next means; null when not training.
    pub out_transposed: *mut f32,
    /// Their squares; null when not needed.
    pub out_transposed_square: *mut f32,
    /// The fields `h`, or `h̄` where nothing is random; null unless requested.
    pub out_field: *mut f32,
}

impl Forward {
    /// Panels of 16 examples, of which the last may not be full.
    #[inline(always)]
    pub fn panels(&self) -> usize {
        self.examples.div_ceil(LANES)
    }
}

/// # Safety
///
/// All pointers that are not null are valid for the layer's sizes; nobody else writes to the rows of the turn's span, of which there are at most [`MAX_ROWS`]; the first is a multiple of 16.
#[inline(always)]
pub unsafe fn forward<L: Lanes, const MR: usize, const NP: usize>(l: L, layer: &Forward, turn: Turn, scratch: &mut Scratch) {
    let Span { first, rows } = turn.span;
    // SAFETY: the caller upholds the contract.
    unsafe {
        products::<L, MR, NP>(l, layer, turn, scratch);
        respond(l, layer, turn.span, scratch);
        if !layer.out_transposed.is_null() {
            transpose(l, layer, first, rows);
        }
    }
}

/// `M x` and the second product of all rows, block by block of the inputs.
///
/// # Safety
///
/// As for [`forward`].
#[inline(always)]
unsafe fn products<L: Lanes, const MR: usize, const NP: usize>(l: L, layer: &Forward, turn: Turn, scratch: &mut Scratch) {
    let Turn { span, next, has_others } = turn;
    let Span { first, rows } = span;
    let split = Split::new(layer.examples);
    let c = |sums: &Buffer, add: bool| Sums { start: sums.pointer(), rows: MAX_ROWS, add };
    let products = if layer.variance == VarianceRule::None { 1 } else { 2 };
    let mut ahead = Ahead::to_write(
        outputs(layer, span).map(|region| region.when(has_others)),
        products * split.requests::<MR, NP>(rows, layer.inputs),
    );
    scratch.row_sums[..rows * LANES].fill(0.0);
    let mut k = 0;
    while k < layer.inputs {
        let depth = BLOCK.min(layer.inputs - k);
        let means = |row: usize| {
            let from = layer.means.wrapping_add((first + row) * layer.stride + k);
            // SAFETY: rows of means are padded to whole vectors, and nobody writes to means in a forward pass.
            unsafe { std::slice::from_raw_parts(from, depth.next_multiple_of(LANES)) }
        };
        if split.has_few() {
            for row in (0..rows).step_by(LANES) {
                scratch.take_rows_as_columns(l, layer, row, std::array::from_fn(|i| if row + i < rows { means(row + i) } else { &[] }));
            }
        } else {
            for row in 0..rows {
                scratch.take_row(l, layer, row, means(row));
            }
        }
        let (row_stride, k_stride) = if split.has_few() { (1, MAX_ROWS) } else { (BLOCK_STRIDE, 1) };
        let a = |copied: &Buffer| Broadcast { start: copied.pointer(), row_stride, k_stride };
        let b = |start: *const f32| Panels { start: start.wrapping_add(k * LANES), panel_stride: layer.inputs * LANES };
        // The next block of these rows, or the first of those that follow.
        let (soon, from) = if k + depth < layer.inputs { (span, k + depth) } else { (next, 0) };
        let start = layer.means.wrapping_add(soon.first * layer.stride + from);
        let means = Region { start, len: BLOCK.min(layer.inputs - from), stride: layer.stride, rows: soon.rows };
        ahead.read_next(means, products * split.requests::<MR, NP>(rows, depth));
        // SAFETY: the caller upholds the contract; a block of MAX_ROWS rows fits the scratch.
        unsafe {
            split.product::<L, MR, NP>(l, rows, depth, a(&scratch.a1), b(layer.x), c(&scratch.c1, k > 0), &mut ahead);
            if layer.variance != VarianceRule::None {
                split.product::<L, MR, NP>(l, rows, depth, a(&scratch.a2), b(layer.second), c(&scratch.c2, k > 0), &mut ahead);
            }
        }
        k += depth;
    }
    // SAFETY: as above.
    unsafe {
        split.finish(l, rows, c(&scratch.c1, true));
        if layer.variance != VarianceRule::None {
            split.finish(l, rows, c(&scratch.c2, true));
        }
    }
    for (row, variance) in scratch.own_variances[..rows].iter_mut().enumerate() {
        *variance = sum_of_lanes(&scratch.row_sums[row * LANES..(row + 1) * LANES]);
    }
}

/// The arrays that some rows write, without the fields that are kept on request.
#[inline(always)]
fn outputs(layer: &Forward, span: Span) -> [Region; MAX_OUTPUTS] {
    let region = |array: *const f32, start: usize, len: usize, stride: usize, rows: usize| match array.is_null() {
        true => Region::NOTHING,
        false => Region { start: array.wrapping_add(start), len, stride, rows },
    };
    let in_panels = |array, of_panel: usize| region(array, span.first * LANES, span.rows * LANES, of_panel * LANES, layer.panels());
    let of_vector = layer.capacity * LANES;
    let transposed =
        |array| region(array, span.first / LANES * of_vector, layer.panels() * LANES * LANES, of_vector, span.rows.div_ceil(LANES));
    [
        in_panels(layer.out_x, layer.x_rows),
        in_panels(layer.out_second, layer.x_rows),
        in_panels(layer.out_p, layer.slope_rows),
        in_panels(layer.out_q, layer.slope_rows),
        transposed(layer.out_transposed),
        transposed(layer.out_transposed_square),
        in_panels(layer.carry.map_or(std::ptr::null(), |carry| carry.field), layer.x_rows),
        in_panels(layer.carry.map_or(std::ptr::null(), |carry| carry.variance), layer.x_rows),
    ]
}

impl Scratch {
    /// Copies a segment of a row of means, whole vectors, and the factors of the second product: `M²` or `1 − M²`; adds `1 − M²` to the row's sums. The padding of the means is 1 and
    /// adds nothing.
    #[inline(always)]
    fn take_row<L: Lanes>(&mut self, l: L, layer: &Forward, row: usize, from: &[f32]) {
        let one = l.splat(1.0);
        let at = row * BLOCK_STRIDE;
        let from = from.as_chunks::<LANES>().0;
        let to = self.a1[at..at + BLOCK].as_chunks_mut::<LANES>().0;
        if layer.field == Field::Sum {
            for (from, to) in from.iter().zip(to) {
                l.write(to, sign(l, l.read(from)));
            }
            return;
        }
        let second = self.a2[at..at + BLOCK].as_chunks_mut::<LANES>().0;
        let sums = &mut self.row_sums.as_chunks_mut::<LANES>().0[row];
        let mut sum = l.read(sums);
        for ((from, to), second) in from.iter().zip(to).zip(second) {
            let m = l.read(from);
            l.write(to, m);
            if layer.variance != VarianceRule::None {
                l.write(second, layer.variance.factors(l, m));
            }
            if layer.variance == VarianceRule::Spins {
                sum = l.fma(l.sub(one, m), l.add(one, m), sum);
            }
        }
        l.write(sums, sum);
    }

    /// The same for segments of up to 16 rows, of which those beyond the last are empty, with columns where rows were.
    #[inline(always)]
    fn take_rows_as_columns<L: Lanes>(&mut self, l: L, layer: &Forward, row: usize, from: [&[f32]; LANES]) {
        const ZEROS: [f32; LANES] = [0.0; LANES];
        let one = l.splat(1.0);
        if layer.variance == VarianceRule::Spins {
            for (from, sums) in from.iter().zip(&mut self.row_sums.as_chunks_mut::<LANES>().0[row..]) {
                let mut sum = l.read(sums);
                for m in from.as_chunks::<LANES>().0 {
                    let m = l.read(m);
                    sum = l.fma(l.sub(one, m), l.add(one, m), sum);
                }
                l.write(sums, sum);
            }
        }
        let mut columns = [ZEROS; LANES];
        for k in (0..from[0].len()).step_by(LANES) {
            let rows = from.map(|row| row.get(k..).and_then(|row| row.first_chunk()).unwrap_or(&ZEROS));
            l.transpose(rows, &mut columns);
            for (column, k) in columns.iter().zip(k..) {
                // Columns of MAX_ROWS rows, of which these are 16, begin at whole vectors.
                let at = (k * MAX_ROWS + row) / LANES;
                let m = l.read(column);
                l.write(&mut self.a1.as_chunks_mut().0[at], if layer.field == Field::Sum { sign(l, m) } else { m });
                if layer.variance != VarianceRule::None {
                    l.write(&mut self.a2.as_chunks_mut().0[at], layer.variance.factors(l, m));
                }
            }
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

/// Writes finished rows again in panels of 16 features. Rows beyond the last stay zero.
///
/// # Safety
///
/// As for [`forward`].
#[inline(always)]
unsafe fn transpose<L: Lanes>(l: L, layer: &Forward, first: usize, rows: usize) {
    // SAFETY: the caller upholds the contract.
    unsafe {
        for row in (0..rows).step_by(LANES) {
            let count = LANES.min(rows - row);
            for p in 0..layer.panels() {
                let from = layer.out_x.add((p * layer.x_rows + first + row) * LANES).cast::<[f32; LANES]>();
                let at = ((first + row) / LANES * layer.capacity + p * LANES) * LANES;
                let to = layer.out_transposed.add(at);
                let to_block = &mut *to.cast::<[[f32; LANES]; LANES]>();
                if count == LANES {
                    let from = &*from.cast::<[[f32; LANES]; LANES]>();
                    l.transpose(from.each_ref(), to_block);
                } else {
                    let mut block = [[0.0; LANES]; LANES];
                    block[..count].copy_from_slice(std::slice::from_raw_parts(from, count));
                    l.transpose(block.each_ref(), to_block);
                }
                if !layer.out_transposed_square.is_null() {
                    for example in 0..LANES {
                        let x = l.load(to.add(example * LANES));
                        l.store(layer.out_transposed_square.add(at + example * LANES), flush(l, l.mul(x, x)));
                    }
                }
            }
        }
    }
}
