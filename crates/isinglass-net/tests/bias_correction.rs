//! Biases that make up for means set to ±1, against mean fields of the plain f64 network.

mod support;

use isinglass_net::{Error, Examples, Goal, Init, Network, Partition, Surrogate, TrainConfig, Trainer, Values};
use support::networks;
use support::random::Random;
use support::reference::{self, Batch};

const INPUTS: usize = 30;
const CLASSES: usize = 3;
const EXAMPLES: usize = 200;

/// Inputs whose means are not 0, and labels that some of them decide.
fn problem() -> (Vec<f32>, Vec<u8>) {
    let mut random = Random(7);
    let values: Vec<f32> = (0..INPUTS * EXAMPLES).map(|_| (random.normal() + 0.8) as f32).collect();
    let labels = values.chunks_exact(INPUTS).map(|row| if row[0] > 1.5 { 2 } else { u8::from(row[1] + row[2] > 1.6) }).collect();
    (values, labels)
}

/// With `β = 1` throughout the two goals differ in the last step alone.
fn settings(goal: Goal, bias_correction: bool) -> TrainConfig {
    TrainConfig { goal, bias_correction, beta: 1.0, epochs: 3, batch: 50, validation: 0.0, ..TrainConfig::default() }
}

fn trained(hidden: &[usize], carry: bool, surrogate: Surrogate, config: TrainConfig) -> Result<Network, Error> {
    let (values, labels) = problem();
    let examples = Examples::new(Values::Floats(&values), INPUTS, &labels, CLASSES)?;
    let network = Network::builder(INPUTS).hidden(hidden).classes(CLASSES).surrogate(surrogate).carry(carry).init(Init::Uniform, 3)?;
    let partition = Partition::from_indices((0..EXAMPLES as u32).collect(), vec![], EXAMPLES)?;
    Trainer::prepared(network, config, &examples, partition)?.with_threads(2).run(|_| {})
}

/// `h̄` of every unit, averaged over the examples.
fn mean_fields(network: &Network, surrogate: reference::Surrogate) -> Vec<Vec<f64>> {
    let (values, labels) = problem();
    let batch = Batch {
        inputs: values.chunks_exact(INPUTS).map(|row| row.iter().map(|&x| f64::from(x)).collect()).collect(),
        labels: labels.iter().map(|&label| usize::from(label)).collect(),
        noise: Vec::new(),
    };
    let traces = networks::plain(network, surrogate).forward(&batch);
    let mean = |fields: &Vec<f64>| fields.iter().sum::<f64>() / EXAMPLES as f64;
    traces.iter().map(|trace| trace.mean_field.iter().map(mean).collect()).collect()
}

#[test]
fn every_neuron_keeps_its_mean_field() {
    for (hidden, carry) in [(&[24, 17][..], false), (&[20; 5], true), (&[16, 16, 16, 9, 9, 9], true)] {
        let train = |goal, correction| trained(hidden, carry, Surrogate::Deterministic, settings(goal, correction)).unwrap();
        let before = train(Goal::Surrogate, false);
        let (plain, corrected) = (train(Goal::Binary, false), train(Goal::Binary, true));
        for (layer, (plain, corrected)) in before.layers().iter().zip(plain.layers().iter().zip(corrected.layers())) {
            assert!(layer.means().iter().zip(corrected.means()).all(|(m, sign)| *sign == if *m < 0.0 { -1.0 } else { 1.0 }));
            assert_eq!(plain.means(), corrected.means());
            assert_eq!(layer.bias(), plain.bias());
        }
        let before = mean_fields(&before, reference::Surrogate::sign());
        // Means of ±1, sign neurons: the binary network.
        let [plain, corrected] = [&plain, &corrected].map(|network| mean_fields(network, reference::Surrogate::Ste));
        for (index, before) in before.iter().enumerate() {
            let off = |after: &[f64]| before.iter().zip(after).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(off(&corrected[index]) < 1e-3, "{hidden:?}, layer {index}: {}", off(&corrected[index]));
            assert!(off(&plain[index]) > 0.1, "{hidden:?}, layer {index}: {}", off(&plain[index]));
        }
    }
}

#[test]
fn where_nothing_is_set_to_a_sign_nothing_is_corrected() {
    let of = |surrogate, goal, correction| trained(&[24, 17], false, surrogate, settings(goal, correction)).unwrap();
    assert_eq!(of(Surrogate::Ste, Goal::Binary, true), of(Surrogate::Ste, Goal::Binary, false));
    assert_eq!(of(Surrogate::Deterministic, Goal::Surrogate, true), of(Surrogate::Deterministic, Goal::Surrogate, false));
    assert_ne!(of(Surrogate::LrtContinuous, Goal::Binary, true), of(Surrogate::LrtContinuous, Goal::Binary, false));
}
