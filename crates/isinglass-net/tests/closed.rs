//! A checkpoint is closed: it holds everything a run depends on, and all of it is checked when read.

mod support;

use isinglass_net::{
    Checkpoint, Init, InputRule, Network, NetworkConfig, Optimizer, Partition, Preprocessing, TrainConfig, Trainer, Values,
};
use safetensors::tensor::Dtype;
use serde_json::json;
use support::files::directory;
use support::problem::Problem;
use support::signing::Parts;

fn problem() -> Problem {
    Problem::noise(5, 3, 40, 4)
}

fn start() -> Network {
    // Not the seed of the run.
    Network::builder(5).hidden([7, 4]).classes(3).init(Init::Auto, 23).unwrap()
}

fn config() -> TrainConfig {
    TrainConfig { batch: 8, epochs: 4, seed: 6, ..TrainConfig::default() }
}

/// A checkpoint's file after some steps.
fn saved(steps: usize) -> Vec<u8> {
    let problem = problem();
    let mut trainer = Trainer::new(start(), config(), &problem.examples()).unwrap().with_threads(1);
    (0..steps).for_each(|_| drop(trainer.step().unwrap()));
    bytes(&trainer.checkpoint().unwrap(), "closed-saved")
}

fn bytes(checkpoint: &Checkpoint, name: &str) -> Vec<u8> {
    let path = directory(&format!("{name}-{:?}", std::thread::current().id())).join("run.safetensors");
    checkpoint.save(&path).unwrap();
    std::fs::read(path).unwrap()
}

#[test]
fn the_file_holds_what_auto_resolved_to() {
    let parts = Parts::new(&saved(6));
    let network = start();
    let came_to = network.initialisation().unwrap();
    assert_eq!(parts.metadata["network"]["init"], "auto");
    let stored = &parts.metadata["initialisation"];
    assert_eq!(stored["distribution"], came_to.distribution.to_string());
    assert_eq!(stored["sigma2"].as_f64(), came_to.sigma2);
    assert_eq!(stored["sigma-b2"].as_f64(), Some(came_to.sigma_b2));
    assert_eq!(stored["reason"], came_to.reason.as_str());
    assert_eq!((&parts.metadata["init-seed"], &parts.metadata["train"]["seed"]), (&json!(23), &json!(6)));
}

#[test]
fn the_initial_network_depends_only_on_the_file() {
    let file = saved(6);
    let checkpoint = Checkpoint::from_bytes(&file).unwrap();
    assert_eq!(checkpoint.network().init_seed(), Some(23));
    let initial = checkpoint.network().initial().unwrap().unwrap();
    assert_eq!(initial.layers(), start().layers());
    assert_ne!(checkpoint.network().layers(), start().layers());

    // The file decides, not what the theory would advise today.
    let mut parts = Parts::new(&file);
    parts.metadata["initialisation"] = json!({"distribution": "two-point", "sigma2": 0.25, "sigma-b2": 0.0, "reason": "an older theory"});
    let older = Checkpoint::from_bytes(&parts.sign()).unwrap();
    let drawn = older.network().initial().unwrap().unwrap();
    assert!(drawn.layers().iter().flat_map(|layer| layer.means()).all(|mean| mean.abs() == 0.5));
    assert_eq!(older.network().initialisation().unwrap().reason, "an older theory");
}

#[test]
fn the_file_holds_the_partition() {
    let problem = problem();
    let mut parts = Parts::new(&saved(6));
    let partition = Partition::new(40, &config()).unwrap();
    assert_eq!(parts.indices("partition.train"), partition.train());
    assert_eq!(parts.indices("partition.validation"), partition.validation());

    // A resumed run uses the examples that the file names, whatever the seed would choose.
    let (first, second) = (parts.indices("partition.train")[0], parts.indices("partition.validation")[0]);
    parts.set("partition.train", 0, second.to_le_bytes());
    parts.set("partition.validation", 0, first.to_le_bytes());
    let trainer = Trainer::resume(Checkpoint::from_bytes(&parts.sign()).unwrap(), &problem.examples()).unwrap();
    assert_eq!((trainer.partition().train()[0], trainer.partition().validation()[0]), (second, first));
}

#[test]
fn a_custom_partition_survives_a_checkpoint() {
    let problem = problem();
    let mut network = start();
    network.set_input(InputRule::shared(Preprocessing::standardising(127.0, 74.0).unwrap())).unwrap();
    // Neither the sizes nor the order that the seed would give.
    let own = || Partition::from_indices((3..30).rev().collect(), vec![0, 39, 31], 40).unwrap();
    let prepared = || Trainer::prepared(network.clone(), config(), &problem.examples(), own()).unwrap().with_threads(2);
    let mut undisturbed = prepared();
    let mut reports = Vec::new();
    while !undisturbed.is_finished() {
        reports.extend(undisturbed.step().unwrap().epoch);
    }
    let expected = bytes(&undisturbed.checkpoint().unwrap(), "closed-own");
    assert_eq!(undisturbed.progress().steps, 16);
    for stop in [0, 3, 4, 9, 15] {
        let mut trainer = prepared();
        (0..stop).for_each(|_| drop(trainer.step().unwrap()));
        let file = bytes(&trainer.checkpoint().unwrap(), "closed-own");
        let checkpoint = Checkpoint::from_bytes(&file).unwrap();
        assert_eq!(checkpoint.partition(), &own());
        let mut resumed = Trainer::resume(checkpoint, &problem.examples()).unwrap();
        assert_eq!(resumed.partition(), &own());
        let mut later = Vec::new();
        while !resumed.is_finished() {
            later.extend(resumed.step().unwrap().epoch);
        }
        assert_eq!(later, reports[stop / 4..], "after step {stop}");
        assert!(bytes(&resumed.checkpoint().unwrap(), "closed-own") == expected, "stopped after step {stop}, other bits");
    }
}

#[test]
fn trainer_and_checkpoint_write_the_same_file() {
    let directory = directory("closed-trainer-save");
    let table: Vec<f32> = Problem::noise(5, 3, 40, 9).values.iter().map(|&byte| f32::from(byte) * 1e-3).collect();
    let labels = problem().labels;
    let problem = problem();
    let reals = isinglass_net::Examples::new(Values::Floats(&table), 5, &labels, 3).unwrap();
    for (examples, tensors) in [(problem.examples(), 23), (reals, 25)] {
        let mut trainer = Trainer::new(start(), config(), &examples).unwrap();
        (0..3).for_each(|_| drop(trainer.step().unwrap()));
        let (direct, copied) = (directory.join("direct.safetensors"), directory.join("copied.safetensors"));
        trainer.save(&direct).unwrap();
        trainer.checkpoint().unwrap().save(&copied).unwrap();
        let file = std::fs::read(&direct).unwrap();
        assert!(file == std::fs::read(&copied).unwrap());
        assert_eq!(Parts::new(&file).tensors.len(), tensors);
        assert_eq!(Checkpoint::load(&direct).unwrap(), trainer.checkpoint().unwrap());
    }
}

/// The file must be refused, with these words, although its hash is right.
fn refused(parts: Parts, words: &str) {
    match Checkpoint::from_bytes(&parts.sign()) {
        Ok(_) => panic!("accepted, although: {words}"),
        Err(message) => assert!(message.contains(words), "{message:?} does not say {words:?}"),
    }
}

#[test]
fn a_valid_hash_does_not_excuse_impossible_contents() {
    let file = saved(6);
    let parts = || Parts::new(&file);
    assert!(Checkpoint::from_bytes(&parts().sign()).is_ok(), "signed again it loads");
    assert!(parts().sign() == file, "signing gives the file that was written");
    let with = |change: &dyn Fn(&mut Parts)| {
        let mut changed = parts();
        change(&mut changed);
        changed
    };
    for wrong in [2f32, -1.000_001, f32::NAN, f32::INFINITY] {
        refused(with(&|parts| parts.set("layers.1.means", 3, wrong.to_le_bytes())), "means of ±1 weights lie in [-1, 1]");
    }
    refused(with(&|parts| parts.set("layers.0.bias", 0, f32::NAN.to_le_bytes())), "biases are finite");

    let (first, last) = (parts().indices("partition.train")[1], parts().indices("partition.validation")[0]);
    refused(with(&|parts| parts.set("partition.train", 0, first.to_le_bytes())), "twice");
    refused(with(&|parts| parts.set("partition.train", 0, last.to_le_bytes())), "twice");
    refused(with(&|parts| parts.set("partition.validation", 0, 40u32.to_le_bytes())), "example 40");
    refused(with(&|parts| parts.set("partition.train", 0, u32::MAX.to_le_bytes())), "4294967295");
    refused(with(&|parts| parts.tensors.retain(|tensor| tensor.0 != "partition.train")), "the size of the partition does not match");

    let extra = |name: &str| {
        let name = name.to_string();
        with(&move |parts| parts.tensors.push((name.clone(), Dtype::F32, vec![1], vec![0; 4])))
    };
    for name in ["layers.3.means", "layers.0.other", "weights", "input.other"] {
        refused(extra(name), "unexpected tensors");
    }
    refused(extra("input.centres"), "input.centres");
    refused(with(&|parts| parts.tensors.retain(|tensor| tensor.0 != "layers.2.bias")), "layers.2.bias is missing");
    refused(with(&|parts| parts.tensors.retain(|tensor| tensor.0 != "layers.2.means")), "layers.2.means is missing");
    refused(with(&|parts| parts.metadata["network"]["hidden"] = json!([7, 5])), "layers.1.means");
    refused(with(&|parts| parts.metadata["network"]["hidden"] = json!([7])), "layers.1.means");
    refused(with(&|parts| parts.metadata["class-names"] = json!(["one", "two"])), "2 names for 3 classes");
    refused(with(&|parts| parts.metadata["preprocessing"]["scale"] = json!(0.0)), "scale");
    refused(with(&|parts| parts.metadata["train"]["batch"] = json!(0)), "batch = 0");
}

#[test]
fn a_run_does_not_resume_from_incomplete_optimiser_state() {
    let problem = problem();
    let file = saved(6);
    for missing in ["layers.0.theta", "layers.1.m", "layers.2.v", "layers.0.bias_m", "layers.2.bias_v"] {
        let mut parts = Parts::new(&file);
        parts.tensors.retain(|tensor| tensor.0 != missing);
        // The network itself is complete: it can be evaluated, but not trained further.
        let checkpoint = Checkpoint::from_bytes(&parts.sign()).unwrap();
        let error = Trainer::resume(checkpoint, &problem.examples()).map(drop).unwrap_err().to_string();
        assert!(error.contains("optimiser state"), "{missing}: {error}");
    }
    let checkpoint = Checkpoint::from_bytes(&file).unwrap();
    let other = TrainConfig { optimizer: Optimizer::Sgd, ..checkpoint.train_config().clone() };
    assert!(checkpoint.with_train_config(other).is_err());
}

#[test]
fn the_file_of_a_network_built_from_layers_has_no_initialisation() {
    let problem = problem();
    let config = NetworkConfig { inputs: 5, hidden: vec![7, 4], classes: 3, ..NetworkConfig::default() };
    let given = Network::new(config, start().layers().to_vec()).unwrap();
    let trainer = Trainer::new(given, self::config(), &problem.examples()).unwrap();
    let file = bytes(&trainer.checkpoint().unwrap(), "closed-given");
    let parts = Parts::new(&file);
    assert!(parts.metadata["initialisation"].is_null() && parts.metadata["init-seed"].is_null());
    let checkpoint = Checkpoint::from_bytes(&file).unwrap();
    assert_eq!(checkpoint.network().initial().unwrap(), None);
    assert_eq!(checkpoint, trainer.checkpoint().unwrap());
}
