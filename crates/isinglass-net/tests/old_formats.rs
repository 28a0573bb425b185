//! Checkpoints of format 1, written before networks were lists of layers: they load, and runs that were interrupted end where they would have ended then.
//!
//! `fixtures/format-1/make.py` says how the files were made.

mod support;

use std::path::{Path, PathBuf};

use isinglass_net::{Checkpoint, Examples, Init, Network, NetworkConfig, Neuron, Partition, Surrogate, Trainer, Values};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/format-1").join(name)
}

/// Labels and values of a CSV file.
fn csv(name: &str) -> (Vec<u8>, Vec<f32>) {
    let text = std::fs::read_to_string(fixture(name)).unwrap();
    let mut labels = Vec::new();
    let mut values = Vec::new();
    for line in text.lines() {
        let mut fields = line.split(',');
        labels.push(fields.next().unwrap().parse().unwrap());
        values.extend(fields.map(|field| field.parse::<f32>().unwrap()));
    }
    (labels, values)
}

/// Compares means and biases with bits that were read out of the old file without our library.
fn assert_bits(network: &Network, name: &str) {
    let text = std::fs::read_to_string(fixture(name)).unwrap();
    let expected: serde_json::Value = serde_json::from_str(&text).unwrap();
    for (index, layer) in network.layers().iter().enumerate() {
        for (array, values) in [("means", layer.means()), ("bias", layer.bias())] {
            let stored = expected[format!("layers.{index}.{array}")].as_array().unwrap();
            let stored: Vec<u32> = stored.iter().map(|bits| bits.as_u64().unwrap() as u32).collect();
            let bits: Vec<u32> = values.iter().map(|value| value.to_bits()).collect();
            assert_eq!(bits, stored, "{name}: {array} of layer {index}");
        }
    }
    assert_eq!(expected.as_object().unwrap().len(), 2 * network.layers().len());
}

/// (name, data, surrogate, neuron, hidden layers)
type Case = (&'static str, &'static str, Surrogate, Neuron, &'static [usize]);

const CASES: [Case; 4] = [
    ("auto", "bytes.csv", Surrogate::Deterministic, Neuron::Sign, &[7, 7]),
    ("noisy", "bytes.csv", Surrogate::LrtBinary, Neuron::Logistic(1.0), &[5, 5]),
    ("latent", "bytes.csv", Surrogate::Ste, Neuron::Sign, &[9]),
    ("reals", "reals.csv", Surrogate::Deterministic, Neuron::Probit(0.5), &[6]),
];

#[test]
fn finished_runs_load() {
    for (name, data, surrogate, neuron, hidden) in CASES {
        let checkpoint = Checkpoint::load(&fixture(&format!("{name}.end.safetensors"))).unwrap();
        let config: &NetworkConfig = checkpoint.network().config();
        assert_eq!((config.surrogate, config.neuron, &config.hidden[..]), (surrogate, neuron, hidden), "{name}");
        assert_eq!((config.inputs, config.classes), (6, 3), "{name}");
        assert_eq!(checkpoint.progress().step, checkpoint.progress().steps, "{name}");
        assert_bits(checkpoint.network(), &format!("{name}.end.json"));
        // What the file does not hold follows from the settings, as it did then.
        assert_eq!(checkpoint.network().init_seed(), Some(5), "{name}");
        let initial = checkpoint.network().initial().unwrap().unwrap();
        assert_eq!(initial.layers(), config.init(5).unwrap().layers(), "{name}");
        let partition = Partition::new(csv(data).0.len(), checkpoint.train_config()).unwrap();
        assert_eq!((checkpoint.partition(), checkpoint.train_config().seed), (&partition, 5), "{name}");
    }
    let auto = Checkpoint::load(&fixture("auto.end.safetensors")).unwrap();
    assert_eq!(auto.network().config().init, Init::Auto);
    assert_eq!(auto.network().initialisation().unwrap().distribution, Init::Uniform);
}

#[test]
fn interrupted_runs_end_with_the_same_bits() {
    for (name, data, ..) in CASES {
        let (labels, reals) = csv(data);
        let bytes: Vec<u8> = reals.iter().map(|&value| value as u8).collect();
        let values = if data == "bytes.csv" { Values::Bytes(&bytes) } else { Values::Floats(&reals) };
        let examples = Examples::new(values, 6, &labels, 3).unwrap();
        let checkpoint = Checkpoint::load(&fixture(&format!("{name}.middle.safetensors"))).unwrap();
        let progress = checkpoint.progress();
        assert!(
            progress.step > 0 && progress.step < progress.steps && !progress.step.is_multiple_of(progress.steps_per_epoch),
            "{name}: {progress:?}"
        );
        let finished = Trainer::resume(checkpoint, &examples).unwrap().with_threads(2).run(|_| ()).unwrap();
        assert_bits(&finished, &format!("{name}.end.json"));
    }
}

#[test]
fn an_old_run_saved_again_has_the_new_format_and_the_same_end() {
    let (labels, reals) = csv("bytes.csv");
    let bytes: Vec<u8> = reals.iter().map(|&value| value as u8).collect();
    let examples = Examples::new(&bytes, 6, &labels, 3).unwrap();
    let path = support::files::directory("old-saved-again").join("run.safetensors");
    let old = Checkpoint::load(&fixture("noisy.middle.safetensors")).unwrap();
    old.save(&path).unwrap();
    let metadata = support::signing::Parts::new(&std::fs::read(&path).unwrap()).metadata;
    assert_eq!((&metadata["format"], &metadata["network"]["hidden"]), (&2.into(), &vec![5, 5].into()));
    let new = Checkpoint::load(&path).unwrap();
    assert_eq!(new, old);
    assert_bits(&Trainer::resume(new, &examples).unwrap().run(|_| ()).unwrap(), "noisy.end.json");
}
