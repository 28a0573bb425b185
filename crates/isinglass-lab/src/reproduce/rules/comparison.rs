//! Whether one kind of network is better than another.

use isinglass_runs::words::{percent, points};

use super::{differences, interval};
use crate::reproduce::judgement::{Judgement, PerSeed, Ruling, at_least};

/// One accuracy is above another: the interval of the differences, seed by seed, is above zero.
pub(in crate::reproduce) fn is_better(accuracies: &PerSeed<f64>, than: &PerSeed<f64>) -> Ruling {
    let (one, other) = (interval(accuracies)?, interval(than)?);
    let difference = interval(&differences(accuracies, than))?;
    let evidence = format!(
        "Test accuracy {} against {}: a difference of {} percentage points, seed by seed.",
        one.text(percent),
        other.text(percent),
        difference.text(points)
    );
    Ok(Judgement::over(difference.seeds, at_least(&difference, 0.0, 0.0), evidence))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::judgement::Undecided;
    use crate::reproduce::record::Verdict::{DoesNotHold, Holds, NotDecided};

    #[test]
    fn differences_are_judged_seed_by_seed() {
        let base = || Ok(vec![0.95, 0.96, 0.97]);
        let rule = |shifts: [f64; 3]| {
            let shifted = base().map(|seeds: Vec<f64>| seeds.iter().zip(shifts).map(|(seed, shift)| seed + shift).collect());
            is_better(&shifted, &base()).unwrap()
        };
        // Standard deviation 0.001: 0.00248 to either side.
        assert_eq!(rule([0.002, 0.003, 0.004]).verdict, Holds);
        assert_eq!(rule([0.001, 0.002, 0.003]).verdict, NotDecided);
        assert_eq!(rule([-0.002, -0.003, -0.004]).verdict, DoesNotHold);
        let evidence = rule([0.001, 0.002, 0.003]).evidence;
        assert!(evidence.contains("+0.20 (−0.05 to +0.45) percentage points") && evidence.contains("over 3 seeds"), "{evidence}");
        assert!(is_better(&Ok(vec![0.9, 0.91]), &base()).is_err());
        let missing = Undecided("a cell failed".into());
        assert_eq!(is_better(&Err(missing.clone()), &base()), Err(missing));
    }
}
