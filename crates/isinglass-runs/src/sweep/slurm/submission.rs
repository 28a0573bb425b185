//! One submission: its directory, and what is in it.

use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::{SLURM, SlurmError, TaskList};
use crate::run::name::{iso_time, timestamp};
use crate::sweep::{Sweep, SweepError};

/// What was submitted.
#[derive(Debug, Clone, PartialEq)]
pub struct Submission {
    /// Its name, which is that of its directory.
    pub name: String,
    /// Its directory.
    pub directory: PathBuf,
    /// The number of its job; `None` if the process that submitted it was killed on the way.
    pub job: Option<String>,
    /// The cells of its tasks.
    pub list: TaskList,
}

/// The contents of `job.json`.
#[derive(Debug, Serialize, Deserialize)]
struct JobFile {
    submission: String,
    job: Option<String>,
    name: String,
    tasks: usize,
    cells: usize,
    submitted: String,
    version: String,
}

impl Submission {
    /// A name that no other submission has: the time, and some digits.
    pub(crate) fn new_name() -> String {
        let digits = RandomState::new().hash_one(std::process::id()) & 0xff_ffff;
        format!("{}-{digits:06x}", timestamp(SystemTime::now()))
    }

    /// The name of its job.
    pub fn job_name(&self) -> String {
        job_name(&self.name)
    }

    /// The batch script.
    pub fn script(&self) -> PathBuf {
        self.directory.join("job.sh")
    }

    /// Makes the directory, with everything that the job needs.
    pub(crate) fn write(&self, script: &str) -> Result<(), SweepError> {
        let logs = self.directory.join("logs");
        fs::create_dir_all(&logs).map_err(SweepError::directory(&logs))?;
        for (name, text) in [("tasks.txt", self.list.to_text()), ("job.sh", script.to_owned())] {
            let path = self.directory.join(name);
            isinglass_files::write(&path, text.as_bytes()).map_err(SweepError::write(&path))?;
        }
        self.write_down()
    }

    /// Writes `job.json`, with the number of the job if there is one.
    pub(crate) fn write_down(&self) -> Result<(), SweepError> {
        let file = JobFile {
            submission: self.name.clone(),
            job: self.job.clone(),
            name: self.job_name(),
            tasks: self.list.tasks.len(),
            cells: self.list.cells(),
            submitted: iso_time(SystemTime::now()),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        let path = self.directory.join("job.json");
        let text = serde_json::to_string_pretty(&file).expect("texts and numbers are JSON") + "\n";
        isinglass_files::write(&path, text.as_bytes()).map_err(SweepError::write(&path))
    }

    /// Removes all of it, if the job was refused.
    pub(crate) fn remove(&self) -> io::Result<()> {
        fs::remove_dir_all(&self.directory)
    }

    /// One whose directory was not completed has no job either: `None`.
    fn read(directory: PathBuf) -> Result<Option<Self>, SweepError> {
        let path = directory.join("job.json");
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(SweepError::read(&path)(error)),
        };
        let damaged = |error: serde_json::Error| SlurmError::TaskList { path: path.clone(), reason: format!("damaged ({error})") };
        let file: JobFile = serde_json::from_slice(&bytes).map_err(damaged)?;
        let list = TaskList::read(&directory.join("tasks.txt"))?;
        Ok(Some(Self { name: file.submission, directory, job: file.job, list }))
    }
}

/// The name of a submission's job.
pub(crate) fn job_name(submission: &str) -> String {
    format!("isinglass-{submission}")
}

impl Sweep {
    /// What was submitted to Slurm, in the order of time.
    ///
    /// # Errors
    ///
    /// If files cannot be read.
    pub fn submissions(&self) -> Result<Vec<Submission>, SweepError> {
        let directory = self.slurm_directory();
        let entries = match fs::read_dir(&directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(SweepError::read(&directory)(error)),
        };
        let entries = entries.collect::<io::Result<Vec<_>>>().map_err(SweepError::read(&directory))?;
        let mut directories: Vec<PathBuf> = entries.iter().map(fs::DirEntry::path).filter(|path| path.is_dir()).collect();
        directories.sort();
        let submissions = directories.into_iter().map(Submission::read);
        submissions.filter_map(Result::transpose).collect()
    }

    /// Where submissions are kept.
    pub(crate) fn slurm_directory(&self) -> PathBuf {
        Path::new(self.directory()).join(SLURM)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_differ_and_are_in_the_order_of_time() {
        let (one, other) = (Submission::new_name(), Submission::new_name());
        assert_ne!(one, other);
        assert!(one[..15] <= other[..15] && one.len() == 22, "{one} {other}");
    }
}
