//! Training a run and printing what it came to: the common part of `train` and `resume`.

use std::io::{self, Write};
use std::num::NonZeroU64;
use std::path::Path;

use isinglass_data::Dataset;
use isinglass_lab::run::{Event, Options, Run, RunError, read_metrics};
use serde_json::Value;

use super::ending::Ending;
use super::progress::{Watcher, introduce};
use super::signals::Signals;
use super::tables;
use crate::cli::answer::{Answer, wrap};
use crate::cli::messages::{printable, tell};
use crate::cli::output::{OutputArgs, ThreadsArgs};
use crate::cli::{CliError, Format};

/// How a run is made and shown, without changing how it ends.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "How it is done and shown")]
pub struct PerformArgs {
    #[command(flatten)]
    threads: ThreadsArgs,

    /// Save the last checkpoint also after every N steps, not after epochs only
    #[arg(long, value_name = "N")]
    checkpoint_steps: Option<NonZeroU64>,

    /// Show no progress
    #[arg(long)]
    quiet: bool,

    #[command(flatten)]
    output: OutputArgs,
}

impl PerformArgs {
    /// The file for the curves, checked before anything is computed.
    pub fn plot(&self) -> Result<Option<&Path>, CliError> {
        self.output.plot()
    }

    /// How the result is printed.
    pub fn format(&self) -> Format {
        self.output.format()
    }

    /// Says something beside the result, unless nothing is to be said.
    pub fn say(&self, message: &str) {
        if !self.quiet {
            tell(message);
        }
    }

    /// Trains to the end, packs the network if the run follows a recipe, and prints the result.
    pub fn train(&self, mut run: Run, data: &Dataset) -> Result<(), CliError> {
        Ending::check_target(&run)?;
        let signals = Signals::listen()?;
        let options = Options { threads: self.threads.count(), checkpoint_steps: self.checkpoint_steps, checkpoint_interval: None };
        let mut watcher = Watcher::new(self.quiet);
        let (config, directory) = (run.config().clone(), run.directory().to_owned());
        let result = run.train(data, &options, signals.asked(), &mut |event| {
            if let Event::Ready(ready) = &event
                && !self.quiet
            {
                introduce(ready, &config, data, &directory);
            }
            watcher.watch(&event);
        });
        watcher.end();
        let signal = signals.number();
        // What follows saves nothing that would be lost: a signal ends it at once.
        drop(signals);
        match (result, watcher.progress()) {
            (Ok(summary), _) => self.pack(&run, data, summary),
            (Err(RunError::Stopped), Some(progress)) => Err(CliError::Stopped { directory, progress, signal }),
            (Err(error), _) => Err(error.into()),
        }
    }

    /// Packs the network of a run that has ended, if it followed a recipe, and prints the result.
    pub fn pack(&self, run: &Run, data: &Dataset, summary: Value) -> Result<(), CliError> {
        let ending = Ending::pack(run, data, self.threads.count(), self.quiet)?;
        self.print(run.directory(), summary, &ending)
    }

    /// Prints and draws the result of a run that has ended.
    pub fn print(&self, directory: &Path, summary: Value, ending: &Ending) -> Result<(), CliError> {
        if let Some(path) = self.plot()? {
            isinglass_lab::run::curves(&summary, &read_metrics(directory)?).save(path)?;
        }
        match self.output.format() {
            Format::Table => {
                let mut out = io::stdout().lock();
                write_tables(&mut out, directory, &summary)?;
                Ok(ending.write(&mut out)?)
            }
            Format::Json => {
                let mut answer = Answer::default();
                answer.fact("run", directory.display().to_string());
                if let Value::Object(mut summary) = summary {
                    ending.add_to(&mut summary);
                    answer.facts(summary);
                }
                Ok(answer.print(Format::Json)?)
            }
            Format::Csv => {
                let mut answer = Answer::default();
                answer.rows("scores", tables::score_rows(&summary));
                Ok(answer.print(Format::Csv)?)
            }
        }
    }
}

fn write_tables(out: &mut impl Write, directory: &Path, summary: &Value) -> io::Result<()> {
    let network = &summary["network"];
    let text = |value: &Value| printable(value.as_str().unwrap_or_default()).into_owned();
    write!(out, "{}, surrogate {}, neuron {}", text(&network["shape"]), text(&network["surrogate"]), text(&network["neuron"]))?;
    let epochs = if summary["epochs"] == 1 { "epoch" } else { "epochs" };
    write!(out, ": {} {epochs} of {}", summary["epochs"], text(&summary["data"]))?;
    writeln!(out, " in {:.1} s, the best was epoch {}\n", summary["seconds"].as_f64().unwrap_or(f64::NAN), summary["best_epoch"])?;
    tables::write_summary(out, summary)?;
    writeln!(out)?;
    tables::write_diagnosis(out, summary)?;
    writeln!(out)?;
    tables::write_histograms(out, summary)?;
    writeln!(out)?;
    tables::write_scores(out, summary)?;
    for notice in summary["notices"].as_array().into_iter().flatten() {
        writeln!(out)?;
        for line in wrap(&format!("Note: {}", text(notice)), 100) {
            writeln!(out, "{}", printable(&line))?;
        }
    }
    writeln!(out, "\nThe run is in {}", directory.display())
}
