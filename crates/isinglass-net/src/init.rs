//! Initial means.
//!
//! | name | means | `σ_m²` |
//! |---|---|---|
//! | `two-point` | `±σ_m` | as asked |
//! | `hadamard` | `±σ_m`, rows or columns of each layer orthogonal, or nearly so | as asked |
//! | `aligned:K` | as `uniform`, but every hidden layer from the second on reads the `K` directions that the one below writes | as asked, but for a few percent if `K` is small |
//! | `clipped-gaussian` | `N(0, σ_m²)` clipped to `[−1, 1]` | smaller than asked, by the clipping |
//! | `uniform` | `U(−a, a)`, clipped to `[−1, 1]` where `σ_m² > 1/3` asks for `a > 1` | as asked |
//! | `glorot` | `U(±√(6/(n_in + n_out)))` | about `1/N`: too small to carry a signal |
//! | `he` | `U(±√(6/n_in))` | `2/n_in`: too small as well |
//! | `critical` | two-point, where the theory advises | `Advice::best` |
//! | `auto`, `critical` where fields are carried | uniform, two-point | `CarriedAdvice` with a reach of [`AUTO_REACH`], and of 3 |
//! | `auto` | uniform, at the smallest `σ_m²` that carries signal and gradient through the depth | `Advice::smallest` with a reach of [`AUTO_REACH`], at least 1/3 |
//! | `auto`, where that would take more than 0.85 | aligned (deterministic surrogate with sign neurons), uniform (others) | 1/3, 0.85 |
//!
//! Real weights (`continuous`) take the same distributions with `σ_w²` and without clipping; `glorot` and `he` then refer to the weights that the
//! network multiplies with, `W/√N`.

mod aligned;
mod hadamard;

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use isinglass_theory::{Advice, CarriedAdvice, Neuron, RandomNetwork, advice};
use serde::{Deserialize, Serialize};

use crate::carry::LEAST_PLAIN;
use crate::named::serde_as_text;
use crate::{Error, LayerSpec, NetworkConfig, Rng, Surrogate};

/// How the initial means are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Init {
    /// `±σ_m`.
    TwoPoint,
    /// `±σ_m` with the signs of a Hadamard matrix, whose rows and columns are orthogonal; rows and columns are drawn at random, each with a random sign.
    Hadamard,
    /// Uniform, with layers that hand on this many directions of the signal; `None` takes one for every sixteen neurons, and at least eight.
    Aligned(Option<NonZeroU32>),
    /// Gaussian, clipped.
    ClippedGaussian,
    /// Uniform, clipped where the variance requires it.
    Uniform,
    /// Glorot & Bengio's weights used as means.
    Glorot,
    /// He et al.'s weights used as means.
    He,
    /// Two-point, with the variance at which signals travel best according to the theory.
    Critical,
    /// Uniform, with the smallest variance that suffices according to the theory.
    Auto,
}

impl Init {
    /// All choices.
    pub const ALL: &'static [Self] = &[
        Self::Auto,
        Self::Critical,
        Self::TwoPoint,
        Self::Hadamard,
        Self::Aligned(None),
        Self::ClippedGaussian,
        Self::Uniform,
        Self::Glorot,
        Self::He,
    ];

    /// The name on the command line and in files, without the number of directions.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Critical => "critical",
            Self::TwoPoint => "two-point",
            Self::Hadamard => "hadamard",
            Self::Aligned(_) => "aligned",
            Self::ClippedGaussian => "clipped-gaussian",
            Self::Uniform => "uniform",
            Self::Glorot => "glorot",
            Self::He => "he",
        }
    }
}

impl fmt::Display for Init {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Aligned(Some(directions)) => write!(f, "aligned:{directions}"),
            _ => f.write_str(self.name()),
        }
    }
}

impl FromStr for Init {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        if let Some(directions) = text.strip_prefix("aligned:") {
            let parsed = directions.parse().map_err(|_| Error::config(format!("init {text}: in aligned:K, K is a whole number from 1 on")));
            return parsed.map(|directions| Self::Aligned(Some(directions)));
        }
        let named = Self::ALL.iter().copied().find(|choice| choice.name() == text);
        named.ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|choice| choice.name()).collect();
            let known = format!("{} (aligned:K for K directions, at least 1)", names.join(", "));
            Error::UnknownName { kind: "initialisation", name: text.to_owned(), known }
        })
    }
}

serde_as_text!(Init);

/// The number of depth scales that `auto` assumes a signal survives. At a learning rate of 2e-4 training fails beyond the paper's 3; Adam, whose steps do not depend on the size of a
/// gradient, trains binary networks across about 12 at 1e-2, and smaller means change sign more easily (`docs/training.md` has the ablation).
pub const AUTO_REACH: f64 = 12.0;

/// The smallest `σ_m²` that `auto` chooses: means uniform over all of `[−1, 1]`. Smaller ones gain nothing.
const LEAST: f64 = 1.0 / 3.0;

/// The largest: beyond it too few means can still change sign. `auto` also takes it where no `σ_m²` carries signals through the depth.
const MOST: f64 = 0.85;

/// Taken where the best `σ_m²` is the limit 1, at which the means could no longer change.
const NEAR_ONE: f64 = 0.99;

/// What [`Init::Auto`] may align.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AutoAligns {
    DeepPlainLayers,
    Nothing,
}

impl AutoAligns {
    /// Whether the layers of this network may be aligned: those of sign neurons in the deterministic surrogate. Layers of `tanh:1` do not train when they are.
    fn layers_of(self, config: &NetworkConfig) -> bool {
        let is_tried = config.surrogate == Surrogate::Deterministic && config.neuron == Neuron::Sign;
        self == Self::DeepPlainLayers && is_tried && aligned::suits(&config.hidden)
    }
}

/// An [`Init`] resolved for a network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Initialisation {
    /// The distribution: one of those that do not depend on the theory.
    pub distribution: Init,
    /// Its `σ_m²` (or `σ_w²`) before clipping; `None` where the layer's shape decides.
    pub sigma2: Option<f64>,
    /// `σ_b²`.
    pub sigma_b2: f64,
    /// The reason for the choice.
    pub reason: String,
}

impl Initialisation {
    /// Resolves a network's [`Init`]. `auto` and `critical` consult the theory.
    ///
    /// # Errors
    ///
    /// Those of [`NetworkConfig::check`], and [`Error::Theory`] if the theory does not cover the network.
    pub fn new(config: &NetworkConfig) -> Result<Self, Error> {
        Self::resolve(config, AutoAligns::DeepPlainLayers)
    }

    /// Resolves it as the versions did that knew no aligned layers and whose checkpoints did not say what they had drawn.
    pub(crate) fn of_independent_layers(config: &NetworkConfig) -> Result<Self, Error> {
        Self::resolve(config, AutoAligns::Nothing)
    }

    fn resolve(config: &NetworkConfig, aligns: AutoAligns) -> Result<Self, Error> {
        config.check()?;
        match config.init {
            Init::Glorot | Init::He => Ok(Self {
                distribution: config.init,
                sigma2: None,
                sigma_b2: config.sigma_b2.unwrap_or(0.0),
                reason: "as is common for real weights".into(),
            }),
            Init::TwoPoint | Init::Hadamard | Init::Aligned(_) | Init::ClippedGaussian | Init::Uniform => {
                let is_uniform = matches!(config.init, Init::Uniform | Init::Aligned(_));
                let usual = if is_uniform { 1.0 / 3.0 } else { config.surrogate.usual_variance() };
                let distribution = match config.init {
                    Init::Aligned(None) => Init::Aligned(Some(aligned::usual_directions(&config.hidden))),
                    init => init,
                };
                Ok(Self {
                    distribution,
                    sigma2: Some(config.sigma_m2.unwrap_or(usual)),
                    sigma_b2: config.sigma_b2.unwrap_or(0.0),
                    reason: if config.sigma_m2.is_some() { "as asked".into() } else { "the usual value".into() },
                })
            }
            Init::Critical | Init::Auto => Self::advised(config, aligns),
        }
    }

    fn advised(config: &NetworkConfig, aligns: AutoAligns) -> Result<Self, Error> {
        let symbol = config.variance_symbol();
        if config.surrogate == Surrogate::Ste {
            return Ok(Self {
                distribution: Init::Uniform,
                sigma2: Some(1.0 / 3.0),
                sigma_b2: config.sigma_b2.unwrap_or(0.0),
                reason: "only the signs of the latent weights reach the network".into(),
            });
        }
        let theory = RandomNetwork::new(config.surrogate.model(), config.neuron)?;
        let depth = config.depth();
        let carrying = config.carrying_layers()?;
        if carrying > 0 {
            return Self::carried(config, &theory, carrying);
        }
        // Large real weights cost nothing: they need not change sign.
        if config.init == Init::Auto && config.surrogate.has_binary_weights() {
            let advice = Advice::new(&theory, depth, AUTO_REACH)?;
            let needed = advice.smallest.as_ref().and_then(|smallest| smallest.sigma2);
            if aligns.layers_of(config) && needed.is_none_or(|needed| needed > MOST) {
                let why = match needed {
                    Some(needed) => format!("need {symbol} = {needed:.3} to carry signal and gradient, means that could not change sign"),
                    None => "cannot carry signal and gradient".into(),
                };
                return Ok(Self {
                    distribution: Init::Aligned(Some(aligned::usual_directions(&config.hidden))),
                    sigma2: Some(LEAST),
                    sigma_b2: config.sigma_b2.unwrap_or(0.0),
                    reason: format!("{depth} independent layers {why}; aligned ones need no large means"),
                });
            }
            if let Some(smallest) = &advice.smallest
                && let Some(sigma2) = smallest.sigma2
            {
                let layers = if depth == 1 { "1 layer".into() } else { format!("{depth} layers") };
                let reason = if sigma2 > MOST {
                    format!(
                        "{symbol} = {sigma2:.3} would carry signal and gradient through {layers}, but larger means could not change sign"
                    )
                } else if sigma2 > LEAST {
                    format!("the smallest {symbol} that carries signal and gradient through {layers}, counting {AUTO_REACH} depth scales")
                } else {
                    format!("means all over [-1, 1], which carry signal and gradient through {layers}, counting {AUTO_REACH} depth scales")
                };
                return Ok(Self {
                    distribution: Init::Uniform,
                    sigma2: Some(sigma2.clamp(LEAST, MOST)),
                    sigma_b2: config.sigma_b2.unwrap_or(smallest.sigma_b2),
                    reason,
                });
            }
        }
        let advice = Advice::new(&theory, depth, advice::DEFAULT_REACH)?;
        let best = advice.best.sigma2.unwrap_or(1.0);
        let is_limit = best >= 1.0 && config.surrogate.has_binary_weights();
        let reason = match (advice.critical.is_reachable(), advice.max_depth) {
            (true, _) => format!("critical{}", if is_limit { " in the limit of 1" } else { "" }),
            (false, Some(reach)) if reach < depth as f64 => {
                format!(
                    "no critical initialisation exists for this neuron; the best allowed carries signals through {reach:.1} layers, not {depth}"
                )
            }
            (false, _) => "no critical initialisation exists for this neuron; this is the best allowed".into(),
        };
        let is_capped = config.init == Init::Auto && config.surrogate.has_binary_weights() && best > MOST;
        let reason = if is_capped { format!("{reason}; larger means than these could not change sign") } else { reason };
        let (distribution, sigma2) = match config.init {
            _ if !config.surrogate.has_binary_weights() => (Init::ClippedGaussian, best),
            Init::Auto => (Init::Uniform, best.min(MOST)),
            _ => (Init::TwoPoint, if is_limit { NEAR_ONE } else { best }),
        };
        Ok(Self { distribution, sigma2: Some(sigma2), sigma_b2: config.sigma_b2.unwrap_or(advice.best.sigma_b2), reason })
    }

    /// The choice for a network in which so many layers carry fields: the smallest variance at which enough of the signal is left at the end, and with which the other layers pass it on.
    fn carried(config: &NetworkConfig, theory: &RandomNetwork, carrying: usize) -> Result<Self, Error> {
        let (depth, plain) = (config.depth(), config.depth() - carrying);
        let is_auto = config.init == Init::Auto;
        let reach = if is_auto { AUTO_REACH } else { advice::DEFAULT_REACH };
        let advice = CarriedAdvice::new(theory, depth, reach)?;
        let best = advice.carried.sigma2.unwrap_or(LEAST);
        let is_bounded = config.surrogate.has_binary_weights();
        let best = if is_bounded && plain as f64 > LEAST_PLAIN {
            let needed = Advice::new(theory, plain, reach)?.smallest.and_then(|smallest| smallest.sigma2);
            needed.unwrap_or(1.0).max(best)
        } else {
            best
        };
        let (distribution, sigma2) = match is_auto {
            _ if !is_bounded => (Init::ClippedGaussian, best),
            true => (Init::Uniform, best.min(MOST)),
            false => (Init::TwoPoint, best.min(NEAR_ONE)),
        };
        let reason = if plain as f64 > LEAST_PLAIN {
            format!("fields are carried by {carrying} of {depth} layers")
        } else {
            let left = CarriedAdvice::at(theory, Some(sigma2), advice.carried.sigma_b2, depth, reach)?.carried.left.signal;
            let left = left.map_or_else(String::new, |left| format!(": {:.1} % of the signal is left after {depth} layers", 100.0 * left));
            format!("fields are carried{left}")
        };
        Ok(Self { distribution, sigma2: Some(sigma2), sigma_b2: config.sigma_b2.unwrap_or(advice.carried.sigma_b2), reason })
    }

    /// Checks that layers of this network can be drawn from it, as those from files must be.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] if there are more directions than neurons, or their number is left open.
    pub(crate) fn check(&self, config: &NetworkConfig) -> Result<(), Error> {
        match self.distribution {
            Init::Aligned(None) => Err(Error::config("the number of directions is missing")),
            init @ Init::Aligned(_) => NetworkConfig { init, ..config.clone() }.check_directions(),
            _ => Ok(()),
        }
    }

    /// The means (or real weights) of a layer (counted from 0), row by row. `rng` is the layer's own generator, `network` the one that all layers share.
    pub(crate) fn draw(&self, spec: &LayerSpec, index: usize, network: &Rng, rng: &mut Rng) -> Vec<f32> {
        match self.distribution {
            Init::Hadamard => {
                let sigma = self.sigma2.unwrap_or(0.0).sqrt() as f32;
                hadamard::signs(spec.outputs(), spec.inputs(), rng).map(|is_negative| if is_negative { -sigma } else { sigma }).collect()
            }
            Init::Aligned(Some(directions)) if index > 0 && !spec.is_output() => {
                let sigma2 = self.sigma2.unwrap_or(0.0);
                let scale = match spec.has_binary_weights() {
                    true => aligned::Scale::Uniform { half_width: half_width(sigma2) },
                    false => aligned::Scale::Normal { sigma: sigma2.sqrt() },
                };
                aligned::means(spec, index, directions, scale, network)
            }
            _ => (0..spec.weights()).map(|_| self.draw_one(spec, rng) as f32).collect(),
        }
    }

    /// One mean (or real weight) of a layer whose means are independent.
    fn draw_one(&self, spec: &LayerSpec, rng: &mut Rng) -> f64 {
        let (bounded, inputs, outputs) = (spec.has_binary_weights(), spec.inputs(), spec.outputs());
        let sigma2 = self.sigma2.unwrap_or(0.0);
        let scale = if bounded { 1.0 } else { (inputs as f64).sqrt() };
        let value = match self.distribution {
            Init::TwoPoint => sigma2.sqrt() * if rng.next_u64() >> 63 == 0 { 1.0 } else { -1.0 },
            Init::ClippedGaussian => sigma2.sqrt() * rng.normal(),
            Init::Glorot => scale * (6.0 / (inputs + outputs) as f64).sqrt() * (2.0 * rng.uniform() - 1.0),
            Init::He => scale * (6.0 / inputs as f64).sqrt() * (2.0 * rng.uniform() - 1.0),
            _ if bounded => half_width(sigma2) * (2.0 * rng.uniform() - 1.0),
            _ => (3.0 * sigma2).sqrt() * (2.0 * rng.uniform() - 1.0),
        };
        if bounded { value.clamp(-1.0, 1.0) } else { value }
    }
}

/// `a` such that `U(−a, a)`, clipped to `[−1, 1]`, has this variance.
fn half_width(sigma2: f64) -> f64 {
    match sigma2 > 1.0 / 3.0 {
        // Clipping at 1 leaves a variance of 1 − 2/(3a).
        true => 2.0 / (3.0 * (1.0 - sigma2.min(0.999_999))),
        false => (3.0 * sigma2).sqrt(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_checkpoints_began_with_independent_layers() {
        let deep = NetworkConfig { hidden: vec![64; 24], ..NetworkConfig::default() };
        assert!(matches!(Initialisation::new(&deep).unwrap().distribution, Init::Aligned(_)));
        let old = Initialisation::of_independent_layers(&deep).unwrap();
        assert_eq!((old.distribution, old.sigma2), (Init::Uniform, Some(MOST)));
        // What a file says was drawn must be possible.
        let drawn = |init: &str| Initialisation { distribution: init.parse().unwrap(), ..old.clone() };
        for (init, holds) in
            [("aligned:64", true), ("uniform", true), ("aligned:65", false), ("aligned:4294967295", false), ("aligned", false)]
        {
            assert_eq!(drawn(init).check(&deep).is_ok(), holds, "{init}");
        }
        let shallow = NetworkConfig { hidden: vec![64; 2], ..NetworkConfig::default() };
        assert_eq!(Initialisation::new(&shallow).unwrap(), Initialisation::of_independent_layers(&shallow).unwrap());
    }
}
