//! Rules about binary accuracy over depth, and about the layers of deep networks.
//!
//! A curve is a list of depths, the shallowest first, with the test accuracy of each seed. Differences are in percentage points.

use isinglass_runs::words::{percent, points};

use super::{differences, interval};
use crate::reproduce::interval::Interval;
use crate::reproduce::judgement::{Judgement, PerSeed, Ruling, Tally, Undecided, at_least, at_most, exceeds};
use crate::reproduce::plane::TRAINED;

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

/// A depth, and the accuracy of every seed.
pub(in crate::reproduce) type Point = (usize, PerSeed<f64>);

/// A curve that begins with a network that is trained, and has more depths.
fn ends(curve: &[Point]) -> Result<(&Point, &[Point]), Undecided> {
    match curve {
        [] | [_] => Undecided::because("There are fewer than two depths."),
        [first, rest @ ..] => {
            let accuracy = interval(&first.1)?;
            if accuracy.is_above(TRAINED) {
                return Ok((first, rest));
            }
            Undecided::because(format!("Not even the network of depth {} is trained: {}.", first.0, accuracy.text(percent)))
        }
    }
}

/// Differences from one accuracy at several depths.
fn against(first: &PerSeed<f64>, rest: &[Point]) -> Result<String, Undecided> {
    let mut words = Vec::new();
    for (depth, accuracy) in rest {
        words.push(format!("{} at depth {depth}", interval(&differences(accuracy, first))?.text(points)));
    }
    Ok(words.join(", "))
}

/// Accuracy stays within [`KEPT`] of the shallowest network's: the largest loss at any depth, in each seed.
pub(in crate::reproduce) fn keeps_accuracy(curve: &[Point]) -> Ruling {
    let (first, rest) = ends(curve)?;
    let losses = rest.iter().map(|(_, accuracy)| differences(&first.1, accuracy)).collect::<Result<Vec<_>, _>>()?;
    let seeds = losses.iter().map(Vec::len).min().unwrap_or(0);
    let largest = |seed: usize| losses.iter().map(|depth| depth[seed]).fold(f64::NEG_INFINITY, f64::max);
    let loss = Interval::of(&(0..seeds).map(largest).collect::<Vec<_>>())?;
    let evidence = format!(
        "Test accuracy {} at depth {}; against it, in percentage points: {}. The largest loss in each seed: {}.",
        interval(&first.1)?.text(percent),
        first.0,
        against(&first.1, rest)?,
        loss.text(percent)
    );
    Ok(Judgement::over(loss.seeds, at_most(&loss, NEARLY_KEPT, KEPT), evidence))
}

/// Accuracy is lost at the greatest depth.
pub(in crate::reproduce) fn loses_accuracy(curve: &[Point]) -> Ruling {
    let (first, rest) = ends(curve)?;
    let Some(last) = rest.last() else { return Undecided::because("There is one depth.") };
    let loss = interval(&differences(&first.1, &last.1))?;
    let mut untrained = String::new();
    for (depth, accuracy) in rest {
        if interval(accuracy)?.is_below(TRAINED) {
            untrained = format!(" It is below {:.0} % from depth {depth}.", 100.0 * TRAINED);
            break;
        }
    }
    let evidence = format!(
        "Test accuracy {} at depth {}, {} at depth {}: a loss of {}.{untrained}",
        interval(&first.1)?.text(percent),
        first.0,
        interval(&last.1)?.text(percent),
        last.0,
        loss.text(percent)
    );
    Ok(Judgement::over(loss.seeds, at_least(&loss, NEARLY_KEPT, LARGE), evidence))
}

/// Networks of one kind at the greatest depth.
pub(in crate::reproduce) struct Kind<'a> {
    pub name: &'a str,
    pub plain: &'a PerSeed<f64>,
    pub carried: &'a PerSeed<f64>,
}

/// At the greatest depth, carried networks do better than plain ones of the same kind.
pub(in crate::reproduce) fn carrying_helps(depth: usize, kinds: &[Kind<'_>]) -> Ruling {
    let mut answers = Vec::new();
    let mut words = Vec::new();
    let (mut is_any_trained, mut seeds) = (false, 0);
    for Kind { name, plain, carried } in kinds {
        let (accuracy, gain) = (interval(carried)?, interval(&differences(carried, plain))?);
        seeds = gain.seeds;
        is_any_trained |= accuracy.is_above(TRAINED);
        answers.push(exceeds(&gain, LARGE));
        words.push(format!("{name}: {} carried, {} plain", accuracy.text(percent), interval(plain)?.text(percent)));
    }
    if !is_any_trained {
        return Undecided::because(format!("At depth {depth} no network is surely trained, carried or not."));
    }
    let tally: Tally = answers.into_iter().collect();
    Ok(Judgement::over(seeds, tally.verdict(), format!("At depth {depth}: {}.", words.join("; "))))
}

/// One curve is above another, by more than [`EQUAL`], at every depth that both have, or at half of them.
pub(in crate::reproduce) fn is_ahead(curve: &[Point], other: &[Point]) -> Ruling {
    let mut answers = Vec::new();
    let mut words = Vec::new();
    let (mut is_any_trained, mut seeds) = (false, 0);
    for (depth, accuracy) in curve {
        let Some((_, beside)) = other.iter().find(|(at, _)| at == depth) else { continue };
        let difference = interval(&differences(accuracy, beside))?;
        seeds = difference.seeds;
        is_any_trained |= interval(accuracy)?.is_above(TRAINED) || interval(beside)?.is_above(TRAINED);
        answers.push(exceeds(&difference, EQUAL));
        words.push(format!("{} at depth {depth}", difference.text(points)));
    }
    if !is_any_trained {
        return Undecided::because("No network is surely trained.");
    }
    let tally: Tally = answers.into_iter().collect();
    let evidence = format!(
        "Ahead by more than {} percentage points at {} depths. Differences of test accuracies, in percentage points: {}.",
        100.0 * EQUAL,
        tally.text(),
        words.join(", ")
    );
    Ok(Judgement::over(seeds, tally.verdict(), evidence))
}

/// One trained network: its accuracy as it is, and with one hidden layer replaced, layer by layer.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::reproduce) struct Layers {
    pub intact: f64,
    pub replaced: Vec<f64>,
}

/// Every hidden layer of a network is worth something: random signs in its place cost more than [`USED`].
pub(in crate::reproduce) fn every_layer_is_used(networks: &PerSeed<Layers>) -> Ruling {
    let networks = networks.as_deref().map_err(Undecided::clone)?;
    let intact = Interval::of(&networks.iter().map(|network| network.intact).collect::<Vec<_>>())?;
    if !intact.is_above(TRAINED) {
        return Undecided::because(format!("The networks are not surely trained: their test accuracy is {}.", intact.text(percent)));
    }
    let layers = networks.iter().map(|network| network.replaced.len()).min().unwrap_or(0);
    let loss = |layer: usize| networks.iter().map(|network| network.intact - network.replaced[layer]).collect::<Vec<_>>();
    let losses = (0..layers).map(|layer| Interval::of(&loss(layer))).collect::<Result<Vec<_>, _>>()?;
    let by_mean = |a: &(usize, &Interval), b: &(usize, &Interval)| a.1.mean.total_cmp(&b.1.mean);
    let numbered = || (1..).zip(&losses);
    let (Some(least), Some(most)) = (numbered().min_by(by_mean), numbered().max_by(by_mean)) else {
        return Undecided::because("There are no hidden layers.");
    };
    let tally: Tally = losses.iter().map(|loss| exceeds(loss, USED)).collect();
    let evidence = format!(
        "Random signs cost more than {} in {} hidden layers: from {} in layer {} to {} in layer {}, of an accuracy of {}.",
        percent(USED),
        tally.text(),
        least.1.text(percent),
        least.0,
        most.1.text(percent),
        most.0,
        intact.text(percent)
    );
    Ok(Judgement::over(intact.seeds, tally.verdict(), evidence))
}

#[cfg(test)]
mod tests;
