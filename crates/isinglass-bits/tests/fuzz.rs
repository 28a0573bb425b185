//! Damaged packed networks are refused, without a panic and without taking memory for what they promise.
//!
//! `ISINGLASS_FUZZ=10000000 cargo test --release -p isinglass-bits --test fuzz -- --nocapture` tries that many.

mod support;

use isinglass_bits::PackedModel;
use isinglass_fuzz::{Allocations, Campaign, repair_safetensors};
use support::{Plain, Random};

#[global_allocator]
static ALLOCATIONS: Allocations = Allocations;

fn file(sizes: &[usize], networks: u64) -> Vec<u8> {
    let plains: Vec<Plain> = (0..networks).map(|seed| Plain::random(sizes, &mut Random(seed + 1))).collect();
    let mut model = PackedModel::new(plains.iter().map(Plain::packed).collect(), plains[0].preprocessing, 1.5).unwrap();
    model.provenance.insert("data".into(), "nine \"pixels\" – ±1".into());
    model.to_bytes()
}

#[test]
fn packed_networks() {
    let valid = [file(&[9, 12, 12, 12, 5, 3], 2), file(&[4, 3, 2], 1)];
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
