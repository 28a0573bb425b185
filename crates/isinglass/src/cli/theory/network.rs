//! The flags that name a network and its initialisation.

use isinglass_files::nearest;
use isinglass_lab::run::parse_neuron;
use isinglass_theory::{MeanField, Model, RandomNetwork, WeightVariance};

use crate::cli::CliError;
use crate::cli::answer::{Record, number};
pub use crate::cli::output::{FormatArgs, OutputArgs, usage};

/// Which network.
#[derive(Debug, Clone, clap::Args)]
pub struct NetworkArgs {
    /// Model: continuous, deterministic, lrt-binary, lrt-continuous, binary, stochastic-binary, stochastic-weights or stochastic-neurons
    #[arg(long, default_value = "deterministic")]
    pub model: String,

    /// Neuron: sign, probit:α, logistic:α, erf:a (= erf(a·h)), tanh:k (= tanh(k·h)); for model continuous also relu and linear
    #[arg(long, default_value = "sign", allow_hyphen_values = true)]
    pub neuron: String,
}

impl NetworkArgs {
    pub(crate) fn network(&self) -> Result<RandomNetwork, CliError> {
        let unknown = |error| {
            let meant = nearest(&self.model, Model::ALL.map(Model::name));
            meant.map_or(CliError::Theory(error), |meant| usage(format!("unknown model {:?}: did you mean {meant}?", self.model)))
        };
        let model: Model = self.model.parse().map_err(unknown)?;
        let neuron = parse_neuron(&self.neuron).map_err(usage)?;
        Ok(RandomNetwork::new(model, neuron)?)
    }
}

/// Which initialisation.
#[derive(Debug, Clone, clap::Args)]
pub struct VarianceArgs {
    /// Variance of the means of the binary weights, at most 1
    #[arg(long, value_name = "σ_m²", allow_hyphen_values = true)]
    pub sigma_m2: Option<f64>,

    /// Variance of real weights (models continuous and stochastic-neurons)
    #[arg(long, value_name = "σ_w²", allow_hyphen_values = true)]
    pub sigma_w2: Option<f64>,

    /// Variance of the biases
    #[arg(long, value_name = "σ_b²", default_value_t = 0.0, allow_hyphen_values = true)]
    pub sigma_b2: f64,
}

impl VarianceArgs {
    /// The network at these variances.
    pub(crate) fn field(&self, network: &RandomNetwork) -> Result<MeanField, CliError> {
        let model = network.model();
        let sigma2 = match (model.weight_variance(), self.sigma_m2, self.sigma_w2) {
            (WeightVariance::Means, Some(sigma2), None) | (WeightVariance::Weights, None, Some(sigma2)) => Some(sigma2),
            (WeightVariance::None, None, None) => None,
            (WeightVariance::Means, _, Some(_)) => {
                return Err(usage(format!("model {model} takes no --sigma-w2: give --sigma-m2, the variance of its weights' means")));
            }
            (WeightVariance::Weights, Some(_), _) => {
                return Err(usage(format!("model {model} takes no --sigma-m2: give --sigma-w2, the variance of its weights")));
            }
            (WeightVariance::Means, None, None) => {
                return Err(usage(format!("model {model} needs --sigma-m2, the variance of its weights' means (between 0 and 1)")));
            }
            (WeightVariance::Weights, None, None) => {
                return Err(usage(format!("model {model} needs --sigma-w2, the variance of its weights")));
            }
            (WeightVariance::None, ..) => {
                return Err(usage(format!(
                    "model {model} takes neither --sigma-m2 nor --sigma-w2: its weights are random ±1, only --sigma-b2 can be chosen"
                )));
            }
        };
        Ok(network.at(sigma2, self.sigma_b2)?)
    }
}

/// `sigma_m2` or `sigma_w2`, as results name it.
pub fn weight_variance_key(model: Model) -> Option<&'static str> {
    match model.weight_variance() {
        WeightVariance::Means => Some("sigma_m2"),
        WeightVariance::Weights => Some("sigma_w2"),
        WeightVariance::None => None,
    }
}

/// The same with the markup of charts.
fn weight_variance_symbol(model: Model) -> &'static str {
    match model.weight_variance() {
        WeightVariance::Means => "σ_m^2",
        WeightVariance::Weights => "σ_w^2",
        WeightVariance::None => "",
    }
}

/// The same as the label of an axis.
pub fn weight_variance_axis(model: Model) -> &'static str {
    match model.weight_variance() {
        WeightVariance::Means => "variance of the means, σ_m^2",
        WeightVariance::Weights => "variance of the weights, σ_w^2",
        WeightVariance::None => "no variance of weights to choose",
    }
}

/// The label of the biases' axis.
pub const BIAS_AXIS: &str = "variance of the biases, σ_b^2";

/// `model`, `neuron`.
pub fn describe_network(network: &RandomNetwork) -> Record {
    let mut record = Record::new();
    record.insert("model".into(), network.model().name().into());
    record.insert("neuron".into(), network.neuron().map(|neuron| neuron.to_string()).into());
    record
}

/// `sigma_m2` or `sigma_w2` if there is one, then `sigma_b2`.
pub fn describe_variances(model: Model, sigma2: Option<f64>, sigma_b2: f64) -> Record {
    let mut record = Record::new();
    if let Some(key) = weight_variance_key(model) {
        record.insert(key.into(), number(sigma2));
    }
    record.insert("sigma_b2".into(), number(sigma_b2));
    record
}

/// `deterministic, sign, σ_m² = 0.9, σ_b² = 0.001`, for titles.
pub fn title(field: &MeanField) -> String {
    let network = field.network();
    let mut words = network_title(network);
    if let Some(sigma2) = field.sigma2() {
        words.push_str(&format!(", {} = {sigma2}", weight_variance_symbol(network.model())));
    }
    words.push_str(&format!(", σ_b^2 = {}", field.sigma_b2()));
    words
}

/// `deterministic, sign`, for titles.
pub fn network_title(network: &RandomNetwork) -> String {
    let neuron = network.neuron().map(|neuron| neuron.to_string()).unwrap_or_default();
    format!("{}, {neuron}", network.model())
}
