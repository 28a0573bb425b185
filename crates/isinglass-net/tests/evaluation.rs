//! Scores of the networks behind a surrogate: the binary one against plain sums, sampled ones against exact enumeration.

mod support;

use isinglass_net::{
    Error, Examples, Features, Init, InputRule, Network, NetworkConfig, Neuron, Preprocessing, SampledScore, Surrogate, Values,
};
use support::networks::{changed, oracle_arrays, plain, with_preprocessing};
use support::oracle;
use support::problem::Problem;
use support::random::Random;
use support::reference::{self, Activation, Batch, cross_entropy, sign};

/// Sizes: (inputs, width, depth, classes). Of the binary network behind it, widths of whole machine words and one beside.
const SIZES: [(usize, usize, usize, usize); 6] =
    [(1, 1, 1, 2), (63, 63, 2, 3), (64, 64, 3, 10), (65, 65, 2, 4), (300, 65, 1, 10), (5, 63, 3, 2)];

fn network(surrogate: Surrogate, neuron: Neuron, (inputs, width, depth, classes): (usize, usize, usize, usize)) -> Network {
    let (init, sigma_m2, sigma_b2) = (Init::Uniform, Some(0.3), Some(0.2));
    let config =
        NetworkConfig { inputs, hidden: vec![width; depth], classes, surrogate, neuron, init, sigma_m2, sigma_b2, tau: 1.5, carry: false };
    config.init(4).unwrap()
}

/// Every picture once for each class.
fn with_every_label(pictures: &[u8], features: usize, classes: usize) -> Problem {
    let values = pictures.chunks(features).flat_map(|picture| picture.repeat(classes)).collect();
    let labels = (0..pictures.len() / features).flat_map(|_| 0..classes as u8).collect();
    Problem { values, labels, features, classes }
}

/// `τh` of the binary network's outputs for raw inputs, in plain sums; `sign(0) = +1`. Also counts hidden fields of exactly 0.
fn binary_logits(network: &Network, raw: &[f64], phi: impl Fn(f64) -> f64, ties: &mut usize) -> Vec<f64> {
    let (offset, scale) = (network.input().preprocessing().offset(), network.input().preprocessing().scale());
    let mut x: Vec<f64> = raw.iter().map(|v| (v - f64::from(offset)) * f64::from(scale)).collect();
    for layer in network.layers() {
        let root = (layer.inputs() as f64).sqrt();
        let sum = |row: &[f32]| row.iter().zip(&x).map(|(&m, x)| sign(f64::from(m)) * x).sum::<f64>();
        let fields: Vec<f64> = layer.rows().zip(layer.bias()).map(|(row, &b)| sum(row) / root + f64::from(b)).collect();
        x = if !layer.spec().is_output() {
            *ties += fields.iter().filter(|h| **h == 0.0).count();
            fields.iter().map(|&h| phi(h)).collect()
        } else {
            fields.iter().map(|h| network.config().tau * h).collect()
        };
    }
    x
}

/// Compares [`Network::binary`], on bits and in floats, with plain sums, class by class of every picture. Returns how many fields were 0.
fn check_binary(network: &Network, pictures: &[u8], phi: impl Fn(f64) -> f64 + Copy, tolerance: f64) -> usize {
    let (features, classes) = (network.config().inputs, network.config().classes);
    let problem = with_every_label(pictures, features, classes);
    let examples = problem.examples();
    let binary = network.binary().threads(2);
    let (mut ties, mut total_nll, mut found) = (0, 0.0, 0);
    for index in 0..examples.len() {
        let raw: Vec<f64> = problem.values[index * features..(index + 1) * features].iter().map(|&v| f64::from(v)).collect();
        let logits = binary_logits(network, &raw, phi, &mut ties);
        let best = (0..classes).rev().max_by(|&a, &b| logits[a].total_cmp(&logits[b])).unwrap();
        let nll = cross_entropy(&logits, problem.labels[index].into());
        let what = format!("{}, class {}", network.config().shape(), problem.labels[index]);
        for counterpart in [binary, binary.in_floats()] {
            let score = counterpart.score(&examples, Some(&[index as u32])).unwrap();
            assert!((score.nll - nll).abs() < tolerance * nll.max(1.0), "{what}: {} nats, not {nll}", score.nll);
            assert_eq!(score.accuracy, f64::from(u8::from(best == usize::from(problem.labels[index]))), "{what}: {logits:?}");
        }
        total_nll += nll;
        found += usize::from(best == usize::from(problem.labels[index]));
    }
    let all = binary.score(&examples, None).unwrap();
    let count = examples.len() as f64;
    assert!((all.nll - total_nll / count).abs() < tolerance * all.nll.max(1.0) && all.accuracy == found as f64 / count);
    ties
}

#[test]
fn the_binary_network_equals_plain_sums_over_signs() {
    for size in SIZES {
        let network = network(Surrogate::Deterministic, Neuron::Sign, size);
        let mut pictures = Problem::noise(size.0, 2, 6, 7).values;
        pictures.extend(vec![0; size.0]);
        pictures.extend(vec![255; size.0]);
        for preprocessing in [Preprocessing::default(), Preprocessing::standardising(127.3, 73.9).unwrap()] {
            let network = with_preprocessing(network.clone(), preprocessing);
            check_binary(&network, &pictures, sign, 1e-6);
        }
    }
}

#[test]
fn a_field_of_zero_fires() {
    let mut ties = 0;
    for width in [1, 2, 4, 64] {
        let network = changed(network(Surrogate::Deterministic, Neuron::Sign, (8, width, 3, 5)), |_, _, bias| bias.fill(0.0));
        // Exact in binary, so that what should cancel does.
        let network = with_preprocessing(network, Preprocessing::new(3.0, 0.125).unwrap());
        let pictures: Vec<u8> = Problem::noise(8, 2, 8, 3).values.iter().map(|v| v % 7).chain([3; 8]).collect();
        ties += check_binary(&network, &pictures, sign, 1e-6);
        // A mean of 0 is a weight of +1.
        let network = changed(network, |layer, means, _| {
            if layer == 1 {
                means.fill(0.0);
                means[0] = -0.0;
            }
        });
        check_binary(&network, &pictures, sign, 1e-6);
    }
    assert!(ties > 1000, "only {ties} ties");
}

#[test]
fn an_all_zero_image_leaves_only_the_biases() {
    for &surrogate in Surrogate::ALL {
        let network = network(surrogate, surrogate.default_neuron(), (9, 7, 2, 3));
        let problem = Problem { values: vec![0; 9 * 3], labels: vec![0, 1, 2], features: 9, classes: 3 };
        let score = network.surrogate().score(&problem.examples(), None).unwrap();
        assert!(score.nll.is_finite(), "{surrogate}: {score:?}");
        if network.has_binary_weights() {
            let binary = network.binary().score(&problem.examples(), None).unwrap();
            assert!(binary.nll.is_finite() && binary.accuracy == 1.0 / 3.0, "{surrogate}: {binary:?}");
        }
        // The first layer has no variance then: the deterministic sign neuron is the sign of its bias.
        if surrogate == Surrogate::Deterministic {
            let plain = plain(&network, reference::Surrogate::sign());
            let batch = Batch { inputs: vec![vec![0.0; 9]; 3], labels: vec![0, 1, 2], noise: Vec::new() };
            assert!((score.nll - plain.loss(&batch)).abs() < 1e-5, "{} nats, not {}", score.nll, plain.loss(&batch));
        }
    }
}

#[test]
fn sampled_networks_average_to_the_exact_probabilities() {
    // Blocks of networks: their averages tell the standard error of the average of all.
    const BLOCK: usize = 100;
    const BLOCKS: usize = 200;
    let cases = [
        (Surrogate::Deterministic, Neuron::Sign, oracle::Neuron::Sign),
        (Surrogate::Deterministic, Neuron::Probit(0.6), oracle::Neuron::Probit(0.6)),
        (Surrogate::Deterministic, Neuron::Logistic(0.8), oracle::Neuron::Logistic(0.8)),
        (Surrogate::LrtBinary, Neuron::Probit(0.6), oracle::Neuron::Probit(0.6)),
        (Surrogate::LrtBinary, Neuron::Logistic(0.8), oracle::Neuron::Logistic(0.8)),
        // A chosen gain is not the mean of a real neuron: the sign is behind it.
        (Surrogate::Deterministic, Neuron::Tanh(1.0), oracle::Neuron::Sign),
    ];
    let counts: Vec<usize> = (1..=BLOCKS).map(|block| block * BLOCK).collect();
    for (index, (surrogate, neuron, exact)) in cases.into_iter().enumerate() {
        let size = (3, 4, 1 + index % 2, 3);
        // Means near ±1: the probabilities then depend on the neurons, and not on the draw of the weights alone.
        let (init, sigma_m2) = (Init::TwoPoint, Some(0.9));
        let network = NetworkConfig { init, sigma_m2, ..network(surrogate, neuron, size).config().clone() }.init(4).unwrap();
        let values: Vec<f32> = Random(2).vector(size.0, Random::normal).into_iter().map(|x| x as f32).collect();
        let input: Vec<f64> = values.iter().map(|&x| f64::from(x)).collect();
        let (means, biases) = oracle_arrays(&network);
        let class = index % 3;
        let expected = oracle::class_probabilities(&means, &biases, network.config().tau, &input, exact)[class];

        let labels = [class as u8];
        let examples = Examples::new(Values::Floats(&values), size.0, &labels, size.3).unwrap();
        let scores = network.sampled(1).threads(1).seed(11).scores(&examples, None, &counts, &mut |_, _| ()).unwrap();
        let sums: Vec<f64> = scores.iter().map(|score| score.samples as f64 * (-score.nll).exp()).collect();
        let mean = sums[BLOCKS - 1] / (BLOCK * BLOCKS) as f64;
        let blocks = sums.iter().scan(0.0, |last, &sum| Some((sum - std::mem::replace(last, sum)) / BLOCK as f64));
        let variance = blocks.map(|p| (p - mean).powi(2)).sum::<f64>() / (BLOCKS - 1) as f64;
        let error = (variance / BLOCKS as f64).sqrt();
        println!("{surrogate} {neuron}, class {class}: {mean:.5} ± {error:.5}, exactly {expected:.5}");
        assert!(error > 1e-4 && error < 0.004, "{surrogate} {neuron}: standard error {error}");
        assert!((mean - expected).abs() < 4.0 * error, "{surrogate} {neuron}, class {class}: {mean} ± {error}, not {expected}");
    }
}

fn sampled(
    network: &Network,
    problem: &Problem,
    indices: Option<&[u32]>,
    samples: &[usize],
    seed: u64,
    threads: usize,
) -> Vec<SampledScore> {
    network.sampled(1).threads(threads).seed(seed).scores(&problem.examples(), indices, samples, &mut |_, _| ()).unwrap()
}

#[test]
fn samples_are_independent_of_their_number_of_threads_and_of_other_examples() {
    let problem = Problem::noise(20, 4, 300, 6);
    for (surrogate, neuron) in [(Surrogate::Deterministic, Neuron::Sign), (Surrogate::LrtBinary, Neuron::Logistic(1.0))] {
        let network = network(surrogate, neuron, (20, 17, 2, 4));
        let five = sampled(&network, &problem, None, &[5], 3, 1);
        let both = sampled(&network, &problem, None, &[5, 100], 3, 1);
        let other_order = sampled(&network, &problem, None, &[100, 5], 3, 1);
        assert_eq!((five[0], five[0].samples), (both[0], 5));
        assert_eq!((both[0], both[1]), (other_order[1], other_order[0]));
        assert_ne!(both[0].nll, both[1].nll);
        assert_ne!(five[0].nll, sampled(&network, &problem, None, &[5], 4, 1)[0].nll);
        for threads in [2, 4] {
            assert_eq!(both, sampled(&network, &problem, None, &[5, 100], 3, threads), "{threads} threads");
            let own = |threads| network.surrogate().threads(threads).score(&problem.examples(), None).unwrap();
            let binary = |threads| network.binary().threads(threads).score(&problem.examples(), None).unwrap();
            assert_eq!((own(1), binary(1)), (own(threads), binary(threads)), "{threads} threads");
        }
        let parts: f64 = (0..300).map(|index| sampled(&network, &problem, Some(&[index]), &[5], 3, 1)[0].nll).sum();
        assert!((parts / 300.0 - five[0].nll).abs() < 1e-12, "{} nats, not {}", parts / 300.0, five[0].nll);
        let mut seen = Vec::new();
        network.sampled(1).scores(&problem.examples(), None, &[3], &mut |done, of| seen.push((done, of))).unwrap();
        assert_eq!(seen, [(1, 3), (2, 3), (3, 3)]);
    }
}

/// All means to ±1.
fn polarised(network: Network) -> Network {
    changed(network, |_, means, _| means.iter_mut().for_each(|mean| *mean = if *mean < 0.0 { -1.0 } else { 1.0 }))
}

#[test]
fn polarised_sign_surrogates_equal_the_binary_network() {
    for size in SIZES {
        let problem = Problem::noise(size.0, size.3, 70, 5);
        for surrogate in [Surrogate::Deterministic, Surrogate::Ste] {
            let mut network = polarised(network(surrogate, Neuron::Sign, size));
            let images = InputRule::choose(Values::Bytes(&problem.values), size.0, &[0, 1, 2], Features::Image).unwrap();
            network.set_input(images).unwrap();
            let own = network.surrogate().score(&problem.examples(), None).unwrap();
            let binary = network.binary().score(&problem.examples(), None).unwrap();
            assert_eq!(own.accuracy, binary.accuracy, "{surrogate} {size:?}");
            assert!((own.nll - binary.nll).abs() < 1e-6, "{surrogate} {size:?}: {} nats, not {}", own.nll, binary.nll);
        }
    }
}

#[test]
fn continuous_neurons_stay_continuous_in_the_binary_network() {
    for size in SIZES {
        let network = polarised(network(Surrogate::LrtContinuous, Neuron::Tanh(0.8), size));
        let network = with_preprocessing(network, Preprocessing::standardising(120.0, 70.0).unwrap());
        let problem = Problem::noise(size.0, size.3, 5, 5);
        check_binary(&network, &problem.values, |h| (0.8 * h).tanh(), 2e-6);
        let own = network.surrogate().score(&problem.examples(), None).unwrap();
        let binary = network.binary().score(&problem.examples(), None).unwrap();
        let drawn = sampled(&network, &problem, None, &[2], 1, 1)[0];
        assert_eq!((own.accuracy, drawn.accuracy), (binary.accuracy, binary.accuracy));
        assert!((own.nll - binary.nll).abs() < 2e-6 && (drawn.nll - binary.nll).abs() < 1e-12, "{size:?}: {own:?} {binary:?} {drawn:?}");
    }
}

#[test]
fn real_weights_have_no_binary_network() {
    let network = network(Surrogate::Continuous, Neuron::Tanh(1.0), (6, 5, 1, 2));
    let problem = Problem::noise(6, 2, 5, 5);
    let not_binary = |error: Option<Error>| assert!(matches!(error, Some(Error::NotBinary(Surrogate::Continuous))), "{error:?}");
    not_binary(network.binary().score(&problem.examples(), None).err());
    not_binary(network.binary().predict(&problem.values).err());
    not_binary(network.binary().sums(&problem.values).err());
    not_binary(network.sampled(5).score(&problem.examples(), None).err());
    not_binary(network.sampled(5).predict(&problem.values).err());
    not_binary(network.sampled(1).scores(&problem.examples(), None, &[1, 5], &mut |_, _| ()).err());
    not_binary(network.draw(1, 0).err());
    let plain = plain(&network, reference::Surrogate::Continuous { activation: Activation::Tanh(1.0) });
    let inputs: Vec<Vec<f64>> = problem.values.chunks(6).map(|row| row.iter().map(|&v| f64::from(v)).collect()).collect();
    let labels: Vec<usize> = problem.labels.iter().map(|&label| label.into()).collect();
    let probabilities = plain.class_probabilities(&Batch { inputs, labels: labels.clone(), noise: Vec::new() });
    let found = probabilities.iter().zip(&labels).filter(|(p, label)| (p[1] > p[0]) == (**label == 1)).count();
    let score = network.surrogate().score(&problem.examples(), None).unwrap();
    let nll = -probabilities.iter().zip(&labels).map(|(p, &label)| p[label].ln()).sum::<f64>() / 5.0;
    assert!(score.accuracy == found as f64 / 5.0 && (score.nll - nll).abs() < 1e-5, "{score:?}, not {nll}");
}

#[test]
fn output_sums_are_the_integers_behind_the_logits() {
    for size in SIZES {
        let network = network(Surrogate::Deterministic, Neuron::Sign, size);
        let network = with_preprocessing(network, Preprocessing::standardising(127.3, 73.9).unwrap());
        let problem = Problem::noise(size.0, size.3, 5, 7);
        let sums = network.binary().threads(2).sums(&problem.values).unwrap();
        let output = network.output();
        for (picture, sums) in problem.values.chunks(size.0).zip(sums.chunks(size.3)) {
            let raw: Vec<f64> = picture.iter().map(|&v| f64::from(v)).collect();
            let logits = binary_logits(&network, &raw, sign, &mut 0);
            for ((sum, bias), logit) in sums.iter().zip(output.bias()).zip(logits) {
                let of_sum = 1.5 * (f64::from(*sum) / (output.inputs() as f64).sqrt() + f64::from(*bias));
                assert!((of_sum - logit).abs() < 1e-12, "{size:?}: sum {sum} gives {of_sum}, not {logit}");
            }
        }
    }
    let continuous = network(Surrogate::LrtContinuous, Neuron::Tanh(1.0), SIZES[1]);
    let refused = continuous.binary().sums(&Problem::noise(63, 3, 2, 1).values);
    assert!(matches!(refused, Err(Error::NotBinary(Surrogate::LrtContinuous))), "{refused:?}");
}

#[test]
fn draw_gives_the_network_of_that_sample() {
    let network = network(Surrogate::Deterministic, Neuron::Sign, (20, 65, 2, 4));
    let problem = Problem::noise(20, 4, 30, 3);
    let drawn = network.draw(9, 0).unwrap();
    assert!(drawn.layers().iter().flat_map(|layer| layer.means()).all(|weight| weight.abs() == 1.0));
    let sampled = network.sampled(1).seed(9).score(&problem.examples(), None).unwrap();
    assert_eq!(sampled, drawn.binary().score(&problem.examples(), None).unwrap());
    assert_ne!(network.draw(9, 1).unwrap().layers()[0].means(), drawn.layers()[0].means());
}

#[test]
fn drawn_noise_has_the_neurons_distribution() {
    for neuron in [Neuron::Logistic(0.7), Neuron::Probit(1.3)] {
        let network = network(Surrogate::Deterministic, neuron, (1, 20_000, 1, 2));
        let network = changed(network, |layer, _, bias| bias.iter_mut().filter(|_| layer == 0).for_each(|bias| *bias = 0.25));
        let drawn = network.draw(5, 2).unwrap();
        assert_eq!(drawn.layers()[1].bias(), network.layers()[1].bias()); // the output has no noise
        for h in [-1.0, 0.0, 0.6] {
            let up = drawn.layers()[0].bias().iter().filter(|&&bias| h - 0.25 + f64::from(bias) >= 0.0).count() as f64 / 20_000.0;
            let expected = match neuron {
                // Logistic noise of scale α/2 and Gaussian noise of deviation α, as distribution functions.
                Neuron::Logistic(alpha) => 1.0 / (1.0 + (-2.0 * h / alpha).exp()),
                Neuron::Probit(alpha) => 0.5 * (1.0 + libm::erf(h / (alpha * 2f64.sqrt()))),
                _ => unreachable!(),
            };
            let deviation = (expected * (1.0 - expected) / 20_000.0).sqrt();
            assert!((up - expected).abs() < 5.0 * deviation, "{neuron} at {h}: {up}, not {expected}");
        }
    }
}
