//! `isinglass inspect`.

use std::io::{self, Write};

use isinglass_lab::run::Inspection;
use serde_json::{Value, json};

use super::answer::{Answer, to_record};
use super::output::{OutputArgs, ThreadsArgs, usage};
use super::packed::PackedFile;
use super::run::subject::SubjectArgs;
use super::run::tables;
use super::{CliError, Format};

/// What a trained or packed network consists of and looks like inside, layer by layer.
///
/// σ_m² is the variance of the means, polarised the part of them beyond ±0.9, flipped the part of the weights with another sign than at the start. The variance of the fields, measured with a
/// thousand training examples, stands beside what the theory predicts from the variances of means and biases; χ₁ is the theory's too. saturated is the part of the neurons beyond ±0.9.
/// The picture shows the histograms of means and neurons, and the variances.
///
/// Of a packed network: what each layer takes in bits and in bytes of the file, its thresholds, some of its weights, whether it carries the sums of the layer before, and where it comes from.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  isinglass inspect runs/a
  isinglass inspect runs/a --checkpoint best --plot insides.png
  isinglass inspect runs/a --format csv
  isinglass inspect model.safetensors")]
pub struct Args {
    #[command(flatten)]
    subject: SubjectArgs,
    #[command(flatten)]
    threads: ThreadsArgs,
    #[command(flatten)]
    output: OutputArgs,
}

impl Args {
    pub fn run(self) -> Result<(), CliError> {
        if let Some(file) = PackedFile::open_if_packed(self.subject.path())? {
            return self.run_on_packed(&file);
        }
        let plot = self.output.plot()?;
        let subject = self.subject.load()?;
        let checkpoint = &subject.checkpoint;
        let inspection = Inspection::new(checkpoint.network(), &subject.data, &subject.partition, self.threads.count())?;
        let progress = checkpoint.progress();
        let mut result = to_record(&json!({
            "data": subject.data.name,
            "epoch": progress.epoch,
            "epochs": progress.epochs,
            "step": progress.step,
            "steps": progress.steps,
        }));
        result.extend(to_record(&inspection));
        let result = Value::Object(result);
        if let Some(plot) = plot {
            plot.write(&isinglass_lab::run::insides(&result)?)?;
        }
        let mut answer = Answer::default();
        match self.output.format() {
            Format::Table => return Ok(write_tables(&mut io::stdout().lock(), &result)?),
            Format::Json => answer.facts(to_record(&result)),
            Format::Csv => answer.rows("layers", tables::layer_rows(&result)),
        };
        Ok(answer.print(self.output.format())?)
    }

    fn run_on_packed(&self, file: &PackedFile) -> Result<(), CliError> {
        if self.output.plot()?.is_some() {
            return Err(usage("--plot draws means and neurons of a run or checkpoint; a packed network has neither"));
        }
        if self.subject.has_choices() {
            return Err(usage("--checkpoint and --data are for runs and checkpoints; a packed network is looked at as it is"));
        }
        let result = file.describe();
        let mut answer = Answer::default();
        match self.output.format() {
            Format::Table => return Ok(file.write_tables(&mut io::stdout().lock(), &result)?),
            Format::Json => answer.facts(to_record(&result)),
            Format::Csv => answer.rows("layers", result["layers"].as_array().into_iter().flatten().map(to_record).collect()),
        };
        Ok(answer.print(self.output.format())?)
    }
}

fn write_tables(out: &mut impl Write, result: &Value) -> io::Result<()> {
    let network = &result["network"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    writeln!(
        out,
        "{}, surrogate {}, neuron {}: epoch {} of {}, step {} of {}\n",
        text(&network["shape"]),
        text(&network["surrogate"]),
        text(&network["neuron"]),
        result["epoch"],
        result["epochs"],
        result["step"],
        result["steps"]
    )?;
    tables::write_summary(out, result)?;
    writeln!(out)?;
    tables::write_diagnosis(out, result)?;
    writeln!(out)?;
    tables::write_histograms(out, result)
}
