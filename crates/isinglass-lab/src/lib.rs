//! Experiments with binary networks and their theory: training runs, sweeps of many of them, their networks as packed bits, grids over the plane of initialisations, and the charts and reports that show them.

mod base64;

pub mod chart;
pub mod csv;
pub mod phase_diagram;
pub mod provenance;
pub mod recipe;
pub mod replace;
pub mod report;
pub mod reproduce;
pub mod run;
pub mod simulate;
pub mod sweep;
pub mod verdict;
