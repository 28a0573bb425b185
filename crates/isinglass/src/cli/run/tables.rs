//! Results of runs as tables. All of them are made of the JSON that is printed otherwise, so that both say the same.

use std::io::{self, Write};

use isinglass_lab::words::{digits, percent};
use serde_json::Value;

use super::histogram::blocks;
use crate::cli::answer::{Record, to_record, write_columns};

/// What each layer consists of, in the manner of larq, and the sum.
pub fn write_summary(out: &mut impl Write, result: &Value) -> io::Result<()> {
    let cells = |of: &Value, layer: String, shape: String, variance: Value| {
        Record::from_iter([
            ("layer".to_owned(), layer.into()),
            ("shape".to_owned(), shape.into()),
            (format!("{} at start", variance_symbol(result)), variance),
            ("1-bit parameters".to_owned(), count(&of["binary_parameters"])),
            ("32-bit parameters".to_owned(), count(&of["float_parameters"])),
            ("bits".to_owned(), count(&of["bits"])),
            ("memory".to_owned(), memory(&of["bytes"])),
            ("as float32".to_owned(), memory(&of["float32_bytes"])),
        ])
    };
    let mut rows: Vec<Record> = layers(result)
        .map(|layer| {
            let shape = format!("{} × {}", layer["inputs"], layer["outputs"]);
            cells(layer, layer["layer"].to_string(), shape, layer["initial_sigma_m2"].clone())
        })
        .collect();
    rows.push(cells(&result["network"], "total".to_owned(), String::new(), String::new().into()));
    write_columns(out, &rows)
}

/// Accuracy and NLL of the networks behind a checkpoint.
pub fn write_scores(out: &mut impl Write, result: &Value) -> io::Result<()> {
    let sets: Vec<&str> = ["train", "validation", "test"].into_iter().filter(|set| result[*set].is_object()).collect();
    let mut rows = Vec::new();
    for (name, pointer) in networks(&result["test"]) {
        let score = |set: &str, key: &str| result[set].pointer(&format!("{pointer}/{key}")).and_then(Value::as_f64);
        let mut row = Record::from_iter([("accuracy and NLL".to_owned(), name.into())]);
        row.extend(sets.iter().map(|set| ((*set).to_owned(), score(set, "accuracy").map(percent).into())));
        row.extend(sets.iter().map(|set| (format!("{set} NLL"), score(set, "nll").into())));
        rows.push(row);
    }
    write_columns(out, &rows)
}

/// The same, one row to a number of each.
pub fn score_rows(result: &Value) -> Vec<Record> {
    let mut rows = Vec::new();
    for set in ["test", "train", "validation"].into_iter().filter(|set| result[*set].is_object()) {
        for (name, pointer) in networks(&result[set]) {
            let score = result[set].pointer(&pointer).unwrap_or(&Value::Null);
            rows.push(Record::from_iter([
                ("set".to_owned(), set.into()),
                ("network".to_owned(), name.split(' ').next().unwrap_or_default().into()),
                ("samples".to_owned(), score["samples"].clone()),
                ("accuracy".to_owned(), score["accuracy"].clone()),
                ("nll".to_owned(), score["nll"].clone()),
            ]));
        }
    }
    rows
}

/// The networks that have scores: what to call them, and where in the JSON they are.
fn networks(scores: &Value) -> Vec<(String, String)> {
    let mut networks = vec![("surrogate".to_owned(), "/surrogate".to_owned())];
    if scores["binary"].is_object() {
        networks.push(("binary sign(M)".to_owned(), "/binary".to_owned()));
    }
    let stochastic = scores["stochastic"].as_array().into_iter().flatten().enumerate();
    networks.extend(stochastic.map(|(i, score)| (format!("stochastic ×{}", score["samples"]), format!("/stochastic/{i}"))));
    networks
}

/// What the layers look like inside.
pub fn write_diagnosis(out: &mut impl Write, result: &Value) -> io::Result<()> {
    let part = |value: &Value| Value::from(value.as_f64().map(percent));
    let any_carries = layers(result).any(|layer| layer["carries"] == true);
    let rows: Vec<Record> = layers(result)
        .map(|layer| {
            let carries = any_carries.then(|| ("carries".to_owned(), (layer["carries"] == true).then_some("yes").into()));
            let columns = [
                ("layer".to_owned(), layer["layer"].clone()),
                (variance_symbol(result).to_owned(), layer["sigma_m2"].clone()),
                ("polarised".to_owned(), part(&layer["polarised"])),
                ("flipped".to_owned(), part(&layer["flip_ratio"])),
                ("field variance".to_owned(), layer["field_variance"].clone()),
                ("theory".to_owned(), layer["predicted_variance"].clone()),
                ("χ₁".to_owned(), layer["chi_1"].clone()),
                ("saturated".to_owned(), part(&layer["saturated"])),
                ("gradient norm".to_owned(), layer["gradient_norm"].clone()),
            ];
            columns.into_iter().chain(carries).collect()
        })
        .collect();
    write_columns(out, &rows)
}

/// Means and neurons of every layer as small histograms.
pub fn write_histograms(out: &mut impl Write, result: &Value) -> io::Result<()> {
    let counts = |value: &Value| -> Value {
        let counts: Option<Vec<u64>> = value["counts"].as_array().map(|counts| counts.iter().filter_map(Value::as_u64).collect());
        counts.map(|counts| blocks(&counts)).into()
    };
    let rows: Vec<Record> = layers(result)
        .map(|layer| {
            Record::from_iter([
                ("layer".to_owned(), layer["layer"].clone()),
                ("means from −1 to 1".to_owned(), counts(&layer["means"])),
                ("neurons from −1 to 1".to_owned(), counts(&layer["neurons"])),
            ])
        })
        .collect();
    write_columns(out, &rows)
}

/// The numbers of all layers, without the histograms.
pub fn layer_rows(result: &Value) -> Vec<Record> {
    let numbers = |layer: &Value| to_record(layer).into_iter().filter(|(key, _)| key != "means" && key != "neurons").collect();
    layers(result).map(numbers).collect()
}

/// Of means, or of real weights.
fn variance_symbol(result: &Value) -> &'static str {
    if result["network"]["binary_parameters"] == 0 { "σ_w²" } else { "σ_m²" }
}

fn layers(result: &Value) -> impl Iterator<Item = &Value> {
    result["layers"].as_array().into_iter().flatten()
}

/// `668 672`.
pub fn grouped(number: usize) -> String {
    let text = number.to_string();
    let groups: Vec<&str> = text.as_bytes().rchunks(3).rev().map(|group| std::str::from_utf8(group).unwrap_or_default()).collect();
    groups.join(" ")
}

/// `83.64 KiB`.
pub fn kibibytes(bytes: usize) -> String {
    format!("{} KiB", digits(bytes as f64 / 1024.0))
}

fn count(value: &Value) -> Value {
    value.as_u64().map(|number| grouped(number as usize)).into()
}

fn memory(value: &Value) -> Value {
    value.as_u64().map(|bytes| kibibytes(bytes as usize)).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1 000", "1 234 567"]);
    }
}
