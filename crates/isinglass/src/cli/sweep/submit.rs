//! `isinglass sweep submit`.

use std::path::PathBuf;

use clap::builder::RangedU64ValueParser;
use isinglass_lab::sweep::slurm::{Draft, Packing, Resources, SubmitOptions};
use isinglass_lab::sweep::{Grid, Sweep};

use super::progress::duration;
use super::run::{GridArgs, load};
use super::work::checkpoint_interval;
use crate::cli::answer::{Answer, number};
use crate::cli::messages::tell;
use crate::cli::output::{FormatArgs, program, usage};
use crate::cli::{CliError, Format};

/// Submit a sweep to a cluster: the cells that are left, as a Slurm job array.
///
/// Short cells are packed together, so that a task takes some minutes. Cells that have a result, are running or are in the queue are not submitted again: the same command later sends
/// what is still missing, such as cells whose task ran out of time. A task that loses its node is started again by Slurm and goes on from the last checkpoints of its cells.
///
/// The sweep's directory and the data must be on a file system that all nodes see.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  isinglass sweep submit grid.toml --out sweeps/a --slurm --time 2:00:00 --cpus-per-task 4
  isinglass sweep submit grid.toml --out sweeps/a --slurm --sbatch=--nice=100 --dry-run
  isinglass sweep status sweeps/a
  isinglass sweep collect sweeps/a --format csv > results.csv")]
pub struct Args {
    #[command(flatten)]
    grid: GridArgs,

    /// Submit to Slurm, by sbatch
    #[arg(long)]
    slurm: bool,

    /// At most N cells in a task [default: as many as take five minutes, or more so that there are at most 200 tasks]
    #[arg(long, value_name = "N", value_parser = positive())]
    cells_per_task: Option<usize>,

    /// Number of tasks
    #[arg(long, value_name = "N", conflicts_with = "cells_per_task", value_parser = positive())]
    tasks: Option<usize>,

    /// Submit cells again that have failed
    #[arg(long)]
    retry_failed: bool,

    /// Submit also cells that are running or in the queue
    #[arg(long)]
    again: bool,

    /// Directory that holds mnist/ and fashion-mnist/ [default: the grid's data-dir, else $ISINGLASS_DATA, else the user's cache]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,

    /// Print the batch script; make and submit nothing
    #[arg(long)]
    dry_run: bool,

    /// How often a cell saves its state
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0, allow_hyphen_values = true)]
    checkpoint_seconds: f64,

    /// Say nothing on standard error
    #[arg(long)]
    quiet: bool,

    #[command(flatten)]
    print: FormatArgs,

    // The last, since a heading holds for all that follows.
    #[command(flatten)]
    resources: ResourceArgs,
}

/// What tasks ask for. Where nothing is said, the cluster decides.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "What each task asks for")]
pub struct ResourceArgs {
    /// Partition
    #[arg(long, value_name = "NAMES")]
    partition: Option<String>,

    /// Time limit, as sbatch has it: minutes, hours:minutes:seconds, days-hours
    #[arg(long, value_name = "TIME")]
    time: Option<String>,

    /// Number of cores, and of threads
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

    /// Any other option of sbatch, such as --sbatch=--constraint=avx512; may be repeated
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    sbatch: Vec<String>,
}

impl ResourceArgs {
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
        if !self.slurm {
            return Err(usage("say where to: --slurm submits to Slurm; `isinglass sweep run` runs the cells on this machine"));
        }
        let options = self.options()?;
        let GridArgs { grid: path, out, keep_runs } = &self.grid;
        let grid = Grid::read(path)?;
        if !self.dry_run {
            Sweep::check_slurm().map_err(isinglass_lab::sweep::SweepError::from)?;
        }
        // Everything that can be wrong with the grid is said before anything is made, and here rather than in a task's log.
        let data = load(&grid, path, self.data_dir.as_deref())?;
        if self.dry_run {
            let sweep = Sweep::draft(out, grid, *keep_runs)?;
            let draft = sweep.draft_submission(&data, &options)?;
            self.tell(&describe(&draft));
            return self.print_draft(&sweep, &draft);
        }
        let sweep = Sweep::create(out, grid, *keep_runs)?;
        let submitted = sweep.submit(&data, &options)?;
        self.tell(&describe(&submitted.draft));
        Ok(answer(&sweep, &submitted.draft).print(self.print.format)?)
    }

    fn tell(&self, text: &str) {
        if !self.quiet {
            tell(text);
        }
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
    answer.fact("sweep", sweep.directory().display().to_string());
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
        text += ", which is more than --time: submit again what is then cut off, and it goes on";
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

/// `1 cell`, `2 cells`.
pub fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
