//! In which order cells are run, with how many threads, and how long all of it will take.

use std::fmt;
use std::time::{Duration, Instant};

use isinglass_net::Trainer;

use super::{Cell, SweepData, SweepError};
use crate::memory;
use crate::run::error::memory;
use crate::run::examples;

/// What is about to be done.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Cells in all.
    pub cells: usize,
    /// Cells to run.
    pub waiting: usize,
    /// Cells that have failed and are left as they are.
    pub failed: usize,
    /// Cells whose record is damaged and left as it is.
    pub damaged: usize,
    /// Cells that do not fit the memory of this machine, and are not run.
    pub refused: Vec<Refusal>,
    /// Threads to run them with.
    pub threads: usize,
    /// How long it will take; `None` if there is nothing to do.
    pub seconds: Option<f64>,
}

/// A cell that does not fit the memory of this machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    /// The cell's name.
    pub cell: String,
    /// Where it lies in the grid.
    pub place: String,
    /// Bytes that it takes.
    pub needed: u64,
    /// Bytes that there are.
    pub available: u64,
}

/// `0123456789ab (width = 99999): 298.0 GiB of memory, and 21.4 GiB are available`.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (needed, available) = (memory(self.needed), memory(self.available));
        write!(f, "{} ({}) needs about {needed} of memory, and {available} are available", self.cell, self.place)
    }
}

/// Threads for the next of `waiting` cells while `running` others leave `free` of `threads`: one if there are more cells than threads, else an equal part.
pub(crate) fn threads_for_next(threads: usize, free: usize, running: usize, waiting: usize) -> usize {
    let fair = threads.div_ceil((running + waiting).max(1));
    free.div_ceil(waiting.max(1)).min(fair).clamp(1, free.max(1))
}

/// Puts the longest first: what is left at the end is short, and no thread waits long for another. Of equals the grid's order holds.
pub(crate) fn longest_first(queue: &mut [usize], cost: impl Fn(usize) -> f64) {
    queue.sort_by(|&a, &b| cost(b).total_cmp(&cost(a)).then(a.cmp(&b)));
}

/// How fast cells go on one thread of this machine.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Speed {
    cost: f64,
    seconds: f64,
}

impl Speed {
    /// Learns from a cell that was run from beginning to end.
    pub fn learn(&mut self, cost: f64, core_seconds: f64) {
        self.cost += cost;
        self.seconds += core_seconds;
    }

    /// Whether anything is known.
    pub fn is_known(&self) -> bool {
        self.cost > 0.0 && self.seconds > 0.0
    }

    /// How long something takes on so many threads.
    pub fn seconds(&self, cost: f64, threads: usize) -> Option<f64> {
        self.is_known().then(|| cost * self.seconds / self.cost / threads as f64)
    }

    /// Measures a few steps of a cell, on all threads at once, as cells will be run. Nothing is known afterwards if it does not fit the memory.
    pub fn measure(cell: &Cell, data: &SweepData, threads: usize) -> Result<Self, SweepError> {
        let at_once = memory::available() / data.cost(cell).memory.max(1);
        if at_once == 0 {
            return Ok(Self::default());
        }
        let threads = threads.min(usize::try_from(at_once).unwrap_or(usize::MAX));
        let one = || measure_on_one_thread(cell, data);
        let parts = std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(one)).collect();
            let mut parts = vec![one()];
            parts.extend(others.into_iter().filter_map(|other| other.join().ok()));
            parts
        });
        let mut speed = Self::default();
        for part in parts {
            let (cost, seconds) = part?;
            speed.learn(cost, seconds);
        }
        Ok(speed)
    }
}

fn measure_on_one_thread(cell: &Cell, data: &SweepData) -> Result<(f64, f64), SweepError> {
    const ENOUGH: Duration = Duration::from_millis(250);
    let (config, set) = (&cell.config, data.of(cell));
    let impossible = |error: crate::run::RunError| SweepError::Cell { cell: cell.to_string(), source: Box::new(error) };
    let network = config.network_config(set.train.image_len(), set.classes).map_err(impossible)?;
    let examples = examples(&set.train, set.classes).map_err(impossible)?;
    let network = network.init(config.seed).map_err(|error| impossible(error.into()))?;
    let train = config.train_config().map_err(impossible)?;
    let trainer = Trainer::with_features(network, train, &examples, config.features_of(set)).map_err(|error| impossible(error.into()))?;
    let mut trainer = trainer.with_threads(1);
    let cost = data.cost(cell);
    let began = Instant::now();
    let mut steps = 0;
    // A cell that diverges at once is still worth its time.
    while began.elapsed() < ENOUGH && !trainer.is_finished() && trainer.step().is_ok() {
        steps += 1;
    }
    // By steps of training, and by whole epochs if it came that far.
    let progress = trainer.progress();
    let done = if progress.epoch > 0 { cost.train * progress.step as f64 / progress.steps as f64 } else { cost.step * f64::from(steps) };
    Ok((done.max(cost.step), began.elapsed().as_secs_f64()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_come_first_and_equals_stay_in_order() {
        let costs = [1.0, 5.0, 3.0, 5.0, 0.5];
        let mut queue: Vec<usize> = (0..5).collect();
        longest_first(&mut queue, |index| costs[index]);
        assert_eq!(queue, [1, 3, 2, 0, 4]);
    }

    #[test]
    fn many_cells_get_one_thread_each_and_few_share_all() {
        // More cells than threads: one each.
        assert_eq!(threads_for_next(8, 8, 0, 100), 1);
        assert_eq!(threads_for_next(2, 1, 1, 1), 1);
        // Fewer: all threads are used, and nobody has two more than another.
        for threads in 1..20 {
            for cells in 1..=threads {
                let mut free = threads;
                let mut given = Vec::new();
                for cell in 0..cells {
                    given.push(threads_for_next(threads, free, cell, cells - cell));
                    free -= given[cell];
                }
                assert_eq!(free, 0, "{cells} cells on {threads} threads: {given:?}");
                assert!(given.iter().max().unwrap() - given.iter().min().unwrap() <= 1, "{threads} {given:?}");
            }
        }
    }

    #[test]
    fn speed_is_learnt_from_what_was_done() {
        let mut speed = Speed::default();
        assert_eq!(speed.seconds(1.0, 1), None);
        speed.learn(100.0, 10.0);
        speed.learn(300.0, 10.0);
        assert_eq!(speed.seconds(40.0, 2), Some(1.0));
    }
}
