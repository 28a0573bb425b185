//! The directory of a sweep.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::{CELLS, Cell, Grid, RUNS, Record, SWEEP, SweepError};

/// Whether runs stay after their end is said by this line at the top of `sweep.toml`.
const KEEP_RUNS: &str = "# The directories of runs are kept.\n";

/// A sweep and its directory.
#[derive(Debug)]
pub struct Sweep {
    directory: PathBuf,
    grid: Grid,
    cells: Vec<Cell>,
    keep_runs: bool,
}

/// How a cell stands.
#[derive(Debug, Clone, PartialEq)]
pub enum Status {
    /// There is a result.
    Done(Record),
    /// There is an error instead.
    Failed(Record),
    /// A process is at it.
    Running,
    /// Nobody is at it. It may have been, and will be gone on with.
    Waiting,
}

impl Status {
    /// One word.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Done(_) => "done",
            Self::Failed(_) => "failed",
            Self::Running => "running",
            Self::Waiting => "waiting",
        }
    }
}

impl Sweep {
    /// Makes the directory of a sweep, or opens it if it was made with the same grid. With `keep_runs` the directories of runs stay, with their checkpoints, for
    /// `evaluate`, `inspect` and `pack`.
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
        let sweep = Self::draft(directory, grid, keep_runs)?;
        let path = directory.join(SWEEP);
        if path.exists() {
            return Ok(sweep);
        }
        let text = format!("{}{}", if keep_runs { KEEP_RUNS } else { "" }, sweep.grid.to_toml());
        // First, since it tells whose the directory is, also if this process is killed right after.
        isinglass_files::write(&path, text.as_bytes()).map_err(unusable(&path))?;
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
        let cells = grid.cells()?;
        check_own(directory)?;
        if directory.join(SWEEP).exists() {
            let sweep = Self::open(directory)?;
            sweep.check_same(&grid, &cells, keep_runs)?;
            return Ok(sweep);
        }
        Ok(Self { directory: directory.to_owned(), grid, cells, keep_runs })
    }

    /// Opens a sweep.
    ///
    /// # Errors
    ///
    /// [`SweepError::NoSweep`], and those of reading a grid.
    pub fn open(directory: &Path) -> Result<Self, SweepError> {
        let path = directory.join(SWEEP);
        if !path.is_file() {
            return Err(SweepError::NoSweep(directory.to_owned()));
        }
        let grid = Grid::read(&path)?;
        let keep_runs = fs::read_to_string(&path).map_err(SweepError::read(&path))?.starts_with(KEEP_RUNS);
        Ok(Self { directory: directory.to_owned(), cells: grid.cells()?, grid, keep_runs })
    }

    /// Where it is kept.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Its grid.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Its cells, in the grid's order.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// Whether the directories of runs stay.
    pub fn keeps_runs(&self) -> bool {
        self.keep_runs
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
            match self.record(cell)? {
                Some(record) if record.is_failed() => return Ok(Status::Failed(record)),
                Some(record) => return Ok(Status::Done(record)),
                None => {}
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
        self.record_named(&cell.name)
    }

    pub(crate) fn record_named(&self, name: &str) -> Result<Option<Record>, SweepError> {
        let path = self.record_path(name);
        match fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| SweepError::Damaged { path, reason: error.to_string() }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(SweepError::read(&path)(error)),
        }
    }

    pub(crate) fn record_path(&self, name: &str) -> PathBuf {
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

    fn check_same(&self, grid: &Grid, cells: &[Cell], keep_runs: bool) -> Result<(), SweepError> {
        let names = |cells: &[Cell]| cells.iter().map(|cell| cell.name.clone()).collect::<BTreeSet<String>>();
        let axes = |grid: &Grid| grid.axes().map(str::to_owned).collect::<BTreeSet<String>>();
        let (before, now) = (names(&self.cells), names(cells));
        let other = |what| Err(SweepError::OtherGrid { directory: self.directory.clone(), what });
        if before != now {
            let common = before.intersection(&now).count();
            return other(format!("{} cells, this one has {}, and {common} are in both", before.len(), now.len()));
        }
        if axes(&self.grid) != axes(grid) {
            return other(format!("its axes are {}", self.grid.axes().collect::<Vec<_>>().join(", ")));
        }
        if keep_runs && !self.keep_runs {
            return other("and without --keep-runs, which cannot be had afterwards".into());
        }
        Ok(())
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
