//! The gradient of some rows of means, and the optimiser's step in the same pass: the gradient stays in registers.
//!
//! `∂L/∂M_ij = Σ_s P_is x_js + M_ij Σ_s Q_is x_js²`, over the examples `s`.

use isinglass_simd::{LANES, Lanes};

use super::forward::sum_of_lanes;
use super::math::tanh;
use super::neurons::sign;
use super::product::{Broadcast, Panels, Tile, accumulate, zeros};
use super::rule::{OfMeans, Rule};
use super::{MAX_TILE, Scratch, Span, Turn};
use crate::parametrisation::{Betas, Parametrisation};

/// A step of the optimiser.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    pub rule: Rule,
    pub parametrisation: Parametrisation,
    pub betas: Betas,
    /// Fraction by which what the optimiser moves shrinks towards 0.
    pub decay: f32,
}

/// What is done with the gradient.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sink {
    /// The optimiser's step.
    Step(Step),
    /// It is stored in the layout of the means.
    Keep,
    /// Only its square is summed.
    Measure,
}

/// A layer's gradient and step.
pub struct Update {
    pub inputs: usize,
    /// Floats from one row to the next of the means, and of every array of their shape.
    pub stride: usize,
    /// Examples of the batch: those beyond, which fill the last panel, have no gradient.
    pub examples: usize,
    /// Examples that the arrays can hold.
    pub capacity: usize,
    pub means: *mut f32,
    /// Null where the optimiser moves the means.
    pub theta: *mut f32,
    /// The optimiser's averages; null where it has none.
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
    /// The gradient; null unless it is kept.
    pub gradient: *mut f32,
    /// Per row, the sum of its squared gradients.
    pub squares: *mut f32,
}

impl Update {
    /// Panels of 16 examples, of which the last may not be full.
    #[inline(always)]
    pub fn panels(&self) -> usize {
        self.examples.div_ceil(LANES)
    }
}

/// Panels of 16 inputs per block, which stays in cache.
const PANELS_PER_BLOCK: usize = 4;

/// # Safety
///
/// All pointers that are not null are valid for the layer's sizes, `p` and `q` for `MR − 1` rows more; those that the sink uses are not null; nobody else
/// touches the rows of the span.
#[inline(always)]
pub unsafe fn update<L: Lanes, const MR: usize, const NP: usize>(l: L, layer: &Update, turn: Turn, scratch: &mut Scratch) {
    const { assert!(MR * NP <= MAX_TILE, "a tile fits the scratch") };
    let Turn { span, .. } = turn;
    let Span { first, rows } = span;
    scratch.row_sums[..rows * LANES].fill(0.0);
    let finished = Finished { gradient: scratch.tile.pointer(), squares: scratch.row_sums.pointer(), first };
    let mut tiles = Tiles::<MR, NP>::new(span, layer.inputs.div_ceil(LANES));
    let mut following = tiles.next();
    Soon::new(following, 1).ask(l, layer);
    // SAFETY: the caller upholds the contract; a tile fits the scratch.
    unsafe {
        while let Some(place) = following {
            following = tiles.next();
            if place.panels == NP {
                tile::<L, MR, NP>(l, layer, place, following, finished.gradient);
                pass_on::<L, NP>(l, layer, place, finished);
            } else {
                tile::<L, MR, 1>(l, layer, place, following, finished.gradient);
                pass_on::<L, 1>(l, layer, place, finished);
            }
        }
        for row in 0..rows {
            *layer.squares.add(first + row) = sum_of_lanes(&scratch.row_sums[row * LANES..(row + 1) * LANES]);
        }
    }
}

/// Where a tile lies: rows of the layer, and panels of 16 inputs.
#[derive(Clone, Copy)]
struct Place {
    row: usize,
    rows: usize,
    panel: usize,
    panels: usize,
}

impl Place {
    /// The offset of a vector in the means, and in every array of their shape.
    #[inline(always)]
    fn at(&self, layer: &Update, i: usize, p: usize) -> usize {
        (self.row + i) * layer.stride + (self.panel + p) * LANES
    }
}

/// The tiles of a span, block by block of the inputs. They have `MR` rows, fewer at the end of the span, and `NP` panels or 1.
struct Tiles<const MR: usize, const NP: usize> {
    span: Span,
    input_panels: usize,
    /// The block's first panel.
    block: usize,
    /// The next tile's row within the span, and its panel.
    row: usize,
    panel: usize,
}

impl<const MR: usize, const NP: usize> Tiles<MR, NP> {
    #[inline(always)]
    fn new(span: Span, input_panels: usize) -> Self {
        Self { span, input_panels, block: 0, row: 0, panel: 0 }
    }

    #[inline(always)]
    fn next(&mut self) -> Option<Place> {
        let mut end = self.input_panels.min(self.block + PANELS_PER_BLOCK);
        if self.panel == end {
            self.row += MR;
            if self.row >= self.span.rows {
                self.row = 0;
                self.block = end;
                end = self.input_panels.min(end + PANELS_PER_BLOCK);
            }
            self.panel = self.block;
        }
        if self.panel == end || self.row >= self.span.rows {
            return None;
        }
        let panels = if self.panel + NP <= end { NP } else { 1 };
        let place = Place { row: self.span.first + self.row, rows: MR.min(self.span.rows - self.row), panel: self.panel, panels };
        self.panel += panels;
        Some(place)
    }
}

/// The tile that comes next. Its parameters and moments come from main memory, and are asked for a few at a time while another tile is computed: all at once would have to wait for each
/// other. They are asked for as if a step were to write them; the few passes that only measure or keep gradients take them from other cores for nothing, and a decision here would cost
/// every step 1 %.
struct Soon {
    place: Place,
    /// The next row, and how many at a time.
    i: usize,
    share: usize,
}

impl Soon {
    /// A tile, in `requests` requests.
    #[inline(always)]
    fn new(place: Option<Place>, requests: usize) -> Self {
        let place = place.unwrap_or(Place { row: 0, rows: 0, panel: 0, panels: 0 });
        Self { place, i: 0, share: place.rows.div_ceil(requests) }
    }

    #[inline(always)]
    fn ask<L: Lanes>(&mut self, l: L, layer: &Update) {
        let end = self.place.rows.min(self.i + self.share);
        while self.i < end {
            let at = self.place.at(layer, self.i, 0);
            for array in [layer.means, layer.theta, layer.m, layer.v] {
                if !array.is_null() {
                    for p in 0..self.place.panels {
                        l.prefetch_to_write(array.wrapping_add(at + p * LANES));
                    }
                }
            }
            self.i += 1;
        }
    }
}

/// A tile of the gradient, written to `to` as `[row][panel][16]`.
///
/// # Safety
///
/// As for [`update`]; `to` has room for the tile.
#[inline(always)]
unsafe fn tile<L: Lanes, const MR: usize, const NP: usize>(l: L, layer: &Update, place: Place, following: Option<Place>, to: *mut f32) {
    let mut soon = Soon::new(following, layer.panels() * if layer.q.is_null() { 1 } else { 2 });
    // SAFETY: the caller upholds the contract.
    unsafe {
        let mut gradient = zeros::<L, MR, NP>(l);
        if !layer.q.is_null() {
            for p in 0..layer.panels() {
                gradient = over_panel::<L, MR, NP>(l, gradient, layer, layer.q, layer.transposed_square, place, p);
                soon.ask(l, layer);
            }
            for (i, sums) in gradient.iter_mut().enumerate() {
                if i < place.rows {
                    for (p, sum) in sums.iter_mut().enumerate() {
                        *sum = l.mul(*sum, l.load(layer.means.add(place.at(layer, i, p))));
                    }
                }
            }
        }
        for p in 0..layer.panels() {
            gradient = over_panel::<L, MR, NP>(l, gradient, layer, layer.p, layer.transposed, place, p);
            soon.ask(l, layer);
        }
        for (i, sums) in gradient.iter().enumerate() {
            for (p, &sum) in sums.iter().enumerate() {
                l.store(to.add((i * NP + p) * LANES), sum);
            }
        }
    }
}

/// Adds the products of a factor with inputs, over the examples of a panel.
///
/// # Safety
///
/// As for [`update`].
#[inline(always)]
unsafe fn over_panel<L: Lanes, const MR: usize, const NP: usize>(
    l: L,
    tile: Tile<L, MR, NP>,
    layer: &Update,
    factor: *const f32,
    inputs: *const f32,
    place: Place,
    panel: usize,
) -> Tile<L, MR, NP> {
    // SAFETY: the caller upholds the contract.
    unsafe {
        let a = Broadcast { start: factor.add((panel * layer.out_rows + place.row) * LANES), row_stride: LANES, k_stride: 1 };
        let start = inputs.add((place.panel * layer.capacity + panel * LANES) * LANES);
        let b = Panels { start, panel_stride: layer.capacity * LANES };
        let examples = layer.examples - panel * LANES;
        // A number of terms that is known beforehand makes a loop without branches.
        if examples >= LANES { accumulate::<L, MR, NP>(l, tile, LANES, a, b) } else { accumulate::<L, MR, NP>(l, tile, examples, a, b) }
    }
}

/// A finished tile of the gradient, in cache, and the sums of the span that it belongs to.
#[derive(Clone, Copy)]
struct Finished {
    /// `[row][panel][16]`.
    gradient: *mut f32,
    /// `[row][16]`: sums of squared gradients, from the span's first row on.
    squares: *mut f32,
    first: usize,
}

/// Passes a tile of `NP` panels to the sink. What the sink does is written out case by case, so that each has a loop of its own, without a decision per vector.
///
/// # Safety
///
/// As for [`update`]; the tile at `place` is finished and has `NP` panels.
#[inline(always)]
unsafe fn pass_on<L: Lanes, const NP: usize>(l: L, layer: &Update, place: Place, finished: Finished) {
    // SAFETY: the caller upholds the contract.
    unsafe {
        match layer.sink {
            Sink::Measure => each::<L, NP>(l, layer, place, finished, Sink::Measure),
            Sink::Keep => each::<L, NP>(l, layer, place, finished, Sink::Keep),
            Sink::Step(how) => match how.rule {
                Rule::Adam { rate, root } => by_rule::<L, NP>(l, layer, place, finished, Step { rule: Rule::Adam { rate, root }, ..how }),
                Rule::Sgd { rate } => by_rule::<L, NP>(l, layer, place, finished, Step { rule: Rule::Sgd { rate }, ..how }),
                Rule::Momentum { rate } => by_rule::<L, NP>(l, layer, place, finished, Step { rule: Rule::Momentum { rate }, ..how }),
                Rule::Rmsprop { rate } => by_rule::<L, NP>(l, layer, place, finished, Step { rule: Rule::Rmsprop { rate }, ..how }),
            },
        }
    }
}

/// # Safety
///
/// As for [`pass_on`].
#[inline(always)]
unsafe fn by_rule<L: Lanes, const NP: usize>(l: L, layer: &Update, place: Place, finished: Finished, how: Step) {
    use Parametrisation::{Clip, Free, ScaledClip, Sign, Tanh};
    // SAFETY: the caller upholds the contract.
    unsafe {
        match how.parametrisation {
            Free => each::<L, NP>(l, layer, place, finished, Sink::Step(Step { parametrisation: Free, ..how })),
            Clip => each::<L, NP>(l, layer, place, finished, Sink::Step(Step { parametrisation: Clip, ..how })),
            ScaledClip => each::<L, NP>(l, layer, place, finished, Sink::Step(Step { parametrisation: ScaledClip, ..how })),
            Tanh => each::<L, NP>(l, layer, place, finished, Sink::Step(Step { parametrisation: Tanh, ..how })),
            Sign => each::<L, NP>(l, layer, place, finished, Sink::Step(Step { parametrisation: Sign, ..how })),
        }
    }
}

/// All vectors of a tile.
///
/// # Safety
///
/// As for [`pass_on`].
#[inline(always)]
unsafe fn each<L: Lanes, const NP: usize>(l: L, layer: &Update, place: Place, finished: Finished, sink: Sink) {
    let (kept, parameters) = (layer.gradient, Parameters { means: layer.means, theta: layer.theta, m: layer.m, v: layer.v });
    // SAFETY: the caller upholds the contract.
    unsafe {
        for i in 0..place.rows {
            let at = place.at(layer, i, 0);
            let total = finished.squares.add((place.row - finished.first + i) * LANES);
            let mut squares = l.load(total);
            for p in 0..NP {
                let gradient = l.load(finished.gradient.add((i * NP + p) * LANES));
                squares = l.fma(gradient, gradient, squares);
                match sink {
                    Sink::Measure => {}
                    Sink::Keep => l.store(kept.add(at + p * LANES), gradient),
                    Sink::Step(how) => step(l, parameters, how, at + p * LANES, gradient),
                }
            }
            l.store(total, squares);
        }
        if let Sink::Step(Step { parametrisation: Parametrisation::Tanh, betas, .. }) = sink {
            follow::<L, NP>(l, layer, place, betas.next);
        }
    }
}

/// `M = tanh(βθ)` for a tile. A loop of its own keeps the chains of dependent instructions short, so that the processor works on more vectors at once.
///
/// # Safety
///
/// As for [`pass_on`].
#[inline(always)]
unsafe fn follow<L: Lanes, const NP: usize>(l: L, layer: &Update, place: Place, beta: f32) {
    // SAFETY: the caller upholds the contract.
    unsafe {
        for i in 0..place.rows {
            for p in 0..NP {
                let at = place.at(layer, i, p);
                l.store(layer.means.add(at), tanh(l, l.mul(l.load(layer.theta.add(at)), l.splat(beta))).value);
            }
        }
    }
}

/// A layer's parameters and the optimiser's averages; null where it has none.
#[derive(Clone, Copy)]
struct Parameters {
    means: *mut f32,
    theta: *mut f32,
    m: *mut f32,
    v: *mut f32,
}

/// Moves 16 parameters.
///
/// # Safety
///
/// As for [`update`].
#[inline(always)]
unsafe fn step<L: Lanes>(l: L, layer: Parameters, how: Step, at: usize, gradient: L::Floats) {
    let Step { rule, parametrisation, betas, decay } = how;
    let decayed = |x: L::Floats| if decay > 0.0 { l.fma(x, l.splat(-decay), x) } else { x };
    // SAFETY: the caller upholds the contract.
    unsafe {
        let means = layer.means.add(at);
        let mut averages = OfMeans { m: layer.m.wrapping_add(at), v: layer.v.wrapping_add(at) };
        match parametrisation {
            Parametrisation::Free => l.store(means, l.sub(decayed(l.load(means)), rule.step(l, gradient, &mut averages))),
            Parametrisation::Clip => l.store(means, clip(l, l.sub(decayed(l.load(means)), rule.step(l, gradient, &mut averages)))),
            Parametrisation::ScaledClip => {
                let step = rule.step(l, l.mul(gradient, l.splat(betas.now)), &mut averages);
                let moved = clip(l, l.sub(decayed(l.load(layer.theta.add(at))), step));
                l.store(layer.theta.add(at), moved);
                l.store(means, clip(l, l.mul(moved, l.splat(betas.next))));
            }
            Parametrisation::Tanh => {
                let m = l.load(means);
                let slope = l.mul(l.splat(betas.now), l.mul(l.sub(l.splat(1.0), m), l.add(l.splat(1.0), m)));
                let moved = l.sub(decayed(l.load(layer.theta.add(at))), rule.step(l, l.mul(gradient, slope), &mut averages));
                l.store(layer.theta.add(at), moved); // the means follow in a loop of their own
            }
            Parametrisation::Sign => {
                let moved = clip(l, l.sub(decayed(l.load(layer.theta.add(at))), rule.step(l, gradient, &mut averages)));
                l.store(layer.theta.add(at), moved);
                l.store(means, sign(l, moved));
            }
        }
    }
}

/// `x`, clipped to `[−1, 1]`.
#[inline(always)]
fn clip<L: Lanes>(l: L, x: L::Floats) -> L::Floats {
    l.min(l.max(x, l.splat(-1.0)), l.splat(1.0))
}
