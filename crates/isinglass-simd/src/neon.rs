//! NEON.

#![allow(unused_unsafe, reason = "its intrinsics are safe where NEON belongs to the target, as it mostly does")]

use core::arch::aarch64::*;

use crate::lanes::sealed::Sealed;
use crate::{Kernel, LANES, Lanes};

/// Four registers of NEON. Proves NEON.
///
/// Of a NaN and a number, its `vminnmq` and `vmaxnmq` give the number, as the other sets do where the number is the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Neon(());

impl Neon {
    /// The token, if the machine has the instructions.
    pub fn detect() -> Option<Self> {
        has!("neon").then_some(Self(()))
    }

    /// Compiles a kernel for NEON, and runs it.
    pub fn run<K: Kernel>(self, kernel: K) -> K::Output {
        #[target_feature(enable = "neon")]
        fn compiled<K: Kernel>(lanes: Neon, kernel: K) -> K::Output {
            kernel.run::<Neon, 6, 1>(lanes)
        }
        // SAFETY: a token exists only where its instructions were detected.
        unsafe { compiled(self, kernel) }
    }
}

/// An instruction for each quarter of 16 lanes.
macro_rules! quarters {
    ($instruction:expr; $($argument:ident),+) => {
        [$instruction($($argument[0]),+), $instruction($($argument[1]),+), $instruction($($argument[2]),+), $instruction($($argument[3]),+)]
    };
}

type Floats = [float32x4_t; 4];
type Ints = [uint32x4_t; 4];

impl Sealed for Neon {}

impl Lanes for Neon {
    type Floats = Floats;
    type Ints = Ints;
    type Mask = Ints;

    #[inline(always)]
    unsafe fn load(self, from: *const f32) -> Floats {
        // SAFETY: the token proves the instructions, the caller the memory.
        unsafe { [vld1q_f32(from), vld1q_f32(from.add(4)), vld1q_f32(from.add(8)), vld1q_f32(from.add(12))] }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32, x: Floats) {
        // SAFETY: the token proves the instructions, the caller the memory.
        unsafe {
            vst1q_f32(to, x[0]);
            vst1q_f32(to.add(4), x[1]);
            vst1q_f32(to.add(8), x[2]);
            vst1q_f32(to.add(12), x[3]);
        }
    }
    #[inline(always)]
    fn prefetch(self, _: *const f32) {}
    #[inline(always)]
    fn prefetch_to_write(self, _: *const f32) {}
    #[inline(always)]
    fn int_count(self) -> Ints {
        // SAFETY: the token proves the instructions; an array of four integers.
        unsafe {
            let first = vld1q_u32([0u32, 1, 2, 3].as_ptr());
            [first, vaddq_u32(first, vdupq_n_u32(4)), vaddq_u32(first, vdupq_n_u32(8)), vaddq_u32(first, vdupq_n_u32(12))]
        }
    }
    #[inline(always)]
    fn at_most(self, a: &[i32; LANES], b: &[i32; LANES]) -> u16 {
        let mut mask = 0;
        for (quarter, (a, b)) in a.as_chunks::<4>().0.iter().zip(b.as_chunks::<4>().0).enumerate() {
            // SAFETY: the token proves the instructions; arrays of four integers.
            let bits = unsafe {
                let chosen = vcleq_s32(vld1q_s32(a.as_ptr()), vld1q_s32(b.as_ptr()));
                vaddvq_u32(vandq_u32(chosen, vld1q_u32([1u32, 2, 4, 8].as_ptr())))
            };
            mask |= (bits as u16) << (4 * quarter);
        }
        mask
    }

    instructions! {
        fn splat(x: f32) -> Floats { [vdupq_n_f32(x); 4] }
        fn add(a: Floats, b: Floats) -> Floats { quarters!(vaddq_f32; a, b) }
        fn sub(a: Floats, b: Floats) -> Floats { quarters!(vsubq_f32; a, b) }
        fn mul(a: Floats, b: Floats) -> Floats { quarters!(vmulq_f32; a, b) }
        fn div(a: Floats, b: Floats) -> Floats { quarters!(vdivq_f32; a, b) }
        fn fma(a: Floats, b: Floats, c: Floats) -> Floats { quarters!(vfmaq_f32; c, a, b) }
        fn sqrt(a: Floats) -> Floats { quarters!(vsqrtq_f32; a) }
        fn min(a: Floats, b: Floats) -> Floats { quarters!(vminnmq_f32; a, b) }
        fn max(a: Floats, b: Floats) -> Floats { quarters!(vmaxnmq_f32; a, b) }
        fn less(a: Floats, b: Floats) -> Ints { quarters!(vcltq_f32; a, b) }
        fn select(mask: Ints, yes: Floats, no: Floats) -> Floats { quarters!(vbslq_f32; mask, yes, no) }
        fn bits(x: Floats) -> Ints { quarters!(vreinterpretq_u32_f32; x) }
        fn from_bits(x: Ints) -> Floats { quarters!(vreinterpretq_f32_u32; x) }
        fn int_splat(x: u32) -> Ints { [vdupq_n_u32(x); 4] }
        fn int_add(a: Ints, b: Ints) -> Ints { quarters!(vaddq_u32; a, b) }
        fn int_mul(a: Ints, b: Ints) -> Ints { quarters!(vmulq_u32; a, b) }
        fn int_and(a: Ints, b: Ints) -> Ints { quarters!(vandq_u32; a, b) }
        fn int_or(a: Ints, b: Ints) -> Ints { quarters!(vorrq_u32; a, b) }
        fn int_xor(a: Ints, b: Ints) -> Ints { quarters!(veorq_u32; a, b) }
        fn shift_left<const BITS: i32>(a: Ints) -> Ints { quarters!(vshlq_n_u32::<BITS>; a) }
        fn shift_right<const BITS: i32>(a: Ints) -> Ints { quarters!(vshrq_n_u32::<BITS>; a) }
    }
}
