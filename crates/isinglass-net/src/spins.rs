//! The binary network behind a surrogate: weights ±1, and the neurons that go with them.

use isinglass_theory::Neuron;

use crate::engine::{Engine, is_stochastic, softmax_f64};
use crate::kernels::LANES;
use crate::{Examples, Layer, Network, NetworkConfig, Preprocessing, Rng, Values};

/// A binary network, deterministic or drawn at random.
pub struct SpinNetwork<'a> {
    /// Its signs are the weights.
    engine: &'a mut Engine,
    config: NetworkConfig,
    preprocessing: Preprocessing,
    /// Bytes go through the first layer as they are, so that its sums are integers; the preprocessing follows.
    of_bytes: bool,
    /// Per unit of the first layer, what is subtracted from its sum.
    shifts: Vec<f64>,
    /// What the sums of the first layer are multiplied with.
    scale: f64,
    /// Per layer, `√N`: a sum is divided by it, not multiplied with its inverse, so that a field that is 0 comes out as 0.
    roots: Vec<f64>,
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

impl<'a> SpinNetwork<'a> {
    /// `sign(M)` of the layers in an engine, and neurons without noise.
    pub fn deterministic(engine: &'a mut Engine, config: &NetworkConfig, preprocessing: Preprocessing, examples: &Examples<'_>) -> Self {
        let rule = if config.surrogate.has_binary_neurons() { NeuronRule::Sign } else { NeuronRule::Continuous(config.neuron) };
        let mut spins = Self::new(engine, config, preprocessing, rule, examples);
        spins.shift();
        spins
    }

    /// Weights and neurons at random; [`SpinNetwork::draw`] draws them, into an engine of the network's shape.
    pub fn sampled(engine: &'a mut Engine, network: &Network, examples: &Examples<'_>) -> Self {
        let config = &network.config;
        let rule = match config.surrogate.has_binary_neurons() {
            false => NeuronRule::Continuous(config.neuron),
            true if is_stochastic(config.surrogate, config.neuron) => NeuronRule::Stochastic(config.neuron),
            true => NeuronRule::Sign,
        };
        Self::new(engine, config, network.preprocessing, rule, examples)
    }

    fn new(
        engine: &'a mut Engine,
        config: &NetworkConfig,
        preprocessing: Preprocessing,
        rule: NeuronRule,
        examples: &Examples<'_>,
    ) -> Self {
        let roots = engine.layers.iter().map(|layer| (layer.inputs as f64).sqrt()).collect();
        let of_bytes = matches!(examples.values(), Values::Bytes(_));
        let scale = if of_bytes { f64::from(preprocessing.scale) } else { 1.0 };
        let shifts = vec![0.0; engine.layers[0].outputs];
        Self { engine, config: config.clone(), preprocessing, of_bytes, shifts, scale, roots, rule, key: 0 }
    }

    /// Whether two draws from the network may differ.
    pub fn is_random(&self, network: &Network) -> bool {
        matches!(self.rule, NeuronRule::Stochastic(_)) || network.layers.iter().flat_map(|layer| &layer.means).any(|mean| mean.abs() < 1.0)
    }

    /// Number of outputs.
    pub fn classes(&self) -> usize {
        self.config.classes
    }

    /// Examples that go through it at once.
    pub fn batch(&self) -> usize {
        self.engine.batch()
    }

    /// Draws the weights of a sample from the network's means, and says which neurons go with them.
    pub fn draw(&mut self, network: &Network, seed: u64, sample: u64) {
        self.key = Rng::new(seed).stream(Rng::NEURONS, sample).next_u64();
        for (index, (target, layer)) in self.engine.layers.iter_mut().zip(&network.layers).enumerate() {
            target.set_means(&drawn_weights(layer, index, seed, sample));
        }
        self.shift();
    }

    /// What the preprocessing of bytes takes from the sums of the first layer: the offset times the sum of a unit's weights.
    fn shift(&mut self) {
        if self.of_bytes {
            let layer = &self.engine.layers[0];
            let rows = layer
                .means
                .chunks(layer.stride)
                .map(|row| row[..layer.inputs].iter().map(|&w| if w < 0.0 { -1.0 } else { 1.0 }).sum::<f64>());
            self.shifts.iter_mut().zip(rows).for_each(|(shift, sum)| *shift = f64::from(self.preprocessing.offset) * sum);
        }
    }

    /// Adds the class probabilities of some examples to `sums`, `[example][class]`.
    pub fn add_probabilities(&mut self, examples: &Examples<'_>, indices: &[u32], sums: &mut [f64]) {
        self.forward(examples, indices);
        let (last, classes) = (self.config.depth, self.classes());
        let bias = self.engine.layers[last].bias.clone();
        let mut logits = vec![0.0; classes];
        for (example, sums) in sums.chunks_mut(classes).take(indices.len()).enumerate() {
            for (class, logit) in logits.iter_mut().enumerate() {
                *logit =
                    self.config.tau * (f64::from(self.engine.neuron(last, class, example)) / self.roots[last] + f64::from(bias[class]));
            }
            softmax_f64(&mut logits);
            sums.iter_mut().zip(&logits).for_each(|(sum, probability)| *sum += probability);
        }
    }

    /// The sums of the output layer, `[example][class]`.
    pub fn output_sums(&mut self, examples: &Examples<'_>, indices: &[u32]) -> Vec<f32> {
        self.forward(examples, indices);
        let (last, classes) = (self.config.depth, self.classes());
        (0..indices.len() * classes).map(|place| self.engine.neuron(last, place % classes, place / classes)).collect()
    }

    /// Through all layers; the output keeps its sums.
    fn forward(&mut self, examples: &Examples<'_>, indices: &[u32]) {
        self.engine.load(examples, indices, if self.of_bytes { Preprocessing::default() } else { self.preprocessing });
        let biases: Vec<Vec<f32>> = self.engine.layers.iter().map(|layer| layer.bias.clone()).collect();
        let (shifts, scale, roots, rule, key, last) = (&self.shifts, self.scale, &self.roots, self.rule, self.key, self.config.depth);
        self.engine.forward_sums(&|layer, unit, panel, lanes| {
            if layer == last {
                return;
            }
            let bias = f64::from(biases[layer][unit]);
            let (shift, scale) = if layer == 0 { (shifts[unit], scale) } else { (0.0, 1.0) };
            for (lane, value) in lanes.iter_mut().enumerate() {
                let field = (f64::from(*value) - shift) * scale / roots[layer] + bias;
                let example = indices.get(panel * LANES + lane).copied().unwrap_or(0);
                *value = rule.apply(field, || uniform(key, layer, unit, example));
            }
        });
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

impl Network {
    /// A binary network drawn from this one: weights ±1 with means `M`, those of the same sample in [`Evaluator::stochastic`](crate::Evaluator::stochastic). Where neurons are stochastic, the
    /// noise of each is drawn too and put into its bias, so that the neuron becomes a sign: for one example the two cannot be told apart, while all examples of one draw see the same noise.
    pub fn draw(&self, seed: u64, sample: u64) -> Self {
        let mut network = self.clone();
        let noisy = self.config.surrogate.has_binary_neurons() && is_stochastic(self.config.surrogate, self.config.neuron);
        for (index, layer) in network.layers.iter_mut().enumerate() {
            layer.means = drawn_weights(layer, index, seed, sample);
            if noisy && index < self.config.depth {
                let mut rng = Rng::new(seed).stream(Rng::NEURONS, sample).stream(index as u64, 0);
                layer.bias.iter_mut().for_each(|bias| *bias -= noise_at(self.config.neuron, rng.uniform()) as f32);
            }
        }
        network
    }
}

/// Weights ±1 with a layer's means.
fn drawn_weights(layer: &Layer, index: usize, seed: u64, sample: u64) -> Vec<f32> {
    let rng = Rng::new(seed).stream(Rng::WEIGHTS, sample);
    let mut weights = Vec::with_capacity(layer.means.len());
    for (unit, means) in layer.means.chunks(layer.inputs).enumerate() {
        let mut rng = rng.stream(index as u64, unit as u64);
        weights.extend(means.iter().map(|&mean| if rng.uniform() < 0.5 * (1.0 + f64::from(mean)) { 1.0 } else { -1.0 }));
    }
    weights
}

/// The noise below which a part `u` of all noise lies: `(1 + φ(noise))/2 = u`, by bisection.
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

/// A uniform number for a neuron and an example, the same whatever goes with it in a batch.
fn uniform(key: u64, layer: usize, unit: usize, example: u32) -> f64 {
    let place = ((layer as u64) << 52) ^ ((unit as u64) << 32) ^ u64::from(example);
    Rng::mix(key ^ Rng::mix(place)) as f64 * (1.0 / 18_446_744_073_709_551_616.0)
}
