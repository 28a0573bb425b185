//! One packed network.

use alloc::format;
use alloc::vec::Vec;
use core::ops::Range;

use crate::carry::{Shape, summed_layers};
use crate::threshold::{threshold_of_bytes, threshold_of_carried};
use crate::{BiasedLayer, BitMatrix, Error, Output, PackedLayer, Preprocessing};

/// A packed network: a layer on bytes, layers on spins, and the output layer.
///
/// There is at least one layer below the output, and each layer has as many inputs as the one below has neurons.
/// Layers that carry add their sums to those of the layer before.
#[derive(Debug, Clone, PartialEq)]
pub struct PackedNetwork {
    layers: Vec<PackedLayer>,
    output: Output,
    /// How many layers' sums add up in each layer of neurons; `largest_sums` fit 32 bits.
    summed: Vec<usize>,
}

impl PackedNetwork {
    /// Packs a network, given the weights and biases of every layer, the output layer last.
    /// Layers are [`BiasedLayer`]s, or pairs of weights and biases if none carries.
    /// The preprocessing becomes part of the first layer's thresholds.
    ///
    /// ```
    /// use isinglass_bits::{BiasedLayer, BitMatrix, PackedNetwork, Preprocessing};
    ///
    /// let layer = |inputs, neurons, carries| {
    ///     let weights = BitMatrix::from_fn(neurons, inputs, |neuron, input| neuron >= input);
    ///     BiasedLayer { weights, bias: vec![0.5; neurons], carries }
    /// };
    /// let network = PackedNetwork::new(Preprocessing::default(), vec![layer(8, 4, false), layer(4, 4, false), layer(4, 4, true), layer(4, 2, false)])?;
    /// assert_eq!(network.largest_sums(), [8 * 255, 4, 8]); // 8 where two layers of 4 inputs add up
    /// # Ok::<(), isinglass_bits::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Shape`] if there are fewer than two layers, they do not fit each other, or one [cannot carry](PackedNetwork::from_layers);
    /// [`Error::Value`] if a bias is not finite, or a carried sum may exceed 32 bits.
    pub fn new(preprocessing: Preprocessing, layers: Vec<impl Into<BiasedLayer>>) -> Result<Self, Error> {
        let mut layers: Vec<BiasedLayer> = layers.into_iter().map(Into::into).collect();
        let Some(BiasedLayer { weights, bias, carries }) = layers.pop() else {
            return Err(Error::Shape("a network needs at least one layer".into()));
        };
        if carries {
            return Err(Error::Shape("the output layer carries: only layers of neurons can".into()));
        }
        let output = Output::new(weights, bias)?;
        let shapes =
            layers.iter().map(|layer| Shape { inputs: layer.weights.columns(), neurons: layer.weights.rows(), carries: layer.carries });
        let summed = summed_layers(shapes)?;
        let with_thresholds = |(index, (layer, summed)): (usize, (BiasedLayer, usize))| {
            let BiasedLayer { weights, bias, carries } = layer;
            if weights.rows() != bias.len() {
                return Err(Error::Shape(format!("layer {index}: {} biases for {} neurons", bias.len(), weights.rows())));
            }
            if let Some(neuron) = bias.iter().position(|bias| !bias.is_finite()) {
                return Err(Error::Value(format!("layer {index}: the bias of neuron {neuron} is {}, which is not finite", bias[neuron])));
            }
            let threshold = |(row, &bias): (usize, &f32)| match index {
                0 => threshold_of_bytes(weights.columns(), weights.row_sum(row), bias, preprocessing),
                _ => threshold_of_carried(weights.columns(), summed, bias),
            };
            let thresholds = bias.iter().enumerate().map(threshold).collect();
            PackedLayer::new(weights, thresholds)?.carrying(carries)
        };
        Self::from_layers(layers.into_iter().zip(summed).enumerate().map(with_thresholds).collect::<Result<_, _>>()?, output)
    }

    /// Joins packed layers.
    ///
    /// A layer can carry from the third on, if it and the layer before all have the same number of inputs and neurons.
    ///
    /// # Errors
    ///
    /// [`Error::Shape`] if there are no layers below the output, they do not fit each other, or one cannot carry;
    /// [`Error::Value`] if a carried sum may exceed [`MAX_SUM`](crate::MAX_SUM).
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
        let summed = summed_layers(layers.iter().map(Shape::from))?;
        Ok(Self { layers, output, summed })
    }

    /// The largest size that the sums of every layer of neurons can have: `255N` in the first layer, `mN` where the sums of `m` layers with `N` inputs add up.
    pub fn largest_sums(&self) -> Vec<i32> {
        let largest = |(index, (layer, &summed)): (usize, (&PackedLayer, &usize))| {
            let factor = if index == 0 { 255 } else { summed };
            (factor * layer.inputs()) as i32
        };
        self.layers.iter().zip(&self.summed).enumerate().map(largest).collect()
    }

    /// Which layers of neurons carry: ranges of layers as long as possible, the first layer being 0.
    pub fn carrying_layers(&self) -> Vec<Range<usize>> {
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for index in (0..self.layers.len()).filter(|&index| self.layers[index].carries()) {
            match ranges.last_mut() {
                Some(range) if range.end == index => range.end += 1,
                _ => ranges.push(index..index + 1),
            }
        }
        ranges
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
