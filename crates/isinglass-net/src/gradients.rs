//! The gradient of the loss, as the trainer would use it.
//!
//! ```
//! use isinglass_net::{Examples, Gradients, NetworkConfig, Rng, Values};
//!
//! let network = NetworkConfig { inputs: 4, width: 5, classes: 2, ..NetworkConfig::default() }.init(&mut Rng::new(1))?;
//! let examples = Examples::new(Values::Floats(&[1.0, -1.0, 0.5, 0.0]), 4, &[1], 2)?;
//! let gradients = Gradients::new(&network, &examples, &[0], true, 1);
//! assert_eq!(gradients.layers[0].means.len(), 20);
//! assert!(gradients.loss > 0.0);
//! # Ok::<(), isinglass_net::Error>(())
//! ```

use crate::engine::{Engine, LayerSink, Parametrisation, Purpose};
use crate::kernels::{Kernels, Sink};
use crate::{Examples, Layer, Network, noise};

/// Gradients of a batch's mean negative log-likelihood.
#[derive(Debug, Clone, PartialEq)]
pub struct Gradients {
    /// The loss.
    pub loss: f64,
    /// Its gradients, in the shape of the network's layers.
    pub layers: Vec<Layer>,
}

impl Gradients {
    /// The gradients on the examples at `indices`. Where noise is drawn it is that of [`lrt_noise`](crate::lrt_noise) with seed 0 and step 0.
    pub fn new(network: &Network, examples: &Examples<'_>, indices: &[u32], variance_gradient: bool, threads: usize) -> Self {
        Self::with_kernels(
            network,
            examples,
            indices,
            variance_gradient,
            threads,
            Kernels::choose().unwrap_or_else(|error| panic!("{error}")),
        )
    }

    pub(crate) fn with_kernels(
        network: &Network,
        examples: &Examples<'_>,
        indices: &[u32],
        variance_gradient: bool,
        threads: usize,
        kernels: Kernels,
    ) -> Self {
        let purpose = Purpose::Training { parametrisation: Parametrisation::Free, variance_gradient, slots: [false; 2] };
        let mut engine = Engine::with_kernels(network, purpose, indices.len(), threads, kernels);
        engine.load(examples, indices, network.preprocessing);
        engine.forward(|layer| noise::key(0, 0, layer));
        let loss = engine.score(examples, indices).nll / indices.len() as f64;
        let mut kept: Vec<Vec<f32>> = engine.layers.iter().map(|layer| vec![0.0; layer.means.len()]).collect();
        let targets: Vec<*mut f32> = kept.iter_mut().map(|gradients| gradients.as_mut_ptr()).collect();
        let mut norms = vec![0.0; engine.layers.len()];
        engine.backward(|layer| LayerSink { means: Sink::Keep(targets[layer]), bias: None }, &mut norms);
        let layers = engine.layers.iter().zip(&kept).map(|(layer, gradients)| Layer {
            inputs: layer.inputs,
            outputs: layer.outputs,
            means: layer.compact(gradients),
            bias: layer.bias_gradient.clone(),
        });
        Self { loss, layers: layers.collect() }
    }
}
