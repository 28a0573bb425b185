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
    /// Where the theory says that the plain network cannot reach its depth.
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

impl Carry {
    /// Decides for a network; its own [`NetworkConfig::carry`] is ignored.
    ///
    /// Where the theory has no answer, or the network cannot carry, [`Carry::Auto`] does not.
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
                match (NetworkConfig { carry: true, ..config.clone() }).layers() {
                    Ok(layers) if layers.iter().any(|layer| layer.carries()) => {}
                    Ok(_) => return choice(false, "no two successive hidden layers have equal inputs and outputs".into()),
                    Err(error) => return choice(false, error.to_string()),
                }
                let depth = config.depth();
                let theory = RandomNetwork::new(config.surrogate.model(), config.neuron);
                let advice = match theory.and_then(|theory| Advice::new(&theory, depth, advice::DEFAULT_REACH)) {
                    Ok(advice) => advice,
                    Err(error) => return choice(false, format!("the theory has no answer ({error})")),
                };
                match advice.max_depth {
                    Some(reach) if reach < depth as f64 => choice(
                        true,
                        format!("a plain network of these neurons carries signals through {reach:.1} layers at best, not {depth}"),
                    ),
                    _ => choice(false, format!("a plain network carries signals through {depth} layers")),
                }
            }
        }
    }
}
