//! Results of a simulation as records; docs/experiments.md lists the keys.

use isinglass_lab::simulate::{JacobianComparison, LayerComparison, Measured, Overall, Simulation, THRESHOLD, narrow_width};
use isinglass_lab::words::digits;
use isinglass_theory::CarriedPoint;
use serde_json::Value;

use super::{Outcome, Rows};
use crate::cli::CliError;
use crate::cli::answer::{Record, number};
use crate::cli::theory::network::{describe_variances, title};

/// The settings that all networks share.
pub fn simulation(simulation: &Simulation) -> Record {
    let mut record = Record::new();
    for (key, value) in [
        ("width", simulation.width.into()),
        ("narrow_width", narrow_width(simulation.width).into()),
        ("realisations", simulation.realisations.into()),
        ("depth", simulation.depth.into()),
        ("q_a", number(simulation.start.q_a)),
        ("q_b", number(simulation.start.q_b)),
        ("c", number(simulation.start.correlation.c())),
        ("seed", simulation.seed.into()),
    ] {
        record.insert(key.into(), value);
    }
    if simulation.carry {
        record.insert("carry".into(), true.into());
    }
    record
}

/// `key`, `key_sd`, `key_theory`, `key_deviation` and, where there is one, `key_step`.
fn insert(record: &mut Record, key: &str, measured: &Measured, with_step: bool) {
    let Measured { mean, sd, theory, deviation, step } = *measured;
    record.insert(key.into(), number(mean));
    record.insert(format!("{key}_sd"), number(sd));
    record.insert(format!("{key}_theory"), number(theory));
    record.insert(format!("{key}_deviation"), number(deviation));
    if with_step {
        record.insert(format!("{key}_step"), number(step));
    }
}

fn layer(index: usize, comparison: &LayerComparison) -> Record {
    let mut record = Record::new();
    record.insert("layer".into(), index.into());
    insert(&mut record, "q_aa", &comparison.q_aa, true);
    insert(&mut record, "q_bb", &comparison.q_bb, true);
    insert(&mut record, "q_ab", &comparison.q_ab, true);
    insert(&mut record, "c", &comparison.c, true);
    let Measured { mean, sd, theory, .. } = comparison.one_minus_c;
    for (key, value) in [("one_minus_c", mean), ("one_minus_c_sd", sd), ("one_minus_c_theory", theory)] {
        record.insert(key.into(), number(value));
    }
    if let Some(carried) = &comparison.carried {
        insert(&mut record, "v_aa", &carried.v_aa, true);
        insert(&mut record, "spread", &carried.spread, true);
    }
    record
}

fn jacobian(index: usize, comparison: &JacobianComparison) -> Record {
    let mut record = Record::new();
    record.insert("layer".into(), index.into());
    insert(&mut record, "jacobian", &comparison.mean_square, true);
    insert(&mut record, "outlier", &comparison.outlier, false);
    insert(&mut record, "outlier_gain", &comparison.outlier_gain, true);
    insert(&mut record, "gradient", &comparison.gradient, true);
    insert(&mut record, "gradient_fixed", &comparison.gradient_fixed, true);
    if let Some(spread) = &comparison.spread {
        insert(&mut record, "spread_gain", &spread.gain, true);
        insert(&mut record, "spread_response", &spread.response, true);
        insert(&mut record, "spread_gradient", &spread.gradient, false);
    }
    record
}

fn overall(overall: &Overall, outcome: &Outcome) -> Record {
    let mut record = Record::new();
    record.insert("quantity".into(), overall.quantity.into());
    record.insert("count".into(), overall.count.into());
    record.insert("drift".into(), number(overall.drift));
    record.insert("scatter".into(), number(overall.scatter));
    record.insert("largest".into(), number(overall.largest.1));
    let place = overall.largest.0;
    let at = if overall.quantity == "map" { number(outcome.comparison.map[place].c_in) } else { Value::from(place) };
    record.insert("largest_at".into(), at);
    record
}

fn map(outcome: &Outcome) -> Vec<Record> {
    let point = |point: &isinglass_lab::simulate::MapPoint| {
        let mut record = Record::new();
        record.insert("c_in".into(), number(point.c_in));
        insert(&mut record, "c_out", &point.c_out, true);
        record
    };
    outcome.comparison.map.iter().map(point).collect()
}

fn layers(outcome: &Outcome) -> Vec<Record> {
    outcome.comparison.layers.iter().enumerate().map(|(index, comparison)| layer(index, comparison)).collect()
}

fn jacobians(outcome: &Outcome) -> Vec<Record> {
    outcome.comparison.jacobians.iter().enumerate().map(|(index, comparison)| jacobian(index, comparison)).collect()
}

fn overalls(outcome: &Outcome) -> Vec<Record> {
    outcome.comparison.overall.iter().map(|quantity| overall(quantity, outcome)).collect()
}

fn variances(outcome: &Outcome) -> Record {
    describe_variances(outcome.field.network().model(), outcome.field.sigma2(), outcome.field.sigma_b2())
}

/// Everything about one network, for JSON.
pub fn network(outcome: &Outcome) -> Result<Record, CliError> {
    let list = |records: Vec<Record>| Value::Array(records.into_iter().map(Value::Object).collect());
    let mut record = network_without_lists(outcome)?;
    record.insert("overall".into(), list(overalls(outcome)));
    record.insert("layers".into(), list(layers(outcome)));
    record.insert("map".into(), list(map(outcome)));
    record.insert("jacobians".into(), list(jacobians(outcome)));
    Ok(record)
}

/// What can be said of a network as a whole.
pub fn network_without_lists(outcome: &Outcome) -> Result<Record, CliError> {
    let mut record = variances(outcome);
    let q_star = if outcome.measurement.simulation.carry {
        // Neurons that do not saturate have no limit.
        CarriedPoint::of(&outcome.field).ok().and_then(|point| point.q_star.finite())
    } else {
        outcome.field.variance_fixed_point()?.finite()
    };
    record.insert("q_star".into(), number(q_star));
    record.insert("agrees".into(), outcome.comparison.agrees().into());
    record.insert("deviation".into(), number(outcome.comparison.worst().map(Overall::worst)));
    record.insert("verdict".into(), verdict(outcome).into());
    Ok(record)
}

/// The rows asked for, each with its network's variances.
pub fn rows(outcome: &Outcome, rows: Rows) -> Vec<Record> {
    let records = match rows {
        Rows::Layers => layers(outcome),
        Rows::Map => map(outcome),
        Rows::Jacobians => jacobians(outcome),
        Rows::Overall => overalls(outcome),
    };
    let with_variances = |record: Record| {
        let mut row = variances(outcome);
        row.extend(record);
        row
    };
    records.into_iter().map(with_variances).collect()
}

/// The same with the columns that fit a screen.
pub fn brief_rows(outcome: &Outcome, which: Rows) -> Vec<Record> {
    let hidden = |key: &str| match which {
        Rows::Layers => ["q_bb", "q_ab", "one_minus_c", "q_aa_step", "c_step", "v_aa", "spread_step", "spread_sd"]
            .iter()
            .any(|start| key.starts_with(start)),
        Rows::Jacobians => {
            ["_step", "_sd", "_deviation"].iter().any(|end| key.ends_with(end))
                || key.starts_with("outlier_gain")
                || key.starts_with("spread_")
                || key == "gradient_fixed_theory"
        }
        Rows::Map | Rows::Overall => false,
    };
    let shown = |record: Record| record.into_iter().filter(|(key, _)| !hidden(key)).collect();
    rows(outcome, which).into_iter().map(shown).collect()
}

/// Whether the theory holds, in a sentence.
pub fn verdict(outcome: &Outcome) -> String {
    let carried = if outcome.measurement.simulation.carry { ", carried" } else { "" };
    let name = title(&outcome.field).replace("^2", "²") + carried;
    let Some(worst) = outcome.comparison.worst() else {
        return format!("{name}: nothing to compare.");
    };
    let (by, of) = (digits(worst.worst()), worst.quantity);
    match outcome.comparison.agrees() {
        Some(true) => {
            format!("{name}: the theory agrees with the simulation; the largest overall deviation is {by} standard errors, of {of}.")
        }
        Some(false) => format!(
            "{name}: the theory does NOT agree with the simulation: {of} is off by {by} standard errors overall, more than {THRESHOLD}."
        ),
        None => {
            format!("{name}: the largest overall deviation is {by} standard errors, of {of}; for a verdict use at least 10 realisations.")
        }
    }
}
