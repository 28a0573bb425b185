//! Arrays, for machines without any of the instruction sets, and as the twin that the others are tested against.

use crate::lanes::sealed::Sealed;
use crate::{Kernel, LANES, Lanes};

/// Plain arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scalar;

impl Scalar {
    /// Runs a kernel.
    pub fn run<K: Kernel>(self, kernel: K) -> K::Output {
        kernel.run::<Self, 4, 1>(self)
    }
}

#[inline(always)]
fn zip<T: Copy, U: Copy>(a: [T; LANES], b: [T; LANES], f: impl Fn(T, T) -> U) -> [U; LANES] {
    core::array::from_fn(|i| f(a[i], b[i]))
}

#[inline(always)]
fn sqrt(x: f32) -> f32 {
    #[cfg(feature = "std")]
    return x.sqrt();
    #[cfg(not(feature = "std"))]
    libm::sqrtf(x)
}

impl Sealed for Scalar {}

impl Lanes for Scalar {
    type Floats = [f32; LANES];
    type Ints = [u32; LANES];
    type Mask = [bool; LANES];

    #[inline(always)]
    fn splat(self, x: f32) -> Self::Floats {
        [x; LANES]
    }
    #[inline(always)]
    unsafe fn load(self, from: *const f32) -> Self::Floats {
        // SAFETY: the caller passes 16 readable floats.
        unsafe { from.cast::<[f32; LANES]>().read_unaligned() }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32, x: Self::Floats) {
        // SAFETY: the caller passes 16 writable floats.
        unsafe { to.cast::<[f32; LANES]>().write_unaligned(x) }
    }
    #[inline(always)]
    fn prefetch(self, _: *const f32) {}
    #[inline(always)]
    fn prefetch_to_write(self, _: *const f32) {}
    #[inline(always)]
    fn add(self, a: Self::Floats, b: Self::Floats) -> Self::Floats {
        zip(a, b, |a, b| a + b)
    }
    #[inline(always)]
    fn sub(self, a: Self::Floats, b: Self::Floats) -> Self::Floats {
        zip(a, b, |a, b| a - b)
    }
    #[inline(always)]
    fn mul(self, a: Self::Floats, b: Self::Floats) -> Self::Floats {
        zip(a, b, |a, b| a * b)
    }
    #[inline(always)]
    fn div(self, a: Self::Floats, b: Self::Floats) -> Self::Floats {
        zip(a, b, |a, b| a / b)
    }
    /// Rounded twice: machines without the instruction would need a library call for every product.
    #[inline(always)]
    fn fma(self, a: Self::Floats, b: Self::Floats, c: Self::Floats) -> Self::Floats {
        core::array::from_fn(|i| a[i] * b[i] + c[i])
    }
    #[inline(always)]
    fn sqrt(self, a: Self::Floats) -> Self::Floats {
        a.map(sqrt)
    }
    #[inline(always)]
    fn min(self, a: Self::Floats, b: Self::Floats) -> Self::Floats {
        zip(a, b, |a, b| if a < b { a } else { b })
    }
    #[inline(always)]
    fn max(self, a: Self::Floats, b: Self::Floats) -> Self::Floats {
        zip(a, b, |a, b| if a > b { a } else { b })
    }
    #[inline(always)]
    fn less(self, a: Self::Floats, b: Self::Floats) -> Self::Mask {
        zip(a, b, |a, b| a < b)
    }
    #[inline(always)]
    fn select(self, mask: Self::Mask, yes: Self::Floats, no: Self::Floats) -> Self::Floats {
        core::array::from_fn(|i| if mask[i] { yes[i] } else { no[i] })
    }
    #[inline(always)]
    fn bits(self, x: Self::Floats) -> Self::Ints {
        x.map(f32::to_bits)
    }
    #[inline(always)]
    fn from_bits(self, x: Self::Ints) -> Self::Floats {
        x.map(f32::from_bits)
    }
    #[inline(always)]
    fn int_splat(self, x: u32) -> Self::Ints {
        [x; LANES]
    }
    #[inline(always)]
    fn int_count(self) -> Self::Ints {
        core::array::from_fn(|i| i as u32)
    }
    #[inline(always)]
    fn int_add(self, a: Self::Ints, b: Self::Ints) -> Self::Ints {
        zip(a, b, u32::wrapping_add)
    }
    #[inline(always)]
    fn int_mul(self, a: Self::Ints, b: Self::Ints) -> Self::Ints {
        zip(a, b, u32::wrapping_mul)
    }
    #[inline(always)]
    fn int_and(self, a: Self::Ints, b: Self::Ints) -> Self::Ints {
        zip(a, b, |a, b| a & b)
    }
    #[inline(always)]
    fn int_or(self, a: Self::Ints, b: Self::Ints) -> Self::Ints {
        zip(a, b, |a, b| a | b)
    }
    #[inline(always)]
    fn int_xor(self, a: Self::Ints, b: Self::Ints) -> Self::Ints {
        zip(a, b, |a, b| a ^ b)
    }
    #[inline(always)]
    fn shift_left<const BITS: i32>(self, a: Self::Ints) -> Self::Ints {
        a.map(|a| a << BITS)
    }
    #[inline(always)]
    fn shift_right<const BITS: i32>(self, a: Self::Ints) -> Self::Ints {
        a.map(|a| a >> BITS)
    }
    #[inline(always)]
    fn at_most(self, a: &[i32; LANES], b: &[i32; LANES]) -> u16 {
        a.iter().zip(b).enumerate().fold(0, |mask, (lane, (a, b))| mask | u16::from(a <= b) << lane)
    }
}
