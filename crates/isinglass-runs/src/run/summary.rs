//! The end of a run: the trained network evaluated and looked at, and the result written.

use std::sync::atomic::AtomicBool;

use isinglass_data::Dataset;
use isinglass_net::{Network, Partition};
use serde::{Deserialize, Serialize};

use super::metrics::{Diagnosed, Final, Line, Metrics, When, epochs, read_metrics};
use super::{Evaluation, Inspection, Options, Ready, Run, RunConfig, RunError, SUMMARY, Sampling};

/// The format of `summary.json`.
pub const FORMAT: u32 = 1;

/// What a run came to: the contents of `summary.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The format of the file.
    #[serde(default = "first_format")]
    pub format: u32,
    /// The data set's name.
    pub data: String,
    /// Epochs of the run.
    pub epochs: usize,
    /// Steps of the run.
    pub steps: u64,
    /// How long the epochs took together.
    pub seconds: f64,
    /// The epoch with the best validation accuracy.
    pub best_epoch: Option<usize>,
    /// What the user should know about these settings.
    #[serde(default)]
    pub notices: Vec<String>,
    /// How good the network is.
    #[serde(flatten)]
    pub evaluation: Evaluation,
    /// What it looks like inside.
    #[serde(flatten)]
    pub inspection: Inspection,
    /// The settings.
    pub config: RunConfig,
}

fn first_format() -> u32 {
    1
}

impl Summary {
    /// `mnist: 784-512×2-10, deterministic, sign`, for pictures.
    pub fn title(&self) -> String {
        format!("{}: {}", self.data, self.inspection.network)
    }
}

/// Writes the last lines of `metrics.jsonl` and `summary.json`, and gives back the latter.
#[allow(clippy::too_many_arguments)] // The end of a long function, which knows all of these.
pub(crate) fn finish(
    run: &Run,
    data: &Dataset,
    network: &Network,
    partition: &Partition,
    ready: &Ready,
    options: &Options,
    stop: &AtomicBool,
    metrics: &mut Metrics,
    sampled: &mut dyn FnMut(usize, usize),
) -> Result<Summary, RunError> {
    let config = run.config();
    let steps = ready.progress.steps;
    let sampling = Sampling { samples: config.samples.clone(), seed: config.seed, threads: options.threads };
    let evaluation = Evaluation::new(network, data, partition, &sampling, stop, sampled)?;
    let inspection = Inspection::new(network, data, partition, options.threads)?;
    let layers = inspection.layers.iter().map(|layer| layer.diagnosis.clone()).collect();
    metrics.append(&Line::Diagnosis(Diagnosed { when: When::End, step: steps, layers }))?;
    metrics.append(&Line::Final(Box::new(Final { step: steps, evaluation: evaluation.clone() })))?;

    let lines = read_metrics(run.directory())?;
    let summary = Summary {
        format: FORMAT,
        data: data.name.clone(),
        epochs: ready.progress.epochs,
        steps,
        seconds: epochs(&lines).map(|epoch| epoch.seconds).sum(),
        best_epoch: epochs(&lines).filter(|epoch| epoch.best).last().map(|epoch| epoch.epoch),
        notices: ready.notices.clone(),
        evaluation,
        inspection,
        config: config.clone(),
    };
    if run.is_scratch {
        return Ok(summary);
    }
    let path = run.directory().join(SUMMARY);
    let text = serde_json::to_string_pretty(&summary).expect("summaries are JSON") + "\n";
    isinglass_files::write(&path, text.as_bytes()).map_err(RunError::write(&path))?;
    Ok(summary)
}
