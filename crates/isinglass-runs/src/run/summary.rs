//! The end of a run: the trained network evaluated and looked at, and the result written.

use std::sync::atomic::AtomicBool;

use isinglass_data::Dataset;
use isinglass_net::{Network, Partition};
use serde_json::{Value, json};

use super::metrics::Metrics;
use super::{Evaluation, Inspection, Options, Ready, Run, RunError, SUMMARY, Sampling, read_metrics};

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
) -> Result<Value, RunError> {
    let config = run.config();
    let steps = ready.progress.steps;
    let sampling = Sampling { samples: config.samples.clone(), seed: config.seed, threads: options.threads };
    let evaluation = Evaluation::new(network, data, partition, &sampling, stop, sampled)?;
    let inspection = Inspection::new(network, data, partition, options.threads)?;
    let layers: Vec<_> = inspection.layers.iter().map(|layer| &layer.diagnosis).collect();
    metrics.append(&json!({ "kind": "diagnosis", "when": "end", "step": steps, "layers": layers }))?;
    let mut line = json!({ "kind": "final", "step": steps });
    extend(&mut line, &evaluation);
    metrics.append(&line)?;

    let lines = read_metrics(run.directory())?;
    let epochs = || lines.iter().filter(|line| line["kind"] == "epoch");
    let mut summary = json!({
        "data": data.name,
        "epochs": ready.progress.epochs,
        "steps": steps,
        "seconds": epochs().filter_map(|line| line["seconds"].as_f64()).sum::<f64>(),
        "best_epoch": epochs().rfind(|line| line["best"] == true).map(|line| line["epoch"].clone()),
        "notices": ready.notices,
    });
    extend(&mut summary, &evaluation);
    extend(&mut summary, &inspection);
    summary["config"] = config.to_json();
    if run.is_scratch {
        return Ok(summary);
    }
    let path = run.directory().join(SUMMARY);
    isinglass_files::write(&path, format!("{summary:#}\n").as_bytes()).map_err(RunError::write(&path))?;
    Ok(summary)
}

/// Puts all entries of one object into another.
fn extend(object: &mut Value, with: &impl serde::Serialize) {
    let with = serde_json::to_value(with).expect("records are JSON");
    if let (Value::Object(object), Value::Object(with)) = (object, with) {
        object.extend(with);
    }
}
