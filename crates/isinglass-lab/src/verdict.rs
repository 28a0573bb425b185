//! The theory in words: what happens at a point, whether it can be critical, and which initialisation to use.
//!
//! ```
//! use isinglass_lab::verdict;
//! use isinglass_theory::{Model, Neuron, Point, RandomNetwork};
//!
//! let field = RandomNetwork::new(Model::LrtBinary, Neuron::Tanh(1.0))?.at(Some(0.9), 0.0)?;
//! let words = verdict::of_point(&field, &Point::of(&field)?)?;
//! assert!(words.starts_with("Noise-limited:"));
//! assert!(words.contains("No critical initialisation exists"));
//! # Ok::<(), isinglass_theory::Error>(())
//! ```

mod carried;
mod short;

pub use carried::{of_carried_advice, of_carried_point};
pub use short::{advice_in_short, carried_advice_in_short};

use isinglass_runs::words::digits;
use isinglass_theory::activation::{Activation, Parity};
use isinglass_theory::advice::{best_initialisation, signal_rate};
use isinglass_theory::point::CRITICAL_TOLERANCE;
use isinglass_theory::{
    Advice, Correlation, CriticalPoint, CriticalSet, Error, MeanField, Model, Phase, Point, RandomNetwork, VarianceFixedPoint,
    WeightVariance, depth_scale,
};

/// What happens at a point, why some quantities do not exist there, and whether a critical initialisation exists at all.
pub fn of_point<A: Activation + Clone>(field: &MeanField<A>, point: &Point) -> Result<String, Error> {
    let mut words = vec![phase_sentence(point)];
    words.extend(missing_sentences(field, point));
    words.push(of_criticality(field.network(), &field.network().critical_set()?)?);
    Ok(words.join(" "))
}

/// Which initialisation to use, and what to expect of it.
pub fn of_advice<A: Activation + Clone>(network: &RandomNetwork<A>, advice: &Advice) -> Result<String, Error> {
    let mut words = vec![of_criticality(network, &advice.critical)?];
    let best = &advice.best;
    let (place, depth) = (coordinates(network, best.sigma2, best.sigma_b2), layers(advice.depth));
    words.push(match advice.max_depth {
        None if best.point.q_star == VarianceFixedPoint::Every => format!("At {place} signals and gradients keep their size at any depth."),
        None => {
            let left = |factor: Option<f64>| factor.map_or("all".to_owned(), digits);
            let (signal, gradient) = (left(best.signal), left(best.gradient));
            format!("At {place} signals and gradients fade only algebraically with depth: {signal} of the signal and {gradient} of the gradient are left after {depth}.")
        }
        Some(reached) if reached >= advice.depth as f64 => {
            format!("At {place} signals survive {} layers ({} depth scales), enough for {depth}.", digits(reached), digits(advice.reach))
        }
        Some(reached) => format!(
            "Even at {place} signals survive only {} layers ({} depth scales): for {depth}, use layers that are not independent, such as carried fields, or \
             normalisation.",
            digits(reached),
            digits(advice.reach)
        ),
    });
    if let (Some(smallest), Some(symbol)) = (&advice.smallest, network.model().weight_variance().symbol()) {
        let sigma2 = smallest.sigma2.unwrap_or_default();
        words.push(format!("The smallest {symbol} that carries signal and gradient through {depth} is {}.", near_one(sigma2)));
    }
    if best.point.chi_1.is_some_and(|chi_1| chi_1 > 1.0 + CRITICAL_TOLERANCE) {
        words.push(format!(
            "Gradients grow there by χ₁ = {} per layer: use a small learning rate or clip them.",
            digits(best.point.chi_1.unwrap_or_default())
        ));
    }
    if network.model() == Model::StochasticNeurons && !network.is_step() {
        words.push(
            "A larger σ_w² carries signals a little further (never beyond the sign network's factor of 2/π per layer), but gradients then explode.".to_owned(),
        );
    }
    if network.model().weight_variance() == WeightVariance::Means && best.sigma2 == Some(1.0) {
        // Halfway between the required value and the limit, if 0.99 is too small.
        let needed = advice.smallest.as_ref().and_then(|smallest| smallest.sigma2).unwrap_or(0.0);
        let usable = if needed < 0.985 { 0.99 } else { 0.5 * (1.0 + needed) };
        words.push(format!(
            "σ_m² = 1 is a limit: means of exactly ±1 leave nothing random in the weights, so use a smaller value, such as {}.",
            near_one(usable)
        ));
    }
    Ok(words.join(" "))
}

/// Whether a critical initialisation exists, where, and what is best if none does.
pub fn of_criticality<A: Activation + Clone>(network: &RandomNetwork<A>, critical: &CriticalSet) -> Result<String, Error> {
    let neuron = network.neuron().map_or_else(|| "this neuron".to_owned(), |neuron| neuron.to_string());
    let place = |point: &CriticalPoint| coordinates(network, point.sigma2, point.sigma_b2);
    if !critical.is_reachable() {
        let reason = match critical {
            CriticalSet::Line { start, .. } => format!("its critical line starts at {} and never enters σ_m² ≤ 1", place(start)),
            CriticalSet::Points(_) => "there is no point where χ₁ = 1".to_owned(),
            CriticalSet::Empty(reason) => (*reason).to_owned(),
        };
        let (sigma2, sigma_b2) = best_initialisation(network, critical)?;
        let point = Point::of(&network.at(sigma2, sigma_b2)?)?;
        let rate = signal_rate(&point).unwrap_or_default();
        let best = match network.model().weight_variance() {
            WeightVariance::Means => "the best allowed is the limit",
            WeightVariance::Weights if !network.is_step() => "the best without exploding gradients (χ₁ = 1) is",
            WeightVariance::Weights | WeightVariance::None => "the best is",
        };
        return Ok(format!(
            "No critical initialisation exists for {neuron} in model {}: {reason}; {best} {}, where signals shrink by {} per layer (depth scale {} layers).",
            network.model(),
            coordinates(network, sigma2, sigma_b2),
            digits(rate),
            depth_scale(rate).map_or("∞".to_owned(), digits),
        ));
    }
    Ok(match critical {
        CriticalSet::Points(points) => {
            let which = if network.phi().homogeneity().is_some() { " that keeps the variance" } else { "" };
            format!("The critical initialisation of {neuron}{which} is {}.", points.iter().map(place).collect::<Vec<_>>().join(" and "))
        }
        CriticalSet::Line { start, allowed } if network.model().weight_variance() == WeightVariance::Means => {
            let parts = allowed.iter().map(|segment| match &segment.to {
                Some(to) if *to == segment.from => format!("only its start {}", place(start)),
                Some(to) => format!("the part from {} to {}", place(&segment.from), place(to)),
                None => format!("the part from {} on", place(&segment.from)),
            });
            format!("Of the critical line of {neuron}, {} lies inside σ_m² ≤ 1.", parts.collect::<Vec<_>>().join(" and "))
        }
        CriticalSet::Line { start, .. } => format!("The critical line of {neuron} starts at {}; all of it is allowed.", place(start)),
        CriticalSet::Empty(reason) => (*reason).to_owned(),
    })
}

fn phase_sentence(point: &Point) -> String {
    let chi_1 = point.chi_1.map_or("∞".to_owned(), digits);
    let dies = point.q_star == VarianceFixedPoint::Zero;
    let fading = |xi: Option<f64>| match xi {
        None => "never".to_owned(),
        Some(0.0) => "at once".to_owned(),
        Some(xi) => format!("e-fold every {} layers", digits(xi.abs())),
    };
    match point.phase {
        Phase::Ordered if dies => {
            format!("Ordered: the signal dies out, it and its gradient shrinking by χ₁ = {chi_1} per layer ({}).", fading(point.xi_1()))
        }
        Phase::Ordered => format!(
            "Ordered: signals converge, their difference and the gradient shrinking by χ₁ = {chi_1} per layer ({}).",
            fading(point.xi_1())
        ),
        Phase::Critical if dies => {
            "Critical: χ₁ = 1, the signal's size falls only algebraically with depth and gradients survive.".to_owned()
        }
        Phase::Critical => "Critical: χ₁ = 1, differences and gradients survive at any depth.".to_owned(),
        Phase::Chaotic if point.q_star.finite().is_none() => {
            format!("Chaotic: χ₁ = {chi_1}, the signal and its gradient grow without limit.")
        }
        Phase::Chaotic => {
            let end = point.c_star.map_or(String::new(), |c| format!(" until their correlation is {}", correlation(c)));
            format!("Chaotic: χ₁ = {chi_1}, nearby signals separate{end} and gradients explode.")
        }
        Phase::NoiseLimited => {
            let end = point.c_star.map_or(String::new(), |c| format!(", until their correlation is {}", correlation(c)));
            let fade = point.chi.map_or(String::new(), |_| format!("; correlations fade {}", fading(point.xi_c())));
            let dying = if dies { " The signal also dies out (q* = 0)." } else { "" };
            format!("Noise-limited: noise drawn for each input separates even equal signals{end}{fade}.{dying}")
        }
    }
}

/// Why some quantities do not exist.
fn missing_sentences<A: Activation>(field: &MeanField<A>, point: &Point) -> Vec<String> {
    let mut words = Vec::new();
    match point.q_star {
        VarianceFixedPoint::Diverges => {
            words.push("The variance grows without limit, so q*, c*, χ, dq and their depth scales do not exist.".to_owned())
        }
        VarianceFixedPoint::Every => words.push("Every variance is kept (dq = 1), so there is no single q* and ξ_q diverges.".to_owned()),
        VarianceFixedPoint::Zero if point.c_star.is_none() => {
            let frozen = field.phi().homogeneity().is_none() || field.phi().parity() == Parity::Odd;
            words.push(if frozen {
                "At q* = 0 the correlation freezes at a value that depends on its start, so c*, χ and ξ_c do not exist; χ₁ is the limit σ_b² → 0⁺.".to_owned()
            } else {
                "The correlation map of a homogeneous neuron is the same at every q (correlations creep to 1 algebraically), so c*, χ and ξ_c are not given at q* = 0; χ₁ is the limit \
                 σ_b² → 0⁺."
                    .to_owned()
            });
        }
        _ => {}
    }
    if point.chi_1.is_none() && field.network().is_step() {
        words.push("The slope of a step has no finite mean square: χ₁ is infinite and ξ₁ does not exist.".to_owned());
    }
    let diverges = |rate: Option<f64>| rate.is_some_and(|rate| depth_scale(rate).is_none());
    let lengths: Vec<&str> = [
        ("ξ₁", diverges(point.chi_1)),
        ("ξ_c", diverges(point.chi)),
        ("ξ_q", diverges(point.dq) && point.q_star != VarianceFixedPoint::Every),
    ]
    .into_iter()
    .filter_map(|(name, diverges)| diverges.then_some(name))
    .collect();
    if !lengths.is_empty() {
        words.push(format!("{} diverge{}.", lengths.join(", "), if lengths.len() == 1 { "s" } else { "" }));
    }
    words
}

/// `(σ_m², σ_b²) = (1, 0)`, or `σ_b² = 0` for models without a weight variance.
fn coordinates<A: Activation>(network: &RandomNetwork<A>, sigma2: Option<f64>, sigma_b2: f64) -> String {
    match (network.model().weight_variance().symbol(), sigma2) {
        (Some(symbol), Some(sigma2)) => format!("({symbol}, σ_b²) = ({}, {})", digits(sigma2), digits(sigma_b2)),
        _ => format!("σ_b² = {}", digits(sigma_b2)),
    }
}

/// `1 layer`, `40 layers`.
fn layers(count: usize) -> String {
    format!("{count} layer{}", if count == 1 { "" } else { "s" })
}

/// A correlation, as its distance from 1 where four digits would not show it.
fn correlation(c: Correlation) -> String {
    if c.deficit() > 0.0 && c.deficit() < 1e-3 { format!("1 − {}", digits(c.deficit())) } else { digits(c.c()) }
}

/// A number below 1 with enough digits to tell it from 1.
fn near_one(x: f64) -> String {
    if !(0.999..1.0).contains(&x) {
        return digits(x);
    }
    let decimals = (1.0 - libm::log10((1.0 - x).max(1e-15)).floor()) as usize;
    format!("{x:.decimals$}")
}
