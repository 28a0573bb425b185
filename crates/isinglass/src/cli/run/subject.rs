//! A trained network, named by its run's directory or by a checkpoint, and the data to look at it with.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use isinglass_data::Dataset;
use isinglass_lab::run::{BEST, LAST, RunConfig, RunError, check_fit, examples, read_checkpoint, read_config};
use isinglass_net::{Checkpoint, Partition};

use super::data::{DataArgs, load_data};
use crate::cli::CliError;
use crate::cli::output::usage;
use crate::cli::run::progress::tell_notices;
use crate::cli::terminal::note;

/// Which network.
#[derive(Debug, clap::Args)]
pub struct SubjectArgs {
    /// Run directory or checkpoint (.safetensors); inspect also takes packed networks
    #[arg(value_name = "DIR|FILE")]
    path: PathBuf,

    /// Which of the run's checkpoints [default: last]
    #[arg(long, value_enum)]
    checkpoint: Option<CheckpointArg>,

    #[command(flatten)]
    data: DataArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CheckpointArg {
    /// After the last epoch, or the last step before the run was stopped
    Last,
    /// After the epoch with the best validation accuracy
    Best,
}

/// A network with its data.
pub struct Subject {
    pub checkpoint: Checkpoint,
    pub config: RunConfig,
    pub data: Dataset,
    pub partition: Partition,
}

impl SubjectArgs {
    /// The file or directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether a flag chooses a checkpoint or data.
    pub fn has_choices(&self) -> bool {
        self.checkpoint.is_some() || self.data.is_given()
    }

    /// The network, and the settings of its run if it lies in one.
    pub fn load_network(&self) -> Result<(Checkpoint, Option<RunConfig>), CliError> {
        if self.path.is_dir() {
            let config = read_config(&self.path)?;
            let file = if self.checkpoint == Some(CheckpointArg::Best) { BEST } else { LAST };
            Ok((read_checkpoint(&self.path, file)?, Some(config)))
        } else if self.path.exists() {
            if self.checkpoint.is_some() {
                return Err(usage("--checkpoint chooses one of a run's checkpoints: give the run's directory, or leave it out"));
            }
            Ok((Checkpoint::load(&self.path).map_err(RunError::from)?, config_beside(&self.path)?))
        } else {
            Err(usage(format!("{}: no such run or checkpoint", self.path.display())))
        }
    }

    /// The data that the flags name, else those of the run.
    fn load_data(&self, checkpoint: &Checkpoint, config: Option<RunConfig>) -> Result<(RunConfig, Dataset), CliError> {
        let mut config = match config {
            Some(config) => config,
            None if self.data.is_given() => RunConfig::default(),
            None => {
                return Err(usage(format!(
                    "{} is not in a run directory: name the data with --data, or with --train-images and --test-images",
                    self.path.display()
                )));
            }
        };
        self.data.apply(&mut config);
        let mut data = load_data(&config, self.data.directory())?;
        tell_notices(&data);
        // Labels that are words count in the network's classes, whichever of them these files hold.
        match (checkpoint.network().class_names(), data.train.class_names()) {
            (Some(names), Some(_)) => data = data.in_classes(names)?,
            (None, Some(_)) => return Err(usage("the labels are words, but this network knows its classes only by number")),
            _ => {}
        }
        check_fit(checkpoint.network().config(), &data)?;
        Ok((config, data))
    }

    /// The network, and the data if they can be had. What the flags name must be there; what the run was trained with may be elsewhere, which is said.
    pub fn load_with_data_at_hand(&self) -> Result<(Checkpoint, Option<Dataset>), CliError> {
        let (checkpoint, config) = self.load_network()?;
        let data = match self.load_data(&checkpoint, config) {
            Ok((_, data)) => Some(data),
            Err(error) if self.data.is_given() || self.data.directory().is_some() => return Err(error),
            Err(error) => {
                note(&format!("data not found; checking with random images only: {error}"));
                None
            }
        };
        Ok((checkpoint, data))
    }

    /// The network with its data.
    pub fn load(&self) -> Result<Subject, CliError> {
        let (checkpoint, config) = self.load_network()?;
        let (config, data) = self.load_data(&checkpoint, config)?;
        let partition = if checkpoint.was_trained_on(&examples(&data.train, data.classes)?) {
            checkpoint.partition().clone()
        } else {
            note("these are not the run's training examples; the network has not seen \"train\" and \"validation\" before");
            Partition::new(data.train.len(), checkpoint.train_config()).map_err(RunError::from)?
        };
        Ok(Subject { checkpoint, config, data, partition })
    }
}

/// The settings of the run that a checkpoint lies in, if it lies in one.
fn config_beside(file: &Path) -> Result<Option<RunConfig>, CliError> {
    let directory = file.parent().map_or(Path::new("."), |parent| if parent.as_os_str().is_empty() { Path::new(".") } else { parent });
    match read_config(directory) {
        Ok(config) => Ok(Some(config)),
        Err(RunError::NoRun(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
