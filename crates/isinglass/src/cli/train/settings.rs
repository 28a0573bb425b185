//! The settings of a run as flags. A flag that is not given leaves the setting as it is.

use std::str::FromStr;

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use isinglass_lab::run::{RunConfig, parse_neuron};
use isinglass_net::{AnnealOrder, Carry, Goal, Init, Means, Neuron, Optimizer, Schedule, Surrogate};

/// Puts what was given in place of what is there.
fn set<T: Clone>(setting: &mut T, given: &Option<T>) {
    if let Some(given) = given {
        setting.clone_from(given);
    }
}

/// A choice by name. The parser knows the names, so that shells complete them and misspelt ones are answered with the nearest.
fn among<T: Copy + FromStr<Err = isinglass_net::Error> + Send + Sync + 'static>(
    all: &'static [T],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.iter().map(|&choice| name(choice))).try_map(|name| name.parse())
}

/// An initialisation: one of the names, or `aligned:K`.
#[derive(Clone)]
struct InitParser;

impl TypedValueParser for InitParser {
    type Value = Init;

    fn parse_ref(&self, command: &clap::Command, argument: Option<&clap::Arg>, value: &std::ffi::OsStr) -> Result<Init, clap::Error> {
        match value.to_str() {
            Some(text) if text.starts_with("aligned:") => {
                clap::builder::StringValueParser::new().try_map(|text| text.parse()).parse_ref(command, argument, value)
            }
            _ => among(Init::ALL, Init::name).parse_ref(command, argument, value),
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = clap::builder::PossibleValue> + '_>> {
        Some(Box::new(Init::ALL.iter().map(|init| clap::builder::PossibleValue::new(init.name()))))
    }
}

/// Which examples are used for what.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Data")]
pub struct SelectionArgs {
    /// Fraction of the training examples to use [default: 1]
    #[arg(long, value_name = "FRACTION", allow_hyphen_values = true)]
    train_fraction: Option<f64>,

    /// Fraction of these to hold out for validation, which chooses the best checkpoint [default: 0.1]
    #[arg(long, value_name = "FRACTION", allow_hyphen_values = true)]
    validation: Option<f64>,

    /// Number of stochastic binary networks to average over in the final report; several numbers are allowed (5,100) [default: 10]
    #[arg(long, value_name = "K", value_delimiter = ',', num_args = 1, allow_hyphen_values = true)]
    samples: Option<Vec<usize>>,

    /// Random seed: equal seeds give equal bits [default: 1]
    #[arg(long, allow_hyphen_values = true)]
    seed: Option<u64>,
}

impl SelectionArgs {
    pub fn apply(&self, config: &mut RunConfig) {
        set(&mut config.train_fraction, &self.train_fraction);
        set(&mut config.validation, &self.validation);
        set(&mut config.samples, &self.samples);
        set(&mut config.seed, &self.seed);
    }
}

/// Shape and kind of the network.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Network")]
pub struct NetworkArgs {
    /// Neurons in each hidden layer, from the input on; excludes --depth and --width
    #[arg(long, value_name = "N,N,…", value_delimiter = ',', num_args = 1, allow_hyphen_values = true, conflicts_with_all = ["depth", "width"])]
    hidden: Option<Vec<usize>>,

    /// Number of hidden layers [default: 2]
    #[arg(long, allow_hyphen_values = true)]
    depth: Option<usize>,

    /// Neurons per hidden layer [default: 512]
    #[arg(long, allow_hyphen_values = true)]
    width: Option<usize>,

    /// deterministic, lrt-binary, lrt-continuous, continuous (real weights, no binary network) or ste (straight-through) [default: deterministic]
    #[arg(long, value_name = "NAME", value_parser = among(Surrogate::ALL, Surrogate::name), hide_possible_values = true)]
    surrogate: Option<Surrogate>,

    /// sign, probit:α, logistic:α, erf:a (= erf(a·h)), tanh:k (= tanh(k·h)) [default: sign, for lrt-binary logistic:1, for lrt-continuous and continuous tanh:1]
    #[arg(long, value_name = "NAME", allow_hyphen_values = true, value_parser = parse_neuron)]
    neuron: Option<Neuron>,

    /// Add each hidden layer's field to the previous one, from the second layer on, where widths are equal: auto (if the theory says that plain layers cannot reach the depth, or only with means that can hardly change sign), on or off; without a value: on [default: auto; with --config: the file's, else off]
    #[arg(long, value_name = "auto|on|off", num_args = 0..=1, default_missing_value = "on", value_parser = among(Carry::ALL, Carry::name), hide_possible_values = true)]
    carry: Option<Carry>,

    /// Factor τ between the output layer's field and the logits [default: 1]
    #[arg(long, value_name = "τ", allow_hyphen_values = true)]
    tau: Option<f64>,
}

impl NetworkArgs {
    pub fn apply(&self, config: &mut RunConfig) {
        // A list on the command line replaces both numbers of the file, and a number its list.
        if self.hidden.is_some() {
            (config.depth, config.width) = (None, None);
            config.hidden.clone_from(&self.hidden);
        } else if self.depth.is_some() || self.width.is_some() {
            config.hidden = None;
        }
        config.depth = self.depth.or(config.depth);
        config.width = self.width.or(config.width);
        if let Some(surrogate) = self.surrogate
            && surrogate != config.surrogate
        {
            // Another surrogate has another neuron and perhaps another goal, unless they are named too.
            config.surrogate = surrogate;
            config.neuron = None;
            config.goal = None;
        }
        config.neuron = self.neuron.or(config.neuron);
        set(&mut config.tau, &self.tau);
        config.carry = self.carry.or(config.carry);
    }
}

/// How means and biases are drawn.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Initialisation")]
pub struct InitArgs {
    /// auto (the smallest σ_m² that carries signals through the depth), critical (what `theory advise` recommends), two-point, hadamard (two-point with orthogonal rows or columns), aligned[:K] (uniform, and each layer reads the K directions that the one below writes; K is 1/16 of the narrowest layer, at least 8, unless given), clipped-gaussian, uniform, glorot or he [default: auto; with --sigma-m2: two-point]
    #[arg(long, value_name = "NAME", value_parser = InitParser, hide_possible_values = true)]
    init: Option<Init>,

    /// Variance of the means, at most 1; of the weights for surrogate continuous [default: chosen by --init]
    #[arg(long, value_name = "σ_m²", alias = "sigma-w2", allow_hyphen_values = true)]
    sigma_m2: Option<f64>,

    /// Variance of the biases [default: chosen by --init]
    #[arg(long, value_name = "σ_b²", allow_hyphen_values = true)]
    sigma_b2: Option<f64>,
}

impl InitArgs {
    pub fn apply(&self, config: &mut RunConfig) {
        if self.init.is_some_and(|init| init != config.init_or_default()) {
            // The file's variances belong to the file's initialisation.
            config.init = self.init;
            config.sigma_m2 = None;
            config.sigma_b2 = None;
        } else if self.sigma_m2.is_some() && self.init.is_none() && matches!(config.init, Some(Init::Auto | Init::Critical)) {
            // A variance on the command line replaces the file's choice of one.
            config.init = None;
        }
        config.init = self.init.or(config.init);
        config.sigma_m2 = self.sigma_m2.or(config.sigma_m2);
        config.sigma_b2 = self.sigma_b2.or(config.sigma_b2);
    }
}

/// How means stay in [−1, 1] and become ±1.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Means and polarisation")]
pub struct MeansArgs {
    /// binary: polarise the means, so that sign(M) is as good as the surrogate; surrogate: train as in the paper [default: binary if the weights are binary]
    #[arg(long, value_name = "NAME", value_parser = among(Goal::ALL, Goal::name), hide_possible_values = true)]
    goal: Option<Goal>,

    /// tanh: M = tanh(βθ), or clip: M = θ clipped to [−1, 1] [default: tanh]
    #[arg(long, value_name = "NAME", value_parser = among(Means::ALL, Means::name), hide_possible_values = true)]
    means: Option<Means>,

    /// Fraction of the run after which β starts to rise from 1 [default: 0.6; 0.2 if surrogate deterministic is polarised and its layers are plain and aligned, and --config is not given]
    #[arg(long, value_name = "FRACTION", allow_hyphen_values = true)]
    anneal_from: Option<f64>,

    /// β at the last step [default: 30]
    #[arg(long, value_name = "β", allow_hyphen_values = true)]
    beta: Option<f64>,

    /// together: polarise all layers at once; front-to-back: one after the other, from the inputs on [default: together]
    #[arg(long, value_name = "NAME", value_parser = among(AnnealOrder::ALL, AnnealOrder::name), hide_possible_values = true)]
    anneal_order: Option<AnnealOrder>,

    /// Whether biases make up for what setting the means to ±1 in the last step does to the mean fields; without a value: on [default: off; on with --adversarial if surrogate deterministic is polarised, its neurons have no noise of their own, and neither --config nor --recipe is given]
    #[arg(long, value_enum, value_name = "on|off", num_args = 0..=1, default_missing_value = "on", hide_possible_values = true)]
    bias_correction: Option<Switch>,

    /// Whether gradients flow through the variance Σ of the fields [default: on]
    #[arg(long, value_enum, value_name = "on|off", hide_possible_values = true)]
    variance_gradient: Option<Switch>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

impl MeansArgs {
    /// Whether the beginning of polarisation is given.
    pub fn has_anneal_from(&self) -> bool {
        self.anneal_from.is_some()
    }

    /// Whether the correction of biases is chosen.
    pub fn has_bias_correction(&self) -> bool {
        self.bias_correction.is_some()
    }

    pub fn apply(&self, config: &mut RunConfig) {
        config.goal = self.goal.or(config.goal);
        set(&mut config.means, &self.means);
        set(&mut config.anneal_from, &self.anneal_from);
        set(&mut config.beta, &self.beta);
        set(&mut config.anneal_order, &self.anneal_order);
        set(&mut config.bias_correction, &self.bias_correction.map(|switch| switch == Switch::On));
        set(&mut config.variance_gradient, &self.variance_gradient.map(|switch| switch == Switch::On));
    }
}

/// Steps and their size.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Optimisation")]
pub struct OptimiserArgs {
    /// adam, sgd, momentum or rmsprop [default: adam]
    #[arg(long, value_name = "NAME", value_parser = among(Optimizer::ALL, Optimizer::name), hide_possible_values = true)]
    optimizer: Option<Optimizer>,

    /// Learning rate [default: 0.01; 0.03 if surrogate deterministic is polarised with adam, unless its layers are plain and aligned, and --config is not given]
    #[arg(long, allow_hyphen_values = true)]
    lr: Option<f64>,

    /// constant, cosine or step:EPOCHS:FACTOR [default: cosine]
    #[arg(long, value_name = "NAME")]
    schedule: Option<Schedule>,

    /// Examples per step [default: 64]
    #[arg(long, allow_hyphen_values = true)]
    batch: Option<usize>,

    /// Passes over the training examples [default: 30]
    #[arg(long, allow_hyphen_values = true)]
    epochs: Option<usize>,
}

impl OptimiserArgs {
    /// Whether the learning rate is given.
    pub fn has_rate(&self) -> bool {
        self.lr.is_some()
    }

    pub fn apply(&self, config: &mut RunConfig) {
        set(&mut config.optimizer, &self.optimizer);
        set(&mut config.lr, &self.lr);
        set(&mut config.schedule, &self.schedule);
        set(&mut config.batch, &self.batch);
        set(&mut config.epochs, &self.epochs);
    }
}

/// What keeps the network from learning its training examples by heart.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Regularisation")]
pub struct RegularisationArgs {
    /// Probability of dropping an input in a step [default: 0]
    #[arg(long, value_name = "PROBABILITY", allow_hyphen_values = true)]
    input_dropout: Option<f64>,

    /// Probability of dropping a hidden neuron in a step: a spin becomes a fair coin, a real neuron (or one of ste) 0 [default: 0]
    #[arg(long, value_name = "PROBABILITY", allow_hyphen_values = true)]
    dropout: Option<f64>,

    /// Shrink θ in every step by this multiple of the learning rate [default: 0]
    #[arg(long, value_name = "λ", allow_hyphen_values = true)]
    weight_decay: Option<f64>,

    /// Probability mass of the targets that is spread over all classes [default: 0]
    #[arg(long, value_name = "PROBABILITY", allow_hyphen_values = true)]
    label_smoothing: Option<f64>,

    /// Train on adversarial examples: every input moved by ε (in standard deviations) in the direction that raises the loss [default: 0]
    #[arg(long, value_name = "ε", allow_hyphen_values = true)]
    adversarial: Option<f64>,

    /// Average θ and biases over the last N epoch ends [default: 0, no averaging]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    average: Option<usize>,

    /// Shift square images at random by up to this many pixels in every step; without a value: 2 [default: 0]
    #[arg(long, value_name = "PIXELS", num_args = 0..=1, default_missing_value = "2")]
    augment: Option<usize>,
}

impl RegularisationArgs {
    pub fn apply(&self, config: &mut RunConfig) {
        set(&mut config.input_dropout, &self.input_dropout);
        set(&mut config.dropout, &self.dropout);
        set(&mut config.weight_decay, &self.weight_decay);
        set(&mut config.label_smoothing, &self.label_smoothing);
        set(&mut config.adversarial, &self.adversarial);
        set(&mut config.average, &self.average);
        set(&mut config.augment, &self.augment);
    }
}
