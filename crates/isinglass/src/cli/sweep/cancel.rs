//! `isinglass sweep cancel`.

use std::collections::BTreeSet;
use std::path::PathBuf;

use isinglass_lab::sweep::slurm::{Jobs, Standing};
use isinglass_lab::sweep::{Sweep, SweepError};
use isinglass_lab::words::counted;

use crate::cli::CliError;
use crate::cli::answer::Answer;
use crate::cli::output::FormatArgs;
use crate::cli::run::progress::tell;

/// Cancel the Slurm jobs of a sweep.
///
/// Cells that are running save their state and resume when the sweep is submitted or run again; results stay. A sweep that runs on this machine is stopped by Ctrl-C where it was started.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  isinglass sweep cancel sweeps/a
  isinglass sweep cancel sweeps/a --format json")]
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
        let mut jobs = Jobs::look(&sweep)?;
        let mut elsewhere = 0;
        for cell in sweep.cells() {
            elsewhere += usize::from(matches!(jobs.standing(&sweep, cell)?, Standing::Running(None)));
        }
        let cancelled: BTreeSet<String> = jobs.cancel().map_err(SweepError::from)?.into_iter().collect();
        if elsewhere > 0 {
            tell(&format!(
                "{} running in processes that Slurm did not start: stop these where they were started, by Ctrl-C",
                counted(elsewhere, "cell")
            ));
        } else if cancelled.is_empty() {
            tell("nothing to cancel: no job of this sweep is in the queue");
        }
        let mut answer = Answer::default();
        answer.place("sweep", &self.directory);
        answer.fact("cancelled", cancelled.len()).fact("jobs", cancelled.into_iter().collect::<Vec<_>>().join(","));
        answer.fact("running", elsewhere);
        Ok(answer.print(self.print.format)?)
    }
}
