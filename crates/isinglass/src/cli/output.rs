//! The flags that say how a result is printed and drawn, shared by all commands.

use std::path::{Path, PathBuf};

use super::{CliError, Format};

pub use super::global::ThreadsArgs;

/// How the result is printed.
#[derive(Debug, clap::Args)]
pub struct FormatArgs {
    /// How to print the result
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

/// How the result is printed, and where its picture goes.
#[derive(Debug, clap::Args)]
pub struct OutputArgs {
    /// Draw the result into FILE.svg or FILE.png
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,

    #[command(flatten)]
    print: FormatArgs,
}

impl OutputArgs {
    /// How to print.
    pub fn format(&self) -> Format {
        self.print.format
    }

    /// The file, if a picture is wanted, checked before anything is computed.
    pub fn plot(&self) -> Result<Option<&Path>, CliError> {
        let path = self.plot.as_deref();
        if let Some(path) = path {
            isinglass_lab::chart::check_target(path)?;
        }
        Ok(path)
    }
}

/// The program that jobs on other machines start: this one, or where another program embeds it, what `ISINGLASS_PROGRAM` names.
pub fn program() -> std::io::Result<PathBuf> {
    std::env::var_os("ISINGLASS_PROGRAM").filter(|path| !path.is_empty()).map_or_else(std::env::current_exe, |path| Ok(path.into()))
}

/// Prints one line to standard output.
pub fn print_line(line: &str) -> std::io::Result<()> {
    use std::io::Write;
    writeln!(std::io::stdout(), "{line}")
}

/// A flag that is missing, superfluous or has an impossible value.
pub fn usage(message: impl Into<String>) -> CliError {
    CliError::Usage(message.into())
}
