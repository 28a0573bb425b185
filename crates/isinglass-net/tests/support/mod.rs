//! What the engine is compared with: plain `f64` arithmetic that shares no formula with it.

#![allow(dead_code, reason = "every test file uses its own part")]

pub mod files;
pub mod networks;
pub mod oracle;
pub mod problem;
pub mod random;
pub mod reference;
pub mod signing;
