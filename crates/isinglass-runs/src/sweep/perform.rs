//! Running one cell.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use isinglass_net::Progress;

use super::claim::Claimed;
use super::record::{Failure, Spent};
use super::{Cell, ErrorKind, Record, Sweep, SweepData, SweepError};
use crate::run::{self, Line, Options, Run, RunError, Summary, read_metrics};

/// What a cell tells the scheduler.
pub(crate) enum Message {
    /// Files that it was to resume from are damaged, for this reason: it starts again.
    Restarted(usize, String),
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
        let options = Options {
            threads: self.threads,
            checkpoint_steps: None,
            checkpoint_interval: Some(self.checkpoint_interval),
            check_memory: false,
        };
        if let Some(reason) = self.claimed.restarted.take() {
            tell(Message::Restarted(self.index, reason));
        }
        let began = Instant::now();
        let mut result = self.train(data, &options);
        if let Ok(Err(error)) = &result
            && ErrorKind::of(error) == ErrorKind::Damaged
        {
            // Whatever broke the files, the cell itself is as good as any: it is run from its beginning.
            tell(Message::Restarted(self.index, what_is_damaged(error)));
            result = match self.claimed.run.restart() {
                Ok(()) => self.train(data, &options),
                Err(error) => Ok(Err(error)),
            };
        }
        let seconds = began.elapsed().as_secs_f64();
        self.spent.seconds += seconds;
        self.spent.core_seconds += seconds * self.threads as f64;
        let outcome = match result {
            Ok(Ok(outcome)) => Ok(outcome),
            Ok(Err(RunError::Stopped)) => return tell(Message::Stopped(self.index, self.claimed, self.spent)),
            // The fault lies with the machine: another try may do better, and other cells would fare no better.
            Ok(Err(error)) if ErrorKind::of(&error) == ErrorKind::Io => return tell(Message::Broken(self.index, error.into())),
            Ok(Err(error)) => Err(Failure::from(&error)),
            Err(panic) => Err(Failure { kind: ErrorKind::Panic, message: format!("it panicked: {}", panic_text(&*panic)) }),
        };
        tell(Message::Computed(self.index));
        let record = Record::new(self.cell, outcome, self.claimed.attempts.clone(), self.spent);
        tell(match sweep.land(self.cell, self.claimed, &record) {
            Ok(()) => Message::Landed(self.index, Box::new(record)),
            Err(error) => Message::Broken(self.index, error),
        });
    }

    /// The outer error is a panic's.
    fn train(&mut self, data: &SweepData, options: &Options) -> std::thread::Result<Result<(Summary, Vec<Line>), RunError>> {
        let (run, reins): (&mut Run, &Reins) = (&mut self.claimed.run, &self.reins);
        catch_unwind(AssertUnwindSafe(|| {
            let summary = run.train(data.of(self.cell), options, &reins.stop, &mut |event| match event {
                run::Event::Ready(ready) => reins.note(ready.progress),
                run::Event::Step { progress, .. } => reins.note(progress),
                _ => {}
            })?;
            Ok((summary, read_metrics(run.directory())?))
        }))
    }
}

/// The damage alone: what an error tells a user to do is done here.
fn what_is_damaged(error: &RunError) -> String {
    match error {
        RunError::Metrics { path, line, reason } => format!("{}: line {line} is damaged ({reason})", path.display()),
        error => error.to_string(),
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}
