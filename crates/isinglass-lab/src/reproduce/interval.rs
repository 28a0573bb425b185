//! Confidence intervals over seeds.
//!
//! Only seeds are repeated: the depths and variances of a grid are chosen, not drawn. So whatever a claim speaks of becomes one number for each seed, and the interval is Student's,
//!
//! `m ± t s/√n`, with `t = 4.30` for `n = 3` seeds at 95 %.
//!
//! A bootstrap would be too sure of itself: three seeds have ten resamples, the 95 % interval of their means is the range of the three values, and such a range holds the centre of a
//! symmetric distribution three times out of four, `1 − 2/2³`. Nothing is drawn here, so equal sweeps have equal intervals.

use super::censored::Censored;
use super::judgement::Undecided;

/// With fewer seeds nothing is decided.
pub(super) const FEWEST: usize = 3;

/// A mean over seeds, and where it may lie.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Interval {
    pub mean: f64,
    /// `−∞` if it is not known.
    low: f64,
    /// `∞` if it is not known.
    high: f64,
    pub seeds: usize,
}

impl Interval {
    /// Of one value for each seed.
    ///
    /// # Errors
    ///
    /// If there are fewer than [`FEWEST`].
    pub fn of(values: &[f64]) -> Result<Self, Undecided> {
        let seeds = values.len();
        if seeds < FEWEST {
            return Undecided::because(format!("There are fewer than {FEWEST} seeds: {seeds}."));
        }
        let mean = values.iter().sum::<f64>() / seeds as f64;
        let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        let half = student(seeds - 1) * (squares / (seeds - 1) as f64).sqrt() / (seeds as f64).sqrt();
        Ok(Self { mean, low: mean - half, high: mean + half, seeds })
    }

    /// Of quantities that may lie outside their grid: of their logarithms, with those outside taken at its edge, and open to the side on which any of them is outside.
    ///
    /// The other end stays valid: it is that of the mean of `min(x, edge)` (or `max`), and the mean of `x` lies beyond that mean.
    ///
    /// # Errors
    ///
    /// If there are fewer than [`FEWEST`].
    pub fn of_censored(values: &[Censored]) -> Result<Self, Undecided> {
        let logarithms: Vec<f64> = values.iter().map(|value| value.value().ln()).collect();
        let Self { mean, low, high, seeds } = Self::of(&logarithms)?;
        let is_below = values.iter().any(Censored::may_be_less);
        let is_beyond = values.iter().any(Censored::may_be_more);
        Ok(Self {
            mean: mean.exp(),
            low: if is_below { f64::NEG_INFINITY } else { low.exp() },
            high: if is_beyond { f64::INFINITY } else { high.exp() },
            seeds,
        })
    }

    /// The same of a quantity that cannot leave a range.
    #[must_use]
    pub fn clamped(self, least: f64, most: f64) -> Self {
        Self { low: self.low.max(least), high: self.high.min(most), ..self }
    }

    pub fn is_above(&self, threshold: f64) -> bool {
        self.low > threshold
    }

    pub fn is_below(&self, threshold: f64) -> bool {
        self.high < threshold
    }

    /// Whether one of its ends is not known.
    pub fn is_open(&self) -> bool {
        self.low.is_infinite() || self.high.is_infinite()
    }

    /// `12.3 (10.1 to 15.0)`, `at least 60`, `below 3`.
    pub fn text(&self, number: impl Fn(f64) -> String) -> String {
        if self.is_open() { self.range(number) } else { format!("{} ({})", number(self.mean), self.range(&number)) }
    }

    /// The same without the mean.
    pub fn range(&self, number: impl Fn(f64) -> String) -> String {
        match (self.low.is_finite(), self.high.is_finite()) {
            (true, true) => format!("{} to {}", number(self.low), number(self.high)),
            (true, false) => format!("at least {}", number(self.low)),
            (false, true) => format!("below {}", number(self.high)),
            (false, false) => "anything".to_owned(),
        }
    }
}

/// The 97.5 % point of Student's t.
fn student(freedom: usize) -> f64 {
    const FEW: [f64; 9] = [12.706_2, 4.302_7, 3.182_4, 2.776_4, 2.570_6, 2.446_9, 2.364_6, 2.306_0, 2.262_2];
    if let Some(&t) = freedom.checked_sub(1).and_then(|index| FEW.get(index)) {
        return t;
    }
    // The expansion around the normal distribution; from here on its error is below 1e-3.
    let (z, n) = (1.959_964f64, freedom as f64);
    let first = (z.powi(3) + z) / 4.0;
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    let third = (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0;
    z + first / n + second / (n * n) + third / (n * n * n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_students() {
        // Mean 2, standard deviation 1: 4.3027/√3 to either side.
        let three = Interval::of(&[1.0, 2.0, 3.0]).unwrap();
        assert!((three.low - (2.0 - 2.484_17)).abs() < 1e-4 && (three.high - (2.0 + 2.484_17)).abs() < 1e-4, "{three:?}");
        assert_eq!((three.mean, three.seeds), (2.0, 3));
        let equal = Interval::of(&[0.5; 4]).unwrap();
        assert!(equal.is_above(0.49) && equal.is_below(0.51) && !equal.is_above(0.5) && !equal.is_below(0.5));
        assert!(Interval::of(&[1.0, 2.0]).unwrap_err().0.contains("fewer than 3 seeds: 2"));
        assert_eq!(three.clamped(0.0, 3.0).text(|x| format!("{x:.1}")), "2.0 (0.0 to 3.0)");
    }

    #[test]
    fn t_is_that_of_tables() {
        for (freedom, t) in [(2, 4.303), (4, 2.776), (9, 2.262), (10, 2.228), (20, 2.086), (60, 2.000), (100_000, 1.960)] {
            assert!((student(freedom) - t).abs() < 1e-3, "{freedom}: {}", student(freedom));
        }
    }

    #[test]
    fn what_is_outside_the_grid_leaves_its_side_open() {
        let text = |values: &[Censored]| Interval::of_censored(values).unwrap().text(|x| format!("{x:.1}"));
        assert_eq!(text(&[Censored::within(8.0); 3]), "8.0 (8.0 to 8.0)");
        assert_eq!(text(&[Censored::beyond(60.0); 3]), "at least 60.0");
        assert_eq!(text(&[Censored::below(3.0); 3]), "below 3.0");
        assert_eq!(text(&[Censored::below(3.0), Censored::within(8.0), Censored::beyond(60.0)]), "anything");
        let mixed = Interval::of_censored(&[Censored::within(58.0), Censored::beyond(60.0), Censored::beyond(60.0)]).unwrap();
        // ln 58, ln 60, ln 60: mean ln 59.33, standard deviation 0.0196.
        assert!(mixed.is_open() && mixed.is_above(56.0) && !mixed.is_above(57.0) && !mixed.is_below(1e9), "{mixed:?}");
    }
}
