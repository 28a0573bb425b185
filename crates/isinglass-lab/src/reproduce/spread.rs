//! One quantity over seeds: mean and standard deviation, for tables. What claims are judged by is the [interval](super::interval).

use isinglass_runs::words::percent;

/// The mean of some values, and how far they lie apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Spread {
    pub mean: f64,
    /// The standard deviation of the sample; `None` of a single value.
    pub sd: Option<f64>,
}

impl Spread {
    /// `None` of nothing.
    pub fn of(values: &[f64]) -> Option<Self> {
        let count = values.len();
        (count > 0).then_some(())?;
        let mean = values.iter().sum::<f64>() / count as f64;
        let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        Some(Self { mean, sd: (count > 1).then(|| (squares / (count - 1) as f64).sqrt()) })
    }

    /// `97.12 ± 0.08 %`, of a fraction.
    pub fn percent(&self) -> String {
        match self.sd {
            Some(sd) => format!("{:.2} ± {:.2} %", 100.0 * self.mean, 100.0 * sd),
            None => percent(self.mean),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads_of_small_lists() {
        assert_eq!(Spread::of(&[]), None);
        let one = Spread::of(&[0.5]).unwrap();
        assert_eq!((one.mean, one.sd, one.percent()), (0.5, None, "50.00 %".to_owned()));
        // Deviations −1, 0, 1: a variance of 2/2.
        let three = Spread::of(&[1.0, 2.0, 3.0]).unwrap();
        assert_eq!((three.mean, three.sd), (2.0, Some(1.0)));
        assert_eq!(Spread::of(&[0.97, 0.98]).unwrap().percent(), "97.50 ± 0.71 %");
    }
}
