//! Figure 4: over how many layers signals are remembered.

use isinglass_theory::{Model, Neuron, Point, RandomNetwork, linspace};
use serde_json::Value;

use super::ReproduceError;
use super::judgement::Judgement;
use super::output::{Output, row};
use super::plane::scale_text;
use super::record::{FigureRecord, Table, Verdict};
use super::study::{Study, Subject};
use isinglass_chart::{Axis, Figure, Legend, Look, Panel};

const NETWORKS: [(&str, Model, Neuron); 6] = [
    ("sign", Model::Deterministic, Neuron::Sign),
    ("probit:1", Model::Deterministic, Neuron::Probit(1.0)),
    ("logistic:1", Model::Deterministic, Neuron::Logistic(1.0)),
    ("tanh:1, unit gain", Model::Deterministic, Neuron::Tanh(1.0)),
    ("LRT, continuous tanh", Model::LrtContinuous, Neuron::Tanh(1.0)),
    ("LRT, binary logistic", Model::LrtBinary, Neuron::Logistic(1.0)),
];
/// Biases beside none.
const SIGMA_B2: [f64; 4] = [0.0, 0.001, 0.01, 0.1];

const CAPTION: &str = "Depth scales of variance (left) and correlation (right): a perturbation falls by e in ξ layers. With σ_b² = 0 signals of the deterministic surrogate die out; the scale on the \
    right is then that of their size, −1/ln χ₁, since their correlation freezes.\n\n\
    Of standard continuous networks there is a whole line of points at which ξ_c diverges (isinglass theory critical-line --model continuous --neuron tanh).";

/// The scales at one point, infinite where one diverges; `None` where one does not exist.
struct Scales {
    q: Option<f64>,
    c: Option<f64>,
}

/// What is said of a network.
struct End {
    name: &'static str,
    diverges_below: bool,
    at_one: Option<f64>,
}

/// The claim holds if every scale diverges at `σ_m² = 1` and nowhere below.
fn judge(ends: &[End]) -> Judgement {
    let below = ends.iter().filter(|end| end.diverges_below).count();
    let is_divergent = |end: &&End| end.at_one == Some(f64::INFINITY);
    let diverging: Vec<&str> = ends.iter().filter(is_divergent).map(|end| end.name).collect();
    let finite: Vec<String> =
        ends.iter().filter(|end| !is_divergent(end)).filter_map(|end| Some(format!("{} {:.2}", end.name, end.at_one?))).collect();
    let verdict = match (below, diverging.len()) {
        (0, n) if n == ends.len() => Verdict::Holds,
        (0, 1..) => Verdict::HoldsInPart,
        _ => Verdict::DoesNotHold,
    };
    let evidence = format!(
        "{below} of {} networks have a scale that diverges below σ_m² = 1. At 1 it diverges for {}; elsewhere it is finite, in layers: {}.",
        ends.len(),
        if diverging.is_empty() { "none".to_owned() } else { diverging.join(" and ") },
        finite.join(", ")
    );
    Judgement::exact(verdict, evidence)
}

fn scales(network: &RandomNetwork, sigma_m2: f64, sigma_b2: f64) -> Result<Scales, ReproduceError> {
    let field = network.at(Some(sigma_m2), sigma_b2)?;
    Ok(Scales { q: Point::of(&field)?.xi_q(), c: field.signal_scale()? })
}

pub(super) fn make(study: &Study) -> Result<FigureRecord, ReproduceError> {
    let mut output = Output::new(study, Subject::Fig4, CAPTION)?;
    let columns = ["network", "sigma_m2", "sigma_b2", "xi_q", "xi_c"];
    let mut data = Table { title: String::new(), columns: columns.map(Into::into).into(), rows: Vec::new() };
    let mut by_neuron = Pair::new("σ_b^2 = 0");
    for (index, (name, model, neuron)) in NETWORKS.into_iter().enumerate() {
        let curve = curve(&RandomNetwork::new(model, neuron)?, 0.0)?;
        data.rows.extend(rows(name, 0.0, &curve));
        by_neuron = by_neuron.with(name, index, &curve);
    }
    let title = "Depth scales without biases";
    output.picture("neurons", &by_neuron.figure(title), "Without biases. Only unit gain, and LRT with continuous neurons, have a scale that diverges, and at σ_m² → 1 only; in (b) the two coincide. LRT with binary neurons remembers no variance at all (ξ_q = 0).")?;
    let unit = RandomNetwork::new(Model::Deterministic, Neuron::Tanh(1.0))?;
    let mut by_bias = Pair::new("tanh:1");
    for (index, sigma_b2) in SIGMA_B2.into_iter().enumerate() {
        let curve = curve(&unit, sigma_b2)?;
        if sigma_b2 > 0.0 {
            data.rows.extend(rows("tanh:1, unit gain", sigma_b2, &curve));
        }
        by_bias = by_bias.with(&format!("σ_b^2 = {sigma_b2}"), index, &curve);
    }
    output.picture(
        "biases",
        &by_bias.figure("Depth scales of the unit gain, with biases"),
        "The deterministic surrogate of unit gain: biases shorten every scale.",
    )?;
    output.data("depth-scales", &data)?;
    let columns = ["network", "ξ at σ_m² = 0.5", "ξ at 0.9", "ξ at 0.99", "ξ at 1"];
    let mut table =
        Table { title: "Depth scale of the signal, σ_b² = 0".into(), columns: columns.map(Into::into).into(), rows: Vec::new() };
    let mut ends = Vec::new();
    for (name, model, neuron) in NETWORKS {
        let network = RandomNetwork::new(model, neuron)?;
        let mut cells = vec![Value::from(name)];
        for sigma_m2 in [0.5, 0.9, 0.99, 1.0] {
            cells.push(scales(&network, sigma_m2, 0.0)?.c.map_or(Value::Null, scale_text));
        }
        let below = curve(&network, 0.0)?.iter().any(|(_, scales)| scales.c == Some(f64::INFINITY));
        ends.push(End { name, diverges_below: below, at_one: scales(&network, 1.0, 0.0)?.c });
        table.rows.push(cells);
    }
    output.table(table);
    output.claim("The correlation depth scale ξ_c diverges, and only as σ_m² → 1.", Ok(judge(&ends)));
    output.finish()
}

/// `σ_m²` and the scales there, denser towards 1.
fn curve(network: &RandomNetwork, sigma_b2: f64) -> Result<Vec<(f64, Scales)>, ReproduceError> {
    let variances =
        linspace(0.01, 0.9, 90).into_iter().chain(linspace(-1.0, -4.0, 61).into_iter().skip(1).map(|power| 1.0 - 10f64.powf(power)));
    variances.map(|sigma_m2| Ok((sigma_m2, scales(network, sigma_m2, sigma_b2)?))).collect()
}

/// What does not exist or diverges is empty.
fn number(scale: Option<f64>) -> Value {
    scale.filter(|scale| scale.is_finite()).into()
}

fn rows(name: &str, sigma_b2: f64, curve: &[(f64, Scales)]) -> Vec<Vec<Value>> {
    curve
        .iter()
        .map(|(sigma_m2, scales)| row([name.into(), (*sigma_m2).into(), sigma_b2.into(), number(scales.q), number(scales.c)]))
        .collect()
}

/// The scale of the variance beside that of the correlation.
struct Pair {
    variance: Panel,
    correlation: Panel,
}

impl Pair {
    fn new(what: &str) -> Self {
        let panel =
            |label: &str| Panel::new(Axis::linear("variance of the means σ_m^2").range(0.0, 1.0), Axis::log10(label).range(0.1, 1e4));
        Self {
            variance: panel("ξ_q, layers").title(format!("(a) variance, {what}")).legend(Legend::Hidden),
            correlation: panel("ξ_c, layers").title(format!("(b) correlation, {what}")).legend(Legend::Auto),
        }
    }

    fn with(self, name: &str, index: usize, curve: &[(f64, Scales)]) -> Self {
        let series = |value: fn(&Scales) -> Option<f64>| {
            let points: Vec<(f64, f64)> = curve.iter().map(|(x, scales)| (*x, value(scales).unwrap_or(f64::NAN))).collect();
            Look::nth(index).line(points).name(name)
        };
        Self { variance: self.variance.series(series(|scales| scales.q)), correlation: self.correlation.series(series(|scales| scales.c)) }
    }

    fn figure(self, title: &str) -> Figure {
        Figure::new().title(title).panel(self.variance).panel(self.correlation).size(960, 440)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_decide_by_where_they_diverge() {
        let end = |diverges_below: bool, at_one: f64| End { name: "a", diverges_below, at_one: Some(at_one) };
        assert_eq!(judge(&[end(false, f64::INFINITY)]).verdict, Verdict::Holds);
        assert_eq!(judge(&[end(false, f64::INFINITY), end(false, 2.0)]).verdict, Verdict::HoldsInPart);
        assert_eq!(judge(&[end(false, 2.0)]).verdict, Verdict::DoesNotHold);
        assert_eq!(judge(&[end(true, f64::INFINITY)]).verdict, Verdict::DoesNotHold);
    }
}
