//! The use of depth: what training has done in each layer of a deep network, and what each layer is worth.
//!
//! A layer's worth is what the binary network `sign(M)` loses on the test examples when the layer's weights are replaced by random signs, the biases kept: the mean over [`DRAWS`] draws.
//! There is a network for each seed; pictures and tables show means over them.

use isinglass_net::{Examples, Layer, Network, Rng};
use serde_json::Value;

use super::accuracy_axis::{self, place};
use super::grids::depth::{KEPT, Line};
use super::judgement::Undecided;
use super::output::{Output, rounded, row};
use super::record::Table;
use super::results::{Entry, Outcome, Results};
use super::rules::depth::{Layers, every_layer_is_used};
use super::study::Study;
use super::{Progress, ReproduceError};
use isinglass_chart::{Axis, Colour, Dash, Figure, Legend, Look, Marker, Panel, RefLine};
use isinglass_runs::run::{LAST, RunError, examples, read_checkpoint};
use isinglass_runs::sweep::Sweep;

/// Random layers that each layer is replaced by.
const DRAWS: u64 = 3;
/// The purpose of their streams, which training does not draw from.
const REPLACEMENT: u64 = 1000;

/// The hidden layers of one trained network.
#[derive(Clone)]
struct Used {
    seed: u64,
    /// The fraction of weights that have changed sign, layer by layer.
    flipped: Vec<f64>,
    /// Test accuracy of the network as it is, and with each layer replaced.
    layers: Layers,
}

/// The networks of one line, of all seeds or of those there are.
struct Twins {
    line: Line,
    networks: Vec<Used>,
}

impl Twins {
    /// Means over networks, layer by layer.
    fn means(&self, values: fn(&Used) -> &[f64]) -> Vec<f64> {
        let layers = self.networks.iter().map(|used| values(used).len()).min().unwrap_or(0);
        let mean = |layer: usize| self.networks.iter().map(|used| values(used)[layer]).sum::<f64>() / self.networks.len() as f64;
        (0..layers).map(mean).collect()
    }

    fn flipped(&self) -> Vec<f64> {
        self.means(|used| &used.flipped)
    }

    fn replaced(&self) -> Vec<f64> {
        self.means(|used| &used.layers.replaced)
    }

    fn intact(&self) -> f64 {
        self.networks.iter().map(|used| used.layers.intact).sum::<f64>() / self.networks.len() as f64
    }
}

/// Adds the use of depth to the figure.
pub(super) fn add(study: &Study, output: &mut Output, progress: &Progress<'_>) -> Result<(), ReproduceError> {
    let mut all = Vec::new();
    let mut rulings = Vec::new();
    for (index, (line, name)) in KEPT.into_iter().enumerate() {
        let sweep = Sweep::open(&study.sweep_directory(name))?;
        let results = Results::of(&sweep)?;
        output.describe(&sweep, &results);
        let count = results.entries().len().max(1) as f64;
        let mut found = Vec::new();
        for (number, entry) in results.entries().iter().enumerate() {
            let told = |part: f64| progress((index as f64 + (number as f64 + part) / count) / KEPT.len() as f64);
            found.push(look_into(study, &sweep, entry, &told)?);
        }
        let layers = found.iter().map(|one| one.clone().map(|used| used.layers)).collect();
        rulings.push(every_layer_is_used(&layers));
        let networks: Vec<Used> = found.into_iter().flatten().collect();
        all.extend((!networks.is_empty()).then_some(Twins { line, networks }));
    }
    let caption = "Deep networks, layer by layer, mean over seeds: weights that changed sign in training, and the accuracy with the weights of that layer replaced by random signs. Dashed: the networks as they are.";
    output.picture("use", &picture(&all), caption)?;
    output.table(table(&all));
    output.data("layers", &data(&all))?;
    let claim = "A deep carried network uses every hidden layer: random signs in the place of any one cost accuracy.";
    // The carried networks are the first.
    output.claim(claim, rulings.swap_remove(0));
    Ok(())
}

/// Looks into the network of a cell. Inside: why there is none.
fn look_into(
    study: &Study,
    sweep: &Sweep,
    Entry { cell, outcome }: &Entry,
    progress: &dyn Fn(f64),
) -> Result<Result<Used, Undecided>, ReproduceError> {
    let seed = cell.config.seed;
    match outcome {
        Outcome::Trained(_) => {}
        Outcome::Untrained => return Ok(Undecided::because(format!("There is no network of seed {seed}: its loss diverged."))),
        Outcome::Missing(reason) => return Ok(Undecided::because(format!("There is no network of seed {seed}: {reason}."))),
    }
    let data = cell.config.load_data(study.data_dir.as_deref())?;
    let mut network = read_checkpoint(&sweep.run_directory(cell), LAST)?.into_network();
    let Some(initial) = network.initial().map_err(RunError::from)? else {
        return Ok(Undecided::because(format!("The beginning of the network of seed {seed} is not known.")));
    };
    let test = examples(&data.test, network.config().classes)?;
    let hidden = network.config().depth();
    let flipped = network.layers()[..hidden].iter().zip(initial.layers()).map(|(after, before)| flips(after, before)).collect();
    let intact = accuracy(&network, &test, study.threads)?;
    let mut replaced = Vec::new();
    for layer in 0..hidden {
        replaced.push(without(&mut network, layer, &test, study)?);
        progress((layer + 1) as f64 / hidden as f64);
    }
    Ok(Ok(Used { seed, flipped, layers: Layers { intact, replaced } }))
}

fn flips(after: &Layer, before: &Layer) -> f64 {
    let flipped = after.means().iter().zip(before.means()).filter(|(a, b)| (**a < 0.0) != (**b < 0.0)).count();
    flipped as f64 / after.means().len() as f64
}

/// The mean accuracy with random signs in a layer, which is put back.
fn without(network: &mut Network, layer: usize, test: &Examples<'_>, study: &Study) -> Result<f64, RunError> {
    let whole = network.layers()[layer].clone();
    let mut sum = 0.0;
    for draw in 0..DRAWS {
        let mut rng = Rng::new(study.seed).stream(REPLACEMENT + draw, layer as u64);
        let signs = whole.means().iter().map(|_| if rng.uniform() < 0.5 { -1.0 } else { 1.0 }).collect();
        network.replace_layer(layer, whole.clone().with_means(signs)?)?;
        sum += accuracy(network, test, study.threads)?;
    }
    network.replace_layer(layer, whole)?;
    Ok(sum / DRAWS as f64)
}

fn accuracy(network: &Network, test: &Examples<'_>, threads: usize) -> Result<f64, RunError> {
    Ok(network.binary().threads(threads.max(1)).score(test, None)?.accuracy)
}

fn table(all: &[Twins]) -> Table {
    let columns =
        ["network", "hidden layers", "accuracy", "flipped, all layers", "least flipped", "with one layer random: best", "median", "worst"];
    let line = |twins: &Twins| {
        let percent = |part: f64| rounded(100.0 * part, 2);
        let (flipped, mut left) = (twins.flipped(), twins.replaced());
        let hidden = left.len();
        left.sort_by(f64::total_cmp);
        let at = |index: usize| left.get(index).map_or(Value::Null, |&part| percent(part));
        let (least, layer) = flipped.iter().copied().zip(1..).min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((0.0, 0));
        row([
            twins.line.name.into(),
            hidden.into(),
            percent(twins.intact()),
            percent(flipped.iter().sum::<f64>() / flipped.len().max(1) as f64),
            format!("{:.2} (layer {layer})", 100.0 * least).into(),
            at(hidden.saturating_sub(1)),
            at(hidden / 2),
            at(0),
        ])
    };
    let title = "The use of depth: weights that changed sign, and test accuracy of sign(M), in %, mean over seeds";
    Table { title: title.into(), columns: columns.map(Into::into).into(), rows: all.iter().map(line).collect() }
}

fn data(all: &[Twins]) -> Table {
    let mut rows = Vec::new();
    for Twins { line, networks } in all {
        for Used { seed, flipped, layers } in networks {
            for (layer, (flipped, replaced)) in flipped.iter().zip(&layers.replaced).enumerate() {
                let accuracies = [(*replaced).into(), layers.intact.into()];
                let [replaced, intact] = accuracies;
                rows.push(row([line.name.into(), (layer + 1).into(), (*flipped).into(), replaced, intact, (*seed).into()]));
            }
        }
    }
    let columns = ["network", "layer", "flip_ratio", "accuracy_with_random_signs", "accuracy", "seed"];
    Table { title: String::new(), columns: columns.map(Into::into).into(), rows }
}

fn picture(all: &[Twins]) -> Figure {
    let mut flips = Panel::new(Axis::whole("hidden layer"), Axis::linear("weights that changed sign / %")).legend(Legend::Below);
    let accuracies = all.iter().flat_map(|twins| twins.replaced().into_iter().chain([twins.intact()]));
    let mut worth =
        Panel::new(Axis::whole("hidden layer"), accuracy_axis::axis("accuracy, this layer random", accuracies)).legend(Legend::Below);
    // Markers of many layers would run together.
    let line =
        |look: Look, points: Vec<(f64, f64)>| if points.len() > 30 { look.line(points).width(2.6) } else { look.marked_line(points) };
    for (index, twins) in all.iter().enumerate() {
        let look = match index {
            0 => Look { colour: Colour::BLUE, dash: Dash::Solid, marker: Marker::Circle },
            _ => Look { colour: Colour::GREY, dash: Dash::Solid, marker: Marker::Square },
        };
        let by_layer =
            |values: &[f64], place: fn(f64) -> f64| (1..).map(f64::from).zip(values.iter().map(|&value| place(value))).collect::<Vec<_>>();
        flips = flips.series(line(look, by_layer(&twins.flipped(), |part| 100.0 * part)).name(twins.line.name));
        worth = worth
            .ref_line(RefLine::horizontal(place(twins.intact())).colour(look.colour))
            .series(line(look, by_layer(&twins.replaced(), place)).name(twins.line.name));
    }
    Figure::new().title("The use of depth").panel(flips).panel(worth).size(960, 420)
}
