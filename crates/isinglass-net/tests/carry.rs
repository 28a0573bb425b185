//! Networks that carry their fields: the binary network in integers, and runs that are interrupted.

mod support;

use isinglass_net::{AnnealOrder, Examples, Init, InputRule, Network, Preprocessing, Surrogate, TrainConfig, Trainer};
use support::random::Random;

/// Sizes of hidden layers, with whole chains, broken ones, and a first layer with as many inputs as neurons.
const SHAPES: [&[usize]; 5] = [&[33, 33, 33, 33, 33], &[1, 1, 1, 1], &[20, 20, 20, 20], &[31, 31, 31, 17, 17, 17, 40], &[64; 12]];
const INPUTS: usize = 20;
const CLASSES: usize = 4;

fn network(shape: &[usize], seed: u64) -> Network {
    let builder = Network::builder(INPUTS).hidden(shape).classes(CLASSES).sigma_b2(0.5).carry(true);
    let mut network = builder.init(Init::Uniform, seed).unwrap();
    network.set_input(InputRule::shared(Preprocessing::standardising(120.0, 70.0).unwrap())).unwrap();
    network
}

fn images(count: usize) -> Vec<u8> {
    let mut random = Random(5);
    (0..count * INPUTS).map(|_| random.word() as u8).collect()
}

/// The output sums of `sign(M)` for one image, in integers wherever the network is.
fn sums(network: &Network, image: &[u8]) -> Vec<i64> {
    let preprocessing = network.input().preprocessing();
    let sign = |x: f32| if x < 0.0 { -1i64 } else { 1 };
    let mut spins: Vec<i64> = Vec::new();
    let mut carried: Vec<i64> = Vec::new();
    for (index, layer) in network.layers().iter().enumerate() {
        let root = (layer.inputs() as f64).sqrt();
        if index == 0 {
            let (offset, scale) = (f64::from(preprocessing.offset()), f64::from(preprocessing.scale()));
            spins = layer
                .rows()
                .zip(layer.bias())
                .map(|(row, &b)| {
                    let sum: f64 = row.iter().zip(image).map(|(&m, &byte)| sign(m) as f64 * (f64::from(byte) - offset)).sum();
                    if sum * scale / root + f64::from(b) >= 0.0 { 1 } else { -1 }
                })
                .collect();
            continue;
        }
        let own: Vec<i64> = layer.rows().map(|row| row.iter().zip(&spins).map(|(&m, s)| sign(m) * s).sum()).collect();
        if index + 1 == network.layers().len() {
            return own;
        }
        // By the shapes alone: a square layer above a square hidden layer that is not the first.
        let below = &network.layers()[index - 1];
        let receives = index >= 2 && layer.inputs() == layer.outputs() && below.inputs() == below.outputs();
        carried = if receives { carried.iter().zip(&own).map(|(a, b)| a + b).collect() } else { own };
        spins = carried.iter().zip(layer.bias()).map(|(&h, &b)| if h as f64 / root + f64::from(b) >= 0.0 { 1 } else { -1 }).collect();
    }
    unreachable!("the last layer is the output")
}

#[test]
fn the_binary_network_carries_integers() {
    let images = images(100);
    for (seed, shape) in SHAPES.into_iter().enumerate() {
        let network = network(shape, seed as u64);
        let expected: Vec<i32> = images.chunks(INPUTS).flat_map(|image| sums(&network, image)).map(|sum| sum as i32).collect();
        assert_eq!(network.binary().in_floats().sums(&images).unwrap(), expected, "{shape:?} in floats");
        assert_eq!(network.binary().sums(&images).unwrap(), expected, "{shape:?} on bits");
        let packed = network.binary().pack().unwrap();
        assert_eq!(packed.predictor().sums(&images).unwrap(), expected, "{shape:?} packed");
        if shape.len() == 4 && shape[0] == 1 {
            continue; // one neuron after the other: too few sums to differ
        }
        // The carry matters: without it the sums are others.
        let plain =
            Network::new(isinglass_net::NetworkConfig { carry: false, ..network.config().clone() }, plain_layers(&network)).unwrap();
        assert_ne!(with_input(plain, &network).binary().in_floats().sums(&images).unwrap(), expected, "{shape:?}");
    }
}

fn plain_layers(network: &Network) -> Vec<isinglass_net::Layer> {
    let specs = isinglass_net::NetworkConfig { carry: false, ..network.config().clone() }.layers().unwrap();
    let layers = network.layers().iter().zip(specs);
    layers.map(|(layer, spec)| isinglass_net::Layer::new(spec, layer.means().to_vec(), layer.bias().to_vec()).unwrap()).collect()
}

fn with_input(mut network: Network, like: &Network) -> Network {
    network.set_input(like.input().clone()).unwrap();
    network
}

#[test]
fn drawn_networks_carry_too() {
    let images = images(50);
    for shape in SHAPES {
        let network = network(shape, 3);
        let drawn = network.draw(7, 0).unwrap();
        let expected: Vec<i32> = images.chunks(INPUTS).flat_map(|image| sums(&drawn, image)).map(|sum| sum as i32).collect();
        assert_eq!(drawn.binary().in_floats().sums(&images).unwrap(), expected, "{shape:?}");
        let on_bits = network.sampled(3).seed(7).predict(&images).unwrap();
        let in_floats = network.sampled(3).seed(7).in_floats().predict(&images).unwrap();
        assert_eq!(on_bits.classes(), in_floats.classes(), "{shape:?}");
    }
}

#[test]
fn unpacked_networks_carry_as_the_packed_ones_do() {
    let images = images(50);
    for shape in SHAPES {
        let model = network(shape, 4).binary().pack().unwrap();
        let floats = &Network::from_packed(&model).unwrap()[0];
        assert_eq!(floats.binary().in_floats().sums(&images).unwrap(), model.predictor().sums(&images).unwrap(), "{shape:?}");
    }
}

/// Which of two halves is brighter.
fn problem() -> (Vec<u8>, Vec<u8>) {
    let mut random = Random(1);
    let images: Vec<u8> = (0..300 * INPUTS).map(|_| random.word() as u8).collect();
    let brightness = |half: &[u8]| half.iter().map(|&byte| u32::from(byte)).sum::<u32>();
    let labels = images.chunks(INPUTS).map(|image| u8::from(brightness(&image[..INPUTS / 2]) > brightness(&image[INPUTS / 2..])));
    let labels = labels.collect();
    (images, labels)
}

#[test]
fn runs_end_in_the_same_bits_however_often_they_are_interrupted() {
    let (values, labels) = problem();
    let examples = Examples::new(&values, INPUTS, &labels, 2).unwrap();
    let config = TrainConfig {
        epochs: 4,
        batch: 32,
        input_dropout: 0.2,
        dropout: 0.1,
        weight_decay: 0.1,
        label_smoothing: 0.1,
        adversarial: 0.1,
        anneal_order: AnnealOrder::FrontToBack,
        bias_correction: true,
        average: 3,
        ..TrainConfig::default()
    };
    for surrogate in [Surrogate::Deterministic, Surrogate::LrtBinary, Surrogate::Ste] {
        let start = || {
            let builder = Network::builder(INPUTS).hidden([24; 5]).classes(2).surrogate(surrogate).carry(true);
            Trainer::new(builder.init(Init::Uniform, 1).unwrap(), config.clone(), &examples).unwrap()
        };
        let expected = start().with_threads(1).run(|_| {}).unwrap();
        let mut trainer = start().with_threads(2);
        while !trainer.is_finished() {
            for _ in 0..5 {
                if !trainer.is_finished() {
                    trainer.step().unwrap();
                }
            }
            let file = std::env::temp_dir().join(format!("isinglass-carry-{}-{surrogate}.safetensors", std::process::id()));
            trainer.save(&file).unwrap();
            let checkpoint = isinglass_net::Checkpoint::load(&file).unwrap();
            std::fs::remove_file(&file).unwrap();
            assert_eq!(checkpoint, trainer.checkpoint().unwrap(), "{surrogate}");
            trainer = Trainer::resume(checkpoint, &examples).unwrap().with_threads(2);
        }
        assert_eq!(trainer.into_network().unwrap(), expected, "{surrogate}");
    }
}

#[test]
fn a_deep_carried_network_learns_what_a_plain_one_does_not() {
    let (values, labels) = problem();
    let examples = Examples::new(&values, INPUTS, &labels, 2).unwrap();
    let accuracy = |carry: bool| {
        let config = TrainConfig { epochs: 25, batch: 16, validation: 0.0, ..TrainConfig::default() };
        let network = Network::builder(INPUTS).hidden([32; 30]).classes(2).carry(carry).init(Init::Uniform, 1).unwrap();
        Trainer::new(network, config, &examples).unwrap().run(|_| {}).unwrap().binary().score(&examples, None).unwrap().accuracy
    };
    let (carried, plain) = (accuracy(true), accuracy(false));
    assert!(carried > 0.75 && plain < 0.65, "carried {carried}, plain {plain}");
}

#[test]
fn networks_in_which_nothing_is_carried_start_as_plain_ones() {
    for shape in [&[24, 24][..], &[40, 30, 20, 10]] {
        let builder = || Network::builder(INPUTS).hidden(shape).classes(2);
        let (carried, plain) = (builder().carry(true).init(Init::Auto, 1).unwrap(), builder().init(Init::Auto, 1).unwrap());
        assert_eq!(carried.initialisation(), plain.initialisation(), "{shape:?}");
    }
}

#[test]
fn auto_leaves_out_carry_where_it_cannot_be() {
    let config = |hidden: Vec<usize>| isinglass_net::NetworkConfig { hidden, ..isinglass_net::NetworkConfig::default() };
    for (hidden, reason) in [(vec![16; 3], "carries signals"), (vec![64, 32, 16, 8, 4, 2, 1, 1], "equal"), (vec![1 << 20; 30], "not exact")]
    {
        let choice = isinglass_net::Carry::Auto.resolve(&config(hidden)).unwrap();
        assert!(!choice.carry && choice.reason.contains(reason), "{choice:?}");
    }
    assert!(isinglass_net::Carry::Auto.resolve(&config(vec![])).is_err());
}

#[test]
fn the_length_of_a_run_cannot_change_once_epochs_are_averaged() {
    let (values, labels) = problem();
    let examples = Examples::new(&values, INPUTS, &labels, 2).unwrap();
    let config = TrainConfig { epochs: 6, batch: 50, average: 3, ..TrainConfig::default() };
    let network = Network::builder(INPUTS).hidden([8]).classes(2).init(Init::Auto, 1).unwrap();
    let mut trainer = Trainer::new(network, config.clone(), &examples).unwrap();
    let with_epochs = |trainer: &Trainer<'_>, epochs: usize| {
        trainer.checkpoint().unwrap().with_train_config(TrainConfig { epochs, ..config.clone() }).map(drop)
    };
    while trainer.progress().epoch < 2 {
        trainer.step().unwrap();
    }
    assert!(with_epochs(&trainer, 9).is_ok() && with_epochs(&trainer, 5).is_ok() && with_epochs(&trainer, 4).is_err());
    while trainer.progress().epoch < 4 {
        trainer.step().unwrap();
    }
    assert!(with_epochs(&trainer, 9).unwrap_err().to_string().contains("have begun") && with_epochs(&trainer, 6).is_ok());
}
