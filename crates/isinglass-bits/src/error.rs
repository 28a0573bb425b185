//! Errors of packed networks.

use alloc::string::String;

/// Why a packed network, its file or its inputs are refused.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Sizes that do not fit each other.
    #[error("{0}")]
    Shape(String),
    /// A bit beyond the last column of a row is set.
    #[error("damaged: a bit beyond the end of a row is set")]
    Padding,
    /// A number out of its range.
    #[error("{0}")]
    Value(String),
    /// A file that is damaged, or not a packed network.
    #[error("{0}")]
    File(String),
    /// A file that cannot be read or written.
    #[cfg(feature = "std")]
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// Another error, with the file it was found in.
    #[cfg(feature = "std")]
    #[error("{path}: {source}")]
    In {
        /// The file.
        path: String,
        /// What is wrong with it.
        source: alloc::boxed::Box<Error>,
    },
    /// Inputs of the wrong number or kind.
    #[error("{0}")]
    Inputs(String),
    /// A missing or infinite value among real inputs.
    #[error("{} in row {row}, column {column}", not_finite(*.value))]
    NotFinite {
        /// The row, counted from 0.
        row: usize,
        /// The column, counted from 0.
        column: usize,
        /// NaN, or ±∞.
        value: f32,
    },
    /// An instruction set that this machine, or this build, does not have.
    #[error("{0}")]
    Isa(String),
}

fn not_finite(value: f32) -> &'static str {
    if value.is_nan() {
        "missing value (NaN)"
    } else if value > 0.0 {
        "infinite value (inf)"
    } else {
        "infinite value (-inf)"
    }
}
