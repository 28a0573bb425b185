//! `isinglass evaluate`.

use std::sync::atomic::AtomicBool;

use isinglass_lab::run::{Evaluation, Sampling, check_samples};

use super::CliError;
use super::answer::{Answer, to_record};
use super::output::{TableArgs, ThreadsArgs, rows_among};
use super::run::progress::bar;
use super::run::subject::SubjectArgs;
use super::run::tables;

/// Evaluate a trained network: accuracy and negative log-likelihood.
///
/// Covers the surrogate, the deterministic binary network sign(M), and stochastic binary networks drawn from the means, with class probabilities averaged over K samples. test is all test examples,
/// train those the run was trained with, validation those it held out. Accuracies in JSON and CSV are fractions.
#[derive(Debug, clap::Args)]
#[command(mut_arg("rows", rows_among(&["scores", "facts"])))]
#[command(after_help = "Examples:
  isinglass evaluate runs/a --samples 5,100 --format json
  isinglass evaluate runs/a --checkpoint best
  isinglass evaluate last.safetensors --data mnist")]
pub struct Args {
    #[command(flatten)]
    subject: SubjectArgs,

    /// Numbers of sampled binary networks to average over [default: the run's]
    #[arg(long, value_name = "K,…", value_delimiter = ',', num_args = 1, allow_hyphen_values = true)]
    samples: Option<Vec<usize>>,

    /// Seed of the samples [default: the run's]
    #[arg(long, allow_hyphen_values = true)]
    seed: Option<u64>,

    #[command(flatten)]
    threads: ThreadsArgs,
    #[command(flatten)]
    output: TableArgs,
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
        let bar = bar("{bar:24} {pos} of {len} binary networks sampled, {eta} left");
        let mut progress = |done: usize, of: usize| {
            bar.set_length(of as u64);
            bar.set_position(done as u64);
        };
        let network = subject.checkpoint.network();
        let never = AtomicBool::new(false);
        let evaluation = Evaluation::new(network, &subject.data, &subject.partition, &sampling, &never, &mut progress);
        bar.finish_and_clear();
        let evaluation = evaluation?;
        let answer =
            Answer::default().at(self.subject.path()).facts(to_record(&evaluation)).flat("scores", tables::score_rows(&evaluation)).take();
        self.output.print_with(answer, |out| tables::write_scores(out, &evaluation))
    }
}
