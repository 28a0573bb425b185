//! `isinglass report`.

use std::path::PathBuf;

use isinglass_lab::replace;
use isinglass_lab::report::Report;

use super::answer::Answer;
use super::{CliError, Format};

/// Write an HTML report of figures, sweeps and runs.
///
/// Shows figures (directories with figure.json), sweeps (sweep.toml) and runs (config.toml), or all of these in a directory: pictures, tables, settings, seeds, versions, and whether each claim of the
/// paper holds. The page is self-contained and opens without a network. The same directories always give the same bytes.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  isinglass report figures -o report.html
  isinglass report sweeps/a runs/b -o report.html --title 'Depth and width'
  isinglass report sweeps/a -o a.html --format json")]
pub struct Args {
    /// Directories to include, in this order
    #[arg(value_name = "DIR", required = true)]
    directories: Vec<PathBuf>,

    /// File to write
    #[arg(short, long, value_name = "FILE.html")]
    output: PathBuf,

    /// Replace the file even if isinglass did not make it
    #[arg(long)]
    force: bool,

    /// Title of the page
    #[arg(long, default_value = "Report")]
    title: String,

    /// Output format: the path of the page; JSON and CSV add the numbers of sections, figures and bytes
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

impl Args {
    pub fn run(self) -> Result<(), CliError> {
        replace::check_page_target(&self.output, self.force)?;
        let report = Report::read(&self.directories)?.title(&self.title);
        for warning in report.warnings() {
            super::terminal::warn(warning);
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
