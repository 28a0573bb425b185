//! One layer: its shape and rules ([`LayerSpec`]), and its parameters ([`Layer`]).
//!
//! The specification, not the position in the network, makes a layer a hidden or an output layer: how its field is computed, how its inputs add to the variance `Σ`, and how its
//! neurons respond to the field.
//!
//! ```
//! use isinglass_net::{Layer, NetworkConfig};
//!
//! let config = NetworkConfig { inputs: 3, hidden: vec![2], classes: 2, ..NetworkConfig::default() };
//! let spec = config.layers()?[0];
//! assert_eq!((spec.inputs(), spec.outputs()), (3, 2));
//! let layer = Layer::new(spec, vec![0.5, -1.0, 0.0, 1.0, 0.25, -0.25], vec![0.0, 0.1])?;
//! assert_eq!(layer.row(1), [1.0, 0.25, -0.25]);
//! assert!(Layer::new(spec, vec![0.5; 5], vec![0.0; 2]).is_err()); // a mean is missing
//! assert!(Layer::new(spec, vec![2.0; 6], vec![0.0; 2]).is_err()); // means of ±1 weights lie in [−1, 1]
//! # Ok::<(), isinglass_net::Error>(())
//! ```

use std::f64::consts::PI;

use isinglass_files::number;
use isinglass_theory::Neuron;
use isinglass_theory::activation::Phi;

use crate::kernels::{Field, Nonlinearity, VarianceRule};
use crate::{Error, Surrogate};

/// A layer's shape and rules.
///
/// [`NetworkConfig::layers`](crate::NetworkConfig::layers) makes the specifications of a network.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LayerSpec {
    inputs: usize,
    outputs: usize,
    has_binary_weights: bool,
    /// Whether the surrogate multiplies with `sign(M)` instead of `M`.
    pub(crate) uses_signs: bool,
    /// How the inputs add to `Σ`.
    pub(crate) variance: VarianceRule,
    /// How the field follows from `h̄` and `Σ`. The key of sampled fields is set in every pass.
    pub(crate) field: Field,
    /// How the surrogate's neurons respond to the field.
    pub(crate) nonlinearity: Nonlinearity,
    /// How the binary network's units respond to it.
    pub(crate) unit: Unit,
    /// Number of layers below whose fields are carried to this one; 0 for a plain layer.
    carried: usize,
}

/// How a unit of the binary network behind a surrogate responds to its field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Unit {
    /// A neuron without noise: `sign(h)`, with `sign(0) = +1`.
    Sign,
    /// A neuron that is `+1` with probability `(1 + φ(h))/2`.
    Stochastic(Neuron),
    /// A continuous neuron: `φ(h)`.
    Continuous(Neuron),
    /// An output: the logit `τh`.
    Output {
        /// `τ`.
        tau: f64,
    },
}

/// Where the inputs of a layer come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// The data.
    Data,
    /// The hidden layer below.
    Neurons,
}

impl LayerSpec {
    /// A hidden layer, to which the fields of `carried` layers below are carried.
    pub(crate) fn hidden(surrogate: Surrogate, neuron: Neuron, source: Source, (inputs, outputs): (usize, usize), carried: usize) -> Self {
        let (field, nonlinearity) = match surrogate {
            Surrogate::Deterministic => match neuron.averaged() {
                Some((phi, d)) => (Field::Averaged { noise: d.noise as f32, spread: d.spread as f32 }, nonlinearity(&phi)),
                None => unreachable!("check_neuron refuses neurons without an average"),
            },
            Surrogate::LrtBinary | Surrogate::LrtContinuous => (Field::Sampled { key: [0; 2] }, nonlinearity(&neuron.mean())),
            Surrogate::Continuous => (Field::Plain, nonlinearity(&neuron.mean())),
            // A sum of k fields has a variance of k: the identity's window grows with it, else the slopes of deep layers would all be 0 or multiply without bound.
            Surrogate::Ste => (Field::Plain, Nonlinearity::Step(((carried + 1) as f32).sqrt())),
        };
        let unit = match surrogate.has_binary_neurons() {
            false => Unit::Continuous(neuron),
            true if is_stochastic(surrogate, neuron) => Unit::Stochastic(neuron),
            true => Unit::Sign,
        };
        Self { field, nonlinearity, unit, carried, ..Self::common(surrogate, source, (inputs, outputs)) }
    }

    /// An output layer: `τh̄/√(1 + πτ²Σ/8)` is a field averaged with noise 1 and spread `πτ²/8`.
    pub(crate) fn output(surrogate: Surrogate, tau: f64, source: Source, (inputs, outputs): (usize, usize)) -> Self {
        let field = match surrogate {
            Surrogate::Deterministic => Field::Averaged { noise: 1.0, spread: (PI * tau * tau / 8.0) as f32 },
            Surrogate::LrtBinary | Surrogate::LrtContinuous => Field::Sampled { key: [0; 2] },
            Surrogate::Continuous | Surrogate::Ste => Field::Plain,
        };
        Self {
            field,
            nonlinearity: Nonlinearity::Linear(tau as f32),
            unit: Unit::Output { tau },
            ..Self::common(surrogate, source, (inputs, outputs))
        }
    }

    fn common(surrogate: Surrogate, source: Source, (inputs, outputs): (usize, usize)) -> Self {
        // Inputs are random spins unless they are data or continuous neurons.
        let variance = match (surrogate, source) {
            (Surrogate::Continuous | Surrogate::Ste, _) => VarianceRule::None,
            (Surrogate::LrtContinuous, _) | (_, Source::Data) => VarianceRule::Numbers,
            (Surrogate::Deterministic | Surrogate::LrtBinary, Source::Neurons) => VarianceRule::Spins,
        };
        Self {
            inputs,
            outputs,
            has_binary_weights: surrogate.has_binary_weights(),
            uses_signs: surrogate == Surrogate::Ste,
            variance,
            field: Field::Plain,
            nonlinearity: Nonlinearity::Linear(1.0),
            unit: Unit::Output { tau: 1.0 },
            carried: 0,
        }
    }

    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Number of units.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// Number of weights.
    pub fn weights(&self) -> usize {
        self.inputs * self.outputs
    }

    /// Whether the weights are ±1, so that their means lie in `[−1, 1]`.
    pub fn has_binary_weights(&self) -> bool {
        self.has_binary_weights
    }

    /// Whether the field of the layer below is carried to this one: `h' = h + S x/√N`.
    pub fn carries(&self) -> bool {
        self.carried > 0
    }

    /// Number of layers below whose fields are carried to this one.
    pub fn carried(&self) -> usize {
        self.carried
    }

    /// Whether it is an output layer.
    pub fn is_output(&self) -> bool {
        matches!(self.unit, Unit::Output { .. })
    }
}

/// Whether a neuron is drawn at random given its field, as opposed to being its sign.
fn is_stochastic(surrogate: Surrogate, neuron: Neuron) -> bool {
    match (surrogate, neuron) {
        (_, Neuron::Probit(_) | Neuron::Logistic(_)) => true,
        // In the deterministic surrogate a chosen gain is not the mean of a stochastic neuron; the neuron behind it is the sign.
        (Surrogate::LrtBinary, _) => true,
        _ => false,
    }
}

fn nonlinearity(phi: &Phi) -> Nonlinearity {
    match phi {
        Phi::Erf(erf) => Nonlinearity::Erf(erf.gain() as f32),
        Phi::Tanh(tanh) => Nonlinearity::Tanh(tanh.gain() as f32),
        Phi::Sign => Nonlinearity::Step(1.0),
        Phi::Relu | Phi::Linear => unreachable!("check_neuron refuses unbounded neurons"),
    }
}

/// A layer: its specification, a mean for every weight, and a bias for every unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    spec: LayerSpec,
    means: Vec<f32>,
    bias: Vec<f32>,
}

impl Layer {
    /// Builds a layer. Means are stored row by row, `means[output · inputs + input]`.
    ///
    /// # Errors
    ///
    /// [`Error::Layer`] if the numbers of means and biases do not match the shape, one is not finite, or the mean of a binary weight lies outside `[−1, 1]`.
    pub fn new(spec: LayerSpec, means: Vec<f32>, bias: Vec<f32>) -> Result<Self, Error> {
        let LayerSpec { inputs, outputs, .. } = spec;
        if means.len() != spec.weights() {
            return Err(Error::Layer(format!("{} means for a layer of {inputs} inputs and {outputs} outputs", means.len())));
        }
        if bias.len() != outputs {
            return Err(Error::Layer(format!("{} biases for a layer of {outputs} outputs", bias.len())));
        }
        let largest = if spec.has_binary_weights { 1.0 } else { f32::MAX };
        // NaN lies in no range.
        if let Some(wrong) = means.iter().find(|mean| !(-largest..=largest).contains(*mean)) {
            let limit = if spec.has_binary_weights { "means of ±1 weights lie in [-1, 1]" } else { "weights are finite numbers" };
            return Err(Error::Layer(format!("a mean of {}: {limit}", number(*wrong))));
        }
        if let Some(wrong) = bias.iter().find(|bias| !bias.is_finite()) {
            return Err(Error::Layer(format!("a bias of {wrong}: biases are finite numbers")));
        }
        Ok(Self { spec, means, bias })
    }

    /// The specification.
    pub fn spec(&self) -> &LayerSpec {
        &self.spec
    }

    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        self.spec.inputs
    }

    /// Number of units.
    pub fn outputs(&self) -> usize {
        self.spec.outputs
    }

    /// `M`, row by row; the weights themselves where they are real.
    pub fn means(&self) -> &[f32] {
        &self.means
    }

    /// The means of one unit's weights.
    ///
    /// # Panics
    ///
    /// If there is no such unit.
    pub fn row(&self, unit: usize) -> &[f32] {
        &self.means[unit * self.spec.inputs..(unit + 1) * self.spec.inputs]
    }

    /// The means of every unit's weights, unit by unit.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.means.chunks_exact(self.spec.inputs)
    }

    /// `b`.
    pub fn bias(&self) -> &[f32] {
        &self.bias
    }

    /// The same layer with other means.
    ///
    /// # Errors
    ///
    /// Those of [`Layer::new`].
    pub fn with_means(self, means: Vec<f32>) -> Result<Self, Error> {
        Self::new(self.spec, means, self.bias)
    }

    /// The same layer with other biases.
    ///
    /// # Errors
    ///
    /// Those of [`Layer::new`].
    pub fn with_bias(self, bias: Vec<f32>) -> Result<Self, Error> {
        Self::new(self.spec, self.means, bias)
    }

    /// Means and biases.
    pub fn into_parts(self) -> (Vec<f32>, Vec<f32>) {
        (self.means, self.bias)
    }
}

#[cfg(test)]
mod tests {
    use crate::NetworkConfig;

    use super::*;

    #[test]
    fn wrong_counts_and_values_are_refused() {
        let config = NetworkConfig { inputs: 3, hidden: vec![2], classes: 2, ..NetworkConfig::default() };
        let spec = config.layers().unwrap()[0];
        let message = |means: Vec<f32>, bias: Vec<f32>| Layer::new(spec, means, bias).unwrap_err().to_string();
        assert!(message(vec![0.0; 5], vec![0.0; 2]).contains("5 means"));
        assert!(message(vec![0.0; 6], vec![]).contains("0 biases"));
        for wrong in [1.5, -1.000_001, f32::NAN, f32::INFINITY] {
            assert!(message(vec![wrong; 6], vec![0.0; 2]).contains("[-1, 1]"), "{wrong}");
        }
        assert!(message(vec![0.0; 6], vec![f32::NAN; 2]).contains("a bias of NaN"));
        let layer = Layer::new(spec, vec![1.0, -1.0, 0.5, 0.0, 0.0, 0.0], vec![0.0; 2]).unwrap();
        assert!(layer.clone().with_means(vec![0.0; 7]).is_err() && layer.clone().with_bias(vec![]).is_err());
        assert_eq!(layer.clone().with_bias(vec![1.0, 2.0]).unwrap().bias(), [1.0, 2.0]);
    }

    #[test]
    fn real_weights_have_no_bounds() {
        let config = NetworkConfig {
            inputs: 1,
            hidden: vec![1],
            classes: 2,
            surrogate: Surrogate::Continuous,
            neuron: Neuron::Tanh(1.0),
            ..NetworkConfig::default()
        };
        let spec = config.layers().unwrap()[0];
        assert!(Layer::new(spec, vec![7.0], vec![0.0]).is_ok());
        assert!(Layer::new(spec, vec![f32::NAN], vec![0.0]).is_err());
    }
}
