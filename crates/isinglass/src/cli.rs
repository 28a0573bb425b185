//! Commands, flags and errors.

pub(crate) mod answer;
mod bench;
mod completions;
mod data;
mod evaluate;
mod export;
mod global;
mod inspect;
mod man;
mod output;
mod pack;
mod packed;
mod predict;
mod predictions;
mod printable;
mod report;
mod reproduce;
mod resume;
mod run;
mod runs;
mod simulate;
mod style;
mod sweep;
mod terminal;
pub(crate) mod theory;
mod train;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand, ValueEnum};
use isinglass_lab::shell;
use thiserror::Error;

/// Runs the command line, the name of the program first, and returns its exit code.
///
/// ```
/// assert_eq!(isinglass::command_line(["isinglass", "theory", "point", "--sigma-m2", "1.2"]), 2); // no means have that variance
/// ```
pub fn command_line(arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) => return usage_error(&error, global::color_in(&arguments)),
    };
    let _speaking = cli.global.speech().begin();
    match cli.run() {
        Ok(()) => 0,
        // The reader of our output has gone away, as `head` does: nothing is wrong.
        Err(CliError::Output(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => 0,
        Err(error @ (CliError::Stopped { .. } | CliError::SweepStopped { .. })) => {
            terminal::insist(&error.to_string());
            error.exit_code()
        }
        Err(error) => {
            terminal::error(&format!("{error}{}", error.way_out()));
            error.exit_code()
        }
    }
}

/// Help goes out as it is; a mistake becomes one sentence.
fn usage_error(error: &clap::Error, color: style::Color) -> u8 {
    let text = error.render().to_string();
    if !error.use_stderr() {
        let mut out = io::stdout();
        return match write!(out, "{}", color.stdout().help(&text)).and_then(|()| out.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                let error = CliError::Output(error);
                terminal::error(&error.to_string());
                error.exit_code()
            }
            _ => 0,
        };
    }
    // Nobody is left to tell if even this cannot be printed.
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let _ = write!(io::stderr(), "{}", color.stderr().help(&text));
        return 2;
    }
    let _speaking = terminal::Speech { color, ..Default::default() }.begin();
    terminal::error(&format!("{} (try --help)", in_one_sentence(&text)));
    2
}

/// What clap says of a mistake, with its tips: the paragraphs before the usage, in one line.
fn in_one_sentence(text: &str) -> String {
    let is_usage = |paragraph: &str| paragraph.starts_with("Usage:") || paragraph.starts_with("For more information");
    let in_one_line = |paragraph: &str| paragraph.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    let paragraphs: Vec<String> = text.trim().split("\n\n").take_while(|paragraph| !is_usage(paragraph)).map(in_one_line).collect();
    let sentence = paragraphs.join("; ");
    in_plain_words(sentence.strip_prefix("error: ").unwrap_or(&sentence))
}

/// What the standard library says of a number that cannot be read, and how users say it.
const NUMBERS: [(&str, &str); 6] = [
    ("number too large to fit in target type", "too large"),
    ("number too small to fit in target type", "too small"),
    ("invalid digit found in string", "not a whole number"),
    ("cannot parse integer from empty string", "empty where a whole number is expected"),
    ("invalid float literal", "not a number"),
    ("cannot parse float from empty string", "empty where a number is expected"),
];

/// Most characters of a number that is repeated.
const LONGEST_WORD: usize = 80;

/// A message without endless numbers, and with plain words in place of the library's.
fn in_plain_words(sentence: &str) -> String {
    // Paths may be long, too, and are repeated whole.
    let is_number = |word: &str| word.chars().all(|c| c.is_ascii_digit() || !c.is_alphanumeric() && c != '/');
    let shortened = |word: &str| match word.chars().count() {
        0..=LONGEST_WORD => word.to_owned(),
        _ if !is_number(word) => word.to_owned(),
        // Quotes and colons at the end stay.
        _ => word
            .chars()
            .take(20)
            .chain(['…'])
            .chain(word.chars().rev().take_while(|c| !c.is_alphanumeric()).collect::<Vec<_>>().into_iter().rev())
            .collect(),
    };
    let sentence = sentence.split(' ').map(shortened).collect::<Vec<_>>().join(" ");
    let sentence = NUMBERS.iter().fold(sentence, |text, (theirs, ours)| text.replace(theirs, ours));
    // `7 is not in 0..=1024`
    match sentence.split_once(" is not in ").and_then(|(before, range)| Some((before, range.split_once("..=")?))) {
        Some((before, (least, most))) if least.parse::<i64>().is_ok() => {
            let before = before.rsplit_once(' ').map_or("", |(before, _)| before);
            format!("{before} must be from {least} to {most}")
        }
        _ => sentence,
    }
}

/// What every command returns.
const EXIT_CODES: &str = "Exit codes:
  0         done
  1         failed on the way: full disk, failed download, diverging training
  2         wrong usage or wrong input; nothing was changed
  130, 143  stopped by Ctrl-C (SIGINT) or SIGTERM; runs and sweeps can be resumed";

/// Deep neural networks of ±1 weights and neurons.
#[derive(Debug, Parser)]
#[command(name = "isinglass", version, about, long_about = None, arg_required_else_help = true, after_help = EXIT_CODES)]
struct Cli {
    #[command(flatten)]
    global: global::GlobalArgs,

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

    /// Sweeps, grids of training runs: run or submit them, show their status, collect results
    #[command(subcommand)]
    Sweep(sweep::Command),

    /// Training runs: list and compare them
    #[command(subcommand)]
    Runs(runs::Command),

    Report(report::Args),

    /// Theory: how signals travel through a random network, before any training
    #[command(subcommand)]
    Theory(theory::Command),

    Simulate(Box<simulate::Args>),
    Reproduce(Box<reproduce::Args>),

    /// Data sets: list, fetch and show them
    #[command(subcommand)]
    Data(data::Command),

    Completions(completions::Args),
    Man(man::Args),
}

impl Cli {
    /// Runs the command.
    fn run(self) -> Result<(), CliError> {
        let isa = isinglass_simd::Isa::chosen().map_err(|error| CliError::Usage(error.to_string()))?;
        terminal::detail(|| {
            let threads = self.global.threads();
            format!("isinglass {}, instruction set {}, threads {threads}", env!("CARGO_PKG_VERSION"), isa.name())
        });
        let began = Instant::now();
        let result = self.command.run();
        terminal::detail(|| format!("finished after {:.2} s", began.elapsed().as_secs_f64()));
        result
    }
}

impl Command {
    fn run(self) -> Result<(), CliError> {
        match self {
            Self::Train(args) => args.run(),
            Self::Resume(args) => args.run(),
            Self::Evaluate(args) => args.run(),
            Self::Inspect(args) => args.run(),
            Self::Pack(args) => args.run(),
            Self::Predict(args) => args.run(),
            Self::Export(args) => args.run(),
            Self::Bench(args) => args.run(),
            Self::Sweep(command) => command.run(),
            Self::Runs(command) => command.run(),
            Self::Report(args) => args.run(),
            Self::Theory(command) => command.run(),
            Self::Simulate(args) => args.run(),
            Self::Reproduce(args) => args.run(),
            Self::Data(command) => command.run(),
            Self::Completions(args) => args.run(),
            Self::Man(args) => args.run(),
        }
    }
}

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text for reading
    Table,
    /// One JSON object; missing values are null
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
    #[error("stopped with {done} of {cells} cells done; resume with `{command}`")]
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
    #[error("{}", cells_failed(*.failed, *.damaged, .refused, *.cells, .directory))]
    CellsFailed {
        /// Cells with an error.
        failed: usize,
        /// Cells whose record is damaged.
        damaged: usize,
        /// Cells that do not fit the memory.
        refused: Vec<String>,
        /// Cells in all.
        cells: usize,
        /// The sweep's directory.
        directory: PathBuf,
    },
    /// Cells that a figure needs wait in a queue, to be run elsewhere.
    #[error("{cells} cells of {} are in Slurm's queue or running: run this again once `isinglass sweep status {}` shows them done, or cancel their jobs", .directory.display(), shell::path(.directory))]
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
    #[error("stopped after step {} of {}; resume with `isinglass resume {}`", .progress.step, .progress.steps, shell::path(.directory))]
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

/// `2 of 9 cells failed: …`.
fn cells_failed(failed: usize, damaged: usize, refused: &[String], cells: usize, directory: &Path) -> String {
    let mut parts = Vec::new();
    if failed + damaged > 0 {
        let counts = [(failed, "failed"), (damaged, "have a damaged record")];
        let counts = counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} of {cells} cells {what}"));
        let counts = counts.collect::<Vec<_>>().join(", ");
        parts.push(format!("{counts}: `isinglass sweep status {}` says why, --retry-failed runs them again", shell::path(directory)));
    }
    if !refused.is_empty() {
        // Of many, the first few: all were named before the first cell was run.
        let named =
            refused.iter().take(NAMED).map(String::as_str).chain((refused.len() > NAMED).then_some("…")).collect::<Vec<_>>().join(", ");
        parts.push(format!("not run for lack of memory: {} of {cells} cells, {named}", refused.len()));
    }
    parts.join("; ")
}

/// Cells that an error names.
const NAMED: usize = 5;

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
    /// The flag that helps, where there is one.
    fn way_out(&self) -> &'static str {
        use isinglass_lab::replace::{Kind, ReplaceError};
        match self {
            Self::Replace(ReplaceError::NotOurs { kind, .. } | ReplaceError::Unknown { kind, .. }) if *kind != Kind::Packed => {
                " (--force replaces it)"
            }
            _ => "",
        }
    }

    /// 2 for what the user can change, 1 for what went wrong on the way.
    pub fn exit_code(&self) -> u8 {
        use isinglass_lab::replace::ReplaceError;
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
            Self::Net(isinglass_net::Error::PackedDiffers { .. }) => 1,
            Self::Replace(ReplaceError::Write { .. }) => 1,
            Self::Replace(ReplaceError::Directory { source, .. }) if !is_wrong_place(source) => 1,
            Self::Sweep(SweepError::Directory { source, .. }) if !is_wrong_place(source) => 1,
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

/// A path that can never be a directory, as opposed to a disk that fails.
fn is_wrong_place(error: &io::Error) -> bool {
    use io::ErrorKind::{AlreadyExists, InvalidFilename, InvalidInput, NotADirectory, NotFound};
    matches!(error.kind(), NotADirectory | NotFound | AlreadyExists | InvalidFilename | InvalidInput)
}

/// A training or a disk that fails, as opposed to wrong settings or a wrong file.
fn broke_off(error: &isinglass_lab::run::RunError) -> bool {
    use isinglass_lab::run::RunError;
    use isinglass_net::Error as NetError;
    match error {
        RunError::Data(error) => went_wrong_on_the_way(error),
        RunError::Net(NetError::Diverged { .. } | NetError::Overflow { .. } | NetError::Write { .. }) => true,
        RunError::Directory { source, .. } => !is_wrong_place(source),
        error => matches!(error, RunError::Write { .. }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_refused_in_plain_words() {
        let of = |arguments: &[&str]| {
            let arguments = ["isinglass", "train"].iter().chain(arguments);
            in_one_sentence(&Cli::try_parse_from(arguments).unwrap_err().render().to_string())
        };
        assert_eq!(of(&["--depth", "2.5"]), "invalid value '2.5' for '--depth <DEPTH>': not a whole number");
        assert_eq!(of(&["--lr", "fast"]), "invalid value 'fast' for '--lr <LR>': not a number");
        assert_eq!(of(&["--threads", "99999"]), "invalid value '99999' for '--threads <N>': must be from 0 to 1024");
        let huge = of(&["--seed", &"9".repeat(300)]);
        assert_eq!(huge, format!("invalid value '{}…' for '--seed <SEED>': too large", "9".repeat(19)));
    }
}
