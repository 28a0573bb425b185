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

/// The most layers of a trajectory, all of which are kept.
pub const MOST_LAYERS: usize = 1_000_000;

/// Checks the number of layers of a trajectory before room is made for them.
pub(crate) fn check_layers(depth: usize) -> Result<(), Error> {
    if depth <= MOST_LAYERS {
        return Ok(());
    }
    Err(Error::Unsupported(format!("depth = {depth}: a trajectory has at most {MOST_LAYERS} layers; use a smaller depth")))
}

impl<A: Activation> MeanField<A> {
    /// The fields of layers `0..=depth`; layer 0 is `start`.
    pub fn trajectory(&self, start: FieldPair, depth: usize) -> Result<Vec<FieldPair>, Error> {
        check_layers(depth)?;
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
        check_layers(depth)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Correlation, Model, Neuron, RandomNetwork};

    #[test]
    fn no_room_is_made_for_more_layers_than_can_be_kept() -> Result<(), Error> {
        let field = RandomNetwork::new(Model::Deterministic, Neuron::Sign)?.at(Some(0.9), 0.0)?;
        let start = FieldPair::equal(1.0, Correlation::new(0.5)?);
        for depth in [MOST_LAYERS + 1, usize::MAX] {
            let plain = [field.trajectory(start, depth), field.trajectory_from_inputs(start, depth)].map(|layers| layers.map(drop));
            let carried = [field.carried_trajectory(start, depth), field.carried_trajectory_from_inputs(start, depth)];
            for result in plain.into_iter().chain(carried.map(|layers| layers.map(drop))) {
                assert!(result.unwrap_err().to_string().contains("at most 1000000 layers"), "{depth}");
            }
        }
        Ok(())
    }
}
