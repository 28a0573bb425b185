//! What makes a claim hold: from numbers to a verdict and its evidence, and nothing else.
//!
//! Every rule needs enough to go by, and says so where there is not.

use super::plane::{Bound, Reached, TRAINED};
use super::record::Verdict;
use super::results::rank_correlation;

pub(super) mod comparison;
pub(super) mod depth;

/// A verdict, and the numbers behind it in words.
pub(super) type Judgement = (Verdict, String);

/// With fewer values of `σ_m²` nothing is said about a trend.
const FEWEST: usize = 4;

fn undecided(why: &str) -> Judgement {
    (Verdict::NotDecided, why.to_owned())
}

pub(super) fn percent(part: f64) -> String {
    format!("{:.1} %", 100.0 * part)
}

/// How deep networks train, in words.
pub(super) fn depth_words(reached: &Reached) -> String {
    match reached.bound {
        Bound::Within => format!("{:.0}", reached.depth),
        Bound::Below => format!("below {:.0}", reached.depth),
        Bound::Beyond => format!("beyond {:.0}", reached.depth),
    }
}

/// All of it, most of it, or less.
pub(super) fn by_count(agreeing: usize, all: usize) -> Verdict {
    match agreeing {
        _ if all == 0 => Verdict::NotDecided,
        n if n == all => Verdict::Holds,
        n if 2 * n >= all => Verdict::HoldsInPart,
        _ => Verdict::DoesNotHold,
    }
}

/// Trainable depth follows the depth scale and is largest at the largest `σ_m²`.
pub(super) fn follows_the_scale(reached: &[Reached]) -> Judgement {
    let known: Vec<(&Reached, f64)> = reached.iter().filter_map(|one| Some((one, one.xi?))).collect();
    if known.len() < FEWEST {
        return undecided("There are too few values of σ_m² for a trend.");
    }
    let depths: Vec<f64> = known.iter().map(|(one, _)| one.depth).collect();
    let scales: Vec<f64> = known.iter().map(|(_, xi)| *xi).collect();
    let Some(correlation) = rank_correlation(&depths, &scales) else {
        return undecided("The depth to which networks train is the same for every σ_m² of the grid.");
    };
    let (first, last) = (known[0].0, known[known.len() - 1].0);
    let is_largest = depths.iter().all(|&depth| depth <= last.depth);
    let verdict = match correlation {
        r if r >= 0.8 && is_largest => Verdict::Holds,
        r if r >= 0.4 => Verdict::HoldsInPart,
        _ => Verdict::DoesNotHold,
    };
    let evidence = format!(
        "Rank correlation of ξ and the depth to which networks train: {correlation:.2} over {} values of σ_m²; from depth {} at σ_m² = {} to {} at {}.",
        known.len(),
        depth_words(first),
        first.sigma_m2,
        depth_words(last),
        last.sigma_m2
    );
    (verdict, evidence)
}

/// Training ends at about `3ξ`: within a factor of two. What ends outside the grid counts only if that contradicts the claim: otherwise the grid cannot tell.
pub(super) fn three_scales(reached: &[Reached]) -> Judgement {
    let agrees = |one: &Reached, xi: f64| match one.bound {
        Bound::Within => Some((1.5 * xi..=6.0 * xi).contains(&one.depth)),
        Bound::Below => (1.5 * xi >= one.depth).then_some(false),
        Bound::Beyond => (6.0 * xi <= one.depth).then_some(false),
    };
    let decided: Vec<bool> = reached.iter().filter_map(|one| agrees(one, one.xi?)).collect();
    let within = reached.iter().filter(|one| one.bound == Bound::Within).filter_map(|one| Some(one.depth / one.xi?));
    let mut ratios: Vec<f64> = within.collect();
    ratios.sort_by(f64::total_cmp);
    let (Some(least), Some(most), true) = (ratios.first(), ratios.last(), decided.len() >= 3) else {
        return undecided("There are too few values of σ_m² at which training ends within the grid.");
    };
    let agreeing = decided.iter().filter(|agrees| **agrees).count();
    let evidence = format!(
        "Of {} values of σ_m² for which the grid can tell, training ends (training accuracy of {:.0} %) within a factor of two of 3ξ for {agreeing}; where it ends inside the grid, at {least:.1}ξ to {most:.1}ξ.",
        decided.len(),
        100.0 * TRAINED
    );
    (by_count(agreeing, decided.len()), evidence)
}

/// The largest `σ_m²` is the best, and lets deep networks train. `means` are accuracies over all depths, by `σ_m²`.
pub(super) fn near_one_is_best(reached: &[Reached], means: &[(f64, f64)], deepest: f64) -> Judgement {
    let best = means.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1));
    let (Some((best_at, best)), Some(at_one), Some((_, accuracy))) = (best, reached.last(), means.last().copied()) else {
        return undecided("There are no results.");
    };
    if reached.iter().all(|one| one.bound == Bound::Below) {
        return (Verdict::DoesNotHold, format!("No network trains, not even at the smallest depth, {:.0}, whatever σ_m².", at_one.depth));
    }
    let is_best = best - accuracy < 0.05;
    let is_deep = at_one.bound == Bound::Beyond || at_one.bound == Bound::Within && at_one.depth > 0.5 * deepest;
    let verdict = match (is_best, is_deep) {
        (true, true) => Verdict::Holds,
        (false, false) => Verdict::DoesNotHold,
        _ => Verdict::HoldsInPart,
    };
    let scale = match at_one.xi {
        Some(xi) if xi.is_finite() => format!("ξ is {xi:.1} layers"),
        Some(_) => "ξ diverges".to_owned(),
        None => "there is no ξ".to_owned(),
    };
    let evidence = format!(
        "At σ_m² = {} networks train to depth {} (mean accuracy over all depths {}), and {scale}; the best mean accuracy, {}, is at σ_m² = {best_at}.",
        at_one.sigma_m2,
        depth_words(at_one),
        percent(accuracy),
        percent(best)
    );
    (verdict, evidence)
}

/// Distances of accuracies from the surrogate's fall with the number of samples: 1, 5 and 100.
pub(super) fn more_samples(distances: [Option<f64>; 3]) -> Judgement {
    let [Some(one), Some(five), Some(hundred)] = distances else {
        return undecided("There are no results.");
    };
    let verdict = match () {
        () if hundred < five - 0.005 && five < one - 0.005 => Verdict::Holds,
        () if hundred < one - 0.005 => Verdict::HoldsInPart,
        () => Verdict::DoesNotHold,
    };
    let evidence = format!(
        "Mean distance of training accuracies: {} with 1 sample, {} with 5, {} with 100.",
        percent(one),
        percent(five),
        percent(hundred)
    );
    (verdict, evidence)
}

/// Two accuracies are about the same, by their mean distance.
pub(super) fn about_the_same(distance: Option<f64>, details: &str) -> Judgement {
    let Some(distance) = distance else {
        return undecided("There are no results.");
    };
    let verdict = match distance {
        d if d < 0.05 => Verdict::Holds,
        d if d < 0.15 => Verdict::HoldsInPart,
        _ => Verdict::DoesNotHold,
    };
    (verdict, format!("Mean distance {}{details}", percent(distance)))
}

/// Common initialisations (the first two) train poorly beside the critical one (the last), by mean accuracies of deep networks.
pub(super) fn poor_beside_critical(names: &[&str], accuracies: &[f64], deep: f64) -> Judgement {
    let listed: Vec<String> = names.iter().zip(accuracies).map(|(name, &accuracy)| format!("{name} {}", percent(accuracy))).collect();
    let evidence = format!("Mean training accuracy at depths from {deep}: {}.", listed.join(", "));
    let [first, second, .., critical] = accuracies else {
        return undecided("There are no results.");
    };
    let verdict = match critical - first.max(*second) {
        _ if *critical < TRAINED => Verdict::NotDecided,
        gap if gap > 0.2 => Verdict::Holds,
        gap if gap > 0.05 => Verdict::HoldsInPart,
        _ => Verdict::DoesNotHold,
    };
    (verdict, evidence)
}

/// Accuracies over the same cells go up and down together with the first one's, and the same cells count as trained.
pub(super) fn similar_patterns(patterns: &[(String, Vec<f64>)]) -> Judgement {
    let Some(((first, reference), others)) = patterns.split_first().filter(|(_, others)| !others.is_empty()) else {
        return undecided("There are no results.");
    };
    let mut words = Vec::new();
    let (mut least, mut fewest) = (f64::INFINITY, 1.0f64);
    for (name, pattern) in others {
        let Some(correlation) = rank_correlation(reference, pattern) else {
            return undecided(&format!("All accuracies of {first} or of {name} are the same."));
        };
        let apart = reference.iter().zip(pattern).map(|(a, b)| (a - b).abs()).sum::<f64>() / reference.len() as f64;
        let alike = reference.iter().zip(pattern).filter(|(a, b)| (**a >= TRAINED) == (**b >= TRAINED)).count();
        (least, fewest) = (least.min(correlation), fewest.min(alike as f64 / reference.len() as f64));
        words.push(format!("{name} {correlation:.2} ({alike} alike, accuracies {} apart)", percent(apart)));
    }
    let verdict = match least {
        _ if reference.len() < FEWEST => Verdict::NotDecided,
        r if r >= 0.7 && fewest >= 0.8 => Verdict::Holds,
        r if r >= 0.4 => Verdict::HoldsInPart,
        _ => Verdict::DoesNotHold,
    };
    (
        verdict,
        format!(
            "Rank correlation, with that of {first}, of accuracies over {} places in depth and σ_m², and places that are trained in both or in neither: {}.",
            reference.len(),
            words.join(", ")
        ),
    )
}

/// Something falls from one time to another, by more than a tenth.
pub(super) fn falls(from: f64, to: f64) -> Verdict {
    match to / from {
        ratio if ratio < 0.9 => Verdict::Holds,
        ratio if ratio > 1.1 => Verdict::DoesNotHold,
        _ => Verdict::NotDecided,
    }
}

/// Two parts of a whole grow, by more than a hundredth each.
pub(super) fn both_grow(from: [f64; 2], to: [f64; 2]) -> Verdict {
    by_count((0..2).filter(|&i| to[i] > from[i] + 0.01).count(), 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{DoesNotHold, Holds, HoldsInPart, NotDecided};

    fn reached(columns: &[(f64, f64, f64, Bound)]) -> Vec<Reached> {
        columns.iter().map(|&(sigma_m2, xi, depth, bound)| Reached { sigma_m2, xi: Some(xi), depth, bound }).collect()
    }

    const LIKE_THEORY: [(f64, f64, f64, Bound); 4] = [
        (0.1, 0.4, 10.0, Bound::Below),
        (0.5, 5.0, 15.0, Bound::Within),
        (0.8, 8.0, 30.0, Bound::Within),
        (0.99, 99.0, 60.0, Bound::Beyond),
    ];

    #[test]
    fn depths_that_follow_the_scale_are_told_from_those_that_do_not() {
        let rule = |columns: &[_]| follows_the_scale(&reached(columns)).0;
        assert_eq!(rule(&LIKE_THEORY), Holds);
        assert_eq!(rule(&LIKE_THEORY[..3]), NotDecided);
        let mut flat = LIKE_THEORY;
        flat.iter_mut().for_each(|column| column.2 = 20.0);
        assert_eq!(rule(&flat), NotDecided);
        let mut opposite = LIKE_THEORY;
        opposite.iter_mut().for_each(|column| column.2 = 70.0 - column.2);
        assert_eq!(rule(&opposite), DoesNotHold);
        // The largest variance is not the deepest.
        let mut inner = LIKE_THEORY;
        inner[3].2 = 29.0;
        assert_eq!(rule(&inner), HoldsInPart);
        assert_eq!(rule(&[]), NotDecided);
    }

    #[test]
    fn three_scales_count_what_the_grid_can_tell() {
        let rule = |columns: &[_]| three_scales(&reached(columns)).0;
        let within = [(0.5, 5.0, 15.0, Bound::Within), (0.7, 6.0, 20.0, Bound::Within), (0.8, 8.0, 30.0, Bound::Within)];
        assert_eq!(rule(&within), Holds);
        // What ends outside and may have ended anywhere changes nothing.
        let mute = [(0.1, 0.4, 10.0, Bound::Below), (0.99, 99.0, 60.0, Bound::Beyond)];
        assert_eq!(rule(&[&within[..], &mute[..]].concat()), Holds);
        assert_eq!(rule(&mute), NotDecided);
        assert_eq!(rule(&LIKE_THEORY), NotDecided);
        // Training ends before the grid where the theory sees no end, or goes on beyond it where it should have ended.
        assert_eq!(rule(&[&within[..], &[(0.99, 99.0, 10.0, Bound::Below)]].concat()), HoldsInPart);
        let far = [
            (0.1, 0.4, 10.0, Bound::Within),
            (0.5, 1.0, 15.0, Bound::Within),
            (0.8, 2.0, 30.0, Bound::Within),
            (0.9, 5.0, 60.0, Bound::Beyond),
        ];
        assert_eq!(rule(&far), DoesNotHold);
    }

    #[test]
    fn the_best_variance_must_train_something() {
        let columns = reached(&LIKE_THEORY);
        let rule = |means: &[(f64, f64)]| near_one_is_best(&columns, means, 60.0).0;
        assert_eq!(rule(&[(0.5, 0.6), (0.99, 0.9)]), Holds);
        assert_eq!(rule(&[(0.5, 0.9), (0.99, 0.6)]), HoldsInPart);
        let shallow = reached(&[(0.5, 1.0, 30.0, Bound::Within), (0.99, 2.0, 12.0, Bound::Within)]);
        assert_eq!(near_one_is_best(&shallow, &[(0.5, 0.9), (0.99, 0.6)], 60.0).0, DoesNotHold);
        let nothing = reached(&[(0.5, 1.0, 10.0, Bound::Below), (0.99, 2.0, 10.0, Bound::Below)]);
        assert_eq!(near_one_is_best(&nothing, &[(0.5, 0.1), (0.99, 0.1)], 60.0).0, DoesNotHold);
        assert_eq!(near_one_is_best(&[], &[], 60.0).0, NotDecided);
    }

    #[test]
    fn distances_decide_about_samples_and_the_deterministic_network() {
        assert_eq!(more_samples([Some(0.3), Some(0.2), Some(0.1)]).0, Holds);
        assert_eq!(more_samples([Some(0.3), Some(0.3), Some(0.1)]).0, HoldsInPart);
        assert_eq!(more_samples([Some(0.1), Some(0.2), Some(0.3)]).0, DoesNotHold);
        assert_eq!(more_samples([Some(0.1), None, Some(0.3)]).0, NotDecided);
        assert_eq!(
            [Some(0.01), Some(0.1), Some(0.3), None].map(|distance| about_the_same(distance, ".").0),
            [Holds, HoldsInPart, DoesNotHold, NotDecided]
        );
    }

    #[test]
    fn initialisations_are_poor_only_beside_one_that_trains() {
        let rule = |accuracies: [f64; 4]| poor_beside_critical(&["a", "b", "c", "d"], &accuracies, 10.0).0;
        assert_eq!(rule([0.1, 0.2, 0.5, 0.9]), Holds);
        assert_eq!(rule([0.1, 0.8, 0.5, 0.9]), HoldsInPart);
        assert_eq!(rule([0.9, 0.8, 0.5, 0.9]), DoesNotHold);
        assert_eq!(rule([0.1, 0.1, 0.1, 0.1]), NotDecided);
        assert_eq!(poor_beside_critical(&[], &[], 10.0).0, NotDecided);
    }

    #[test]
    fn patterns_are_compared_place_by_place() {
        let rule = |other: &[f64]| similar_patterns(&[("adam".into(), vec![0.1, 0.4, 0.6, 0.9]), ("sgd".into(), other.to_vec())]).0;
        assert_eq!(rule(&[0.2, 0.3, 0.5, 0.6]), Holds);
        // In the same order, but none of it trained.
        assert_eq!(rule(&[0.1, 0.2, 0.3, 0.4]), HoldsInPart);
        assert_eq!(rule(&[0.9, 0.6, 0.4, 0.1]), DoesNotHold);
        assert_eq!(rule(&[0.1; 4]), NotDecided);
        assert_eq!(similar_patterns(&[]).0, NotDecided);
    }

    #[test]
    fn growth_and_fall_have_a_margin() {
        assert_eq!([(1.0, 0.5), (1.0, 1.05), (1.0, 2.0)].map(|(from, to)| falls(from, to)), [Holds, NotDecided, DoesNotHold]);
        assert_eq!(falls(f64::NAN, 1.0), NotDecided);
        assert_eq!(both_grow([0.0, 0.0], [0.1, 0.1]), Holds);
        assert_eq!(both_grow([0.0, 0.0], [0.1, 0.0]), HoldsInPart);
        assert_eq!(both_grow([0.0, 0.0], [0.0, 0.0]), DoesNotHold);
        assert_eq!([by_count(2, 2), by_count(1, 2), by_count(1, 3), by_count(0, 0)], [Holds, HoldsInPart, DoesNotHold, NotDecided]);
    }
}
