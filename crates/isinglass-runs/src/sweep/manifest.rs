//! `manifest.json`: what the cells of a sweep are, with nothing left to defaults.
//!
//! A grid leaves settings open, and another version may have other defaults. The manifest has them all, so that every version continues the same cells under the same names.

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Cell, Grid, MANIFEST, SweepError};
use crate::run::RunConfig;
use crate::sealed::{self, Seal};

/// The format of the file.
const FORMAT: u32 = 1;

/// The file. Settings that all cells have in common are there once.
#[derive(Debug, Serialize, Deserialize)]
struct File {
    format: u32,
    version: String,
    keep_runs: bool,
    /// The grid, as TOML.
    grid: String,
    settings: Map<String, Value>,
    cells: Vec<Entry>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    name: String,
    axes: Map<String, Value>,
    settings: Map<String, Value>,
}

/// Enough of any version's file to say which version it is of.
#[derive(Debug, Deserialize)]
struct Head {
    format: u32,
    version: String,
}

/// What a manifest says.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Manifest {
    pub grid: Grid,
    pub cells: Vec<Cell>,
    pub keep_runs: bool,
}

impl Manifest {
    /// Reads the manifest of a sweep; `None` if it has none, as those of older versions.
    pub fn read(directory: &Path) -> Result<Option<Self>, SweepError> {
        let path = directory.join(MANIFEST);
        match fs::read(&path) {
            Ok(bytes) => Self::parse(&bytes).map(Some).map_err(|reason| SweepError::Manifest { path, reason }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(SweepError::read(&path)(error)),
        }
    }

    fn parse(bytes: &[u8]) -> Result<Self, String> {
        let damaged =
            |error: String| format!("damaged ({error}); remove it, and it is made again from sweep.toml if the cells are still the same");
        let head: Head = serde_json::from_slice(bytes).map_err(|error| damaged(error.to_string()))?;
        if head.format > FORMAT {
            return Err(format!(
                "it was made by isinglass {}, and this is {}: use that version or a later one",
                head.version,
                env!("CARGO_PKG_VERSION")
            ));
        }
        if sealed::check(bytes) != Seal::Whole {
            return Err(damaged("its contents do not match its checksum".into()));
        }
        let file: File = serde_json::from_slice(bytes).map_err(|error| damaged(error.to_string()))?;
        let unknown = |error: String| {
            format!(
                "isinglass {} made it with settings that this version, {}, does not know ({error})",
                head.version,
                env!("CARGO_PKG_VERSION")
            )
        };
        let grid = Grid::from_toml(&file.grid).map_err(unknown)?;
        let mut cells = Vec::with_capacity(file.cells.len());
        for entry in file.cells {
            let mut settings = file.settings.clone();
            settings.extend(entry.settings);
            let config: RunConfig = serde_json::from_value(Value::Object(settings)).map_err(|error| unknown(error.to_string()))?;
            cells.push(Cell { name: entry.name, axes: entry.axes.into_iter().collect(), config });
        }
        Ok(Self { grid, cells, keep_runs: file.keep_runs })
    }

    /// Writes it: complete or not at all.
    pub fn write(&self, directory: &Path) -> Result<(), SweepError> {
        let path = directory.join(MANIFEST);
        isinglass_files::write(&path, self.to_text().as_bytes()).map_err(SweepError::write(&path))
    }

    fn to_text(&self) -> String {
        let all: Vec<Map<String, Value>> = self.cells.iter().map(|cell| object(cell.config.to_json())).collect();
        let mut settings = all.first().cloned().unwrap_or_default();
        settings.retain(|key, value| all.iter().all(|other| other.get(key) == Some(&*value)));
        let own = |config: Map<String, Value>| config.into_iter().filter(|(key, _)| !settings.contains_key(key)).collect();
        let cells = self.cells.iter().zip(all).map(|(cell, config)| Entry {
            name: cell.name.clone(),
            axes: cell.axes.iter().cloned().collect(),
            settings: own(config),
        });
        let file = File {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            keep_runs: self.keep_runs,
            grid: self.grid.to_toml(),
            cells: cells.collect(),
            settings: settings.clone(),
        };
        sealed::seal(&file)
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest() -> Manifest {
        let grid = Grid::from_toml(
            "[train]\nlr = 0.003\nneuron = \"tanh\"\n[grid]\ndepth = [2, 3]\nsigma-m2 = [0.5, 0.9]\ndropout = [0.0, 0.1]\n",
        )
        .unwrap();
        Manifest { cells: grid.cells().unwrap(), grid, keep_runs: true }
    }

    #[test]
    fn a_manifest_is_read_as_it_was_written() {
        let (manifest, text) = (manifest(), manifest().to_text());
        assert_eq!(Manifest::parse(text.as_bytes()).unwrap(), manifest);
        // Shared settings are there once, and defaults are written out.
        assert_eq!(text.matches("\"lr\"").count(), 1, "{text}");
        assert_eq!(text.matches("\"batch\"").count(), 1, "{text}");
        assert_eq!(text.matches("\"depth\":2").count(), 8, "{text}");
    }

    #[test]
    fn a_manifest_of_another_version_or_damaged_is_refused_in_a_sentence() {
        let text = manifest().to_text();
        let newer = text.replacen("\"format\":1", "\"format\":2", 1);
        assert!(Manifest::parse(newer.as_bytes()).unwrap_err().contains("use that version or a later one"));
        let altered = text.replacen("0.003", "0.004", 1);
        assert!(Manifest::parse(altered.as_bytes()).unwrap_err().contains("checksum"));
        assert!(Manifest::parse(&text.as_bytes()[..text.len() / 2]).unwrap_err().starts_with("damaged"));
        let body = text.replacen("\"batch\"", "\"new-setting\"", 1);
        let body = &body[..body.rfind(",\"checksum\"").unwrap()];
        let sealed = format!("{body},\"checksum\":\"{}\"}}\n", isinglass_data::sha256_of(body.as_bytes()));
        assert!(Manifest::parse(sealed.as_bytes()).unwrap_err().contains("new-setting"));
    }
}
