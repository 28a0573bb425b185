//! Carried fields: the numbers of an independent simulation, the maps written out, finite differences, and powers of the depth.

#![allow(clippy::disallowed_methods)] // Expected values may come from the standard library.

mod common;

use std::f64::consts::{FRAC_2_PI, PI};

use common::{close, field, network, pair};
use isinglass_theory::activation::{Activation, FieldPair};
use isinglass_theory::carried::Remains;
use isinglass_theory::{
    CarriedAdvice, CarriedPoint, CarriedState, CarryVerdict, Correlation, Error, MeanField, Model, Phase, RandomNetwork, VarianceFixedPoint,
};

fn half(q: f64) -> FieldPair {
    FieldPair::equal(q, Correlation::new(0.5).unwrap())
}

/// Any network by its names, whatever variance it takes.
fn any(model: &str, neuron: &str, sigma2: f64, sigma_b2: f64) -> MeanField {
    let network = network(model, neuron);
    network.at(network.model().weight_variance().symbol().map(|_| sigma2), sigma_b2).unwrap()
}

#[test]
fn sign_neurons_with_uniform_means_keep_the_signal_that_was_simulated() {
    let field = field("deterministic", "sign", 1.0 / 3.0, 0.0);
    let layers = field.carried_trajectory(half(1.0), 59).unwrap();
    for (layer, q) in [(1, 0.588), (10, 0.146), (20, 0.0862), (59, 0.0369)] {
        close(layers[layer].q(), q, 4e-3);
    }
    assert!((layers[59].fields().correlation.c() - 0.497).abs() < 5e-4);
    // The plain network.
    assert!(field.trajectory(half(1.0), 20).unwrap()[20].q_a < 3e-14);
}

#[test]
fn mean_and_variance_grow_by_one_per_layer_together() {
    for neuron in ["sign", "probit:0.7", "logistic:1.3", "erf:2", "tanh:0.5"] {
        for sigma_b2 in [0.0, 0.3] {
            let layers = field("deterministic", neuron, 0.6, sigma_b2).carried_trajectory(pair(0.7, 2.0, 0.2), 40).unwrap();
            for (layer, state) in layers.iter().enumerate() {
                let start = layers[0].carried().q_a + 1.0;
                close(state.carried().q_a + state.spread()[0], start + layer as f64, 1e-14);
                close(state.carried().q_b + state.spread()[1], layers[0].carried().q_b + 1.0 + layer as f64, 1e-14);
            }
        }
    }
}

/// `E f(y_a, y_b)` by the plain trapezoidal rule over both.
fn expected(q_a: f64, q_b: f64, k: f64, f: impl Fn(f64, f64) -> f64) -> f64 {
    let (s_a, along) = (q_a.sqrt(), k / q_a.sqrt());
    let across = (q_b - along * along).sqrt();
    let nodes = || (-160..=160).map(|i| f64::from(i) * 0.05);
    let weight = |z: f64| (-0.5 * z * z).exp() * 0.05 / (2.0 * PI).sqrt();
    nodes().map(|z| weight(z) * nodes().map(|u| weight(u) * f(s_a * z, along * z + across * u)).sum::<f64>()).sum()
}

#[test]
fn maps_are_those_written_out() {
    // (model, neuron, φ, n², s, own variance and covariance per E φ² and E φφ; 1 for ±1 neurons)
    type Case = (&'static str, &'static str, fn(f64) -> f64, f64, f64);
    let erf = |x: f64| libm::erf(x);
    let cases: [Case; 8] = [
        ("deterministic", "sign", |y| libm::erf(y / 2f64.sqrt()), 0.0, 1.0),
        ("deterministic", "probit:0.7", |y| libm::erf(y / 2f64.sqrt()), 0.49, 1.0),
        ("deterministic", "logistic:1.3", f64::tanh, 1.69, PI / 2.0),
        ("continuous", "tanh", f64::tanh, 1.0, 0.0),
        ("lrt-binary", "erf:1", erf, 1.0, 0.0),
        ("lrt-continuous", "erf:1", erf, 1.0, 0.0),
        ("stochastic-binary", "tanh", f64::tanh, 1.0, 0.0),
        ("stochastic-neurons", "erf:1", erf, 1.0, 0.0),
    ];
    let (sigma2, b) = (0.8, 0.1);
    for (model, neuron, phi, n2, s) in cases {
        let field = any(model, neuron, sigma2, b);
        let state = CarriedState::start(&field, pair(0.9, 1.6, 0.4), 1.0).unwrap();
        let (mut v, mut k, mut sigma) = ([0.9 * (n2 + s), 1.6 * (n2 + s)], 0.4 * (0.9f64 * 1.6).sqrt() * (n2 + s), [1.0; 2]);
        let (mut q, mut ky) = ([0.9, 1.6], 0.4 * (0.9f64 * 1.6).sqrt());
        let mut found = state;
        for _ in 0..3 {
            let a = [0, 1].map(|i| expected(q[i], 1.0, 0.0, |y, _| phi(y).powi(2)));
            let c = expected(q[0], q[1], ky, |x, y| phi(x) * phi(y));
            let (own, shared) = match model {
                "deterministic" | "continuous" => (a.map(|a| sigma2 * a), sigma2 * c),
                "lrt-binary" => ([1.0; 2], sigma2 * c),
                "lrt-continuous" => (a, sigma2 * c),
                "stochastic-binary" => ([1.0; 2], c),
                _ => ([sigma2; 2], sigma2 * c),
            };
            v = [v[0] + own[0], v[1] + own[1]];
            k += shared;
            sigma = [0, 1].map(|i| sigma[i] + 1.0 - sigma2 * a[i]);
            let d = sigma.map(|sigma| n2 + s * sigma);
            q = [(v[0] + b) / d[0], (v[1] + b) / d[1]];
            ky = (k + b) / (d[0] * d[1]).sqrt();
            found = found.next(&field, true).unwrap();
            close(found.q(), q[0], 1e-11);
            close(found.fields().q_b, q[1], 1e-11);
            close(found.k(), ky, 1e-11);
        }
    }
    // The arcsine law of the sign network.
    let binary = any("binary", "sign", 0.0, 0.0);
    let layers = binary.carried_trajectory(pair(1.0, 2.0, 0.3), 2).unwrap();
    let k = 0.3 * 2f64.sqrt() + FRAC_2_PI * 0.3f64.asin();
    close(layers[1].k(), k, 1e-14);
    close(layers[2].k(), k + FRAC_2_PI * (k / 6f64.sqrt()).asin(), 1e-14);
}

#[test]
fn a_layer_that_does_not_carry_is_a_plain_one() {
    for model in Model::ALL {
        for neuron in ["sign", "probit:0.5", "tanh:1.5"] {
            if RandomNetwork::new(model, neuron.parse().unwrap()).is_err() {
                continue;
            }
            for (sigma_b2, c) in [(0.0, 0.2), (0.4, 0.999_999)] {
                let field = any(model.name(), neuron, 0.7, sigma_b2);
                let start = pair(0.6, 0.8, c);
                let plain = field.pair_map(&start).unwrap();
                let state = CarriedState::start(&field, start, 1.0).unwrap().next(&field, false).unwrap();
                close(state.q(), plain.q_a, 1e-14);
                close(state.fields().q_b, plain.q_b, 1e-14);
                close(state.fields().correlation.deficit(), plain.correlation.deficit(), 1e-9);
            }
        }
    }
}

#[test]
fn carrying_starts_at_the_second_hidden_layer() {
    let field = field("deterministic", "sign", 0.5, 0.02);
    let inputs = pair(0.1, 0.2, 0.3);
    let layers = field.carried_trajectory_from_inputs(inputs, 4).unwrap();
    let plain = field.trajectory_from_inputs(inputs, 2).unwrap();
    for layer in [1, 2] {
        close(layers[layer - 1].q(), plain[layer].q_a, 1e-14);
        close(layers[layer - 1].fields().correlation.c(), plain[layer].correlation.c(), 1e-14);
    }
    for (layer, total) in [(2, 1.0), (3, 2.0), (4, 3.0)] {
        close(layers[layer - 1].carried().q_a + layers[layer - 1].spread()[0], total, 1e-14);
    }
}

/// Two signals that differ by a part in 10²⁰ stay apart by what the Jacobian says.
#[test]
fn close_signals_separate_by_the_mean_squared_singular_value() {
    for (model, neuron) in [
        ("deterministic", "sign"),
        ("deterministic", "logistic:0.7"),
        ("deterministic", "tanh:2"),
        ("continuous", "tanh"),
        ("stochastic-weights", "erf:0.8"),
    ] {
        for sigma_b2 in [0.0, 0.2] {
            let field = any(model, neuron, 0.9, sigma_b2);
            let start = FieldPair::equal(0.7, Correlation::from_deficit(1e-20).unwrap());
            let mut state = CarriedState::start(&field, start, 1.0).unwrap();
            for _ in 0..5 {
                let apart = |state: &CarriedState| state.carried().q_a * state.carried().correlation.deficit();
                let next = state.next(&field, true).unwrap();
                close(apart(&next) / apart(&state), state.jacobian(&field).unwrap().mean_square, 1e-9);
                state = next;
            }
        }
    }
}

#[test]
fn jacobians_of_the_spread_are_derivatives_of_its_map() {
    for neuron in ["sign", "probit:0.7", "logistic:1.3", "erf:2"] {
        let field = field("deterministic", neuron, 0.8, 0.1);
        let state = field.carried_trajectory(half(0.9), 3).unwrap()[3];
        let (q, d) = (state.q(), state.denominator()[0]);
        // Σ' of a layer whose Σ is changed, the field held fixed; and whose fields grow in proportion.
        let spread = |sigma: f64, scale: f64| {
            let network = field.network().denominator().unwrap();
            let fields = FieldPair::equal(scale * scale * q * d / (network.noise + network.spread * sigma), Correlation::ONE);
            let moved = CarriedState::from_parts(&field, *state.carried(), [sigma; 2], fields).unwrap();
            moved.next(&field, true).unwrap().spread()[0]
        };
        let (sigma, h) = (state.spread()[0], 1e-4);
        let jacobian = state.jacobian(&field).unwrap();
        close(jacobian.spread_gain, (spread(sigma + h, 1.0) - spread(sigma - h, 1.0)) / (2.0 * h), 1e-7);
        close(jacobian.spread_response, (spread(sigma, 1.0 + h) - spread(sigma, 1.0 - h)) / (2.0 * h), 1e-6);
    }
    // E y²φ'² in closed form for erf(y/√2): (2/π) q/(1 + 2q)^(3/2).
    let field = field("deterministic", "sign", 0.8, 0.0);
    let state = CarriedState::start(&field, half(0.9), 1.0).unwrap();
    let moved = FRAC_2_PI * 0.9 / (1.0 + 1.8f64).powf(1.5);
    close(state.jacobian(&field).unwrap().field_response, 0.8 * 0.25 * moved, 1e-11);
}

/// `ln(f(4ℓ)/f(ℓ))/ln 4`.
fn local_exponent(near: f64, far: f64) -> f64 {
    (far / near).ln() / 4f64.ln()
}

#[test]
fn a_fading_signal_and_its_gradient_are_powers_of_the_depth() {
    for (neuron, sigma_m2, sigma_b2, gamma) in [
        ("sign", 1.0 / 3.0, 0.0, FRAC_2_PI),
        ("sign", 0.9, 0.2, FRAC_2_PI),
        ("probit:1", 0.5, 0.0, FRAC_2_PI),
        ("logistic:0.5", 0.8, 0.1, FRAC_2_PI),
        ("erf:0.7", 0.9, 0.0, 4.0 * 0.49 / PI),
        ("tanh:0.9", 0.6, 0.0, 0.81),
    ] {
        let field = field("deterministic", neuron, sigma_m2, sigma_b2);
        let point = CarriedPoint::of(&field).unwrap();
        assert_eq!((point.q_star, point.phase), (VarianceFixedPoint::Zero, Phase::Ordered), "{neuron}");
        assert_eq!((point.c_star, point.c_exponent()), (None, None));
        close(point.q_exponent().unwrap(), gamma * sigma_m2 - 1.0, 1e-13);
        let layers = field.carried_trajectory(half(1e-3), 16_000).unwrap();
        let at = |layer: usize| layers[layer].q();
        assert!((local_exponent(at(4_000), at(16_000)) - point.q_exponent().unwrap()).abs() < 4e-3, "{neuron}");
        let c = |layer: usize| layers[layer].fields().correlation.c();
        assert!((c(16_000) - c(4_000)).abs() < 2e-3, "the correlation freezes");
        // G_ℓ ~ L^(χ₁−1) ℓ^(−χ₁): the factors between layers, and the readout's B/d.
        let (in_depth, in_layer) = point.gradient_exponents().unwrap();
        let factor = |from: usize, to: usize| layers[from..to].iter().map(|state| state.gradient_factor(&field).unwrap()).product::<f64>();
        assert!((local_exponent(factor(1_000, 16_000), factor(4_000, 16_000)) - in_layer).abs() < 4e-3, "{neuron}");
        let readout =
            |last: usize| factor(1_000, last) * field.phi().moments(layers[last].q()).unwrap().slope_square / layers[last].denominator()[0];
        assert!((local_exponent(readout(4_000), readout(16_000)) - in_depth).abs() < 4e-3, "{neuron}");
    }
}

#[test]
fn above_the_critical_gain_departures_from_the_limit_are_powers_of_the_depth() {
    for (neuron, sigma_b2) in [("erf:2", 0.0), ("erf:2", 0.3), ("tanh:1.6", 0.0)] {
        let field = field("deterministic", neuron, 0.9, sigma_b2);
        let point = CarriedPoint::of(&field).unwrap();
        assert_eq!(point.phase, Phase::Chaotic, "{neuron}");
        let q_star = point.q_star.finite().unwrap();
        let layers = field.carried_trajectory(half(1.0), 16_000).unwrap();
        let q = |layer: usize| (layers[layer].q() - q_star).abs();
        assert!((local_exponent(q(4_000), q(16_000)) - point.q_exponent().unwrap()).abs() < 0.02, "{neuron}, σ_b² = {sigma_b2}");
        assert_eq!(point.c_star, Some(Correlation::ZERO));
        let c = |layer: usize| layers[layer].carried().correlation.c();
        assert!((local_exponent(c(4_000), c(16_000)) - point.c_exponent().unwrap()).abs() < 0.02, "{neuron}, σ_b² = {sigma_b2}");
        // Nearby signals separate as ℓ^(χ₁−1) at the neurons, and gradients grow as they do.
        let factor: f64 = layers[4_000..16_000].iter().map(|state| state.gradient_factor(&field).unwrap()).product();
        assert!((factor.ln() / 4f64.ln() - point.chi_1.unwrap()).abs() < 0.02, "{neuron}, σ_b² = {sigma_b2}");
        assert!(point.chi_1.unwrap() > 1.0);
    }
}

#[test]
fn at_the_critical_gain_the_signal_falls_as_one_over_the_logarithm() {
    let field = field("deterministic", "tanh", 1.0, 0.0);
    assert_eq!(CarriedPoint::of(&field).unwrap().q_exponent(), Some(0.0));
    let layers = field.carried_trajectory(half(0.01), 20_000).unwrap();
    // f = V/(V + Σ) = q/(1 + q); df/d ln ℓ = A − f = −f² + O(f³), since A = q − 2q² + …
    let inverse = |layer: usize| 1.0 + 1.0 / layers[layer].q();
    let slope = (inverse(20_000) - inverse(5_000)) / 4f64.ln();
    close(slope, 1.0, 0.05);
}

#[test]
fn fields_that_grow_forget_as_the_sign_network_does() {
    for (model, neuron, sigma2) in [
        ("binary", "sign", 1.0),
        ("lrt-binary", "probit:1", 0.7),
        ("lrt-binary", "sign", 0.7),
        ("stochastic-binary", "erf:1", 1.0),
        ("stochastic-neurons", "probit:0.5", 1.5),
        ("continuous", "erf:1.5", 1.5),
        ("lrt-continuous", "erf:1.5", 0.7),
        ("stochastic-weights", "erf:1.5", 1.0),
    ] {
        let field = any(model, neuron, sigma2, 0.05);
        let point = CarriedPoint::of(&field).unwrap();
        let noisy = model.starts_with("lrt") || (model.starts_with("stochastic") && model != "stochastic-weights");
        assert_eq!(point.phase, if noisy { Phase::NoiseLimited } else { Phase::Chaotic }, "{model}");
        let shared = if model.starts_with("lrt") { 0.7 } else { 1.0 };
        close(point.c_exponent().unwrap(), FRAC_2_PI * shared - 1.0, 1e-14);
        let layers = field.carried_trajectory(half(1.0), 24_000).unwrap();
        // A sigmoid that is not yet a step is off by a multiple of ℓ^(−½).
        let smooth = matches!(model, "continuous" | "lrt-continuous" | "stochastic-weights");
        let tolerance = if smooth { 1e-2 } else { 2e-3 };
        let c = |layer: usize| layers[layer].carried().correlation.c();
        assert!((local_exponent(c(6_000), c(24_000)) - point.c_exponent().unwrap()).abs() < tolerance, "{model}");
        let growth = (layers[24_000].q() - layers[12_000].q()) / 12_000.0;
        close(growth, point.growth.unwrap(), tolerance);
        assert_eq!(point.q_exponent(), Some(1.0));
    }
}

#[test]
fn gradients_of_fields_that_grow_are_exponentials_of_the_root_of_the_depth() {
    for (model, neuron, sigma2) in
        [("continuous", "tanh", 1.5), ("continuous", "erf:0.6", 0.4), ("lrt-binary", "probit:1", 0.7), ("lrt-continuous", "tanh:2", 0.3)]
    {
        let field = any(model, neuron, sigma2, 0.0);
        let point = CarriedPoint::of(&field).unwrap();
        let (from, to) = (6_000, 24_000);
        let mut state = CarriedState::start(&field, FieldPair::equal(point.growth.unwrap() * from as f64, Correlation::ONE), 1.0).unwrap();
        let mut logarithm = 0.0;
        for _ in from..to {
            logarithm += state.gradient_factor(&field).unwrap().ln();
            state = state.next(&field, true).unwrap();
        }
        let expected = point.root_rate.unwrap() * ((to as f64).sqrt() - (from as f64).sqrt());
        assert!((logarithm / expected - 1.0).abs() < 0.02, "{model}, {neuron}: {logarithm} is not {expected}");
    }
    assert_eq!(CarriedPoint::of(&any("binary", "sign", 1.0, 0.0)).unwrap().root_rate, None);
}

/// With a factor ρ on what is carried, memory would be exponential again: `ρ² + (1 − ρ²)χ` per layer. Only ρ = 1 has powers.
#[test]
fn a_leaky_sum_would_forget_exponentially() {
    let (sigma_m2, rho2) = (1.0 / 3.0, 0.9);
    let field = field("deterministic", "sign", sigma_m2, 0.0);
    let (mut v, mut sigma) = (1e-6, 1.0);
    let step = |v: &mut f64, sigma: &mut f64| {
        let a = field.phi().moments(*v / *sigma).unwrap().mean_square;
        *v = rho2 * *v + sigma_m2 * a;
        *sigma = rho2 * *sigma + 1.0 - sigma_m2 * a;
    };
    (0..300).for_each(|_| step(&mut v, &mut sigma));
    let before = v / sigma;
    step(&mut v, &mut sigma);
    close(v / sigma / before, rho2 + (1.0 - rho2) * FRAC_2_PI * sigma_m2, 1e-6);
}

#[test]
fn following_one_signal_is_following_two_equal_ones() {
    for (model, neuron) in
        [("deterministic", "logistic:0.7"), ("continuous", "tanh"), ("lrt-binary", "probit:1"), ("lrt-continuous", "erf:1")]
    {
        let field = any(model, neuron, 0.7, 0.1);
        let left = Remains::after(&field, 25).unwrap();
        let (q, gradient) = field.carried_gradient(25).unwrap();
        close(q, left.q, 1e-13);
        close(gradient, left.gradient.unwrap(), 1e-13);
    }
}

#[test]
fn probit_is_sign_in_the_limit() {
    let at = |neuron: &str| CarriedPoint::of(&field("deterministic", neuron, 0.6, 0.3)).unwrap();
    assert_eq!(at("probit:2"), at("sign"));
}

#[test]
fn neurons_that_do_not_saturate_have_maps_and_no_power_laws() {
    for neuron in ["relu", "linear"] {
        let network = network("continuous", neuron);
        let field = network.at(Some(1.0), 0.0).unwrap();
        let factor = if neuron == "relu" { 1.5 } else { 2.0 };
        close(field.carried_trajectory(half(1.0), 3).unwrap()[3].q(), f64::powi(factor, 3), 1e-14);
        for error in [CarriedPoint::of(&field).unwrap_err(), CarriedAdvice::new(&network, 10, 3.0).unwrap_err()] {
            assert!(error.to_string().contains("no power laws"), "{error}");
        }
        let error = field.carried_trajectory(half(1.0), 2000).unwrap_err();
        assert!(matches!(error, Error::Unsupported(_)), "{error}");
    }
    let still = network("continuous", "tanh").at(Some(0.0), 0.0).unwrap();
    assert!(CarriedPoint::of(&still).unwrap_err().to_string().contains("σ_w² = 0"));
}

#[test]
fn advice_is_to_carry_where_the_plain_network_does_not_reach() {
    let sign = network("deterministic", "sign");
    for (depth, reach, carry) in [
        (2, 12.0, CarryVerdict::Unneeded),
        (4, 3.0, CarryVerdict::Helpful),
        (100, 3.0, CarryVerdict::Needed),
        (1000, 12.0, CarryVerdict::Needed),
    ] {
        let advice = CarriedAdvice::new(&sign, depth, reach).unwrap();
        assert_eq!(advice.carry, carry, "depth {depth}");
        let sigma2 = advice.carried.sigma2.unwrap();
        let signal = advice.carried.left.signal.unwrap();
        assert!(advice.reaches && signal >= 0.999 * (-reach).exp(), "depth {depth}: {signal}");
        // The smallest that does, unless uniform means are enough.
        assert!(sigma2 == 1.0 / 3.0 || (signal / (-reach).exp() - 1.0).abs() < 1e-6, "depth {depth}: {sigma2}");
    }
    // At a variance of one's own: uniform means reach 5 plain layers and keep 1 % of the signal through 300 carried ones.
    let at = CarriedAdvice::at(&sign, Some(1.0 / 3.0), 0.0, 300, 12.0).unwrap();
    close(at.plain_depth.unwrap(), 12.0 / -(FRAC_2_PI / 3.0f64).ln(), 1e-12);
    let q = sign.at(Some(1.0 / 3.0), 0.0).unwrap().carried_trajectory(half(1.0), 300).unwrap()[300].q();
    close(at.carried.left.q, q, 1e-14);
    assert!((at.carried.left.signal.unwrap() / q - 1.0).abs() < 0.02 && (at.carried.left.gradient.unwrap() / q - 1.0).abs() < 0.5);
    // A network that is critical needs none of it.
    assert_eq!(CarriedAdvice::new(&network("continuous", "tanh"), 1000, 3.0).unwrap().carry, CarryVerdict::Unneeded);
    // σ_w² = 1/depth keeps everything of order one.
    let residual = CarriedAdvice::new(&network("continuous", "tanh"), 1000, 3.0).unwrap().carried;
    assert!(residual.left.signal.unwrap() > 0.5 && (1.0..3.0).contains(&residual.left.gradient.unwrap()), "{residual:?}");
    let binary = CarriedAdvice::new(&network("binary", "sign"), 50, 3.0).unwrap();
    assert_eq!((binary.carry, binary.carried.sigma2, binary.carried.left.gradient), (CarryVerdict::Needed, None, None));
    assert!(Remains::after(&sign.at(Some(0.5), 0.0).unwrap(), 1_000_000).unwrap_err().to_string().contains("depth = 1000000"));
}
