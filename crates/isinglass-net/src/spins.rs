//! The binary network behind a surrogate: weights ±1, and the neurons that go with them.

use isinglass_theory::Neuron;

use crate::engine::{Engine, Purpose, is_stochastic, softmax_f64};
use crate::kernels::{Activation, Field, LANES, Moments};
use crate::{Examples, Network, Preprocessing, Rng, Values};

/// A binary network, deterministic or drawn at random.
pub struct SpinNetwork {
    engine: Engine,
    network: Network,
    /// Applied before the network, if the values are not bytes.
    preprocessing: Preprocessing,
    /// Per layer and unit, what is subtracted from its sum; per layer, what its difference is multiplied with.
    shifts: Vec<Vec<f64>>,
    factors: Vec<f64>,
    rule: NeuronRule,
    key: u64,
}

/// What a neuron of a binary network does with its field.
#[derive(Clone, Copy)]
enum NeuronRule {
    Sign,
    /// `+1` with probability `(1 + φ)/2`.
    Stochastic(Neuron),
    /// `φ`.
    Continuous(Neuron),
}

impl SpinNetwork {
    /// `sign(M)`, and neurons without noise.
    pub fn deterministic(network: &Network, examples: &Examples<'_>, batch: usize, threads: usize) -> Self {
        let rule =
            if network.config.surrogate.has_binary_neurons() { NeuronRule::Sign } else { NeuronRule::Continuous(network.config.neuron) };
        let mut spins = Self::new(network, rule, examples, batch, threads);
        spins.set_weights(|_, _, mean| if mean < 0.0 { -1.0 } else { 1.0 });
        spins
    }

    /// Weights and neurons at random; [`SpinNetwork::draw`] draws them.
    pub fn sampled(network: &Network, examples: &Examples<'_>, batch: usize, threads: usize) -> Self {
        let config = &network.config;
        let rule = match config.surrogate.has_binary_neurons() {
            false => NeuronRule::Continuous(config.neuron),
            true if is_stochastic(config.surrogate, config.neuron) => NeuronRule::Stochastic(config.neuron),
            true => NeuronRule::Sign,
        };
        Self::new(network, rule, examples, batch, threads)
    }

    fn new(network: &Network, rule: NeuronRule, examples: &Examples<'_>, batch: usize, threads: usize) -> Self {
        let mut engine = Engine::new(network, Purpose::Evaluation, batch, threads);
        for layer in &mut engine.layers {
            layer.moments = Moments::None;
            layer.field = Field::Sum;
            layer.activation = Activation::Linear(1.0);
        }
        let mut factors: Vec<f64> = network.layers.iter().map(|layer| 1.0 / (layer.inputs as f64).sqrt()).collect();
        // Bytes go through the first layer as they are, so that its sums are integers; the preprocessing follows.
        let of_bytes = matches!(examples.values(), Values::Bytes(_));
        let preprocessing = if of_bytes { Preprocessing::default() } else { network.preprocessing };
        if of_bytes {
            factors[0] *= f64::from(network.preprocessing.scale);
        }
        let shifts = network.layers.iter().map(|layer| vec![0.0; layer.outputs]).collect();
        Self { engine, network: network.clone(), preprocessing, shifts, factors, rule, key: 0 }
    }

    /// Whether two draws may differ.
    pub fn is_random(&self) -> bool {
        matches!(self.rule, NeuronRule::Stochastic(_))
            || self.network.layers.iter().flat_map(|layer| &layer.means).any(|mean| mean.abs() < 1.0)
    }

    /// Number of outputs.
    pub fn classes(&self) -> usize {
        self.network.config.classes
    }

    /// Draws the weights of a sample, and says which neurons go with them.
    pub fn draw(&mut self, seed: u64, sample: u64) {
        let rng = Rng::new(seed).stream(Rng::WEIGHTS, sample);
        self.key = Rng::new(seed).stream(Rng::NEURONS, sample).next_u64();
        let mut at = (usize::MAX, usize::MAX);
        let mut row_rng = rng.clone();
        self.set_weights(|layer, unit, mean| {
            if at != (layer, unit) {
                at = (layer, unit);
                row_rng = rng.stream(layer as u64, unit as u64);
            }
            if row_rng.uniform() < 0.5 * (1.0 + f64::from(mean)) { 1.0 } else { -1.0 }
        });
    }

    fn set_weights(&mut self, mut weight: impl FnMut(usize, usize, f32) -> f32) {
        let offset = f64::from(self.network.preprocessing.offset);
        for (index, layer) in self.network.layers.iter().enumerate() {
            let weights: Vec<f32> = layer.means.iter().enumerate().map(|(at, &mean)| weight(index, at / layer.inputs, mean)).collect();
            if index == 0 && self.preprocessing == Preprocessing::default() {
                let sums = weights.chunks(layer.inputs).map(|row| row.iter().map(|&w| f64::from(w)).sum::<f64>());
                self.shifts[0].iter_mut().zip(sums).for_each(|(shift, sum)| *shift = offset * sum);
            }
            self.engine.layers[index].set_means(&weights);
        }
    }

    /// Adds the class probabilities of some examples to `sums`, `[example][class]`.
    pub fn add_probabilities(&mut self, examples: &Examples<'_>, indices: &[u32], sums: &mut [f64]) {
        self.engine.load(examples, indices, self.preprocessing);
        let (layers, shifts, factors) = (&self.network.layers, &self.shifts, &self.factors);
        let (rule, key, tau, last) = (self.rule, self.key, self.network.config.tau, layers.len() - 1);
        self.engine.forward_sums(&|layer, unit, panel, lanes| {
            let bias = f64::from(layers[layer].bias[unit]);
            for (lane, value) in lanes.iter_mut().enumerate() {
                let field = (f64::from(*value) - shifts[layer][unit]) * factors[layer] + bias;
                *value = if layer == last {
                    (tau * field) as f32
                } else {
                    let example = indices.get(panel * LANES + lane).copied().unwrap_or(0);
                    rule.apply(field, || uniform(key, layer, unit, example))
                };
            }
        });
        let classes = self.classes();
        let mut logits = vec![0.0; classes];
        for (example, sums) in sums.chunks_mut(classes).take(indices.len()).enumerate() {
            (0..classes).for_each(|class| logits[class] = f64::from(self.engine.neuron(last, class, example)));
            softmax_f64(&mut logits);
            sums.iter_mut().zip(&logits).for_each(|(sum, probability)| *sum += probability);
        }
    }
}

impl NeuronRule {
    fn apply(self, field: f64, uniform: impl Fn() -> f64) -> f32 {
        let sign = |is_up: bool| if is_up { 1.0 } else { -1.0 };
        match self {
            Self::Sign => sign(field >= 0.0),
            Self::Stochastic(neuron) => sign(uniform() < 0.5 * (1.0 + mean_of(neuron, field))),
            Self::Continuous(neuron) => mean_of(neuron, field) as f32,
        }
    }
}

/// `φ(h)`.
fn mean_of(neuron: Neuron, h: f64) -> f64 {
    use isinglass_theory::activation::Activation as _;
    neuron.mean().value(h)
}

/// A uniform number for a neuron and an example, the same whatever goes with it in a batch.
fn uniform(key: u64, layer: usize, unit: usize, example: u32) -> f64 {
    let place = ((layer as u64) << 52) ^ ((unit as u64) << 32) ^ u64::from(example);
    Rng::mix(key ^ Rng::mix(place)) as f64 * (1.0 / 18_446_744_073_709_551_616.0)
}
