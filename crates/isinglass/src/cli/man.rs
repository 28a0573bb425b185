//! `isinglass man`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Command, CommandFactory};
use clap_mangen::Man;
use isinglass_lab::run::RunError;

use super::output::print_line;
use super::{Cli, CliError};

/// Print the manual page, or write one for every command.
///
/// The pages say what --help says. Without --out the page of isinglass itself goes to standard output.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  isinglass man | man -l -
  isinglass man --out ~/.local/share/man/man1")]
pub struct Args {
    /// Write isinglass.1, isinglass-train.1 and so on to this directory, and print their paths
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Args {
    pub fn run(self) -> Result<(), CliError> {
        let mut command = Cli::command().disable_help_subcommand(true);
        command.build();
        match &self.out {
            None => Ok(io::stdout().write_all(&page(command)?)?),
            Some(directory) => {
                let failed = |path: &Path| {
                    let path = path.to_owned();
                    move |source| RunError::Directory { path, source }
                };
                std::fs::create_dir_all(directory).map_err(failed(directory))?;
                write_pages(command, "isinglass", directory)
            }
        }
    }
}

fn page(command: Command) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command).source(format!("isinglass {}", env!("CARGO_PKG_VERSION"))).date(" ").manual("isinglass manual").render(&mut page)?;
    Ok(page)
}

/// Writes the page of a command and those of its subcommands.
fn write_pages(command: Command, name: &str, directory: &Path) -> Result<(), CliError> {
    let path = directory.join(format!("{name}.1"));
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        write_pages(below.clone(), &format!("{name}-{}", below.get_name()), directory)?;
    }
    isinglass_files::write(&path, &page(command)?).map_err(|source| RunError::Write { path: path.clone(), source })?;
    Ok(print_line(&path.display().to_string())?)
}
