//! Layers of a packed network.

use alloc::format;
use alloc::vec::Vec;

use crate::{BitMatrix, Error};

/// A layer as it was trained: its weights, its biases, and whether it carries.
///
/// The field of neuron `i` is `s_i/√N + b_i`, where `s_i = Σ_j S_ij x_j`, plus the `s_i` of the layer before if the layer carries. Biases are not carried.
#[derive(Debug, Clone, PartialEq)]
pub struct BiasedLayer {
    /// `S`, a row for every neuron.
    pub weights: BitMatrix,
    /// `b`, one for every neuron.
    pub bias: Vec<f32>,
    /// Whether the sums of the layer before are added to its own.
    pub carries: bool,
}

impl From<(BitMatrix, Vec<f32>)> for BiasedLayer {
    /// A layer that does not carry.
    fn from((weights, bias): (BitMatrix, Vec<f32>)) -> Self {
        Self { weights, bias, carries: false }
    }
}

/// A layer of ±1 neurons: neuron `i` is +1 where `Σ_j S_ij x_j ≥ t_i`.
///
/// In a layer that [carries](PackedLayer::carrying), the sum of neuron `i` of the layer before is added first.
///
/// ```
/// use isinglass_bits::{BitMatrix, PackedLayer};
///
/// let weights = BitMatrix::from_fn(2, 5, |neuron, input| neuron == 0 || input < 2);
/// assert_eq!(PackedLayer::new(weights.clone(), vec![2, 0])?.thresholds(), [2, 0]);
/// assert!(PackedLayer::new(weights, vec![2]).is_err()); // two neurons need two thresholds
/// # Ok::<(), isinglass_bits::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedLayer {
    weights: BitMatrix,
    thresholds: Vec<i32>,
    carries: bool,
}

impl PackedLayer {
    /// A layer with a row of weights and a threshold for every neuron.
    ///
    /// # Errors
    ///
    /// [`Error::Shape`] if there are not as many thresholds as rows.
    pub fn new(weights: BitMatrix, thresholds: Vec<i32>) -> Result<Self, Error> {
        if thresholds.len() != weights.rows() {
            return Err(Error::Shape(format!("{} thresholds for {} neurons", thresholds.len(), weights.rows())));
        }
        Ok(Self { weights, thresholds, carries: false })
    }

    /// The same layer, which adds its sums to those of the layer before, whatever that one carries included; or which does not.
    ///
    /// [`PackedNetwork::from_layers`](crate::PackedNetwork::from_layers) checks that there is such a layer.
    ///
    /// ```
    /// use isinglass_bits::{BitMatrix, PackedLayer};
    ///
    /// let layer = |rows, columns| PackedLayer::new(BitMatrix::from_fn(rows, columns, |_, _| true), vec![0; rows]);
    /// assert!(layer(3, 3)?.carrying(true)?.carries());
    /// assert!(layer(3, 2)?.carrying(true).is_err()); // sums of 3 and of 2 inputs have different units
    /// # Ok::<(), isinglass_bits::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Shape`] if it carries but does not have as many neurons as inputs.
    pub fn carrying(self, carries: bool) -> Result<Self, Error> {
        if carries && self.inputs() != self.neurons() {
            let (inputs, neurons) = (self.inputs(), self.neurons());
            return Err(Error::Shape(format!("a layer that carries needs as many neurons as inputs, not {neurons} and {inputs}")));
        }
        Ok(Self { carries, ..self })
    }

    /// `S`, a row for every neuron.
    pub fn weights(&self) -> &BitMatrix {
        &self.weights
    }

    /// `t`, one for every neuron.
    pub fn thresholds(&self) -> &[i32] {
        &self.thresholds
    }

    /// Whether the sums of the layer before are added to its own.
    pub fn carries(&self) -> bool {
        self.carries
    }

    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        self.weights.columns()
    }

    /// Number of neurons.
    pub fn neurons(&self) -> usize {
        self.weights.rows()
    }

    /// Whether both layers have as many inputs and as many neurons.
    pub(crate) fn has_shape_of(&self, other: &Self) -> bool {
        (self.inputs(), self.neurons()) == (other.inputs(), other.neurons())
    }
}

/// The output layer: the field of class `k` is `Σ_j S_kj x_j/√N + b_k`.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    weights: BitMatrix,
    bias: Vec<f32>,
}

impl Output {
    /// An output layer with a row of weights and a bias for every class.
    ///
    /// # Errors
    ///
    /// [`Error::Shape`] if there are not as many biases as rows, [`Error::Value`] if a bias is not finite.
    pub fn new(weights: BitMatrix, bias: Vec<f32>) -> Result<Self, Error> {
        if bias.len() != weights.rows() {
            return Err(Error::Shape(format!("output layer: {} biases for {} classes", bias.len(), weights.rows())));
        }
        if let Some(class) = bias.iter().position(|bias| !bias.is_finite()) {
            return Err(Error::Value(format!("output layer: the bias of class {class} is {}, which is not finite", bias[class])));
        }
        Ok(Self { weights, bias })
    }

    /// `S`, a row for every class.
    pub fn weights(&self) -> &BitMatrix {
        &self.weights
    }

    /// `b`, one for every class.
    pub fn bias(&self) -> &[f32] {
        &self.bias
    }

    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        self.weights.columns()
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.weights.rows()
    }
}
