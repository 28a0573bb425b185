//! `isinglass sweep status`.

use std::path::PathBuf;

use isinglass_lab::run::read_metrics;
use isinglass_lab::sweep::slurm::{Jobs, Place, Standing};
use isinglass_lab::sweep::{Cell, Sweep};
use serde_json::Value;

use super::jobs::{describe_jobs, job_rows};
use crate::cli::answer::{Answer, Record};
use crate::cli::messages::tell;
use crate::cli::output::FormatArgs;
use crate::cli::{CliError, Format};

/// What is done, running, failed, queued and waiting.
///
/// Lists the cells that are running or have failed. If some were submitted to Slurm, asks the scheduler about them: a cell is queued if a task that has it is in the queue, and waiting if nobody
/// will come to it until it is submitted or run again. Looking disturbs nobody.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  isinglass sweep status sweeps/a
  isinglass sweep status sweeps/a --format json")]
pub struct Args {
    /// The sweep's directory
    #[arg(value_name = "DIR")]
    directory: PathBuf,

    #[command(flatten)]
    print: FormatArgs,
}

impl Args {
    pub fn run(self) -> Result<(), CliError> {
        let sweep = Sweep::open(&self.directory)?;
        let jobs = Jobs::look(&sweep)?;
        if let Some(trouble) = jobs.trouble() {
            tell(&format!("what is in the queue is not known, and this is by the files alone: {trouble}"));
        }
        Ok(answer(&sweep, &jobs, self.print.format)?.print(self.print.format)?)
    }
}

/// How a sweep stands. As CSV one line of counts.
pub fn answer(sweep: &Sweep, jobs: &Jobs, format: Format) -> Result<Answer, CliError> {
    let (mut done, mut running, mut failed, mut waiting, mut queued, mut lost) = (0, 0, 0, 0, 0, 0);
    let mut rows = Vec::new();
    for cell in sweep.cells() {
        let standing = jobs.standing(sweep, cell)?;
        let mut add = |epochs: Value, error: Value| rows.push(row(cell, &standing, epochs, error, jobs));
        match &standing {
            Standing::Failed(record) => {
                failed += 1;
                add(Value::Null, record.error.clone().into());
            }
            Standing::Done(_) => done += 1,
            Standing::Running(_) => {
                running += 1;
                add(epochs(sweep, cell), Value::Null);
            }
            Standing::Queued(_) => {
                queued += 1;
                // Thousands of them would be no help to a reader.
                if format == Format::Json {
                    add(Value::Null, Value::Null);
                }
            }
            Standing::Lost(_) => {
                waiting += 1;
                lost += 1;
                if jobs.trouble().is_none() {
                    add(Value::Null, Value::Null);
                }
            }
            Standing::Waiting => waiting += 1,
        }
    }
    let mut answer = Answer::default();
    answer.fact("sweep", sweep.directory().display().to_string()).fact("cells", sweep.cells().len());
    answer.fact("done", done).fact("running", running).fact("failed", failed).fact("waiting", waiting);
    answer.fact("queued", if jobs.trouble().is_none() { Value::from(queued) } else { Value::Null });
    match format {
        Format::Json => {
            answer.fact("jobs", job_rows(jobs));
        }
        Format::Table => {
            answer.facts(describe_jobs(jobs, lost));
        }
        Format::Csv => {}
    }
    if format != Format::Csv {
        answer.rows("unfinished", rows);
    }
    Ok(answer)
}

fn row(cell: &Cell, standing: &Standing<'_>, epochs: Value, error: Value, jobs: &Jobs) -> Record {
    let mut row = Record::new();
    row.insert("cell".into(), cell.name.clone().into());
    row.extend(cell.axes.iter().cloned());
    row.insert("status".into(), standing.name().into());
    row.insert("epochs".into(), epochs);
    row.insert("error".into(), error);
    if !jobs.submissions().is_empty() {
        let (task, node, reason) = whereabouts(standing);
        row.insert("task".into(), task.into());
        row.insert("node".into(), node.into());
        row.insert("reason".into(), reason.into());
    }
    row
}

/// A cell's task, its node, and why nobody is at it.
fn whereabouts(standing: &Standing<'_>) -> (Option<String>, Option<String>, Option<String>) {
    let task = |place: &Place<'_>| place.submission.job.as_ref().map(|job| format!("{job}_{}", place.task));
    let node = |place: &Place<'_>| place.queued.map(|task| task.nodes.clone()).filter(|nodes| !nodes.is_empty());
    match standing {
        Standing::Running(Some(place)) => (task(place), node(place), None),
        Standing::Queued(place) => {
            let reason = place.queued.map(|task| task.reason.clone()).filter(|reason| !reason.is_empty());
            (task(place), node(place), reason.or_else(|| Some("other cells of its task come first".into())))
        }
        Standing::Lost(place) => (task(place), None, Some("its task has ended".into())),
        Standing::Done(_) | Standing::Failed(_) | Standing::Running(None) | Standing::Waiting => (None, None, None),
    }
}

/// How many epochs a cell has behind it.
fn epochs(sweep: &Sweep, cell: &Cell) -> Value {
    let lines = read_metrics(&sweep.run_directory(cell)).unwrap_or_default();
    lines.iter().filter(|line| line["kind"] == "epoch").count().into()
}
