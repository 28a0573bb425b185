//! Packed networks for other programs: [`PackedModel::to_onnx`] and [`PackedModel::to_c`].

mod c;
mod onnx;
mod protobuf;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::PackedModel;

/// One sentence that says what the model is.
fn description(model: &PackedModel) -> String {
    let what = match model.networks().len() {
        1 => "A binary (+1/-1) neural network".to_string(),
        count => format!("An ensemble of {count} binary (+1/-1) neural networks"),
    };
    let inputs = if model.quantiser().is_some() { "real numbers" } else { "bytes" };
    format!("{what}, {}: {inputs} in, classes out. Made by isinglass.", sizes(model))
}

/// What a reader may want to know about the model, and its provenance.
fn properties(model: &PackedModel) -> Vec<(String, String)> {
    let preprocessing = model.preprocessing();
    let mut properties = Vec::from([
        ("sizes".to_string(), sizes(model)),
        ("networks".to_string(), model.networks().len().to_string()),
        ("tau".to_string(), format!("{:?}", model.tau())),
        (
            "preprocessing".to_string(),
            format!(
                "offset {:?}, scale {:?}, included in the thresholds of the first layer",
                preprocessing.offset(),
                preprocessing.scale()
            ),
        ),
    ]);
    if model.quantiser().is_some() {
        let rule = "byte = 128 + n, n = x - centre times factor of the column, clamped to -128 and 127, rounded to nearest even";
        properties.push(("quantiser".to_string(), rule.to_string()));
    }
    if let Some(names) = model.class_names() {
        properties.push(("class_names".to_string(), serde_json::to_string(names).expect("a list of strings")));
    }
    let carrying: Vec<String> = model.carrying_layers().iter().map(|range| format!("{} to {}", range.start, range.end - 1)).collect();
    if !carrying.is_empty() {
        let text = format!("layers {}, counted from 0, add their sums to those of the layer before", carrying.join(", "));
        properties.push(("carries".to_string(), text));
    }
    if let Some((height, width)) = model.image() {
        properties.push(("image".to_string(), format!("{height} rows of {width} pixels")));
    }
    properties.extend(model.provenance.iter().map(|(key, value)| (format!("provenance.{key}"), value.clone())));
    properties
}

/// From the inputs to the classes, `784-1024-10`.
fn sizes(model: &PackedModel) -> String {
    let sizes: Vec<String> = model.sizes().iter().map(usize::to_string).collect();
    sizes.join("-")
}
