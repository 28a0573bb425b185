//! `isinglass report`.

use std::path::PathBuf;

use isinglass_lab::replace;
use isinglass_lab::report::Report;

use super::answer::Answer;
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

    /// Replace the file even if isinglass did not make it
    #[arg(long)]
    force: bool,

    /// The title of the page
    #[arg(long, default_value = "Report")]
    title: String,

    /// How to print where it is: its path, or with json also how many sections, figures and bytes it has
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

impl Args {
    pub fn run(self) -> Result<(), CliError> {
        replace::check_page_target(&self.output, self.force)?;
        let report = Report::read(&self.directories)?.title(&self.title);
        for warning in report.warnings() {
            eprintln!("warning: {warning}");
        }
        let html = report.to_html();
        replace::write_page(&html, &self.output, self.force)?;
        let path = self.output.display().to_string();
        if self.format == Format::Table {
            return Ok(super::output::print_line(&path)?);
        }
        let mut answer = Answer::default();
        answer.fact("path", path).fact("sections", report.sections()).fact("figures", report.figures()).fact("bytes", html.len());
        Ok(answer.print(self.format)?)
    }
}
