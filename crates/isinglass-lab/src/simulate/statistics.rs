//! Means over realisations, and how many standard errors they are from where they should be.
//!
//! A network of finite width is off the mean-field limit by a bias of order `1/N`, however many realisations are averaged. It is measured rather than guessed: everything is simulated at a
//! second width `N' = N/4` too, and `(N·mean_N − N'·mean_N')/(N − N')` has no bias of that order left. The price is a standard error about 1.5 times as large.

/// Mean and standard deviation over realisations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The standard deviation of one realisation (with `R − 1`).
    pub sd: f64,
    /// The number of realisations, `R`.
    pub count: usize,
}

/// Sums in f64 are not exact. Less than this, relative to the size of what is compared, is no deviation.
const ROUNDING: f64 = 1e-12;

impl Spread {
    /// Of a sample; NaN if it has one.
    pub fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let count = values.clone().count();
        let mean = values.clone().sum::<f64>() / count as f64;
        let square = values.map(|x| (x - mean) * (x - mean)).sum::<f64>();
        Self { mean, sd: (square / (count as f64 - 1.0)).sqrt(), count }
    }

    /// The standard error of the mean.
    pub fn standard_error(&self) -> f64 {
        self.sd / (self.count as f64).sqrt()
    }

    /// How many standard errors the mean is above `theory`. `None` if nothing is random and nothing differs, or where a number is missing.
    pub fn deviation(&self, theory: f64) -> Option<f64> {
        in_standard_errors(self.mean - theory, self.standard_error(), theory.abs())
    }
}

/// `difference/error`, where rounding of numbers of a given size is an error too.
fn in_standard_errors(difference: f64, error: f64, size: f64) -> Option<f64> {
    let rounding = ROUNDING * size;
    if error <= rounding && difference.abs() <= rounding {
        return None;
    }
    let deviation = difference / error.hypot(rounding);
    deviation.is_finite().then_some(deviation)
}

/// Residuals, which the theory says are 0, at two widths: their mean without the bias of order `1/N`, in standard errors. `size` is that of what they were taken of.
pub(super) fn extrapolated_deviation(at: (usize, &Spread), smaller: (usize, &Spread), size: f64) -> Option<f64> {
    let (n, m) = (at.0 as f64, smaller.0 as f64);
    let (a, b) = (n / (n - m), m / (n - m));
    let error = (a * at.1.standard_error()).hypot(b * smaller.1.standard_error());
    in_standard_errors(a * at.1.mean - b * smaller.1.mean, error, size.abs())
}

/// Many deviations of one quantity, taken together. If the theory is right, [`drift`](Self::drift) and [`scatter`](Self::scatter) are numbers like those of a standard normal variable.
#[derive(Debug, Clone, PartialEq)]
pub struct Overall {
    /// The quantity.
    pub quantity: &'static str,
    /// How many deviations there are.
    pub count: usize,
    /// Their sum over `√count`: large if the theory errs to the same side everywhere.
    pub drift: f64,
    /// The sum of their squares, less its expectation, over its standard deviation: large if it errs to either side. `None` for fewer than six realisations.
    pub scatter: Option<f64>,
    /// The deviation furthest from 0, and its place in the list.
    pub largest: (usize, f64),
}

impl Overall {
    /// Of the deviations that there are; `None` if there are none.
    pub(super) fn of(quantity: &'static str, deviations: &[Option<f64>], realisations: usize) -> Option<Self> {
        let known: Vec<(usize, f64)> = deviations.iter().enumerate().filter_map(|(place, z)| Some((place, (*z)?))).collect();
        let largest = known.iter().copied().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))?;
        let count = known.len();
        let squares: f64 = known.iter().map(|(_, z)| z * z).sum();
        // Squares of Student's t with ν degrees of freedom: mean ν/(ν − 2), variance 2ν²(ν − 1)/((ν − 2)²(ν − 4)).
        let nu = realisations as f64 - 1.0;
        let scatter = (nu > 4.0).then(|| {
            let mean = nu / (nu - 2.0);
            let variance = 2.0 * mean * mean * (nu - 1.0) / (nu - 4.0);
            (squares - count as f64 * mean) / (count as f64 * variance).sqrt()
        });
        Some(Self { quantity, count, drift: known.iter().map(|(_, z)| z).sum::<f64>() / (count as f64).sqrt(), scatter, largest })
    }

    /// The larger of drift (either way) and scatter.
    pub fn worst(&self) -> f64 {
        self.drift.abs().max(self.scatter.unwrap_or(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(values: &[f64]) -> Spread {
        Spread::of(values.iter().copied())
    }

    #[test]
    fn deviations_count_standard_errors_of_the_mean() {
        // Mean 3, variance 8/3, and of the mean a quarter of that.
        let sample = spread(&[1.0, 3.0, 3.0, 5.0]);
        assert_eq!(sample.mean, 3.0);
        assert!((sample.sd - (8.0f64 / 3.0).sqrt()).abs() < 1e-15);
        assert!((sample.deviation(2.0).unwrap() - 1.0 / (2.0f64 / 3.0).sqrt()).abs() < 1e-15);
        assert_eq!(spread(&[1.0, f64::NAN]).deviation(1.0), None);
        // Nothing random: equal is no news, different is.
        assert_eq!(spread(&[1.0, 1.0]).deviation(1.0), None);
        assert!(spread(&[1.0, 1.0]).deviation(1.001).unwrap() < -1e8);
    }

    #[test]
    fn the_second_width_takes_out_what_falls_as_one_over_the_width() {
        // 3/N at N = 100 and 50, without noise, and something real on top of it.
        let at = |n: f64, real: f64| spread(&[3.0 / n + real - 1e-3, 3.0 / n + real + 1e-3]);
        let z = |real: f64| extrapolated_deviation((100, &at(100.0, real)), (50, &at(50.0, real)), 1.0).unwrap();
        assert!(z(0.0).abs() < 1e-9);
        // Standard errors 1e-3 each: √(4 + 1)·1e-3 together.
        assert!((z(0.01) - 0.01 / 5e-6f64.sqrt()).abs() < 1e-9);
    }

    #[test]
    fn drift_and_scatter_are_standardised() {
        let same: Vec<Option<f64>> = vec![Some(1.0); 16];
        let overall = Overall::of("q", &same, 1_000_000).unwrap();
        assert_eq!((overall.count, overall.drift), (16, 4.0));
        assert!(overall.scatter.unwrap().abs() < 1e-4);
        let either: Vec<Option<f64>> = (0..8).map(|i| Some(if i % 2 == 0 { 3.0 } else { -3.0 })).chain([None]).collect();
        let overall = Overall::of("q", &either, 1_000_000).unwrap();
        assert_eq!((overall.count, overall.drift), (8, 0.0));
        // (72 − 8)/√16.
        assert!((overall.scatter.unwrap() - 16.0).abs() < 1e-3);
        assert_eq!(Overall::of("q", &either, 3).unwrap().scatter, None);
        assert_eq!(Overall::of("q", &[None], 10), None);
    }
}
