//! Data sets for small networks: images with labels, as bytes.
//!
//! | name | what | from |
//! |---|---|---|
//! | `digits` | 20 000 + 5 000 digits of 28 × 28, drawn by this library | [`digits`], nothing to download |
//! | `mnist` | 60 000 + 10 000 handwritten digits of 28 × 28 | [`archive`], downloaded by [`fetch`](fetch::fetch) |
//! | `fashion-mnist` | 60 000 + 10 000 articles of clothing of 28 × 28 | the same |
//! | your own | IDX or `.npy` pairs, CSV | [`Dataset::from_files`] |
//!
//! ```
//! let data = isinglass_data::load("digits", None)?;
//! assert_eq!((data.train.len(), data.test.len(), data.classes), (20_000, 5_000, 10));
//! assert_eq!(data.train.shape(), (28, 28));
//! assert_eq!(data.test.class_counts(10), [500; 10]);
//! # Ok::<(), isinglass_data::Error>(())
//! ```
//!
//! Every reader is strict: a file that is too short or too long, or has missing values, labels without a class or values that are not numbers, is an [`Error`]
//! that says which and where.

mod contents;
mod dataset;
mod error;
mod files;
mod verified;

pub mod archive;
pub mod csv;
pub mod digits;
pub mod fetch;
pub mod idx;
pub mod images;
pub mod npy;

use std::path::Path;

pub use archive::{Archive, data_directory};
pub use contents::sha256_of;
pub use dataset::{Dataset, Image, Pixels, Split};
pub use error::Error;

/// The data set of that name, looked for in `directory` or where [`data_directory`] says.
///
/// # Errors
///
/// [`Error::UnknownDataset`], and those of [`Archive::load`].
pub fn load(name: &str, directory: Option<&Path>) -> Result<Dataset, Error> {
    if name == "digits" {
        return Ok(digits::dataset());
    }
    let archive = Archive::named(name).ok_or_else(|| Error::UnknownDataset(name.to_owned()))?;
    archive.load(&data_directory(directory)?)
}
