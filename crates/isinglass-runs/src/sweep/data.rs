//! The data of all cells: every set is read once, and every cell checked against its own.

use std::collections::HashMap;
use std::path::Path;

use isinglass_data::Dataset;

use super::cell::Cost;
use super::{Cell, SweepError};
use crate::run::{RunConfig, RunError};

/// What cells train with, and what they cost.
#[derive(Debug)]
pub struct SweepData {
    sets: HashMap<String, Dataset>,
    costs: HashMap<String, Cost>,
}

impl SweepData {
    /// Reads the data of all cells, looking in `directory` first, and checks that every cell can be run with its own.
    ///
    /// # Errors
    ///
    /// If data are missing or damaged, and [`SweepError::Cell`].
    pub fn load(cells: &[Cell], directory: Option<&Path>) -> Result<Self, SweepError> {
        let mut data = Self { sets: HashMap::new(), costs: HashMap::new() };
        // The theory is asked, and examples are shuffled, once for all cells that differ in nothing that matters for it.
        let mut known = HashMap::new();
        for cell in cells {
            let impossible = |source| SweepError::Cell { cell: cell.to_string(), source: Box::new(source) };
            let key = key_of(&cell.config);
            if !data.sets.contains_key(&key) {
                let set = cell.config.load_data(directory).map_err(|error| match error {
                    RunError::Data(_) => SweepError::Run(error),
                    error => impossible(error),
                })?;
                data.sets.insert(key.clone(), set);
            }
            let alike = RunConfig { seed: 0, lr: 1.0, ..cell.config.clone() }.hash();
            let cost = match known.get(&alike) {
                Some(&cost) => cost,
                None => {
                    let cost = Cost::of(&cell.config, &data.sets[&key]).map_err(impossible)?;
                    known.insert(alike, cost);
                    cost
                }
            };
            data.costs.insert(cell.name.clone(), cost);
        }
        Ok(data)
    }

    pub(crate) fn of(&self, cell: &Cell) -> &Dataset {
        &self.sets[&key_of(&cell.config)]
    }

    /// What a cell takes.
    pub fn cost(&self, cell: &Cell) -> Cost {
        self.costs[&cell.name]
    }
}

/// What tells one data set from another.
fn key_of(config: &RunConfig) -> String {
    format!("{:?}", (&config.data, &config.train_images, &config.train_labels, &config.test_images, &config.test_labels))
}
