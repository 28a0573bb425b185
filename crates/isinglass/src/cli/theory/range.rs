//! `MIN:MAX`, `COLUMNSxROWS` and numbers of points.

use std::str::FromStr;

/// A range of a quantity, `MIN:MAX`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    pub low: f64,
    pub high: f64,
}

impl FromStr for Range {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers =
            text.split_once(':').and_then(|(low, high)| Some((low.trim().parse::<f64>().ok()?, high.trim().parse::<f64>().ok()?)));
        match numbers {
            Some((low, high)) if low.is_finite() && high.is_finite() && low >= 0.0 && low < high => Ok(Self { low, high }),
            _ => Err("a range is MIN:MAX with 0 ≤ MIN < MAX, for example 0:1.5".to_owned()),
        }
    }
}

/// The size of a grid, `COLUMNSxROWS`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    pub columns: usize,
    pub rows: usize,
}

impl FromStr for Grid {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const LARGEST: usize = 100_000_000;
        let sizes =
            text.split_once(['x', '×']).and_then(|(columns, rows)| Some((columns.parse::<usize>().ok()?, rows.parse::<usize>().ok()?)));
        match sizes {
            Some((columns, rows)) if columns >= 2 && rows >= 2 && columns.saturating_mul(rows) <= LARGEST => Ok(Self { columns, rows }),
            Some((columns, rows)) if columns.saturating_mul(rows) > LARGEST => {
                Err(format!("{columns}x{rows} has more than {LARGEST} points"))
            }
            _ => Err("a grid is COLUMNSxROWS with at least 2 of each, for example 200x200".to_owned()),
        }
    }
}

/// A number of points that has two ends.
pub fn at_least_two(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count) if count >= 2 => Ok(count),
        _ => Err("at least 2 are needed".to_owned()),
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
