//! The questions of `isinglass theory`, for programs: a question has the command's flags as fields, its answer the values that `--format json` prints and the picture that `--plot` draws.
//!
//! ```
//! use isinglass::questions::{Network, Point, Variances};
//!
//! let network = Network { model: "deterministic".into(), neuron: "sign".into() };
//! let variances = Variances { sigma_m2: Some(0.9), sigma_w2: None, sigma_b2: 0.001 };
//! let answer = Point { network, variances, carry: Default::default() }.answer()?;
//! assert_eq!(answer.values()["phase"], "ordered");
//! # Ok::<(), isinglass::CliError>(())
//! ```
//!
//! Programs in Rust that need no text are better served by [`theory`](crate::theory) itself.

use isinglass_lab::chart::Figure;
use isinglass_lab::phase_diagram::{CarriedCell, Cell};
use isinglass_theory::Phase;
use serde_json::{Map, Value};

use crate::cli::theory::{advise, carried, critical_line, map, network, phase_diagram, point, range, trajectory};
use crate::cli::{CliError, Format};

pub use advise::Question as Advise;
pub use carried::CarryArgs as Carry;
pub use critical_line::Question as CriticalLine;
pub use map::Question as CorrelationMap;
pub use network::{NetworkArgs as Network, VarianceArgs as Variances};
pub use phase_diagram::{QuantityArg as Quantity, Question as PhaseDiagram};
pub use point::Question as Point;
pub use range::{Grid, Range};
pub use trajectory::Question as Trajectory;

/// The answer to a question.
pub struct Answer {
    values: Map<String, Value>,
    figure: Option<Drawing>,
}

type Drawing = Box<dyn Fn() -> Result<Figure, CliError> + Send + Sync>;

impl Answer {
    /// What `--format json` prints.
    pub fn values(&self) -> &Map<String, Value> {
        &self.values
    }

    /// What `--plot` draws; `None` where the command has no such flag.
    ///
    /// # Errors
    ///
    /// If the answer has no picture.
    pub fn figure(&self) -> Option<Result<Figure, CliError>> {
        self.figure.as_ref().map(|figure| figure())
    }
}

impl Point {
    /// Fixed points, slopes, depth scales and the phase.
    ///
    /// # Errors
    ///
    /// If the network, or its initialisation, is impossible.
    pub fn answer(&self) -> Result<Answer, CliError> {
        Ok(Answer { values: self.describe()?.into_values(), figure: None })
    }
}

impl Trajectory {
    /// Two signals, layer by layer.
    ///
    /// # Errors
    ///
    /// Those of [`Point::answer`].
    pub fn answer(&self) -> Result<Answer, CliError> {
        let signals = self.follow()?;
        Ok(Answer { values: signals.answer().into_values(), figure: Some(Box::new(move || Ok(signals.figure()))) })
    }
}

impl CorrelationMap {
    /// Asks for the correlations `c`, or for evenly spaced ones.
    ///
    /// # Errors
    ///
    /// A sentence, if there are fewer than two points.
    pub fn new(network: Network, variances: Variances, c: Option<Vec<f64>>, points: usize) -> Result<Self, String> {
        range::check_two(points)?;
        Ok(Self { network, variances, carry: Carry::default(), c, points })
    }

    /// The correlation after one layer.
    ///
    /// # Errors
    ///
    /// Those of [`Point::answer`].
    pub fn answer(&self) -> Result<Answer, CliError> {
        let question = self.clone();
        Ok(Answer { values: self.describe()?.into_values(), figure: Some(Box::new(move || question.figure())) })
    }
}

impl CriticalLine {
    /// Asks for points of the line along the variance `q` of the fields on it.
    ///
    /// # Errors
    ///
    /// A sentence, if there are fewer than two points.
    pub fn new(network: Network, q: Range, points: usize) -> Result<Self, String> {
        range::check_two(points)?;
        Ok(Self { network, carry: Carry::default(), q, points })
    }

    /// The critical initialisations.
    ///
    /// # Errors
    ///
    /// Those of [`Point::answer`].
    pub fn answer(&self) -> Result<Answer, CliError> {
        let question = self.clone();
        Ok(Answer { values: self.describe()?.into_values(), figure: Some(Box::new(move || question.figure())) })
    }
}

impl Advise {
    /// The initialisation to use.
    ///
    /// # Errors
    ///
    /// Those of [`Point::answer`].
    pub fn answer(&self) -> Result<Answer, CliError> {
        let advised = self.advise()?;
        Ok(Answer { values: advised.answer(Format::Json)?.into_values(), figure: Some(Box::new(move || advised.figure())) })
    }
}

/// The theory over a plane of initialisations.
pub struct Plane(phase_diagram::Plane);

impl PhaseDiagram {
    /// Computes all points.
    ///
    /// # Errors
    ///
    /// Those of [`Point::answer`].
    pub fn answer(&self) -> Result<Plane, CliError> {
        self.compute(&|_| {}).map(Plane)
    }
}

impl Plane {
    /// σ_m² or σ_w² of every column.
    pub fn x(&self) -> &[f64] {
        match &self.0 {
            phase_diagram::Plane::Plain(plane) => &plane.diagram.x,
            phase_diagram::Plane::Carried(plane) => &plane.diagram.x,
        }
    }

    /// σ_b² of every row.
    pub fn y(&self) -> &[f64] {
        match &self.0 {
            phase_diagram::Plane::Plain(plane) => &plane.diagram.y,
            phase_diagram::Plane::Carried(plane) => &plane.diagram.y,
        }
    }

    /// What was computed, by the names of `--format json`: a value for every point, row by row, NaN where there is none.
    pub fn quantities(&self) -> Vec<(&'static str, Vec<f64>)> {
        let (plain, carried) =
            (|value: fn(&Cell) -> Option<f64>| self.plain(value), |value: fn(&CarriedCell) -> Option<f64>| self.carried(value));
        match &self.0 {
            phase_diagram::Plane::Plain(_) => {
                vec![("chi_1", plain(|cell| cell.chi_1)), ("xi_c", plain(|cell| cell.xi_c)), ("q_star", plain(|cell| cell.q_star))]
            }
            phase_diagram::Plane::Carried(_) => {
                vec![("q", carried(|cell| cell.q)), ("gradient", carried(|cell| cell.gradient)), ("signal", carried(|cell| cell.signal))]
            }
        }
    }

    fn plain(&self, value: fn(&Cell) -> Option<f64>) -> Vec<f64> {
        match &self.0 {
            phase_diagram::Plane::Plain(plane) => plane.diagram.cells().iter().map(|cell| value(cell).unwrap_or(f64::NAN)).collect(),
            phase_diagram::Plane::Carried(_) => Vec::new(),
        }
    }

    fn carried(&self, value: fn(&CarriedCell) -> Option<f64>) -> Vec<f64> {
        match &self.0 {
            phase_diagram::Plane::Plain(_) => Vec::new(),
            phase_diagram::Plane::Carried(plane) => plane.diagram.cells.iter().map(|cell| value(cell).unwrap_or(f64::NAN)).collect(),
        }
    }

    /// The phase of every point, row by row; empty where fields are carried, which have no phases.
    pub fn phases(&self) -> Vec<Option<Phase>> {
        match &self.0 {
            phase_diagram::Plane::Plain(plane) => plane.diagram.cells().iter().map(|cell| cell.phase).collect(),
            phase_diagram::Plane::Carried(_) => Vec::new(),
        }
    }

    /// Points `(σ², σ_b²)` of the critical line.
    pub fn critical_line(&self) -> Vec<(f64, f64)> {
        match &self.0 {
            phase_diagram::Plane::Plain(plane) => {
                plane.line.iter().map(|point| (point.sigma2.unwrap_or(f64::NAN), point.sigma_b2)).collect()
            }
            phase_diagram::Plane::Carried(_) => Vec::new(),
        }
    }

    /// The facts that the command's table shows, the verdict among them.
    ///
    /// # Errors
    ///
    /// Those of [`Point::answer`].
    pub fn values(&self) -> Result<Map<String, Value>, CliError> {
        Ok(match &self.0 {
            phase_diagram::Plane::Plain(plane) => plane.answer(Format::Table)?,
            phase_diagram::Plane::Carried(plane) => plane.answer(Format::Table),
        }
        .into_values())
    }

    /// The picture.
    ///
    /// # Errors
    ///
    /// If it cannot be drawn.
    pub fn figure(&self) -> Result<Figure, CliError> {
        self.0.figure()
    }
}
