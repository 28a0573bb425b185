//! Binary networks on bits against the same networks in floats: equal sums, and equal scores to the last bit.

mod support;

use isinglass_net::{Examples, Features, Goal, Init, InputRule, Network, Neuron, Preprocessing, Surrogate, TrainConfig, Trainer, Values};
use support::problem::Problem;
use support::random::Random;

/// (inputs, hidden layers, classes): whole machine words, one less and one more, and widths that change from layer to layer.
const SHAPES: [(usize, &[usize], usize); 9] = [
    (1, &[1], 2),
    (63, &[63, 63], 3),
    (64, &[64, 64, 64], 10),
    (65, &[65, 65], 4),
    (20, &[513], 7),
    (513, &[1, 513, 63], 2),
    (65, &[64, 1, 65], 10),
    (7, &[48, 17, 31, 64], 256),
    (300, &[129, 5], 5),
];

/// Surrogates and neurons whose binary networks have sign neurons; whether draws have them too.
const KINDS: [(Surrogate, Neuron, bool); 8] = [
    (Surrogate::Deterministic, Neuron::Sign, true),
    (Surrogate::Deterministic, Neuron::Tanh(1.3), true),
    (Surrogate::Deterministic, Neuron::Erf(0.9), true),
    (Surrogate::Deterministic, Neuron::Probit(0.7), false),
    (Surrogate::Deterministic, Neuron::Logistic(0.8), false),
    (Surrogate::LrtBinary, Neuron::Logistic(1.0), false),
    (Surrogate::LrtBinary, Neuron::Tanh(1.0), false),
    (Surrogate::Ste, Neuron::Sign, true),
];

fn networks() -> Vec<(Network, bool)> {
    let mut networks = Vec::new();
    for (index, (inputs, hidden, classes)) in SHAPES.into_iter().enumerate() {
        for (surrogate, neuron, draws_signs) in KINDS {
            for sigma_b2 in [0.0, 0.3] {
                let builder = Network::builder(inputs).hidden(hidden).classes(classes).surrogate(surrogate).neuron(neuron);
                networks.push((builder.sigma_b2(sigma_b2).tau(1.5).init(Init::Uniform, index as u64).unwrap(), draws_signs));
            }
        }
    }
    networks
}

fn label(network: &Network) -> String {
    let config = network.config();
    format!("{} {} {}, σ_b² = {:?}", config.surrogate, config.neuron, config.shape(), config.sigma_b2)
}

/// Everything that can be asked of the binary network, and of draws with sign neurons, on bits and in floats.
fn check(network: &Network, draws_signs: bool, examples: &Examples<'_>) {
    let what = label(network);
    let values = examples.values();
    let binary = network.binary().threads(2);
    assert_eq!(binary.sums(values).unwrap(), binary.in_floats().sums(values).unwrap(), "{what}");
    assert_eq!(binary.score(examples, None).unwrap(), binary.in_floats().score(examples, None).unwrap(), "{what}");
    assert_eq!(binary.predict(values).unwrap(), binary.in_floats().predict(values).unwrap(), "{what}");
    let last = examples.len() as u32 - 1;
    // In order and not, one twice.
    for some in [&[0, 1, 2][..], &[last, 0, 2, 2], &[last]] {
        assert_eq!(binary.score(examples, Some(some)).unwrap(), binary.in_floats().score(examples, Some(some)).unwrap(), "{what}");
    }
    if !draws_signs {
        return;
    }
    for samples in [1, 3] {
        let sampled = network.sampled(samples).seed(8).threads(2);
        assert_eq!(sampled.score(examples, None).unwrap(), sampled.in_floats().score(examples, None).unwrap(), "{what}, {samples} samples");
        assert_eq!(sampled.predict(values).unwrap(), sampled.in_floats().predict(values).unwrap(), "{what}, {samples} samples");
    }
    let sampled = network.sampled(1).seed(8);
    let scores = |in_floats: bool| {
        let counterpart = if in_floats { sampled.in_floats() } else { sampled };
        counterpart.scores(examples, None, &[1, 3], &mut |_, _| ()).unwrap()
    };
    assert_eq!(scores(false), scores(true), "{what}");
    for score in scores(false) {
        let alone = network.sampled(score.samples).seed(8).score(examples, None).unwrap();
        assert_eq!((score.accuracy, score.nll), (alone.accuracy, alone.nll), "{what}");
    }
}

#[test]
fn bits_equal_floats_on_bytes() {
    for (mut network, draws_signs) in networks() {
        let (inputs, classes) = (network.config().inputs, network.config().classes);
        let problem = Problem::noise(inputs, classes, 21, 5);
        for preprocessing in
            [Preprocessing::standardising(127.3, 73.9).unwrap(), Preprocessing::new(3.0, 0.125).unwrap(), Preprocessing::default()]
        {
            network.set_input(InputRule::shared(preprocessing)).unwrap();
            check(&network, draws_signs, &problem.examples());
        }
    }
}

#[test]
fn bits_equal_floats_on_quantised_tables() {
    let mut random = Random(7);
    for (mut network, draws_signs) in networks() {
        let (inputs, classes) = (network.config().inputs, network.config().classes);
        // Columns of different scales, every third constant.
        let value = |column: usize, random: &mut Random| match column % 3 {
            2 => 4.0,
            kind => ((random.normal() + 0.5) * [1e-4, 3e5][kind]) as f32,
        };
        let values: Vec<f32> = (0..21 * inputs).map(|place| value(place % inputs, &mut random)).collect();
        let labels: Vec<u8> = (0..21).map(|row| (row % classes) as u8).collect();
        let examples = Examples::new(&values, inputs, &labels, classes).unwrap();
        let rows: Vec<u32> = (0..15).collect();
        for features in [Features::Table, Features::Image] {
            network.set_input(InputRule::choose(Values::Floats(&values), inputs, &rows, features).unwrap()).unwrap();
            check(&network, draws_signs, &examples);
        }
    }
}

#[test]
fn bits_equal_floats_over_several_passes() {
    // Bits are evaluated 16384 rows at a time, floats 256.
    let mut network = Network::builder(3).hidden([5, 4]).classes(2).init(Init::Uniform, 3).unwrap();
    network.set_input(InputRule::shared(Preprocessing::standardising(127.3, 73.9).unwrap())).unwrap();
    let problem = Problem::noise(3, 2, 16_384 + 300, 5);
    check(&network, true, &problem.examples());
    // The same rows in another order are the same mean, up to the order of the sum.
    let reversed: Vec<u32> = (0..problem.labels.len() as u32).rev().collect();
    let (all, back) =
        (network.binary().score(&problem.examples(), None).unwrap(), network.binary().score(&problem.examples(), Some(&reversed)).unwrap());
    assert!(all.accuracy == back.accuracy && (all.nll - back.nll).abs() < 1e-12);
}

#[test]
fn validation_equals_the_score_of_the_network_at_that_epoch() {
    let bytes = Problem::pictures(30, 3, 90, 0.5, 4);
    let reals: Vec<f32> = bytes.values.iter().map(|&byte| f32::from(byte) * 0.01 - 1.0).collect();
    let table = Examples::new(&reals, 30, &bytes.labels, 3).unwrap();
    for (surrogate, neuron, _) in KINDS.into_iter().chain([(Surrogate::LrtContinuous, Neuron::Tanh(1.0), false)]) {
        for examples in [bytes.examples(), table] {
            let network =
                Network::builder(30).hidden([33, 20]).classes(3).surrogate(surrogate).neuron(neuron).sigma_b2(0.1).init(Init::Uniform, 2);
            let config = TrainConfig { goal: Goal::Binary, epochs: 3, batch: 30, validation: 0.3, ..TrainConfig::default() };
            let mut trainer = Trainer::new(network.unwrap(), config, &examples).unwrap().with_threads(2);
            let held_out = trainer.partition().validation().to_vec();
            assert_eq!(held_out.len(), 27);
            let mut epochs = 0;
            while !trainer.is_finished() {
                if let Some(epoch) = trainer.step().unwrap().epoch {
                    let network = trainer.network().unwrap();
                    let binary = network.binary().score(&examples, Some(&held_out)).unwrap();
                    assert_eq!(epoch.validation_binary, Some(binary), "{}", label(&network));
                    // Local reparameterisation draws its noise by batches, which are smaller in training.
                    if !surrogate.is_sampled() {
                        let own = network.surrogate().score(&examples, Some(&held_out)).unwrap();
                        assert_eq!(epoch.validation.unwrap().accuracy, own.accuracy, "{}", label(&network));
                        assert!((epoch.validation.unwrap().nll - own.nll).abs() < 1e-6, "{}", label(&network));
                    }
                    epochs += 1;
                }
            }
            assert_eq!(epochs, 3);
        }
    }
}
