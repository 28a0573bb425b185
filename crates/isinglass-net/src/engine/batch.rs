//! From examples to the layouts of the first layer's inputs.

use super::{Corruption, Engine, Inputs, LANES, Shared};
use crate::InputRule;
use crate::buffer::Buffer;
use crate::examples::Rows;
use crate::kernels::Kernels;

/// The values that a batch holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// The network's inputs.
    Inputs,
    /// Bytes, before they are shifted and scaled: sums over them are integers.
    Bytes,
}

impl Engine {
    /// Loads the given rows as the batch.
    ///
    /// # Panics
    ///
    /// If there are more than the engine was made for, or they do not fit its first layer. Callers have checked both.
    pub fn load(&mut self, rows: &Rows<'_>, indices: &[u32], rule: &InputRule, scale: Scale) {
        self.load_corrupted(rows, indices, rule, scale, None);
    }

    /// The same with the examples changed as in training.
    ///
    /// # Panics
    ///
    /// As [`Engine::load`].
    pub fn load_corrupted(&mut self, rows: &Rows<'_>, indices: &[u32], rule: &InputRule, scale: Scale, corruption: Option<Corruption>) {
        assert!(indices.len() <= self.batch, "a batch of {} examples in an engine for {}", indices.len(), self.batch);
        assert_eq!(rows.features(), self.layers[0].inputs, "values per example and inputs");
        self.examples = indices.len();
        self.panels = indices.len().div_ceil(LANES);
        let (features, panels, capacity) = (self.layers[0].inputs, self.panels, self.capacity());
        let target = Shared(Target::of(&self.inputs[0], self.prepares_backward, self.kernels));
        self.pool.run(panels, &|_, panel| {
            let target = target.get();
            let members = &indices[panel * LANES..indices.len().min((panel + 1) * LANES)];
            for first in (0..features).step_by(LANES) {
                let count = LANES.min(features - first);
                // One row per example; the padding of the last panel stays 0.
                let mut block = [[0.0f32; LANES]; LANES];
                for (row, &index) in block.iter_mut().zip(members) {
                    match corruption {
                        Some(corruption) => corruption.copy_part(rows, index, first, &mut row[..count]),
                        None => rows.copy_part(index as usize, first, &mut row[..count]),
                    }
                    match scale {
                        Scale::Inputs => rule.apply(first, &mut row[..count]),
                        Scale::Bytes => rule.quantise(first, &mut row[..count]),
                    }
                    if let Some(corruption) = corruption {
                        corruption.drop_inputs(index, first, &mut row[..count]);
                    }
                }
                // SAFETY: a panel is written by one task only. The buffers were made for the first layer's inputs, of which these are some, and for `capacity` examples, no fewer than
                // the panels have.
                unsafe { target.write(&block, panel, first, count, features, capacity) };
            }
        });
    }
}

/// The arrays of the first layer's inputs; null where the engine has none.
pub(super) struct Target {
    x: *mut f32,
    second: *mut f32,
    transposed: *mut f32,
    transposed_square: *mut f32,
    kernels: Kernels,
}

impl Target {
    /// The arrays of these inputs; those that only a backward pass needs, if there is to be one.
    pub(super) fn of(inputs: &Inputs, for_backward: bool, kernels: Kernels) -> Self {
        let when = |buffer: &Buffer| if for_backward { buffer.pointer() } else { std::ptr::null_mut() };
        Self {
            x: inputs.x.pointer(),
            second: inputs.second.pointer(),
            transposed: when(&inputs.transposed),
            transposed_square: when(&inputs.transposed_square),
            kernels,
        }
    }

    /// One feature of a panel's 16 examples.
    ///
    /// # Safety
    ///
    /// `x` holds this panel of `features` features, of which `feature` is one, and nobody else writes to it.
    pub(super) unsafe fn read(&self, panel: usize, feature: usize, features: usize) -> [f32; LANES] {
        // SAFETY: the caller upholds the contract.
        unsafe { self.x.add((panel * features + feature) * LANES).cast::<[f32; LANES]>().read_unaligned() }
    }

    /// Writes 16 examples of the features `first..first + count`, at most 16, in both layouts.
    ///
    /// # Safety
    ///
    /// The arrays that are not null hold `capacity` examples of `features` features, and nobody else touches this panel.
    pub(super) unsafe fn write(
        &self,
        block: &[[f32; LANES]; LANES],
        panel: usize,
        first: usize,
        count: usize,
        features: usize,
        capacity: usize,
    ) {
        // SAFETY: the caller upholds the contract.
        unsafe {
            for (feature, column) in self.kernels.transposed(block).into_iter().take(count).enumerate() {
                let at = (panel * features + first + feature) * LANES;
                self.x.add(at).cast::<[f32; LANES]>().write_unaligned(column);
                if !self.second.is_null() {
                    self.second.add(at).cast::<[f32; LANES]>().write_unaligned(column.map(|x| x * x));
                }
            }
            if self.transposed.is_null() {
                return;
            }
            for (example, row) in block.iter().enumerate() {
                let at = (first / LANES * capacity + panel * LANES + example) * LANES;
                self.transposed.add(at).cast::<[f32; LANES]>().write_unaligned(*row);
                if !self.transposed_square.is_null() {
                    self.transposed_square.add(at).cast::<[f32; LANES]>().write_unaligned(row.map(|x| x * x));
                }
            }
        }
    }
}
