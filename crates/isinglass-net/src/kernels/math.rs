//! Elementary functions of 16 numbers.
//!
//! | function | form | error against f64 |
//! |---|---|---|
//! | [`exp`], for `x ≤ 0` | `2ⁿ(1 + r + r²p(r))` | 2 ulp; 0 below −87 |
//! | [`erf`] with `1 − erf²` and its derivative | `z p(z²)` below 1, `1 − e^{−z²} t p(t)`, `t = 1/(1 + z/2)`, above | 2e-7 absolute; `1 − erf²` 2e-6 relative |
//! | [`tanh`] with `1 − tanh²` | `z p(z²)` below 5/8, `(1 − e^{−2z})/(1 + e^{−2z})` above | 2e-7 relative; `1 − tanh²` 1e-6 relative |
//! | [`normal`] | `√2 erf⁻¹` of 23 random bits, by polynomials in `ln` and its root (after Giles) | 2e-6; at most ±5.3 |
//!
//! The polynomials are minimax fits of our own. `1 − x̄²` is computed from the small tail and not as a difference, since `Σ` consists of it once neurons saturate.

use super::lanes::Lanes;

/// `c[0] + c[1] x + …`, by Horner's rule.
#[inline(always)]
unsafe fn polynomial<L: Lanes, const N: usize>(x: L::Floats, c: [f32; N]) -> L::Floats {
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        let mut sum = L::splat(c[N - 1]);
        for &c in c[..N - 1].iter().rev() {
            sum = L::fma(sum, x, L::splat(c));
        }
        sum
    }
}

/// The sign bit of `x`.
#[inline(always)]
unsafe fn sign_bit<L: Lanes>(x: L::Floats) -> L::Ints {
    // SAFETY: the caller vouches for the instructions.
    unsafe { L::int_and(L::bits(x), L::int_splat(0x8000_0000)) }
}

/// `|x|`.
#[inline(always)]
pub unsafe fn abs<L: Lanes>(x: L::Floats) -> L::Floats {
    // SAFETY: the caller vouches for the instructions.
    unsafe { L::from_bits(L::int_and(L::bits(x), L::int_splat(0x7fff_ffff))) }
}

/// Added and taken away again.
const FLUSH: f32 = 1e-20;

/// `x` without what is too small to matter: numbers below 1e-28 become 0, those above 1e-13 stay as they are. Once neurons saturate and means polarise, slopes and gradients would otherwise
/// become subnormal, and a processor takes a hundred times as long to compute with such numbers.
#[inline(always)]
pub unsafe fn flush<L: Lanes>(x: L::Floats) -> L::Floats {
    // SAFETY: the caller vouches for the instructions.
    unsafe { L::sub(L::add(x, L::splat(FLUSH)), L::splat(FLUSH)) }
}

/// The same of one number.
pub fn flush_one(x: f32) -> f32 {
    (x + FLUSH) - FLUSH
}

/// `e^x` for `x ≤ 0`.
#[inline(always)]
pub unsafe fn exp<L: Lanes>(x: L::Floats) -> L::Floats {
    const LN2_HIGH: f32 = 0.693_359_4;
    const LN2_LOW: f32 = -2.121_944_4e-4;
    // Adding it leaves the nearest integer in the low bits of the sum.
    const ROUND: f32 = 12_582_912.0;
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        let smallest = L::splat(-87.0);
        let vanishes = L::less(x, smallest);
        let x = L::max(x, smallest);
        let shifted = L::fma(x, L::splat(std::f32::consts::LOG2_E), L::splat(ROUND));
        let n = L::sub(shifted, L::splat(ROUND));
        let r = L::fma(n, L::splat(-LN2_HIGH), x);
        let r = L::fma(n, L::splat(-LN2_LOW), r);
        let p = polynomial::<L, 5>(r, [0.5, 1.666_651_8e-1, 4.166_643_3e-2, 8.368_972e-3, 1.393_785e-3]);
        let y = L::add(L::fma(p, L::mul(r, r), r), L::splat(1.0));
        let scaled = L::from_bits(L::int_add(L::bits(y), L::shift_left::<23>(L::bits(shifted))));
        L::select(vanishes, L::splat(0.0), scaled)
    }
}

/// A sigmoidal function, what is left of its square to 1, and its derivative.
#[derive(Clone, Copy)]
pub struct Response<F> {
    /// `φ`.
    pub value: F,
    /// `1 − φ²`.
    pub rest: F,
    /// `φ'`.
    pub slope: F,
}

/// `erf(z)`; the slope is with respect to `z`.
#[inline(always)]
pub unsafe fn erf<L: Lanes>(z: L::Floats) -> Response<L::Floats> {
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        let one = L::splat(1.0);
        let square = L::mul(z, z);
        let size = abs::<L>(z);
        let gauss = exp::<L>(L::sub(L::splat(0.0), square));
        let near = polynomial::<L, 8>(
            square,
            [
                std::f32::consts::FRAC_2_SQRT_PI,
                -3.761_285_3e-1,
                1.128_605e-1,
                -2.697_176_9e-2,
                5.477_728e-3,
                -1.180_958_6e-3,
                3.324_167_6e-4,
                -6.782_971e-5,
            ],
        );
        let near = L::mul(near, z);
        let t = L::div(one, L::fma(size, L::splat(0.5), one));
        let tail = polynomial::<L, 8>(
            t,
            [2.821_005_3e-1, 2.819_982_5e-1, 2.472_963_5e-1, 1.773_472_4e-1, 6.458_486_6e-2, 7.725_802e-2, -2.221_852_4e-1, 9.215_755e-2],
        );
        let tail = L::mul(L::mul(tail, t), gauss);
        let far = L::from_bits(L::int_or(L::bits(L::sub(one, tail)), sign_bit::<L>(z)));
        let is_near = L::less(size, one);
        Response {
            value: L::select(is_near, near, far),
            rest: L::select(is_near, L::fma(near, L::sub(L::splat(0.0), near), one), L::mul(tail, L::sub(L::splat(2.0), tail))),
            slope: L::mul(gauss, L::splat(std::f32::consts::FRAC_2_SQRT_PI)),
        }
    }
}

/// `tanh(z)`; the slope, with respect to `z`, is `1 − tanh²`.
#[inline(always)]
pub unsafe fn tanh<L: Lanes>(z: L::Floats) -> Response<L::Floats> {
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        let one = L::splat(1.0);
        let size = abs::<L>(z);
        let near = polynomial::<L, 6>(L::mul(z, z), [1.0, -3.333_328e-1, 1.333_141_6e-1, -5.373_794e-2, 2.063_411_7e-2, -5.700_086e-3]);
        let near = L::mul(near, z);
        let e = exp::<L>(L::mul(size, L::splat(-2.0)));
        let inverse = L::div(one, L::add(one, e));
        let far = L::mul(L::sub(one, e), inverse);
        let far = L::from_bits(L::int_or(L::bits(far), sign_bit::<L>(z)));
        let rest = L::mul(L::mul(L::splat(4.0), e), L::mul(inverse, inverse));
        Response { value: L::select(L::less(size, L::splat(0.625)), near, far), rest, slope: rest }
    }
}

/// `ln x` for normal `x > 0`.
#[inline(always)]
unsafe fn ln<L: Lanes>(x: L::Floats) -> L::Floats {
    const ROOT_HALF_BITS: u32 = 0x3f35_04f3;
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        // Mantissas from √½ to √2, so that the logarithm of a number near 1 has no exponent.
        let shifted = L::int_add(L::bits(x), L::int_splat(0x3f80_0000 - ROOT_HALF_BITS));
        let exponent =
            L::sub(L::from_bits(L::int_or(L::shift_right::<23>(shifted), L::int_splat(0x4b00_0000))), L::splat(8_388_608.0 + 127.0));
        let mantissa = L::int_add(L::int_and(shifted, L::int_splat(0x007f_ffff)), L::int_splat(ROOT_HALF_BITS));
        let f = L::sub(L::from_bits(mantissa), L::splat(1.0));
        let p = polynomial::<L, 8>(
            f,
            [
                3.333_333e-1,
                -2.500_082_3e-1,
                2.000_124_8e-1,
                -1.662_332_4e-1,
                1.420_137_4e-1,
                -1.316_013_6e-1,
                1.276_387_7e-1,
                -7.637_262e-2,
            ],
        );
        let square = L::mul(f, f);
        let small = L::fma(L::mul(square, f), p, L::fma(square, L::splat(-0.5), f));
        L::fma(exponent, L::splat(std::f32::consts::LN_2), small)
    }
}

/// 32 random bits per lane for a counter, by two rounds of multiply and shift.
#[inline(always)]
unsafe fn random_bits<L: Lanes>(counter: L::Ints, key: [u32; 2]) -> L::Ints {
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        let mut x = L::int_add(L::int_mul(counter, L::int_splat(0x9e37_79b9)), L::int_splat(key[0]));
        for key in [key[1], 0] {
            x = L::int_xor(x, L::shift_right::<16>(x));
            x = L::int_mul(x, L::int_splat(0x7feb_352d));
            x = L::int_xor(x, L::shift_right::<15>(x));
            x = L::int_mul(x, L::int_splat(0x846c_a68b));
            x = L::int_add(L::int_xor(x, L::shift_right::<16>(x)), L::int_splat(key));
        }
        x
    }
}

/// Standard normal numbers `counter, …, counter + 15` of the sequence that the key names.
#[inline(always)]
pub unsafe fn normal<L: Lanes>(counter: u32, key: [u32; 2]) -> L::Floats {
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        let bits = random_bits::<L>(L::int_add(L::int_count(), L::int_splat(counter)), key);
        // 1 + u in [1, 2) with 23 bits; half a bit more keeps u off both ends, and x off ±1.
        let u = L::from_bits(L::int_or(L::shift_right::<9>(bits), L::int_splat(0x3f80_0000)));
        let x = L::fma(L::splat(2.0), u, L::splat(-3.0 + f32::EPSILON));
        let w = L::sub(L::splat(0.0), ln::<L>(L::mul(L::sub(L::splat(1.0), x), L::add(L::splat(1.0), x))));
        let central = polynomial::<L, 9>(
            L::sub(w, L::splat(2.5)),
            [
                2.123_313_7,
                3.488_026_6e-1,
                -5.908_373_7e-3,
                -1.773_007e-3,
                3.092_639e-4,
                -6.218_69e-6,
                -5.014_345e-6,
                4.861_53e-7,
                4.201_993e-8,
            ],
        );
        let tail = polynomial::<L, 9>(
            L::sub(L::sqrt(L::max(w, L::splat(0.0))), L::splat(3.0)),
            [
                4.006_435,
                1.416_582_7,
                1.333_288_1e-2,
                -1.080_625_4e-2,
                8.208_195e-3,
                -5.101_08e-3,
                1.720_548_7e-3,
                5.318_503_5e-5,
                -1.514_054_6e-4,
            ],
        );
        L::mul(x, L::select(L::less(w, L::splat(5.0)), central, tail))
    }
}
