//! Biases that make up for means set to ±1, against mean fields of the plain f64 network.

mod support;

use isinglass_net::{Error, Examples, Goal, Init, Means, Network, Partition, Surrogate, TrainConfig, Trainer, Values};
use support::networks;
use support::random::Random;
use support::reference::{self, Batch};

const INPUTS: usize = 30;
const CLASSES: usize = 3;
const EXAMPLES: usize = 200;

/// Inputs whose means are not 0, and labels that some of them decide.
fn problem(examples: usize) -> (Vec<f32>, Vec<u8>) {
    let mut random = Random(7);
    let values: Vec<f32> = (0..INPUTS * examples).map(|_| (random.normal() + 0.8) as f32).collect();
    let labels = values.chunks_exact(INPUTS).map(|row| if row[0] > 1.5 { 2 } else { u8::from(row[1] + row[2] > 1.6) }).collect();
    (values, labels)
}

/// With `β = 1` throughout and means from the start the two goals differ in the last step alone.
fn settings(goal: Goal, bias_correction: bool) -> TrainConfig {
    TrainConfig { goal, bias_correction, beta: 1.0, epochs: 3, batch: 50, validation: 0.0, ..TrainConfig::default() }
}

struct Case {
    hidden: &'static [usize],
    carry: bool,
    surrogate: Surrogate,
    examples: usize,
}

impl Case {
    fn trained(&self, config: TrainConfig) -> Result<Network, Error> {
        let (values, labels) = problem(self.examples);
        let examples = Examples::new(Values::Floats(&values), INPUTS, &labels, CLASSES)?;
        let builder = Network::builder(INPUTS).hidden(self.hidden).classes(CLASSES).surrogate(self.surrogate).carry(self.carry);
        let partition = Partition::from_indices((0..self.examples as u32).collect(), vec![], self.examples)?;
        Trainer::prepared(builder.init(Init::Uniform, 3)?, config, &examples, partition)?.with_threads(2).run(|_| {})
    }

    /// `h̄` of every unit, averaged over the examples.
    fn mean_fields(&self, network: &Network, surrogate: reference::Surrogate) -> Vec<Vec<f64>> {
        let (values, labels) = problem(self.examples);
        let batch = Batch {
            inputs: values.chunks_exact(INPUTS).map(|row| row.iter().map(|&x| f64::from(x)).collect()).collect(),
            labels: labels.iter().map(|&label| usize::from(label)).collect(),
            noise: Vec::new(),
        };
        let traces = networks::plain(network, surrogate).forward(&batch);
        let mean = |fields: &Vec<f64>| fields.iter().sum::<f64>() / self.examples as f64;
        traces.iter().map(|trace| trace.mean_field.iter().map(mean).collect()).collect()
    }

    /// The largest change of a mean field in each layer when the network becomes binary, without and with the correction.
    fn changes(&self, change: impl Fn(TrainConfig) -> TrainConfig) -> Vec<[f64; 2]> {
        let train = |goal, correction| self.trained(change(settings(goal, correction))).unwrap();
        let before = train(Goal::Surrogate, false);
        let (plain, corrected) = (train(Goal::Binary, false), train(Goal::Binary, true));
        for (layer, (plain, corrected)) in before.layers().iter().zip(plain.layers().iter().zip(corrected.layers())) {
            assert!(layer.means().iter().zip(corrected.means()).all(|(m, sign)| *sign == if *m < 0.0 { -1.0 } else { 1.0 }));
            assert_eq!(plain.means(), corrected.means());
            assert_eq!(layer.bias(), plain.bias());
        }
        let before = self.mean_fields(&before, reference::Surrogate::sign());
        // Means of ±1, sign neurons: the binary network.
        let [plain, corrected] = [&plain, &corrected].map(|network| self.mean_fields(network, reference::Surrogate::Ste));
        let off = |after: &[f64], before: &[f64]| before.iter().zip(after).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        before
            .iter()
            .zip(plain.iter().zip(&corrected))
            .map(|(before, (plain, corrected))| [off(plain, before), off(corrected, before)])
            .collect()
    }
}

#[test]
fn every_neuron_keeps_its_mean_field() {
    let surrogate = Surrogate::Deterministic;
    for (hidden, carry) in [(&[24, 17][..], false), (&[20; 5], true), (&[16, 16, 16, 9, 9, 9], true)] {
        for means in Means::ALL {
            let case = Case { hidden, carry, surrogate, examples: EXAMPLES };
            let changes = case.changes(|config| TrainConfig { means: *means, average: 2, ..config });
            for (layer, [plain, corrected]) in changes.into_iter().enumerate() {
                // A single sign that single precision decides otherwise would be 2/(200 √24).
                assert!(corrected < 1e-4 && plain > 0.1, "{hidden:?}, {means}, layer {layer}: {plain}, {corrected}");
            }
        }
    }
}

#[test]
fn of_many_examples_some_are_enough() {
    let case = Case { hidden: &[24, 17], carry: false, surrogate: Surrogate::Deterministic, examples: 3000 };
    for (layer, [plain, corrected]) in case.changes(|config| config).into_iter().enumerate() {
        assert!(corrected > 1e-4 && corrected < 0.1 && plain > 0.5, "layer {layer}: {plain}, {corrected}");
    }
}

#[test]
fn where_nothing_is_set_to_a_sign_nothing_is_corrected() {
    let of = |surrogate, goal, correction| {
        Case { hidden: &[24, 17], carry: false, surrogate, examples: EXAMPLES }.trained(settings(goal, correction)).unwrap()
    };
    assert_eq!(of(Surrogate::Ste, Goal::Binary, true), of(Surrogate::Ste, Goal::Binary, false));
    assert_eq!(of(Surrogate::Deterministic, Goal::Surrogate, true), of(Surrogate::Deterministic, Goal::Surrogate, false));
    for sampled in [Surrogate::LrtContinuous, Surrogate::LrtBinary] {
        let (with, without) = (of(sampled, Goal::Binary, true), of(sampled, Goal::Binary, false));
        assert!(with != without && with.layers()[0].means() == without.layers()[0].means(), "{sampled}");
    }
}
