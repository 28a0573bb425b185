//! The gradient of some rows of means, and the step of the optimiser, in one go: the gradient stays in registers.
//!
//! `∂L/∂M_ij = Σ_s P_is x_js + M_ij Σ_s Q_is x_js²`, over the examples `s`.

use super::Scratch;
use super::forward::sum_of_lanes;
use super::lanes::{LANES, Lanes};
use super::math::{flush, flush_one, tanh};
use super::product::{Broadcast, Panels, Tile, accumulate, zeros};

/// How a gradient becomes a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rule {
    /// `m ← β₁m + (1 − β₁)g`, `v ← β₂v + (1 − β₂)g²`; the step is `rate·m/(√v·root + ε)`, with both bias corrections in `rate` and `root`.
    Adam { rate: f32, root: f32 },
    /// `rate·g`.
    Sgd { rate: f32 },
    /// `m ← 0.9m + g`; the step is `rate·m`.
    Momentum { rate: f32 },
    /// `v ← 0.99v + 0.01g²`; the step is `rate·g/(√v + ε)`.
    Rmsprop { rate: f32 },
}

const BETA_1: f32 = 0.9;
const BETA_2: f32 = 0.999;
const MOMENTUM: f32 = 0.9;
const DECAY: f32 = 0.99;
const EPSILON: f32 = 1e-8;

impl Rule {
    /// The step for one gradient; `slots` are the optimiser's two memories.
    pub fn step_of(self, gradient: f32, m: &mut f32, v: &mut f32) -> f32 {
        match self {
            Self::Adam { rate, root } => {
                *m = flush_one(BETA_1 * *m + (1.0 - BETA_1) * gradient);
                *v = flush_one(BETA_2 * *v + (1.0 - BETA_2) * gradient * gradient);
                rate * *m / (v.sqrt() * root + EPSILON)
            }
            Self::Sgd { rate } => rate * gradient,
            Self::Momentum { rate } => {
                *m = flush_one(MOMENTUM * *m + gradient);
                rate * *m
            }
            Self::Rmsprop { rate } => {
                *v = flush_one(DECAY * *v + (1.0 - DECAY) * gradient * gradient);
                rate * gradient / (v.sqrt() + EPSILON)
            }
        }
    }
}

/// What the optimiser moves, and what follows from it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Parameter {
    /// The weights themselves, without bounds.
    Free,
    /// The means themselves, clipped to `[−1, 1]`.
    Clip,
    /// `θ` in `[−1, 1]`, with `M = clip(βθ)`: `beta` in the gradient, `next` for the new means.
    ScaledClip { beta: f32, next: f32 },
    /// `θ`, with `M = tanh(βθ)`.
    Tanh { beta: f32, next: f32 },
    /// `θ` in `[−1, 1]`, with `M = sign(θ)`; the gradient goes straight through.
    Sign,
}

/// What becomes of the gradient.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sink {
    /// The optimiser's step.
    Step(Rule, Parameter),
    /// It is kept, at the place of its mean.
    Keep(*mut f32),
    /// Only its square is summed.
    Measure,
}

/// A layer's gradient and step.
pub struct Update {
    pub inputs: usize,
    /// From one row of the means to the next, and of all that has their shape.
    pub stride: usize,
    pub panels: usize,
    /// Examples that the arrays have room for.
    pub capacity: usize,
    pub means: *mut f32,
    /// Null where the means are the parameter.
    pub theta: *mut f32,
    /// The optimiser's memories, null where it has none.
    pub m: *mut f32,
    pub v: *mut f32,
    /// The inputs and their squares in panels of 16 features, `[feature/16][example][16]`.
    pub transposed: *const f32,
    pub transposed_square: *const f32,
    /// Features per panel of `p` and `q`.
    pub out_rows: usize,
    pub p: *const f32,
    /// Null without a gradient through `Σ`.
    pub q: *const f32,
    pub sink: Sink,
    /// Per row, the sum of its squared gradients.
    pub squares: *mut f32,
}

/// Panels of 16 inputs that are worked on while they are in cache.
const PANELS_PER_BLOCK: usize = 4;

/// # Safety
///
/// The machine has the instructions of `L`; all pointers that are not null are good for the layer's sizes, `p` and `q` for `MR − 1` rows more; nobody else
/// touches the rows `first..first + rows`.
#[inline(always)]
pub unsafe fn update<L: Lanes, const MR: usize, const NP: usize>(layer: &Update, first: usize, rows: usize, scratch: &mut Scratch) {
    let input_panels = layer.inputs.div_ceil(LANES);
    let squares = scratch.row_sums.as_mut_ptr();
    // SAFETY: as the caller vouches.
    unsafe {
        for row in 0..rows {
            L::store(squares.add(row * LANES), L::splat(0.0));
        }
        let mut block = 0;
        while block < input_panels {
            let end = input_panels.min(block + PANELS_PER_BLOCK);
            for row in (0..rows).step_by(MR) {
                let valid = MR.min(rows - row);
                let mut panel = block;
                while panel < end {
                    if panel + NP <= end {
                        tile::<L, MR, NP>(layer, first + row, valid, panel, squares.add(row * LANES));
                        panel += NP;
                    } else {
                        tile::<L, MR, 1>(layer, first + row, valid, panel, squares.add(row * LANES));
                        panel += 1;
                    }
                }
            }
            block = end;
        }
        for row in 0..rows {
            *layer.squares.add(first + row) = sum_of_lanes(&scratch.row_sums[row * LANES..(row + 1) * LANES]);
        }
    }
}

#[inline(always)]
unsafe fn tile<L: Lanes, const MR: usize, const NP: usize>(layer: &Update, row: usize, valid: usize, panel: usize, squares: *mut f32) {
    // SAFETY: as the caller of `update` vouches.
    unsafe {
        let at = |i: usize, p: usize| (row + i) * layer.stride + (panel + p) * LANES;
        // They come from far away, and the products take long enough to fetch them.
        for array in [layer.means, layer.theta, layer.m, layer.v] {
            if !array.is_null() {
                for i in 0..MR {
                    for p in 0..NP {
                        L::prefetch(array.wrapping_add(at(i, p)));
                    }
                }
            }
        }
        let mut gradient = zeros::<L, MR, NP>();
        if !layer.q.is_null() {
            gradient = over_examples::<L, MR, NP>(gradient, layer, layer.q, layer.transposed_square, row, panel);
            for (i, sums) in gradient.iter_mut().enumerate() {
                if i < valid {
                    for (p, sum) in sums.iter_mut().enumerate() {
                        *sum = L::mul(*sum, L::load(layer.means.add(at(i, p))));
                    }
                }
            }
        }
        gradient = over_examples::<L, MR, NP>(gradient, layer, layer.p, layer.transposed, row, panel);
        for (i, sums) in gradient.iter().enumerate() {
            if i < valid {
                let total = squares.add(i * LANES);
                for (p, &sum) in sums.iter().enumerate() {
                    L::store(total, L::fma(sum, sum, L::load(total)));
                    match layer.sink {
                        Sink::Measure => {}
                        Sink::Keep(kept) => L::store(kept.add(at(i, p)), sum),
                        Sink::Step(rule, parameter) => step::<L>(layer, rule, parameter, at(i, p), sum),
                    }
                }
            }
        }
    }
}

#[inline(always)]
unsafe fn over_examples<L: Lanes, const MR: usize, const NP: usize>(
    mut tile: Tile<L, MR, NP>,
    layer: &Update,
    factor: *const f32,
    inputs: *const f32,
    row: usize,
    panel: usize,
) -> Tile<L, MR, NP> {
    // SAFETY: as the caller of `update` vouches.
    unsafe {
        for p in 0..layer.panels {
            let a = Broadcast { start: factor.add((p * layer.out_rows + row) * LANES), row_stride: LANES, k_stride: 1 };
            let b = Panels { start: inputs.add((panel * layer.capacity + p * LANES) * LANES), panel_stride: layer.capacity * LANES };
            tile = accumulate::<L, MR, NP>(tile, LANES, a, b);
        }
    }
    tile
}

/// Moves 16 parameters.
#[inline(always)]
unsafe fn step<L: Lanes>(layer: &Update, rule: Rule, parameter: Parameter, at: usize, gradient: L::Floats) {
    // SAFETY: as the caller of `update` vouches.
    unsafe {
        let means = layer.means.add(at);
        let unit = |x: L::Floats| L::min(L::max(x, L::splat(-1.0)), L::splat(1.0));
        match parameter {
            Parameter::Free => L::store(means, L::sub(L::load(means), step_of::<L>(layer, rule, at, gradient))),
            Parameter::Clip => L::store(means, unit(L::sub(L::load(means), step_of::<L>(layer, rule, at, gradient)))),
            Parameter::ScaledClip { beta, next } => {
                let moved = L::sub(L::load(layer.theta.add(at)), step_of::<L>(layer, rule, at, L::mul(gradient, L::splat(beta))));
                L::store(layer.theta.add(at), unit(moved));
                L::store(means, unit(L::mul(unit(moved), L::splat(next))));
            }
            Parameter::Tanh { beta, next } => {
                let m = L::load(means);
                let slope = L::mul(L::splat(beta), L::mul(L::sub(L::splat(1.0), m), L::add(L::splat(1.0), m)));
                let moved = L::sub(L::load(layer.theta.add(at)), step_of::<L>(layer, rule, at, L::mul(gradient, slope)));
                L::store(layer.theta.add(at), moved);
                L::store(means, tanh::<L>(L::mul(moved, L::splat(next))).value);
            }
            Parameter::Sign => {
                let moved = unit(L::sub(L::load(layer.theta.add(at)), step_of::<L>(layer, rule, at, gradient)));
                L::store(layer.theta.add(at), moved);
                L::store(means, L::select(L::less(moved, L::splat(0.0)), L::splat(-1.0), L::splat(1.0)));
            }
        }
    }
}

/// The twin of [`Rule::step_of`] for 16 gradients.
#[inline(always)]
unsafe fn step_of<L: Lanes>(layer: &Update, rule: Rule, at: usize, g: L::Floats) -> L::Floats {
    // SAFETY: as the caller of `update` vouches.
    unsafe {
        let (m, v) = (layer.m.wrapping_add(at), layer.v.wrapping_add(at));
        match rule {
            Rule::Adam { rate, root } => {
                let g = flush::<L>(g);
                let first = flush::<L>(L::fma(L::load(m), L::splat(BETA_1), L::mul(g, L::splat(1.0 - BETA_1))));
                let second = flush::<L>(L::fma(L::load(v), L::splat(BETA_2), L::mul(L::mul(g, g), L::splat(1.0 - BETA_2))));
                L::store(m, first);
                L::store(v, second);
                L::div(L::mul(first, L::splat(rate)), L::fma(L::sqrt(second), L::splat(root), L::splat(EPSILON)))
            }
            Rule::Sgd { rate } => L::mul(g, L::splat(rate)),
            Rule::Momentum { rate } => {
                let first = flush::<L>(L::fma(L::load(m), L::splat(MOMENTUM), g));
                L::store(m, first);
                L::mul(first, L::splat(rate))
            }
            Rule::Rmsprop { rate } => {
                let second = flush::<L>(L::fma(L::load(v), L::splat(DECAY), L::mul(L::mul(g, g), L::splat(1.0 - DECAY))));
                L::store(v, second);
                L::div(L::mul(g, L::splat(rate)), L::add(L::sqrt(second), L::splat(EPSILON)))
            }
        }
    }
}
