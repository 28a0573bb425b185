//! Which `σ_m²` and `σ_b²` to choose for a network of a given depth.
//!
//! - **best**: a reachable critical initialisation if there is one, otherwise the allowed point where signals survive longest.
//! - **smallest**: the smallest `σ_m²` (or `σ_w²`) at which signal and gradient still survive that depth. A quantity that is multiplied by `r` in each layer survives
//!   `L` layers if `L ≤ reach · ξ`, `ξ = −1/ln r`; the paper's experiments put the limit of trainability at `3ξ`.
//!
//! ```
//! use isinglass_theory::{Advice, Model, Neuron, RandomNetwork};
//!
//! let advice = Advice::new(&RandomNetwork::new(Model::Deterministic, Neuron::Sign)?, 40, 3.0)?;
//! assert!(!advice.critical.is_reachable());
//! assert_eq!(advice.best.sigma2, Some(1.0));
//! // χ₁ = 2/π at best: with the sign neuron, signals survive 3ξ = 6.64 layers, not 40.
//! assert!((advice.best.point.chi_1.unwrap() - std::f64::consts::FRAC_2_PI).abs() < 1e-15);
//! assert!((advice.max_depth.unwrap() - 6.643_301).abs() < 1e-6);
//! assert!(advice.smallest.is_none());
//! # Ok::<(), isinglass_theory::Error>(())
//! ```

use crate::activation::{Activation, FieldPair};
use crate::error::number;
use crate::root::bracketed;
use crate::{
    Correlation, CriticalSet, Error, MeanField, Model, Phase, Point, RandomNetwork, VarianceFixedPoint, WeightVariance, depth_scale,
};

/// The paper's empirical reach: networks can be trained to a depth of about three depth scales.
pub const DEFAULT_REACH: f64 = 3.0;

/// The largest depth to which signals are followed layer by layer, near criticality. Elsewhere depth is unlimited.
pub const MOST_ITERATED: usize = 100_000;

/// An initialisation and its effect on signals over the whole depth.
#[derive(Debug, Clone, PartialEq)]
pub struct Recommendation {
    /// `σ_m²` or `σ_w²`; `None` for models without either.
    pub sigma2: Option<f64>,
    /// `σ_b²`.
    pub sigma_b2: f64,
    /// The theory at this point.
    pub point: Point,
    /// The fraction of the mean squared signal that is left at the end. If the signal dies out (`q* = 0`), it is the fraction of an initial variance of 1
    /// (of a covariance, if noise is drawn for each input); otherwise that of the distance of the correlation from `c*`.
    pub signal: Option<f64>,
    /// The same for the mean squared gradient: the product of `χ₁` over the layers. `None` if it is infinite.
    pub gradient: Option<f64>,
}

/// Which initialisation to use for a network of a given depth.
#[derive(Debug, Clone, PartialEq)]
pub struct Advice {
    /// The number of layers.
    pub depth: usize,
    /// The number of depth scales that a signal is assumed to survive.
    pub reach: f64,
    /// All critical initialisations.
    pub critical: CriticalSet,
    /// The point where signals survive longest.
    pub best: Recommendation,
    /// The smallest `σ²` at which signal and gradient survive the depth; `None` if they survive at no allowed value, or the model has no `σ²`.
    pub smallest: Option<Recommendation>,
    /// The depth that signals reach at the best point; `None` if unlimited.
    pub max_depth: Option<f64>,
}

impl Advice {
    /// Advice for a network of `depth` layers.
    pub fn new<A: Activation + Clone>(network: &RandomNetwork<A>, depth: usize, reach: f64) -> Result<Self, Error> {
        if depth == 0 {
            return Err(Error::Unsupported("depth = 0: a network has at least one layer".into()));
        }
        if !(reach > 0.0 && reach.is_finite()) {
            return Err(Error::Unsupported(format!("reach = {}: the number of depth scales must be positive and finite", number(reach))));
        }
        let critical = network.critical_set()?;
        let (sigma2, sigma_b2) = best_initialisation(network, &critical)?;
        let best = recommend(network, sigma2, sigma_b2, depth)?;
        let max_depth = signal_rate(&best.point).and_then(depth_scale).map(|xi| reach * xi);
        let smallest = match best.sigma2 {
            Some(limit) => smallest_sigma2(network, limit, sigma_b2, depth, reach)?,
            None => None,
        };
        let smallest = smallest.map(|sigma2| recommend(network, Some(sigma2), sigma_b2, depth)).transpose()?;
        Ok(Self { depth, reach, critical, best, smallest, max_depth })
    }
}

/// The factor by which the signal shrinks per layer: the distance of the correlation from `c*`, or the covariance of two signals that die out.
pub fn signal_rate(point: &Point) -> Option<f64> {
    match point.q_star {
        VarianceFixedPoint::Positive(_) => point.chi,
        VarianceFixedPoint::Zero => point.chi_1,
        VarianceFixedPoint::Every => Some(1.0),
        VarianceFixedPoint::Diverges => None,
    }
}

fn recommend<A: Activation + Clone>(
    network: &RandomNetwork<A>,
    sigma2: Option<f64>,
    sigma_b2: f64,
    depth: usize,
) -> Result<Recommendation, Error> {
    let field = network.at(sigma2, sigma_b2)?;
    let point = Point::of(&field)?;
    let (signal, gradient) = factors(&field, &point, depth)?;
    Ok(Recommendation { sigma2, sigma_b2, point, signal, gradient })
}

/// The fractions of signal and gradient left after `depth` layers.
fn factors<A: Activation>(field: &MeanField<A>, point: &Point, depth: usize) -> Result<(Option<f64>, Option<f64>), Error> {
    match point.q_star {
        VarianceFixedPoint::Zero => factors_of_dying_signal(field, depth),
        // Differences fall only algebraically: there is no rate to raise to a power.
        VarianceFixedPoint::Positive(q) if point.phase == Phase::Critical => {
            let half = Correlation::new(0.5)?;
            let mut pair = FieldPair::equal(q, half);
            for _ in 0..iterated(depth, depth)? {
                pair = FieldPair::equal(q, field.pair_map(&pair)?.correlation);
            }
            Ok((Some(pair.correlation.deficit() / half.deficit()), Some(1.0)))
        }
        _ => Ok((signal_rate(point).map(|rate| power(rate, depth)), point.chi_1.map(|rate| power(rate, depth)))),
    }
}

/// Layer by layer while the rates depend on the variance of the signal; by powers of their limits once `φ` is linear to the last digit.
fn factors_of_dying_signal<A: Activation>(field: &MeanField<A>, depth: usize) -> Result<(Option<f64>, Option<f64>), Error> {
    const LINEAR_BELOW: f64 = 1e-18;
    let noisy = !field.keeps_equal_signals_equal();
    let start = Correlation::new(0.5)?;
    let mut pair = FieldPair::equal(1.0, start);
    let (mut signal, mut gradient) = (1.0, 1.0);
    for layer in 0..depth {
        if pair.q_a < LINEAR_BELOW {
            let (variance_rate, gradient_rate) = field.slopes(0.0)?;
            let correlation_rate = if noisy { field.correlation_ratio_of_small_signals() } else { 1.0 };
            let left = depth - layer;
            return Ok((Some(signal * power(variance_rate * correlation_rate, left)), Some(gradient * power(gradient_rate, left))));
        }
        iterated(layer, depth)?;
        gradient *= field.chi(pair.q_a, Correlation::ONE)?;
        pair = if noisy { field.pair_map(&pair)? } else { FieldPair::equal(field.variance_map(pair.q_a)?, start) };
        signal = pair.q_a * (pair.correlation.c() / start.c());
    }
    Ok((Some(signal), Some(gradient)))
}

fn power(rate: f64, layers: usize) -> f64 {
    libm::pow(rate, layers as f64)
}

/// `layers`, unless there are too many to follow one by one.
fn iterated(layers: usize, depth: usize) -> Result<usize, Error> {
    if layers <= MOST_ITERATED {
        return Ok(layers);
    }
    Err(Error::Unsupported(format!(
        "depth = {depth}: near criticality signals are followed layer by layer, for at most {MOST_ITERATED} layers; use a smaller depth"
    )))
}

/// The point where signals survive longest. Biases only pull signals together, so `σ_b² = 0` is best unless there is a critical point at `σ_b² > 0`.
pub fn best_initialisation<A: Activation + Clone>(network: &RandomNetwork<A>, critical: &CriticalSet) -> Result<(Option<f64>, f64), Error> {
    if let Some(point) = critical.first_reachable() {
        return Ok((point.sigma2, point.sigma_b2));
    }
    let sigma2 = match network.model().weight_variance() {
        WeightVariance::None => None,
        WeightVariance::Means => Some(1.0),
        WeightVariance::Weights => Some(weights_that_keep_gradients(network)?),
    };
    Ok((sigma2, 0.0))
}

/// With real weights and noisy neurons, signals survive longer the larger `σ_w²`, without ever reaching criticality, but gradients explode.
/// The sensible limit is `χ₁ = 1`. A sign function does not depend on the scale of its weights.
fn weights_that_keep_gradients<A: Activation + Clone>(network: &RandomNetwork<A>) -> Result<f64, Error> {
    if network.is_step() || network.model() != Model::StochasticNeurons {
        return Ok(1.0);
    }
    let excess = |log_sigma2: f64| -> Result<f64, Error> {
        let chi_1 = network.at(Some(libm::exp(log_sigma2)), 0.0)?.chi_1()?;
        Ok(libm::log(chi_1.unwrap_or(f64::INFINITY)))
    };
    // χ₁ grows with σ_w²: search outwards from σ_w² = 1 until it crosses 1.
    let direction = if excess(0.0)? < 0.0 { 1.0 } else { -1.0 };
    let mut last = 0.0;
    for _ in 0..80 {
        let next = last + direction;
        if excess(next)? * direction >= 0.0 {
            return Ok(libm::exp(bracketed("χ₁ = 1", f64::min(last, next), f64::max(last, next), excess)?));
        }
        last = next;
    }
    Err(Error::NoRoot("χ₁ = 1"))
}

/// The smallest `σ² ≤ limit` at which signal and gradient keep `exp(−reach/depth)` per layer. The signal is the limiting one, since the correlation map is convex and its slope
/// nowhere exceeds `χ₁`; both grow with `σ²`.
fn smallest_sigma2<A: Activation + Clone>(
    network: &RandomNetwork<A>,
    limit: f64,
    sigma_b2: f64,
    depth: usize,
    reach: f64,
) -> Result<Option<f64>, Error> {
    let needed = libm::exp(-reach / depth as f64);
    let shortfall = |sigma2: f64| -> Result<f64, Error> {
        let point = Point::of(&network.at(Some(sigma2), sigma_b2)?)?;
        Ok(signal_rate(&point).unwrap_or(0.0) - needed)
    };
    if shortfall(limit)? < 0.0 {
        return Ok(None);
    }
    const SMALLEST: f64 = 1e-90;
    let mut low = limit;
    while shortfall(low)? >= 0.0 {
        low *= 1e-3;
        if low < SMALLEST {
            return Ok(Some(0.0));
        }
    }
    bracketed("smallest σ²", low, limit, shortfall).map(Some)
}
