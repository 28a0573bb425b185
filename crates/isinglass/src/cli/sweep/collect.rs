//! `isinglass sweep collect`.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::ValueEnum;
use isinglass_lab::chart::Figure;
use isinglass_lab::sweep::picture::{PictureError, View};
use isinglass_lab::sweep::{Column, Sweep};
use serde_json::Value;

use crate::cli::answer::{Answer, Record};
use crate::cli::output::PlotFile;
use crate::cli::{self, CliError};

/// Collect the results of all cells, one row each.
///
/// A row has the cell's name, its axes, its status (done, failed, running, waiting), its error or its result, and, in columns named run_…, how it was run; everything else depends on the grid alone. Rows
/// follow the order of the grid, with the last axis varying fastest.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  isinglass sweep collect sweeps/a --format csv > results.csv
  isinglass sweep collect sweeps/a --plot map.svg
  isinglass sweep collect sweeps/a --plot map.png --x sigma-m2 --y depth \\
    --value train_surrogate_accuracy")]
pub struct Args {
    /// Sweep directory
    #[arg(value_name = "DIR")]
    directory: PathBuf,

    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,

    /// Draw a heat map over two axes, or a line if only one varies, to FILE.svg or FILE.png, averaged over the other axes
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,

    /// Let --plot replace a file that isinglass did not make
    #[arg(long, requires = "plot")]
    force: bool,

    /// Horizontal axis [default: sigma-m2 if depth varies too, else the first that varies, except seed]
    #[arg(long, value_name = "AXIS", requires = "plot")]
    x: Option<String>,

    /// Vertical axis [default: depth if sigma-m2 varies too, else the next that varies, except seed]
    #[arg(long, value_name = "AXIS", requires = "plot")]
    y: Option<String>,

    /// Column to show
    #[arg(long, value_name = "COLUMN", default_value = "test_surrogate_accuracy", requires = "plot")]
    value: String,
}

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Text for reading: axes, status and accuracies
    Table,
    /// Comma-separated values with a header
    Csv,
    /// One JSON object, with a list of cells
    Json,
    /// One JSON object per line
    Jsonl,
}

impl Args {
    pub fn run(self) -> Result<(), CliError> {
        let plot = self.plot.as_deref().map(|path| PlotFile::new(path, self.force)).transpose()?;
        let sweep = Sweep::open(&self.directory)?;
        let results = sweep.results()?;
        if let Some(plot) = plot {
            let column: Column = self.value.parse().map_err(PictureError::NoColumn)?;
            let view = View::choose(&results, self.x.as_deref(), self.y.as_deref())?;
            plot.write(&Figure::new().panel(view.panel(&results, column)?))?;
        }
        let rows = results.to_json();
        let mut answer = Answer::default();
        match self.format {
            Format::Csv => Ok(answer.rows("cells", rows).take().print(cli::Format::Csv)?),
            Format::Json => {
                answer.place("sweep", &self.directory);
                Ok(answer.rows("cells", rows).take().print(cli::Format::Json)?)
            }
            Format::Jsonl => Ok(write_lines(&rows)?),
            Format::Table => {
                let axes: Vec<&str> = sweep.grid().axes().collect();
                Ok(answer.rows("cells", rows.into_iter().map(|row| abridged(row, &axes)).collect()).take().print(cli::Format::Table)?)
            }
        }
    }
}

fn write_lines(rows: &[Record]) -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    for row in rows {
        serde_json::to_writer(&mut out, row)?;
        writeln!(out)?;
    }
    out.flush()
}

/// What fits a screen.
fn abridged(row: Record, axes: &[&str]) -> Record {
    let is_short = |key: &str| {
        axes.contains(&key)
            || matches!(key, "cell" | "status")
            || key.starts_with("test_") && key.ends_with("_accuracy")
            || key == "run_seconds"
    };
    row.into_iter().filter(|(key, _)| is_short(key)).map(|(key, value)| (key, rounded(value))).collect()
}

fn rounded(value: Value) -> Value {
    match value.as_f64() {
        Some(number) if value.is_f64() => ((number * 1e4).round() / 1e4).into(),
        _ => value,
    }
}
