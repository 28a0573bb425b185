//! The use of depth: what training has done in each layer of a deep network, and what each layer is worth.
//!
//! A layer's worth is what the binary network `sign(M)` loses on the test examples when the layer's weights are replaced by random signs, the biases kept: the mean over [`DRAWS`] draws.

use isinglass_net::{Examples, Layer, Network, Rng};
use serde_json::Value;

use super::accuracy_axis::{self, place};
use super::grids::depth::{KEPT, Line};
use super::output::{Output, rounded, row};
use super::record::Table;
use super::results::Results;
use super::rules::depth::every_layer_is_used;
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
struct Used {
    line: Line,
    /// Test accuracy of the network as it is.
    intact: f64,
    /// The fraction of weights that have changed sign, layer by layer.
    flipped: Vec<f64>,
    /// The accuracy with that layer replaced.
    replaced: Vec<f64>,
}

/// Adds the use of depth to the figure.
pub(super) fn add(study: &Study, output: &mut Output, progress: &Progress<'_>) -> Result<(), ReproduceError> {
    let mut networks = Vec::new();
    for (index, (line, name)) in KEPT.into_iter().enumerate() {
        let sweep = Sweep::open(&study.sweep_directory(name))?;
        output.describe(&sweep, &Results::of(&sweep)?);
        let told = |part: f64| progress((index as f64 + part) / KEPT.len() as f64);
        networks.extend(look_into(study, line, &sweep, &told)?);
    }
    let caption = "One deep network, layer by layer: weights that changed sign in training, and the accuracy with the weights of that layer replaced by random signs. Dashed: the network as it is.";
    output.picture("use", &picture(&networks), caption)?;
    output.table(table(&networks));
    output.data("layers", &data(&networks))?;
    let (carried, _) = KEPT[0];
    let network = networks.iter().find(|used| used.line == carried).map(|used| (used.intact, used.replaced.as_slice()));
    let claim = "A deep carried network uses every hidden layer: random signs in the place of any one cost accuracy.";
    output.claim(claim, every_layer_is_used(network));
    Ok(())
}

/// Looks into the network of a sweep of one cell; `None` if that failed.
fn look_into(study: &Study, line: Line, sweep: &Sweep, progress: &dyn Fn(f64)) -> Result<Option<Used>, ReproduceError> {
    let Some(cell) = sweep.cells().first() else { return Ok(None) };
    if sweep.record(cell)?.is_none_or(|record| record.is_failed()) {
        return Ok(None);
    }
    let data = cell.config.load_data(study.data_dir.as_deref())?;
    let mut network = read_checkpoint(&sweep.run_directory(cell), LAST)?.into_network();
    let Some(initial) = network.initial().map_err(RunError::from)? else { return Ok(None) };
    let test = examples(&data.test, network.config().classes)?;
    let hidden = network.config().depth();
    let flipped = network.layers()[..hidden].iter().zip(initial.layers()).map(|(after, before)| flips(after, before)).collect();
    let intact = accuracy(&network, &test, study.threads)?;
    let mut replaced = Vec::new();
    for layer in 0..hidden {
        replaced.push(without(&mut network, layer, &test, study)?);
        progress((layer + 1) as f64 / hidden as f64);
    }
    Ok(Some(Used { line, intact, flipped, replaced }))
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

fn table(networks: &[Used]) -> Table {
    let columns =
        ["network", "hidden layers", "accuracy", "flipped, all layers", "least flipped", "with one layer random: best", "median", "worst"];
    let line = |used: &Used| {
        let percent = |part: f64| rounded(100.0 * part, 2);
        let mut left = used.replaced.clone();
        left.sort_by(f64::total_cmp);
        let at = |index: usize| left.get(index).map_or(Value::Null, |&part| percent(part));
        let (least, layer) = used.flipped.iter().copied().zip(1..).min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((0.0, 0));
        row([
            used.line.name.into(),
            used.replaced.len().into(),
            percent(used.intact),
            percent(used.flipped.iter().sum::<f64>() / used.flipped.len().max(1) as f64),
            format!("{:.2} (layer {layer})", 100.0 * least).into(),
            at(left.len().saturating_sub(1)),
            at(left.len() / 2),
            at(0),
        ])
    };
    let title = "The use of depth: weights that changed sign, and test accuracy of sign(M), in %";
    Table { title: title.into(), columns: columns.map(Into::into).into(), rows: networks.iter().map(line).collect() }
}

fn data(networks: &[Used]) -> Table {
    let mut rows = Vec::new();
    for used in networks {
        for (layer, (flipped, replaced)) in used.flipped.iter().zip(&used.replaced).enumerate() {
            rows.push(row([used.line.name.into(), (layer + 1).into(), (*flipped).into(), (*replaced).into(), used.intact.into()]));
        }
    }
    let columns = ["network", "layer", "flip_ratio", "accuracy_with_random_signs", "accuracy"];
    Table { title: String::new(), columns: columns.map(Into::into).into(), rows }
}

fn picture(networks: &[Used]) -> Figure {
    let mut flips = Panel::new(Axis::whole("hidden layer"), Axis::linear("weights that changed sign / %")).legend(Legend::Below);
    let accuracies = networks.iter().flat_map(|used| used.replaced.iter().chain([&used.intact]).copied());
    let mut worth =
        Panel::new(Axis::whole("hidden layer"), accuracy_axis::axis("accuracy, this layer random", accuracies)).legend(Legend::Below);
    // Markers of many layers would run together.
    let line =
        |look: Look, points: Vec<(f64, f64)>| if points.len() > 30 { look.line(points).width(2.6) } else { look.marked_line(points) };
    for (index, used) in networks.iter().enumerate() {
        let look = match index {
            0 => Look { colour: Colour::BLUE, dash: Dash::Solid, marker: Marker::Circle },
            _ => Look { colour: Colour::GREY, dash: Dash::Solid, marker: Marker::Square },
        };
        let by_layer =
            |values: &[f64], place: fn(f64) -> f64| (1..).map(f64::from).zip(values.iter().map(|&value| place(value))).collect::<Vec<_>>();
        flips = flips.series(line(look, by_layer(&used.flipped, |part| 100.0 * part)).name(used.line.name));
        worth = worth
            .ref_line(RefLine::horizontal(place(used.intact)).colour(look.colour))
            .series(line(look, by_layer(&used.replaced, place)).name(used.line.name));
    }
    Figure::new().title("The use of depth").panel(flips).panel(worth).size(960, 420)
}
