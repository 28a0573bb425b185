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

    /// The step for one gradient of a bias; `m` and `v` are the optimiser's averages. It has the same bits on every machine.
    pub fn step_of(self, gradient: f32, m: &mut f32, v: &mut f32) -> f32 {
        let mut averages = OfBias { m: [*m; LANES], v: [*v; LANES] };
        let step = self.step(Scalar, [gradient; LANES], &mut averages);
        (*m, *v) = (averages.m[0], averages.v[0]);
        step[0]
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

/// By value: one bias in all lanes.
struct OfBias<F> {
    m: F,
    v: F,
}

impl<L: Lanes> Averages<L> for OfBias<L::Floats> {
    #[inline(always)]
    fn m(&self, _: L) -> L::Floats {
        self.m
    }
    #[inline(always)]
    fn v(&self, _: L) -> L::Floats {
        self.v
    }
    #[inline(always)]
    fn set_m(&mut self, _: L, m: L::Floats) {
        self.m = m;
    }
    #[inline(always)]
    fn set_v(&mut self, _: L, v: L::Floats) {
        self.v = v;
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
