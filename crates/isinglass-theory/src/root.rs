//! Roots of continuous functions, bracketed by a change of sign.

use crate::Error;

/// The root of `f` in `[low, high]`, by Chandrupatla's method (1997): inverse quadratic interpolation where it is safe, bisection elsewhere.
pub(crate) fn bracketed(what: &'static str, low: f64, high: f64, mut f: impl FnMut(f64) -> Result<f64, Error>) -> Result<f64, Error> {
    let (mut a, mut b) = (high, low);
    let (mut f_a, mut f_b) = (f(a)?, f(b)?);
    if f_a == 0.0 {
        return Ok(a);
    }
    if f_b == 0.0 {
        return Ok(b);
    }
    if f_a.signum() == f_b.signum() || f_a.is_nan() || f_b.is_nan() {
        return Err(Error::NoRoot(what));
    }
    let mut t = 0.5;
    for _ in 0..200 {
        let x = a + t * (b - a);
        let f_x = f(x)?;
        let (c, f_c);
        if f_x.signum() == f_a.signum() {
            (c, f_c) = (a, f_a);
        } else {
            (c, f_c) = (b, f_b);
            (b, f_b) = (a, f_a);
        }
        (a, f_a) = (x, f_x);
        let (best, f_best) = if f_a.abs() < f_b.abs() { (a, f_a) } else { (b, f_b) };
        let tolerance = 2.0 * f64::EPSILON * best.abs() + f64::MIN_POSITIVE;
        let limit = tolerance / (b - a).abs();
        if limit > 0.5 || f_best == 0.0 {
            return Ok(best);
        }
        let xi = (a - b) / (c - b);
        let phi = (f_a - f_b) / (f_c - f_b);
        t = if phi * phi < xi && (1.0 - phi) * (1.0 - phi) < 1.0 - xi {
            let direct = f_a / (f_b - f_a) * f_c / (f_b - f_c);
            let other = (c - a) / (b - a) * f_a / (f_c - f_a) * f_b / (f_c - f_b);
            direct + other
        } else {
            0.5
        };
        t = t.clamp(limit, 1.0 - limit);
    }
    Err(Error::NoRoot(what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_simple_multiple_and_steep_roots() {
        type Case = (fn(f64) -> f64, f64, f64, f64);
        let cases: [Case; 3] = [
            (|x| x * x - 2.0, 0.0, 2.0, 2f64.sqrt()),
            (|x| (x - 0.3) * (x - 0.3) * (x - 0.3), 0.0, 1.0, 0.3),
            (|x| libm::tanh(50.0 * (x - 0.7)), -5.0, 1.0, 0.7),
        ];
        for (f, low, high, root) in cases {
            let found = bracketed("test", low, high, |x| Ok(f(x))).unwrap();
            assert!((found - root).abs() < 1e-5 * root, "{found} for {root}");
        }
        let found = bracketed("test", 0.0, 2.0, |x| Ok(x * x - 2.0)).unwrap();
        assert!((found - 2f64.sqrt()).abs() < 4e-16);
    }

    #[test]
    fn refuses_an_interval_without_a_change_of_sign() {
        assert_eq!(bracketed("x² + 1", 0.0, 1.0, |x| Ok(x * x + 1.0)), Err(Error::NoRoot("x² + 1")));
    }
}
