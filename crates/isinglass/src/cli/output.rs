//! The flags that say how a result is printed and drawn, shared by all commands.

use std::path::{Path, PathBuf};

use clap::builder::RangedU64ValueParser;
use isinglass_lab::chart::Drawing;
use isinglass_lab::replace;

use super::{CliError, Format};

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

    /// Let --plot replace a file that isinglass did not make
    #[arg(long, requires = "plot")]
    force: bool,

    #[command(flatten)]
    print: FormatArgs,
}

impl OutputArgs {
    /// How to print.
    pub fn format(&self) -> Format {
        self.print.format
    }

    /// The file, if a picture is wanted, checked before anything is computed.
    pub fn plot(&self) -> Result<Option<PlotFile<'_>>, CliError> {
        self.plot.as_deref().map(|path| PlotFile::new(path, self.force)).transpose()
    }
}

/// A file that a picture may go to.
#[derive(Debug, Clone, Copy)]
pub struct PlotFile<'a> {
    path: &'a Path,
    force: bool,
}

impl<'a> PlotFile<'a> {
    /// Checks the file; one that isinglass did not make is replaced with `force` only.
    pub fn new(path: &'a Path, force: bool) -> Result<Self, CliError> {
        replace::check_chart_target(path, force)?;
        Ok(Self { path, force })
    }

    /// Draws into it.
    pub fn write(self, picture: &impl Drawing) -> Result<(), CliError> {
        Ok(replace::write_chart(picture, self.path, self.force)?)
    }
}

/// How many threads to use.
#[derive(Debug, clap::Args)]
pub struct ThreadsArgs {
    /// Number of threads; the result does not depend on it [default: one per core]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true, value_parser = RangedU64ValueParser::<usize>::new().range(..=1024))]
    threads: usize,
}

impl ThreadsArgs {
    pub fn count(&self) -> usize {
        match self.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        }
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
