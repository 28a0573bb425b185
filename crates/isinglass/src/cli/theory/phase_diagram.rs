//! `isinglass theory phase-diagram`.

use std::io::{self, IsTerminal, Write};

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use isinglass_lab::phase_diagram::{CarriedQuantity, Cell, PhaseDiagram, Quantity, linspace};
use isinglass_lab::verdict;
use isinglass_theory::{CriticalPoint, CriticalSet, Model, RandomNetwork};
use serde_json::Value;

use super::carried::{self, CarryArgs};
use super::network::{NetworkArgs, OutputArgs, describe_network, usage, weight_variance_key};
use super::range::{Grid, Range};
use crate::cli::answer::{Answer, Record, number};
use crate::cli::{CliError, Format};
use isinglass_lab::csv;

/// χ₁ or ξ_c over the plane of initialisations.
///
/// The plane is (σ_m², σ_b²) or (σ_w², σ_b²); the picture also shows the critical line and the limit σ_m² = 1.
/// CSV has one row per point; JSON has the two axes and one list per row of the grid; the table counts the phases.
/// Points with σ_m² > 1 are empty: no means have such a variance.
///
/// With --carry there is no critical line, and the picture shows what is left after --depth layers: of the mean squared gradient (which is also what is left of small differences), or of the signal.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  isinglass theory phase-diagram --model continuous --neuron tanh --grid 200x200 --plot phase.svg
  isinglass theory phase-diagram --neuron erf:1 --x 0:1.2 --y 0:0.2 --plot phase.png
  isinglass theory phase-diagram --model lrt-continuous --neuron tanh --quantity xi_c --grid 50x50
  isinglass theory phase-diagram --neuron sign --carry --depth 100 --grid 50x50 --plot left.png")]
pub struct Args {
    #[command(flatten)]
    network: NetworkArgs,

    /// Number of points along σ_m² (or σ_w²) and σ_b²
    #[arg(long, value_name = "COLUMNSxROWS", default_value = "200x200", allow_hyphen_values = true)]
    grid: Grid,

    /// Range of σ_m² or σ_w² [default: chosen to show the critical line]
    #[arg(long, value_name = "MIN:MAX", allow_hyphen_values = true)]
    x: Option<Range>,

    /// Range of σ_b²
    #[arg(long, value_name = "MIN:MAX", default_value = "0:0.5", allow_hyphen_values = true)]
    y: Range,

    /// What to colour [default: chi_1, with --carry gradient]
    #[arg(long, value_enum)]
    quantity: Option<QuantityArg>,

    #[command(flatten)]
    carry: CarryArgs,

    /// With --carry: the number of layers that signals have to pass [default: 100]
    #[arg(long, allow_hyphen_values = true, requires = "carry")]
    depth: Option<usize>,

    /// Number of threads [default: one per core]
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    threads: usize,

    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum QuantityArg {
    /// The slope at c = 1: below 1 signals converge, above 1 they separate
    #[value(name = "chi_1", aliases = ["chi-1", "chi1"])]
    Chi1,
    /// The depth scale of correlations
    #[value(name = "xi_c", aliases = ["xi-c", "xic"])]
    XiC,
    /// With --carry: what is left of the mean squared gradient, and of small differences
    Gradient,
    /// With --carry: what is left of the signal
    Signal,
}

impl Args {
    pub fn run(self) -> Result<(), CliError> {
        let network = self.network.network()?;
        if self.carry.carry {
            return self.run_carried(&network);
        }
        let plot = self.output.plot()?;
        let quantity = match self.quantity {
            None | Some(QuantityArg::Chi1) => Quantity::Chi1,
            Some(QuantityArg::XiC) => Quantity::XiC,
            Some(QuantityArg::Gradient) => return Err(usage("--quantity gradient is of carried fields: add --carry, or use chi_1")),
            Some(QuantityArg::Signal) => return Err(usage("--quantity signal is of carried fields: add --carry, or use xi_c")),
        };
        let critical = network.critical_set()?;
        let x = self.x.unwrap_or_else(|| default_range(&network, &critical));
        let bar = progress_bar(self.grid.rows);
        let diagram = PhaseDiagram::compute(
            &network,
            linspace(x.low, x.high, self.grid.columns),
            linspace(self.y.low, self.y.high, self.grid.rows),
            quantity,
            self.threads,
            &|rows| bar.set_position(rows as u64),
        )?;
        bar.finish_and_clear();
        let line = line_inside(&network, &critical, self.y)?;
        if let Some(path) = plot {
            super::pictures::phase_diagram(&network, &diagram, quantity, &critical, &line)?.save(path)?;
        }
        match self.output.format() {
            Format::Csv => Ok(write_csv(network.model(), &diagram, quantity)?),
            format => {
                let answer = answer(&network, &diagram, quantity, &line, &critical, format)?;
                Ok(answer.print(format)?)
            }
        }
    }
}

impl Args {
    fn run_carried(self, network: &RandomNetwork) -> Result<(), CliError> {
        let quantity = match self.quantity {
            None | Some(QuantityArg::Gradient) => CarriedQuantity::Gradient,
            Some(QuantityArg::Signal) => CarriedQuantity::Signal,
            Some(QuantityArg::Chi1 | QuantityArg::XiC) => {
                return Err(usage(
                    "carried fields change as powers of the depth, not by a factor per layer: use --quantity gradient or signal",
                ));
            }
        };
        let depth = self.depth.unwrap_or(100);
        let plane = carried::Plane { x: self.x, y: self.y, grid: self.grid, depth, quantity, threads: self.threads };
        carried::phase_diagram(network, &plane, &self.output)
    }
}

/// A little past the allowed limit for means, and a little past the start of the critical line.
fn default_range(network: &RandomNetwork, critical: &CriticalSet) -> Range {
    let start = match critical {
        CriticalSet::Line { start, .. } => start.sigma2,
        CriticalSet::Points(points) => points.first().and_then(|point| point.sigma2),
        CriticalSet::Empty(_) => None,
    };
    let high = match weight_variance_key(network.model()) {
        Some("sigma_m2") => start.map_or(1.1, |start| (1.15 * start).max(1.1)),
        _ => start.map_or(4.0, |start| 4.0 * start),
    };
    Range { low: 0.0, high }
}

/// The critical line as far as it matters for the picture.
fn line_inside(network: &RandomNetwork, critical: &CriticalSet, y: Range) -> Result<Vec<CriticalPoint>, CliError> {
    let CriticalSet::Line { start, .. } = critical else { return Ok(Vec::new()) };
    let mut line = vec![*start];
    for log_q in linspace((1e-8f64).ln(), (1e6f64).ln(), 1500) {
        let point = network.critical_point(log_q.exp())?;
        line.push(point);
        if point.sigma_b2 > 1.1 * y.high {
            break;
        }
    }
    Ok(line)
}

/// Drawn on a terminal only, and never into the result.
pub(super) fn progress_bar(rows: usize) -> ProgressBar {
    let target = if io::stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let style =
        ProgressStyle::with_template("{bar:40} {percent}% of {len} rows, {eta} left").unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::with_draw_target(Some(rows as u64), target).with_style(style)
}

fn write_csv(model: Model, diagram: &PhaseDiagram, quantity: Quantity) -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let with_length = quantity == Quantity::XiC;
    write!(out, "{},sigma_b2,q_star,chi_1", weight_variance_key(model).unwrap_or("sigma2"))?;
    writeln!(out, "{},phase", if with_length { ",xi_c" } else { "" })?;
    let text = |value: Option<f64>| csv::field(&number(value));
    for (row, sigma_b2) in diagram.y.iter().enumerate() {
        for (column, sigma2) in diagram.x.iter().enumerate() {
            let Cell { q_star, chi_1, xi_c, phase } = *diagram.cell(column, row);
            write!(out, "{},{},{},{}", text(Some(*sigma2)), text(Some(*sigma_b2)), text(q_star), text(chi_1))?;
            if with_length {
                write!(out, ",{}", text(xi_c))?;
            }
            writeln!(out, ",{}", phase.map_or("", |phase| phase.name()))?;
        }
    }
    out.flush()
}

fn answer(
    network: &RandomNetwork,
    diagram: &PhaseDiagram,
    quantity: Quantity,
    line: &[CriticalPoint],
    critical: &CriticalSet,
    format: Format,
) -> Result<Answer, CliError> {
    let mut answer = Answer::default();
    answer.facts(describe_network(network));
    if format == Format::Json {
        let key = weight_variance_key(network.model()).unwrap_or("sigma2");
        let list = |values: &[f64]| Value::from(values.to_vec());
        answer.fact(key, list(&diagram.x)).fact("sigma_b2", list(&diagram.y));
        let rows = |value: fn(&Cell) -> Value| -> Value {
            diagram.cells().chunks(diagram.x.len()).map(|row| row.iter().map(value).collect::<Vec<_>>()).collect::<Vec<_>>().into()
        };
        answer.fact("chi_1", rows(|cell| number(cell.chi_1)));
        if quantity == Quantity::XiC {
            answer.fact("xi_c", rows(|cell| number(cell.xi_c)));
        }
        answer.fact("q_star", rows(|cell| number(cell.q_star))).fact("phase", rows(|cell| cell.phase.map(|phase| phase.name()).into()));
        let points = line.iter().map(|point| {
            let mut record = Record::new();
            record.insert("q".into(), number(point.q));
            record.insert(key.into(), number(point.sigma2));
            record.insert("sigma_b2".into(), number(point.sigma_b2));
            record
        });
        answer.rows("critical_line", points.collect());
    } else {
        answer.fact("points", diagram.cells().len());
        for name in ["ordered", "critical", "chaotic", "noise-limited"] {
            let count = diagram.cells().iter().filter(|cell| cell.phase.is_some_and(|phase| phase.name() == name)).count();
            answer.fact(name, count);
        }
        answer.fact("not allowed", diagram.cells().iter().filter(|cell| cell.phase.is_none()).count());
    }
    answer.fact("verdict", verdict::of_criticality(network, critical)?);
    Ok(answer)
}
