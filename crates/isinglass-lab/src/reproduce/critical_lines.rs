//! Figure 3: critical lines, and whether any of them can be used.

use isinglass_theory::{CriticalPoint, CriticalSet, Model, Neuron, RandomNetwork, linspace};
use serde_json::Value;

use super::ReproduceError;
use super::judgement::Judgement;
use super::output::{Output, rounded, row};
use super::record::{FigureRecord, Table, Verdict};
use super::study::{Study, Subject};
use isinglass_chart::{Axis, Figure, Legend, Look, Panel, RefLine, Region};

/// Sign, probit, logistic and unit gain, and the captions' own functions.
const NEURONS: [(&str, Neuron); 6] = [
    ("sign", Neuron::Sign),
    ("probit:1", Neuron::Probit(1.0)),
    ("logistic:1", Neuron::Logistic(1.0)),
    ("tanh:1, unit gain", Neuron::Tanh(1.0)),
    ("erf:0.5, caption (b)", Neuron::Erf(0.5)),
    ("erf:0.25, caption (a)", Neuron::Erf(0.25)),
];
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
    let mut lines = Vec::new();
    for (index, (name, neuron)) in NEURONS.into_iter().enumerate() {
        let network = RandomNetwork::new(Model::Deterministic, neuron)?;
        let critical = network.critical_set()?;
        let line = line(&network)?;
        data.rows
            .extend(line.iter().map(|point| row([neuron.to_string().into(), point.q.into(), point.sigma2.into(), point.sigma_b2.into()])));
        starts.rows.push(row_of(name, &critical, &line));
        lines.push(Line { name, start: start(&critical), smallest: smallest(&line), is_reachable: critical.is_reachable() });
        let points = line.iter().filter_map(|point| Some((point.sigma_b2, point.sigma2?)));
        panel = panel.series(Look::nth(index).line(points).name(name));
    }
    let figure = Figure::new().title("Critical initialisations of the deterministic surrogate").panel(panel).size(860, 500);
    output.picture(
        "critical-lines",
        &figure,
        "Critical lines. Lines of probit:1 and logistic:1 include the noise of the neuron itself.",
    )?;
    output.table(starts);
    output.data("lines", &data)?;
    let claim = "All lines are above σ_m² = 1 for all but small σ_b², so that critical points are reached as σ_m² → 1.";
    output.claim(claim, Ok(judge(&lines)));
    output.finish()
}

/// The part of a line that is shown, evenly in `ln q`.
fn line(network: &RandomNetwork) -> Result<Vec<CriticalPoint>, ReproduceError> {
    let points = linspace(1e-9f64.ln(), 1e4f64.ln(), 600).into_iter().map(|log_q| network.critical_point(log_q.exp()));
    let points = points.collect::<Result<Vec<_>, _>>()?;
    Ok(points.into_iter().filter(|point| point.sigma_b2 >= SIGMA_B2.0 && point.sigma_b2 <= SIGMA_B2.1).collect())
}

/// What is said of a line.
struct Line {
    name: &'static str,
    start: Option<f64>,
    smallest: f64,
    is_reachable: bool,
}

/// The claim holds if every line comes to 1 as biases vanish and is above 1 elsewhere.
fn judge(lines: &[Line]) -> Judgement {
    let above = lines.iter().filter(|line| line.smallest >= 1.0).count();
    let reached = lines.iter().filter(|line| line.is_reachable).count();
    let verdict = match (above == lines.len(), reached) {
        (true, n) if n == lines.len() => Verdict::Holds,
        (true, 1..) => Verdict::HoldsInPart,
        _ => Verdict::DoesNotHold,
    };
    let starts: Vec<String> =
        lines.iter().filter_map(|line| Some(format!("{} {:.3}", line.name.split(',').next()?, line.start?))).collect();
    let evidence = format!(
        "{above} of {} lines are above 1 at every σ_b² shown, and {reached} can be reached, in the limit σ_b² → 0 alone. The σ_m² at which they start: {}.",
        lines.len(),
        starts.join(", ")
    );
    Judgement::exact(verdict, evidence)
}

fn start(critical: &CriticalSet) -> Option<f64> {
    match critical {
        CriticalSet::Line { start, .. } => start.sigma2,
        _ => None,
    }
}

fn smallest(line: &[CriticalPoint]) -> f64 {
    line.iter().filter_map(|point| point.sigma2).fold(f64::INFINITY, f64::min)
}

fn row_of(name: &str, critical: &CriticalSet, line: &[CriticalPoint]) -> Vec<Value> {
    let allowed = if critical.is_reachable() { "the limit σ_m² → 1, σ_b² → 0" } else { "none" };
    row([name.into(), start(critical).map_or(Value::Null, |sigma2| rounded(sigma2, 5)), rounded(smallest(line), 5), allowed.into()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_decide_by_where_they_lie() {
        let line = |smallest: f64, is_reachable: bool| Line { name: "a", start: Some(1.0), smallest, is_reachable };
        assert_eq!(judge(&[line(1.0, true), line(1.1, true)]).verdict, Verdict::Holds);
        assert_eq!(judge(&[line(1.0, true), line(1.5, false)]).verdict, Verdict::HoldsInPart);
        assert_eq!(judge(&[line(1.2, false)]).verdict, Verdict::DoesNotHold);
        assert_eq!(judge(&[line(0.8, true)]).verdict, Verdict::DoesNotHold);
    }
}
