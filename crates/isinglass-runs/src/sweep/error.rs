//! Why a sweep cannot be made, opened or brought to its end.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::slurm::SlurmError;
use crate::run::RunError;

/// The error type of sweeps.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SweepError {
    /// The grid's file cannot be used.
    #[error("{}: {reason}", .path.display())]
    Grid {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The settings of one cell are impossible.
    #[error("the cell {cell}: {source}")]
    Cell {
        /// Where it lies in the grid.
        cell: String,
        /// What is wrong with it.
        source: Box<RunError>,
    },
    /// A sweep has no such cell.
    #[error("{} has no cell {cell}: `isinglass sweep collect` lists them", .directory.display())]
    UnknownCell {
        /// The sweep's directory.
        directory: PathBuf,
        /// The name that was given.
        cell: String,
    },
    /// More than one cell is meant.
    #[error("{cell} matches {count} cells of {}: be more specific, with a longer name or more axes", .directory.display())]
    SeveralCells {
        /// The sweep's directory.
        directory: PathBuf,
        /// What was given.
        cell: String,
        /// How many cells it is.
        count: usize,
    },
    /// The directory holds no sweep.
    #[error("no sweep found in {}: {}", .0.display(), if .0.exists() { "it has no sweep.toml" } else { "there is no such directory" })]
    NoSweep(PathBuf),
    /// The directory holds something else.
    #[error("{} is not empty and holds no sweep: choose another directory with --out", .0.display())]
    NotEmpty(PathBuf),
    /// The manifest cannot be used.
    #[error("{}: {reason}", .path.display())]
    Manifest {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A version without manifests made the directory, and had other defaults.
    #[error(
        "{} has results of {cells} cells that are not those of its grid, such as {name}: another version of isinglass, with other defaults, made it; continue with that version, or choose another directory",
        .directory.display()
    )]
    OtherDefaults {
        /// The sweep's directory.
        directory: PathBuf,
        /// How many.
        cells: usize,
        /// One of them.
        name: String,
    },
    /// The directory was made with another grid.
    #[error("{} was made with another grid ({what}): choose another directory with --out, or restore the grid", .directory.display())]
    OtherGrid {
        /// The sweep's directory.
        directory: PathBuf,
        /// How the two differ.
        what: String,
    },
    /// The directory cannot be made or used.
    #[error("cannot use the directory {}: {source}", .path.display())]
    Directory {
        /// The directory, or the file in it that cannot be made.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// What every run needs, such as its data.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The scheduler is not there, does not answer, or does not want the job.
    #[error(transparent)]
    Slurm(#[from] SlurmError),
    /// A file cannot be read.
    #[error("cannot read {}: {source}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A cell's file is damaged.
    #[error("{}: damaged ({reason}); delete it to run the cell again", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A file cannot be written.
    #[error("cannot write {}: {source}; finished cells are kept; run the same command again to resume", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Somebody asked the sweep to stop.
    #[error("stopped as asked")]
    Stopped,
}

impl SweepError {
    pub(crate) fn read(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Read { path, source }
    }

    pub(crate) fn write(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Write { path, source }
    }

    pub(crate) fn directory(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Directory { path, source }
    }
}
