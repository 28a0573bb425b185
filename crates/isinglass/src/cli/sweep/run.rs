//! `isinglass sweep run`.

use std::path::{Path, PathBuf};

use isinglass_lab::shell;
use isinglass_lab::sweep::slurm::Jobs;
use isinglass_lab::sweep::{Grid, Sweep, SweepData, SweepError};

use super::work::{WorkArgs, perform};
use crate::cli::CliError;
use crate::cli::output::{TableArgs, rows_among};

/// Train a network for every cell of a grid, on all cores.
///
/// The grid is a TOML file: a table [train] with the settings that all cells share, and a table [grid] with a list of values for each axis. Keys match the flags of `isinglass train`.
///
/// It can be stopped at any moment, by Ctrl-C or kill -9: the same command resumes it, each cell from its last checkpoint, and arrives at the same results. Several processes may work on one directory;
/// each cell is run by one of them. A cell that fails because its loss diverges records its error and does not stop the others.
#[derive(Debug, clap::Args)]
#[command(mut_arg("rows", rows_among(&["unfinished", "facts"])))]
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
        let GridArgs { grid: path, out, keep_runs } = &self.grid;
        let grid = Grid::read(path)?;
        // Everything that can be wrong with the grid is said before anything is made.
        let data = load(&grid, path, self.work.data_dir())?;
        let sweep = Sweep::create(out, grid, *keep_runs)?;
        let command = format!("isinglass sweep run {} --out {}{}", shell::path(path), shell::path(out), self.work.data_dir_flag());
        perform(&sweep, &data, &self.work, None, &command)?;
        self.print.print(super::status::answer(&sweep, &Jobs::default(), &self.print)?)?;
        super::work::end(&sweep)
    }
}

/// Which cells, and where they are kept.
#[derive(Debug, clap::Args)]
pub struct GridArgs {
    /// Grid file
    #[arg(value_name = "GRID.toml")]
    pub grid: PathBuf,

    /// Directory for the sweep: new, empty, or made with the same grid
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,

    /// Keep every run's directory, with its checkpoints and metrics, for evaluate, inspect and pack
    #[arg(long)]
    pub keep_runs: bool,
}

/// Loads the data of a grid and checks its cells. `path` is named if something is wrong with them.
pub fn load(grid: &Grid, path: &Path, data_dir: Option<&Path>) -> Result<SweepData, SweepError> {
    let in_grid = |error| match error {
        SweepError::Cell { .. } => SweepError::Grid { path: path.to_owned(), reason: error.to_string() },
        error => error,
    };
    let cells = grid.cells().map_err(in_grid)?;
    SweepData::load(&cells, data_dir).map_err(in_grid)
}
