//! Quantities that a grid shows only if they lie in it: the depth at which training ends, the number of samples that are needed.
//!
//! Outside, all that is known is the side. No rule looks at it: it becomes the open side of an [`Interval`](super::interval::Interval).

use std::fmt;

/// A positive quantity between two bounds, which are the same inside the grid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Censored {
    low: f64,
    /// The quantity, or the edge of the grid that it lies beyond.
    value: f64,
    high: f64,
}

impl Censored {
    pub fn within(value: f64) -> Self {
        Self { low: value, value, high: value }
    }

    /// Less than the grid's smallest value.
    pub fn below(edge: f64) -> Self {
        Self { low: 0.0, value: edge, high: edge }
    }

    /// More than the grid's largest.
    pub fn beyond(edge: f64) -> Self {
        Self { low: edge, value: edge, high: f64::INFINITY }
    }

    /// Where a curve falls below a level for good, between its points; `None` if there are no points.
    pub fn crossing(curve: &[(f64, f64)], level: f64) -> Option<Self> {
        let (first, last) = (curve.first()?, curve.last()?);
        let Some(above) = curve.iter().rposition(|&(_, value)| value >= level) else {
            return Some(Self::below(first.0));
        };
        Some(match curve.get(above + 1) {
            None => Self::beyond(last.0),
            Some(&(x, y)) => {
                let (x0, y0) = curve[above];
                Self::within(x0 + (x - x0) * (y0 - level) / (y0 - y))
            }
        })
    }

    /// The value, or the edge that it lies beyond: for ranks and pictures.
    pub fn value(&self) -> f64 {
        self.value
    }

    pub fn may_be_less(&self) -> bool {
        self.low < self.value
    }

    pub fn may_be_more(&self) -> bool {
        self.high > self.value
    }

    /// How many times another it is.
    pub fn over(&self, other: &Self) -> Self {
        Self { low: self.low / other.high, value: self.value / other.value, high: self.high / other.low }
    }

    /// The geometric mean over seeds, for a table; `None` of nothing.
    pub fn typical(values: &[Self]) -> Option<Self> {
        let value = (values.iter().map(|one| one.value.ln()).sum::<f64>() / values.len() as f64).exp();
        let low = if values.iter().any(Self::may_be_less) { 0.0 } else { value };
        let high = if values.iter().any(Self::may_be_more) { f64::INFINITY } else { value };
        (!values.is_empty()).then_some(Self { low, value, high })
    }
}

/// `25`, `below 3`, `at least 60`.
impl fmt::Display for Censored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.may_be_less(), self.may_be_more()) {
            (false, false) => write!(f, "{:.0}", self.value),
            (true, false) => write!(f, "below {:.0}", self.value),
            (false, true) => write!(f, "at least {:.0}", self.value),
            (true, true) => write!(f, "unknown"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_is_crossed_between_its_points_or_outside() {
        let curve = [(10.0, 0.9), (20.0, 0.7), (30.0, 0.3), (40.0, 0.1)];
        assert_eq!(Censored::crossing(&curve, 0.5), Some(Censored::within(25.0)));
        assert_eq!(Censored::crossing(&curve, 0.05), Some(Censored::beyond(40.0)));
        assert_eq!(Censored::crossing(&curve, 0.95), Some(Censored::below(10.0)));
        assert_eq!(Censored::crossing(&[], 0.5), None);
        // The last time counts.
        assert_eq!(Censored::crossing(&[(1.0, 0.4), (2.0, 0.6), (3.0, 0.4)], 0.5), Some(Censored::within(2.5)));
    }

    #[test]
    fn ratios_know_what_is_known() {
        let (ten, more) = (Censored::within(10.0), Censored::beyond(100.0));
        assert_eq!(ten.over(&Censored::within(5.0)), Censored::within(2.0));
        // At most a tenth, since it is ten of more than a hundred.
        let less = ten.over(&more);
        assert!(less.may_be_less() && !less.may_be_more() && less.value() == 0.1);
        let both = more.over(&more);
        assert!(both.may_be_less() && both.may_be_more());
    }

    #[test]
    fn typical_values_are_those_of_logarithms() {
        let typical = Censored::typical(&[Censored::within(2.0), Censored::within(8.0)]).unwrap();
        assert!((typical.value() - 4.0).abs() < 1e-12 && typical.to_string() == "4");
        assert_eq!(Censored::typical(&[Censored::within(15.0), Censored::beyond(60.0)]).unwrap().to_string(), "at least 30");
        assert_eq!(Censored::typical(&[Censored::below(3.0)]).unwrap().to_string(), "below 3");
        assert_eq!(Censored::typical(&[]), None);
    }
}
