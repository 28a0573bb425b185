//! The last step of a run for a binary network: every mean becomes ±1.

use super::Trainer;
use crate::engine::{Engine, EngineLayer, Scale, Signal};
use crate::noise;
use crate::score::NOISE_SEED;

/// Training examples over which fields are averaged.
const EXAMPLES: usize = 1024;

impl Trainer<'_> {
    /// Sets every mean to its sign; with [`TrainConfig::bias_correction`](crate::TrainConfig::bias_correction) biases make up for it.
    ///
    /// Layer by layer from the inputs on, `b' = b + (M x̄ − sign(M) x̄')/√N`, with `x̄` and `x̄'` the mean inputs before and after the layers below became binary: every neuron keeps its mean field over training examples. Where fields are
    /// carried, the differences add up (Nagel et al. 2019 correct quantised networks of real weights in this way). Means that are still between −1 and 1 belong mostly to inputs that hardly matter, but the mean of these is not 0.
    pub(super) fn polarise(&mut self) {
        if !self.config.bias_correction || !self.parametrisation.follows_beta() {
            self.engine.layers.iter_mut().for_each(EngineLayer::polarise);
            return;
        }
        let indices = &self.order[..EXAMPLES.min(self.order.len())];
        let (rows, input) = (self.examples.rows(), &self.frame.input);
        self.engine.without_backward(|engine| {
            let batches = indices.chunks(engine.batch()).map(|indices| {
                engine.load(rows, indices, input, Scale::Inputs);
                engine.signal()
            });
            let mut averaged: Vec<Signal> = batches.collect();
            let mut binary = averaged.clone();
            let mut shifts: Vec<f64> = Vec::new();
            let last = engine.layers.len() - 1;
            for index in 0..=last {
                let before = mean_fields(&engine.layers[index], &averaged, indices.len());
                if index < last {
                    pass(engine, &mut averaged, index);
                }
                let layer = &mut engine.layers[index];
                layer.polarise();
                let after = mean_fields(layer, &binary, indices.len());
                // Carried fields bring the shifts of the layers below along, but not their biases.
                let carried = if layer.spec.carries() { std::mem::take(&mut shifts) } else { vec![0.0; layer.outputs] };
                shifts = before.iter().zip(after).zip(carried).map(|((before, after), carried)| carried + before - after).collect();
                layer.bias.iter_mut().zip(&shifts).for_each(|(bias, shift)| *bias = (f64::from(*bias) + shift) as f32);
                if index < last {
                    pass(engine, &mut binary, index);
                }
            }
        });
    }
}

/// Sends every batch through a layer.
fn pass(engine: &mut Engine, batches: &mut [Signal], layer: usize) {
    for (batch, signal) in batches.iter_mut().enumerate() {
        engine.pass(signal, noise::key(NOISE_SEED, batch as u64, layer));
    }
}

/// `M x̄/√N`, for the mean inputs of a layer over this many examples.
fn mean_fields(layer: &EngineLayer, batches: &[Signal], examples: usize) -> Vec<f64> {
    let mut sums = vec![0.0; layer.inputs];
    batches.iter().for_each(|signal| signal.add_inputs(&mut sums));
    let scale = 1.0 / (examples as f64 * (layer.inputs as f64).sqrt());
    let field = |unit| layer.row(unit).iter().zip(&sums).map(|(&mean, sum)| f64::from(mean) * sum).sum::<f64>() * scale;
    (0..layer.outputs).map(field).collect()
}
