//! `metrics.jsonl`: one JSON object to a line, in the order things happened.
//!
//! Lines are written before the checkpoint of the same step. So a run that was killed may have lines that its checkpoint knows nothing of, or
//! half a line; both are cut off when it goes on.

use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use isinglass_net::EpochReport;
use serde::Serialize;
use serde_json::{Value, json};

use super::RunError;

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
    pub(crate) fn open(path: &Path, step: u64, is_durable: bool) -> Result<(Self, Vec<Value>), RunError> {
        let mut file = OpenOptions::new().create(true).read(true).write(true).truncate(false).open(path).map_err(RunError::write(path))?;
        let text = std::fs::read(path).map_err(RunError::read(path))?;
        let (mut lines, mut length) = valid_lines(&text, step);
        if !lines.iter().any(|line| line["kind"] == "diagnosis") {
            // It was stopped before there was anything to keep.
            (lines, length) = (Vec::new(), 0);
        }
        file.set_len(length as u64).and_then(|()| file.seek(SeekFrom::End(0))).map_err(RunError::write(path))?;
        Ok((Self { path: path.to_owned(), file, is_durable }, lines))
    }

    /// Adds a line.
    pub(crate) fn append(&mut self, line: &impl Serialize) -> Result<(), RunError> {
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

/// The lines up to `step`, and how many bytes they take.
fn valid_lines(text: &[u8], step: u64) -> (Vec<Value>, usize) {
    let mut lines = Vec::new();
    let mut length = 0;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let Some(value) = line.ends_with(b"\n").then(|| serde_json::from_slice::<Value>(line).ok()).flatten() else { break };
        // The final report is made again if the run is not known to have ended.
        let is_result = value["kind"] == "final" || (value["kind"] == "diagnosis" && value["when"] == "end");
        if is_result || value["step"].as_u64().is_none_or(|of_line| of_line > step) {
            break;
        }
        length += line.len();
        lines.push(value);
    }
    (lines, length)
}

/// All whole lines of a run's `metrics.jsonl`.
///
/// # Errors
///
/// [`RunError::Read`].
pub fn read_metrics(directory: &Path) -> Result<Vec<Value>, RunError> {
    let path = directory.join(super::METRICS);
    let text = std::fs::read(&path).map_err(RunError::read(&path))?;
    let lines = text.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
    Ok(lines.map_while(|line| serde_json::from_slice(line).ok()).collect())
}

/// The line of an epoch that took `seconds` for `samples` examples.
pub(crate) fn epoch_line(report: &EpochReport, step: u64, samples: usize, seconds: f64) -> Value {
    json!({
        "kind": "epoch",
        "epoch": report.epoch,
        "step": step,
        "lr": report.lr,
        "beta": report.beta,
        "train": report.train,
        "validation": report.validation,
        "validation_binary": report.validation_binary,
        "best": report.is_best,
        "gradient_norms": report.gradient_norms,
        "seconds": seconds,
        "samples_per_second": samples as f64 / seconds,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = "{\"kind\":\"start\",\"step\":0}\n{\"kind\":\"diagnosis\",\"when\":\"start\",\"step\":0}\n{\"kind\":\"epoch\",\"step\":5}\n{\"kind\":\"epoch\",\"step\":10}\n{\"kind\":\"diagnosis\",\"when\":\"end\",\"step\":10}\n";

    #[test]
    fn lines_beyond_the_checkpoint_are_cut_off() {
        for (step, kept) in [(0, 2), (4, 2), (5, 3), (9, 3), (10, 4)] {
            let (lines, length) = valid_lines(LINES.as_bytes(), step);
            assert_eq!(lines.len(), kept, "{step}");
            assert_eq!(LINES.as_bytes()[length - 1], b'\n');
        }
    }

    #[test]
    fn a_torn_line_is_cut_off() {
        let third = LINES.match_indices('\n').nth(2).unwrap().0;
        for cut in third - 10..=third {
            assert_eq!(valid_lines(&LINES.as_bytes()[..cut], 99).0.len(), 2, "{cut}");
        }
        assert_eq!(valid_lines(b"{\"kind\":\"epoch\",\"step\"\n", 9).1, 0);
    }
}
