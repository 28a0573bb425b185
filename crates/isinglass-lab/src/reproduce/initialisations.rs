//! Figure 6: what is common for real weights, put on means.

use serde_json::Value;

use super::ReproduceError;
use super::grids::INITIALISATIONS;
use super::output::{Output, rounded};
use super::record::{FigureRecord, Table};
use super::results::{ACCURACY, Results};
use super::rules::poor_beside_critical;
use super::study::{Study, Subject};
use isinglass_chart::{Axis, Figure, Legend, Look, Panel};
use isinglass_runs::sweep::Sweep;

const CAPTION: &str = "The abstract says that common initialisations, put on the means of binary weights, train poorly: their variances fall with the width, and with them χ₁. Training accuracy of the deterministic \
    surrogate of unit gain, for Glorot and He, for means all over [−1, 1] (uniform, σ_m² = 1/3) and for the critical limit (means ±0.995).";
const NAMES: [(&str, &str); 4] =
    [("glorot", "Glorot"), ("he", "He"), ("uniform", "uniform on [−1, 1]"), ("critical", "critical, σ_m² = 0.99")];
/// Shallower networks train from anything.
const DEEP: f64 = 10.0;

pub(super) fn make(study: &Study) -> Result<FigureRecord, ReproduceError> {
    let mut output = Output::new(study, Subject::Fig6, CAPTION)?;
    let sweep = Sweep::open(&study.sweep_directory(INITIALISATIONS))?;
    let results = Results::of(&sweep)?;
    let depths = results.numbers("depth");
    let mut panel =
        Panel::new(Axis::listed("depth L", depths.iter().map(f64::to_string)), Axis::linear("training accuracy").range(0.0, 1.0))
            .legend(Legend::Right);
    let columns: Vec<String> = ["initialisation", "σ_m² of hidden layers"]
        .map(Into::into)
        .into_iter()
        .chain(depths.iter().map(|depth| format!("L = {depth}")))
        .collect();
    let mut table = Table { title: "Training accuracy".into(), columns, rows: Vec::new() };
    let mut deep = Vec::new();
    for (index, (key, name)) in NAMES.into_iter().enumerate() {
        let init = Value::from(key);
        let at = |depth: f64, column: &str| results.mean(&[("init", &init), ("depth", &depth.into())], column);
        let accuracy: Vec<(f64, f64)> = depths.iter().map(|&depth| (depth, at(depth, ACCURACY).unwrap_or(f64::NAN))).collect();
        let sigma_m2 = results.mean(&[("init", &init)], "init_sigma_m2");
        table.rows.push(
            [Value::from(name), sigma_m2.map_or(by_width(key, study), |sigma_m2| rounded(sigma_m2, 4))]
                .into_iter()
                .chain(accuracy.iter().map(|&(_, value)| rounded(value, 3)))
                .collect(),
        );
        let beyond: Vec<f64> = accuracy.iter().filter(|(depth, _)| *depth >= DEEP).map(|&(_, value)| value).collect();
        deep.push(beyond.iter().sum::<f64>() / beyond.len().max(1) as f64);
        let places = accuracy.iter().enumerate().map(|(place, (_, accuracy))| (place as f64 + 1.0, *accuracy));
        panel = panel.series(Look::nth(index).marked_line(places).name(name.replace("σ_m²", "σ_m^2")));
    }
    let figure = Figure::new().title("Common initialisations, put on means").panel(panel).size(860, 480);
    output.picture("initialisations", &figure, "Training accuracy over depth.")?;
    output.table(table);
    let names: Vec<&str> = NAMES.iter().map(|(_, name)| *name).collect();
    output.claim("Common initialisations, put on means, train deep networks poorly.", poor_beside_critical(&names, &deep, DEEP));
    output.describe(&sweep, &results);
    output.finish()
}

/// Glorot's and He's variances follow from the width.
fn by_width(key: &str, study: &Study) -> Value {
    let width = study
        .plans(&[Subject::Fig6])
        .first()
        .and_then(|plan| plan.grid.cells().ok()?.first().map(|cell| cell.config.hidden_layers()[0] as f64));
    match (key, width) {
        ("glorot", Some(width)) => rounded(1.0 / width, 4),
        ("he", Some(width)) => rounded(2.0 / width, 4),
        _ => Value::Null,
    }
}
