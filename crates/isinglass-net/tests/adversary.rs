//! A step on adversarial examples against the plain f64 network, whose gradients with respect to the inputs are differences of losses.

mod support;

use isinglass_net::{
    Examples, Goal, Init, Means, NetworkConfig, Neuron, Optimizer, Partition, Schedule, Surrogate, TrainConfig, Trainer, Values, lrt_noise,
};
use support::networks;
use support::reference::{self, Activation, Batch};

const INPUTS: usize = 21;
const CLASSES: usize = 4;
/// More than one panel, and not whole ones.
const BATCH: usize = 37;
const RATE: f64 = 0.1;
const STEP: f64 = 0.15;

/// The batch with every input moved in the direction that raises the loss; `None` if a direction is a matter of single precision.
fn moved(network: &reference::Network, batch: &Batch) -> Option<Batch> {
    let mut moved = batch.clone();
    let width = 1e-4;
    for sample in 0..batch.inputs.len() {
        let noise = batch.noise.iter().map(|layer| layer.iter().map(|unit| vec![unit[sample]]).collect()).collect();
        let alone = Batch { inputs: vec![batch.inputs[sample].clone()], labels: vec![batch.labels[sample]], noise };
        for input in 0..INPUTS {
            let loss_at = |offset: f64| {
                let mut alone = alone.clone();
                alone.inputs[0][input] += offset;
                network.loss(&alone)
            };
            let slope = (loss_at(width) - loss_at(-width)) / (2.0 * width);
            if slope.abs() < 2e-5 {
                return None;
            }
            moved.inputs[sample][input] += STEP * slope.signum();
        }
    }
    Some(moved)
}

fn check(surrogate: Surrogate, neuron: Neuron, plain: reference::Surrogate, hidden: &[usize], carry: bool) {
    assert!((1..50).any(|seed| check_with(seed, surrogate, neuron, plain, hidden, carry)), "no examples with clear directions");
}

/// Whether the directions were clear enough to compare.
fn check_with(seed: u64, surrogate: Surrogate, neuron: Neuron, plain: reference::Surrogate, hidden: &[usize], carry: bool) -> bool {
    let label = format!("{surrogate} {hidden:?}");
    let config = NetworkConfig {
        inputs: INPUTS,
        hidden: hidden.to_vec(),
        classes: CLASSES,
        surrogate,
        neuron,
        init: Init::Uniform,
        sigma_m2: Some(0.3),
        sigma_b2: Some(0.1),
        carry,
        ..NetworkConfig::default()
    };
    let network = config.init(5).unwrap();
    let mut random = support::random::Random(seed);
    let values: Vec<f32> = (0..INPUTS * BATCH).map(|_| random.normal() as f32).collect();
    let labels: Vec<u8> = (0..BATCH).map(|i| (i * 7 % CLASSES) as u8).collect();
    let examples = Examples::new(Values::Floats(&values), INPUTS, &labels, CLASSES).unwrap();
    let train = TrainConfig {
        goal: Goal::Surrogate,
        means: Means::Clip,
        optimizer: Optimizer::Sgd,
        schedule: Schedule::Constant,
        lr: RATE,
        batch: BATCH,
        epochs: 1,
        validation: 0.0,
        adversarial: STEP,
        ..TrainConfig::default()
    };

    // Row by row in the order of the step, which decides who gets which noise.
    let partition = Partition::from_indices((0..BATCH as u32).collect(), vec![], BATCH).unwrap();
    let mut order = partition.train().to_vec();
    isinglass_net::Rng::new(train.seed).stream(isinglass_net::Rng::SHUFFLE, 0).shuffle(&mut order);
    let noise = network.layers().iter().enumerate().map(|(index, layer)| {
        let noise = lrt_noise(train.seed, 0, index, layer.outputs(), BATCH).unwrap();
        noise.into_iter().map(|row| row.into_iter().map(f64::from).collect()).collect()
    });
    let row = |&index: &u32| values[index as usize * INPUTS..][..INPUTS].iter().map(|&v| f64::from(v)).collect();
    let batch = Batch {
        inputs: order.iter().map(row).collect(),
        labels: order.iter().map(|&index| usize::from(labels[index as usize])).collect(),
        noise: noise.collect(),
    };
    let plain = networks::plain(&network, plain);
    let Some(harder) = moved(&plain, &batch) else { return false };
    let (clean, expected) = (plain.loss(&batch), plain.gradients(&harder));
    assert!(expected.loss > clean, "{label}: moved examples are harder");

    let mut trainer = Trainer::prepared(network.clone(), train, &examples, partition).unwrap().with_threads(2);
    let step = trainer.step().unwrap();
    assert!((f64::from(step.loss) - clean).abs() < 1e-5, "{label}: the loss that is reported is that of the examples as they are");
    let after = trainer.network().unwrap();
    for (index, ((before, after), gradient)) in network.layers().iter().zip(after.layers()).zip(&expected.layers).enumerate() {
        let bound = if surrogate == Surrogate::Continuous { f64::INFINITY } else { 1.0 };
        let means: Vec<f64> = gradient.means.iter().flatten().copied().collect();
        let largest = means.iter().chain(&gradient.bias).fold(1e-9f64, |largest, g| largest.max(g.abs()));
        for (before, after, gradient, bound) in
            [(before.means(), after.means(), &means, bound), (before.bias(), after.bias(), &gradient.bias, f64::INFINITY)]
        {
            for ((&before, &after), gradient) in before.iter().zip(after).zip(gradient) {
                let expected = (f64::from(before) - RATE * gradient).clamp(-bound, bound);
                assert!(
                    (f64::from(after) - expected).abs() < 1e-4 * RATE * largest + 1e-7,
                    "{label}, layer {index}: {after} for {expected}"
                );
            }
        }
    }
    true
}

#[test]
fn steps_are_those_of_the_moved_examples() {
    use reference::Surrogate as Plain;
    let tanh = Activation::Tanh(1.0);
    for (hidden, carry) in [(&[19][..], false), (&[19, 33], false), (&[24; 5], true)] {
        check(Surrogate::Deterministic, Neuron::Sign, Plain::sign(), hidden, carry);
        check(Surrogate::LrtContinuous, Neuron::Tanh(1.0), Plain::LrtContinuous { activation: tanh }, hidden, carry);
        check(Surrogate::Continuous, Neuron::Tanh(1.0), Plain::Continuous { activation: tanh }, hidden, carry);
    }
}
