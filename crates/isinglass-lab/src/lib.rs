//! Experiments with binary networks and their theory: grids over the plane of initialisations, and the charts that show them.

pub mod chart;
pub mod phase_diagram;
