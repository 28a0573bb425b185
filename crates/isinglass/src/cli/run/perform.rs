//! Training a run and printing what it came to: the common part of `train` and `resume`.

use std::io::{self, Write};
use std::num::NonZeroU64;
use std::path::Path;

use isinglass_data::Dataset;
use isinglass_lab::run::{Epoch, Event, Options, Run, RunError, Summary, curves, epochs, read_metrics};

use super::ending::Ending;
use super::progress::{Watcher, introduce};
use super::signals::Signals;
use super::tables;
use crate::cli::answer::{Answer, to_record, wrap};
use crate::cli::output::{OutputArgs, PlotFile, ThreadsArgs};
use crate::cli::printable::printable;
use crate::cli::terminal::tell;
use crate::cli::{CliError, Format};

/// How a run is made and shown, without changing how it ends.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Execution and output")]
pub struct PerformArgs {
    /// Save last.safetensors every N steps as well as after every epoch
    #[arg(long, value_name = "N")]
    checkpoint_steps: Option<NonZeroU64>,

    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    threads: ThreadsArgs,
}

impl PerformArgs {
    /// The file for the curves, checked before anything is computed.
    pub fn plot(&self) -> Result<Option<PlotFile<'_>>, CliError> {
        self.output.plot()
    }

    /// How the result is printed.
    pub fn format(&self) -> Format {
        self.output.format()
    }

    /// Says something beside the result.
    pub fn say(&self, message: &str) {
        tell(message);
    }

    /// Trains to the end, packs the network if the run follows a recipe, and prints the result.
    pub fn train(&self, mut run: Run, data: &Dataset) -> Result<(), CliError> {
        Ending::check_target(&run)?;
        let signals = Signals::listen()?;
        let options = Options { threads: self.threads.count(), checkpoint_steps: self.checkpoint_steps, ..Options::default() };
        let mut watcher = Watcher::new();
        let (config, directory) = (run.config().clone(), run.directory().to_owned());
        let result = run.train(data, &options, signals.asked(), &mut |event| {
            if let Event::Ready(ready) = &event {
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
    pub fn pack(&self, run: &Run, data: &Dataset, summary: Summary) -> Result<(), CliError> {
        let ending = Ending::pack(run, data, self.threads.count())?;
        self.print(run.directory(), summary, &ending)
    }

    /// Prints and draws the result of a run that has ended.
    pub fn print(&self, directory: &Path, summary: Summary, ending: &Ending) -> Result<(), CliError> {
        if let Some(plot) = self.plot()? {
            let epochs: Vec<Epoch> = epochs(&read_metrics(directory)?).cloned().collect();
            plot.write(&curves(&summary.title(), &epochs))?;
        }
        let mut result = to_record(&summary);
        ending.add_to(&mut result);
        let mut answer = Answer::default();
        answer.place("run", directory).facts(result).flat("scores", tables::score_rows(&summary.evaluation));
        self.output.print.print_with(answer, |out| {
            write_tables(out, directory, &summary)?;
            ending.write(out)
        })?;
        ending.tell_what_next(directory, &summary);
        Ok(())
    }
}

fn write_tables(out: &mut impl Write, directory: &Path, summary: &Summary) -> io::Result<()> {
    let (network, inspection) = (&summary.inspection.network, &summary.inspection);
    write!(out, "{}, surrogate {}, neuron {}", network.shape, network.surrogate, network.neuron)?;
    let plural = if summary.epochs == 1 { "epoch" } else { "epochs" };
    write!(out, ": {} {plural} of {} in {:.1} s", summary.epochs, summary.data, summary.seconds)?;
    match summary.best_epoch {
        Some(best) => writeln!(out, ", best epoch {best}\n")?,
        None => writeln!(out, "\n")?,
    }
    tables::write_summary(out, inspection)?;
    writeln!(out)?;
    tables::write_diagnosis(out, inspection)?;
    writeln!(out)?;
    tables::write_histograms(out, inspection)?;
    writeln!(out)?;
    tables::write_scores(out, &summary.evaluation)?;
    for notice in &summary.notices {
        writeln!(out)?;
        for line in wrap(&format!("Note: {notice}"), 100) {
            writeln!(out, "{}", printable(&line))?;
        }
    }
    writeln!(out, "\nThe run is in {}", printable(&directory.display().to_string()))
}
