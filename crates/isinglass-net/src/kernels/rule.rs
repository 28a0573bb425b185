//! The optimisers: how a gradient becomes a step.

use isinglass_simd::{LANES, Lanes, Scalar};

use super::math::flush;

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
    /// The steps for 16 gradients.
    #[inline(always)]
    pub(super) fn step<L: Lanes>(self, l: L, g: L::Floats, averages: &mut impl Averages<L>) -> L::Floats {
        match self {
            Self::Adam { rate, root } => {
                let g = averages.flushed(l, g);
                let m = flush(l, l.fma(averages.m(l), l.splat(BETA_1), l.mul(g, l.splat(1.0 - BETA_1))));
                let v = flush(l, l.fma(averages.v(l), l.splat(BETA_2), averages.square(l, g, 1.0 - BETA_2)));
                averages.set_m(l, m);
                averages.set_v(l, v);
                l.div(l.mul(m, l.splat(rate)), l.fma(l.sqrt(v), l.splat(root), l.splat(EPSILON)))
            }
            Self::Sgd { rate } => l.mul(g, l.splat(rate)),
            Self::Momentum { rate } => {
                let m = flush(l, l.fma(averages.m(l), l.splat(MOMENTUM), g));
                averages.set_m(l, m);
                l.mul(m, l.splat(rate))
            }
            Self::Rmsprop { rate } => {
                let v = flush(l, l.fma(averages.v(l), l.splat(DECAY), averages.square(l, g, 1.0 - DECAY)));
                averages.set_v(l, v);
                l.div(l.mul(g, l.splat(rate)), l.add(l.sqrt(v), l.splat(EPSILON)))
            }
        }
    }

    /// Whether the rule remembers `m`, and `v`.
    pub fn slots(self) -> [bool; 2] {
        match self {
            Self::Adam { .. } => [true, true],
            Self::Sgd { .. } => [false, false],
            Self::Momentum { .. } => [true, false],
            Self::Rmsprop { .. } => [false, true],
        }
    }

    /// The steps for 16 gradients of biases; `m` and `v` are the optimiser's averages. They have the same bits on every machine.
    pub fn steps_of_biases(self, gradients: &[f32; LANES], m: &mut [f32; LANES], v: &mut [f32; LANES]) -> [f32; LANES] {
        self.step(Scalar, *gradients, &mut OfBiases { m, v })
    }
}

/// The optimiser's averages for 16 parameters, and how their gradients are rounded. Means and biases round differently, and must keep doing so: equal seeds give equal bits.
pub(super) trait Averages<L: Lanes> {
    fn m(&self, l: L) -> L::Floats;
    fn v(&self, l: L) -> L::Floats;
    fn set_m(&mut self, l: L, m: L::Floats);
    fn set_v(&mut self, l: L, v: L::Floats);
    /// A gradient with negligible values set to 0, or unchanged.
    fn flushed(&self, l: L, g: L::Floats) -> L::Floats;
    /// `weight·g²`.
    fn square(&self, l: L, g: L::Floats, weight: f32) -> L::Floats;
}

/// In arrays of a layer. Only the unsafe step of [`update`](super::update) makes one; its caller ensures that the layer has the averages that the rule uses.
pub(super) struct OfMeans {
    pub m: *mut f32,
    pub v: *mut f32,
}

impl<L: Lanes> Averages<L> for OfMeans {
    #[inline(always)]
    fn m(&self, l: L) -> L::Floats {
        // SAFETY: 16 floats that nobody else touches, here and below.
        unsafe { l.load(self.m) }
    }
    #[inline(always)]
    fn v(&self, l: L) -> L::Floats {
        unsafe { l.load(self.v) }
    }
    #[inline(always)]
    fn set_m(&mut self, l: L, m: L::Floats) {
        unsafe { l.store(self.m, m) }
    }
    #[inline(always)]
    fn set_v(&mut self, l: L, v: L::Floats) {
        unsafe { l.store(self.v, v) }
    }
    #[inline(always)]
    fn flushed(&self, l: L, g: L::Floats) -> L::Floats {
        flush(l, g)
    }
    #[inline(always)]
    fn square(&self, l: L, g: L::Floats, weight: f32) -> L::Floats {
        l.mul(l.mul(g, g), l.splat(weight))
    }
}

/// Of 16 biases.
struct OfBiases<'a> {
    m: &'a mut [f32; LANES],
    v: &'a mut [f32; LANES],
}

impl<L: Lanes> Averages<L> for OfBiases<'_> {
    #[inline(always)]
    fn m(&self, l: L) -> L::Floats {
        l.read(self.m)
    }
    #[inline(always)]
    fn v(&self, l: L) -> L::Floats {
        l.read(self.v)
    }
    #[inline(always)]
    fn set_m(&mut self, l: L, m: L::Floats) {
        l.write(self.m, m);
    }
    #[inline(always)]
    fn set_v(&mut self, l: L, v: L::Floats) {
        l.write(self.v, v);
    }
    #[inline(always)]
    fn flushed(&self, _: L, g: L::Floats) -> L::Floats {
        g
    }
    #[inline(always)]
    fn square(&self, l: L, g: L::Floats, weight: f32) -> L::Floats {
        l.mul(l.mul(g, l.splat(weight)), g)
    }
}
