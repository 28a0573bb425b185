//! Rules about one network before training and after more and more epochs.

use isinglass_runs::words::percent;

use super::{differences, interval};
use crate::reproduce::censored::Censored;
use crate::reproduce::interval::Interval;
use crate::reproduce::judgement::{Judgement, PerSeed, Ruling, Tally, Undecided, at_most, exceeds};

/// What a fraction must grow by.
const GROWN: f64 = 0.01;
/// What is left of something that falls, if it falls at all and if it falls enough.
const FALLEN: f64 = 0.9;

/// Something before and after.
pub(in crate::reproduce) struct Change<'a> {
    pub before: &'a PerSeed<f64>,
    pub after: &'a PerSeed<f64>,
}

/// Fewer samples are needed, by the ratio of their numbers. `what` names the number, `when` is after the first and the last epochs.
pub(in crate::reproduce) fn fewer_samples(what: &str, when: [&str; 2], first: &PerSeed<Censored>, last: &PerSeed<Censored>) -> Ruling {
    let (first, last) = (first.as_deref().map_err(Undecided::clone)?, last.as_deref().map_err(Undecided::clone)?);
    let ratios: Vec<Censored> = last.iter().zip(first).map(|(last, first)| last.over(first)).collect();
    let ratio = Interval::of_censored(&ratios)?;
    let numbers = |samples: &[Censored]| Interval::of_censored(samples).map(|number| number.text(|number| format!("{number:.0}")));
    let evidence = format!(
        "{what}: {} {} and {} {}; the ratio is {}.",
        numbers(first)?,
        when[0],
        numbers(last)?,
        when[1],
        ratio.text(|ratio| format!("{ratio:.2}"))
    );
    Ok(Judgement::over(ratio.seeds, at_most(&ratio, 1.0, 1.0), evidence))
}

/// Two fractions grow, by more than a hundredth each.
pub(in crate::reproduce) fn both_grow(names: [&str; 2], changes: [Change<'_>; 2]) -> Ruling {
    let mut answers = Vec::new();
    let mut words = Vec::new();
    let mut seeds = 0;
    for (name, Change { before, after }) in names.into_iter().zip(changes) {
        let growth = interval(&differences(after, before))?;
        seeds = growth.seeds;
        answers.push(exceeds(&growth, GROWN));
        words.push(format!("{name}: {} at the start, {} at the end", interval(before)?.text(percent), interval(after)?.text(percent)));
    }
    let tally: Tally = answers.into_iter().collect();
    Ok(Judgement::over(seeds, tally.verdict(), words.join("; ") + "."))
}

/// Something falls, by more than a tenth; or at all, which is a part of it.
pub(in crate::reproduce) fn falls(what: &str, Change { before, after }: Change<'_>) -> Ruling {
    let (before, after) = (before.as_deref().map_err(Undecided::clone)?, after.as_deref().map_err(Undecided::clone)?);
    let ratios: Vec<f64> = after.iter().zip(before).map(|(after, before)| after / before).collect();
    let ratio = Interval::of(&ratios)?;
    if !ratio.mean.is_finite() {
        return Undecided::because(format!("{what}: 0 at the start."));
    }
    let number = |values: &[f64]| Interval::of(values).map(|interval| interval.text(|x| format!("{x:.3}")));
    let evidence = format!(
        "{what}: {} at the start and {} at the end, {} times as much.",
        number(before)?,
        number(after)?,
        ratio.text(|x| format!("{x:.2}"))
    );
    Ok(Judgement::over(ratio.seeds, at_most(&ratio, 1.0, FALLEN), evidence))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::record::Verdict::{DoesNotHold, Holds, HoldsInPart, NotDecided};

    #[test]
    fn samples_beyond_the_most_that_were_tried_count_as_more() {
        let rule = |first: [Censored; 3], last: [Censored; 3]| {
            fewer_samples("Samples", ["first", "then"], &Ok(first.into()), &Ok(last.into())).unwrap().verdict
        };
        let (ten, twenty, more) = (Censored::within(10.0), Censored::within(20.0), Censored::beyond(100.0));
        assert_eq!(rule([more; 3], [ten; 3]), Holds);
        assert_eq!(rule([more, more, Censored::within(100.0)], [ten, twenty, ten]), Holds);
        assert_eq!(rule([ten; 3], [more; 3]), DoesNotHold);
        assert_eq!([rule([more; 3], [more; 3]), rule([ten; 3], [ten; 3]), rule([ten, ten, twenty], [twenty, ten, ten])], [NotDecided; 3]);
    }

    #[test]
    fn growth_and_fall_have_a_margin() {
        let seeds = |mean: f64, spread: f64| Ok(vec![mean - spread, mean, mean + spread]);
        let fall = |to: f64, spread: f64| {
            falls("Distance", Change { before: &seeds(1.0, 0.0), after: &seeds(to, spread) }).map(|judgement| judgement.verdict)
        };
        assert_eq!(
            [fall(0.5, 0.01), fall(0.95, 0.01), fall(0.95, 0.1), fall(2.0, 0.1)].map(Result::unwrap),
            [Holds, HoldsInPart, NotDecided, DoesNotHold]
        );
        let nothing = Ok(vec![0.0; 3]);
        assert!(falls("Distance", Change { before: &nothing, after: &nothing }).is_err());
        let grow = |to: [f64; 2], spread: f64| {
            let (zero, ends) = (seeds(0.0, 0.0), to.map(|to| seeds(to, spread)));
            let changes = [Change { before: &zero, after: &ends[0] }, Change { before: &zero, after: &ends[1] }];
            both_grow(["means", "neurons"], changes).unwrap().verdict
        };
        assert_eq!([grow([0.1, 0.1], 0.001), grow([0.1, 0.0], 0.001), grow([0.0, 0.0], 0.001)], [Holds, HoldsInPart, DoesNotHold]);
        // One of the two is certain, the other open.
        assert_eq!(grow([0.5, 0.1], 0.1), HoldsInPart);
    }
}
