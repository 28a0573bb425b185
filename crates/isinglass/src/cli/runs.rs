//! `isinglass runs`: training runs beside each other.

mod compare;
mod list;

use clap::Subcommand;

use super::CliError;

/// The commands; each is described where its flags are.
#[derive(Debug, Subcommand)]
pub enum Command {
    List(list::Args),
    Compare(compare::Args),
}

impl Command {
    pub fn run(self) -> Result<(), CliError> {
        match self {
            Self::List(args) => args.run(),
            Self::Compare(args) => args.run(),
        }
    }
}
