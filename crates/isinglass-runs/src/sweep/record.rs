//! A finished cell: what it came to, and how it was run.

use std::time::SystemTime;

use isinglass_net::{Error as NetError, LayerDiagnosis, Score};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Cell;
use crate::run::name::iso_time;
use crate::run::{
    Behind, Epoch, Evaluation, InitialisationSummary, Line, NetworkSummary, Part, RunConfig, RunError, Scores, Size, Summary, epochs,
};
use crate::sealed::{self, Seal};

/// The format of `cells/<name>.json`. Files of format 1 state none, and have neither a checksum nor the kind of an error.
const FORMAT: u32 = 2;

/// The contents of `cells/<name>.json`. Everything but `run` depends on the settings alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The format of the file.
    #[serde(default = "first_format")]
    pub format: u32,
    /// The cell's name.
    pub cell: String,
    /// Its place in the grid.
    pub axes: Map<String, Value>,
    /// Its settings.
    pub config: RunConfig,
    /// What it came to; `None` if it failed.
    pub result: Option<CellResult>,
    /// Why it failed.
    pub error: Option<String>,
    /// What kind of error that was.
    #[serde(default)]
    pub error_kind: Option<ErrorKind>,
    /// How it was run.
    pub run: RunFacts,
}

/// What is kept of a run: not its histograms, which would be most of it, nor its times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellResult {
    /// The data set's name.
    pub data: String,
    /// Epochs of the run.
    pub epochs: usize,
    /// Steps of the run.
    pub steps: u64,
    /// The epoch with the best validation accuracy.
    pub best_epoch: Option<usize>,
    /// What the user should know about these settings.
    #[serde(default)]
    pub notices: Vec<String>,
    /// How good the network is.
    #[serde(flatten)]
    pub evaluation: Evaluation,
    /// What it consists of.
    pub network: NetworkSummary,
    /// How it was drawn.
    pub initialisation: InitialisationSummary,
    /// Layer by layer, the output layer last.
    pub layers: Vec<CellLayer>,
    /// Epoch by epoch.
    pub curve: Vec<CurvePoint>,
}

/// A layer after training: its [`LayerDiagnosis`] without histograms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)] // See LayerDiagnosis.
pub struct CellLayer {
    pub layer: usize,
    pub inputs: usize,
    pub outputs: usize,
    pub sigma_m2: Option<f64>,
    pub sigma_b2: Option<f64>,
    pub polarised: Option<f64>,
    pub flip_ratio: Option<f64>,
    pub field_variance: Option<f64>,
    pub predicted_variance: Option<f64>,
    #[serde(default)]
    pub carries: bool,
    pub chi_1: Option<f64>,
    pub saturated: Option<f64>,
    pub gradient_norm: Option<f64>,
    pub initial_sigma_m2: Option<f64>,
}

/// An epoch: its [`Epoch`] without times and gradients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)] // See Epoch.
pub struct CurvePoint {
    pub epoch: usize,
    pub lr: f64,
    pub beta: f64,
    pub train: Score,
    pub validation: Option<Score>,
    pub validation_binary: Option<Score>,
    pub best: bool,
}

/// Why a cell failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorKind {
    /// The loss diverged: the network counts as untrained.
    Diverged,
    /// Settings that are impossible.
    Settings,
    /// Data that are missing or damaged.
    Data,
    /// A network that does not fit the memory.
    Memory,
    /// Files of the run that are damaged.
    Damaged,
    /// Files that could not be read or written.
    Io,
    /// A defect of this program.
    Panic,
    /// Anything else.
    #[serde(other)]
    Other,
}

impl ErrorKind {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Diverged => "diverged",
            Self::Settings => "settings",
            Self::Data => "data",
            Self::Memory => "memory",
            Self::Damaged => "damaged",
            Self::Io => "io",
            Self::Panic => "panic",
            Self::Other => "other",
        }
    }

    /// The kind of an error.
    pub fn of(error: &RunError) -> Self {
        match error {
            RunError::Net(NetError::Diverged { .. }) => Self::Diverged,
            RunError::Net(NetError::Checkpoint { .. }) | RunError::Metrics { .. } | RunError::ConfigChanged { .. } => Self::Damaged,
            RunError::Net(NetError::Read { .. } | NetError::Write { .. })
            | RunError::Read { .. }
            | RunError::Write { .. }
            | RunError::Directory { .. } => Self::Io,
            RunError::Net(NetError::Config(_) | NetError::UnknownName { .. } | NetError::Theory(_) | NetError::Layer(_)) => Self::Settings,
            RunError::Setting(_) | RunError::Config { .. } => Self::Settings,
            RunError::Net(NetError::Examples(_)) | RunError::Data(_) | RunError::Unfit { .. } => Self::Data,
            RunError::Memory { .. } => Self::Memory,
            _ => Self::Other,
        }
    }

    /// In files of format 1 only the message tells.
    fn of_message(message: &str) -> Self {
        match message {
            text if text.contains("training diverged") => Self::Diverged,
            text if text.starts_with("it panicked") => Self::Panic,
            text if text.starts_with("cannot read") || text.starts_with("cannot write") => Self::Io,
            _ => Self::Other,
        }
    }
}

/// What depends on clock, machine and threads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunFacts {
    /// Everybody who worked on the cell, in order.
    pub attempts: Vec<Attempt>,
    /// How long the last of them took.
    pub seconds: f64,
    /// The same, times the number of threads.
    pub core_seconds: f64,
    /// When the last of them ended.
    pub ended: String,
    /// The version that wrote this.
    pub version: String,
}

/// Somebody who worked on a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// When it began, in UTC.
    pub began: String,
    /// The machine's name.
    pub host: String,
    /// The process.
    pub process: u32,
    /// Threads at its beginning.
    pub threads: usize,
}

impl Attempt {
    pub(crate) fn new(threads: usize) -> Self {
        Self { began: iso_time(SystemTime::now()), host: host(), process: std::process::id(), threads }
    }
}

/// How long an attempt took.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Spent {
    pub seconds: f64,
    pub core_seconds: f64,
}

/// How a cell failed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Failure {
    pub kind: ErrorKind,
    pub message: String,
}

impl From<&RunError> for Failure {
    fn from(error: &RunError) -> Self {
        Self { kind: ErrorKind::of(error), message: error.to_string() }
    }
}

fn first_format() -> u32 {
    1
}

impl Record {
    /// Puts a finished cell on record: the summary of its run and the lines of its metrics, or what went wrong.
    pub(crate) fn new(cell: &Cell, outcome: Result<(Summary, Vec<Line>), Failure>, attempts: Vec<Attempt>, spent: Spent) -> Self {
        let (result, failure) = match outcome {
            Ok((summary, lines)) => (Some(CellResult::new(summary, &lines)), None),
            Err(failure) => (None, Some(failure)),
        };
        Self {
            format: FORMAT,
            cell: cell.name.clone(),
            axes: cell.axes.iter().cloned().collect(),
            config: without_place(&cell.config),
            result,
            error_kind: failure.as_ref().map(|failure| failure.kind),
            error: failure.map(|failure| failure.message),
            run: RunFacts {
                attempts,
                seconds: spent.seconds,
                core_seconds: spent.core_seconds,
                ended: iso_time(SystemTime::now()),
                version: env!("CARGO_PKG_VERSION").to_owned(),
            },
        }
    }

    /// A record whose networks have these accuracies, and nothing else of interest: for tests of what reads records.
    #[doc(hidden)]
    pub fn with_accuracies(cell: &Cell, accuracy: impl Fn(Part, Behind) -> f64) -> Self {
        let score = |part, network| Score { accuracy: accuracy(part, network), nll: 1.0 };
        let scores =
            |part| Scores { surrogate: score(part, Behind::Surrogate), binary: Some(score(part, Behind::Binary)), stochastic: Vec::new() };
        let evaluation = Evaluation { test: scores(Part::Test), train: scores(Part::Train), validation: None };
        let network = NetworkSummary { shape: String::new(), surrogate: String::new(), neuron: String::new(), size: Size::default() };
        let initialisation = InitialisationSummary { distribution: String::new(), sigma_m2: None, sigma_b2: 0.0, reason: String::new() };
        let result = CellResult {
            data: String::new(),
            epochs: 1,
            steps: 1,
            best_epoch: None,
            notices: Vec::new(),
            evaluation,
            network,
            initialisation,
            layers: Vec::new(),
            curve: Vec::new(),
        };
        let failed = Failure { kind: ErrorKind::Other, message: String::new() };
        Self { result: Some(result), error: None, error_kind: None, ..Self::new(cell, Err(failed), Vec::new(), Spent::default()) }
    }

    /// The record as a file.
    pub(crate) fn to_text(&self) -> String {
        sealed::seal(self)
    }

    /// Reads a cell's file, and checks that it is whole and of that cell.
    ///
    /// # Errors
    ///
    /// What is wrong with it, in words.
    pub(crate) fn read(bytes: &[u8], cell: &Cell) -> Result<Self, String> {
        let mut record: Self = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        match (record.format, sealed::check(bytes)) {
            (FORMAT, Seal::Whole) | (1, Seal::Missing) => {}
            (FORMAT, _) => return Err("its contents do not match its checksum".into()),
            (1, _) => return Err("it states no format".into()),
            (newer, _) => return Err(format!("its format is {newer}, and this version of isinglass knows formats up to {FORMAT}")),
        }
        if record.cell != cell.name {
            return Err(format!("it is the record of the cell {}", record.cell));
        }
        if record.config != without_place(&cell.config) {
            return Err("its settings are not those of the cell".into());
        }
        if record.result.is_some() == record.error.is_some() {
            return Err("it has both a result and an error, or neither".into());
        }
        if let (None, Some(error)) = (record.error_kind, &record.error) {
            record.error_kind = Some(ErrorKind::of_message(error));
        }
        Ok(record)
    }

    /// Whether there is no result.
    pub fn is_failed(&self) -> bool {
        self.error.is_some()
    }

    /// Whether training diverged: such a network counts as untrained. Any other failure says nothing about the network.
    pub fn is_untrained(&self) -> bool {
        self.error_kind == Some(ErrorKind::Diverged)
    }
}

/// Where the data were found is no part of what a cell is.
pub(super) fn without_place(config: &RunConfig) -> RunConfig {
    RunConfig { data_dir: None, ..config.clone() }
}

impl CellResult {
    fn new(summary: Summary, lines: &[Line]) -> Self {
        let inspection = summary.inspection;
        Self {
            data: summary.data,
            epochs: summary.epochs,
            steps: summary.steps,
            best_epoch: summary.best_epoch,
            notices: summary.notices,
            evaluation: summary.evaluation,
            network: inspection.network,
            initialisation: inspection.initialisation,
            layers: inspection.layers.iter().map(|layer| CellLayer::new(&layer.diagnosis, layer.initial_sigma_m2)).collect(),
            curve: epochs(lines).map(CurvePoint::from).collect(),
        }
    }

    /// The mean over all weights of what layers say about theirs.
    pub fn mean_over_weights(&self, value: impl Fn(&CellLayer) -> Option<f64>) -> Option<f64> {
        let (mut sum, mut weights) = (0.0, 0.0);
        for layer in &self.layers {
            let own = (layer.inputs * layer.outputs) as f64;
            sum += own * value(layer)?;
            weights += own;
        }
        (weights > 0.0).then_some(sum / weights)
    }
}

impl CellLayer {
    fn new(layer: &LayerDiagnosis, initial_sigma_m2: f64) -> Self {
        let finite = |x: f64| x.is_finite().then_some(x);
        Self {
            layer: layer.layer,
            inputs: layer.inputs,
            outputs: layer.outputs,
            sigma_m2: finite(layer.sigma_m2),
            sigma_b2: finite(layer.sigma_b2),
            polarised: finite(layer.polarised),
            flip_ratio: layer.flip_ratio,
            field_variance: finite(layer.field_variance),
            predicted_variance: layer.predicted_variance,
            carries: layer.carries,
            chi_1: layer.chi_1,
            saturated: layer.saturated,
            gradient_norm: finite(layer.gradient_norm),
            initial_sigma_m2: finite(initial_sigma_m2),
        }
    }
}

impl From<&Epoch> for CurvePoint {
    fn from(epoch: &Epoch) -> Self {
        Self {
            epoch: epoch.epoch,
            lr: epoch.lr,
            beta: epoch.beta,
            train: epoch.train,
            validation: epoch.validation,
            validation_binary: epoch.validation_binary,
            best: epoch.best,
        }
    }
}

fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let name = name.or_else(|| std::env::var("HOSTNAME").ok()).or_else(|| std::env::var("COMPUTERNAME").ok());
    name.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).unwrap_or_else(|| "unknown".to_owned())
}
