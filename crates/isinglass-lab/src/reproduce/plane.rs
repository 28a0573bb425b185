//! Accuracy over depth and `σ_m²`, with the theory's depth scale over it.

use isinglass_net::{Neuron, Surrogate};
use isinglass_theory::advice::signal_rate;
use isinglass_theory::{Network, Point, depth_scale};
use serde_json::Value;

use super::ReproduceError;
use super::output::{rounded, row};
use super::record::Table;
use super::results::Results;
use crate::chart::{Axis, Colour, Dash, HeatMap, Legend, Panel, Series};
use crate::phase_diagram::linspace;

/// Training accuracy from which a network counts as trained.
pub(super) const TRAINED: f64 = 0.5;

/// A sweep over `σ_m²` and depth.
pub(super) struct PlaneResults {
    pub results: Results,
    network: Network,
    sigma_m2: Vec<f64>,
    depths: Vec<f64>,
}

/// To which depth networks of one `σ_m²` train.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Reached {
    pub sigma_m2: f64,
    /// The theory's depth scale; `None` where it diverges.
    pub xi: Option<f64>,
    /// The depth at which training accuracy falls below [`TRAINED`], between the depths of the grid.
    pub depth: f64,
    pub bound: Bound,
}

/// Where the depth lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bound {
    /// Between depths of the grid.
    Within,
    /// Not even the shallowest network trained.
    Below,
    /// Even the deepest did.
    Beyond,
}

impl PlaneResults {
    pub fn new(results: Results, surrogate: &str, neuron: &str) -> Result<Self, ReproduceError> {
        let surrogate: Surrogate = surrogate.parse().expect("the name of a surrogate");
        let neuron: Neuron = neuron.parse()?;
        let network = Network::new(surrogate.model(), neuron)?;
        let (sigma_m2, depths) = (results.numbers("sigma-m2"), results.numbers("depth"));
        Ok(Self { results, network, sigma_m2, depths })
    }

    /// The heat map of a column, between half a cell beyond the first and the last values.
    pub fn panel(&self, title: &str, column: &str) -> Result<Panel, ReproduceError> {
        let (x, y) = (edges(&self.sigma_m2), edges(&self.depths));
        let (mut values, mut hints) = (Vec::new(), Vec::new());
        for &depth in &self.depths {
            for &sigma_m2 in &self.sigma_m2 {
                let value = self.results.at(sigma_m2, depth, column);
                values.push(value.unwrap_or(f64::NAN));
                let text = value.map_or("no result".to_owned(), |value| format!("training accuracy {:.1} %", 100.0 * value));
                hints.push(format!("σ_m² = {sigma_m2}, L = {depth}: {text}"));
            }
        }
        let map =
            HeatMap::new(x, y, self.sigma_m2.len(), self.depths.len(), values)?.limits(0.0, 1.0).label("training accuracy").hints(hints);
        let axis = |axis: Axis, (low, high)| axis.range(low, high);
        Ok(Panel::new(axis(Axis::linear("variance of the means σ_m^2"), x), axis(Axis::whole("depth L"), y)).title(title).heat_map(map))
    }

    /// The same with curves of three and six depth scales.
    pub fn panel_with_scales(&self, title: &str, column: &str) -> Result<Panel, ReproduceError> {
        let panel = self.panel(title, column)?;
        let (low, high) = edges(&self.sigma_m2);
        let mut scales = Vec::new();
        for sigma_m2 in linspace(low.max(1e-3), high.min(1.0 - 1e-6), 400) {
            scales.push((sigma_m2, self.scale(sigma_m2)?.unwrap_or(f64::INFINITY)));
        }
        let top = edges(&self.depths).1;
        let curve = |factor: f64| {
            scales.iter().map(move |&(x, xi)| (x, if factor * xi > top { f64::NAN } else { factor * xi })).collect::<Vec<_>>()
        };
        Ok(panel
            .series(Series::line(curve(3.0)).name("3ξ").colour(Colour::WHITE).width(2.5))
            .series(Series::line(curve(6.0)).name("6ξ").colour(Colour::WHITE).width(2.5).dash(Dash::Dashed))
            .legend(Legend::Below))
    }

    /// The depth scale of the signal without biases.
    fn scale(&self, sigma_m2: f64) -> Result<Option<f64>, ReproduceError> {
        let point = Point::of(&self.network.at(Some(sigma_m2), 0.0)?)?;
        // Beyond criticality two signals move apart: the scale on which they do.
        Ok(signal_rate(&point).and_then(depth_scale).map(f64::abs))
    }

    /// To which depth networks train, for each `σ_m²` with a result.
    pub fn reached(&self, column: &str) -> Result<Vec<Reached>, ReproduceError> {
        let mut reached = Vec::new();
        for &sigma_m2 in &self.sigma_m2 {
            let curve: Vec<(f64, f64)> =
                self.depths.iter().filter_map(|&depth| Some((depth, self.results.at(sigma_m2, depth, column)?))).collect();
            if let Some((depth, bound)) = crossing(&curve, TRAINED) {
                reached.push(Reached { sigma_m2, xi: self.scale(sigma_m2)?, depth, bound });
            }
        }
        Ok(reached)
    }

    /// The mean of a column over all depths, for each `σ_m²`.
    pub fn by_variance(&self, column: &str) -> Vec<(f64, f64)> {
        let mean = |&sigma_m2: &f64| Some((sigma_m2, self.results.mean(&[("sigma-m2", &sigma_m2.into())], column)?));
        self.sigma_m2.iter().filter_map(mean).collect()
    }

    pub fn largest_variance(&self) -> f64 {
        self.sigma_m2.last().copied().unwrap_or(f64::NAN)
    }

    pub fn deepest(&self) -> f64 {
        self.depths.last().copied().unwrap_or(f64::NAN)
    }
}

/// Half a step beyond the first and the last of evenly spaced values.
fn edges(values: &[f64]) -> (f64, f64) {
    match values {
        [first, .., last] => {
            let half = 0.5 * (last - first) / (values.len() - 1) as f64;
            (first - half, last + half)
        }
        [one] => (one - 0.5, one + 0.5),
        [] => (0.0, 1.0),
    }
}

/// Where a curve falls below a level for good, between its points; `None` if there are no points.
fn crossing(curve: &[(f64, f64)], level: f64) -> Option<(f64, Bound)> {
    let (first, last) = (curve.first()?, curve.last()?);
    let Some(above) = curve.iter().rposition(|&(_, value)| value >= level) else {
        return Some((first.0, Bound::Below));
    };
    Some(match curve.get(above + 1) {
        None => (last.0, Bound::Beyond),
        Some(&(x, y)) => {
            let (x0, y0) = curve[above];
            (x0 + (x - x0) * (y0 - level) / (y0 - y), Bound::Within)
        }
    })
}

/// `σ_m²`, `ξ`, and how deep networks train.
pub(super) fn table(title: &str, reached: &[Reached]) -> Table {
    let columns = ["σ_m²", "ξ", "3ξ", "6ξ", "trained to depth"];
    let line = |one: &Reached| {
        let scale = |factor: f64| one.xi.map_or("∞".into(), |xi| rounded(factor * xi, 1));
        let depth = match one.bound {
            Bound::Within => rounded(one.depth, 1),
            Bound::Below => format!("below {}", one.depth).into(),
            Bound::Beyond => format!("beyond {}", one.depth).into(),
        };
        row([Value::from(one.sigma_m2), scale(1.0), scale(3.0), scale(6.0), depth])
    };
    Table { title: title.to_owned(), columns: columns.map(Into::into).into(), rows: reached.iter().map(line).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_is_crossed_between_its_points() {
        let curve = [(10.0, 0.9), (20.0, 0.7), (30.0, 0.3), (40.0, 0.1)];
        assert_eq!(crossing(&curve, 0.5), Some((25.0, Bound::Within)));
        assert_eq!(crossing(&curve, 0.05), Some((40.0, Bound::Beyond)));
        assert_eq!(crossing(&curve, 0.95), Some((10.0, Bound::Below)));
        assert_eq!(crossing(&[], 0.5), None);
        // The last time counts.
        assert_eq!(crossing(&[(1.0, 0.4), (2.0, 0.6), (3.0, 0.4)], 0.5).unwrap().1, Bound::Within);
    }

    #[test]
    fn cells_reach_half_a_step_beyond_their_values() {
        assert_eq!(edges(&[1.0, 2.0, 3.0]), (0.5, 3.5));
        assert_eq!(edges(&[4.0]), (3.5, 4.5));
    }
}
