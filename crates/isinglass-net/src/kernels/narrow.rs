//! Products with the last panel of a batch, where few examples fill it.
//!
//! Elsewhere a vector holds 16 examples. Of a batch of 100, 12 of 112 places would be empty, so here a vector holds 16 rows instead, and the examples are broadcast.
//! Every element is the same sum in the same order as in [`block`](super::product::block): no bit changes.

use isinglass_simd::{LANES, Lanes};

use super::ahead::{Ahead, TERMS_PER_REQUEST};
use super::product::{self, Broadcast, Panels, block, zeros};

/// Most examples of a panel that is multiplied this way. With more, vectors of examples are as fast.
const FEW: usize = 8;
/// Examples of a tile, if there are as many.
const TILE: usize = 4;

/// The panels of a batch: those that are multiplied as a whole, and the examples of a last one that is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Split {
    full: usize,
    few: usize,
}

impl Split {
    #[inline(always)]
    pub fn new(examples: usize) -> Self {
        match examples % LANES {
            few @ 1..=FEW => Self { full: examples / LANES, few },
            _ => Self { full: examples.div_ceil(LANES), few: 0 },
        }
    }

    /// Whether the last panel has few examples: then means are needed in vectors of rows.
    #[inline(always)]
    pub fn has_few(self) -> bool {
        self.few > 0
    }

    /// How often a [`product`](Split::product) asks for memory that will be needed soon.
    #[inline(always)]
    pub fn requests<const MR: usize, const NP: usize>(self, rows: usize, depth: usize) -> usize {
        product::Size { rows, panels: self.full, depth }.requests::<MR, NP>() + self.few_size(rows, depth).requests::<NP>()
    }

    #[inline(always)]
    fn few_size(self, rows: usize, depth: usize) -> FewSize {
        FewSize { rows, examples: self.few, depth }
    }

    /// A product of a block of rows with the whole batch. If the last panel has few examples, `a` lies in columns, and the sums of that panel are [`finished`](Split::finish) later.
    ///
    /// # Safety
    ///
    /// As for [`block`] and, if the last panel has few examples, [`narrow`], with a row stride of 1.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "a product has this many operands")]
    pub unsafe fn product<L: Lanes, const MR: usize, const NP: usize>(
        self,
        l: L,
        rows: usize,
        depth: usize,
        a: Broadcast,
        b: Panels,
        c: product::Sums,
        ahead: &mut Ahead,
    ) {
        // SAFETY: the caller upholds the contract.
        unsafe {
            block::<L, MR, NP>(l, product::Size { rows, panels: self.full, depth }, a, b, c, ahead);
            if self.has_few() {
                let sums = FewSums { start: self.last_panel(c).start, add: c.add };
                let columns = Columns { start: a.start, stride: a.k_stride };
                narrow::<L, NP>(l, self.few_size(rows, depth), columns, b.start.add(self.full * b.panel_stride), sums, ahead);
            }
        }
    }

    /// Brings the sums of a last panel with few examples into the order of the others, once all terms are added. Its places beyond the examples become 0.
    ///
    /// # Safety
    ///
    /// `c` is writable for the rows, rounded up to whole vectors, of all panels.
    #[inline(always)]
    pub unsafe fn finish<L: Lanes>(self, l: L, rows: usize, c: product::Sums) {
        if self.has_few() {
            // SAFETY: the caller upholds the contract.
            unsafe { to_panel(l, self.few_size(rows, 0), self.last_panel(c).start) };
        }
    }

    #[inline(always)]
    fn last_panel(self, c: product::Sums) -> product::Sums {
        product::Sums { start: c.start.wrapping_add(self.full * c.rows * LANES), ..c }
    }
}

/// The factor in vectors of 16 rows: those of column `k` begin at `start + k·stride`.
#[derive(Clone, Copy)]
struct Columns {
    start: *const f32,
    stride: usize,
}

/// How much a product is.
#[derive(Clone, Copy)]
struct FewSize {
    rows: usize,
    examples: usize,
    /// Terms of every sum.
    depth: usize,
}

impl FewSize {
    /// How often [`narrow`] asks for memory that will be needed soon.
    #[inline(always)]
    fn requests<const NV: usize>(self) -> usize {
        let vectors = self.rows.div_ceil(LANES);
        (vectors / NV + vectors % NV) * (self.examples / TILE + self.examples % TILE) * self.depth.div_ceil(TERMS_PER_REQUEST)
    }
}

/// The result while it is summed: vector `v` of rows of an example is at `start + (16·v + example)·16`.
#[derive(Clone, Copy)]
struct FewSums {
    start: *mut f32,
    /// Whether the product is added to the existing values.
    add: bool,
}

/// A product of a block of rows with the first examples of the panel `b`.
///
/// # Safety
///
/// `a` is readable for the rows, rounded up to whole vectors, and `b` for a panel, both to the depth; `c` is writable for 16 examples of those rows.
#[inline(always)]
unsafe fn narrow<L: Lanes, const NV: usize>(l: L, size: FewSize, a: Columns, b: *const f32, c: FewSums, ahead: &mut Ahead) {
    let vectors = size.rows.div_ceil(LANES);
    let mut v = 0;
    while v < vectors {
        // SAFETY: the caller upholds the contract; tiles stay within the whole vectors of rows and the examples.
        unsafe {
            let a = Columns { start: a.start.add(v * LANES), ..a };
            let c = FewSums { start: c.start.add(v * LANES * LANES), ..c };
            if v + NV <= vectors {
                row_of_tiles::<L, NV>(l, size, a, b, c, ahead);
                v += NV;
            } else {
                row_of_tiles::<L, 1>(l, size, a, b, c, ahead);
                v += 1;
            }
        }
    }
}

/// # Safety
///
/// As for [`narrow`].
#[inline(always)]
unsafe fn row_of_tiles<L: Lanes, const NV: usize>(l: L, size: FewSize, a: Columns, b: *const f32, c: FewSums, ahead: &mut Ahead) {
    let mut example = 0;
    while example < size.examples {
        // SAFETY: the caller upholds the contract.
        unsafe {
            let (b, c) = (b.add(example), FewSums { start: c.start.add(example * LANES), ..c });
            if example + TILE <= size.examples {
                tile::<L, NV, TILE>(l, size.depth, a, b, c, ahead);
                example += TILE;
            } else {
                tile::<L, NV, 1>(l, size.depth, a, b, c, ahead);
                example += 1;
            }
        }
    }
}

/// # Safety
///
/// As for [`narrow`].
#[inline(always)]
unsafe fn tile<L: Lanes, const NV: usize, const NE: usize>(l: L, depth: usize, a: Columns, b: *const f32, c: FewSums, ahead: &mut Ahead) {
    // SAFETY: the caller upholds the contract.
    unsafe {
        let mut tile = zeros::<L, NE, NV>(l);
        if c.add {
            for (example, sums) in tile.iter_mut().enumerate() {
                for (v, sum) in sums.iter_mut().enumerate() {
                    *sum = l.load(c.start.add((v * LANES + example) * LANES));
                }
            }
        }
        for k in 0..depth {
            if k % TERMS_PER_REQUEST == 0 {
                ahead.ask(l);
            }
            let mut rows = [l.splat(0.0); NV];
            for (v, rows) in rows.iter_mut().enumerate() {
                *rows = l.load(a.start.add(k * a.stride + v * LANES));
            }
            for (example, sums) in tile.iter_mut().enumerate() {
                let factor = l.splat(*b.add(k * LANES + example));
                for (sum, rows) in sums.iter_mut().zip(rows) {
                    *sum = l.fma(rows, factor, *sum);
                }
            }
        }
        for (example, sums) in tile.iter().enumerate() {
            for (v, sum) in sums.iter().enumerate() {
                l.store(c.start.add((v * LANES + example) * LANES), *sum);
            }
        }
    }
}

/// Finished sums become a panel, `[row][16]`, in place. Its places beyond the examples are 0.
///
/// # Safety
///
/// `c` is writable for 16 examples of the rows, rounded up to whole vectors.
#[inline(always)]
unsafe fn to_panel<L: Lanes>(l: L, size: FewSize, c: *mut f32) {
    for v in 0..size.rows.div_ceil(LANES) {
        // SAFETY: the caller upholds the contract.
        let block = unsafe { &mut *c.add(v * LANES * LANES).cast::<[[f32; LANES]; LANES]>() };
        let mut examples = *block;
        examples[size.examples..].fill([0.0; LANES]);
        l.transpose(examples.each_ref(), block);
    }
}
