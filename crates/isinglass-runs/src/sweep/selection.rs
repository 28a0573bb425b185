//! Which cells are to be run elsewhere, and in which tasks.

use super::claim::OF_DAMAGED;
use super::plan::Speed;
use super::slurm::{Bounds, pack, task_seconds};
use super::slurm::{Entry, Jobs, Packing, Standing, TaskList};
use super::{Cell, Sweep, SweepData, SweepError};

/// The cells that are left, and how many are left out.
#[derive(Debug, Default)]
pub(crate) struct Selection<'a> {
    /// Cells to run, and, of those that failed, how often they were tried.
    pub wanted: Vec<(&'a Cell, Option<usize>)>,
    /// Cells with a result.
    pub done: usize,
    /// Cells with an error, or a damaged record, that are left as they are.
    pub failed: usize,
    /// Cells that are running.
    pub running: usize,
    /// Cells that are in the queue.
    pub queued: usize,
    speed: Speed,
}

impl Sweep {
    /// Looks which cells have no result: with `retry_failed` also those that failed, with `again` also those that are running or in the queue.
    pub(crate) fn select(&self, jobs: &Jobs, data: &SweepData, retry_failed: bool, again: bool) -> Result<Selection<'_>, SweepError> {
        let mut selection = Selection::default();
        for cell in self.cells() {
            match jobs.standing(self, cell)? {
                Standing::Failed(record) if retry_failed => selection.wanted.push((cell, Some(record.run.attempts.len()))),
                Standing::Damaged(_) if retry_failed => selection.wanted.push((cell, Some(OF_DAMAGED))),
                Standing::Failed(_) | Standing::Damaged(_) => selection.failed += 1,
                Standing::Done(record) => {
                    selection.done += 1;
                    // Cells that were interrupted say nothing about the speed.
                    if record.run.attempts.len() == 1 {
                        selection.speed.learn(data.cost(cell).total, record.run.core_seconds);
                    }
                }
                Standing::Running(_) if !again => selection.running += 1,
                Standing::Queued(_) if !again => selection.queued += 1,
                // One that failed and is in the queue to be retried.
                Standing::Queued(_) if self.has_record(&cell.name) => selection.queued += 1,
                _ => selection.wanted.push((cell, None)),
            }
        }
        Ok(selection)
    }
}

impl Selection<'_> {
    /// Packs the cells into tasks, and estimates how long the longest takes.
    pub(crate) fn pack(&self, data: &SweepData, packing: &Packing, bounds: &Bounds) -> Result<(TaskList, Option<f64>), SweepError> {
        let cost = |cell: &Cell| data.cost(cell).total;
        let mut speed = self.speed;
        if !speed.is_known()
            && let Some((longest, _)) = self.wanted.iter().max_by(|a, b| cost(a.0).total_cmp(&cost(b.0)))
        {
            speed = Speed::measure(longest, data, 1)?;
        }
        let seconds: Vec<f64> = self.wanted.iter().map(|(cell, _)| speed.seconds(cost(cell), 1).unwrap_or(0.0)).collect();
        let packed = pack(&seconds, packing, bounds);
        let longest = packed.first().map(|task| task_seconds(&seconds, task, bounds.cpus));
        let entry = |&index: &usize| Entry { cell: self.wanted[index].0.name.clone(), tried: self.wanted[index].1 };
        Ok((TaskList { tasks: packed.iter().map(|task| task.iter().map(entry).collect()).collect() }, longest))
    }
}
