//! The product that all kernels use, except for a last panel of [few examples](super::narrow): a tile of `MR` rows times `NP` panels of 16 columns, kept in registers.
//!
//! A *panel* is a matrix of 16 columns, stored row by row: `b[k·16 + lane]`. The other factor is read one number at a time and broadcast, so it needs no
//! special layout: any two strides work. Every element of the result is the sum over `k` in order, one fused multiply-add each: neither the size of the
//! tiles and blocks, nor which thread computes a tile, changes a bit of it.

use isinglass_simd::{LANES, Lanes};

use super::ahead::{Ahead, TERMS_PER_REQUEST};

/// A tile of a result.
pub type Tile<L, const MR: usize, const NP: usize> = [[<L as Lanes>::Floats; NP]; MR];

/// The factor that is broadcast: element `(row, k)` is at `start + row·row_stride + k·k_stride`.
#[derive(Clone, Copy)]
pub struct Broadcast {
    pub start: *const f32,
    pub row_stride: usize,
    pub k_stride: usize,
}

/// The factor in panels: panel `p` begins at `start + p·panel_stride`.
#[derive(Clone, Copy)]
pub struct Panels {
    pub start: *const f32,
    pub panel_stride: usize,
}

/// The result of a product: element `(row, lane)` of panel `p` is at `start + (p·rows + row)·16 + lane`.
#[derive(Clone, Copy)]
pub struct Sums {
    pub start: *mut f32,
    pub rows: usize,
    /// Whether the product is added to the existing values.
    pub add: bool,
}

/// How much a block of a product is.
#[derive(Clone, Copy)]
pub struct Size {
    pub rows: usize,
    pub panels: usize,
    /// Terms of every sum.
    pub depth: usize,
}

impl Size {
    /// How often [`block`] asks for memory that will be needed soon.
    #[inline(always)]
    pub fn requests<const MR: usize, const NP: usize>(self) -> usize {
        self.rows.div_ceil(MR) * (self.panels / NP + self.panels % NP) * self.depth.div_ceil(TERMS_PER_REQUEST)
    }
}

/// A tile of zeros.
#[inline(always)]
pub fn zeros<L: Lanes, const MR: usize, const NP: usize>(l: L) -> Tile<L, MR, NP> {
    [[l.splat(0.0); NP]; MR]
}

/// `tile + a·b` over `k` in `0..depth`. The tile is passed and returned by value, so that it stays in registers.
///
/// # Safety
///
/// `a` is readable for `MR` rows and `b` for `NP` panels, both to `depth`.
#[inline(always)]
pub unsafe fn accumulate<L: Lanes, const MR: usize, const NP: usize>(
    l: L,
    mut tile: Tile<L, MR, NP>,
    depth: usize,
    a: Broadcast,
    b: Panels,
) -> Tile<L, MR, NP> {
    // SAFETY: the caller upholds the contract for every `k` below `depth`.
    unsafe {
        let mut a_k = a.start;
        let mut b_k = b.start;
        for _ in 0..depth / 4 {
            one::<L, MR, NP>(l, &mut tile, a, b, a_k, b_k);
            one::<L, MR, NP>(l, &mut tile, a, b, a_k.add(a.k_stride), b_k.add(LANES));
            one::<L, MR, NP>(l, &mut tile, a, b, a_k.add(2 * a.k_stride), b_k.add(2 * LANES));
            one::<L, MR, NP>(l, &mut tile, a, b, a_k.add(3 * a.k_stride), b_k.add(3 * LANES));
            a_k = a_k.add(4 * a.k_stride);
            b_k = b_k.add(4 * LANES);
        }
        for _ in 0..depth % 4 {
            one::<L, MR, NP>(l, &mut tile, a, b, a_k, b_k);
            a_k = a_k.add(a.k_stride);
            b_k = b_k.add(LANES);
        }
    }
    tile
}

/// One `k` of the sum. It uses no closures: everything must be inlined into the function that is compiled for the instruction set.
///
/// # Safety
///
/// `a_k` and `b_k` are the places of `k` within factors that are as for [`accumulate`].
#[inline(always)]
unsafe fn one<L: Lanes, const MR: usize, const NP: usize>(
    l: L,
    tile: &mut Tile<L, MR, NP>,
    a: Broadcast,
    b: Panels,
    a_k: *const f32,
    b_k: *const f32,
) {
    // SAFETY: the caller upholds the contract.
    unsafe {
        let mut columns = [l.splat(0.0); NP];
        for (p, column) in columns.iter_mut().enumerate() {
            *column = l.load(b_k.add(p * b.panel_stride));
        }
        for (row, sums) in tile.iter_mut().enumerate() {
            let factor = l.splat(*a_k.add(row * a.row_stride));
            for (sum, column) in sums.iter_mut().zip(columns) {
                *sum = l.fma(factor, column, *sum);
            }
        }
    }
}

/// A product of a block of rows with all panels.
///
/// # Safety
///
/// As for [`accumulate`], with the rows rounded up to a multiple of `MR`; `c` is writable for that many rows of `panels` panels.
#[inline(always)]
pub unsafe fn block<L: Lanes, const MR: usize, const NP: usize>(l: L, size: Size, a: Broadcast, b: Panels, c: Sums, ahead: &mut Ahead) {
    let Size { rows, panels, depth } = size;
    // SAFETY: the caller upholds the contract; tiles stay within the rounded rows and the panels.
    unsafe {
        let mut p = 0;
        while p < panels {
            let b = Panels { start: b.start.add(p * b.panel_stride), ..b };
            let c = Sums { start: c.start.add(p * c.rows * LANES), ..c };
            if p + NP <= panels {
                column_of_tiles::<L, MR, NP>(l, rows, depth, a, b, c, ahead);
                p += NP;
            } else {
                column_of_tiles::<L, MR, 1>(l, rows, depth, a, b, c, ahead);
                p += 1;
            }
        }
    }
}

/// # Safety
///
/// As for [`block`].
#[inline(always)]
unsafe fn column_of_tiles<L: Lanes, const MR: usize, const NP: usize>(
    l: L,
    rows: usize,
    depth: usize,
    a: Broadcast,
    b: Panels,
    c: Sums,
    ahead: &mut Ahead,
) {
    // SAFETY: the caller upholds the contract.
    unsafe {
        for row in (0..rows).step_by(MR) {
            let start = c.start.add(row * LANES);
            let mut tile = zeros::<L, MR, NP>(l);
            if c.add {
                for (i, sums) in tile.iter_mut().enumerate() {
                    for (p, sum) in sums.iter_mut().enumerate() {
                        *sum = l.load(start.add((p * c.rows + i) * LANES));
                    }
                }
            }
            let mut k = 0;
            while k < depth {
                let terms = TERMS_PER_REQUEST.min(depth - k);
                let a = Broadcast { start: a.start.add(row * a.row_stride + k * a.k_stride), ..a };
                ahead.ask(l);
                tile = accumulate::<L, MR, NP>(l, tile, terms, a, Panels { start: b.start.add(k * LANES), ..b });
                k += terms;
            }
            for (i, sums) in tile.iter().enumerate() {
                for (p, sum) in sums.iter().enumerate() {
                    l.store(start.add((p * c.rows + i) * LANES), *sum);
                }
            }
        }
    }
}
