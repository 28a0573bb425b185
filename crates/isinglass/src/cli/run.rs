//! What the commands around training runs share.

pub mod data;
pub mod ending;
pub mod histogram;
pub mod perform;
pub mod progress;
pub mod signals;
pub mod subject;
pub mod tables;
