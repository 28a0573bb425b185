//! `isinglass reproduce`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ValueEnum;
use clap::builder::PossibleValuesParser;
use indicatif::ProgressBar;
use isinglass_data::archive::{ARCHIVES, data_directory};
use isinglass_lab::reproduce::{Cost, FigureRecord, Missing, Plan, Scale, Study, Subject};
use isinglass_lab::shell;
use isinglass_lab::sweep::slurm::{Jobs, Packing, SlurmError, Standing, SubmitOptions};
use isinglass_lab::sweep::{Sweep, SweepData, SweepError};
use isinglass_lab::words::{counted, duration};

use super::CliError;
use super::answer::{Answer, Record, number, to_record};
use super::output::{TableArgs, program, rows_among, usage};
use super::run::progress::{bar, tell};
use super::sweep::submit::ResourceArgs;
use super::sweep::work::{WorkArgs, perform};
use super::terminal::insist;

/// Reproduce the paper's figures and check which of its claims hold.
///
/// fig1 signals in random networks, fig2 which networks train, fig3 critical lines, fig4 depth scales; our own: fig5 other neurons on the grid of fig2, fig6 common initialisations applied to means, table
/// the statements of Section 4.2. `all` means these. Beyond the paper, by name only: depth, binary accuracy over depth with and without carried fields, and what each layer contributes; ablation, what each
/// kind of regularisation is worth. Each becomes a directory with pictures (SVG and PNG), data and figure.json; `isinglass report` makes one page of them all.
///
/// Figures that need training are drawn from sweeps in DIR/sweeps. They can be stopped at any moment; the same command resumes them. At the paper's scale they need a cluster: --slurm submits them, and
/// the same command without --slurm draws the figures once they are done. The expected cost is printed first.
///
/// A claim is judged by 95 % intervals over at least three seeds. It holds if the whole interval is on its side of the threshold, does not hold if the whole interval is on the other, and is not decided
/// otherwise. Cells whose loss diverges count as untrained. If cells fail for another reason, what can be drawn is drawn, the claims that need them are not decided, and the exit code is 1.
#[derive(Debug, clap::Args)]
#[command(mut_arg("rows", rows_among(&["claims", "figures", "sweeps", "facts"])))]
#[command(after_help = "Examples:
  isinglass reproduce all --scale quick --out figures
  isinglass reproduce fig1 fig3 fig4 --out figures
  isinglass reproduce depth ablation --out figures
  isinglass report figures -o report.html
  isinglass reproduce fig2 --scale paper --out paper --dry-run
  isinglass reproduce fig2 --scale paper --out paper --slurm --partition long \\
    --time 12:00:00 --cpus-per-task 4")]
pub struct Args {
    /// Figures to reproduce
    #[arg(value_name = "FIGURE", required = true, value_parser = names())]
    figures: Vec<String>,

    /// Size: quick takes minutes on two cores, paper uses the paper's settings
    #[arg(long, value_enum, default_value_t = Size::Quick)]
    scale: Size,

    /// Directory for the figures
    #[arg(long, value_name = "DIR", default_value = "figures")]
    out: PathBuf,

    /// Data set to train on [default: mnist if present, else digits, which are generated]
    #[arg(long, value_name = "NAME")]
    data: Option<String>,

    /// Random seed
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(..=1_000_000_000))]
    seed: u64,

    /// Print the expected cost and stop
    #[arg(long)]
    dry_run: bool,

    /// Submit the sweeps to Slurm instead of running them here
    #[arg(long, conflicts_with = "dry_run")]
    slurm: bool,

    #[command(flatten)]
    work: WorkArgs,

    #[command(flatten)]
    print: TableArgs,

    // The last, since a heading holds for all that follows.
    #[command(flatten)]
    resources: ResourceArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Size {
    /// Seconds, to see whether everything works
    #[value(hide = true)]
    Smoke,
    /// Narrow networks, few cells, a tenth of the data, three seeds
    Quick,
    /// The paper's data, optimiser and epochs, width 96: Figure 2 takes about two hours on two cores
    Medium,
    /// The paper's settings where it states them, width 256
    Paper,
}

/// The paper's figures and those beside them, all at once.
const ALL: &str = "all";

fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(Subject::ALL.map(Subject::name).into_iter().chain([ALL]).chain(Subject::BEYOND.map(Subject::name)))
}

impl Args {
    pub fn run(self) -> Result<(), CliError> {
        let is_named = |subject: &Subject| self.figures.iter().any(|name| name == subject.name());
        let has_all = self.figures.iter().any(|name| name == ALL);
        let paper = Subject::ALL.into_iter().filter(|subject| has_all || is_named(subject));
        let subjects: Vec<Subject> = paper.chain(Subject::BEYOND.into_iter().filter(is_named)).collect();
        let study = self.study()?;
        let plans = study.plans(&subjects);
        let data = study.load(&plans)?;
        let costs = study.cost(&plans, &data, self.work.retries_failed())?;
        if self.dry_run {
            tell(&introduction(&study, &costs, false));
            return self.print.print(estimate(&study, &costs));
        }
        tell(&introduction(&study, &costs, self.slurm));
        if self.slurm {
            return self.submit(&study, &plans, &data);
        }
        for plan in &plans {
            check_queue(&study.sweep(plan)?)?;
        }
        for (plan, cost) in plans.iter().zip(&costs) {
            let sweep = study.sweep(plan)?;
            if cost.waiting > 0 {
                perform(&sweep, &data, &self.work, None, &self.command(&study))?;
            }
        }
        let records = self.draw(&study, &subjects)?;
        self.print.print(answer(&study, &records, &self.print))?;
        end(&study.missing(&plans)?)
    }

    fn study(&self) -> Result<Study, CliError> {
        let data = match &self.data {
            Some(name) => name.clone(),
            None => found(self.work.data_dir())?.to_owned(),
        };
        let scale = match self.scale {
            Size::Smoke => Scale::Smoke,
            Size::Quick => Scale::Quick,
            Size::Medium => Scale::Medium,
            Size::Paper => Scale::Paper,
        };
        let data_dir = self.work.data_dir().map(Path::to_owned);
        Ok(Study { directory: self.out.clone(), scale, data, data_dir, seed: self.seed, threads: self.work.threads() })
    }

    /// What goes on after an interruption.
    fn command(&self, study: &Study) -> String {
        let mut text =
            format!("isinglass reproduce {} --scale {} --out {}", self.figures.join(" "), study.scale.name(), shell::path(&self.out));
        text += &format!(" --data {}", shell::word(&study.data));
        if self.seed != 1 {
            text += &format!(" --seed {}", self.seed);
        }
        text + &self.work.data_dir_flag()
    }

    fn draw(&self, study: &Study, subjects: &[Subject]) -> Result<Vec<FigureRecord>, CliError> {
        let mut records = Vec::new();
        for &subject in subjects {
            let bar: ProgressBar = bar(&format!("{subject} {{bar:24}} {{percent}}%"));
            bar.set_length(1000);
            bar.enable_steady_tick(Duration::from_millis(200));
            let record = study.draw(subject, &|part| bar.set_position((1000.0 * part) as u64))?;
            bar.finish_and_clear();
            tell(&format!("{subject}: {}", study.directory_of(subject).display()));
            records.push(record);
        }
        Ok(records)
    }

    fn submit(&self, study: &Study, plans: &[Plan], data: &SweepData) -> Result<(), CliError> {
        if plans.is_empty() {
            return Err(usage("these figures need no training: leave out --slurm"));
        }
        Sweep::check_slurm().map_err(SweepError::from)?;
        let options = SubmitOptions {
            executable: program()?,
            resources: self.resources.resources()?,
            packing: Packing::default(),
            retry_failed: self.work.retries_failed(),
            again: false,
            data_dir: study.data_dir.clone(),
            checkpoint_interval: self.work.checkpoint_interval()?,
        };
        let mut rows = Vec::new();
        for plan in plans {
            let sweep = study.sweep(plan)?;
            let submitted = sweep.submit(data, &options)?;
            let mut row = Record::new();
            row.insert("sweep".into(), sweep.directory().display().to_string().into());
            row.insert("path".into(), row["sweep"].clone());
            row.insert("job".into(), submitted.job.into());
            row.insert("tasks".into(), submitted.draft.tasks().into());
            row.insert("cells".into(), submitted.draft.cells().into());
            row.insert("done".into(), submitted.draft.done.into());
            row.insert("queued".into(), submitted.draft.queued.into());
            row.insert("running".into(), submitted.draft.running.into());
            rows.push(row);
        }
        tell(&format!("once `isinglass sweep status` shows that all cells are done, draw the figures with `{}`", self.command(study)));
        let mut answer = Answer::default();
        answer.place("directory", &study.directory);
        self.print.print(answer.rows("sweeps", rows).take())
    }
}

/// Missing cells of a sweep that are named.
const NAMED: usize = 10;

/// Says so if figures had to be drawn without some cells.
fn end(missing: &[Missing]) -> Result<(), CliError> {
    let failed = |one: &Missing| CliError::CellsFailed {
        failed: one.failed.len(),
        damaged: 0,
        refused: Vec::new(),
        cells: one.cells,
        directory: one.directory.clone(),
    };
    for one in missing {
        for (cell, reason) in one.failed.iter().take(NAMED) {
            insist(&format!("{}: {cell}: {reason}", one.directory.display()));
        }
        if one.failed.len() > NAMED {
            insist(&format!("{}: and {} more", one.directory.display(), one.failed.len() - NAMED));
        }
    }
    let Some((last, others)) = missing.split_last() else { return Ok(()) };
    others.iter().for_each(|one| insist(&failed(one).to_string()));
    Err(failed(last))
}

/// What was submitted and has not ended is not run here too: a login node is no place for it.
fn check_queue(sweep: &Sweep) -> Result<(), CliError> {
    let mut jobs = Jobs::look(sweep)?;
    if let Some(trouble) = jobs.take_trouble() {
        return Err(SweepError::from(SlurmError::UnknownQueue { source: Box::new(trouble) }).into());
    }
    let mut cells = 0;
    for cell in sweep.cells() {
        cells += usize::from(matches!(jobs.standing(sweep, cell)?, Standing::Queued(_) | Standing::Running(Some(_))));
    }
    if cells > 0 { Err(CliError::Queued { cells, directory: sweep.directory().to_owned() }) } else { Ok(()) }
}

/// MNIST if all of it is there, else what is always there.
fn found(directory: Option<&Path>) -> Result<&'static str, CliError> {
    let data = data_directory(directory)?;
    let mnist = ARCHIVES.iter().find(|archive| archive.name == "mnist");
    Ok(if mnist.is_some_and(|mnist| mnist.find(&data).iter().all(Option::is_some)) { "mnist" } else { "digits" })
}

/// `figures, quick scale, mnist: 9 sweeps, 310 cells, 120 to run: about 9 min on 2 threads`.
fn introduction(study: &Study, costs: &[Cost], is_elsewhere: bool) -> String {
    let text = format!("{}, {} scale", study.directory.display(), study.scale.name());
    if costs.is_empty() {
        return text + ": no training";
    }
    let (cells, waiting) = costs.iter().fold((0, 0), |(cells, waiting), cost| (cells + cost.cells, waiting + cost.waiting));
    let text = format!("{text}, {}: {}, {cells} cells", study.data, counted(costs.len(), "sweep"));
    if waiting == 0 {
        return text + ", nothing to run";
    }
    let core_seconds: f64 = costs.iter().map(|cost| cost.core_seconds).sum();
    if is_elsewhere {
        return format!("{text}, {waiting} without a result: about {} of one core like those here", duration(core_seconds));
    }
    let threads = study.threads.max(1);
    format!("{text}, {waiting} to run: about {} on {}", duration(core_seconds / threads as f64), counted(threads, "thread"))
}

fn estimate(study: &Study, costs: &[Cost]) -> Answer {
    let core_seconds: f64 = costs.iter().map(|cost| cost.core_seconds).sum();
    let mut answer = Answer::default();
    answer.place("directory", &study.directory).fact("scale", study.scale.name()).fact("data", study.data.clone());
    answer
        .fact("cells", costs.iter().map(|cost| cost.cells).sum::<usize>())
        .fact("waiting", costs.iter().map(|cost| cost.waiting).sum::<usize>());
    answer
        .fact("core_seconds", number(core_seconds))
        .fact("threads", study.threads)
        .fact("seconds", number(core_seconds / study.threads.max(1) as f64));
    let row = |cost: &Cost| {
        let mut row = Record::new();
        row.insert("sweep".into(), cost.sweep.into());
        row.insert("cells".into(), cost.cells.into());
        row.insert("waiting".into(), cost.waiting.into());
        row.insert("core_seconds".into(), number(cost.core_seconds));
        row
    };
    answer.rows("sweeps", costs.iter().map(row).collect()).take()
}

/// Everything that is on record, and as a table the claims and what became of them.
fn answer(study: &Study, records: &[FigureRecord], print: &TableArgs) -> Answer {
    let mut answer = Answer::default();
    answer.place("directory", &study.directory).fact("scale", study.scale.name()).fact("data", study.data.clone());
    answer.rows("figures", records.iter().map(to_record).collect());
    let row = |record: &FigureRecord, claim: &isinglass_lab::reproduce::Claim| {
        let mut row = Record::new();
        row.insert("figure".into(), record.figure.clone().into());
        row.insert("verdict".into(), claim.verdict.name().into());
        row.insert("claim".into(), claim.claim.clone().into());
        if !print.is_for_reading() {
            row.insert("evidence".into(), claim.evidence.clone().into());
        }
        row
    };
    let rows = records.iter().flat_map(|record| record.claims.iter().map(move |claim| row(record, claim)));
    answer.flat("claims", rows.collect()).take()
}
