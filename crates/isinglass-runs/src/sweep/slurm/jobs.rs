//! The scheduler's view of a sweep, joined with the files.

use std::collections::HashMap;
use std::path::PathBuf;

use super::program::{PATIENCE, ask};
use super::queue::queued_tasks;
use super::{QueuedTask, SlurmError, Submission, TaskState};
use crate::sweep::claim::OF_DAMAGED;
use crate::sweep::{Cell, Record, Status, Sweep, SweepError};

/// What was submitted, and what of it is in the queue.
#[derive(Debug, Default)]
pub struct Jobs {
    submissions: Vec<Submission>,
    /// By submission and task.
    queued: HashMap<(usize, usize), QueuedTask>,
    /// By cell: the submission and task that has it.
    places: HashMap<String, (usize, usize)>,
    trouble: Option<SlurmError>,
}

/// Where a cell is in the queue.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place<'a> {
    /// The submission that it is part of.
    pub submission: &'a Submission,
    /// Its task.
    pub task: usize,
    /// What the scheduler says about the task; `None` if it has ended, or nothing is known.
    pub queued: Option<&'a QueuedTask>,
}

/// How a cell stands, by its files and by the queue.
#[derive(Debug, Clone, PartialEq)]
pub enum Standing<'a> {
    /// There is a result.
    Done(Box<Record>),
    /// There is an error instead.
    Failed(Box<Record>),
    /// There is a record that cannot be believed, for this reason.
    Damaged(String),
    /// A process is at it.
    Running(Option<Place<'a>>),
    /// It is in the queue: its task waits, or is at other cells.
    Queued(Place<'a>),
    /// Nobody is at it, but its task will not come to it any more (or it is not known whether it will).
    Lost(Place<'a>),
    /// Nobody is at it.
    Waiting,
}

impl Jobs {
    /// Reads what was submitted, and asks the scheduler about what has not ended yet.
    ///
    /// # Errors
    ///
    /// If files cannot be read. A scheduler that does not answer is no error: see [`Jobs::trouble`].
    pub fn look(sweep: &Sweep) -> Result<Self, SweepError> {
        let mut jobs = Self { submissions: sweep.submissions()?, ..Self::default() };
        let mut open = HashMap::new();
        for (index, submission) in jobs.submissions.iter().enumerate() {
            if has_something_to_do(sweep, submission)? {
                open.insert(submission.job_name(), index);
            }
        }
        if !open.is_empty() {
            let names: Vec<String> = open.keys().cloned().collect();
            match queued_tasks(&names) {
                Ok(tasks) => jobs.take(tasks, &open),
                Err(error) => jobs.trouble = Some(error),
            }
        }
        jobs.find_places();
        Ok(jobs)
    }

    fn take(&mut self, tasks: Vec<(String, QueuedTask)>, open: &HashMap<String, usize>) {
        for (name, task) in tasks {
            let Some(&index) = open.get(&name) else { continue };
            let submission = &mut self.submissions[index];
            // It was not written down, or is another job that somebody gave the same name.
            if *submission.job.get_or_insert_with(|| task.job.clone()) == task.job {
                self.queued.insert((index, task.index), task);
            }
        }
    }

    /// Of several tasks that have a cell, the last one that is in the queue counts, or else the last.
    fn find_places(&mut self) {
        for (submission, job) in self.submissions.iter().enumerate() {
            for (task, entries) in job.list.tasks.iter().enumerate() {
                let is_queued = self.queued.contains_key(&(submission, task));
                for entry in entries {
                    let place = self.places.entry(entry.cell.clone()).or_insert((submission, task));
                    if is_queued || !self.queued.contains_key(place) {
                        *place = (submission, task);
                    }
                }
            }
        }
    }

    /// Cancels every job that has tasks in the queue, and gives back their numbers.
    ///
    /// # Errors
    ///
    /// [`SlurmError::UnknownQueue`] if it is not known what is in the queue, and those of scancel.
    pub fn cancel(&mut self) -> Result<Vec<String>, SlurmError> {
        if let Some(source) = self.take_trouble() {
            return Err(SlurmError::UnknownQueue { source: Box::new(source) });
        }
        let queued = self.submissions.iter().filter(|submission| !self.queued(submission).is_empty());
        let numbers: Vec<String> = queued.filter_map(|submission| submission.job.clone()).collect();
        if !numbers.is_empty() {
            ask("scancel", &numbers, Some(PATIENCE))?;
        }
        Ok(numbers)
    }

    /// The logs of the tasks that had a cell, in the order of time, as far as there are any.
    pub fn logs(&self, cell: &Cell) -> Vec<PathBuf> {
        let mut logs = Vec::new();
        for submission in &self.submissions {
            for (task, entries) in submission.list.tasks.iter().enumerate() {
                if entries.iter().any(|entry| entry.cell == cell.name) {
                    logs.push(submission.directory.join("logs").join(format!("{task}.log")));
                }
            }
        }
        logs.retain(|log| log.is_file());
        logs
    }

    /// Why nothing is known about the queue, if so.
    pub fn trouble(&self) -> Option<&SlurmError> {
        self.trouble.as_ref()
    }

    /// The same, taken out.
    pub fn take_trouble(&mut self) -> Option<SlurmError> {
        self.trouble.take()
    }

    /// All submissions, in the order of time.
    pub fn submissions(&self) -> &[Submission] {
        &self.submissions
    }

    /// The tasks of a submission that are in the queue, in order.
    pub fn queued(&self, submission: &Submission) -> Vec<&QueuedTask> {
        let mut tasks: Vec<_> = self.queued.iter().filter(|((index, _), _)| self.submissions[*index].name == submission.name).collect();
        tasks.sort_by_key(|(place, _)| **place);
        tasks.into_iter().map(|(_, task)| task).collect()
    }

    /// Where a cell is in the queue, or was.
    pub fn place(&self, cell: &Cell) -> Option<Place<'_>> {
        let &(submission, task) = self.places.get(&cell.name)?;
        Some(Place { submission: &self.submissions[submission], task, queued: self.queued.get(&(submission, task)) })
    }

    /// How a cell stands.
    ///
    /// # Errors
    ///
    /// If its files cannot be read.
    pub fn standing(&self, sweep: &Sweep, cell: &Cell) -> Result<Standing<'_>, SweepError> {
        let place = self.place(cell);
        let state = place.and_then(|place| place.queued).map(|task| task.state);
        Ok(match (sweep.status(cell)?, place, state) {
            (Status::Failed(record), Some(place), Some(_)) if self.is_to_be_retried(&place, cell, record.run.attempts.len()) => {
                Standing::Queued(place)
            }
            (Status::Done(record), ..) => Standing::Done(record),
            (Status::Failed(record), ..) => Standing::Failed(record),
            (Status::Damaged(_), Some(place), Some(_)) if self.is_to_be_retried(&place, cell, OF_DAMAGED) => Standing::Queued(place),
            (Status::Damaged(reason), ..) => Standing::Damaged(reason),
            (Status::Running, place, _) => Standing::Running(place.filter(|place| place.queued.is_some())),
            // Where locks do not pass between nodes, the task and what the cell has left tell.
            (Status::Waiting, Some(place), Some(TaskState::Running)) if sweep.run_directory(cell).exists() => {
                Standing::Running(Some(place))
            }
            (Status::Waiting, Some(place), Some(_)) => Standing::Queued(place),
            (Status::Waiting, Some(place), None) => Standing::Lost(place),
            (Status::Waiting, None, _) => Standing::Waiting,
        })
    }

    fn is_to_be_retried(&self, place: &Place<'_>, cell: &Cell, tried: usize) -> bool {
        place.submission.list.tasks[place.task].iter().any(|entry| entry.cell == cell.name && entry.tried == Some(tried))
    }
}

/// Whether some cell has not ended, or not been tried again.
fn has_something_to_do(sweep: &Sweep, submission: &Submission) -> Result<bool, SweepError> {
    for entry in submission.list.tasks.iter().flatten() {
        let has_ended = match entry.tried {
            None => sweep.has_record(&entry.cell),
            Some(tried) => match sweep.cell(&entry.cell).map(|cell| sweep.status(cell)) {
                Ok(status) => match status? {
                    Status::Done(_) => true,
                    Status::Failed(record) => record.run.attempts.len() != tried,
                    Status::Damaged(_) => tried != OF_DAMAGED,
                    Status::Running | Status::Waiting => false,
                },
                Err(_) => true,
            },
        };
        if !has_ended {
            return Ok(true);
        }
    }
    Ok(false)
}

impl Standing<'_> {
    /// One word.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Done(_) => "done",
            Self::Failed(_) => "failed",
            Self::Damaged(_) => "damaged",
            Self::Running(_) => "running",
            Self::Queued(_) => "queued",
            Self::Lost(_) | Self::Waiting => "waiting",
        }
    }
}
