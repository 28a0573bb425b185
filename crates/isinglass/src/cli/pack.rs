//! `isinglass pack`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use isinglass_bits::PackedModel;
use isinglass_data::Dataset;
use isinglass_lab::provenance::{Draws, provenance};
use isinglass_lab::replace;
use isinglass_lab::run::values;
use isinglass_lab::words::percent;
use isinglass_net::{Checkpoint, Counterpart, Network, Values};
use serde_json::json;

use super::answer::{Answer, to_record};
use super::output::{FormatArgs, ThreadsArgs, usage};
use super::packed::{PackedFile, Score, score_on, shape_text};
use super::run::progress::bar;
use super::run::subject::SubjectArgs;
use super::run::tables::grouped;
use super::{CliError, Format};

/// Keys of the provenance that packing writes and a run's end reads: the data set's name, and the accuracy on its test examples.
pub const DATA: &str = "data";
pub const TEST_ACCURACY: &str = "test-accuracy";

/// Pack the binary network of a run into bits and check that it is the same network.
///
/// Packs the deterministic network sign(M) or, with --samples, an ensemble of stochastic draws whose class probabilities are averaged. Each weight takes one bit, neurons become integer thresholds, and
/// input preprocessing is folded into those of the first layer. A network trained on a table takes the table's real numbers; the rule that quantises them is stored in the file. The packed network is
/// run on the test examples and on random ones, and nothing is written unless every output sum equals that of the float network. The noise of stochastic neurons is drawn once for each network of an ensemble.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  isinglass pack runs/a -o model.safetensors
  isinglass pack runs/a --checkpoint best -o best.bits.safetensors
  isinglass pack runs/a --samples 16 -o ensemble.safetensors")]
pub struct Args {
    #[command(flatten)]
    subject: SubjectArgs,

    /// File to write
    #[arg(short, long, value_name = "FILE", default_value = "model.safetensors")]
    output: PathBuf,

    /// Pack an ensemble of K stochastic draws instead of sign(M)
    #[arg(long, value_name = "K", allow_hyphen_values = true)]
    samples: Option<usize>,

    /// Seed of the draws [default: the run's]
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
        let seed = self.seed.unwrap_or(checkpoint.train_config().seed);
        let draws = self.samples.map(|samples| Draws { samples, seed });
        let packing = Packing { draws, threads: self.threads.count() };
        let Written { model, bytes, checked, score } = packing.write(&self.output, &checkpoint, data.as_ref())?;
        if self.print.format == Format::Table {
            let accuracy = score.map_or(String::new(), |score| format!(", test accuracy {}", percent(score.accuracy())));
            let mut out = io::stdout().lock();
            writeln!(out, "{}: {} in {} bytes{accuracy}", self.output.display(), shape_text(&model), grouped(bytes))?;
            writeln!(out, "checked: every output sum equals that of the float network, on {} examples", grouped(checked))?;
            return Ok(());
        }
        let mut answer = Answer::default();
        answer.place("file", &self.output).facts(to_record(&json!({
            "bytes": bytes,
            "shape": shape_text(&model),
            "networks": model.networks().len(),
            "checked_images": checked,
            "accuracy": score.map(Score::accuracy),
            "images": score.map(|score| score.examples),
        })));
        Ok(answer.print(self.print.format)?)
    }
}

/// What of a checkpoint is packed, and how.
#[derive(Debug, Clone, Copy)]
pub struct Packing {
    /// `None` packs sign(M).
    pub draws: Option<Draws>,
    pub threads: usize,
}

/// A packed network that was written to a file.
pub struct Written {
    pub model: PackedModel,
    /// Size of the file.
    pub bytes: usize,
    /// Number of examples it was checked with.
    pub checked: usize,
    /// How well it does on the test examples, if there are data.
    pub score: Option<Score>,
}

impl Packing {
    /// The binary network or networks that are packed.
    pub fn counterpart(self, network: &Network) -> Counterpart<'_> {
        let counterpart = self.draws.map_or(network.binary(), |Draws { samples, seed }| network.sampled(samples).seed(seed));
        counterpart.threads(self.threads)
    }

    /// Writes the file once every output sum of the packed network is that of the float network. Replaces no file but a packed network.
    pub fn write(self, path: &Path, checkpoint: &Checkpoint, data: Option<&Dataset>) -> Result<Written, CliError> {
        replace::check_packed_target(path)?;
        let examples = data.map_or(Values::Bytes(&[]), |data| values(&data.test));
        let bar = bar("{bar:24} {pos} of {len} networks packed and checked, {eta} left");
        let mut progress = |done: usize, of: usize| {
            bar.set_length(of as u64);
            bar.set_position(done as u64);
        };
        let packed = self.counterpart(checkpoint.network()).pack_checked(examples, &mut progress);
        bar.finish_and_clear();
        let packed = packed?;
        let mut model = match data.map(|data| data.test.shape()) {
            // Rows of a table are not images.
            Some((1, _)) if packed.model.quantiser().is_some() => packed.model,
            Some((height, width)) => packed.model.with_image(height, width)?,
            None => packed.model,
        };
        let score = data.map(|data| score_on(&model, &data.test, self.threads)).transpose()?;
        model.provenance.extend(provenance(checkpoint, self.draws));
        if let (Some(data), Some(score)) = (data, score) {
            model.provenance.insert(DATA.into(), data.name.clone());
            model.provenance.insert(TEST_ACCURACY.into(), score.accuracy().to_string());
        }
        let bytes = replace::write_packed(&model, path)?;
        Ok(Written { model, bytes, checked: packed.checked, score })
    }
}
