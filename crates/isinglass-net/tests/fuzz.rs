//! Damaged checkpoints are refused, without a panic and without taking memory for what they promise.
//!
//! `ISINGLASS_FUZZ=10000000 cargo test --release -p isinglass-net --test fuzz -- --nocapture` tries that many.

mod support;

use std::path::Path;

use isinglass_fuzz::{Allocations, Campaign, repair_safetensors};
use isinglass_net::{Checkpoint, Error, Means, NetworkConfig, Optimizer, Rng, TrainConfig, Trainer};
use support::problem::{Problem, directory};

#[global_allocator]
static ALLOCATIONS: Allocations = Allocations;

fn checkpoint(optimizer: Optimizer, means: Means) -> Checkpoint {
    let problem = Problem::noise(5, 3, 30, 4);
    let network = NetworkConfig { inputs: 5, depth: 2, width: 7, classes: 3, ..NetworkConfig::default() };
    let config = TrainConfig { optimizer, means, batch: 10, epochs: 3, seed: 17, ..TrainConfig::default() };
    let mut trainer = Trainer::new(network.init(&mut Rng::new(17)).unwrap(), config, problem.examples(), 1).unwrap();
    (0..4).for_each(|_| drop(trainer.step().unwrap()));
    trainer.checkpoint()
}

fn read(bytes: &[u8], path: &Path) -> Result<Checkpoint, Error> {
    // Truncating a file makes some file systems wait for the disk; a new one does not.
    let _ = std::fs::remove_file(path);
    std::fs::write(path, bytes).unwrap();
    Checkpoint::load(path)
}

fn written(checkpoint: &Checkpoint, path: &Path) -> Vec<u8> {
    checkpoint.save(path).unwrap();
    std::fs::read(path).unwrap()
}

#[test]
fn checkpoints() {
    let directory = directory("checkpoint-fuzz");
    let path = directory.join("file.safetensors");
    let valid = [(Optimizer::Adam, Means::Tanh), (Optimizer::Sgd, Means::Clip)]
        .map(|(optimizer, means)| written(&checkpoint(optimizer, means), &path));
    let words = [
        "\"F32\"",
        "[",
        "]",
        "{",
        "}",
        "\\\"",
        "layers.0.means",
        "layers.1.theta",
        "layers.2.bias_m",
        "shape",
        "null",
        "e9",
        "width",
        "depth",
    ];
    let campaign = Campaign::new("checkpoint", valid.clone()).words(words).repair(repair_safetensors).memory(64, 1 << 16);
    campaign.run(|bytes| {
        // Another way to write the same JSON is no damage.
        if !valid.iter().any(|file| file == bytes)
            && let Ok(checkpoint) = read(bytes, &path)
        {
            assert!(valid.contains(&written(&checkpoint, &path)), "a damaged file was accepted");
        }
    });
}
