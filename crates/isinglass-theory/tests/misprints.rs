//! Each misprint of the paper: the printed form fails, the corrected form holds. Numbered as in `docs/paper.md`.

#![allow(clippy::disallowed_methods)] // Expected values may come from the standard library.

mod common;

use std::f64::consts::{FRAC_PI_2, PI, SQRT_2};

use common::{close, field, network, pair};
use isinglass_theory::activation::{Activation, Erf, FieldPair, Sign, Tanh};
use isinglass_theory::quadrature::expectation;
use isinglass_theory::{Correlation, CriticalSet, Denominator, Neuron, Point};
use libm::erf;

/// Fails if the two agree to three digits.
#[track_caller]
fn differs(value: f64, other: f64) {
    assert!((value / other - 1.0).abs() > 1e-3, "{value} and {other} agree");
}

/// `∫_a^b` of a smooth function by Simpson's rule.
fn integral(a: f64, b: f64, f: impl Fn(f64) -> f64) -> f64 {
    let n = 4000;
    let h = (b - a) / f64::from(n);
    let inner: f64 = (1..n).map(|i| f(a + f64::from(i) * h) * if i % 2 == 1 { 4.0 } else { 2.0 }).sum();
    (f(a) + inner + f(b)) * h / 3.0
}

fn gaussian(x: f64) -> f64 {
    (-0.5 * x * x).exp() / (2.0 * PI).sqrt()
}

#[test]
fn misprint_1_claim_1_needs_a_bracket_around_its_denominator() {
    let phi = Erf::new(1.0);
    let q = 0.3;
    let m = phi.moments(q).unwrap();
    // χ₁ where q is the fixed point; the printed σ_m² may lie beyond 1, where the library refuses it.
    let chi_1 = |sigma_m2: f64| sigma_m2 * m.slope_square / (1.0 - sigma_m2 * m.mean_square);
    close(chi_1(1.0 / (m.slope_square + m.mean_square)), 1.0, 1e-14);
    differs(chi_1(1.0 / m.slope_square + m.mean_square), 1.0);
    close(network("deterministic", "erf:1").critical_point(q).unwrap().sigma2.unwrap(), 1.0 / (m.slope_square + m.mean_square), 1e-14);
}

#[test]
fn misprint_2_variance_depth_scale_multiplies_by_one_plus_q() {
    let (sigma_m2, sigma_b2) = (0.9, 0.2);
    let field = field("deterministic", "tanh:1.5", sigma_m2, sigma_b2);
    let q = field.variance_fixed_point().unwrap().finite().unwrap();
    let step = 1e-4 * q;
    let truth = (field.variance_map(q + step).unwrap() - field.variance_map(q - step).unwrap()) / (2.0 * step);
    let phi = field.phi();
    let d = 1.0 - sigma_m2 * phi.moments(q).unwrap().mean_square;
    let chi_1 = sigma_m2 * phi.moments(q).unwrap().slope_square / d;
    let bend = expectation("E φφ''", q, |h| phi.value(h) * phi.curvature(h)).unwrap();
    // (1 + q*)/(1 + σ_b²) = 1/d at the fixed point.
    close(1.0 / d, (1.0 + q) / (1.0 + sigma_b2), 1e-13);
    let corrected = (chi_1 + sigma_m2 * (1.0 + q) / (1.0 + sigma_b2) * bend) * (1.0 + q);
    close(corrected, truth, 1e-7);
    close(field.variance_slope(q).unwrap(), truth, 1e-7);
    let divided = (chi_1 + sigma_m2 * (1.0 + q) / (1.0 + sigma_b2) * bend) / (1.0 + q);
    let deviation_for_variance = (chi_1 + sigma_m2 * (1.0 + q) / (1.0 + sigma_b2.sqrt()) * bend) * (1.0 + q);
    let lost_factor = (chi_1 + (1.0 + q) / (1.0 + sigma_b2) * bend) * (1.0 + q);
    for printed in [divided, deviation_for_variance, lost_factor] {
        differs(printed, truth);
    }
}

/// The mean of a neuron whose field has mean `mean` and variance `sigma`, by the library.
fn averaged(neuron: Neuron, mean: f64, sigma: f64) -> f64 {
    let (phi, Denominator { noise, spread }) = neuron.averaged().unwrap();
    phi.value(mean / (noise + spread * sigma).sqrt())
}

#[test]
fn misprint_3_averaging_a_probit_neuron_adds_the_variances_once() {
    for (mean, sigma) in [(0.5, 0.3), (-1.2, 1.0), (2.0, 4.0f64)] {
        // p(x = +1) = Φ(h) averaged over h ~ N(mean, sigma).
        let probit = expectation("E erf", sigma, |h| erf((mean + h) / SQRT_2)).unwrap();
        close(averaged(Neuron::Probit(1.0), mean, sigma), probit, 1e-12);
        differs(probit, erf(mean / (SQRT_2 * (1.0 + 2.0 * sigma).sqrt())));
        // The sign neuron: P(h > 0) − P(h < 0), with the field divided by √Σ, not multiplied by it.
        let sign = 2.0 * integral(0.0, mean / sigma.sqrt(), gaussian);
        close(averaged(Neuron::Sign, mean, sigma), sign, 1e-12);
        if sigma != 1.0 {
            differs(sign, erf(mean * sigma.sqrt() / SQRT_2));
        }
    }
}

#[test]
fn misprint_4_a_neuron_is_up_when_its_noise_exceeds_minus_theta() {
    let theta = 0.7;
    // x = sign(θ + L), for Gaussian L.
    let mean = Neuron::Probit(1.0).mean().value(theta);
    close(mean, 2.0 * integral(-theta, 12.0, gaussian) - 1.0, 1e-11);
    let printed = integral(-12.0, -theta, gaussian);
    differs(mean, 2.0 * printed - 1.0);
}

#[test]
fn misprint_5_slope_matching_gives_tanh_of_x_over_gamma() {
    let gamma = 1.7;
    let slope_of_erf = Erf::new(PI.sqrt() / (2.0 * gamma)).slope(0.0);
    close(slope_of_erf, Tanh::new(1.0 / gamma).slope(0.0), 1e-14);
    differs(slope_of_erf, Tanh::new(PI / (4.0 * gamma)).slope(0.0));
    // Which is what the logistic neuron's denominator uses: γ² = α² + πΣ/2.
    let denominator = Neuron::Logistic(1.0).averaged().unwrap().1;
    assert_eq!((denominator.noise, denominator.spread), (1.0, FRAC_PI_2));
}

#[test]
fn misprint_6_appendix_b_cannot_drop_the_neurons_own_noise() {
    let (sigma_m2, sigma_b2, q) = (0.9, 0.1, 0.8);
    let a = Erf::standard().moments(q).unwrap().mean_square;
    let sigma = 1.0 - sigma_m2 * a;
    // The printed chain goes from 1 + 2Σ to 2Σ; with normalised fields both are O(1).
    differs(1.0 + 2.0 * sigma, 2.0 * sigma);
    let probit = field("deterministic", "probit:1", sigma_m2, sigma_b2).variance_map(q).unwrap();
    close(probit, (sigma_m2 * a + sigma_b2) / (1.0 + sigma), 1e-14);
    let dropped = (sigma_m2 * a + sigma_b2) / sigma;
    differs(probit, dropped);
    // The same up to a constant is not enough either: the equivalence is the exact rescaling of both variances.
    close(probit, field("deterministic", "sign", sigma_m2 / 2.0, sigma_b2 / 2.0).variance_map(q).unwrap(), 1e-14);
}

#[test]
fn misprint_7_lrt_covariance_is_of_both_signals() {
    for model in ["lrt-binary", "lrt-continuous"] {
        let field = field(model, "tanh:1", 0.8, 0.0);
        let next = field.pair_map(&pair(1.0, 1.0, 0.0)).unwrap();
        // Unrelated signals stay unrelated.
        assert_eq!(next.correlation.c(), 0.0);
        // E φ(h_a)φ(h_a), as printed, would correlate them.
        let printed = 0.8 * field.phi().moments(1.0).unwrap().mean_square / next.q_a;
        assert!(printed > 0.1);
    }
}

#[test]
fn misprint_8_arcsine_law_has_no_variances_and_the_map_divides_by_the_new_one() {
    let law = |q_a: f64, q_b: f64| Sign.pair_moments(&pair(q_a, q_b, 0.6)).unwrap().product;
    close(law(4.0, 9.0), law(1.0, 1.0), 1e-14);
    differs(law(4.0, 9.0), 6.0 * law(1.0, 1.0));
    // Orthant probabilities by plain integration: P(++) − P(+−) over the half line.
    let (c, s) = (0.6f64, 0.8f64);
    let plain = 2.0 * integral(0.0, 12.0, |z| gaussian(z) * erf(c * z / (s * SQRT_2)));
    close(plain, law(1.0, 1.0), 1e-9);
    // A layer fed with fields of variance 3: equal signals must stay equal, which only the new variance 1 + σ_b² gives.
    let sigma_b2 = 0.5;
    let field = network("binary", "sign").at(None, sigma_b2).unwrap();
    close(field.pair_map(&pair(3.0, 3.0, 1.0)).unwrap().correlation.c(), 1.0, 1e-15);
    differs((1.0 + sigma_b2) / 3.0, 1.0);
}

#[test]
fn misprint_9_difference_between_dq_and_chi_1_cancels_for_sign_and_probit() {
    let difference = |neuron: &str, noise: f64, spread: f64| {
        let (sigma_m2, sigma_b2) = (0.9, 0.3);
        let field = field("deterministic", neuron, sigma_m2, sigma_b2);
        let q = field.variance_fixed_point().unwrap().finite().unwrap();
        let phi = field.phi();
        let m = phi.moments(q).unwrap();
        let d = noise + spread * (1.0 - sigma_m2 * m.mean_square);
        let bend = sigma_m2 * expectation("E φφ''", q, |h| phi.value(h) * phi.curvature(h)).unwrap() / d;
        let denominator = spread * q * sigma_m2 * m.growth / d;
        let point = Point::of(&field).unwrap();
        close(point.dq.unwrap() - point.chi_1.unwrap() + 1.0, bend + denominator + 1.0, 1e-12);
        bend + denominator
    };
    assert!(difference("sign", 0.0, 1.0).abs() < 1e-13);
    assert!(difference("probit:0.7", 0.49, 1.0).abs() < 1e-13);
    assert!(difference("logistic:1", 1.0, FRAC_PI_2).abs() > 1e-3);
}

#[test]
fn misprint_10_variance_of_stochastic_neurons_is_the_mean_square_of_the_spins() {
    let field = field("stochastic-neurons", "tanh", 0.8, 0.1);
    close(field.variance_map(2.0).unwrap(), 0.8 * 1.0 + 0.1, 1e-15);
    // E x, as printed, vanishes by symmetry.
    let mean = expectation("E tanh", 2.0, f64::tanh).unwrap();
    assert!(mean.abs() < 1e-15);
    differs(0.8 * mean + 0.1, 0.9);
}

#[test]
fn misprint_11_standard_logistic_noise_gives_half_the_gain() {
    for h in [0.3, 1.0, -2.0f64] {
        // x = sign(h + L): mean 2σ(h) − 1.
        let mean = 2.0 / (1.0 + (-h).exp()) - 1.0;
        close(mean, (h / 2.0).tanh(), 1e-14);
        differs(mean, h.tanh());
        // Our convention, L ~ Logistic(0, ½).
        close(2.0 / (1.0 + (-2.0 * h).exp()) - 1.0, Neuron::Logistic(1.0).mean().value(h), 1e-14);
    }
}

#[test]
fn misprint_12_continuous_weights_are_not_lrt_away_from_unit_variance() {
    let equal = FieldPair::equal(1.0, Correlation::new(0.5).unwrap());
    let correlation = |model: &str, sigma2: f64| field(model, "tanh", sigma2, 0.2).pair_map(&equal).unwrap().correlation.c();
    close(correlation("stochastic-neurons", 1.0), correlation("lrt-binary", 1.0), 1e-14);
    differs(correlation("stochastic-neurons", 0.5), correlation("lrt-binary", 0.5));
}

#[test]
fn misprint_13_lines_of_the_captions_do_not_start_near_one() {
    for (neuron, start) in [("erf:0.25", 4.0 * PI), ("erf:0.5", PI)] {
        let CriticalSet::Line { start: found, allowed } = network("deterministic", neuron).critical_set().unwrap() else { panic!() };
        close(found.sigma2.unwrap(), start, 1e-14);
        assert!(allowed.is_empty());
    }
    let unit_gain = format!("erf:{}", 0.5 * PI.sqrt());
    let CriticalSet::Line { start, .. } = network("deterministic", &unit_gain).critical_set().unwrap() else { panic!() };
    close(start.sigma2.unwrap(), 1.0, 1e-14);
}
