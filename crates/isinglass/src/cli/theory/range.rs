//! `MIN:MAX`, `COLUMNSxROWS` and numbers of points.

use std::str::FromStr;

/// A range of a quantity, `MIN:MAX`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Range {
    /// A range of a variance.
    ///
    /// # Errors
    ///
    /// A sentence, unless 0 ≤ `low` < `high` and both are finite.
    pub fn new(low: f64, high: f64) -> Result<Self, String> {
        if low.is_finite() && high.is_finite() && low >= 0.0 && low < high {
            return Ok(Self { low, high });
        }
        Err("a range is MIN:MAX with 0 ≤ MIN < MAX, for example 0:1.5".to_owned())
    }
}

impl FromStr for Range {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers =
            text.split_once(':').and_then(|(low, high)| Some((low.trim().parse::<f64>().ok()?, high.trim().parse::<f64>().ok()?)));
        let (low, high) = numbers.unwrap_or((f64::NAN, f64::NAN));
        Self::new(low, high)
    }
}

/// The size of a grid, `COLUMNSxROWS`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    pub(crate) columns: usize,
    pub(crate) rows: usize,
}

impl Grid {
    /// A grid of this many columns and rows.
    ///
    /// # Errors
    ///
    /// A sentence, if there are fewer than 2 of either, or too many points.
    pub fn new(columns: usize, rows: usize) -> Result<Self, String> {
        const LARGEST: usize = 100_000_000;
        if columns.saturating_mul(rows) > LARGEST {
            return Err(format!("{columns}x{rows} has more than {LARGEST} points"));
        }
        if columns < 2 || rows < 2 {
            return Err("a grid is COLUMNSxROWS with at least 2 of each, for example 200x200".to_owned());
        }
        Ok(Self { columns, rows })
    }
}

impl FromStr for Grid {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let sizes =
            text.split_once(['x', '×']).and_then(|(columns, rows)| Some((columns.parse::<usize>().ok()?, rows.parse::<usize>().ok()?)));
        let (columns, rows) = sizes.unwrap_or_default();
        Self::new(columns, rows)
    }
}

/// A number of points that has two ends.
pub fn at_least_two(text: &str) -> Result<usize, String> {
    check_two(text.parse().unwrap_or(0))
}

/// The same for a number.
pub fn check_two(count: usize) -> Result<usize, String> {
    const MOST: usize = 10_000_000;
    match count {
        0 | 1 => Err("at least 2 are needed".to_owned()),
        count if count > MOST => Err(format!("{count} points: at most {MOST}")),
        count => Ok(count),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_two_ordered_numbers() {
        assert_eq!("0:1.5".parse(), Ok(Range { low: 0.0, high: 1.5 }));
        for bad in ["", "1", "2:1", "1:1", "-1:2", "0:nan", "a:b"] {
            assert!(bad.parse::<Range>().is_err(), "{bad}");
        }
    }

    #[test]
    fn grids_are_two_sizes() {
        assert_eq!("200x100".parse(), Ok(Grid { columns: 200, rows: 100 }));
        for bad in ["", "0x0", "1x5", "5", "ax2", "99999999x99999999"] {
            assert!(bad.parse::<Grid>().is_err(), "{bad}");
        }
    }
}
