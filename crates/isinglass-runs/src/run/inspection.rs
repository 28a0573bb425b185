//! What a network consists of, and what it looks like inside.

use std::fmt;

use isinglass_data::Dataset;
use isinglass_net::{Diagnosis, Examples, Initialisation, Layer, LayerDiagnosis, LayerSpec, Network, Partition};
use serde::{Deserialize, Serialize};

use super::RunError;
use super::data::{check_fit, examples};

/// Examples that go through a network to look inside.
const EXAMPLES: usize = 1000;

/// A network's parts and their diagnosis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Inspection {
    /// The whole.
    pub network: NetworkSummary,
    /// How it was drawn.
    pub initialisation: InitialisationSummary,
    /// Layer by layer, the output layer last.
    pub layers: Vec<LayerSummary>,
}

/// The size of a network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NetworkSummary {
    /// `784-512×2-10`.
    pub shape: String,
    /// The surrogate's name.
    pub surrogate: String,
    /// The neuron's name.
    pub neuron: String,
    /// Size of all layers.
    #[serde(flatten)]
    pub size: Size,
}

/// `784-512×2-10, deterministic, sign`.
impl fmt::Display for NetworkSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}, {}", self.shape, self.surrogate, self.neuron)
    }
}

/// What parameters there are, and the memory they take.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Size {
    /// Parameters of one bit: weights, where they are binary.
    pub binary_parameters: usize,
    /// Parameters of 32 bits: biases, and weights that are not binary.
    pub float_parameters: usize,
    /// Bits of all parameters together.
    pub bits: usize,
    /// Bytes of the binary network, weights packed.
    pub bytes: usize,
    /// Bytes of a network of the same shape with 32-bit weights.
    pub float32_bytes: usize,
}

impl Size {
    fn of_layer(spec: &LayerSpec) -> Self {
        let (weights, biases, binary) = (spec.weights(), spec.outputs(), spec.has_binary_weights());
        let (binary_parameters, float_parameters) = if binary { (weights, biases) } else { (0, weights + biases) };
        let bits = binary_parameters + 32 * float_parameters;
        Self { binary_parameters, float_parameters, bits, bytes: bits.div_ceil(8), float32_bytes: 4 * (weights + biases) }
    }

    /// The size of a network with these layers.
    pub fn of_layers<'a>(layers: impl IntoIterator<Item = &'a LayerSpec>) -> Self {
        layers.into_iter().map(Self::of_layer).fold(Self::default(), |a, b| Self {
            binary_parameters: a.binary_parameters + b.binary_parameters,
            float_parameters: a.float_parameters + b.float_parameters,
            bits: a.bits + b.bits,
            bytes: a.bytes + b.bytes,
            float32_bytes: a.float32_bytes + b.float32_bytes,
        })
    }
}

/// What the initialisation came to, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InitialisationSummary {
    /// The distribution's name.
    pub distribution: String,
    /// `σ_m²` (or `σ_w²`) that was asked of it; `None` where the shape decides.
    pub sigma_m2: Option<f64>,
    /// `σ_b²`.
    pub sigma_b2: f64,
    /// Why, in a sentence.
    pub reason: String,
}

impl From<Initialisation> for InitialisationSummary {
    fn from(initialisation: Initialisation) -> Self {
        Self {
            distribution: initialisation.distribution.to_string(),
            sigma_m2: initialisation.sigma2,
            sigma_b2: initialisation.sigma_b2,
            reason: initialisation.reason,
        }
    }
}

/// One layer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LayerSummary {
    /// What it looks like.
    #[serde(flatten)]
    pub diagnosis: LayerDiagnosis,
    /// Mean square of the means before training.
    pub initial_sigma_m2: f64,
    /// How large it is.
    #[serde(flatten)]
    pub size: Size,
}

impl Inspection {
    /// Looks inside a network with some of the run's training examples. The network before training is drawn again from its seed.
    ///
    /// # Errors
    ///
    /// If data and network do not fit, or the network was not drawn.
    pub fn new(network: &Network, data: &Dataset, partition: &Partition, threads: usize) -> Result<Self, RunError> {
        check_fit(network.config(), data)?;
        Self::with_examples(network, &examples(&data.train, network.config().classes)?, partition.train(), threads)
    }

    /// The same with examples in memory, as many of those at `indices` as are needed.
    ///
    /// # Errors
    ///
    /// Those of [`Inspection::new`].
    pub fn with_examples(network: &Network, examples: &Examples<'_>, indices: &[u32], threads: usize) -> Result<Self, RunError> {
        let config = network.config();
        let mut diagnosis = diagnose(network, examples, indices, threads)?;
        let (Some(initial), Some(initialisation)) = (network.initial()?, network.initialisation()) else {
            return Err(RunError::Setting(
                "the network's layers were given, not drawn: there is no initial network to compare it with".into(),
            ));
        };
        diagnosis.count_flips(network, &initial)?;
        let layers = diagnosis.layers.into_iter().zip(network.layers()).zip(initial.layers());
        let layers = layers.map(|((diagnosis, layer), initial)| LayerSummary {
            diagnosis,
            initial_sigma_m2: mean_square(initial.means()),
            size: Size::of_layer(layer.spec()),
        });
        Ok(Self {
            network: NetworkSummary {
                shape: config.shape(),
                surrogate: config.surrogate.to_string(),
                neuron: config.neuron.to_string(),
                size: Size::of_layers(network.layers().iter().map(Layer::spec)),
            },
            initialisation: initialisation.clone().into(),
            layers: layers.collect(),
        })
    }
}

/// The diagnosis on some of the training examples.
pub(crate) fn diagnose(network: &Network, examples: &Examples<'_>, indices: &[u32], threads: usize) -> Result<Diagnosis, RunError> {
    Ok(Diagnosis::new(network, examples, &indices[..indices.len().min(EXAMPLES)], threads)?)
}

fn mean_square(values: &[f32]) -> f64 {
    values.iter().map(|&value| f64::from(value) * f64::from(value)).sum::<f64>() / values.len() as f64
}
