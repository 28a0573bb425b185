//! One network after more and more epochs: samples needed, polarisation, saturation, propagation.

use isinglass_data::Dataset;
use isinglass_net::Network;
use serde_json::Value;

use super::ReproduceError;
use super::censored::Censored;
use super::grids::{EPOCHS, SAMPLES};
use super::judgement::{PerSeed, Undecided};
use super::output::{Output, rounded};
use super::propagation;
use super::record::Table;
use super::results::{Behind, Column, Entry, Outcome, Part, Results};
use super::rules::training::{Change, both_grow, falls, fewer_samples};
use super::study::Study;
use isinglass_chart::{Axis, Dash, Figure, Legend, Look, Panel};
use isinglass_runs::run::{LAST, RunError, read_checkpoint};
use isinglass_runs::sweep::Sweep;
use isinglass_runs::words::{counted, percent};

/// A stochastic network this close to its surrogate, in accuracy, has enough samples.
const CLOSE: f64 = 0.01;
/// After no epoch at all.
const START: usize = 0;

/// The inside of one network.
#[derive(Debug, Clone, Copy)]
struct Inside {
    seed: u64,
    epochs: usize,
    sigma_m2: f64,
    polarised: f64,
    saturated: f64,
    distance: f64,
}

/// All networks, and those that they began as, after [`START`].
struct Course {
    results: Results,
    /// In ascending order.
    epochs: Vec<usize>,
    seeds: Vec<u64>,
    insides: Vec<Inside>,
}

impl Course {
    fn of(study: &Study, sweep: &Sweep) -> Result<Self, ReproduceError> {
        let results = Results::of(sweep)?;
        let (seeds, mut epochs) = (results.all().seeds(), results.all().values(|config| Some(config.epochs)));
        epochs.sort_unstable();
        let mut insides: Vec<Inside> = Vec::new();
        let data = match sweep.cells().first() {
            Some(cell) => cell.config.load_data(study.data_dir.as_deref())?,
            None => return Ok(Self { results, epochs, seeds, insides }),
        };
        for entry in results.entries() {
            let has_start = insides.iter().any(|one| one.seed == entry.cell.config.seed);
            insides.extend(look_into(study, sweep, entry, &data, !has_start)?);
        }
        Ok(Self { results, epochs, seeds, insides })
    }

    /// A measure of the insides of every seed's network.
    fn inside(&self, epochs: usize, value: fn(&Inside) -> f64) -> PerSeed<f64> {
        let of = |&seed: &u64| match self.insides.iter().find(|one| one.epochs == epochs && one.seed == seed) {
            Some(inside) => Ok(value(inside)),
            None => {
                Undecided::because(format!("There is no network of seed {seed} after {}: its training failed.", counted(epochs, "epoch")))
            }
        };
        self.seeds.iter().map(of).collect()
    }

    /// Training accuracies of every seed.
    fn accuracy(&self, epochs: usize, network: Behind) -> PerSeed<f64> {
        let cells = self.results.all().with(|config| config.epochs == epochs);
        cells.per_seed(|cells| cells.mean(Column::accuracy(Part::Train, network)))
    }

    /// The fewest samples that come close to the surrogate, for every seed.
    fn needed(&self, epochs: usize) -> PerSeed<Censored> {
        // Networks that diverged have an accuracy, but no samples of theirs mean anything.
        self.inside(epochs, |_| 0.0)?;
        let surrogate = self.accuracy(epochs, Behind::Surrogate)?;
        let mut needed = vec![Censored::beyond(SAMPLES[SAMPLES.len() - 1] as f64); surrogate.len()];
        for samples in SAMPLES.into_iter().rev() {
            for (seed, accuracy) in self.accuracy(epochs, Behind::Stochastic(samples))?.into_iter().enumerate() {
                if accuracy >= surrogate[seed] - CLOSE {
                    needed[seed] = Censored::within(samples as f64);
                }
            }
        }
        Ok(needed)
    }
}

/// A cell's network, and before it, if asked for, the one it began as; nothing of a cell that failed.
fn look_into(study: &Study, sweep: &Sweep, entry: &Entry, data: &Dataset, with_start: bool) -> Result<Vec<Inside>, ReproduceError> {
    let mut insides = Vec::new();
    if !matches!(entry.outcome, Outcome::Trained(_)) {
        return Ok(insides);
    }
    let config = &entry.cell.config;
    let trained = read_checkpoint(&sweep.run_directory(&entry.cell), LAST)?.into_network();
    let images = propagation::inputs(data, trained.input()).map_err(RunError::from)?;
    if with_start && let Some(initial) = trained.initial().map_err(RunError::from)? {
        insides.push(inside(config.seed, START, &initial, &images, study.seed)?);
    }
    insides.push(inside(config.seed, config.epochs, &trained, &images, study.seed)?);
    Ok(insides)
}

fn inside(seed: u64, epochs: usize, network: &Network, images: &[Vec<f64>], draws: u64) -> Result<Inside, ReproduceError> {
    let means = || network.layers().iter().flat_map(|layer| layer.means()).map(|&mean| f64::from(mean));
    let count = network.parameters().0 as f64;
    Ok(Inside {
        seed,
        epochs,
        sigma_m2: means().map(|mean| mean * mean).sum::<f64>() / count,
        polarised: means().filter(|mean| mean.abs() > 0.9).count() as f64 / count,
        saturated: propagation::saturated(network, images),
        distance: propagation::distance(network, images, draws).map_err(RunError::from)?,
    })
}

/// Adds what happens over epochs.
pub(super) fn add(study: &Study, output: &mut Output) -> Result<(), ReproduceError> {
    let sweep = Sweep::open(&study.sweep_directory(EPOCHS))?;
    let course = Course::of(study, &sweep)?;
    output.table(samples_table(&course));
    output.table(insides_table(&course));
    output.picture("samples", &picture(&course), "Training accuracy of stochastic binary networks by the number of samples, after more and more epochs, mean over seeds; dashed lines are the surrogates.")?;
    claims(output, &course);
    output.describe(&sweep, &course.results);
    Ok(())
}

/// The mean over seeds; NaN if one is missing.
fn mean(values: &PerSeed<f64>) -> f64 {
    values.as_ref().map_or(f64::NAN, |values| values.iter().sum::<f64>() / values.len() as f64)
}

fn samples_table(course: &Course) -> Table {
    let columns = ["epochs", "surrogate"]
        .map(Into::into)
        .into_iter()
        .chain(SAMPLES.iter().map(|samples| format!("K = {samples}")))
        .chain(["samples needed".to_owned()])
        .collect();
    let line = |&epochs: &usize| {
        let needed = course.needed(epochs).ok().and_then(|needed| Censored::typical(&needed));
        let accuracy = |network: Behind| rounded(mean(&course.accuracy(epochs, network)), 3);
        [epochs.into(), accuracy(Behind::Surrogate)]
            .into_iter()
            .chain(SAMPLES.into_iter().map(|samples| accuracy(Behind::Stochastic(samples))))
            .chain([needed.map_or(Value::Null, |needed| needed.to_string().into())])
            .collect()
    };
    let title =
        format!("Training accuracy with K samples, and the fewest that come within {} of the surrogate, mean over seeds", percent(CLOSE));
    Table { title, columns, rows: course.epochs.iter().map(line).collect() }
}

fn insides_table(course: &Course) -> Table {
    let line = |epochs: usize| {
        let value = |of: fn(&Inside) -> f64, digits: i32| rounded(mean(&course.inside(epochs, of)), digits);
        let (means, neurons) = (value(|one| one.polarised, 3), value(|one| one.saturated, 3));
        vec![epochs.into(), value(|one| one.sigma_m2, 3), means, neurons, value(|one| one.distance, 4)]
    };
    let columns = ["epochs", "σ_m²", "means beyond ±0.9", "neurons beyond ±0.9", "distance of overlaps"].map(Into::into).into();
    let title = "Means, neurons, and the distance between overlaps of signals in binary networks and in their surrogate (root mean square), mean over seeds";
    Table { title: title.into(), columns, rows: [START].into_iter().chain(course.epochs.iter().copied()).map(line).collect() }
}

fn claims(output: &mut Output, course: &Course) {
    // Every grid has several numbers of epochs.
    let (Some(&first), Some(&last)) = (course.epochs.first(), course.epochs.last()) else { return };
    let single = |epochs: usize| mean(&course.accuracy(epochs, Behind::Surrogate)) - mean(&course.accuracy(epochs, Behind::Stochastic(1)));
    let what = format!(
        "A single sample is behind the surrogate by {} and later by {}. Samples needed to come within {} of it",
        percent(single(first)),
        percent(single(last)),
        percent(CLOSE)
    );
    let [early, late] = [first, last].map(|epochs| format!("after {}", counted(epochs, "epoch")));
    let fewer = fewer_samples(&what, [&early, &late], &course.needed(first), &course.needed(last));
    output.claim("Fewer samples are needed after more epochs.", fewer);
    let of = |value: fn(&Inside) -> f64| (course.inside(START, value), course.inside(last, value));
    let (means, neurons, distances) = (of(|one| one.polarised), of(|one| one.saturated), of(|one| one.distance));
    let change = |(before, after)| Change { before, after };
    let names = ["Means beyond ±0.9", "neurons beyond ±0.9"];
    let grown = both_grow(names, [change((&means.0, &means.1)), change((&neurons.0, &neurons.1))]);
    output.claim("In training, means polarise and neurons saturate.", grown);
    let what = "Distance between the overlaps of two signals in the binary network and in its surrogate (root mean square over layers)";
    let fallen = falls(what, change((&distances.0, &distances.1)));
    output.claim("Propagation in the trained binary network approaches that in its surrogate.", fallen);
}

fn picture(course: &Course) -> Figure {
    let mut panel = Panel::new(Axis::log10("samples K"), Axis::linear("training accuracy")).legend(Legend::Right);
    for (index, &epochs) in course.epochs.iter().enumerate() {
        let look = Look::nth(index);
        let accuracy = |network: Behind| mean(&course.accuracy(epochs, network));
        let points: Vec<(f64, f64)> = SAMPLES.iter().map(|&samples| (samples as f64, accuracy(Behind::Stochastic(samples)))).collect();
        let surrogate = accuracy(Behind::Surrogate);
        panel = panel
            .series(Look { dash: Dash::Solid, ..look }.marked_line(points).name(counted(epochs, "epoch")))
            .series(Look { dash: Dash::Dashed, ..look }.line([(1.0, surrogate), (100.0, surrogate)]));
    }
    Figure::new().title("Samples needed, after more and more epochs").panel(panel).size(860, 480)
}
