//! `isinglass sweep work`, and what it has in common with `sweep run`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use isinglass_lab::sweep::{Status, Sweep, SweepData, SweepError, WorkOptions};

use super::progress::Watcher;
use crate::cli::CliError;
use crate::cli::output::{ThreadsArgs, usage};
use crate::cli::run::signals::Signals;

/// How cells are run, without changing what they come to.
#[derive(Debug, clap::Args)]
pub struct WorkArgs {
    /// Run cells again that have failed
    #[arg(long)]
    retry_failed: bool,

    /// Directory that holds mnist/ and fashion-mnist/ [default: the grid's data-dir, else $ISINGLASS_DATA, else the user's cache]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,

    #[command(flatten)]
    threads: ThreadsArgs,

    /// How often a cell saves its state
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0, allow_hyphen_values = true)]
    checkpoint_seconds: f64,

    /// Show no progress
    #[arg(long)]
    quiet: bool,
}

impl WorkArgs {
    /// Where data sets are looked for first.
    pub fn data_dir(&self) -> Option<&Path> {
        self.data_dir.as_deref()
    }

    fn options(&self, cells: Option<Vec<String>>) -> Result<WorkOptions, CliError> {
        let seconds = self.checkpoint_seconds;
        let checkpoint_interval = Duration::try_from_secs_f64(seconds)
            .map_err(|_| usage(format!("--checkpoint-seconds {seconds}: a number of seconds that is not negative")))?;
        Ok(WorkOptions { threads: self.threads.count(), checkpoint_interval, retry_failed: self.retry_failed, cells })
    }
}

/// Run some cells of a sweep that was made before: what a scheduler starts.
#[derive(Debug, clap::Args)]
#[command(hide = true)]
pub struct Args {
    /// The sweep's directory
    #[arg(value_name = "DIR")]
    directory: PathBuf,

    /// Names of the cells [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', num_args = 1)]
    cells: Option<Vec<String>>,

    #[command(flatten)]
    work: WorkArgs,
}

impl Args {
    pub fn run(self) -> Result<(), CliError> {
        let sweep = Sweep::open(&self.directory)?;
        let wanted = |name: &String| self.cells.as_ref().is_none_or(|cells| cells.contains(name));
        let cells: Vec<_> = sweep.cells().iter().filter(|cell| wanted(&cell.name)).cloned().collect();
        let unknown = |name: &&String| !sweep.cells().iter().any(|cell| cell.name == **name);
        if let Some(name) = self.cells.iter().flatten().find(unknown) {
            return Err(SweepError::UnknownCell { directory: self.directory.clone(), cell: name.clone() }.into());
        }
        let data = SweepData::load(&cells, self.work.data_dir())?;
        let command = format!("isinglass sweep work {}", self.directory.display());
        perform(&sweep, &data, &self.work, Some(cells.into_iter().map(|cell| cell.name).collect()), &command)
    }
}

/// Runs cells and shows how far they are. `command` goes on if it is stopped.
pub fn perform(sweep: &Sweep, data: &SweepData, args: &WorkArgs, cells: Option<Vec<String>>, command: &str) -> Result<(), CliError> {
    let options = args.options(cells)?;
    let signals = Signals::listen()?;
    let mut watcher = Watcher::new(args.quiet, sweep.directory());
    let result = sweep.work(data, &options, signals.asked(), &mut |event| watcher.watch(&event));
    watcher.end();
    match result {
        Ok(_) => Ok(()),
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

/// Says so if cells have failed.
pub fn end(sweep: &Sweep) -> Result<(), CliError> {
    let mut failed = 0;
    for cell in sweep.cells() {
        failed += usize::from(matches!(sweep.status(cell)?, Status::Failed(_)));
    }
    match failed {
        0 => Ok(()),
        _ => Err(CliError::CellsFailed { failed, cells: sweep.cells().len(), directory: sweep.directory().to_owned() }),
    }
}
