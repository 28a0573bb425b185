//! Data sets for small networks: images with labels, as bytes.
//!
//! Every reader is strict: a file that is cut off, goes on too long, has labels without a class or values that are no numbers is an [`Error`]
//! that says which and where.

mod contents;
mod dataset;
mod error;
mod files;

pub mod csv;
pub mod digits;
pub mod idx;
pub mod npy;

pub use contents::sha256_of;
pub use dataset::{Dataset, Image, Pixels, Split};
pub use error::Error;
