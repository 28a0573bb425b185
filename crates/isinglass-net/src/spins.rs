//! The binary network behind a surrogate, evaluated in floats.
//!
//! It covers what bits cannot: continuous and stochastic neurons, and real inputs that are not quantised. For everything else it is an independent check of the packed network.
//! Sums over bytes are integers, exact for up to 65 793 inputs (255 times as many is 2²⁴).

use isinglass_bits::softmax;
use isinglass_theory::Neuron;

use crate::engine::{Engine, Scale};
use crate::examples::Rows;
use crate::kernels::LANES;
use crate::layer::Unit;
use crate::{Error, InputRule, Layer, Network, Rng};

/// A binary network, deterministic or drawn at random.
pub struct SpinNetwork<'a> {
    /// The signs of its means are the weights.
    engine: &'a mut Engine,
    input: &'a InputRule,
    /// Bytes go through the first layer as they are, so that its sums are integers; offset and scale are applied to the sums.
    of_bytes: bool,
    /// Subtracted from the sum of each unit of the first layer.
    shifts: Vec<f64>,
    /// The kind of every layer's units.
    units: Vec<Unit>,
    key: u64,
}

impl<'a> SpinNetwork<'a> {
    /// `sign(M)` of the layers in an engine, and neurons without noise.
    pub fn deterministic(engine: &'a mut Engine, input: &'a InputRule, rows: &Rows<'_>) -> Self {
        let without_noise = |unit| if let Unit::Stochastic(_) = unit { Unit::Sign } else { unit };
        let units = engine.layers.iter().map(|layer| without_noise(layer.spec.unit)).collect();
        let mut spins = Self::new(engine, input, units, rows);
        spins.shift();
        spins
    }

    /// Random weights and neurons: [`SpinNetwork::draw`] draws them into an engine of the network's shape.
    pub fn sampled(engine: &'a mut Engine, input: &'a InputRule, rows: &Rows<'_>) -> Self {
        let units = engine.layers.iter().map(|layer| layer.spec.unit).collect();
        Self::new(engine, input, units, rows)
    }

    fn new(engine: &'a mut Engine, input: &'a InputRule, units: Vec<Unit>, rows: &Rows<'_>) -> Self {
        let shifts = vec![0.0; engine.layers[0].outputs];
        Self { of_bytes: input.gives_bytes(rows.values()), engine, input, shifts, units, key: 0 }
    }

    /// Number of outputs.
    pub fn classes(&self) -> usize {
        self.engine.layers.last().map_or(0, |layer| layer.outputs)
    }

    /// Examples per batch.
    pub fn batch(&self) -> usize {
        self.engine.batch()
    }

    /// Draws the weights of a sample from the network's means, and the key of its neurons' noise.
    pub fn draw(&mut self, network: &Network, seed: u64, sample: u64) {
        self.key = Rng::new(seed).stream(Rng::NEURONS, sample).next_u64();
        for (index, (target, layer)) in self.engine.layers.iter_mut().zip(network.layers()).enumerate() {
            target.set_means(&drawn_weights(layer, index, seed, sample));
        }
        self.shift();
    }

    /// Computes what the offset of bytes subtracts from the sums of the first layer: the offset times the sum of a unit's weights.
    fn shift(&mut self) {
        if self.of_bytes {
            let layer = &self.engine.layers[0];
            let offset = f64::from(self.input.preprocessing().offset());
            for (unit, shift) in self.shifts.iter_mut().enumerate() {
                *shift = offset * layer.row(unit).iter().map(|&w| if w < 0.0 { -1.0 } else { 1.0 }).sum::<f64>();
            }
        }
    }

    /// Adds the class probabilities of some rows to `sums`, `[row][class]`.
    pub fn add_probabilities(&mut self, rows: &Rows<'_>, indices: &[u32], sums: &mut [f64]) {
        self.forward(rows, indices);
        let (last, classes) = (self.units.len() - 1, self.classes());
        let Unit::Output { tau } = self.units[last] else { unreachable!("the last layer of a checked network is its output") };
        let layer = &self.engine.layers[last];
        let root = (layer.inputs as f64).sqrt();
        let mut logits = vec![0.0; classes];
        for (example, sums) in sums.chunks_mut(classes).take(indices.len()).enumerate() {
            for (class, logit) in logits.iter_mut().enumerate() {
                *logit = tau * (f64::from(self.engine.neuron(last, class, example)) / root + f64::from(layer.bias[class]));
            }
            softmax(&mut logits);
            sums.iter_mut().zip(&logits).for_each(|(sum, probability)| *sum += probability);
        }
    }

    /// The sums of the output layer, `[row][class]`.
    pub fn output_sums(&mut self, rows: &Rows<'_>, indices: &[u32]) -> Vec<f32> {
        self.forward(rows, indices);
        let (last, classes) = (self.units.len() - 1, self.classes());
        (0..indices.len() * classes).map(|place| self.engine.neuron(last, place % classes, place / classes)).collect()
    }

    /// Forward through all layers; the output layer keeps its sums.
    fn forward(&mut self, rows: &Rows<'_>, indices: &[u32]) {
        self.engine.load(rows, indices, self.input, if self.of_bytes { Scale::Bytes } else { Scale::Inputs });
        let biases: Vec<Vec<f32>> = self.engine.layers.iter().map(|layer| layer.bias.clone()).collect();
        // A sum is divided by √N, not multiplied by its inverse, so that a field of 0 stays exactly 0.
        let roots: Vec<f64> = self.engine.layers.iter().map(|layer| (layer.inputs as f64).sqrt()).collect();
        let scale_of_bytes = if self.of_bytes { f64::from(self.input.preprocessing().scale()) } else { 1.0 };
        let (shifts, units, key) = (&self.shifts, &self.units, self.key);
        self.engine.forward_sums(&|layer, unit, panel, lanes| {
            if let Unit::Output { .. } = units[layer] {
                return;
            }
            let bias = f64::from(biases[layer][unit]);
            let (shift, scale) = if layer == 0 { (shifts[unit], scale_of_bytes) } else { (0.0, 1.0) };
            for (lane, value) in lanes.iter_mut().enumerate() {
                let field = (f64::from(*value) - shift) * scale / roots[layer] + bias;
                let example = indices.get(panel * LANES + lane).copied().unwrap_or(0);
                *value = units[layer].apply(field, || uniform(key, layer, unit, example));
            }
        });
    }
}

impl Unit {
    fn apply(self, field: f64, uniform: impl Fn() -> f64) -> f32 {
        let sign = |is_up: bool| if is_up { 1.0 } else { -1.0 };
        match self {
            Self::Sign => sign(field >= 0.0),
            Self::Stochastic(neuron) => sign(uniform() < 0.5 * (1.0 + mean_of(neuron, field))),
            Self::Continuous(neuron) => mean_of(neuron, field) as f32,
            Self::Output { tau } => (tau * field) as f32,
        }
    }
}

impl Network {
    /// A binary network drawn from this one: weights ±1 with means `M`, those of the same sample in [`Network::sampled`]. Where neurons are stochastic, the noise of each is drawn too and added
    /// to its bias, so that the neuron becomes a sign: for one example the distribution is the same, but all examples of one draw share the noise.
    ///
    /// # Errors
    ///
    /// [`Error::NotBinary`] if there are no binary weights behind the surrogate.
    pub fn draw(&self, seed: u64, sample: u64) -> Result<Self, Error> {
        self.require_binary_weights()?;
        let mut network = self.clone();
        for (index, layer) in self.layers().iter().enumerate() {
            let weights = drawn_weights(layer, index, seed, sample);
            let mut bias = layer.bias().to_vec();
            if let Unit::Stochastic(neuron) = layer.spec().unit {
                let mut rng = Rng::new(seed).stream(Rng::NEURONS, sample).stream(index as u64, 0);
                bias.iter_mut().for_each(|bias| *bias -= noise_at(neuron, rng.uniform()) as f32);
            }
            network.replace_layer(index, Layer::new(*layer.spec(), weights, bias)?)?;
        }
        Ok(network)
    }

    /// Whether draws from the network can differ.
    pub(crate) fn is_random(&self) -> bool {
        let is_random =
            |layer: &Layer| matches!(layer.spec().unit, Unit::Stochastic(_)) || layer.means().iter().any(|mean| mean.abs() < 1.0);
        self.layers().iter().any(is_random)
    }
}

/// Weights ±1 with a layer's means.
pub(crate) fn drawn_weights(layer: &Layer, index: usize, seed: u64, sample: u64) -> Vec<f32> {
    let rng = Rng::new(seed).stream(Rng::WEIGHTS, sample);
    let mut weights = Vec::with_capacity(layer.means().len());
    for (unit, means) in layer.rows().enumerate() {
        let mut rng = rng.stream(index as u64, unit as u64);
        weights.extend(means.iter().map(|&mean| if rng.uniform() < 0.5 * (1.0 + f64::from(mean)) { 1.0 } else { -1.0 }));
    }
    weights
}

/// The noise below which a fraction `u` of all noise lies: `(1 + φ(noise))/2 = u`, by bisection.
fn noise_at(neuron: Neuron, u: f64) -> f64 {
    let is_below = |noise: f64| 0.5 * (1.0 + mean_of(neuron, noise)) < u;
    let (mut low, mut high) = (-1.0, 1.0);
    while is_below(high) && high < 1e30 {
        high *= 2.0;
    }
    while !is_below(low) && low > -1e30 {
        low *= 2.0;
    }
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if is_below(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// `φ(h)`.
fn mean_of(neuron: Neuron, h: f64) -> f64 {
    use isinglass_theory::activation::Activation as _;
    neuron.mean().value(h)
}

/// A uniform number for a neuron and an example, independent of the rest of the batch.
fn uniform(key: u64, layer: usize, unit: usize, example: u32) -> f64 {
    // Twelve bits of the layer fit beside 20 of the unit and 32 of the example; the others change the key.
    let (high, low) = (layer as u64 >> 12, layer as u64 & 0xfff);
    let key = if high == 0 { key } else { Rng::mix(key ^ Rng::mix(high)) };
    let place = (low << 52) ^ ((unit as u64) << 32) ^ u64::from(example);
    Rng::mix(key ^ Rng::mix(place)) as f64 * (1.0 / 18_446_744_073_709_551_616.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network_config::{MAX_DEPTH, MAX_WIDTH};

    #[test]
    fn neurons_of_different_layers_have_different_noise() {
        let mut seen = std::collections::HashSet::new();
        for layer in 0..=MAX_DEPTH {
            for unit in [0, 1, MAX_WIDTH - 1] {
                assert!(seen.insert(uniform(7, layer, unit, 3).to_bits()), "layer {layer}, unit {unit}");
            }
        }
    }
}
