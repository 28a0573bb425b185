//! `isinglass evaluate`.

use std::sync::atomic::AtomicBool;

use isinglass_lab::run::{Evaluation, Sampling, check_samples};
use serde_json::Value;

use super::answer::{Answer, to_record};
use super::output::{FormatArgs, ThreadsArgs};
use super::run::progress::bar;
use super::run::subject::SubjectArgs;
use super::run::tables;
use super::{CliError, Format};

/// Accuracy and negative log-likelihood of a trained network.
///
/// For the surrogate, the deterministic binary network sign(M), and stochastic binary networks drawn from the means, whose class probabilities are averaged over K samples. test has all test
/// examples, train those the run trained with, validation those it held out. Accuracies in JSON and CSV are fractions.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  isinglass evaluate runs/a --samples 5,100 --format json
  isinglass evaluate runs/a --checkpoint best
  isinglass evaluate last.safetensors --data mnist")]
pub struct Args {
    #[command(flatten)]
    subject: SubjectArgs,

    /// Numbers of sampled binary networks to average over [default: those of the run]
    #[arg(long, value_name = "K,…", value_delimiter = ',', num_args = 1, allow_hyphen_values = true)]
    samples: Option<Vec<usize>>,

    /// The seed of the samples [default: the run's]
    #[arg(long, allow_hyphen_values = true)]
    seed: Option<u64>,

    #[command(flatten)]
    threads: ThreadsArgs,
    #[command(flatten)]
    output: FormatArgs,
}

impl Args {
    pub fn run(self) -> Result<(), CliError> {
        if let Some(samples) = &self.samples {
            check_samples(samples)?;
        }
        let subject = self.subject.load()?;
        let sampling = Sampling {
            samples: self.samples.unwrap_or(subject.config.samples),
            seed: self.seed.unwrap_or(subject.checkpoint.train_config().seed),
            threads: self.threads.count(),
        };
        // Those of a run come from a file.
        check_samples(&sampling.samples)?;
        let bar = bar(true, "{bar:24} {pos} of {len} binary networks sampled, {eta} left");
        let mut progress = |done: usize, of: usize| {
            bar.set_length(of as u64);
            bar.set_position(done as u64);
        };
        let network = subject.checkpoint.network();
        let never = AtomicBool::new(false);
        let evaluation = Evaluation::new(network, &subject.data, &subject.partition, &sampling, &never, &mut progress);
        bar.finish_and_clear();
        let record = to_record(&evaluation?);
        let mut answer = Answer::default();
        match self.output.format {
            Format::Table => return Ok(tables::write_scores(&mut std::io::stdout().lock(), &Value::Object(record))?),
            Format::Json => answer.facts(record),
            Format::Csv => answer.rows("scores", tables::score_rows(&Value::Object(record))),
        };
        Ok(answer.print(self.output.format)?)
    }
}
