//! `isinglass resume`.

use std::path::PathBuf;

use isinglass_lab::run::{Run, read_config, read_summary};

use super::CliError;
use super::output::rows_among;
use super::run::data::load_data;
use super::run::ending::Ending;
use super::run::perform::PerformArgs;

/// Resume a run that was stopped.
///
/// The checkpoints at the end are exactly those of a run that was never stopped, whatever stopped it: Ctrl-C, kill -9, a power cut or a full disk. The settings are those in the run's config.toml and
/// cannot be changed. A run that has ended is not trained further: its result is printed again and, if it follows a recipe and has not been packed yet, its network is packed.
#[derive(Debug, clap::Args)]
#[command(mut_arg("rows", rows_among(&["scores", "layers", "facts"])))]
#[command(after_help = "Examples:
  isinglass resume runs/a
  isinglass resume runs/a --threads 1 --format json")]
pub struct Args {
    /// Run directory
    #[arg(value_name = "DIR")]
    directory: PathBuf,

    /// Directory containing mnist/ and fashion-mnist/ [default: where the run found it]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,

    #[command(flatten)]
    perform: PerformArgs,
}

impl Args {
    pub fn run(self) -> Result<(), CliError> {
        self.perform.plot()?;
        // Looked at before the run is opened, which writes to its directory: a result can be read from a disk that takes nothing.
        let config = read_config(&self.directory)?;
        if let Some(summary) = read_summary(&self.directory)?
            && let Some(ending) = Ending::at_hand(&self.directory, &config, &summary)?
        {
            self.perform.say("the run has ended: this is its result");
            return self.perform.print(&self.directory, summary, &ending);
        }
        let run = Run::open(&self.directory)?;
        if let Some(summary) = run.summary()? {
            self.perform.say("the run has ended: packing its network");
            let data = load_data(run.config(), self.data_dir.as_deref())?;
            return self.perform.pack(&run, &data, summary);
        }
        let data = load_data(run.config(), self.data_dir.as_deref())?;
        self.perform.train(run, &data)
    }
}
