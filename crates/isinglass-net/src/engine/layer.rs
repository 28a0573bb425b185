//! One layer, laid out for the kernels.

use super::{LANES, Purpose, padded};
use crate::buffer::{Arena, Buffer};
use crate::checkpoint::OptimizerState;
use crate::kernels::{Kernels, Sink, Step};
use crate::parametrisation::Parametrisation;
use crate::{Error, Layer, LayerSpec};

/// The `θ` of the padding: its tanh is 1.
const PADDING_THETA: f32 = 20.0;

/// A layer's parameters, the optimiser's state, and its rules.
pub struct EngineLayer {
    pub spec: LayerSpec,
    pub inputs: usize,
    pub outputs: usize,
    /// Floats from one row of the means to the next.
    pub stride: usize,
    pub means: Buffer,
    pub bias: Vec<f32>,
    pub optimizer: OptimizerState<Buffer>,
    pub bias_gradient: Vec<f32>,
    /// Of the means; empty unless kept.
    pub gradient: Buffer,
    /// Per row, the sum of squared gradients.
    pub squares: Vec<f32>,
}

impl EngineLayer {
    /// Lays out a layer of a network.
    pub fn new(layer: &Layer, purpose: Purpose, kernels: &Kernels, arena: &mut Arena) -> Self {
        let (spec, means) = (*layer.spec(), layer.means());
        let (inputs, outputs) = (spec.inputs(), spec.outputs());
        let stride = padded(inputs);
        let (parametrisation, slots) = match purpose {
            Purpose::Evaluation => (None, [false; 2]),
            Purpose::Training { parametrisation, slots, .. } => (Some(parametrisation), slots),
        };
        let mut when = |needed: bool| arena.floats(if needed { outputs * stride } else { 0 });
        let mut layer = Self {
            spec,
            inputs,
            outputs,
            stride,
            means: when(true),
            bias: layer.bias().to_vec(),
            optimizer: OptimizerState {
                theta: when(parametrisation.is_some_and(Parametrisation::has_theta)),
                m: when(slots[0]),
                v: when(slots[1]),
                bias_m: vec![0.0; outputs],
                bias_v: vec![0.0; outputs],
                sum: Buffer::new(0),
                bias_sum: Vec::new(),
            },
            bias_gradient: vec![0.0; outputs],
            gradient: Buffer::new(0),
            squares: vec![0.0; outputs],
        };
        layer.means.fill(1.0);
        set_rows(&mut layer.means, stride, inputs, means);
        if spec.uses_signs {
            layer.polarise();
        }
        if let Some(parametrisation) = parametrisation
            && parametrisation.has_theta()
        {
            let theta: Vec<f32> = means.iter().map(|&mean| parametrisation.theta_of(mean)).collect();
            layer.set_theta(&theta);
            if parametrisation == Parametrisation::Tanh {
                kernels.tanh(&layer.optimizer.theta, &mut layer.means, 1.0);
            }
        }
        layer
    }

    /// The layer without padding.
    pub fn to_layer(&self) -> Result<Layer, Error> {
        Layer::new(self.spec, self.compact(&self.means), self.bias.clone())
    }

    /// The means of one unit's weights.
    pub fn row(&self, unit: usize) -> &[f32] {
        &self.means[unit * self.stride..][..self.inputs]
    }

    /// An array of the means' shape without its padding.
    pub fn compact(&self, array: &[f32]) -> Vec<f32> {
        let mut compact = Vec::with_capacity(self.outputs * self.inputs);
        array.chunks_exact(self.stride).for_each(|row| compact.extend_from_slice(&row[..self.inputs]));
        compact
    }

    /// Sets the means.
    pub fn set_means(&mut self, compact: &[f32]) {
        set_rows(&mut self.means, self.stride, self.inputs, compact);
    }

    /// Sets `θ`, with its padding.
    fn set_theta(&mut self, compact: &[f32]) {
        self.optimizer.theta.fill(PADDING_THETA);
        set_rows(&mut self.optimizer.theta, self.stride, self.inputs, compact);
    }

    /// Sets the optimiser's state, which the layer [takes](EngineLayer::takes).
    pub fn set_optimizer(&mut self, state: OptimizerState<Vec<f32>>) {
        self.set_theta(&state.theta);
        set_rows(&mut self.optimizer.m, self.stride, self.inputs, &state.m);
        set_rows(&mut self.optimizer.v, self.stride, self.inputs, &state.v);
        self.optimizer.bias_m = state.bias_m;
        self.optimizer.bias_v = state.bias_v;
        self.optimizer.sum = Buffer::new(if state.sum.is_empty() { 0 } else { self.outputs * self.stride });
        set_rows(&mut self.optimizer.sum, self.stride, self.inputs, &state.sum);
        self.optimizer.bias_sum = state.bias_sum;
    }

    /// What the optimiser moves.
    fn moved(&mut self) -> &mut Buffer {
        if self.optimizer.theta.is_empty() { &mut self.means } else { &mut self.optimizer.theta }
    }

    /// Adds the parameters to the sums that are averaged.
    pub fn add_to_average(&mut self) {
        if self.optimizer.bias_sum.is_empty() {
            self.optimizer.sum = Buffer::new(self.outputs * self.stride);
            self.optimizer.bias_sum = vec![0.0; self.outputs];
        }
        let moved = if self.optimizer.theta.is_empty() { &self.means } else { &self.optimizer.theta };
        self.optimizer.sum.iter_mut().zip(moved.iter()).for_each(|(sum, value)| *sum += value);
        self.optimizer.bias_sum.iter_mut().zip(&self.bias).for_each(|(sum, value)| *sum += value);
    }

    /// Replaces the parameters by their averages over `count` epochs. The means that follow from `θ` are left to the caller.
    pub fn take_average(&mut self, count: usize) {
        let (stride, inputs, by_count) = (self.stride, self.inputs, 1.0 / count as f32);
        let sum = std::mem::replace(&mut self.optimizer.sum, Buffer::new(0));
        let bias_sum = std::mem::take(&mut self.optimizer.bias_sum);
        for (row, sums) in self.moved().chunks_exact_mut(stride).zip(sum.chunks_exact(stride)) {
            row[..inputs].iter_mut().zip(sums).for_each(|(value, sum)| *value = sum * by_count);
        }
        self.bias.iter_mut().zip(bias_sum).for_each(|(value, sum)| *value = sum * by_count);
    }

    /// Whether a state has the arrays of this layer's.
    pub fn takes(&self, state: &OptimizerState<Vec<f32>>) -> bool {
        let lengths = self.optimizer.map(|own| if own.is_empty() { 0 } else { self.inputs * self.outputs });
        (lengths.theta, lengths.m, lengths.v) == (state.theta.len(), state.m.len(), state.v.len())
            && [&state.bias_m, &state.bias_v].iter().all(|bias| bias.len() == self.outputs)
            && [state.sum.len(), state.bias_sum.len()]
                .iter()
                .zip([self.inputs * self.outputs, self.outputs])
                .all(|(&len, full)| len == full || len == 0)
            && state.sum.is_empty() == state.bias_sum.is_empty()
    }

    /// Whether the layer has the arrays that a sink writes to.
    pub fn has_arrays_for(&self, sink: Sink) -> bool {
        match sink {
            Sink::Measure => true,
            Sink::Keep => !self.gradient.is_empty(),
            Sink::Step(Step { rule, parametrisation, .. }) => {
                let OptimizerState { theta, m, v, .. } = &self.optimizer;
                let [uses_m, uses_v] = rule.slots();
                [(parametrisation.has_theta(), theta), (uses_m, m), (uses_v, v)].iter().all(|(used, array)| !used || !array.is_empty())
            }
        }
    }

    /// Sets the means to those of `θ`, where there is one.
    pub fn follow_theta(&mut self, parametrisation: Parametrisation, beta: f32) {
        for (mean, &theta) in self.means.iter_mut().zip(self.optimizer.theta.iter()) {
            *mean = parametrisation.mean_of(theta, beta);
        }
    }

    /// Sets the padding of means and `θ` again, after a step that let it decay with them.
    pub fn restore_padding(&mut self) {
        for (array, value) in [(&mut self.means, 1.0), (&mut self.optimizer.theta, PADDING_THETA)] {
            array.chunks_exact_mut(self.stride).for_each(|row| row[self.inputs..].fill(value));
        }
    }

    /// Whether all parameters are numbers.
    pub fn is_finite(&self) -> bool {
        [&self.means[..], &self.optimizer.theta[..], &self.bias[..]].into_iter().flatten().all(|value| value.is_finite())
    }

    /// Replaces every mean by its sign, `sign(0) = +1`.
    pub fn polarise(&mut self) {
        self.means.iter_mut().for_each(|mean| *mean = if *mean < 0.0 { -1.0 } else { 1.0 });
    }
}

/// Copies rows without padding into rows with padding.
fn set_rows(to: &mut [f32], stride: usize, inputs: usize, from: &[f32]) {
    debug_assert_eq!(stride % LANES, 0);
    to.chunks_exact_mut(stride).zip(from.chunks_exact(inputs)).for_each(|(to, from)| to[..inputs].copy_from_slice(from));
}
