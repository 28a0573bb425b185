//! What can be wrong with a packed network.

use alloc::string::String;

/// Why a packed network is refused.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Sizes that do not go together.
    #[error("{0}")]
    Shape(String),
    /// A row's last byte has bits beyond its columns.
    #[error("damaged: a bit beyond the end of a row is set")]
    Padding,
    /// A number that no network has.
    #[error("{0}")]
    Value(String),
    /// A file that is damaged, or not one of ours.
    #[error("{0}")]
    File(String),
    /// A file that cannot be read or written.
    #[cfg(feature = "std")]
    #[error("{path}: {source}")]
    Io {
        /// Which file.
        path: String,
        /// Why not.
        source: std::io::Error,
    },
    /// A file that is damaged, or not one of ours, and which.
    #[cfg(feature = "std")]
    #[error("{path}: {source}")]
    In {
        /// Which file.
        path: String,
        /// What is wrong with it.
        source: alloc::boxed::Box<Error>,
    },
    /// Images that do not fit the network.
    #[error("{0}")]
    Images(String),
    /// An instruction set that this machine, or this build, does not have.
    #[error("{0}")]
    Isa(String),
}
