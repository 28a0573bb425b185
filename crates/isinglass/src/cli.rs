//! Commands, flags and errors.

pub(crate) mod answer;
mod bench;
mod data;
mod evaluate;
mod export;
mod inspect;
mod messages;
mod output;
mod pack;
mod packed;
mod predict;
mod predictions;
mod report;
mod reproduce;
mod resume;
mod run;
mod simulate;
mod sweep;
pub(crate) mod theory;
mod train;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand, ValueEnum};
use thiserror::Error;

use messages::tell;

/// Runs the command line, the name of the program first, and returns its exit code.
///
/// ```
/// assert_eq!(isinglass::command_line(["isinglass", "theory", "point", "--sigma-m2", "1.2"]), 2); // no means have that variance
/// ```
pub fn command_line(arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> u8 {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => return usage_error(&error),
    };
    match cli.run() {
        Ok(()) => 0,
        // The reader of our output has gone away, as `head` does: nothing is wrong.
        Err(CliError::Output(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => 0,
        Err(error @ (CliError::Stopped { .. } | CliError::SweepStopped { .. })) => {
            tell(&error.to_string());
            error.exit_code()
        }
        Err(error) => {
            tell(&format!("error: {error}"));
            error.exit_code()
        }
    }
}

/// Help goes out as it is; a mistake becomes one sentence.
fn usage_error(error: &clap::Error) -> u8 {
    let wants_help = !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if wants_help {
        // Nobody is left to tell if even this cannot be printed.
        let _ = error.print();
        return if error.use_stderr() { 2 } else { 0 };
    }
    let text = error.render().to_string();
    let sentence: Vec<&str> = text.lines().take_while(|line| !line.is_empty()).map(str::trim).collect();
    tell(&format!("{} (try --help)", sentence.join(" ")));
    2
}

/// Deep neural networks of ±1 weights and neurons.
#[derive(Debug, Parser)]
#[command(name = "isinglass", version, about, long_about = None, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Train(Box<train::Args>),
    Resume(resume::Args),
    Evaluate(evaluate::Args),
    Inspect(inspect::Args),
    Pack(pack::Args),
    Predict(predict::Args),
    Export(export::Args),
    Bench(bench::Args),

    /// Grids of training runs: running them, here or on a cluster, how they stand, their results
    #[command(subcommand)]
    Sweep(sweep::Command),

    Report(report::Args),

    /// How signals travel through a random network, before any training
    #[command(subcommand)]
    Theory(theory::Command),

    Simulate(Box<simulate::Args>),
    Reproduce(Box<reproduce::Args>),

    /// Data sets: which there are, fetching them, looking at them
    #[command(subcommand)]
    Data(data::Command),
}

impl Cli {
    /// Runs the command.
    fn run(self) -> Result<(), CliError> {
        isinglass_simd::Isa::chosen().map_err(|error| CliError::Usage(error.to_string()))?;
        match self.command {
            Command::Train(args) => args.run(),
            Command::Resume(args) => args.run(),
            Command::Evaluate(args) => args.run(),
            Command::Inspect(args) => args.run(),
            Command::Pack(args) => args.run(),
            Command::Predict(args) => args.run(),
            Command::Export(args) => args.run(),
            Command::Bench(args) => args.run(),
            Command::Sweep(command) => command.run(),
            Command::Report(args) => args.run(),
            Command::Theory(command) => command.run(),
            Command::Simulate(args) => args.run(),
            Command::Reproduce(args) => args.run(),
            Command::Data(command) => command.run(),
        }
    }
}

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For reading
    Table,
    /// One JSON object; what does not exist is null
    Json,
    /// Comma-separated values with a header
    Csv,
}

/// Whatever ends a command early.
#[derive(Debug, Error)]
pub enum CliError {
    /// The request cannot be answered.
    #[error(transparent)]
    Theory(#[from] isinglass_theory::Error),
    /// A data set is missing, damaged or cannot be fetched.
    #[error(transparent)]
    Data(#[from] isinglass_data::Error),
    /// A run cannot be made, opened or brought to its end.
    #[error(transparent)]
    Run(#[from] isinglass_lab::run::RunError),
    /// A sweep cannot be made, opened or brought to its end.
    #[error(transparent)]
    Sweep(#[from] isinglass_lab::sweep::SweepError),
    /// A sweep cannot be drawn.
    #[error(transparent)]
    SweepPicture(#[from] isinglass_lab::sweep::picture::PictureError),
    /// A report cannot be made.
    #[error(transparent)]
    Report(#[from] isinglass_lab::report::ReportError),
    /// A signal stopped a sweep.
    #[error("stopped with {done} of {cells} cells done; `{command}` goes on from there")]
    SweepStopped {
        /// Cells with a result.
        done: usize,
        /// Cells in all.
        cells: usize,
        /// What goes on.
        command: String,
        /// The signal's number.
        signal: u8,
    },
    /// A sweep has come to its end, but some of its cells have not.
    #[error("{failed} of {cells} cells failed: `isinglass sweep status {}` says why, --retry-failed runs them again", .directory.display())]
    CellsFailed {
        /// Cells with an error.
        failed: usize,
        /// Cells in all.
        cells: usize,
        /// The sweep's directory.
        directory: PathBuf,
    },
    /// Cells that a figure needs wait in a queue, to be run elsewhere.
    #[error("{cells} cells of {} are in Slurm's queue or running there: run this again when `isinglass sweep status` says that they are done, or cancel their job", .directory.display())]
    Queued {
        /// How many.
        cells: usize,
        /// The sweep's directory.
        directory: PathBuf,
    },
    /// A network that cannot be packed, or examples that do not fit it.
    #[error(transparent)]
    Net(#[from] isinglass_net::Error),
    /// A file of another kind is in the way, or cannot be written.
    #[error(transparent)]
    Replace(#[from] isinglass_lab::replace::ReplaceError),
    /// A packed network is damaged, or cannot look at what it is shown.
    #[error(transparent)]
    Bits(#[from] isinglass_bits::Error),
    /// A figure cannot be made again.
    #[error(transparent)]
    Reproduce(isinglass_lab::reproduce::ReproduceError),
    /// A simulation cannot be made.
    #[error(transparent)]
    Simulate(#[from] isinglass_lab::simulate::SimulateError),
    /// A signal stopped a run.
    #[error("stopped after step {} of {}; `isinglass resume {}` goes on from there", .progress.step, .progress.steps, .directory.display())]
    Stopped {
        /// Where the run is kept.
        directory: PathBuf,
        /// Where it stands.
        progress: isinglass_net::Progress,
        /// The signal's number.
        signal: u8,
    },
    /// A flag is missing, superfluous or has an impossible value.
    #[error("{0}")]
    Usage(String),
    /// A picture cannot be drawn or written.
    #[error(transparent)]
    Chart(#[from] isinglass_lab::chart::ChartError),
    /// Standard output cannot be written.
    #[error("cannot write the result: {0}")]
    Output(#[from] std::io::Error),
}

/// What lies behind a figure is told as by the command that makes it.
impl From<isinglass_lab::reproduce::ReproduceError> for CliError {
    fn from(error: isinglass_lab::reproduce::ReproduceError) -> Self {
        use isinglass_lab::reproduce::ReproduceError;
        match error {
            ReproduceError::Sweep(error) => Self::Sweep(error),
            ReproduceError::Simulate(error) => Self::Simulate(error),
            ReproduceError::Theory(error) => Self::Theory(error),
            ReproduceError::Run(error) => Self::Run(error),
            ReproduceError::Chart(error) => Self::Chart(error),
            error => Self::Reproduce(error),
        }
    }
}

impl CliError {
    /// 2 for what the user can change, 1 for what went wrong on the way.
    pub fn exit_code(&self) -> u8 {
        use isinglass_lab::chart::ChartError;
        use isinglass_lab::replace::ReplaceError;
        use isinglass_lab::report::ReportError;
        use isinglass_lab::reproduce::ReproduceError;
        use isinglass_lab::simulate::SimulateError;
        use isinglass_lab::sweep::SweepError;
        use isinglass_lab::sweep::slurm::SlurmError;
        use isinglass_theory::Error as TheoryError;
        match self {
            Self::Theory(TheoryError::NotConverged { .. } | TheoryError::HeavyTail { .. } | TheoryError::NoRoot(_)) | Self::Output(_) => 1,
            Self::Simulate(SimulateError::Theory(
                TheoryError::NotConverged { .. } | TheoryError::HeavyTail { .. } | TheoryError::NoRoot(_),
            )) => 1,
            Self::Data(error) if went_wrong_on_the_way(error) => 1,
            Self::Run(error) if broke_off(error) => 1,
            Self::Net(isinglass_net::Error::PackedDiffers { .. }) | Self::Replace(ReplaceError::Write { .. }) => 1,
            Self::Report(ReportError::Write { .. }) | Self::Chart(ChartError::Write { .. }) => 1,
            Self::Sweep(SweepError::Write { .. })
            | Self::CellsFailed { .. }
            | Self::Queued { .. }
            | Self::Reproduce(ReproduceError::Write { .. } | ReproduceError::Unfinished { .. }) => 1,
            // A scheduler that refuses or is down; one that is not installed, or a wrong value, is the user's to change.
            Self::Sweep(SweepError::Slurm(
                SlurmError::Failed { .. } | SlurmError::Silent { .. } | SlurmError::NoNumber { .. } | SlurmError::UnknownQueue { .. },
            )) => 1,
            Self::Sweep(SweepError::Run(error)) if broke_off(error) => 1,
            // What a shell makes of a process that a signal ended.
            Self::Stopped { signal, .. } | Self::SweepStopped { signal, .. } => 128 + signal,
            _ => 2,
        }
    }
}

/// A network or a disk that fails, as opposed to a wrong name or a wrong file.
fn went_wrong_on_the_way(error: &isinglass_data::Error) -> bool {
    use isinglass_data::Error as DataError;
    match error {
        DataError::File { source, .. } => went_wrong_on_the_way(source),
        error => matches!(error, DataError::Download { .. } | DataError::Write(_)),
    }
}

/// A training or a disk that fails, as opposed to wrong settings or a wrong file.
fn broke_off(error: &isinglass_lab::run::RunError) -> bool {
    use isinglass_lab::run::RunError;
    use isinglass_net::Error as NetError;
    match error {
        RunError::Data(error) => went_wrong_on_the_way(error),
        RunError::Net(NetError::Diverged { .. } | NetError::Write { .. }) => true,
        error => matches!(error, RunError::Write { .. }),
    }
}
