//! Elementary functions of 16 numbers.
//!
//! | function | form | error against f64 |
//! |---|---|---|
//! | [`exp`], for `x ≤ 0` | `2ⁿ(1 + r + r²p(r))` | 2 ulp; 0 below −87 |
//! | [`erf`] with `1 − erf²` and its derivative | `z p(z²)` below 1, `1 − e^{−z²} t p(t)`, `t = 1/(1 + z/2)`, above | 2e-7 absolute; `1 − erf²` 2e-6 relative |
//! | [`tanh`] with `1 − tanh²` | `z p(z²)` below 5/8, `(1 − e^{−2z})/(1 + e^{−2z})` above | 2e-7 relative; `1 − tanh²` 1e-6 relative |
//! | [`normal`] | `√2 erf⁻¹` of 23 random bits, by polynomials in `ln` and its root (after Giles) | 2e-6; at most ±5.3 |
//!
//! The polynomials are our own minimax fits. `1 − x̄²` is computed from the small tail and not as a difference, since `Σ` consists of it once neurons saturate.

use isinglass_simd::Lanes;

/// `c[0] + c[1] x + …`, by Horner's rule.
#[inline(always)]
fn polynomial<L: Lanes, const N: usize>(l: L, x: L::Floats, c: [f32; N]) -> L::Floats {
    let mut sum = l.splat(c[N - 1]);
    for &c in c[..N - 1].iter().rev() {
        sum = l.fma(sum, x, l.splat(c));
    }
    sum
}

/// The sign bit of `x`.
#[inline(always)]
fn sign_bit<L: Lanes>(l: L, x: L::Floats) -> L::Ints {
    l.int_and(l.bits(x), l.int_splat(0x8000_0000))
}

/// `|x|`.
#[inline(always)]
pub fn abs<L: Lanes>(l: L, x: L::Floats) -> L::Floats {
    l.from_bits(l.int_and(l.bits(x), l.int_splat(0x7fff_ffff)))
}

/// Added and then subtracted.
const FLUSH: f32 = 1e-20;

/// `x` with negligible values set to 0: numbers below 1e-28 become 0, those above 1e-13 are unchanged. Once neurons saturate and means polarise, slopes and gradients would otherwise
/// become subnormal, and processors are a hundred times slower with such numbers.
#[inline(always)]
pub fn flush<L: Lanes>(l: L, x: L::Floats) -> L::Floats {
    l.sub(l.add(x, l.splat(FLUSH)), l.splat(FLUSH))
}

/// `e^x` for `x ≤ 0`.
#[inline(always)]
pub fn exp<L: Lanes>(l: L, x: L::Floats) -> L::Floats {
    const LN2_HIGH: f32 = 0.693_359_4;
    const LN2_LOW: f32 = -2.121_944_4e-4;
    // Adding it leaves the nearest integer in the low bits of the sum.
    const ROUND: f32 = 12_582_912.0;
    let smallest = l.splat(-87.0);
    let vanishes = l.less(x, smallest);
    let x = l.max(x, smallest);
    let shifted = l.fma(x, l.splat(std::f32::consts::LOG2_E), l.splat(ROUND));
    let n = l.sub(shifted, l.splat(ROUND));
    let r = l.fma(n, l.splat(-LN2_HIGH), x);
    let r = l.fma(n, l.splat(-LN2_LOW), r);
    let p = polynomial(l, r, [0.5, 1.666_651_8e-1, 4.166_643_3e-2, 8.368_972e-3, 1.393_785e-3]);
    let y = l.add(l.fma(p, l.mul(r, r), r), l.splat(1.0));
    let scaled = l.from_bits(l.int_add(l.bits(y), l.shift_left::<23>(l.bits(shifted))));
    l.select(vanishes, l.splat(0.0), scaled)
}

/// A sigmoidal function, 1 minus its square, and its derivative.
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
pub fn erf<L: Lanes>(l: L, z: L::Floats) -> Response<L::Floats> {
    let one = l.splat(1.0);
    let square = l.mul(z, z);
    let size = abs(l, z);
    let gauss = exp(l, l.sub(l.splat(0.0), square));
    let near = polynomial(
        l,
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
    let near = l.mul(near, z);
    let t = l.div(one, l.fma(size, l.splat(0.5), one));
    let tail = polynomial(
        l,
        t,
        [2.821_005_3e-1, 2.819_982_5e-1, 2.472_963_5e-1, 1.773_472_4e-1, 6.458_486_6e-2, 7.725_802e-2, -2.221_852_4e-1, 9.215_755e-2],
    );
    let tail = l.mul(l.mul(tail, t), gauss);
    let far = l.from_bits(l.int_or(l.bits(l.sub(one, tail)), sign_bit(l, z)));
    let is_near = l.less(size, one);
    Response {
        value: l.select(is_near, near, far),
        rest: l.select(is_near, l.fma(near, l.sub(l.splat(0.0), near), one), l.mul(tail, l.sub(l.splat(2.0), tail))),
        slope: l.mul(gauss, l.splat(std::f32::consts::FRAC_2_SQRT_PI)),
    }
}

/// `tanh(z)`; the slope, with respect to `z`, is `1 − tanh²`.
#[inline(always)]
pub fn tanh<L: Lanes>(l: L, z: L::Floats) -> Response<L::Floats> {
    let one = l.splat(1.0);
    let size = abs(l, z);
    let near = polynomial(l, l.mul(z, z), [1.0, -3.333_328e-1, 1.333_141_6e-1, -5.373_794e-2, 2.063_411_7e-2, -5.700_086e-3]);
    let near = l.mul(near, z);
    let e = exp(l, l.mul(size, l.splat(-2.0)));
    let inverse = l.div(one, l.add(one, e));
    let far = l.mul(l.sub(one, e), inverse);
    let far = l.from_bits(l.int_or(l.bits(far), sign_bit(l, z)));
    let rest = l.mul(l.mul(l.splat(4.0), e), l.mul(inverse, inverse));
    Response { value: l.select(l.less(size, l.splat(0.625)), near, far), rest, slope: rest }
}

/// `ln x` for normal `x > 0`.
#[inline(always)]
fn ln<L: Lanes>(l: L, x: L::Floats) -> L::Floats {
    const ROOT_HALF_BITS: u32 = 0x3f35_04f3;
    // Mantissas from √½ to √2, so that the logarithm of a number near 1 has no exponent.
    let shifted = l.int_add(l.bits(x), l.int_splat(0x3f80_0000 - ROOT_HALF_BITS));
    let exponent = l.sub(l.from_bits(l.int_or(l.shift_right::<23>(shifted), l.int_splat(0x4b00_0000))), l.splat(8_388_608.0 + 127.0));
    let mantissa = l.int_add(l.int_and(shifted, l.int_splat(0x007f_ffff)), l.int_splat(ROOT_HALF_BITS));
    let f = l.sub(l.from_bits(mantissa), l.splat(1.0));
    let p = polynomial(
        l,
        f,
        [3.333_333e-1, -2.500_082_3e-1, 2.000_124_8e-1, -1.662_332_4e-1, 1.420_137_4e-1, -1.316_013_6e-1, 1.276_387_7e-1, -7.637_262e-2],
    );
    let square = l.mul(f, f);
    let small = l.fma(l.mul(square, f), p, l.fma(square, l.splat(-0.5), f));
    l.fma(exponent, l.splat(std::f32::consts::LN_2), small)
}

/// The low half of a counter, and a key that depends on the high half. A high half of 0 leaves the key as it is.
///
/// The high half must go into the second half of the key: the first is added to the multiplied counter, so changing it would only shift the sequence.
#[inline(always)]
fn folded(counter: u64, key: [u32; 2]) -> (u32, [u32; 2]) {
    let high = (counter >> 32) as u32;
    (counter as u32, [key[0], key[1].wrapping_add(high.wrapping_mul(0x9e37_79b9))])
}

/// 32 random bits per lane for a counter, by two rounds of multiply and shift.
#[inline(always)]
fn random_bits<L: Lanes>(l: L, counter: L::Ints, key: [u32; 2]) -> L::Ints {
    let mut x = l.int_add(l.int_mul(counter, l.int_splat(0x9e37_79b9)), l.int_splat(key[0]));
    for key in [key[1], 0] {
        x = l.int_xor(x, l.shift_right::<16>(x));
        x = l.int_mul(x, l.int_splat(0x7feb_352d));
        x = l.int_xor(x, l.shift_right::<15>(x));
        x = l.int_mul(x, l.int_splat(0x846c_a68b));
        x = l.int_add(l.int_xor(x, l.shift_right::<16>(x)), l.int_splat(key));
    }
    x
}

/// Numbers in `[0, 1)` with 23 bits, `counter, …, counter + 15` of the key's sequence; `counter` is a multiple of 16.
#[inline(always)]
pub fn uniform<L: Lanes>(l: L, counter: u64, key: [u32; 2]) -> L::Floats {
    let (counter, key) = folded(counter, key);
    let bits = random_bits(l, l.int_add(l.int_count(), l.int_splat(counter)), key);
    l.sub(l.from_bits(l.int_or(l.shift_right::<9>(bits), l.int_splat(0x3f80_0000))), l.splat(1.0))
}

/// Standard normal numbers `counter, …, counter + 15` of the key's sequence; `counter` is a multiple of 16.
#[inline(always)]
pub fn normal<L: Lanes>(l: L, counter: u64, key: [u32; 2]) -> L::Floats {
    let (counter, key) = folded(counter, key);
    let bits = random_bits(l, l.int_add(l.int_count(), l.int_splat(counter)), key);
    // 1 + u in [1, 2) with 23 bits; half a bit more keeps u off both ends, and x off ±1.
    let u = l.from_bits(l.int_or(l.shift_right::<9>(bits), l.int_splat(0x3f80_0000)));
    let x = l.fma(l.splat(2.0), u, l.splat(-3.0 + f32::EPSILON));
    let w = l.sub(l.splat(0.0), ln(l, l.mul(l.sub(l.splat(1.0), x), l.add(l.splat(1.0), x))));
    let central = polynomial(
        l,
        l.sub(w, l.splat(2.5)),
        [2.123_313_7, 3.488_026_6e-1, -5.908_373_7e-3, -1.773_007e-3, 3.092_639e-4, -6.218_69e-6, -5.014_345e-6, 4.861_53e-7, 4.201_993e-8],
    );
    let tail = polynomial(
        l,
        l.sub(l.sqrt(l.max(w, l.splat(0.0))), l.splat(3.0)),
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
    l.mul(x, l.select(l.less(w, l.splat(5.0)), central, tail))
}
