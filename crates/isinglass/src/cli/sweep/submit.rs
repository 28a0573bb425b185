//! `isinglass sweep submit`.

use std::path::PathBuf;

use clap::ValueEnum;
use clap::builder::RangedU64ValueParser;
use isinglass_lab::sweep::slurm::{Draft, Packing, Resources, SubmitOptions};
use isinglass_lab::sweep::{CommandOptions, Sweep, SweepData};
use isinglass_lab::words::{counted, duration};

use super::run::GridArgs;
use super::work::checkpoint_interval;
use crate::cli::answer::{Answer, Record, number};
use crate::cli::output::{FormatArgs, program, usage};
use crate::cli::terminal::tell;
use crate::cli::{CliError, Format};

/// Submit a sweep to a cluster: the remaining cells, as a Slurm job array, or as command lines for any other scheduler.
///
/// Short cells are packed together so that each task takes a few minutes. Cells that have a result, are running or are queued are not submitted again: running the same command later submits what is
/// still missing, such as cells whose task ran out of time. A task that loses its node is restarted by Slurm and resumes from the last checkpoints of its cells.
///
/// The sweep's directory and the data must be on a file system that all nodes share.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  isinglass sweep submit grid.toml --out sweeps/a --to slurm --time 2:00:00 --cpus-per-task 4
  isinglass sweep submit grid.toml --out sweeps/a --to slurm --sbatch=--nice=100 --dry-run
  isinglass sweep submit grid.toml --out sweeps/a --to commands > tasks.txt
  parallel -j 4 < tasks.txt
  isinglass sweep status sweeps/a
  isinglass sweep collect sweeps/a --format csv > results.csv")]
pub struct Args {
    #[command(flatten)]
    grid: GridArgs,

    /// Where to: a Slurm cluster, or, for any other scheduler, command lines on standard output, one for each task
    #[arg(long, value_enum, value_name = "WHERE")]
    to: Option<Target>,

    /// The same as --to slurm
    #[arg(long, conflicts_with = "to")]
    slurm: bool,

    /// At most N cells per task [default: about five minutes' worth, more if there would be over 200 tasks]
    #[arg(long, value_name = "N", value_parser = positive())]
    cells_per_task: Option<usize>,

    /// Number of tasks
    #[arg(long, value_name = "N", conflicts_with = "cells_per_task", value_parser = positive())]
    tasks: Option<usize>,

    /// Submit failed cells again
    #[arg(long)]
    retry_failed: bool,

    /// Also submit cells that are running or queued
    #[arg(long)]
    again: bool,

    /// Directory containing mnist/ and fashion-mnist/ [default: the grid's data-dir, else $ISINGLASS_DATA, else the user's cache]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,

    /// Print the batch script without creating or submitting anything
    #[arg(long)]
    dry_run: bool,

    /// Seconds between checkpoints of a cell
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0, allow_hyphen_values = true)]
    checkpoint_seconds: f64,

    #[command(flatten)]
    print: FormatArgs,

    // The last, since a heading holds for all that follows.
    #[command(flatten)]
    resources: ResourceArgs,
}

/// Where cells are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Target {
    /// A Slurm cluster, by sbatch
    Slurm,
    /// Command lines, one for each task: for GNU parallel, xargs, submitit, Kubernetes and others
    Commands,
}

/// What tasks ask for. Where nothing is said, the cluster decides.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Resources per task")]
pub struct ResourceArgs {
    /// Partition
    #[arg(long, value_name = "NAMES")]
    partition: Option<String>,

    /// Time limit in sbatch's format: minutes, hours:minutes:seconds or days-hours
    #[arg(long, value_name = "TIME")]
    time: Option<String>,

    /// Number of cores and threads
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = RangedU64ValueParser::<usize>::new().range(1..=1024))]
    cpus_per_task: usize,

    /// Memory, such as 2G
    #[arg(long, value_name = "SIZE")]
    mem: Option<String>,

    /// Account
    #[arg(long, value_name = "NAME")]
    account: Option<String>,

    /// Quality of service
    #[arg(long, value_name = "NAME")]
    qos: Option<String>,

    /// Run at most N tasks at a time
    #[arg(long, value_name = "N", value_parser = positive())]
    max_running: Option<usize>,

    /// Other sbatch options, such as --sbatch=--constraint=avx512; may be repeated
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    sbatch: Vec<String>,
}

impl ResourceArgs {
    /// A flag that only Slurm understands, if one is given.
    fn only_for_slurm(&self) -> Option<&'static str> {
        let given = [
            ("--partition", self.partition.is_some()),
            ("--time", self.time.is_some()),
            ("--mem", self.mem.is_some()),
            ("--account", self.account.is_some()),
            ("--qos", self.qos.is_some()),
            ("--max-running", self.max_running.is_some()),
            ("--sbatch", !self.sbatch.is_empty()),
        ];
        given.into_iter().find(|(_, is_given)| *is_given).map(|(flag, _)| flag)
    }

    /// The same, checked.
    pub fn resources(&self) -> Result<Resources, CliError> {
        let resources = Resources {
            partition: self.partition.clone(),
            time: self.time.clone(),
            cpus_per_task: self.cpus_per_task,
            mem: self.mem.clone(),
            account: self.account.clone(),
            qos: self.qos.clone(),
            max_running: self.max_running,
            others: self.sbatch.clone(),
        };
        resources.check().map_err(isinglass_lab::sweep::SweepError::from)?;
        Ok(resources)
    }
}

fn positive() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..=1_000_000)
}

impl Args {
    pub fn run(self) -> Result<(), CliError> {
        let target = match (self.to, self.slurm) {
            (Some(target), _) => target,
            (None, true) => Target::Slurm,
            (None, false) => {
                return Err(usage(
                    "say where to: --to slurm submits to Slurm, --to commands prints command lines for other schedulers; `isinglass sweep run` runs the cells on this machine",
                ));
            }
        };
        if let Some(flag) = self.resources.only_for_slurm().filter(|_| target == Target::Commands) {
            return Err(usage(format!("{flag} is for --to slurm: with --to commands, whatever runs the commands sets limits")));
        }
        let options = self.options()?;
        let grid = self.grid.read()?;
        if !self.dry_run && target == Target::Slurm {
            Sweep::check_slurm().map_err(isinglass_lab::sweep::SweepError::from)?;
        }
        // Everything that can be wrong with the grid is said before anything is made, and here rather than in a task's log.
        let draft = self.grid.draft(&grid)?;
        let data = self.grid.load(&draft, self.data_dir.as_deref())?;
        let sweep = if self.dry_run { draft } else { Sweep::create(&self.grid.out, grid, self.grid.keep_runs)? };
        if target == Target::Commands {
            return self.print_commands(&sweep, &data);
        }
        if self.dry_run {
            let draft = sweep.draft_submission(&data, &options)?;
            tell(&describe(&draft));
            return self.print_draft(&sweep, &draft);
        }
        let submitted = sweep.submit(&data, &options)?;
        tell(&describe(&submitted.draft));
        Ok(answer(&sweep, &submitted.draft).print(self.print.format)?)
    }

    fn options(&self) -> Result<SubmitOptions, CliError> {
        Ok(SubmitOptions {
            executable: program()?,
            resources: self.resources.resources()?,
            packing: Packing { cells_per_task: self.cells_per_task, tasks: self.tasks },
            retry_failed: self.retry_failed,
            again: self.again,
            data_dir: self.data_dir.clone(),
            checkpoint_interval: checkpoint_interval(self.checkpoint_seconds)?,
        })
    }

    /// The commands alone, one to a line, or, as JSON, everything and the commands.
    fn print_commands(&self, sweep: &Sweep, data: &SweepData) -> Result<(), CliError> {
        use std::io::Write;
        let commands = sweep.commands(
            data,
            &CommandOptions {
                executable: program()?,
                packing: Packing { cells_per_task: self.cells_per_task, tasks: self.tasks },
                threads: self.resources.cpus_per_task,
                retry_failed: self.retry_failed,
                again: self.again,
                data_dir: self.data_dir.clone(),
                checkpoint_interval: checkpoint_interval(self.checkpoint_seconds)?,
            },
        )?;
        let length = commands.seconds.map(|seconds| format!(" of at most about {}", duration(seconds))).unwrap_or_default();
        tell(&match commands.lines.len() {
            0 => format!("nothing to run: {} of {} done, {} failed", commands.done, counted(sweep.cells().len(), "cell"), commands.failed),
            tasks => format!("{} in {}{length}", counted(commands.cells, "cell"), counted(tasks, "command")),
        });
        if self.print.format == Format::Table {
            let mut out = std::io::stdout().lock();
            return Ok(commands.lines.iter().try_for_each(|line| writeln!(out, "{line}"))?);
        }
        let row = |(task, line): (usize, &String)| {
            Record::from_iter([("task".to_owned(), task.into()), ("command".to_owned(), line.as_str().into())])
        };
        let mut answer = Answer::default();
        if self.print.format == Format::Json {
            answer.place("sweep", sweep.directory());
            answer.fact("tasks", commands.lines.len()).fact("cells", commands.cells).fact("seconds", number(commands.seconds));
            answer
                .fact("done", commands.done)
                .fact("running", commands.running)
                .fact("failed", commands.failed)
                .fact("queued", commands.queued);
        }
        answer.rows("commands", commands.lines.iter().enumerate().map(row).collect()).columns(["task".into(), "command".into()]);
        Ok(answer.print(self.print.format)?)
    }

    /// The script alone, or, as JSON, everything and the script.
    fn print_draft(&self, sweep: &Sweep, draft: &Draft) -> Result<(), CliError> {
        use std::io::Write;
        match self.print.format {
            Format::Table => Ok(std::io::stdout().write_all(draft.script.as_bytes())?),
            format => Ok(answer(sweep, draft).fact("text", draft.script.clone()).take().print(format)?),
        }
    }
}

/// What was submitted, or would be. What does not exist, because nothing was left, is null.
fn answer(sweep: &Sweep, draft: &Draft) -> Answer {
    let submission = &draft.submission;
    let if_any = |text: String| (draft.tasks() > 0).then_some(text);
    let mut answer = Answer::default();
    answer.place("sweep", sweep.directory());
    answer.fact("job", submission.job.clone());
    answer.fact("name", if_any(submission.job_name()));
    answer.fact("tasks", draft.tasks()).fact("cells", draft.cells());
    answer.fact("seconds", number(draft.seconds));
    answer.fact("done", draft.done).fact("running", draft.running).fact("failed", draft.failed).fact("queued", draft.queued);
    answer.fact("directory", if_any(submission.directory.display().to_string()));
    answer.fact("script", if_any(submission.script().display().to_string()));
    answer
}

/// `96 cells in 4 tasks of about 5 min; 12 are done`.
fn describe(draft: &Draft) -> String {
    let mut text = match (draft.tasks(), draft.seconds) {
        (0, _) => "nothing to submit".to_owned(),
        (tasks, seconds) => {
            let length = seconds.map(|seconds| format!(" of at most about {}", duration(seconds))).unwrap_or_default();
            format!("{} in {}{length}", counted(draft.cells(), "cell"), counted(tasks, "task"))
        }
    };
    if draft.exceeds_limit {
        text += ", more than --time: resubmit afterwards; interrupted cells resume";
    }
    let others = [
        (draft.done, "done"),
        (draft.running, "running"),
        (draft.queued, "in the queue"),
        (draft.failed, "failed (--retry-failed submits them again)"),
    ];
    let others: Vec<String> = others.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    if !others.is_empty() {
        text += &format!("; left out: {}", others.join(", "));
    }
    text
}
