//! The questions of `isinglass theory`.

use isinglass::questions::{
    self, Advise, Carry, CorrelationMap, CriticalLine, Grid, PhaseDiagram, Point, Quantity, Range, Trajectory, Variances,
};
use isinglass::theory::Phase;
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::json;

use crate::arrays::matrix;
use crate::errors::{raise, wrong};
use crate::values::{drawn, to_dict, to_python};

/// An answer: what `--format json` prints, and what `--plot` draws.
#[pyclass(frozen)]
pub struct Answer(questions::Answer);

#[pymethods]
impl Answer {
    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        to_dict(py, self.0.values())
    }

    fn to_svg<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.draw(py, false)
    }

    fn to_png<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.draw(py, true)
    }
}

impl Answer {
    fn draw<'py>(&self, py: Python<'py>, png: bool) -> PyResult<Bound<'py, PyAny>> {
        let figure = py.detach(|| self.0.figure()).ok_or_else(|| wrong("this answer has no picture"))?.map_err(raise)?;
        drawn(py, &figure, png)
    }
}

fn network(model: String, neuron: String) -> questions::Network {
    questions::Network { model, neuron }
}

#[pyfunction]
pub fn theory_point(
    py: Python<'_>,
    model: String,
    neuron: String,
    sigma_m2: Option<f64>,
    sigma_w2: Option<f64>,
    sigma_b2: f64,
    carry: bool,
) -> PyResult<Answer> {
    let variances = Variances { sigma_m2, sigma_w2, sigma_b2 };
    let question = Point { network: network(model, neuron), variances, carry: Carry { carry } };
    py.detach(|| question.answer()).map(Answer).map_err(raise)
}

#[pyfunction]
#[allow(clippy::too_many_arguments)] // The flags of the command.
pub fn theory_trajectory(
    py: Python<'_>,
    model: String,
    neuron: String,
    sigma_m2: Option<f64>,
    sigma_w2: Option<f64>,
    sigma_b2: f64,
    carry: bool,
    depth: usize,
    q_a: Option<f64>,
    q_b: Option<f64>,
    c: f64,
    one_minus_c: Option<f64>,
    input_variance: Option<Vec<f64>>,
) -> PyResult<Answer> {
    let variances = Variances { sigma_m2, sigma_w2, sigma_b2 };
    let network = network(model, neuron);
    let question = Trajectory { network, variances, carry: Carry { carry }, depth, q_a, q_b, c, one_minus_c, input_variance };
    py.detach(|| question.answer()).map(Answer).map_err(raise)
}

#[pyfunction]
#[allow(clippy::too_many_arguments)] // The flags of the command.
pub fn theory_map(
    py: Python<'_>,
    model: String,
    neuron: String,
    sigma_m2: Option<f64>,
    sigma_w2: Option<f64>,
    sigma_b2: f64,
    c: Option<Vec<f64>>,
    points: usize,
) -> PyResult<Answer> {
    let question = CorrelationMap::new(network(model, neuron), Variances { sigma_m2, sigma_w2, sigma_b2 }, c, points).map_err(wrong)?;
    py.detach(|| question.answer()).map(Answer).map_err(raise)
}

#[pyfunction]
pub fn theory_critical_line(py: Python<'_>, model: String, neuron: String, q: (f64, f64), points: usize) -> PyResult<Answer> {
    let question = CriticalLine::new(network(model, neuron), Range::new(q.0, q.1).map_err(wrong)?, points).map_err(wrong)?;
    py.detach(|| question.answer()).map(Answer).map_err(raise)
}

#[pyfunction]
#[allow(clippy::too_many_arguments)] // The flags of the command.
pub fn theory_advise(
    py: Python<'_>,
    model: String,
    neuron: String,
    depth: usize,
    reach: f64,
    carry: bool,
    sigma_m2: Option<f64>,
    sigma_w2: Option<f64>,
) -> PyResult<Answer> {
    let network = network(model, neuron);
    let question = Advise { network, depth: Some(depth), hidden: None, reach, carry: Carry { carry }, sigma_m2, sigma_w2 };
    py.detach(|| question.answer()).map(Answer).map_err(raise)
}

/// The theory over a plane.
#[pyclass(frozen)]
pub struct Plane(questions::Plane);

#[pymethods]
impl Plane {
    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let values = to_dict(py, &self.0.values().map_err(raise)?)?;
        let line = json!(self.0.critical_line().into_iter().map(|(x, y)| [x, y]).collect::<Vec<_>>());
        values.set_item("critical_line", to_python(py, &line)?)?;
        values.set_item("phases", Phase::ALL.map(Phase::name).to_vec())?;
        Ok(values)
    }

    #[getter]
    fn x<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.0.x())
    }

    #[getter]
    fn y<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.0.y())
    }

    #[getter]
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        for (name, values) in self.0.quantities() {
            columns.set_item(name, matrix(py, values, self.0.x().len())?)?;
        }
        Ok(columns)
    }

    #[getter]
    fn phases<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i8>>> {
        let place =
            |phase: Option<Phase>| phase.and_then(|phase| Phase::ALL.iter().position(|&one| one == phase)).map_or(-1, |at| at as i8);
        matrix(py, self.0.phases().into_iter().map(place).collect(), self.0.x().len())
    }

    fn to_svg<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        drawn(py, &self.0.figure().map_err(raise)?, false)
    }

    fn to_png<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        drawn(py, &self.0.figure().map_err(raise)?, true)
    }
}

#[pyfunction]
#[allow(clippy::too_many_arguments)] // The flags of the command.
pub fn theory_phase_diagram(
    py: Python<'_>,
    model: String,
    neuron: String,
    x: Option<(f64, f64)>,
    columns: usize,
    y: (f64, f64),
    rows: usize,
    quantity: Option<String>,
    carry: bool,
    depth: Option<usize>,
    threads: usize,
) -> PyResult<Plane> {
    let quantity = match quantity.as_deref() {
        None => None,
        Some("chi_1") => Some(Quantity::Chi1),
        Some("xi_c") => Some(Quantity::XiC),
        Some("gradient") => Some(Quantity::Gradient),
        Some("signal") => Some(Quantity::Signal),
        Some(other) => return Err(wrong(format!("unknown quantity {other:?}: use chi_1, xi_c, gradient or signal"))),
    };
    let range = |(low, high)| Range::new(low, high).map_err(wrong);
    let question = PhaseDiagram {
        network: network(model, neuron),
        grid: Grid::new(columns, rows).map_err(wrong)?,
        x: x.map(range).transpose()?,
        y: range(y)?,
        quantity,
        carry: Carry { carry },
        depth,
        threads,
    };
    py.detach(|| question.answer()).map(Plane).map_err(raise)
}
