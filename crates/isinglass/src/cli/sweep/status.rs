//! `isinglass sweep status`.

use std::path::PathBuf;

use isinglass_lab::run::read_metrics;
use isinglass_lab::sweep::{Cell, Status, Sweep};
use serde_json::Value;

use crate::cli::output::FormatArgs;
use crate::cli::report::{Record, Report};
use crate::cli::{CliError, Format};

/// What is done, running, failed and waiting.
///
/// Lists the cells that are running or have failed. Looking disturbs nobody.
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
        Ok(report(&sweep, self.print.format)?.print(self.print.format)?)
    }
}

/// How a sweep stands. As CSV one line of counts.
pub fn report(sweep: &Sweep, format: Format) -> Result<Report, CliError> {
    let (mut done, mut running, mut failed, mut waiting) = (0, 0, 0, 0);
    let mut rows = Vec::new();
    for cell in sweep.cells() {
        let status = sweep.status(cell)?;
        match &status {
            Status::Done(_) => done += 1,
            Status::Waiting => waiting += 1,
            Status::Running => {
                running += 1;
                rows.push(row(cell, &status, epochs(sweep, cell), Value::Null));
            }
            Status::Failed(record) => {
                failed += 1;
                rows.push(row(cell, &status, Value::Null, record.error.clone().into()));
            }
        }
    }
    let mut report = Report::default();
    report.fact("sweep", sweep.directory().display().to_string()).fact("cells", sweep.cells().len());
    report.fact("done", done).fact("running", running).fact("failed", failed).fact("waiting", waiting);
    if format != Format::Csv {
        report.rows("unfinished", rows);
    }
    Ok(report)
}

fn row(cell: &Cell, status: &Status, epochs: Value, error: Value) -> Record {
    let mut row = Record::new();
    row.insert("cell".into(), cell.name.clone().into());
    row.extend(cell.axes.iter().cloned());
    row.insert("status".into(), status.name().into());
    row.insert("epochs".into(), epochs);
    row.insert("error".into(), error);
    row
}

/// How many epochs a cell has behind it.
fn epochs(sweep: &Sweep, cell: &Cell) -> Value {
    let lines = read_metrics(&sweep.run_directory(cell)).unwrap_or_default();
    lines.iter().filter(|line| line["kind"] == "epoch").count().into()
}
