//! Which cells a task runs: one line for each task, `name name name@2`.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use super::SlurmError;

/// A cell on a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The cell's name.
    pub cell: String,
    /// If the cell had failed when it was submitted and is to be run again: how often it had been tried. One that has been tried since is left alone, so that a task that
    /// is started again does not repeat it.
    pub tried: Option<usize>,
}

/// `0123456789ab`, or `0123456789ab@2` if it is to be retried.
impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.cell)?;
        self.tried.map_or(Ok(()), |tried| write!(f, "@{tried}"))
    }
}

impl FromStr for Entry {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word.split_once('@') {
            None => Ok(Self { cell: word.to_owned(), tried: None }),
            Some((cell, tried)) => match tried.parse() {
                Ok(tried) => Ok(Self { cell: cell.to_owned(), tried: Some(tried) }),
                Err(_) => Err(format!("{word:?} is not a cell")),
            },
        }
    }
}

/// The tasks of a job array, from 0, and the cells of each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskList {
    /// The tasks.
    pub tasks: Vec<Vec<Entry>>,
}

impl TaskList {
    /// The list as a file.
    pub fn to_text(&self) -> String {
        self.tasks.iter().map(|task| task.iter().map(Entry::to_string).collect::<Vec<_>>().join(" ") + "\n").collect()
    }

    /// Reads a list.
    ///
    /// # Errors
    ///
    /// [`SlurmError::TaskList`].
    pub fn read(path: &Path) -> Result<Self, SlurmError> {
        let damaged = |reason: String| SlurmError::TaskList { path: path.to_owned(), reason };
        let text = std::fs::read_to_string(path).map_err(|error| damaged(error.to_string()))?;
        let entry = |word: &str| word.parse().map_err(&damaged);
        let tasks = text.lines().map(|line| line.split_whitespace().map(entry).collect());
        Ok(Self { tasks: tasks.collect::<Result<_, _>>()? })
    }

    /// The cells of one task of a list.
    ///
    /// # Errors
    ///
    /// [`SlurmError::TaskList`], also if there is no such task.
    pub fn read_task(path: &Path, task: usize) -> Result<Vec<Entry>, SlurmError> {
        let mut list = Self::read(path)?;
        if task >= list.tasks.len() {
            let reason = format!("there is no task {task}, only 0 to {}", list.tasks.len().saturating_sub(1));
            return Err(SlurmError::TaskList { path: path.to_owned(), reason });
        }
        Ok(list.tasks.swap_remove(task))
    }

    /// How many cells there are.
    pub fn cells(&self) -> usize {
        self.tasks.iter().map(Vec::len).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_survives_being_written() {
        let entry = |cell: &str, tried| Entry { cell: cell.to_owned(), tried };
        let list = TaskList { tasks: vec![vec![entry("a1", None), entry("b2", Some(3))], vec![entry("c3", None)]] };
        assert_eq!(list.to_text(), "a1 b2@3\nc3\n");
        let path = std::env::temp_dir().join(format!("isinglass-tasks-{}", std::process::id()));
        std::fs::write(&path, list.to_text()).unwrap();
        assert_eq!(TaskList::read(&path).unwrap(), list);
        assert_eq!(TaskList::read_task(&path, 1).unwrap(), [entry("c3", None)]);
        assert!(TaskList::read_task(&path, 2).unwrap_err().to_string().ends_with("no task 2, only 0 to 1"));
        std::fs::write(&path, "a1@many\n").unwrap();
        assert!(TaskList::read(&path).unwrap_err().to_string().contains("a1@many"));
        std::fs::remove_file(&path).unwrap();
    }
}
