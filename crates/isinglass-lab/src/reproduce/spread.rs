//! One quantity over seeds: mean and standard deviation.

/// The mean of some values, and how far they lie apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Spread {
    pub mean: f64,
    /// The standard deviation of the sample; `None` of a single value.
    pub sd: Option<f64>,
    pub count: usize,
}

impl Spread {
    /// `None` of nothing.
    pub fn of(values: &[f64]) -> Option<Self> {
        let count = values.len();
        (count > 0).then_some(())?;
        let mean = values.iter().sum::<f64>() / count as f64;
        let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        Some(Self { mean, sd: (count > 1).then(|| (squares / (count - 1) as f64).sqrt()), count })
    }

    /// `97.12 ± 0.08 %`, of a fraction.
    pub fn percent(&self) -> String {
        match self.sd {
            Some(sd) => format!("{:.2} ± {:.2} %", 100.0 * self.mean, 100.0 * sd),
            None => format!("{:.2} %", 100.0 * self.mean),
        }
    }

    /// The standard error of the mean; `None` of a single value.
    pub fn error(&self) -> Option<f64> {
        Some(self.sd? / (self.count as f64).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads_of_small_lists() {
        assert_eq!(Spread::of(&[]), None);
        let one = Spread::of(&[0.5]).unwrap();
        assert_eq!((one.mean, one.sd, one.error(), one.percent()), (0.5, None, None, "50.00 %".to_owned()));
        // Deviations −1, 0, 1: a variance of 2/2.
        let three = Spread::of(&[1.0, 2.0, 3.0]).unwrap();
        assert_eq!((three.mean, three.sd), (2.0, Some(1.0)));
        assert!((three.error().unwrap() - 1.0 / 3f64.sqrt()).abs() < 1e-15);
        assert_eq!(Spread::of(&[0.97, 0.98]).unwrap().percent(), "97.50 ± 0.71 %");
    }
}
