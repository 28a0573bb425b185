//! One mini-batch through a network, forwards and backwards.
//!
//! All arrays are laid out for the kernels. Activations are stored in panels of 16 examples, `[panel][feature][16]`, so that means are broadcast in their own order (but see [`narrow`](crate::kernels) for a last panel of few examples); for
//! the gradient of the means they are stored again in panels of 16 features. Rows of means are padded to whole vectors with 1, which has neither a variance nor a gradient.
//! Nothing is allocated during a step.

mod adversary;
mod backward;
mod batch;
mod chunks;
mod corruption;
mod layer;
mod output;
mod signal;
mod sums;

use std::cell::UnsafeCell;

use adversary::Adversary;
use chunks::{busy_threads, over_chunks};

pub use backward::LayerSink;
pub use batch::Scale;
pub use corruption::Corruption;
pub use layer::EngineLayer;
pub use output::BatchScore;
pub use signal::Signal;

use isinglass_pool::Pool;

use crate::buffer::{Arena, Buffer};
use crate::kernels::{Carry, Dropout, Field, Forward, Kernels, LANES, Scratch, VarianceRule};
use crate::parametrisation::Parametrisation;
use crate::train_config::MAX_BATCH;
use crate::{Error, LayerSpec, Network};

/// The purpose of an engine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Purpose {
    /// Forward passes only.
    Evaluation,
    /// Gradients and steps.
    Training {
        /// What the optimiser moves.
        parametrisation: Parametrisation,
        /// Whether gradients flow through `Σ`.
        variance_gradient: bool,
        /// Whether the optimiser needs `m`, and `v`.
        slots: [bool; 2],
    },
}

/// The examples of a batch in the layout of one layer's inputs.
struct Inputs {
    x: Buffer,
    second: Buffer,
    transposed: Buffer,
    transposed_square: Buffer,
}

/// What a layer's forward pass stores for the backward pass: `∂x/∂h̄/√N` and `−2∂x/∂Σ/N`.
struct Slopes {
    p: Buffer,
    q: Buffer,
}

/// The fields that are carried from layer to layer; empty where none are.
struct Carried {
    field: Buffer,
    variance: Buffer,
}

/// A network laid out for the kernels, with the memory for one batch.
pub struct Engine {
    kernels: Kernels,
    /// The threads that were asked for.
    threads: usize,
    /// Those of them that have something to do.
    pool: Pool,
    scratch: Vec<ThreadScratch>,
    /// The layers.
    pub layers: Vec<EngineLayer>,
    inputs: Vec<Inputs>,
    slopes: Vec<Slopes>,
    /// Gradients in the backward pass: those of the current layer and of the one below.
    gradients: [Slopes; 2],
    /// Of the biases of the layer below, `[unit][16]`.
    bias_sums: Buffer,
    carried: Carried,
    /// `None` in engines without adversarial examples.
    adversary: Option<Adversary>,
    logits: Buffer,
    fields: Vec<Buffer>,
    batch: usize,
    /// Panels of the current batch.
    panels: usize,
    /// Examples of the current batch.
    examples: usize,
    training: bool,
    /// Whether forward passes store what a backward pass needs.
    prepares_backward: bool,
    variance_gradient: bool,
    /// Probability that the targets of the loss spread over all classes.
    pub label_smoothing: f32,
}

struct ThreadScratch(UnsafeCell<Scratch>);

// SAFETY: a thread uses only the scratch of its own number.
unsafe impl Sync for ThreadScratch {}

/// Scratch for every thread of a pool, for batches of up to `batch` examples.
fn scratch_for(pool: &Pool, batch: usize) -> Vec<ThreadScratch> {
    (0..pool.threads()).map(|_| ThreadScratch(UnsafeCell::new(Scratch::new(batch.div_ceil(LANES))))).collect()
}

/// Rows beyond the last that the last tile of a product may read.
const SLACK: usize = 16;

fn padded(features: usize) -> usize {
    features.next_multiple_of(LANES)
}

fn rows_of(outputs: usize) -> usize {
    padded(outputs) + SLACK
}

/// About how many floats the arrays of a network take.
fn room_for(network: &Network, purpose: Purpose, examples: usize) -> usize {
    let (parameters, activations) = match purpose {
        Purpose::Evaluation => (1, 2),
        Purpose::Training { parametrisation, slots, .. } => {
            (1 + usize::from(parametrisation.has_theta()) + slots.iter().filter(|&&used| used).count(), 6)
        }
    };
    let of_layer = |spec: &LayerSpec| {
        let (inputs, outputs) = (padded(spec.inputs()), rows_of(spec.outputs()));
        parameters * inputs * outputs + activations * examples * inputs.max(outputs)
    };
    let widest = network.layers().iter().map(|layer| rows_of(layer.spec().outputs())).max().unwrap_or(0);
    network.layers().iter().map(|layer| of_layer(layer.spec())).sum::<usize>() + activations * examples * widest
}

impl Engine {
    /// Lays out a network for batches of up to `batch` examples.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] for an empty batch or one of more than [`MAX_BATCH`] examples, [`Error::InstructionSet`] if `ISINGLASS_SIMD` names an instruction set that this machine does not have.
    pub fn new(network: &Network, purpose: Purpose, batch: usize, threads: usize) -> Result<Self, Error> {
        Self::with_kernels(network, purpose, batch, threads, Kernels::choose()?)
    }

    /// The same with chosen kernels.
    pub fn with_kernels(network: &Network, purpose: Purpose, batch: usize, threads: usize, kernels: Kernels) -> Result<Self, Error> {
        // Sizes of buffers are products of this number; with the limits of a checked network they do not overflow.
        if !(1..=MAX_BATCH).contains(&batch) {
            return Err(Error::config(format!("a batch of {batch} examples: must be from 1 to {MAX_BATCH}")));
        }
        let panels = batch.div_ceil(LANES);
        let training = purpose != Purpose::Evaluation;
        let has_variance = network.layers().iter().any(|layer| layer.spec().variance != VarianceRule::None);
        let variance_gradient = matches!(purpose, Purpose::Training { variance_gradient: true, .. }) && has_variance;
        let examples = panels * LANES;
        let mut arena = Arena::new(room_for(network, purpose, examples));
        let layers: Vec<EngineLayer> =
            network.layers().iter().map(|layer| EngineLayer::new(layer, purpose, &kernels, &mut arena)).collect();
        let mut when = |needed: bool, len: usize| arena.floats(if needed { len } else { 0 });
        let inputs = layers
            .iter()
            .map(|layer| Inputs {
                x: when(true, examples * layer.inputs),
                second: when(has_variance, examples * layer.inputs),
                transposed: when(training, examples * padded(layer.inputs)),
                transposed_square: when(variance_gradient, examples * padded(layer.inputs)),
            })
            .collect();
        let mut slopes = |rows: usize| Slopes { p: when(training, examples * rows), q: when(variance_gradient, examples * rows) };
        let widest = layers.iter().map(|layer| rows_of(layer.outputs)).max().unwrap_or(0);
        let carried = layers.iter().filter(|layer| layer.spec.carries()).map(|layer| layer.outputs).max().unwrap_or(0);
        let pool = Pool::new(1);
        let mut engine = Self {
            slopes: layers.iter().map(|layer| slopes(rows_of(layer.outputs))).collect(),
            gradients: [slopes(widest), slopes(widest)],
            bias_sums: when(training, widest * LANES),
            carried: Carried { field: when(true, examples * carried), variance: when(has_variance, examples * carried) },
            scratch: scratch_for(&pool, batch),
            logits: when(true, examples * layers.last().map_or(0, |output| rows_of(output.outputs))),
            fields: Vec::new(),
            adversary: None,
            kernels,
            threads: 1,
            pool,
            layers,
            inputs,
            batch,
            panels: 0,
            examples: 0,
            training,
            prepares_backward: training,
            variance_gradient,
            label_smoothing: 0.0,
        };
        engine.set_threads(threads);
        Ok(engine)
    }

    /// Changes the number of threads. Those that would have nothing to do, neither rows of a layer nor panels of a batch, are not started. The results stay the same.
    pub fn set_threads(&mut self, threads: usize) {
        self.threads = threads;
        // Gradients of the inputs are asked for by adversarial examples alone.
        let inputs = self.adversary.as_ref().map_or(0, |_| self.layers[0].inputs);
        let rows = self.layers.iter().map(|layer| layer.outputs).chain([inputs]);
        let busy = busy_threads(threads, self.kernels.tile_rows, rows).max(threads.min(self.batch.div_ceil(LANES)));
        if busy != self.pool.threads() {
            self.pool = Pool::new(busy);
            self.scratch = scratch_for(&self.pool, self.batch);
        }
    }

    /// Does something with an engine that is for training, without a backward pass: batches are loaded and sent forward faster.
    pub fn without_backward<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.prepares_backward, false);
        let result = work(self);
        self.prepares_backward = before;
        result
    }

    /// Examples that the buffers have room for.
    fn capacity(&self) -> usize {
        self.batch.next_multiple_of(LANES)
    }

    /// Keeps the fields `h` of every layer in later passes.
    pub fn keep_fields(&mut self) {
        let examples = self.capacity();
        self.fields = self.layers.iter().map(|layer| Buffer::new(examples * rows_of(layer.outputs))).collect();
    }

    /// Makes room for [`Sink::Keep`].
    pub fn keep_gradients(&mut self) {
        self.layers.iter_mut().for_each(|layer| layer.gradient = Buffer::new(layer.means.len()));
    }

    /// The largest number of examples in a batch.
    pub fn batch(&self) -> usize {
        self.batch
    }

    /// Examples of the current batch.
    pub fn examples(&self) -> usize {
        self.examples
    }

    /// A neuron (in the last layer, a logit) for an example.
    pub fn neuron(&self, layer: usize, unit: usize, example: usize) -> f32 {
        let (panel, lane) = (example / LANES, example % LANES);
        match self.inputs.get(layer + 1) {
            Some(inputs) => inputs.x[(panel * self.layers[layer].outputs + unit) * LANES + lane],
            None => self.logits[(panel * rows_of(self.layers[layer].outputs) + unit) * LANES + lane],
        }
    }

    /// The field `h` for an example. Fields must be kept.
    pub fn field(&self, layer: usize, unit: usize, example: usize) -> f32 {
        let layout = &self.layers[layer];
        let rows = if layer + 1 < self.layers.len() { layout.outputs } else { rows_of(layout.outputs) };
        self.fields[layer][(example / LANES * rows + unit) * LANES + example % LANES]
    }

    /// Forward through all layers; `key` gives the key of a layer's noise.
    pub fn forward(&mut self, key: impl Fn(usize) -> [u32; 2]) {
        self.forward_dropping(key, |_| None);
    }

    /// The same with some neurons of the hidden layers left out.
    pub fn forward_dropping(&mut self, key: impl Fn(usize) -> [u32; 2], dropout: impl Fn(usize) -> Option<Dropout>) {
        let last = self.layers.len() - 1;
        for index in 0..=last {
            let dropout = if index < last { dropout(index) } else { None };
            self.forward_layer(index, Forward { dropout, ..self.forward_job(index, key(index)) });
        }
    }

    /// One layer forward.
    fn forward_layer(&mut self, index: usize, job: Forward) {
        let job = Shared(job);
        let (kernels, scratch) = (self.kernels, &self.scratch);
        over_chunks(&mut self.pool, self.layers[index].outputs, self.kernels.tile_rows, &|worker, turn| {
            // SAFETY: every buffer has the size of its layer, and a checked network's layers fit each other: the neurons of one are the inputs of the next. Chunks do not
            // overlap, begin at multiples of 16 and have at most `MAX_ROWS` rows; the scratch is this thread's.
            unsafe { kernels.forward(job.get(), turn, &mut *scratch[worker].0.get()) }
        });
    }

    /// A layer's forward pass, for the kernels.
    fn forward_job(&self, index: usize, key: [u32; 2]) -> Forward {
        let layer = &self.layers[index];
        let inputs = &self.inputs[index];
        let next = self.inputs.get(index + 1);
        let field = if let Field::Sampled { .. } = layer.spec.field { Field::Sampled { key } } else { layer.spec.field };
        let slopes = &self.slopes[index];
        let rows = rows_of(layer.outputs);
        let receives = layer.spec.carries();
        let passes_on = self.layers.get(index + 1).is_some_and(|next| next.spec.carries());
        let Carried { field: carried, variance } = &self.carried;
        let for_backward = |buffer: &Buffer| if self.prepares_backward { buffer.pointer() } else { std::ptr::null_mut() };
        Forward {
            carry: (receives || passes_on).then(|| Carry { field: carried.pointer(), variance: variance.pointer(), receives }),
            passes_on,
            dropout: None,
            inputs: layer.inputs,
            stride: layer.stride,
            examples: self.examples,
            capacity: self.capacity(),
            means: layer.means.pointer(),
            bias: layer.bias.as_ptr(),
            variance: layer.spec.variance,
            field,
            nonlinearity: layer.spec.nonlinearity,
            x: inputs.x.pointer(),
            second: inputs.second.pointer(),
            x_rows: if next.is_some() { layer.outputs } else { rows },
            out_x: next.map_or(self.logits.pointer(), |next| next.x.pointer()),
            out_second: next.map_or(std::ptr::null_mut(), |next| next.second.pointer()),
            next_variance: self.layers.get(index + 1).map_or(VarianceRule::None, |next| next.spec.variance),
            slope_rows: rows,
            out_p: for_backward(&slopes.p),
            out_q: for_backward(&slopes.q),
            out_transposed: next.map_or(std::ptr::null_mut(), |next| for_backward(&next.transposed)),
            out_transposed_square: next.map_or(std::ptr::null_mut(), |next| for_backward(&next.transposed_square)),
            out_field: self.fields.get(index).map_or(std::ptr::null_mut(), Buffer::pointer),
        }
    }
}

/// Pointers shared by tasks that work on different rows or panels.
struct Shared<T>(T);

// SAFETY: different tasks write through the pointers to different rows or panels.
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    fn get(&self) -> &T {
        &self.0
    }
}
