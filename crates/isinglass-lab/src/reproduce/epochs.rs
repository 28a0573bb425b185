//! One network after more and more epochs: samples needed, polarisation, saturation, propagation.

use std::cmp::Ordering;

use isinglass_net::Network;
use serde_json::Value;

use super::ReproduceError;
use super::grids::{EPOCHS, SAMPLES};
use super::output::{Output, rounded};
use super::propagation;
use super::record::{Table, Verdict};
use super::results::{ACCURACY, Results};
use super::rules::{Judgement, both_grow, falls, percent};
use super::study::Study;
use isinglass_chart::{Axis, Dash, Figure, Legend, Look, Panel};
use isinglass_runs::run::{LAST, RunError, read_checkpoint};
use isinglass_runs::sweep::Sweep;

/// A stochastic network this close to its surrogate, in accuracy, has enough samples.
const CLOSE: f64 = 0.01;

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
    /// `None` if no network was trained for so long.
    fn of(epochs: f64, results: &Results, inside: &[Inside]) -> Option<Self> {
        let mean = |column: &str| results.mean(&[("epochs", &epochs.into())], column);
        let networks: Vec<&Inside> = inside.iter().filter(|one| one.epochs == epochs).collect();
        let of = |value: fn(&Inside) -> f64| networks.iter().map(|one| value(one)).sum::<f64>() / networks.len() as f64;
        let sampled = SAMPLES.iter().map(|samples| mean(&format!("train_stochastic_{samples}_accuracy")));
        (!networks.is_empty()).then_some(())?;
        Some(Self {
            epochs,
            surrogate: mean(ACCURACY)?,
            sampled: sampled.collect::<Option<_>>()?,
            sigma_m2: of(|one| one.sigma_m2),
            polarised: of(|one| one.polarised),
            saturated: of(|one| one.saturated),
            distance: of(|one| one.distance),
        })
    }

    /// `1 epoch`, `30 epochs`.
    fn duration(&self) -> String {
        format!("{} epoch{}", self.epochs, if self.epochs == 1.0 { "" } else { "s" })
    }

    /// The fewest samples that come close to the surrogate; `None` if not even the most do.
    fn needed(&self) -> Option<usize> {
        SAMPLES.into_iter().zip(&self.sampled).find(|(_, accuracy)| **accuracy >= self.surrogate - CLOSE).map(|(samples, _)| samples)
    }
}

/// Adds what happens over epochs.
pub(super) fn add(study: &Study, output: &mut Output) -> Result<(), ReproduceError> {
    let sweep = Sweep::open(&study.sweep_directory(EPOCHS))?;
    let results = Results::of(&sweep)?;
    let inside = insides(study, &sweep)?;
    let all: Vec<After> = results.numbers("epochs").into_iter().filter_map(|epochs| After::of(epochs, &results, &inside)).collect();
    let start = inside.iter().find(|one| one.epochs == 0.0);
    tables(output, &all, start);
    output.picture("samples", &picture(&all), "Training accuracy of stochastic binary networks by the number of samples, after more and more epochs; dashed lines are the surrogates.")?;
    claims(output, &all, start);
    output.describe(&sweep, &results);
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
    let known = match (all.first(), all.last(), start) {
        (Some(first), Some(last), Some(start)) if all.len() > 1 => Some((first, last, start)),
        _ => None,
    };
    let undecided = || (Verdict::NotDecided, "There are too few trained networks.".to_owned());
    let judge =
        |rule: fn(&After, &After, &Inside) -> Judgement| known.map_or_else(undecided, |(first, last, start)| rule(first, last, start));
    output.claim("Fewer samples are needed after more epochs.", judge(fewer_samples));
    output.claim("In training, means polarise and neurons saturate.", judge(polarisation));
    output.claim("Propagation in the trained binary network approaches that in its surrogate.", judge(approach));
}

fn fewer_samples(first: &After, last: &After, _: &Inside) -> Judgement {
    let number = |needed: Option<usize>| needed.map_or("more than 100".to_owned(), |needed| needed.to_string());
    let order = |needed: Option<usize>| needed.unwrap_or(usize::MAX);
    let verdict = match order(last.needed()).cmp(&order(first.needed())) {
        Ordering::Less => Verdict::Holds,
        Ordering::Equal => Verdict::NotDecided,
        Ordering::Greater => Verdict::DoesNotHold,
    };
    let gap = |after: &After| percent(after.surrogate - after.sampled[0]);
    let evidence = format!(
        "To come within {} of the surrogate, after {} {} samples are needed and after {} {}. A single sample is behind the surrogate by {} and by {}.",
        percent(CLOSE),
        first.duration(),
        number(first.needed()),
        last.duration(),
        number(last.needed()),
        gap(first),
        gap(last)
    );
    (verdict, evidence)
}

fn polarisation(_: &After, last: &After, start: &Inside) -> Judgement {
    let evidence = format!(
        "Means beyond ±0.9: {} at the start, {} after {}; neurons: {} and {}.",
        percent(start.polarised),
        percent(last.polarised),
        last.duration(),
        percent(start.saturated),
        percent(last.saturated)
    );
    (both_grow([start.polarised, start.saturated], [last.polarised, last.saturated]), evidence)
}

fn approach(_: &After, last: &After, start: &Inside) -> Judgement {
    let evidence = format!(
        "Overlaps of two signals differ between the two by {:.3} at the start and by {:.3} after {} (root mean square over layers).",
        start.distance,
        last.distance,
        last.duration()
    );
    (falls(start.distance, last.distance), evidence)
}

fn picture(all: &[After]) -> Figure {
    let mut panel = Panel::new(Axis::log10("samples K"), Axis::linear("training accuracy")).legend(Legend::Right);
    for (index, after) in all.iter().enumerate() {
        let look = Look::nth(index);
        let points = SAMPLES.iter().zip(&after.sampled).map(|(&samples, &accuracy)| (samples as f64, accuracy));
        panel = panel
            .series(Look { dash: Dash::Solid, ..look }.marked_line(points).name(after.duration()))
            .series(Look { dash: Dash::Dashed, ..look }.line([(1.0, after.surrogate), (100.0, after.surrogate)]));
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
        let trained = read_checkpoint(&sweep.run_directory(cell), LAST)?.into_network();
        let images = propagation::inputs(&data, trained.input()).map_err(RunError::from)?;
        if insides.is_empty()
            && let Some(initial) = trained.initial().map_err(RunError::from)?
        {
            insides.push(inside(0.0, &initial, &images, study.seed)?);
        }
        insides.push(inside(cell.config.epochs as f64, &trained, &images, study.seed)?);
    }
    Ok(insides)
}

fn inside(epochs: f64, network: &Network, images: &[Vec<f64>], seed: u64) -> Result<Inside, ReproduceError> {
    let means = || network.layers().iter().flat_map(|layer| layer.means()).map(|&mean| f64::from(mean));
    let count = network.parameters().0 as f64;
    Ok(Inside {
        epochs,
        sigma_m2: means().map(|mean| mean * mean).sum::<f64>() / count,
        polarised: means().filter(|mean| mean.abs() > 0.9).count() as f64 / count,
        saturated: propagation::saturated(network, images),
        distance: propagation::distance(network, images, seed).map_err(RunError::from)?,
    })
}
