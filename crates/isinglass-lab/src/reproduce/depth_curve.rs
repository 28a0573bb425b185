//! Binary accuracy over depth: carried and plain networks, trained through the surrogate and straight through.

use serde_json::Value;

use super::accuracy_axis::{self, CHANCE, place};
use super::grids::depth::{ALIGNED, CARRIED, LINES, Line, PLAIN, STE, STE_CARRIED};
use super::judgement::{PerSeed, Undecided};
use super::output::{Output, row};
use super::record::{FigureRecord, Table};
use super::results::{Behind, Column, Part, Results};
use super::rules::depth::{KEPT, Kind, Point, carrying_helps, is_ahead, keeps_accuracy, loses_accuracy};
use super::spread::Spread;
use super::study::{Study, Subject};
use super::{Progress, ReproduceError, depth_use};
use isinglass_chart::{Axis, Colour, Dash, Figure, Look, Marker, Panel, RefLine};
use isinglass_runs::sweep::Sweep;

const CAPTION: &str = "Test accuracy of the binary network sign(M), with ±1 weights and ±1 neurons, over the number of hidden layers. Carried networks add each layer's field to that of the layer before \
    (`--carry on`); plain ones do not. The layers of plain networks are independent of each other, or aligned (`--init aligned`). Carried and plain networks are trained through the deterministic surrogate and by straight-through estimation, with equal data, width, epochs and optimiser; aligned layers have a smaller learning rate.\n\n\
    The use of depth, in one deep carried network and a plain one with aligned layers: the fraction of weights that training has flipped, layer by layer, and the accuracy that is left when the weights of one hidden layer are \
    replaced by random signs.";

const ACCURACY: Column = Column::accuracy(Part::Test, Behind::Binary);

/// One line: depths, each with the accuracy of every seed.
struct Curve {
    line: Line,
    seeds: Vec<u64>,
    points: Vec<Point>,
}

impl Curve {
    fn of(line: Line, results: &Results) -> Self {
        let all = results.all();
        let at = |depth: usize| all.with(|config| config.depth == Some(depth)).per_seed(|cells| cells.mean(ACCURACY));
        Self { line, seeds: all.seeds(), points: all.depths().into_iter().map(|depth| (depth, at(depth))).collect() }
    }

    /// `None` if cells are missing.
    fn spread(&self, depth: usize) -> Option<Spread> {
        let (_, seeds) = self.points.iter().find(|(at, _)| *at == depth)?;
        Spread::of(seeds.as_deref().ok()?)
    }

    fn means(&self) -> Vec<(f64, f64)> {
        self.points.iter().filter_map(|(depth, _)| Some((*depth as f64, self.spread(*depth)?.mean))).collect()
    }

    /// Depths, seeds and accuracies, where no cell is missing.
    fn each(&self) -> impl Iterator<Item = (usize, u64, f64)> {
        let at = |(depth, seeds): &(usize, PerSeed<f64>)| {
            let seeds: Vec<f64> = seeds.clone().unwrap_or_default();
            let depth = *depth;
            self.seeds.iter().zip(seeds).map(move |(&seed, accuracy)| (depth, seed, accuracy))
        };
        self.points.iter().flat_map(at)
    }
}

pub(super) fn make(study: &Study, progress: &Progress<'_>) -> Result<FigureRecord, ReproduceError> {
    let mut output = Output::new(study, Subject::Depth, CAPTION)?;
    let mut curves = Vec::new();
    let mut width = 0;
    for line in LINES {
        let sweep = Sweep::open(&study.sweep_directory(line.sweep))?;
        let results = Results::of(&sweep)?;
        curves.push(Curve::of(line, &results));
        output.describe(&sweep, &results);
        width = sweep.cells().first().map_or(width, |cell| cell.config.hidden_layers()[0]);
    }
    output.picture(
        "depth",
        &picture(&curves, width),
        "Markers are seeds, lines their means; dotted: chance. Distances on the vertical axis are those of the logarithm of the error.",
    )?;
    output.table(table(&curves));
    output.data("accuracy", &data(&curves))?;
    claims(&mut output, &curves);
    depth_use::add(study, &mut output, progress)?;
    output.finish()
}

fn depths(curves: &[Curve]) -> Vec<usize> {
    curves.first().map_or_else(Vec::new, |curve| curve.points.iter().map(|(depth, _)| *depth).collect())
}

fn table(curves: &[Curve]) -> Table {
    let columns = std::iter::once("depth".to_owned()).chain(curves.iter().map(|curve| curve.line.name.to_owned())).collect();
    let cell = |curve: &Curve, depth: usize| curve.spread(depth).map_or(Value::Null, |spread| spread.percent().into());
    let line = |depth: usize| std::iter::once(depth.into()).chain(curves.iter().map(|curve| cell(curve, depth))).collect();
    let title = "Test accuracy of sign(M), mean ± standard deviation over seeds";
    Table { title: title.into(), columns, rows: depths(curves).into_iter().map(line).collect() }
}

fn data(curves: &[Curve]) -> Table {
    let mut rows = Vec::new();
    for curve in curves {
        rows.extend(curve.each().map(|(depth, seed, accuracy)| row([curve.line.name.into(), depth.into(), seed.into(), accuracy.into()])));
    }
    Table { title: String::new(), columns: ["network", "depth", "seed", "test_accuracy"].map(Into::into).into(), rows }
}

fn claims(output: &mut Output, curves: &[Curve]) {
    let points = |line: Line| curves.iter().find(|curve| curve.line == line).map_or(&[][..], |curve| &curve.points);
    let all = depths(curves);
    let (Some(&first), Some(&last)) = (all.first(), all.last()) else { return };
    let claim = format!("Carried networks stay within {} % of depth {first}, at equal width, up to depth {last}.", 100.0 * KEPT);
    output.claim(&claim, keeps_accuracy(points(CARRIED)));
    output.claim(&format!("Plain networks of independent layers lose their accuracy by depth {last}."), loses_accuracy(points(PLAIN)));
    let is_deep = |depth: usize| 4 * depth > last;
    let deep = |line: Line| points(line).iter().filter(|(depth, _)| is_deep(*depth)).cloned().collect::<Vec<_>>();
    let least = all.iter().copied().find(|&depth| is_deep(depth)).unwrap_or(last);
    let claim = format!("From depth {least} on, plain networks of aligned layers reach a higher accuracy than those of independent ones.");
    output.claim(&claim, is_ahead(&deep(ALIGNED), &deep(PLAIN)));
    let none = Err(Undecided("There are no results.".into()));
    let at_last = |line: Line| points(line).last().map_or(&none, |(_, accuracy)| accuracy);
    let kinds = [
        Kind { name: "surrogate", plain: at_last(PLAIN), carried: at_last(CARRIED) },
        Kind { name: "straight-through", plain: at_last(STE), carried: at_last(STE_CARRIED) },
    ];
    output.claim("Carried fields make deep networks trainable, through the surrogate and straight through.", carrying_helps(last, &kinds));
    let claim = "The surrogate trains carried networks to a higher accuracy than straight-through estimation.";
    output.claim(claim, is_ahead(points(CARRIED), points(STE_CARRIED)));
}

/// Colours tell how a network was trained, dashes and markers whether its fields are carried.
fn look(line: Line) -> Look {
    let is_carried = line == CARRIED || line == STE_CARRIED;
    let colour = if line == STE || line == STE_CARRIED { Colour::VERMILION } else { Colour::BLUE };
    let (dash, marker) = match line {
        _ if is_carried => (Dash::Solid, Marker::Circle),
        _ if line == ALIGNED => (Dash::Dotted, Marker::Triangle),
        _ => (Dash::Dashed, Marker::Square),
    };
    Look { colour, dash, marker }
}

fn picture(curves: &[Curve], width: usize) -> Figure {
    let accuracies = curves.iter().flat_map(Curve::each).map(|(_, _, accuracy)| accuracy);
    let all = depths(curves);
    let (Some(first), Some(last)) = (all.first().map(|&depth| depth as f64), all.last().map(|&depth| depth as f64)) else {
        return Figure::new();
    };
    let x = Axis::log10(format!("hidden layers, each of {width} neurons"))
        .ticks_at(all.iter().map(|depth| (*depth as f64, depth.to_string())))
        .range(first / 1.15, last * 1.15);
    let mut panel =
        Panel::new(x, accuracy_axis::axis("test accuracy", accuracies)).ref_line(RefLine::horizontal(place(CHANCE)).dash(Dash::Dotted));
    for curve in curves {
        let (line, look) = (curve.means(), look(curve.line));
        let seeds = curve.each().map(|(depth, _, accuracy)| (depth as f64, place(accuracy)));
        panel = panel
            .series(look.line(line.into_iter().map(|(depth, accuracy)| (depth, place(accuracy)))).width(2.6))
            .series(look.markers(seeds));
    }
    for curve in curves {
        // Listed as line and marker together.
        panel = panel.series(look(curve.line).marked_line([(f64::NAN, f64::NAN)]).width(2.6).name(curve.line.name));
    }
    Figure::new().title("Networks of ±1 weights and ±1 neurons: accuracy over depth").panel(panel).size(720, 460)
}
