//! Whether one kind of network is better than another, seed by seed.

use super::super::record::Verdict;
use super::super::spread::Spread;
use super::{Judgement, undecided};

/// Standard errors that a difference must exceed: with three seeds each, Student's t is beyond 2.8 one time in twenty.
const SIGNIFICANT: f64 = 3.0;
/// With fewer seeds nothing is said.
const FEWEST: usize = 3;

/// One mean accuracy is above another by more than [`SIGNIFICANT`] standard errors of the difference: the claim holds. Below it by as much: it does not. Between: not decided.
pub(in crate::reproduce) fn is_better(accuracies: &[f64], than: &[f64]) -> Judgement {
    let (Some(one), Some(other)) = (Spread::of(accuracies), Spread::of(than)) else { return undecided("There are no results.") };
    let (Some(a), Some(b), FEWEST..) = (one.error(), other.error(), one.count.min(other.count)) else {
        return undecided(&format!("There are fewer than {FEWEST} seeds."));
    };
    let (difference, error) = (one.mean - other.mean, a.hypot(b));
    let verdict = match difference {
        d if d > SIGNIFICANT * error => Verdict::Holds,
        d if d < -SIGNIFICANT * error => Verdict::DoesNotHold,
        _ => Verdict::NotDecided,
    };
    let evidence = format!(
        "Test accuracy {} against {}: a difference of {} percentage points, with a standard error of {:.2}.",
        one.percent(),
        other.percent(),
        format!("{:+.2}", 100.0 * difference).replace('-', "−"),
        100.0 * error
    );
    (verdict, evidence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{DoesNotHold, Holds, NotDecided};

    #[test]
    fn differences_are_judged_by_their_standard_error() {
        let base = [0.970, 0.971, 0.972];
        let shifted = |by: f64| base.map(|accuracy| accuracy + by);
        // The standard error of the difference is 0.001·√(2/3) = 0.00082.
        assert_eq!(is_better(&shifted(0.003), &base).0, Holds);
        assert_eq!(is_better(&shifted(0.002), &base).0, NotDecided);
        assert_eq!(is_better(&shifted(-0.003), &base).0, DoesNotHold);
        assert_eq!(is_better(&[0.9, 0.91], &base).0, NotDecided);
        assert_eq!(is_better(&[], &base).0, NotDecided);
        assert!(is_better(&shifted(0.002), &base).1.contains("97.30 ± 0.10 % against 97.10 ± 0.10 %"));
    }
}
