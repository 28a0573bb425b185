//! What a vector of 16 numbers can do.
//!
//! Every set does the same operations in the same order, so all sets with fused multiply-add give the same bits.

/// Lanes of a vector.
pub const LANES: usize = 16;

/// Vectors of 16 floats and of 16 unsigned integers.
///
/// An implementation is a token that proves that the machine has the instructions. Its methods become those instructions only where they are inlined into a function compiled for them,
/// which is what [`Isa::run`](crate::Isa::run) provides; elsewhere they are correct but slow.
pub trait Lanes: Copy + sealed::Sealed {
    /// 16 floats.
    type Floats: Copy;
    /// 16 unsigned integers.
    type Ints: Copy;
    /// 16 truth values.
    type Mask: Copy;

    /// The same number in all lanes.
    fn splat(self, x: f32) -> Self::Floats;
    /// Reads 16 floats at any alignment.
    ///
    /// # Safety
    ///
    /// 16 floats are readable at `from`.
    unsafe fn load(self, from: *const f32) -> Self::Floats;
    /// Writes 16 floats at any alignment.
    ///
    /// # Safety
    ///
    /// 16 floats are writable at `to`.
    unsafe fn store(self, to: *mut f32, x: Self::Floats);
    /// Reads an array.
    #[inline(always)]
    fn read(self, from: &[f32; LANES]) -> Self::Floats {
        // SAFETY: an array of 16 floats.
        unsafe { self.load(from.as_ptr()) }
    }
    /// Writes an array.
    #[inline(always)]
    fn write(self, to: &mut [f32; LANES], x: Self::Floats) {
        // SAFETY: an array of 16 floats.
        unsafe { self.store(to.as_mut_ptr(), x) }
    }
    /// Asks for a cache line that will be read soon. The address need not be valid.
    fn prefetch(self, at: *const f32);
    /// Asks for a cache line that will be written soon, which other cores then give up. The address need not be valid.
    ///
    /// Without it, a store to a line that another core has read waits until that core answers, about a quarter of a microsecond between distant cores of a server.
    fn prefetch_to_write(self, at: *const f32);

    /// `a + b`.
    fn add(self, a: Self::Floats, b: Self::Floats) -> Self::Floats;
    /// `a − b`.
    fn sub(self, a: Self::Floats, b: Self::Floats) -> Self::Floats;
    /// `a·b`.
    fn mul(self, a: Self::Floats, b: Self::Floats) -> Self::Floats;
    /// `a/b`.
    fn div(self, a: Self::Floats, b: Self::Floats) -> Self::Floats;
    /// `a·b + c`, rounded once except on `scalar`.
    fn fma(self, a: Self::Floats, b: Self::Floats, c: Self::Floats) -> Self::Floats;
    /// `√a`.
    fn sqrt(self, a: Self::Floats) -> Self::Floats;
    /// The smaller of two numbers; `b` where `a` is NaN. Undefined where `b` is NaN.
    fn min(self, a: Self::Floats, b: Self::Floats) -> Self::Floats;
    /// The larger of two numbers; `b` where `a` is NaN. Undefined where `b` is NaN.
    fn max(self, a: Self::Floats, b: Self::Floats) -> Self::Floats;
    /// `a < b`.
    fn less(self, a: Self::Floats, b: Self::Floats) -> Self::Mask;
    /// `yes` where the mask holds, `no` elsewhere.
    fn select(self, mask: Self::Mask, yes: Self::Floats, no: Self::Floats) -> Self::Floats;

    /// The bits of floats.
    fn bits(self, x: Self::Floats) -> Self::Ints;
    /// The floats with the given bits.
    #[expect(clippy::wrong_self_convention, reason = "`self` is the token")]
    fn from_bits(self, x: Self::Ints) -> Self::Floats;
    /// The same integer in all lanes.
    fn int_splat(self, x: u32) -> Self::Ints;
    /// `0, 1, …, 15`.
    fn int_count(self) -> Self::Ints;
    /// `a + b`, modulo 2³².
    fn int_add(self, a: Self::Ints, b: Self::Ints) -> Self::Ints;
    /// `a·b`, modulo 2³².
    fn int_mul(self, a: Self::Ints, b: Self::Ints) -> Self::Ints;
    /// Bitwise and.
    fn int_and(self, a: Self::Ints, b: Self::Ints) -> Self::Ints;
    /// Bitwise or.
    fn int_or(self, a: Self::Ints, b: Self::Ints) -> Self::Ints;
    /// Bitwise exclusive or.
    fn int_xor(self, a: Self::Ints, b: Self::Ints) -> Self::Ints;
    /// Shifts in zeros from the right.
    fn shift_left<const BITS: i32>(self, a: Self::Ints) -> Self::Ints;
    /// Shifts in zeros from the left.
    fn shift_right<const BITS: i32>(self, a: Self::Ints) -> Self::Ints;

    /// Rows become columns.
    #[inline(always)]
    fn transpose(self, from: [&[f32; LANES]; LANES], to: &mut [[f32; LANES]; LANES]) {
        for (row, from) in from.into_iter().enumerate() {
            for (to, &x) in to.iter_mut().zip(from) {
                to[row] = x;
            }
        }
    }

    /// A bit for every lane with `a ≤ b`, the first lane's lowest.
    fn at_most(self, a: &[i32; LANES], b: &[i32; LANES]) -> u16;
}

/// Code that is written once and compiled for every instruction set.
pub trait Kernel {
    /// What it returns.
    type Output;

    /// Does the work. Implementations and all they call with vectors must be `#[inline(always)]` and use no closures, which would not be compiled for the instruction set.
    ///
    /// `ROWS` × `VECTORS` is the largest tile of sums that the registers hold beside what a product needs.
    fn run<L: Lanes, const ROWS: usize, const VECTORS: usize>(self, lanes: L) -> Self::Output;
}

/// Unsafe code relies on the implementations, so there are only ours.
pub(crate) mod sealed {
    pub trait Sealed {}
}
