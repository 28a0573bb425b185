//! Commands, flags and errors.

mod data;
mod output;
mod report;
mod theory;

use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};
use thiserror::Error;

/// Deep neural networks of ±1 weights and neurons.
#[derive(Debug, Parser)]
#[command(name = "isinglass", version, about, long_about = None, arg_required_else_help = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// How signals travel through a random network, before any training
    #[command(subcommand)]
    Theory(theory::Command),

    /// Data sets: which there are, fetching them, looking at them
    #[command(subcommand)]
    Data(data::Command),
}

impl Cli {
    /// Runs the command.
    pub fn run(self) -> Result<(), CliError> {
        match self.command {
            Command::Theory(command) => command.run(),
            Command::Data(command) => command.run(),
        }
    }
}

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For reading
    Table,
    /// One JSON object; what does not exist is null
    Json,
    /// Comma-separated values with a header
    Csv,
}

/// Whatever ends a command early.
#[derive(Debug, Error)]
pub enum CliError {
    /// The request cannot be answered.
    #[error(transparent)]
    Theory(#[from] isinglass_theory::Error),
    /// A data set is missing, damaged or cannot be fetched.
    #[error(transparent)]
    Data(#[from] isinglass_data::Error),
    /// A flag is missing, superfluous or has an impossible value.
    #[error("{0}")]
    Usage(String),
    /// A picture cannot be drawn or written.
    #[error(transparent)]
    Chart(#[from] isinglass_lab::chart::ChartError),
    /// Standard output cannot be written.
    #[error("cannot write the result: {0}")]
    Output(#[from] std::io::Error),
}

impl CliError {
    /// 2 for what the user can change, 1 for what went wrong on the way.
    pub fn exit_code(&self) -> ExitCode {
        use isinglass_theory::Error as TheoryError;
        match self {
            Self::Theory(TheoryError::NotConverged { .. } | TheoryError::NoRoot(_)) | Self::Output(_) => ExitCode::from(1),
            Self::Data(error) if went_wrong_on_the_way(error) => ExitCode::from(1),
            _ => ExitCode::from(2),
        }
    }
}

/// A network or a disk that fails, as opposed to a wrong name or a wrong file.
fn went_wrong_on_the_way(error: &isinglass_data::Error) -> bool {
    use isinglass_data::Error as DataError;
    match error {
        DataError::File { source, .. } => went_wrong_on_the_way(source),
        error => matches!(error, DataError::Download { .. } | DataError::Write(_)),
    }
}
