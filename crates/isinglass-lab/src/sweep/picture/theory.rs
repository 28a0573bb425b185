//! How deep the theory expects signals to go, over a map of depth and `σ_m²`.

use isinglass_theory::advice::{DEFAULT_REACH, signal_rate};
use isinglass_theory::{MeanField, Network, Point, depth_scale};

use super::Results;
use super::axis::SweepAxis;
use crate::chart::{Colour, Dash, Series};

/// Points of the curve.
const POINTS: usize = 160;

/// The depth of three depth scales, dashed on white; nothing if the axes are others, or the cells do not share one theory.
pub(super) fn reach(results: &Results<'_>, x: &SweepAxis, y: &SweepAxis) -> Vec<Series> {
    let is_variance = |axis: &SweepAxis| matches!(axis.name.as_str(), "sigma-m2" | "sigma-w2");
    let across = is_variance(x) && y.name == "depth";
    let upwards = is_variance(y) && x.name == "depth";
    let variance = if across { x } else { y };
    let depth = if across { y } else { x };
    let Some((network, sigma_b2)) = (across || upwards).then(|| shared_network(results)).flatten() else {
        return Vec::new();
    };
    let (low, high) = variance.in_cells().1;
    let points: Vec<(f64, f64)> = (0..=POINTS)
        .filter_map(|i| {
            let coordinate = low + (high - low) * i as f64 / POINTS as f64;
            let field = network.at(Some(variance.number_at(coordinate)?), sigma_b2).ok()?;
            let at_depth = depth.coordinate_of(DEFAULT_REACH * scale(&field)?)?;
            Some(if across { (coordinate, at_depth) } else { (at_depth, coordinate) })
        })
        .collect();
    if points.is_empty() {
        return Vec::new();
    }
    let line = || Series::line(points.iter().copied());
    vec![
        line().colour(Colour::WHITE).width(5.0),
        line().colour(Colour::BLACK).dash(Dash::Dashed).name("3ξ: three depth scales of the theory"),
    ]
}

/// The theory's network and `σ_b²`, if all cells have the same.
fn shared_network(results: &Results<'_>) -> Option<(Network, f64)> {
    let of = |index: usize| {
        let config = &results.cells.get(index)?.0.config;
        Some((config.surrogate, config.neuron.unwrap_or_else(|| config.surrogate.default_neuron()), config.sigma_b2.unwrap_or(0.0)))
    };
    let (surrogate, neuron, sigma_b2) = of(0)?;
    let is_shared = (1..results.cells.len()).all(|index| of(index) == of(0));
    let network = is_shared.then(|| Network::new(surrogate.model(), neuron).ok()).flatten()?;
    Some((network, sigma_b2))
}

/// The depth scale of the signal; `None` where it has none, or none that is finite.
fn scale(field: &MeanField) -> Option<f64> {
    signal_rate(&Point::of(field).ok()?).and_then(depth_scale).filter(|scale| *scale > 0.0)
}
