//! What can go wrong: files that are missing, truncated or of another format, values that are missing or not numbers, downloads that fail.
//!
//! Every message names the value, the limit and the way out.
//!
//! ```
//! let error = isinglass_data::idx::read_images(&b"PK\x03\x04 and more"[..]).unwrap_err();
//! assert_eq!(error.to_string(), "not an IDX file of images: it starts with 1347093252, not 2051 (bytes, three dimensions)");
//! ```

use std::io;
use std::path::{Path, PathBuf};

use isinglass_files::did_you_mean;
use thiserror::Error;

/// The error type of this crate.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// An error in a file, with the name of the file.
    #[error("{}: {source}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: Box<Error>,
    },

    /// No data set has this name.
    #[error("unknown data set {name:?}{}: use digits, mnist or fashion-mnist", did_you_mean(.0, ["digits", "mnist", "fashion-mnist"]), name = .0)]
    UnknownDataset(String),

    /// A data set that must be fetched first was not found.
    #[error(
        "{name} not found: no {file} or {file}.gz in {}; run `isinglass data fetch {name}`, or set ISINGLASS_DATA to the directory that holds {name}/",
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

    /// The system has no place for data.
    #[error("no home directory to keep data in: name a directory with --data-dir, or set ISINGLASS_DATA")]
    NoDirectory,

    /// The file could not be read.
    #[error("cannot be read: {0}")]
    Read(io::Error),

    /// The file could not be written.
    #[error("cannot be written: {0}")]
    Write(io::Error),

    /// Compressed contents that cannot be unpacked.
    #[error("the gzip stream is truncated or damaged ({0}): download the file again")]
    Gzip(io::Error),

    /// A compressed file unpacks to much more than its own length.
    #[error("unpacks to more than {} MiB, the limit for a compressed file of this length: unpack it first (gunzip), if it really is that large", .limit >> 20)]
    Unpacked {
        /// The limit in bytes.
        limit: u64,
    },

    /// An IDX file starts with the wrong number.
    #[error("not an IDX file of {what}: it starts with {found}, not {expected} ({meaning})")]
    Magic {
        /// `images` or `labels`.
        what: &'static str,
        /// The number at the start.
        found: u32,
        /// The number expected.
        expected: u32,
        /// What the expected number stands for.
        meaning: &'static str,
    },

    /// A file ends inside its header.
    #[error("the file ends after {length} bytes, inside its header")]
    Header {
        /// Length of the file in bytes.
        length: usize,
    },

    /// A file is shorter than its header says.
    #[error("truncated: the header announces {expected} bytes of data, the file has {found}; download the file again")]
    Truncated {
        /// Bytes announced.
        expected: u64,
        /// Bytes found.
        found: u64,
    },

    /// A file is longer than its header says.
    #[error("the file continues after the {expected} bytes of data its header announces")]
    Trailing {
        /// Bytes announced.
        expected: u64,
    },

    /// A shape that a data set cannot have.
    #[error("the shape {0} cannot be used: {1}")]
    Shape(String, &'static str),

    /// Images and labels differ in number.
    #[error("{images} images and {labels} labels: there must be one label for each image")]
    Counts {
        /// Number of images.
        images: usize,
        /// Number of labels.
        labels: usize,
    },

    /// A label that does not stand for a class.
    #[error("label {label} of row {row}: labels must be whole numbers from 0 to {largest}")]
    Label {
        /// The label as it was written.
        label: String,
        /// Its row, counted from 0.
        row: usize,
        /// The largest label allowed.
        largest: usize,
    },

    /// A number among labels that are words.
    #[error("label {label} of row {row}: labels are either all words or all whole numbers")]
    MixedLabels {
        /// The label as it was written.
        label: String,
        /// Its row, counted from 0.
        row: usize,
    },

    /// A label that is not among the names of the classes.
    #[error("label {label} of row {row} does not occur in the training examples; the classes are {known}")]
    UnknownName {
        /// The label.
        label: String,
        /// Its row, counted from 0.
        row: usize,
        /// The names.
        known: String,
    },

    /// More names of classes than labels can tell apart.
    #[error("more than 256 different labels: at most 256 classes are supported")]
    TooManyNames,

    /// A value is infinite, NaN, or too large for 32 bits.
    #[error("{value} in row {row}, column {column}: values must be finite 32-bit numbers")]
    NotFinite {
        /// The value as it was written.
        value: String,
        /// Its row, counted from 0.
        row: usize,
        /// Its column, counted from 0.
        column: usize,
    },

    /// A field of a CSV file is empty, or says that there is no value.
    #[error("missing value in row {row}, column {column} (line {line}): fill it in or drop the row")]
    MissingValue {
        /// Its row, counted from 0.
        row: usize,
        /// Its column, counted from 0, the label not included.
        column: usize,
        /// Its line in the file, counted from 1.
        line: usize,
    },

    /// A row of a CSV file has no label.
    #[error("missing label in row {row} (line {line}): fill it in or drop the row")]
    MissingLabel {
        /// Its row, counted from 0.
        row: usize,
        /// Its line in the file, counted from 1.
        line: usize,
    },

    /// A field of a CSV file is not a number.
    #[error("{value:?} in line {line}, field {field}: every field must be a number (only the first line may be a header)")]
    Field {
        /// The field.
        value: String,
        /// Its line, counted from 1.
        line: usize,
        /// Its place in the line, counted from 1.
        field: usize,
    },

    /// A line of a CSV file has more or fewer fields than the first.
    #[error("line {line} has {found} fields, the lines before it have {expected}")]
    Fields {
        /// The line, counted from 1.
        line: usize,
        /// Fields found.
        found: usize,
        /// Fields expected.
        expected: usize,
    },

    /// A line of a CSV file does not end.
    #[error("line {line} is longer than {} MiB: not a CSV file, or one without line ends", .limit >> 20)]
    LongLine {
        /// The line, counted from 1.
        line: usize,
        /// The limit in bytes.
        limit: u64,
    },

    /// A `.npy` file of a kind that is not supported.
    #[error("not a supported .npy file: {0}")]
    Npy(String),

    /// Images that do not fit the network.
    #[error("{0}")]
    Images(String),

    /// The file is of another format.
    #[error("not {0}")]
    Format(&'static str),

    /// Training and test images differ in shape.
    #[error("training images are {}×{}, test images {}×{}: they must have the same shape", .train.0, .train.1, .test.0, .test.1)]
    Splits {
        /// Height and width for training.
        train: (usize, usize),
        /// Height and width for testing.
        test: (usize, usize),
    },

    /// The contents differ from those published.
    #[error("SHA-256 of the contents is {found}, not {expected}: delete the file and fetch it again")]
    Checksum {
        /// The sum of the contents.
        found: String,
        /// The sum that was pinned.
        expected: &'static str,
    },

    /// The program that downloads files cannot be run.
    #[error(
        "cannot run curl, which downloads files ({0}): install it, build isinglass with `--features tls`, or copy the files from another machine"
    )]
    NoCurl(std::io::Error),

    /// No mirror delivered a file.
    #[error("cannot download {file}: {attempts}; without a network, copy the four files of {name} from another machine to {}", .directory.display())]
    Download {
        /// The data set.
        name: &'static str,
        /// The file.
        file: String,
        /// What happened at each mirror.
        attempts: String,
        /// Where files can be copied to.
        directory: PathBuf,
    },
}

impl Error {
    /// The same error with the name of the file.
    pub(crate) fn in_file(self, path: &Path) -> Self {
        Self::File { path: path.to_owned(), source: Box::new(self) }
    }
}
