//! The picture of a simulation: variance and correlation over the layers, and the correlation map, as in the paper's Figure 1.
//!
//! Lines are the theory. Markers are means over realisations, bands one standard deviation to either side.

use isinglass_theory::activation::FieldPair;
use isinglass_theory::{Correlation, Error as TheoryError, MeanField, WeightVariance, linspace};

use super::{Comparison, LayerComparison, Measured, Measurement};
use isinglass_chart::{Axis, Figure, Legend, Look, Panel};

/// One network of a picture: its theory, what was measured, and how they compare.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a> {
    /// The theory.
    pub field: &'a MeanField,
    /// The simulation.
    pub measurement: &'a Measurement,
    /// Both.
    pub comparison: &'a Comparison,
}

/// Markers in the panels of layers; more would hide the lines.
const MARKED: usize = 16;

/// Draws networks that differ in their variances.
///
/// # Errors
///
/// If the theory cannot give its correlation map.
pub fn picture(networks: &[Shown<'_>]) -> Result<Figure, TheoryError> {
    let layers = || networks.iter().flat_map(|shown| &shown.comparison.layers);
    let (low, high) = layers().fold((f64::INFINITY, 0.0f64), |(low, high), layer| {
        let q = layer.q_aa;
        (low.min(q.theory), high.max(q.theory).max(q.mean + q.sd))
    });
    // Signals that shrink by decades are lines on a logarithmic axis, and invisible on a linear one.
    let q_axis = if low > 0.0 && low < 0.02 * high {
        Axis::log10("variance q_{aa}")
    } else {
        Axis::linear("variance q_{aa}").range(0.0, if high > 0.0 { 1.05 * high } else { 1.0 })
    };
    let negative = layers().any(|layer| layer.c.theory < 0.0 || layer.c.mean < 0.0);
    let c_axis = Axis::linear("correlation c").range(if negative { -1.04 } else { 0.0 }, 1.04);
    if networks.iter().any(|shown| shown.measurement.simulation.carry) {
        return Ok(carried_picture(networks, q_axis, c_axis));
    }
    let least = networks.iter().flat_map(|shown| &shown.comparison.map).map(|point| point.c_in).fold(0.0, f64::min);
    let map_axis = |label: &str| Axis::linear(label).range(least - 0.02, 1.02);
    let mut variance = Panel::new(Axis::whole("layer ℓ"), q_axis).title("(a) variance").legend(Legend::Hidden);
    let mut correlation = Panel::new(Axis::whole("layer ℓ"), c_axis).title("(b) correlation").legend(Legend::Hidden);
    let mut map = Panel::new(map_axis("c_{in}"), map_axis("c_{out}")).title("(c) correlation map").diagonal().square();
    for (index, shown) in networks.iter().enumerate() {
        let look = Look::nth(index);
        variance = over_layers(variance, &shown.comparison.layers, |layer| &layer.q_aa, look);
        correlation = over_layers(correlation, &shown.comparison.layers, |layer| &layer.c, look);
        map = over_correlations(map, shown, least, look)?.series(look.marked_line([(f64::NAN, f64::NAN)]).name(name(shown.field)));
    }
    let mut figure = Figure::new().panel(variance).panel(correlation).panel(map).size(1110, 420);
    if let Some(shown) = networks.first() {
        figure = figure.title(title(shown));
    }
    Ok(figure)
}

/// With carried fields: a gradient on its way back takes the place of the map or, where there is none, the carried variance.
fn carried_picture(networks: &[Shown<'_>], q_axis: Axis, c_axis: Axis) -> Figure {
    let backwards = networks.iter().any(|shown| !shown.comparison.jacobians.is_empty());
    let mut variance = Panel::new(Axis::whole("layer ℓ"), q_axis).title("(a) variance").legend(Legend::Hidden);
    let mut correlation = Panel::new(Axis::whole("layer ℓ"), c_axis).title("(b) correlation").legend(Legend::Hidden);
    let mut last = if backwards {
        Panel::new(Axis::whole("layer ℓ"), Axis::log10("mean squared gradient |g|^2/N")).title("(c) gradient from the last layer")
    } else {
        Panel::new(Axis::whole("layer ℓ"), Axis::linear("carried variance V_{aa}")).title("(c) carried field")
    };
    for (index, shown) in networks.iter().enumerate() {
        let look = Look::nth(index);
        let Comparison { layers, jacobians, .. } = shown.comparison;
        variance = over_layers(variance, layers, |layer| &layer.q_aa, look);
        correlation = over_layers(correlation, layers, |layer| &layer.c, look);
        let curve: Vec<(f64, Measured)> = if backwards {
            jacobians.iter().enumerate().map(|(layer, jacobian)| (layer as f64, jacobian.gradient_fixed)).collect()
        } else {
            layers.iter().enumerate().filter_map(|(layer, comparison)| Some((layer as f64, comparison.carried?.v_aa))).collect()
        };
        let stride = curve.len().div_ceil(MARKED).max(1);
        last = last
            .series(look.line(curve.iter().map(|(layer, m)| (*layer, m.theory))))
            .series(look.markers(curve.iter().step_by(stride).map(|(layer, m)| (*layer, m.mean))))
            .series(look.marked_line([(f64::NAN, f64::NAN)]).name(name(shown.field)));
    }
    let figure = Figure::new().panel(variance).panel(correlation).panel(last).size(1110, 420);
    match networks.first() {
        Some(shown) => figure.title(title(shown)),
        None => figure,
    }
}

fn over_layers(panel: Panel, layers: &[LayerComparison], value: fn(&LayerComparison) -> &Measured, look: Look) -> Panel {
    let measured = || layers.iter().enumerate().map(|(layer, comparison)| (layer as f64, value(comparison)));
    let stride = layers.len().div_ceil(MARKED).max(1);
    panel
        .band(look.band(measured().map(|(layer, m)| (layer, m.mean - m.sd, m.mean + m.sd))))
        .series(look.line(measured().map(|(layer, m)| (layer, m.theory))))
        .series(look.markers(measured().step_by(stride).map(|(layer, m)| (layer, m.mean))))
}

fn over_correlations(panel: Panel, shown: &Shown<'_>, least: f64, look: Look) -> Result<Panel, TheoryError> {
    let (layer, _) = shown.field.at_fixed_point()?;
    let step = |c: f64| {
        let pair = FieldPair::equal(shown.measurement.map_variance, Correlation::new(c)?);
        Ok((c, layer.pair_map(&pair)?.correlation.c()))
    };
    let curve = linspace(least, 1.0, 101).into_iter().map(step).collect::<Result<Vec<_>, TheoryError>>()?;
    let points = || shown.comparison.map.iter().map(|point| (point.c_in, point.c_out));
    Ok(panel
        .band(look.band(points().map(|(c, m)| (c, m.mean - m.sd, m.mean + m.sd))))
        .series(look.line(curve))
        .series(look.markers(points().map(|(c, m)| (c, m.mean)))))
}

fn name(field: &MeanField) -> String {
    let symbol = match field.network().model().weight_variance() {
        WeightVariance::Means => "σ_m^2",
        WeightVariance::Weights => "σ_w^2",
        WeightVariance::None => "",
    };
    field.sigma2().map_or_else(|| format!("σ_b^2 = {}", field.sigma_b2()), |sigma2| format!("{symbol} = {sigma2}"))
}

fn title(shown: &Shown<'_>) -> String {
    let network = shown.field.network();
    let neuron = network.neuron().map(|neuron| neuron.to_string()).unwrap_or_default();
    let simulation = &shown.measurement.simulation;
    format!(
        "{}, {neuron}{}, σ_b^2 = {}: N = {}, {} realisations (lines: theory)",
        network.model(),
        if simulation.carry { ", carried" } else { "" },
        shown.field.sigma_b2(),
        simulation.width,
        simulation.realisations
    )
}
