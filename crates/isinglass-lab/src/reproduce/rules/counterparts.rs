//! Rules about binary networks beside their surrogate, by mean distances of training accuracies.

use isinglass_runs::words::percent;

use super::{differences, interval};
use crate::reproduce::judgement::{Judgement, PerSeed, Ruling, at_most};
use crate::reproduce::record::Verdict;

/// What more samples must gain.
const CLOSER: f64 = 0.005;
/// Distances of networks that do about as well as each other, and that do so in part.
const ALIKE: f64 = 0.05;
const ALIKE_IN_PART: f64 = 0.15;

/// Distances from the surrogate fall with the number of samples, 1, 5 and 100: with each step, or at least from the first to the last.
pub(in crate::reproduce) fn more_samples([one, five, hundred]: [&PerSeed<f64>; 3]) -> Ruling {
    let [first, second, both] = [(one, five), (five, hundred), (one, hundred)].map(|(more, less)| interval(&differences(more, less)));
    let (first, second, both) = (first?, second?, both?);
    let verdict = match () {
        () if first.is_above(CLOSER) && second.is_above(CLOSER) => Verdict::Holds,
        () if both.is_above(CLOSER) => Verdict::HoldsInPart,
        () if both.is_below(CLOSER) => Verdict::DoesNotHold,
        () => Verdict::NotDecided,
    };
    let evidence = format!(
        "Mean distance of training accuracies: {} with 1 sample, {} with 5, {} with 100. Five come closer than one by {}, a hundred than five by {}.",
        interval(one)?.text(percent),
        interval(five)?.text(percent),
        interval(hundred)?.text(percent),
        first.text(percent),
        second.text(percent)
    );
    Ok(Judgement::over(first.seeds, verdict, evidence))
}

/// Two accuracies are about the same, by their mean distance.
pub(in crate::reproduce) fn about_the_same(distance: &PerSeed<f64>, details: &str) -> Ruling {
    let distance = interval(distance)?.clamped(0.0, 1.0);
    let evidence = format!("Mean distance {}{details}", distance.text(percent));
    Ok(Judgement::over(distance.seeds, at_most(&distance, ALIKE_IN_PART, ALIKE), evidence))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::judgement::Undecided;
    use crate::reproduce::record::Verdict::{DoesNotHold, Holds, HoldsInPart, NotDecided};

    fn seeds(mean: f64, spread: f64) -> PerSeed<f64> {
        Ok(vec![mean - spread, mean + spread, mean])
    }

    #[test]
    fn distances_must_fall_by_more_than_seeds_differ() {
        let rule = |means: [f64; 3]| {
            // Seeds move against each other, so that differences scatter too.
            let [one, five, hundred] = [seeds(means[0], 0.001), seeds(means[1], -0.001), seeds(means[2], 0.001)];
            more_samples([&one, &five, &hundred]).unwrap().verdict
        };
        assert_eq!([rule([0.3, 0.2, 0.1]), rule([0.3, 0.3, 0.1]), rule([0.1, 0.2, 0.3])], [Holds, HoldsInPart, DoesNotHold]);
        // A scatter of 0.002 is an interval of 0.005 to either side: a gain of 0.007 may be none.
        assert_eq!(rule([0.107, 0.1, 0.2]), DoesNotHold);
        assert_eq!(rule([0.3, 0.107, 0.1]), HoldsInPart);
        let known = seeds(0.1, 0.0);
        assert!(more_samples([&known, &Err(Undecided("none".into())), &known]).is_err());
    }

    #[test]
    fn networks_are_alike_by_their_distance() {
        let rule = |mean: f64, spread: f64| about_the_same(&seeds(mean, spread), ".").unwrap().verdict;
        assert_eq!([rule(0.01, 0.001), rule(0.1, 0.001), rule(0.3, 0.001)], [Holds, HoldsInPart, DoesNotHold]);
        assert_eq!([rule(0.05, 0.01), rule(0.15, 0.01)], [HoldsInPart, NotDecided]);
        assert!(about_the_same(&Ok(vec![0.01]), ".").is_err());
    }
}
