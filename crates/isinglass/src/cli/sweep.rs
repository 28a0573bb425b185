//! `isinglass sweep`: a grid of training runs.

mod best;
mod cancel;
mod collect;
mod jobs;
mod logs;
pub mod progress;
mod run;
mod status;
pub mod submit;
pub mod work;

use clap::Subcommand;

use super::CliError;

/// The commands; each is described where its flags are.
#[derive(Debug, Subcommand)]
pub enum Command {
    Run(run::Args),
    Submit(Box<submit::Args>),
    Status(status::Args),
    Collect(collect::Args),
    Logs(logs::Args),
    Cancel(cancel::Args),
    Work(work::Args),
}

impl Command {
    pub fn run(self) -> Result<(), CliError> {
        match self {
            Self::Run(args) => args.run(),
            Self::Submit(args) => args.run(),
            Self::Status(args) => args.run(),
            Self::Collect(args) => args.run(),
            Self::Logs(args) => args.run(),
            Self::Cancel(args) => args.run(),
            Self::Work(args) => args.run(),
        }
    }
}
