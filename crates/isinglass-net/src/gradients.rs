//! The gradient of the loss, as the trainer computes it.
//!
//! ```
//! use isinglass_net::{Examples, Gradients, Init, Network};
//!
//! let network = Network::builder(4).hidden([5, 3]).classes(2).init(Init::Auto, 1)?;
//! let examples = Examples::new(&[1.0, -1.0, 0.5, 0.0], 4, &[1], 2)?;
//! let gradients = Gradients::new(&network, &examples, &[0], true, 1)?;
//! assert_eq!(gradients.layers[0].means.len(), 20);
//! assert!(gradients.loss > 0.0);
//! # Ok::<(), isinglass_net::Error>(())
//! ```

use crate::engine::{Engine, EngineLayer, LayerSink, Purpose, Scale};
use crate::kernels::{Kernels, Sink};
use crate::parametrisation::Parametrisation;
use crate::{Error, Examples, Network, noise};

/// Gradients of a batch's mean negative log-likelihood.
#[derive(Debug, Clone, PartialEq)]
pub struct Gradients {
    /// The loss.
    pub loss: f64,
    /// Its gradients, layer by layer.
    pub layers: Vec<LayerGradients>,
}

/// The gradients of one layer.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerGradients {
    /// Of the means, row by row.
    pub means: Vec<f32>,
    /// Of the biases.
    pub bias: Vec<f32>,
}

impl Gradients {
    /// The gradients on the examples at `indices`, as one batch. Noise, where it is drawn, is that of [`lrt_noise`](crate::lrt_noise) with seed 0 and step 0.
    ///
    /// # Errors
    ///
    /// [`Error::Examples`] if the examples do not fit the network or no index is given; [`Error::Config`] if there are more than fit one batch.
    pub fn new(
        network: &Network,
        examples: &Examples<'_>,
        indices: &[u32],
        variance_gradient: bool,
        threads: usize,
    ) -> Result<Self, Error> {
        Self::with_kernels(network, examples, indices, variance_gradient, threads, Kernels::choose()?)
    }

    pub(crate) fn with_kernels(
        network: &Network,
        examples: &Examples<'_>,
        indices: &[u32],
        variance_gradient: bool,
        threads: usize,
        kernels: Kernels,
    ) -> Result<Self, Error> {
        examples.check_fit(network.config())?;
        examples.chosen(Some(indices))?;
        let purpose = Purpose::Training { parametrisation: Parametrisation::Free, variance_gradient, slots: [false; 2] };
        let mut engine = Engine::with_kernels(network, purpose, indices.len(), threads, kernels)?;
        engine.keep_gradients();
        engine.load(examples.rows(), indices, network.input(), Scale::Inputs);
        engine.forward(|layer| noise::key(0, 0, layer));
        let loss = engine.score(examples, indices).nll / indices.len() as f64;
        let mut norms = vec![0.0; engine.layers.len()];
        engine.backward(|_| LayerSink { means: Sink::Keep, bias: None }, &mut norms);
        let of_layer = |layer: &EngineLayer| LayerGradients { means: layer.compact(&layer.gradient), bias: layer.bias_gradient.clone() };
        Ok(Self { loss, layers: engine.layers.iter().map(of_layer).collect() })
    }
}
