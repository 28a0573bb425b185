//! Grids: settings that all cells share, and a list of values for each axis.
//!
//! ```
//! use isinglass_runs::sweep::Grid;
//!
//! let grid = Grid::from_toml("[train]\ninit = \"two-point\"\n[grid]\ndepth = [2, 10]\nsigma-m2 = [0.5, 0.9, 1]\n")?;
//! let cells = grid.cells()?;
//! assert_eq!(cells.len(), 6);
//! // The last axis varies fastest.
//! assert_eq!(cells[1].to_string(), "depth = 2, sigma-m2 = 0.9");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::HashMap;
use std::path::Path;

use isinglass_files::did_you_mean;
use toml::{Table, Value};

use super::{Cell, SweepError};
use crate::run::toml_text::{from_toml, in_plain_words};
use crate::run::{RunConfig, RunError};

/// More are a mistake, most likely.
const MOST_CELLS: usize = 1_000_000;
/// Settings that are files, whose relative paths start from the grid's own directory.
const PATHS: [&str; 5] = ["train-images", "train-labels", "test-images", "test-labels", "data-dir"];

/// The tables `[train]` and `[grid]` of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    train: Table,
    axes: Vec<(String, Vec<Value>)>,
}

impl Grid {
    /// Reads a grid.
    ///
    /// # Errors
    ///
    /// A sentence that names what is wrong.
    pub fn from_toml(text: &str) -> Result<Self, String> {
        let mut tables: Table = from_toml(text)?;
        let mut table = |name: &str| match tables.remove(name) {
            None => Ok(None),
            Some(Value::Table(table)) => Ok(Some(table)),
            Some(_) => Err(format!("{name} is not a table: write [{name}], and the settings below it")),
        };
        let (train, grid) = (table("train")?.unwrap_or_default(), table("grid")?);
        if let Some(key) = tables.keys().next() {
            let hint = did_you_mean(key, ["train", "grid"]);
            return Err(format!("{key}{hint} is in neither [train] nor [grid], and a grid has no other tables"));
        }
        let grid = grid.ok_or("there is no table [grid], with a list of values for each axis, such as depth = [2, 10]")?;
        if grid.is_empty() {
            return Err("the table [grid] is empty: give it a list of values for each axis, such as depth = [2, 10]".into());
        }
        let mut axes = Vec::new();
        for (key, value) in grid {
            match value {
                Value::Array(values) if values.is_empty() => return Err(format!("the axis {key} is empty: give it at least one value")),
                Value::Array(values) => axes.push((key, values)),
                value => return Err(format!("the axis {key} is not a list: write {key} = [{value}], or move it to [train]")),
            }
        }
        let grid = Self { train, axes };
        grid.check_keys()?;
        Ok(grid)
    }

    /// Reads a file. Relative paths in it start from its directory.
    ///
    /// # Errors
    ///
    /// [`SweepError::Read`] and [`SweepError::Grid`].
    pub fn read(path: &Path) -> Result<Self, SweepError> {
        let text = isinglass_files::read_to_string(path).map_err(SweepError::read(path))?;
        let mut grid = Self::from_toml(&text).map_err(|reason| SweepError::Grid { path: path.to_owned(), reason })?;
        let directory = std::path::absolute(isinglass_files::directory_of(path)).map_err(SweepError::read(path))?;
        let fixed = grid.train.iter_mut().map(|(key, value)| (key, std::slice::from_mut(value)));
        let axes = grid.axes.iter_mut().map(|(key, values)| (&*key, values.as_mut_slice()));
        for (_, values) in fixed.chain(axes).filter(|(key, _)| PATHS.contains(&key.as_str())) {
            for value in values {
                if let Value::String(file) = value {
                    *file = directory.join(&*file).to_string_lossy().into_owned();
                }
            }
        }
        Ok(grid)
    }

    /// Overrides a setting that all cells share. The value is TOML, or else a text: `0.5`, `[128, 64]`, `sign`.
    ///
    /// # Errors
    ///
    /// A sentence, if it is no setting, or an axis.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        if self.axes().any(|axis| canonical(axis) == canonical(key)) {
            return Err(format!("{key} is an axis of the grid: change its list in [grid]"));
        }
        let parsed = from_toml::<Table>(&format!("value = {value}\n")).ok().and_then(|mut table| table.remove("value"));
        let before = self.train.keys().find(|other| canonical(other) == canonical(key)).cloned();
        if let Some(before) = before {
            self.train.remove(&before);
        }
        let parsed = parsed.unwrap_or_else(|| Value::String(value.to_owned()));
        let parsed = match parsed {
            Value::String(file) if PATHS.contains(&key) => {
                let absolute = std::path::absolute(&file).map_err(|error| format!("{key} = {file}: {error}"))?;
                Value::String(absolute.to_string_lossy().into_owned())
            }
            other => other,
        };
        self.train.insert(key.to_owned(), parsed);
        self.check_keys()
    }

    /// The grid as a file.
    pub fn to_toml(&self) -> String {
        let grid: Table = self.axes.iter().map(|(key, values)| (key.clone(), Value::Array(values.clone()))).collect();
        let tables = Table::from_iter([("train".to_owned(), Value::Table(self.train.clone())), ("grid".to_owned(), Value::Table(grid))]);
        toml::to_string(&tables).expect("what was read from TOML has a place in it")
    }

    /// The names of the axes, in the file's order.
    pub fn axes(&self) -> impl Iterator<Item = &str> {
        self.axes.iter().map(|(key, _)| key.as_str())
    }

    /// Every combination of the axes' values, the last axis varying fastest.
    ///
    /// # Errors
    ///
    /// [`SweepError::Cell`] if one is impossible, or the same as another.
    pub fn cells(&self) -> Result<Vec<Cell>, SweepError> {
        let count = self.axes.iter().map(|(_, values)| values.len()).product();
        let mut seen = HashMap::new();
        let mut cells = Vec::with_capacity(count);
        for index in 0..count {
            let cell = self.cell(index)?;
            if let Some(twin) = seen.insert(cell.name.clone(), index) {
                let message = format!("it is the same as the cell {}: leave one out", cells[twin]);
                return Err(SweepError::Cell { cell: cell.to_string(), source: Box::new(RunError::Setting(message)) });
            }
            cells.push(cell);
        }
        Ok(cells)
    }

    fn cell(&self, mut index: usize) -> Result<Cell, SweepError> {
        let mut settings = self.train.clone();
        let mut given = Vec::new();
        for (key, values) in self.axes.iter().rev() {
            let value = &values[index % values.len()];
            index /= values.len();
            settings.insert(key.clone(), value.clone());
            given.push((key.clone(), value));
        }
        given.reverse();
        let describe = || given.iter().map(|(key, value)| format!("{key} = {value}")).collect::<Vec<_>>().join(", ");
        let impossible = |source| SweepError::Cell { cell: describe(), source: Box::new(source) };
        let config = Value::Table(settings).try_into::<RunConfig>();
        let config = config.map_err(|error| impossible(RunError::Setting(in_plain_words(&error))))?;
        let config = config.resolved().map_err(impossible)?;
        // As the settings have it: `tanh:1` for `tanh`, and 1.0 for 1.
        let settings = config.to_json();
        let value_of = |key: &str, given: &Value| match settings.get(canonical(key)) {
            Some(value) => value.clone(),
            // Settings at their default of 0 are left out.
            None => serde_json::to_value(given).unwrap_or_default(),
        };
        let axes = given.iter().map(|(key, value)| (key.clone(), value_of(key, value))).collect();
        Ok(Cell { name: config.hash(), axes, config })
    }

    /// Keys that are no settings, twice there, or change nothing; and more cells than can be meant.
    fn check_keys(&self) -> Result<(), String> {
        if self.axes().any(|axis| axis == "data-dir") {
            return Err("the axis data-dir changes nothing in the results: move it to [train]".into());
        }
        if self.axes().chain(self.train.keys().map(String::as_str)).any(|key| key == "recipe") {
            return Err("recipe: a sweep packs no networks and takes no settings from a recipe; write them out in [train]".into());
        }
        let mut places = HashMap::new();
        let keys = self.train.keys().map(|key| (key.as_str(), "[train]")).chain(self.axes().map(|axis| (axis, "[grid]")));
        for (key, place) in keys {
            if let Some((other, before)) = places.insert(canonical(key), (key, place)) {
                let name = if other == key { key.to_owned() } else { format!("{other} (or {key})") };
                let places = if before == place { format!("twice in {place}") } else { format!("both in {before} and in {place}") };
                return Err(format!("{name} is {places}: leave one out"));
            }
        }
        // One value of each is enough to have every key looked at.
        let settings = self.train.clone().into_iter().chain(self.axes.iter().map(|(key, values)| (key.clone(), values[0].clone())));
        let settings: Table = settings.collect();
        if let Err(error) = Value::Table(settings).try_into::<RunConfig>() {
            return Err(in_plain_words(&error));
        }
        let count = self.axes.iter().try_fold(1usize, |count, (_, values)| count.checked_mul(values.len()));
        match count.filter(|&count| count <= MOST_CELLS) {
            Some(_) => Ok(()),
            None => Err(format!("the axes make more than {MOST_CELLS} cells: leave some values out")),
        }
    }
}

/// A setting's name in [`RunConfig`].
fn canonical(key: &str) -> &str {
    if key == "sigma-w2" { "sigma-m2" } else { key }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(text: &str) -> Vec<Cell> {
        Grid::from_toml(text).unwrap().cells().unwrap()
    }

    #[test]
    fn axes_multiply_in_the_order_of_the_file() {
        let cells = cells("[grid]\nseed = [1, 2]\ndepth = [3, 1, 2]\n[train]\nwidth = 7\n");
        let places: Vec<(u64, usize)> = cells.iter().map(|cell| (cell.config.seed, cell.config.hidden_layers().len())).collect();
        assert_eq!(places, [(1, 3), (1, 1), (1, 2), (2, 3), (2, 1), (2, 2)]);
        assert!(cells.iter().all(|cell| cell.config.width == Some(7)));
        assert_eq!(cells[0].to_string(), "seed = 1, depth = 3");
    }

    #[test]
    fn a_cell_is_named_by_its_resolved_settings() {
        let one = &cells("[train]\nseed = 5\n[grid]\nneuron = [\"tanh\", \"sign\"]\n");
        let other = &cells("[train]\nneuron = \"tanh:1\"\ndata = \"digits\"\ndata-dir = \"/elsewhere\"\n[grid]\nseed = [5]\n");
        assert_eq!(one[0].name, other[0].name);
        assert_ne!(one[0].name, one[1].name);
        assert_eq!(one[0].name, one[0].config.hash());
        assert_eq!(one[0].to_string(), "neuron = tanh:1");
    }

    #[test]
    fn any_setting_can_be_an_axis() {
        let text = "[grid]\nsurrogate = [\"deterministic\", \"ste\"]\nvariance-gradient = [\"on\", false]\nsamples = [3, [5, 100]]\n";
        let cells = cells(text);
        assert_eq!(cells.len(), 8);
        assert_eq!(cells[7].to_string(), "surrogate = ste, variance-gradient = false, samples = 5,100");
        let sigma = super::tests::cells("[train]\nsurrogate = \"continuous\"\ninit = \"uniform\"\n[grid]\nsigma-w2 = [1, 2.5]\n");
        assert_eq!(sigma[0].to_string(), "sigma-w2 = 1.0");
    }

    #[test]
    fn a_grid_survives_being_written() {
        let grid = Grid::from_toml("[train]\nlr = 1e-3\n[grid]\nseed = [1, 2]\ndepth = [3, 1]\nsamples = [[1, 2], 3]\n").unwrap();
        assert_eq!(Grid::from_toml(&grid.to_toml()).unwrap(), grid);
    }

    #[test]
    fn bad_grids_say_what_is_wrong() {
        for (text, reason) in [
            ("[train]\nwidth = 7\n", "no table [grid]"),
            ("[grid]\n", "[grid] is empty"),
            ("[grid]\ndepth = []\n", "axis depth is empty"),
            ("[grid]\ndepth = 3\n", "write depth = [3]"),
            ("[grid]\ndept = [3]\n", "unknown key `dept`; did you mean `depth`?"),
            ("[train]\ndept = 3\n[grid]\nseed = [1]\n", "unknown key `dept`; did you mean `depth`?"),
            ("[train]\nsurrogate = \"determinstic\"\n[grid]\nseed = [1]\n", "did you mean deterministic?"),
            ("[gird]\nseed = [1]\n", "gird (did you mean grid?) is in neither"),
            ("[train]\ndepth = 3\n[grid]\ndepth = [1]\n", "depth is both in [train] and in [grid]"),
            ("[train]\nsigma-m2 = 0.5\n[grid]\nsigma-w2 = [1]\n", "sigma-m2 (or sigma-w2) is both"),
            ("[grid]\ndata-dir = [\"a\"]\n", "changes nothing"),
            ("[train]\nrecipe = \"mnist-501\"\n[grid]\nseed = [1]\n", "write them out"),
            ("[sweep]\n[grid]\nseed = [1]\n", "sweep is in neither"),
            ("depth = 3\n[grid]\nseed = [1]\n", "depth is in neither"),
            ("grid = 3\n", "grid is not a table"),
            ("[grid]\nseed = [1\n", "line "),
            ("[train]\nwidth = \"wide\"\n[grid]\nseed = [1]\n", "width"),
        ] {
            let message = Grid::from_toml(text).unwrap_err();
            assert!(message.contains(reason) && !message.contains('\n'), "{text:?}: {message}");
        }
    }

    #[test]
    fn settings_can_be_overridden() {
        let mut grid = Grid::from_toml("[train]\nepochs = 5\nsigma-m2 = 0.5\n[grid]\ndepth = [1, 2]\n").unwrap();
        for (key, value) in [("epochs", "2"), ("neuron", "tanh:1"), ("sigma-w2", "0.9"), ("samples", "[1, 2]"), ("carry", "on")] {
            grid.set(key, value).unwrap();
        }
        let config = &grid.cells().unwrap()[1].config;
        assert_eq!((config.epochs, config.sigma_m2, config.samples.as_slice()), (2, Some(0.9), &[1, 2][..]));
        assert_eq!(config.neuron.unwrap().to_string(), "tanh:1");
        assert!(grid.set("depth", "3").unwrap_err().contains("is an axis"));
        assert!(grid.clone().set("dept", "3").unwrap_err().contains("dept"));
        assert!(grid.clone().set("epochs", "many").is_err());
    }

    #[test]
    fn impossible_cells_and_twins_are_named() {
        for (text, reason) in [
            ("[grid]\nseed = [1, 2, 1]\n", "seed = 1: it is the same"),
            ("[grid]\nneuron = [\"tanh\", \"tanh:1\"]\n", "it is the same as the cell neuron = tanh:1"),
            ("[grid]\nepochs = [1, 0]\n", "the cell epochs = 0: "),
            ("[grid]\ndepth = [1, \"two\"]\n", "the cell depth = \"two\": "),
        ] {
            let message = Grid::from_toml(text).unwrap().cells().unwrap_err().to_string();
            assert!(message.contains(reason) && !message.contains('\n'), "{text:?}: {message}");
        }
    }
}
