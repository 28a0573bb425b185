//! The last step of a run for a binary network: every mean becomes ±1.

use super::Trainer;
use crate::engine::{Engine, EngineLayer, Scale};
use crate::score::NOISE_SEED;
use crate::{Examples, InputRule, noise};

/// Training examples over which fields are averaged.
const EXAMPLES: usize = 4096;

impl Trainer<'_> {
    /// Sets every mean to its sign, with [`TrainConfig::bias_correction`](crate::TrainConfig::bias_correction) layer by layer, so that each neuron's field keeps its mean over training examples.
    ///
    /// Means that stayed between −1 and 1 belong to inputs that hardly matter; set to ±1, those inputs shift the fields nevertheless, since their mean is not 0. Only the means of fields are kept: what the inputs
    /// add to their spread is noise from now on.
    pub(super) fn polarise(&mut self) {
        if !self.config.bias_correction || !self.parametrisation.follows_beta() {
            self.engine.layers.iter_mut().for_each(EngineLayer::polarise);
            return;
        }
        let indices = &self.partition.train()[..EXAMPLES.min(self.partition.train().len())];
        let sample = Sample { examples: &self.examples, indices, input: &self.frame.input };
        self.engine.without_backward(|engine| {
            let before = sample.mean_inputs(engine, 0..engine.layers.len());
            let mut shifts: Vec<f64> = Vec::new();
            for (index, before) in before.iter().enumerate() {
                let after = sample.mean_inputs(engine, index..index + 1).remove(0);
                let layer = &mut engine.layers[index];
                let old = mean_fields(layer, before);
                layer.polarise();
                let new = mean_fields(layer, &after);
                // A carried field brings the shift of the layers below along: their biases stay there.
                let carried = if layer.spec.carries() { std::mem::take(&mut shifts) } else { vec![0.0; layer.outputs] };
                shifts = old.iter().zip(new).zip(carried).map(|((old, new), carried)| carried + old - new).collect();
                layer.bias.iter_mut().zip(&shifts).for_each(|(bias, shift)| *bias = (f64::from(*bias) + shift) as f32);
            }
        });
    }
}

/// Examples to average over.
struct Sample<'a> {
    examples: &'a Examples<'a>,
    indices: &'a [u32],
    input: &'a InputRule,
}

impl Sample<'_> {
    /// The mean of every input of these layers.
    fn mean_inputs(&self, engine: &mut Engine, layers: std::ops::Range<usize>) -> Vec<Vec<f64>> {
        let mut means: Vec<Vec<f64>> = engine.layers[layers.clone()].iter().map(|layer| vec![0.0; layer.inputs]).collect();
        for (batch, indices) in self.indices.chunks(engine.batch()).enumerate() {
            engine.load(self.examples.rows(), indices, self.input, Scale::Inputs);
            engine.forward_to(layers.end - 1, |layer| noise::key(NOISE_SEED, batch as u64, layer));
            for (layer, sums) in layers.clone().zip(&mut means) {
                engine.add_inputs(layer, sums);
            }
        }
        means.iter_mut().flatten().for_each(|mean| *mean /= self.indices.len() as f64);
        means
    }
}

/// `M x̄/√N` for the mean of every input.
fn mean_fields(layer: &EngineLayer, inputs: &[f64]) -> Vec<f64> {
    let by_root = 1.0 / (inputs.len() as f64).sqrt();
    let field = |unit| layer.row(unit).iter().zip(inputs).map(|(&mean, input)| f64::from(mean) * input).sum::<f64>() * by_root;
    (0..layer.outputs).map(field).collect()
}
