//! Properties of the maps, over random networks and signals, and finite differences.

#![allow(clippy::disallowed_methods)] // Expected values may come from the standard library.

mod common;

use isinglass_theory::activation::{Activation, FieldPair, Parity, Phi, Tanh};
use isinglass_theory::{Advice, Correlation, MeanField, Model, Neuron, Phase, Point, RandomNetwork, VarianceFixedPoint, WeightVariance};
use proptest::prelude::*;

fn sigmoid() -> impl Strategy<Value = Neuron> {
    let parameter = || (-1.5f64..1.5).prop_map(f64::exp);
    prop_oneof![
        Just(Neuron::Sign),
        parameter().prop_map(Neuron::Probit),
        parameter().prop_map(Neuron::Logistic),
        parameter().prop_map(Neuron::Erf),
        parameter().prop_map(Neuron::Tanh),
    ]
}

/// Any valid network at any allowed initialisation.
fn any_field() -> impl Strategy<Value = MeanField> {
    (prop::sample::select(Model::ALL.to_vec()), sigmoid(), 0.01f64..1.0, prop_oneof![Just(0.0), 1e-6f64..3.0]).prop_map(
        |(model, neuron, sigma2, sigma_b2)| {
            let neuron = if model == Model::Binary { Neuron::Sign } else { neuron };
            let sigma2 = match model.weight_variance() {
                WeightVariance::Means => Some(sigma2),
                WeightVariance::Weights => Some(3.0 * sigma2),
                WeightVariance::None => None,
            };
            RandomNetwork::new(model, neuron).unwrap().at(sigma2, sigma_b2).unwrap()
        },
    )
}

fn variance() -> impl Strategy<Value = f64> {
    (-9.0f64..7.0).prop_map(f64::exp)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn correlation_map_is_monotone(field in any_field(), q in variance(), a in 0.0f64..1.9, b in 0.0f64..1.9) {
        let (near, far) = if a < b { (a, b) } else { (b, a) };
        prop_assume!(far - near > 1e-6);
        let map = |deficit: f64| field.pair_map(&FieldPair::equal(q, Correlation::from_deficit(deficit).unwrap())).unwrap().correlation;
        prop_assert!(map(near).deficit() < map(far).deficit());
        prop_assert!(map(near).c() > map(far).c());
    }

    #[test]
    fn maps_are_symmetric_in_the_two_signals(field in any_field(), q_a in variance(), q_b in variance(), deficit in 0.0f64..2.0) {
        let correlation = Correlation::from_deficit(deficit).unwrap();
        let one = field.pair_map(&FieldPair { q_a, q_b, correlation }).unwrap();
        let other = field.pair_map(&FieldPair { q_a: q_b, q_b: q_a, correlation }).unwrap();
        prop_assert_eq!((one.q_a, one.q_b), (other.q_b, other.q_a));
        prop_assert!((one.correlation.deficit() / other.correlation.deficit() - 1.0).abs() < 1e-12 || one.correlation.deficit() == other.correlation.deficit());
    }

    #[test]
    fn equal_signals_stay_equal_exactly_where_they_must(field in any_field(), q in variance()) {
        let next = field.pair_map(&FieldPair::equal(q, Correlation::ONE)).unwrap();
        prop_assert_eq!(next.correlation.deficit() == 0.0, field.keeps_equal_signals_equal());
    }

    #[test]
    fn correlation_and_deficit_belong_together(field in any_field(), q_a in variance(), q_b in variance(), deficit in 0.0f64..2.0) {
        let next = field.pair_map(&FieldPair { q_a, q_b, correlation: Correlation::from_deficit(deficit).unwrap() }).unwrap();
        prop_assert!((next.correlation.c() + next.correlation.deficit() - 1.0).abs() < 1e-12, "{:?}", next);
    }

    #[test]
    fn fixed_points_are_fixed(field in any_field()) {
        let point = Point::of(&field).unwrap();
        match point.q_star {
            VarianceFixedPoint::Positive(q) => {
                // A rounding error in q' moves q* by that over 1 − dq.
                prop_assert!((field.variance_map(q).unwrap() / q - 1.0).abs() < 1e-14 + 1e-13 * (1.0 - point.dq.unwrap()).abs());
                let c = point.c_star.unwrap();
                let next = field.pair_map(&FieldPair::equal(q, c)).unwrap().correlation;
                prop_assert!((next.deficit() - c.deficit()).abs() <= 1e-12 * c.deficit().max(1e-3), "{:?} → {:?}", c, next);
                prop_assert!(point.dq.unwrap() <= 1.0 + 1e-9 && point.chi.unwrap() <= 1.0 + 1e-9, "{:?}", point);
            }
            VarianceFixedPoint::Zero => {
                prop_assert_eq!(field.sigma_b2(), 0.0);
                prop_assert_eq!(field.variance_map(0.0).unwrap(), 0.0);
                for q in [1e-9, 1e-3, 1.0, 100.0] {
                    prop_assert!(field.variance_map(q).unwrap() < q, "the signal must shrink from q = {}", q);
                }
                // The correlation freezes, unless noise drawn per input makes it vanish.
                let expected = (!field.keeps_equal_signals_equal()).then_some(Correlation::ZERO);
                prop_assert_eq!((point.c_star, point.chi.is_some()), (expected, expected.is_some()));
            }
            // Only homogeneous neurons keep every variance, or let it grow without limit.
            VarianceFixedPoint::Every | VarianceFixedPoint::Diverges => prop_assert!(false, "{:?}", point),
        }
    }

    #[test]
    fn slopes_are_those_of_finite_differences(field in any_field()) {
        let point = Point::of(&field).unwrap();
        let dq = point.dq.unwrap();
        let q = point.q_star.finite().unwrap();
        prop_assert_eq!(point.chi_1.is_none(), field.network().is_step() && field.sigma2() != Some(0.0));
        if q == 0.0 {
            // Both slopes are the limits of small signals.
            let small = 1e-9;
            prop_assert!((field.variance_map(small).unwrap() / small - dq).abs() < 1e-6 * dq);
            let chi_1 = point.chi_1.unwrap();
            prop_assert!((field.chi(small, Correlation::ONE).unwrap() - chi_1).abs() < 1e-6 * chi_1);
            return Ok(());
        }
        let step = 1e-4 * q;
        let difference = (field.variance_map(q + step).unwrap() - field.variance_map(q - step).unwrap()) / (2.0 * step);
        prop_assert!((difference - dq).abs() < 1e-6 * (1.0 + dq), "dq: {difference} and {dq}");
        // χ at a correlation in the middle, where the map is smooth for every neuron.
        let c = 0.4;
        let map = |c: f64| field.pair_map(&FieldPair::equal(q, Correlation::new(c).unwrap())).unwrap().correlation.c();
        let difference = (map(c + 1e-4) - map(c - 1e-4)) / 2e-4;
        let chi = field.chi(q, Correlation::new(c).unwrap()).unwrap();
        prop_assert!((difference - chi).abs() < 1e-6 * (1.0 + chi), "χ: {difference} and {chi}");
        // χ₁, one-sided: 1 − c' = (1 − c'(1)) + χ₁(1 − c). Near c = 1 the map of a step rises as √(1 − c).
        let deficit = |deficit: f64| field.pair_map(&FieldPair::equal(q, Correlation::from_deficit(deficit).unwrap())).unwrap().correlation.deficit();
        let slope = |d: f64| (deficit(d) - deficit(0.0)) / d;
        let d = 1e-5 / (1.0 + q);
        match point.chi_1 {
            Some(chi_1) => {
                // Richardson: removes the curvature of the map.
                let difference = 2.0 * slope(d / 2.0) - slope(d);
                prop_assert!((difference - chi_1).abs() < 1e-4 * (1.0 + chi_1), "χ₁: {difference} and {chi_1}");
            }
            None => prop_assert!((slope(d / 4.0) / slope(d) - 2.0).abs() < 1e-3, "χ₁ is infinite, and the slope {} near c = 1", slope(d)),
        }
    }

    #[test]
    fn the_two_rules_for_tanh_agree_at_every_scale(log_q in -30.0f64..16.0, gain in 0.1f64..10.0, log_deficit in -30.0f64..0.69) {
        let phi = Tanh::new(gain);
        let q = log_q.exp();
        let one = phi.moments(q).unwrap();
        let pair = FieldPair::equal(q, Correlation::from_deficit(log_deficit.exp()).unwrap());
        let two = phi.pair_moments(&pair).unwrap();
        // A comes from the line, C and the distance from the mixture: E(φ_a − φ_b)² = 2(A − C).
        let scale = one.mean_square;
        prop_assert!((two.product + 0.5 * two.distance - scale).abs() < 1e-13 * scale, "{one:?} and {two:?}");
        prop_assert!((two.deficit - 0.5 * two.distance - one.deficit).abs() < 1e-13, "{one:?} and {two:?}");
        // qB − A, from the mixture too.
        let excess = phi.critical_excess(q).unwrap();
        prop_assert!((excess - (q * one.slope_square - scale)).abs() < 1e-13 * (q * one.slope_square + scale), "{one:?} and {excess}");
        // D is largest at c = 1, where it is B.
        let slopes = phi.slope_product(&pair).unwrap();
        prop_assert!(slopes > 0.0 && slopes <= one.slope_square * (1.0 + 1e-13), "{slopes} and {one:?}");
    }

    #[test]
    fn a_phi_of_the_users_own_agrees_with_the_built_in_one(log_q in -5.0f64..2.0, deficit in 0.0f64..2.0, ratio in 0.3f64..3.0) {
        let q = log_q.exp();
        let (own, built_in) = (Own(Phi::Tanh(Tanh::new(1.2))), Tanh::new(1.2));
        let (a, b) = (own.moments(q).unwrap(), built_in.moments(q).unwrap());
        for (x, y) in [(a.mean_square, b.mean_square), (a.deficit, b.deficit), (a.slope_square, b.slope_square), (a.growth, b.growth)] {
            prop_assert!((x / y - 1.0).abs() < 1e-7, "{x} and {y}");
        }
        let pair = FieldPair { q_a: q, q_b: ratio * q, correlation: Correlation::from_deficit(deficit).unwrap() };
        let (a, b) = (own.pair_moments(&pair).unwrap(), built_in.pair_moments(&pair).unwrap());
        prop_assert!((a.product - b.product).abs() < 1e-11 && (a.distance / b.distance - 1.0).abs() < 1e-8);
        prop_assert!((a.decorrelation - b.decorrelation).abs() < 1e-9);
        prop_assert!((own.slope_product(&pair).unwrap() / built_in.slope_product(&pair).unwrap() - 1.0).abs() < 1e-7);
    }
}

/// A built-in φ stripped of everything but its value.
#[derive(Clone)]
struct Own(Phi);

impl Activation for Own {
    fn value(&self, h: f64) -> f64 {
        self.0.value(h)
    }
    fn parity(&self) -> Parity {
        Parity::Odd
    }
}

/// States a slope that is not its own.
struct Inconsistent;

impl Activation for Inconsistent {
    fn value(&self, h: f64) -> f64 {
        h.tanh()
    }
    fn slope(&self, _h: f64) -> f64 {
        1.0
    }
}

#[test]
fn derivatives_that_do_not_belong_to_the_value_are_noticed() {
    assert!(matches!(Inconsistent.moments(1.0), Err(isinglass_theory::Error::InconsistentDerivatives { .. })));
}

#[test]
fn a_network_of_the_users_own_has_the_same_theory() {
    let own = RandomNetwork::with_activation(Model::Continuous, Own("tanh".parse::<Neuron>().unwrap().mean()))
        .unwrap()
        .at(Some(2.0), 0.1)
        .unwrap();
    let built_in = common::field("continuous", "tanh", 2.0, 0.1);
    let (a, b) = (Point::of(&own).unwrap(), Point::of(&built_in).unwrap());
    common::close(a.q_star.finite().unwrap(), b.q_star.finite().unwrap(), 1e-10);
    common::close(a.c_star.unwrap().c(), b.c_star.unwrap().c(), 1e-8);
    common::close(a.chi.unwrap(), b.chi.unwrap(), 1e-8);
    assert_eq!(a.phase, b.phase);
}

#[test]
fn advice_on_a_network_of_the_users_own_is_that_of_the_built_in_one() {
    let tanh = || Own("tanh".parse::<Neuron>().unwrap().mean());
    for model in [Model::Continuous, Model::LrtContinuous, Model::StochasticWeights, Model::StochasticNeurons, Model::Deterministic] {
        let own = Advice::new(&RandomNetwork::with_activation(model, tanh()).unwrap(), 10, 3.0).unwrap();
        let built_in = Advice::new(&RandomNetwork::new(model, Neuron::Tanh(1.0)).unwrap(), 10, 3.0).unwrap();
        // Numerical slopes are 1 only to their stated error, so the very edge of what is reachable can be missed.
        let close = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (Some(a), Some(b)) => (a - b).abs() < 1e-6,
            (None, None) => true,
            _ => false,
        };
        let (a, b) = (&own.best, &built_in.best);
        assert_eq!(b.sigma2.is_none(), model.weight_variance() == WeightVariance::None);
        assert!(close(a.sigma2, b.sigma2) && close(Some(a.sigma_b2), Some(b.sigma_b2)), "{model}: {a:?} and {b:?}");
        assert!(close(a.point.chi_1, b.point.chi_1) && close(a.gradient, b.gradient), "{model}: {a:?} and {b:?}");
    }
}

#[test]
fn unit_gain_is_on_the_limit_whatever_the_rounding() {
    for a in [0.886_226_925_452_757_8, 0.886_226_925_452_757_9, 0.886_226_925_452_758] {
        let advice = Advice::new(&RandomNetwork::new(Model::Deterministic, Neuron::Erf(a)).unwrap(), 10, 3.0).unwrap();
        assert!(advice.critical.is_reachable());
        assert_eq!(advice.best.sigma2, Some(1.0));
    }
}

#[test]
fn equal_directions_of_different_size_can_be_followed_until_they_die() {
    for neuron in ["tanh", "sign", "erf:0.3"] {
        let layers = common::field("deterministic", neuron, 0.5, 0.0).trajectory(common::pair(1.0, 2.0, 1.0), 300).unwrap();
        assert!(layers[300].q_a < 1e-60 && layers[300].correlation.c() > 0.9, "{neuron}: {:?}", layers[300]);
    }
}

#[test]
fn deep_trajectories_outlive_underflow() {
    // Signals, differences and correlations that vanish beyond the smallest numbers.
    for (model, neuron, sigma2, sigma_b2, depth) in [
        ("deterministic", "tanh", 0.01, 0.0, 400),
        ("deterministic", "tanh", 0.01, 0.1, 400),
        ("deterministic", "logistic:1", 0.5, 0.1, 2000),
        ("continuous", "tanh", 0.5, 0.1, 2000),
        ("lrt-binary", "tanh", 0.5, 0.0, 2000),
        ("lrt-continuous", "erf:0.5", 0.1, 0.0, 2000),
        ("continuous", "erf:1", 0.5, 0.1, 5000),
    ] {
        let field = common::field(model, neuron, sigma2, sigma_b2);
        for start in [common::pair(1.0, 1.0, 0.5), common::pair(1.0, 3.0, 0.3)] {
            let last = *field.trajectory(start, depth).unwrap().last().unwrap();
            let correlation = last.correlation;
            assert_eq!(correlation.c() + correlation.deficit(), 1.0, "{model} {neuron}: {last:?}");
            assert!(correlation.c() == 0.0 || correlation.c() == 1.0 || last.q_a == 0.0, "{model} {neuron}: {last:?}");
        }
    }
}

#[test]
fn small_correlations_keep_their_accuracy() {
    // σ_m² = 0: c* = σ_b²/q* exactly.
    let field = common::field("lrt-continuous", "tanh", 0.0, 1e-30);
    let point = Point::of(&field).unwrap();
    common::close(point.c_star.unwrap().c(), 1e-30 / point.q_star.finite().unwrap(), 1e-12);
}

#[test]
fn without_weights_all_signals_are_equal() {
    let point = Point::of(&common::field("stochastic-neurons", "tanh", 0.0, 1.0)).unwrap();
    assert_eq!((point.c_star, point.chi, point.phase), (Some(Correlation::ONE), Some(0.0), Phase::Ordered));
}

#[test]
fn critical_points_with_negative_bias_variance_are_none() {
    /// B(q) = 1 somewhere, but the offset makes q − A negative there.
    #[derive(Clone)]
    struct Offset;
    impl Activation for Offset {
        fn value(&self, h: f64) -> f64 {
            (1.2 * h).tanh() + 0.9
        }
    }
    let set = RandomNetwork::with_activation(Model::LrtContinuous, Offset).unwrap().critical_set().unwrap();
    assert!(!set.is_reachable(), "{set:?}");
}

#[test]
fn advice_at_criticality_counts_what_is_left() {
    let network = common::network("deterministic", "tanh");
    let advice = Advice::new(&network, 40, 3.0).unwrap();
    let layers = network.at(Some(1.0), 0.0).unwrap().trajectory(common::pair(1.0, 1.0, 0.5), 40).unwrap();
    common::close(advice.best.signal.unwrap(), layers[40].q_a, 1e-12);
    // The Jacobian's product falls too, but algebraically: one power of the depth.
    let gradient = |depth: usize| Advice::new(&network, depth, 3.0).unwrap().best.gradient.unwrap();
    assert!(gradient(40) < 1.0 && gradient(40) > 1e-3 && gradient(80) / gradient(40) > 0.2, "{} {}", gradient(40), gradient(80));
    assert_eq!(advice.max_depth, None);
}

#[test]
fn advice_on_very_deep_networks_is_immediate_or_refused() {
    let deepest = 100_000_000;
    // Far from criticality nothing is followed layer by layer.
    let ordered = Advice::new(&common::network("deterministic", "sign"), deepest, 3.0).unwrap();
    assert_eq!((ordered.best.signal, ordered.best.gradient), (Some(0.0), Some(0.0)));
    let error = Advice::new(&common::network("deterministic", "erf:1"), deepest, 3.0).unwrap_err();
    assert!(error.to_string().starts_with("depth = 100000000: "), "{error}");
}

#[test]
fn advice_follows_a_dying_signal_to_any_depth() {
    // χ₁ = 2/π per layer once the signal is small: 95 % of the layers are in that limit.
    let network = common::network("deterministic", "sign");
    let left = |depth: usize| Advice::new(&network, depth, 3.0).unwrap().best;
    let (a, b) = (left(400), left(410));
    let rate = std::f64::consts::FRAC_2_PI.powi(10);
    common::close(b.signal.unwrap() / a.signal.unwrap(), rate, 1e-12);
    common::close(b.gradient.unwrap() / a.gradient.unwrap(), rate, 1e-12);
    // The same layer by layer.
    let layers = network.at(Some(1.0), 0.0).unwrap().trajectory(common::pair(1.0, 1.0, 0.5), 400).unwrap();
    common::close(a.signal.unwrap(), layers[400].q_a, 1e-12);
    let noisy = common::network("lrt-continuous", "tanh:0.8");
    let best = Advice::new(&noisy, 200, 3.0).unwrap().best;
    let layers = noisy.at(best.sigma2, best.sigma_b2).unwrap().trajectory(common::pair(1.0, 1.0, 0.5), 200).unwrap();
    common::close(best.signal.unwrap(), layers[200].q_a, 1e-12);
}

#[test]
fn relu_of_opposite_signals_has_no_overlap() {
    let moments = Phi::Relu.pair_moments(&common::pair(1.0, 1.0, -1.0)).unwrap();
    assert_eq!(moments.product, 0.0);
    // (sin θ − θ cos θ)/2π = θ³/6π for θ = π − arccos c.
    let theta = 1e-4f64;
    let nearly = Correlation::new(-theta.cos()).unwrap();
    common::close(
        Phi::Relu.pair_moments(&FieldPair::equal(1.0, nearly)).unwrap().product,
        theta.powi(3) / (6.0 * std::f64::consts::PI),
        1e-6,
    );
}

#[test]
fn a_zero_input_is_named_for_what_it_is() {
    let zero = common::pair(0.0, 1.0, 0.0);
    let error = common::field("deterministic", "sign", 0.9, 0.1).first_layer(&zero).unwrap_err();
    assert!(error.to_string().contains("input of variance 0"), "{error}");
}

#[test]
fn trajectories_end_at_the_fixed_point() {
    for (model, neuron, sigma2, sigma_b2) in
        [("continuous", "tanh", 3.0, 0.1), ("deterministic", "erf:1", 0.9, 0.05), ("lrt-continuous", "tanh:1.5", 0.9, 0.2)]
    {
        let field = common::field(model, neuron, sigma2, sigma_b2);
        let point = Point::of(&field).unwrap();
        let last = *field.trajectory(common::pair(0.3, 4.0, 0.2), 400).unwrap().last().unwrap();
        common::close(last.q_a, point.q_star.finite().unwrap(), 1e-10);
        common::close(last.q_b, point.q_star.finite().unwrap(), 1e-10);
        common::close(last.correlation.c(), point.c_star.unwrap().c(), 1e-9);
    }
}

#[test]
fn first_layer_follows_its_own_rule() {
    let inputs = common::pair(0.1, 0.3, 0.5);
    let k = 0.5 * (0.1f64 * 0.3).sqrt();
    // Deterministic: q¹ = (σ_m² q⁰ + σ_b²)/(n² + s(1 − σ_m²) q⁰).
    let next = common::field("deterministic", "probit:2", 0.8, 0.05).first_layer(&inputs).unwrap();
    let d = |q0: f64| 4.0 + 0.2 * q0;
    common::close(next.q_a, (0.8 * 0.1 + 0.05) / d(0.1), 1e-14);
    common::close(next.q_b, (0.8 * 0.3 + 0.05) / d(0.3), 1e-14);
    common::close(next.correlation.c() * (next.q_a * next.q_b).sqrt(), (0.8 * k + 0.05) / (d(0.1) * d(0.3)).sqrt(), 1e-13);
    // Logistic: s = π/2.
    let next = common::field("deterministic", "logistic:1", 0.8, 0.05).first_layer(&inputs).unwrap();
    common::close(next.q_b, (0.8 * 0.3 + 0.05) / (1.0 + std::f64::consts::FRAC_PI_2 * 0.2 * 0.3), 1e-14);
    // LRT: q¹ = q⁰ + σ_b², covariance σ_m² q⁰_ab + σ_b².
    for model in ["lrt-binary", "lrt-continuous"] {
        let next = common::field(model, "tanh", 0.8, 0.05).first_layer(&inputs).unwrap();
        common::close(next.q_a, 0.15, 1e-14);
        common::close(next.correlation.c() * (next.q_a * next.q_b).sqrt(), 0.8 * k + 0.05, 1e-13);
    }
}
