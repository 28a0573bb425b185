//! Why a figure cannot be made again.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// The error type of figures.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReproduceError {
    /// A sweep behind a figure.
    #[error(transparent)]
    Sweep(#[from] crate::sweep::SweepError),
    /// A simulation behind a figure.
    #[error(transparent)]
    Simulate(#[from] crate::simulate::SimulateError),
    /// The theory behind a figure.
    #[error(transparent)]
    Theory(#[from] isinglass_theory::Error),
    /// A run that a figure looks into.
    #[error(transparent)]
    Run(#[from] crate::run::RunError),
    /// A picture cannot be drawn or written.
    #[error(transparent)]
    Chart(#[from] crate::chart::ChartError),
    /// A sweep cannot be drawn.
    #[error(transparent)]
    Picture(#[from] crate::sweep::picture::PictureError),
    /// A sweep has not come to its end.
    #[error("{}: {left} of {cells} cells have not ended; `isinglass sweep status` says why", .sweep.display())]
    Unfinished {
        /// The sweep's directory.
        sweep: PathBuf,
        /// Cells without a result or an error.
        left: usize,
        /// Cells in all.
        cells: usize,
    },
    /// A file cannot be written.
    #[error("cannot write {}: {source}", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}
