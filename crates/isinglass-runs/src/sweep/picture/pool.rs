//! The cells that share a place of a picture.

use crate::sweep::{Column, Record, Row, Status};

/// Values of a column, and the cells without one.
#[derive(Debug, Clone, Default)]
pub(super) struct Pool {
    values: Vec<f64>,
    diverged: usize,
    failed: usize,
    missing: usize,
}

impl Pool {
    pub fn add(&mut self, row: &Row, column: Column) {
        match row.number(column) {
            Some(value) => self.values.push(value),
            None if row.record().is_some_and(Record::is_untrained) => self.diverged += 1,
            None if matches!(row.status(), Status::Failed(_) | Status::Damaged(_)) => self.failed += 1,
            None => self.missing += 1,
        }
    }

    /// NaN without values.
    pub fn mean(&self) -> f64 {
        if self.values.is_empty() { f64::NAN } else { self.values.iter().sum::<f64>() / self.values.len() as f64 }
    }

    /// Of one cell; 0 with a single one.
    pub fn standard_deviation(&self) -> f64 {
        let mean = self.mean();
        let squares: f64 = self.values.iter().map(|value| (value - mean).powi(2)).sum();
        if self.values.len() > 1 { (squares / (self.values.len() - 1) as f64).sqrt() } else { 0.0 }
    }

    pub fn has_several(&self) -> bool {
        self.values.len() > 1
    }

    /// The numbers in words.
    pub fn describe(&self) -> String {
        let mut text = match self.values.len() {
            0 => "no value".to_owned(),
            1 => format!("{} (1 cell)", four(self.mean())),
            count => format!("{} ± {} ({count} cells)", four(self.mean()), four(self.standard_deviation())),
        };
        for (count, what) in [(self.diverged, "diverged"), (self.failed, "failed"), (self.missing, "missing")] {
            if count > 0 {
                text += &format!(", {count} {what}");
            }
        }
        text
    }
}

/// Four decimals, or four digits of what is large or small.
fn four(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || (1e-3..1e4).contains(&size) { format!("{value:.4}") } else { format!("{value:.3e}") }
}
