//! From intervals to verdicts.
//!
//! A claim holds if the whole interval of what it says lies on its side of a threshold, does not hold if the whole interval lies on the other, and is not decided in between. Some
//! claims have a weaker form, such as half of the gain, or half of the depths. They hold in part if that much is certain.

use super::interval::Interval;
use super::record::Verdict;

/// Why nothing can be said of a claim, as a sentence.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Undecided(pub String);

impl Undecided {
    pub fn because<T>(reason: impl Into<String>) -> Result<T, Self> {
        Err(Self(reason.into()))
    }
}

/// One value for each seed, in the order of the seeds, or why there is none.
pub(super) type PerSeed<T> = Result<Vec<T>, Undecided>;

/// A verdict, and the numbers behind it in words.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Judgement {
    pub verdict: Verdict,
    pub evidence: String,
}

impl Judgement {
    /// From intervals over seeds, which stand in parentheses behind their means.
    pub fn over(seeds: usize, verdict: Verdict, evidence: impl Into<String>) -> Self {
        Self { verdict, evidence: format!("{} In parentheses: 95 % intervals over {seeds} seeds.", evidence.into()) }
    }

    /// From numbers that are computed, not drawn.
    pub fn exact(verdict: Verdict, evidence: impl Into<String>) -> Self {
        Self { verdict, evidence: format!("{} Computed from the theory: there is nothing random in it.", evidence.into()) }
    }
}

/// What a rule comes to.
pub(super) type Ruling = Result<Judgement, Undecided>;

/// The claim is that something exceeds `strong`; that it exceeds `weak` is a part of it.
pub(super) fn at_least(interval: &Interval, weak: f64, strong: f64) -> Verdict {
    match () {
        () if interval.is_above(strong) => Verdict::Holds,
        () if interval.is_above(weak) => Verdict::HoldsInPart,
        () if interval.is_below(weak) => Verdict::DoesNotHold,
        () => Verdict::NotDecided,
    }
}

/// The claim is that something is below `strong`; that it is below `weak` is a part of it.
pub(super) fn at_most(interval: &Interval, weak: f64, strong: f64) -> Verdict {
    match () {
        () if interval.is_below(strong) => Verdict::Holds,
        () if interval.is_below(weak) => Verdict::HoldsInPart,
        () if interval.is_above(weak) => Verdict::DoesNotHold,
        () => Verdict::NotDecided,
    }
}

/// Whether something exceeds a threshold; `None` if its interval lies on both sides.
pub(super) fn exceeds(interval: &Interval, threshold: f64) -> Option<bool> {
    match () {
        () if interval.is_above(threshold) => Some(true),
        () if interval.is_below(threshold) => Some(false),
        () => None,
    }
}

/// All of it, half of it or more, or less.
pub(super) fn by_count(agreeing: usize, all: usize) -> Verdict {
    match agreeing {
        _ if all == 0 => Verdict::NotDecided,
        n if n == all => Verdict::Holds,
        n if 2 * n >= all => Verdict::HoldsInPart,
        _ => Verdict::DoesNotHold,
    }
}

/// A claim that is made of many alike: how many hold, how many do not, and how many are open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub yes: usize,
    pub no: usize,
    pub open: usize,
}

impl Tally {
    pub fn all(&self) -> usize {
        self.yes + self.no + self.open
    }

    /// What is certain however the open ones turn out.
    pub fn verdict(&self) -> Verdict {
        let (worst, best) = (by_count(self.yes, self.all()), by_count(self.yes + self.open, self.all()));
        match (worst, best) {
            (worst, best) if worst == best => worst,
            (Verdict::HoldsInPart, Verdict::Holds) => Verdict::HoldsInPart,
            _ => Verdict::NotDecided,
        }
    }

    /// `3 of 5`, `3 of 5 (2 open)`.
    pub fn text(&self) -> String {
        let open = if self.open > 0 { format!(" ({} undecided)", self.open) } else { String::new() };
        format!("{} of {}{open}", self.yes, self.all())
    }
}

impl FromIterator<Option<bool>> for Tally {
    fn from_iter<I: IntoIterator<Item = Option<bool>>>(answers: I) -> Self {
        answers.into_iter().fold(Self::default(), |tally, answer| match answer {
            Some(true) => Self { yes: tally.yes + 1, ..tally },
            Some(false) => Self { no: tally.no + 1, ..tally },
            None => Self { open: tally.open + 1, ..tally },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{DoesNotHold, Holds, HoldsInPart, NotDecided};

    /// The interval from `low` to `high`.
    fn interval(low: f64, high: f64) -> Interval {
        let half = 0.5 * (high - low) / 2.484_4;
        Interval::of(&[0.5 * (low + high) - half, 0.5 * (low + high), 0.5 * (low + high) + half]).unwrap()
    }

    #[test]
    fn verdicts_need_the_whole_interval() {
        let rule = |low: f64, high: f64| at_least(&interval(low, high), 1.0, 2.0);
        assert_eq!([rule(2.1, 3.0), rule(1.1, 3.0), rule(1.1, 1.9)], [Holds, HoldsInPart, HoldsInPart]);
        assert_eq!([rule(0.5, 3.0), rule(0.5, 1.5), rule(0.0, 0.9)], [NotDecided, NotDecided, DoesNotHold]);
        let rule = |low: f64, high: f64| at_most(&interval(low, high), 2.0, 1.0);
        assert_eq!([rule(0.0, 0.9), rule(0.5, 1.9), rule(0.5, 2.5), rule(2.1, 3.0)], [Holds, HoldsInPart, NotDecided, DoesNotHold]);
        assert_eq!([exceeds(&interval(2.0, 3.0), 1.0), exceeds(&interval(0.0, 3.0), 1.0)], [Some(true), None]);
        assert_eq!(exceeds(&interval(0.0, 0.5), 1.0), Some(false));
    }

    #[test]
    fn counts_are_certain_only_if_open_ones_cannot_change_them() {
        let rule = |yes, no, open| Tally { yes, no, open }.verdict();
        assert_eq!([rule(3, 0, 0), rule(2, 2, 0), rule(1, 2, 0), rule(0, 0, 0)], [Holds, HoldsInPart, DoesNotHold, NotDecided]);
        assert_eq!([rule(3, 0, 1), rule(1, 0, 3), rule(1, 4, 1), rule(2, 3, 1)], [HoldsInPart, NotDecided, DoesNotHold, NotDecided]);
        let tally: Tally = [Some(true), None, Some(false), Some(true)].into_iter().collect();
        assert_eq!((tally, tally.text()), (Tally { yes: 2, no: 1, open: 1 }, "2 of 4 (1 undecided)".to_owned()));
    }
}
