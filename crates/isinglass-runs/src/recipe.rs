//! Recipes: settings for one command that goes from a seed to a packed network of record accuracy.
//!
//! The settings of a recipe are a file under `recipes/`, with the keys of [`RunConfig`], embedded in the program.
//!
//! ```
//! use isinglass_runs::recipe::Recipe;
//!
//! let config = Recipe::find("mnist-501")?.config();
//! assert_eq!(config.hidden, Some(vec![501, 501]));
//! assert_eq!(config.recipe.as_deref(), Some("mnist-501"));
//! assert!(Recipe::find("mnist-500").unwrap_err().to_string().contains("mnist-501"));
//! # Ok::<(), isinglass_runs::run::RunError>(())
//! ```

use isinglass_data::{Archive, digits};
use isinglass_files::did_you_mean;
use isinglass_net::NetworkConfig;

use crate::run::{RunConfig, RunError};

/// Settings with a name.
#[derive(Debug, PartialEq, Eq)]
pub struct Recipe {
    name: &'static str,
    about: &'static str,
    published: Option<&'static str>,
    draws: Option<usize>,
    settings: &'static str,
}

/// A recipe whose settings are the file of its name, which ends with sign(M) or with some draws.
macro_rules! recipe {
    ($name:literal, $about:literal, $published:expr) => {
        recipe!($name, $about, $published, None)
    };
    ($name:literal, $about:literal, $published:expr, $draws:expr) => {
        Recipe {
            name: $name,
            about: $about,
            published: $published,
            draws: $draws,
            settings: include_str!(concat!("recipes/", $name, ".toml")),
        }
    };
}

/// The same network, 100 epochs.
const LUCIBELLO_MNIST: Option<&str> =
    Some("97.8 ± 0.1 % straight-through, 97.7 % mean field, 97.4 % belief propagation (Lucibello et al. 2022)");
const LUCIBELLO_FASHION: Option<&str> =
    Some("88.0 % straight-through, 87.9 % mean field, 88.2 ± 0.3 % belief propagation (Lucibello et al. 2022)");

impl Recipe {
    /// All recipes, in the order in which they are listed.
    pub const ALL: &'static [Self] = &[
        recipe!("mnist-501", "two hidden layers of 501 sign neurons", LUCIBELLO_MNIST),
        recipe!("mnist-501-ste", "mnist-501 with straight-through gradients", LUCIBELLO_MNIST),
        recipe!("fashion-mnist-501", "two hidden layers of 501 sign neurons", LUCIBELLO_FASHION),
        recipe!("fashion-mnist-501-ste", "fashion-mnist-501 with straight-through gradients", LUCIBELLO_FASHION),
        recipe!(
            "mnist-1024",
            "three hidden layers of 1024 sign neurons",
            Some("98.67 % without batch norm (Kim & Smaragdis); 98.88 % with batch norm, 1-bit inputs, 1000 epochs (LFC)")
        ),
        recipe!("mnist-1024-ensemble", "three hidden layers of 1024, means left between -1 and 1: 25 draws", None, Some(25)),
        recipe!("mnist-1024-ste", "mnist-1024 with straight-through gradients", None),
        recipe!(
            "mnist-2048",
            "three hidden layers of 2048 sign neurons",
            Some("98.60 % (3×2048), 99.04 % (3×4096): batch norm, 1000 epochs")
        ),
        recipe!("mnist-2048-ste", "mnist-2048 with straight-through gradients", None),
        recipe!("mnist-2048-ensemble", "mnist-2048 with means left between -1 and 1: an ensemble of 25 draws", None, Some(25)),
        recipe!(
            "mnist-lrt-2048",
            "three hidden layers of 2048 continuous neurons, weights ±1; not packed",
            Some("98.88 % with batch norm, 500 epochs (BayesBiNN)")
        ),
        recipe!("mnist-depth-3", "three hidden layers of 256: the yardstick of the deep recipes", None),
        recipe!("mnist-plain-10", "ten plain hidden layers of 256 sign neurons", None),
        recipe!("mnist-plain-10-ste", "mnist-plain-10 with straight-through gradients", None),
        recipe!("mnist-plain-20", "twenty plain hidden layers of 256 sign neurons, aligned", None),
        recipe!("mnist-plain-20-ste", "mnist-plain-20 with straight-through gradients", None),
        recipe!("mnist-carried-20", "twenty hidden layers of 256 sign neurons, fields carried", None),
        recipe!("mnist-carried-20-ste", "mnist-carried-20 with straight-through gradients", None),
        recipe!("mnist-carried-50", "fifty hidden layers of 256 sign neurons, fields carried", None),
        recipe!("mnist-carried-50-ste", "mnist-carried-50 with straight-through gradients", None),
        recipe!("mnist-carried-100", "a hundred hidden layers of 256 sign neurons, fields carried", None),
        recipe!("mnist-carried-100-ste", "mnist-carried-100 with straight-through gradients", None),
    ];

    /// The recipe of this name.
    ///
    /// # Errors
    ///
    /// [`RunError::Setting`] that lists the names.
    pub fn find(name: &str) -> Result<&'static Self, RunError> {
        Self::ALL.iter().find(|recipe| recipe.name == name).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|recipe| recipe.name).collect();
            let hint = did_you_mean(name, names.iter().copied());
            RunError::Setting(format!(
                "no recipe {name}{hint}: there are {}; `isinglass train --recipe list` describes them",
                names.join(", ")
            ))
        })
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What is trained, in a few words.
    pub fn about(&self) -> &'static str {
        self.about
    }

    /// The published result it is compared with, if there is one.
    pub fn published(&self) -> Option<&'static str> {
        self.published
    }

    /// The number of stochastic draws that are packed as an ensemble; `None` where sign(M) is packed.
    pub fn draws(&self) -> Option<usize> {
        self.draws
    }

    /// Its settings, as a file.
    pub fn settings(&self) -> &'static str {
        self.settings
    }

    /// Its settings; they name the recipe.
    pub fn config(&self) -> RunConfig {
        let config = RunConfig::from_toml(self.settings).expect("recipes are tested");
        RunConfig { recipe: Some(self.name.to_owned()), ..config }
    }

    /// The network that it trains. Its data are of [`digits::SIDE`]² pixels.
    pub fn network(&self) -> NetworkConfig {
        let config = self.config();
        let classes = config.data.as_deref().and_then(Archive::named).map_or(10, |archive| archive.classes.len());
        config.network_config(digits::SIDE * digits::SIDE, classes).expect("recipes are tested")
    }
}

#[cfg(test)]
mod tests {
    use isinglass_net::{Carry, Goal, Initialisation, Surrogate};

    use super::*;

    #[test]
    fn every_recipe_resolves_to_the_network_of_its_name() {
        for recipe in Recipe::ALL {
            let name = recipe.name();
            let config = recipe.config().resolved().unwrap_or_else(|error| panic!("{name}: {error}"));
            let network = recipe.network();
            Initialisation::new(&network).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(config.recipe.as_deref(), Some(name));
            assert_eq!(RunConfig::from_toml(&config.to_toml()), Ok(config.clone()), "{name}");
            let data = if name.starts_with("fashion-mnist-") { "fashion-mnist" } else { "mnist" };
            assert_eq!(config.data.as_deref(), Some(data), "{name}");
            let (kind, number) = name.trim_end_matches("-ste").trim_end_matches("-ensemble").rsplit_once('-').unwrap();
            let number: usize = number.parse().unwrap();
            let hidden = match (kind, number) {
                ("mnist" | "fashion-mnist", 501) => vec![501; 2],
                ("mnist" | "mnist-lrt", _) => vec![number; 3],
                ("mnist-depth" | "mnist-plain" | "mnist-carried", _) => vec![256; number],
                _ => panic!("{name}: which network is this?"),
            };
            assert_eq!((network.inputs, network.hidden, network.classes), (784, hidden, 10), "{name}");
            let surrogate = match name {
                _ if name.ends_with("-ste") => Surrogate::Ste,
                _ if kind == "mnist-lrt" => Surrogate::LrtContinuous,
                _ => Surrogate::Deterministic,
            };
            assert_eq!(config.surrogate, surrogate, "{name}");
            let carry = if kind == "mnist-carried" { Carry::On } else { Carry::Off };
            assert_eq!((config.carry, network.carry), (Some(carry), carry == Carry::On), "{name}");
            assert_eq!(config.samples, [recipe.draws().unwrap_or(1)], "{name}: the report is of the network that is packed");
            assert_eq!(config.goal == Some(Goal::Surrogate), recipe.draws().is_some(), "{name}: polarised means have only one draw");
        }
    }

    #[test]
    fn names_differ_and_descriptions_are_one_line() {
        for (index, recipe) in Recipe::ALL.iter().enumerate() {
            assert_eq!(Recipe::find(recipe.name()).unwrap(), recipe);
            assert!(Recipe::ALL[..index].iter().all(|other| other.name() != recipe.name()));
            assert!(!recipe.about().is_empty() && recipe.about().lines().count() == 1 && recipe.about().chars().count() <= 80);
        }
    }
}
