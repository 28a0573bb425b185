//! Shape, neurons and initialisation of a network, as plain settings.
//!
//! ```
//! use isinglass_net::{Init, NetworkConfig};
//!
//! let config = NetworkConfig { inputs: 784, hidden: vec![101; 3], init: Init::TwoPoint, sigma_m2: Some(0.81), ..NetworkConfig::default() };
//! let network = config.init(1)?; // seed 1
//! assert_eq!(network.layers().len(), 4); // three hidden layers and the output
//! assert_eq!(network.layers()[1].means().len(), 101 * 101);
//! assert!(network.layers()[1].means().iter().all(|m| m.abs() == 0.9));
//! # Ok::<(), isinglass_net::Error>(())
//! ```

use isinglass_files::number;
use isinglass_theory::Neuron;
use serde::{Deserialize, Serialize};

use crate::layer::Source;
use crate::{Error, Init, Initialisation, LayerSpec, Network, Surrogate};

/// Settings of a network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct NetworkConfig {
    /// Number of inputs, e.g. pixels.
    pub inputs: usize,
    /// Neurons of every hidden layer, from the inputs up.
    pub hidden: Vec<usize>,
    /// Number of classes, one output each.
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
    /// Whether fields are carried between successive hidden layers with equal inputs and outputs, from the second hidden layer on.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub carry: bool,
}

impl Default for NetworkConfig {
    fn default() -> Self {
        Self {
            inputs: 784,
            hidden: vec![512; 2],
            classes: 10,
            surrogate: Surrogate::Deterministic,
            neuron: Neuron::Sign,
            init: Init::Auto,
            sigma_m2: None,
            sigma_b2: None,
            tau: 1.0,
            carry: false,
        }
    }
}

/// The largest number of units in a layer.
pub(crate) const MAX_WIDTH: usize = 1 << 20;
/// The largest number of classes: labels are bytes, and scores use a fixed scratch of this size.
pub(crate) const MAX_CLASSES: usize = 256;
/// Carried sums are integers, and floats represent them exactly up to here.
const MAX_CARRIED_SUM: usize = 1 << 24;
/// With larger logits every loss is infinite.
const MAX_TAU: f64 = 1e9;
/// With larger weights or biases the squares of fields approach the end of 32-bit numbers.
const MAX_VARIANCE: f64 = 1e12;
/// The largest number of hidden layers.
pub(crate) const MAX_DEPTH: usize = 10_000;

impl NetworkConfig {
    /// Number of hidden layers.
    pub fn depth(&self) -> usize {
        self.hidden.len()
    }

    /// Checks that such a network is possible. [`Initialisation::new`] checks whether the theory can initialise it.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] names the first impossible setting.
    pub fn check(&self) -> Result<(), Error> {
        let require = |holds: bool, message: String| if holds { Ok(()) } else { Err(Error::Config(message)) };
        require(self.inputs >= 1, "inputs = 0: a network needs at least one input".into())?;
        require(!self.hidden.is_empty(), "depth = 0: the network needs at least one hidden layer".into())?;
        require(self.depth() <= MAX_DEPTH, format!("depth = {}: at most {MAX_DEPTH} hidden layers", self.depth()))?;
        require(self.hidden.iter().all(|&width| width >= 1), "width = 0: a layer needs at least one neuron".into())?;
        let widest = self.hidden.iter().copied().fold(self.inputs, usize::max);
        require(widest <= MAX_WIDTH, format!("width = {widest}: at most {MAX_WIDTH}"))?;
        require(self.classes >= 2, format!("classes = {}: a classifier needs at least two", self.classes))?;
        require(self.classes <= MAX_CLASSES, format!("classes = {}: at most {MAX_CLASSES}, since labels are bytes", self.classes))?;
        require(
            self.tau > 0.0 && self.tau <= MAX_TAU,
            format!("tau = {}: the scale of the logits must be above 0 and at most {MAX_TAU:e}", number(self.tau)),
        )?;
        let sigma_b2 = self.sigma_b2.unwrap_or(0.0);
        require(
            (0.0..=MAX_VARIANCE).contains(&sigma_b2),
            format!("σ_b² = {}: a variance cannot be negative, and that of biases is at most {MAX_VARIANCE:e}", number(sigma_b2)),
        )?;
        self.check_directions()?;
        self.surrogate.check_neuron(self.neuron)?;
        let largest = (0..self.depth()).map(|index| (self.carried(index) + 1).saturating_mul(self.hidden[index])).max().unwrap_or(0);
        require(
            !self.carry || largest <= MAX_CARRIED_SUM,
            format!("carry: sums of up to {largest} are not exact, at most {MAX_CARRIED_SUM} are; use fewer or narrower layers"),
        )?;
        self.check_sigma()
    }

    /// Number of layers below hidden layer `index` (counted from 0) whose fields are carried to it.
    ///
    /// The first hidden layer's sum is one of data, in other units, and is not carried; nor is a field between layers of different widths.
    fn carried(&self, index: usize) -> usize {
        if !self.carry {
            return 0;
        }
        let width = self.hidden[index];
        let equal = self.hidden[..index].iter().rev().take_while(|&&below| below == width).count();
        // Of a run of equal layers the first has other inputs, and the second nothing to receive; the first hidden layer of all is never carried.
        equal.saturating_sub(1)
    }

    /// Checks that aligned layers have a neuron for every direction.
    pub(crate) fn check_directions(&self) -> Result<(), Error> {
        let widest = self.hidden.iter().copied().max().unwrap_or(0);
        match self.init {
            Init::Aligned(Some(directions)) if directions.get() as usize > widest => Err(Error::config(format!(
                "init {}: at most as many directions as the widest hidden layer has neurons, {widest}",
                self.init
            ))),
            _ => Ok(()),
        }
    }

    /// Checks `σ_m²`, alone and against the initialisation.
    fn check_sigma(&self) -> Result<(), Error> {
        let Some(value) = self.sigma_m2 else { return Ok(()) };
        let symbol = self.variance_symbol();
        let refuse = |reason: &str| Err(Error::config(format!("{symbol} = {}: {reason}", number(value))));
        if value.is_nan() || value <= 0.0 {
            return refuse("the network needs a variance above 0");
        }
        if self.surrogate.has_binary_weights() && value > 1.0 {
            return refuse("the variance of means in [-1, 1] cannot exceed 1");
        }
        if value > MAX_VARIANCE {
            return refuse(&format!("the variance of weights is at most {MAX_VARIANCE:e}"));
        }
        match self.init {
            Init::Glorot | Init::He => {
                Err(Error::config(format!("init {} sets the variance from the layer's shape: leave out sigma-m2", self.init)))
            }
            Init::Critical | Init::Auto => Err(Error::config(format!(
                "init {} chooses {symbol} itself: leave out sigma-m2, or name a distribution (two-point)",
                self.init
            ))),
            Init::TwoPoint | Init::Hadamard | Init::Aligned(_) | Init::ClippedGaussian | Init::Uniform => Ok(()),
        }
    }

    /// The setting to blame if the fields of a network that has learned nothing overflow.
    pub(crate) fn largest_setting(&self) -> String {
        let settings = [("tau", Some(self.tau)), ("sigma-b2", self.sigma_b2), ("sigma-m2", self.sigma_m2)];
        let given = settings.into_iter().filter_map(|(name, value)| Some((name, value?)));
        match given.max_by(|(_, a), (_, b)| a.total_cmp(b)) {
            Some((name, value)) if value > 1.0 => format!("{name} = {} is too large", number(value)),
            _ => "the inputs, or the initial weights, are too large".into(),
        }
    }

    /// The symbol of the weights' variance.
    pub(crate) fn variance_symbol(&self) -> &'static str {
        if self.surrogate.has_binary_weights() { "σ_m²" } else { "σ_w²" }
    }

    /// The specification of every layer, the output layer last.
    ///
    /// # Errors
    ///
    /// Those of [`NetworkConfig::check`].
    pub fn layers(&self) -> Result<Vec<LayerSpec>, Error> {
        self.check()?;
        let mut layers = Vec::with_capacity(self.depth() + 1);
        let (mut source, mut below) = (Source::Data, self.inputs);
        for (index, &width) in self.hidden.iter().enumerate() {
            layers.push(LayerSpec::hidden(self.surrogate, self.neuron, source, (below, width), self.carried(index)));
            (source, below) = (Source::Neurons, width);
        }
        layers.push(LayerSpec::output(self.surrogate, self.tau, source, (below, self.classes)));
        Ok(layers)
    }

    /// How many hidden layers receive the field of the one below.
    pub(crate) fn carrying_layers(&self) -> Result<usize, Error> {
        Ok(self.layers()?.iter().filter(|layer| layer.carries()).count())
    }

    /// Draws a network.
    ///
    /// # Errors
    ///
    /// Those of [`NetworkConfig::check`] and [`Initialisation::new`].
    pub fn init(&self, seed: u64) -> Result<Network, Error> {
        let initialisation = Initialisation::new(self)?;
        Network::draw_initial(self.clone(), initialisation, seed)
    }

    /// The sizes in short form, `784-512×2-10`.
    pub fn shape(&self) -> String {
        format!("{}-{}-{}", self.inputs, self.hidden_shape(), self.classes)
    }

    /// The sizes of the hidden layers in short form, `512×2`.
    pub fn hidden_shape(&self) -> String {
        let run = |run: &[usize]| match run.len() {
            1 if self.depth() > 1 => run[0].to_string(),
            count => format!("{}×{count}", run[0]),
        };
        self.hidden.chunk_by(|a, b| a == b).map(run).collect::<Vec<_>>().join("-")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_have_a_short_form() {
        let shape = |hidden: &[usize]| NetworkConfig { hidden: hidden.to_vec(), ..NetworkConfig::default() }.shape();
        assert_eq!(shape(&[512, 512]), "784-512×2-10");
        assert_eq!(shape(&[64]), "784-64×1-10"); // as it has always been written
        assert_eq!(shape(&[512, 256, 256, 128]), "784-512-256×2-128-10");
    }

    #[test]
    fn every_layer_knows_what_it_is() {
        let config = NetworkConfig { inputs: 7, hidden: vec![5, 3], classes: 2, ..NetworkConfig::default() };
        let layers = config.layers().unwrap();
        let shapes: Vec<_> = layers.iter().map(|layer| (layer.inputs(), layer.outputs(), layer.is_output())).collect();
        assert_eq!(shapes, [(7, 5, false), (5, 3, false), (3, 2, true)]);
    }

    #[test]
    fn fields_are_carried_between_equal_layers_from_the_second_on() {
        let carried = |inputs: usize, hidden: &[usize]| -> Vec<usize> {
            let config = NetworkConfig { inputs, hidden: hidden.to_vec(), carry: true, ..NetworkConfig::default() };
            config.layers().unwrap().iter().map(LayerSpec::carried).collect()
        };
        assert_eq!(carried(7, &[5]), [0, 0]);
        assert_eq!(carried(7, &[5, 5]), [0, 0, 0]);
        assert_eq!(carried(7, &[5, 5, 5, 5]), [0, 0, 1, 2, 0]);
        // Never from the first hidden layer, even where its inputs are as many.
        assert_eq!(carried(5, &[5, 5, 5]), [0, 0, 1, 0]);
        // In 6 → 4 → 4 the units differ; 4 → 4 → 4 carries.
        assert_eq!(carried(6, &[6, 6, 6, 4, 4, 4, 6, 6]), [0, 0, 1, 0, 0, 1, 0, 0, 0]);
        let plain = NetworkConfig { hidden: vec![5; 4], ..NetworkConfig::default() };
        assert!(plain.layers().unwrap().iter().all(|layer| !layer.carries()));
        let deep = NetworkConfig { hidden: vec![1 << 20; 20], carry: true, ..NetworkConfig::default() };
        assert!(deep.check().unwrap_err().to_string().contains("not exact"));
    }

    #[test]
    fn impossible_networks_are_refused() {
        let usual = NetworkConfig::default();
        for (config, reason) in [
            (NetworkConfig { hidden: vec![], ..usual.clone() }, "depth = 0"),
            (NetworkConfig { hidden: vec![5, 0], ..usual.clone() }, "width = 0"),
            (NetworkConfig { hidden: vec![1 << 21], ..usual.clone() }, "width = 2097152"),
            (NetworkConfig { hidden: vec![1; 10_001], ..usual.clone() }, "depth = 10001"),
            (NetworkConfig { inputs: 0, ..usual.clone() }, "inputs = 0"),
            (NetworkConfig { classes: 1, ..usual.clone() }, "classes = 1"),
            (NetworkConfig { classes: 257, ..usual.clone() }, "classes = 257"),
            (NetworkConfig { tau: 0.0, ..usual.clone() }, "tau = 0"),
            (NetworkConfig { sigma_b2: Some(-1.0), ..usual.clone() }, "σ_b² = -1"),
            (NetworkConfig { sigma_m2: Some(0.5), ..usual.clone() }, "init auto chooses σ_m² itself"),
            (NetworkConfig { sigma_m2: Some(1.5), init: Init::TwoPoint, ..usual.clone() }, "cannot exceed 1"),
            (NetworkConfig { surrogate: Surrogate::LrtBinary, ..usual.clone() }, "a step has no gradient"),
        ] {
            for error in [config.check().unwrap_err(), config.init(1).unwrap_err()] {
                assert!(error.to_string().contains(reason), "{error}");
            }
        }
    }
}
