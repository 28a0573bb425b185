//! Training runs: a directory each, which a run that was stopped at any moment goes on from to the very same end.
//!
//! | file | holds |
//! |---|---|
//! | `config.toml` | the settings, with nothing left open ([`RunConfig`]) |
//! | `metrics.jsonl` | what happened, one JSON object to a line |
//! | `last.safetensors` | the network after the last epoch, and all it takes to go on |
//! | `best.safetensors` | the same after the epoch with the best validation accuracy |
//! | `summary.json` | the result; there once the run has ended |
//! | `model.safetensors` | the packed network, where the settings name a [recipe](crate::recipe); made after `summary.json`, by the commands |
//!
//! After an epoch `best`, the line of `metrics.jsonl` and `last` are written in this order, checkpoints by renaming complete files. Whatever is
//! there when the process dies, `last` is a state the run was in, and everything after it is done again in the same way.
//!
//! ```no_run
//! use std::sync::atomic::AtomicBool;
//!
//! use isinglass_runs::run::{Options, Run, RunConfig};
//!
//! let config = RunConfig { hidden: Some(vec![512, 256]), epochs: 5, ..RunConfig::default() }.resolved()?;
//! let data = config.load_data(None)?;
//! let mut run = Run::create("runs/a".as_ref(), config)?;
//! let summary = run.train(&data, &Options::default(), &AtomicBool::new(false), &mut |_| {})?;
//! println!("{:?}", summary.evaluation.test.binary);
//! # Ok::<(), isinglass_runs::run::RunError>(())
//! ```

pub(crate) mod config;
mod data;
pub(crate) mod error;
mod evaluation;
mod fit;
mod inspection;
pub(crate) mod lock;
pub(crate) mod longer;
mod metrics;
pub(crate) mod name;
mod overview;
mod picture;
mod reach;
mod summary;
pub(crate) mod toml_text;
mod training;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use isinglass_net::{Checkpoint, Features, Partition};

pub use config::{Open, RunConfig, check_samples, parse_neuron};
pub use data::{DataShape, check_fit, examples, values};
pub use error::RunError;
pub use evaluation::{Behind, Evaluation, Part, Sampling, Scores};
pub use fit::{Fit, Fitted, Halt};
pub use inspection::{InitialisationSummary, Inspection, LayerSummary, NetworkSummary, Size};
use lock::Lock;
pub use metrics::{DataFacts, Diagnosed, Epoch, Final, Line, Resume, Start, When, epochs, read_metrics};
pub use name::run_name;
pub use overview::{Difference, Overview, State, compared_curves, differences, find_runs};
pub use picture::{curves, insides};
pub use summary::Summary;
pub use training::{Event, Options, Ready};

/// The settings.
pub const CONFIG: &str = "config.toml";
/// What happened.
pub const METRICS: &str = "metrics.jsonl";
/// The checkpoint to go on from.
pub const LAST: &str = "last.safetensors";
/// The best checkpoint by validation.
pub const BEST: &str = "best.safetensors";
/// The result.
pub const SUMMARY: &str = "summary.json";
/// The packed network of a run that follows a recipe.
pub const MODEL: &str = "model.safetensors";

/// A run's directory, held against other processes as long as this lives.
#[derive(Debug)]
pub struct Run {
    directory: PathBuf,
    config: RunConfig,
    /// Whether the directory is gone once the run has ended: then nothing is written that only a later reader needs.
    is_scratch: bool,
    /// What a shorter run left to begin with.
    earlier: Option<Box<longer::Earlier>>,
    _lock: Lock,
}

impl Run {
    /// Makes the directory of a new run. It may be there, if it is empty.
    ///
    /// # Errors
    ///
    /// [`RunError::Exists`] if there is something in it, those of [`RunConfig::resolved`] before anything is made.
    pub fn create(directory: &Path, config: RunConfig) -> Result<Self, RunError> {
        let config = config.resolved()?;
        let unmade = |source| RunError::Directory { path: directory.to_owned(), source };
        fs::create_dir_all(directory).map_err(unmade)?;
        // Looked at twice: nothing is left in a directory of somebody else, and nobody comes in between.
        let is_empty = || entries(directory).map(|names| names.iter().all(|name| name.starts_with('.'))).map_err(unmade);
        if !is_empty()? {
            return Err(RunError::Exists(directory.to_owned()));
        }
        let lock = Lock::take(directory)?;
        if !is_empty()? {
            return Err(RunError::Exists(directory.to_owned()));
        }
        let path = directory.join(CONFIG);
        isinglass_files::write(&path, config.to_toml().as_bytes()).map_err(RunError::write(&path))?;
        Ok(Self { directory: directory.to_owned(), config, is_scratch: false, earlier: None, _lock: lock })
    }

    /// Opens a run to go on with it.
    ///
    /// # Errors
    ///
    /// [`RunError::NoRun`], [`RunError::Busy`], and those of reading its settings.
    pub fn open(directory: &Path) -> Result<Self, RunError> {
        let config = read_config(directory)?.resolved()?;
        let lock = Lock::take(directory)?;
        remove_unfinished(directory)?;
        Ok(Self { directory: directory.to_owned(), config, is_scratch: false, earlier: None, _lock: lock })
    }

    /// A run whose directory only lives until its end: made anew, or gone on with if it holds a checkpoint of these settings. It has no `config.toml`, no
    /// `best.safetensors` and no `summary.json`, and waits for the disk only when it saves a checkpoint.
    pub(crate) fn scratch(directory: &Path, config: RunConfig) -> Result<Self, RunError> {
        fs::create_dir_all(directory).map_err(|source| RunError::Directory { path: directory.to_owned(), source })?;
        let lock = Lock::take(directory)?;
        remove_unfinished(directory)?;
        Ok(Self { directory: directory.to_owned(), config, is_scratch: true, earlier: None, _lock: lock })
    }

    /// Begins where a shorter run ended, unless it has begun already.
    pub(crate) fn begin_with(&mut self, earlier: longer::Earlier) {
        if !self.path(LAST).exists() {
            self.earlier = Some(Box::new(earlier));
        }
    }

    /// Forgets everything but the settings, so that the run starts again.
    pub(crate) fn restart(&mut self) -> Result<(), RunError> {
        for file in [LAST, BEST, SUMMARY, METRICS] {
            let path = self.path(file);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(RunError::write(&path)(error)),
                _ => {}
            }
        }
        Ok(())
    }

    /// Where the run is kept.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The settings.
    pub fn config(&self) -> &RunConfig {
        &self.config
    }

    /// The result, if the run has ended.
    ///
    /// # Errors
    ///
    /// [`RunError::Read`] and [`RunError::Config`] if the file is damaged.
    pub fn summary(&self) -> Result<Option<Summary>, RunError> {
        read_summary(&self.directory)
    }

    fn path(&self, file: &str) -> PathBuf {
        self.directory.join(file)
    }
}

impl RunConfig {
    /// Checks the settings against the data, before a directory is made for them.
    ///
    /// # Errors
    ///
    /// If there is no such network, or no example is left to train with.
    pub fn check_with(&self, data: impl Into<DataShape>) -> Result<(), RunError> {
        let data = data.into();
        self.network_config(data.inputs(), data.classes)?;
        Partition::new(data.examples, &self.train_config()?)?;
        let (height, width) = data.size;
        if self.augment > 0 && (self.features_of(data) != Features::Image || height != width || self.augment >= width) {
            return Err(RunError::Setting(format!(
                "augment = {}: only square images can be shifted, by less than their side, and these examples are {height} × {width}",
                self.augment
            )));
        }
        Ok(())
    }
}

/// The settings of a run.
///
/// # Errors
///
/// [`RunError::NoRun`] if there is none, [`RunError::Config`] if its settings cannot be read.
pub fn read_config(directory: &Path) -> Result<RunConfig, RunError> {
    let path = directory.join(CONFIG);
    if !path.is_file() {
        return Err(RunError::NoRun(directory.to_owned()));
    }
    RunConfig::read(&path)
}

/// The result of a run, if it has ended.
///
/// # Errors
///
/// [`RunError::Read`] and [`RunError::Config`] if the file is damaged.
pub fn read_summary(directory: &Path) -> Result<Option<Summary>, RunError> {
    let path = directory.join(SUMMARY);
    let damaged = |error: &dyn std::fmt::Display| RunError::Config {
        path: path.clone(),
        reason: format!("damaged ({error}); remove the file and resume the run to have it made again"),
    };
    match isinglass_files::read(&path) {
        Ok(bytes) => {
            let summary: Summary = serde_json::from_slice(&bytes).map_err(|error| damaged(&error))?;
            if summary.inspection.layers.is_empty() { Err(damaged(&"not the result of a run")) } else { Ok(Some(summary)) }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(RunError::read(&path)(error)),
    }
}

/// One of a run's checkpoints: [`LAST`] or [`BEST`].
///
/// # Errors
///
/// [`RunError::NoCheckpoint`] if there is none yet, those of [`Checkpoint::load`].
pub fn read_checkpoint(directory: &Path, file: &'static str) -> Result<Checkpoint, RunError> {
    let path = directory.join(file);
    if !path.exists() {
        return Err(RunError::NoCheckpoint { directory: directory.to_owned(), file });
    }
    Ok(Checkpoint::load(&path)?)
}

/// Removes what a process that was killed had not finished writing: temporary files of a run's own files, and nothing else that may be there.
fn remove_unfinished(directory: &Path) -> Result<(), RunError> {
    const OWN: [&str; 6] = [CONFIG, METRICS, LAST, BEST, SUMMARY, MODEL];
    let is_own = |name: &&String| OWN.iter().any(|file| isinglass_files::is_temporary_of(name, file));
    for name in entries(directory).map_err(RunError::read(directory))?.iter().filter(is_own) {
        let path = directory.join(name);
        if fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_file()) {
            fs::remove_file(&path).map_err(RunError::write(&path))?;
        }
    }
    Ok(())
}

fn entries(directory: &Path) -> io::Result<Vec<String>> {
    fs::read_dir(directory)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
}
