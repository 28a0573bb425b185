//! What does not fit is refused, by an error and never by a panic: no unchecked layer reaches the engine, and no example that the network does not take.

mod support;

use isinglass_net::{
    Counterpart, Diagnosis, Error, Examples, Gradients, Inference, Init, InputRule, Layer, Network, Neuron, Partition, Preprocessing,
    Schedule, Surrogate, TrainConfig, Trainer, Values,
};
use support::networks::with_preprocessing;
use support::problem::Problem;

fn network(hidden: &[usize]) -> Network {
    Network::builder(6).hidden(hidden).classes(3).init(Init::Uniform, 1).unwrap()
}

fn is_layer_error<T>(result: Result<T, Error>) -> bool {
    matches!(result, Err(Error::Layer(_)))
}

#[test]
fn a_wider_layer_cannot_be_swapped_in() {
    let (small, wide) = (network(&[4, 5]), network(&[400, 5]));
    let mut changed = small.clone();
    for index in 0..3 {
        for layer in wide.layers().iter().chain(small.layers()).filter(|layer| layer.spec() != small.layers()[index].spec()) {
            assert!(is_layer_error(changed.replace_layer(index, layer.clone())), "layer {index}");
        }
    }
    assert_eq!(changed, small);
    for layers in [
        vec![wide.layers()[0].clone(), small.layers()[1].clone(), small.layers()[2].clone()],
        vec![small.layers()[1].clone(), small.layers()[0].clone(), small.layers()[2].clone()],
        small.layers()[..2].to_vec(),
        [small.layers(), small.layers()].concat(),
        Vec::new(),
    ] {
        assert!(is_layer_error(Network::new(small.config().clone(), layers)));
    }
}

#[test]
fn a_layer_of_other_neurons_or_weights_cannot_be_swapped_in() {
    // Equal shapes: 6-6-6-6.
    let of = |surrogate: Surrogate, neuron: Neuron, tau: f64| {
        let builder = Network::builder(6).hidden([6, 6]).classes(6).surrogate(surrogate).neuron(neuron).tau(tau);
        builder.init(Init::Uniform, 1).unwrap()
    };
    let own = of(Surrogate::Deterministic, Neuron::Sign, 1.0);
    for (other, index) in [
        (of(Surrogate::Continuous, Neuron::Tanh(1.0), 1.0), 0),
        (of(Surrogate::Deterministic, Neuron::Probit(0.5), 1.0), 1),
        (of(Surrogate::Ste, Neuron::Sign, 1.0), 1),
        (of(Surrogate::Deterministic, Neuron::Sign, 2.0), 2),
    ] {
        assert!(is_layer_error(own.clone().replace_layer(index, other.layers()[index].clone())), "layer {index} of {:?}", other.config());
        assert!(is_layer_error(Network::new(own.config().clone(), other.layers().to_vec())), "{:?}", other.config());
    }
    // The first layer takes data, the second neurons, the third makes logits.
    for (index, from) in [(0, 1), (1, 0), (1, 2), (2, 1)] {
        assert!(is_layer_error(own.clone().replace_layer(index, own.layers()[from].clone())), "layer {from} in place of {index}");
    }
}

#[test]
fn layers_with_wrong_counts_or_values_are_refused() {
    let layer = network(&[4, 5]).layers()[1].clone();
    let (means, bias) = (layer.means().to_vec(), layer.bias().to_vec());
    let new = |means: Vec<f32>, bias: Vec<f32>| Layer::new(*layer.spec(), means, bias);
    assert!(new(means.clone(), bias.clone()).is_ok());
    assert!(is_layer_error(new(means.clone(), Vec::new())), "a cleared bias");
    assert!(is_layer_error(layer.clone().with_bias(Vec::new())), "a cleared bias");
    assert!(is_layer_error(layer.clone().with_bias(vec![0.0; 6])));
    assert!(is_layer_error(layer.clone().with_means(vec![0.0; 21])));
    assert!(is_layer_error(layer.clone().with_means(Vec::new())));
    for wrong in [1.000_001, -1.5, f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for place in [0, 7, 19] {
            let mut means = means.clone();
            means[place] = wrong;
            assert!(is_layer_error(new(means.clone(), bias.clone())), "a mean of {wrong}");
            assert!(is_layer_error(layer.clone().with_means(means)), "a mean of {wrong}");
        }
    }
    for wrong in [f32::NAN, f32::INFINITY] {
        let mut bias = bias.clone();
        bias[4] = wrong;
        assert!(is_layer_error(new(means.clone(), bias.clone())) && is_layer_error(layer.clone().with_bias(bias)), "a bias of {wrong}");
    }
    assert!(new(vec![1.0; 20], vec![-1e30; 5]).is_ok());
}

/// Everything that looks at labelled examples must refuse them.
fn all_refuse(network: &Network, examples: &Examples<'_>, indices: &[u32], words: &str) {
    let mut errors = vec![
        ("inference", Inference::new(network, 4, 1).unwrap().score(examples, indices).map(drop)),
        ("gradients", Gradients::new(network, examples, indices, true, 2).map(drop)),
        ("diagnosis", Diagnosis::new(network, examples, indices, 1).map(drop)),
    ];
    let counterparts: [(&str, Counterpart<'_>); 5] = [
        ("surrogate", network.surrogate()),
        ("binary", network.binary()),
        ("binary in floats", network.binary().in_floats()),
        ("sampled", network.sampled(2)),
        ("sampled in floats", network.sampled(2).in_floats()),
    ];
    for (name, counterpart) in counterparts {
        errors.push((name, counterpart.threads(2).score(examples, Some(indices)).map(drop)));
        errors.push((name, counterpart.threads(2).scores(examples, Some(indices), &[1, 2], &mut |_, _| ()).map(drop)));
    }
    for (name, result) in errors {
        match result {
            Err(Error::Examples(message)) => assert!(message.contains(words), "{name}: {message:?} does not say {words:?}"),
            other => panic!("{name}: {other:?}, although {words}"),
        }
    }
}

fn networks() -> Vec<Network> {
    let standardised = |network| with_preprocessing(network, Preprocessing::standardising(127.0, 74.0).unwrap());
    let noisy = Network::builder(6).hidden([4, 5]).classes(3).surrogate(Surrogate::LrtBinary).init(Init::Uniform, 1).unwrap();
    vec![standardised(network(&[4, 5])), standardised(noisy)]
}

#[test]
fn examples_of_the_wrong_width_are_refused() {
    for network in networks() {
        for features in [1, 5, 7, 12] {
            let problem = Problem::noise(features, 3, 12, 1);
            all_refuse(&network, &problem.examples(), &[0, 3], &format!("{features} values for a network with 6 inputs"));
        }
    }
}

#[test]
fn examples_with_more_classes_are_refused_with_fewer_accepted() {
    for network in networks() {
        all_refuse(&network, &Problem::noise(6, 4, 9, 1).examples(), &[0], "4 classes for a network with 3 outputs");
        let fewer = Problem::noise(6, 2, 9, 1);
        assert!(network.binary().score(&fewer.examples(), None).is_ok());
        assert!(Gradients::new(&network, &fewer.examples(), &[0], true, 1).is_ok());
    }
}

#[test]
fn indices_out_of_range_and_empty_lists_are_refused() {
    let problem = Problem::noise(6, 3, 9, 1);
    for network in networks() {
        for wrong in [9, 10, u32::MAX] {
            all_refuse(&network, &problem.examples(), &[0, wrong, 1], &format!("example {wrong}: there are only 9"));
        }
        all_refuse(&network, &problem.examples(), &[], "no examples were chosen");
    }
    let none: &[u8] = &[];
    assert!(matches!(Examples::new(none, 6, &[], 3), Err(Error::Examples(_))));
    let batch = vec![0; 65_537];
    let refused = Gradients::new(&networks()[0], &problem.examples(), &batch, true, 1);
    assert!(matches!(refused, Err(Error::Config(message)) if message.contains("65536")));
}

#[test]
fn partial_examples_and_non_finite_values_are_refused() {
    for network in networks() {
        for counterpart in
            [network.surrogate(), network.binary(), network.binary().in_floats(), network.sampled(2), network.sampled(2).in_floats()]
        {
            for count in [1, 5, 7, 13] {
                let refused = counterpart.predict(&vec![1u8; count]);
                assert!(matches!(&refused, Err(Error::Examples(message)) if message.contains("whole examples of 6")), "{refused:?}");
            }
            for wrong in [f32::NAN, f32::INFINITY] {
                let refused = counterpart.predict(&[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, wrong, 0.0, 0.0, 0.0]);
                assert!(matches!(&refused, Err(Error::Examples(message)) if message.contains("row 1, column 2")), "{refused:?}");
            }
        }
        for binary in [network.binary(), network.binary().in_floats()] {
            assert!(matches!(binary.sums(&[1u8; 7]), Err(Error::Examples(_))));
            assert!(matches!(binary.sums(&[1f32; 6]), Err(Error::Examples(message)) if message.contains("not integers")));
        }
        assert!(network.surrogate().sums(&[1u8; 6]).is_err() && network.sampled(1).sums(&[1u8; 6]).is_err());
    }
}

#[test]
fn zero_examples_give_an_empty_prediction() {
    let (bytes, floats): (&[u8], &[f32]) = (&[], &[]);
    for network in networks() {
        for counterpart in
            [network.surrogate(), network.binary(), network.binary().in_floats(), network.sampled(2), network.sampled(2).in_floats()]
        {
            for values in [Values::Bytes(bytes), Values::Floats(floats)] {
                let prediction = counterpart.predict(values).unwrap();
                assert!(prediction.is_empty() && prediction.probabilities().is_empty());
            }
        }
        assert_eq!(network.binary().sums(bytes).unwrap(), [0; 0]);
        assert_eq!(network.binary().in_floats().sums(bytes).unwrap(), [0; 0]);
    }
}

#[test]
fn misfitting_input_rules_and_partitions_are_refused() {
    let mut network = network(&[4]);
    let table = InputRule::choose(Values::Floats(&[1.0, 2.0, 3.0, 4.0]), 2, &[0, 1], isinglass_net::Features::Table).unwrap();
    assert!(matches!(network.set_input(table), Err(Error::Examples(_))));
    assert_eq!(network.input(), &InputRule::unchanged());

    let problem = Problem::noise(6, 3, 9, 1);
    let of_more = Partition::from_indices(vec![0, 1], vec![9], 10).unwrap();
    let refused = Trainer::prepared(network.clone(), TrainConfig::default(), &problem.examples(), of_more).map(drop);
    assert!(matches!(&refused, Err(Error::Examples(message)) if message.contains("example 9: there are only 9")), "{refused:?}");
    for (train, validation) in [(vec![], vec![1]), (vec![9], vec![]), (vec![1, 1], vec![]), (vec![1], vec![2, 1])] {
        assert!(matches!(Partition::from_indices(train, validation, 9), Err(Error::Examples(_))));
    }
}

#[test]
fn steps_after_the_last_are_refused() {
    let problem = Problem::noise(6, 3, 20, 1);
    let config = TrainConfig { epochs: 1, batch: 32, ..TrainConfig::default() };
    let mut trainer = Trainer::new(network(&[4]), config, &problem.examples()).unwrap();
    trainer.step().unwrap();
    assert!(trainer.is_finished());
    assert!(matches!(trainer.step(), Err(Error::Finished { steps: 1 })));
}

#[test]
fn schedules_without_epochs_are_refused() {
    let problem = Problem::noise(6, 3, 20, 1);
    for (epochs, factor) in [(0, 0.1), (10, 0.0), (10, f64::NAN)] {
        let config = TrainConfig { schedule: Schedule::Step { epochs, factor }, ..TrainConfig::default() };
        let refused = Trainer::new(network(&[4]), config, &problem.examples()).err().expect("an error");
        assert!(refused.to_string().starts_with(&format!("schedule step:{epochs}:{factor}: ")), "{refused}");
    }
}
