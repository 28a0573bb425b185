//! Submitting the cells that are left.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::pack::{Bounds, time_limit};
use super::program::{ask, is_installed, most_tasks};
use super::queue::queued_tasks;
use super::script::{Job, arguments, script};
use super::submission::job_name;
use super::{Jobs, Packing, Resources, SlurmError, Submission, TaskList};
use crate::sweep::commands::VARIABLES;
use crate::sweep::{Sweep, SweepData, SweepError};

/// What is submitted, and how.
#[derive(Debug, Clone)]
pub struct SubmitOptions {
    /// The program that tasks run: `isinglass`, by its absolute path.
    pub executable: PathBuf,
    /// What a task asks for.
    pub resources: Resources,
    /// How cells are packed into tasks.
    pub packing: Packing,
    /// Whether cells that have failed are run again.
    pub retry_failed: bool,
    /// Whether cells are submitted that are running or in the queue already.
    pub again: bool,
    /// Where tasks look for data first.
    pub data_dir: Option<PathBuf>,
    /// How often a cell saves its state.
    pub checkpoint_interval: Duration,
}

/// A submission that has not been made.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// What would be submitted; without tasks if nothing is left.
    pub submission: Submission,
    /// The batch script.
    pub script: String,
    /// What sbatch is told beside it.
    pub(crate) arguments: Vec<String>,
    /// How long the longest task is estimated to take.
    pub seconds: Option<f64>,
    /// Whether that is more than the time limit.
    pub exceeds_limit: bool,
    /// Cells with a result.
    pub done: usize,
    /// Cells with an error that are left as they are.
    pub failed: usize,
    /// Cells that are running and not submitted.
    pub running: usize,
    /// Cells that are in the queue and not submitted.
    pub queued: usize,
}

/// What became of a submission.
#[derive(Debug, Clone, PartialEq)]
pub struct Submitted {
    /// What was submitted.
    pub draft: Draft,
    /// The job's number; `None` if there was nothing to submit.
    pub job: Option<String>,
}

impl Draft {
    /// Number of cells.
    pub fn cells(&self) -> usize {
        self.submission.list.cells()
    }

    /// Number of tasks.
    pub fn tasks(&self) -> usize {
        self.submission.list.tasks.len()
    }
}

impl Sweep {
    /// Whether anything can be submitted from this machine.
    ///
    /// # Errors
    ///
    /// [`SlurmError::Missing`].
    pub fn check_slurm() -> Result<(), SlurmError> {
        match ["sbatch", "squeue"].into_iter().find(|program| !is_installed(program)) {
            Some(program) => Err(SlurmError::Missing { program }),
            None => Ok(()),
        }
    }

    /// What would be submitted now. Makes nothing.
    ///
    /// # Errors
    ///
    /// If files cannot be read, values cannot be given to Slurm, or it is not known what is in the queue.
    pub fn draft_submission(&self, data: &SweepData, options: &SubmitOptions) -> Result<Draft, SweepError> {
        let mut jobs = Jobs::look(self)?;
        if !options.again
            && let Some(source) = jobs.take_trouble()
        {
            return Err(SlurmError::UnknownQueue { source: Box::new(source) }.into());
        }
        let name = Submission::new_name();
        let sweep = std::path::absolute(self.directory()).map_err(SweepError::directory(self.directory()))?;
        let directory = sweep.join(super::SLURM).join(&name);
        let submission = Submission { name, directory, job: None, list: TaskList::default() };
        let selection = self.select(&jobs, data, options.retry_failed, options.again)?;
        let mut draft = Draft {
            submission,
            script: String::new(),
            arguments: Vec::new(),
            seconds: None,
            exceeds_limit: false,
            done: selection.done,
            failed: selection.failed,
            running: selection.running,
            queued: selection.queued,
        };
        if selection.wanted.is_empty() {
            return Ok(draft);
        }
        let limit = options.resources.time.as_deref().and_then(time_limit);
        let bounds = Bounds { most_tasks: most_tasks()?, cpus: options.resources.cpus_per_task.max(1), time_limit: limit };
        (draft.submission.list, draft.seconds) = selection.pack(data, &options.packing, &bounds)?;
        draft.exceeds_limit = limit.zip(draft.seconds).is_some_and(|(limit, seconds)| seconds > limit);
        (draft.script, draft.arguments) = self.script_of(&draft, &sweep, options)?;
        Ok(draft)
    }

    fn script_of(&self, draft: &Draft, sweep: &Path, options: &SubmitOptions) -> Result<(String, Vec<String>), SweepError> {
        let absolute = |path: &Path| std::path::absolute(path).map_err(SweepError::directory(path));
        let data_dir = options.data_dir.as_deref().map(absolute).transpose()?;
        let mut variables = Vec::new();
        for name in VARIABLES {
            if let Ok(value) = std::env::var(name) {
                let value = if name == "ISINGLASS_DATA" { absolute(Path::new(&value))?.display().to_string() } else { value };
                variables.push((name.to_owned(), value));
            }
        }
        let job = Job {
            name: &job_name(&draft.submission.name),
            tasks: draft.tasks(),
            executable: &options.executable,
            sweep,
            directory: &draft.submission.directory,
            data_dir: data_dir.as_deref(),
            checkpoint_seconds: options.checkpoint_interval.as_secs_f64(),
            variables: &variables,
        };
        Ok((script(&job, &options.resources)?, arguments(&job, &options.resources)?))
    }

    /// Submits all cells that have no result and are not in the queue. If nothing is left, nothing is submitted, which is no error.
    ///
    /// Of several processes that submit one sweep, one does so after the other. One that is killed on the way leaves nothing that would be in the way of a later one, and a job that it
    /// has submitted is found.
    ///
    /// # Errors
    ///
    /// Those of [`Sweep::draft_submission`]; [`SlurmError::Failed`] if the job is refused, of which nothing is left.
    pub fn submit(&self, data: &SweepData, options: &SubmitOptions) -> Result<Submitted, SweepError> {
        Self::check_slurm()?;
        let directory = self.slurm_directory();
        fs::create_dir_all(&directory).map_err(SweepError::directory(&directory))?;
        let path = directory.join(".lock");
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(&path).map_err(SweepError::directory(&path))?;
        lock.lock().map_err(SweepError::directory(&path))?;
        let mut draft = self.draft_submission(data, options)?;
        if draft.tasks() == 0 {
            return Ok(Submitted { draft, job: None });
        }
        draft.submission.write(&draft.script)?;
        let mut args = vec!["--parsable".to_owned()];
        args.extend(draft.arguments.iter().cloned());
        args.push(draft.submission.script().display().to_string());
        let name = draft.submission.job_name();
        let answer =
            ask("sbatch", &args, None).and_then(|answer| job_number(&answer).ok_or(SlurmError::NoNumber { answer, name: name.clone() }));
        let job = match answer {
            Ok(job) => job,
            // The answer may have been lost on the way: is the job there?
            Err(error) => match queued_tasks(&[name]).map(|tasks| tasks.into_iter().next()) {
                Ok(Some((_, task))) => task.job,
                nothing => {
                    // What is not known to be refused is kept, so that its job can be found. The refusal is what is to be told, not that files of no use cannot be removed.
                    if nothing.is_ok() {
                        let _ = draft.submission.remove();
                    }
                    return Err(error.into());
                }
            },
        };
        draft.submission.job = Some(job.clone());
        draft.submission.write_down()?;
        Ok(Submitted { draft, job: Some(job) })
    }
}

/// `12`, or `12;cluster`, in the last line that has it: some clusters greet before.
fn job_number(answer: &str) -> Option<String> {
    let number = |line: &str| {
        let number = line.trim().split(';').next().unwrap_or_default().to_owned();
        (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(number)
    };
    answer.lines().rev().find_map(number)
}

#[cfg(test)]
mod tests {
    use super::job_number;

    #[test]
    fn the_number_of_a_job_is_found() {
        assert_eq!(job_number("12\n").as_deref(), Some("12"));
        assert_eq!(job_number("Welcome to the cluster\n4711;east\n\n").as_deref(), Some("4711"));
        assert_eq!(job_number("Submitted batch job 12"), None);
        assert_eq!(job_number(""), None);
    }
}
