//! `isinglass theory critical-line`.

use isinglass_lab::chart::Figure;
use isinglass_lab::verdict;
use isinglass_theory::linspace;
use isinglass_theory::{CriticalPoint, CriticalSet, Model, RandomNetwork};
use serde_json::Value;

use super::carried::{CarryArgs, refuse};
use super::network::{NetworkArgs, OutputArgs, describe_network, describe_variances, network_title, usage};
use super::range::{Range, at_least_two};
use crate::cli::CliError;
use crate::cli::answer::{Answer, Record, number};
use crate::cli::output::rows_among;

/// All critical initialisations, and which of them can be used.
///
/// An initialisation is critical if χ₁ = 1 and equal signals stay equal. The line is parametrised by q, the variance of the fields on it, which resolves σ_b² down to 1e-30. Points with σ_m² > 1 exist
/// in theory only: means in [-1, 1] cannot have such a variance.
#[derive(Debug, clap::Args)]
#[command(mut_arg("rows", rows_among(&["points", "allowed", "facts"])))]
#[command(after_help = "Examples:
  isinglass theory critical-line --model deterministic --neuron probit:1
  isinglass theory critical-line --model deterministic --neuron tanh --plot line.svg
  isinglass theory critical-line --model continuous --neuron tanh --points 500 --format csv")]
pub struct Args {
    #[command(flatten)]
    question: Question,
    #[command(flatten)]
    output: OutputArgs,
}

impl Args {
    pub fn run(self) -> Result<(), CliError> {
        let plot = self.output.plot()?;
        let answer = self.question.describe()?;
        if let Some(plot) = plot {
            plot.write(&self.question.figure()?)?;
        }
        self.output.print.print(answer)
    }
}

/// All critical initialisations, and which of them can be used.
#[derive(Debug, Clone, clap::Args)]
pub struct Question {
    /// Which network.
    #[command(flatten)]
    pub network: NetworkArgs,
    // Refused with a reason rather than as an unknown flag.
    #[command(flatten)]
    pub(crate) carry: CarryArgs,

    /// Range of the fields' variance along the line
    #[arg(long, value_name = "MIN:MAX", default_value = "1e-10:100", allow_hyphen_values = true)]
    pub q: Range,

    /// Number of points on the line
    #[arg(long, default_value_t = 25, value_parser = at_least_two)]
    pub points: usize,
}

/// Smaller and larger fields are of no use, and their powers would leave the range of numbers.
const SMALLEST_Q: f64 = 1e-30;
const LARGEST_Q: f64 = 1e12;

impl Question {
    fn critical_set(&self) -> Result<(RandomNetwork, CriticalSet), CliError> {
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
        let critical = network.critical_set()?;
        Ok((network, critical))
    }

    pub(crate) fn describe(&self) -> Result<Answer, CliError> {
        let (network, critical) = self.critical_set()?;
        let points = points(&network, &critical, self.q, self.points)?;
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
        Ok(answer)
    }

    pub(crate) fn figure(&self) -> Result<Figure, CliError> {
        let (network, critical) = self.critical_set()?;
        let points = points(&network, &critical, self.q, 400)?;
        Ok(super::pictures::critical_line(&network_title(&network), network.model(), &points))
    }
}

/// The critical initialisations; of a line `count`, evenly spaced in `ln q`.
fn points(network: &RandomNetwork, critical: &CriticalSet, q: Range, count: usize) -> Result<Vec<CriticalPoint>, CliError> {
    let (low, high) = (q.low.ln(), q.high.ln());
    match critical {
        CriticalSet::Line { .. } => linspace(low, high, count).into_iter().map(|log_q| Ok(network.critical_point(log_q.exp())?)).collect(),
        CriticalSet::Points(points) => Ok(points.clone()),
        CriticalSet::Empty(_) => Ok(Vec::new()),
    }
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
