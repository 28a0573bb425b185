//! Training a run to its end, from wherever it stands.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use isinglass_data::Dataset;
use isinglass_net::{Checkpoint, Examples, Features, InputRule, Network, NetworkConfig, Partition, Progress, Step, TrainConfig, Trainer};

use super::inspection::diagnose;
use super::longer::Earlier;
use super::metrics::{self, DataFacts, Diagnosed, Epoch, Line, Metrics, Resume, Start, When};
use super::reach::Reach;
use super::summary::{Summary, finish};
use super::{BEST, CONFIG, InitialisationSummary, LAST, METRICS, Run, RunError, Size, examples};
use crate::memory;

/// What changes how a run is made, but not how it ends.
#[derive(Debug, Clone)]
pub struct Options {
    /// Number of threads.
    pub threads: usize,
    /// Save the last checkpoint also after every so many steps, not after epochs only.
    pub checkpoint_steps: Option<NonZeroU64>,
    /// Save the last checkpoint when so much time has passed since it was last saved, and not after every epoch: for many short runs.
    pub checkpoint_interval: Option<Duration>,
    /// Refuse a network that does not fit the memory; a sweep has checked that itself.
    pub check_memory: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            checkpoint_steps: None,
            checkpoint_interval: None,
            check_memory: true,
        }
    }
}

/// What happens during a run.
#[derive(Debug)]
pub enum Event<'a> {
    /// Network and data are ready; training begins or goes on.
    Ready(&'a Ready),
    /// A step was made.
    Step {
        /// What it came to.
        step: &'a Step,
        /// Where the run stands.
        progress: Progress,
    },
    /// An epoch has ended: its line of `metrics.jsonl`.
    Epoch(&'a Epoch),
    /// So many binary networks of so many were sampled for the final report.
    Sampled(usize, usize),
}

/// A run about to begin or to go on.
#[derive(Debug, Clone)]
pub struct Ready {
    /// Where it stands.
    pub progress: Progress,
    /// Examples to train with.
    pub train: usize,
    /// Examples held out.
    pub validation: usize,
    /// Shape of the network, `784-512×2-10`.
    pub shape: String,
    /// Size of the network.
    pub size: Size,
    /// What the initialisation came to.
    pub initialisation: InitialisationSummary,
    /// What the user should know about these settings.
    pub notices: Vec<String>,
}

impl Run {
    /// Trains until the run ends, and gives back its result, the contents of `summary.json`. `watch` is told what happens.
    ///
    /// # Errors
    ///
    /// [`RunError::Stopped`] after the step in which `stop` became true; the last checkpoint is then of that step. After any other error it is the last good one.
    pub fn train(
        &mut self,
        data: &Dataset,
        options: &Options,
        stop: &AtomicBool,
        watch: &mut dyn FnMut(Event<'_>),
    ) -> Result<Summary, RunError> {
        let config = self.config.network_config(data.train.image_len(), data.classes)?;
        let train_config = self.config.train_config()?;
        if options.check_memory {
            memory::check_training(&config, train_config.batch)?;
        }
        let checkpoint = self.last_checkpoint(&config, &train_config)?;
        let step = checkpoint.as_ref().map_or(0, |checkpoint| checkpoint.progress().step);
        let earlier = self.earlier.take().filter(|_| checkpoint.is_none());
        let checkpoint = checkpoint.or_else(|| earlier.as_ref().map(|earlier| earlier.last.clone()));
        let (mut metrics, lines) = Metrics::open(&self.path(METRICS), step, !self.is_scratch)?;
        let features = self.config.features_of(data);
        let start = lines.first().and_then(|line| if let Line::Start(start) = line { Some(start) } else { None });
        if start.and_then(|start| start.config.features).is_some_and(|before| before != features) {
            return Err(RunError::ConfigChanged { path: self.path(CONFIG), what: "the features were of the other kind" });
        }
        if lines.is_empty() && step == 0 && !self.is_scratch && self.config.features.is_none() {
            self.config.features = Some(features);
            let path = self.path(CONFIG);
            isinglass_files::write(&path, self.config.to_toml()).map_err(RunError::write(&path))?;
        }
        let (mut trainer, begin) = prepare(data, &config, &train_config, features, checkpoint, lines.is_empty(), options.threads)?;

        let progress = trainer.progress();
        let notices = match &begin {
            Some((_, reach)) => {
                reach.notice(&train_config, progress).into_iter().chain(self.config.notices()).chain(data.notices()).collect()
            }
            None => start.map(|start| start.notices.clone()).unwrap_or_default(),
        };
        let ready = Ready {
            progress,
            train: trainer.partition().train().len(),
            validation: trainer.partition().validation().len(),
            shape: config.shape(),
            size: Size::of_layers(&config.layers()?),
            initialisation: trainer.initialisation().cloned().ok_or_else(not_drawn)?.into(),
            notices,
        };
        match begin {
            Some((diagnosis, _)) => {
                metrics.append(&self.start_line(data, &ready, options))?;
                metrics.append(&Line::Diagnosis(diagnosis))?;
                if let Some(earlier) = earlier {
                    self.take_over(*earlier, &mut metrics)?;
                }
            }
            None => {
                metrics.append(&Line::Resume(Resume { step, version: env!("CARGO_PKG_VERSION").to_owned(), threads: options.threads }))?
            }
        }
        watch(Event::Ready(&ready));
        self.train_on(&mut trainer, options, stop, &mut metrics, watch)?;

        let partition = trainer.partition().clone();
        let mut sampled = |done, of| watch(Event::Sampled(done, of));
        if !self.is_scratch {
            let network = trainer.into_network()?;
            return finish(self, data, &network, &partition, &ready, options, stop, &mut metrics, &mut sampled);
        }
        // It has not saved its last step, which is lost time if it gets to its end. If it is stopped before, it is saved now.
        let network = trainer.network()?;
        let summary = finish(self, data, &network, &partition, &ready, options, stop, &mut metrics, &mut sampled);
        if matches!(summary, Err(RunError::Stopped)) {
            metrics.sync()?;
            trainer.save(&self.path(LAST))?;
        }
        summary
    }

    /// Makes what a shorter run left this run's own: the checkpoint last, since it is what counts.
    fn take_over(&self, earlier: Earlier, metrics: &mut Metrics) -> Result<(), RunError> {
        for epoch in earlier.epochs {
            metrics.append(&Line::Epoch(epoch))?;
        }
        metrics.sync()?;
        if let Some(best) = earlier.best {
            best.save(&self.path(BEST))?;
        }
        Ok(earlier.last.save(&self.path(LAST))?)
    }

    /// Step by step to the end.
    fn train_on(
        &self,
        trainer: &mut Trainer<'_>,
        options: &Options,
        stop: &AtomicBool,
        metrics: &mut Metrics,
        watch: &mut dyn FnMut(Event<'_>),
    ) -> Result<(), RunError> {
        let (last, best) = (self.path(LAST), self.path(BEST));
        let mut clock = Clock::start();
        let mut saved = Saved { step: None, when: Instant::now(), took: Duration::ZERO };
        while !trainer.is_finished() {
            if stop.load(Ordering::Relaxed) {
                if saved.step != Some(trainer.progress().step) {
                    metrics.sync()?;
                    trainer.save(&last)?;
                }
                return Err(RunError::Stopped);
            }
            let step = trainer.step()?;
            clock.samples += step.examples;
            watch(Event::Step { step: &step, progress: trainer.progress() });
            if let Some(report) = &step.epoch {
                if report.is_best && !self.is_scratch {
                    trainer.save(&best)?;
                }
                let epoch = Epoch::new(report, step.step, clock.samples, clock.seconds());
                let line = Line::Epoch(epoch.clone());
                metrics.append(&line)?;
                watch(Event::Epoch(&epoch));
                clock = Clock::start();
            }
            let is_due = match options.checkpoint_interval {
                Some(interval) => saved.is_older_than(interval),
                None => step.epoch.is_some(),
            };
            if is_due || options.checkpoint_steps.is_some_and(|steps| step.step % steps == 0) {
                let began = Instant::now();
                metrics.sync()?;
                trainer.save(&last)?;
                saved = Saved { step: Some(step.step), when: Instant::now(), took: began.elapsed() };
            }
        }
        if !self.is_scratch && saved.step != Some(trainer.progress().step) && options.checkpoint_interval.is_some() {
            trainer.save(&last)?;
        }
        Ok(())
    }

    /// The checkpoint to go on from, if there is one.
    fn last_checkpoint(&self, config: &NetworkConfig, train: &TrainConfig) -> Result<Option<Checkpoint>, RunError> {
        let path = self.path(LAST);
        if !path.exists() {
            return Ok(None);
        }
        let checkpoint = Checkpoint::load(&path)?;
        let changed = |what| Err(RunError::ConfigChanged { path: self.path(CONFIG), what });
        if checkpoint.network().config() != config {
            return changed("the checkpoint's network is another");
        }
        if checkpoint.train_config() != train {
            return changed("the checkpoint was trained otherwise");
        }
        Ok(Some(checkpoint))
    }

    fn start_line(&self, data: &Dataset, ready: &Ready, options: &Options) -> Line {
        Line::Start(Box::new(Start {
            format: metrics::FORMAT,
            step: 0,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            threads: options.threads,
            config: self.config().clone(),
            data: DataFacts {
                name: data.name.clone(),
                published: data.is_published(),
                inputs: data.train.image_len(),
                classes: data.classes,
                train: ready.train,
                validation: ready.validation,
                test: data.test.len(),
            },
            network: ready.size,
            initialisation: ready.initialisation.clone(),
            notices: ready.notices.clone(),
        }))
    }
}

/// Makes the trainer; at a run's beginning also looks inside the initial network. That comes first, so that there is one network in memory at a time.
fn prepare<'a>(
    data: &'a Dataset,
    config: &NetworkConfig,
    train: &TrainConfig,
    features: Features,
    checkpoint: Option<Checkpoint>,
    begins: bool,
    threads: usize,
) -> Result<(Trainer<'a>, Option<(Diagnosed, Reach)>), RunError> {
    let examples: Examples<'a> = examples(&data.train, data.classes)?;
    let look = |network: &Network, partition: &Partition| {
        let mut diagnosis = diagnose(network, &examples, partition.train(), threads)?;
        diagnosis.count_flips(network, network)?;
        let line = Diagnosed { when: When::Start, step: 0, layers: diagnosis.layers };
        Ok::<_, RunError>((line, Reach::new(network, train)))
    };
    let initial = || initial_network(config, train, &examples, features, data.train.class_names());
    let Some(checkpoint) = checkpoint else {
        let (network, partition) = initial()?;
        let begin = if begins { Some(look(&network, &partition)?) } else { None };
        return Ok((Trainer::prepared(network, train.clone(), &examples, partition)?.with_threads(threads), begin));
    };
    let begin = if begins {
        let (network, partition) = initial()?;
        Some(look(&network, &partition)?)
    } else {
        None
    };
    Ok((Trainer::resume(checkpoint, &examples)?.with_threads(threads), begin))
}

/// The network that a run begins with, and which of the examples are for what.
pub(crate) fn initial_network(
    config: &NetworkConfig,
    train: &TrainConfig,
    examples: &Examples<'_>,
    features: Features,
    class_names: Option<&[String]>,
) -> Result<(Network, Partition), RunError> {
    let partition = Partition::new(examples.len(), train)?;
    let mut network = config.init(train.seed)?;
    network.set_input(InputRule::choose(examples.values(), examples.features(), partition.train(), features)?)?;
    network.set_class_names(class_names.map(<[String]>::to_vec))?;
    Ok((network, partition))
}

fn not_drawn() -> RunError {
    RunError::Setting("the checkpoint does not say how its network was drawn: start the run again".into())
}

/// The last checkpoint of this process.
struct Saved {
    step: Option<u64>,
    when: Instant,
    took: Duration,
}

impl Saved {
    /// Whether it is time for another. Saving takes no more than two per cent of the time, however slow the disk.
    fn is_older_than(&self, interval: Duration) -> bool {
        self.when.elapsed() >= interval.max(50 * self.took)
    }
}

/// Time and examples since an epoch began or the run went on.
struct Clock {
    began: Instant,
    samples: usize,
}

impl Clock {
    fn start() -> Self {
        Self { began: Instant::now(), samples: 0 }
    }

    fn seconds(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }
}
