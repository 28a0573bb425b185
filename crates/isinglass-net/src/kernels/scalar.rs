//! Arrays, for machines without any of the instruction sets, and as the twin that the others are tested against.

use super::lanes::{LANES, Lanes};

/// Plain arrays.
#[derive(Clone, Copy)]
pub struct Scalar;

#[inline(always)]
fn zip<T: Copy, U: Copy>(a: [T; LANES], b: [T; LANES], f: impl Fn(T, T) -> U) -> [U; LANES] {
    std::array::from_fn(|i| f(a[i], b[i]))
}

impl Lanes for Scalar {
    type Floats = [f32; LANES];
    type Ints = [u32; LANES];
    type Mask = [bool; LANES];

    #[inline(always)]
    unsafe fn splat(x: f32) -> Self::Floats {
        [x; LANES]
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self::Floats {
        // SAFETY: the caller passes 16 readable floats.
        unsafe { from.cast::<[f32; LANES]>().read_unaligned() }
    }
    #[inline(always)]
    unsafe fn store(to: *mut f32, x: Self::Floats) {
        // SAFETY: the caller passes 16 writable floats.
        unsafe { to.cast::<[f32; LANES]>().write_unaligned(x) }
    }
    #[inline(always)]
    unsafe fn prefetch(_: *const f32) {}
    #[inline(always)]
    unsafe fn add(a: Self::Floats, b: Self::Floats) -> Self::Floats {
        zip(a, b, |a, b| a + b)
    }
    #[inline(always)]
    unsafe fn sub(a: Self::Floats, b: Self::Floats) -> Self::Floats {
        zip(a, b, |a, b| a - b)
    }
    #[inline(always)]
    unsafe fn mul(a: Self::Floats, b: Self::Floats) -> Self::Floats {
        zip(a, b, |a, b| a * b)
    }
    #[inline(always)]
    unsafe fn div(a: Self::Floats, b: Self::Floats) -> Self::Floats {
        zip(a, b, |a, b| a / b)
    }
    /// Rounded twice: machines without the instruction would need a library call for every product.
    #[inline(always)]
    unsafe fn fma(a: Self::Floats, b: Self::Floats, c: Self::Floats) -> Self::Floats {
        std::array::from_fn(|i| a[i] * b[i] + c[i])
    }
    #[inline(always)]
    unsafe fn sqrt(a: Self::Floats) -> Self::Floats {
        a.map(f32::sqrt)
    }
    #[inline(always)]
    unsafe fn min(a: Self::Floats, b: Self::Floats) -> Self::Floats {
        zip(a, b, |a, b| if a < b { a } else { b })
    }
    #[inline(always)]
    unsafe fn max(a: Self::Floats, b: Self::Floats) -> Self::Floats {
        zip(a, b, |a, b| if a > b { a } else { b })
    }
    #[inline(always)]
    unsafe fn less(a: Self::Floats, b: Self::Floats) -> Self::Mask {
        zip(a, b, |a, b| a < b)
    }
    #[inline(always)]
    unsafe fn select(mask: Self::Mask, yes: Self::Floats, no: Self::Floats) -> Self::Floats {
        std::array::from_fn(|i| if mask[i] { yes[i] } else { no[i] })
    }
    #[inline(always)]
    unsafe fn bits(x: Self::Floats) -> Self::Ints {
        x.map(f32::to_bits)
    }
    #[inline(always)]
    unsafe fn from_bits(x: Self::Ints) -> Self::Floats {
        x.map(f32::from_bits)
    }
    #[inline(always)]
    unsafe fn int_splat(x: u32) -> Self::Ints {
        [x; LANES]
    }
    #[inline(always)]
    unsafe fn int_count() -> Self::Ints {
        std::array::from_fn(|i| i as u32)
    }
    #[inline(always)]
    unsafe fn int_add(a: Self::Ints, b: Self::Ints) -> Self::Ints {
        zip(a, b, u32::wrapping_add)
    }
    #[inline(always)]
    unsafe fn int_mul(a: Self::Ints, b: Self::Ints) -> Self::Ints {
        zip(a, b, u32::wrapping_mul)
    }
    #[inline(always)]
    unsafe fn int_and(a: Self::Ints, b: Self::Ints) -> Self::Ints {
        zip(a, b, |a, b| a & b)
    }
    #[inline(always)]
    unsafe fn int_or(a: Self::Ints, b: Self::Ints) -> Self::Ints {
        zip(a, b, |a, b| a | b)
    }
    #[inline(always)]
    unsafe fn int_xor(a: Self::Ints, b: Self::Ints) -> Self::Ints {
        zip(a, b, |a, b| a ^ b)
    }
    #[inline(always)]
    unsafe fn shift_left<const BITS: i32>(a: Self::Ints) -> Self::Ints {
        a.map(|a| a << BITS)
    }
    #[inline(always)]
    unsafe fn shift_right<const BITS: i32>(a: Self::Ints) -> Self::Ints {
        a.map(|a| a >> BITS)
    }
}
