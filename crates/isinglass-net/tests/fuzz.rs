//! Damaged checkpoints are refused, without a panic and without taking memory for what they promise.
//!
//! `ISINGLASS_FUZZ=10000000 cargo test --release -p isinglass-net --test fuzz -- --nocapture` tries that many.

mod support;

use std::path::Path;

use isinglass_fuzz::{Allocations, Campaign, repair_safetensors};
use isinglass_net::{Checkpoint, Means, NetworkConfig, Optimizer, TrainConfig, Trainer};
use support::files::directory;
use support::problem::Problem;

#[global_allocator]
static ALLOCATIONS: Allocations = Allocations;

fn checkpoint(optimizer: Optimizer, means: Means) -> Checkpoint {
    let problem = Problem::noise(5, 3, 30, 4);
    let network = NetworkConfig { inputs: 5, hidden: vec![7; 2], classes: 3, ..NetworkConfig::default() };
    let config = TrainConfig { optimizer, means, batch: 10, epochs: 3, seed: 17, ..TrainConfig::default() };
    let mut trainer = Trainer::new(network.init(17).unwrap(), config, &problem.examples()).unwrap().with_threads(1);
    (0..4).for_each(|_| drop(trainer.step().unwrap()));
    trainer.checkpoint().unwrap()
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
        "hidden",
        "partition.train",
    ];
    let campaign = Campaign::new("checkpoint", valid.clone()).words(words).repair(repair_safetensors).memory(64, 1 << 16);
    campaign.run(|bytes| {
        // Another way to write the same JSON is no damage.
        if !valid.iter().any(|file| file == bytes)
            && let Ok(checkpoint) = Checkpoint::from_bytes(bytes)
        {
            assert!(valid.contains(&written(&checkpoint, &path)), "a damaged file was accepted");
        }
    });
}
