//! What the sweeps behind figures will take.

use super::ReproduceError;
use super::grids::Plan;
use super::study::Study;
use isinglass_runs::sweep::{Cell, Speed, Status, Sweep, SweepData};

/// What is left of a sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct Cost {
    /// The sweep's name.
    pub sweep: &'static str,
    /// Cells in all.
    pub cells: usize,
    /// Cells to run.
    pub waiting: usize,
    /// How long these take on one core, by a quarter of a second of training of the longest.
    pub core_seconds: f64,
}

impl Study {
    /// The data of all sweeps, each set read once.
    ///
    /// # Errors
    ///
    /// If data are missing or damaged.
    pub fn load(&self, plans: &[Plan]) -> Result<SweepData, ReproduceError> {
        let cells = plans.iter().map(|plan| plan.grid.cells()).collect::<Result<Vec<_>, _>>()?.concat();
        Ok(SweepData::load(&cells, self.data_dir.as_deref())?)
    }

    /// What sweeps will take, with or without cells that have failed. Makes nothing.
    ///
    /// # Errors
    ///
    /// If a sweep that was begun cannot be read, or belongs to another grid.
    pub fn cost(&self, plans: &[Plan], data: &SweepData, retry_failed: bool) -> Result<Vec<Cost>, ReproduceError> {
        plans.iter().map(|plan| self.cost_of(plan, data, retry_failed)).collect()
    }

    fn cost_of(&self, plan: &Plan, data: &SweepData, retry_failed: bool) -> Result<Cost, ReproduceError> {
        let sweep = Sweep::draft(&self.sweep_directory(plan.name), plan.grid.clone(), plan.keep_runs)?;
        let mut waiting = Vec::new();
        for cell in sweep.cells() {
            let is_waiting = match sweep.status(cell)? {
                Status::Done(_) => false,
                Status::Failed(_) | Status::Damaged(_) => retry_failed,
                Status::Running | Status::Waiting => true,
            };
            if is_waiting {
                waiting.push(cell);
            }
        }
        let cost = |cell: &Cell| data.cost(cell).total;
        let longest = waiting.iter().max_by(|a, b| cost(a).total_cmp(&cost(b)));
        let core_seconds = match longest {
            Some(longest) => {
                let speed = Speed::measure(longest, data, self.threads.max(1))?;
                speed.seconds(waiting.iter().map(|cell| cost(cell)).sum(), 1).unwrap_or(0.0)
            }
            None => 0.0,
        };
        Ok(Cost { sweep: plan.name, cells: sweep.cells().len(), waiting: waiting.len(), core_seconds })
    }
}
