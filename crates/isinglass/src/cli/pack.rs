//! `isinglass pack`.

use std::io::{self, Write};
use std::path::PathBuf;

use isinglass_lab::replace;
use isinglass_lab::run::values;
use isinglass_net::{Checkpoint, Values};
use serde_json::json;

use super::answer::{Answer, to_record};
use super::output::{FormatArgs, ThreadsArgs, usage};
use super::packed::{PackedFile, accuracy_on, shape_text};
use super::run::progress::bar;
use super::run::subject::SubjectArgs;
use super::run::tables::{grouped, percent};
use super::{CliError, Format};

/// Packs the binary network of a run into bits, and proves that it is the same network.
///
/// The deterministic network sign(M), or with --samples an ensemble of stochastic draws whose class probabilities are averaged. Weights take one bit each, neurons become integer thresholds,
/// and the preprocessing of the inputs goes into those of the first layer; a network trained on a table takes its real numbers, and the rule that rounds them is in the file. The packed network is
/// run on the test examples and on random ones; unless every sum of its output equals that of the float network, nothing is written. Noise of stochastic neurons is drawn once per network of an ensemble.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  isinglass pack runs/a -o model.safetensors
  isinglass pack runs/a --checkpoint best -o best.bits.safetensors
  isinglass pack runs/a --samples 16 -o ensemble.safetensors")]
pub struct Args {
    #[command(flatten)]
    subject: SubjectArgs,

    /// The file to write
    #[arg(short, long, value_name = "FILE", default_value = "model.safetensors")]
    output: PathBuf,

    /// Pack an ensemble of K stochastic draws instead of sign(M)
    #[arg(long, value_name = "K", allow_hyphen_values = true)]
    samples: Option<usize>,

    /// The seed of the draws [default: the run's]
    #[arg(long, requires = "samples", allow_hyphen_values = true)]
    seed: Option<u64>,

    #[command(flatten)]
    threads: ThreadsArgs,
    #[command(flatten)]
    print: FormatArgs,
}

impl Args {
    pub fn run(self) -> Result<(), CliError> {
        replace::check_packed_target(&self.output)?;
        if PackedFile::open_if_packed(self.subject.path())?.is_some() {
            return Err(usage(format!("{} is packed already", self.subject.path().display())));
        }
        let (checkpoint, data) = self.subject.load_with_data_at_hand()?;
        let network = checkpoint.network();
        let seed = self.seed.unwrap_or(checkpoint.train_config().seed);
        let counterpart = self.samples.map_or(network.binary(), |samples| network.sampled(samples).seed(seed));
        let examples = data.as_ref().map_or(Values::Bytes(&[]), |data| values(&data.test));
        let bar = bar(true, "{bar:24} {pos} of {len} networks packed and checked, {eta} left");
        let mut progress = |done: usize, of: usize| {
            bar.set_length(of as u64);
            bar.set_position(done as u64);
        };
        let packed = counterpart.threads(self.threads.count()).pack_checked(examples, &mut progress);
        bar.finish_and_clear();
        let packed = packed?;
        let mut model = match data.as_ref().map(|data| data.test.shape()) {
            // Rows of a table are not images.
            Some((1, _)) if packed.model.quantiser().is_some() => packed.model,
            Some((height, width)) => packed.model.with_image(height, width)?,
            None => packed.model,
        };
        let accuracy = data.as_ref().map(|data| accuracy_on(&model, &data.test, self.threads.count())).transpose()?;
        model.provenance.extend(provenance(&checkpoint, self.samples.map(|samples| (samples, seed))));
        if let (Some(data), Some((accuracy, _))) = (&data, accuracy) {
            model.provenance.insert("data".into(), data.name.clone());
            model.provenance.insert("test-accuracy".into(), accuracy.to_string());
        }
        let bytes = replace::write_packed(&model, &self.output)?;
        let checked = packed.checked;
        if self.print.format == Format::Table {
            let accuracy = accuracy.map_or(String::new(), |(accuracy, _)| format!(", test accuracy {}", percent(accuracy)));
            let mut out = io::stdout().lock();
            writeln!(out, "{}: {} in {} bytes{accuracy}", self.output.display(), shape_text(&model), grouped(bytes))?;
            writeln!(out, "checked: every output sum equals that of the float network, on {} examples", grouped(checked))?;
            return Ok(());
        }
        let mut answer = Answer::default();
        answer.facts(to_record(&json!({
            "file": self.output.display().to_string(),
            "bytes": bytes,
            "shape": shape_text(&model),
            "networks": model.networks().len(),
            "checked_images": checked,
            "accuracy": accuracy.map(|(accuracy, _)| accuracy),
            "images": accuracy.map(|(_, images)| images),
        })));
        Ok(answer.print(self.print.format)?)
    }
}

/// What is worth knowing of a network in a year; nothing of paths, time or host, so that equal runs give equal files.
fn provenance(checkpoint: &Checkpoint, draws: Option<(usize, u64)>) -> Vec<(String, String)> {
    let config = checkpoint.network().config();
    let progress = checkpoint.progress();
    let weights = draws.map_or("sign(M)".to_owned(), |(samples, seed)| format!("{samples} draws with seed {seed}"));
    [
        ("isinglass", env!("CARGO_PKG_VERSION").to_owned()),
        ("surrogate", config.surrogate.to_string()),
        ("neuron", config.neuron.to_string()),
        ("weights", weights),
        ("epochs", format!("{} of {}", progress.epoch, progress.epochs)),
        ("seed", checkpoint.train_config().seed.to_string()),
    ]
    .map(|(key, value)| (key.to_owned(), value))
    .into()
}
