//! Backward through a network: gradients from layer to layer, and their use.

use super::chunks::over_chunks;
use super::{Engine, Shared, rows_of};
use crate::checkpoint::OptimizerState;
use crate::kernels::{Backward, Field, LANES, Received, Rule, Sink, Update, sum_of_lanes};

/// What lies below a layer in the backward pass, in the layout of slopes: the layer below, or the inputs.
pub struct Below {
    /// Its slopes `p` and `q`; `q` may be null if nothing is written to the other `q`.
    pub slopes: (*const f32, *const f32),
    /// Where its gradients are written; `q` is null without a gradient through `Σ`.
    pub to: (*mut f32, *mut f32),
    /// Where `p` is summed over examples, for biases.
    pub bias_sums: *mut f32,
    /// What the layer receives from it besides neurons.
    pub received: Received,
}

/// What is done with a layer's gradients.
pub struct LayerSink {
    /// Those of the means.
    pub means: Sink,
    /// The rule for the biases; `None` keeps their gradients.
    pub bias: Option<Rule>,
}

impl Engine {
    /// Backward through all layers, after [`Engine::score`] has stored the gradient of the logits. `sink` decides what is done with the gradients of a layer.
    ///
    /// `norms` receives the squared norm of every layer's gradient.
    ///
    /// # Panics
    ///
    /// If the engine is not for training, or has no arrays for a sink. Callers make engines for their sinks.
    pub fn backward(&mut self, mut sink: impl FnMut(usize) -> LayerSink, norms: &mut [f64]) {
        assert!(self.training, "an engine made for evaluation has no gradients");
        for index in (0..self.layers.len()).rev() {
            // The gradients of a layer's biases lie in `bias_sums` until the next layer's take their place.
            let sink = sink(index);
            self.update_biases(index, sink.bias);
            if index > 0 {
                self.backward_layer(index);
            }
            self.update_layer(index, sink.means);
            norms[index] = self.layers[index].squares.iter().map(|&square| f64::from(square)).sum();
            self.gradients.swap(0, 1);
        }
        // The output layer's gradients are always written to the same place.
        if self.layers.len() % 2 == 1 {
            self.gradients.swap(0, 1);
        }
    }

    /// From the gradients of a layer to those of the layer below.
    pub(super) fn backward_layer(&mut self, index: usize) {
        let (slopes, to) = (&self.slopes[index - 1], &self.gradients[1]);
        let received = match (self.layers[index].spec.carries(), self.layers[index - 1].spec.field) {
            (false, _) => Received::Nothing,
            (true, Field::Averaged { .. }) => Received::Moments,
            (true, _) => Received::Field,
        };
        let below = Below {
            slopes: (slopes.p.pointer(), slopes.q.pointer()),
            to: (to.p.pointer(), to.q.pointer()),
            bias_sums: self.bias_sums.pointer(),
            received,
        };
        self.backward_to(index, below);
    }

    /// From the gradients of a layer to those of what lies below it.
    pub(super) fn backward_to(&mut self, index: usize, below: Below) {
        let layer = &self.layers[index];
        let inputs = layer.inputs;
        let current = &self.gradients[0];
        let job = Shared(Backward {
            inputs,
            outputs: layer.outputs,
            stride: layer.stride,
            examples: self.examples,
            means: layer.means.pointer(),
            variance: layer.spec.variance,
            x: self.inputs[index].x.pointer(),
            out_rows: rows_of(layer.outputs),
            p: current.p.pointer(),
            q: current.q.pointer(),
            below_p: below.slopes.0,
            below_q: below.slopes.1,
            in_rows: rows_of(inputs),
            out_p: below.to.0,
            out_q: below.to.1,
            out_bias: below.bias_sums,
            received: below.received,
        });
        let (kernels, scratch) = (self.kernels, &self.scratch);
        over_chunks(&mut self.pool, inputs, self.kernels.tile_rows, &|worker, turn| {
            // SAFETY: as in `forward_layer`; an engine that is made for training has slopes and gradients of every layer, one that is prepared for adversarial examples of the inputs too.
            unsafe { kernels.backward(job.get(), turn, &mut *scratch[worker].0.get()) }
        });
    }

    /// The gradient of a layer's means, and its use.
    fn update_layer(&mut self, index: usize, sink: Sink) {
        let capacity = self.capacity();
        let layer = &mut self.layers[index];
        assert!(layer.has_arrays_for(sink), "{sink:?} in an engine made for something else");
        let gradients = &self.gradients[0];
        let job = Shared(Update {
            inputs: layer.inputs,
            stride: layer.stride,
            examples: self.examples,
            capacity,
            means: layer.means.pointer(),
            theta: layer.optimizer.theta.pointer(),
            m: layer.optimizer.m.pointer(),
            v: layer.optimizer.v.pointer(),
            transposed: self.inputs[index].transposed.pointer(),
            transposed_square: self.inputs[index].transposed_square.pointer(),
            out_rows: rows_of(layer.outputs),
            p: gradients.p.pointer(),
            q: gradients.q.pointer(),
            sink,
            gradient: layer.gradient.pointer(),
            squares: layer.squares.as_mut_ptr(),
        });
        let (kernels, scratch) = (self.kernels, &self.scratch);
        over_chunks(&mut self.pool, layer.outputs, self.kernels.tile_rows, &|worker, turn| {
            // SAFETY: as in `forward_layer`; the arrays that the sink needs were found above, and `p` and `q` have `SLACK` rows more.
            unsafe { kernels.update(job.get(), turn, &mut *scratch[worker].0.get()) }
        });
        if let Sink::Step(step) = sink
            && step.decay > 0.0
        {
            layer.restore_padding();
        }
    }

    /// The gradient of a layer's biases, and its use: a step by the rule, or it is kept.
    fn update_biases(&mut self, index: usize, rule: Option<Rule>) {
        let is_output = index + 1 == self.layers.len();
        let layer = &mut self.layers[index];
        let rows = rows_of(layer.outputs);
        let root = (layer.inputs as f32).sqrt();
        let gradient = |unit: usize| {
            if !is_output {
                return sum_of_lanes(&self.bias_sums[unit * LANES..(unit + 1) * LANES]) * root;
            }
            let mut lanes = [0.0; LANES];
            for p in 0..self.panels {
                let at = (p * rows + unit) * LANES;
                lanes.iter_mut().zip(&self.gradients[0].p[at..at + LANES]).for_each(|(sum, term)| *sum += term);
            }
            sum_of_lanes(&lanes) * root
        };
        let OptimizerState { bias_m, bias_v, .. } = &mut layer.optimizer;
        let Some(rule) = rule else {
            layer.bias_gradient.iter_mut().enumerate().for_each(|(unit, kept)| *kept = gradient(unit));
            return;
        };
        let averages = bias_m.chunks_mut(LANES).zip(bias_v.chunks_mut(LANES));
        for ((biases, (m, v)), first) in layer.bias.chunks_mut(LANES).zip(averages).zip((0..).step_by(LANES)) {
            let count = biases.len();
            let whole = |part: &[f32]| std::array::from_fn(|i| part.get(i).copied().unwrap_or(0.0));
            let (mut whole_m, mut whole_v) = (whole(m), whole(v));
            let gradients = std::array::from_fn(|i| if i < count { gradient(first + i) } else { 0.0 });
            let steps = rule.steps_of_biases(&gradients, &mut whole_m, &mut whole_v);
            biases.iter_mut().zip(steps).for_each(|(bias, step)| *bias -= step);
            m.copy_from_slice(&whole_m[..count]);
            v.copy_from_slice(&whole_v[..count]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Network;
    use crate::engine::Purpose;
    use crate::parametrisation::Parametrisation;

    #[test]
    #[should_panic(expected = "made for something else")]
    fn steps_need_the_arrays_of_their_optimiser() {
        let network = Network::builder(3).hidden([2]).classes(2).init(crate::Init::Uniform, 1).unwrap();
        let purpose = Purpose::Training { parametrisation: Parametrisation::Free, variance_gradient: true, slots: [false; 2] };
        let mut engine = Engine::new(&network, purpose, 1, 1).unwrap();
        let rule = Rule::Momentum { rate: 0.1 };
        let betas = crate::parametrisation::Betas { now: 1.0, next: 1.0 };
        let means = Sink::Step(crate::kernels::Step { rule, parametrisation: Parametrisation::Free, betas, decay: 0.0 });
        engine.backward(|_| LayerSink { means, bias: Some(rule) }, &mut [0.0; 2]);
    }
}
