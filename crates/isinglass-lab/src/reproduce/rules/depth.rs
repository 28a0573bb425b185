//! Rules about binary accuracy over depth, and about the layers of one deep network.
//!
//! A curve is a list of depths, the shallowest first, with the mean test accuracy at each. Differences are in percentage points.

use super::super::plane::TRAINED;
use super::super::record::Verdict;
use super::{Judgement, by_count, undecided};

/// What deep networks may lose against shallow ones, and still count as equally good.
pub(in crate::reproduce) const KEPT: f64 = 0.005;
/// What they may lose and still hold the claim in part.
const NEARLY_KEPT: f64 = 0.02;
/// A loss, or a gain, that cannot be overlooked.
const LARGE: f64 = 0.05;
/// Accuracies closer than this are the same.
const EQUAL: f64 = 0.002;
/// What a layer must be worth to count as used.
pub(in crate::reproduce) const USED: f64 = 0.002;

/// A depth and an accuracy.
type Point = (f64, f64);
type Curve<'a> = &'a [Point];

fn points(part: f64) -> String {
    format!("{:.2}", 100.0 * part)
}

/// A curve that begins with a network that is trained, and goes on.
fn ends(curve: Curve<'_>) -> Result<(Point, Curve<'_>), Judgement> {
    match curve {
        [] | [_] => Err(undecided("There are fewer than two depths.")),
        [first, ..] if first.1 < TRAINED => Err(undecided(&format!("Not even the network of depth {} is trained.", first.0))),
        [first, rest @ ..] => Ok((*first, rest)),
    }
}

/// Accuracy stays within [`KEPT`] of the shallowest network's.
pub(in crate::reproduce) fn keeps_accuracy(curve: Curve<'_>) -> Judgement {
    let (first, rest) = match ends(curve) {
        Ok(ends) => ends,
        Err(judgement) => return judgement,
    };
    let Some(worst) = rest.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1)) else { return undecided("There is one depth.") };
    let verdict = match first.1 - worst.1 {
        loss if loss <= KEPT => Verdict::Holds,
        loss if loss <= NEARLY_KEPT => Verdict::HoldsInPart,
        _ => Verdict::DoesNotHold,
    };
    let words: Vec<String> = rest.iter().map(|(depth, accuracy)| format!("{} at depth {depth}", signed(accuracy - first.1))).collect();
    (
        verdict,
        format!("Mean test accuracy {} % at depth {}; against it, in percentage points: {}.", points(first.1), first.0, words.join(", ")),
    )
}

/// Accuracy is lost at the greatest depth.
pub(in crate::reproduce) fn loses_accuracy(curve: Curve<'_>) -> Judgement {
    let (first, rest) = match ends(curve) {
        Ok(ends) => ends,
        Err(judgement) => return judgement,
    };
    let Some(last) = rest.last() else { return undecided("There is one depth.") };
    let verdict = match first.1 - last.1 {
        loss if loss > LARGE => Verdict::Holds,
        loss if loss > NEARLY_KEPT => Verdict::HoldsInPart,
        _ => Verdict::DoesNotHold,
    };
    let untrained = match rest.iter().find(|(_, accuracy)| *accuracy < TRAINED) {
        Some((depth, _)) => format!("; below {:.0} % from depth {depth}", 100.0 * TRAINED),
        None => String::new(),
    };
    let evidence =
        format!("Mean test accuracy {} % at depth {}, {} % at depth {}{untrained}.", points(first.1), first.0, points(last.1), last.0);
    (verdict, evidence)
}

/// At the greatest depth, carried networks do better than plain ones of the same kind: `(kind, plain, carried)`.
pub(in crate::reproduce) fn carrying_helps(depth: f64, kinds: &[(&str, Option<f64>, Option<f64>)]) -> Judgement {
    let known: Option<Vec<(&str, f64, f64)>> = kinds.iter().map(|&(kind, plain, carried)| Some((kind, plain?, carried?))).collect();
    let Some(known) = known.filter(|known| !known.is_empty()) else { return undecided("There are no results.") };
    if known.iter().all(|(_, _, carried)| *carried < TRAINED) {
        return undecided(&format!("At depth {depth} no network is trained, carried or not."));
    }
    let helped = known.iter().filter(|(_, plain, carried)| carried - plain > LARGE).count();
    let words: Vec<String> =
        known.iter().map(|(kind, plain, carried)| format!("{kind}: {} % carried, {} % plain", points(*carried), points(*plain))).collect();
    (by_count(helped, known.len()), format!("At depth {depth}: {}.", words.join("; ")))
}

/// One curve is above another at every depth that both have, or at least nowhere below it.
pub(in crate::reproduce) fn is_ahead(curve: Curve<'_>, other: Curve<'_>) -> Judgement {
    let shared: Vec<(f64, f64)> =
        curve.iter().filter_map(|(depth, accuracy)| Some((*depth, accuracy - other.iter().find(|(at, _)| at == depth)?.1))).collect();
    if shared.is_empty() || curve.iter().chain(other).all(|(_, accuracy)| *accuracy < TRAINED) {
        return undecided("No network is trained.");
    }
    let ahead = shared.iter().filter(|(_, difference)| *difference > EQUAL).count();
    let behind = shared.iter().filter(|(_, difference)| *difference < -EQUAL).count();
    let verdict = match (ahead, behind) {
        (n, 0) if n == shared.len() => Verdict::Holds,
        (n, behind) if n > behind => Verdict::HoldsInPart,
        _ => Verdict::DoesNotHold,
    };
    let words: Vec<String> = shared.iter().map(|(depth, difference)| format!("{} at depth {depth}", signed(*difference))).collect();
    (verdict, format!("Difference of mean test accuracies, in percentage points: {}.", words.join(", ")))
}

/// Every hidden layer of a network is worth something: random signs in its place cost more than [`USED`]. Given are the accuracy of the
/// network as it is, if there is one, and those with a layer replaced, layer by layer.
pub(in crate::reproduce) fn every_layer_is_used(network: Option<(f64, &[f64])>) -> Judgement {
    let Some((intact, replaced)) = network else { return undecided("There is no network: its training failed.") };
    if intact < TRAINED {
        return undecided(&format!("The network is not trained: its test accuracy is {} %.", points(intact)));
    }
    let losses: Vec<(usize, f64)> = replaced.iter().enumerate().map(|(layer, accuracy)| (layer + 1, intact - accuracy)).collect();
    let by_loss = |a: &&(usize, f64), b: &&(usize, f64)| a.1.total_cmp(&b.1);
    let (Some(least), Some(most)) = (losses.iter().min_by(by_loss), losses.iter().max_by(by_loss)) else {
        return undecided("There are no hidden layers.");
    };
    let used = losses.iter().filter(|(_, loss)| *loss > USED).count();
    let evidence = format!(
        "Random signs cost more than {} percentage points in {used} of {} hidden layers: from {} in layer {} to {} in layer {}, of an accuracy of {} %.",
        points(USED),
        losses.len(),
        points(least.1),
        least.0,
        points(most.1),
        most.0,
        points(intact)
    );
    (by_count(used, losses.len()), evidence)
}

/// With a sign, and a real minus.
fn signed(difference: f64) -> String {
    format!("{:+.2}", 100.0 * difference).replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{DoesNotHold, Holds, HoldsInPart, NotDecided};

    #[test]
    fn accuracy_is_kept_if_the_worst_depth_keeps_it() {
        let rule = |accuracies: [f64; 3]| keeps_accuracy(&[(3.0, accuracies[0]), (20.0, accuracies[1]), (100.0, accuracies[2])]).0;
        assert_eq!(rule([0.98, 0.979, 0.976]), Holds);
        assert_eq!(rule([0.98, 0.985, 0.99]), Holds);
        assert_eq!(rule([0.98, 0.965, 0.98]), HoldsInPart);
        assert_eq!(rule([0.98, 0.98, 0.9]), DoesNotHold);
        assert_eq!(rule([0.3, 0.3, 0.3]), NotDecided);
        assert_eq!(keeps_accuracy(&[(3.0, 0.98)]).0, NotDecided);
        assert!(
            keeps_accuracy(&[(3.0, 0.98), (20.0, 0.976)])
                .1
                .ends_with("98.00 % at depth 3; against it, in percentage points: −0.40 at depth 20.")
        );
    }

    #[test]
    fn losses_are_judged_at_the_greatest_depth() {
        let rule = |last: f64| loses_accuracy(&[(3.0, 0.97), (10.0, 0.5), (50.0, last)]).0;
        assert_eq!([0.1, 0.94, 0.96].map(rule), [Holds, HoldsInPart, DoesNotHold]);
        assert_eq!(loses_accuracy(&[(3.0, 0.2), (50.0, 0.1)]).0, NotDecided);
        assert!(loses_accuracy(&[(3.0, 0.97), (10.0, 0.4), (50.0, 0.1)]).1.contains("below 50 % from depth 10"));
    }

    #[test]
    fn carrying_must_help_every_kind() {
        let rule = |kinds: &[(&str, Option<f64>, Option<f64>)]| carrying_helps(50.0, kinds).0;
        assert_eq!(rule(&[("a", Some(0.1), Some(0.9)), ("b", Some(0.3), Some(0.8))]), Holds);
        assert_eq!(rule(&[("a", Some(0.1), Some(0.9)), ("b", Some(0.8), Some(0.8))]), HoldsInPart);
        assert_eq!(rule(&[("a", Some(0.9), Some(0.9)), ("b", Some(0.8), Some(0.8))]), DoesNotHold);
        assert_eq!(rule(&[("a", Some(0.1), Some(0.2))]), NotDecided);
        assert_eq!(rule(&[("a", None, Some(0.9))]), NotDecided);
        assert_eq!(rule(&[]), NotDecided);
    }

    #[test]
    fn a_curve_is_ahead_only_by_a_margin() {
        let curve = |accuracies: [f64; 2]| [(3.0, accuracies[0]), (50.0, accuracies[1])];
        let rule = |one: [f64; 2], other: [f64; 2]| is_ahead(&curve(one), &curve(other)).0;
        assert_eq!(rule([0.98, 0.97], [0.97, 0.9]), Holds);
        assert_eq!(rule([0.98, 0.97], [0.9795, 0.9]), HoldsInPart);
        assert_eq!(rule([0.97, 0.9], [0.97, 0.9]), DoesNotHold);
        assert_eq!(rule([0.1, 0.1], [0.1, 0.2]), NotDecided);
        assert_eq!(is_ahead(&curve([0.9, 0.9]), &[(7.0, 0.5)]).0, NotDecided);
    }

    #[test]
    fn every_layer_counts_or_most_do() {
        let rule = |intact: f64, replaced: &[f64]| every_layer_is_used(Some((intact, replaced))).0;
        assert_eq!(rule(0.97, &[0.5, 0.96, 0.9]), Holds);
        assert_eq!(rule(0.97, &[0.5, 0.9695, 0.9]), HoldsInPart);
        assert_eq!(rule(0.97, &[0.5, 0.97, 0.971]), DoesNotHold);
        assert_eq!(rule(0.1, &[0.1, 0.1]), NotDecided);
        assert_eq!(rule(0.97, &[]), NotDecided);
        assert_eq!(every_layer_is_used(None).0, NotDecided);
    }
}
