//! Runs of the trainer: equal bits from equal seeds, runs interrupted anywhere, what a run ends with, and that it learns.

mod support;

use std::collections::HashSet;
use std::path::Path;

use isinglass_net::{
    Checkpoint, EpochReport, Error, Goal, Init, Means, Network, NetworkConfig, Optimizer, Partition, Rng, Surrogate, TrainConfig, Trainer,
    lrt_noise,
};
use support::files::directory;
use support::networks::plain;
use support::problem::Problem;
use support::reference::{self, Activation, Batch};

fn network(problem: &Problem, surrogate: Surrogate, hidden: &[usize], seed: u64) -> Network {
    let config = NetworkConfig {
        inputs: problem.features,
        hidden: hidden.to_vec(),
        classes: problem.classes,
        surrogate,
        neuron: surrogate.default_neuron(),
        init: Init::Uniform,
        sigma_b2: Some(0.01),
        ..NetworkConfig::default()
    };
    config.init(seed).unwrap()
}

/// The goal of a surrogate: binary wherever there is a binary network.
fn goal(surrogate: Surrogate) -> Goal {
    if surrogate.has_binary_weights() { Goal::Binary } else { Goal::Surrogate }
}

fn finish(trainer: &mut Trainer<'_>) -> Vec<EpochReport> {
    let mut reports = Vec::new();
    while !trainer.is_finished() {
        reports.extend(trainer.step().unwrap().epoch);
    }
    reports
}

fn bytes(checkpoint: &Checkpoint, file: &Path) -> Vec<u8> {
    checkpoint.save(file).unwrap();
    std::fs::read(file).unwrap()
}

#[test]
fn the_next_loss_is_that_of_the_next_step_and_changes_nothing() {
    let problem = Problem::noise(7, 3, 43, 3);
    let config = TrainConfig { batch: 16, epochs: 2, input_dropout: 0.2, dropout: 0.1, adversarial: 0.1, ..TrainConfig::default() };
    let trainer = || Trainer::new(network(&problem, Surrogate::Deterministic, &[19; 2], 1), config.clone(), &problem.examples()).unwrap();
    let (mut looking, mut plain) = (trainer(), trainer());
    while !plain.is_finished() {
        let loss = looking.next_loss().unwrap();
        assert_eq!(looking.next_loss().unwrap(), loss);
        let step = plain.step().unwrap();
        assert_eq!((step.loss, Ok(step)), (loss, looking.step().map_err(|error| error.to_string())));
    }
    assert_eq!(looking.network().unwrap(), plain.network().unwrap());
    assert!(matches!(looking.next_loss(), Err(Error::Finished { .. })));
}

#[test]
fn beta_is_reported_only_where_the_means_depend_on_it() {
    let problem = Problem::noise(7, 3, 43, 3);
    for (surrogate, last) in [(Surrogate::Deterministic, 30.0), (Surrogate::Ste, 1.0)] {
        let config = TrainConfig { batch: 16, epochs: 5, ..TrainConfig::default() };
        let mut trainer = Trainer::new(network(&problem, surrogate, &[19; 2], 1), config, &problem.examples()).unwrap();
        let betas: Vec<f64> = finish(&mut trainer).iter().map(|report| report.beta).collect();
        assert_eq!((betas[0], betas[4]), (1.0, last), "{surrogate}: {betas:?}");
    }
}

/// (features, hidden, classes, examples, batch). Nine tenths of the examples are trained with, and the last batch is never full.
const SIZES: [(usize, &[usize], usize, usize, usize); 4] =
    [(7, &[19; 2], 3, 43, 16), (33, &[101; 3], 10, 90, 17), (1, &[1], 2, 5, 3), (21, &[48, 17, 31, 64], 5, 50, 19)];

#[test]
fn equal_seeds_give_equal_bits_whatever_the_number_of_threads() {
    let file = directory("training-threads").join("run.safetensors");
    for (features, hidden, classes, count, batch) in SIZES {
        let problem = Problem::noise(features, classes, count, 3);
        for &surrogate in Surrogate::ALL {
            let run = |threads: usize, init: u64, seed: u64| {
                let config = TrainConfig { goal: goal(surrogate), batch, epochs: 3, seed, ..TrainConfig::default() };
                let network = network(&problem, surrogate, hidden, init);
                let mut trainer = Trainer::new(network, config, &problem.examples()).unwrap().with_threads(threads);
                assert_ne!(trainer.partition().train().len() % batch, 0, "the last batch is full");
                let reports = finish(&mut trainer);
                (trainer.checkpoint().unwrap(), reports)
            };
            let (expected, reports) = run(1, 5, 1);
            let expected_bytes = bytes(&expected, &file);
            for threads in [1, 2, 4, 8, 16] {
                let (again, reports_again) = run(threads, 5, 1);
                assert!(expected_bytes == bytes(&again, &file), "{surrogate} {features}-{hidden:?}, {threads} threads: other bits");
                assert_eq!(reports, reports_again, "{surrogate}, {threads} threads");
            }
            if hidden[0] > 1 {
                let start = network(&problem, surrogate, hidden, 5);
                assert_ne!(start.layers(), network(&problem, surrogate, hidden, 6).layers(), "{surrogate}: the initial seed does nothing");
                assert_ne!(expected.network().layers(), run(1, 5, 2).0.network().layers(), "{surrogate}: the run's seed does nothing");
            }
        }
    }
}

/// Every surrogate with Adam, and every optimiser, parametrisation and goal with the deterministic one.
fn varieties() -> Vec<(Surrogate, TrainConfig)> {
    let config = |optimizer, means, goal| TrainConfig { optimizer, means, goal, batch: 8, epochs: 2, ..TrainConfig::default() };
    let mut varieties = Vec::new();
    for &surrogate in Surrogate::ALL {
        for &means in Means::ALL {
            varieties.push((surrogate, config(Optimizer::Adam, means, goal(surrogate))));
        }
    }
    for &optimizer in Optimizer::ALL {
        for &means in Means::ALL {
            for &goal in Goal::ALL {
                varieties.push((Surrogate::Deterministic, config(optimizer, means, goal)));
            }
        }
    }
    varieties
}

#[test]
fn a_run_resumed_after_any_step_ends_with_the_same_file() {
    let directory = directory("training-resume");
    let (end, between) = (directory.join("end.safetensors"), directory.join("between.safetensors"));
    let problem = Problem::noise(5, 3, 20, 8);
    for (surrogate, config) in varieties() {
        let label = format!("{surrogate} {} {} {}", config.optimizer, config.means, config.goal);
        let start = network(&problem, surrogate, &[7; 2], 2);
        let mut undisturbed = Trainer::new(start.clone(), config.clone(), &problem.examples()).unwrap().with_threads(1);
        assert_eq!((undisturbed.progress().steps, undisturbed.progress().steps_per_epoch), (6, 3));
        let reports = finish(&mut undisturbed);
        let expected = bytes(&undisturbed.checkpoint().unwrap(), &end);

        let mut trainer = Trainer::new(start, config, &problem.examples()).unwrap().with_threads(2);
        for k in 0..=6 {
            trainer.checkpoint().unwrap().save(&between).unwrap();
            let checkpoint = Checkpoint::load(&between).unwrap();
            assert_eq!(checkpoint.progress(), trainer.progress(), "{label}");
            assert_eq!(checkpoint.progress().step, k, "{label}");
            let mut resumed = Trainer::resume(checkpoint, &problem.examples()).unwrap().with_threads(2);
            let later = finish(&mut resumed);
            assert_eq!(later, reports[(k / 3) as usize..], "{label}: reports after resuming from step {k}");
            assert!(bytes(&resumed.checkpoint().unwrap(), &end) == expected, "{label}: resumed from step {k}, other bits");
            if k < 6 {
                trainer.step().unwrap();
            }
        }
    }
}

#[test]
fn the_binary_goal_ends_with_surrogate_and_binary_network_equal() {
    let problem = Problem::pictures(30, 3, 200, 0.5, 4);
    for &surrogate in Surrogate::ALL.iter().filter(|surrogate| surrogate.has_binary_weights()) {
        for &means in Means::ALL {
            let config = TrainConfig { goal: Goal::Binary, means, epochs: 4, batch: 30, ..TrainConfig::default() };
            let mut trainer = Trainer::new(network(&problem, surrogate, &[33; 2], 1), config, &problem.examples()).unwrap().with_threads(2);
            finish(&mut trainer);
            let network = trainer.network().unwrap();
            assert!(
                network.layers().iter().flat_map(|layer| layer.means()).all(|m| m.abs() == 1.0),
                "{surrogate} {means}: a mean is not ±1"
            );
            // Noisy neurons differ from the signs that the deterministic network has instead.
            if !matches!(surrogate, Surrogate::Deterministic | Surrogate::Ste) {
                continue;
            }
            let examples = problem.examples();
            let own = network.surrogate().score(&examples, None).unwrap();
            let binary = network.binary().score(&examples, None).unwrap();
            let sampled = network.sampled(3).seed(9).score(&examples, None).unwrap();
            assert_eq!((own.accuracy, own.accuracy), (binary.accuracy, sampled.accuracy), "{surrogate} {means}");
            for nll in [own.nll, sampled.nll] {
                assert!((nll - binary.nll).abs() < 1e-6, "{surrogate} {means}: {nll}, not {}", binary.nll);
            }
        }
    }
}

#[test]
fn divergence_ends_the_run() {
    let problem = Problem::noise(6, 3, 40, 5);
    for &surrogate in Surrogate::ALL {
        // The second run ends after one step: no later loss can reveal the damage.
        for (batch, epochs) in [(8, 10), (40, 1)] {
            for &optimizer in Optimizer::ALL {
                let config = TrainConfig { goal: goal(surrogate), optimizer, lr: 1e300, batch, epochs, ..TrainConfig::default() };
                let mut trainer =
                    Trainer::new(network(&problem, surrogate, &[9; 2], 1), config, &problem.examples()).unwrap().with_threads(1);
                let end = loop {
                    match trainer.step() {
                        Ok(step) => assert!(step.loss.is_finite(), "{surrogate} {optimizer}: a step with loss {}", step.loss),
                        Err(error) => break error,
                    }
                };
                assert!(matches!(end, Error::Diverged { step: 1..=2, .. }), "{surrogate}: {end}");
                assert!(end.to_string().contains("smaller learning rate"), "{end}");
            }
        }
    }
}

#[test]
fn partitions_are_disjoint_and_follow_from_the_seed() {
    // (examples, fraction used, part held out; training, validation)
    for (count, train_fraction, validation, train, held_out) in
        [(100, 1.0, 0.1, 90, 10), (103, 0.5, 0.1, 47, 5), (7, 1.0, 0.0, 7, 0), (10, 0.3, 0.5, 1, 2), (3, 0.01, 0.4, 1, 0)]
    {
        let config = TrainConfig { train_fraction, validation, seed: 3, ..TrainConfig::default() };
        let partition = Partition::new(count, &config).unwrap();
        assert_eq!((partition.train().len(), partition.validation().len()), (train, held_out), "{count} {train_fraction} {validation}");
        let all: HashSet<u32> = partition.train().iter().chain(partition.validation()).copied().collect();
        assert_eq!(all.len(), train + held_out, "an example is in both, or twice in one");
        assert!(all.iter().all(|&index| (index as usize) < count));
        assert_eq!(partition, Partition::new(count, &config).unwrap());
        if count > 50 {
            assert_ne!(partition, Partition::new(count, &TrainConfig { seed: 4, ..config }).unwrap());
        }
    }
    for (count, train_fraction, validation) in [(1, 1.0, 0.6), (10, 1.0, 1.5), (10, f64::NAN, 0.1), (10, 0.0, 0.1), (0, 1.0, 0.1)] {
        let config = TrainConfig { train_fraction, validation, ..TrainConfig::default() };
        let refused = Partition::new(count, &config);
        assert!(matches!(refused, Err(Error::Config(_))), "{count} {train_fraction} {validation}: {refused:?}");
    }
}

#[test]
fn held_out_examples_are_not_trained_on() {
    let mut problem = Problem::noise(6, 2, 50, 1);
    let config = TrainConfig { validation: 0.3, epochs: 2, batch: 10, ..TrainConfig::default() };
    let start = network(&problem, Surrogate::Deterministic, &[11], 1);
    let run = |problem: &Problem| {
        let mut trainer = Trainer::new(start.clone(), config.clone(), &problem.examples()).unwrap().with_threads(1);
        let reports = finish(&mut trainer);
        (trainer.partition().clone(), trainer.network().unwrap(), reports[0].validation)
    };
    let (partition, network, score) = run(&problem);
    let scramble = |problem: &mut Problem, index: u32| {
        let index = index as usize;
        problem.values[6 * index..6 * index + 6].iter_mut().for_each(|value| *value = !*value);
        problem.labels[index] ^= 1;
    };
    partition.validation().iter().for_each(|&index| scramble(&mut problem, index));
    let (_, same, other_score) = run(&problem);
    assert_eq!(network, same);
    assert_ne!(score, other_score);
    scramble(&mut problem, partition.train()[0]);
    assert_ne!(network, run(&problem).1);
}

#[test]
fn every_step_draws_its_own_noise_and_takes_its_own_batch() {
    let problem = Problem::pictures(9, 3, 40, 0.3, 6);
    let config = TrainConfig { goal: Goal::Surrogate, batch: 13, epochs: 2, validation: 0.0, seed: 77, ..TrainConfig::default() };
    let mut trainer =
        Trainer::new(network(&problem, Surrogate::LrtBinary, &[5; 2], 1), config, &problem.examples()).unwrap().with_threads(2);
    let mut first = 0;
    while !trainer.is_finished() {
        let progress = trainer.progress();
        let mut order = trainer.partition().train().to_vec();
        Rng::new(77).stream(Rng::SHUFFLE, progress.epoch as u64).shuffle(&mut order);
        let batch: Vec<usize> = order.chunks(13).nth(first % 4).unwrap().iter().map(|&index| index as usize).collect();
        first += 1;
        let network = trainer.network().unwrap();
        let input = |&index: &usize| {
            let row = &problem.values[9 * index..9 * index + 9];
            row.iter().map(|&value| f64::from(network.input().preprocessing().apply(f32::from(value)))).collect()
        };
        let noise = network.layers().iter().enumerate().map(|(index, layer)| {
            let noise = lrt_noise(77, progress.step, index, layer.outputs(), batch.len()).unwrap();
            noise.into_iter().map(|row| row.into_iter().map(f64::from).collect()).collect()
        });
        let surrogate = reference::Surrogate::LrtBinary { activation: Activation::Tanh(1.0) };
        let expected = plain(&network, surrogate).loss(&Batch {
            inputs: batch.iter().map(input).collect(),
            labels: batch.iter().map(|&index| usize::from(problem.labels[index])).collect(),
            noise: noise.collect(),
        });
        let step = trainer.step().unwrap();
        assert_eq!((step.step, step.examples), (progress.step + 1, batch.len()));
        assert!((f64::from(step.loss) - expected).abs() < 1e-5, "step {}: {}, not {expected}", step.step, step.loss);
    }
    assert_eq!(first, 8);
}

#[test]
fn every_surrogate_learns_an_easy_problem() {
    let problem = Problem::pictures(49, 4, 600, 0.3, 2);
    let test = Problem { values: problem.values[49 * 400..].to_vec(), labels: problem.labels[400..].to_vec(), ..problem };
    let problem = Problem { values: problem.values[..49 * 400].to_vec(), labels: problem.labels[..400].to_vec(), ..problem };
    for &surrogate in Surrogate::ALL {
        let config = TrainConfig { goal: goal(surrogate), batch: 32, epochs: 10, ..TrainConfig::default() };
        let mut trainer = Trainer::new(network(&problem, surrogate, &[51; 2], 1), config, &problem.examples()).unwrap().with_threads(2);
        let reports = finish(&mut trainer);
        let network = trainer.network().unwrap();
        let own = network.surrogate().score(&test.examples(), None).unwrap().accuracy;
        assert!(own > 0.95, "{surrogate}: {own} of the test examples");
        match network.binary().score(&test.examples(), None) {
            Ok(binary) => assert!(binary.accuracy > 0.95, "{surrogate}: the binary network finds {}", binary.accuracy),
            Err(error) => assert!(matches!(error, Error::NotBinary(Surrogate::Continuous)), "{surrogate}: {error}"),
        }
        assert!(reports[9].train.nll < 0.5 * reports[0].train.nll, "{surrogate}: {} after {}", reports[9].train.nll, reports[0].train.nll);
    }
}

#[test]
fn networks_of_mixed_widths_memorise_random_labels() {
    // The labels are random: a network has to memorise them.
    let problem = Problem::noise(20, 4, 40, 9);
    for hidden in [&[96, 33, 64][..], &[31, 128], &[64, 17, 31, 48]] {
        for (surrogate, goal) in [
            (Surrogate::Deterministic, Goal::Surrogate),
            (Surrogate::Deterministic, Goal::Binary),
            (Surrogate::Continuous, Goal::Surrogate),
        ] {
            let config = TrainConfig { goal, batch: 10, epochs: 120, validation: 0.0, ..TrainConfig::default() };
            let trained = Trainer::new(network(&problem, surrogate, hidden, 1), config, &problem.examples()).unwrap().run(|_| ()).unwrap();
            let own = trained.surrogate().score(&problem.examples(), None).unwrap();
            assert!(own.accuracy > 0.95, "{surrogate} {goal} {hidden:?}: {}", own.accuracy);
            if goal == Goal::Binary {
                assert_eq!(trained.binary().score(&problem.examples(), None).unwrap().accuracy, own.accuracy, "{hidden:?}");
            }
            let start = network(&problem, surrogate, hidden, 1);
            assert!(
                trained.layers().iter().zip(start.layers()).all(|(now, then)| now.means() != then.means() && now.bias() != then.bias())
            );
        }
    }
}
