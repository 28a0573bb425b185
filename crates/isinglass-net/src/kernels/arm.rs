//! NEON, which every 64-bit ARM machine has.

#![allow(unused_unsafe, reason = "its intrinsics are safe where NEON belongs to the target, as it mostly does")]

use std::arch::aarch64::*;

use super::lanes::Lanes;

/// Four registers of NEON.
///
/// Of a NaN and a number, its `vminnmq` and `vmaxnmq` give the number, as the other paths do where the number is the second.
#[derive(Clone, Copy)]
pub struct Neon;

impl Lanes for Neon {
    type Floats = [float32x4_t; 4];
    type Ints = [uint32x4_t; 4];
    type Mask = [uint32x4_t; 4];

    #[inline(always)]
    unsafe fn splat(x: f32) -> Self::Floats {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { [vdupq_n_f32(x); 4] }
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self::Floats {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { [vld1q_f32(from), vld1q_f32(from.add(4)), vld1q_f32(from.add(8)), vld1q_f32(from.add(12))] }
    }
    #[inline(always)]
    unsafe fn store(to: *mut f32, x: Self::Floats) {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe {
            vst1q_f32(to, x[0]);
            vst1q_f32(to.add(4), x[1]);
            vst1q_f32(to.add(8), x[2]);
            vst1q_f32(to.add(12), x[3]);
        }
    }
    #[inline(always)]
    unsafe fn prefetch(_: *const f32) {}
    #[inline(always)]
    unsafe fn add(a: Self::Floats, b: Self::Floats) -> Self::Floats {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { [vaddq_f32(a[0], b[0]), vaddq_f32(a[1], b[1]), vaddq_f32(a[2], b[2]), vaddq_f32(a[3], b[3])] }
    }
    #[inline(always)]
    unsafe fn sub(a: Self::Floats, b: Self::Floats) -> Self::Floats {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { [vsubq_f32(a[0], b[0]), vsubq_f32(a[1], b[1]), vsubq_f32(a[2], b[2]), vsubq_f32(a[3], b[3])] }
    }
    #[inline(always)]
    unsafe fn mul(a: Self::Floats, b: Self::Floats) -> Self::Floats {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { [vmulq_f32(a[0], b[0]), vmulq_f32(a[1], b[1]), vmulq_f32(a[2], b[2]), vmulq_f32(a[3], b[3])] }
    }
    #[inline(always)]
    unsafe fn div(a: Self::Floats, b: Self::Floats) -> Self::Floats {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { [vdivq_f32(a[0], b[0]), vdivq_f32(a[1], b[1]), vdivq_f32(a[2], b[2]), vdivq_f32(a[3], b[3])] }
    }
    #[inline(always)]
    unsafe fn fma(a: Self::Floats, b: Self::Floats, c: Self::Floats) -> Self::Floats {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { [vfmaq_f32(c[0], a[0], b[0]), vfmaq_f32(c[1], a[1], b[1]), vfmaq_f32(c[2], a[2], b[2]), vfmaq_f32(c[3], a[3], b[3])] }
    }
    #[inline(always)]
    unsafe fn sqrt(a: Self::Floats) -> Self::Floats {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { [vsqrtq_f32(a[0]), vsqrtq_f32(a[1]), vsqrtq_f32(a[2]), vsqrtq_f32(a[3])] }
    }
    #[inline(always)]
    unsafe fn min(a: Self::Floats, b: Self::Floats) -> Self::Floats {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { [vminnmq_f32(a[0], b[0]), vminnmq_f32(a[1], b[1]), vminnmq_f32(a[2], b[2]), vminnmq_f32(a[3], b[3])] }
    }
    #[inline(always)]
    unsafe fn max(a: Self::Floats, b: Self::Floats) -> Self::Floats {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { [vmaxnmq_f32(a[0], b[0]), vmaxnmq_f32(a[1], b[1]), vmaxnmq_f32(a[2], b[2]), vmaxnmq_f32(a[3], b[3])] }
    }
    #[inline(always)]
    unsafe fn less(a: Self::Floats, b: Self::Floats) -> Self::Mask {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { [vcltq_f32(a[0], b[0]), vcltq_f32(a[1], b[1]), vcltq_f32(a[2], b[2]), vcltq_f32(a[3], b[3])] }
    }
    #[inline(always)]
    unsafe fn select(mask: Self::Mask, yes: Self::Floats, no: Self::Floats) -> Self::Floats {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe {
            [
                vbslq_f32(mask[0], yes[0], no[0]),
                vbslq_f32(mask[1], yes[1], no[1]),
                vbslq_f32(mask[2], yes[2], no[2]),
                vbslq_f32(mask[3], yes[3], no[3]),
            ]
        }
    }
    #[inline(always)]
    unsafe fn bits(x: Self::Floats) -> Self::Ints {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { [vreinterpretq_u32_f32(x[0]), vreinterpretq_u32_f32(x[1]), vreinterpretq_u32_f32(x[2]), vreinterpretq_u32_f32(x[3])] }
    }
    #[inline(always)]
    unsafe fn from_bits(x: Self::Ints) -> Self::Floats {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { [vreinterpretq_f32_u32(x[0]), vreinterpretq_f32_u32(x[1]), vreinterpretq_f32_u32(x[2]), vreinterpretq_f32_u32(x[3])] }
    }
    #[inline(always)]
    unsafe fn int_splat(x: u32) -> Self::Ints {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { [vdupq_n_u32(x); 4] }
    }
    #[inline(always)]
    unsafe fn int_count() -> Self::Ints {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe {
            let first = vld1q_u32([0u32, 1, 2, 3].as_ptr());
            [first, vaddq_u32(first, vdupq_n_u32(4)), vaddq_u32(first, vdupq_n_u32(8)), vaddq_u32(first, vdupq_n_u32(12))]
        }
    }
    #[inline(always)]
    unsafe fn int_add(a: Self::Ints, b: Self::Ints) -> Self::Ints {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { [vaddq_u32(a[0], b[0]), vaddq_u32(a[1], b[1]), vaddq_u32(a[2], b[2]), vaddq_u32(a[3], b[3])] }
    }
    #[inline(always)]
    unsafe fn int_mul(a: Self::Ints, b: Self::Ints) -> Self::Ints {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { [vmulq_u32(a[0], b[0]), vmulq_u32(a[1], b[1]), vmulq_u32(a[2], b[2]), vmulq_u32(a[3], b[3])] }
    }
    #[inline(always)]
    unsafe fn int_and(a: Self::Ints, b: Self::Ints) -> Self::Ints {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { [vandq_u32(a[0], b[0]), vandq_u32(a[1], b[1]), vandq_u32(a[2], b[2]), vandq_u32(a[3], b[3])] }
    }
    #[inline(always)]
    unsafe fn int_or(a: Self::Ints, b: Self::Ints) -> Self::Ints {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { [vorrq_u32(a[0], b[0]), vorrq_u32(a[1], b[1]), vorrq_u32(a[2], b[2]), vorrq_u32(a[3], b[3])] }
    }
    #[inline(always)]
    unsafe fn int_xor(a: Self::Ints, b: Self::Ints) -> Self::Ints {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { [veorq_u32(a[0], b[0]), veorq_u32(a[1], b[1]), veorq_u32(a[2], b[2]), veorq_u32(a[3], b[3])] }
    }
    #[inline(always)]
    unsafe fn shift_left<const BITS: i32>(a: Self::Ints) -> Self::Ints {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { [vshlq_n_u32::<BITS>(a[0]), vshlq_n_u32::<BITS>(a[1]), vshlq_n_u32::<BITS>(a[2]), vshlq_n_u32::<BITS>(a[3])] }
    }
    #[inline(always)]
    unsafe fn shift_right<const BITS: i32>(a: Self::Ints) -> Self::Ints {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { [vshrq_n_u32::<BITS>(a[0]), vshrq_n_u32::<BITS>(a[1]), vshrq_n_u32::<BITS>(a[2]), vshrq_n_u32::<BITS>(a[3])] }
    }
}
