//! A pair of signals, layer by layer.
//!
//! `q_a`, `q_b` and the covariance are iterated together. Without biases, below criticality, all three shrink at the same rate and the correlation freezes:
//! a map of `c` at `q*` alone would miss this.
//!
//! ```
//! use isinglass_theory::activation::FieldPair;
//! use isinglass_theory::{Correlation, Model, Neuron, RandomNetwork};
//!
//! let field = RandomNetwork::new(Model::Deterministic, Neuron::Sign)?.at(Some(0.9), 0.0)?;
//! let start = FieldPair { q_a: 1.0, q_b: 2.0, correlation: Correlation::new(0.5)? };
//! let layers = field.trajectory(start, 200)?;
//! assert_eq!(layers.len(), 201);
//! // The signal has vanished; its correlation froze slightly below its initial value.
//! assert!(layers[200].q_a < 1e-40);
//! assert!((layers[200].correlation.c() - 0.4607).abs() < 5e-5);
//! # Ok::<(), isinglass_theory::Error>(())
//! ```

use crate::activation::{Activation, FieldPair};
use crate::mean_field::check_variance;
use crate::{Error, MeanField};

/// Powers of a larger variance would overflow.
const LARGEST: f64 = 1e90;

impl<A: Activation> MeanField<A> {
    /// The fields of layers `0..=depth`; layer 0 is `start`.
    pub fn trajectory(&self, start: FieldPair, depth: usize) -> Result<Vec<FieldPair>, Error> {
        check_variance("q_a", start.q_a)?;
        check_variance("q_b", start.q_b)?;
        let mut layers = Vec::with_capacity(depth + 1);
        layers.push(start);
        self.extend(&mut layers, depth)?;
        Ok(layers)
    }

    /// The same from fixed inputs: layer 0 holds `q⁰ = |x|²/N` of each input and their correlation, and layer 1 is given by
    /// [`first_layer`](Self::first_layer).
    pub fn trajectory_from_inputs(&self, inputs: FieldPair, depth: usize) -> Result<Vec<FieldPair>, Error> {
        check_variance("|x_a|²/N", inputs.q_a)?;
        check_variance("|x_b|²/N", inputs.q_b)?;
        let mut layers = vec![inputs];
        if depth > 0 {
            layers.push(self.first_layer(&inputs)?);
            self.extend(&mut layers, depth - 1)?;
        }
        Ok(layers)
    }

    fn extend(&self, layers: &mut Vec<FieldPair>, steps: usize) -> Result<(), Error> {
        for _ in 0..steps {
            let next = self.pair_map(&layers[layers.len() - 1])?;
            if !(next.q_a < LARGEST && next.q_b < LARGEST) {
                let layer = layers.len();
                return Err(Error::Unsupported(format!("the variance exceeds {LARGEST:e} in layer {layer}: use fewer layers")));
            }
            layers.push(next);
        }
        Ok(())
    }
}
