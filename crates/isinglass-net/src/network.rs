//! A network: its shape, its means and biases, and how bytes become its inputs.
//!
//! ```
//! use isinglass_net::{Init, NetworkConfig, Rng};
//!
//! let config = NetworkConfig { inputs: 784, depth: 3, width: 101, init: Init::TwoPoint, sigma_m2: Some(0.81), ..NetworkConfig::default() };
//! let network = config.init(&mut Rng::new(1))?;
//! assert_eq!(network.layers.len(), 4); // three hidden layers and the output
//! assert_eq!(network.layers[1].means.len(), 101 * 101);
//! assert!(network.layers[1].means.iter().all(|m| m.abs() == 0.9));
//! # Ok::<(), isinglass_net::Error>(())
//! ```

use isinglass_theory::Neuron;
use serde::{Deserialize, Serialize};

use crate::{Error, Init, Initialisation, Rng, Surrogate};

/// Shape, neurons and initialisation of a network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct NetworkConfig {
    /// Inputs, e.g. pixels.
    pub inputs: usize,
    /// Hidden layers.
    pub depth: usize,
    /// Neurons per hidden layer.
    pub width: usize,
    /// Outputs.
    pub classes: usize,
    /// How the binary network is made differentiable.
    pub surrogate: Surrogate,
    /// The neurons.
    #[serde(with = "neuron_text")]
    pub neuron: Neuron,
    /// How the means are drawn.
    pub init: Init,
    /// `σ_m²`, the variance of the means (`σ_w²` of real weights); `None` leaves it to [`Init`].
    pub sigma_m2: Option<f64>,
    /// `σ_b²`, the variance of the biases; `None` leaves it to [`Init`].
    pub sigma_b2: Option<f64>,
    /// `τ`: logits are `τ` times the output field.
    pub tau: f64,
}

impl Default for NetworkConfig {
    fn default() -> Self {
        Self {
            inputs: 784,
            depth: 2,
            width: 512,
            classes: 10,
            surrogate: Surrogate::Deterministic,
            neuron: Neuron::Sign,
            init: Init::Auto,
            sigma_m2: None,
            sigma_b2: None,
            tau: 1.0,
        }
    }
}

impl NetworkConfig {
    /// Checks that there is such a network.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] names what is impossible.
    pub fn check(&self) -> Result<(), Error> {
        let require = |holds: bool, message: String| if holds { Ok(()) } else { Err(Error::Config(message)) };
        require(self.inputs >= 1, "inputs = 0: there is nothing to look at".into())?;
        require(self.width >= 1 || self.depth == 0, "width = 0: a layer has at least one neuron".into())?;
        require(self.depth >= 1, "depth = 0: the network needs at least one hidden layer".into())?;
        require(self.classes >= 2, format!("classes = {}: there is nothing to tell apart", self.classes))?;
        require(self.classes <= MAX_CLASSES, format!("classes = {}: at most {MAX_CLASSES}, since labels are bytes", self.classes))?;
        require(self.width.max(self.inputs) <= MAX_WIDTH, format!("width = {}: at most {MAX_WIDTH}", self.width.max(self.inputs)))?;
        require(self.depth <= MAX_DEPTH, format!("depth = {}: at most {MAX_DEPTH}", self.depth))?;
        require(self.tau > 0.0 && self.tau.is_finite(), format!("tau = {}: the scale of the logits is above 0", self.tau))?;
        let sigma_b2 = self.sigma_b2.unwrap_or(0.0);
        require(sigma_b2 >= 0.0 && sigma_b2.is_finite(), format!("σ_b² = {sigma_b2}: a variance is not negative"))?;
        self.surrogate.check_neuron(self.neuron)?;
        Initialisation::new(self).map(drop)
    }

    /// `(inputs, outputs)` of every layer, the output layer last.
    pub fn shapes(&self) -> Vec<(usize, usize)> {
        let mut sizes = vec![self.inputs];
        sizes.extend(std::iter::repeat_n(self.width, self.depth));
        sizes.push(self.classes);
        sizes.windows(2).map(|pair| (pair[0], pair[1])).collect()
    }

    /// Draws a network.
    ///
    /// # Errors
    ///
    /// Those of [`NetworkConfig::check`].
    pub fn init(&self, rng: &mut Rng) -> Result<Network, Error> {
        self.check()?;
        let initialisation = Initialisation::new(self)?;
        let bounded = self.surrogate.has_binary_weights();
        let sigma_b = initialisation.sigma_b2.sqrt();
        let draw_layer = |(index, (inputs, outputs)): (usize, (usize, usize))| {
            let mut rng = rng.stream(Rng::INIT, index as u64);
            let means = (0..inputs * outputs).map(|_| initialisation.draw(bounded, inputs, outputs, &mut rng) as f32).collect();
            let bias = (0..outputs).map(|_| if sigma_b > 0.0 { (sigma_b * rng.normal()) as f32 } else { 0.0 }).collect();
            Layer { inputs, outputs, means, bias }
        };
        let layers = self.shapes().into_iter().enumerate().map(draw_layer).collect();
        Ok(Network { config: self.clone(), layers, preprocessing: Preprocessing::default() })
    }
}

const MAX_WIDTH: usize = 1 << 20;
/// The output's scratch has this much room.
pub(crate) const MAX_CLASSES: usize = 256;
const MAX_DEPTH: usize = 10_000;

/// One layer: a mean for every weight, a bias for every output.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// Neurons below.
    pub inputs: usize,
    /// Neurons of this layer.
    pub outputs: usize,
    /// `M`, row by row: `means[output · inputs + input]`.
    pub means: Vec<f32>,
    /// `b`.
    pub bias: Vec<f32>,
}

/// How raw values become inputs: `x = (value − offset) · scale`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Preprocessing {
    /// Subtracted from every value.
    pub offset: f32,
    /// Multiplied to the difference.
    pub scale: f32,
}

impl Default for Preprocessing {
    /// Values as they are.
    fn default() -> Self {
        Self { offset: 0.0, scale: 1.0 }
    }
}

impl Preprocessing {
    /// Inputs of mean 0 and variance 1, for values of this mean and standard deviation.
    pub fn standardising(mean: f64, deviation: f64) -> Self {
        let scale = if deviation > 0.0 { 1.0 / deviation } else { 1.0 };
        Self { offset: mean as f32, scale: scale as f32 }
    }

    /// The input for a raw value.
    pub fn apply(self, value: f32) -> f32 {
        (value - self.offset) * self.scale
    }
}

/// A surrogate network and, behind it, the binary one.
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    /// Shape and neurons.
    pub config: NetworkConfig,
    /// Hidden layers, then the output layer.
    pub layers: Vec<Layer>,
    /// How raw values become inputs.
    pub preprocessing: Preprocessing,
}

impl Network {
    /// Number of means (or real weights) and of biases.
    pub fn parameters(&self) -> (usize, usize) {
        self.layers.iter().fold((0, 0), |(means, biases), layer| (means + layer.means.len(), biases + layer.bias.len()))
    }
}

mod neuron_text {
    use isinglass_theory::Neuron;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(neuron: &Neuron, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(neuron)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Neuron, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}
