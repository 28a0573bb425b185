//! Checkpoint files: their contents, and how damaged ones are refused.

mod support;

use std::path::{Path, PathBuf};

use isinglass_net::{Checkpoint, Error, Goal, Means, NetworkConfig, Optimizer, Surrogate, TrainConfig, Trainer, canonical_json};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use support::files::directory;
use support::problem::Problem;
use support::random::Random;

fn problem() -> Problem {
    Problem::noise(5, 3, 30, 4)
}

/// A checkpoint in the middle of a run's second epoch.
fn checkpoint(surrogate: Surrogate, optimizer: Optimizer, means: Means) -> Checkpoint {
    let problem = problem();
    let neuron = surrogate.default_neuron();
    let network = NetworkConfig { inputs: 5, hidden: vec![7; 2], classes: 3, surrogate, neuron, ..NetworkConfig::default() };
    let goal = if surrogate.has_binary_weights() { Goal::Binary } else { Goal::Surrogate };
    let config = TrainConfig { optimizer, means, goal, batch: 10, epochs: 3, seed: 17, ..TrainConfig::default() };
    let mut trainer = Trainer::new(network.init(17).unwrap(), config, &problem.examples()).unwrap().with_threads(1);
    (0..4).for_each(|_| drop(trainer.step().unwrap()));
    trainer.checkpoint().unwrap()
}

fn usual() -> Checkpoint {
    checkpoint(Surrogate::Deterministic, Optimizer::Adam, Means::Tanh)
}

/// A file with these bytes.
fn file(directory: &Path, bytes: &[u8]) -> PathBuf {
    let path = directory.join("file.safetensors");
    std::fs::write(&path, bytes).unwrap();
    path
}

/// The JSON header of a safetensors file and where it ends.
fn header(bytes: &[u8]) -> (serde_json::Value, usize) {
    let end = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    (serde_json::from_slice(&bytes[8..end]).unwrap(), end)
}

#[test]
fn what_is_saved_is_what_is_loaded() {
    let directory = directory("checkpoint-round-trip");
    let (first, second) = (directory.join("first.safetensors"), directory.join("second.safetensors"));
    for &surrogate in Surrogate::ALL {
        for &optimizer in Optimizer::ALL {
            for &means in Means::ALL {
                let checkpoint = checkpoint(surrogate, optimizer, means);
                checkpoint.save(&first).unwrap();
                checkpoint.save(&second).unwrap();
                let bytes = std::fs::read(&first).unwrap();
                assert!(bytes == std::fs::read(&second).unwrap(), "the same checkpoint, other bytes");
                let loaded = Checkpoint::load(&first).unwrap();
                assert_eq!(loaded, checkpoint, "{surrogate} {optimizer} {means}");
                loaded.save(&second).unwrap();
                assert!(bytes == std::fs::read(&second).unwrap(), "loaded and saved again, other bytes");
                let progress = loaded.progress();
                assert_eq!((progress.step, progress.steps, progress.steps_per_epoch, progress.epoch, progress.epochs), (4, 9, 3, 1, 3));
            }
        }
    }
    let names: Vec<_> = std::fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "left behind: {names:?}");
}

#[test]
fn the_file_is_plain_safetensors_with_one_canonical_key() {
    let path = directory("checkpoint-format").join("run.safetensors");
    let checkpoint = usual();
    checkpoint.save(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    let mut names: Vec<String> = tensors.names().into_iter().map(ToString::to_string).collect();
    names.sort();
    let mut expected: Vec<String> = (0..3)
        .flat_map(|layer| ["means", "bias", "theta", "m", "v", "bias_m", "bias_v"].map(|name| format!("layers.{layer}.{name}")))
        .chain(["partition.train".to_string(), "partition.validation".to_string()])
        .collect();
    expected.sort();
    assert_eq!(names, expected);
    for (index, layer) in checkpoint.network().layers().iter().enumerate() {
        let means = tensors.tensor(&format!("layers.{index}.means")).unwrap();
        assert_eq!((means.dtype(), means.shape()), (Dtype::F32, &[layer.outputs(), layer.inputs()][..]));
        let values: Vec<f32> = means.data().chunks(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap())).collect();
        assert_eq!(values, layer.means());
    }
    let (_, metadata) = SafeTensors::read_metadata(&bytes).unwrap();
    let metadata = metadata.metadata().clone().unwrap();
    assert_eq!(metadata.keys().collect::<Vec<_>>(), ["isinglass"]);
    let text = &metadata["isinglass"];
    let value: serde_json::Value = serde_json::from_str(text).unwrap();
    assert_eq!(*text, canonical_json(&value));
    assert_eq!(value["train"]["seed"], 17);
    assert_eq!(value["network"]["neuron"], "sign");
    assert_eq!(value["state"]["step"], 4);
    assert!(!text.contains("checkpoint-format"), "a path in {text}");
}

#[test]
fn the_initial_network_can_be_drawn_again() {
    let checkpoint = usual();
    let initial = checkpoint.network().initial().unwrap().unwrap();
    assert_eq!(initial.layers(), checkpoint.network().config().init(17).unwrap().layers());
    assert_ne!(initial.layers(), checkpoint.network().layers());
    assert_eq!(initial.input(), checkpoint.network().input());
}

/// Loading must refuse, with a message that names the file.
fn assert_refused(path: &Path, what: &str) {
    match Checkpoint::load(path) {
        Ok(_) => panic!("{what}: loaded"),
        Err(error @ Error::Checkpoint { .. }) => assert!(error.to_string().contains("file.safetensors"), "{error}"),
        Err(error) => panic!("{what}: {error:?}"),
    }
}

#[test]
fn truncated_and_overlong_files_are_refused() {
    let directory = directory("checkpoint-cut");
    let path = directory.join("run.safetensors");
    usual().save(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let (_, end) = header(&bytes);
    let lengths =
        (0..bytes.len()).filter(|length| *length < 20 || length.abs_diff(end) < 10 || length % 37 == 0 || bytes.len() - length < 10);
    for length in lengths {
        assert_refused(&file(&directory, &bytes[..length]), &format!("the first {length} of {} bytes", bytes.len()));
    }
    assert_refused(&file(&directory, &[&bytes[..], &[0]].concat()), "one byte more");
}

#[test]
fn a_flipped_bit_is_detected() {
    let directory = directory("checkpoint-flip");
    let path = directory.join("run.safetensors");
    // Plain descent has the smallest file, most of it header.
    for (optimizer, means) in [(Optimizer::Sgd, Means::Tanh), (Optimizer::Adam, Means::Clip)] {
        checkpoint(Surrogate::Deterministic, optimizer, means).save(&path).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let (_, end) = header(&bytes);
        let mut random = Random(3);
        let mut places = |from: usize, to: usize, count: usize| -> Vec<(usize, u64)> {
            (0..count).map(|_| (from + random.word() as usize % (to - from), random.word() % 8)).collect()
        };
        let (in_header, in_payload) = (places(0, end, 400), places(end, bytes.len(), 100));
        for (at, bit) in in_header.into_iter().chain(in_payload) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << bit;
            let around = String::from_utf8_lossy(&damaged[at.saturating_sub(20)..(at + 10).min(bytes.len())]).into_owned();
            assert_refused(&file(&directory, &damaged), &format!("bit {bit} of byte {at}: {around}"));
        }
    }
}

#[test]
fn a_changed_setting_is_detected() {
    let directory = directory("checkpoint-settings");
    let path = directory.join("run.safetensors");
    usual().save(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    for (from, to) in
        [(r#"\"seed\":17"#, r#"\"seed\":18"#), (r#"\"lr\":0.01"#, r#"\"lr\":0.02"#), (r#"\"examples\":30"#, r#"\"examples\":90"#)]
    {
        let at = bytes.windows(from.len()).position(|window| window == from.as_bytes()).unwrap_or_else(|| panic!("no {from}"));
        let mut changed = bytes.clone();
        changed[at..at + to.len()].copy_from_slice(to.as_bytes());
        assert_refused(&file(&directory, &changed), to);
    }
}

#[test]
fn foreign_files_are_refused() {
    let directory = directory("checkpoint-foreign");
    let mut random = Random(8);
    assert_refused(&file(&directory, &[]), "an empty file");
    for length in [1, 7, 8, 9, 100, 10_000] {
        let bytes: Vec<u8> = (0..length).map(|_| random.word() as u8).collect();
        assert_refused(&file(&directory, &bytes), &format!("{length} random bytes"));
    }
    for length in [2u64, 1 << 20, 100_000_000, 1 << 40, u64::MAX, u64::MAX - 7] {
        let bytes = [&length.to_le_bytes()[..], b"{}"].concat();
        assert_refused(&file(&directory, &bytes), &format!("a header of {length} bytes"));
    }
    assert_refused(&file(&directory, b"\x89PNG\r\n\x1a\n0000000000000000"), "a picture");

    let data = [0u8; 8];
    let tensor = || [("weights", TensorView::new(Dtype::F32, vec![2], &data).unwrap())];
    let others = safetensors::serialize(tensor(), None).unwrap();
    assert_refused(&file(&directory, &others), "another program's file");
    for text in ["", "{}", "[]", "null", "{\"format\":1}", "\u{0}", &"[".repeat(100_000)] {
        let metadata = [("isinglass".to_string(), text.to_string())].into();
        let bytes = safetensors::serialize(tensor(), Some(metadata)).unwrap();
        assert_refused(&file(&directory, &bytes), "metadata that say nothing");
    }

    let missing = Checkpoint::load(&directory.join("none.safetensors")).unwrap_err();
    assert!(matches!(&missing, Error::Read { path, .. } if path.contains("none.safetensors")), "{missing}");
    assert!(matches!(Checkpoint::load(&directory), Err(Error::Read { .. })));
}

/// The metadata of a file, changed; the tensors stay.
fn with_metadata(bytes: &[u8], change: impl Fn(&mut serde_json::Value)) -> Vec<u8> {
    let tensors = SafeTensors::deserialize(bytes).unwrap();
    let (_, metadata) = SafeTensors::read_metadata(bytes).unwrap();
    let mut value: serde_json::Value = serde_json::from_str(&metadata.metadata().as_ref().unwrap()["isinglass"]).unwrap();
    change(&mut value);
    let metadata = [("isinglass".to_string(), canonical_json(&value))].into();
    safetensors::serialize(tensors.tensors(), Some(metadata)).unwrap()
}

/// One number of a tensor replaced, and the checksum made anew.
fn forged(bytes: &[u8], tensor: &str, value: f32) -> Vec<u8> {
    use sha2::{Digest, Sha256};
    let mut bytes = bytes.to_vec();
    let (header, end) = header(&bytes);
    let range = |name: &str| {
        let offset = |index: usize| header[name]["data_offsets"][index].as_u64().unwrap() as usize;
        end + offset(0)..end + offset(1)
    };
    let start = range(tensor).start;
    bytes[start..start + 4].copy_from_slice(&value.to_le_bytes());
    let text = header["__metadata__"]["isinglass"].as_str().unwrap();
    let old = serde_json::from_str::<serde_json::Value>(text).unwrap()["sha256"].as_str().unwrap().to_owned();
    let mut hash = Sha256::new();
    hash.update(text.replacen(&old, "", 1));
    let arrays = ["means", "bias", "theta", "m", "v", "bias_m", "bias_v", "sum", "bias_sum"];
    let names = (0..3).flat_map(|layer| arrays.map(|array| format!("layers.{layer}.{array}")));
    for name in names.chain(["partition.train".into(), "partition.validation".into()]).filter(|name| !header[name].is_null()) {
        hash.update(&bytes[range(&name)]);
    }
    let new: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    let at = bytes.windows(old.len()).position(|window| window == old.as_bytes()).unwrap();
    bytes[at..at + new.len()].copy_from_slice(new.as_bytes());
    bytes
}

#[test]
fn a_checksum_made_anew_excuses_nothing() {
    let directory = directory("checkpoint-forged");
    let bytes = usual().to_bytes();
    let means = usual().network().layers()[0].means()[0];
    assert_eq!(forged(&bytes, "layers.0.means", means), bytes, "the checksum is made as the library makes it");
    Checkpoint::load(&file(&directory, &forged(&bytes, "layers.1.means", 0.5))).unwrap();
    for (tensor, values) in [
        ("layers.0.means", &[2.0, -1.0001, f32::NAN, f32::INFINITY][..]),
        ("layers.2.bias", &[f32::NAN, f32::NEG_INFINITY]),
        ("layers.0.theta", &[f32::NAN, f32::INFINITY]),
        ("layers.1.m", &[f32::NAN]),
        ("layers.1.v", &[f32::NAN, -1e-3]),
        ("layers.2.bias_m", &[f32::INFINITY]),
        ("layers.2.bias_v", &[f32::INFINITY, -1.0]),
    ] {
        for &value in values {
            assert_refused(&file(&directory, &forged(&bytes, tensor, value)), &format!("{tensor} of {value}"));
        }
    }
}

#[test]
fn a_file_that_claims_to_be_huge_is_refused_without_allocating() {
    let directory = directory("checkpoint-huge");
    let path = directory.join("run.safetensors");
    usual().save(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    // Unchanged it loads.
    Checkpoint::load(&file(&directory, &with_metadata(&bytes, |_| ()))).unwrap();
    let huge = serde_json::json!(1u64 << 52);
    for (part, key) in [("network", "inputs"), ("network", "classes"), ("train", "batch"), ("train", "epochs"), ("state", "step")] {
        assert_refused(&file(&directory, &with_metadata(&bytes, |value| value[part][key] = huge.clone())), key);
    }
    for hidden in [serde_json::json!([7, 1u64 << 52]), serde_json::json!(vec![1; 20_000]), serde_json::json!([])] {
        assert_refused(&file(&directory, &with_metadata(&bytes, |value| value["network"]["hidden"] = hidden.clone())), "hidden");
    }
    // Format 1 had one width for all layers.
    for (key, other) in [("depth", "width"), ("width", "depth")] {
        let old = with_metadata(&bytes, |value| {
            value["format"] = serde_json::json!(1);
            value["network"][key] = huge.clone();
            value["network"][other] = serde_json::json!(7);
            value["network"].as_object_mut().unwrap().remove("hidden");
        });
        assert_refused(&file(&directory, &old), key);
    }
    assert_refused(&file(&directory, &with_metadata(&bytes, |value| value["examples"] = huge.clone())), "examples");
    for (what, newer) in [("format", serde_json::json!(3)), ("more", serde_json::json!("unknown"))] {
        assert_refused(&file(&directory, &with_metadata(&bytes, |value| value[what] = newer.clone())), what);
    }
    let newer = file(&directory, &with_metadata(&bytes, |value| value["format"] = serde_json::json!(3)));
    assert!(Checkpoint::load(&newer).unwrap_err().to_string().contains("format 3"));
}

#[test]
fn a_failed_write_leaves_the_old_file_untouched() {
    let directory = directory("checkpoint-write");
    let nowhere = directory.join("no-such-directory").join("run.safetensors");
    let refused = usual().save(&nowhere).unwrap_err();
    assert!(matches!(&refused, Error::Write { path, .. } if path.contains("no-such-directory")), "{refused}");

    let path = directory.join("run.safetensors");
    usual().save(&path).unwrap();
    let old = std::fs::read(&path).unwrap();
    // A directory has the name of the temporary file: nothing can be written.
    let beside = directory.join(".run.safetensors.tmp");
    std::fs::create_dir(&beside).unwrap();
    let refused = checkpoint(Surrogate::Ste, Optimizer::Sgd, Means::Clip).save(&path);
    assert!(matches!(refused, Err(Error::Write { .. })));
    assert!(old == std::fs::read(&path).unwrap());
    std::fs::remove_dir(&beside).unwrap();

    // A file that cannot be renamed into place is removed.
    let taken = directory.join("taken.safetensors");
    std::fs::create_dir_all(taken.join("occupied")).unwrap();
    assert!(matches!(usual().save(&taken), Err(Error::Write { .. })));
    assert!(!directory.join(".taken.safetensors.tmp").exists());
}

#[test]
fn a_run_resumes_only_with_its_own_examples() {
    let refused = |problem: &Problem| match Trainer::resume(usual(), &problem.examples()) {
        Ok(_) => panic!("resumed with other examples"),
        Err(error) => assert!(matches!(&error, Error::Examples(message) if message.contains("not the training examples")), "{error}"),
    };
    let mut other = problem();
    other.values[17] ^= 1;
    refused(&other);
    let mut other = problem();
    other.labels[29] = (other.labels[29] + 1) % 3;
    refused(&other);
    refused(&Problem::noise(5, 3, 31, 4));
    assert!(Trainer::resume(usual(), &problem().examples()).is_ok());
}

#[test]
fn a_run_resumes_only_with_its_own_optimiser() {
    let problem = problem();
    let descent = checkpoint(Surrogate::Deterministic, Optimizer::Sgd, Means::Clip);
    let with = |change: &dyn Fn(&mut TrainConfig)| {
        let mut config = descent.train_config().clone();
        change(&mut config);
        let checkpoint = descent.clone().with_train_config(config)?;
        Trainer::resume(checkpoint, &problem.examples()).map(|mut trainer| trainer.step().unwrap())
    };
    assert!(with(&|_| ()).is_ok() && with(&|train| train.lr = 0.5).is_ok() && with(&|train| train.epochs = 9).is_ok());
    let changes: [&dyn Fn(&mut TrainConfig); 6] = [
        &|train| train.optimizer = Optimizer::Adam,
        &|train| train.optimizer = Optimizer::Momentum,
        &|train| train.goal = Goal::Surrogate,
        &|train| train.means = Means::Tanh,
        &|train| train.validation = 0.5,
        &|train| train.train_fraction = 0.5,
    ];
    for change in changes {
        let refused = with(change);
        assert!(matches!(&refused, Err(Error::Config(message)) if message.contains("middle of a run")), "{refused:?}");
    }
}

#[cfg(unix)]
#[test]
fn checkpoints_respect_the_umask() {
    use std::os::unix::fs::PermissionsExt;
    let directory = directory("checkpoint-modes");
    let (checkpoint, plain) = (directory.join("a.safetensors"), directory.join("plain"));
    usual().save(&checkpoint).unwrap();
    std::fs::write(&plain, "").unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&checkpoint), mode(&plain));
}
