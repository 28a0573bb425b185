//! `isinglass report`.

use std::path::{Path, PathBuf};

use isinglass_lab::report::Report;

use super::answer::Answer;
use super::messages::tell;
use super::output::usage;
use super::{CliError, Format};

/// One page of HTML from directories of results.
///
/// Shows figures (directories with figure.json), sweeps (sweep.toml) and runs (config.toml), or all of these in a directory: pictures, tables, settings, seeds, versions, and whether each claim of the
/// paper holds. The page has everything in it and opens without a network. Equal directories give equal bytes.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  isinglass report figures -o report.html
  isinglass report sweeps/a runs/b -o report.html --title 'Depth and width'
  isinglass report sweeps/a -o a.html --format json")]
pub struct Args {
    /// Directories to show, in this order
    #[arg(value_name = "DIR", required = true)]
    directories: Vec<PathBuf>,

    /// The file to write
    #[arg(short, long, value_name = "FILE.html")]
    output: PathBuf,

    /// The title of the page
    #[arg(long, default_value = "Report")]
    title: String,

    /// How to print where it is: its path, or with json also how many sections, figures and bytes it has
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

impl Args {
    pub fn run(self) -> Result<(), CliError> {
        check_target(&self.output)?;
        let report = Report::read(&self.directories)?.title(&self.title);
        for warning in report.warnings() {
            tell(&format!("warning: {warning}"));
        }
        let bytes = report.save(&self.output)?;
        let path = self.output.display().to_string();
        if self.format == Format::Table {
            return Ok(super::output::print_line(&path)?);
        }
        let mut answer = Answer::default();
        answer.fact("path", path).fact("sections", report.sections()).fact("figures", report.figures()).fact("bytes", bytes);
        Ok(answer.print(self.format)?)
    }
}

/// Said before anything is read. A report that would overwrite something else is a slip of the keyboard.
fn check_target(path: &Path) -> Result<(), CliError> {
    if path.is_dir() {
        return Err(usage(format!("{} is a directory: name a file, such as report.html", path.display())));
    }
    if let Some(directory) = path.parent().filter(|directory| !directory.as_os_str().is_empty() && !directory.is_dir()) {
        return Err(usage(format!("cannot write {}: there is no directory {}", path.display(), directory.display())));
    }
    let is_page =
        path.extension().and_then(|end| end.to_str()).is_some_and(|end| matches!(end.to_ascii_lowercase().as_str(), "html" | "htm"));
    if is_page { Ok(()) } else { Err(usage(format!("{}: the file name of a report must end in .html", path.display()))) }
}
