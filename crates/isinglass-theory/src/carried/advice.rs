//! Whether to carry fields in a network of a given depth, at which variances, and what is left of signal and gradient at its end.
//!
//! A plain network reaches `reach · ξ` layers, where `e^(−reach)` of its signal is left ([`advice`](crate::advice)). By the same measure a network that carries its fields reaches
//! a depth if `e^(−reach)` is left there, which small means, free to change sign, manage for hundreds of layers.
//!
//! ```
//! use isinglass_theory::{CarriedAdvice, CarryVerdict, Model, Neuron, RandomNetwork};
//!
//! let sign = RandomNetwork::new(Model::Deterministic, Neuron::Sign)?;
//! let advice = CarriedAdvice::new(&sign, 100, 12.0)?;
//! assert_eq!(advice.carry, CarryVerdict::Needed);
//! // Means all over [−1, 1] will do.
//! assert_eq!(advice.carried.sigma2, Some(1.0 / 3.0));
//! assert!(advice.carried.left.signal.unwrap() > 0.02);
//! # Ok::<(), isinglass_theory::Error>(())
//! ```

use super::jacobian::check_depth;
use super::point::{CarriedPoint, check};
use super::{CarriedState, START_SPREAD};
use crate::activation::FieldPair;
use crate::advice::signal_rate;
use crate::root::bracketed;
use crate::{Advice, Correlation, CriticalSet, Error, MeanField, Point, RandomNetwork, VarianceFixedPoint, WeightVariance, depth_scale};

/// The smallest `σ_m²` that is advised: that of means uniform over all of `[−1, 1]`. Smaller ones gain nothing.
const UNIFORM: f64 = 1.0 / 3.0;

/// What is left after all layers of two signals that start with variance 1 and correlation ½.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Remains {
    /// The variance of the fields at the neurons.
    pub q: f64,
    /// The correlation of the fields at the neurons.
    pub c: f64,
    /// The fraction of the signal: if it fades (`q* = 0`), of the mean squared difference of the two; otherwise of the distance of their carried fields' correlation from `c*`.
    pub signal: Option<f64>,
    /// The fraction of the mean squared gradient with respect to the neurons' fields, from the last layer back to the first. `None` if it is infinite.
    pub gradient: Option<f64>,
}

impl Remains {
    /// After `depth` layers that carry their fields.
    pub fn after(field: &MeanField, depth: usize) -> Result<Self, Error> {
        Self::in_limit(field, &CarriedPoint::of(field)?, depth)
    }

    fn in_limit(field: &MeanField, point: &CarriedPoint, depth: usize) -> Result<Self, Error> {
        check_depth(depth)?;
        let start = CarriedState::start(field, FieldPair::equal(1.0, Correlation::new(0.5)?), START_SPREAD)?;
        let (mut state, mut factor) = (start, 1.0);
        for _ in 0..depth {
            factor *= state.gradient_factor(field)?;
            state = state.next(field, true)?;
        }
        let signal = match (point.q_star, point.c_star) {
            (VarianceFixedPoint::Zero, _) => Some(state.distance() / start.distance()),
            (_, Some(limit)) => Some(apart(state.carried().correlation, limit) / apart(start.carried().correlation, limit)),
            (_, None) => None,
        };
        let gradient = start.left(&state, factor);
        Ok(Self { q: state.q(), c: state.correlation().c(), signal, gradient: gradient.is_finite().then_some(gradient) })
    }
}

/// `|c − c*|`, from deficits where both are close to 1.
fn apart(c: Correlation, limit: Correlation) -> f64 {
    if limit.c() > 0.5 { (c.deficit() - limit.deficit()).abs() } else { (c.c() - limit.c()).abs() }
}

/// An initialisation of a network that carries its fields, and its effect over the whole depth.
#[derive(Debug, Clone, PartialEq)]
pub struct CarriedRecommendation {
    /// `σ_m²` or `σ_w²`; `None` for models without either.
    pub sigma2: Option<f64>,
    /// `σ_b²`.
    pub sigma_b2: f64,
    /// Limits and exponents.
    pub point: CarriedPoint,
    /// What is left at the end.
    pub left: Remains,
}

/// What carrying is good for at a depth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CarryVerdict {
    /// The plain network reaches the depth at no allowed variance.
    Needed,
    /// The plain network reaches it, but only with larger means, which change sign less easily.
    Helpful,
    /// The plain network reaches it at the same variance, or at a variance as good.
    Unneeded,
}

/// Whether to carry, and where.
#[derive(Debug, Clone, PartialEq)]
pub struct CarriedAdvice {
    /// The number of layers.
    pub depth: usize,
    /// A network reaches a depth if `e^(−reach)` of the signal is left.
    pub reach: f64,
    /// Whether to carry.
    pub carry: CarryVerdict,
    /// The network that carries its fields.
    pub carried: CarriedRecommendation,
    /// Whether its signal reaches the depth.
    pub reaches: bool,
    /// The depth that the plain network reaches at the same variances; `None` if unlimited.
    pub plain_depth: Option<f64>,
    /// The advice for the plain network.
    pub plain: Advice,
}

impl CarriedAdvice {
    /// Advice for a network of `depth` layers: the smallest `σ_m²` from 1/3 (uniform means) on at which the signal reaches the depth; `σ_w² = 1/depth` for real weights, which
    /// keeps signal and gradient of order one at any depth.
    pub fn new(network: &RandomNetwork, depth: usize, reach: f64) -> Result<Self, Error> {
        check(network)?;
        let plain = Advice::new(network, depth, reach)?;
        let sigma2 = match network.model().weight_variance() {
            WeightVariance::None => None,
            WeightVariance::Weights => Some(1.0 / depth as f64),
            WeightVariance::Means => Some(smallest_mean_variance(network, depth, reach)?),
        };
        Self::with(network, sigma2, 0.0, plain)
    }

    /// The same at given variances: does the plain network reach the depth, and if fields are carried, what is left?
    pub fn at(network: &RandomNetwork, sigma2: Option<f64>, sigma_b2: f64, depth: usize, reach: f64) -> Result<Self, Error> {
        check(network)?;
        Self::with(network, sigma2, sigma_b2, Advice::new(network, depth, reach)?)
    }

    fn with(network: &RandomNetwork, sigma2: Option<f64>, sigma_b2: f64, plain: Advice) -> Result<Self, Error> {
        let (depth, reach) = (plain.depth, plain.reach);
        let field = network.at(sigma2, sigma_b2)?;
        let point = CarriedPoint::of(&field)?;
        let left = Remains::in_limit(&field, &point, depth)?;
        let plain_depth = signal_rate(&Point::of(&field)?).and_then(depth_scale).map(|xi| reach * xi);
        let reached = |layers: Option<f64>| layers.is_none_or(|layers| layers < 0.0 || layers >= depth as f64);
        let carry = if reached(plain_depth) {
            CarryVerdict::Unneeded
        } else if plain.smallest.is_some() && network.model().weight_variance() == WeightVariance::Means {
            CarryVerdict::Helpful
        } else if reached(plain.max_depth) {
            CarryVerdict::Unneeded
        } else {
            CarryVerdict::Needed
        };
        let reaches = left.signal.is_some_and(|signal| signal >= libm::exp(-reach) * (1.0 - 1e-9));
        Ok(Self { depth, reach, carry, carried: CarriedRecommendation { sigma2, sigma_b2, point, left }, reaches, plain_depth, plain })
    }
}

/// From uniform means up to where the signal would turn chaotic, or to the limit of 1.
fn smallest_mean_variance(network: &RandomNetwork, depth: usize, reach: f64) -> Result<f64, Error> {
    let highest = match network.without_noise().critical_set()? {
        CriticalSet::Line { start, .. } => start.sigma2.unwrap_or(1.0).min(1.0),
        _ => 1.0,
    };
    let excess = |sigma2: f64| -> Result<f64, Error> {
        let left = Remains::after(&network.at(Some(sigma2), 0.0)?, depth)?;
        Ok(libm::log(left.signal.unwrap_or(0.0).max(f64::MIN_POSITIVE)) + reach)
    };
    if highest <= UNIFORM {
        return Ok(highest);
    }
    if excess(UNIFORM)? >= 0.0 {
        return Ok(UNIFORM);
    }
    if excess(highest)? <= 0.0 {
        return Ok(highest);
    }
    bracketed("smallest σ_m²", UNIFORM, highest, excess)
}
