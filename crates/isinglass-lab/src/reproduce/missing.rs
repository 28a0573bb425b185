//! Cells that failed for another reason than a loss that diverged: figures are drawn without them, and claims that need them are not decided.

use std::path::PathBuf;

use super::results::Results;
use super::{Plan, ReproduceError, Study};

/// The missing cells of a sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct Missing {
    /// The sweep's directory.
    pub directory: PathBuf,
    /// Cells in all.
    pub cells: usize,
    /// The missing ones, such as `depth = 2, seed = 1`, and why they failed.
    pub failed: Vec<(String, String)>,
}

impl Study {
    /// The sweeps with missing cells. All of them must have come to their end.
    ///
    /// # Errors
    ///
    /// If a sweep cannot be read, or has not come to its end.
    pub fn missing(&self, plans: &[Plan]) -> Result<Vec<Missing>, ReproduceError> {
        let mut missing = Vec::new();
        for plan in plans {
            let sweep = self.sweep(plan)?;
            let results = Results::of(&sweep)?;
            let failed: Vec<_> = results.missing().map(|(cell, reason)| (cell.to_string(), reason.to_owned())).collect();
            if !failed.is_empty() {
                missing.push(Missing { directory: sweep.directory().to_owned(), cells: sweep.cells().len(), failed });
            }
        }
        Ok(missing)
    }
}
