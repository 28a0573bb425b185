//! Results of runs as tables.

use std::io::{self, Write};

use isinglass_lab::run::{Behind, Evaluation, Inspection, Part, Size};
use isinglass_lab::words::{digits, percent};
use isinglass_net::Histogram;
use serde_json::Value;

use super::histogram::blocks;
use crate::cli::answer::{Record, number, to_record, write_columns};

/// What each layer consists of, in the manner of larq, and the sum.
pub fn write_summary(out: &mut impl Write, inspection: &Inspection) -> io::Result<()> {
    let cells = |size: &Size, layer: String, shape: String, variance: Value| {
        Record::from_iter([
            ("layer".to_owned(), layer.into()),
            ("shape".to_owned(), shape.into()),
            (format!("{} at start", variance_symbol(inspection)), variance),
            ("1-bit parameters".to_owned(), grouped(size.binary_parameters).into()),
            ("32-bit parameters".to_owned(), grouped(size.float_parameters).into()),
            ("bits".to_owned(), grouped(size.bits).into()),
            ("memory".to_owned(), kibibytes(size.bytes).into()),
            ("as float32".to_owned(), kibibytes(size.float32_bytes).into()),
        ])
    };
    let row = |layer: &isinglass_lab::run::LayerSummary| {
        let diagnosis = &layer.diagnosis;
        let shape = format!("{} × {}", diagnosis.inputs, diagnosis.outputs);
        cells(&layer.size, diagnosis.layer.to_string(), shape, number(layer.initial_sigma_m2))
    };
    let mut rows: Vec<Record> = inspection.layers.iter().map(row).collect();
    rows.push(cells(&inspection.network.size, "total".to_owned(), String::new(), String::new().into()));
    write_columns(out, &rows)
}

/// Accuracy and NLL of the networks behind a checkpoint.
pub fn write_scores(out: &mut impl Write, evaluation: &Evaluation) -> io::Result<()> {
    let sets: Vec<Part> = [Part::Train, Part::Validation, Part::Test].into_iter().filter(|part| evaluation.of(*part).is_some()).collect();
    let row = |network: Behind| {
        let score = |part: &Part| evaluation.of(*part).and_then(|scores| scores.of(network));
        let name = match network {
            Behind::Surrogate => "surrogate".to_owned(),
            Behind::Binary => "binary sign(M)".to_owned(),
            Behind::Stochastic(samples) => format!("stochastic ×{samples}"),
        };
        let mut row = Record::from_iter([("accuracy and NLL".to_owned(), name.into())]);
        row.extend(sets.iter().map(|part| (part.name().to_owned(), score(part).map(|score| percent(score.accuracy)).into())));
        row.extend(sets.iter().map(|part| (format!("{} NLL", part.name()), number(score(part).map(|score| score.nll)))));
        row
    };
    write_columns(out, &evaluation.test.networks().map(row).collect::<Vec<_>>())
}

/// The same, one row to a number of each.
pub fn score_rows(evaluation: &Evaluation) -> Vec<Record> {
    let mut rows = Vec::new();
    for part in Part::ALL {
        let Some(scores) = evaluation.of(part) else { continue };
        for network in scores.networks() {
            let score = scores.of(network);
            let (name, samples) = match network {
                Behind::Surrogate => ("surrogate", None),
                Behind::Binary => ("binary", None),
                Behind::Stochastic(samples) => ("stochastic", Some(samples)),
            };
            rows.push(Record::from_iter([
                ("set".to_owned(), part.name().into()),
                ("network".to_owned(), name.into()),
                ("samples".to_owned(), samples.into()),
                ("accuracy".to_owned(), number(score.map(|score| score.accuracy))),
                ("nll".to_owned(), number(score.map(|score| score.nll))),
            ]));
        }
    }
    rows
}

/// What the layers look like inside.
pub fn write_diagnosis(out: &mut impl Write, inspection: &Inspection) -> io::Result<()> {
    let fraction = |value: Option<f64>| Value::from(value.map(percent));
    let any_carries = inspection.layers.iter().any(|layer| layer.diagnosis.carries);
    let row = |layer: &isinglass_lab::run::LayerSummary| {
        let layer = &layer.diagnosis;
        let carries = any_carries.then(|| ("carries".to_owned(), layer.carries.then_some("yes").into()));
        let columns = [
            ("layer".to_owned(), layer.layer.into()),
            (variance_symbol(inspection).to_owned(), number(layer.sigma_m2)),
            ("polarised".to_owned(), fraction(Some(layer.polarised))),
            ("flipped".to_owned(), fraction(layer.flip_ratio)),
            ("field variance".to_owned(), number(layer.field_variance)),
            ("theory".to_owned(), number(layer.predicted_variance)),
            ("χ₁".to_owned(), number(layer.chi_1)),
            ("saturated".to_owned(), fraction(layer.saturated)),
            ("gradient norm".to_owned(), number(layer.gradient_norm)),
        ];
        columns.into_iter().chain(carries).collect()
    };
    write_columns(out, &inspection.layers.iter().map(row).collect::<Vec<Record>>())
}

/// Means and neurons of every layer as small histograms.
pub fn write_histograms(out: &mut impl Write, inspection: &Inspection) -> io::Result<()> {
    let drawn = |histogram: Option<&Histogram>| Value::from(histogram.map(|histogram| blocks(&histogram.counts)));
    let row = |layer: &isinglass_lab::run::LayerSummary| {
        let layer = &layer.diagnosis;
        Record::from_iter([
            ("layer".to_owned(), layer.layer.into()),
            ("means from −1 to 1".to_owned(), drawn(Some(&layer.means))),
            ("neurons from −1 to 1".to_owned(), drawn(layer.neurons.as_ref())),
        ])
    };
    write_columns(out, &inspection.layers.iter().map(row).collect::<Vec<_>>())
}

/// The numbers of all layers, without the histograms.
pub fn layer_rows(inspection: &Inspection) -> Vec<Record> {
    let numbers = |layer| to_record(layer).into_iter().filter(|(key, _)| key != "means" && key != "neurons").collect();
    inspection.layers.iter().map(numbers).collect()
}

/// Of means, or of real weights.
fn variance_symbol(inspection: &Inspection) -> &'static str {
    if inspection.network.size.binary_parameters == 0 { "σ_w²" } else { "σ_m²" }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1 000", "1 234 567"]);
    }
}
