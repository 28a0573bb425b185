//! Who runs which cell.
//!
//! A process that runs a cell holds the lock of the cell's run. Taking and giving it back, and removing its directory, happen in turns (the lock of the whole sweep), so that
//! nobody holds the lock of a file that is no longer there.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use isinglass_files::NewFile;

use super::record::{Attempt, without_place};
use super::{Cell, Record, Status, Sweep, SweepError};
use crate::run::longer::Earlier;
use crate::run::{CONFIG, Run, RunConfig, RunError};

/// Who worked on the run, one JSON object to a line.
const ATTEMPTS: &str = "attempts.jsonl";

/// In place of how often a cell was tried, for one whose record is damaged: nothing that is tried has been tried so often.
pub(crate) const OF_DAMAGED: usize = 0;

/// What became of the wish to run a cell.
pub(crate) enum Claim {
    /// It is this process's.
    Mine(Box<Claimed>),
    /// Another process is at it.
    Busy,
    /// It has ended.
    Ended(Box<Record>),
    /// Its record is damaged.
    Damaged,
}

/// A cell that this process runs.
pub(crate) struct Claimed {
    pub run: Run,
    pub attempts: Vec<Attempt>,
    /// Why the cell starts again, if what was there could not be used.
    pub restarted: Option<String>,
}

impl Sweep {
    /// Takes a cell to run it, or to resume it. One that has failed is taken if it has been tried just `retry` times: another process may have tried it again meanwhile. One whose record is
    /// damaged is taken if `retry` is [`OF_DAMAGED`]; the record is set aside.
    pub(crate) fn claim(&self, cell: &Cell, threads: usize, retry: Option<usize>) -> Result<Claim, SweepError> {
        let _turn = self.turn()?;
        let directory = self.run_directory(cell);
        let mut attempts = Vec::new();
        let record = match self.record(cell) {
            Err(SweepError::Damaged { path, .. } | SweepError::Read { path, .. }) if retry == Some(OF_DAMAGED) => {
                let aside = path.with_extension("json.damaged");
                fs::rename(&path, &aside).map_err(SweepError::write(&path))?;
                None
            }
            Err(SweepError::Damaged { .. } | SweepError::Read { .. }) => return Ok(Claim::Damaged),
            record => record?,
        };
        // It was left by a process that was killed at the end of the cell, or is to be kept, or somebody is about to remove it.
        if record.is_some()
            && directory.exists()
            && let Err(RunError::Busy(_)) = self.open_run(cell)
        {
            return Ok(Claim::Busy);
        }
        if let Some(record) = record {
            let is_retried = record.is_failed() && retry == Some(record.run.attempts.len());
            if is_retried || !self.keeps_runs() {
                self.remove_run(cell)?;
            }
            if !is_retried {
                return Ok(Claim::Ended(Box::new(record)));
            }
            let path = self.record_path(&cell.name);
            fs::remove_file(&path).map_err(SweepError::write(&path))?;
            attempts = record.run.attempts;
        }
        let mut restarted = None;
        let mut run = match self.open_run(cell) {
            Err(RunError::Busy(_)) => return Ok(Claim::Busy),
            Err(error @ (RunError::Config { .. } | RunError::ConfigChanged { .. } | RunError::Setting(_) | RunError::Exists(_))) => {
                let aside = self.set_aside(cell)?;
                restarted = Some(format!("{}; what was there is in {}", why_not_used(&error), aside.display()));
                self.open_run(cell)?
            }
            run => run?,
        };
        // Somebody may have put it on record, and been killed, since it was looked for.
        if let Some(record) = self.record(cell)? {
            drop(run);
            if !self.keeps_runs() {
                self.remove_run(cell)?;
            }
            return Ok(Claim::Ended(Box::new(record)));
        }
        let path = directory.join(ATTEMPTS);
        attempts.extend(read_attempts(&path));
        attempts.push(Attempt::new(threads));
        let lines: String =
            attempts.iter().map(|attempt| serde_json::to_string(attempt).expect("texts and numbers are JSON") + "\n").collect();
        let file = OpenOptions::new().create(true).write(true).truncate(true).open(&path);
        file.and_then(|mut file| file.write_all(lines.as_bytes())).map_err(SweepError::write(&path))?;
        // What cannot be read of another cell's run is no reason not to run this one.
        if let Some(earlier) = self.shorter(cell).and_then(|shorter| Earlier::read(&self.run_directory(shorter), &cell.config).ok()) {
            run.begin_with(earlier);
        }
        Ok(Claim::Mine(Box::new(Claimed { run, attempts, restarted })))
    }

    /// The longest of the cells that have ended where this one passes through, if runs are kept.
    fn shorter(&self, cell: &Cell) -> Option<&Cell> {
        let has_ended = |other: &&Cell| matches!(self.record(other), Ok(Some(record)) if !record.is_failed());
        let shorter = self.cells().iter().filter(|other| self.keeps_runs() && cell.config.continues(&other.config));
        shorter.filter(has_ended).max_by_key(|other| other.config.epochs)
    }

    /// Who worked on a cell, in order.
    pub fn attempts(&self, cell: &Cell, status: &Status) -> Vec<Attempt> {
        let on_record = status.record().map(|record| record.run.attempts.clone());
        on_record.unwrap_or_else(|| read_attempts(&self.run_directory(cell).join(ATTEMPTS)))
    }

    /// Removes what a process left that was killed between putting a cell on record and removing its run.
    pub(crate) fn tidy(&self, cell: &Cell) -> Result<(), SweepError> {
        if !self.keeps_runs() && self.run_directory(cell).exists() {
            self.claim(cell, 1, None)?;
        }
        Ok(())
    }

    /// Puts a cell on record and gives it back.
    pub(crate) fn land(&self, cell: &Cell, claimed: Box<Claimed>, record: &Record) -> Result<(), SweepError> {
        let path = self.record_path(&cell.name);
        let text = record.to_text();
        // Half a file, if this process is killed now, lies among what is removed with the run.
        let write = || -> io::Result<()> {
            fs::create_dir_all(isinglass_files::directory_of(&path))?;
            let mut file = NewFile::create_in(&self.run_directory(cell), &path)?;
            file.write_all(text.as_bytes())?;
            file.publish()
        };
        write().map_err(SweepError::write(&path))?;
        let _turn = self.turn()?;
        drop(claimed);
        if self.keeps_runs() { Ok(()) } else { self.remove_run(cell) }
    }

    fn open_run(&self, cell: &Cell) -> Result<Run, RunError> {
        let directory = self.run_directory(cell);
        if !self.keeps_runs() {
            return Run::scratch(&directory, cell.config.clone());
        }
        let run = match Run::open(&directory) {
            Err(RunError::NoRun(_)) => Run::create(&directory, cell.config.clone())?,
            run => run?,
        };
        // Which kind the features are is settled, and written, when the run begins.
        let settled = |config: &RunConfig| RunConfig { features: cell.config.features, ..without_place(config) };
        if settled(run.config()) != settled(&cell.config.clone().resolved()?) {
            return Err(RunError::ConfigChanged { path: directory.join(CONFIG), what: "they are not those of the cell" });
        }
        Ok(run)
    }

    /// Moves a run that cannot be used out of the way, and says where to.
    fn set_aside(&self, cell: &Cell) -> Result<PathBuf, SweepError> {
        let directory = self.run_directory(cell);
        let places = (1..).map(|number| directory.with_extension(format!("damaged-{number}")));
        let aside = places.take(1000).find(|place| !place.exists()).unwrap_or_else(|| directory.with_extension("damaged"));
        fs::rename(&directory, &aside).map_err(SweepError::write(&directory))?;
        Ok(aside)
    }

    fn remove_run(&self, cell: &Cell) -> Result<(), SweepError> {
        let directory = self.run_directory(cell);
        match fs::remove_dir_all(&directory) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(SweepError::write(&directory)(error)),
            _ => Ok(()),
        }
    }
}

/// Why a run's directory is not that of its cell.
fn why_not_used(error: &RunError) -> String {
    match error {
        RunError::Exists(_) => format!("its directory has no {CONFIG}"),
        RunError::ConfigChanged { .. } => format!("the settings in its {CONFIG} are not those of the cell"),
        error => format!("its {CONFIG} cannot be used: {error}"),
    }
}

/// Lines that were torn by a power cut are of no importance.
fn read_attempts(path: &Path) -> Vec<Attempt> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}
