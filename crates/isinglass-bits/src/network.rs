//! One packed network.

use alloc::format;
use alloc::vec::Vec;

use crate::threshold::{threshold_of_bytes, threshold_of_spins};
use crate::{BitMatrix, Error, Output, PackedLayer, Preprocessing};

/// A packed network: a layer on bytes, layers on spins, and the output layer.
///
/// There is at least one layer below the output, and each layer has as many inputs as the one below has neurons.
#[derive(Debug, Clone, PartialEq)]
pub struct PackedNetwork {
    layers: Vec<PackedLayer>,
    output: Output,
}

impl PackedNetwork {
    /// Packs a network, given the weights and biases of every layer, the output layer last.
    /// The preprocessing becomes part of the first layer's thresholds.
    ///
    /// # Errors
    ///
    /// [`Error::Shape`] if there are fewer than two layers or they do not fit each other, [`Error::Value`] if a bias is not finite.
    pub fn new(preprocessing: Preprocessing, mut layers: Vec<(BitMatrix, Vec<f32>)>) -> Result<Self, Error> {
        let Some((weights, bias)) = layers.pop() else { return Err(Error::Shape("a network needs at least one layer".into())) };
        let output = Output::new(weights, bias)?;
        let with_thresholds = |(index, (weights, bias)): (usize, (BitMatrix, Vec<f32>))| {
            if weights.rows() != bias.len() {
                return Err(Error::Shape(format!("layer {index}: {} biases for {} neurons", bias.len(), weights.rows())));
            }
            if let Some(neuron) = bias.iter().position(|bias| !bias.is_finite()) {
                return Err(Error::Value(format!("layer {index}: the bias of neuron {neuron} is {}, which is not finite", bias[neuron])));
            }
            let threshold = |(row, &bias): (usize, &f32)| match index {
                0 => threshold_of_bytes(weights.columns(), weights.row_sum(row), bias, preprocessing),
                _ => threshold_of_spins(weights.columns(), bias),
            };
            let thresholds = bias.iter().enumerate().map(threshold).collect();
            PackedLayer::new(weights, thresholds)
        };
        Self::from_layers(layers.into_iter().enumerate().map(with_thresholds).collect::<Result<_, _>>()?, output)
    }

    /// Joins packed layers.
    ///
    /// # Errors
    ///
    /// [`Error::Shape`] if there are no layers below the output, or they do not fit each other.
    pub fn from_layers(layers: Vec<PackedLayer>, output: Output) -> Result<Self, Error> {
        if layers.is_empty() {
            return Err(Error::Shape("a network needs at least one hidden layer".into()));
        }
        let above = layers.iter().map(PackedLayer::inputs).skip(1).chain([output.inputs()]);
        let joints = layers.iter().map(PackedLayer::neurons).zip(above).enumerate();
        for (index, (neurons, inputs)) in joints {
            if neurons != inputs {
                return Err(Error::Shape(format!("layer {index} has {neurons} neurons, but the next layer has {inputs} inputs")));
            }
        }
        Ok(Self { layers, output })
    }

    /// The layers of ±1 neurons; the first takes bytes.
    pub fn layers(&self) -> &[PackedLayer] {
        &self.layers
    }

    /// The output layer.
    pub fn output(&self) -> &Output {
        &self.output
    }

    /// The weights of every layer, the output layer last.
    pub fn matrices(&self) -> impl Iterator<Item = &BitMatrix> {
        self.layers.iter().map(PackedLayer::weights).chain([self.output.weights()])
    }

    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        self.layers[0].inputs()
    }

    /// Sizes from the inputs to the classes.
    pub fn sizes(&self) -> Vec<usize> {
        core::iter::once(self.inputs()).chain(self.matrices().map(BitMatrix::rows)).collect()
    }
}
