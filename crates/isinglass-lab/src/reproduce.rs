//! The paper's figures, made again: what each came to is on [record](FigureRecord) in its directory.

mod record;

pub use record::{Claim, FIGURE, FigureRecord, Picture, Table, Verdict};
