//! `isinglass sweep status`.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::RangedU64ValueParser;
use isinglass_lab::run::{epochs, read_metrics};
use isinglass_lab::sweep::slurm::{Jobs, Place, Standing};
use isinglass_lab::sweep::{Cell, Sweep};
use serde_json::Value;

use super::jobs::{describe_jobs, job_rows};
use crate::cli::answer::{Answer, Record};
use crate::cli::output::{TableArgs, rows_among};
use crate::cli::run::progress::tell;
use crate::cli::{CliError, Format};

/// Show which cells are done, running, failed, queued and waiting.
///
/// Lists the cells that are running or have failed. If cells were submitted to Slurm, asks the scheduler about them: a cell is queued if its task is in the queue, and waiting if nothing will run it until
/// it is submitted or run again. Changes nothing.
#[derive(Debug, clap::Args)]
#[command(mut_arg("rows", rows_among(&["unfinished", "jobs", "facts"])))]
#[command(after_help = "Examples:
  isinglass sweep status sweeps/a
  isinglass sweep status sweeps/a --watch
  isinglass sweep status sweeps/a --format json")]
pub struct Args {
    /// Sweep directory
    #[arg(value_name = "DIR")]
    directory: PathBuf,

    /// Look again every N seconds until every cell has ended
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "2", value_parser = RangedU64ValueParser::<u64>::new().range(1..=86_400))]
    watch: Option<u64>,

    #[command(flatten)]
    print: TableArgs,
}

impl Args {
    pub fn run(self) -> Result<(), CliError> {
        let Some(seconds) = self.watch else { return self.print().map(drop) };
        let mut before = None;
        loop {
            let on_terminal = io::stdout().is_terminal() && self.print.format() == Format::Table;
            if on_terminal {
                // From the top of an empty screen.
                write!(io::stdout(), "\x1b[2J\x1b[H")?;
                self.print()?;
            }
            let (standing, has_ended) = self.look()?;
            if !on_terminal && before.as_ref() != Some(&standing) {
                self.print()?;
            }
            if has_ended {
                return Ok(());
            }
            before = Some(standing);
            std::thread::sleep(Duration::from_secs(seconds));
        }
    }

    fn print(&self) -> Result<(), CliError> {
        let sweep = Sweep::open(&self.directory)?;
        let jobs = Jobs::look(&sweep)?;
        if let Some(trouble) = jobs.trouble() {
            tell(&format!("cannot query Slurm; showing on-disk state only: {trouble}"));
        }
        self.print.print(answer(&sweep, &jobs, &self.print)?)
    }

    /// How every cell stands, and whether all have ended.
    fn look(&self) -> Result<(Vec<&'static str>, bool), CliError> {
        let sweep = Sweep::open(&self.directory)?;
        let jobs = Jobs::look(&sweep)?;
        let mut standing = Vec::new();
        for cell in sweep.cells() {
            standing.push(jobs.standing(&sweep, cell)?.name());
        }
        let has_ended = standing.iter().all(|name| matches!(*name, "done" | "failed" | "damaged"));
        Ok((standing, has_ended))
    }
}

/// How a sweep stands. As CSV one line of counts, unless another table is chosen.
pub fn answer(sweep: &Sweep, jobs: &Jobs, print: &TableArgs) -> Result<Answer, CliError> {
    let (mut done, mut running, mut failed, mut damaged, mut waiting, mut queued, mut lost) = (0, 0, 0, 0, 0, 0, 0);
    let mut rows = Vec::new();
    for cell in sweep.cells() {
        let standing = jobs.standing(sweep, cell)?;
        let mut add = |epochs: Value, error: Value| rows.push(row(cell, &standing, epochs, error, jobs));
        match &standing {
            Standing::Failed(record) => {
                failed += 1;
                add(Value::Null, record.error.clone().into());
            }
            Standing::Damaged(reason) => {
                damaged += 1;
                add(Value::Null, format!("its record is damaged: {reason}").into());
            }
            Standing::Done(_) => done += 1,
            Standing::Running(_) => {
                running += 1;
                add(epochs_of(sweep, cell), Value::Null);
            }
            Standing::Queued(_) => {
                queued += 1;
                // Thousands of them would be no help to a reader.
                if print.format() == Format::Json || print.rows().is_some() {
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
    answer.place("sweep", sweep.directory()).fact("cells", sweep.cells().len());
    answer.fact("done", done).fact("running", running).fact("failed", failed).fact("waiting", waiting);
    answer.fact("queued", if jobs.trouble().is_none() { Value::from(queued) } else { Value::Null });
    answer.fact("damaged", damaged);
    if print.is_for_reading() {
        answer.facts(describe_jobs(jobs, lost));
    } else {
        answer.fact("jobs", job_rows(jobs));
    }
    if print.format() != Format::Csv || print.rows().is_some() {
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
        Standing::Done(_) | Standing::Failed(_) | Standing::Damaged(_) | Standing::Running(None) | Standing::Waiting => (None, None, None),
    }
}

/// How many epochs a cell has behind it.
fn epochs_of(sweep: &Sweep, cell: &Cell) -> Value {
    let lines = read_metrics(&sweep.run_directory(cell)).unwrap_or_default();
    epochs(&lines).count().into()
}
