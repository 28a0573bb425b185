//! Training, step by step or in one call.
//!
//! ```
//! use isinglass_net::{Examples, Init, Network, TrainConfig, Trainer};
//!
//! // Which of two bits is set?
//! let values: Vec<u8> = (0..64).flat_map(|i| if i % 2 == 0 { [255, 0] } else { [0, 255] }).collect();
//! let labels: Vec<u8> = (0..64).map(|i| i % 2).collect();
//! let examples = Examples::new(&values, 2, &labels, 2)?;
//!
//! let network = Network::builder(2).hidden([31]).classes(2).init(Init::Auto, 1)?;
//! let config = TrainConfig { epochs: 20, batch: 16, ..TrainConfig::default() };
//! let mut trainer = Trainer::new(network, config, &examples)?;
//! while !trainer.is_finished() {
//!     if let Some(epoch) = trainer.step()?.epoch {
//!         println!("{epoch}");
//!     }
//! }
//! // The default goal is a binary network: every mean has become ±1.
//! let network = trainer.into_network()?;
//! assert!(network.layers().iter().flat_map(|layer| layer.means()).all(|m| m.abs() == 1.0));
//! assert_eq!(network.binary().score(&examples, None)?.accuracy, 1.0);
//! # Ok::<(), isinglass_net::Error>(())
//! ```

mod polarise;
mod report;
mod step;

use std::path::Path;

use isinglass_pool::MAX_THREADS;

pub use report::{EpochReport, Step};
use step::rule;

use crate::checkpoint::{Snapshot, State, StoredLayer};
use crate::engine::{Engine, EngineLayer, Purpose};
use crate::kernels::Kernels;
use crate::network::Frame;
use crate::parametrisation::Parametrisation;
use crate::score::{binary_score, surrogate_score};
use crate::{
    Checkpoint, Error, Examples, Features, Goal, Initialisation, InputRule, Network, Partition, Progress, Rng, Score, TrainConfig,
};

/// Trains a network on examples, step by step.
pub struct Trainer<'a> {
    frame: Frame,
    threads: usize,
    config: TrainConfig,
    parametrisation: Parametrisation,
    examples: Examples<'a>,
    digest: String,
    partition: Partition,
    engine: Engine,
    state: State,
    /// The training examples in the order of the current epoch.
    order: Vec<u32>,
    gradient_squares: Vec<f64>,
}

impl<'a> Trainer<'a> {
    /// Starts a run on as many of the machine's threads as the layers keep busy: chooses training and validation examples, and standardises the inputs. Bytes are treated as images, floats as tables ([`Features`]).
    ///
    /// # Errors
    ///
    /// [`Error::Config`] or [`Error::Examples`] if settings, network and examples do not fit together.
    pub fn new(network: Network, config: TrainConfig, examples: &Examples<'a>) -> Result<Self, Error> {
        Self::with_features(network, config, examples, Features::usual(examples.values()))
    }

    /// Starts a run with examples whose columns are of this kind.
    ///
    /// # Errors
    ///
    /// Those of [`Trainer::new`].
    pub fn with_features(mut network: Network, config: TrainConfig, examples: &Examples<'a>, features: Features) -> Result<Self, Error> {
        let partition = Partition::new(examples.len(), &config)?;
        examples.check_fit(network.config())?;
        network.set_input(InputRule::choose(examples.values(), examples.features(), partition.train(), features)?)?;
        Self::prepared(network, config, examples, partition)
    }

    /// Starts a run with the network's own input rule and a given partition.
    ///
    /// # Errors
    ///
    /// Those of [`Trainer::new`].
    pub fn prepared(network: Network, config: TrainConfig, examples: &Examples<'a>, partition: Partition) -> Result<Self, Error> {
        Self::start(network, config, examples, partition, crate::default_threads(), Kernels::choose()?)
    }

    #[cfg(test)]
    pub(crate) fn with_kernels(
        network: Network,
        config: TrainConfig,
        examples: &Examples<'a>,
        threads: usize,
        kernels: Kernels,
    ) -> Result<Self, Error> {
        let partition = Partition::new(examples.len(), &config)?;
        Self::start(network, config, examples, partition, threads, kernels)
    }

    fn start(
        network: Network,
        config: TrainConfig,
        examples: &Examples<'a>,
        partition: Partition,
        threads: usize,
        kernels: Kernels,
    ) -> Result<Self, Error> {
        config.check()?;
        examples.check_fit(network.config())?;
        for indices in [partition.train(), partition.validation()] {
            examples.rows().check_indices(indices)?;
        }
        let surrogate = network.config().surrogate;
        if config.goal == Goal::Binary && !surrogate.has_binary_weights() {
            return Err(Error::config(format!("goal binary: there is no binary network behind surrogate {surrogate}; use goal surrogate")));
        }
        let parametrisation = Parametrisation::new(surrogate, config.means, config.goal == Goal::Binary);
        let slots = rule(config.optimizer, config.lr, 0).slots();
        let purpose = Purpose::Training { parametrisation, variance_gradient: config.variance_gradient, slots };
        let batch = config.batch.min(partition.train().len());
        if config.augment > 0 {
            check_shift(config.augment, examples.features())?;
        }
        let mut engine = Engine::with_kernels(&network, purpose, batch, threads, kernels)?;
        if config.adversarial > 0.0 {
            engine.prepare_adversary();
        }
        engine.label_smoothing = config.label_smoothing as f32;
        let mut trainer = Self {
            gradient_squares: vec![0.0; engine.layers.len()],
            order: Vec::new(),
            digest: examples.digest(),
            state: State::default(),
            frame: network.into_frame(),
            threads,
            config,
            parametrisation,
            examples: *examples,
            partition,
            engine,
        };
        trainer.shuffle();
        Ok(trainer)
    }

    /// Uses up to this many threads, at most 1024, from now on; those that would have nothing to do are not started. The results stay the same.
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.threads = threads.clamp(1, MAX_THREADS);
        self.engine.set_threads(self.threads);
        self
    }

    /// Resumes from a checkpoint, with its partition. The examples must be those of the run.
    ///
    /// # Errors
    ///
    /// [`Error::Examples`] if they are not, [`Error::Config`] if the checkpoint's settings were changed to ones that need a different optimiser state.
    pub fn resume(checkpoint: Checkpoint, examples: &Examples<'a>) -> Result<Self, Error> {
        if !checkpoint.was_trained_on(examples) {
            return Err(Error::Examples("these are not the training examples of the run".into()));
        }
        let Checkpoint { network, train, state, optimizer, partition, .. } = checkpoint;
        let means: Vec<Vec<f32>> = network.layers().iter().map(|layer| layer.means().to_vec()).collect();
        let mut trainer = Self::prepared(network, train, examples, partition)?;
        trainer.state = state;
        let layers = &trainer.engine.layers;
        if optimizer.len() != layers.len() || !optimizer.iter().zip(layers).all(|(state, layer)| layer.takes(state)) {
            return Err(Error::config("the checkpoint's optimiser state does not match its settings: training cannot resume from it"));
        }
        for ((layer, state), means) in trainer.engine.layers.iter_mut().zip(optimizer).zip(means) {
            layer.set_optimizer(state);
            layer.set_means(&means);
        }
        trainer.shuffle();
        Ok(trainer)
    }

    /// The progress of the run.
    pub fn progress(&self) -> Progress {
        Progress::new(&self.config, self.partition.train().len(), self.state.step)
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

    /// The initialisation that was drawn from; `None` if the network's layers were given.
    pub fn initialisation(&self) -> Option<&Initialisation> {
        self.frame.drawn.as_ref().map(|drawn| &drawn.initialisation)
    }

    /// The run's settings.
    pub fn config(&self) -> &TrainConfig {
        &self.config
    }

    /// The current network.
    ///
    /// # Errors
    ///
    /// [`Error::Layer`] if a parameter is no longer a number.
    pub fn network(&self) -> Result<Network, Error> {
        let layers: Result<_, _> = self.engine.layers.iter().map(EngineLayer::to_layer).collect();
        self.frame.clone().with_layers(layers?)
    }

    /// The current network. The trainer's memory is freed layer by layer.
    ///
    /// # Errors
    ///
    /// Those of [`Trainer::network`].
    pub fn into_network(self) -> Result<Network, Error> {
        let layers: Result<_, _> = self.engine.layers.into_iter().map(|layer| layer.to_layer()).collect();
        self.frame.with_layers(layers?)
    }

    /// Trains to the end and calls `watch` after every epoch.
    ///
    /// # Errors
    ///
    /// Those of [`Trainer::step`].
    pub fn run(mut self, mut watch: impl FnMut(&EpochReport)) -> Result<Network, Error> {
        while !self.is_finished() {
            if let Some(epoch) = self.step()?.epoch {
                watch(&epoch);
            }
        }
        self.into_network()
    }

    /// Shuffles for the current epoch. The order depends on the seed and the epoch alone.
    fn shuffle(&mut self) {
        self.order.clear();
        self.order.extend_from_slice(self.partition.train());
        let epoch = self.progress().epoch as u64;
        Rng::new(self.config.seed).stream(Rng::SHUFFLE, epoch).shuffle(&mut self.order);
    }

    /// One step of the optimiser. The last step of an epoch validates; under [`Goal::Binary`] the last of the run sets every mean to ±1, and corrects the biases if [`TrainConfig::bias_correction`] says so.
    ///
    /// # Errors
    ///
    /// [`Error::Diverged`] if the loss or, at an epoch's end, a parameter is no longer a number, [`Error::Overflow`] if that is so before the first step; the trainer cannot continue after that.
    /// [`Error::Finished`] if there are no steps left.
    pub fn step(&mut self) -> Result<Step, Error> {
        let Progress { step, steps, steps_per_epoch, .. } = self.progress();
        if step >= steps {
            return Err(Error::Finished { steps });
        }
        let layers = self.engine.layers.len();
        let lr = self.learning_rate(step);
        // The output layer is the last to be polarised. Real and latent weights have no β.
        let beta = if self.parametrisation.follows_beta() { self.config.beta_at(step, steps, layers - 1, layers) } else { 1.0 };
        let score = self.optimise(lr)?;
        let ends_epoch = (step + 1).is_multiple_of(steps_per_epoch);
        // Within an epoch the next loss would show it.
        if ends_epoch && !self.engine.layers.iter().all(EngineLayer::is_finite) {
            return Err(Error::Diverged { step: step + 1, loss: f32::NAN, lr: self.config.lr });
        }
        self.state.step += 1;
        self.state.nll += score.nll;
        self.state.correct += score.correct as u64;
        let examples = self.engine.examples();
        self.state.examples += examples as u64;
        if ends_epoch && self.config.average > 1 {
            self.average(beta);
        }
        if self.state.step == steps && self.config.goal == Goal::Binary {
            self.polarise();
        }
        let epoch = if ends_epoch { Some(self.end_epoch(lr, beta)?) } else { None };
        Ok(Step { step: self.state.step, loss: (score.nll / examples as f64) as f32, correct: score.correct, examples, epoch })
    }

    /// At the end of an epoch: adds the parameters to their averages, if they are to be averaged by now; after the last epoch the averages replace them.
    fn average(&mut self, beta: f64) {
        let Progress { epoch, epochs, .. } = self.progress();
        let TrainConfig { average, .. } = self.config;
        if epoch + average <= epochs {
            return;
        }
        self.engine.layers.iter_mut().for_each(EngineLayer::add_to_average);
        if epoch == epochs {
            for layer in &mut self.engine.layers {
                layer.take_average(average);
                layer.follow_theta(self.parametrisation, beta as f32);
            }
        }
    }

    fn end_epoch(&mut self, lr: f64, beta: f64) -> Result<EpochReport, Error> {
        let examples = self.state.examples.max(1) as f64;
        let train = Score { accuracy: self.state.correct as f64 / examples, nll: self.state.nll / examples };
        self.state.nll = 0.0;
        self.state.correct = 0;
        self.state.examples = 0;
        let (validation, validation_binary) = self.validate()?;
        let of_goal = if self.config.goal == Goal::Binary { validation_binary } else { validation };
        let accuracy = of_goal.unwrap_or(train).accuracy;
        let is_best = self.state.best.is_none_or(|best| accuracy >= best);
        if is_best {
            self.state.best = Some(accuracy);
        }
        let epoch = self.progress().epoch;
        self.shuffle();
        let gradient_norms = self.gradient_squares.iter().map(|square| square.sqrt()).collect();
        Ok(EpochReport { epoch, lr, beta, train, validation, validation_binary, is_best, gradient_norms })
    }

    /// Scores the surrogate and the binary network on the validation examples, without a copy of the network.
    fn validate(&mut self) -> Result<(Option<Score>, Option<Score>), Error> {
        let held_out = self.partition.validation();
        if held_out.is_empty() {
            return Ok((None, None));
        }
        let input = &self.frame.input;
        let surrogate = surrogate_score(&mut self.engine, &self.examples, held_out, input);
        let binary = match self.frame.config.surrogate.has_binary_weights() {
            true => Some(binary_score(&mut self.engine, &self.examples, held_out, input, self.threads)?),
            false => None,
        };
        Ok((Some(surrogate), binary))
    }

    /// Writes a checkpoint, as [`Checkpoint::save`] does, but without a copy of the network in memory.
    ///
    /// # Errors
    ///
    /// [`Error::Write`]; an earlier file is then unchanged.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        let layers = self.engine.layers.iter();
        let layers = layers.map(|layer| StoredLayer::new(&layer.spec, layer.stride, &layer.means, &layer.bias, &layer.optimizer));
        let snapshot = Snapshot {
            network: self.frame.clone(),
            train: &self.config,
            state: self.state,
            partition: &self.partition,
            examples: self.examples.len(),
            data: &self.digest,
            layers: layers.collect(),
        };
        snapshot.save(path)
    }

    /// A checkpoint of the run, to resume from.
    ///
    /// # Errors
    ///
    /// Those of [`Trainer::network`].
    pub fn checkpoint(&self) -> Result<Checkpoint, Error> {
        Ok(Checkpoint {
            network: self.network()?,
            train: self.config.clone(),
            state: self.state,
            optimizer: self.engine.layers.iter().map(|layer| layer.optimizer.map(|matrix| layer.compact(matrix))).collect(),
            partition: self.partition.clone(),
            examples: self.examples.len(),
            data: self.digest.clone(),
        })
    }
}

/// Checks that images of this many values can be shifted.
fn check_shift(shift: usize, features: usize) -> Result<(), Error> {
    let side = features.isqrt();
    if side * side != features {
        return Err(Error::config(format!("augment = {shift}: only square images can be shifted, and {features} values are none")));
    }
    if shift >= side {
        return Err(Error::config(format!("augment = {shift}: the images have only {side} pixels a side")));
    }
    Ok(())
}
