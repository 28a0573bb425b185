//! What a sweep shows while it goes on, all of it on standard error: a bar on a terminal, else a line per cell.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use indicatif::ProgressBar;
use isinglass_lab::sweep::{Cell, Event, Plan, Record, Standing};
use isinglass_lab::words::{duration, percent};

use crate::cli::run::progress::{bar, tell};

/// The bar counts thousandths of the work, since cells differ in length.
const PARTS: f64 = 1000.0;

/// Watches a sweep.
pub struct Watcher {
    bar: ProgressBar,
    quiet: bool,
    on_terminal: bool,
    directory: PathBuf,
    standing: Standing,
}

impl Watcher {
    pub fn new(quiet: bool, directory: &Path) -> Self {
        Self {
            bar: bar(!quiet, "{bar:24} {percent}%, {msg}"),
            quiet,
            on_terminal: io::stderr().is_terminal(),
            directory: directory.to_owned(),
            standing: Standing::default(),
        }
    }

    /// How things stood when they were last heard of.
    pub fn standing(&self) -> Standing {
        self.standing
    }

    /// Takes note of what happens.
    pub fn watch(&mut self, event: &Event<'_>) {
        match event {
            Event::Planned(plan) => {
                self.standing = Standing { cells: plan.cells, ..Standing::default() };
                if !self.quiet {
                    tell(&introduction(plan, &self.directory));
                }
                self.bar.set_length(PARTS as u64);
            }
            Event::Ended(cell, record, standing) => {
                self.standing = **standing;
                if !self.quiet && (!self.on_terminal || record.is_failed()) {
                    self.bar.suspend(|| tell(&describe_end(cell, record, standing)));
                }
            }
            Event::Tick(standing) => {
                self.standing = **standing;
                if self.on_terminal {
                    self.bar.set_position((PARTS * standing.part) as u64);
                    self.bar.set_message(describe(standing));
                }
            }
        }
    }

    /// Removes the bar.
    pub fn end(&self) {
        self.bar.finish_and_clear();
    }
}

/// `sweeps/a: 36 cells, 12 to run on 2 threads, about 4 min`.
fn introduction(plan: &Plan, directory: &Path) -> String {
    let mut text = format!("{}: {} cells", directory.display(), plan.cells);
    if plan.failed > 0 {
        text += &format!(", {} failed (--retry-failed runs them again)", plan.failed);
    }
    match plan.seconds {
        Some(seconds) => text + &format!(", {} to run on {} threads: about {}", plan.waiting, plan.threads, duration(seconds)),
        None => text + ", nothing to run",
    }
}

/// `12/36 cells, 2 running, 1 failed, 3 min left`.
fn describe(standing: &Standing) -> String {
    let mut text = format!("{}/{} cells, {} running", standing.done, standing.cells, standing.running);
    if standing.elsewhere > 0 {
        text += &format!(" and {} elsewhere", standing.elsewhere);
    }
    if standing.failed > 0 {
        text += &format!(", {} failed", standing.failed);
    }
    match standing.seconds_left {
        Some(seconds) => text + &format!(", {} left", duration(seconds)),
        None => text,
    }
}

/// `cell 3/36 0123456789ab, depth = 2: test 96.12 %, binary 95.80 %, 12 s; 4 min left`.
fn describe_end(cell: &Cell, record: &Record, standing: &Standing) -> String {
    let ended = standing.done + standing.failed;
    let mut text = format!("cell {ended}/{} {}, {cell}: ", standing.cells, cell.name);
    match &record.error {
        Some(error) => text += &format!("failed, {error}"),
        None => {
            let accuracy = |network: &str| record.result["test"][network]["accuracy"].as_f64();
            text += &format!("test {}", percent(accuracy("surrogate").unwrap_or(f64::NAN)));
            if let Some(binary) = accuracy("binary") {
                text += &format!(", binary {}", percent(binary));
            }
            text += &format!(", {}", duration(record.run.seconds));
        }
    }
    match standing.seconds_left {
        Some(seconds) if ended < standing.cells => text + &format!("; {} left", duration(seconds)),
        _ => text,
    }
}
