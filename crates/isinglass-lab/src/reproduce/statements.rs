//! The statements of Section 4.2 that have no figure, each with its numbers.

use serde_json::Value;

use super::ReproduceError;
use super::grids::OPTIMIZERS;
use super::judgement::{PerSeed, Undecided};
use super::output::{Output, rounded};
use super::record::{FigureRecord, Table};
use super::results::{Cells, Results, SURROGATE};
use super::rules::optimizers::similar_patterns;
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
    let all = results.all();
    let variances = all.numbers(|config| config.sigma_m2);
    let places: Vec<(usize, f64)> =
        all.depths().into_iter().flat_map(|depth| variances.iter().map(move |&sigma_m2| (depth, sigma_m2))).collect();
    let columns: Vec<String> = ["optimiser", "best learning rate", "mean"]
        .map(Into::into)
        .into_iter()
        .chain(places.iter().map(|(depth, sigma_m2)| format!("L = {depth}, σ_m² = {sigma_m2}")))
        .collect();
    let title = "Training accuracy by optimiser, at its best learning rate, mean over seeds";
    let mut table = Table { title: title.into(), columns, rows: Vec::new() };
    let mut patterns: Vec<(String, PerSeed<Vec<f64>>)> = Vec::new();
    for optimizer in all.values(|config| Some(config.optimizer)) {
        // Cells that diverged count as untrained, so that a rate must do well everywhere, and in all seeds.
        let of = |lr: f64| all.with(|config| config.optimizer == optimizer && config.lr == lr);
        let rated = all.numbers(|config| Some(config.lr)).into_iter().map(|lr| Ok((lr, of(lr).mean(SURROGATE)?)));
        let rated = match rated.collect::<Result<Vec<(f64, f64)>, Undecided>>() {
            Ok(rated) => rated,
            Err(missing) => {
                patterns.push((optimizer.to_string(), Err(missing)));
                continue;
            }
        };
        let Some((best, mean)) = rated.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)) else { continue };
        let at = |cells: &Cells<'_>, &(depth, sigma_m2): &(usize, f64)| {
            cells.with(|config| config.depth == Some(depth) && config.sigma_m2 == Some(sigma_m2)).mean(SURROGATE)
        };
        let cells = places.iter().map(|place| at(&of(best), place).map_or(Value::Null, |value| rounded(value, 3)));
        table.rows.push([optimizer.to_string().into(), best.into(), rounded(mean, 3)].into_iter().chain(cells).collect());
        let pattern = of(best).per_seed(|cells| places.iter().map(|place| at(cells, place)).collect());
        patterns.push((optimizer.to_string(), pattern));
    }
    output.table(table);
    output.claim("Which networks train is similar for SGD, SGD with momentum and RMSprop.", similar_patterns(&patterns));
    output.describe(&sweep, &results);
    Ok(())
}
