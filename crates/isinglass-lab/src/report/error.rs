//! Why a report cannot be made.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use isinglass_runs::run::RunError;
use isinglass_runs::sweep::SweepError;

/// The error type of reports.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReportError {
    /// There is no such directory.
    #[error("{}: there is no such directory", .0.display())]
    Missing(PathBuf),
    /// The directory holds nothing that a report can show.
    #[error(
        "{} holds nothing to report: expected figure.json (a figure), sweep.toml (a sweep) or config.toml (a run) in it, or directories that have one of these",
        .0.display()
    )]
    NothingKnown(PathBuf),
    /// Nothing of what was found can be read.
    #[error("nothing is left to report: {0}")]
    NothingLeft(String),
    /// A pipe, device or directory is where a file should be.
    #[error("{}: not a regular file", .0.display())]
    NotAFile(PathBuf),
    /// A directory or a file cannot be read.
    #[error("cannot read {}: {source}", .path.display())]
    Read {
        /// The directory or file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The record of a figure is damaged.
    #[error("{}: {reason}", .path.display())]
    Figure {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A sweep cannot be read.
    #[error(transparent)]
    Sweep(#[from] SweepError),
    /// A run cannot be read.
    #[error(transparent)]
    Run(#[from] RunError),
}
