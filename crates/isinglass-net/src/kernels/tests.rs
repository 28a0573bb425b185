//! Every path against the scalar one, and the functions against f64.

use isinglass_simd::Scalar;

use super::math;
use super::*;
use crate::engine::{Engine, Purpose, Scale};
use crate::parametrisation::{Betas, Parametrisation};
use crate::{Examples, Goal, Gradients, Init, Means, NetworkConfig, Neuron, Optimizer, Rng, Surrogate, TrainConfig, Trainer, Values};

/// Points from −12 to 12, denser around 0.
fn points() -> impl Iterator<Item = f32> {
    (-6000..=6000).map(|i| i as f32 * 0.002).chain((-60..=60).map(|i| 2f32.powi(-i32::abs(i)) * (i as f32).signum()))
}

#[test]
fn exp_is_exact_to_two_units() {
    for i in 0..8700 {
        let x = -0.01 * i as f32;
        let (ours, exact) = (f64::from(math::exp(Scalar, [x; LANES])[0]), libm::exp(f64::from(x)));
        assert!((ours / exact - 1.0).abs() < 2.4e-7, "exp({x}) = {ours:e}, not {exact:e}");
    }
    assert_eq!(math::exp(Scalar, [-100.0; LANES])[0], 0.0);
}

#[test]
fn erf_and_one_minus_its_square() {
    for z in points() {
        let exact = libm::erf(f64::from(z));
        let response = math::erf(Scalar, [z; LANES]);
        let [value, rest, slope] = [response.value[0], response.rest[0], response.slope[0]].map(f64::from);
        assert!((value - exact).abs() < 2e-7 * exact.abs().max(1e-30) + 1e-7 * f64::from(z.abs() > 0.9), "erf({z}) = {value}, not {exact}");
        let tail = libm::erfc(f64::from(z.abs()));
        let left = tail * (2.0 - tail);
        if left > 1e-37 {
            assert!((rest / left - 1.0).abs() < 2e-5, "1 − erf²({z}) = {rest:e}, not {left:e}");
        }
        let gauss = libm::exp(-f64::from(z).powi(2)) * std::f64::consts::FRAC_2_SQRT_PI;
        if gauss > 1e-37 {
            assert!((slope / gauss - 1.0).abs() < 2e-5, "erf'({z}) = {slope:e}, not {gauss:e}");
        }
    }
}

#[test]
fn tanh_and_one_minus_its_square() {
    for z in points() {
        let response = math::tanh(Scalar, [z; LANES]);
        let [value, rest] = [response.value[0], response.rest[0]].map(f64::from);
        let exact = libm::tanh(f64::from(z));
        assert!((value - exact).abs() <= 3e-7 * exact.abs(), "tanh({z}) = {value}, not {exact}");
        let left = libm::cosh(f64::from(z)).powi(-2);
        assert!((rest / left - 1.0).abs() < 3e-6, "1 − tanh²({z}) = {rest:e}, not {left:e}");
    }
}

#[test]
fn bounds_treat_nan_alike_on_every_path() {
    let from = [f32::NAN; LANES];
    for kernels in Kernels::all() {
        let mut to = [0.0; LANES];
        kernels.tanh(&from, &mut to, 1.0);
        assert_eq!(to, [1.0; LANES], "{}", kernels.name);
    }
}

#[test]
fn noise_is_normal() {
    let count = 1 << 18;
    for kernels in Kernels::all() {
        let mut noise = vec![0.0f32; count];
        for (i, lanes) in noise.as_chunks_mut().0.iter_mut().enumerate() {
            kernels.normal((i * LANES) as u64, [1, 2], lanes);
        }
        let moment = |power: i32| noise.iter().map(|&x| f64::from(x).powi(power)).sum::<f64>() / count as f64;
        let n = (count as f64).sqrt();
        assert!(
            moment(1).abs() < 4.0 / n
                && (moment(2) - 1.0).abs() < 6.0 / n
                && moment(3).abs() < 16.0 / n
                && (moment(4) - 3.0).abs() < 40.0 / n
        );
        let correlation = noise.windows(2).map(|pair| f64::from(pair[0] * pair[1])).sum::<f64>() / count as f64;
        assert!(correlation.abs() < 4.0 / n, "neighbours correlate by {correlation}");
        // The distribution function, at nine places.
        for i in -4..=4 {
            let x = f64::from(i) * 0.7;
            let below = noise.iter().filter(|&&value| f64::from(value) < x).count() as f64 / count as f64;
            let expected = 0.5 * libm::erfc(-x / 2f64.sqrt());
            assert!((below - expected).abs() < 4.0 * (expected * (1.0 - expected)).sqrt() / n, "P(ε < {x}) = {below}, not {expected}");
        }
    }
}

/// The largest layer has 2²⁰ units, the largest batch 2¹⁶ examples: 2³⁶ numbers, more than 32 bits can count.
#[test]
fn noise_of_the_largest_layers_does_not_repeat() {
    let panels = 65_536 / LANES;
    assert_eq!(noise_counter((1 << 20) - 1, panels, panels - 1), (1 << 36) - LANES as u64);
    for kernels in Kernels::all() {
        // Numbers 0 to 4095 after every multiple of 2³².
        let noise: Vec<Vec<f32>> = (0..16u64)
            .map(|high| {
                let mut noise = vec![0.0f32; 4096];
                for (i, lanes) in noise.as_chunks_mut().0.iter_mut().enumerate() {
                    kernels.normal((high << 32) + (i * LANES) as u64, [1, 2], lanes);
                }
                noise
            })
            .collect();
        for (i, a) in noise.iter().enumerate() {
            for (j, b) in noise[..i].iter().enumerate() {
                let correlation = a.iter().zip(b).map(|(a, b)| f64::from(a * b)).sum::<f64>() / 4096.0;
                assert!(correlation.abs() < 5.0 / 64.0, "{}: ranges {i} and {j} correlate by {correlation}", kernels.name);
                // Neither is one a shifted copy of the other.
                let start = &b[..LANES];
                assert!(!a.windows(LANES).any(|window| window == start), "{}: range {i} contains the start of range {j}", kernels.name);
            }
        }
    }
}

/// Where 32 bits suffice to count it, the noise is that of earlier versions.
#[test]
fn noise_has_the_same_bits_on_every_machine() {
    for kernels in Kernels::all().into_iter().filter(|kernels| kernels.name != "scalar") {
        let mut sum = 0xcbf2_9ce4_8422_2325u64;
        for counter in [0, 16, 1 << 20, u64::from(u32::MAX) - 15] {
            let mut noise = [0.0; LANES];
            kernels.normal(counter, [1, 2], &mut noise);
            sum = noise.iter().fold(sum, |sum, x| (sum ^ u64::from(x.to_bits())).wrapping_mul(0x0100_0000_01b3));
        }
        assert_eq!(sum, 0x6e52_d5b7_a488_d6b9, "{}: {sum:#018x}", kernels.name);
    }
}

fn data(features: usize, count: usize, classes: usize) -> (Vec<f32>, Vec<u8>) {
    let mut rng = Rng::new(3);
    ((0..features * count).map(|_| rng.normal() as f32).collect(), (0..count).map(|i| (i % classes) as u8).collect())
}

/// Gradients of a network on every path, with sizes that do not fill whole vectors.
fn gradients_of(surrogate: Surrogate, neuron: Neuron, carry: bool) -> Vec<(&'static str, Gradients)> {
    let config = NetworkConfig {
        inputs: 37,
        hidden: vec![71; 4],
        classes: 5,
        surrogate,
        neuron,
        carry,
        init: Init::Uniform,
        sigma_m2: Some(0.3),
        sigma_b2: Some(0.1),
        ..NetworkConfig::default()
    };
    let network = config.init(1).unwrap();
    let (values, labels) = data(37, 45, 5);
    let examples = Examples::new(Values::Floats(&values), 37, &labels, 5).unwrap();
    let indices: Vec<u32> = (0..45).collect();
    let of = |kernels: Kernels| (kernels.name, Gradients::with_kernels(&network, &examples, &indices, true, 2, kernels).unwrap());
    Kernels::all().into_iter().map(of).collect()
}

#[test]
fn all_paths_agree_with_the_scalar_one_and_those_with_fma_bit_for_bit() {
    let cases = [
        (Surrogate::Deterministic, Neuron::Sign),
        (Surrogate::Deterministic, Neuron::Logistic(0.7)),
        (Surrogate::LrtBinary, Neuron::Probit(1.0)),
        (Surrogate::LrtContinuous, Neuron::Tanh(1.0)),
        (Surrogate::Continuous, Neuron::Tanh(1.0)),
    ];
    for ((surrogate, neuron), carry) in cases.into_iter().flat_map(|case| [(case, false), (case, true)]) {
        let all = gradients_of(surrogate, neuron, carry);
        let (_, scalar) = all.last().unwrap();
        for (name, gradients) in &all {
            assert!((gradients.loss - scalar.loss).abs() < 1e-5, "{name}: loss {} and {}", gradients.loss, scalar.loss);
            for (layer, twin) in gradients.layers.iter().zip(&scalar.layers) {
                let largest = twin.means.iter().fold(0f32, |largest, g| largest.max(g.abs()));
                let worst = layer.means.iter().zip(&twin.means).fold(0f32, |worst, (a, b)| worst.max((a - b).abs()));
                assert!(worst <= 1e-5 * largest, "{surrogate} {neuron} on {name}: off by {worst:e} of {largest:e}");
            }
            if *name != "scalar" {
                assert_eq!(gradients, &all[0].1, "{surrogate} {neuron}: {name} and {} differ", all[0].0);
            }
        }
    }
}

/// The last panel of a batch is multiplied in another way where few examples fill it.
#[test]
fn neurons_have_the_same_bits_in_batches_of_every_size() {
    let (values, labels) = data(150, 40, 3);
    let examples = Examples::new(Values::Floats(&values), 150, &labels, 3).unwrap();
    for (surrogate, neuron) in
        [(Surrogate::Deterministic, Neuron::Sign), (Surrogate::Continuous, Neuron::Tanh(1.0)), (Surrogate::Ste, Neuron::Sign)]
    {
        let config = NetworkConfig { inputs: 150, hidden: vec![101, 37], classes: 3, surrogate, neuron, ..NetworkConfig::default() };
        let network = config.init(1).unwrap();
        for kernels in Kernels::all() {
            let mut engine = Engine::with_kernels(&network, Purpose::Evaluation, 40, 2, kernels).unwrap();
            let mut neurons = |count: usize| {
                let indices: Vec<u32> = (0..count as u32).collect();
                engine.load(examples.rows(), &indices, network.input(), Scale::Inputs);
                engine.forward(|_| [0; 2]);
                let of_example = |example: usize| -> Vec<u32> {
                    let units = [101, 37, 3].into_iter().enumerate().flat_map(|(layer, units)| (0..units).map(move |unit| (layer, unit)));
                    units.map(|(layer, unit)| engine.neuron(layer, unit, example).to_bits()).collect()
                };
                (0..count).map(of_example).collect::<Vec<_>>()
            };
            let all = neurons(40);
            for count in 1..40 {
                assert!(neurons(count) == all[..count], "{surrogate} on {}: a batch of {count}", kernels.name);
            }
        }
    }
}

/// Few examples have the gradients that they have among nine others, where they are not multiplied as few.
#[test]
fn gradients_of_few_examples_are_those_of_many() {
    let (values, labels) = data(37, 40, 5);
    let examples = Examples::new(Values::Floats(&values), 37, &labels, 5).unwrap();
    for (surrogate, neuron) in [(Surrogate::Deterministic, Neuron::Sign), (Surrogate::Continuous, Neuron::Tanh(1.0))] {
        let config = NetworkConfig { inputs: 37, hidden: vec![149, 71], classes: 5, surrogate, neuron, ..NetworkConfig::default() };
        let network = config.init(1).unwrap();
        for kernels in Kernels::all() {
            let of = |indices: &[u32]| Gradients::with_kernels(&network, &examples, indices, true, 2, kernels).unwrap();
            for few in 1..=7 {
                let (nine, rest): (Vec<u32>, Vec<u32>) = ((0..9).collect(), (9..9 + few).collect());
                let (all, nine, rest) = (of(&[&nine[..], &rest].concat()), of(&nine), of(&rest));
                for ((all, nine), rest) in all.layers.iter().zip(&nine.layers).zip(&rest.layers) {
                    let largest = all.means.iter().fold(0f32, |largest, g| largest.max(g.abs()));
                    for ((all, nine), rest) in all.means.iter().zip(&nine.means).zip(&rest.means) {
                        let expected = (9.0 * nine + few as f32 * rest) / (9.0 + few as f32);
                        assert!((all - expected).abs() < 2e-5 * largest, "{surrogate} on {}: {few} examples", kernels.name);
                    }
                }
            }
        }
    }
}

#[test]
fn odd_steps_of_every_optimiser_agree_between_paths() {
    let (values, labels) = data(19, 50, 3);
    let examples = Examples::new(Values::Floats(&values), 19, &labels, 3).unwrap();
    let config = NetworkConfig { inputs: 19, hidden: vec![23; 2], classes: 3, ..NetworkConfig::default() };
    for &optimizer in Optimizer::ALL {
        for (means, goal) in [(Means::Clip, Goal::Surrogate), (Means::Clip, Goal::Binary), (Means::Tanh, Goal::Binary)] {
            let train = TrainConfig { optimizer, means, goal, lr: 1e-2, batch: 7, epochs: 1, validation: 0.0, ..TrainConfig::default() };
            let results: Vec<_> = Kernels::all()
                .into_iter()
                .map(|kernels| {
                    let network = config.init(1).unwrap();
                    let mut trainer = Trainer::with_kernels(network, train.clone(), &examples, 1, kernels).unwrap();
                    let steps = trainer.progress().steps - 1; // the last one would round all means
                    (0..steps).for_each(|_| drop(trainer.step().unwrap()));
                    (kernels.name, trainer.network().unwrap())
                })
                .collect();
            let (_, scalar) = results.last().unwrap();
            for (name, network) in &results {
                for (layer, twin) in network.layers().iter().zip(scalar.layers()) {
                    let worst = layer.means().iter().zip(twin.means()).fold(0f32, |worst, (a, b)| worst.max((a - b).abs()));
                    assert!(worst < 1e-3, "{optimizer} {means} {goal} on {name}: off by {worst:e}");
                }
                assert!(*name == "scalar" || network == &results[0].1, "{optimizer} {means} {goal}: {name} differs from {}", results[0].0);
            }
        }
    }
}

#[test]
fn regularised_steps_of_carried_networks_agree_between_paths() {
    let (values, labels) = data(25, 50, 3);
    let examples = Examples::new(Values::Floats(&values), 25, &labels, 3).unwrap();
    for surrogate in [Surrogate::Deterministic, Surrogate::LrtBinary, Surrogate::LrtContinuous, Surrogate::Ste] {
        let neuron = surrogate.default_neuron();
        let hidden = vec![23, 23, 23, 23, 16, 16, 16];
        let config = NetworkConfig { inputs: 25, hidden, classes: 3, surrogate, neuron, carry: true, ..NetworkConfig::default() };
        let train = TrainConfig {
            batch: 17,
            epochs: 2,
            validation: 0.0,
            input_dropout: 0.2,
            dropout: 0.2,
            weight_decay: 0.1,
            label_smoothing: 0.1,
            adversarial: 0.1,
            augment: 1,
            average: 2,
            bias_correction: true,
            ..TrainConfig::default()
        };
        let results: Vec<_> = Kernels::all()
            .into_iter()
            .map(|kernels| {
                let network = config.init(1).unwrap();
                let mut trainer = Trainer::with_kernels(network, train.clone(), &examples, 2, kernels).unwrap();
                let steps = trainer.progress().steps - 1; // the last one would round all means
                (0..steps).for_each(|_| drop(trainer.step().unwrap()));
                let network = trainer.network().unwrap();
                trainer.step().unwrap();
                (kernels.name, network, trainer.network().unwrap())
            })
            .collect();
        let (_, scalar, _) = results.last().unwrap();
        for (name, network, last) in &results {
            // Straight-through signs flip where rounding decides, and then all above them differ.
            for (layer, twin) in network.layers().iter().zip(scalar.layers()).filter(|_| surrogate != Surrogate::Ste) {
                let worst = layer.means().iter().zip(twin.means()).fold(0f32, |worst, (a, b)| worst.max((a - b).abs()));
                assert!(worst < 5e-3, "{surrogate} on {name}: off by {worst:e}");
            }
            assert!(last.layers().iter().flat_map(|layer| layer.means()).all(|mean| mean.abs() == 1.0), "{surrogate} on {name}");
            let same = (network, last) == (&results[0].1, &results[0].2);
            assert!(*name == "scalar" || same, "{surrogate}: {name} differs from {}", results[0].0);
        }
    }
}

/// One test cannot compare machines, so a checksum of the bits is pinned. A change of the arithmetic changes it; the message shows the new one.
#[test]
fn parameters_have_the_same_bits_on_every_machine() {
    let (values, labels) = data(19, 50, 3);
    let examples = Examples::new(Values::Floats(&values), 19, &labels, 3).unwrap();
    let expected = [
        (Surrogate::Deterministic, 0xf4ec_1638_a8c7_e5a4u64),
        (Surrogate::LrtBinary, 0xa3b2_3421_ae65_34cf),
        (Surrogate::LrtContinuous, 0x47e3_aa57_e104_ba7f),
        (Surrogate::Continuous, 0xbd72_76b3_6161_aba1),
        (Surrogate::Ste, 0x34ce_e49f_1de6_1609),
    ];
    for (surrogate, expected) in expected {
        let neuron = surrogate.default_neuron();
        let (sigma_m2, sigma_b2) = (Some(0.3), Some(0.1));
        let config = NetworkConfig {
            inputs: 19,
            hidden: vec![23; 3],
            classes: 3,
            surrogate,
            neuron,
            sigma_m2,
            sigma_b2,
            init: Init::Uniform,
            ..NetworkConfig::default()
        };
        for kernels in Kernels::all().into_iter().filter(|kernels| kernels.name != "scalar") {
            // FNV-1a, a word at a time.
            let mut sum = 0xcbf2_9ce4_8422_2325u64;
            for &optimizer in Optimizer::ALL {
                for &means in Means::ALL {
                    let train = TrainConfig {
                        optimizer,
                        means,
                        goal: Goal::Surrogate,
                        lr: 1e-2,
                        batch: 7,
                        epochs: 2,
                        validation: 0.0,
                        ..TrainConfig::default()
                    };
                    let network = config.init(1).unwrap();
                    let mut trainer = Trainer::with_kernels(network, train, &examples, 2, kernels).unwrap();
                    while !trainer.is_finished() {
                        trainer.step().unwrap();
                    }
                    let network = trainer.network().unwrap();
                    let parameters = network.layers().iter().flat_map(|layer| layer.means().iter().chain(layer.bias()));
                    sum = parameters.fold(sum, |sum, x| (sum ^ u64::from(x.to_bits())).wrapping_mul(0x0100_0000_01b3));
                }
            }
            assert_eq!(sum, expected, "{surrogate} on {}: {sum:#018x}", kernels.name);
        }
    }
}

#[test]
fn padding_never_moves() {
    let (values, labels) = data(19, 50, 3);
    let examples = Examples::new(Values::Floats(&values), 19, &labels, 3).unwrap();
    let network = NetworkConfig { inputs: 19, hidden: vec![23; 2], classes: 3, ..NetworkConfig::default() }.init(1).unwrap();
    for parametrisation in [Parametrisation::Clip, Parametrisation::Tanh, Parametrisation::ScaledClip, Parametrisation::Sign] {
        let purpose = Purpose::Training { parametrisation, variance_gradient: true, slots: [true, true] };
        let mut engine = Engine::new(&network, purpose, 32, 2).unwrap();
        // A smaller batch after a larger one leaves the larger one's values behind.
        for indices in [(0..32).collect::<Vec<u32>>(), (32..45).collect(), (0..32).collect()] {
            engine.load(examples.rows(), &indices, network.input(), Scale::Inputs);
            engine.forward(|_| [0; 2]);
            engine.score(&examples, &indices);
            let rule = Rule::Adam { rate: 0.1, root: 1.0 };
            let sink = Sink::Step(Step { rule, parametrisation, betas: Betas { now: 1.0, next: 1.0 }, decay: 0.01 });
            engine.backward(|_| crate::engine::LayerSink { means: sink, bias: Some(rule) }, &mut [0.0; 3]);
        }
        for layer in &engine.layers {
            assert!(layer.means.chunks(layer.stride).all(|row| row[layer.inputs..].iter().all(|&m| m == 1.0)), "{parametrisation:?}");
        }
    }
}
