//! Settings of a training run.

use std::fmt;
use std::str::FromStr;

use isinglass_files::number;
use serde::{Deserialize, Serialize};

use crate::named::{named, serde_as_text};
use crate::{Error, Surrogate};

/// What the run aims for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// A binary network as good as its surrogate: the means are polarised during the run and end at ±1.
    Binary,
    /// The surrogate itself, as the paper trains it.
    Surrogate,
}

named!("goal", Goal { Binary => "binary", Surrogate => "surrogate" });

/// How the means are kept in `[−1, 1]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Means {
    /// `M = clip(βθ)`, and `θ` itself is clipped to `[−1, 1]` after every step.
    Clip,
    /// `M = tanh(βθ)`.
    Tanh,
}

named!("parametrisation of the means", Means { Clip => "clip", Tanh => "tanh" });

/// The order in which layers are polarised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AnnealOrder {
    /// All at once.
    #[default]
    Together,
    /// One after the other, from the inputs to the output, in equal parts of the time. The rate of each layer's means is divided by its `β`, so that they stay as mobile as they were.
    FrontToBack,
}

named!("order of polarisation", AnnealOrder { Together => "together", FrontToBack => "front-to-back" });

/// The rule that turns gradients into steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Optimizer {
    /// Adam, with `β₁ = 0.9`, `β₂ = 0.999`, `ε = 1e-8`.
    Adam,
    /// Plain gradient descent.
    Sgd,
    /// Gradient descent with momentum 0.9.
    Momentum,
    /// RMSprop, with decay 0.99, `ε = 1e-8`.
    Rmsprop,
}

named!("optimizer", Optimizer { Adam => "adam", Sgd => "sgd", Momentum => "momentum", Rmsprop => "rmsprop" });

/// How the learning rate changes over the run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Schedule {
    /// It does not change.
    Constant,
    /// Half a cosine, from the full rate to 0.
    Cosine,
    /// Multiplied by `factor` every `epochs` epochs: `step:10:0.1`.
    Step {
        /// Epochs between changes.
        epochs: usize,
        /// Factor of each change.
        factor: f64,
    },
}

impl Schedule {
    fn check(self) -> Result<(), Error> {
        match self {
            Self::Step { epochs, factor } if epochs == 0 || !(factor > 0.0 && factor <= 1.0) => {
                let factor = number(factor);
                Err(Error::config(format!(
                    "schedule step:{epochs}:{factor}: the number of epochs must be at least 1 and the factor in (0, 1]"
                )))
            }
            _ => Ok(()),
        }
    }

    /// The learning rate's factor in a step (counted from 0) of a run of `steps`, at least one, with `steps_per_epoch` per epoch.
    ///
    /// # Panics
    ///
    /// If `steps_per_epoch`, or the number of epochs between changes, is 0.
    pub fn factor(self, step: u64, steps: u64, steps_per_epoch: u64) -> f64 {
        match self {
            Self::Constant => 1.0,
            Self::Cosine => 0.5 * (1.0 + libm::cos(std::f64::consts::PI * step as f64 / steps as f64)),
            Self::Step { epochs, factor } => libm::pow(factor, (step / steps_per_epoch / epochs as u64) as f64),
        }
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant => f.write_str("constant"),
            Self::Cosine => f.write_str("cosine"),
            Self::Step { epochs, factor } => write!(f, "step:{epochs}:{factor}"),
        }
    }
}

impl FromStr for Schedule {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let unknown = || Error::UnknownName {
            kind: "schedule",
            name: text.to_owned(),
            known: "constant, cosine, step:EPOCHS:FACTOR (step alone is step:10:0.1)".into(),
        };
        let mut parts = text.split(':');
        let schedule = match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some("constant"), None, None, None) => Self::Constant,
            (Some("cosine"), None, None, None) => Self::Cosine,
            (Some("step"), epochs, factor, None) => Self::Step {
                epochs: epochs.map_or(Ok(10), str::parse).map_err(|_| unknown())?,
                factor: factor.map_or(Ok(0.1), str::parse).map_err(|_| unknown())?,
            },
            _ => return Err(unknown()),
        };
        schedule.check()?;
        Ok(schedule)
    }
}

serde_as_text!(Schedule);

/// Settings of a training run. The defaults are those of files for `isinglass train`; see also [`TrainConfig::advised_lr`].
///
/// ```
/// use isinglass_net::{Optimizer, TrainConfig};
///
/// let config = TrainConfig { optimizer: Optimizer::Sgd, lr: 0.1, ..TrainConfig::default() };
/// assert_eq!(config.batch, 64);
/// # Ok::<(), isinglass_net::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct TrainConfig {
    /// What the run aims for.
    pub goal: Goal,
    /// How the means are kept in `[−1, 1]`.
    pub means: Means,
    /// Under [`Goal::Binary`], the fraction of the run before the means are polarised, with `β = 1`.
    pub anneal_from: f64,
    /// Under [`Goal::Binary`], the `β` of the last step; it grows exponentially from 1.
    pub beta: f64,
    /// Under [`Goal::Binary`], the order in which layers are polarised.
    #[serde(skip_serializing_if = "is_default")]
    pub anneal_order: AnnealOrder,
    /// Under [`Goal::Binary`], whether biases make up for what setting the means to ±1 in the last step does to the mean fields of the surrogate.
    #[serde(skip_serializing_if = "is_default")]
    pub bias_correction: bool,
    /// Whether gradients flow through the variance `Σ`.
    pub variance_gradient: bool,
    /// The rule that turns gradients into steps.
    pub optimizer: Optimizer,
    /// The learning rate.
    pub lr: f64,
    /// How the learning rate changes.
    pub schedule: Schedule,
    /// Examples per step.
    pub batch: usize,
    /// Passes over the training examples.
    pub epochs: usize,
    /// Fraction of the training examples to use.
    pub train_fraction: f64,
    /// Fraction of these to hold out for validation.
    pub validation: f64,
    /// The seed of the run's randomness.
    pub seed: u64,
    /// The probability that an input is left out (set to its mean) in a step.
    #[serde(skip_serializing_if = "is_default")]
    pub input_dropout: f64,
    /// The probability that a hidden neuron is left out in a step: a spin becomes a fair coin, a number 0.
    #[serde(skip_serializing_if = "is_default")]
    pub dropout: f64,
    /// `λ`: in every step `θ` (where there is none, the means or weights) shrinks by a fraction `λ` of the learning rate.
    #[serde(skip_serializing_if = "is_default")]
    pub weight_decay: f64,
    /// The probability that is spread over all classes in the targets of the loss.
    #[serde(skip_serializing_if = "is_default")]
    pub label_smoothing: f64,
    /// How far every input is moved in the direction that raises the loss, in the units of the standardised inputs.
    #[serde(skip_serializing_if = "is_default")]
    pub adversarial: f64,
    /// The number of last epochs over whose ends `θ` and biases are averaged; 0 and 1 mean the last alone.
    #[serde(skip_serializing_if = "is_default")]
    pub average: usize,
    /// Pixels by which square images are shifted at random, at most, in each direction.
    #[serde(skip_serializing_if = "is_default")]
    pub augment: usize,
}

/// Settings that are off are left out of files, which older versions then read.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Default for TrainConfig {
    fn default() -> Self {
        Self {
            goal: Goal::Binary,
            means: Means::Tanh,
            anneal_from: 0.6,
            beta: 30.0,
            anneal_order: AnnealOrder::default(),
            bias_correction: false,
            variance_gradient: true,
            optimizer: Optimizer::Adam,
            lr: 1e-2,
            schedule: Schedule::Cosine,
            batch: 64,
            epochs: 30,
            train_fraction: 1.0,
            validation: 0.1,
            seed: 1,
            input_dropout: 0.0,
            dropout: 0.0,
            weight_decay: 0.0,
            label_smoothing: 0.0,
            adversarial: 0.0,
            average: 0,
            augment: 0,
        }
    }
}

impl TrainConfig {
    /// The learning rate that works best with Adam at every depth tried, of plain and of carried networks (`docs/training.md`): larger where means are polarised, since a step must be able
    /// to change a sign.
    pub fn advised_lr(surrogate: Surrogate, goal: Goal) -> f64 {
        if surrogate == Surrogate::Deterministic && goal == Goal::Binary { 3e-2 } else { Self::default().lr }
    }

    /// Checks each setting.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] names the first impossible setting.
    pub fn check(&self) -> Result<(), Error> {
        let require = |holds: bool, message: String| if holds { Ok(()) } else { Err(Error::Config(message)) };
        require(self.batch >= 1, "batch = 0: a step needs at least one example".into())?;
        require(self.batch <= MAX_BATCH, format!("batch = {}: at most {MAX_BATCH} examples per step", self.batch))?;
        require(self.epochs >= 1, "epochs = 0: nothing would be trained".into())?;
        require(self.epochs <= MAX_EPOCHS, format!("epochs = {}: at most {MAX_EPOCHS}", self.epochs))?;
        require(self.lr > 0.0 && self.lr.is_finite(), format!("lr = {}: must be above 0 and finite", number(self.lr)))?;
        self.schedule.check()?;
        require(
            (0.0..1.0).contains(&self.anneal_from),
            format!("anneal-from = {}: must be a fraction of the run, in [0, 1)", number(self.anneal_from)),
        )?;
        require((1.0..=1e4).contains(&self.beta), format!("beta = {}: must be from 1 to 10000", number(self.beta)))?;
        require(
            self.train_fraction > 0.0 && self.train_fraction <= 1.0,
            format!("train-fraction = {}: must be a fraction of the training examples, in (0, 1]", number(self.train_fraction)),
        )?;
        require(
            (0.0..1.0).contains(&self.validation),
            format!("validation = {}: must be a fraction of the training examples, in [0, 1)", number(self.validation)),
        )?;
        for (name, rate) in [("input-dropout", self.input_dropout), ("dropout", self.dropout)] {
            require((0.0..=0.95).contains(&rate), format!("{name} = {}: must be a probability from 0 to 0.95", number(rate)))?;
        }
        let smoothing = self.label_smoothing;
        require((0.0..1.0).contains(&smoothing), format!("label-smoothing = {}: must be a probability in [0, 1)", number(smoothing)))?;
        let adversarial = self.adversarial;
        require(
            (0.0..=MAX_ADVERSARIAL).contains(&adversarial),
            format!("adversarial = {}: must be from 0 to {MAX_ADVERSARIAL} standard deviations of the inputs", number(adversarial)),
        )?;
        let decay = self.weight_decay;
        require(
            decay >= 0.0 && decay * self.lr < 1.0,
            format!("weight-decay = {}: must be at least 0, and its product with the learning rate below 1", number(decay)),
        )?;
        require(self.average <= self.epochs, format!("average = {}: at most as many as there are epochs, {}", self.average, self.epochs))
    }

    /// The `β` of a layer, the `layer`th of `layers` (counted from 0, the output layer last), in a step (counted from 0) of a run of `steps`.
    pub fn beta_at(&self, step: u64, steps: u64, layer: usize, layers: usize) -> f64 {
        let start = self.anneal_from * steps as f64;
        if self.goal == Goal::Surrogate || (step as f64) < start {
            return 1.0;
        }
        let left = (steps as f64 - 1.0 - start).max(1.0);
        let done = (step as f64 - start) / left;
        let own = match self.anneal_order {
            AnnealOrder::Together => done,
            AnnealOrder::FrontToBack => (done * layers as f64 - layer as f64).max(0.0),
        };
        libm::pow(self.beta, own.min(1.0))
    }
}

/// A longer run would never end.
const MAX_EPOCHS: usize = 1_000_000;

/// Examples moved further than this are noise.
const MAX_ADVERSARIAL: f64 = 10.0;

/// With larger batches a step's buffers would exceed the network.
pub(crate) const MAX_BATCH: usize = 65_536;
