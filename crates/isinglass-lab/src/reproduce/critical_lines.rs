//! Figure 3: critical lines, and whether any of them can be used.

use isinglass_theory::{CriticalPoint, CriticalSet, Model, Network, Neuron};
use serde_json::Value;

use super::ReproduceError;
use super::output::{Output, rounded, row};
use super::record::{FigureRecord, Table, Verdict};
use super::study::{Study, Subject};
use crate::chart::{Axis, Dash, Figure, Legend, PALETTE, Panel, RefLine, Region, Series};
use crate::phase_diagram::linspace;

/// Sign, probit, logistic and unit gain, and the captions' own functions.
const NEURONS: [(&str, Neuron); 6] = [
    ("sign", Neuron::Sign),
    ("probit:1", Neuron::Probit(1.0)),
    ("logistic:1", Neuron::Logistic(1.0)),
    ("tanh:1, unit gain", Neuron::Tanh(1.0)),
    ("erf:0.5, caption (b)", Neuron::Erf(0.5)),
    ("erf:0.25, caption (a)", Neuron::Erf(0.25)),
];
const DASHES: [Dash; 3] = [Dash::Solid, Dash::Dashed, Dash::DashDot];
/// The bias variances shown.
const SIGMA_B2: (f64, f64) = (1e-20, 10.0);

const CAPTION: &str = "Where the deterministic surrogate is critical (χ₁ = 1), along σ_b² down to 1e-20. Means in [−1, 1] cannot have a variance above 1: what lies in the hatched region is theory only.\n\n\
    The captions of the paper name erf(z/4) for stochastic and erf(z/2) for sign neurons, whose lines start at σ_m² = 4π and π; lines that come close to 1, as published, are those of unit gain \
    (misprint 13 in docs/paper.md). The exact sign neuron's line starts at π/2.";

pub(super) fn make(study: &Study) -> Result<FigureRecord, ReproduceError> {
    let mut output = Output::new(study, Subject::Fig3, CAPTION)?;
    output.setting("model", "deterministic");
    output.setting("sigma-b2", format!("{:e} to {}", SIGMA_B2.0, SIGMA_B2.1));
    let mut panel = Panel::new(
        Axis::log10("bias variance σ_b^2").range(SIGMA_B2.0, SIGMA_B2.1),
        Axis::log10("variance of the means σ_m^2").range(0.8, 20.0),
    )
    .region(Region::above(1.0).label("σ_m^2 > 1: impossible"))
    .ref_line(RefLine::horizontal(1.0))
    .legend(Legend::Right);
    let columns = ["neuron", "starts at σ_m²", "smallest σ_m² on the line", "allowed points"];
    let mut starts = Table {
        title: "Where the lines begin (σ_b² → 0), and whether any of their points can be used".into(),
        columns: columns.map(Into::into).into(),
        rows: Vec::new(),
    };
    let columns = ["neuron", "q", "sigma_m2", "sigma_b2"];
    let mut data = Table { title: String::new(), columns: columns.map(Into::into).into(), rows: Vec::new() };
    let mut reachable = Vec::new();
    for (index, (name, neuron)) in NEURONS.into_iter().enumerate() {
        let network = Network::new(Model::Deterministic, neuron)?;
        let critical = network.critical_set()?;
        let line = line(&network)?;
        data.rows
            .extend(line.iter().map(|point| row([neuron.to_string().into(), point.q.into(), point.sigma2.into(), point.sigma_b2.into()])));
        if critical.is_reachable() {
            reachable.push(name);
        }
        starts.rows.push(start(name, &critical, &line));
        let points = line.iter().filter_map(|point| Some((point.sigma_b2, point.sigma2?)));
        panel = panel.series(Series::line(points).name(name).colour(PALETTE[index % PALETTE.len()]).dash(DASHES[index % DASHES.len()]));
    }
    let figure = Figure::new().title("Critical initialisations of the deterministic surrogate").panel(panel).size(960, 520);
    output.picture(
        "critical-lines",
        &figure,
        "Critical lines. Lines of probit:1 and logistic:1 include the noise of the neuron itself.",
    )?;
    output.table(starts);
    output.data("lines", &data)?;
    output.claim(
        "All lines are above σ_m² = 1 for all but small σ_b², so critical points are reached as σ_m² → 1.",
        if reachable.is_empty() { Verdict::DoesNotHold } else { Verdict::HoldsInPart },
        format!(
            "The lines are above 1 indeed, but for real neurons they are so at every σ_b²: sign starts at π/2, probit:1 at π. Only {} comes to σ_m² = 1, in the limit σ_b² → 0.",
            if reachable.is_empty() { "none".to_owned() } else { reachable.join(", ") }
        ),
    );
    output.finish()
}

/// The part of a line that is shown, evenly in `ln q`.
fn line(network: &Network) -> Result<Vec<CriticalPoint>, ReproduceError> {
    let points = linspace(1e-9f64.ln(), 1e4f64.ln(), 600).into_iter().map(|log_q| network.critical_point(log_q.exp()));
    let points = points.collect::<Result<Vec<_>, _>>()?;
    Ok(points.into_iter().filter(|point| point.sigma_b2 >= SIGMA_B2.0 && point.sigma_b2 <= SIGMA_B2.1).collect())
}

fn start(name: &str, critical: &CriticalSet, line: &[CriticalPoint]) -> Vec<Value> {
    let start = match critical {
        CriticalSet::Line { start, .. } => start.sigma2,
        _ => None,
    };
    let smallest = line.iter().filter_map(|point| point.sigma2).fold(f64::INFINITY, f64::min);
    let allowed = if critical.is_reachable() { "the limit σ_m² → 1, σ_b² → 0" } else { "none" };
    row([name.into(), start.map_or(Value::Null, |sigma2| rounded(sigma2, 5)), rounded(smallest, 5), allowed.into()])
}
