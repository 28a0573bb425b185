//! `isinglass sweep logs`.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use isinglass_lab::run::{epochs, read_metrics};
use isinglass_lab::sweep::slurm::Jobs;
use isinglass_lab::sweep::{Attempt, Cell, CurvePoint, Status, Sweep};
use isinglass_lab::words::percent;
use serde_json::Value;

use crate::cli::answer::{Answer, Record, to_record, write_columns};
use crate::cli::output::FormatArgs;
use crate::cli::{CliError, Format};

/// What happened to one cell: who ran it, its epochs, its error, and the logs of its Slurm tasks.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  isinglass sweep logs sweeps/a 0123456789ab
  isinglass sweep logs sweeps/a 0123 --lines 5
  isinglass sweep logs sweeps/a depth=10,seed=2 --format json")]
pub struct Args {
    /// The sweep's directory
    #[arg(value_name = "DIR")]
    directory: PathBuf,

    /// The cell: its name, the beginning of it, or values of axes, such as depth=10,seed=2
    #[arg(value_name = "CELL")]
    cell: String,

    /// Show the last N epochs, and the last N lines of each log
    #[arg(long, value_name = "N", default_value_t = 40)]
    lines: usize,

    #[command(flatten)]
    print: FormatArgs,
}

/// A file that a task wrote.
struct Log {
    path: PathBuf,
    text: String,
}

impl Args {
    pub fn run(self) -> Result<(), CliError> {
        let sweep = Sweep::open(&self.directory)?;
        let cell = sweep.cell(&self.cell)?;
        let status = sweep.status(cell)?;
        let curve = curve(&sweep, cell, &status);
        let attempts = sweep.attempts(cell, &status);
        let logs: Vec<Log> = Jobs::look(&sweep)?.logs(cell).into_iter().map(|path| self.read(&path)).collect();
        let mut answer = Answer::default();
        answer
            .at(&sweep.run_directory(cell))
            .fact("cell", cell.name.clone())
            .fact("axes", Value::Object(cell.axes.iter().cloned().collect()));
        answer.fact("status", status.name()).fact("error", error(&status)).fact("attempts", attempts.len());
        match self.print.format {
            Format::Json => {
                answer.fact("runs", attempts.iter().map(|attempt| Value::Object(to_record(attempt))).collect::<Vec<_>>());
                let log = |log: &Log| Value::from_iter([("path", log.path.display().to_string()), ("text", log.text.clone())]);
                answer.fact("logs", logs.iter().map(log).collect::<Vec<_>>());
                answer.rows("epochs", curve.iter().map(to_record).collect());
                Ok(answer.print(Format::Json)?)
            }
            Format::Csv => Ok(answer.rows("epochs", curve.iter().map(flat).collect()).take().print(Format::Csv)?),
            Format::Table => {
                answer.print(Format::Table)?;
                Ok(self.write(&attempts, &curve, &logs)?)
            }
        }
    }

    fn read(&self, path: &Path) -> Log {
        // A log that cannot be read says why instead.
        let text = fs::read(path).map_or_else(|error| error.to_string(), |bytes| String::from_utf8_lossy(&bytes).into_owned());
        let lines: Vec<&str> = text.lines().collect();
        Log { path: path.to_owned(), text: lines[lines.len().saturating_sub(self.lines)..].join("\n") }
    }

    fn write(&self, attempts: &[Attempt], curve: &[CurvePoint], logs: &[Log]) -> io::Result<()> {
        let mut out = io::stdout().lock();
        if !attempts.is_empty() {
            writeln!(out)?;
            write_columns(&mut out, &attempts.iter().map(to_record).collect::<Vec<_>>())?;
        }
        let shown = &curve[curve.len().saturating_sub(self.lines)..];
        if !shown.is_empty() {
            writeln!(out)?;
            write_columns(&mut out, &shown.iter().map(readable).collect::<Vec<_>>())?;
        }
        for log in logs {
            writeln!(out, "\n==> {} <==\n{}", log.path.display(), log.text)?;
        }
        Ok(())
    }
}

fn error(status: &Status) -> Option<String> {
    match status {
        Status::Failed(record) => record.error.clone(),
        Status::Damaged(reason) => Some(format!("its record is damaged: {reason}")),
        _ => None,
    }
}

/// The epochs so far: of the record, or of a run that has not ended.
fn curve(sweep: &Sweep, cell: &Cell, status: &Status) -> Vec<CurvePoint> {
    match status.record().and_then(|record| record.result.as_ref()) {
        Some(result) => result.curve.clone(),
        None => {
            let lines = read_metrics(&sweep.run_directory(cell)).unwrap_or_default();
            epochs(&lines).map(CurvePoint::from).collect()
        }
    }
}

/// One column to a number.
fn flat(point: &CurvePoint) -> Record {
    let mut row = Record::new();
    for (key, value) in to_record(point) {
        match value {
            Value::Object(scores) => row.extend(scores.into_iter().map(|(score, value)| (format!("{key}_{score}"), value))),
            value => drop(row.insert(key, value)),
        }
    }
    row
}

fn readable(point: &CurvePoint) -> Record {
    let accuracy = |score: Option<isinglass_net::Score>| Value::from(score.map(|score| percent(score.accuracy)));
    Record::from_iter([
        ("epoch".to_owned(), point.epoch.into()),
        ("loss".to_owned(), point.train.nll.into()),
        ("training".to_owned(), accuracy(Some(point.train))),
        ("validation".to_owned(), accuracy(point.validation)),
        ("validation, sign(M)".to_owned(), accuracy(point.validation_binary)),
    ])
}
