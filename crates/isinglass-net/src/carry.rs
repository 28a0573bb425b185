//! Whether a network carries its fields: asked for, or decided by the theory.
//!
//! ```
//! use isinglass_net::{Carry, NetworkConfig};
//!
//! let deep = NetworkConfig { hidden: vec![256; 20], ..NetworkConfig::default() };
//! let choice = Carry::Auto.resolve(&deep)?;
//! assert!(choice.carry && choice.reason.contains("20"));
//! assert!(!Carry::Auto.resolve(&NetworkConfig { hidden: vec![256; 3], ..NetworkConfig::default() })?.carry);
//! # Ok::<(), isinglass_net::Error>(())
//! ```

use isinglass_theory::{Advice, RandomNetwork, advice};

use crate::named::named;
use crate::{Error, NetworkConfig};

/// Whether fields are carried between hidden layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carry {
    /// Where the theory says that the plain network cannot reach its depth, or only with means too large to change sign, and enough layers can carry.
    Auto,
    /// Wherever the shapes allow it.
    On,
    /// Nowhere.
    Off,
}

named!("choice of carry", Carry { Auto => "auto", On => "on", Off => "off" });

/// A decision, and its reason.
#[derive(Debug, Clone, PartialEq)]
pub struct CarryChoice {
    /// Whether fields are carried.
    pub carry: bool,
    /// The reason, as a clause.
    pub reason: String,
}

/// The largest `σ_m²` that a plain network may need, by the paper's reach, to be preferred: ten layers of `tanh:1` need 0.74 and train nearly as well as carried ones, fifteen need 0.82 and
/// do not train (`docs/training.md`).
const MOBILE: f64 = 0.75;

/// Layers that no carrying network does without: the first reads the inputs, and a sum of fields begins with the second.
pub(crate) const LEAST_PLAIN: f64 = 2.0;

/// The `σ_m²` with which the plain network reaches its depth; `None` where weights are real numbers, which need not change sign, and where `σ_m²` is given.
fn needed_means(config: &NetworkConfig, advice: &Advice) -> Option<f64> {
    let is_open = config.surrogate.has_binary_weights() && config.sigma_m2.is_none();
    advice.smallest.as_ref().and_then(|smallest| smallest.sigma2).filter(|_| is_open)
}

impl Carry {
    /// Decides for a network; its own [`NetworkConfig::carry`] is ignored.
    ///
    /// Where the theory has no answer, or too few layers can carry, [`Carry::Auto`] does not.
    ///
    /// # Errors
    ///
    /// Those of [`NetworkConfig::check`].
    pub fn resolve(self, config: &NetworkConfig) -> Result<CarryChoice, Error> {
        NetworkConfig { carry: false, ..config.clone() }.check()?;
        let choice = |carry: bool, reason: String| Ok(CarryChoice { carry, reason });
        match self {
            Self::On => choice(true, "as asked".into()),
            Self::Off => choice(false, "as asked".into()),
            Self::Auto => {
                let carrying = match (NetworkConfig { carry: true, ..config.clone() }).carrying_layers() {
                    Ok(0) => return choice(false, "no two successive hidden layers have equal inputs and outputs".into()),
                    Ok(carrying) => carrying,
                    Err(error) => return choice(false, error.to_string()),
                };
                let (depth, scales) = (config.depth(), advice::DEFAULT_REACH);
                let theory = RandomNetwork::new(config.surrogate.model(), config.neuron);
                let advice = match theory.and_then(|theory| Advice::new(&theory, depth, scales)) {
                    Ok(advice) => advice,
                    Err(error) => return choice(false, format!("the theory has no answer ({error})")),
                };
                let reason = match (advice.max_depth, needed_means(config, &advice)) {
                    (Some(reach), _) if reach < depth as f64 => {
                        format!(
                            "a plain network of these neurons carries signals through {reach:.1} layers at best, not {depth} (counting {scales} depth scales)"
                        )
                    }
                    (_, Some(needed)) if needed > MOBILE => {
                        format!(
                            "a plain network would carry signals through {depth} layers, counting {scales} depth scales, only with means that can hardly change sign (σ_m² = {needed:.3})"
                        )
                    }
                    _ => return choice(false, format!("a plain network carries signals through {depth} layers")),
                };
                // The others pass signals on as those of a plain network do.
                let plain = depth - carrying;
                let reach = advice.max_depth.unwrap_or(f64::INFINITY).max(LEAST_PLAIN);
                if plain as f64 > reach {
                    let reason =
                        format!("{reason}, but only {carrying} of the layers can carry a field: successive ones of equal width can");
                    return choice(false, reason);
                }
                choice(true, reason)
            }
        }
    }
}
