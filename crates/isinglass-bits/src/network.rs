//! Packed networks, and ensembles of them.
//!
//! ```
//! use isinglass_bits::{BitMatrix, Model, Network, Preprocessing};
//!
//! // Four bytes, three neurons, two classes.
//! let input = BitMatrix::from_fn(3, 4, |unit, byte| unit != byte);
//! let output = BitMatrix::from_fn(2, 3, |class, unit| class == 0 || unit == 0);
//! let preprocessing = Preprocessing { offset: 127.5, scale: 1.0 / 127.5 };
//! let network = Network::new(preprocessing, vec![(input, vec![0.0, 0.5, -0.5]), (output, vec![0.1, 0.0])])?;
//! let model = Model::new(vec![network], preprocessing, 1.0)?;
//! let classes = model.predictor().classes(&[0, 255, 255, 0, 255, 0, 0, 0])?; // two images
//! assert_eq!(classes, [1, 0]);
//! # Ok::<(), isinglass_bits::Error>(())
//! ```

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::threshold::{threshold_of_bytes, threshold_of_spins};
use crate::{BitMatrix, Error, Isa, Predictor};

/// How bytes become inputs: `x = (byte − offset) · scale`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preprocessing {
    /// Subtracted from every byte.
    pub offset: f32,
    /// Multiplied to the difference; above 0.
    pub scale: f32,
}

/// A layer of ±1 neurons: neuron `i` is +1 where `Σ_j S_ij x_j ≥ thresholds[i]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    /// `S`, a row for every neuron.
    pub weights: BitMatrix,
    /// The thresholds.
    pub thresholds: Vec<i32>,
}

/// The output layer: the field of class `k` is `Σ_j S_kj x_j/√N + bias[k]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    /// `S`, a row for every class.
    pub weights: BitMatrix,
    /// The biases.
    pub bias: Vec<f32>,
}

/// One packed network: a layer on bytes, layers on spins, and the output.
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    pub(crate) layers: Vec<Layer>,
    pub(crate) output: Output,
}

impl Network {
    /// Packs a network: weights and biases of every layer, the output layer last. The preprocessing goes into the thresholds of the first layer.
    ///
    /// # Errors
    ///
    /// [`Error::Shape`] if there are fewer than two layers or they do not fit each other, [`Error::Value`] if a bias is not a number or the preprocessing impossible.
    pub fn new(preprocessing: Preprocessing, mut layers: Vec<(BitMatrix, Vec<f32>)>) -> Result<Self, Error> {
        check_preprocessing(preprocessing)?;
        for (index, (weights, bias)) in layers.iter().enumerate() {
            if weights.rows() != bias.len() {
                return Err(Error::Shape(format!("layer {index}: {} biases for {} neurons", bias.len(), weights.rows())));
            }
            if let Some(wrong) = bias.iter().find(|bias| !bias.is_finite()) {
                return Err(Error::Value(format!("layer {index}: a bias is {wrong}")));
            }
        }
        let Some((weights, bias)) = layers.pop() else { return Err(Error::Shape("there are no layers".into())) };
        let output = Output { weights, bias };
        let with_thresholds = |(index, (weights, bias)): (usize, (BitMatrix, Vec<f32>))| {
            let threshold = |(row, &bias): (usize, &f32)| match index {
                0 => threshold_of_bytes(weights.columns(), weights.row_sum(row), bias, preprocessing),
                _ => threshold_of_spins(weights.columns(), bias),
            };
            let thresholds = bias.iter().enumerate().map(threshold).collect();
            Layer { weights, thresholds }
        };
        Self::from_layers(layers.into_iter().enumerate().map(with_thresholds).collect(), output)
    }

    /// Puts packed layers together.
    ///
    /// # Errors
    ///
    /// As [`Network::new`].
    pub fn from_layers(layers: Vec<Layer>, output: Output) -> Result<Self, Error> {
        if layers.is_empty() {
            return Err(Error::Shape("the network needs at least one hidden layer".into()));
        }
        let below = layers.iter().map(|layer| layer.weights.rows());
        let above = layers.iter().map(|layer| layer.weights.columns()).skip(1).chain([output.weights.columns()]);
        if let Some((index, (rows, columns))) = below.zip(above).enumerate().find(|(_, (rows, columns))| rows != columns) {
            return Err(Error::Shape(format!("layer {index} has {rows} neurons, the next one {columns} inputs")));
        }
        if layers.iter().any(|layer| layer.thresholds.len() != layer.weights.rows()) || output.bias.len() != output.weights.rows() {
            return Err(Error::Shape("every neuron has one threshold, and every class one bias".into()));
        }
        if let Some(wrong) = output.bias.iter().find(|bias| !bias.is_finite()) {
            return Err(Error::Value(format!("a bias of the output is {wrong}")));
        }
        Ok(Self { layers, output })
    }

    /// The layers of ±1 neurons; the first looks at bytes.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// The output layer.
    pub fn output(&self) -> &Output {
        &self.output
    }

    /// The weights of every layer, the output layer last.
    pub fn matrices(&self) -> impl Iterator<Item = &BitMatrix> {
        self.layers.iter().map(|layer| &layer.weights).chain([&self.output.weights])
    }

    /// Sizes from the inputs to the classes.
    pub fn sizes(&self) -> Vec<usize> {
        core::iter::once(self.layers[0].weights.columns()).chain(self.matrices().map(BitMatrix::rows)).collect()
    }
}

/// What is packed into a file: a network, or an ensemble of networks of one shape whose class probabilities are averaged.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    pub(crate) networks: Vec<Network>,
    pub(crate) preprocessing: Preprocessing,
    pub(crate) tau: f64,
    /// Height and width of the images, where the inputs are images.
    pub image: Option<(usize, usize)>,
    /// Where the network comes from, in words: the data set, the run, …
    pub provenance: BTreeMap<String, String>,
}

impl Model {
    /// Puts networks together. `tau` multiplies the fields of the output to give logits.
    ///
    /// # Errors
    ///
    /// [`Error::Shape`] if there are none or their shapes differ, [`Error::Value`] if `tau` or the preprocessing is impossible.
    pub fn new(networks: Vec<Network>, preprocessing: Preprocessing, tau: f64) -> Result<Self, Error> {
        check_preprocessing(preprocessing)?;
        if !(tau > 0.0 && tau.is_finite()) {
            return Err(Error::Value(format!("tau = {tau}: the scale of the logits is above 0")));
        }
        let Some(first) = networks.first() else { return Err(Error::Shape("there is no network".into())) };
        let sizes = first.sizes();
        if networks.iter().any(|network| network.sizes() != sizes) {
            return Err(Error::Shape("the networks of an ensemble have one shape".into()));
        }
        Ok(Self { networks, preprocessing, tau, image: None, provenance: BTreeMap::new() })
    }

    /// The networks; one, unless it is an ensemble.
    pub fn networks(&self) -> &[Network] {
        &self.networks
    }

    /// How bytes became inputs in training; the thresholds have it in them.
    pub fn preprocessing(&self) -> Preprocessing {
        self.preprocessing
    }

    /// What the fields of the output are multiplied with.
    pub fn tau(&self) -> f64 {
        self.tau
    }

    /// Sizes from the inputs to the classes.
    pub fn sizes(&self) -> Vec<usize> {
        self.networks[0].sizes()
    }

    /// Bytes per image.
    pub fn inputs(&self) -> usize {
        self.networks[0].layers[0].weights.columns()
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.networks[0].output.weights.rows()
    }

    /// Lays the network out for this machine's fastest instruction set.
    pub fn predictor(&self) -> Predictor {
        Predictor::new(self, Isa::best())
    }
}

fn check_preprocessing(Preprocessing { offset, scale }: Preprocessing) -> Result<(), Error> {
    if offset.is_finite() && scale.is_finite() && scale > 0.0 {
        return Ok(());
    }
    Err(Error::Value(format!("offset {offset}, scale {scale}: both are numbers, and the scale is above 0")))
}
