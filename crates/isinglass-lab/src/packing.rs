//! From a trained network to packed bits, and the proof that nothing changed on the way.
//!
//! Every network that is packed is also evaluated in floats, and the sums of the output layer, integers both, must be equal: on the images given, and on images of random bytes. If one is not,
//! there is no packed network.
//!
//! ```
//! use isinglass_lab::packing::pack;
//! use isinglass_net::{NetworkConfig, Rng};
//!
//! let network = NetworkConfig { inputs: 16, depth: 3, width: 33, classes: 4, ..NetworkConfig::default() }.init(&mut Rng::new(1))?;
//! let packed = pack(&network, None, &[0; 16], 1, &mut |_, _| {})?; // sign(M), checked with a black image
//! assert_eq!(packed.model.sizes(), [16, 33, 33, 33, 4]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use isinglass_bits::{BitMatrix, Isa, Model, Predictor};
use isinglass_net::{Evaluator, Examples, Init, Layer, Network, NetworkConfig, Neuron, Preprocessing, Rng, Surrogate, Values};
use thiserror::Error;

/// Images of random bytes that every packed network is checked with, one of them black and one white.
const RANDOM_IMAGES: usize = 64;
/// What every export has in its head.
const MADE: &[u8] = b"Made by isinglass";
/// Sums of more bytes than this are not exact in the floats they are checked against.
const MOST_INPUTS: usize = (1 << 24) / 255;

/// Stochastic draws from a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Draws {
    /// How many.
    pub samples: usize,
    /// The seed.
    pub seed: u64,
}

/// A packed network, found equal to the one it was made of.
#[derive(Debug)]
pub struct Packed {
    /// The network.
    pub model: Model,
    /// Images it was checked with.
    pub checked: usize,
}

/// Why a network is not packed.
#[derive(Debug, Error)]
pub enum PackError {
    /// There is no such packed network.
    #[error("{0}")]
    Refused(String),
    /// The packed network is another one: a fault of this program.
    #[error(
        "the packed network ({isa}) is not the one that was trained: network {network}, image {image}, class {class} has the sum {packed}, not {float}; \
         nothing was written, and this is a fault of isinglass: please report it"
    )]
    Differs {
        /// The instruction set.
        isa: &'static str,
        /// Which network of an ensemble.
        network: usize,
        /// Which image.
        image: usize,
        /// Which class.
        class: usize,
        /// What the packed network says.
        packed: i32,
        /// What the floats say.
        float: i32,
    },
    /// Sizes or numbers that cannot be packed.
    #[error(transparent)]
    Bits(#[from] isinglass_bits::Error),
    /// Images that the network cannot look at.
    #[error(transparent)]
    Net(#[from] isinglass_net::Error),
    /// The file cannot be written.
    #[error("{}: cannot be written: {source}", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// Packs the deterministic binary network `sign(M)`, or an ensemble of draws, and checks it with images of bytes. `progress` is told how many networks of how many are done.
///
/// # Errors
///
/// [`PackError::Refused`] if there is no binary network behind the surrogate, [`PackError::Differs`] if the packed one is not equal to it.
pub fn pack(
    network: &Network,
    draws: Option<Draws>,
    images: &[u8],
    threads: usize,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Packed, PackError> {
    refuse_the_impossible(network, draws)?;
    if images.is_empty() && network.preprocessing.scale > 1.0 {
        let Preprocessing { offset, scale } = network.preprocessing;
        return Err(PackError::Refused(format!(
            "inputs become (x − {offset})·{scale}, as if they were real numbers between 0 and 1, and a packed network looks at bytes: show it the data that it was trained with"
        )));
    }
    let mut checked = images.to_vec();
    checked.extend(random_images(network.config.inputs));
    let labels = vec![0; checked.len() / network.config.inputs];
    let examples = Examples::new(Values::Bytes(&checked), network.config.inputs, &labels, network.config.classes)?;
    let mut networks = Vec::new();
    let count = draws.map_or(1, |draws| draws.samples);
    for sample in 0..count {
        let drawn = draws.map(|draws| network.draw(draws.seed, sample as u64));
        networks.push(pack_one(drawn.as_ref().unwrap_or(network), sample, &checked, &examples, threads)?);
        progress(sample + 1, count);
    }
    let model = Model::new(networks, preprocessing(network), network.config.tau)?;
    Ok(Packed { model, checked: labels.len() })
}

/// Writes a packed network, complete or not at all. Replaces no file but a packed network.
///
/// # Errors
///
/// [`PackError::Refused`] if there is another file, [`PackError::Write`].
pub fn write(model: &Model, path: &Path) -> Result<usize, PackError> {
    let bytes = model.to_bytes();
    replace(path, Model::is_packed, &bytes)?;
    Ok(bytes.len())
}

/// Writes what a packed network was exported to, complete or not at all. Replaces no file but an earlier export.
///
/// # Errors
///
/// [`PackError::Refused`] if there is another file, [`PackError::Write`].
pub fn write_export(path: &Path, bytes: &[u8]) -> Result<(), PackError> {
    // Both kinds say so near their beginning.
    let is_export = |bytes: &[u8]| bytes[..bytes.len().min(4096)].windows(MADE.len()).any(|window| window == MADE);
    replace(path, is_export, bytes)
}

fn replace(path: &Path, is_replaceable: impl Fn(&[u8]) -> bool, bytes: &[u8]) -> Result<(), PackError> {
    check(path, is_replaceable)?;
    isinglass_files::write(path, bytes).map_err(|source| PackError::Write { path: path.to_owned(), source })
}

/// Checks, before anything is computed, that no file but a packed network would be replaced.
///
/// # Errors
///
/// [`PackError::Refused`].
pub fn check_target(path: &Path) -> Result<(), PackError> {
    check(path, Model::is_packed)
}

/// Checks that there is nothing, or a file that may be replaced.
fn check(path: &Path, is_replaceable: impl Fn(&[u8]) -> bool) -> Result<(), PackError> {
    let refuse = |reason: &str| Err(PackError::Refused(format!("{}: {reason}", path.display())));
    let unreadable = |source| PackError::Write { path: path.to_owned(), source };
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => match isinglass_files::directory_of(path).is_dir() {
            true => Ok(()),
            false => refuse("there is no such directory to write to"),
        },
        Err(error) => Err(unreadable(error)),
        // Reading a pipe would wait for ever, and a device is not to be replaced.
        Ok(metadata) if !metadata.is_file() => refuse("this is there and is no file; it is not overwritten"),
        Ok(_) if is_replaceable(&fs::read(path).map_err(unreadable)?) => Ok(()),
        Ok(_) => refuse("this file is there and is not one that this command made; it is not overwritten"),
    }
}

/// The packed network as a network of floats: weights ±1, biases halfway between the sums below and above each threshold. It decides as the packed one does.
///
/// # Errors
///
/// Those of [`NetworkConfig::check`], also where the hidden layers differ in width.
pub fn unpack(model: &Model) -> Result<Vec<Network>, PackError> {
    let sizes = model.sizes();
    let hidden = &sizes[1..sizes.len() - 1];
    if hidden.iter().any(|width| *width != hidden[0]) {
        return Err(PackError::Refused(format!("layers of {hidden:?} neurons: networks of floats have layers of one width")));
    }
    let config = NetworkConfig {
        inputs: sizes[0],
        depth: hidden.len(),
        width: hidden[0],
        classes: model.classes(),
        surrogate: Surrogate::Ste,
        neuron: Neuron::Sign,
        init: Init::Uniform,
        sigma_m2: None,
        sigma_b2: None,
        tau: model.tau(),
    };
    config.check()?;
    let layer = |weights: &BitMatrix, bias: Vec<f32>| Layer {
        inputs: weights.columns(),
        outputs: weights.rows(),
        means: (0..weights.rows()).flat_map(|row| (0..weights.columns()).map(move |column| f32::from(weights.spin(row, column)))).collect(),
        bias,
    };
    let network = |packed: &isinglass_bits::Network| {
        let mut layers: Vec<Layer> = Vec::new();
        for hidden in packed.layers() {
            let root = (hidden.weights.columns() as f64).sqrt();
            let bias = hidden.thresholds.iter().map(|&threshold| ((0.5 - f64::from(threshold)) / root) as f32).collect();
            layers.push(layer(&hidden.weights, bias));
        }
        layers.push(layer(&packed.output().weights, packed.output().bias.clone()));
        Network { config: config.clone(), layers, preprocessing: Preprocessing::default() }
    };
    Ok(model.networks().iter().map(network).collect())
}

fn refuse_the_impossible(network: &Network, draws: Option<Draws>) -> Result<(), PackError> {
    let NetworkConfig { surrogate, neuron, inputs, .. } = network.config;
    let refuse = |reason: String| Err(PackError::Refused(reason));
    if !surrogate.has_binary_weights() {
        return refuse(format!(
            "surrogate {surrogate}: its weights are real numbers, there are no bits to pack; train with --surrogate deterministic"
        ));
    }
    if !surrogate.has_binary_neurons() {
        return refuse(format!(
            "surrogate {surrogate}: its neurons ({neuron}) are real numbers, and XNOR needs ±1 on both sides; train with --surrogate deterministic or lrt-binary"
        ));
    }
    if inputs > MOST_INPUTS {
        return refuse(format!("{inputs} inputs: at most {MOST_INPUTS}, since the floats to check against are not exact beyond"));
    }
    match draws {
        Some(Draws { samples: 0, .. }) => refuse("samples = 0: an ensemble has at least one network".into()),
        Some(Draws { samples, seed }) if samples > 1 && network.draw(seed, 0) == network.draw(seed, 1) => refuse(format!(
            "samples = {samples}: the means are all ±1 and the neurons without noise, so that every draw is the same network; leave --samples out"
        )),
        _ => Ok(()),
    }
}

fn preprocessing(network: &Network) -> isinglass_bits::Preprocessing {
    isinglass_bits::Preprocessing { offset: network.preprocessing.offset, scale: network.preprocessing.scale }
}

fn pack_one(
    network: &Network,
    number: usize,
    images: &[u8],
    examples: &Examples<'_>,
    threads: usize,
) -> Result<isinglass_bits::Network, PackError> {
    let packed = |layer: &Layer| {
        let is_up = |row: usize, column: usize| layer.means[row * layer.inputs + column] >= 0.0;
        (BitMatrix::from_fn(layer.outputs, layer.inputs, is_up), layer.bias.clone())
    };
    let packed = isinglass_bits::Network::new(preprocessing(network), network.layers.iter().map(packed).collect())?;
    let float = Evaluator::new(network, threads).binary_sums(examples).expect("it was found to be binary");
    let model = Model::new(vec![packed], preprocessing(network), network.config.tau)?;
    let (inputs, classes) = (network.config.inputs, network.config.classes);
    for (index, isa) in Isa::available().into_iter().enumerate() {
        // All images on the instruction set that will be used, some on the others; what was read back from the file, not what was put into it.
        let first = if index == 0 { 0 } else { (examples.len() - RANDOM_IMAGES) * inputs };
        let found = Predictor::new(&Model::from_bytes(&model.to_bytes())?, isa).sums_on(&images[first..], threads)?;
        let skipped = first / inputs * classes;
        if let Some(place) = (0..found.len()).find(|&place| found[place] != float[skipped + place]) {
            return Err(PackError::Differs {
                isa: isa.name(),
                network: number,
                image: (skipped + place) / classes,
                class: place % classes,
                packed: found[place],
                float: float[skipped + place],
            });
        }
    }
    Ok(model.networks()[0].clone())
}

fn random_images(inputs: usize) -> Vec<u8> {
    let mut rng = Rng::new(0);
    let mut images: Vec<u8> = (0..RANDOM_IMAGES * inputs).map(|_| rng.next_u64() as u8).collect();
    images[..inputs].fill(0);
    images[inputs..2 * inputs].fill(255);
    images
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_for_real_numbers_is_not_packed_unseen() {
        let mut network = NetworkConfig { inputs: 9, width: 5, classes: 3, ..NetworkConfig::default() }.init(&mut Rng::new(1)).unwrap();
        network.preprocessing = Preprocessing::standardising(0.5, 0.29);
        let error = pack(&network, None, &[], 1, &mut |_, _| {}).unwrap_err().to_string();
        assert!(error.contains("real numbers"), "{error}");
        network.preprocessing = Preprocessing::standardising(33.0, 70.0);
        assert_eq!(pack(&network, None, &[], 1, &mut |_, _| {}).unwrap().checked, RANDOM_IMAGES);
    }

    #[test]
    fn floats_made_of_bits_decide_as_the_bits_do() {
        let network = NetworkConfig { inputs: 50, depth: 2, width: 33, classes: 4, sigma_b2: Some(0.3), ..NetworkConfig::default() };
        let mut network = network.init(&mut Rng::new(3)).unwrap();
        network.preprocessing = Preprocessing::standardising(127.0, 74.0);
        let model = pack(&network, None, &[], 1, &mut |_, _| {}).unwrap().model;
        let floats = &unpack(&model).unwrap()[0];
        let images = random_images(50);
        let labels = vec![0; RANDOM_IMAGES];
        let examples = Examples::new(Values::Bytes(&images), 50, &labels, 4).unwrap();
        assert_eq!(Evaluator::new(floats, 1).binary_sums(&examples).unwrap(), model.predictor().sums(&images).unwrap());
    }
}
