//! Damaged packed networks are refused, without a panic and without taking memory for what they promise.
//!
//! `ISINGLASS_FUZZ=10000000 cargo test --release -p isinglass-bits --test fuzz -- --nocapture` tries that many.

mod support;

use isinglass_bits::{PackedModel, PackedNetwork};
use isinglass_fuzz::{Allocations, Campaign, repair_safetensors};
use support::{Plain, Random};

#[global_allocator]
static ALLOCATIONS: Allocations = Allocations;

fn file(sizes: &[usize], networks: u64, carrying: &[usize]) -> Vec<u8> {
    let plains: Vec<Plain> = (0..networks).map(|seed| Plain::random(sizes, &mut Random(seed + 1))).collect();
    let network = |plain: &Plain| {
        let network = plain.packed();
        let layers = network.layers().iter().enumerate();
        let layers = layers.map(|(index, layer)| layer.clone().carrying(carrying.contains(&index)).unwrap()).collect();
        PackedNetwork::from_layers(layers, network.output().clone()).unwrap()
    };
    let mut model = PackedModel::new(plains.iter().map(network).collect(), plains[0].preprocessing, 1.5).unwrap();
    model.provenance.insert("data".into(), "nine \"pixels\" – ±1".into());
    model.to_bytes()
}

#[test]
fn packed_networks() {
    let valid = [
        file(&[9, 12, 12, 12, 5, 3], 2, &[]),
        file(&[4, 3, 2], 1, &[]),
        file(&[4, 8, 8, 8, 8, 2], 1, &[2, 3]),
        file(&[9, 4, 4, 4, 5, 5, 5, 3], 2, &[2, 5]),
    ];
    let words = [
        "\"U8\"",
        "\"I32\"",
        "[",
        "]",
        "{",
        "}",
        "\\\"",
        "input.weights",
        "hidden.0.weights",
        "hidden.1.weights",
        "output.bias",
        "shape",
        "carries",
        "[2,4]",
        "[[2,3],[5,6]]",
        "null",
        "e9",
    ];
    let campaign = Campaign::new("packed", valid.clone()).words(words).repair(repair_safetensors).memory(64, 1 << 16);
    campaign.run(|bytes| {
        // Another way to write the same JSON is no damage.
        if let Ok(model) = PackedModel::from_bytes(bytes) {
            assert!(valid.contains(&model.to_bytes()), "a damaged file was accepted");
        }
    });
}
