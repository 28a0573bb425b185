//! `isinglass theory phase-diagram`.

use std::io::{self, Write};

use clap::ValueEnum;
use isinglass_lab::chart::Figure;
use isinglass_lab::phase_diagram::{CarriedDiagram, CarriedQuantity, Cell, PhaseDiagram, Quantity};
use isinglass_lab::verdict;
use isinglass_theory::linspace;
use isinglass_theory::{CarriedPoint, CriticalPoint, CriticalSet, Phase, RandomNetwork};
use serde_json::Value;

use super::carried::{CarriedPlane, CarryArgs};
use super::network::{NetworkArgs, OutputArgs, describe_network, usage, weight_variance_key};
use super::range::{Grid, Range};
use crate::cli::answer::{Answer, Record, number};
use crate::cli::output::{ThreadsArgs, rows_among};
use crate::cli::terminal::bar;
use crate::cli::{CliError, Format};
use isinglass_lab::csv;

/// χ₁ or ξ_c over the plane of initialisations.
///
/// The plane is (σ_m², σ_b²) or (σ_w², σ_b²); the picture also shows the critical line and the limit σ_m² = 1.
/// CSV has one row per point; JSON has the two axes and one list per row of the grid; the table counts the phases.
/// Points with σ_m² > 1 are empty: no means have such a variance.
///
/// With --carry there is no critical line. The picture shows what is left after --depth layers of the mean squared gradient (and thus of small differences), or of the signal.
#[derive(Debug, clap::Args)]
#[command(mut_arg("rows", rows_among(&["points", "critical_line", "facts"])))]
#[command(after_help = "Examples:
  isinglass theory phase-diagram --model continuous --neuron tanh --grid 200x200 --plot phase.svg
  isinglass theory phase-diagram --neuron erf:1 --x 0:1.2 --y 0:0.2 --plot phase.png
  isinglass theory phase-diagram --model lrt-continuous --neuron tanh --quantity xi_c --grid 50x50
  isinglass theory phase-diagram --neuron sign --carry --depth 100 --grid 50x50 --plot left.png")]
pub struct Args {
    #[command(flatten)]
    question: Question,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    threads: ThreadsArgs,
}

impl Args {
    pub fn run(self) -> Result<(), CliError> {
        let plot = self.output.plot()?;
        let bar = bar("{bar:24} {percent}% of {len} rows, {eta} left");
        bar.set_length(self.question.grid.rows as u64);
        let question = Question { threads: self.threads.count(), ..self.question };
        let plane = question.compute(&|rows| bar.set_position(rows as u64))?;
        bar.finish_and_clear();
        if let Some(plot) = plot {
            plot.write(&plane.figure()?)?;
        }
        let print = &self.output.print;
        let (rows, format) = (print.rows(), print.format());
        let is_points = rows.is_none_or(|rows| rows == POINTS);
        match &plane {
            // There may be millions of points.
            Plane::Plain(plane) if is_points && format == Format::Csv => Ok(plane.write_csv()?),
            Plane::Plain(plane) if rows == Some(POINTS) && format == Format::Table => print.print(plane.points()),
            Plane::Plain(plane) if print.is_for_reading() => print.print(plane.answer(Format::Table)?),
            Plane::Plain(plane) => print.print(plane.answer(Format::Json)?),
            Plane::Carried(plane) if rows == Some(POINTS) && format == Format::Table => print.print(plane.answer(Format::Csv)),
            Plane::Carried(plane) if rows.is_some_and(|rows| rows != POINTS) => print.print(plane.answer(Format::Json)),
            Plane::Carried(plane) => print.print(plane.answer(format)),
        }
    }
}

/// The table with a row for every point.
const POINTS: &str = "points";

/// χ₁, ξ_c or what is left of signals over the plane of initialisations.
#[derive(Debug, Clone, clap::Args)]
pub struct Question {
    /// Which network.
    #[command(flatten)]
    pub network: NetworkArgs,

    /// Number of points along σ_m² (or σ_w²) and σ_b²
    #[arg(long, value_name = "COLUMNSxROWS", default_value = "200x200", allow_hyphen_values = true)]
    pub grid: Grid,

    /// Range of σ_m² or σ_w² [default: chosen to show the critical line]
    #[arg(long, value_name = "MIN:MAX", allow_hyphen_values = true)]
    pub x: Option<Range>,

    /// Range of σ_b²
    #[arg(long, value_name = "MIN:MAX", default_value = "0:0.5", allow_hyphen_values = true)]
    pub y: Range,

    /// Quantity to show [default: chi_1; with --carry: gradient]
    #[arg(long, value_enum)]
    pub quantity: Option<QuantityArg>,

    /// Whether fields are carried.
    #[command(flatten)]
    pub carry: CarryArgs,

    /// With --carry: number of layers [default: 100]
    #[arg(long, allow_hyphen_values = true, requires = "carry")]
    pub depth: Option<usize>,

    /// Number of threads; 0 is one per core.
    #[arg(skip)]
    pub threads: usize,
}

/// What to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum QuantityArg {
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

/// The theory over a plane.
pub enum Plane {
    /// Of plain layers.
    Plain(PlainPlane),
    /// Of carried fields.
    Carried(CarriedPlane),
}

impl Plane {
    pub fn figure(&self) -> Result<Figure, CliError> {
        match self {
            Self::Plain(plane) => {
                super::pictures::phase_diagram(&plane.network, &plane.diagram, plane.quantity, &plane.critical, &plane.line)
            }
            Self::Carried(plane) => super::pictures::carried_diagram(&plane.network, &plane.diagram, plane.quantity, plane.depth),
        }
    }
}

/// χ₁ or ξ_c over a plane, and the critical line in it.
pub struct PlainPlane {
    pub network: RandomNetwork,
    pub diagram: PhaseDiagram,
    pub quantity: Quantity,
    critical: CriticalSet,
    pub line: Vec<CriticalPoint>,
}

impl Question {
    /// Computes all points; `progress` is told the number of rows done.
    pub(crate) fn compute(&self, progress: &(dyn Fn(usize) + Sync)) -> Result<Plane, CliError> {
        let network = self.network.network()?;
        if self.carry.carry {
            return self.compute_carried(network, progress).map(Plane::Carried);
        }
        let quantity = match self.quantity {
            None | Some(QuantityArg::Chi1) => Quantity::Chi1,
            Some(QuantityArg::XiC) => Quantity::XiC,
            Some(QuantityArg::Gradient) => return Err(usage("--quantity gradient is of carried fields: add --carry, or use chi_1")),
            Some(QuantityArg::Signal) => return Err(usage("--quantity signal is of carried fields: add --carry, or use xi_c")),
        };
        let critical = network.critical_set()?;
        let (columns, rows) = self.axes(|| default_range(&network, &critical));
        let diagram = PhaseDiagram::compute(&network, columns, rows, quantity, self.threads, progress)?;
        let line = line_inside(&network, &critical, self.y)?;
        Ok(Plane::Plain(PlainPlane { network, diagram, quantity, critical, line }))
    }

    fn compute_carried(&self, network: RandomNetwork, progress: &(dyn Fn(usize) + Sync)) -> Result<CarriedPlane, CliError> {
        let quantity = match self.quantity {
            None | Some(QuantityArg::Gradient) => CarriedQuantity::Gradient,
            Some(QuantityArg::Signal) => CarriedQuantity::Signal,
            Some(QuantityArg::Chi1 | QuantityArg::XiC) => {
                return Err(usage(
                    "carried fields change as powers of the depth, not by a factor per layer: use --quantity gradient or signal",
                ));
            }
        };
        // Relu and linear are refused here rather than point by point.
        CarriedPoint::of(&network.at(weight_variance_key(network.model()).map(|_| 0.5), 0.0)?)?;
        let means = weight_variance_key(network.model()) == Some("sigma_m2");
        let axes = self.axes(|| Range { low: 0.0, high: if means { 1.0 } else { 4.0 } });
        let depth = self.depth.unwrap_or(100);
        let diagram = CarriedDiagram::compute(&network, axes, depth, quantity, self.threads, progress)?;
        Ok(CarriedPlane { network, diagram, quantity, depth })
    }

    /// The values along σ_m² (or σ_w²) and along σ_b².
    fn axes(&self, default_x: impl FnOnce() -> Range) -> (Vec<f64>, Vec<f64>) {
        let x = self.x.unwrap_or_else(default_x);
        (linspace(x.low, x.high, self.grid.columns), linspace(self.y.low, self.y.high, self.grid.rows))
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

impl PlainPlane {
    pub fn write_csv(&self) -> io::Result<()> {
        let Self { network, diagram, quantity, .. } = self;
        let mut out = io::BufWriter::new(io::stdout().lock());
        let with_length = *quantity == Quantity::XiC;
        write!(out, "{},sigma_b2,q_star,chi_1", weight_variance_key(network.model()).unwrap_or("sigma2"))?;
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

    /// The points alone, as a table for reading.
    fn points(&self) -> Answer {
        let Self { network, diagram, quantity, .. } = self;
        let key = weight_variance_key(network.model()).unwrap_or("sigma2");
        let places = diagram.y.iter().flat_map(|b| diagram.x.iter().map(move |x| (*x, *b)));
        let row = |((x, b), cell): ((f64, f64), &Cell)| {
            let mut row = Record::from_iter([(key.to_owned(), number(x)), ("sigma_b2".to_owned(), number(b))]);
            row.insert("q_star".into(), number(cell.q_star));
            row.insert("chi_1".into(), number(cell.chi_1));
            if *quantity == Quantity::XiC {
                row.insert("xi_c".into(), number(cell.xi_c));
            }
            row.insert("phase".into(), cell.phase.map(|phase| phase.name()).into());
            row
        };
        Answer::default().flat(POINTS, places.zip(diagram.cells()).map(row).collect()).take()
    }

    pub fn answer(&self, format: Format) -> Result<Answer, CliError> {
        let Self { network, diagram, quantity, critical, line } = self;
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
            if *quantity == Quantity::XiC {
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
        }
        answer.fact("points", diagram.cells().len());
        for name in Phase::ALL.map(Phase::name) {
            let count = diagram.cells().iter().filter(|cell| cell.phase.is_some_and(|phase| phase.name() == name)).count();
            answer.fact(name, count);
        }
        answer.fact("not allowed", diagram.cells().iter().filter(|cell| cell.phase.is_none()).count());
        answer.fact("verdict", verdict::of_criticality(network, critical)?);
        Ok(answer)
    }
}
