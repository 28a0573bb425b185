//! The paper's claims, each as a test of what is true. `docs/paper.md` lists them with their verdicts.

#![allow(clippy::disallowed_methods)] // Expected values may come from the standard library.

mod common;

use std::f64::consts::{FRAC_2_PI, FRAC_PI_2, PI};

use common::{close, field, network, pair};
use isinglass_theory::activation::{Activation, Erf, FieldPair, Sign};
use isinglass_theory::{Correlation, CriticalSet, Model, Phase, Point, depth_scale};

const SIGMOIDS: [&str; 5] = ["sign", "probit:1", "logistic:1", "erf:0.5", "tanh:1.5"];

#[test]
fn claim_1_corrected_gives_critical_points_of_the_deterministic_surrogate() {
    for neuron in ["erf:1", "tanh:1.5", "erf:2", "tanh:3"] {
        let network = network("deterministic", neuron);
        for q in [1e-6, 1e-3, 0.1, 1.0] {
            let point = network.critical_point(q).unwrap();
            let found = Point::of(&network.at(point.sigma2, point.sigma_b2).unwrap()).unwrap();
            assert_eq!(found.phase, Phase::Critical, "{neuron} at q = {q}: {found:?}");
            // Towards q → 0 the variance is marginal too and q* less and less determined by the two variances.
            close(found.q_star.finite().unwrap(), q, 1e-9 / q.min(1.0));
        }
    }
}

#[test]
fn claim_1_second_equation_holds_as_printed() {
    // q = σ_b² + (1 + σ_b²) Eφ²/Eφ'² for n = 0, s = 1.
    for neuron in ["sign", "erf:1", "tanh:1"] {
        let network = network("deterministic", neuron);
        for q in [0.01, 0.5, 3.0] {
            let m = network.phi().moments(q).unwrap();
            let b = network.critical_point(q).unwrap().sigma_b2;
            close(b + (1.0 + b) * m.mean_square / m.slope_square, q, 1e-13);
        }
    }
}

#[test]
fn claim_1_is_reachable_only_if_the_gain_is_at_least_one() {
    // γ = 4a²/π of erf(a h) is 1 at a = √π/2.
    let unit_gain = 0.5 * PI.sqrt();
    for (a, reachable) in [(0.25, false), (0.5, false), (0.88, false), (unit_gain, true), (0.9, true), (1.0, true), (2.0, true)] {
        let set = network("deterministic", &format!("erf:{a}")).critical_set().unwrap();
        assert_eq!(set.is_reachable(), reachable, "erf:{a}");
    }
    for (neuron, reachable) in
        [("sign", false), ("probit:1", false), ("logistic:1", false), ("tanh:0.99", false), ("tanh:1", true), ("tanh:1.1", true)]
    {
        assert_eq!(network("deterministic", neuron).critical_set().unwrap().is_reachable(), reachable, "{neuron}");
    }
}

#[test]
fn critical_line_of_the_sign_neuron_runs_from_half_pi_towards_one_outside_the_allowed_range() {
    let network = network("deterministic", "sign");
    let mut last = FRAC_PI_2 + 1e-15;
    for exponent in -30..=60 {
        let point = network.critical_point(10f64.powf(f64::from(exponent) / 5.0)).unwrap();
        let sigma2 = point.sigma2.unwrap();
        assert!(sigma2 > 1.0 && sigma2 <= last, "{point:?}");
        last = sigma2;
    }
    assert!(last < 1.0 + 1e-5);
}

#[test]
fn claim_2_lrt_with_binary_neurons_has_no_critical_initialisation() {
    for neuron in ["probit:1", "probit:0.01", "logistic:1", "erf:5", "tanh:1"] {
        assert!(matches!(network("lrt-binary", neuron).critical_set().unwrap(), CriticalSet::Empty(_)));
        for sigma_m2 in [0.1, 0.9, 1.0] {
            for sigma_b2 in [0.0, 0.5, 10.0] {
                let field = field("lrt-binary", neuron, sigma_m2, sigma_b2);
                let q = 1.0 + sigma_b2;
                // c = 1 would need σ_m² = 1/Eφ², which is above 1.
                assert!(field.pair_map(&FieldPair::equal(q, Correlation::ONE)).unwrap().correlation.deficit() > 0.0);
                assert!(1.0 / field.phi().moments(q).unwrap().mean_square > 1.0);
                let point = Point::of(&field).unwrap();
                assert_eq!(point.phase, Phase::NoiseLimited);
                assert!(point.c_star.unwrap().c() < 1.0 && point.chi.unwrap() < 1.0);
            }
        }
    }
}

#[test]
fn claim_2_holds_for_the_sign_neuron_through_its_infinite_slope() {
    assert!(matches!(network("lrt-binary", "sign").critical_set().unwrap(), CriticalSet::Empty(_)));
    assert_eq!(Point::of(&field("lrt-binary", "sign", 0.9, 0.1)).unwrap().phase, Phase::NoiseLimited);
    // At σ_m² = 1 its c = 1 is a fixed point, but never a stable one.
    let limit = Point::of(&field("lrt-binary", "sign", 1.0, 0.1)).unwrap();
    assert_eq!((limit.phase, limit.chi_1), (Phase::Chaotic, None));
}

#[test]
fn claim_3_lrt_with_tanh_neurons_is_critical_at_the_single_point_one_zero() {
    let network = network("lrt-continuous", "tanh:1");
    let CriticalSet::Points(points) = network.critical_set().unwrap() else { panic!() };
    assert_eq!(points.len(), 1);
    assert_eq!((points[0].sigma2, points[0].sigma_b2), (Some(1.0), 0.0));
    assert_eq!(Point::of(&network.at(Some(1.0), 0.0).unwrap()).unwrap().phase, Phase::Critical);
    for (sigma_m2, sigma_b2) in [(0.99, 0.0), (1.0, 0.01), (0.5, 0.5)] {
        assert_ne!(Point::of(&network.at(Some(sigma_m2), sigma_b2).unwrap()).unwrap().phase, Phase::Critical);
    }
}

#[test]
fn claim_3_extends_to_other_gains_which_the_paper_left_to_future_work() {
    let CriticalSet::Points(points) = network("lrt-continuous", "tanh:1.5").critical_set().unwrap() else { panic!() };
    close(points[0].sigma_b2, 0.08273, 1e-4);
    assert!(!network("lrt-continuous", "tanh:0.9").critical_set().unwrap().is_reachable());
    // B(q) = 1 in closed form for erf.
    let a = 1.0f64;
    let q = ((4.0 * a * a / PI).powi(2) - 1.0) / (4.0 * a * a);
    let CriticalSet::Points(points) = network("lrt-continuous", "erf:1").critical_set().unwrap() else { panic!() };
    close(points[0].q, q, 1e-12);
    close(points[0].sigma_b2, q - Erf::new(a).moments(q).unwrap().mean_square, 1e-11);
}

#[test]
fn critical_as_the_means_approach_one_holds_for_unit_gain_and_not_for_the_sign_neuron() {
    for sigma_m2 in [0.5, 0.9, 0.99, 0.9999] {
        let unit = Point::of(&field("deterministic", "tanh:1", sigma_m2, 0.0)).unwrap();
        close(unit.chi_1.unwrap(), sigma_m2, 1e-14);
        let sign = Point::of(&field("deterministic", "sign", sigma_m2, 0.0)).unwrap();
        close(sign.chi_1.unwrap(), FRAC_2_PI * sigma_m2, 1e-14);
        assert!(sign.xi_1().unwrap() < 2.2145);
    }
}

#[test]
fn means_close_to_one_are_best_for_gains_up_to_one() {
    for neuron in ["sign", "probit:0.5", "logistic:1", "erf:0.5", "tanh:1"] {
        let network = network("deterministic", neuron);
        for sigma_b2 in [0.0, 0.01, 1.0] {
            let chi_1: Vec<f64> =
                (1..=20).map(|i| network.at(Some(f64::from(i) / 20.0), sigma_b2).unwrap().chi_1().unwrap().unwrap()).collect();
            assert!(chi_1.windows(2).all(|pair| pair[0] < pair[1]), "{neuron}, σ_b² = {sigma_b2}: {chi_1:?}");
        }
    }
}

#[test]
fn biases_do_not_help_where_no_critical_point_is_reachable() {
    // What the advice rests on: at σ_m² = 1 signals survive best without biases.
    for (model, neuron) in [
        ("deterministic", "sign"),
        ("deterministic", "logistic:1"),
        ("lrt-binary", "tanh:1"),
        ("lrt-binary", "sign"),
        ("lrt-continuous", "tanh:0.8"),
    ] {
        let rate = |sigma_b2: f64| {
            let point = Point::of(&field(model, neuron, 1.0, sigma_b2)).unwrap();
            isinglass_theory::advice::signal_rate(&point).unwrap()
        };
        let without = rate(0.0);
        for sigma_b2 in [1e-6, 1e-3, 0.03, 0.3, 1.0, 3.0, 30.0] {
            assert!(rate(sigma_b2) <= without + 1e-12, "{model} {neuron}: {} at σ_b² = {sigma_b2}, {without} without", rate(sigma_b2));
        }
    }
}

#[test]
fn variance_depth_scale_corrected_is_the_rate_at_which_the_variance_settles() {
    for (model, neuron, sigma2, sigma_b2) in [
        ("deterministic", "sign", 0.9, 0.1),
        ("deterministic", "tanh:1.5", 0.8, 0.05),
        ("continuous", "tanh:1", 1.5, 0.1),
        ("deterministic", "logistic:1", 0.9, 0.2),
    ] {
        let field = field(model, neuron, sigma2, sigma_b2);
        let point = Point::of(&field).unwrap();
        let q_star = point.q_star.finite().unwrap();
        let distance = |q: f64| field.variance_map(q).unwrap() - q_star;
        let offset = 1e-5 * q_star;
        let rate = (distance(q_star + offset) - distance(q_star - offset)) / (2.0 * offset);
        close(point.xi_q().unwrap(), depth_scale(rate).unwrap(), 1e-6);
    }
}

#[test]
fn variance_and_gradient_have_the_same_depth_scale_for_sign_and_probit_only() {
    for neuron in ["sign", "probit:0.3", "probit:1", "probit:4"] {
        for (sigma_m2, sigma_b2) in [(0.3, 0.0), (0.9, 0.001), (1.0, 0.5), (0.99, 20.0)] {
            let point = Point::of(&field("deterministic", neuron, sigma_m2, sigma_b2)).unwrap();
            close(point.dq.unwrap(), point.chi_1.unwrap(), 1e-13);
            close(point.xi_q().unwrap(), point.xi_1().unwrap(), 1e-12);
        }
    }
    let other = Point::of(&field("deterministic", "logistic:1", 0.9, 0.5)).unwrap();
    assert!((other.dq.unwrap() / other.chi_1.unwrap() - 1.0).abs() > 1e-3);
}

#[test]
fn probit_is_sign_at_both_variances_divided_by_one_plus_alpha_squared() {
    for alpha in [0.3f64, 1.0, 2.0] {
        let scale = 1.0 + alpha * alpha;
        let probit = field("deterministic", &format!("probit:{alpha}"), 0.9, 0.2);
        let sign = field("deterministic", "sign", 0.9 / scale, 0.2 / scale);
        for q in [0.01, 1.0, 50.0] {
            close(probit.variance_map(q).unwrap(), sign.variance_map(q).unwrap(), 1e-14);
            let fields = pair(q, 2.0 * q, 0.3);
            let (a, b) = (probit.pair_map(&fields).unwrap(), sign.pair_map(&fields).unwrap());
            close(a.correlation.c(), b.correlation.c(), 1e-14);
        }
        close(Point::of(&probit).unwrap().chi_1.unwrap(), Point::of(&sign).unwrap().chi_1.unwrap(), 1e-13);
    }
    // Logistic does not reduce to sign: the ratio of their maps depends on q.
    let logistic = field("deterministic", "logistic:1", 0.9, 0.0);
    let sign = field("deterministic", "sign", 0.9, 0.0);
    let ratio = |q: f64| logistic.variance_map(q).unwrap() / sign.variance_map(q).unwrap();
    assert!((ratio(0.1) / ratio(10.0) - 1.0).abs() > 0.05);
}

#[test]
fn arcsine_law_of_the_sign_network() {
    for c in [-1.0, -0.4, 0.0, 0.3, 0.999, 1.0] {
        let moments = Sign.pair_moments(&pair(3.0, 0.2, c)).unwrap();
        close(moments.product, FRAC_2_PI * f64::asin(c), 1e-14);
    }
    for sigma_b2 in [0.0, 0.1, 2.0] {
        let field = isinglass_theory::RandomNetwork::new(Model::Binary, "sign".parse().unwrap()).unwrap().at(None, sigma_b2).unwrap();
        let q = 1.0 + sigma_b2;
        assert_eq!(field.variance_map(0.7).unwrap(), q);
        for c in [0.0, 0.5, 0.99] {
            let next = field.pair_map(&pair(q, q, c)).unwrap().correlation;
            close(next.c(), (FRAC_2_PI * f64::asin(c) + sigma_b2) / q, 1e-14);
            close(field.chi(q, Correlation::new(c).unwrap()).unwrap(), FRAC_2_PI / (q * (1.0 - c * c).sqrt()), 1e-13);
        }
        // c = 1 is always a fixed point and its slope always infinite: chaotic, never critical.
        assert_eq!(field.pair_map(&pair(q, q, 1.0)).unwrap().correlation.deficit(), 0.0);
        let point = Point::of(&field).unwrap();
        assert_eq!((point.phase, point.chi_1, point.xi_1()), (Phase::Chaotic, None, None));
    }
}

/// Whether two models have the same maps.
fn same_maps(a: &isinglass_theory::MeanField, b: &isinglass_theory::MeanField) -> bool {
    [(1.0, 1.0, 0.5), (0.3, 2.0, 0.9), (2.0, 2.0, 1.0)].into_iter().all(|(q_a, q_b, c)| {
        let (x, y) = (a.pair_map(&pair(q_a, q_b, c)).unwrap(), b.pair_map(&pair(q_a, q_b, c)).unwrap());
        let near = |x: f64, y: f64| (x - y).abs() <= 1e-13 * x.abs().max(1e-3);
        near(x.q_a, y.q_a) && near(x.q_b, y.q_b) && near(x.correlation.c(), y.correlation.c())
    })
}

#[test]
fn stochastic_binary_network_is_lrt_binary_at_unit_mean_variance() {
    for neuron in SIGMOIDS {
        let stochastic = network("stochastic-binary", neuron).at(None, 0.3).unwrap();
        assert!(same_maps(&stochastic, &field("lrt-binary", neuron, 1.0, 0.3)), "{neuron}");
        assert!(!same_maps(&stochastic, &field("lrt-binary", neuron, 0.9, 0.3)), "{neuron}");
    }
}

#[test]
fn stochastic_weights_with_continuous_neurons_are_lrt_continuous_at_unit_mean_variance() {
    for neuron in SIGMOIDS {
        let stochastic = network("stochastic-weights", neuron).at(None, 0.3).unwrap();
        assert!(same_maps(&stochastic, &field("lrt-continuous", neuron, 1.0, 0.3)), "{neuron}");
        assert!(!same_maps(&stochastic, &field("lrt-continuous", neuron, 0.9, 0.3)), "{neuron}");
    }
    // "This model does have a critical initialisation, at (1, 0)": for tanh.
    let CriticalSet::Points(points) = network("stochastic-weights", "tanh").critical_set().unwrap() else { panic!() };
    assert_eq!((points[0].sigma2, points[0].sigma_b2), (None, 0.0));
}

#[test]
fn continuous_weights_with_stochastic_neurons_are_lrt_binary_at_unit_variance_only() {
    for neuron in SIGMOIDS {
        let lrt = field("lrt-binary", neuron, 1.0, 0.3);
        assert!(same_maps(&field("stochastic-neurons", neuron, 1.0, 0.3), &lrt), "{neuron}");
        assert!(!same_maps(&field("stochastic-neurons", neuron, 2.0, 0.3), &lrt), "{neuron}");
        assert!(!same_maps(&field("stochastic-neurons", neuron, 0.5, 0.3), &field("lrt-binary", neuron, 0.5, 0.3)), "{neuron}");
    }
    // That none is critical holds at every σ_w².
    for sigma_w2 in [0.1, 1.0, 50.0] {
        assert_eq!(Point::of(&field("stochastic-neurons", "tanh", sigma_w2, 0.1)).unwrap().phase, Phase::NoiseLimited);
    }
}

#[test]
fn sign_network_is_the_noiseless_limit_of_the_stochastic_binary_one() {
    let binary = network("binary", "sign").at(None, 0.1).unwrap();
    let nearly = network("stochastic-binary", "probit:1e-9").at(None, 0.1).unwrap();
    for c in [0.0, 0.5, 0.9] {
        let (x, y) = (binary.pair_map(&pair(1.1, 1.1, c)).unwrap(), nearly.pair_map(&pair(1.1, 1.1, c)).unwrap());
        assert!((x.correlation.c() - y.correlation.c()).abs() < 1e-8);
    }
}

#[test]
fn central_limit_theorem_survives_means_of_one_only_while_neurons_are_random() {
    // Closing remark; `examples/central_limit.rs` shows the convergence to a Gaussian.
    // In the mean-field limit: the deterministic surrogate's Σ stays positive at σ_m² = 1, and equals 1 − A.
    let surrogate = field("deterministic", "sign", 1.0, 0.0);
    let m = surrogate.phi().moments(0.7).unwrap();
    close(m.mean_square / surrogate.variance_map(0.7).unwrap(), m.deficit, 1e-14);
    // If neurons are deterministic too, Σ = (1 − σ_m²) q⁰ vanishes: the first layer at σ_m² = 1.
    let inputs = pair(1.0, 1.0, 0.5);
    assert!(surrogate.first_layer(&inputs).is_err());
    assert!(field("deterministic", "sign", 0.999, 0.0).first_layer(&inputs).unwrap().q_a > 900.0);
}

#[test]
fn gain_decides_where_the_critical_line_starts() {
    // γ = slope of q' at 0 over σ_m²; the line starts at 1/γ.
    for (neuron, start) in [
        ("sign", FRAC_PI_2),
        ("probit:1", PI),
        ("probit:2", 2.5 * PI),
        ("logistic:1", 1.0 + FRAC_PI_2),
        ("erf:1", PI / 4.0),
        ("tanh:2", 0.25),
        ("tanh:1", 1.0),
    ] {
        let network = network("deterministic", neuron);
        let CriticalSet::Line { start: found, .. } = network.critical_set().unwrap() else { panic!() };
        close(found.sigma2.unwrap(), start, 1e-14);
        assert_eq!(found.sigma_b2, 0.0);
        let slope = network.at(Some(0.5), 0.0).unwrap().variance_slope(0.0).unwrap();
        close(0.5 / slope, start, 1e-14);
    }
}

#[test]
fn correlation_freezes_where_the_signal_dies() {
    let field = field("deterministic", "sign", 0.9, 0.0);
    let layers = field.trajectory(pair(1.0, 2.0, 0.5), 400).unwrap();
    let c = |layer: usize| layers[layer].correlation.c();
    assert!((c(400) - 0.4607).abs() < 5e-5);
    close(c(100), c(400), 1e-13);
    close(layers[61].q_a / layers[60].q_a, 0.9 * FRAC_2_PI, 1e-12);
    // LRT with continuous neurons loses it at the rate σ_m² instead.
    let lrt = common::field("lrt-continuous", "tanh:0.5", 0.9, 0.0);
    let layers = lrt.trajectory(pair(1.0, 1.0, 0.5), 100).unwrap();
    close(layers[100].correlation.c() / layers[99].correlation.c(), 0.9, 1e-12);
    let point = Point::of(&lrt).unwrap();
    assert_eq!(point.c_star, Some(Correlation::ZERO));
    assert_eq!(point.chi, Some(0.9));
}
