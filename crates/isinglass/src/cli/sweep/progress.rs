//! What a sweep shows while it goes on, all of it on standard error: a bar on a terminal, else a line per cell.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use indicatif::ProgressBar;
use isinglass_lab::sweep::{Cell, Event, Plan, Record, Refusal, Standing};
use isinglass_lab::words::{counted, duration, percent};

use crate::cli::run::progress::bar;
use crate::cli::terminal::{insist, tell};

/// The bar counts thousandths of the work, since cells differ in length.
const PARTS: f64 = 1000.0;

/// Watches a sweep.
pub struct Watcher {
    bar: ProgressBar,
    on_terminal: bool,
    directory: PathBuf,
    standing: Standing,
    refused: Vec<Refusal>,
}

impl Watcher {
    pub fn new(directory: &Path) -> Self {
        Self {
            bar: bar("{bar:24} {percent}%, {msg}"),
            on_terminal: io::stderr().is_terminal(),
            directory: directory.to_owned(),
            standing: Standing::default(),
            refused: Vec::new(),
        }
    }

    /// Cells that do not fit the memory.
    pub fn into_refused(self) -> Vec<Refusal> {
        self.refused
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
                tell(&introduction(plan, &self.directory));
                self.refused.clone_from(&plan.refused);
                for refusal in &plan.refused {
                    insist(&format!("not run: {refusal}"));
                }
                self.bar.set_length(PARTS as u64);
            }
            Event::Ended(cell, record, standing) => {
                self.standing = **standing;
                if !self.on_terminal || record.is_failed() {
                    self.bar.suspend(|| tell(&describe_end(cell, record, standing)));
                }
            }
            Event::Restarted(cell, reason) => {
                self.bar.suspend(|| tell(&format!("cell {}, {cell}: starts again ({reason})", cell.name)));
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
    let mut text = format!("{}: {}", directory.display(), counted(plan.cells, "cell"));
    if plan.failed > 0 {
        text += &format!(", {} failed (--retry-failed runs them again)", plan.failed);
    }
    if plan.damaged > 0 {
        text += &format!(", {} with a damaged record (--retry-failed runs them again)", plan.damaged);
    }
    if !plan.refused.is_empty() {
        text += &format!(", {} too large for the memory", plan.refused.len());
    }
    match plan.seconds {
        _ if plan.waiting == 0 => text + ", nothing to run",
        Some(seconds) => text + &format!(", {} to run on {}: about {}", plan.waiting, counted(plan.threads, "thread"), duration(seconds)),
        None => text + &format!(", {} to run on {}", plan.waiting, counted(plan.threads, "thread")),
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
            if let Some(result) = &record.result {
                text += &format!("test {}", percent(result.evaluation.test.surrogate.accuracy));
                if let Some(binary) = result.evaluation.test.binary {
                    text += &format!(", binary {}", percent(binary.accuracy));
                }
            }
            text += &format!(", {}", duration(record.run.seconds));
        }
    }
    match standing.seconds_left {
        Some(seconds) if ended < standing.cells => text + &format!("; {} left", duration(seconds)),
        _ => text,
    }
}
