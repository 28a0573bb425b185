//! From a trained network to packed bits, checked against the original.
//!
//! Every packed network is compared with its float version, on random inputs and on the examples given: the sums of the output layer are integers in both and must be equal. If one
//! differs, packing fails.
//!
//! ```
//! use isinglass_net::{Init, Network};
//!
//! let network = Network::builder(16).hidden([33, 20]).classes(4).init(Init::Auto, 1)?;
//! let model = network.binary().pack()?; // sign(M)
//! assert_eq!(model.sizes(), [16, 33, 20, 4]);
//! assert_eq!(model.predictor().sums(&[7; 16])?, network.binary().in_floats().sums(&[7; 16])?);
//! let ensemble = network.sampled(5).seed(2).pack()?;
//! assert_eq!(ensemble.networks().len(), 5);
//! # Ok::<(), isinglass_net::Error>(())
//! ```

use isinglass_bits::{BiasedLayer, BitMatrix, Isa, PackedModel, Predictor, Preprocessing};

use crate::examples::Rows;
use crate::layer::Unit;
use crate::spins::drawn_weights;
use crate::{Counterpart, Error, Init, InputRule, Layer, LayerSpec, Network, NetworkConfig, Neuron, Rng, Surrogate, Values};

/// Number of random images that every packed network is checked with, one of them all 0 and one all 255.
const RANDOM_IMAGES: usize = 64;
/// Sums of more bytes than this are not exact in floats.
const MOST_INPUTS: usize = (1 << 24) / 255;

/// A packed network that gives the sums of the original.
#[derive(Debug)]
pub struct Packed {
    /// The network, or the ensemble.
    pub model: PackedModel,
    /// Number of examples it was checked with.
    pub checked: usize,
}

/// A layer as bits: its weights, its biases, whether it carries, and the kind of its units.
pub(crate) struct LayerBits {
    layer: BiasedLayer,
    unit: Unit,
}

impl LayerBits {
    /// The signs of a layer's means, `sign(0) = +1`.
    pub fn new<'a>(spec: &LayerSpec, row: impl Fn(usize) -> &'a [f32], bias: &[f32]) -> Self {
        let weights = BitMatrix::from_fn(spec.outputs(), spec.inputs(), |unit, input| row(unit)[input] >= 0.0);
        Self { layer: BiasedLayer { weights, bias: bias.to_vec(), carries: spec.carries() }, unit: spec.unit }
    }
}

/// Networks as one model that takes bytes.
pub(crate) fn model(preprocessing: Preprocessing, networks: Vec<Vec<LayerBits>>) -> Result<PackedModel, Error> {
    let mut tau = 1.0;
    let mut packed = Vec::with_capacity(networks.len());
    for layers in networks {
        if let Some(LayerBits { unit: Unit::Output { tau: of_output }, .. }) = layers.last() {
            tau = *of_output;
        }
        let layers = layers.into_iter().map(|bits| bits.layer).collect();
        packed.push(isinglass_bits::PackedNetwork::new(preprocessing, layers)?);
    }
    Ok(PackedModel::new(packed, preprocessing, tau)?)
}

/// The predictor of one network, on the instruction set that `ISINGLASS_SIMD` chooses.
pub(crate) fn predictor_of(preprocessing: Preprocessing, layers: Vec<LayerBits>) -> Result<Predictor, Error> {
    Ok(Predictor::new(&model(preprocessing, vec![layers])?, Isa::chosen()?))
}

/// The bits of `sign(M)`, or of a draw with this seed and number.
fn layers_of(network: &Network, drawn: Option<(u64, u64)>) -> Vec<LayerBits> {
    let layer = |(index, layer): (usize, &Layer)| match drawn {
        None => LayerBits::new(layer.spec(), |unit| layer.row(unit), layer.bias()),
        Some((seed, sample)) => {
            let (weights, inputs) = (drawn_weights(layer, index, seed, sample), layer.inputs());
            LayerBits::new(layer.spec(), |unit| &weights[unit * inputs..][..inputs], layer.bias())
        }
    };
    network.layers().iter().enumerate().map(layer).collect()
}

/// The predictor of `sign(M)`, or of a draw with this seed and number; neurons are signs, whatever they are in the network.
pub(crate) fn predictor(network: &Network, drawn: Option<(u64, u64)>) -> Result<Predictor, Error> {
    predictor_of(network.input().preprocessing(), layers_of(network, drawn))
}

impl Counterpart<'_> {
    /// Packs the network, after checking it against the floats with random inputs.
    ///
    /// # Errors
    ///
    /// Those of [`Counterpart::pack_checked`].
    pub fn pack(&self) -> Result<PackedModel, Error> {
        let none: &[u8] = &[];
        Ok(self.pack_checked(none, &mut |_, _| {})?.model)
    }

    /// Packs the network, after checking it against the floats with these examples too. `progress` is called with the number of networks done so far and in total.
    ///
    /// # Errors
    ///
    /// [`Error::Pack`] if the network cannot be packed, [`Error::PackedDiffers`] if the packed sums differ from those in floats.
    pub fn pack_checked<'v>(&self, values: impl Into<Values<'v>>, progress: &mut dyn FnMut(usize, usize)) -> Result<Packed, Error> {
        let (network, draws, values) = (self.network(), self.draws()?, values.into());
        check_packable(network, draws)?;
        let inputs = network.config().inputs;
        let rows = Rows::new(values, inputs)?;
        let input = network.input();
        let takes_bytes = match values {
            Values::Bytes([]) => input.is_for_bytes(),
            Values::Bytes(_) => true,
            Values::Floats(_) => input.quantiser().is_some(),
        };
        if !takes_bytes {
            return Err(Error::Pack(format!(
                "inputs become {input}: real numbers that are not rounded to bytes, as in runs of earlier versions, and a packed network takes bytes; \
                 train again, or check it with the bytes it was trained on"
            )));
        }
        let mut bytes = input.bytes(&rows).map_or_else(Vec::new, std::borrow::Cow::into_owned);
        bytes.extend(random_images(inputs));
        let count = draws.map_or(1, |(samples, _)| samples);
        let mut networks = Vec::new();
        for sample in 0..count {
            let drawn = draws.map(|(_, seed)| network.draw(seed, sample as u64)).transpose()?;
            let layers = layers_of(drawn.as_ref().unwrap_or(network), None);
            let single = model(input.preprocessing(), vec![layers])?;
            check(drawn.as_ref().unwrap_or(network), sample, &single, &bytes, self.thread_count())?;
            networks.extend(single.networks().iter().cloned());
            progress(sample + 1, count);
        }
        let mut packed = PackedModel::new(networks, input.preprocessing(), network.config().tau)?;
        if let Some(quantiser) = input.quantiser() {
            packed = packed.with_quantiser(quantiser.clone())?;
        }
        if let Some(names) = network.class_names() {
            packed = packed.with_class_names(names.iter().cloned())?;
        }
        Ok(Packed { model: packed, checked: bytes.len() / inputs })
    }
}

fn check_packable(network: &Network, draws: Option<(usize, u64)>) -> Result<(), Error> {
    let NetworkConfig { surrogate, neuron, inputs, .. } = *network.config();
    let refuse = |reason: String| Err(Error::Pack(reason));
    if !surrogate.has_binary_weights() {
        return refuse(format!(
            "surrogate {surrogate}: its weights are real numbers, with no bits to pack; train with --surrogate deterministic"
        ));
    }
    if !surrogate.has_binary_neurons() {
        return refuse(format!(
            "surrogate {surrogate}: its neurons ({neuron}) are real numbers, and XNOR needs ±1 on both sides; train with --surrogate deterministic or lrt-binary"
        ));
    }
    if inputs > MOST_INPUTS {
        return refuse(format!(
            "{inputs} inputs: at most {MOST_INPUTS}, since sums in floats, which the bits are checked against, are not exact beyond that"
        ));
    }
    match draws {
        Some((0, _)) => refuse("samples = 0: an ensemble has at least one network".into()),
        Some((samples, _)) if samples > 1 && !network.is_random() => refuse(format!(
            "samples = {samples}: all means are ±1 and the neurons have no noise, so every draw is the same network; omit --samples"
        )),
        _ => Ok(()),
    }
}

/// Compares the sums of a packed network with those of the floats.
fn check(network: &Network, number: usize, packed: &PackedModel, bytes: &[u8], threads: usize) -> Result<(), Error> {
    // The inputs are bytes, even where the network would quantise real numbers first.
    let mut of_bytes = network.clone();
    of_bytes.set_input(InputRule::shared(network.input().preprocessing()))?;
    let float = of_bytes.binary().in_floats().threads(threads).sums(bytes)?;
    let (inputs, classes) = (network.config().inputs, network.config().classes);
    for (index, isa) in Isa::available().into_iter().enumerate() {
        // All examples on the fastest instruction set, the random ones on the others; with the model as read back from its file.
        let first = if index == 0 { 0 } else { bytes.len() - RANDOM_IMAGES * inputs };
        let found = Predictor::new(&PackedModel::from_bytes(&packed.to_bytes())?, isa).sums_on(&bytes[first..], threads)?;
        let skipped = first / inputs * classes;
        if let Some(place) = (0..found.len()).find(|&place| found[place] != float[skipped + place]) {
            return Err(Error::PackedDiffers {
                isa: isa.name(),
                network: number,
                example: (skipped + place) / classes,
                class: place % classes,
                packed: found[place],
                float: float[skipped + place],
            });
        }
    }
    Ok(())
}

fn random_images(inputs: usize) -> Vec<u8> {
    let mut rng = Rng::new(0);
    let mut images: Vec<u8> = (0..RANDOM_IMAGES * inputs).map(|_| rng.next_u64() as u8).collect();
    images[..inputs].fill(0);
    images[inputs..2 * inputs].fill(255);
    images
}

impl Network {
    /// Packed networks as networks of floats: weights ±1, and biases halfway between the sums below and above each threshold. On bytes they give the same predictions.
    ///
    /// # Errors
    ///
    /// [`Error::Pack`] if some layers carry and others that could do not; those of [`NetworkConfig::check`].
    pub fn from_packed(model: &PackedModel) -> Result<Vec<Self>, Error> {
        let sizes = model.sizes();
        let config = NetworkConfig {
            inputs: model.inputs(),
            hidden: sizes[1..sizes.len() - 1].to_vec(),
            classes: model.classes(),
            surrogate: Surrogate::Ste,
            neuron: Neuron::Sign,
            init: Init::Uniform,
            sigma_m2: None,
            sigma_b2: None,
            tau: model.tau(),
            carry: !model.carrying_layers().is_empty(),
        };
        let specs = config.layers()?;
        let carries = |index: usize| model.carrying_layers().iter().any(|range| range.contains(&index));
        if let Some(index) = (0..specs.len()).find(|&index| specs[index].carries() != carries(index)) {
            return Err(Error::Pack(format!(
                "layer {index} does not carry and others do: networks of floats carry wherever shapes allow it; predict with the packed network"
            )));
        }
        let means = |weights: &BitMatrix| {
            let spins = (0..weights.rows()).flat_map(|row| (0..weights.columns()).map(move |column| f32::from(weights.spin(row, column))));
            spins.collect()
        };
        let network = |packed: &isinglass_bits::PackedNetwork| {
            let bias = |layer: &isinglass_bits::PackedLayer| {
                let root = (layer.inputs() as f64).sqrt();
                layer.thresholds().iter().map(|&threshold| ((0.5 - f64::from(threshold)) / root) as f32).collect()
            };
            let hidden = packed.layers().iter().map(|layer| (means(layer.weights()), bias(layer)));
            let output = packed.output();
            let parts = hidden.chain([(means(output.weights()), output.bias().to_vec())]);
            let layers = specs.iter().zip(parts).map(|(&spec, (means, bias))| Layer::new(spec, means, bias));
            Self::new(config.clone(), layers.collect::<Result<_, _>>()?)
        };
        model.networks().iter().map(network).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_of_unquantised_real_numbers_are_refused() {
        let mut network = Network::builder(9).hidden([5]).classes(3).init(Init::Auto, 1).unwrap();
        network.set_input(InputRule::shared(Preprocessing::standardising(0.5, 0.29).unwrap())).unwrap();
        let error = network.binary().pack().unwrap_err().to_string();
        assert!(error.contains("real numbers"), "{error}");
        network.set_input(InputRule::shared(Preprocessing::standardising(33.0, 70.0).unwrap())).unwrap();
        assert_eq!(network.binary().pack_checked(&[0u8; 9], &mut |_, _| {}).unwrap().checked, RANDOM_IMAGES + 1);
    }

    #[test]
    fn bytes_of_little_variance_are_packed_unseen() {
        let mut network = Network::builder(4).hidden([5]).classes(3).init(Init::Auto, 1).unwrap();
        let input = InputRule::choose(Values::Bytes(&[0, 1, 1, 0, 1, 1, 0, 0]), 4, &[0, 1], crate::Features::Image).unwrap();
        assert!(input.preprocessing().scale() > 1.0);
        network.set_input(input).unwrap();
        assert!(network.binary().pack().is_ok());
    }

    #[test]
    fn unpacked_networks_give_the_packed_sums() {
        let mut network = Network::builder(50).hidden([33, 20]).classes(4).sigma_b2(0.3).init(Init::Auto, 3).unwrap();
        network.set_input(InputRule::shared(Preprocessing::standardising(127.0, 74.0).unwrap())).unwrap();
        let model = network.binary().pack().unwrap();
        let floats = &Network::from_packed(&model).unwrap()[0];
        let images = random_images(50);
        assert_eq!(floats.binary().in_floats().sums(&images).unwrap(), model.predictor().sums(&images).unwrap());
    }

    #[test]
    fn networks_without_bits_are_refused() {
        let builder = Network::builder(4).hidden([3]).classes(2);
        for surrogate in [Surrogate::Continuous, Surrogate::LrtContinuous] {
            let network = builder.clone().surrogate(surrogate).init(Init::Uniform, 1).unwrap();
            assert!(matches!(network.binary().pack(), Err(Error::Pack(_))), "{surrogate}");
        }
        let network = builder.init(Init::Uniform, 1).unwrap();
        assert!(matches!(network.surrogate().pack(), Err(Error::Pack(_))));
        assert!(matches!(network.sampled(0).pack(), Err(Error::Pack(_))));
        let spins = Network::from_packed(&network.binary().pack().unwrap()).unwrap().remove(0);
        assert!(spins.sampled(2).pack().unwrap_err().to_string().contains("same network"));
    }
}
