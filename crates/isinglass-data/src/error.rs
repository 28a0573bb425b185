//! What can go wrong: a file that is missing, cut off or not what it should be, a value that is no number, a download that fails.
//!
//! Every message names the value, the limit and the way out.
//!
//! ```
//! let error = isinglass_data::idx::read_images(&b"PK\x03\x04 and more"[..]).unwrap_err();
//! assert_eq!(error.to_string(), "not an IDX file of images: it starts with 1347093252, not 2051 (bytes, three dimensions)");
//! ```

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// The error type of this crate.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// What went wrong in a file, with its name.
    #[error("{}: {source}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: Box<Error>,
    },

    /// The text names no data set.
    #[error("{0:?} is no data set: use digits, mnist or fashion-mnist")]
    UnknownDataset(String),

    /// A data set that is fetched is not where it is looked for.
    #[error(
        "{name} is not there: no {file} or {file}.gz in {}; run `isinglass data fetch {name}`, or set ISINGLASS_DATA to the directory that holds {name}/",
        .directory.display()
    )]
    Missing {
        /// The data set.
        name: &'static str,
        /// The first file that was not found.
        file: &'static str,
        /// Where it should be.
        directory: PathBuf,
    },

    /// The system offers no place for data.
    #[error("there is no home directory to keep data in: give a directory, or set ISINGLASS_DATA")]
    NoDirectory,

    /// The system could not read.
    #[error("cannot be read: {0}")]
    Read(io::Error),

    /// The system could not write.
    #[error("cannot be written: {0}")]
    Write(io::Error),

    /// Compressed contents that cannot be decompressed.
    #[error("the gzip stream is cut off or damaged ({0}): get the file again")]
    Gzip(io::Error),

    /// A compressed file unpacks to much more than its own length.
    #[error("unpacks to more than {} MiB, the limit for a compressed file of this length: unpack it first (gunzip), if it is meant to be so large", .limit >> 20)]
    Unpacked {
        /// The limit in bytes.
        limit: u64,
    },

    /// An IDX file starts with another number than it should.
    #[error("not an IDX file of {what}: it starts with {found}, not {expected} ({meaning})")]
    Magic {
        /// `images` or `labels`.
        what: &'static str,
        /// The number at the start.
        found: u32,
        /// The number that should be there.
        expected: u32,
        /// What that number stands for.
        meaning: &'static str,
    },

    /// A file ends before its header.
    #[error("the file ends after {length} bytes, inside its header")]
    Header {
        /// Bytes there are.
        length: usize,
    },

    /// A file ends before what its header promises.
    #[error("cut off: the header promises {expected} bytes of data, {found} are there; get the file again")]
    Truncated {
        /// Bytes promised.
        expected: u64,
        /// Bytes there are.
        found: u64,
    },

    /// A file goes on after what its header promises.
    #[error("the file goes on after the {expected} bytes of data its header promises")]
    Trailing {
        /// Bytes promised.
        expected: u64,
    },

    /// A shape that no data set has.
    #[error("the shape {0} cannot be used: {1}")]
    Shape(String, &'static str),

    /// Images and labels do not belong together.
    #[error("{images} images and {labels} labels: there must be one label for each image")]
    Counts {
        /// Number of images.
        images: usize,
        /// Number of labels.
        labels: usize,
    },

    /// A label stands for no class.
    #[error("label {label} of row {row}: labels must be whole numbers from 0 to {largest}")]
    Label {
        /// The label as it was written.
        label: String,
        /// Its row, counted from 0.
        row: usize,
        /// The largest label allowed.
        largest: usize,
    },

    /// A value is infinite, no number, or too large for 32 bits.
    #[error("{value} in row {row}, column {column}: values must be finite numbers (of 32 bits)")]
    NotFinite {
        /// The value as it was written.
        value: String,
        /// Its row, counted from 0.
        row: usize,
        /// Its column, counted from 0.
        column: usize,
    },

    /// A field of a CSV file is no number.
    #[error("{value:?} in line {line}, field {field}: every field must be a number (only the first line may be a header)")]
    Field {
        /// The field.
        value: String,
        /// Its line, counted from 1.
        line: usize,
        /// Its place in the line, counted from 1.
        field: usize,
    },

    /// A line of a CSV file has another number of fields than the first.
    #[error("line {line} has {found} fields, the lines before it have {expected}")]
    Fields {
        /// The line, counted from 1.
        line: usize,
        /// Fields there are.
        found: usize,
        /// Fields there should be.
        expected: usize,
    },

    /// A `.npy` file that is not of the simple kind read here.
    #[error("not a .npy file that can be read here: {0}")]
    Npy(String),

    /// Images that a network cannot look at.
    #[error("{0}")]
    Images(String),

    /// The file is of no known format.
    #[error("this is no {0}")]
    Format(&'static str),

    /// Training and test images differ in shape.
    #[error("training images are {}×{}, test images {}×{}: they must be alike", .train.0, .train.1, .test.0, .test.1)]
    Splits {
        /// Height and width for training.
        train: (usize, usize),
        /// Height and width for testing.
        test: (usize, usize),
    },

    /// A file's contents are not the ones that were published.
    #[error("SHA-256 of the contents is {found}, not {expected}: delete the file and fetch it again")]
    Checksum {
        /// The sum of what is there.
        found: String,
        /// The sum that was pinned.
        expected: &'static str,
    },

    /// No mirror delivered a file.
    #[error("cannot download {file}: {attempts}; without a network, copy the four files of {name} from another machine to {}", .directory.display())]
    Download {
        /// The data set.
        name: &'static str,
        /// The file.
        file: String,
        /// What happened at each mirror.
        attempts: String,
        /// Where files can be put by hand.
        directory: PathBuf,
    },
}

impl Error {
    /// The same, with the name of the file it is about.
    pub(crate) fn in_file(self, path: &Path) -> Self {
        Self::File { path: path.to_owned(), source: Box::new(self) }
    }
}
