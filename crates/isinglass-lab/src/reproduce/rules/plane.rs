//! Rules about the depth to which networks train, over `σ_m²`.

use isinglass_runs::words::percent;

use crate::reproduce::censored::Censored;
use crate::reproduce::interval::Interval;
use crate::reproduce::judgement::{Judgement, PerSeed, Ruling, Tally, Undecided, exceeds};
use crate::reproduce::plane::{Reached, TRAINED};
use crate::reproduce::rank::rank_correlation;
use crate::reproduce::record::Verdict;

/// With fewer values of `σ_m²` nothing is said about a trend.
const FEWEST_FOR_A_TREND: usize = 4;
/// With fewer values of `σ_m²` at which the grid can tell nothing is said about `3ξ`.
const FEWEST_THAT_TELL: usize = 3;
/// Rank correlations of depths that follow the scale, and that follow it in part.
const FOLLOWS: f64 = 0.8;
const FOLLOWS_IN_PART: f64 = 0.4;
/// The depth scales at which training ends: three, within a factor of two.
const ABOUT_THREE: (f64, f64) = (1.5, 6.0);
/// What the best `σ_m²` may be ahead by, and another still count as the best.
const AS_GOOD: f64 = 0.05;

/// The depths of all `σ_m²` in one seed after the other.
fn by_seed(reached: &[&Reached]) -> PerSeed<Vec<Censored>> {
    let columns = reached.iter().map(|one| one.depth.clone()).collect::<Result<Vec<_>, Undecided>>()?;
    let seeds = columns.iter().map(Vec::len).min().unwrap_or(0);
    Ok((0..seeds).map(|seed| columns.iter().map(|column| column[seed]).collect()).collect())
}

/// Trainable depth follows the depth scale and is largest at the largest `σ_m²`. What lies outside the grid is tied with its edge.
pub(in crate::reproduce) fn follows_the_scale(reached: &[Reached]) -> Ruling {
    let known: Vec<&Reached> = reached.iter().filter(|one| one.xi.is_some()).collect();
    let scales: Vec<f64> = known.iter().filter_map(|one| one.xi).collect();
    let (Some(first), Some(last), FEWEST_FOR_A_TREND..) = (known.first(), known.last(), known.len()) else {
        return Undecided::because("There are too few values of σ_m² for a trend.");
    };
    let seeds: Vec<Vec<f64>> = by_seed(&known)?.iter().map(|seed| seed.iter().map(Censored::value).collect()).collect();
    let correlation = |depths: &Vec<f64>| {
        rank_correlation(depths, &scales)
            .ok_or_else(|| Undecided("The depth to which networks train is the same for every σ_m² of the grid.".into()))
    };
    let correlations = seeds.iter().map(correlation).collect::<Result<Vec<_>, _>>()?;
    let interval = Interval::of(&correlations)?.clamped(-1.0, 1.0);
    let is_largest = |depths: &&Vec<f64>| depths.iter().all(|depth| depths.last().is_some_and(|last| depth <= last));
    let largest = seeds.iter().filter(is_largest).count();
    let verdict = match () {
        () if interval.is_above(FOLLOWS) && largest == seeds.len() => Verdict::Holds,
        () if interval.is_above(FOLLOWS_IN_PART) => Verdict::HoldsInPart,
        () if interval.is_below(FOLLOWS_IN_PART) => Verdict::DoesNotHold,
        () => Verdict::NotDecided,
    };
    let depth = |one: &Reached| one.interval().map(|depth| depth.text(|depth| format!("{depth:.0}")));
    let evidence = format!(
        "Rank correlation of ξ and the depth to which networks train, over {} values of σ_m²: {}. From depth {} at σ_m² = {} to {} at {}, which is the largest in {largest} of {} seeds.",
        known.len(),
        interval.text(|r| format!("{r:.2}")),
        depth(first)?,
        first.sigma_m2,
        depth(last)?,
        last.sigma_m2,
        seeds.len(),
    );
    Ok(Judgement::over(interval.seeds, verdict, evidence))
}

/// Training ends at about `3ξ`: within a factor of two. What ends outside the grid counts only if that contradicts the claim: otherwise the grid cannot tell.
pub(in crate::reproduce) fn three_scales(reached: &[Reached]) -> Ruling {
    let mut tally = Vec::new();
    let mut ratios = Vec::new();
    let mut seeds = 0;
    for (one, xi) in reached.iter().filter_map(|one| Some((one, one.xi?))) {
        let depth = one.interval()?;
        seeds = depth.seeds;
        let (least, most) = (ABOUT_THREE.0 * xi, ABOUT_THREE.1 * xi);
        let answer = match () {
            () if depth.is_above(most) || depth.is_below(least) => Some(false),
            () if depth.is_open() => continue,
            () if depth.is_above(least) && depth.is_below(most) => Some(true),
            () => None,
        };
        tally.push(answer);
        ratios.push(format!("{} at σ_m² = {}", depth.text(|depth| format!("{:.1}ξ", depth / xi)), one.sigma_m2));
    }
    let tally: Tally = tally.into_iter().collect();
    if tally.all() < FEWEST_THAT_TELL {
        return Undecided::because("There are too few values of σ_m² for which the grid can tell.");
    }
    let evidence = format!(
        "Training ends (training accuracy of {:.0} %) within a factor of two of 3ξ for {} values of σ_m² for which the grid can tell: {}.",
        100.0 * TRAINED,
        tally.text(),
        ratios.join(", ")
    );
    Ok(Judgement::over(seeds, tally.verdict(), evidence))
}

/// The largest `σ_m²` is the best, and lets deep networks train. `means` are accuracies over all depths, by `σ_m²`.
pub(in crate::reproduce) fn near_one_is_best(reached: &[Reached], means: &[(f64, PerSeed<f64>)], deepest: f64) -> Ruling {
    let Some(at_one) = reached.last() else { return Undecided::because("There are no results.") };
    let columns = means.iter().map(|(_, mean)| mean.clone()).collect::<Result<Vec<Vec<f64>>, Undecided>>()?;
    let averages = columns.iter().map(|column| Interval::of(column)).collect::<Result<Vec<_>, _>>()?;
    let (Some(last), Some(accuracy)) = (columns.last(), averages.last()) else { return Undecided::because("There are no results.") };
    let depth = at_one.interval()?;
    let (best_at, best) = means
        .iter()
        .zip(&averages)
        .fold((f64::NAN, f64::NEG_INFINITY), |best, ((at, _), one)| if one.mean > best.1 { (*at, one.mean) } else { best });
    if at_one.depth.as_ref().is_ok_and(|seeds| seeds.iter().all(Censored::may_be_less)) {
        // Among networks that do not train none is the best.
        let evidence = format!(
            "At σ_m² = {} no network trains, not even at the smallest depth, {:.0}, in any of {} seeds: mean accuracy over all depths {}, at best {} at σ_m² = {best_at}.",
            at_one.sigma_m2,
            depth.mean,
            depth.seeds,
            accuracy.text(percent),
            percent(best)
        );
        return Ok(Judgement::over(depth.seeds, Verdict::DoesNotHold, evidence));
    }
    let best_in = |seed: usize| columns.iter().map(|column| column[seed]).fold(f64::NEG_INFINITY, f64::max);
    let behind: Vec<f64> = last.iter().enumerate().map(|(seed, accuracy)| best_in(seed) - accuracy).collect();
    let behind = Interval::of(&behind)?.clamped(0.0, 1.0);
    let is_best = exceeds(&behind, AS_GOOD).map(|is_behind| !is_behind);
    let is_deep = exceeds(&depth, 0.5 * deepest);
    let scale = match at_one.xi {
        Some(xi) if xi.is_finite() => format!("ξ is {xi:.1} layers"),
        Some(_) => "ξ diverges".to_owned(),
        None => "there is no ξ".to_owned(),
    };
    let evidence = format!(
        "At σ_m² = {} networks train to depth {}, and {scale}. Mean accuracy over all depths: {} there, {} behind the best σ_m² of each seed; over all seeds the best is {} at σ_m² = {best_at}.",
        at_one.sigma_m2,
        depth.text(|depth| format!("{depth:.0}")),
        accuracy.text(percent),
        behind.text(percent),
        percent(best)
    );
    let tally: Tally = [is_best, is_deep].into_iter().collect();
    Ok(Judgement::over(depth.seeds, tally.verdict(), evidence))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{DoesNotHold, Holds, HoldsInPart, NotDecided};

    /// Columns of `σ_m²`, `ξ` and a depth, which differs by two per cent from seed to seed.
    fn reached(columns: &[(f64, f64, Censored)]) -> Vec<Reached> {
        columns.iter().map(|&(sigma_m2, xi, depth)| Reached { sigma_m2, xi: Some(xi), depth: Ok(nearby(depth, 0.02)) }).collect()
    }

    fn nearby(depth: Censored, spread: f64) -> Vec<Censored> {
        if depth.may_be_less() || depth.may_be_more() {
            return vec![depth; 3];
        }
        [1.0 - spread, 1.0, 1.0 + spread].map(|factor| Censored::within(factor * depth.value())).into()
    }

    fn verdict(ruling: Ruling) -> Verdict {
        ruling.map_or(NotDecided, |judgement| judgement.verdict)
    }

    fn like_theory() -> [(f64, f64, Censored); 4] {
        [
            (0.1, 0.4, Censored::below(10.0)),
            (0.5, 5.0, Censored::within(15.0)),
            (0.8, 8.0, Censored::within(30.0)),
            (0.99, 99.0, Censored::beyond(60.0)),
        ]
    }

    #[test]
    fn depths_that_follow_the_scale_are_told_from_those_that_do_not() {
        let rule = |columns: &[_]| verdict(follows_the_scale(&reached(columns)));
        assert_eq!(rule(&like_theory()), Holds);
        assert_eq!(rule(&like_theory()[..3]), NotDecided);
        assert_eq!(rule(&like_theory().map(|(sigma_m2, xi, _)| (sigma_m2, xi, Censored::within(20.0)))), NotDecided);
        let opposite = like_theory().map(|(sigma_m2, xi, depth)| (sigma_m2, xi, Censored::within(70.0 - depth.value())));
        assert_eq!(rule(&opposite), DoesNotHold);
        // The largest variance is not the deepest.
        let mut inner = like_theory();
        inner[3].2 = Censored::within(25.0);
        assert_eq!(rule(&inner), HoldsInPart);
        assert_eq!(rule(&[]), NotDecided);
        // Seeds that contradict each other, and too few of them.
        let mut torn = reached(&like_theory());
        for (column, depths) in torn.iter_mut().zip([[60.0, 10.0, 10.0], [30.0, 15.0, 15.0], [15.0, 30.0, 30.0], [10.0, 60.0, 60.0]]) {
            column.depth = Ok(depths.map(Censored::within).into());
        }
        assert_eq!(verdict(follows_the_scale(&torn)), NotDecided);
        let mut two = reached(&like_theory());
        two.iter_mut().for_each(|column| column.depth.as_mut().unwrap().truncate(2));
        assert!(follows_the_scale(&two).unwrap_err().0.contains("fewer than 3 seeds"));
    }

    #[test]
    fn three_scales_count_what_the_grid_can_tell() {
        let rule = |columns: &[_]| verdict(three_scales(&reached(columns)));
        let within = [(0.5, 5.0, Censored::within(15.0)), (0.7, 6.0, Censored::within(20.0)), (0.8, 8.0, Censored::within(30.0))];
        assert_eq!(rule(&within), Holds);
        // What ends outside and may have ended anywhere changes nothing.
        let mute = [(0.1, 0.4, Censored::below(10.0)), (0.99, 99.0, Censored::beyond(60.0))];
        assert_eq!(rule(&[&within[..], &mute[..]].concat()), Holds);
        assert_eq!(rule(&mute), NotDecided);
        assert_eq!(rule(&like_theory()), NotDecided);
        // Training ends before the grid where the theory sees no end, or goes on beyond it where it should have ended.
        assert_eq!(rule(&[&within[..], &[(0.99, 99.0, Censored::below(10.0))]].concat()), HoldsInPart);
        let far = [
            (0.1, 0.4, Censored::within(10.0)),
            (0.5, 1.0, Censored::within(15.0)),
            (0.8, 2.0, Censored::within(30.0)),
            (0.9, 5.0, Censored::beyond(60.0)),
        ];
        assert_eq!(rule(&far), DoesNotHold);
        // No column ends within the grid, and every one contradicts the claim.
        let all_beyond = far.map(|(sigma_m2, xi, _)| (sigma_m2, xi, Censored::beyond(60.0)));
        assert_eq!(rule(&all_beyond), DoesNotHold);
    }

    #[test]
    fn three_scales_are_open_where_seeds_scatter_across_the_threshold() {
        let scattered = |spread: f64, factor: f64| {
            let column = |xi: f64| Reached { sigma_m2: 0.5, xi: Some(xi), depth: Ok(nearby(Censored::within(factor * xi), spread)) };
            verdict(three_scales(&[column(5.0), column(6.0), column(8.0)]))
        };
        // At 5.5ξ, 2 % of scatter stays within 6ξ and 10 % does not.
        assert_eq!([scattered(0.02, 5.5), scattered(0.1, 5.5), scattered(0.1, 9.0)], [Holds, NotDecided, DoesNotHold]);
    }

    #[test]
    fn the_best_variance_must_train_something() {
        let columns = reached(&like_theory());
        let means = |means: [f64; 2], spread: f64| {
            let seeds = |mean: f64| Ok(vec![mean - spread, mean, mean + spread]);
            [(0.5, seeds(means[0])), (0.99, seeds(means[1]))]
        };
        let rule = |at: [f64; 2]| verdict(near_one_is_best(&columns, &means(at, 0.001), 60.0));
        assert_eq!([rule([0.6, 0.9]), rule([0.9, 0.6])], [Holds, HoldsInPart]);
        let shallow = reached(&[(0.5, 1.0, Censored::within(30.0)), (0.99, 2.0, Censored::within(12.0))]);
        assert_eq!(verdict(near_one_is_best(&shallow, &means([0.9, 0.6], 0.001), 60.0)), DoesNotHold);
        let nothing = reached(&[(0.5, 1.0, Censored::below(10.0)), (0.99, 2.0, Censored::below(10.0))]);
        assert_eq!(verdict(near_one_is_best(&nothing, &means([0.1, 0.1], 0.0), 60.0)), DoesNotHold);
        // Untrained networks are as good as others that hardly train: that makes them no better.
        let hardly = reached(&[(0.5, 1.0, Censored::within(11.0)), (0.99, 2.0, Censored::below(10.0))]);
        assert_eq!(verdict(near_one_is_best(&hardly, &means([0.2, 0.19], 0.001), 60.0)), DoesNotHold);
        assert_eq!(verdict(near_one_is_best(&[], &[], 60.0)), NotDecided);
        // Shallow for certain; whether it is the best differs from seed to seed.
        let torn = [(0.5, Ok(vec![0.9, 0.7, 0.8])), (0.99, Ok(vec![0.6, 0.7, 0.8]))];
        assert_eq!(verdict(near_one_is_best(&shallow, &torn, 60.0)), NotDecided);
        let missing = Undecided("a cell failed".into());
        assert_eq!(near_one_is_best(&shallow, &[(0.5, Err(missing.clone())), (0.99, Ok(vec![0.6; 3]))], 60.0), Err(missing));
    }
}
