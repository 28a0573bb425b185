//! The settings of a run, in one flat table.
//!
//! ```
//! use isinglass_runs::run::RunConfig;
//!
//! let config = RunConfig::from_toml("depth = 10\nsurrogate = \"lrt-binary\"\n")?.resolved()?;
//! assert_eq!(config.neuron.unwrap().to_string(), "logistic:1"); // the surrogate's own
//! assert_eq!(config.train_config()?.batch, 64);
//! assert_eq!(RunConfig::from_toml(&config.to_toml())?, config);
//! assert!(RunConfig::from_toml("dept = 10").unwrap_err().contains("dept"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use isinglass_net::{AnnealOrder, Carry, Features, Goal, Init, Means, NetworkConfig, Neuron, Optimizer, Schedule, Surrogate, TrainConfig};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::RunError;
use super::toml_text::from_toml;
use spellings::{carry_or_truth, is_off, list_of_neurons, neuron_text, on_or_off, one_or_many};

mod advice;
mod resolution;
mod spellings;

pub use advice::Open;
pub use spellings::parse_neuron;

/// Hidden layers, and neurons in each, unless the settings say otherwise.
const DEPTH: usize = 2;
const WIDTH: usize = 512;

/// Everything that decides how a run ends. Keys in files are the names of the flags of `isinglass train`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct RunConfig {
    /// The [recipe](crate::recipe::Recipe) that the settings started from: at its end such a run is packed. The other settings are written out beside it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recipe: Option<String>,
    /// The data set's name; `None` with files of one's own, or for `digits`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    /// Training images of one's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub train_images: Option<PathBuf>,
    /// Their labels; `None` if the images are a CSV file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub train_labels: Option<PathBuf>,
    /// Test images of one's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_images: Option<PathBuf>,
    /// Their labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_labels: Option<PathBuf>,
    /// Where data sets are looked for first. No part of [`RunConfig::hash`]: it changes nothing in the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_dir: Option<PathBuf>,
    /// See [`TrainConfig::train_fraction`].
    pub train_fraction: f64,
    /// See [`TrainConfig::validation`].
    pub validation: f64,

    /// What the columns of the examples are; `None` until the data are known ([`RunConfig::resolved_for`]).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub features: Option<Features>,

    /// Neurons of every hidden layer; excludes `depth` and `width`, the short form for layers of one width.
    #[serde(deserialize_with = "list_of_neurons", skip_serializing_if = "Option::is_none")]
    pub hidden: Option<Vec<usize>>,
    /// Number of hidden layers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<usize>,
    /// Neurons of each of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<usize>,
    /// See [`NetworkConfig::surrogate`].
    pub surrogate: Surrogate,
    /// See [`NetworkConfig::neuron`]; `None` takes the surrogate's own.
    #[serde(with = "neuron_text", skip_serializing_if = "Option::is_none")]
    pub neuron: Option<Neuron>,
    /// See [`NetworkConfig::init`]; `None` is two-point where `sigma_m2` is given, and `auto` otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub init: Option<Init>,
    /// See [`NetworkConfig::sigma_m2`].
    #[serde(alias = "sigma-w2", skip_serializing_if = "Option::is_none")]
    pub sigma_m2: Option<f64>,
    /// See [`NetworkConfig::sigma_b2`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sigma_b2: Option<f64>,
    /// See [`NetworkConfig::tau`].
    pub tau: f64,
    /// Whether fields are carried; `None`, as in files of versions without this key, is [`Carry::Off`]. [`RunConfig::resolved_for`] decides what is left to the theory.
    #[serde(deserialize_with = "carry_or_truth", skip_serializing_if = "Option::is_none")]
    pub carry: Option<Carry>,

    /// See [`TrainConfig::goal`]; `None` is [`Goal::Binary`] where there are binary weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<Goal>,
    /// See [`TrainConfig::means`].
    pub means: Means,
    /// See [`TrainConfig::anneal_from`].
    pub anneal_from: f64,
    /// See [`TrainConfig::beta`].
    pub beta: f64,
    /// See [`TrainConfig::anneal_order`].
    #[serde(skip_serializing_if = "is_off")]
    pub anneal_order: AnnealOrder,
    /// See [`TrainConfig::bias_correction`]; in files `true`, `false`, `"on"` or `"off"`.
    #[serde(deserialize_with = "on_or_off", skip_serializing_if = "is_off")]
    pub bias_correction: bool,
    /// See [`TrainConfig::variance_gradient`]; in files `true`, `false`, `"on"` or `"off"`.
    #[serde(deserialize_with = "on_or_off")]
    pub variance_gradient: bool,
    /// See [`TrainConfig::optimizer`].
    pub optimizer: Optimizer,
    /// See [`TrainConfig::lr`].
    pub lr: f64,
    /// See [`TrainConfig::schedule`].
    pub schedule: Schedule,
    /// See [`TrainConfig::batch`].
    pub batch: usize,
    /// See [`TrainConfig::epochs`].
    pub epochs: usize,
    /// See [`TrainConfig::input_dropout`].
    #[serde(skip_serializing_if = "is_off")]
    pub input_dropout: f64,
    /// See [`TrainConfig::dropout`].
    #[serde(skip_serializing_if = "is_off")]
    pub dropout: f64,
    /// See [`TrainConfig::weight_decay`].
    #[serde(skip_serializing_if = "is_off")]
    pub weight_decay: f64,
    /// See [`TrainConfig::label_smoothing`].
    #[serde(skip_serializing_if = "is_off")]
    pub label_smoothing: f64,
    /// See [`TrainConfig::adversarial`].
    #[serde(skip_serializing_if = "is_off")]
    pub adversarial: f64,
    /// See [`TrainConfig::average`].
    #[serde(skip_serializing_if = "is_off")]
    pub average: usize,
    /// See [`TrainConfig::augment`].
    #[serde(skip_serializing_if = "is_off")]
    pub augment: usize,
    /// See [`TrainConfig::seed`].
    pub seed: u64,
    /// Numbers of stochastic binary networks that the final report averages over.
    #[serde(deserialize_with = "one_or_many")]
    pub samples: Vec<usize>,
}

impl Default for RunConfig {
    fn default() -> Self {
        let (network, train) = (NetworkConfig::default(), TrainConfig::default());
        Self {
            recipe: None,
            data: None,
            train_images: None,
            train_labels: None,
            test_images: None,
            test_labels: None,
            data_dir: None,
            train_fraction: train.train_fraction,
            validation: train.validation,
            features: None,
            hidden: None,
            depth: None,
            width: None,
            surrogate: network.surrogate,
            neuron: None,
            init: None,
            sigma_m2: None,
            sigma_b2: None,
            tau: network.tau,
            carry: None,
            goal: None,
            means: train.means,
            anneal_from: train.anneal_from,
            beta: train.beta,
            anneal_order: train.anneal_order,
            bias_correction: train.bias_correction,
            variance_gradient: train.variance_gradient,
            optimizer: train.optimizer,
            lr: train.lr,
            schedule: train.schedule,
            batch: train.batch,
            epochs: train.epochs,
            input_dropout: train.input_dropout,
            dropout: train.dropout,
            weight_decay: train.weight_decay,
            label_smoothing: train.label_smoothing,
            adversarial: train.adversarial,
            average: train.average,
            augment: train.augment,
            seed: train.seed,
            samples: vec![10],
        }
    }
}

impl RunConfig {
    /// Reads settings; what is not set has its default.
    ///
    /// # Errors
    ///
    /// A sentence that names the key and the line.
    pub fn from_toml(text: &str) -> Result<Self, String> {
        from_toml(text)
    }

    /// Reads a file of settings. Relative paths in it start from its directory.
    ///
    /// # Errors
    ///
    /// [`RunError::Read`] and [`RunError::Config`].
    pub fn read(path: &Path) -> Result<Self, RunError> {
        let text = isinglass_files::read_to_string(path).map_err(RunError::read(path))?;
        let mut config = Self::from_toml(&text).map_err(|reason| RunError::Config { path: path.to_owned(), reason })?;
        let directory = isinglass_files::directory_of(path);
        for file in config.paths() {
            *file = directory.join(&*file);
        }
        Ok(config)
    }

    /// The settings as a file.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("checked: every value has a place in TOML")
    }

    pub(crate) fn paths(&mut self) -> impl Iterator<Item = &mut PathBuf> {
        [&mut self.train_images, &mut self.train_labels, &mut self.test_images, &mut self.test_labels, &mut self.data_dir]
            .into_iter()
            .flatten()
    }

    /// Neurons of every hidden layer.
    pub fn hidden_layers(&self) -> Vec<usize> {
        let equal = || vec![self.width.unwrap_or(WIDTH); self.depth.unwrap_or(DEPTH)];
        self.hidden.clone().unwrap_or_else(equal)
    }

    /// The initialisation: two-point where a variance is given and no name, `auto` where neither is.
    pub fn init_or_default(&self) -> Init {
        self.init.unwrap_or(if self.sigma_m2.is_some() { Init::TwoPoint } else { Init::Auto })
    }

    /// The neuron: the surrogate's own where none is given.
    fn neuron_or_default(&self) -> Neuron {
        self.neuron.unwrap_or_else(|| self.surrogate.default_neuron())
    }

    /// The goal: a binary network where none is given and there are binary weights.
    fn goal_or_default(&self) -> Goal {
        self.goal.unwrap_or(if self.surrogate.has_binary_weights() { Goal::Binary } else { Goal::Surrogate })
    }

    /// The network's part. Inputs and classes come from the data.
    ///
    /// # Errors
    ///
    /// Those of [`NetworkConfig::check`].
    pub fn network_config(&self, inputs: usize, classes: usize) -> Result<NetworkConfig, RunError> {
        let mut config = NetworkConfig {
            inputs,
            classes,
            hidden: self.checked_hidden()?,
            surrogate: self.surrogate,
            neuron: self.neuron_or_default(),
            init: self.init_or_default(),
            sigma_m2: self.sigma_m2,
            sigma_b2: self.sigma_b2,
            tau: self.tau,
            carry: false,
        };
        config.carry = self.carry.unwrap_or(Carry::Off).resolve(&config)?.carry;
        config.check()?;
        Ok(config)
    }

    /// The hidden layers, unless a number of them was meant for something else: room for the list is made only then.
    fn checked_hidden(&self) -> Result<Vec<usize>, RunError> {
        const MOST: usize = 10_000;
        match self.depth {
            Some(depth) if depth > MOST => Err(RunError::Setting(format!("depth = {depth}: at most {MOST} hidden layers"))),
            _ => Ok(self.hidden_layers()),
        }
    }

    /// The training's part.
    ///
    /// # Errors
    ///
    /// Those of [`TrainConfig::check`].
    pub fn train_config(&self) -> Result<TrainConfig, RunError> {
        let config = TrainConfig {
            goal: self.goal_or_default(),
            means: self.means,
            anneal_from: self.anneal_from,
            beta: self.beta,
            anneal_order: self.anneal_order,
            bias_correction: self.bias_correction,
            variance_gradient: self.variance_gradient,
            optimizer: self.optimizer,
            lr: self.lr,
            schedule: self.schedule,
            batch: self.batch,
            epochs: self.epochs,
            train_fraction: self.train_fraction,
            validation: self.validation,
            seed: self.seed,
            input_dropout: self.input_dropout,
            dropout: self.dropout,
            weight_decay: self.weight_decay,
            label_smoothing: self.label_smoothing,
            adversarial: self.adversarial,
            average: self.average,
            augment: self.augment,
        };
        config.check()?;
        Ok(config)
    }

    /// All settings as JSON, keys in order.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).expect("settings are numbers and texts")
    }

    /// Twelve hexadecimal digits that differ between settings: the start of the SHA-256 of their JSON with sorted keys.
    pub fn hash(&self) -> String {
        let config = Self { data_dir: None, ..self.clone() };
        let sorted: BTreeMap<String, Value> = serde_json::from_value(config.to_json()).expect("settings are an object");
        let text = serde_json::to_string(&sorted).expect("a value is JSON");
        isinglass_data::sha256_of(text.as_bytes())[..12].to_owned()
    }
}

/// Checks numbers of sampled networks.
///
/// # Errors
///
/// [`RunError::Setting`] for none at all, or too many.
pub fn check_samples(samples: &[usize]) -> Result<(), RunError> {
    const MOST: usize = 1_000_000;
    match samples.iter().find(|&&count| count == 0 || count > MOST) {
        Some(count) => Err(RunError::Setting(format!("samples = {count}: from 1 to {MOST} networks can be sampled"))),
        None => Ok(()),
    }
}
