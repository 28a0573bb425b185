//! The forward pass of the binary network behind the layers: signs are taken when the products read the means, so that no copy of the network is needed.

use super::{Engine, LANES, Shared, rows_of};
use crate::kernels::{Field, Forward, Nonlinearity, VarianceRule};

/// Turns the sums of a layer, a unit and a panel of 16 examples into neurons.
pub type NeuronOfSums<'a> = dyn Fn(usize, usize, usize, &mut [f32]) + Sync + 'a;

impl Engine {
    /// Forward through `sign(M)`, in an engine for any purpose; `neuron` replaces the sums of a layer, a unit and a panel's 16 examples by the unit's outputs.
    pub fn forward_sums(&mut self, neuron: &NeuronOfSums<'_>) {
        for index in 0..self.layers.len() {
            self.forward_layer(index, self.sums_job(index));
            let (outputs, panels) = (self.layers[index].outputs, self.panels);
            let (sums, rows) = match self.inputs.get(index + 1) {
                Some(next) => (Shared(next.x.pointer()), outputs),
                None => (Shared(self.logits.pointer()), rows_of(outputs)),
            };
            self.pool.run(outputs, &|_, unit| {
                for panel in 0..panels {
                    // SAFETY: the 16 sums of a unit and a panel, within the array that the forward pass wrote them to; only this task touches the unit's.
                    let lanes = unsafe { std::slice::from_raw_parts_mut(sums.get().add((panel * rows + unit) * LANES), LANES) };
                    neuron(index, unit, panel, lanes);
                }
            });
        }
    }

    /// A layer's forward pass with sums in place of neurons, and nothing for a backward pass.
    fn sums_job(&self, index: usize) -> Forward {
        let nowhere = std::ptr::null_mut();
        Forward {
            variance: VarianceRule::None,
            field: Field::Sum,
            nonlinearity: Nonlinearity::Linear(1.0),
            out_second: nowhere,
            out_p: nowhere,
            out_q: nowhere,
            out_transposed: nowhere,
            out_transposed_square: nowhere,
            ..self.forward_job(index, [0; 2])
        }
    }
}
