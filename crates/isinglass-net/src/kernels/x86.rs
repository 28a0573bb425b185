//! AVX-512 and AVX2 with FMA.

use std::arch::x86_64::*;

use super::lanes::Lanes;

/// One register of AVX-512.
#[derive(Clone, Copy)]
pub struct Avx512;

impl Lanes for Avx512 {
    type Floats = __m512;
    type Ints = __m512i;
    type Mask = __mmask16;

    #[inline(always)]
    unsafe fn splat(x: f32) -> Self::Floats {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { _mm512_set1_ps(x) }
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self::Floats {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { _mm512_loadu_ps(from) }
    }
    #[inline(always)]
    unsafe fn store(to: *mut f32, x: Self::Floats) {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { _mm512_storeu_ps(to, x) }
    }
    #[inline(always)]
    unsafe fn prefetch(at: *const f32) {
        // SAFETY: a prefetch may be given any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) }
    }
    #[inline(always)]
    unsafe fn add(a: Self::Floats, b: Self::Floats) -> Self::Floats {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { _mm512_add_ps(a, b) }
    }
    #[inline(always)]
    unsafe fn sub(a: Self::Floats, b: Self::Floats) -> Self::Floats {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { _mm512_sub_ps(a, b) }
    }
    #[inline(always)]
    unsafe fn mul(a: Self::Floats, b: Self::Floats) -> Self::Floats {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { _mm512_mul_ps(a, b) }
    }
    #[inline(always)]
    unsafe fn div(a: Self::Floats, b: Self::Floats) -> Self::Floats {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { _mm512_div_ps(a, b) }
    }
    #[inline(always)]
    unsafe fn fma(a: Self::Floats, b: Self::Floats, c: Self::Floats) -> Self::Floats {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { _mm512_fmadd_ps(a, b, c) }
    }
    #[inline(always)]
    unsafe fn sqrt(a: Self::Floats) -> Self::Floats {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { _mm512_sqrt_ps(a) }
    }
    #[inline(always)]
    unsafe fn min(a: Self::Floats, b: Self::Floats) -> Self::Floats {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { _mm512_min_ps(a, b) }
    }
    #[inline(always)]
    unsafe fn max(a: Self::Floats, b: Self::Floats) -> Self::Floats {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { _mm512_max_ps(a, b) }
    }
    #[inline(always)]
    unsafe fn less(a: Self::Floats, b: Self::Floats) -> Self::Mask {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { _mm512_cmp_ps_mask::<_CMP_LT_OQ>(a, b) }
    }
    #[inline(always)]
    unsafe fn select(mask: Self::Mask, yes: Self::Floats, no: Self::Floats) -> Self::Floats {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { _mm512_mask_blend_ps(mask, no, yes) }
    }
    #[inline(always)]
    unsafe fn bits(x: Self::Floats) -> Self::Ints {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { _mm512_castps_si512(x) }
    }
    #[inline(always)]
    unsafe fn from_bits(x: Self::Ints) -> Self::Floats {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { _mm512_castsi512_ps(x) }
    }
    #[inline(always)]
    unsafe fn int_splat(x: u32) -> Self::Ints {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { _mm512_set1_epi32(x.cast_signed()) }
    }
    #[inline(always)]
    unsafe fn int_count() -> Self::Ints {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15) }
    }
    #[inline(always)]
    unsafe fn int_add(a: Self::Ints, b: Self::Ints) -> Self::Ints {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { _mm512_add_epi32(a, b) }
    }
    #[inline(always)]
    unsafe fn int_mul(a: Self::Ints, b: Self::Ints) -> Self::Ints {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { _mm512_mullo_epi32(a, b) }
    }
    #[inline(always)]
    unsafe fn int_and(a: Self::Ints, b: Self::Ints) -> Self::Ints {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { _mm512_and_si512(a, b) }
    }
    #[inline(always)]
    unsafe fn int_or(a: Self::Ints, b: Self::Ints) -> Self::Ints {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { _mm512_or_si512(a, b) }
    }
    #[inline(always)]
    unsafe fn int_xor(a: Self::Ints, b: Self::Ints) -> Self::Ints {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { _mm512_xor_si512(a, b) }
    }
    #[inline(always)]
    unsafe fn shift_left<const BITS: i32>(a: Self::Ints) -> Self::Ints {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { _mm512_sll_epi32(a, _mm_cvtsi32_si128(BITS)) }
    }
    #[inline(always)]
    unsafe fn shift_right<const BITS: i32>(a: Self::Ints) -> Self::Ints {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { _mm512_srl_epi32(a, _mm_cvtsi32_si128(BITS)) }
    }
}

/// Two registers of AVX2.
#[derive(Clone, Copy)]
pub struct Avx2;

impl Lanes for Avx2 {
    type Floats = [__m256; 2];
    type Ints = [__m256i; 2];
    type Mask = [__m256; 2];

    #[inline(always)]
    unsafe fn splat(x: f32) -> Self::Floats {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { [_mm256_set1_ps(x); 2] }
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self::Floats {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { [_mm256_loadu_ps(from), _mm256_loadu_ps(from.add(8))] }
    }
    #[inline(always)]
    unsafe fn store(to: *mut f32, x: Self::Floats) {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe {
            _mm256_storeu_ps(to, x[0]);
            _mm256_storeu_ps(to.add(8), x[1]);
        }
    }
    #[inline(always)]
    unsafe fn prefetch(at: *const f32) {
        // SAFETY: a prefetch may be given any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) }
    }
    #[inline(always)]
    unsafe fn add(a: Self::Floats, b: Self::Floats) -> Self::Floats {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { [_mm256_add_ps(a[0], b[0]), _mm256_add_ps(a[1], b[1])] }
    }
    #[inline(always)]
    unsafe fn sub(a: Self::Floats, b: Self::Floats) -> Self::Floats {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { [_mm256_sub_ps(a[0], b[0]), _mm256_sub_ps(a[1], b[1])] }
    }
    #[inline(always)]
    unsafe fn mul(a: Self::Floats, b: Self::Floats) -> Self::Floats {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { [_mm256_mul_ps(a[0], b[0]), _mm256_mul_ps(a[1], b[1])] }
    }
    #[inline(always)]
    unsafe fn div(a: Self::Floats, b: Self::Floats) -> Self::Floats {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { [_mm256_div_ps(a[0], b[0]), _mm256_div_ps(a[1], b[1])] }
    }
    #[inline(always)]
    unsafe fn fma(a: Self::Floats, b: Self::Floats, c: Self::Floats) -> Self::Floats {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { [_mm256_fmadd_ps(a[0], b[0], c[0]), _mm256_fmadd_ps(a[1], b[1], c[1])] }
    }
    #[inline(always)]
    unsafe fn sqrt(a: Self::Floats) -> Self::Floats {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { [_mm256_sqrt_ps(a[0]), _mm256_sqrt_ps(a[1])] }
    }
    #[inline(always)]
    unsafe fn min(a: Self::Floats, b: Self::Floats) -> Self::Floats {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { [_mm256_min_ps(a[0], b[0]), _mm256_min_ps(a[1], b[1])] }
    }
    #[inline(always)]
    unsafe fn max(a: Self::Floats, b: Self::Floats) -> Self::Floats {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { [_mm256_max_ps(a[0], b[0]), _mm256_max_ps(a[1], b[1])] }
    }
    #[inline(always)]
    unsafe fn less(a: Self::Floats, b: Self::Floats) -> Self::Mask {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { [_mm256_cmp_ps::<_CMP_LT_OQ>(a[0], b[0]), _mm256_cmp_ps::<_CMP_LT_OQ>(a[1], b[1])] }
    }
    #[inline(always)]
    unsafe fn select(mask: Self::Mask, yes: Self::Floats, no: Self::Floats) -> Self::Floats {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { [_mm256_blendv_ps(no[0], yes[0], mask[0]), _mm256_blendv_ps(no[1], yes[1], mask[1])] }
    }
    #[inline(always)]
    unsafe fn bits(x: Self::Floats) -> Self::Ints {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { [_mm256_castps_si256(x[0]), _mm256_castps_si256(x[1])] }
    }
    #[inline(always)]
    unsafe fn from_bits(x: Self::Ints) -> Self::Floats {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { [_mm256_castsi256_ps(x[0]), _mm256_castsi256_ps(x[1])] }
    }
    #[inline(always)]
    unsafe fn int_splat(x: u32) -> Self::Ints {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { [_mm256_set1_epi32(x.cast_signed()); 2] }
    }
    #[inline(always)]
    unsafe fn int_count() -> Self::Ints {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { [_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_setr_epi32(8, 9, 10, 11, 12, 13, 14, 15)] }
    }
    #[inline(always)]
    unsafe fn int_add(a: Self::Ints, b: Self::Ints) -> Self::Ints {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { [_mm256_add_epi32(a[0], b[0]), _mm256_add_epi32(a[1], b[1])] }
    }
    #[inline(always)]
    unsafe fn int_mul(a: Self::Ints, b: Self::Ints) -> Self::Ints {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { [_mm256_mullo_epi32(a[0], b[0]), _mm256_mullo_epi32(a[1], b[1])] }
    }
    #[inline(always)]
    unsafe fn int_and(a: Self::Ints, b: Self::Ints) -> Self::Ints {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { [_mm256_and_si256(a[0], b[0]), _mm256_and_si256(a[1], b[1])] }
    }
    #[inline(always)]
    unsafe fn int_or(a: Self::Ints, b: Self::Ints) -> Self::Ints {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { [_mm256_or_si256(a[0], b[0]), _mm256_or_si256(a[1], b[1])] }
    }
    #[inline(always)]
    unsafe fn int_xor(a: Self::Ints, b: Self::Ints) -> Self::Ints {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { [_mm256_xor_si256(a[0], b[0]), _mm256_xor_si256(a[1], b[1])] }
    }
    #[inline(always)]
    unsafe fn shift_left<const BITS: i32>(a: Self::Ints) -> Self::Ints {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { [_mm256_slli_epi32::<BITS>(a[0]), _mm256_slli_epi32::<BITS>(a[1])] }
    }
    #[inline(always)]
    unsafe fn shift_right<const BITS: i32>(a: Self::Ints) -> Self::Ints {
        // SAFETY: the caller vouches for the instructions and the pointers.
        unsafe { [_mm256_srli_epi32::<BITS>(a[0]), _mm256_srli_epi32::<BITS>(a[1])] }
    }
}
