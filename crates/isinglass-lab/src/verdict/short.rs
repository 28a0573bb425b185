//! Advice in one sentence.

use isinglass_theory::activation::Activation;
use isinglass_theory::{Advice, CarriedAdvice, CarryVerdict, Model, Neuron, RandomNetwork};

use isinglass_runs::words::percent;

use super::{coordinates, digits, layers, near_one};

/// Which initialisation to use, in one sentence.
pub fn advice_in_short<A: Activation>(network: &RandomNetwork<A>, advice: &Advice) -> String {
    let (best, depth) = (&advice.best, layers(advice.depth));
    let place = coordinates(network, best.sigma2, best.sigma_b2);
    if let Some(reached) = advice.max_depth.filter(|&reached| reached < advice.depth as f64) {
        // What aligned layers were tried with.
        let further = match (network.model(), network.neuron()) {
            (Model::Deterministic, Some(Neuron::Sign)) => "carried fields (--carry) and aligned layers (train --init aligned) go further",
            _ => "carried fields go further (--carry)",
        };
        return format!(
            "No initialisation of independent layers carries signals through {depth}: the best, {place}, reaches {}; {further}.",
            layers(reached.floor() as usize)
        );
    }
    let smallest = advice.smallest.as_ref().and_then(|smallest| smallest.sigma2).zip(network.model().weight_variance().symbol());
    match (smallest, best.sigma2) {
        (Some((smallest, symbol)), Some(largest)) if smallest < largest => format!(
            "Use {symbol} from {} to {} and σ_b² = {}: signals and gradients pass through {depth}.",
            near_one(smallest),
            near_one(largest),
            digits(best.sigma_b2)
        ),
        _ => format!("Use {place}: signals and gradients pass through {depth}."),
    }
}

/// Whether to carry fields, in one sentence.
pub fn carried_advice_in_short(network: &RandomNetwork, advice: &CarriedAdvice) -> String {
    let depth = layers(advice.depth);
    let at = match (network.model().weight_variance().symbol(), advice.carried.sigma2) {
        (Some(symbol), Some(sigma2)) => format!(" at {symbol} = {}", near_one(sigma2)),
        _ => String::new(),
    };
    let left = advice.carried.left.signal.map_or(String::new(), |signal| format!(": {} of the signal is left", percent(signal)));
    match advice.carry {
        CarryVerdict::Needed => format!("Carry fields{at} to reach {depth}{left}."),
        CarryVerdict::Helpful => format!("Carry fields{at}, or use larger means, to reach {depth}{left}."),
        CarryVerdict::Unneeded => format!("No need to carry fields: the plain network reaches {depth}."),
    }
}
