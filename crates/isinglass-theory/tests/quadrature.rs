//! Certified quadrature of activations that are not built in: exact values where they exist, errors where the integral does not.

#![allow(clippy::disallowed_methods)] // Expected values may come from the standard library.

mod common;

use common::{close, pair};
use isinglass_theory::Error;
use isinglass_theory::activation::{Activation, Erf, FieldPair};
use isinglass_theory::quadrature::expectation;

/// `e^h`: `E e^{kh} = e^{k²q/2}`.
struct Exponential;

impl Activation for Exponential {
    fn value(&self, h: f64) -> f64 {
        h.exp()
    }
    fn slope(&self, h: f64) -> f64 {
        h.exp()
    }
    fn curvature(&self, h: f64) -> f64 {
        h.exp()
    }
    fn derivative_error(&self) -> f64 {
        0.0
    }
}

/// `h^n`: `E h^{2n} = (2n − 1)!! qⁿ`.
struct Power(i32);

impl Activation for Power {
    fn value(&self, h: f64) -> f64 {
        h.powi(self.0)
    }
    fn slope(&self, h: f64) -> f64 {
        f64::from(self.0) * h.powi(self.0 - 1)
    }
    fn curvature(&self, h: f64) -> f64 {
        f64::from(self.0 * (self.0 - 1)) * h.powi((self.0 - 2).max(0))
    }
    fn derivative_error(&self) -> f64 {
        0.0
    }
}

/// `e^{h²/8}`: `E φ² = 1/√(1 − q/2)` below `q = 2`, infinite from there on.
struct GaussianGrowth;

impl Activation for GaussianGrowth {
    fn value(&self, h: f64) -> f64 {
        (h * h / 8.0).exp()
    }
}

/// `1 · 3 · 5 ⋯ n`.
fn double_factorial(n: i32) -> f64 {
    (1..=n).step_by(2).map(f64::from).product()
}

#[test]
fn exponentials_are_exact_however_far_out_their_mass_lies() {
    for q in [0.01, 1.0, 3.61, 5.0, 9.0, 25.0, 64.0, 81.0] {
        close(expectation("E e^h", q, f64::exp).unwrap(), (0.5 * q).exp(), 1e-13);
        let moments = Exponential.moments(q).unwrap();
        for value in [moments.mean_square, moments.slope_square, 0.5 * moments.growth] {
            close(value, (2.0 * q).exp(), 2e-13);
        }
    }
}

#[test]
fn pairs_of_exponentials_are_exact() {
    for q in [0.1, 3.61, 16.0] {
        for c in [-0.9, 0.0, 0.5, 1.0] {
            let moments = Exponential.pair_moments(&pair(q, q, c)).unwrap();
            close(moments.product, (q * (1.0 + c)).exp(), 1e-12);
            close(Exponential.slope_product(&pair(q, q, c)).unwrap(), (q * (1.0 + c)).exp(), 1e-12);
        }
        let (q_a, q_b, c) = (q, 2.0 * q, 0.3);
        let product = (0.5 * (q_a + q_b) + c * (q_a * q_b).sqrt()).exp();
        close(Exponential.pair_moments(&pair(q_a, q_b, c)).unwrap().product, product, 1e-12);
    }
}

#[test]
fn powers_are_exact_to_the_degree_at_which_they_overflow() {
    for n in [1, 2, 3, 5, 8, 20, 50] {
        for q in [1e-3, 1.0, 40.0] {
            close(Power(n).moments(q).unwrap().mean_square, double_factorial(2 * n - 1) * q.powi(n), 1e-12);
        }
    }
    // E h_a²h_b² = q²(1 + 2c²)
    close(Power(2).pair_moments(&pair(2.0, 2.0, 0.6)).unwrap().product, 4.0 * (1.0 + 2.0 * 0.36), 1e-12);
}

#[test]
fn sigmoids_are_exact_where_gauss_hermite_quadrature_fails() {
    // `examples/gauss_hermite.rs` shows by how much.
    for q in [1.0, 10.0, 100.0] {
        let value = expectation("E erf²", q, |h| libm::erf(h).powi(2)).unwrap();
        close(value, Erf::new(1.0).moments(q).unwrap().mean_square, 1e-13);
    }
}

#[test]
fn a_tail_that_falls_off_slowly_is_followed_to_its_end() {
    for q in [0.5, 1.0, 1.5, 1.8f64] {
        close(GaussianGrowth.moments(q).unwrap().mean_square, 1.0 / (1.0 - 0.5 * q).sqrt(), 1e-12);
    }
}

#[test]
fn integrals_that_diverge_or_cannot_be_followed_are_errors() {
    let heavy = |result: Result<f64, Error>| assert!(matches!(result, Err(Error::HeavyTail { .. })), "{result:?}");
    // 1.99 converges in principle, but not before the Gaussian weight underflows.
    for q in [1.99, 2.0, 2.5, 10.0] {
        heavy(GaussianGrowth.moments(q).map(|moments| moments.mean_square));
        let equal = FieldPair::equal(q, isinglass_theory::Correlation::ONE);
        heavy(GaussianGrowth.pair_moments(&equal).map(|moments| moments.product));
    }
    // The mass of e^{2h} lies at 2√q = 40 standard deviations.
    heavy(Exponential.moments(400.0).map(|moments| moments.mean_square));
    // Two scales: by 9 standard deviations the second term is invisible, yet it is the whole integral.
    heavy(expectation("E", 1.0, |h| 1.0 + (35.0 * h - 500.0).exp()));
    heavy(expectation("E", 1.0, |h| if h > 8.0 { f64::NAN } else { 1.0 }));
}
