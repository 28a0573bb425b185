//! `isinglass theory critical-line`.

use isinglass_lab::verdict;
use isinglass_theory::{CriticalPoint, CriticalSet, Model, RandomNetwork};
use serde_json::Value;

use super::carried::{CarryArgs, refuse};
use super::network::{NetworkArgs, OutputArgs, describe_network, describe_variances, network_title, usage};
use super::range::{Range, at_least_two};
use crate::cli::CliError;
use crate::cli::answer::{Answer, Record, number};

/// All critical initialisations, and which of them can be used.
///
/// Critical is where χ₁ = 1 and equal signals stay equal. A line is given along q, the variance of the fields on it, which resolves σ_b² down to 1e-30. Points with σ_m² > 1 are theory only:
/// means in [-1, 1] cannot have such a variance.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  isinglass theory critical-line --model deterministic --neuron probit:1
  isinglass theory critical-line --model deterministic --neuron tanh --plot line.svg
  isinglass theory critical-line --model continuous --neuron tanh --points 500 --format csv")]
pub struct Args {
    #[command(flatten)]
    network: NetworkArgs,
    // Refused with a reason rather than as an unknown flag.
    #[command(flatten)]
    carry: CarryArgs,

    /// Range of the fields' variance along the line
    #[arg(long, value_name = "MIN:MAX", default_value = "1e-10:100", allow_hyphen_values = true)]
    q: Range,

    /// Number of points on the line
    #[arg(long, default_value_t = 25, value_parser = at_least_two)]
    points: usize,

    #[command(flatten)]
    output: OutputArgs,
}

/// Smaller and larger fields are of no use, and their powers would leave the range of numbers.
const SMALLEST_Q: f64 = 1e-30;
const LARGEST_Q: f64 = 1e12;

impl Args {
    pub fn run(self) -> Result<(), CliError> {
        if self.carry.carry {
            let reason = "carried fields have no critical line: signals and gradients change as powers of the depth at every variance";
            return Err(refuse("critical-line", reason, "theory advise --carry or theory phase-diagram --carry"));
        }
        if self.q.low < SMALLEST_Q || self.q.high > LARGEST_Q {
            return Err(usage(format!(
                "--q {:e}:{:e}: the line can be followed from q = {SMALLEST_Q:e}, above 0, to {LARGEST_Q:e}",
                self.q.low, self.q.high
            )));
        }
        let network = self.network.network()?;
        let plot = self.output.plot()?;
        let critical = network.critical_set()?;
        let points = match &critical {
            CriticalSet::Line { .. } => line(&network, self.q, self.points)?,
            CriticalSet::Points(points) => points.clone(),
            CriticalSet::Empty(_) => Vec::new(),
        };
        if let Some(path) = plot {
            let drawn = if matches!(critical, CriticalSet::Line { .. }) { line(&network, self.q, 400)? } else { points.clone() };
            super::pictures::critical_line(&network_title(&network), network.model(), &drawn).save(path)?;
        }
        let mut answer = Answer::default();
        answer.facts(describe_network(&network)).fact("exists", !points.is_empty()).fact("reachable", critical.is_reachable());
        if let CriticalSet::Line { start, allowed } = &critical {
            answer.fact("start", describe(network.model(), start));
            let segments = allowed.iter().map(|segment| {
                let mut record = Record::new();
                record.insert("from".into(), describe(network.model(), &segment.from).into());
                record.insert("to".into(), segment.to.as_ref().map_or(Value::Null, |to| describe(network.model(), to).into()));
                Value::Object(record)
            });
            answer.fact("allowed", segments.collect::<Vec<_>>());
        }
        let columns = describe_with_limit(network.model(), &CriticalPoint { q: 0.0, sigma2: None, sigma_b2: 0.0 }, &critical);
        answer
            .rows("points", points.iter().map(|point| describe_with_limit(network.model(), point, &critical)).collect())
            .columns(columns.into_iter().map(|(key, _)| key));
        answer.fact("verdict", verdict::of_criticality(&network, &critical)?);
        Ok(answer.print(self.output.format())?)
    }
}

/// Points evenly spaced in `ln q`.
fn line(network: &RandomNetwork, q: Range, count: usize) -> Result<Vec<CriticalPoint>, CliError> {
    let (low, high) = (q.low.ln(), q.high.ln());
    isinglass_lab::phase_diagram::linspace(low, high, count).into_iter().map(|log_q| Ok(network.critical_point(log_q.exp())?)).collect()
}

fn describe(model: Model, point: &CriticalPoint) -> Record {
    let mut record = Record::new();
    record.insert("q".into(), number(point.q));
    record.extend(describe_variances(model, point.sigma2, point.sigma_b2));
    record
}

/// With `allowed`: whether the point can be used, which near the limit σ_m² = 1 a rounded σ_m² cannot tell.
fn describe_with_limit(model: Model, point: &CriticalPoint, critical: &CriticalSet) -> Record {
    let allowed = match critical {
        CriticalSet::Line { allowed, .. } => {
            allowed.iter().any(|segment| point.q >= segment.from.q && segment.to.is_none_or(|to| point.q <= to.q))
        }
        CriticalSet::Points(_) => true,
        CriticalSet::Empty(_) => false,
    };
    let mut record = describe(model, point);
    record.insert("allowed".into(), allowed.into());
    record
}
