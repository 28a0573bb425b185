//! What a network looks like inside: polarisation, saturation, field variances beside the theory's, gradient norms.

use serde::Serialize;

use crate::{Error, Examples, Network};

/// Counts in equal bins from −1 to 1.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Histogram {
    /// Counts, from the bin that starts at −1 to the one that ends at 1.
    pub counts: Vec<u64>,
}

/// One layer of a network on some examples.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LayerDiagnosis {
    /// Counted from 1; the output layer is the last.
    pub layer: usize,
    /// Neurons below.
    pub inputs: usize,
    /// Neurons of this layer.
    pub outputs: usize,
    /// Mean square of the means.
    pub sigma_m2: f64,
    /// Mean square of the biases.
    pub sigma_b2: f64,
    /// Fraction of means beyond ±0.9.
    pub polarised: f64,
    /// Histogram of the means.
    pub means: Histogram,
    /// Fraction of weights whose sign is not the initial one; `None` if the initial network is not known.
    pub flip_ratio: Option<f64>,
    /// Variance of the surrogate's field `h` over neurons and examples.
    pub field_variance: f64,
    /// What the theory predicts from the measured variances of means and biases of the layers so far; `None` where it does not apply.
    pub predicted_variance: Option<f64>,
    /// Slope of the correlation map at `c = 1`, with this layer's measured variances; `None` for the output layer.
    pub chi_1: Option<f64>,
    /// Fraction of neurons beyond ±0.9; `None` for the output layer.
    pub saturated: Option<f64>,
    /// Histogram of the neurons; `None` for the output layer.
    pub neurons: Option<Histogram>,
    /// Norm of the loss's gradient with respect to the means.
    pub gradient_norm: f64,
}

/// All layers of a network on some examples.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Diagnosis {
    /// The layers, the output layer last.
    pub layers: Vec<LayerDiagnosis>,
}

impl Diagnosis {
    /// Looks inside a network, with some examples going through it.
    ///
    /// # Errors
    ///
    /// If examples and network do not fit.
    pub fn new(
        _network: &Network,
        _initial: Option<&Network>,
        _examples: &Examples<'_>,
        _indices: &[u32],
        _threads: usize,
    ) -> Result<Self, Error> {
        todo!()
    }
}
