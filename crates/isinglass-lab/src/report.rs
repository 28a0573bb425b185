//! Reports: one page of HTML, with everything in it, from directories of results.
//!
//! | directory | holds | is shown as |
//! |---|---|---|
//! | of a figure | `figure.json` ([`FigureRecord`](crate::reproduce::FigureRecord)) | pictures, tables, and what became of the paper's claims |
//! | of a [sweep](isinglass_runs::sweep) | `sweep.toml` | maps or lines over its axes, a table of cells, the grid |
//! | of a [run](isinglass_runs::run) | `config.toml` | learning curves, scores, settings |
//! | any other | directories of these kinds | all of them, in the order of their names |
//!
//! The page needs nothing else and loads nothing else. Equal directories give equal bytes.
//!
//! ```no_run
//! use isinglass_lab::report::Report;
//!
//! let report = Report::read(&["figures", "sweeps/a"])?.title("Binary networks");
//! isinglass_lab::replace::write_page(&report.to_html(), "report.html".as_ref(), false)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod figure;
mod markup;
mod page;
mod picture;
mod run;
mod section;
mod source;
mod sweep;
mod table;

use std::path::Path;

pub use error::ReportError;
use section::Section;

/// What a page will show.
#[derive(Debug)]
pub struct Report {
    title: String,
    sections: Vec<Section>,
    warnings: Vec<String>,
}

impl Report {
    /// Reads directories. One that is named twice is shown once.
    ///
    /// # Errors
    ///
    /// If one of them does not exist, holds nothing that a report can show, or cannot be read. What lies in a directory of directories may be damaged, as long as
    /// something is left: the page then says so, and [`Report::warnings`] does.
    pub fn read(directories: &[impl AsRef<Path>]) -> Result<Self, ReportError> {
        let mut report = Self { title: "Report".to_owned(), sections: Vec::new(), warnings: Vec::new() };
        for source in source::find(directories)? {
            let section = section::read(&source, report.sections.len() + 1);
            match section {
                Ok(section) => {
                    report.warnings.extend(section.warnings.iter().cloned());
                    report.sections.push(section);
                }
                Err(error) if source.is_named => return Err(error),
                Err(error) => report.warnings.push(error.to_string()),
            }
        }
        if report.sections.is_empty() {
            let reason = report.warnings.first().cloned();
            return Err(ReportError::NothingLeft(reason.unwrap_or_else(|| "no directory was named".to_owned())));
        }
        Ok(report)
    }

    /// Sets the title of the page.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// How many directories are shown.
    pub fn sections(&self) -> usize {
        self.sections.len()
    }

    /// How many pictures there are.
    pub fn figures(&self) -> usize {
        self.sections.iter().map(|section| section.figures).sum()
    }

    /// What is missing or damaged, in a sentence each.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The page.
    pub fn to_html(&self) -> String {
        page::write(&self.title, &self.sections, &self.warnings)
    }
}
