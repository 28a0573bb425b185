//! Training on examples in memory: what a [`Run`](super::Run) with the same settings trains, without its directory.
//!
//! ```
//! use isinglass_runs::run::{DataShape, Fit, RunConfig};
//! use isinglass_net::{Examples, Features};
//!
//! let images: Vec<u8> = (0..200u32).flat_map(|i| if i % 2 == 0 { [200, 180, 10, 30] } else { [20, 40, 210, 190] }).collect();
//! let labels: Vec<u8> = (0..200).map(|i| i % 2).collect();
//! let examples = Examples::new(&images, 4, &labels, 2)?;
//! let shape = DataShape { examples: 200, size: (2, 2), classes: 2, features: Features::Image };
//!
//! let config = RunConfig { hidden: Some(vec![33]), epochs: 3, ..RunConfig::default() };
//! let fitted = Fit::new(config, shape, None)?.run(&examples, 1, &mut |_| Ok(()))?;
//! assert_eq!((fitted.history.len(), fitted.halt), (3, None));
//! fitted.checkpoint.network().binary().pack()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::time::Instant;

use isinglass_net::{Checkpoint, Examples, NetworkConfig, TrainConfig, Trainer};

use super::metrics::Epoch;
use super::reach::Reach;
use super::training::initial_network;
use super::{DataShape, Event, RunConfig, RunError};

/// Whoever watches wants no more steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Halt;

/// A training about to begin: its settings are checked.
#[derive(Debug)]
pub struct Fit {
    config: RunConfig,
    network: NetworkConfig,
    train: TrainConfig,
    class_names: Option<Vec<String>>,
}

/// What it came to.
#[derive(Debug)]
pub struct Fitted {
    /// The network, and all it takes to continue.
    pub checkpoint: Checkpoint,
    /// The epochs, as in `metrics.jsonl`.
    pub history: Vec<Epoch>,
    /// What the user should know about these settings.
    pub notices: Vec<String>,
    /// Set if it was stopped before its end.
    pub halt: Option<Halt>,
}

impl Fit {
    /// Settles the settings for data of this shape.
    ///
    /// # Errors
    ///
    /// Those of [`RunConfig::resolved_for`].
    pub fn new(config: RunConfig, data: DataShape, class_names: Option<Vec<String>>) -> Result<Self, RunError> {
        let config = config.resolved_for(data)?;
        let (network, train) = (config.network_config(data.inputs(), data.classes)?, config.train_config()?);
        Ok(Self { config, network, train, class_names })
    }

    /// The settings, with nothing left open.
    pub fn config(&self) -> &RunConfig {
        &self.config
    }

    /// The network to be trained.
    pub fn network(&self) -> &NetworkConfig {
        &self.network
    }

    /// Trains to the end, unless `watch`, which is told of steps and epochs, asks to stop.
    ///
    /// # Errors
    ///
    /// Those of [`Trainer::step`], and if the examples do not fit.
    pub fn run(
        self,
        examples: &Examples<'_>,
        threads: usize,
        watch: &mut dyn FnMut(Event<'_>) -> Result<(), Halt>,
    ) -> Result<Fitted, RunError> {
        let features = self.config.features.unwrap_or_else(|| isinglass_net::Features::usual(examples.values()));
        let (network, partition) = initial_network(&self.network, &self.train, examples, features, self.class_names.as_deref())?;
        let reach = Reach::new(&network, &self.train);
        let trainer = Trainer::prepared(network, self.train.clone(), examples, partition)?.with_threads(threads);
        let notices = reach.notice(&self.train, trainer.progress()).into_iter().chain(self.config.notices()).collect();
        proceed(trainer, notices, watch)
    }

    /// Continues from a checkpoint to its end, with the settings that are in it.
    ///
    /// # Errors
    ///
    /// Those of [`Fit::run`], and if these are other examples than those it was trained on.
    pub fn resume(
        checkpoint: Checkpoint,
        examples: &Examples<'_>,
        threads: usize,
        watch: &mut dyn FnMut(Event<'_>) -> Result<(), Halt>,
    ) -> Result<Fitted, RunError> {
        proceed(Trainer::resume(checkpoint, examples)?.with_threads(threads), Vec::new(), watch)
    }
}

fn proceed(
    mut trainer: Trainer<'_>,
    notices: Vec<String>,
    watch: &mut dyn FnMut(Event<'_>) -> Result<(), Halt>,
) -> Result<Fitted, RunError> {
    let mut history = Vec::new();
    let mut halt = None;
    let (mut began, mut samples) = (Instant::now(), 0);
    while halt.is_none() && !trainer.is_finished() {
        let step = trainer.step()?;
        samples += step.examples;
        halt = watch(Event::Step { step: &step, progress: trainer.progress() }).err();
        if let Some(report) = &step.epoch {
            let epoch = Epoch::new(report, step.step, samples, began.elapsed().as_secs_f64());
            halt = watch(Event::Epoch(&epoch)).err().or(halt);
            history.push(epoch);
            (began, samples) = (Instant::now(), 0);
        }
    }
    // Asked for after the last step: there is nothing left to stop.
    let halt = halt.filter(|_| !trainer.is_finished());
    Ok(Fitted { checkpoint: trainer.checkpoint()?, history, notices, halt })
}
