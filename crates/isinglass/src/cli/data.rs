//! `isinglass data`: which sets there are, fetching them, looking at them.

mod fetch;
mod list;
mod show;

use std::path::{Path, PathBuf};

use clap::Subcommand;

use super::CliError;

/// The commands; each is described where its flags are.
#[derive(Debug, Subcommand)]
pub enum Command {
    List(list::Args),
    Fetch(fetch::Args),
    Show(show::Args),
}

impl Command {
    pub fn run(self) -> Result<(), CliError> {
        match self {
            Self::List(args) => args.run(),
            Self::Fetch(args) => args.run(),
            Self::Show(args) => args.run(),
        }
    }
}

/// Where data is looked for and put.
#[derive(Debug, clap::Args)]
pub struct DirectoryArgs {
    /// Directory containing mnist/ and fashion-mnist/ [default: $ISINGLASS_DATA, else the user's cache]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

impl DirectoryArgs {
    pub fn given(&self) -> Option<&Path> {
        self.data_dir.as_deref()
    }
}
