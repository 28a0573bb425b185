//! Initial means as the theory advises, and requests that cannot be met.

mod support;

use std::f64::consts::PI;

use isinglass_net::{
    AUTO_REACH, Error, Goal, Init, Initialisation, Layer, Means, Network, NetworkConfig, Neuron, Optimizer, Schedule, Surrogate,
    TrainConfig, Trainer,
};
use isinglass_theory::{Advice, RandomNetwork, advice};
use support::problem::Problem;

const CASES: [(Surrogate, Neuron); 11] = [
    (Surrogate::Deterministic, Neuron::Sign),
    (Surrogate::Deterministic, Neuron::Probit(0.5)),
    (Surrogate::Deterministic, Neuron::Logistic(1.0)),
    (Surrogate::Deterministic, Neuron::Tanh(1.0)),
    (Surrogate::Deterministic, Neuron::Erf(1.0)),
    (Surrogate::LrtBinary, Neuron::Logistic(1.0)),
    (Surrogate::LrtContinuous, Neuron::Tanh(1.0)),
    (Surrogate::LrtContinuous, Neuron::Tanh(1.5)),
    (Surrogate::Continuous, Neuron::Tanh(1.0)),
    (Surrogate::Continuous, Neuron::Erf(0.6)),
    (Surrogate::Continuous, Neuron::Probit(1.0)),
];

fn config(surrogate: Surrogate, neuron: Neuron, init: Init, depth: usize) -> NetworkConfig {
    NetworkConfig { inputs: 60, hidden: vec![60; depth], classes: 10, surrogate, neuron, init, ..NetworkConfig::default() }
}

/// What is drawn has the variances that were promised.
fn check_drawn(config: &NetworkConfig, expected: &Initialisation) {
    let network = config.init(1).unwrap();
    let mean_square = |values: &[f32]| values.iter().map(|&v| f64::from(v).powi(2)).sum::<f64>() / values.len() as f64;
    let means: Vec<f32> = network.layers().iter().flat_map(|layer| layer.means().to_vec()).collect();
    let biases: Vec<f32> = network.layers().iter().flat_map(|layer| layer.bias().to_vec()).collect();
    // A square varies by at most √2 times its mean (Gaussian).
    let close = |measured: f64, asked: f64, count: usize| (measured - asked).abs() <= 4.0 * asked * (2.0 / count as f64).sqrt();
    let (asked, measured) = (expected.sigma2.unwrap(), mean_square(&means));
    assert!(close(measured, asked, means.len()), "{config:?}: σ² = {measured}, not {asked}");
    assert!(close(mean_square(&biases), expected.sigma_b2, biases.len()), "{config:?}: σ_b² = {}", mean_square(&biases));
}

#[test]
fn auto_is_the_smallest_sufficient_variance() {
    for (surrogate, neuron) in CASES {
        let theory = RandomNetwork::new(surrogate.model(), neuron).unwrap();
        for depth in [1, 2, 5, 20, 100] {
            let config = config(surrogate, neuron, Init::Auto, depth);
            let ours = Initialisation::new(&config).unwrap();
            let label = format!("{surrogate} {neuron}, depth {depth}: {ours:?}");
            check_drawn(&config, &ours);
            if surrogate == Surrogate::Continuous {
                let critical = Initialisation::new(&NetworkConfig { init: Init::Critical, ..config }).unwrap();
                assert_eq!(ours, critical, "{label}");
                continue;
            }
            let advice = Advice::new(&theory, depth, AUTO_REACH).unwrap();
            assert_eq!(ours.distribution, Init::Uniform, "{label}");
            // Layers of at least 64 sign neurons are aligned instead of given means that cannot change sign.
            let wide = Initialisation::new(&NetworkConfig { hidden: vec![64; depth], ..config.clone() }).unwrap();
            let needed = advice.smallest.as_ref().and_then(|smallest| smallest.sigma2);
            if (surrogate, neuron) == (Surrogate::Deterministic, Neuron::Sign) && needed.is_none_or(|needed| needed > 0.85) {
                assert_eq!((wide.distribution, wide.sigma2, wide.sigma_b2), (aligned(8), Some(1.0 / 3.0), 0.0), "{label}");
                assert!(wide.reason.contains("aligned") && wide.reason.contains(&format!("{depth} independent layers")), "{wide:?}");
            } else {
                assert_eq!(wide, ours, "{label}");
            }
            if let Some(smallest) = advice.smallest {
                // No smaller than means uniform over [−1, 1], no larger than what still lets means change sign.
                let expected = smallest.sigma2.map(|sigma2| sigma2.clamp(1.0 / 3.0, 0.85));
                assert_eq!((ours.sigma2, ours.sigma_b2), (expected, smallest.sigma_b2), "{label}");
                assert!(ours.reason.contains(&format!("through {depth} layer")), "{label}");
            } else {
                assert_eq!(ours.sigma2, advice.best.sigma2.map(|best| best.min(0.85)), "{label}");
                assert!(ours.reason.contains("no critical initialisation exists"), "{label}");
                assert!(ours.reason.contains(&format!("not {depth}")), "{label}");
            }
        }
    }
    // At σ_b² = 0 the signal keeps γσ_m² per layer; through L layers it must keep e⁻¹². γ: 2/π for the sign, 4/π for erf(h), 1 for tanh(h).
    for (neuron, gamma) in [(Neuron::Sign, 2.0 / PI), (Neuron::Erf(1.0), 4.0 / PI), (Neuron::Tanh(1.0), 1.0)] {
        for depth in [1, 3, 12, 18] {
            let sigma2 = Initialisation::new(&config(Surrogate::Deterministic, neuron, Init::Auto, depth)).unwrap().sigma2.unwrap();
            let expected = ((-12.0 / depth as f64).exp() / gamma).clamp(1.0 / 3.0, 0.85);
            assert!((sigma2 - expected).abs() < 1e-6, "{neuron}, depth {depth}: {sigma2}, not {expected}");
        }
    }
}

#[test]
fn critical_is_the_best_variance_of_the_theory() {
    for (surrogate, neuron) in CASES {
        let theory = RandomNetwork::new(surrogate.model(), neuron).unwrap();
        for depth in [1, 5, 50] {
            let config = config(surrogate, neuron, Init::Critical, depth);
            let ours = Initialisation::new(&config).unwrap();
            let advice = Advice::new(&theory, depth, advice::DEFAULT_REACH).unwrap();
            let label = format!("{surrogate} {neuron}, depth {depth}: {ours:?}");
            let best = advice.best.sigma2.unwrap();
            // Means of exactly ±1 could not be trained.
            let is_limit = surrogate.has_binary_weights() && best == 1.0;
            assert_eq!(ours.sigma2, Some(if is_limit { 0.99 } else { best }), "{label}");
            assert_eq!(ours.sigma_b2, advice.best.sigma_b2, "{label}");
            assert_eq!(ours.reason.starts_with("critical"), advice.critical.is_reachable(), "{label}");
            assert_eq!(
                ours.distribution,
                if surrogate == Surrogate::Continuous { Init::ClippedGaussian } else { Init::TwoPoint },
                "{label}"
            );
            check_drawn(&config, &ours);
        }
    }
    let at = |surrogate, neuron| Initialisation::new(&config(surrogate, neuron, Init::Critical, 40)).unwrap();
    // Reachable: erf(h) at π/4; tanh(1.5h) with LRT at (1, 0.08273). Unreachable: the sign, which carries signals through 6.6 layers.
    assert!((at(Surrogate::Deterministic, Neuron::Erf(1.0)).sigma2.unwrap() - PI / 4.0).abs() < 1e-6);
    assert!((at(Surrogate::LrtContinuous, Neuron::Tanh(1.5)).sigma_b2 - 0.08273).abs() < 1e-5);
    assert!(at(Surrogate::Deterministic, Neuron::Sign).reason.contains("6.6 layers, not 40"));
    // Biases that are asked for stay.
    let asked = NetworkConfig { sigma_b2: Some(0.3), ..config(Surrogate::Deterministic, Neuron::Sign, Init::Critical, 3) };
    assert_eq!(Initialisation::new(&asked).unwrap().sigma_b2, 0.3);
    // Straight-through estimation sees signs only.
    let latent = Initialisation::new(&config(Surrogate::Ste, Neuron::Sign, Init::Auto, 40)).unwrap();
    assert_eq!((latent.distribution, latent.sigma2), (Init::Uniform, Some(1.0 / 3.0)));
}

/// The largest product of two rows (of two columns, if these are shorter), over that of a row with itself.
fn overlap(layer: &Layer) -> f64 {
    let (outputs, inputs) = (layer.spec().outputs(), layer.spec().inputs());
    let (lines, length) = (outputs.min(inputs), outputs.max(inputs));
    let entry = |line: usize, k: usize| f64::from(if outputs <= inputs { layer.row(line)[k] } else { layer.row(k)[line] });
    let product = |a: usize, b: usize| (0..length).map(|k| entry(a, k) * entry(b, k)).sum::<f64>().abs();
    let pairs = (0..lines).flat_map(|a| (0..a).map(move |b| (a, b)));
    pairs.map(|(a, b)| product(a, b)).fold(0.0, f64::max) / product(0, 0)
}

#[test]
fn hadamard_means_are_orthogonal_signs() {
    let config = |init| NetworkConfig {
        inputs: 784,
        hidden: vec![64, 64, 128, 32, 31],
        init,
        sigma_m2: Some(0.81),
        sigma_b2: Some(0.2),
        ..NetworkConfig::default()
    };
    let (network, again, other) =
        (config(Init::Hadamard).init(1).unwrap(), config(Init::Hadamard).init(1).unwrap(), config(Init::Hadamard).init(2).unwrap());
    assert_eq!(network, again);
    let iid = config(Init::TwoPoint).init(1).unwrap();
    // 784 = 4·196 and the powers of two have matrices of their own; 31 and 32 share one, of which 31 → 10 loses one column.
    let bounds = [1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 1.0 / 31.0 + 1e-6];
    for ((layer, bound), (iid, other)) in network.layers().iter().zip(bounds).zip(iid.layers().iter().zip(other.layers())) {
        assert!(layer.means().iter().all(|m| m.abs() == 0.9));
        assert!(overlap(layer) <= bound, "{:?}: {}", layer.spec(), overlap(layer));
        assert!(overlap(iid) > 0.1, "independent signs are not orthogonal: the bound can fail");
        assert_ne!(layer.means(), other.means());
        assert!(layer.bias().iter().any(|b| *b != 0.0));
    }
    // Layers of one shape have signs of their own.
    let square = Network::builder(64).hidden([64; 4]).sigma_m2(1.0).init(Init::Hadamard, 3).unwrap();
    for (i, a) in square.layers()[..4].iter().enumerate() {
        for b in &square.layers()[..i] {
            let sum: f32 = a.means().iter().zip(b.means()).map(|(a, b)| a * b).sum();
            assert!(sum.abs() <= 5.0 * 64.0, "{sum}: the standard deviation is 64");
        }
    }
}

#[test]
fn hadamard_takes_its_variance_as_two_point_does() {
    for (surrogate, neuron) in CASES {
        let resolved = |init, sigma_m2| {
            let config = NetworkConfig { sigma_m2, ..config(surrogate, neuron, init, 3) };
            (config.clone(), Initialisation::new(&config).unwrap())
        };
        for sigma_m2 in [None, Some(0.7)] {
            let (config, hadamard) = resolved(Init::Hadamard, sigma_m2);
            let (_, two_point) = resolved(Init::TwoPoint, sigma_m2);
            assert_eq!(hadamard, Initialisation { distribution: Init::Hadamard, ..two_point });
            check_drawn(&config, &hadamard);
        }
    }
    // Real weights may be large; means may not.
    let real = NetworkConfig { sigma_m2: Some(2.25), ..config(Surrogate::Continuous, Neuron::Tanh(1.0), Init::Hadamard, 2) };
    assert!(real.init(1).unwrap().layers().iter().all(|layer| layer.means().iter().all(|w| w.abs() == 1.5)));
    let large = NetworkConfig { surrogate: Surrogate::Deterministic, neuron: Neuron::Sign, ..real };
    assert!(large.init(1).unwrap_err().to_string().contains("cannot exceed 1"));
}

fn aligned(directions: u32) -> Init {
    format!("aligned:{directions}").parse().unwrap()
}

#[test]
fn aligned_means_are_uniform_one_by_one() {
    let config =
        NetworkConfig { inputs: 300, hidden: vec![256, 256, 128], init: aligned(16), sigma_b2: Some(0.2), ..NetworkConfig::default() };
    let (network, again, other) = (config.init(1).unwrap(), config.init(1).unwrap(), config.init(2).unwrap());
    assert_eq!(network, again);
    assert_eq!(network.initial().unwrap().unwrap(), network);
    assert_eq!(network.initialisation().unwrap().distribution, config.init);
    for (layer, other) in network.layers().iter().zip(other.layers()) {
        assert_ne!(layer.means(), other.means());
        assert!(layer.bias().iter().any(|b| *b != 0.0));
        // The distribution function of U(−1, 1), up to the kurtosis of products of vectors with 16 components.
        for x in [-0.9, -0.5, 0.0, 0.3, 0.8] {
            let below = layer.means().iter().filter(|&&m| f64::from(m) < x).count() as f64 / layer.means().len() as f64;
            assert!(
                (below - 0.5 * (1.0 + x)).abs() < 0.02 + 1.5 / (layer.means().len() as f64).sqrt(),
                "{:?}: {below} of the means are below {x}",
                layer.spec()
            );
        }
    }
    // Smaller and larger variances, and the usual number of directions.
    for sigma2 in [0.1, 0.6] {
        let asked = NetworkConfig { hidden: vec![256; 3], init: Init::Aligned(None), sigma_m2: Some(sigma2), ..NetworkConfig::default() };
        assert_eq!(Initialisation::new(&asked).unwrap().distribution, aligned(16));
        for layer in asked.init(1).unwrap().layers() {
            let measured = layer.means().iter().map(|&m| f64::from(m).powi(2)).sum::<f64>() / layer.means().len() as f64;
            assert!((measured / sigma2 - 1.0).abs() < 0.05, "{measured}, not {sigma2}");
            assert!(layer.means().iter().all(|m| m.abs() <= 1.0));
        }
    }
    // At least 8 if there are as many neurons; more than there are neurons make no sense.
    let narrow = NetworkConfig { hidden: vec![9, 5], init: Init::Aligned(None), ..NetworkConfig::default() };
    assert_eq!(Initialisation::new(&narrow).unwrap().distribution, aligned(5));
    assert_eq!(Initialisation::new(&NetworkConfig { hidden: vec![64; 2], ..narrow.clone() }).unwrap().distribution, aligned(8));
    let message = NetworkConfig { init: aligned(10), ..narrow }.check().unwrap_err().to_string();
    assert!(message.contains("aligned:10") && message.contains("neurons, 9"), "{message}");
    for text in ["aligned:0", "aligned:", "aligned:-1", "aligned:1.5", "aligned:99999999999"] {
        assert!(text.parse::<Init>().unwrap_err().to_string().contains("aligned:K"), "{text}");
    }
}

/// `E f(z)` over a standard normal `z`, by plain quadrature.
fn gaussian(f: impl Fn(f64) -> f64) -> f64 {
    let points = (-4000..=4000).map(|i| f64::from(i) * 2e-3);
    points.map(|z| f(z) * (-0.5 * z * z).exp()).sum::<f64>() * 2e-3 / (2.0 * PI).sqrt()
}

/// Neurons per layer, layers, and directions of the networks that [`aligned_layers_carry_what_independent_ones_lose`] draws.
const N: usize = 1024;
const DEPTH: usize = 8;
const K: u32 = 64;

/// Variances of the normalised fields in the deterministic surrogate with sign neurons, layer by layer.
fn surrogate_variances(network: &Network, mut x: Vec<f64>) -> Vec<f64> {
    let mut variances = Vec::new();
    for (index, layer) in network.layers()[..DEPTH].iter().enumerate() {
        // Of real inputs the variance is that of the weights alone.
        let total = if index == 0 { x.iter().map(|x| x * x).sum::<f64>() / N as f64 } else { 1.0 };
        let normalised = |row: &[f32]| {
            let field = row.iter().zip(&x).map(|(&m, x)| f64::from(m) * x).sum::<f64>() / (N as f64).sqrt();
            let kept = row.iter().zip(&x).map(|(&m, x)| (f64::from(m) * x).powi(2)).sum::<f64>() / N as f64;
            field / (total - kept).sqrt()
        };
        let fields: Vec<f64> = (0..N).map(|i| normalised(layer.row(i))).collect();
        variances.push(fields.iter().map(|y| y * y).sum::<f64>() / N as f64);
        x = fields.iter().map(|y| libm::erf(y / 2f64.sqrt())).collect();
    }
    variances
}

/// Correlations of the fields of two inputs in the binary network `sign(M)`, layer by layer.
fn binary_correlations(network: &Network, mut pair: [Vec<f64>; 2]) -> Vec<f64> {
    let mut correlations = Vec::new();
    for layer in &network.layers()[..DEPTH] {
        let field = |x: &[f64], i: usize| layer.row(i).iter().zip(x).map(|(&m, x)| x * f64::from(m).signum()).sum::<f64>();
        let fields = pair.each_ref().map(|x| (0..N).map(|i| field(x, i)).collect::<Vec<f64>>());
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let [a, b] = &fields;
        correlations.push(product(a, b) / (product(a, a) * product(b, b)).sqrt());
        pair = fields.map(|field| field.into_iter().map(f64::signum).collect());
    }
    correlations
}

/// Drawn networks beside what docs/training.md derives for layers that share `K` directions.
#[test]
fn aligned_layers_carry_what_independent_ones_lose() {
    // The surrogate, with ρ² = 3/π: W' = ρ²σ_m²(A + (N/K)a²W), V' = W' + (1 − ρ²)σ_m²A. W is what is coherent of V, and q = V/d.
    let variance_map = |(q, coherent): (f64, f64), redundancy: f64| {
        let second_moment = gaussian(|z| libm::erf(q.sqrt() * z / 2f64.sqrt()).powi(2));
        let slope = gaussian(|z| (2.0 / PI).sqrt() * (-0.5 * q * z * z).exp());
        let (own, d) = (second_moment / 3.0, 1.0 - second_moment / 3.0);
        let coherent = 3.0 / PI * (own + redundancy * slope * slope * coherent / 3.0);
        ((coherent + (1.0 - 3.0 / PI) * own) / d, coherent / d)
    };
    // The binary network, with ρ² = 2/π and a² = (2/π)/V, for variances and covariances alike.
    let binary_map = |[v, w, k, l]: [f64; 4], redundancy: f64| {
        let (own, handed_on) = (2.0 / PI * (k / v).asin(), redundancy * 2.0 / PI / v);
        let (w, l) = (2.0 / PI * (1.0 + handed_on * w), 2.0 / PI * (own + handed_on * l));
        [w + (1.0 - 2.0 / PI), w, l + (1.0 - 2.0 / PI) * own, l]
    };
    for (init, redundancy) in [(aligned(K), N as f64 / f64::from(K)), (Init::Uniform, 0.0)] {
        let (mut variances, mut correlations) = (Vec::new(), Vec::new());
        for seed in 1..=2 {
            let network = NetworkConfig { inputs: N, hidden: vec![N; DEPTH], init, ..NetworkConfig::default() }.init(seed).unwrap();
            let mut rng = isinglass_net::Rng::new(seed + 100);
            for _ in 0..30 {
                let first: Vec<f64> = (0..N).map(|_| rng.normal()).collect();
                let second: Vec<f64> = first.iter().map(|x| 0.5 * x + 0.75f64.sqrt() * rng.normal()).collect();
                variances.push(surrogate_variances(&network, first.clone()));
                correlations.push(binary_correlations(&network, [first, second]));
            }
        }
        let mean = |all: &[Vec<f64>], layer: usize| all.iter().map(|values| values[layer]).sum::<f64>() / all.len() as f64;
        assert!((mean(&variances, 0) / 0.5 - 1.0).abs() < 0.05, "{init}: the first layer has independent means and V = σ_m²");
        // Nothing of what the first layer writes is coherent.
        let (mut q, mut binary) = ((mean(&variances, 0), 0.0), [1.0, 0.0, 0.5, 0.0]);
        for layer in 1..DEPTH {
            (q, binary) = (variance_map(q, redundancy), binary_map(binary, redundancy));
            let (variance, correlation, c) = (mean(&variances, layer), mean(&correlations, layer), binary[2] / binary[0]);
            assert!((variance / q.0 - 1.0).abs() < 0.08, "{init}, layer {}: q = {variance}, not {}", layer + 1, q.0);
            assert!((correlation - c).abs() < 0.06, "{init}, layer {}: c = {correlation}, not {c}", layer + 1);
        }
        // The two theories differ by far more than these bounds.
        assert_eq!((q.0 > 1.0, binary[2] / binary[0] > 0.2), (redundancy > 0.0, redundancy > 0.0), "{init}: {q:?}, {binary:?}");
    }
}

#[test]
fn impossible_networks_are_refused_with_a_way_out() {
    type Change = fn(&mut NetworkConfig);
    let cases: [(Change, &[&str]); 19] = [
        (|c| c.sigma_m2 = Some(1.2), &["σ_m² = 1.2", "cannot exceed 1"]),
        (|c| c.sigma_m2 = Some(0.0), &["σ_m² = 0", "above 0"]),
        (|c| c.sigma_m2 = Some(-0.1), &["σ_m² = -0.1", "above 0"]),
        (|c| c.sigma_m2 = Some(f64::NAN), &["NaN", "above 0"]),
        (|c| c.sigma_b2 = Some(-1.0), &["σ_b² = -1", "cannot be negative"]),
        (|c| c.sigma_b2 = Some(f64::INFINITY), &["σ_b² = inf"]),
        (|c| c.hidden = vec![3, 0], &["width = 0", "at least one"]),
        (|c| c.hidden.clear(), &["depth = 0", "at least one"]),
        (|c| c.inputs = 0, &["inputs = 0"]),
        (|c| c.classes = 1, &["classes = 1", "at least two"]),
        (|c| c.classes = 257, &["classes = 257", "at most 256"]),
        (|c| c.hidden = vec![1 << 40], &["1099511627776", "at most"]),
        (|c| c.hidden = vec![1; 10_001], &["10001", "at most"]),
        (|c| c.tau = 0.0, &["tau = 0", "above 0"]),
        (|c| c.surrogate = Surrogate::LrtBinary, &["lrt-binary", "sign", "no gradient", "use probit"]),
        (|c| c.neuron = Neuron::Relu, &["relu", "use probit"]),
        (|c| (c.surrogate, c.neuron) = (Surrogate::Ste, Neuron::Tanh(1.0)), &["ste", "tanh", "use sign"]),
        (|c| c.init = Init::Glorot, &["glorot", "leave out sigma-m2"]),
        (|c| c.init = Init::Auto, &["auto", "leave out sigma-m2", "two-point"]),
    ];
    for (change, words) in cases {
        let mut config = NetworkConfig { sigma_m2: Some(0.5), ..config(Surrogate::Deterministic, Neuron::Sign, Init::TwoPoint, 2) };
        config.check().unwrap();
        change(&mut config);
        let message = config.init(1).map(drop).unwrap_err().to_string();
        assert!(words.iter().all(|word| message.contains(word)), "{message:?} does not say {words:?}");
    }
    // Real weights may be large.
    let real = NetworkConfig { sigma_m2: Some(1.2), ..config(Surrogate::Continuous, Neuron::Tanh(1.0), Init::TwoPoint, 2) };
    assert!(real.check().is_ok());
    let mut most = config(Surrogate::Deterministic, Neuron::Sign, Init::Auto, 1);
    most.classes = 256;
    let problem = Problem::noise(60, 256, 3, 1);
    let trainer = Trainer::new(most.init(1).unwrap(), TrainConfig::default(), &problem.examples());
    assert!(trainer.unwrap().step().is_ok());
}

#[test]
fn impossible_runs_are_refused_with_a_way_out() {
    type Change = fn(&mut TrainConfig);
    let cases: [(Change, &str); 11] = [
        (|c| c.batch = 0, "batch = 0"),
        (|c| c.batch = 1 << 40, "batch = 1099511627776: at most"),
        (|c| c.epochs = 0, "epochs = 0"),
        (|c| c.lr = 0.0, "lr = 0: must be above 0"),
        (|c| c.lr = f64::INFINITY, "lr = inf"),
        (|c| c.anneal_from = 1.0, "anneal-from = 1: must be a fraction of the run, in [0, 1)"),
        (|c| c.beta = 0.5, "beta = 0.5: must be from 1"),
        (|c| c.train_fraction = 1.5, "train-fraction = 1.5: must be a fraction"),
        (|c| c.validation = 1.0, "validation = 1: must be a fraction"),
        (|c| c.validation = 1.5, "validation = 1.5: must be a fraction"),
        (|c| c.validation = 0.99, "leave none of 20 examples for training"),
    ];
    let problem = Problem::noise(60, 10, 20, 1);
    let start = |surrogate: Surrogate, train, problem: &Problem| {
        let network = config(surrogate, surrogate.default_neuron(), Init::Auto, 1).init(1).unwrap();
        Trainer::new(network, train, &problem.examples()).map(drop)
    };
    for (change, words) in cases {
        let mut train = TrainConfig::default();
        change(&mut train);
        let refused = start(Surrogate::Deterministic, train, &problem).unwrap_err();
        assert!(matches!(&refused, Error::Config(message) if message.contains(words)), "{refused} does not say {words}");
    }
    let refused = |surrogate, problem: &Problem| start(surrogate, TrainConfig::default(), problem).unwrap_err().to_string();
    assert!(refused(Surrogate::Continuous, &problem).contains("use goal surrogate"));
    assert!(refused(Surrogate::Deterministic, &Problem::noise(59, 10, 20, 1)).contains("59 values for a network with 60 inputs"));
    assert!(refused(Surrogate::Deterministic, &Problem::noise(60, 11, 20, 1)).contains("11 classes for a network with 10 outputs"));
}

#[test]
fn unknown_names_list_the_known_ones() {
    let messages = [
        ("ste", "xavier".parse::<Surrogate>().unwrap_err()),
        ("glorot", "xavier".parse::<Init>().unwrap_err()),
        ("rmsprop", "xavier".parse::<Optimizer>().unwrap_err()),
        ("tanh", "xavier".parse::<Means>().unwrap_err()),
        ("surrogate", "xavier".parse::<Goal>().unwrap_err()),
        ("cosine", "xavier".parse::<Schedule>().unwrap_err()),
    ];
    for (known, error) in messages {
        let message = error.to_string();
        assert!(message.contains("unknown") && message.contains("xavier") && message.contains(known), "{message}");
    }
    for init in Init::ALL {
        assert_eq!(init.to_string().parse::<Init>().unwrap(), *init);
    }
}
