//! The inside of a network: polarisation, saturation, field variances compared with the theory, gradient norms.

use isinglass_theory::activation::FieldPair;
use isinglass_theory::{CarriedState, Correlation, MeanField, Model, Neuron, WeightVariance};
use serde::{Deserialize, Serialize};

use crate::engine::{Engine, LayerSink, Purpose, Scale};
use crate::kernels::Sink;
use crate::parametrisation::Parametrisation;
use crate::score::BATCH;
use crate::{Error, Examples, Network, noise};

/// Counts in equal bins from −1 to 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Histogram {
    /// Counts, from the bin that starts at −1 to the one that ends at 1.
    pub counts: Vec<u64>,
}

/// One layer of a network on some examples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LayerDiagnosis {
    /// Counted from 1; the output layer is the last.
    pub layer: usize,
    /// Neurons below.
    pub inputs: usize,
    /// Neurons of this layer.
    pub outputs: usize,
    /// Mean square of the means.
    #[serde(deserialize_with = "crate::or_nan::number")]
    pub sigma_m2: f64,
    /// Mean square of the biases.
    #[serde(deserialize_with = "crate::or_nan::number")]
    pub sigma_b2: f64,
    /// Fraction of means beyond ±0.9.
    #[serde(deserialize_with = "crate::or_nan::number")]
    pub polarised: f64,
    /// Histogram of the means.
    pub means: Histogram,
    /// Fraction of weights whose sign is not the initial one; `None` unless counted by [`Diagnosis::count_flips`].
    pub flip_ratio: Option<f64>,
    /// Mean square of the surrogate's field over neurons and examples: of `h`, or of `h̄` where nothing is random.
    #[serde(deserialize_with = "crate::or_nan::number")]
    pub field_variance: f64,
    /// What the theory predicts from the measured variances of means and biases of the layers so far; `None` where it does not apply.
    pub predicted_variance: Option<f64>,
    /// Whether the field of the layer below is carried to this one.
    #[serde(default)]
    pub carries: bool,
    /// Slope of the correlation map at `c = 1`, with this layer's measured variances; `None` for the output layer, and where a field is carried, since the map is then not the layer's alone.
    pub chi_1: Option<f64>,
    /// Fraction of neurons beyond ±0.9; `None` for the output layer.
    pub saturated: Option<f64>,
    /// Histogram of the neurons; `None` for the output layer.
    pub neurons: Option<Histogram>,
    /// Norm of the loss's gradient with respect to the means.
    #[serde(deserialize_with = "crate::or_nan::number")]
    pub gradient_norm: f64,
}

/// All layers of a network on some examples.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Diagnosis {
    /// The layers, the output layer last.
    pub layers: Vec<LayerDiagnosis>,
}

impl Diagnosis {
    /// Sends some examples through a network and measures every layer. The gradient is that of the first batch.
    ///
    /// # Errors
    ///
    /// [`Error::Examples`] if the examples do not fit the network, or none are chosen.
    pub fn new(network: &Network, examples: &Examples<'_>, indices: &[u32], threads: usize) -> Result<Self, Error> {
        examples.check_fit(network.config())?;
        examples.chosen(Some(indices))?;
        let signals = Signals::measure(network, examples, indices, threads)?;
        let mut layers = Vec::with_capacity(network.layers().len());
        let carries = network.layers().iter().any(|layer| layer.spec().carries());
        let (mut predicted, mut state) = (None, None);
        for (index, layer) in network.layers().iter().enumerate() {
            let (sigma_m2, sigma_b2) = (mean_square(layer.means()), mean_square(layer.bias()));
            let field_variance = signals.fields[index];
            let theory = if layer.spec().is_output() { None } else { mean_field(network, sigma_m2, sigma_b2) };
            predicted = theory.as_ref().and_then(|theory| match index {
                _ if carries => {
                    state = next_state(theory, state.as_ref(), index, layer.spec().carries(), signals.inputs);
                    state.map(|state| state.q())
                }
                0 => theory.first_layer(&FieldPair::equal(signals.inputs, Correlation::ONE)).ok().map(|pair| pair.q_a),
                _ => theory.variance_map(predicted?).ok(),
            });
            let is_finite = |chi: &f64| chi.is_finite();
            layers.push(LayerDiagnosis {
                layer: index + 1,
                inputs: layer.inputs(),
                outputs: layer.outputs(),
                sigma_m2,
                sigma_b2,
                polarised: beyond(layer.means()),
                means: Histogram::of(layer.means().iter().copied()),
                flip_ratio: None,
                field_variance,
                predicted_variance: predicted,
                carries: layer.spec().carries(),
                chi_1: theory
                    .filter(|_| !layer.spec().carries())
                    .and_then(|theory| theory.chi(field_variance, Correlation::ONE).ok())
                    .filter(is_finite),
                saturated: signals.neurons.get(index).map(|neurons| neurons.saturated),
                neurons: signals.neurons.get(index).map(|neurons| neurons.histogram.clone()),
                gradient_norm: signals.gradient_squares[index].sqrt(),
            });
        }
        Ok(Self { layers })
    }

    /// Adds the fractions of weights that changed sign since the initial network. [`Diagnosis::new`] leaves them out, so that the two networks need not be in memory together with the
    /// batch.
    ///
    /// # Errors
    ///
    /// [`Error::Layer`] if the shape of one is not that of the diagnosed network.
    pub fn count_flips(&mut self, network: &Network, initial: &Network) -> Result<(), Error> {
        let specs = |network: &Network| network.layers().iter().map(|layer| (layer.inputs(), layer.outputs())).collect::<Vec<_>>();
        if specs(network) != specs(initial) || self.layers.len() != network.layers().len() {
            return Err(Error::Layer("signs can be compared only between networks of the same shape".into()));
        }
        for ((diagnosis, layer), initial) in self.layers.iter_mut().zip(network.layers()).zip(initial.layers()) {
            diagnosis.flip_ratio = Some(flips(layer.means(), initial.means()));
        }
        Ok(())
    }
}

/// Bins of a histogram.
const BINS: usize = 20;
/// Means beyond it count as polarised, neurons as saturated.
const BEYOND: f32 = 0.9;

impl Histogram {
    /// Counts values; those outside `[−1, 1]` count in the outermost bins.
    fn of(values: impl Iterator<Item = f32>) -> Self {
        let mut counts = vec![0; BINS];
        for value in values {
            // A negative product becomes 0.
            counts[((0.5 * (value + 1.0) * BINS as f32) as usize).min(BINS - 1)] += 1;
        }
        Self { counts }
    }

    fn add(&mut self, other: &Self) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(count, more)| *count += more);
    }
}

/// Statistics of the signals in a network.
struct Signals {
    /// Mean square of the inputs.
    inputs: f64,
    /// Mean square of every layer's fields.
    fields: Vec<f64>,
    /// The hidden neurons of every layer.
    neurons: Vec<Neurons>,
    /// Squared norms of the gradients of the first batch.
    gradient_squares: Vec<f64>,
}

struct Neurons {
    histogram: Histogram,
    saturated: f64,
}

impl Signals {
    fn measure(network: &Network, examples: &Examples<'_>, indices: &[u32], threads: usize) -> Result<Self, Error> {
        // The parametrisation does not matter: nothing is updated.
        let purpose = Purpose::Training { parametrisation: Parametrisation::Free, variance_gradient: true, slots: [false; 2] };
        let mut engine = Engine::new(network, purpose, BATCH.min(indices.len()), threads)?;
        engine.keep_fields();
        let mut gradient_squares = vec![0.0; network.layers().len()];
        let mut fields = vec![0.0; network.layers().len()];
        let mut neurons: Vec<Neurons> =
            (1..network.layers().len()).map(|_| Neurons { histogram: Histogram::of(std::iter::empty()), saturated: 0.0 }).collect();
        let (mut inputs, mut row) = (0.0, vec![0.0; examples.features()]);
        for (batch, indices) in indices.chunks(BATCH).enumerate() {
            engine.load(examples.rows(), indices, network.input(), Scale::Inputs);
            engine.forward(|layer| noise::key(0, batch as u64, layer));
            if batch == 0 {
                engine.score(examples, indices);
                engine.backward(|_| LayerSink { means: Sink::Measure, bias: None }, &mut gradient_squares);
            }
            let mut squares = 0.0;
            for &index in indices {
                examples.rows().copy_part(index as usize, 0, &mut row);
                network.input().apply(0, &mut row);
                row.iter().for_each(|&x| squares += f64::from(x) * f64::from(x));
            }
            inputs += squares;
            for (index, layer) in network.layers().iter().enumerate() {
                let places = || (0..layer.outputs()).flat_map(|unit| (0..indices.len()).map(move |example| (unit, example)));
                fields[index] += places().map(|(unit, example)| f64::from(engine.field(index, unit, example)).powi(2)).sum::<f64>();
                if let Some(neurons) = neurons.get_mut(index) {
                    let values: Vec<f32> = places().map(|(unit, example)| engine.neuron(index, unit, example)).collect();
                    neurons.histogram.add(&Histogram::of(values.iter().copied()));
                    neurons.saturated += beyond(&values) * values.len() as f64;
                }
            }
        }
        let count = indices.len() as f64;
        for (index, layer) in network.layers().iter().enumerate() {
            fields[index] /= count * layer.outputs() as f64;
            if let Some(neurons) = neurons.get_mut(index) {
                neurons.saturated /= count * layer.outputs() as f64;
            }
        }
        Ok(Self { inputs: inputs / (count * examples.features() as f64), fields, neurons, gradient_squares })
    }
}

/// The theory's state of a layer in a network that carries fields, from the mean square of the inputs and the state of the layer below.
fn next_state(theory: &MeanField, below: Option<&CarriedState>, index: usize, carries: bool, inputs: f64) -> Option<CarriedState> {
    match index {
        0 => CarriedState::from_inputs(theory, &FieldPair::equal(inputs, Correlation::ONE)).ok(),
        _ => below?.next(theory, carries).ok(),
    }
}

/// The theory of layers with these variances; `None` where it does not apply.
fn mean_field(network: &Network, sigma_m2: f64, sigma_b2: f64) -> Option<MeanField> {
    let surrogate = network.config().surrogate;
    // Once all means are ±1, the network is binary: nothing is left to average.
    let is_binary = surrogate.has_binary_neurons() && sigma_m2 == 1.0 && network.config().neuron == Neuron::Sign;
    let model = if is_binary { Model::Binary } else { surrogate.model() };
    let sigma2 = match model.weight_variance() {
        WeightVariance::None => None,
        // The mean square of means of ±1 may exceed 1 by a rounding error.
        WeightVariance::Means => Some(sigma_m2.min(1.0)),
        WeightVariance::Weights => Some(sigma_m2),
    };
    isinglass_theory::RandomNetwork::new(model, network.config().neuron).ok()?.at(sigma2, sigma_b2).ok()
}

fn mean_square(values: &[f32]) -> f64 {
    values.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>() / values.len() as f64
}

/// The fraction of values beyond ±0.9.
fn beyond(values: &[f32]) -> f64 {
    values.iter().filter(|value| value.abs() > BEYOND).count() as f64 / values.len() as f64
}

/// The fraction of weights that changed sign.
fn flips(means: &[f32], initial: &[f32]) -> f64 {
    let flipped = means.iter().zip(initial).filter(|(a, b)| (**a < 0.0) != (**b < 0.0)).count();
    flipped as f64 / means.len() as f64
}
