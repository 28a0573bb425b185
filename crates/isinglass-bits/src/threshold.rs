//! Neurons as integer thresholds.
//!
//! A neuron is +1 if its field is not negative: `sign(0) = +1`. The field is an increasing function of an integer, the sum `s` of `N` products:
//!
//! ```text
//! s/√N + b                                where the inputs are spins, −N ≤ s ≤ N
//! (s − offset·Σ_j S_j)·scale/√N + b       where the inputs are bytes, −255N ≤ s ≤ 255N
//! s/√N + b                                where the sums of m layers add up, −mN ≤ s ≤ mN
//! ```
//!
//! so there is one integer `t` with `neuron = +1 ⇔ s ≥ t`.
//! It is found by bisection on the field as computed in 64-bit floats.
//! Rounding keeps an increasing function increasing, so the comparison decides as the floats do, for every sum.
//!
//! ```
//! use isinglass_bits::threshold_of_spins;
//!
//! assert_eq!(threshold_of_spins(100, 0.0), 0);
//! assert_eq!(threshold_of_spins(100, -0.5), 5); // 5/√100 = 0.5: the field is 0, the neuron +1
//! assert_eq!(threshold_of_spins(100, 20.0), -100); // always +1
//! assert_eq!(threshold_of_spins(100, -20.0), 101); // never
//! ```

use crate::{MAX_SUM, Preprocessing};

/// The threshold of a neuron with `inputs` spins as inputs.
pub fn threshold_of_spins(inputs: usize, bias: f32) -> i32 {
    threshold_of_carried(inputs, 1, bias)
}

/// The threshold of a neuron where the sums of `layers` layers, each with `inputs` spins as inputs, add up.
/// Sums beyond [`MAX_SUM`], which no network has, are not considered.
///
/// ```
/// use isinglass_bits::{threshold_of_carried, threshold_of_spins};
///
/// assert_eq!(threshold_of_spins(100, 20.0), -100); // always +1, as no sum is smaller
/// assert_eq!(threshold_of_carried(100, 3, 20.0), -200); // with two more layers some are
/// ```
pub fn threshold_of_carried(inputs: usize, layers: usize, bias: f32) -> i32 {
    let root = libm::sqrt(inputs as f64);
    let largest = inputs.saturating_mul(layers).min(MAX_SUM as usize);
    first(largest as i64, |sum| sum as f64 / root + f64::from(bias) >= 0.0)
}

/// The threshold of a neuron with `inputs` bytes as inputs, whose weights sum to `row_sum`.
pub fn threshold_of_bytes(inputs: usize, row_sum: i64, bias: f32, preprocessing: Preprocessing) -> i32 {
    let root = libm::sqrt(inputs as f64);
    let shift = f64::from(preprocessing.offset()) * row_sum as f64;
    let scale = f64::from(preprocessing.scale());
    first(255 * inputs as i64, |sum| (sum as f64 - shift) * scale / root + f64::from(bias) >= 0.0)
}

/// The smallest sum, from `−limit`, for which the neuron is +1; `limit + 1` if there is none.
fn first(limit: i64, is_up: impl Fn(i64) -> bool) -> i32 {
    let (mut down, mut up) = (-limit - 1, limit + 1);
    while up - down > 1 {
        let middle = down + (up - down) / 2;
        if is_up(middle) {
            up = middle;
        } else {
            down = middle;
        }
    }
    up as i32
}
