//! Which networks train, by optimiser.

use isinglass_runs::words::percent;

use crate::reproduce::interval::Interval;
use crate::reproduce::judgement::{Judgement, PerSeed, Ruling, Undecided};
use crate::reproduce::plane::TRAINED;
use crate::reproduce::rank::rank_correlation;
use crate::reproduce::record::Verdict;

/// With fewer places there is no pattern.
const FEWEST: usize = 4;
/// Rank correlations of patterns that are similar, and similar in part.
const SIMILAR: f64 = 0.7;
const SIMILAR_IN_PART: f64 = 0.4;
/// The fraction of places that must be trained in both or in neither.
const AGREEING: f64 = 0.8;

/// One optimiser beside the first, in one seed.
struct Likeness {
    correlation: f64,
    agreeing: f64,
    apart: f64,
}

/// Accuracies over the same places go up and down together with the first one's, and the same places count as trained. A pattern has one accuracy for each place.
pub(in crate::reproduce) fn similar_patterns(patterns: &[(String, PerSeed<Vec<f64>>)]) -> Ruling {
    let Some(((first, reference), others)) = patterns.split_first().filter(|(_, others)| !others.is_empty()) else {
        return Undecided::because("There are no results.");
    };
    let reference = reference.as_deref().map_err(Undecided::clone)?;
    let places = reference.first().map_or(0, Vec::len);
    if places < FEWEST {
        return Undecided::because(format!("There are fewer than {FEWEST} places in depth and σ_m²."));
    }
    let mut words = Vec::new();
    let (mut least, mut fewest) = (vec![f64::INFINITY; reference.len()], vec![f64::INFINITY; reference.len()]);
    for (name, pattern) in others {
        let pattern = pattern.as_deref().map_err(Undecided::clone)?;
        let alike = |(a, b): (&Vec<f64>, &Vec<f64>)| {
            likeness(a, b).ok_or_else(|| Undecided(format!("In one seed all accuracies of {first} or of {name} are the same.")))
        };
        let seeds = reference.iter().zip(pattern).map(alike).collect::<Result<Vec<_>, _>>()?;
        for (seed, one) in seeds.iter().enumerate() {
            least[seed] = least[seed].min(one.correlation);
            fewest[seed] = fewest[seed].min(one.agreeing);
        }
        let mean = |value: fn(&Likeness) -> f64| seeds.iter().map(value).sum::<f64>() / seeds.len() as f64;
        words.push(format!("{name} {:.2} (accuracies {} apart)", mean(|one| one.correlation), percent(mean(|one| one.apart))));
    }
    let (least, fewest) = (Interval::of(&least)?.clamped(-1.0, 1.0), Interval::of(&fewest)?.clamped(0.0, 1.0));
    let verdict = match () {
        () if least.is_above(SIMILAR) && fewest.is_above(AGREEING) => Verdict::Holds,
        () if least.is_above(SIMILAR_IN_PART) => Verdict::HoldsInPart,
        () if least.is_below(SIMILAR_IN_PART) => Verdict::DoesNotHold,
        () => Verdict::NotDecided,
    };
    let evidence = format!(
        "Rank correlation, with that of {first}, of accuracies over {places} places in depth and σ_m², mean over seeds: {}. The least in each seed: {}. Trained in both or in neither, of the optimiser with the fewest in each seed: {} of the places.",
        words.join(", "),
        least.text(|r| format!("{r:.2}")),
        fewest.text(percent)
    );
    Ok(Judgement::over(least.seeds, verdict, evidence))
}

fn likeness(reference: &[f64], pattern: &[f64]) -> Option<Likeness> {
    let pairs = || reference.iter().zip(pattern);
    let count = reference.len() as f64;
    Some(Likeness {
        correlation: rank_correlation(reference, pattern)?,
        agreeing: pairs().filter(|(a, b)| (**a >= TRAINED) == (**b >= TRAINED)).count() as f64 / count,
        apart: pairs().map(|(a, b)| (a - b).abs()).sum::<f64>() / count,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::record::Verdict::{DoesNotHold, Holds, HoldsInPart, NotDecided};

    const ADAM: [f64; 4] = [0.1, 0.4, 0.6, 0.9];

    fn rule(others: [[f64; 4]; 3]) -> Ruling {
        similar_patterns(&[("adam".into(), Ok(vec![ADAM.to_vec(); 3])), ("sgd".into(), Ok(others.map(|other| other.to_vec()).into()))])
    }

    #[test]
    fn patterns_are_compared_place_by_place() {
        let verdict = |other: [f64; 4]| rule([other; 3]).unwrap().verdict;
        assert_eq!(verdict([0.2, 0.3, 0.5, 0.6]), Holds);
        // In the same order, but none of it trained.
        assert_eq!(verdict([0.1, 0.2, 0.3, 0.4]), HoldsInPart);
        assert_eq!(verdict([0.9, 0.6, 0.4, 0.1]), DoesNotHold);
        assert!(rule([[0.1; 4]; 3]).is_err());
        assert!(similar_patterns(&[]).is_err());
    }

    #[test]
    fn seeds_that_disagree_decide_nothing() {
        let reversed = [0.9, 0.6, 0.4, 0.1];
        assert_eq!(rule([ADAM, ADAM, reversed]).unwrap().verdict, NotDecided);
    }
}
