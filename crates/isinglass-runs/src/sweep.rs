//! Sweeps: one training run for each cell of a grid, on all cores, that can be stopped at any moment and gone on with.
//!
//! | in the directory | holds |
//! |---|---|
//! | `sweep.toml` | the grid ([`Grid`]) |
//! | `manifest.json` | all cells, their names and settings with nothing left open, and whether runs are kept |
//! | `cells/<name>.json` | a finished cell ([`Record`]): settings, result or error, facts of the run |
//! | `runs/<name>/` | a cell that is going on or was interrupted; with `keep_runs` also after its end |
//! | `slurm/` | what was submitted to a cluster ([`slurm`]) |
//!
//! A cell's name is the [hash](crate::run::RunConfig::hash) that its settings had when the sweep was made. Its file appears by renaming, complete or not at all, and what it says depends on the
//! settings alone, but for the facts of the run. Whoever runs a cell holds the lock of its directory in `runs`, which ends with the process however it ends; so any number of
//! processes may work on one sweep, and a scheduler may start the same cells twice.
//!
//! ```no_run
//! use std::sync::atomic::AtomicBool;
//!
//! use isinglass_runs::run::{Behind, Part};
//! use isinglass_runs::sweep::{Column, Grid, Sweep, SweepData, WorkOptions};
//!
//! let grid = Grid::from_toml("[train]\nepochs = 5\n[grid]\ndepth = [2, 5, 10]\nseed = [1, 2]\n")?;
//! let data = SweepData::load(&grid.cells()?, None)?;
//! let sweep = Sweep::create("sweeps/a".as_ref(), grid, false)?;
//! sweep.work(&data, &WorkOptions::default(), &AtomicBool::new(false), &mut |_| {})?;
//! let accuracy = Column::accuracy(Part::Test, Behind::Binary);
//! for row in sweep.results()?.rows() {
//!     println!("{} {:?}", row.cell(), row.number(accuracy));
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cell;
mod claim;
mod column;
mod commands;
mod data;
mod directory;
mod error;
mod grid;
mod manifest;
mod perform;
pub mod picture;
mod plan;
mod record;
mod results;
mod selection;
pub mod slurm;
mod work;

pub use cell::{Cell, Cost};
pub use column::{Column, Measure};
pub use commands::{CommandOptions, Commands};
pub use data::SweepData;
pub use directory::{Status, Sweep};
pub use error::SweepError;
pub use grid::Grid;
pub use plan::{Plan, Refusal, Speed};
pub use record::{Attempt, CellLayer, CellResult, CurvePoint, ErrorKind, Record, RunFacts};
pub use results::{Results, Row};
pub use work::{Event, Standing, WorkOptions};

/// The grid of a sweep.
pub const SWEEP: &str = "sweep.toml";
/// What the cells are.
pub const MANIFEST: &str = "manifest.json";
/// Where finished cells are.
pub const CELLS: &str = "cells";
/// Where cells are on their way.
pub const RUNS: &str = "runs";
