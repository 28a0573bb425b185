//! Which directories are meant, and what each of them is.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::ReportError;
use crate::reproduce::FIGURE;
use isinglass_runs::run::CONFIG;
use isinglass_runs::sweep::SWEEP;

/// What a directory holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Figure,
    Sweep,
    Run,
}

impl Kind {
    fn of(directory: &Path) -> Option<Self> {
        let kinds = [(FIGURE, Self::Figure), (SWEEP, Self::Sweep), (CONFIG, Self::Run)];
        kinds.into_iter().find(|(file, _)| directory.join(file).is_file()).map(|(_, kind)| kind)
    }

    /// One word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Figure => "figure",
            Self::Sweep => "sweep",
            Self::Run => "run",
        }
    }
}

/// A directory to show.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Source {
    pub directory: PathBuf,
    pub kind: Kind,
    /// Whether the user named this very directory.
    pub is_named: bool,
}

/// The directories themselves, or those in them, by name.
pub(super) fn find(directories: &[impl AsRef<Path>]) -> Result<Vec<Source>, ReportError> {
    let mut seen = HashSet::new();
    let mut sources = Vec::new();
    for directory in directories {
        let directory = directory.as_ref();
        if !directory.is_dir() {
            return Err(ReportError::Missing(directory.to_owned()));
        }
        let found = match Kind::of(directory) {
            Some(kind) => vec![Source { directory: directory.to_owned(), kind, is_named: true }],
            None => inside(directory)?,
        };
        if found.is_empty() {
            return Err(ReportError::NothingKnown(directory.to_owned()));
        }
        for source in found {
            let path =
                fs::canonicalize(&source.directory).map_err(|error| ReportError::Read { path: source.directory.clone(), source: error })?;
            if seen.insert(path) {
                sources.push(source);
            }
        }
    }
    Ok(sources)
}

fn inside(directory: &Path) -> Result<Vec<Source>, ReportError> {
    let unreadable = |source| ReportError::Read { path: directory.to_owned(), source };
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory).map_err(unreadable)? {
        paths.push(entry.map_err(unreadable)?.path());
    }
    paths.sort();
    let known = paths.into_iter().filter_map(|path| Kind::of(&path).map(|kind| Source { directory: path, kind, is_named: false }));
    Ok(known.collect())
}

/// Refuses what is no regular file where one is expected, before it is opened: reading a pipe would wait for ever.
pub(super) fn check_regular(path: &Path) -> Result<(), ReportError> {
    match fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() => Err(ReportError::NotAFile(path.to_owned())),
        // What is missing is said, or not, by whoever reads it.
        _ => Ok(()),
    }
}
