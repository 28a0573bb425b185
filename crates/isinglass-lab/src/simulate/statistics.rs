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

    /// The same for deviations that are correlated from place to place: `residuals` holds those of all networks, of either width, in every place. The drift is the deviation of the networks'
    /// sums, and the scatter's standard deviation counts the correlations found between places.
    pub(super) fn correlated(
        quantity: &'static str,
        deviations: &[Option<f64>],
        residuals: &[[Vec<f64>; 2]],
        widths: [usize; 2],
        realisations: usize,
    ) -> Option<Self> {
        let plain = Self::of(quantity, deviations, realisations)?;
        let (n, m) = (widths[0] as f64, widths[1] as f64);
        let factors = [n / (n - m), m / (n - m)];
        // Every place in units of its standard error.
        let mut places: Vec<[Vec<f64>; 2]> = Vec::with_capacity(plain.count);
        for (z, residuals) in deviations.iter().zip(residuals).filter_map(|(z, residuals)| Some(((*z)?, residuals))) {
            let [at, smaller] = residuals.each_ref().map(|values| Spread::of(values.iter().copied()));
            let difference = factors[0] * at.mean - factors[1] * smaller.mean;
            let error = (factors[0] * at.standard_error()).hypot(factors[1] * smaller.standard_error());
            let error = if z == 0.0 { error } else { (difference / z).abs() };
            places.push(residuals.each_ref().map(|values| values.iter().map(|value| value / error).collect()));
        }
        let sums = [0, 1].map(|width| {
            Spread::of(
                (0..realisations)
                    .map(|network| places.iter().map(|place| place[width][network]).sum::<f64>())
                    .collect::<Vec<_>>()
                    .into_iter(),
            )
        });
        let drift = extrapolated_deviation((widths[0], &sums[0]), (widths[1], &sums[1]), 0.0).unwrap_or(plain.drift);
        let overlap = effective_overlap(&places, factors, realisations);
        let scatter = plain.scatter.map(|scatter| scatter / overlap.sqrt());
        Some(Self { drift, scatter, ..plain })
    }

    /// The larger of drift (either way) and scatter.
    pub fn worst(&self) -> f64 {
        self.drift.abs().max(self.scatter.unwrap_or(0.0))
    }
}

/// `Σ ρ_ij²/n` over all pairs of `n` places, 1 if they are uncorrelated. What sampling adds to squares of correlations is taken off.
fn effective_overlap(places: &[[Vec<f64>; 2]], factors: [f64; 2], realisations: usize) -> f64 {
    // Beyond, a sample of places tells as much.
    const MOST: usize = 400;
    let stride = places.len().div_ceil(MOST).max(1);
    let centred: Vec<[Vec<f64>; 2]> = places
        .iter()
        .step_by(stride)
        .map(|place| {
            place.each_ref().map(|values| {
                let mean = values.iter().sum::<f64>() / values.len() as f64;
                values.iter().map(|value| value - mean).collect()
            })
        })
        .collect();
    let count = realisations as f64;
    let covariance = |i: usize, j: usize| {
        let of = |width: usize| {
            let products = centred[i][width].iter().zip(&centred[j][width]).map(|(a, b)| a * b);
            factors[width] * factors[width] * products.sum::<f64>() / ((count - 1.0) * count)
        };
        of(0) + of(1)
    };
    let variances: Vec<f64> = (0..centred.len()).map(|i| covariance(i, i)).collect();
    let mut pairs = 0.0;
    for i in 0..centred.len() {
        for j in 0..i {
            let norm = variances[i] * variances[j];
            if norm > 0.0 {
                pairs += covariance(i, j).powi(2) / norm - 1.0 / (count - 1.0);
            }
        }
    }
    let share = (stride * 2) as f64 * pairs / centred.len().max(1) as f64;
    1.0 + share.max(0.0)
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
