//! A network: a checked list of layers, and how raw values become its inputs.
//!
//! ```
//! use isinglass_net::{Init, Network};
//!
//! let network = Network::builder(784).hidden([512, 256]).classes(10).init(Init::Auto, 1)?;
//! assert_eq!(network.config().shape(), "784-512-256-10");
//! assert_eq!(network.parameters(), (784 * 512 + 512 * 256 + 256 * 10, 512 + 256 + 10));
//! # Ok::<(), isinglass_net::Error>(())
//! ```

use isinglass_theory::Neuron;

use crate::{Error, Init, Initialisation, InputRule, Layer, LayerSpec, NetworkConfig, Rng, Surrogate};

/// A surrogate network and, behind it, the binary one.
///
/// Its layers fit each other and its settings: whatever changes them is checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    config: NetworkConfig,
    layers: Vec<Layer>,
    input: InputRule,
    class_names: Option<Vec<String>>,
    drawn: Option<Drawn>,
}

/// How the initial means were drawn.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Drawn {
    pub initialisation: Initialisation,
    pub seed: u64,
}

impl Network {
    /// Starts the description of a network with this many inputs.
    pub fn builder(inputs: usize) -> NetworkBuilder {
        NetworkBuilder { config: NetworkConfig { inputs, ..NetworkConfig::default() }, neuron: None }
    }

    /// Builds a network from layers. They must be those that the settings describe ([`NetworkConfig::layers`]).
    ///
    /// # Errors
    ///
    /// Those of [`NetworkConfig::check`]; [`Error::Layer`] if a layer is not the one described.
    pub fn new(config: NetworkConfig, layers: Vec<Layer>) -> Result<Self, Error> {
        let specs = config.layers()?;
        if specs.len() != layers.len() {
            return Err(Error::Layer(format!("{} layers for a network of {}", layers.len(), specs.len())));
        }
        for (index, (layer, spec)) in layers.iter().zip(&specs).enumerate() {
            check_spec(index, layer, spec)?;
        }
        let input = InputRule::unchanged();
        Ok(Self { config, layers, input, class_names: None, drawn: None })
    }

    /// Draws the layers.
    pub(crate) fn draw_initial(config: NetworkConfig, initialisation: Initialisation, seed: u64) -> Result<Self, Error> {
        let (network, sigma_b) = (Rng::new(seed), initialisation.sigma_b2.sqrt());
        let draw = |(index, spec): (usize, LayerSpec)| {
            let mut rng = network.stream(Rng::INIT, index as u64);
            let means = initialisation.draw(&spec, index, &network, &mut rng);
            let bias = (0..spec.outputs()).map(|_| if sigma_b > 0.0 { (sigma_b * rng.normal()) as f32 } else { 0.0 }).collect();
            Layer::new(spec, means, bias)
        };
        let layers = config.layers()?.into_iter().enumerate().map(draw).collect::<Result<_, _>>()?;
        let drawn = Some(Drawn { initialisation, seed });
        Ok(Self { drawn, ..Self::new(config, layers)? })
    }

    /// Shape, neurons and initialisation.
    pub fn config(&self) -> &NetworkConfig {
        &self.config
    }

    /// Hidden layers from the inputs up, then the output layer.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// The output layer.
    pub fn output(&self) -> &Layer {
        &self.layers[self.layers.len() - 1]
    }

    /// How raw values become inputs.
    pub fn input(&self) -> &InputRule {
        &self.input
    }

    /// The class names, if any.
    pub fn class_names(&self) -> Option<&[String]> {
        self.class_names.as_deref()
    }

    /// The initialisation that was drawn from; `None` if the layers were given.
    pub fn initialisation(&self) -> Option<&Initialisation> {
        self.drawn.as_ref().map(|drawn| &drawn.initialisation)
    }

    /// The seed of the initial means; `None` if the layers were given.
    pub fn init_seed(&self) -> Option<u64> {
        self.drawn.as_ref().map(|drawn| drawn.seed)
    }

    /// The network as it was before training, drawn again from its seed; `None` if its layers were given.
    ///
    /// # Errors
    ///
    /// Those of [`NetworkConfig::check`].
    pub fn initial(&self) -> Result<Option<Self>, Error> {
        let Some(Drawn { initialisation, seed }) = self.drawn.clone() else { return Ok(None) };
        let network = Self::draw_initial(self.config.clone(), initialisation, seed)?;
        Ok(Some(Self { input: self.input.clone(), class_names: self.class_names.clone(), ..network }))
    }

    /// The numbers of means (or real weights) and of biases.
    pub fn parameters(&self) -> (usize, usize) {
        self.layers.iter().fold((0, 0), |(means, biases), layer| (means + layer.means().len(), biases + layer.bias().len()))
    }

    /// Replaces a layer by another with the same specification, and returns the old one.
    ///
    /// # Errors
    ///
    /// [`Error::Layer`] if there is no such layer, or the specifications differ; the network is then unchanged.
    pub fn replace_layer(&mut self, index: usize, layer: Layer) -> Result<Layer, Error> {
        let count = self.layers.len();
        let place = self.layers.get_mut(index).ok_or_else(|| Error::Layer(format!("layer {index}: the network has {count} layers")))?;
        check_spec(index, &layer, place.spec())?;
        Ok(std::mem::replace(place, layer))
    }

    /// Sets how raw values become inputs.
    ///
    /// # Errors
    ///
    /// [`Error::Examples`] if the rule is for another number of inputs.
    pub fn set_input(&mut self, input: InputRule) -> Result<(), Error> {
        input.check(self.config.inputs)?;
        self.input = input;
        Ok(())
    }

    /// Sets or removes the class names.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] unless there is one name for every class.
    pub fn set_class_names(&mut self, names: Option<Vec<String>>) -> Result<(), Error> {
        if let Some(names) = &names
            && names.len() != self.config.classes
        {
            return Err(Error::config(format!("{} names for {} classes", names.len(), self.config.classes)));
        }
        if let Some(names) = &names
            && let Some(twice) = names.iter().enumerate().find(|(index, name)| names[..*index].contains(name))
        {
            return Err(Error::config(format!("two classes are named {:?}", twice.1)));
        }
        self.class_names = names;
        Ok(())
    }

    /// Everything but the layers, copied.
    pub(crate) fn frame(&self) -> Frame {
        let Self { config, input, class_names, drawn, .. } = self;
        Frame { config: config.clone(), input: input.clone(), class_names: class_names.clone(), drawn: drawn.clone() }
    }

    /// Everything but the layers, which now live in an engine.
    pub(crate) fn into_frame(self) -> Frame {
        let Self { config, input, class_names, drawn, .. } = self;
        Frame { config, input, class_names, drawn }
    }
}

/// A network without its layers: what stays behind while they are in training.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    pub config: NetworkConfig,
    pub input: InputRule,
    pub class_names: Option<Vec<String>>,
    pub drawn: Option<Drawn>,
}

impl Frame {
    /// The whole network.
    pub fn with_layers(self, layers: Vec<Layer>) -> Result<Network, Error> {
        let mut network = Network { drawn: self.drawn, ..Network::new(self.config, layers)? };
        network.set_input(self.input)?;
        network.set_class_names(self.class_names)?;
        Ok(network)
    }
}

fn check_spec(index: usize, layer: &Layer, spec: &LayerSpec) -> Result<(), Error> {
    if layer.spec() == spec {
        return Ok(());
    }
    let shape = |spec: &LayerSpec| format!("{} → {}", spec.inputs(), spec.outputs());
    Err(match (shape(layer.spec()), shape(spec)) {
        (found, expected) if found != expected => Error::Layer(format!("layer {index} is {found}; the network needs {expected}")),
        _ => Error::Layer(format!("layer {index} has the right shape, but different neurons, weights or position")),
    })
}

/// Describes a network, and draws it.
#[derive(Debug, Clone)]
#[must_use]
pub struct NetworkBuilder {
    config: NetworkConfig,
    neuron: Option<Neuron>,
}

impl NetworkBuilder {
    /// Neurons of every hidden layer, from the inputs up; 512 and 512 unless set.
    pub fn hidden(mut self, widths: impl Into<Vec<usize>>) -> Self {
        self.config.hidden = widths.into();
        self
    }

    /// Number of classes; 10 unless set.
    pub fn classes(mut self, classes: usize) -> Self {
        self.config.classes = classes;
        self
    }

    /// How the binary network is made differentiable; [`Surrogate::Deterministic`] unless set.
    pub fn surrogate(mut self, surrogate: Surrogate) -> Self {
        self.config.surrogate = surrogate;
        self
    }

    /// The neurons; the surrogate's own ([`Surrogate::default_neuron`]) unless set.
    pub fn neuron(mut self, neuron: Neuron) -> Self {
        self.neuron = Some(neuron);
        self
    }

    /// `σ_m²` for initialisations that take one.
    pub fn sigma_m2(mut self, sigma_m2: f64) -> Self {
        self.config.sigma_m2 = Some(sigma_m2);
        self
    }

    /// `σ_b²`; the initialisation's choice unless set.
    pub fn sigma_b2(mut self, sigma_b2: f64) -> Self {
        self.config.sigma_b2 = Some(sigma_b2);
        self
    }

    /// `τ`, the scale of the logits; 1 unless set.
    pub fn tau(mut self, tau: f64) -> Self {
        self.config.tau = tau;
        self
    }

    /// Carries fields between successive hidden layers with equal inputs and outputs; not unless set.
    pub fn carry(mut self, carry: bool) -> Self {
        self.config.carry = carry;
        self
    }

    /// The settings so far.
    pub fn config(&self, init: Init) -> NetworkConfig {
        let neuron = self.neuron.unwrap_or_else(|| self.config.surrogate.default_neuron());
        NetworkConfig { init, neuron, ..self.config.clone() }
    }

    /// Draws the network.
    ///
    /// # Errors
    ///
    /// Those of [`NetworkConfig::init`].
    pub fn init(self, init: Init, seed: u64) -> Result<Network, Error> {
        self.config(init).init(seed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(hidden: &[usize]) -> Network {
        Network::builder(5).hidden(hidden).classes(3).init(Init::Uniform, 1).unwrap()
    }

    #[test]
    fn a_layer_is_replaced_only_by_one_with_its_specification() {
        let (mut small, wide) = (network(&[4, 4]), network(&[40, 4]));
        let before = small.clone();
        for (index, layer) in
            [(0, &wide.layers()[0]), (1, &small.layers()[0].clone()), (2, &small.layers()[1].clone()), (9, &wide.layers()[0])]
        {
            assert!(matches!(small.replace_layer(index, layer.clone()), Err(Error::Layer(_))), "{index}");
        }
        assert_eq!(small, before);
        // The output layer has the same shape as a hidden one here, and is still not one.
        let mut square = Network::builder(3).hidden([3, 3]).classes(3).init(Init::Uniform, 1).unwrap();
        assert!(square.replace_layer(1, square.layers()[2].clone()).is_err());
        let negated = square.layers()[1].clone().with_means(vec![-1.0; 9]).unwrap();
        square.replace_layer(1, negated.clone()).unwrap();
        assert_eq!(square.layers()[1], negated);
    }

    #[test]
    fn layers_are_those_of_the_settings() {
        let (a, b) = (network(&[4, 6]), network(&[6, 4]));
        assert!(Network::new(a.config().clone(), a.layers().to_vec()).is_ok());
        assert!(Network::new(a.config().clone(), b.layers().to_vec()).is_err());
        assert!(Network::new(a.config().clone(), a.layers()[..2].to_vec()).is_err());
    }

    #[test]
    fn every_class_has_a_name_or_none_has() {
        let mut network = network(&[4]);
        assert!(network.set_class_names(Some(vec!["a".into()])).is_err());
        assert!(network.set_class_names(Some(vec!["a".into(), "b".into(), "a".into()])).is_err());
        network.set_class_names(Some(vec!["a".into(), "b".into(), "c".into()])).unwrap();
        assert_eq!(network.class_names().unwrap()[1], "b");
    }

    #[test]
    fn the_initial_network_is_drawn_again() {
        let mut trained = network(&[4, 6]);
        let initial = trained.clone();
        let layer = trained.layers()[0].clone().with_means(vec![1.0; 20]).unwrap();
        trained.replace_layer(0, layer).unwrap();
        assert_eq!(trained.initial().unwrap().unwrap(), initial);
        assert_eq!(Network::new(initial.config().clone(), initial.layers().to_vec()).unwrap().initial().unwrap(), None);
    }
}
