//! Figure 4: over how many layers signals are remembered.

use isinglass_theory::advice::signal_rate;
use isinglass_theory::{Model, Network, Neuron, Point, depth_scale};
use serde_json::Value;

use super::ReproduceError;
use super::output::{Output, rounded, row};
use super::record::{FigureRecord, Table, Verdict};
use super::study::{Study, Subject};
use crate::chart::{Axis, Dash, Figure, Legend, PALETTE, Panel, Series};
use crate::phase_diagram::linspace;

const NETWORKS: [(&str, Model, Neuron); 6] = [
    ("sign", Model::Deterministic, Neuron::Sign),
    ("probit:1", Model::Deterministic, Neuron::Probit(1.0)),
    ("logistic:1", Model::Deterministic, Neuron::Logistic(1.0)),
    ("tanh:1, unit gain", Model::Deterministic, Neuron::Tanh(1.0)),
    ("LRT, continuous tanh", Model::LrtContinuous, Neuron::Tanh(1.0)),
    ("LRT, binary logistic", Model::LrtBinary, Neuron::Logistic(1.0)),
];
const DASHES: [Dash; 3] = [Dash::Solid, Dash::Dashed, Dash::DashDot];
/// Biases beside none.
const SIGMA_B2: [f64; 4] = [0.0, 0.001, 0.01, 0.1];

const CAPTION: &str = "Depth scales of variance (left) and correlation (right): a perturbation falls by e in ξ layers. With σ_b² = 0 signals of the deterministic surrogate die out; the scale on the \
    right is then that of their size, −1/ln χ₁, since their correlation freezes.\n\n\
    Of standard continuous networks there is a whole line of points at which ξ_c diverges (isinglass theory critical-line --model continuous --neuron tanh).";

/// The scales at one point; `None` where one diverges or does not exist.
struct Scales {
    q: Option<f64>,
    c: Option<f64>,
}

fn scales(network: &Network, sigma_m2: f64, sigma_b2: f64) -> Result<Scales, ReproduceError> {
    let point = Point::of(&network.at(Some(sigma_m2), sigma_b2)?)?;
    Ok(Scales { q: point.xi_q(), c: signal_rate(&point).and_then(depth_scale) })
}

pub(super) fn make(study: &Study) -> Result<FigureRecord, ReproduceError> {
    let mut output = Output::new(study, Subject::Fig4, CAPTION)?;
    let columns = ["network", "sigma_m2", "sigma_b2", "xi_q", "xi_c"];
    let mut data = Table { title: String::new(), columns: columns.map(Into::into).into(), rows: Vec::new() };
    let mut by_neuron = Pair::new("σ_b^2 = 0");
    for (index, (name, model, neuron)) in NETWORKS.into_iter().enumerate() {
        let curve = curve(&Network::new(model, neuron)?, 0.0)?;
        data.rows.extend(rows(name, 0.0, &curve));
        by_neuron = by_neuron.with(name, index, &curve);
    }
    let title = "Depth scales without biases";
    output.picture("neurons", &by_neuron.figure(title), "Without biases. Only unit gain, and LRT with continuous neurons, have a scale that diverges, and at σ_m² → 1 only. LRT with binary neurons remembers no variance at all (ξ_q = 0).")?;
    let unit = Network::new(Model::Deterministic, Neuron::Tanh(1.0))?;
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
    let mut diverging = Vec::new();
    for (name, model, neuron) in NETWORKS {
        let network = Network::new(model, neuron)?;
        let mut cells = vec![Value::from(name)];
        for sigma_m2 in [0.5, 0.9, 0.99, 1.0] {
            let point = Point::of(&network.at(Some(sigma_m2), 0.0)?)?;
            let is_divergent = signal_rate(&point).is_some_and(|rate| depth_scale(rate).is_none());
            cells.push(match signal_rate(&point).and_then(depth_scale) {
                Some(xi) => rounded(xi, 2),
                None if is_divergent => "∞".into(),
                None => Value::Null,
            });
            if sigma_m2 == 1.0 && is_divergent {
                diverging.push(name);
            }
        }
        table.rows.push(cells);
    }
    output.table(table);
    let sign = scales(&Network::new(Model::Deterministic, Neuron::Sign)?, 1.0, 0.0)?.c;
    output.claim(
        "The correlation depth scale ξ_c diverges only as σ_m² → 1.",
        Verdict::HoldsInPart,
        format!(
            "Nowhere below 1 does a scale diverge; at 1 it does for {}. For the exact sign neuron it does not: ξ stays below {:.2} layers.",
            diverging.join(" and "),
            sign.unwrap_or(f64::NAN)
        ),
    );
    output.finish()
}

/// `σ_m²` and the scales there, denser towards 1.
fn curve(network: &Network, sigma_b2: f64) -> Result<Vec<(f64, Scales)>, ReproduceError> {
    let variances =
        linspace(0.01, 0.9, 90).into_iter().chain(linspace(-1.0, -4.0, 61).into_iter().skip(1).map(|power| 1.0 - 10f64.powf(power)));
    variances.map(|sigma_m2| Ok((sigma_m2, scales(network, sigma_m2, sigma_b2)?))).collect()
}

fn rows(name: &str, sigma_b2: f64, curve: &[(f64, Scales)]) -> Vec<Vec<Value>> {
    curve
        .iter()
        .map(|(sigma_m2, scales)| row([name.into(), (*sigma_m2).into(), sigma_b2.into(), scales.q.into(), scales.c.into()]))
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
            Series::line(points).name(name).colour(PALETTE[index % PALETTE.len()]).dash(DASHES[index % DASHES.len()])
        };
        Self { variance: self.variance.series(series(|scales| scales.q)), correlation: self.correlation.series(series(|scales| scales.c)) }
    }

    fn figure(self, title: &str) -> Figure {
        Figure::new().title(title).panel(self.variance).panel(self.correlation)
    }
}
