//! Why a file is not written.

use std::io;
use std::path::PathBuf;

use isinglass_chart::ChartError;
use thiserror::Error;

use super::Kind;

/// Why a file was not written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReplaceError {
    /// A file is in its place that must stay.
    #[error("{} exists and is not {} made by isinglass; it was not replaced", .path.display(), .kind.name())]
    NotOurs {
        /// The file.
        path: PathBuf,
        /// What would have taken its place.
        kind: Kind,
    },
    /// A directory, pipe or device is in its place.
    #[error("{} exists and is not a regular file; it was not replaced", .0.display())]
    NotAFile(PathBuf),
    /// A file is in its place that cannot be read.
    #[error("{} exists and cannot be read to see what it is: {source}; it was not replaced", .path.display())]
    Unknown {
        /// The file.
        path: PathBuf,
        /// What would have taken its place.
        kind: Kind,
        /// What the system said.
        source: io::Error,
    },
    /// The directory is missing.
    #[error("cannot write {}: no such directory: {}", .path.display(), .directory.display())]
    NoDirectory {
        /// The file.
        path: PathBuf,
        /// Where it should go.
        directory: PathBuf,
    },
    /// The directory takes no new file.
    #[error("cannot write into {}: {source}", .directory.display())]
    Directory {
        /// The directory.
        directory: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A report goes to a file of another name.
    #[error("{}: the file name of a report must end in .html", .0.display())]
    PageName(PathBuf),
    /// A chart cannot be drawn, or its file's name names no format.
    #[error(transparent)]
    Chart(#[from] ChartError),
    /// The file cannot be written.
    #[error("cannot write {}: {source}", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}
