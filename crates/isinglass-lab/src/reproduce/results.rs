//! The results of a sweep, as figures need them.

use serde_json::Value;

use super::ReproduceError;
use isinglass_runs::sweep::{Column, Record, Row, Status, Sweep};

/// What most figures show.
pub(super) const ACCURACY: &str = "train_surrogate_accuracy";

/// What a network has learnt nothing from: one of ten classes by chance.
const CHANCE: f64 = 0.1;

/// All rows of a sweep that has come to its end. A cell that failed, because its loss diverged, counts as untrained: its accuracies are those of chance.
pub(super) struct Results {
    all: isinglass_runs::sweep::Results,
}

/// A condition on an axis.
pub(super) type Where<'a> = (&'a str, &'a Value);

impl Results {
    /// Reads them.
    ///
    /// # Errors
    ///
    /// [`ReproduceError::Unfinished`] if cells have not ended.
    pub fn of(sweep: &Sweep) -> Result<Self, ReproduceError> {
        let all = sweep.results()?;
        let left = all.rows().filter(|row| matches!(row.status(), Status::Running | Status::Waiting)).count();
        if left > 0 {
            return Err(ReproduceError::Unfinished { sweep: sweep.directory().to_owned(), left, cells: all.len() });
        }
        Ok(Self { all })
    }

    /// The values of an axis of numbers, in increasing order.
    pub fn numbers(&self, axis: &str) -> Vec<f64> {
        let mut values: Vec<f64> = self.all.rows().filter_map(|row| row.axis(axis)?.as_f64()).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        values
    }

    /// The values of an axis, in the grid's order.
    pub fn values(&self, axis: &str) -> Vec<Value> {
        let mut values: Vec<Value> = Vec::new();
        for value in self.all.rows().filter_map(|row| row.axis(axis)) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        values
    }

    /// The mean of a column over all cells at some place; `None` if there is none.
    pub fn mean(&self, place: &[Where<'_>], column: &str) -> Option<f64> {
        let values = self.each(place, column);
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }

    /// A column of all cells at some place, such as one for each seed.
    pub fn each(&self, place: &[Where<'_>], column: &str) -> Vec<f64> {
        let at = |row: &&Row| place.iter().all(|(axis, value)| row.axis(axis).is_some_and(|other| same(&other, value)));
        self.all.rows().filter(at).filter_map(|row| value(row, column)).collect()
    }

    /// The mean at a depth and a variance of means.
    pub fn at(&self, sigma_m2: f64, depth: f64, column: &str) -> Option<f64> {
        self.mean(&[("sigma-m2", &sigma_m2.into()), ("depth", &depth.into())], column)
    }

    /// The mean distance of two columns, over all cells that have both; `None` if there are none.
    pub fn distance(&self, column: &str, other: &str) -> Option<f64> {
        let distances: Vec<f64> = self.all.rows().filter_map(|row| Some((value(row, column)? - value(row, other)?).abs())).collect();
        (!distances.is_empty()).then(|| distances.iter().sum::<f64>() / distances.len() as f64)
    }

    /// As the sweep gave them.
    pub fn all(&self) -> &isinglass_runs::sweep::Results {
        &self.all
    }

    /// How many cells have failed, of how many.
    pub fn failed(&self) -> (usize, usize) {
        (self.all.rows().filter(|row| matches!(row.status(), Status::Failed(_))).count(), self.all.len())
    }
}

/// A cell's number in a column.
fn value(row: &Row, column: &str) -> Option<f64> {
    let column: Column = column.parse().ok()?;
    if column.is_accuracy() && row.record().is_some_and(Record::is_untrained) { Some(CHANCE) } else { row.number(column) }
}

/// `3` and `3.0` are the same place.
fn same(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => a == b,
        _ => a == b,
    }
}

/// Spearman's rank correlation, with mean ranks for ties; `None` if one of the two never changes.
pub(super) fn rank_correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    let (a, b) = (ranks(a), ranks(b));
    let mean = (a.len() as f64 - 1.0) / 2.0;
    let product = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| (x - mean) * (y - mean)).sum::<f64>();
    let scale = (product(&a, &a) * product(&b, &b)).sqrt();
    (scale > 0.0).then(|| product(&a, &b) / scale)
}

fn ranks(values: &[f64]) -> Vec<f64> {
    let below = |x: f64| values.iter().filter(|&&y| y < x).count() as f64;
    let equal = |x: f64| values.iter().filter(|&&y| y == x).count() as f64;
    values.iter().map(|&x| below(x) + (equal(x) - 1.0) / 2.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rank_correlations_of_small_lists() {
        let close = |a: &[f64], b: &[f64], expected: f64| assert!((rank_correlation(a, b).unwrap() - expected).abs() < 1e-12);
        close(&[1.0, 2.0, 3.0], &[10.0, 20.0, 25.0], 1.0);
        close(&[1.0, 2.0, 3.0], &[3.0, 2.0, -1.0], -1.0);
        // One pair exchanged among four: 1 − 6·2/(4·15).
        close(&[1.0, 2.0, 3.0, 4.0], &[1.0, 3.0, 2.0, 4.0], 0.8);
        // A tie takes the mean rank: 1.5/√(2·1.5).
        close(&[1.0, 2.0, 3.0], &[5.0, 5.0, 7.0], 1.5 / 3f64.sqrt());
        assert_eq!(rank_correlation(&[1.0, 2.0], &[4.0, 4.0]), None);
    }
}
