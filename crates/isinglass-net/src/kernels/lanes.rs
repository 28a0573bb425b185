//! Sixteen numbers at a time, on every machine.
//!
//! The kernels are written once, for a vector of 16 floats: one register with AVX-512, two with AVX2, four with NEON, an array otherwise. Every path does
//! the same operations in the same order, so all paths with fused multiply-add give the same bits.

/// Lanes of a vector.
pub const LANES: usize = 16;

/// Vectors of 16 floats and of 16 unsigned integers.
///
/// # Safety
///
/// All functions of an implementation may only be called on a machine that has its instructions; `load` and `store` only with pointers to 16
/// readable or writable floats. Nothing else is asked of the caller.
pub trait Lanes: Copy {
    /// 16 floats.
    type Floats: Copy;
    /// 16 unsigned integers.
    type Ints: Copy;
    /// 16 truth values.
    type Mask: Copy;

    unsafe fn splat(x: f32) -> Self::Floats;
    unsafe fn load(from: *const f32) -> Self::Floats;
    unsafe fn store(to: *mut f32, x: Self::Floats);
    /// Asks for a cache line that will be read and written soon; any address will do.
    unsafe fn prefetch(at: *const f32);
    unsafe fn add(a: Self::Floats, b: Self::Floats) -> Self::Floats;
    unsafe fn sub(a: Self::Floats, b: Self::Floats) -> Self::Floats;
    unsafe fn mul(a: Self::Floats, b: Self::Floats) -> Self::Floats;
    unsafe fn div(a: Self::Floats, b: Self::Floats) -> Self::Floats;
    /// `a·b + c`.
    unsafe fn fma(a: Self::Floats, b: Self::Floats, c: Self::Floats) -> Self::Floats;
    unsafe fn sqrt(a: Self::Floats) -> Self::Floats;
    /// The smaller of two numbers that are no NaN.
    unsafe fn min(a: Self::Floats, b: Self::Floats) -> Self::Floats;
    /// The larger of two numbers that are no NaN.
    unsafe fn max(a: Self::Floats, b: Self::Floats) -> Self::Floats;
    /// `a < b`.
    unsafe fn less(a: Self::Floats, b: Self::Floats) -> Self::Mask;
    /// Where the mask holds `yes`, elsewhere `no`.
    unsafe fn select(mask: Self::Mask, yes: Self::Floats, no: Self::Floats) -> Self::Floats;

    unsafe fn bits(x: Self::Floats) -> Self::Ints;
    unsafe fn from_bits(x: Self::Ints) -> Self::Floats;
    unsafe fn int_splat(x: u32) -> Self::Ints;
    /// `0, 1, …, 15`.
    unsafe fn int_count() -> Self::Ints;
    unsafe fn int_add(a: Self::Ints, b: Self::Ints) -> Self::Ints;
    unsafe fn int_mul(a: Self::Ints, b: Self::Ints) -> Self::Ints;
    unsafe fn int_and(a: Self::Ints, b: Self::Ints) -> Self::Ints;
    unsafe fn int_or(a: Self::Ints, b: Self::Ints) -> Self::Ints;
    unsafe fn int_xor(a: Self::Ints, b: Self::Ints) -> Self::Ints;
    unsafe fn shift_left<const BITS: i32>(a: Self::Ints) -> Self::Ints;
    unsafe fn shift_right<const BITS: i32>(a: Self::Ints) -> Self::Ints;
}
