//! The inner loops: written once, compiled for every instruction set, chosen at run time.
//!
//! A kernel works on some rows of one layer (a *chunk*). Chunks of different rows never touch the same memory, so any number of threads may work on them. Vectors of 16 numbers
//! and instruction sets are those of [`isinglass_simd`]. Only access to memory is unsafe here: threads share layers, so kernels reach them through pointers.
//!
//! | path | vector | tile |
//! |---|---|---|
//! | `avx512` | 1 register | 8 × 32 |
//! | `avx2` | 2 registers | 6 × 16 |
//! | `neon` | 4 registers | 6 × 16 |
//! | `scalar` | an array | 4 × 16 |

mod ahead;
mod backward;
mod forward;
mod math;
mod narrow;
mod neurons;
mod product;
mod rule;
#[cfg(test)]
mod tests;
mod update;

pub use backward::{Backward, Received};
pub use forward::{Carry, Dropout, Field, Forward, Nonlinearity, VarianceRule, sum_of_lanes};
pub use isinglass_simd::LANES;
pub use neurons::noise_counter;
pub use rule::Rule;
pub use update::{Sink, Step, Update};

use isinglass_simd::{Buffer, Error, Isa, Kernel, Lanes};

/// Most rows of a chunk; a multiple of 16 and of every tile's height.
pub const MAX_ROWS: usize = 96;
/// Most vectors of a tile.
const MAX_TILE: usize = 32;
/// Inputs per block, which stays in cache.
const BLOCK: usize = 128;
/// Floats from row to row of the copied means: not a power of two, so that rows do not compete for the same cache sets.
const BLOCK_STRIDE: usize = BLOCK + LANES;

/// Some rows of a layer: outputs, or inputs in the backward pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    pub first: usize,
    pub rows: usize,
}

/// The rows that a thread works on, and hints for prefetching: `next` and `has_others` affect speed, never results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    pub span: Span,
    /// What the thread will probably do next; empty after the last of its own.
    pub next: Span,
    /// Whether there are other threads, whose caches hold what they have read.
    pub has_others: bool,
}

/// A thread's own memory.
pub struct Scratch {
    a1: Buffer,
    a2: Buffer,
    c1: Buffer,
    c2: Buffer,
    row_sums: Buffer,
    /// Of every row, `Σ(1 − M²)`.
    own_variances: [f32; MAX_ROWS],
    /// A tile of a gradient.
    tile: Buffer,
}

impl Scratch {
    /// For batches of up to `panels` panels.
    pub fn new(panels: usize) -> Self {
        // The last tile of a product may read and write beyond the last row.
        let a = || Buffer::new(MAX_ROWS * BLOCK_STRIDE + MAX_ROWS);
        let c = || Buffer::new((panels + 1) * MAX_ROWS * LANES);
        Self {
            a1: a(),
            a2: a(),
            c1: c(),
            c2: c(),
            row_sums: Buffer::new(MAX_ROWS * LANES),
            own_variances: [0.0; MAX_ROWS],
            tile: Buffer::new(MAX_TILE * LANES),
        }
    }
}

/// The kernels of one instruction set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kernels {
    /// The instruction set's name.
    pub name: &'static str,
    /// Rows of a tile.
    pub tile_rows: usize,
    isa: Isa,
}

impl Kernels {
    fn new(isa: Isa) -> Self {
        let isa = isa.of_vectors();
        Self { name: isa.name(), tile_rows: isa.run(TileRows), isa }
    }

    /// All that this machine can run, fastest first.
    #[cfg(test)]
    pub fn all() -> Vec<Self> {
        let mut all: Vec<Self> = Isa::available().into_iter().map(Self::new).collect();
        all.dedup();
        all
    }

    /// The fastest, or those that the environment variable `ISINGLASS_SIMD` names.
    ///
    /// # Errors
    ///
    /// If the machine does not have the instruction set that the variable names.
    pub fn choose() -> Result<Self, Error> {
        Isa::chosen().map(Self::new)
    }

    /// Sends a batch through some rows of a layer.
    ///
    /// # Safety
    ///
    /// As for [`forward::forward`].
    pub unsafe fn forward(self, layer: &Forward, turn: Turn, scratch: &mut Scratch) {
        self.isa.run(Chunk { layer, turn, scratch });
    }

    /// Sends gradients back to some inputs of a layer.
    ///
    /// # Safety
    ///
    /// As for [`backward::backward`].
    pub unsafe fn backward(self, layer: &Backward, turn: Turn, scratch: &mut Scratch) {
        self.isa.run(Chunk { layer, turn, scratch });
    }

    /// Computes the gradients of some rows of means, and uses them as the sink says.
    ///
    /// # Safety
    ///
    /// As for [`update::update`].
    pub unsafe fn update(self, layer: &Update, turn: Turn, scratch: &mut Scratch) {
        self.isa.run(Chunk { layer, turn, scratch });
    }

    /// `M = tanh(βθ)` for as many whole vectors as both slices have.
    pub fn tanh(self, theta: &[f32], means: &mut [f32], beta: f32) {
        self.isa.run(Tanh { theta: theta.as_chunks().0, means: means.as_chunks_mut().0, beta });
    }

    /// Rows become columns.
    pub fn transposed(self, block: &[[f32; LANES]; LANES]) -> [[f32; LANES]; LANES] {
        let mut columns = [[0.0; LANES]; LANES];
        self.isa.run(Transpose { from: block, to: &mut columns });
        columns
    }

    /// The standard normal numbers `counter, …, counter + 15` of the key's sequence; `counter` is a multiple of 16.
    pub fn normal(self, counter: u64, key: [u32; 2], to: &mut [f32; LANES]) {
        self.isa.run(Normal { counter, key, to });
    }
}

/// Some rows of a layer. Only the unsafe methods of [`Kernels`] make one; their callers uphold the contract of the function that it is passed to.
struct Chunk<'a, T> {
    layer: &'a T,
    turn: Turn,
    scratch: &'a mut Scratch,
}

impl Kernel for Chunk<'_, Forward> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes, const ROWS: usize, const VECTORS: usize>(self, l: L) {
        // SAFETY: the caller of `Kernels::forward` upholds the contract.
        unsafe { forward::forward::<L, ROWS, VECTORS>(l, self.layer, self.turn, self.scratch) }
    }
}

impl Kernel for Chunk<'_, Backward> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes, const ROWS: usize, const VECTORS: usize>(self, l: L) {
        // SAFETY: the caller of `Kernels::backward` upholds the contract.
        unsafe { backward::backward::<L, ROWS, VECTORS>(l, self.layer, self.turn, self.scratch) }
    }
}

impl Kernel for Chunk<'_, Update> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes, const ROWS: usize, const VECTORS: usize>(self, l: L) {
        // SAFETY: the caller of `Kernels::update` upholds the contract.
        unsafe { update::update::<L, ROWS, VECTORS>(l, self.layer, self.turn, self.scratch) }
    }
}

struct Transpose<'a> {
    from: &'a [[f32; LANES]; LANES],
    to: &'a mut [[f32; LANES]; LANES],
}

impl Kernel for Transpose<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes, const ROWS: usize, const VECTORS: usize>(self, l: L) {
        l.transpose(self.from.each_ref(), self.to);
    }
}

struct Tanh<'a> {
    theta: &'a [[f32; LANES]],
    means: &'a mut [[f32; LANES]],
    beta: f32,
}

impl Kernel for Tanh<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes, const ROWS: usize, const VECTORS: usize>(self, l: L) {
        for (theta, means) in self.theta.iter().zip(self.means) {
            l.write(means, math::tanh(l, l.mul(l.read(theta), l.splat(self.beta))).value);
        }
    }
}

struct Normal<'a> {
    counter: u64,
    key: [u32; 2],
    to: &'a mut [f32; LANES],
}

impl Kernel for Normal<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes, const ROWS: usize, const VECTORS: usize>(self, l: L) {
        l.write(self.to, math::normal(l, self.counter, self.key));
    }
}

/// The height of a tile.
struct TileRows;

impl Kernel for TileRows {
    type Output = usize;

    #[inline(always)]
    fn run<L: Lanes, const ROWS: usize, const VECTORS: usize>(self, _: L) -> usize {
        ROWS
    }
}
