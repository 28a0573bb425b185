//! Why a run cannot be made, opened or brought to its end.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::shell;

/// The error type of runs.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// Settings that are impossible, or a training that cannot go on.
    #[error(transparent)]
    Net(#[from] isinglass_net::Error),
    /// A data set is missing or damaged.
    #[error(transparent)]
    Data(#[from] isinglass_data::Error),
    /// The directory holds a run, or something else.
    #[error(
        "{} is not empty, and a run is never overwritten: resume it with `isinglass resume {}`, or choose another directory with --out",
        .0.display(),
        shell::path(.0)
    )]
    Exists(PathBuf),
    /// The directory cannot be made.
    #[error("cannot create the directory {}: {source}", .path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The directory holds no run.
    #[error("no run found in {}: {}", .0.display(), if .0.exists() { "it has no config.toml" } else { "there is no such directory" })]
    NoRun(PathBuf),
    /// The run has no checkpoint to look at.
    #[error("{} holds no {file}: no epoch has been finished; resume the run with `isinglass resume {}`", .directory.display(), shell::path(.directory))]
    NoCheckpoint {
        /// The run's directory.
        directory: PathBuf,
        /// The checkpoint's name.
        file: &'static str,
    },
    /// Another process is training this run.
    #[error("another process is training in {}: wait for it, or stop it first", .0.display())]
    Busy(PathBuf),
    /// Somebody asked the run to stop. What it takes to go on is saved.
    #[error("stopped as asked")]
    Stopped,
    /// The settings cannot be read.
    #[error("{}: {reason}", .path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Settings that do not go together.
    #[error("{0}")]
    Setting(String),
    /// The checkpoint was made with other settings than `config.toml` holds now.
    #[error("{}: these are not the settings the run began with ({what}); restore the file, or start another run", .path.display())]
    ConfigChanged {
        /// The file.
        path: PathBuf,
        /// What differs.
        what: &'static str,
    },
    /// The data do not fit the network.
    #[error("the network takes {inputs} inputs and knows {classes} classes, but {data} has {features} and {labels}")]
    Unfit {
        /// Inputs of the network.
        inputs: usize,
        /// Classes of the network.
        classes: usize,
        /// The data set.
        data: String,
        /// Values per example.
        features: usize,
        /// Classes of the data.
        labels: usize,
    },
    /// A line of `metrics.jsonl` is damaged.
    #[error("{}: line {line} is damaged ({reason}); the checkpoints are untouched: restore the line, or remove it to continue without it", .path.display())]
    Metrics {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// A network that does not fit the machine's memory.
    #[error("{shape}: training takes about {} of memory, and {} are available; use narrower or fewer layers, or a larger machine", memory(*.needed), memory(*.available))]
    Memory {
        /// The network's shape.
        shape: String,
        /// Bytes that training takes.
        needed: u64,
        /// Bytes that there are.
        available: u64,
    },
    /// A file cannot be read.
    #[error("cannot read {}: {source}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write {}: {source}; the last checkpoint is untouched", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

impl RunError {
    pub(crate) fn read(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Read { path, source }
    }

    pub(crate) fn write(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Write { path, source }
    }
}

/// `21.44 GiB`, or `300.38 MiB` where that says more.
pub(crate) fn memory(bytes: u64) -> String {
    match bytes as f64 / f64::from(1 << 30) {
        gib if gib >= 0.1 => format!("{gib:.2} GiB"),
        gib => format!("{:.2} MiB", gib * 1024.0),
    }
}
