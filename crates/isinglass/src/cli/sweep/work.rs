//! `isinglass sweep work`, and what it has in common with `sweep run`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use isinglass_lab::shell;
use isinglass_lab::sweep::slurm::{Entry, TaskList};
use isinglass_lab::sweep::{Cell, Refusal, Standing, Sweep, SweepData, SweepError, WorkOptions};

use super::progress::Watcher;
use crate::cli::CliError;
use crate::cli::output::{ThreadsArgs, usage};
use crate::cli::run::signals::Signals;

/// How cells are run, without changing what they come to.
#[derive(Debug, clap::Args)]
pub struct WorkArgs {
    /// Run failed cells again, and those whose record is damaged
    #[arg(long)]
    retry_failed: bool,

    /// Directory containing mnist/ and fashion-mnist/ [default: the grid's data-dir, else $ISINGLASS_DATA, else the user's cache]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,

    #[command(flatten)]
    threads: ThreadsArgs,

    /// Seconds between checkpoints of a cell
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0, allow_hyphen_values = true)]
    checkpoint_seconds: f64,
}

impl WorkArgs {
    /// Where data sets are looked for first.
    pub fn data_dir(&self) -> Option<&Path> {
        self.data_dir.as_deref()
    }

    /// The same as a flag, for a command that goes on.
    pub fn data_dir_flag(&self) -> String {
        self.data_dir.as_ref().map(|directory| format!(" --data-dir {}", shell::path(directory))).unwrap_or_default()
    }

    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.threads.count()
    }

    /// Whether cells that have failed are run again.
    pub fn retries_failed(&self) -> bool {
        self.retry_failed
    }

    /// Seconds between checkpoints of a cell.
    pub fn checkpoint_interval(&self) -> Result<Duration, CliError> {
        checkpoint_interval(self.checkpoint_seconds)
    }

    fn options(&self, cells: Option<Vec<Entry>>) -> Result<WorkOptions, CliError> {
        let checkpoint_interval = self.checkpoint_interval()?;
        let retries = cells.iter().flatten().filter_map(|entry| Some((entry.cell.clone(), entry.tried?))).collect();
        let cells = cells.map(|cells| cells.into_iter().map(|entry| entry.cell).collect());
        Ok(WorkOptions { threads: self.threads.count(), checkpoint_interval, retry_failed: self.retry_failed, retries, cells })
    }
}

/// Seconds between checkpoints of a cell.
pub fn checkpoint_interval(seconds: f64) -> Result<Duration, CliError> {
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| usage(format!("--checkpoint-seconds {seconds}: a finite number of seconds, not negative")))
}

/// Run cells of an existing sweep: what a scheduler starts.
///
/// It may be started any number of times and stopped at any moment: finished cells are left alone, interrupted ones resume.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  isinglass sweep work sweeps/a --cells 0123456789ab,ba9876543210 --threads 2
  isinglass sweep work sweeps/a")]
pub struct Args {
    /// Sweep directory
    #[arg(value_name = "DIR")]
    directory: PathBuf,

    /// Names of the cells [default: all]; NAME@N retries one that has failed N times
    #[arg(long, value_name = "NAMES", value_delimiter = ',', num_args = 1, value_parser = |word: &str| word.parse::<Entry>())]
    cells: Option<Vec<Entry>>,

    /// A list with the cells of several tasks
    #[arg(long, value_name = "FILE", conflicts_with = "cells", requires = "task")]
    task_list: Option<PathBuf>,

    /// Which task of the list, from 0
    #[arg(long, value_name = "N", requires = "task_list")]
    task: Option<usize>,

    #[command(flatten)]
    work: WorkArgs,
}

impl Args {
    pub fn run(self) -> Result<(), CliError> {
        let sweep = Sweep::open(&self.directory)?;
        let entries = self.entries()?;
        let places: HashMap<&str, &Cell> = sweep.cells().iter().map(|cell| (cell.name.as_str(), cell)).collect();
        let find = |entry: &Entry| {
            let unknown = || SweepError::UnknownCell { directory: self.directory.clone(), cell: entry.cell.clone() };
            places.get(entry.cell.as_str()).map(|&cell| cell.clone()).ok_or_else(unknown)
        };
        let cells = match &entries {
            Some(entries) => entries.iter().map(find).collect::<Result<Vec<_>, _>>()?,
            None => sweep.cells().to_vec(),
        };
        let data = SweepData::load(&cells, self.work.data_dir())?;
        let which = match (&self.task_list, self.task, &self.cells) {
            (Some(list), Some(task), _) => format!(" --task-list {} --task {task}", shell::path(list)),
            (_, _, Some(cells)) => format!(" --cells {}", cells.iter().map(Entry::to_string).collect::<Vec<_>>().join(",")),
            _ => String::new(),
        };
        let command = format!("isinglass sweep work {}{which}", shell::path(&self.directory));
        let (standing, refused) = perform(&sweep, &data, &self.work, entries, &command)?;
        // A cell that failed has its error on record, and the task has done its work; one that was not run has not.
        if refused.is_empty() { Ok(()) } else { end(&sweep, &standing, &refused) }
    }

    fn entries(&self) -> Result<Option<Vec<Entry>>, SweepError> {
        if let (Some(list), Some(task)) = (&self.task_list, self.task) {
            return Ok(Some(TaskList::read_task(list, task)?));
        }
        Ok(self.cells.clone())
    }
}

/// Runs cells and shows how far they are: what became of them, and which do not fit the memory. `command` goes on if it is stopped.
pub fn perform(
    sweep: &Sweep,
    data: &SweepData,
    args: &WorkArgs,
    cells: Option<Vec<Entry>>,
    command: &str,
) -> Result<(Standing, Vec<Refusal>), CliError> {
    let options = args.options(cells)?;
    let signals = Signals::listen()?;
    let mut watcher = Watcher::new(sweep.directory());
    let result = sweep.work(data, &options, signals.asked(), &mut |event| watcher.watch(&event));
    watcher.end();
    match result {
        Ok(standing) => Ok((standing, watcher.into_refused())),
        Err(SweepError::Stopped) => {
            let standing = watcher.standing();
            Err(CliError::SweepStopped {
                done: standing.done,
                cells: standing.cells,
                command: command.to_owned(),
                signal: signals.number(),
            })
        }
        Err(error) => Err(error.into()),
    }
}

/// Says so if cells have no result.
pub fn end(sweep: &Sweep, standing: &Standing, refused: &[Refusal]) -> Result<(), CliError> {
    let Standing { failed, damaged, cells, .. } = *standing;
    let refused: Vec<String> = refused.iter().map(|refusal| format!("{} ({})", refusal.cell, refusal.place)).collect();
    if failed + damaged + refused.len() == 0 {
        return Ok(());
    }
    Err(CliError::CellsFailed { failed, damaged, refused, cells, directory: sweep.directory().to_owned() })
}
