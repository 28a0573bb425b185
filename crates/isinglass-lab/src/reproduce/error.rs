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
    Sweep(isinglass_runs::sweep::SweepError),
    /// A simulation behind a figure.
    #[error(transparent)]
    Simulate(#[from] crate::simulate::SimulateError),
    /// The theory behind a figure.
    #[error(transparent)]
    Theory(#[from] isinglass_theory::Error),
    /// A run that a figure looks into.
    #[error(transparent)]
    Run(#[from] isinglass_runs::run::RunError),
    /// A picture cannot be drawn or written.
    #[error(transparent)]
    Chart(#[from] isinglass_chart::ChartError),
    /// A sweep cannot be drawn.
    #[error(transparent)]
    Picture(#[from] isinglass_runs::sweep::picture::PictureError),
    /// The directory has figures of another scale, other data or another seed.
    #[error("{} was made at another scale, with other data or another seed: choose another directory with --out, or ask for the same", .0.display())]
    Other(PathBuf),
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

impl From<isinglass_runs::sweep::SweepError> for ReproduceError {
    fn from(error: isinglass_runs::sweep::SweepError) -> Self {
        use isinglass_runs::sweep::SweepError;
        match error {
            // Users of figures have not seen the grids.
            SweepError::OtherGrid { directory, .. } => Self::Other(directory),
            error => Self::Sweep(error),
        }
    }
}
