//! Figure 6: what is common for real weights, put on means.

use isinglass_net::Init;
use serde_json::Value;

use super::ReproduceError;
use super::grids::INITIALISATIONS;
use super::output::{Output, rounded};
use super::record::{FigureRecord, Table};
use super::results::{Column, Results, SURROGATE};
use super::rules::initialisations::poor_beside_critical;
use super::study::{Study, Subject};
use isinglass_chart::{Axis, Figure, Legend, Look, Panel};
use isinglass_runs::sweep::Sweep;

const CAPTION: &str = "The abstract says that common initialisations, put on the means of binary weights, train poorly: their variances fall with the width, and with them χ₁. Training accuracy of the deterministic \
    surrogate of unit gain, for Glorot and He, for means all over [−1, 1] (uniform, σ_m² = 1/3) and for the critical limit (means ±0.995).";
const NAMES: [(Init, &str); 4] =
    [(Init::Glorot, "Glorot"), (Init::He, "He"), (Init::Uniform, "uniform on [−1, 1]"), (Init::Critical, "critical, σ_m² = 0.99")];
/// Shallower networks train from anything.
const DEEP: usize = 10;

pub(super) fn make(study: &Study) -> Result<FigureRecord, ReproduceError> {
    let mut output = Output::new(study, Subject::Fig6, CAPTION)?;
    let sweep = Sweep::open(&study.sweep_directory(INITIALISATIONS))?;
    let results = Results::of(&sweep)?;
    let depths = results.all().depths();
    let mut panel =
        Panel::new(Axis::listed("depth L", depths.iter().map(usize::to_string)), Axis::linear("training accuracy").range(0.0, 1.0))
            .legend(Legend::Right);
    let columns: Vec<String> = ["initialisation", "σ_m² of hidden layers"]
        .map(Into::into)
        .into_iter()
        .chain(depths.iter().map(|depth| format!("L = {depth}")))
        .collect();
    let mut table = Table { title: "Training accuracy, mean over seeds".into(), columns, rows: Vec::new() };
    let mut deep = Vec::new();
    for (index, (init, name)) in NAMES.into_iter().enumerate() {
        let cells = results.all().with(|config| config.init == Some(init));
        let at = |&depth: &usize| cells.with(|config| config.depth == Some(depth)).mean(SURROGATE).unwrap_or(f64::NAN);
        let accuracy: Vec<f64> = depths.iter().map(at).collect();
        let sigma_m2 = cells.mean(Column::InitSigmaM2);
        table.rows.push(
            [Value::from(name), sigma_m2.map_or(by_width(init, study), |sigma_m2| rounded(sigma_m2, 4))]
                .into_iter()
                .chain(accuracy.iter().map(|&value| rounded(value, 3)))
                .collect(),
        );
        deep.push(cells.with(|config| config.depth >= Some(DEEP)).per_seed(|cells| cells.mean(SURROGATE)));
        let places = accuracy.iter().enumerate().map(|(place, accuracy)| (place as f64 + 1.0, *accuracy));
        panel = panel.series(Look::nth(index).marked_line(places).name(name.replace("σ_m²", "σ_m^2")));
    }
    let figure = Figure::new().title("Common initialisations, put on means").panel(panel).size(860, 480);
    output.picture("initialisations", &figure, "Training accuracy over depth, mean over seeds.")?;
    output.table(table);
    let names: Vec<&str> = NAMES.iter().map(|(_, name)| *name).collect();
    output.claim("Common initialisations, put on means, train deep networks poorly.", poor_beside_critical(&names, &deep, DEEP));
    output.describe(&sweep, &results);
    output.finish()
}

/// Glorot's and He's variances follow from the width.
fn by_width(init: Init, study: &Study) -> Value {
    let width = study
        .plans(&[Subject::Fig6])
        .first()
        .and_then(|plan| plan.grid.cells().ok()?.first().map(|cell| cell.config.hidden_layers()[0] as f64));
    match (init, width) {
        (Init::Glorot, Some(width)) => rounded(1.0 / width, 4),
        (Init::He, Some(width)) => rounded(2.0 / width, 4),
        _ => Value::Null,
    }
}
