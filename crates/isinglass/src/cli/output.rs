//! The flags that say how a result is printed and drawn, shared by all commands.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use isinglass_lab::chart::Drawing;
use isinglass_lab::replace;

use super::answer::Answer;
use super::{CliError, Format};

pub use super::global::ThreadsArgs;

/// How the result is printed.
#[derive(Debug, clap::Args)]
pub struct FormatArgs {
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

impl FormatArgs {
    /// Prints a result.
    pub fn print(&self, answer: Answer) -> Result<(), CliError> {
        Ok(answer.print(self.format)?)
    }
}

/// How a result with several tables is printed.
#[derive(Debug, clap::Args)]
pub struct TableArgs {
    #[command(flatten)]
    print: FormatArgs,

    /// Print only this table of the result, as text or CSV (JSON always contains all of them)
    #[arg(long, value_name = "NAME")]
    rows: Option<String>,
}

/// The tables that a command's `--rows` chooses from.
pub fn rows_among(names: &'static [&'static str]) -> impl FnOnce(clap::Arg) -> clap::Arg {
    move |rows| rows.value_parser(clap::builder::PossibleValuesParser::new(names))
}

/// Standard output.
pub type Out = io::BufWriter<io::StdoutLock<'static>>;

impl TableArgs {
    /// How to print.
    pub fn format(&self) -> Format {
        self.print.format
    }

    /// The table to print, if one was chosen.
    pub fn rows(&self) -> Option<&str> {
        self.rows.as_deref()
    }

    /// Whether the usual table for reading is wanted.
    pub fn is_for_reading(&self) -> bool {
        self.format() == Format::Table && self.rows.is_none()
    }

    /// Prints a result.
    pub fn print(&self, answer: Answer) -> Result<(), CliError> {
        match &self.rows {
            Some(name) => answer.print_table(self.format(), name),
            None => self.print.print(answer),
        }
    }

    /// Prints a result that has tables of its own for reading.
    pub fn print_with(&self, answer: Answer, write: impl FnOnce(&mut Out) -> io::Result<()>) -> Result<(), CliError> {
        if !self.is_for_reading() {
            return self.print(answer);
        }
        let mut out = io::BufWriter::new(io::stdout().lock());
        write(&mut out)?;
        Ok(out.flush()?)
    }
}

/// How the result is printed, and where its picture goes.
#[derive(Debug, clap::Args)]
pub struct OutputArgs {
    /// Draw the result to FILE.svg or FILE.png
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,

    /// Let --plot replace a file that isinglass did not make
    #[arg(long, requires = "plot")]
    force: bool,

    #[command(flatten)]
    pub print: TableArgs,
}

impl OutputArgs {
    /// How to print.
    pub fn format(&self) -> Format {
        self.print.format()
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

/// The program that jobs on other machines start: this one, or where another program embeds it, what `ISINGLASS_PROGRAM` names.
pub fn program() -> io::Result<PathBuf> {
    std::env::var_os("ISINGLASS_PROGRAM").filter(|path| !path.is_empty()).map_or_else(std::env::current_exe, |path| Ok(path.into()))
}

/// Prints one line to standard output.
pub fn print_line(line: &str) -> io::Result<()> {
    writeln!(io::stdout(), "{line}")
}

/// A flag that is missing, superfluous or has an impossible value.
pub fn usage(message: impl Into<String>) -> CliError {
    CliError::Usage(message.into())
}
