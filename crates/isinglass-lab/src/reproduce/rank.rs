//! Spearman's rank correlation.

/// With mean ranks for ties; `None` if one of the two never changes.
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
