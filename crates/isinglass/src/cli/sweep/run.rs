//! `isinglass sweep run`.

use std::path::{Path, PathBuf};

use isinglass_lab::shell;
use isinglass_lab::sweep::slurm::Jobs;
use isinglass_lab::sweep::{Grid, Refusal, Sweep, SweepData, SweepError};
use serde_json::{Value, json};

use super::work::{WorkArgs, perform};
use crate::cli::CliError;
use crate::cli::output::{TableArgs, rows_among, usage};

/// Train a network for every cell of a grid, on all cores.
///
/// The grid is a TOML file: a table [train] with the settings that all cells share, and a table [grid] with a list of values for each axis. Keys match the flags of `isinglass train`.
///
/// It can be stopped at any moment, by Ctrl-C or kill -9: the same command resumes it, each cell from its last checkpoint, and arrives at the same results. Several processes may work on one directory;
/// each cell is run by one of them. A cell that fails because its loss diverges records its error and does not stop the others.
///
/// A sweep can be extended: with more values, axes or seeds in the grid, the same command runs the new cells and keeps the results of the others.
#[derive(Debug, clap::Args)]
#[command(mut_arg("rows", rows_among(&["unfinished", "best", "refused", "facts"])))]
#[command(after_help = "Example, grid.toml:
  [train]
  init = \"two-point\"
  goal = \"surrogate\"
  width = 64
  epochs = 5
  [grid]
  depth = [2, 5, 10, 20]
  sigma-m2 = [0.5, 0.9, 0.99]
  seed = [1, 2]

  isinglass sweep run grid.toml --out sweeps/a
  isinglass sweep status sweeps/a
  isinglass sweep collect sweeps/a --format csv --plot map.svg > results.csv")]
pub struct Args {
    #[command(flatten)]
    grid: GridArgs,

    #[command(flatten)]
    work: WorkArgs,

    #[command(flatten)]
    print: TableArgs,
}

impl Args {
    pub fn run(self) -> Result<(), CliError> {
        let grid = self.grid.read()?;
        // Everything that can be wrong with the grid is said before anything is made.
        let data = self.grid.load(&self.grid.draft(&grid)?, self.work.data_dir())?;
        let sweep = Sweep::create(&self.grid.out, grid, self.grid.keep_runs)?;
        let command = format!("isinglass sweep run {}{}", self.grid.arguments(), self.work.data_dir_flag());
        let (standing, refused) = perform(&sweep, &data, &self.work, None, &command)?;
        let mut answer = super::status::answer(&sweep, &Jobs::default(), &self.print)?;
        let best = super::best::best_rows(&sweep.results()?);
        if !self.print.is_for_reading() {
            answer.fact("refused", refused.iter().map(refusal_row).collect::<Vec<_>>());
            answer.fact("best", best.iter().cloned().map(Value::Object).collect::<Vec<_>>());
        }
        self.print.print(answer)?;
        if self.print.is_for_reading() {
            super::best::write_best(&best)?;
        }
        super::work::end(&sweep, &standing, &refused)
    }
}

/// A cell that does not fit the memory.
fn refusal_row(refusal: &Refusal) -> Value {
    let Refusal { cell, place, needed, available } = refusal;
    json!({"cell": cell, "place": place, "needed_bytes": needed, "available_bytes": available})
}

/// Which cells, and where they are kept.
#[derive(Debug, clap::Args)]
pub struct GridArgs {
    /// Grid file
    #[arg(value_name = "GRID.toml")]
    pub grid: PathBuf,

    /// Directory for the sweep: new, empty, or made with the same grid or a smaller one, which is then extended
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,

    /// Keep every run's directory, with its checkpoints and metrics, for evaluate, inspect and pack
    #[arg(long)]
    pub keep_runs: bool,

    /// Override a setting of [train], such as --set epochs=5; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

impl GridArgs {
    /// The grid, with what was overridden.
    pub fn read(&self) -> Result<Grid, CliError> {
        let mut grid = Grid::read(&self.grid)?;
        for text in &self.set {
            let (key, value) =
                text.split_once('=').ok_or_else(|| usage(format!("--set {text}: write KEY=VALUE, such as --set epochs=5")))?;
            grid.set(key.trim(), value.trim()).map_err(|reason| usage(format!("--set {text}: {reason}")))?;
        }
        Ok(grid)
    }

    /// The sweep as it would be. Makes nothing.
    pub fn draft(&self, grid: &Grid) -> Result<Sweep, SweepError> {
        Sweep::draft(&self.out, grid.clone(), self.keep_runs).map_err(|error| self.in_grid(error))
    }

    /// Loads the data of a sweep and checks its cells.
    pub fn load(&self, sweep: &Sweep, data_dir: Option<&Path>) -> Result<SweepData, SweepError> {
        SweepData::load(sweep.cells(), data_dir).map_err(|error| self.in_grid(error))
    }

    /// The file is named if something is wrong with its cells.
    fn in_grid(&self, error: SweepError) -> SweepError {
        match error {
            SweepError::Cell { .. } => SweepError::Grid { path: self.grid.clone(), reason: error.to_string() },
            error => error,
        }
    }

    /// The same as words of a command.
    pub fn arguments(&self) -> String {
        let mut text = format!("{} --out {}", shell::path(&self.grid), shell::path(&self.out));
        for setting in &self.set {
            text += &format!(" --set {}", shell::word(setting));
        }
        if self.keep_runs { text + " --keep-runs" } else { text }
    }
}
