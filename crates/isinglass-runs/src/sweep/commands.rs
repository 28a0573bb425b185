//! The cells that are left as command lines, one for each task: for GNU parallel, submitit, Kubernetes, or any other scheduler.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::slurm::{Bounds, Jobs, Packing, SlurmError};
use super::{Sweep, SweepData, SweepError};
use crate::shell;

/// Variables that change how cells are run, or where their data are found.
pub(super) const VARIABLES: [&str; 2] = ["ISINGLASS_DATA", "ISINGLASS_SIMD"];

/// How commands are made.
#[derive(Debug, Clone)]
pub struct CommandOptions {
    /// The program that tasks run: `isinglass`, by its absolute path.
    pub executable: PathBuf,
    /// How cells are packed into tasks.
    pub packing: Packing,
    /// Threads of a task.
    pub threads: usize,
    /// Whether cells that have failed are run again.
    pub retry_failed: bool,
    /// Whether cells that are running or in a queue are run too.
    pub again: bool,
    /// Where tasks look for data first.
    pub data_dir: Option<PathBuf>,
    /// How often a cell saves its state.
    pub checkpoint_interval: Duration,
}

/// Command lines for the cells that are left.
#[derive(Debug, Clone, PartialEq)]
pub struct Commands {
    /// One for each task. Each runs anywhere that sees the sweep's directory and the data, any number of times.
    pub lines: Vec<String>,
    /// Cells that they run.
    pub cells: usize,
    /// How long the longest is estimated to take.
    pub seconds: Option<f64>,
    /// Cells with a result.
    pub done: usize,
    /// Cells with an error that are left as they are.
    pub failed: usize,
    /// Cells that are running and left out.
    pub running: usize,
    /// Cells that are in Slurm's queue and left out.
    pub queued: usize,
}

impl Sweep {
    /// The cells that are left as command lines.
    ///
    /// # Errors
    ///
    /// If files cannot be read, a path is not UTF-8, or cells were submitted to Slurm and it is not known which are in its queue.
    pub fn commands(&self, data: &SweepData, options: &CommandOptions) -> Result<Commands, SweepError> {
        let mut jobs = Jobs::look(self)?;
        if !options.again
            && let Some(source) = jobs.take_trouble()
        {
            return Err(SlurmError::UnknownQueue { source: Box::new(source) }.into());
        }
        let selection = self.select(&jobs, data, options.retry_failed, options.again)?;
        let bounds = Bounds { most_tasks: usize::MAX, cpus: options.threads.max(1), time_limit: None };
        let (list, seconds) = selection.pack(data, &options.packing, &bounds)?;
        let lines = list.tasks.iter().map(|task| {
            let names: Vec<String> = task.iter().map(ToString::to_string).collect();
            self.command(&names.join(","), options)
        });
        Ok(Commands {
            lines: lines.collect::<Result<_, _>>()?,
            cells: selection.wanted.len(),
            seconds,
            done: selection.done,
            failed: selection.failed,
            running: selection.running,
            queued: selection.queued,
        })
    }

    fn command(&self, cells: &str, options: &CommandOptions) -> Result<String, SweepError> {
        let mut words = Vec::new();
        for name in VARIABLES {
            if let Ok(value) = std::env::var(name) {
                let value = if name == "ISINGLASS_DATA" { absolute_text(Path::new(&value))? } else { value };
                words.push(format!("{name}={}", shell::word(&value)));
            }
        }
        words.extend([
            shell::word(&absolute_text(&options.executable)?),
            "sweep".into(),
            "work".into(),
            shell::word(&absolute_text(self.directory())?),
        ]);
        words.extend(["--cells".into(), shell::word(cells), "--threads".into(), options.threads.to_string()]);
        if let Some(directory) = &options.data_dir {
            words.extend(["--data-dir".into(), shell::word(&absolute_text(directory)?)]);
        }
        words.extend(["--checkpoint-seconds".into(), options.checkpoint_interval.as_secs_f64().to_string(), "--quiet".into()]);
        Ok(words.join(" "))
    }
}

fn absolute_text(path: &Path) -> Result<String, SweepError> {
    let path = std::path::absolute(path).map_err(SweepError::directory(path))?;
    let refuse = || SlurmError::Value { what: "the path".into(), value: path.display().to_string(), reason: "it is not UTF-8" };
    Ok(path.to_str().ok_or_else(refuse)?.to_owned())
}
