//! A study: how far the deterministic surrogate is from the network it stands for, measured by exact enumeration.
//!
//! `cargo run --release -p isinglass-net --example accuracy` prints the tables of `docs/accuracy.md` and checks what is said there about them. Both sides, the `f64` network and the
//! enumeration, are those that the tests compare the engine with.

#[allow(dead_code, reason = "the study uses a part")]
#[path = "../tests/support"]
mod support {
    pub mod oracle;
    pub mod random;
    pub mod reference;
}

use support::oracle::{self, Neuron};
use support::random::Random;
use support::reference::{Batch, Layer, Network, Surrogate, softmax};

const NEURONS: [(&str, Neuron); 4] =
    [("sign", Neuron::Sign), ("probit:1", Neuron::Probit(1.0)), ("probit:0.5", Neuron::Probit(0.5)), ("logistic:1", Neuron::Logistic(1.0))];

fn surrogate(neuron: Neuron) -> Surrogate {
    match neuron {
        Neuron::Sign => Surrogate::sign(),
        Neuron::Probit(alpha) => Surrogate::probit(alpha),
        Neuron::Logistic(alpha) => Surrogate::logistic(alpha),
    }
}

fn main() {
    central_limit_error_falls_with_width();
    println!();
    central_limit_error_of_one_wide_unit_falls_like_one_over_width_unless_it_is_a_sign();
    println!();
    gaussian_fields_are_averaged_exactly_by_probit_and_nearly_by_logistic();
    println!();
    class_probabilities_are_near_the_exact_ones();
    println!();
    logits_want_a_wider_variance_the_fewer_the_classes();
    println!();
    correlations_left_out_fall_with_width_and_grow_with_the_means();
}

/// How the means of a network are drawn.
#[derive(Clone, Copy)]
enum Draw {
    /// ±σ_m, given σ_m².
    TwoPoint(f64),
    /// Uniform on [−1, 1], σ_m² = 1/3.
    Uniform,
}

impl Draw {
    fn mean(self, random: &mut Random) -> f64 {
        match self {
            Self::TwoPoint(sigma2) => sigma2.sqrt() * random.spin(),
            Self::Uniform => random.symmetric(),
        }
    }

    fn name(self) -> String {
        match self {
            Self::TwoPoint(sigma2) => format!("±σ_m, σ_m² = {sigma2}"),
            Self::Uniform => "uniform, σ_m² = 1/3".to_string(),
        }
    }
}

/// A network of `widths` (inputs first, classes last) and one input.
struct Sample {
    means: Vec<Vec<Vec<f64>>>,
    biases: Vec<Vec<f64>>,
    input: Vec<f64>,
}

impl Sample {
    fn new(widths: &[usize], draw: Draw, sigma_b: f64, random: &mut Random) -> Self {
        let input = random.vector(widths[0], Random::normal);
        let scale = (widths[0] as f64 / input.iter().map(|x| x * x).sum::<f64>()).sqrt();
        Self {
            means: widths.windows(2).map(|w| random.matrix(w[1], w[0], |random| draw.mean(random))).collect(),
            biases: widths[1..].iter().map(|&width| random.vector(width, |random| sigma_b * random.normal())).collect(),
            input: input.iter().map(|x| x * scale).collect(),
        }
    }

    fn surrogate(&self, neuron: Neuron, tau: f64) -> Network {
        let layers = self.means.iter().zip(&self.biases).map(|(means, bias)| Layer { means: means.clone(), bias: bias.clone() });
        Network { surrogate: surrogate(neuron), layers: layers.collect(), tau, floor: 1e-6, variance_gradient: true, carry: false }
    }

    fn batch(&self) -> Batch {
        Batch { inputs: vec![self.input.clone()], labels: vec![0], noise: vec![] }
    }
}

fn average(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn largest(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

/// `|P(x = +1) exact − surrogate|`, averaged over draws, of a unit in layers 1 and 2 of a network of N inputs and N neurons.
///
/// Neurons of the first layer are independent, so in layer 2 the products `S_j x_j` are independent, each ±1 of mean `M_j E x_j`.
fn unit_errors(n: usize, draw: Draw, sigma_b: f64, neuron: Neuron, draws: usize) -> [f64; 2] {
    let mut random = Random(100 + n as u64);
    let mut errors = [Vec::new(), Vec::new()];
    for _ in 0..draws {
        let sample = Sample::new(&[n, n, 1, 1], draw, sigma_b, &mut random);
        let exact: Vec<f64> =
            (0..n).map(|i| oracle::unit_probability(&sample.means[0][i], sample.biases[0][i], &sample.input, neuron)).collect();
        let products: Vec<f64> = sample.means[1][0].iter().zip(&exact).map(|(m, p)| m * (2.0 * p - 1.0)).collect();
        let second = oracle::unit_probability(&products, sample.biases[1][0], &vec![1.0; n], neuron);
        let traces = sample.surrogate(neuron, 1.0).forward(&sample.batch());
        let off = |p: f64, mean: f64| (p - 0.5 * (1.0 + mean)).abs();
        errors[0].extend(exact.iter().zip(&traces[0].neuron).map(|(p, unit)| off(*p, unit[0])));
        errors[1].push(off(second, traces[1].neuron[0][0]));
    }
    errors.map(|layer| average(&layer))
}

fn central_limit_error_falls_with_width() {
    const WIDTHS: [usize; 4] = [2, 4, 8, 12];
    println!("| neuron | biases | layer | N = 2 | 4 | 8 | 12 | falls like N^ |\n|---|---|---|---|---|---|---|---|");
    let fall = |name: &str, neuron, sigma_b, widths: [usize; 4]| {
        let errors = widths.map(|n| unit_errors(n, Draw::TwoPoint(0.5), sigma_b, neuron, 960 / n));
        [0, 1].map(|layer| {
            let row = errors.map(|e| e[layer]);
            let exponent = (row[3] / row[0]).ln() / (widths[3] as f64 / widths[0] as f64).ln();
            let cells: String = row.iter().map(|e| format!(" {e:.4} |")).collect();
            println!("| {name} | {sigma_b} | {} |{cells} {exponent:.2} |", layer + 1);
            (row, exponent)
        })
    };
    for (name, neuron) in NEURONS {
        let [first, second] = fall(name, neuron, 0.3, WIDTHS);
        assert!(first.1 < -0.6, "{name}: {first:?}");
        match neuron {
            // Fields of layer 2 lie 2/√N apart, and a step sees where.
            Neuron::Sign => assert!(second.0[3] < 0.08 && second.1 < -0.4 && second.1 > -0.85, "{second:?}"),
            Neuron::Probit(alpha) => assert!(second.0[3] < 0.002 / (alpha * alpha) && second.1 < -0.7, "{second:?}"),
            Neuron::Logistic(_) => assert!(second.0[3] < 0.005 && second.1 < -0.4, "{second:?}"),
        }
    }
    // Without biases an even number of inputs can sum to 0, which counts as +1; an odd number cannot.
    let [_, even] = fall("sign", Neuron::Sign, 0.0, WIDTHS);
    let [_, odd] = fall("sign, N + 1", Neuron::Sign, 0.0, WIDTHS.map(|n| n + 1));
    assert!(even.0[3] > 2.5 * odd.0[3] && even.1 > -0.7 && odd.1 < -0.5);
}

fn central_limit_error_of_one_wide_unit_falls_like_one_over_width_unless_it_is_a_sign() {
    const WIDTHS: [usize; 4] = [8, 32, 128, 512];
    println!("| neuron | N = 8 | 32 | 128 | 512 | falls like N^ |\n|---|---|---|---|---|---|");
    for (name, neuron) in NEURONS {
        let row = WIDTHS.map(|n| {
            let mut random = Random(200 + n as u64);
            let mut error = || {
                // S_j x_j is ±1 of mean M_j x̄_j, with x̄_j uniform on [−1, 1].
                let products = random.vector(n, |random| Draw::TwoPoint(0.5).mean(random) * random.symmetric());
                let bias = 0.3 * random.normal();
                let mean_field = products.iter().sum::<f64>() / (n as f64).sqrt() + bias;
                let variance = products.iter().map(|m| 1.0 - m * m).sum::<f64>() / n as f64;
                let exact = oracle::unit_probability(&products, bias, &vec![1.0; n], neuron);
                (exact - averaged_probability(neuron, mean_field, variance)).abs()
            };
            average(&(0..100).map(|_| error()).collect::<Vec<_>>())
        });
        let exponent = (row[3] / row[0]).ln() / 64f64.ln();
        println!("| {name} | {} | {exponent:.2} |", row.map(|e| format!("{e:.5}")).join(" | "));
        match neuron {
            Neuron::Sign => assert!((exponent + 0.5).abs() < 0.15, "{row:?}"),
            Neuron::Probit(_) => assert!((exponent + 1.0).abs() < 0.15, "{row:?}"),
            Neuron::Logistic(_) => assert!(exponent > -0.3 && row[3] > 5e-4, "{row:?}"),
        }
    }
}

/// The surrogate's `P(x = +1)` of a Gaussian field.
fn averaged_probability(neuron: Neuron, mean_field: f64, variance: f64) -> f64 {
    match surrogate(neuron) {
        Surrogate::Deterministic { activation, n2, s } => 0.5 * (1.0 + activation.value(mean_field / (n2 + s * variance).sqrt())),
        _ => f64::NAN,
    }
}

fn gaussian_fields_are_averaged_exactly_by_probit_and_nearly_by_logistic() {
    // Trapezoidal rule over z ∈ [−12, 12] of P(+1 | h̄ + √Σ z), the widest error over h̄ and Σ.
    let worst = |neuron: Neuron| {
        let error = |k: usize| {
            let (mean_field, variance) = (0.1 * (k % 50) as f64, 0.1 * (k / 50) as f64 + 0.1);
            let point = |t: i32| {
                let z = 0.02 * f64::from(t);
                0.02 * (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt()
                    * neuron.probability_of_plus(mean_field + variance.sqrt() * z)
            };
            let exact: f64 = (-600..=600).map(point).sum();
            (exact - averaged_probability(neuron, mean_field, variance)).abs()
        };
        (0..500).map(error).fold(0.0, f64::max)
    };
    println!("| neuron | largest error of P(+1), Gaussian field, 0.1 ≤ Σ ≤ 1 |\n|---|---|");
    for alpha in [0.5, 1.0, 2.0] {
        let (probit, logistic) = (worst(Neuron::Probit(alpha)), worst(Neuron::Logistic(alpha)));
        println!("| probit:{alpha} | {probit:.0e} |\n| logistic:{alpha} | {logistic:.4} |");
        assert!(probit < 1e-13 && logistic > 0.003 && logistic < 0.02);
    }
}

fn class_probabilities_are_near_the_exact_ones() {
    println!("| neuron | means | hidden layers | τ = 1: mean | largest | `softmax(τh̄)` | τ = 4: mean | largest | `softmax(τh̄)` |");
    println!("|---|---|---|---|---|---|---|---|---|");
    let mut random = Random(9);
    for (name, neuron) in NEURONS.into_iter().filter(|(name, _)| *name != "probit:0.5") {
        for draw in [Draw::TwoPoint(0.5), Draw::TwoPoint(0.9)] {
            for depth in 0..=3 {
                let widths = [vec![4; depth + 1], vec![3]].concat();
                let mut cells = String::new();
                for (tau, smooth_bound, sign_bound) in [(1.0, 0.04, 0.16), (4.0, 0.1, 0.25)] {
                    let (mut errors, mut unscaled) = (Vec::new(), Vec::new());
                    for _ in 0..200 {
                        let sample = Sample::new(&widths, draw, 0.3, &mut random);
                        let exact = oracle::class_probabilities(&sample.means, &sample.biases, tau, &sample.input, neuron);
                        let network = sample.surrogate(neuron, tau);
                        let mean_fields = network.forward(&sample.batch()).pop().map_or_else(Vec::new, |output| output.mean_field.concat());
                        errors.push(distance(&network.class_probabilities(&sample.batch())[0], &exact));
                        unscaled.push(distance(&softmax(&mean_fields.iter().map(|h| tau * h).collect::<Vec<_>>()), &exact));
                    }
                    let (error, plain) = (average(&errors), average(&unscaled));
                    cells += &format!(" {error:.3} | {:.3} | {plain:.3} |", largest(&errors));
                    let is_sign = matches!(neuron, Neuron::Sign) && depth > 0;
                    assert!(error < if is_sign { sign_bound } else { smooth_bound }, "{name} {depth} {tau}: {error}");
                    assert!(is_sign || error < if tau > 1.0 { 0.6 } else { 0.9 } * plain, "{name} {depth} {tau}: {error} and {plain}");
                }
                println!("| {name} | {} | {depth} |{cells}", draw.name());
            }
        }
    }
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |m, (a, b)| m.max((a - b).abs()))
}

fn logits_want_a_wider_variance_the_fewer_the_classes() {
    const SAMPLES: usize = 20_000;
    // A class's log-odds vary with its own field and with the K − 1 others: by about K/(K − 1) times Σ. Gaussian fields, sampled; h̄ of variance ½, Σ = ½.
    println!("| classes | τ | π/8: mean error | π/8 · K/(K − 1) | none | standard error |\n|---|---|---|---|---|---|");
    let mut random = Random(12);
    for classes in [2, 3, 10] {
        for tau in [1.0, 4.0] {
            let ratio = classes as f64 / (classes as f64 - 1.0);
            let mut errors = [Vec::new(), Vec::new(), Vec::new()];
            let mut noise = Vec::new();
            for _ in 0..40 {
                let mean_fields = random.vector(classes, |random| 0.5f64.sqrt() * random.normal());
                let mut exact = vec![0.0; classes];
                let mut squares = vec![0.0; classes];
                for _ in 0..SAMPLES {
                    let logits: Vec<f64> = mean_fields.iter().map(|h| tau * (h + 0.5f64.sqrt() * random.normal())).collect();
                    for (c, y) in softmax(&logits).into_iter().enumerate() {
                        exact[c] += y / SAMPLES as f64;
                        squares[c] += y * y / SAMPLES as f64;
                    }
                }
                noise.extend(exact.iter().zip(&squares).map(|(p, square)| ((square - p * p) / SAMPLES as f64).sqrt()));
                for (error, factor) in errors.iter_mut().zip([1.0, ratio, 0.0]) {
                    let scale = tau / (1.0 + factor * std::f64::consts::PI / 8.0 * tau * tau * 0.5).sqrt();
                    error.push(distance(&softmax(&mean_fields.iter().map(|h| scale * h).collect::<Vec<_>>()), &exact));
                }
            }
            let [plain, wider, none] = errors.map(|e| average(&e));
            println!("| {classes} | {tau} | {plain:.4} | {wider:.4} | {none:.4} | {:.4} |", average(&noise));
            assert!(plain < 0.6 * none && (classes == 10 || wider < 0.9 * plain));
        }
    }
}

fn correlations_left_out_fall_with_width_and_grow_with_the_means() {
    println!(
        "| neuron | means | N | neurons: layer 2 | 3 | largest pair: 2 | 3 | fields: layer 2 | 3 |\n|---|---|---|---|---|---|---|---|---|"
    );
    let mut random = Random(10);
    for (name, neuron) in NEURONS.into_iter().filter(|(name, _)| *name != "probit:0.5") {
        let mut weaker = [0.0; 2];
        for draw in [Draw::TwoPoint(0.2), Draw::TwoPoint(0.5), Draw::TwoPoint(0.9), Draw::Uniform] {
            let by_width = [2, 4, 8].map(|n| {
                let mut neurons = [Vec::new(), Vec::new()];
                let mut worst = [Vec::new(), Vec::new()];
                let mut fields = [Vec::new(), Vec::new()];
                for _ in 0..120 / n {
                    let Sample { means, biases, input } = Sample::new(&[n, n, n, n, 1], draw, 0.3, &mut random);
                    let of_neurons = oracle::neuron_covariances(&means, &biases, &input, neuron);
                    let of_fields = oracle::field_covariances(&means, &biases, &input, neuron);
                    let error = oracle::factorisation_error(&means, &biases, &input, neuron);
                    assert!(error[0] < 1e-12, "the first layer's neurons are independent: {error:?}");
                    for l in 0..2 {
                        neurons[l].extend(oracle::pair_correlations(&of_neurons[l + 1]).iter().map(|c| c * c));
                        fields[l].extend(oracle::pair_correlations(&of_fields[l + 1]).iter().map(|c| c * c));
                        worst[l].push(error[l + 1]);
                    }
                }
                let neurons = neurons.map(|c| average(&c).sqrt());
                let fields = fields.map(|c| average(&c).sqrt());
                let worst = worst.map(|c| average(&c));
                let pair = |[second, third]: [f64; 2]| format!("{second:.3} | {third:.3}");
                println!("| {name} | {} | {n} | {} | {} | {} |", draw.name(), pair(neurons), pair(worst), pair(fields));
                neurons
            });
            for l in 0..2 {
                assert!(by_width[2][l] < 0.8 * by_width[0][l], "{name} {}: {by_width:?}", draw.name());
                assert!(by_width[2][l] < 0.3 && by_width[2][l] > 0.01);
                if matches!(draw, Draw::TwoPoint(_)) {
                    assert!(by_width[2][l] > weaker[l], "{name} {}: {by_width:?}", draw.name());
                    weaker[l] = by_width[2][l];
                }
            }
        }
    }
}
