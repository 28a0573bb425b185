//! Critical initialisations, where `χ₁ = 1` and `c = 1` is a fixed point: a line, in closed form as a function of `q`.
//!
//! | model | critical set |
//! |---|---|
//! | `continuous` | `σ_w² = 1/B`, `σ_b² = (qB − A)/B` |
//! | `deterministic` (Claim 1, corrected) | `σ_m² = (n² + s)/(B + sA)`, `σ_b² = σ_m²(qB − A)` |
//! | `lrt-continuous` (Claim 3) | `σ_m² = 1` where `B(q) = 1`, `σ_b² = q − A` |
//! | `stochastic-weights` | the same, without `σ_m²` |
//! | all others (Claim 2) | none |
//!
//! Part of the line may be out of reach: the variance of means in `[−1, 1]` is at most 1.
//!
//! ```
//! use isinglass_theory::{CriticalSet, Model, Neuron, RandomNetwork};
//!
//! let line = RandomNetwork::new(Model::Deterministic, Neuron::Sign)?.critical_set()?;
//! let CriticalSet::Line { start, allowed } = line else { panic!() };
//! // The line of the sign neuron starts at (π/2, 0) and never enters σ_m² ≤ 1.
//! assert!((start.sigma2.unwrap() - std::f64::consts::FRAC_PI_2).abs() < 1e-15);
//! assert!(allowed.is_empty());
//! # Ok::<(), isinglass_theory::Error>(())
//! ```

use crate::activation::Activation;
use crate::root::bracketed;
use crate::{Error, Model, RandomNetwork, WeightVariance};

/// A critical initialisation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CriticalPoint {
    /// `q*`, the variance of the fields.
    pub q: f64,
    /// `σ_m²` or `σ_w²`; `None` for models without either.
    pub sigma2: Option<f64>,
    /// `σ_b²`.
    pub sigma_b2: f64,
}

/// A segment of a critical line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Segment {
    /// The end at smaller `q`.
    pub from: CriticalPoint,
    /// The end at larger `q`; `None` if the segment extends to `q → ∞`.
    pub to: Option<CriticalPoint>,
}

/// All critical initialisations of a random network.
#[derive(Debug, Clone, PartialEq)]
pub enum CriticalSet {
    /// A line, parametrised by `q` through [`RandomNetwork::critical_point`].
    Line {
        /// The limit `q → 0`.
        start: CriticalPoint,
        /// The reachable segments.
        allowed: Vec<Segment>,
    },
    /// Isolated points, all reachable.
    Points(Vec<CriticalPoint>),
    /// No critical initialisation, with the reason.
    Empty(&'static str),
}

impl CriticalSet {
    /// Whether any critical initialisation is reachable.
    pub fn is_reachable(&self) -> bool {
        match self {
            Self::Line { allowed, .. } => !allowed.is_empty(),
            Self::Points(points) => !points.is_empty(),
            Self::Empty(_) => false,
        }
    }

    /// The reachable critical initialisation at the smallest `q`.
    pub fn first_reachable(&self) -> Option<CriticalPoint> {
        match self {
            Self::Line { allowed, .. } => allowed.first().map(|segment| segment.from),
            Self::Points(points) => points.first().copied(),
            Self::Empty(_) => None,
        }
    }
}

/// Rounding error of `σ_m²` at the start of a line.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

impl<A: Activation> RandomNetwork<A> {
    /// All critical initialisations, and which of them are reachable.
    pub fn critical_set(&self) -> Result<CriticalSet, Error> {
        if self.is_step() {
            return Ok(CriticalSet::Empty("the slope of a step has no finite mean square, so χ₁ is infinite"));
        }
        match self.model() {
            Model::Binary | Model::LrtBinary | Model::StochasticBinary | Model::StochasticNeurons => Ok(CriticalSet::Empty(
                "±1 neurons with noise drawn for each input separate even equal signals, so c = 1 is never a fixed point",
            )),
            Model::LrtContinuous | Model::StochasticWeights => self.points_of_unit_slope(),
            Model::Continuous | Model::Deterministic => match self.phi().homogeneity() {
                Some(_) => Ok(CriticalSet::Points(vec![self.critical_point(1.0)?])),
                None => {
                    let start = self.start_of_line()?;
                    Ok(CriticalSet::Line { start, allowed: self.allowed_segments(start)? })
                }
            },
        }
    }

    /// The point of the critical line whose fields have variance `q`.
    pub fn critical_point(&self, q: f64) -> Result<CriticalPoint, Error> {
        let sigma2 = self.critical_sigma2(q)?;
        let excess = if q == 0.0 { -self.phi().moments(0.0)?.mean_square } else { self.phi().critical_excess(q)? };
        // Not −0 at the start of the line.
        Ok(CriticalPoint { q, sigma2: Some(sigma2), sigma_b2: sigma2 * excess + 0.0 })
    }

    /// The limit `q → 0`. At unit gain it lies exactly at `σ_m² = 1`, and rounding must not push it beyond.
    fn start_of_line(&self) -> Result<CriticalPoint, Error> {
        let mut start = self.critical_point(0.0)?;
        let means = self.model().weight_variance() == WeightVariance::Means;
        if means && start.sigma2.is_some_and(|sigma2| (sigma2 - 1.0).abs() <= ROUNDING) {
            start.sigma2 = Some(1.0);
        }
        Ok(start)
    }

    /// `σ²` on the line, without the more expensive `σ_b²`.
    fn critical_sigma2(&self, q: f64) -> Result<f64, Error> {
        let m = self.phi().moments(q)?;
        match (self.model(), self.denominator()) {
            (Model::Continuous, _) => Ok(1.0 / m.slope_square),
            (Model::Deterministic, Some(d)) => Ok((d.noise + d.spread) / (m.slope_square + d.spread * m.mean_square)),
            _ => Err(Error::Unsupported(format!("model {} has no critical line", self.model()))),
        }
    }

    /// The points `σ_m² = 1`, `B(q) = 1`, of the models whose criticality depends on the slope alone.
    fn points_of_unit_slope(&self) -> Result<CriticalSet, Error> {
        const REASON: &str = "the mean squared slope of φ is below 1 at every q, so signals always decay";
        let sigma2 = (self.model().weight_variance() == WeightVariance::Means).then_some(1.0);
        let at = |q: f64| -> Result<CriticalPoint, Error> {
            let m = self.phi().moments(q)?;
            // q − A = qB − A where B = 1, without cancellation.
            let sigma_b2 = if q == 0.0 { 0.0 } else { self.phi().critical_excess(q)? + q * (1.0 - m.slope_square) };
            Ok(CriticalPoint { q, sigma2, sigma_b2 })
        };
        let excess = |log_q: f64| -> Result<f64, Error> { Ok(self.phi().moments(libm::exp(log_q))?.slope_square - 1.0) };
        let mut points = Vec::new();
        let at_zero = self.phi().moments(0.0)?;
        if at_zero.mean_square == 0.0 && (at_zero.slope_square - 1.0).abs() <= ROUNDING {
            points.push(at(0.0)?);
        } else {
            for (low, high) in grid_intervals() {
                let Some(at_high) = certified(excess(high))? else { break };
                if excess(low)? * at_high < 0.0 {
                    let point = at(libm::exp(bracketed("B(q) = 1", low, high, excess)?))?;
                    if point.sigma_b2 >= 0.0 {
                        points.push(point);
                    }
                }
            }
        }
        Ok(if points.is_empty() { CriticalSet::Empty(REASON) } else { CriticalSet::Points(points) })
    }

    /// The parts of the line with `σ_b² ≥ 0` and, for means, `σ_m² ≤ 1`.
    fn allowed_segments(&self, start: CriticalPoint) -> Result<Vec<Segment>, Error> {
        if self.model().weight_variance() != WeightVariance::Means {
            return Ok(vec![Segment { from: start, to: None }]);
        }
        let over = |log_q: f64| -> Result<f64, Error> { Ok(self.critical_sigma2(libm::exp(log_q))? - 1.0) };
        let mut segments = Vec::new();
        let mut open = start.sigma2.is_some_and(|sigma2| sigma2 <= 1.0).then_some(start);
        let mut inside = open.is_some();
        for (low, high) in grid_intervals() {
            let Some(at_high) = certified(over(high))? else { break };
            let now_inside = at_high <= ROUNDING;
            if now_inside == inside {
                continue;
            }
            // A line that starts at the limit and leaves it at once has no crossing: only its start is reachable.
            let crossing = if over(low)? * at_high < 0.0 {
                Some(self.critical_point(libm::exp(bracketed("σ_m² = 1", low, high, over)?))?)
            } else {
                None
            };
            if now_inside {
                open = Some(crossing.map_or_else(|| self.critical_point(libm::exp(high)), Ok)?);
            } else if let Some(from) = open.take() {
                segments.push(Segment { from, to: Some(crossing.unwrap_or(from)) });
            }
            inside = now_inside;
        }
        if let Some(from) = open {
            segments.push(Segment { from, to: None });
        }
        Ok(segments)
    }
}

/// The value if it could be certified: a scan over all scales ends where the quadrature of a user's `φ` fails.
fn certified(value: Result<f64, Error>) -> Result<Option<f64>, Error> {
    match value {
        Err(Error::NotConverged { .. } | Error::HeavyTail { .. }) => Ok(None),
        other => other.map(Some),
    }
}

/// Intervals in `ln q` over all relevant scales, fine enough to separate crossings.
fn grid_intervals() -> impl Iterator<Item = (f64, f64)> {
    const FROM: f64 = -36.0;
    const TO: f64 = 28.0;
    const STEPS: i32 = 128;
    let at = |i: i32| FROM + (TO - FROM) * f64::from(i) / f64::from(STEPS);
    (0..STEPS).map(move |i| (at(i), at(i + 1)))
}
