//! Common initialisations beside the critical one.

use isinglass_runs::words::percent;

use super::{differences, interval};
use crate::reproduce::judgement::{Judgement, PerSeed, Ruling, Undecided, at_least};
use crate::reproduce::plane::TRAINED;

/// What the critical initialisation must be ahead by, and for the claim to hold in part.
const AHEAD: f64 = 0.2;
const AHEAD_IN_PART: f64 = 0.05;

/// Common initialisations (the first two) train poorly beside the critical one (the last), by mean accuracies of deep networks.
pub(in crate::reproduce) fn poor_beside_critical(names: &[&str], accuracies: &[PerSeed<f64>], deep: usize) -> Ruling {
    let [first, second, .., critical] = accuracies else { return Undecided::because("There are no results.") };
    let trained = interval(critical)?;
    if !trained.is_above(TRAINED) {
        let accuracy = trained.text(percent);
        return Undecided::because(format!(
            "Critical networks are not surely trained at depths from {deep}: their mean accuracy is {accuracy}."
        ));
    }
    let better = first.clone()?.into_iter().zip(second.clone()?).map(|(first, second)| first.max(second)).collect();
    let ahead = interval(&differences(critical, &Ok(better)))?;
    let mut listed = Vec::new();
    for (name, accuracy) in names.iter().zip(accuracies) {
        listed.push(format!("{name} {}", interval(accuracy)?.text(percent)));
    }
    let evidence = format!(
        "Mean training accuracy at depths from {deep}: {}. The critical initialisation is ahead of the better of the first two by {}.",
        listed.join(", "),
        ahead.text(percent)
    );
    Ok(Judgement::over(ahead.seeds, at_least(&ahead, AHEAD_IN_PART, AHEAD), evidence))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::record::Verdict::{DoesNotHold, Holds, HoldsInPart, NotDecided};

    #[test]
    fn initialisations_are_poor_only_beside_one_that_trains() {
        let rule = |accuracies: [f64; 4], spread: f64| {
            let seeds = accuracies.map(|accuracy| Ok(vec![accuracy - spread, accuracy, accuracy]));
            poor_beside_critical(&["a", "b", "c", "d"], &seeds, 10).map(|judgement| judgement.verdict)
        };
        assert_eq!(rule([0.1, 0.2, 0.5, 0.9], 0.0), Ok(Holds));
        assert_eq!(rule([0.1, 0.8, 0.5, 0.9], 0.0), Ok(HoldsInPart));
        assert_eq!(rule([0.9, 0.8, 0.5, 0.9], 0.0), Ok(DoesNotHold));
        assert!(rule([0.1, 0.1, 0.1, 0.1], 0.0).unwrap_err().0.contains("not surely trained"));
        assert!(rule([0.1, 0.1, 0.1, 0.6], 0.2).is_err());
        assert!(poor_beside_critical(&[], &[], 10).is_err());
        // The best of one seed is the worst of another.
        let torn = [Ok(vec![0.9, 0.7, 0.8]), Ok(vec![0.1; 3]), Ok(vec![0.9; 3])];
        assert_eq!(poor_beside_critical(&["a", "b", "c"], &torn, 10).unwrap().verdict, NotDecided);
    }
}
