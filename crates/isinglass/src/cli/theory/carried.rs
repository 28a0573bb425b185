//! The answers of `theory --carry`.

use isinglass_lab::phase_diagram::{CarriedDiagram, CarriedQuantity};
use isinglass_lab::verdict;
use isinglass_theory::activation::FieldPair;
use isinglass_theory::carried::{CarriedRecommendation, Remains};
use isinglass_theory::{CarriedAdvice, CarriedPoint, CarriedState, CarryVerdict, Error, MeanField, Model, RandomNetwork};
use serde_json::Value;

use super::network::{describe_network, describe_variances, network_title, usage, weight_variance_key};
use crate::cli::answer::{Answer, Record, SENTENCE, number};
use crate::cli::{CliError, Format};

/// Whether fields are carried.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub struct CarryArgs {
    /// Add each layer's field to the previous one, h' = h + S x/√N (docs/depth.md)
    #[arg(long)]
    pub carry: bool,
}

/// `theory point --carry`.
pub fn point(field: &MeanField) -> Result<Answer, CliError> {
    let point = CarriedPoint::of(field)?;
    let mut answer = Answer::default();
    answer
        .facts(describe_network(field.network()))
        .facts(describe_variances(field.network().model(), field.sigma2(), field.sigma_b2()))
        .fact("carry", true)
        .facts(describe_point(&point))
        .fact("verdict", verdict::of_carried_point(field, &point));
    Ok(answer)
}

/// `q_star … phase`, with exponents in place of depth scales.
fn describe_point(point: &CarriedPoint) -> Record {
    let mut record = Record::new();
    let gradients = point.gradient_exponents();
    for (key, value) in [
        ("q_star", point.q_star.finite()),
        ("growth", point.growth),
        ("c_star", point.c_star.map(|c| c.c())),
        ("chi_1", point.chi_1),
        ("chi", point.chi),
        ("dq", point.dq),
        ("q_exponent", point.q_exponent()),
        ("c_exponent", point.c_exponent()),
        ("gradient_depth_exponent", gradients.map(|(depth, _)| depth)),
        ("gradient_layer_exponent", gradients.map(|(_, layer)| layer)),
        ("gradient_root_rate", point.root_rate),
    ] {
        record.insert(key.into(), number(value));
    }
    record.insert("phase".into(), point.phase.name().into());
    record
}

/// Layers as `theory trajectory --carry` gives them: what the neurons see, then what is carried.
pub fn describe_layer(layer: usize, state: Option<&CarriedState>, inputs: &FieldPair) -> Record {
    let mut record = Record::new();
    record.insert("layer".into(), layer.into());
    let fields = state.map_or(inputs, CarriedState::fields);
    let correlation = fields.correlation;
    for (key, value) in [("q_a", fields.q_a), ("q_b", fields.q_b), ("c", correlation.c()), ("one_minus_c", correlation.deficit())] {
        record.insert(key.into(), number(value));
    }
    for (key, value) in [
        ("v_a", state.map(|state| state.carried().q_a)),
        ("v_b", state.map(|state| state.carried().q_b)),
        ("spread_a", state.map(|state| state.spread()[0])),
        ("spread_b", state.map(|state| state.spread()[1])),
    ] {
        record.insert(key.into(), number(value));
    }
    record
}

/// `theory advise --carry`.
pub fn advise(network: &RandomNetwork, advice: &CarriedAdvice) -> Answer {
    let carry = match advice.carry {
        CarryVerdict::Needed => "needed",
        CarryVerdict::Helpful => "helpful",
        CarryVerdict::Unneeded => "unneeded",
    };
    let mut answer = Answer::default();
    answer
        .fact(SENTENCE, verdict::carried_advice_in_short(network, advice))
        .facts(describe_network(network))
        .fact("depth", advice.depth)
        .fact("reach", advice.reach)
        .fact("carry", carry)
        .fact("reaches", advice.reaches)
        .fact("plain_depth", number(advice.plain_depth))
        .fact("plain_max_depth", number(advice.plain.max_depth))
        .fact("carried", describe_recommendation(network.model(), &advice.carried))
        .fact("verdict", verdict::of_carried_advice(network, advice));
    answer
}

fn describe_recommendation(model: Model, recommendation: &CarriedRecommendation) -> Record {
    let CarriedRecommendation { sigma2, sigma_b2, point, left: Remains { q, c, signal, gradient } } = recommendation;
    let mut record = describe_variances(model, *sigma2, *sigma_b2);
    record.extend(describe_point(point));
    for (key, value) in [("q", Some(*q)), ("c", Some(*c)), ("signal", *signal), ("gradient", *gradient)] {
        record.insert(key.into(), number(value));
    }
    record
}

/// What is left of signals over a plane.
pub struct CarriedPlane {
    pub network: RandomNetwork,
    pub diagram: CarriedDiagram,
    pub quantity: CarriedQuantity,
    pub depth: usize,
}

impl CarriedPlane {
    /// The answer of `theory phase-diagram --carry`.
    pub fn answer(&self, format: Format) -> Answer {
        let Self { network, diagram, quantity, depth } = self;
        let key = weight_variance_key(network.model()).unwrap_or("sigma2");
        let mut answer = Answer::default();
        answer.facts(describe_network(network)).fact("carry", true).fact("depth", *depth);
        let with_signal = *quantity == CarriedQuantity::Signal;
        let shown = if with_signal { "signal" } else { "gradient" };
        let values = diagram.cells.iter().filter_map(|cell| if with_signal { cell.signal } else { cell.gradient });
        let (least, most) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        answer.fact("points", diagram.cells.len());
        answer.fact(&format!("least_{shown}"), number(least.is_finite().then_some(least)));
        answer.fact(&format!("most_{shown}"), number(most.is_finite().then_some(most)));
        match format {
            Format::Json => {
                answer.fact(key, Value::from(diagram.x.clone())).fact("sigma_b2", Value::from(diagram.y.clone()));
                let rows = |value: fn(&isinglass_lab::phase_diagram::CarriedCell) -> Option<f64>| -> Value {
                    let row = |cells: &[isinglass_lab::phase_diagram::CarriedCell]| {
                        cells.iter().map(|cell| number(value(cell))).collect::<Vec<_>>()
                    };
                    diagram.cells.chunks(diagram.x.len()).map(row).collect::<Vec<_>>().into()
                };
                answer.fact("q", rows(|cell| cell.q)).fact("gradient", rows(|cell| cell.gradient));
                if with_signal {
                    answer.fact("signal", rows(|cell| cell.signal));
                }
            }
            Format::Csv => {
                let cells = diagram.y.iter().flat_map(|b| diagram.x.iter().map(move |x| (*x, *b))).zip(&diagram.cells);
                let rows = cells.map(|((x, b), cell)| {
                    let mut record = Record::from_iter([(key.to_owned(), number(x)), ("sigma_b2".to_owned(), number(b))]);
                    record.insert("q".into(), number(cell.q));
                    record.insert("gradient".into(), number(cell.gradient));
                    if with_signal {
                        record.insert("signal".into(), number(cell.signal));
                    }
                    record
                });
                answer.flat("points", rows.collect());
            }
            Format::Table => {}
        }
        let name = network_title(network);
        answer.fact("verdict", format!("{name}: with carried fields there is no critical line; {shown} left after {depth} layers."));
        answer
    }
}

/// Why a question has no answer for carried fields.
pub fn refuse(command: &str, reason: &str, instead: &str) -> CliError {
    usage(format!("theory {command} --carry: {reason}; use {instead}"))
}

/// Layers of a pair of signals, from fields or from inputs; layer 0 of the latter holds the inputs.
pub fn trajectory(field: &MeanField, start: FieldPair, from_inputs: bool, depth: usize) -> Result<Vec<Option<CarriedState>>, Error> {
    Ok(if from_inputs {
        let layers = field.carried_trajectory_from_inputs(start, depth)?;
        std::iter::once(None).chain(layers.into_iter().map(Some)).collect()
    } else {
        field.carried_trajectory(start, depth)?.into_iter().map(Some).collect()
    })
}
