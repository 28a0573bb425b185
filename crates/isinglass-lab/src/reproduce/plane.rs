//! Accuracy over depth and `σ_m²`, with the theory's depth scale over it.

use std::path::Path;

use isinglass_net::{Neuron, Surrogate};
use isinglass_theory::RandomNetwork;
use serde_json::Value;

use super::ReproduceError;
use super::grids::Plane;
use super::output::{rounded, row};
use super::record::Table;
use super::results::Results;
use super::rules::depth_words;
use isinglass_chart::Panel;
use isinglass_runs::sweep::Sweep;
use isinglass_runs::sweep::picture::View;

/// Training accuracy from which a network counts as trained.
pub(super) const TRAINED: f64 = 0.5;

/// A sweep over `σ_m²` and depth.
pub(super) struct PlaneResults {
    pub sweep: Sweep,
    pub results: Results,
    network: RandomNetwork,
    sigma_m2: Vec<f64>,
    depths: Vec<f64>,
}

/// To which depth networks of one `σ_m²` train.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Reached {
    pub sigma_m2: f64,
    /// The theory's depth scale, infinite where it diverges; `None` where there is none.
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
    pub fn open(directory: &Path, plane: Plane) -> Result<Self, ReproduceError> {
        let sweep = Sweep::open(directory)?;
        let results = Results::of(&sweep)?;
        let surrogate: Surrogate = plane.surrogate.parse().expect("the name of a surrogate");
        let network = RandomNetwork::new(surrogate.model(), plane.neuron.parse::<Neuron>()?)?;
        let (sigma_m2, depths) = (results.numbers("sigma-m2"), results.numbers("depth"));
        Ok(Self { sweep, results, network, sigma_m2, depths })
    }

    /// The heat map of a column, with curves of so many depth scales.
    pub fn panel(&self, title: &str, column: &str, scales: &[f64]) -> Result<Panel, ReproduceError> {
        let view = View { x: "sigma-m2".into(), y: Some("depth".into()) };
        Ok(view.panel_with_scales(self.results.all(), column.parse().expect("a column"), scales)?.title(title))
    }

    /// The depth scale of the signal without biases.
    fn scale(&self, sigma_m2: f64) -> Result<Option<f64>, ReproduceError> {
        Ok(self.network.at(Some(sigma_m2), 0.0)?.signal_scale()?)
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

    /// The mean of a column over all depths.
    pub fn mean_at(&self, sigma_m2: f64, column: &str) -> Option<f64> {
        self.results.mean(&[("sigma-m2", &sigma_m2.into())], column)
    }

    /// The same for each `σ_m²`.
    pub fn by_variance(&self, column: &str) -> Vec<(f64, f64)> {
        self.sigma_m2.iter().filter_map(|&sigma_m2| Some((sigma_m2, self.mean_at(sigma_m2, column)?))).collect()
    }

    /// The smallest and the largest `σ_m²`.
    pub fn ends(&self) -> Vec<f64> {
        [self.sigma_m2.first(), self.sigma_m2.last()].into_iter().flatten().copied().collect()
    }

    /// Epochs of training.
    pub fn epochs(&self) -> usize {
        self.sweep.cells().first().map_or(0, |cell| cell.config.epochs)
    }

    pub fn deepest(&self) -> f64 {
        self.depths.last().copied().unwrap_or(f64::NAN)
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

/// A depth scale, or the sign of one that diverges.
pub(super) fn scale_text(scale: f64) -> Value {
    if scale.is_finite() { rounded(scale, 1) } else { "∞".into() }
}

/// `σ_m²`, `ξ`, and how deep networks train.
pub(super) fn table(title: &str, reached: &[Reached]) -> Table {
    let columns = ["σ_m²", "ξ", "3ξ", "6ξ", "trained to depth"];
    let line = |one: &Reached| {
        let scale = |factor: f64| one.xi.map_or(Value::Null, |xi| scale_text(factor * xi));
        let depth = if one.bound == Bound::Within { rounded(one.depth, 1) } else { depth_words(one).into() };
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
}
