//! Running one cell.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use isinglass_net::Progress;

use super::claim::Claimed;
use super::record::{Spent, is_of_the_machine};
use super::{Cell, Record, Sweep, SweepData, SweepError};
use crate::run::{self, Options, RunError, read_metrics};

/// What a cell tells the scheduler.
pub(crate) enum Message {
    /// Its threads are free; only its record is still to be written.
    Computed(usize),
    /// It is on record.
    Landed(usize, Box<Record>),
    /// It was asked to stop, has saved its state, and can go on.
    Stopped(usize, Box<Claimed>, Spent),
    /// The machine failed it.
    Broken(usize, SweepError),
}

/// The scheduler's hold on a cell that is going on.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reins {
    stop: Arc<AtomicBool>,
    /// The part of the training that is done.
    fraction: Arc<AtomicU64>,
}

impl Reins {
    /// Asks the cell to stop after its step.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// How much of the training is done, from 0 to 1.
    pub(crate) fn fraction(&self) -> f64 {
        f64::from_bits(self.fraction.load(Ordering::Relaxed))
    }

    fn note(&self, progress: Progress) {
        self.fraction.store((progress.step as f64 / progress.steps as f64).to_bits(), Ordering::Relaxed);
    }
}

/// A cell about to be run.
pub(crate) struct Performance<'a> {
    pub index: usize,
    pub cell: &'a Cell,
    pub claimed: Box<Claimed>,
    pub threads: usize,
    pub checkpoint_interval: Duration,
    pub spent: Spent,
    pub reins: Reins,
}

impl Performance<'_> {
    /// Runs the cell, puts it on record, and tells what became of it.
    pub(crate) fn run(mut self, sweep: &Sweep, data: &SweepData, scheduler: &Sender<Message>) {
        // The scheduler is gone only if it panicked; then nothing is left to be told.
        let tell = |message| drop(scheduler.send(message));
        let options = Options { threads: self.threads, checkpoint_steps: None, checkpoint_interval: Some(self.checkpoint_interval) };
        let began = Instant::now();
        let run = &mut self.claimed.run;
        let result = catch_unwind(AssertUnwindSafe(|| {
            let summary = run.train(data.of(self.cell), &options, &self.reins.stop, &mut |event| match event {
                run::Event::Ready(ready) => self.reins.note(ready.progress),
                run::Event::Step { progress, .. } => self.reins.note(progress),
                _ => {}
            })?;
            Ok::<_, RunError>((summary, read_metrics(run.directory())?))
        }));
        let seconds = began.elapsed().as_secs_f64();
        self.spent.seconds += seconds;
        self.spent.core_seconds += seconds * self.threads as f64;
        let outcome = match result {
            Ok(Ok(outcome)) => Ok(outcome),
            Ok(Err(RunError::Stopped)) => return tell(Message::Stopped(self.index, self.claimed, self.spent)),
            Ok(Err(error)) if is_of_the_machine(&error) => return tell(Message::Broken(self.index, error.into())),
            Ok(Err(error)) => Err(error.to_string()),
            Err(panic) => Err(format!("it panicked: {}", panic_text(&*panic))),
        };
        tell(Message::Computed(self.index));
        let record = Record::new(self.cell, outcome, self.claimed.attempts.clone(), self.spent);
        tell(match sweep.land(self.cell, self.claimed, &record) {
            Ok(()) => Message::Landed(self.index, Box::new(record)),
            Err(error) => Message::Broken(self.index, error),
        });
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}
