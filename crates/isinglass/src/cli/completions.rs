//! `isinglass completions`.

use std::io::{self, Write};

use clap::CommandFactory;
use clap_complete::Shell;

use super::{Cli, CliError};

/// Print a shell completion script.
///
/// The script completes commands, flags and values. Put it where your shell looks for completions, or load it from the shell's startup file.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  isinglass completions bash > ~/.local/share/bash-completion/completions/isinglass
  isinglass completions zsh > ~/.zfunc/_isinglass        # with fpath+=~/.zfunc before compinit
  isinglass completions fish > ~/.config/fish/completions/isinglass.fish")]
pub struct Args {
    /// The shell
    shell: Shell,
}

impl Args {
    pub fn run(self) -> Result<(), CliError> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "isinglass", &mut script);
        Ok(io::stdout().write_all(&script)?)
    }
}
