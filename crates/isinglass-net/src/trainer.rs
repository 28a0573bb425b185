//! Training, step by step.
//!
//! ```
//! use isinglass_net::{Examples, Goal, NetworkConfig, Rng, TrainConfig, Trainer, Values};
//!
//! // Which of two bits is set?
//! let values: Vec<u8> = (0..64).flat_map(|i| if i % 2 == 0 { [255, 0] } else { [0, 255] }).collect();
//! let labels: Vec<u8> = (0..64).map(|i| i % 2).collect();
//! let examples = Examples::new(Values::Bytes(&values), 2, &labels, 2)?;
//!
//! let network = NetworkConfig { inputs: 2, depth: 1, width: 31, classes: 2, ..NetworkConfig::default() }.init(&mut Rng::new(1))?;
//! let config = TrainConfig { epochs: 20, batch: 16, ..TrainConfig::default() };
//! let mut trainer = Trainer::new(network, config, examples, 1)?;
//! while !trainer.is_finished() {
//!     if let Some(epoch) = trainer.step()?.epoch {
//!         println!("epoch {}: {:.3}", epoch.epoch, epoch.train.nll);
//!     }
//! }
//! // The default goal is a binary network: every mean has become ±1.
//! let network = trainer.network();
//! assert!(network.layers.iter().flat_map(|layer| &layer.means).all(|m| m.abs() == 1.0));
//! assert_eq!(isinglass_net::Evaluator::new(&network, 1).binary(&examples, None).unwrap().accuracy, 1.0);
//! # Ok::<(), isinglass_net::Error>(())
//! ```

use std::path::Path;

use crate::checkpoint::{LayerArrays, Memories, Snapshot, State};
use crate::engine::{BatchScore, Engine, EngineLayer, LayerSink, Parametrisation, Purpose};
use crate::evaluate::{binary_score, surrogate_score};
use crate::kernels::{Kernels, Rule, Sink};
use crate::{
    Checkpoint, Error, Examples, Goal, Network, NetworkConfig, Optimizer, Partition, Preprocessing, Progress, Rng, Score, TrainConfig,
    noise,
};

/// One step's result.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Counted from 1.
    pub step: u64,
    /// The batch's mean negative log-likelihood.
    pub loss: f32,
    /// Examples of the batch whose class was found.
    pub correct: usize,
    /// Examples of the batch.
    pub examples: usize,
    /// What the epoch came to, if this was its last step.
    pub epoch: Option<EpochReport>,
}

/// An epoch's result.
#[derive(Debug, Clone, PartialEq)]
pub struct EpochReport {
    /// Counted from 1.
    pub epoch: usize,
    /// Learning rate of its last step.
    pub lr: f64,
    /// `β` of its last step.
    pub beta: f64,
    /// The surrogate while it was trained: averages over the epoch's steps.
    pub train: Score,
    /// The surrogate on the validation examples; `None` without these.
    pub validation: Option<Score>,
    /// The deterministic binary network on the validation examples; `None` without these, or without binary weights.
    pub validation_binary: Option<Score>,
    /// Whether no earlier epoch was better, by the validation accuracy (without validation examples, the training accuracy) of what the run's goal is.
    pub is_best: bool,
    /// Per layer, the norm of the gradient with respect to the means in the epoch's last step.
    pub gradient_norms: Vec<f64>,
}

/// Trains a network on examples, step by step.
pub struct Trainer<'a> {
    network: NetworkConfig,
    preprocessing: Preprocessing,
    config: TrainConfig,
    parametrisation: Parametrisation,
    examples: Examples<'a>,
    digest: String,
    partition: Partition,
    engine: Engine,
    state: State,
    /// The training examples in the order of the epoch at hand.
    order: Vec<u32>,
    gradient_squares: Vec<f64>,
}

impl<'a> Trainer<'a> {
    /// Starts a run: chooses training and validation examples, and standardises the inputs.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] if settings, network and examples do not go together.
    pub fn new(mut network: Network, config: TrainConfig, examples: Examples<'a>, threads: usize) -> Result<Self, Error> {
        let partition = Partition::new(examples.len(), &config)?;
        network.preprocessing = examples.standardising(&partition.train);
        Self::start(network, config, examples, partition, threads, Kernels::choose()?)
    }

    /// Starts a run with a network that has its preprocessing, and examples that are chosen already.
    ///
    /// # Errors
    ///
    /// Those of [`Trainer::new`].
    pub fn prepared(
        network: Network,
        config: TrainConfig,
        examples: Examples<'a>,
        partition: Partition,
        threads: usize,
    ) -> Result<Self, Error> {
        Self::start(network, config, examples, partition, threads, Kernels::choose()?)
    }

    #[cfg(test)]
    pub(crate) fn with_kernels(
        network: Network,
        config: TrainConfig,
        examples: Examples<'a>,
        threads: usize,
        kernels: Kernels,
    ) -> Result<Self, Error> {
        let partition = Partition::new(examples.len(), &config)?;
        Self::start(network, config, examples, partition, threads, kernels)
    }

    fn start(
        network: Network,
        config: TrainConfig,
        examples: Examples<'a>,
        partition: Partition,
        threads: usize,
        kernels: Kernels,
    ) -> Result<Self, Error> {
        config.check()?;
        check_fit(&network.config, &examples)?;
        let surrogate = network.config.surrogate;
        if config.goal == Goal::Binary && !surrogate.has_binary_weights() {
            return Err(Error::config(format!("goal binary: there is no binary network behind surrogate {surrogate}; use goal surrogate")));
        }
        let parametrisation = Parametrisation::new(surrogate, config.means, config.goal == Goal::Binary);
        let slots = match config.optimizer {
            Optimizer::Adam => [true, true],
            Optimizer::Sgd => [false, false],
            Optimizer::Momentum => [true, false],
            Optimizer::Rmsprop => [false, true],
        };
        let purpose = Purpose::Training { parametrisation, variance_gradient: config.variance_gradient, slots };
        let batch = config.batch.min(partition.train.len());
        let engine = Engine::with_kernels(&network, purpose, batch, threads, kernels);
        let mut trainer = Self {
            gradient_squares: vec![0.0; engine.layers.len()],
            order: Vec::new(),
            digest: examples.digest(),
            state: State::default(),
            preprocessing: network.preprocessing,
            network: network.config,
            config,
            parametrisation,
            examples,
            partition,
            engine,
        };
        trainer.shuffle();
        Ok(trainer)
    }

    /// Goes on where a checkpoint was taken. The examples must be the same.
    ///
    /// # Errors
    ///
    /// [`Error::Examples`] if they are not, [`Error::Config`] if the checkpoint's settings were changed to ones that need another state of the optimiser.
    pub fn resume(checkpoint: Checkpoint, examples: Examples<'a>, threads: usize) -> Result<Self, Error> {
        let Checkpoint { network, train, state, memories, data, .. } = checkpoint;
        if data != examples.digest() {
            return Err(Error::Examples("these are not the training examples that the run was started with".into()));
        }
        let partition = Partition::new(examples.len(), &train)?;
        let means: Vec<Vec<f32>> = network.layers.iter().map(|layer| layer.means.clone()).collect();
        let mut trainer = Self::start(network, train, examples, partition, threads, Kernels::choose()?)?;
        trainer.state = state;
        let layers = &trainer.engine.layers;
        if memories.len() != layers.len() || !memories.iter().zip(layers).all(|(memory, layer)| layer.takes(memory)) {
            return Err(Error::config("the checkpoint's optimiser state is not that of its settings: training cannot go on from it"));
        }
        for ((layer, memory), means) in trainer.engine.layers.iter_mut().zip(memories).zip(means) {
            if trainer.parametrisation.has_theta() {
                layer.set_theta(&memory.theta);
                layer.set_means(&means);
            }
            layer.set_slots(&memory.m, &memory.v);
            layer.bias_m = memory.bias_m;
            layer.bias_v = memory.bias_v;
        }
        trainer.shuffle();
        Ok(trainer)
    }

    /// Where the run stands.
    pub fn progress(&self) -> Progress {
        Progress::new(&self.config, self.partition.train.len(), self.state.step)
    }

    /// Whether all steps are done.
    pub fn is_finished(&self) -> bool {
        let progress = self.progress();
        progress.step >= progress.steps
    }

    /// Training and validation examples.
    pub fn partition(&self) -> &Partition {
        &self.partition
    }

    /// The run's settings.
    pub fn config(&self) -> &TrainConfig {
        &self.config
    }

    /// The network as it is now.
    pub fn network(&self) -> Network {
        let layers = self.engine.layers.iter().map(EngineLayer::to_layer);
        Network { config: self.network.clone(), layers: layers.collect(), preprocessing: self.preprocessing }
    }

    /// The network at the end of training: the trainer's memory is given back layer by layer.
    pub fn into_network(self) -> Network {
        let layers = self.engine.layers.into_iter().map(|layer| layer.to_layer());
        Network { config: self.network, layers: layers.collect(), preprocessing: self.preprocessing }
    }

    /// The order of the epoch at hand: the same whoever asks, and when.
    fn shuffle(&mut self) {
        self.order.clone_from(&self.partition.train);
        let epoch = self.progress().epoch as u64;
        Rng::new(self.config.seed).stream(Rng::SHUFFLE, epoch).shuffle(&mut self.order);
    }

    /// One step of the optimiser. The last step of an epoch validates; under [`Goal::Binary`] the last of the run sets every mean to ±1.
    ///
    /// # Errors
    ///
    /// [`Error::Diverged`] if the loss or, at an epoch's end, a parameter is no longer a number; the trainer is then of no more use.
    ///
    /// # Panics
    ///
    /// If the run is finished.
    pub fn step(&mut self) -> Result<Step, Error> {
        let Progress { step, steps, steps_per_epoch, .. } = self.progress();
        assert!(step < steps, "the run is finished");
        let (lr, beta) = (self.learning_rate(step), self.config.beta_at(step, steps));
        let score = self.optimise(lr, beta)?;
        let ends_epoch = (step + 1).is_multiple_of(steps_per_epoch);
        // Within an epoch the next loss tells.
        if ends_epoch && !self.engine.layers.iter().all(EngineLayer::is_finite) {
            return Err(Error::Diverged { step: step + 1, loss: f32::NAN, lr: self.config.lr });
        }
        self.state.step += 1;
        self.state.nll += score.nll;
        self.state.correct += score.correct as u64;
        let examples = self.engine.examples();
        self.state.examples += examples as u64;
        if self.state.step == steps && self.config.goal == Goal::Binary {
            self.engine.layers.iter_mut().for_each(|layer| layer.polarise());
        }
        let epoch = ends_epoch.then(|| self.end_epoch(lr, beta));
        Ok(Step { step: self.state.step, loss: (score.nll / examples as f64) as f32, correct: score.correct, examples, epoch })
    }

    fn learning_rate(&self, step: u64) -> f64 {
        let Progress { steps, steps_per_epoch, .. } = self.progress();
        self.config.lr * self.config.schedule.factor(step, steps, steps_per_epoch)
    }

    /// Forward, backward and the step itself.
    fn optimise(&mut self, lr: f64, beta: f64) -> Result<BatchScore, Error> {
        let Progress { step, steps, steps_per_epoch, .. } = self.progress();
        let first = (step % steps_per_epoch) as usize * self.config.batch;
        let indices = &self.order[first..self.order.len().min(first + self.config.batch)];
        self.engine.load(&self.examples, indices, self.preprocessing);
        let seed = self.config.seed;
        self.engine.forward(|layer| noise::key(seed, step, layer));
        let score = self.engine.score(&self.examples, indices);
        let diverged = |loss: f64| Error::Diverged { step: step + 1, loss: loss as f32, lr: self.config.lr };
        // Beyond any use, and on its way to infinity.
        let largest = 1e6 * indices.len() as f64;
        if score.nll.is_nan() || score.nll > largest {
            return Err(diverged(score.nll));
        }
        let rule = rule(self.config.optimizer, lr, step);
        let next = self.config.beta_at((step + 1).min(steps - 1), steps);
        let sink = Sink::Step(rule, self.parametrisation.parameter(beta, next));
        self.engine.backward(|_| LayerSink { means: sink, bias: Some(rule) }, &mut self.gradient_squares);
        if self.gradient_squares.iter().any(|square| !square.is_finite()) {
            return Err(diverged(f64::NAN));
        }
        Ok(score)
    }

    fn end_epoch(&mut self, lr: f64, beta: f64) -> EpochReport {
        let examples = self.state.examples.max(1) as f64;
        let train = Score { accuracy: self.state.correct as f64 / examples, nll: self.state.nll / examples };
        self.state.nll = 0.0;
        self.state.correct = 0;
        self.state.examples = 0;
        let (validation, validation_binary) = self.validate();
        let of_goal = if self.config.goal == Goal::Binary { validation_binary } else { validation };
        let accuracy = of_goal.unwrap_or(train).accuracy;
        let is_best = self.state.best.is_none_or(|best| accuracy >= best);
        if is_best {
            self.state.best = Some(accuracy);
        }
        let epoch = self.progress().epoch;
        self.shuffle();
        let gradient_norms = self.gradient_squares.iter().map(|square| square.sqrt()).collect();
        EpochReport { epoch, lr, beta, train, validation, validation_binary, is_best, gradient_norms }
    }

    /// The surrogate and the binary network on the examples held out, without a copy of the network.
    fn validate(&mut self) -> (Option<Score>, Option<Score>) {
        let held_out = &self.partition.validation;
        if held_out.is_empty() {
            return (None, None);
        }
        let surrogate = surrogate_score(&mut self.engine, &self.examples, held_out, self.preprocessing);
        let has_binary_weights = self.network.surrogate.has_binary_weights();
        let binary =
            has_binary_weights.then(|| binary_score(&mut self.engine, &self.network, &self.examples, held_out, self.preprocessing));
        (Some(surrogate), binary)
    }

    /// Writes a checkpoint, as [`Checkpoint::save`] does, but without a copy of the network in memory.
    ///
    /// # Errors
    ///
    /// [`Error::Write`]; a file that was there before is then untouched.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        let layers = self.engine.layers.iter().map(|layer| LayerArrays {
            inputs: layer.inputs,
            outputs: layer.outputs,
            stride: layer.stride,
            means: &layer.means,
            bias: &layer.bias,
            theta: &layer.theta,
            m: &layer.m,
            v: &layer.v,
            bias_m: &layer.bias_m,
            bias_v: &layer.bias_v,
        });
        let snapshot = Snapshot {
            network: &self.network,
            train: &self.config,
            preprocessing: self.preprocessing,
            state: self.state,
            examples: self.examples.len(),
            data: &self.digest,
            layers: layers.collect(),
        };
        snapshot.save(path)
    }

    /// Everything needed to go on from here.
    pub fn checkpoint(&self) -> Checkpoint {
        let memory = |layer: &EngineLayer| Memories {
            theta: layer.compact(&layer.theta),
            m: layer.compact(&layer.m),
            v: layer.compact(&layer.v),
            bias_m: layer.bias_m.clone(),
            bias_v: layer.bias_v.clone(),
        };
        Checkpoint {
            network: self.network(),
            train: self.config.clone(),
            state: self.state,
            memories: self.engine.layers.iter().map(memory).collect(),
            examples: self.examples.len(),
            data: self.digest.clone(),
        }
    }
}

/// That a network takes these examples.
pub(crate) fn check_fit(network: &NetworkConfig, examples: &Examples<'_>) -> Result<(), Error> {
    let (inputs, classes) = (network.inputs, network.classes);
    if inputs != examples.features() {
        return Err(Error::Examples(format!("examples of {} values for a network with {inputs} inputs", examples.features())));
    }
    if classes < examples.classes() {
        return Err(Error::Examples(format!("examples of {} classes for a network with {classes} outputs", examples.classes())));
    }
    Ok(())
}

/// The kernels' rule of a step (counted from 0).
fn rule(optimizer: Optimizer, lr: f64, step: u64) -> Rule {
    let rate = lr as f32;
    match optimizer {
        Optimizer::Adam => {
            let t = (step + 1) as f64;
            let correction = |beta: f64| 1.0 - libm::pow(beta, t);
            Rule::Adam { rate: (lr / correction(0.9)) as f32, root: (1.0 / correction(0.999).sqrt()) as f32 }
        }
        Optimizer::Sgd => Rule::Sgd { rate },
        Optimizer::Momentum => Rule::Momentum { rate },
        Optimizer::Rmsprop => Rule::Rmsprop { rate },
    }
}
