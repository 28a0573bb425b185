//! Training runs, one directory each, and sweeps of many of them, on one machine or a cluster. Interrupting anything at any moment is safe.

pub mod csv;
pub mod provenance;
pub mod recipe;
pub mod replace;
pub mod run;
pub mod shell;
pub mod sweep;
pub mod words;
