//! How deep the theory expects signals to go, over a map of depth and `σ_m²`.

use isinglass_theory::RandomNetwork;

use super::axis::SweepAxis;
use crate::sweep::Results;
use isinglass_chart::{Colour, Dash, Series};

const DASHES: [Dash; 2] = [Dash::Dashed, Dash::DashDot];
/// Points of the curve.
const POINTS: usize = 160;

/// The depths of so many depth scales, dashed on white; nothing if the axes are others, or the cells do not share one theory.
pub(super) fn reach(results: &Results, x: &SweepAxis, y: &SweepAxis, multiples: &[f64]) -> Vec<Series> {
    let is_variance = |axis: &SweepAxis| matches!(axis.name.as_str(), "sigma-m2" | "sigma-w2");
    let across = is_variance(x) && y.name == "depth";
    let upwards = is_variance(y) && x.name == "depth";
    let variance = if across { x } else { y };
    let depth = if across { y } else { x };
    let Some((network, sigma_b2)) = (across || upwards).then(|| shared_network(results)).flatten() else {
        return Vec::new();
    };
    let (low, high) = variance.in_cells().1;
    let curve = |multiple: f64| -> Vec<(f64, f64)> {
        let point = |i: usize| {
            let coordinate = low + (high - low) * i as f64 / POINTS as f64;
            let field = network.at(Some(variance.number_at(coordinate)?), sigma_b2).ok()?;
            // A curve has no place for what diverges, or for what the theory cannot say.
            let scale = field.signal_scale().ok()?.filter(|scale| *scale > 0.0 && scale.is_finite())?;
            let at_depth = depth.coordinate_of(multiple * scale)?;
            Some(if across { (coordinate, at_depth) } else { (at_depth, coordinate) })
        };
        (0..=POINTS).filter_map(point).collect()
    };
    let mut series = Vec::new();
    for (index, &multiple) in multiples.iter().enumerate() {
        let points = curve(multiple);
        if points.is_empty() {
            continue;
        }
        let line = || Series::line(points.iter().copied());
        series.push(line().colour(Colour::WHITE).width(5.0));
        series.push(line().colour(Colour::BLACK).dash(DASHES[index % DASHES.len()]).name(format!("{multiple}ξ of the theory")));
    }
    series
}

/// The theory's network and `σ_b²`, if all cells have the same.
fn shared_network(results: &Results) -> Option<(RandomNetwork, f64)> {
    let mut all = results.rows().map(|row| {
        let config = &row.cell().config;
        (config.surrogate, config.neuron.unwrap_or_else(|| config.surrogate.default_neuron()), config.sigma_b2.unwrap_or(0.0))
    });
    let (surrogate, neuron, sigma_b2) = all.next()?;
    let is_shared = all.all(|other| other == (surrogate, neuron, sigma_b2));
    let network = is_shared.then(|| RandomNetwork::new(surrogate.model(), neuron).ok()).flatten()?;
    Some((network, sigma_b2))
}
