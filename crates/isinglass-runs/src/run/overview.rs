//! Runs beside each other: which there are, how they stand, how they differ.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use isinglass_chart::{Axis, Figure, Legend, Look, Panel, plain};
use serde_json::Value;

use super::{CONFIG, Epoch, METRICS, RunConfig, RunError, Summary, epochs, read_config, read_metrics, read_summary};

/// How deep below a directory runs are looked for.
const DEEPEST: usize = 4;

/// A run as a list shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Overview {
    /// Where it is kept.
    pub directory: PathBuf,
    /// The settings.
    pub config: RunConfig,
    /// How it stands.
    pub state: State,
    /// The epochs so far.
    pub epochs: Vec<Epoch>,
}

/// How a run stands.
#[derive(Debug, Clone, PartialEq)]
pub enum State {
    /// There is a result.
    Ended(Box<Summary>),
    /// A process is at it.
    Running,
    /// Nobody is at it; it can be resumed.
    Stopped,
}

impl State {
    /// One word.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Ended(_) => "ended",
            Self::Running => "running",
            Self::Stopped => "stopped",
        }
    }
}

impl Overview {
    /// Looks at a run. Disturbs nobody.
    ///
    /// # Errors
    ///
    /// [`RunError::NoRun`], and if its files cannot be read.
    pub fn of(directory: &Path) -> Result<Self, RunError> {
        let config = read_config(directory)?;
        let lines = if directory.join(METRICS).is_file() { read_metrics(directory)? } else { Vec::new() };
        let state = match read_summary(directory)? {
            Some(summary) => State::Ended(Box::new(summary)),
            None if is_running(directory) => State::Running,
            None => State::Stopped,
        };
        Ok(Self { directory: directory.to_owned(), config, state, epochs: epochs(&lines).cloned().collect() })
    }

    /// The result, if there is one.
    pub fn summary(&self) -> Option<&Summary> {
        if let State::Ended(summary) = &self.state { Some(summary) } else { None }
    }
}

fn is_running(directory: &Path) -> bool {
    let file = File::open(directory.join(".lock"));
    file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// The directories of runs in a directory, and below it, in the order of their names. The directory itself may be one.
///
/// # Errors
///
/// [`RunError::Read`] if the directory cannot be read. What cannot be read below it is left out.
pub fn find_runs(directory: &Path) -> Result<Vec<PathBuf>, RunError> {
    if !directory.exists() {
        return Err(RunError::NoRun(directory.to_owned()));
    }
    fs::read_dir(directory).map_err(RunError::read(directory))?;
    let mut runs = Vec::new();
    look(directory, 0, &mut runs);
    Ok(runs)
}

fn look(directory: &Path, depth: usize, runs: &mut Vec<PathBuf>) {
    if directory.join(CONFIG).is_file() {
        return runs.push(directory.to_owned());
    }
    if depth == DEEPEST {
        return;
    }
    let mut below: Vec<PathBuf> = fs::read_dir(directory)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        // Links may lead in circles.
        .filter(|path| path.is_dir() && !path.is_symlink())
        .collect();
    below.sort();
    for path in below {
        look(&path, depth + 1, runs);
    }
}

/// A setting that is not the same in all runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// Its name.
    pub setting: String,
    /// Its value in each run; `None` where it is not set.
    pub values: Vec<Option<Value>>,
}

/// The settings that differ, in the order of files.
pub fn differences(runs: &[Overview]) -> Vec<Difference> {
    let all: Vec<Value> = runs.iter().map(|run| run.config.to_json()).collect();
    let mut keys: Vec<&String> = Vec::new();
    for key in all.iter().filter_map(Value::as_object).flat_map(|settings| settings.keys()) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let difference = |key: &String| {
        let values: Vec<Option<Value>> = all.iter().map(|settings| settings.get(key).cloned()).collect();
        let differs = values.windows(2).any(|pair| pair[0] != pair[1]);
        differs.then(|| Difference { setting: key.clone(), values })
    };
    keys.into_iter().filter_map(difference).collect()
}

/// Training loss and accuracy of several runs, one colour each: accuracy on the examples held out where there are any, of the network that the goal names.
pub fn compared_curves(runs: &[Overview]) -> Figure {
    let mut loss = Panel::new(Axis::whole("epoch"), Axis::log10("training loss")).legend(Legend::Below);
    let mut accuracy = Panel::new(Axis::whole("epoch"), Axis::linear("accuracy (%)")).legend(Legend::Below);
    for (index, run) in runs.iter().enumerate() {
        let (look, name) = (Look::nth(index), plain(&run.directory.display().to_string()));
        let curve = |value: &dyn Fn(&Epoch) -> f64| -> Vec<(f64, f64)> {
            run.epochs.iter().map(|epoch| (epoch.epoch as f64, value(epoch))).collect()
        };
        let best = |epoch: &Epoch| 100.0 * epoch.validation_binary.or(epoch.validation).unwrap_or(epoch.train).accuracy;
        loss = loss.series(look.marked_line(curve(&|epoch| epoch.train.nll)).name(name.clone()));
        accuracy = accuracy.series(look.marked_line(curve(&best)).name(name));
    }
    Figure::new().panel(loss.title("Training loss")).panel(accuracy.title("Accuracy, held out where possible"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(text: &str) -> Overview {
        let config = RunConfig::from_toml(text).unwrap().resolved().unwrap();
        Overview { directory: "runs/a".into(), config, state: State::Stopped, epochs: Vec::new() }
    }

    #[test]
    fn only_settings_that_differ_are_listed() {
        let runs = [run("lr = 0.1\ndropout = 0.2\n"), run("lr = 0.2\n"), run("lr = 0.2\nwidth = 64\n")];
        let found: Vec<(String, String)> = differences(&runs)
            .into_iter()
            .map(|difference| {
                let value = |value: &Option<Value>| value.as_ref().map_or("–".to_owned(), Value::to_string);
                (difference.setting, difference.values.iter().map(value).collect::<Vec<_>>().join(" "))
            })
            .collect();
        let expected = [("width", "512 512 64"), ("lr", "0.1 0.2 0.2"), ("dropout", "0.2 – –")];
        assert_eq!(found, expected.map(|(key, values)| (key.to_owned(), values.to_owned())));
        assert_eq!(differences(&runs[..1]), []);
    }
}
