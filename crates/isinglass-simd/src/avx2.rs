//! AVX2 with FMA.

use core::arch::x86_64::*;

use crate::lanes::sealed::Sealed;
use crate::{Avx512, Kernel, LANES, Lanes};

/// Two registers of AVX2. Proves AVX2 and FMA.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Avx2(());

impl Avx2 {
    /// The token, if the machine has the instructions.
    pub fn detect() -> Option<Self> {
        has!("avx2", "fma").then_some(Self(()))
    }

    /// Compiles a kernel for AVX2, and runs it.
    pub fn run<K: Kernel>(self, kernel: K) -> K::Output {
        #[target_feature(enable = "avx2,fma")]
        fn compiled<K: Kernel>(lanes: Avx2, kernel: K) -> K::Output {
            kernel.run::<Avx2, 6, 1>(lanes)
        }
        // SAFETY: a token exists only where its instructions were detected.
        unsafe { compiled(self, kernel) }
    }
}

impl From<Avx512> for Avx2 {
    fn from(_: Avx512) -> Self {
        Self(())
    }
}

/// An instruction for each half of 16 lanes.
macro_rules! halves {
    ($instruction:expr; $($argument:ident),+) => { [$instruction($($argument[0]),+), $instruction($($argument[1]),+)] };
}

type Floats = [__m256; 2];
type Ints = [__m256i; 2];

impl Sealed for Avx2 {}

impl Lanes for Avx2 {
    type Floats = Floats;
    type Ints = Ints;
    type Mask = Floats;

    #[inline(always)]
    unsafe fn load(self, from: *const f32) -> Floats {
        // SAFETY: the token proves the instructions, the caller the memory.
        unsafe { [_mm256_loadu_ps(from), _mm256_loadu_ps(from.add(8))] }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32, x: Floats) {
        // SAFETY: the token proves the instructions, the caller the memory.
        unsafe {
            _mm256_storeu_ps(to, x[0]);
            _mm256_storeu_ps(to.add(8), x[1]);
        }
    }
    /// Inline assembly, because `_mm_prefetch` emits `prefetchw` only in builds whose target has it. Processors without it (Haswell) treat it as a no-op.
    #[inline(always)]
    fn prefetch_to_write(self, at: *const f32) {
        // SAFETY: a hint or a no-op, which changes nothing that a program sees and never faults.
        unsafe { core::arch::asm!("prefetchw [{}]", in(reg) at, options(nostack, readonly, preserves_flags)) };
    }
    #[inline(always)]
    fn transpose(self, from: [&[f32; LANES]; LANES], to: &mut [[f32; LANES]; LANES]) {
        for (half, rows) in from.as_chunks::<8>().0.iter().enumerate() {
            for (quarter, columns) in to.as_chunks_mut::<4>().0.iter_mut().enumerate() {
                let part = |row: usize| rows[row].as_chunks::<4>().0[quarter].as_ptr();
                let [first, second, third, fourth] = columns.each_mut().map(|column| column.as_chunks_mut::<8>().0[half].as_mut_ptr());
                // SAFETY: the token proves the instructions; arrays of 4 and of 8 numbers.
                unsafe {
                    // A row in the low half of a register, the fourth after it in the high half.
                    let (a, b) = (_mm256_loadu2_m128(part(4), part(0)), _mm256_loadu2_m128(part(5), part(1)));
                    let (c, d) = (_mm256_loadu2_m128(part(6), part(2)), _mm256_loadu2_m128(part(7), part(3)));
                    let (ab, cd) = (_mm256_unpacklo_ps(a, b), _mm256_unpacklo_ps(c, d));
                    _mm256_storeu_ps(first, _mm256_shuffle_ps::<0x44>(ab, cd));
                    _mm256_storeu_ps(second, _mm256_shuffle_ps::<0xee>(ab, cd));
                    let (ab, cd) = (_mm256_unpackhi_ps(a, b), _mm256_unpackhi_ps(c, d));
                    _mm256_storeu_ps(third, _mm256_shuffle_ps::<0x44>(ab, cd));
                    _mm256_storeu_ps(fourth, _mm256_shuffle_ps::<0xee>(ab, cd));
                }
            }
        }
    }
    #[inline(always)]
    fn at_most(self, a: &[i32; LANES], b: &[i32; LANES]) -> u16 {
        let mut above = 0;
        for (half, (a, b)) in a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0).enumerate() {
            // SAFETY: the token proves the instructions; arrays of 8 integers.
            let mask = unsafe {
                let mask = _mm256_cmpgt_epi32(_mm256_loadu_si256(a.as_ptr().cast()), _mm256_loadu_si256(b.as_ptr().cast()));
                _mm256_movemask_ps(_mm256_castsi256_ps(mask))
            };
            above |= (mask as u16) << (8 * half);
        }
        !above
    }

    instructions! {
        fn splat(x: f32) -> Floats { [_mm256_set1_ps(x); 2] }
        fn prefetch(at: *const f32) -> () { _mm_prefetch::<_MM_HINT_T0>(at.cast()) }
        fn add(a: Floats, b: Floats) -> Floats { halves!(_mm256_add_ps; a, b) }
        fn sub(a: Floats, b: Floats) -> Floats { halves!(_mm256_sub_ps; a, b) }
        fn mul(a: Floats, b: Floats) -> Floats { halves!(_mm256_mul_ps; a, b) }
        fn div(a: Floats, b: Floats) -> Floats { halves!(_mm256_div_ps; a, b) }
        fn fma(a: Floats, b: Floats, c: Floats) -> Floats { halves!(_mm256_fmadd_ps; a, b, c) }
        fn sqrt(a: Floats) -> Floats { halves!(_mm256_sqrt_ps; a) }
        fn min(a: Floats, b: Floats) -> Floats { halves!(_mm256_min_ps; a, b) }
        fn max(a: Floats, b: Floats) -> Floats { halves!(_mm256_max_ps; a, b) }
        fn less(a: Floats, b: Floats) -> Floats { halves!(_mm256_cmp_ps::<_CMP_LT_OQ>; a, b) }
        fn select(mask: Floats, yes: Floats, no: Floats) -> Floats { halves!(_mm256_blendv_ps; no, yes, mask) }
        fn bits(x: Floats) -> Ints { halves!(_mm256_castps_si256; x) }
        fn from_bits(x: Ints) -> Floats { halves!(_mm256_castsi256_ps; x) }
        fn int_splat(x: u32) -> Ints { [_mm256_set1_epi32(x.cast_signed()); 2] }
        fn int_count() -> Ints { [_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_setr_epi32(8, 9, 10, 11, 12, 13, 14, 15)] }
        fn int_add(a: Ints, b: Ints) -> Ints { halves!(_mm256_add_epi32; a, b) }
        fn int_mul(a: Ints, b: Ints) -> Ints { halves!(_mm256_mullo_epi32; a, b) }
        fn int_and(a: Ints, b: Ints) -> Ints { halves!(_mm256_and_si256; a, b) }
        fn int_or(a: Ints, b: Ints) -> Ints { halves!(_mm256_or_si256; a, b) }
        fn int_xor(a: Ints, b: Ints) -> Ints { halves!(_mm256_xor_si256; a, b) }
        fn shift_left<const BITS: i32>(a: Ints) -> Ints { halves!(_mm256_slli_epi32::<BITS>; a) }
        fn shift_right<const BITS: i32>(a: Ints) -> Ints { halves!(_mm256_srli_epi32::<BITS>; a) }
    }
}
