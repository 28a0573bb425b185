//! The directory of a sweep.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::cell::plain_text;
use super::manifest::Manifest;
use super::record::without_place;
use crate::run::RunConfig;

use super::{CELLS, Cell, Grid, MANIFEST, RUNS, Record, SWEEP, SweepError};

/// Versions without a manifest know by this line at the top of `sweep.toml` that runs stay after their end.
const KEEP_RUNS: &str = "# The directories of runs are kept.\n";

/// A sweep and its directory.
#[derive(Debug)]
pub struct Sweep {
    directory: PathBuf,
    manifest: Manifest,
}

/// How a cell stands.
#[derive(Debug, Clone, PartialEq)]
pub enum Status {
    /// There is a result.
    Done(Box<Record>),
    /// There is an error instead.
    Failed(Box<Record>),
    /// There is a record that cannot be believed, for this reason.
    Damaged(String),
    /// A process is at it.
    Running,
    /// Nobody is at it. It may have been, and will be resumed.
    Waiting,
}

impl Status {
    /// One word.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Done(_) => "done",
            Self::Failed(_) => "failed",
            Self::Damaged(_) => "damaged",
            Self::Running => "running",
            Self::Waiting => "waiting",
        }
    }

    /// What is on record.
    pub fn record(&self) -> Option<&Record> {
        match self {
            Self::Done(record) | Self::Failed(record) => Some(record),
            Self::Damaged(_) | Self::Running | Self::Waiting => None,
        }
    }
}

/// How a directory differs from what a grid asks for.
enum Difference {
    /// Not at all.
    None,
    /// It has no manifest: an older version made it.
    NoManifest,
    /// The grid has more cells.
    Fewer,
    /// There is nothing.
    New,
}

impl Sweep {
    /// Makes the directory of a sweep, or opens it if it was made with the same grid. If the grid has more values, axes or seeds than before, the sweep is extended: cells that have ended stay.
    /// With `keep_runs` the directories of runs stay, with their checkpoints, for `evaluate`, `inspect` and `pack`.
    ///
    /// # Errors
    ///
    /// If cells are impossible, the directory cannot be made, or holds another sweep or something else.
    pub fn create(directory: &Path, grid: Grid, keep_runs: bool) -> Result<Self, SweepError> {
        let unusable = |path: &Path| SweepError::directory(path);
        fs::create_dir_all(directory).map_err(unusable(directory))?;
        // Nothing is left in a directory of somebody else, not even a lock.
        check_own(directory)?;
        let _turn = turn(directory)?;
        let (sweep, difference) = Self::compare(directory, grid, keep_runs)?;
        let path = directory.join(SWEEP);
        let text = format!("{}{}", if sweep.keeps_runs() { KEEP_RUNS } else { "" }, sweep.grid().to_toml());
        let write_grid = || isinglass_files::write(&path, text.as_bytes()).map_err(unusable(&path));
        match difference {
            Difference::None => {}
            Difference::NoManifest => sweep.manifest.write(directory)?,
            // The manifest counts; the grid beside it is for people.
            Difference::Fewer => {
                sweep.manifest.write(directory)?;
                write_grid()?;
            }
            // The grid first, since it tells whose the directory is, also if this process is killed right after.
            Difference::New => {
                write_grid()?;
                sweep.manifest.write(directory)?;
            }
        }
        for part in [CELLS, RUNS] {
            fs::create_dir_all(directory.join(part)).map_err(unusable(&directory.join(part)))?;
        }
        Ok(sweep)
    }

    /// The sweep that [`Sweep::create`] would return. Makes nothing.
    ///
    /// # Errors
    ///
    /// If cells are impossible, or the directory holds another sweep or something else.
    pub fn draft(directory: &Path, grid: Grid, keep_runs: bool) -> Result<Self, SweepError> {
        check_own(directory)?;
        Ok(Self::compare(directory, grid, keep_runs)?.0)
    }

    fn compare(directory: &Path, grid: Grid, keep_runs: bool) -> Result<(Self, Difference), SweepError> {
        if !directory.join(SWEEP).exists() && !directory.join(MANIFEST).exists() {
            let manifest = Manifest { cells: grid.cells()?, grid, keep_runs };
            return Ok((Self { directory: directory.to_owned(), manifest }, Difference::New));
        }
        let has_manifest = directory.join(MANIFEST).exists();
        let before = Self::open(directory)?;
        if keep_runs && !before.keeps_runs() {
            return Err(before.other_grid("and without --keep-runs, which cannot be added later".into()));
        }
        if *before.grid() == grid {
            return Ok((before, if has_manifest { Difference::None } else { Difference::NoManifest }));
        }
        let cells = before.extended(&grid)?;
        let axes = |grid: &Grid| grid.axes().map(str::to_owned).collect::<BTreeSet<String>>();
        // The same cells in another order, or otherwise spelt: the sweep stays as it is.
        if cells.len() == before.cells().len() && axes(&grid) == axes(before.grid()) {
            return Ok((before, if has_manifest { Difference::None } else { Difference::NoManifest }));
        }
        let manifest = Manifest { grid, cells, keep_runs: before.keeps_runs() };
        Ok((Self { directory: directory.to_owned(), manifest }, Difference::Fewer))
    }

    /// The cells of a grid that has all of this sweep's, which keep their names.
    fn extended(&self, grid: &Grid) -> Result<Vec<Cell>, SweepError> {
        // Settings decide whether two cells are the same; the name is only their hash, which may have been another in another version.
        let key = |cell: &Cell| without_place(&cell.config).to_json().to_string();
        let mut before: HashMap<String, &Cell> = self.cells().iter().map(|cell| (key(cell), cell)).collect();
        let mut cells = grid.cells()?;
        for cell in &mut cells {
            if let Some(known) = before.remove(&key(cell)) {
                cell.name.clone_from(&known.name);
            }
        }
        if before.is_empty() {
            return Ok(cells);
        }
        let kept = self.cells().len() - before.len();
        let longer = |cell: &&Cell| cells.iter().any(|other| same_but_epochs(&cell.config, &other.config));
        let is_axis = |grid: &Grid| grid.axes().any(|axis| axis == "epochs");
        if is_axis(self.grid()) && !is_axis(grid) {
            return Err(self.other_grid("with epochs as an axis, which this grid lacks; leave it there, and add values".into()));
        }
        if before.values().all(longer) {
            let (old, new) = (self.cells()[0].config.epochs, cells[0].config.epochs);
            return Err(self.other_grid(format!(
                "with other epochs; to train longer and keep its results, make epochs an axis: epochs = [{old}, {new}]"
            )));
        }
        Err(self.other_grid(format!(
            "{} cells, this one has {}, and {kept} are in both; a grid with all of them, and more, would extend the sweep",
            self.cells().len(),
            cells.len()
        )))
    }

    fn other_grid(&self, what: String) -> SweepError {
        SweepError::OtherGrid { directory: self.directory.clone(), what }
    }

    /// Opens a sweep.
    ///
    /// # Errors
    ///
    /// [`SweepError::NoSweep`], those of reading a grid, and [`SweepError::Manifest`] or [`SweepError::OtherDefaults`] if another version made it whose cells this one does not know.
    pub fn open(directory: &Path) -> Result<Self, SweepError> {
        let path = directory.join(SWEEP);
        if let Some(manifest) = Manifest::read(directory)? {
            return Ok(Self { directory: directory.to_owned(), manifest });
        }
        if !path.is_file() {
            return Err(SweepError::NoSweep(directory.to_owned()));
        }
        // Made by a version without manifests.
        let grid = Grid::read(&path)?;
        let keep_runs = fs::read_to_string(&path).map_err(SweepError::read(&path))?.starts_with(KEEP_RUNS);
        let cells = grid.cells()?;
        check_names(directory, &cells)?;
        Ok(Self { directory: directory.to_owned(), manifest: Manifest { grid, cells, keep_runs } })
    }

    /// Where it is kept.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Its grid.
    pub fn grid(&self) -> &Grid {
        &self.manifest.grid
    }

    /// Its cells, in the grid's order.
    pub fn cells(&self) -> &[Cell] {
        &self.manifest.cells
    }

    /// A cell by its name, by the beginning of it, or by values of its axes: `depth=10,seed=2`.
    ///
    /// # Errors
    ///
    /// [`SweepError::UnknownCell`] for none, [`SweepError::SeveralCells`] for more than one.
    pub fn cell(&self, text: &str) -> Result<&Cell, SweepError> {
        if let Some(cell) = self.cells().iter().find(|cell| cell.name == text) {
            return Ok(cell);
        }
        let pairs: Option<Vec<(&str, &str)>> = text.split(',').map(|pair| pair.split_once('=')).collect();
        let lies_there = |cell: &&Cell, pairs: &[(&str, &str)]| {
            let has = |axis: &str, value: &str| {
                let own = cell.axes.iter().find(|(name, _)| name == axis.trim()).map(|(_, own)| own);
                let number = |own: &serde_json::Value| {
                    own.as_f64().zip(value.trim().parse().ok()).is_some_and(|(own, value): (f64, f64)| own == value)
                };
                own.is_some_and(|own| plain_text(own) == value.trim() || number(own))
            };
            pairs.iter().all(|(axis, value)| has(axis, value))
        };
        let alike: Vec<&Cell> = match &pairs {
            Some(pairs) => self.cells().iter().filter(|cell| lies_there(cell, pairs)).collect(),
            None if text.is_empty() => Vec::new(),
            None => self.cells().iter().filter(|cell| cell.name.starts_with(text)).collect(),
        };
        let (directory, cell) = (self.directory.clone(), text.to_owned());
        match alike[..] {
            [] => Err(SweepError::UnknownCell { directory, cell }),
            [one] => Ok(one),
            [..] => Err(SweepError::SeveralCells { directory, cell, count: alike.len() }),
        }
    }

    /// Whether the directories of runs stay.
    pub fn keeps_runs(&self) -> bool {
        self.manifest.keep_runs
    }

    /// The directory of a cell's run.
    pub fn run_directory(&self, cell: &Cell) -> PathBuf {
        self.directory.join(RUNS).join(&cell.name)
    }

    /// How a cell stands.
    ///
    /// # Errors
    ///
    /// If its file cannot be read.
    pub fn status(&self, cell: &Cell) -> Result<Status, SweepError> {
        // Looked at in this order, and the record again: a run that ends meanwhile is not taken for one that waits.
        for _ in 0..2 {
            match self.record(cell) {
                Ok(Some(record)) if record.is_failed() => return Ok(Status::Failed(Box::new(record))),
                Ok(Some(record)) => return Ok(Status::Done(Box::new(record))),
                Ok(None) => {}
                Err(SweepError::Damaged { reason, .. }) => return Ok(Status::Damaged(reason)),
                // A file that cannot be read does not hide the others.
                Err(SweepError::Read { source, .. }) => return Ok(Status::Damaged(format!("it cannot be read: {source}"))),
                Err(error) => return Err(error),
            }
            if self.is_running(cell) {
                return Ok(Status::Running);
            }
        }
        Ok(Status::Waiting)
    }

    /// What a finished cell came to.
    ///
    /// # Errors
    ///
    /// [`SweepError::Read`] and [`SweepError::Damaged`].
    pub fn record(&self, cell: &Cell) -> Result<Option<Record>, SweepError> {
        let path = self.record_path(&cell.name);
        match fs::read(&path) {
            Ok(bytes) => Record::read(&bytes, cell).map(Some).map_err(|reason| SweepError::Damaged { path, reason }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(SweepError::read(&path)(error)),
        }
    }

    /// The file of a finished cell.
    pub fn record_path(&self, name: &str) -> PathBuf {
        self.directory.join(CELLS).join(format!("{name}.json"))
    }

    /// Whether a cell of this name has ended.
    pub(crate) fn has_record(&self, name: &str) -> bool {
        self.record_path(name).exists()
    }

    /// Waits for this process's turn to change which cells are whose.
    pub(crate) fn turn(&self) -> Result<File, SweepError> {
        turn(&self.directory)
    }

    /// Whether a process holds the lock of the cell's run. A shared lock, given back at once, disturbs nobody and needs no right to write.
    fn is_running(&self, cell: &Cell) -> bool {
        let file = File::open(self.run_directory(cell).join(".lock"));
        file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }
}

fn same_but_epochs(one: &RunConfig, other: &RunConfig) -> bool {
    let without = |config: &RunConfig| RunConfig { epochs: 1, ..without_place(config) };
    without(one) == without(other)
}

/// In a directory without a manifest: whether every cell that was begun is one of these. Otherwise the version that made it had other defaults, and its results would be lost sight of.
fn check_names(directory: &Path, cells: &[Cell]) -> Result<(), SweepError> {
    let known: HashSet<&str> = cells.iter().map(|cell| cell.name.as_str()).collect();
    let mut strangers = BTreeSet::new();
    for (part, end) in [(CELLS, ".json"), (RUNS, "")] {
        let path = directory.join(part);
        let entries = match fs::read_dir(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            entries => entries.map_err(SweepError::read(&path))?,
        };
        for entry in entries {
            let name = entry.map_err(SweepError::read(&path))?.file_name().to_string_lossy().into_owned();
            if let Some(name) = name.strip_suffix(end).filter(|name| !name.starts_with('.') && !known.contains(name)) {
                strangers.insert(name.to_owned());
            }
        }
    }
    match strangers.first() {
        None => Ok(()),
        Some(name) => Err(SweepError::OtherDefaults { directory: directory.to_owned(), cells: strangers.len(), name: name.clone() }),
    }
}

/// Whether a directory is that of a sweep, or has nothing in it yet.
fn check_own(directory: &Path) -> Result<(), SweepError> {
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(SweepError::directory(directory))?,
    };
    let names = entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
    let names = names.collect::<io::Result<Vec<String>>>().map_err(SweepError::directory(directory))?;
    if !directory.join(SWEEP).exists() && names.iter().any(|name| !name.starts_with('.')) {
        return Err(SweepError::NotEmpty(directory.to_owned()));
    }
    Ok(())
}

/// Waits for the lock of the whole directory, which is held for moments only.
fn turn(directory: &Path) -> Result<File, SweepError> {
    let path = directory.join(".lock");
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path).map_err(SweepError::directory(&path))?;
    file.lock().map_err(SweepError::directory(&path))?;
    Ok(file)
}
