//! `isinglass inspect`.

use std::io::{self, Write};

use isinglass_lab::run::Inspection;
use isinglass_net::Progress;
use serde_json::json;

use super::CliError;
use super::answer::{Answer, to_record};
use super::output::{OutputArgs, ThreadsArgs, rows_among, usage};
use super::packed::PackedFile;
use super::run::subject::SubjectArgs;
use super::run::tables;

/// Inspect a trained or packed network, layer by layer.
///
/// σ_m² is the variance of the means; polarised is the fraction of them beyond ±0.9; flipped is the fraction of the weights whose sign has changed since initialisation. The variance of the fields,
/// measured on a thousand training examples, is shown beside the theory's prediction from the variances of means and biases; χ₁ comes from the theory too. saturated is the fraction of the neurons
/// beyond ±0.9. The picture shows histograms of means and neurons, and the variances.
///
/// For a packed network: bits and bytes of each layer in the file, its thresholds, some of its weights, whether it carries the sums of the layer before, and the network's provenance.
#[derive(Debug, clap::Args)]
#[command(mut_arg("rows", rows_among(&["layers", "facts"])))]
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
        if let Some(plot) = plot {
            let title = format!("{}: {}", subject.data.name, inspection.network);
            plot.write(&isinglass_lab::run::insides(&title, &inspection.layers)?)?;
        }
        let answer = Answer::default().at(self.subject.path()).facts(result).flat("layers", tables::layer_rows(&inspection)).take();
        self.output.print.print_with(answer, |out| write_tables(out, &inspection, progress))
    }

    fn run_on_packed(&self, file: &PackedFile) -> Result<(), CliError> {
        if self.output.plot()?.is_some() {
            return Err(usage("--plot draws means and neurons of a run or checkpoint; a packed network has neither"));
        }
        if self.subject.has_choices() {
            return Err(usage("--checkpoint and --data are for runs and checkpoints, not for packed networks"));
        }
        let result = file.describe();
        let layers = result.layers.iter().map(to_record).collect();
        let answer = Answer::default().at(self.subject.path()).facts(to_record(&result)).flat("layers", layers).take();
        self.output.print.print_with(answer, |out| result.write_tables(out))
    }
}

fn write_tables(out: &mut impl Write, inspection: &Inspection, progress: Progress) -> io::Result<()> {
    let network = &inspection.network;
    writeln!(
        out,
        "{}, surrogate {}, neuron {}: epoch {} of {}, step {} of {}\n",
        network.shape, network.surrogate, network.neuron, progress.epoch, progress.epochs, progress.step, progress.steps
    )?;
    tables::write_summary(out, inspection)?;
    writeln!(out)?;
    tables::write_diagnosis(out, inspection)?;
    writeln!(out)?;
    tables::write_histograms(out, inspection)
}
