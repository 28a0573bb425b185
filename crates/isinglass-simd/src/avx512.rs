//! AVX-512.

use core::arch::x86_64::*;

use crate::lanes::sealed::Sealed;
use crate::{Avx2, Kernel, LANES, Lanes};

/// One register of AVX-512. Proves F, BW, DQ and VL, and all that [`Avx2`] proves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Avx512(());

impl Avx512 {
    /// The token, if the machine has the instructions.
    pub fn detect() -> Option<Self> {
        (Avx2::detect().is_some() && has!("avx512f", "avx512bw", "avx512dq", "avx512vl")).then_some(Self(()))
    }

    /// Compiles a kernel for AVX-512, and runs it.
    pub fn run<K: Kernel>(self, kernel: K) -> K::Output {
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
        fn compiled<K: Kernel>(lanes: Avx512, kernel: K) -> K::Output {
            kernel.run::<Avx512, 8, 2>(lanes)
        }
        // SAFETY: a token exists only where its instructions were detected.
        unsafe { compiled(self, kernel) }
    }
}

/// What Ice Lake and Zen 4 added to [`Avx512`]. Proves VBMI, VNNI and VPOPCNTDQ as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IceLake(Avx512);

impl IceLake {
    /// The token, if the machine has the instructions.
    pub fn detect() -> Option<Self> {
        Avx512::detect().filter(|_| has!("avx512vbmi", "avx512vnni", "avx512vpopcntdq")).map(Self)
    }

    /// The token of the instructions that it extends.
    pub fn avx512(self) -> Avx512 {
        self.0
    }
}

impl Sealed for Avx512 {}

impl Lanes for Avx512 {
    type Floats = __m512;
    type Ints = __m512i;
    type Mask = __mmask16;

    #[inline(always)]
    unsafe fn load(self, from: *const f32) -> __m512 {
        // SAFETY: the token proves the instructions, the caller the memory.
        unsafe { _mm512_loadu_ps(from) }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32, x: __m512) {
        // SAFETY: the token proves the instructions, the caller the memory.
        unsafe { _mm512_storeu_ps(to, x) }
    }
    #[inline(always)]
    fn prefetch_to_write(self, at: *const f32) {
        Avx2::from(self).prefetch_to_write(at);
    }
    #[inline(always)]
    fn transpose(self, from: [&[f32; LANES]; LANES], to: &mut [[f32; LANES]; LANES]) {
        // SAFETY: the token proves the instructions; arrays of 16 numbers.
        unsafe {
            // Four rows become vectors whose `i`th quarter has those rows' column `4i + j`, for `j` from 0 to 3.
            let mut fours = [[_mm512_setzero_ps(); 4]; 4];
            for (first, four) in (0..LANES).step_by(4).zip(&mut fours) {
                let rows = &from[first..first + 4];
                let (a, b) = (_mm512_loadu_ps(rows[0].as_ptr()), _mm512_loadu_ps(rows[1].as_ptr()));
                let (c, d) = (_mm512_loadu_ps(rows[2].as_ptr()), _mm512_loadu_ps(rows[3].as_ptr()));
                let (ab, cd) = (_mm512_castps_pd(_mm512_unpacklo_ps(a, b)), _mm512_castps_pd(_mm512_unpacklo_ps(c, d)));
                four[0] = _mm512_castpd_ps(_mm512_unpacklo_pd(ab, cd));
                four[1] = _mm512_castpd_ps(_mm512_unpackhi_pd(ab, cd));
                let (ab, cd) = (_mm512_castps_pd(_mm512_unpackhi_ps(a, b)), _mm512_castps_pd(_mm512_unpackhi_ps(c, d)));
                four[2] = _mm512_castpd_ps(_mm512_unpacklo_pd(ab, cd));
                four[3] = _mm512_castpd_ps(_mm512_unpackhi_pd(ab, cd));
            }
            // The quarters of the same column come together.
            for j in 0..4 {
                let [a, b, c, d] = [fours[0][j], fours[1][j], fours[2][j], fours[3][j]];
                let (ab, cd) = (_mm512_shuffle_f32x4::<0x44>(a, b), _mm512_shuffle_f32x4::<0x44>(c, d));
                _mm512_storeu_ps(to[j].as_mut_ptr(), _mm512_shuffle_f32x4::<0x88>(ab, cd));
                _mm512_storeu_ps(to[4 + j].as_mut_ptr(), _mm512_shuffle_f32x4::<0xdd>(ab, cd));
                let (ab, cd) = (_mm512_shuffle_f32x4::<0xee>(a, b), _mm512_shuffle_f32x4::<0xee>(c, d));
                _mm512_storeu_ps(to[8 + j].as_mut_ptr(), _mm512_shuffle_f32x4::<0x88>(ab, cd));
                _mm512_storeu_ps(to[12 + j].as_mut_ptr(), _mm512_shuffle_f32x4::<0xdd>(ab, cd));
            }
        }
    }
    #[inline(always)]
    fn at_most(self, a: &[i32; LANES], b: &[i32; LANES]) -> u16 {
        // SAFETY: the token proves the instructions; arrays of 16 integers.
        unsafe { _mm512_cmple_epi32_mask(_mm512_loadu_si512(a.as_ptr().cast()), _mm512_loadu_si512(b.as_ptr().cast())) }
    }

    instructions! {
        fn splat(x: f32) -> __m512 { _mm512_set1_ps(x) }
        fn prefetch(at: *const f32) -> () { _mm_prefetch::<_MM_HINT_T0>(at.cast()) }
        fn add(a: __m512, b: __m512) -> __m512 { _mm512_add_ps(a, b) }
        fn sub(a: __m512, b: __m512) -> __m512 { _mm512_sub_ps(a, b) }
        fn mul(a: __m512, b: __m512) -> __m512 { _mm512_mul_ps(a, b) }
        fn div(a: __m512, b: __m512) -> __m512 { _mm512_div_ps(a, b) }
        fn fma(a: __m512, b: __m512, c: __m512) -> __m512 { _mm512_fmadd_ps(a, b, c) }
        fn sqrt(a: __m512) -> __m512 { _mm512_sqrt_ps(a) }
        fn min(a: __m512, b: __m512) -> __m512 { _mm512_min_ps(a, b) }
        fn max(a: __m512, b: __m512) -> __m512 { _mm512_max_ps(a, b) }
        fn less(a: __m512, b: __m512) -> __mmask16 { _mm512_cmp_ps_mask::<_CMP_LT_OQ>(a, b) }
        fn select(mask: __mmask16, yes: __m512, no: __m512) -> __m512 { _mm512_mask_blend_ps(mask, no, yes) }
        fn bits(x: __m512) -> __m512i { _mm512_castps_si512(x) }
        fn from_bits(x: __m512i) -> __m512 { _mm512_castsi512_ps(x) }
        fn int_splat(x: u32) -> __m512i { _mm512_set1_epi32(x.cast_signed()) }
        fn int_count() -> __m512i { _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15) }
        fn int_add(a: __m512i, b: __m512i) -> __m512i { _mm512_add_epi32(a, b) }
        fn int_mul(a: __m512i, b: __m512i) -> __m512i { _mm512_mullo_epi32(a, b) }
        fn int_and(a: __m512i, b: __m512i) -> __m512i { _mm512_and_si512(a, b) }
        fn int_or(a: __m512i, b: __m512i) -> __m512i { _mm512_or_si512(a, b) }
        fn int_xor(a: __m512i, b: __m512i) -> __m512i { _mm512_xor_si512(a, b) }
        fn shift_left<const BITS: i32>(a: __m512i) -> __m512i { _mm512_sll_epi32(a, _mm_cvtsi32_si128(BITS)) }
        fn shift_right<const BITS: i32>(a: __m512i) -> __m512i { _mm512_srl_epi32(a, _mm_cvtsi32_si128(BITS)) }
    }
}
