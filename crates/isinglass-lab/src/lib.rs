//! Studies of binary networks and their theory: random networks simulated beside the theory, grids over the plane of initialisations, the paper's figures, and reports.
//!
//! Training runs and sweeps are in `isinglass-runs`, charts in `isinglass-chart`; both are re-exported here.

mod parallel;

pub mod phase_diagram;
pub mod report;
pub mod reproduce;
pub mod simulate;
pub mod verdict;

pub use isinglass_chart as chart;
pub use isinglass_runs::{csv, provenance, recipe, replace, run, shell, sweep, words};
