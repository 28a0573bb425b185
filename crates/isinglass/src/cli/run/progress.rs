//! What a run shows while it goes on, all of it on standard error: a bar on a terminal, else a line per epoch.

use std::io::{self, IsTerminal};
use std::path::Path;
use std::time::Instant;

use indicatif::ProgressBar;
use isinglass_data::Dataset;
use isinglass_lab::run::{Epoch, Event, Ready, RunConfig};
use isinglass_lab::words::{digits, percent};
use isinglass_net::{Progress, Step};

use super::tables::{grouped, kibibytes};
use crate::cli::terminal::note;

pub use crate::cli::terminal::{bar, tell};

/// Watches a run.
pub struct Watcher {
    bar: ProgressBar,
    on_terminal: bool,
    epochs: usize,
    began: Instant,
    samples: usize,
    epoch: EpochSoFar,
    progress: Option<Progress>,
}

/// Averages over the steps of the epoch that is going on.
#[derive(Debug, Default)]
struct EpochSoFar {
    loss: f64,
    correct: usize,
    examples: usize,
}

impl Watcher {
    pub fn new() -> Self {
        Self {
            bar: bar("{prefix} {bar:12} {msg}, {eta} left"),
            on_terminal: io::stderr().is_terminal(),
            epochs: 0,
            began: Instant::now(),
            samples: 0,
            epoch: EpochSoFar::default(),
            progress: None,
        }
    }

    /// Where the run stood when it was last heard of.
    pub fn progress(&self) -> Option<Progress> {
        self.progress
    }

    /// Takes note of what happens.
    pub fn watch(&mut self, event: &Event<'_>) {
        match event {
            Event::Ready(ready) => self.begin(ready.progress),
            Event::Step { step, progress } => self.step(step, *progress),
            Event::Epoch(line) => {
                if !self.on_terminal {
                    tell(&describe_epoch(line, self.epochs));
                }
            }
            Event::Sampled(done, of) => {
                if *done == 1 || self.bar.length() != Some(*of as u64) {
                    self.bar.set_prefix("evaluating");
                    self.bar.set_message("binary networks sampled");
                    self.bar.set_length(*of as u64);
                    self.bar.reset_eta();
                }
                self.bar.set_position(*done as u64);
            }
        }
    }

    fn begin(&mut self, progress: Progress) {
        self.epochs = progress.epochs;
        self.progress = Some(progress);
        self.began = Instant::now();
        self.bar.set_prefix(format!("epoch {}/{}", progress.epoch + 1, progress.epochs));
        self.bar.set_message("first step");
        self.bar.set_length(progress.steps);
        self.bar.set_position(progress.step);
        self.bar.reset_eta();
    }

    fn step(&mut self, step: &Step, progress: Progress) {
        self.progress = Some(progress);
        self.samples += step.examples;
        self.epoch.loss += f64::from(step.loss) * step.examples as f64;
        self.epoch.correct += step.correct;
        self.epoch.examples += step.examples;
        if self.on_terminal {
            let examples = self.epoch.examples as f64;
            let speed = self.samples as f64 / self.began.elapsed().as_secs_f64();
            // The epoch that a step belongs to, counted from 1.
            self.bar.set_prefix(format!("epoch {}/{}", (step.step - 1) / progress.steps_per_epoch + 1, progress.epochs));
            self.bar.set_message(format!(
                "loss {:.4}, {}, {} samples/s",
                self.epoch.loss / examples,
                percent(self.epoch.correct as f64 / examples),
                grouped(speed as usize)
            ));
            self.bar.set_position(step.step);
        }
        if step.epoch.is_some() {
            self.epoch = EpochSoFar::default();
        }
    }

    /// Removes the bar.
    pub fn end(&self) {
        self.bar.finish_and_clear();
    }
}

/// Says what is about to be trained, and where it goes.
pub fn introduce(ready: &Ready, config: &RunConfig, data: &Dataset, directory: &Path) {
    let (size, init) = (&ready.size, &ready.initialisation);
    let neuron = config.neuron.map(|neuron| neuron.to_string()).unwrap_or_default();
    let weights = if size.binary_parameters > 0 {
        format!("{} binary weights, {} biases", grouped(size.binary_parameters), grouped(size.float_parameters))
    } else {
        format!("{} real parameters", grouped(size.float_parameters))
    };
    tell(&format!("network  {}, surrogate {}, neuron {neuron}: {weights}, {}", ready.shape, config.surrogate, kibibytes(size.bytes),));
    let (symbol, drawn) = if config.surrogate.has_binary_weights() { ("σ_m²", "means") } else { ("σ_w²", "weights") };
    let variance = init.sigma_m2.map(|sigma2| format!(", {symbol} = {}", digits(sigma2))).unwrap_or_default();
    tell(&format!("{drawn:7}  {}{variance}, σ_b² = {}: {}", init.distribution, digits(init.sigma_b2), init.reason));
    tell(&format!(
        "data     {}: {} training, {} validation and {} test examples",
        data.name,
        grouped(ready.train),
        grouped(ready.validation),
        grouped(data.test.len())
    ));
    let step = ready.progress.step;
    let place = if step > 0 { format!(", from step {step} of {}", ready.progress.steps) } else { String::new() };
    tell(&format!("run      {}{place}", directory.display()));
    for notice in &ready.notices {
        note(notice);
    }
}

/// Says what a user should know about data.
pub fn tell_notices(data: &Dataset) {
    data.notices().iter().for_each(|notice| note(notice));
}

/// `epoch 3/30: loss 0.1234, accuracy 96.12 %; validation 95.80 %, binary 93.20 %; β = 1; 52 000 samples/s`.
fn describe_epoch(epoch: &Epoch, epochs: usize) -> String {
    let train = epoch.train;
    let mut text = format!("epoch {}/{epochs}: loss {:.4}, accuracy {}", epoch.epoch, train.nll, percent(train.accuracy));
    if let Some(validation) = epoch.validation {
        text += &format!("; validation {}", percent(validation.accuracy));
    }
    if let Some(binary) = epoch.validation_binary {
        text += &format!(", binary {}", percent(binary.accuracy));
    }
    if epoch.beta != 1.0 {
        text += &format!("; β = {}", digits(epoch.beta));
    }
    text + &format!("; {} samples/s", grouped(epoch.samples_per_second as usize))
}
