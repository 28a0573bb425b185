//! `metrics.jsonl`: one JSON object to a line, in the order things happened.
//!
//! Lines are written before the checkpoint of the same step. So a run that was killed may have lines that its checkpoint knows nothing of, or
//! half a line at the end; both are cut off when it resumes. Anything else that cannot be read is damage, and an error.

use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use isinglass_net::{EpochReport, LayerDiagnosis, Score};
use serde::{Deserialize, Serialize};

use super::{Evaluation, InitialisationSummary, RunConfig, RunError, Size};

/// The format of these lines; the first one states it.
pub const FORMAT: u32 = 1;

/// A line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Line {
    /// The first: what was trained.
    Start(Box<Start>),
    /// Somebody continued the run.
    Resume(Resume),
    /// The insides of the network, before training and after.
    Diagnosis(Diagnosed),
    /// An epoch has ended.
    Epoch(Epoch),
    /// The last: how good the network is.
    Final(Box<Final>),
}

/// What was trained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Start {
    /// The format of the file.
    #[serde(default = "first_format")]
    pub format: u32,
    /// 0.
    pub step: u64,
    /// The version that began the run.
    pub version: String,
    /// Threads at its beginning.
    pub threads: usize,
    /// The settings.
    pub config: RunConfig,
    /// The data.
    pub data: DataFacts,
    /// The size of the network.
    pub network: Size,
    /// What the initialisation came to.
    pub initialisation: InitialisationSummary,
    /// What the user should know about these settings.
    #[serde(default)]
    pub notices: Vec<String>,
}

/// The data of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataFacts {
    /// The set's name.
    pub name: String,
    /// Whether its files are the published ones; `None` for other data.
    #[serde(default)]
    pub published: Option<bool>,
    /// Values per example.
    pub inputs: usize,
    /// Number of classes.
    pub classes: usize,
    /// Examples to train with.
    pub train: usize,
    /// Examples held out.
    pub validation: usize,
    /// Examples to test with.
    pub test: usize,
}

/// Somebody continued the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resume {
    /// From where.
    pub step: u64,
    /// With which version.
    pub version: String,
    /// With how many threads.
    pub threads: usize,
}

/// When a network was looked into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum When {
    /// Before the first step.
    Start,
    /// After the last.
    End,
}

/// The insides of the network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Diagnosed {
    /// Before or after training.
    pub when: When,
    /// The step.
    pub step: u64,
    /// Layer by layer.
    pub layers: Vec<LayerDiagnosis>,
}

/// An epoch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Epoch {
    /// Counted from 1.
    pub epoch: usize,
    /// Its last step.
    pub step: u64,
    /// Learning rate of that step.
    pub lr: f64,
    /// `β` of that step.
    pub beta: f64,
    /// The surrogate during training.
    pub train: Score,
    /// The surrogate on the examples held out; `None` if there are none.
    pub validation: Option<Score>,
    /// `sign(M)` on them; `None` also without binary weights.
    pub validation_binary: Option<Score>,
    /// Whether no earlier epoch was better.
    pub best: bool,
    /// Per layer, the norm of the gradient with respect to the means; `None` where it is not finite.
    pub gradient_norms: Vec<Option<f64>>,
    /// How long it took.
    pub seconds: f64,
    /// How fast it was.
    pub samples_per_second: f64,
}

/// How good the network is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Final {
    /// The last step.
    pub step: u64,
    /// The scores.
    #[serde(flatten)]
    pub evaluation: Evaluation,
}

fn first_format() -> u32 {
    1
}

impl Epoch {
    /// An epoch that took `seconds` for `samples` examples.
    pub(crate) fn new(report: &EpochReport, step: u64, samples: usize, seconds: f64) -> Self {
        Self {
            epoch: report.epoch,
            step,
            lr: report.lr,
            beta: report.beta,
            train: report.train,
            validation: report.validation,
            validation_binary: report.validation_binary,
            best: report.is_best,
            gradient_norms: report.gradient_norms.iter().map(|norm| norm.is_finite().then_some(*norm)).collect(),
            seconds,
            samples_per_second: samples as f64 / seconds,
        }
    }
}

impl Line {
    /// The step it belongs to.
    pub fn step(&self) -> u64 {
        match self {
            Self::Start(line) => line.step,
            Self::Resume(line) => line.step,
            Self::Diagnosis(line) => line.step,
            Self::Epoch(line) => line.step,
            Self::Final(line) => line.step,
        }
    }

    /// Whether it is part of the final report, which is made again if the run is not known to have ended.
    fn is_result(&self) -> bool {
        matches!(self, Self::Final(_) | Self::Diagnosis(Diagnosed { when: When::End, .. }))
    }
}

/// The file, open for appending.
#[derive(Debug)]
pub(crate) struct Metrics {
    path: PathBuf,
    file: File,
    /// Whether every line waits for the disk.
    is_durable: bool,
}

impl Metrics {
    /// Opens the file of a run that stands at `step`, and gives back the lines that still hold.
    pub(crate) fn open(path: &Path, step: u64, is_durable: bool) -> Result<(Self, Vec<Line>), RunError> {
        let mut file = OpenOptions::new().create(true).read(true).write(true).truncate(false).open(path).map_err(RunError::write(path))?;
        let text = std::fs::read(path).map_err(RunError::read(path))?;
        let mut kept: Vec<(Line, usize)> =
            parse(path, &text)?.into_iter().take_while(|(line, _)| !line.is_result() && line.step() <= step).collect();
        if !kept.iter().any(|(line, _)| matches!(line, Line::Diagnosis(_))) {
            // It was stopped before there was anything to keep.
            kept.clear();
        }
        let length = kept.last().map_or(0, |(_, end)| *end);
        file.set_len(length as u64).and_then(|()| file.seek(SeekFrom::End(0))).map_err(RunError::write(path))?;
        Ok((Self { path: path.to_owned(), file, is_durable }, kept.into_iter().map(|(line, _)| line).collect()))
    }

    /// Adds a line.
    pub(crate) fn append(&mut self, line: &Line) -> Result<(), RunError> {
        let mut text = serde_json::to_vec(line).expect("records are JSON");
        text.push(b'\n');
        self.file.write_all(&text).map_err(RunError::write(&self.path))?;
        if self.is_durable { self.sync() } else { Ok(()) }
    }

    /// Sees that all lines reach the disk: always before a checkpoint that they belong to.
    pub(crate) fn sync(&self) -> Result<(), RunError> {
        self.file.sync_data().map_err(RunError::write(&self.path))
    }
}

/// All whole lines, each with the place where it ends. Only the last may be torn: it has no end of line.
fn parse(path: &Path, text: &[u8]) -> Result<Vec<(Line, usize)>, RunError> {
    let mut lines: Vec<(Line, usize)> = Vec::new();
    let mut end = 0;
    let mut last_epoch = 0;
    for (index, line) in text.split_inclusive(|byte| *byte == b'\n').enumerate() {
        end += line.len();
        if !line.ends_with(b"\n") {
            break;
        }
        let damaged = |reason: String| RunError::Metrics { path: path.to_owned(), line: index + 1, reason };
        let line =
            serde_json::from_slice(line).map_err(|error| damaged(format!("column {}: not what isinglass writes", error.column())))?;
        if let Line::Epoch(epoch) = &line {
            // One that was damaged may have been removed, but the others are in order.
            if epoch.epoch <= last_epoch {
                return Err(damaged(format!("epoch {} after epoch {last_epoch}", epoch.epoch)));
            }
            last_epoch = epoch.epoch;
        }
        lines.push((line, end));
    }
    Ok(lines)
}

/// All lines of a run's `metrics.jsonl`, but for a torn one at the end.
///
/// # Errors
///
/// [`RunError::Read`], and [`RunError::Metrics`] if a line is damaged.
pub fn read_metrics(directory: &Path) -> Result<Vec<Line>, RunError> {
    let path = directory.join(super::METRICS);
    let text = std::fs::read(&path).map_err(RunError::read(&path))?;
    Ok(parse(&path, &text)?.into_iter().map(|(line, _)| line).collect())
}

/// The epochs among the lines of a run.
pub fn epochs(lines: &[Line]) -> impl Iterator<Item = &Epoch> {
    lines.iter().filter_map(|line| if let Line::Epoch(epoch) = line { Some(epoch) } else { None })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The epochs have five steps.
    fn epoch(step: u64) -> Line {
        let train = Score { accuracy: 0.5, nll: f64::NAN };
        Line::Epoch(Epoch {
            epoch: step as usize / 5,
            step,
            lr: 0.1,
            beta: 1.0,
            train,
            validation: None,
            validation_binary: None,
            best: true,
            gradient_norms: vec![Some(1.5), None],
            seconds: 0.25,
            samples_per_second: 4.0,
        })
    }

    fn diagnosis(when: When, step: u64) -> Line {
        Line::Diagnosis(Diagnosed { when, step, layers: Vec::new() })
    }

    fn text_of(lines: &[Line]) -> String {
        lines.iter().map(|line| serde_json::to_string(line).unwrap() + "\n").collect()
    }

    fn all() -> Vec<Line> {
        vec![diagnosis(When::Start, 0), epoch(5), epoch(10), diagnosis(When::End, 10)]
    }

    /// What is left in a file when a run that stands at `step` resumes.
    fn reopened(text: &[u8], step: u64) -> Result<(Vec<Line>, String), RunError> {
        let path = std::env::temp_dir().join(format!("isinglass-metrics-{}-{:?}", std::process::id(), std::thread::current().id()));
        std::fs::write(&path, text).unwrap();
        let opened = Metrics::open(&path, step, false);
        let left = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        opened.map(|(_, lines)| (lines, String::from_utf8(left).unwrap()))
    }

    #[test]
    fn lines_are_read_as_they_were_written() {
        let text = text_of(&all());
        assert!(text.starts_with(r#"{"kind":"diagnosis","when":"start","step":0,"layers":[]}"#), "{text}");
        assert!(text.contains(r#"{"kind":"epoch","epoch":1,"step":5,"lr":0.1,"beta":1.0,"train":{"accuracy":0.5,"nll":null}"#), "{text}");
        let again: Vec<Line> = parse(Path::new("m"), text.as_bytes()).unwrap().into_iter().map(|(line, _)| line).collect();
        assert_eq!(text_of(&again), text);
    }

    #[test]
    fn lines_beyond_the_checkpoint_are_cut_off() {
        for (step, kept) in [(0, 1), (4, 1), (5, 2), (9, 2), (10, 3)] {
            let (lines, left) = reopened(text_of(&all()).as_bytes(), step).unwrap();
            assert_eq!(text_of(&lines), text_of(&all()[..kept]), "{step}");
            assert_eq!(left, text_of(&all()[..kept]));
        }
    }

    #[test]
    fn a_torn_last_line_is_cut_off_and_a_damaged_one_is_an_error() {
        let text = text_of(&all()[..2]);
        let second = text_of(&all()[..1]).len();
        for cut in second + 1..text.len() {
            assert_eq!(reopened(&text.as_bytes()[..cut], 99).unwrap().1.len(), second, "{cut}");
        }
        let whole = text_of(&all());
        let swapped = text_of(&[all()[0].clone(), all()[2].clone(), all()[1].clone()]);
        let error = reopened(swapped.as_bytes(), 99).unwrap_err().to_string();
        assert!(error.contains("line 3 is damaged (epoch 1 after epoch 2)"), "{error}");
        assert_eq!(reopened(text_of(&[all()[0].clone(), all()[2].clone()]).as_bytes(), 99).unwrap().0.len(), 2);
        for place in [second + 3, second + 40] {
            let mut damaged = whole.clone().into_bytes();
            damaged[place] = b'\\';
            let error = reopened(&damaged, 99).unwrap_err();
            assert!(matches!(error, RunError::Metrics { line: 2, .. }), "{error}");
        }
    }
}
