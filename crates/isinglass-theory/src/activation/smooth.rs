//! Numerical derivatives, for activations that give only their value.

/// A derivative and an estimate of its error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Derivative {
    /// The derivative.
    pub value: f64,
    /// Its estimated absolute error: the disagreement between the last extrapolations.
    pub error: f64,
}

/// The relative error of numerical `φ'` and `φ''`, for activations that vary on a scale of order one or longer.
/// Measured for `tanh`, `erf` and `atan`: below 1e-11 for `φ'`, below 1e-8 for `φ''`.
pub(super) const STATED_ERROR: f64 = 1e-8;

/// `f'(x)` by central differences extrapolated to zero step (Ridders 1982).
///
/// ```
/// let slope = isinglass_theory::activation::differentiate(f64::sin, 1.0);
/// assert!((slope.value - 1.0f64.cos()).abs() < 1e-12);
/// assert!(slope.error < 1e-10);
/// ```
pub fn differentiate(f: impl Fn(f64) -> f64, x: f64) -> Derivative {
    extrapolate(|h| (f(x + h) - f(x - h)) / (2.0 * h), 0.5)
}

/// `f''(x)` by the same method.
///
/// ```
/// let curvature = isinglass_theory::activation::differentiate_twice(f64::sin, 1.0);
/// assert!((curvature.value + 1.0f64.sin()).abs() < 1e-9);
/// ```
pub fn differentiate_twice(f: impl Fn(f64) -> f64, x: f64) -> Derivative {
    let middle = f(x);
    extrapolate(|h| (f(x + h) - 2.0 * middle + f(x - h)) / (h * h), 1.0)
}

/// Neville's scheme on a difference quotient that is even in its step. Returns the value with the smallest estimated error:
/// large steps suffer from truncation, small ones from rounding.
fn extrapolate(quotient: impl Fn(f64) -> f64, first_step: f64) -> Derivative {
    const SHRINK: f64 = 1.5;
    const ROWS: usize = 14;
    let mut row = [0.0; ROWS];
    let mut step = first_step;
    row[0] = quotient(step);
    let mut best = Derivative { value: row[0], error: f64::INFINITY };
    for i in 1..ROWS {
        step /= SHRINK;
        let previous = row;
        row[0] = quotient(step);
        let mut factor = 1.0;
        for j in 1..=i {
            factor *= SHRINK * SHRINK;
            row[j] = row[j - 1] + (row[j - 1] - previous[j - 1]) / (factor - 1.0);
            let error = (row[j] - row[j - 1]).abs().max((row[j] - previous[j - 1]).abs());
            if error < best.error {
                best = Derivative { value: row[j], error };
            }
        }
        if (row[i] - previous[i - 1]).abs() > 2.0 * best.error.max(f64::MIN_POSITIVE) && i > 6 {
            break;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_of_sigmoids_are_within_the_stated_error() {
        type Function = fn(f64) -> f64;
        fn square(x: f64) -> f64 {
            x * x
        }
        let cases: [[Function; 3]; 2] = [
            [libm::tanh, |x| 1.0 - square(libm::tanh(x)), |x| -2.0 * libm::tanh(x) * (1.0 - square(libm::tanh(x)))],
            [libm::atan, |x| 1.0 / (1.0 + x * x), |x| -2.0 * x / square(1.0 + x * x)],
        ];
        for [f, slope, curvature] in cases {
            for x in [0.0, 0.1, 0.7, 1.9, 5.0, -3.0] {
                let first = differentiate(f, x);
                assert!((first.value - slope(x)).abs() < 1e-11, "f'({x}): {first:?}");
                let second = differentiate_twice(f, x);
                assert!((second.value - curvature(x)).abs() < STATED_ERROR, "f''({x}): {second:?}");
            }
        }
    }
}
