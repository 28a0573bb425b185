//! The bottom of Figure 2: surrogates and the binary networks behind them.

use serde_json::Value;

use super::ReproduceError;
use super::grids::{COUNTERPARTS, Plane, UNIT_GAIN};
use super::output::{Output, rounded};
use super::plane::PlaneResults;
use super::record::Table;
use super::results::{Behind, Column, Part, SURROGATE};
use super::rules::counterparts::{about_the_same, more_samples};
use super::study::Study;
use super::trainability::open;
use isinglass_chart::Figure;
use isinglass_runs::words::percent;

const SIGN: Column = Column::accuracy(Part::Train, Behind::Binary);

/// The mean of so many draws.
const fn drawn(samples: usize) -> Column {
    Column::accuracy(Part::Train, Behind::Stochastic(samples))
}

/// Adds the bottom of Figure 2.
pub(super) fn add(study: &Study, output: &mut Output) -> Result<(), ReproduceError> {
    let plane = Plane { name: COUNTERPARTS, ..UNIT_GAIN };
    let results = open(study, plane)?;
    let panels = [
        ("(c) surrogate", SURROGATE),
        ("(d) stochastic binary, 5 samples", drawn(5)),
        ("(e) stochastic binary, 100 samples", drawn(100)),
        ("(f) stochastic binary, 1 sample", drawn(1)),
        ("(g) deterministic binary, sign(M)", SIGN),
    ];
    let mut sampled = Figure::new()
        .title(format!("Training accuracy after {} epochs: the surrogate and its stochastic binary networks", results.epochs()));
    let mut single = Figure::new().title("One sample beside the deterministic binary network");
    for (index, (title, column)) in panels.into_iter().enumerate() {
        let panel = results.panel(title, column, &[])?;
        if index < 3 {
            sampled = sampled.panel(panel);
        } else {
            single = single.panel(panel);
        }
    }
    output.picture("counterparts", &sampled.size(1110, 400), "The surrogate and stochastic binary networks, by the number of samples.")?;
    output.picture("deterministic", &single.size(800, 420), "One stochastic binary network beside the deterministic one, sign(M).")?;
    let distance = |column: Column, other: Column| results.results.all().per_seed(|cells| cells.distance(column, other));
    let [one, five, hundred] = [1, 5, 100].map(|samples| distance(SURROGATE, drawn(samples)));
    let claim = "Stochastic binary networks match the surrogate more closely as the number of samples increases.";
    output.claim(claim, more_samples([&one, &five, &hundred]));
    let ends = [results.sigma_m2().first(), results.sigma_m2().last()];
    let ends: Vec<String> = ends.into_iter().flatten().filter_map(|&sigma_m2| at_end(&results, sigma_m2)).collect();
    let details = format!(": {}. Where signs do not change, sign(M) is the random network of the beginning.", ends.join("; "));
    let alike = about_the_same(&distance(SIGN, drawn(1)), &details);
    output.claim("The deterministic binary network does about as well as a single sample.", alike);
    let columns = ["σ_m²", "surrogate", "100 samples", "5 samples", "1 sample", "sign(M)"];
    let keys = [SURROGATE, drawn(100), drawn(5), drawn(1), SIGN];
    let title = "Training accuracy, mean over all depths and seeds";
    let mut table = Table { title: title.into(), columns: columns.map(Into::into).into(), rows: Vec::new() };
    for &sigma_m2 in results.sigma_m2() {
        let cells = keys.map(|key| results.mean_at(sigma_m2, key).map_or(Value::Null, |value| rounded(value, 3)));
        table.rows.push(std::iter::once(Value::from(sigma_m2)).chain(cells).collect());
    }
    output.table(table);
    output.describe(&results.sweep, &results.results);
    Ok(())
}

/// The deterministic network beside a sample, at one `σ_m²`.
fn at_end(results: &PlaneResults, sigma_m2: f64) -> Option<String> {
    let mean = |key: Column| results.mean_at(sigma_m2, key).map(percent);
    Some(format!(
        "at σ_m² = {sigma_m2} sign(M) has {}, one sample {}, and {} of the weights have changed sign",
        mean(SIGN)?,
        mean(drawn(1))?,
        mean(Column::FlipRatio)?
    ))
}
