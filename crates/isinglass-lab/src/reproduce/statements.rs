//! The statements of Section 4.2 that have no figure, each with its numbers.

use serde_json::Value;

use super::ReproduceError;
use super::grids::{EPOCHS, OPTIMIZERS};
use super::output::{Output, rounded};
use super::propagation;
use super::record::{FigureRecord, Table, Verdict};
use super::results::{ACCURACY, Results, rank_correlation};
use super::study::{Study, Subject};
use crate::chart::{Axis, Figure, Legend, Marker, PALETTE, Panel, Series};
use crate::run::{LAST, RunError, read_checkpoint};
use crate::sweep::Sweep;
use isinglass_net::Rng;

const SAMPLES: [usize; 7] = [1, 2, 5, 10, 20, 50, 100];
/// A stochastic network this close to its surrogate, in accuracy, has enough samples.
const CLOSE: f64 = 0.01;

const CAPTION: &str = "Section 4.2 says in words: results were similar for SGD, SGD with momentum and RMSprop; fewer samples are needed after more epochs, since means polarise and neurons saturate; \
    and a stochastic network closer to a deterministic one propagates signals as its surrogate does.\n\n\
    Optimisers: the deterministic surrogate of unit gain, for each the best of several learning rates. Epochs: a shallow network of exact sign neurons, trained for more and more epochs.";

pub(super) fn make(study: &Study) -> Result<FigureRecord, ReproduceError> {
    let mut output = Output::new(study, Subject::Table, CAPTION)?;
    optimizers(study, &mut output)?;
    epochs(study, &mut output)?;
    super::trainability::describe(study, &mut output, EPOCHS)?;
    output.finish()
}

fn optimizers(study: &Study, output: &mut Output) -> Result<(), ReproduceError> {
    let results = Results::of(&Sweep::open(&study.sweep_directory(OPTIMIZERS))?)?;
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
        let mean = |lr: &f64| results.mean(&[("optimizer", &optimizer), ("lr", &(*lr).into())], ACCURACY).unwrap_or(f64::NEG_INFINITY);
        let Some(best) = results.numbers("lr").into_iter().max_by(|a, b| mean(a).total_cmp(&mean(b))) else { continue };
        let at = |&(depth, sigma_m2): &(f64, f64)| {
            let place = [("optimizer", &optimizer), ("lr", &best.into()), ("depth", &depth.into()), ("sigma-m2", &sigma_m2.into())];
            results.mean(&place, ACCURACY).unwrap_or(f64::NAN)
        };
        let pattern: Vec<f64> = places.iter().map(at).collect();
        let cells = pattern.iter().map(|&value| rounded(value, 3));
        table.rows.push([optimizer.clone(), best.into(), rounded(mean(&best), 3)].into_iter().chain(cells).collect());
        patterns.push((optimizer.as_str().unwrap_or_default().to_owned(), pattern));
    }
    output.table(table);
    let Some(((_, adam), others)) = patterns.split_first() else { return Ok(()) };
    let mut words = Vec::new();
    let mut least = f64::INFINITY;
    for (name, pattern) in others {
        let correlation = rank_correlation(adam, pattern).unwrap_or(0.0);
        let apart = adam.iter().zip(pattern).map(|(a, b)| (a - b).abs()).sum::<f64>() / adam.len() as f64;
        least = least.min(correlation);
        words.push(format!("{name} {correlation:.2} ({:.0} % apart)", 100.0 * apart));
    }
    let verdict = match least {
        r if r >= 0.7 => Verdict::Holds,
        r if r >= 0.4 => Verdict::HoldsInPart,
        _ => Verdict::DoesNotHold,
    };
    let evidence = format!("Rank correlation, with Adam's, of accuracies over depth and σ_m²: {}.", words.join(", "));
    output.claim("Which networks train is similar for SGD, SGD with momentum and RMSprop.", verdict, evidence);
    Ok(())
}

/// What became of the network after so many epochs.
struct After {
    epochs: f64,
    surrogate: f64,
    sampled: Vec<f64>,
    sigma_m2: f64,
    polarised: f64,
    saturated: f64,
    distance: f64,
}

impl After {
    /// The fewest samples that come close to the surrogate; `None` if not even the most do.
    fn needed(&self) -> Option<usize> {
        SAMPLES.into_iter().zip(&self.sampled).find(|(_, accuracy)| **accuracy >= self.surrogate - CLOSE).map(|(samples, _)| samples)
    }
}

fn epochs(study: &Study, output: &mut Output) -> Result<(), ReproduceError> {
    let sweep = Sweep::open(&study.sweep_directory(EPOCHS))?;
    let results = Results::of(&sweep)?;
    let mut all = Vec::new();
    let inside = insides(study, &sweep)?;
    for epochs in results.numbers("epochs") {
        let mean = |column: &str| results.mean(&[("epochs", &epochs.into())], column).unwrap_or(f64::NAN);
        let of = |value: fn(&Inside) -> f64| {
            let values: Vec<f64> = inside.iter().filter(|one| one.epochs == epochs).map(value).collect();
            values.iter().sum::<f64>() / values.len().max(1) as f64
        };
        all.push(After {
            epochs,
            surrogate: mean(ACCURACY),
            sampled: SAMPLES.iter().map(|samples| mean(&format!("train_stochastic_{samples}_accuracy"))).collect(),
            sigma_m2: of(|one| one.sigma_m2),
            polarised: mean("polarised"),
            saturated: of(|one| one.saturated),
            distance: of(|one| one.distance),
        });
    }
    let start = inside.iter().find(|one| one.epochs == 0.0);
    tables(output, &all, start);
    output.picture("samples", &picture(&all), "Training accuracy of stochastic binary networks by the number of samples, after more and more epochs; dashed lines are the surrogates.")?;
    claims(output, &all, start);
    Ok(())
}

fn tables(output: &mut Output, all: &[After], start: Option<&Inside>) {
    let columns = ["epochs", "surrogate"]
        .map(Into::into)
        .into_iter()
        .chain(SAMPLES.iter().map(|samples| format!("K = {samples}")))
        .chain(["samples needed".to_owned()])
        .collect();
    let line = |after: &After| {
        let needed = after.needed().map_or("more than 100".into(), Value::from);
        [after.epochs.into(), rounded(after.surrogate, 3)]
            .into_iter()
            .chain(after.sampled.iter().map(|&value| rounded(value, 3)))
            .chain([needed])
            .collect()
    };
    let title = format!("Training accuracy with K samples, and the fewest that come within {:.0} % of the surrogate", 100.0 * CLOSE);
    output.table(Table { title, columns, rows: all.iter().map(line).collect() });
    let columns = ["epochs", "σ_m²", "means beyond ±0.9", "neurons beyond ±0.9", "distance of overlaps"].map(Into::into).into();
    let first = start.map(|start| {
        vec![0.into(), rounded(start.sigma_m2, 3), rounded(start.polarised, 3), rounded(start.saturated, 3), rounded(start.distance, 4)]
    });
    let line = |after: &After| {
        vec![
            after.epochs.into(),
            rounded(after.sigma_m2, 3),
            rounded(after.polarised, 3),
            rounded(after.saturated, 3),
            rounded(after.distance, 4),
        ]
    };
    let title = "Means, neurons, and the distance between overlaps of signals in binary networks and in their surrogate (root mean square)";
    output.table(Table { title: title.into(), columns, rows: first.into_iter().chain(all.iter().map(line)).collect() });
}

fn claims(output: &mut Output, all: &[After], start: Option<&Inside>) {
    let (Some(first), Some(last), Some(start)) = (all.first(), all.last(), start) else { return };
    let number = |needed: Option<usize>| needed.map_or("more than 100".to_owned(), |needed| needed.to_string());
    let order = |needed: Option<usize>| needed.unwrap_or(usize::MAX);
    let verdict = match (order(last.needed()), order(first.needed())) {
        (late, early) if late < early => Verdict::Holds,
        (late, early) if late == early => Verdict::NotDecided,
        _ => Verdict::DoesNotHold,
    };
    let gap = |after: &After| 100.0 * (after.surrogate - after.sampled[0]);
    output.claim(
        "Fewer samples are needed after more epochs.",
        verdict,
        format!(
            "To come within 1 % of the surrogate {} samples are needed after {} epochs and {} after {}; a single sample is {:.1} % behind the surrogate then and {:.1} % later.",
            number(first.needed()),
            first.epochs,
            number(last.needed()),
            last.epochs,
            gap(first),
            gap(last)
        ),
    );
    let grows = |from: f64, to: f64| to > from + 0.01;
    let verdict = match (grows(start.polarised, last.polarised), grows(start.saturated, last.saturated)) {
        (true, true) => Verdict::Holds,
        (false, false) => Verdict::DoesNotHold,
        _ => Verdict::HoldsInPart,
    };
    output.claim(
        "In training, means polarise and neurons saturate.",
        verdict,
        format!(
            "Means beyond ±0.9: {:.1} % at the start, {:.1} % after {} epochs; neurons: {:.1} % and {:.1} %.",
            100.0 * start.polarised,
            100.0 * last.polarised,
            last.epochs,
            100.0 * start.saturated,
            100.0 * last.saturated
        ),
    );
    let verdict = match last.distance / start.distance {
        ratio if ratio < 0.9 => Verdict::Holds,
        ratio if ratio <= 1.1 => Verdict::NotDecided,
        _ => Verdict::DoesNotHold,
    };
    output.claim(
        "Propagation in the trained binary network approaches that in its surrogate.",
        verdict,
        format!("Overlaps of two signals differ between the two by {:.3} at the start and by {:.3} after {} epochs (root mean square over layers).", start.distance, last.distance, last.epochs),
    );
}

fn picture(all: &[After]) -> Figure {
    let markers = [Marker::Circle, Marker::Square, Marker::Diamond, Marker::Triangle];
    let mut panel = Panel::new(Axis::log10("samples K"), Axis::linear("training accuracy")).legend(Legend::Right);
    for (index, after) in all.iter().enumerate() {
        let colour = PALETTE[index % PALETTE.len()];
        let points = SAMPLES.iter().zip(&after.sampled).map(|(&samples, &accuracy)| (samples as f64, accuracy));
        let epochs = if after.epochs == 1.0 { "1 epoch".to_owned() } else { format!("{} epochs", after.epochs) };
        panel = panel
            .series(Series::line(points).colour(colour).marker(markers[index % markers.len()]).name(epochs))
            .series(Series::line([(1.0, after.surrogate), (100.0, after.surrogate)]).colour(colour).dash(crate::chart::Dash::Dashed));
    }
    Figure::new().title("Samples needed, after more and more epochs").panel(panel).size(860, 480)
}

/// The inside of one trained network.
struct Inside {
    epochs: f64,
    sigma_m2: f64,
    polarised: f64,
    saturated: f64,
    distance: f64,
}

/// All networks of the sweep, and before them the one they began as, after 0 epochs.
fn insides(study: &Study, sweep: &Sweep) -> Result<Vec<Inside>, ReproduceError> {
    let mut insides = Vec::new();
    let Some(cell) = sweep.cells().first() else { return Ok(insides) };
    let data = cell.config.load_data(study.data_dir.as_deref())?;
    for cell in sweep.cells() {
        if sweep.record(cell)?.is_none_or(|record| record.is_failed()) {
            continue;
        }
        let trained = read_checkpoint(&sweep.run_directory(cell), LAST)?.network;
        let images = propagation::inputs(&data, trained.preprocessing);
        if insides.is_empty() {
            let mut initial = trained.config.init(&mut Rng::new(cell.config.seed)).map_err(RunError::from)?;
            initial.preprocessing = trained.preprocessing;
            insides.push(inside(0.0, &initial, &images, study.seed));
        }
        insides.push(inside(cell.config.epochs as f64, &trained, &images, study.seed));
    }
    Ok(insides)
}

fn inside(epochs: f64, network: &isinglass_net::Network, images: &[Vec<f64>], seed: u64) -> Inside {
    let means = || network.layers.iter().flat_map(|layer| &layer.means).map(|&mean| f64::from(mean));
    let count = network.parameters().0 as f64;
    Inside {
        epochs,
        sigma_m2: means().map(|mean| mean * mean).sum::<f64>() / count,
        polarised: means().filter(|mean| mean.abs() > 0.9).count() as f64 / count,
        saturated: propagation::saturated(network, images),
        distance: propagation::distance(network, images, seed),
    }
}
