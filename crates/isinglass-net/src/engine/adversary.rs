//! Adversarial examples: inputs moved a small step in the direction that raises the loss.
//!
//! The gradient with respect to the inputs is what the backward pass would hand to a layer below the first, one whose neurons are the inputs themselves.

use super::backward::Below;
use super::batch::Target;
use super::{Engine, LANES, Shared, rows_of};
use crate::buffer::Buffer;
use crate::kernels::Received;

/// Memory for the gradient of the inputs.
pub struct Adversary {
    /// `∂x/∂x`, in the layout of a layer's slopes.
    ones: Buffer,
    /// The gradient of the loss, in the same layout.
    gradient: Buffer,
    /// Where the kernel sums over examples, as for biases.
    sums: Buffer,
}

impl Engine {
    /// Makes room for [`Engine::move_inputs`].
    pub fn prepare_adversary(&mut self) {
        let (examples, rows) = (self.capacity(), rows_of(self.layers[0].inputs));
        let mut ones = Buffer::new(examples * rows);
        ones.fill(1.0);
        self.adversary = Some(Adversary { ones, gradient: Buffer::new(examples * rows), sums: Buffer::new(rows * LANES) });
        self.set_threads(self.threads);
    }

    /// Moves every input of the batch by `step` in the direction that raises the loss, once [`Engine::score`] has stored the gradient of the logits. Inputs with a gradient of 0 stay.
    ///
    /// # Panics
    ///
    /// If the engine is not prepared by [`Engine::prepare_adversary`].
    pub fn move_inputs(&mut self, step: f32) {
        for index in (1..self.layers.len()).rev() {
            self.backward_layer(index);
            self.gradients.swap(0, 1);
        }
        let adversary = self.adversary.as_ref().expect("an engine that is prepared for adversarial examples");
        let below = Below {
            slopes: (adversary.ones.pointer(), std::ptr::null()),
            to: (adversary.gradient.pointer(), std::ptr::null_mut()),
            bias_sums: adversary.sums.pointer(),
            received: Received::Nothing,
        };
        self.backward_to(0, below);
        let (features, rows, capacity) = (self.layers[0].inputs, rows_of(self.layers[0].inputs), self.capacity());
        let Some(Adversary { gradient, .. }) = &self.adversary else { return };
        let target = Shared(Target::of(&self.inputs[0], self.prepares_backward, self.kernels));
        self.pool.run(self.panels, &|_, panel| {
            for first in (0..features).step_by(LANES) {
                let count = LANES.min(features - first);
                let mut block = [[0.0f32; LANES]; LANES];
                for feature in 0..count {
                    // SAFETY: a panel is read and written by one task only.
                    let input = unsafe { target.get().read(panel, first + feature, features) };
                    let gradient = &gradient[(panel * rows + first + feature) * LANES..][..LANES];
                    for (row, (x, &gradient)) in block.iter_mut().zip(input.iter().zip(gradient)) {
                        let direction = f32::from(i8::from(gradient > 0.0) - i8::from(gradient < 0.0));
                        row[feature] = x + step * direction;
                    }
                }
                // SAFETY: as in `load_corrupted`.
                unsafe { target.get().write(&block, panel, first, count, features, capacity) };
            }
        });
    }
}
