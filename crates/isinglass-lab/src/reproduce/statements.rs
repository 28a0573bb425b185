//! The statements of Section 4.2 that have no figure, each with its numbers.

use super::ReproduceError;
use super::grids::OPTIMIZERS;
use super::output::{Output, rounded};
use super::record::{FigureRecord, Table};
use super::results::{ACCURACY, Results};
use super::rules::similar_patterns;
use super::study::{Study, Subject};
use isinglass_runs::sweep::Sweep;

const CAPTION: &str = "Section 4.2 says in words: results were similar for SGD, SGD with momentum and RMSprop; fewer samples are needed after more epochs, since means polarise and neurons saturate; \
    and a stochastic network closer to a deterministic one propagates signals as its surrogate does.\n\n\
    Optimisers: the deterministic surrogate of unit gain, for each the best of several learning rates. Epochs: a shallow network of exact sign neurons, trained for more and more epochs.";

pub(super) fn make(study: &Study) -> Result<FigureRecord, ReproduceError> {
    let mut output = Output::new(study, Subject::Table, CAPTION)?;
    optimizers(study, &mut output)?;
    super::epochs::add(study, &mut output)?;
    output.finish()
}

fn optimizers(study: &Study, output: &mut Output) -> Result<(), ReproduceError> {
    let sweep = Sweep::open(&study.sweep_directory(OPTIMIZERS))?;
    let results = Results::of(&sweep)?;
    let (depths, variances) = (results.numbers("depth"), results.numbers("sigma-m2"));
    let places: Vec<(f64, f64)> = depths.iter().flat_map(|&depth| variances.iter().map(move |&sigma_m2| (depth, sigma_m2))).collect();
    let columns: Vec<String> = ["optimiser", "best learning rate", "mean"]
        .map(Into::into)
        .into_iter()
        .chain(places.iter().map(|(depth, sigma_m2)| format!("L = {depth}, σ_m² = {sigma_m2}")))
        .collect();
    let mut table = Table { title: "Training accuracy by optimiser, at its best learning rate".into(), columns, rows: Vec::new() };
    let mut patterns: Vec<(String, Vec<f64>)> = Vec::new();
    for optimizer in results.values("optimizer") {
        // Cells that diverged count as untrained, so that a rate must do well everywhere.
        let mean = |lr: &f64| results.mean(&[("optimizer", &optimizer), ("lr", &(*lr).into())], ACCURACY).unwrap_or(0.0);
        let Some(best) = results.numbers("lr").into_iter().max_by(|a, b| mean(a).total_cmp(&mean(b))) else { continue };
        let at = |&(depth, sigma_m2): &(f64, f64)| {
            let place = [("optimizer", &optimizer), ("lr", &best.into()), ("depth", &depth.into()), ("sigma-m2", &sigma_m2.into())];
            results.mean(&place, ACCURACY).unwrap_or(0.0)
        };
        let pattern: Vec<f64> = places.iter().map(at).collect();
        let cells = pattern.iter().map(|&value| rounded(value, 3));
        table.rows.push([optimizer.clone(), best.into(), rounded(mean(&best), 3)].into_iter().chain(cells).collect());
        patterns.push((optimizer.as_str().unwrap_or_default().to_owned(), pattern));
    }
    output.table(table);
    output.claim("Which networks train is similar for SGD, SGD with momentum and RMSprop.", similar_patterns(&patterns));
    output.describe(&sweep, &results);
    Ok(())
}
