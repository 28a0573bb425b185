//! A sweep as a picture: a heat map over two of its axes, or lines over the only one.
//!
//! What is drawn in a place is the mean of a column over all cells that lie there, whatever their other axes.
//!
//! ```no_run
//! use isinglass_chart::Figure;
//! use isinglass_runs::run::{Behind, Part};
//! use isinglass_runs::sweep::{Column, Sweep, picture::View};
//!
//! let sweep = Sweep::open("sweeps/a".as_ref())?;
//! let results = sweep.results()?;
//! let view = View::choose(&results, None, None)?;
//! let figure = Figure::new().panel(view.panel(&results, Column::accuracy(Part::Test, Behind::Binary))?);
//! isinglass_runs::replace::write_chart(&figure, "map.svg".as_ref(), false)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod axis;
mod labels;
mod lines;
mod map;
mod pool;
mod theory;

use isinglass_files::did_you_mean;
use isinglass_theory::advice::DEFAULT_REACH;
use thiserror::Error;

use super::{Column, Results};
use axis::SweepAxis;
use isinglass_chart::{ChartError, Panel};

pub use axis::value_text;
pub use labels::axis_label;

/// Why a sweep cannot be drawn.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PictureError {
    /// There is no such axis.
    #[error("{name} is not an axis of this sweep{}: it has {axes}", did_you_mean(.name, .axes.split(", ")))]
    NoAxis {
        /// What was asked for.
        name: String,
        /// What there is.
        axes: String,
    },
    /// Nothing varies along an axis.
    #[error("the axis {0} has one value: a picture needs several")]
    OneValue(String),
    /// Both directions are the same.
    #[error("--x and --y are both {0}: a map needs two axes")]
    SameAxis(String),
    /// Nothing varies at all.
    #[error("no other axis of this sweep has several values: there is nothing to draw")]
    NothingVaries,
    /// There is no such column.
    #[error("no column {0}: see the header of --format csv")]
    NoColumn(String),
    /// The chart cannot be drawn.
    #[error(transparent)]
    Chart(#[from] ChartError),
}

/// The axes of a picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// From left to right.
    pub x: String,
    /// From bottom to top; without it values are drawn as lines over `x`.
    pub y: Option<String>,
}

impl View {
    /// Chooses the axes that are not named: `sigma-m2` (or `sigma-w2`) and `depth` if there are both, else the first two with several values, and never `seed`
    /// unless nothing else varies. Where only one axis varies there is no second.
    ///
    /// # Errors
    ///
    /// If an axis does not exist, does not vary or is named twice, and if nothing varies.
    pub fn choose(results: &Results, x: Option<&str>, y: Option<&str>) -> Result<Self, PictureError> {
        for name in [x, y].into_iter().flatten() {
            if !results.axes().any(|axis| axis == name) {
                return Err(PictureError::NoAxis { name: name.to_owned(), axes: results.axes().collect::<Vec<_>>().join(", ") });
            }
        }
        let varying = results.varying();
        for name in [x, y].into_iter().flatten() {
            if !varying.contains(&name) {
                return Err(PictureError::OneValue(name.to_owned()));
            }
        }
        if let (Some(x), Some(y)) = (x, y) {
            return if x == y { Err(PictureError::SameAxis(x.to_owned())) } else { Ok(Self { x: x.to_owned(), y: Some(y.to_owned()) }) };
        }
        let mut free: Vec<&str> = varying.iter().copied().filter(|axis| Some(*axis) != x && Some(*axis) != y && *axis != "seed").collect();
        let variance = free.iter().copied().find(|axis| matches!(*axis, "sigma-m2" | "sigma-w2"));
        if let (Some(variance), None, None, true) = (variance, x, y, free.contains(&"depth")) {
            return Ok(Self { x: variance.to_owned(), y: Some("depth".to_owned()) });
        }
        match (x, y) {
            (Some(x), _) => Ok(Self { x: x.to_owned(), y: free.first().map(|&axis| axis.to_owned()) }),
            (None, Some(y)) => {
                let x = free.first().ok_or(PictureError::NothingVaries)?;
                Ok(Self { x: (*x).to_owned(), y: Some(y.to_owned()) })
            }
            (None, None) => {
                // Words are read more easily one below the other.
                let are_numbers = |axis: &str| SweepAxis::of(axis, results).numbers.is_some();
                if free.len() > 1 && !are_numbers(free[0]) && are_numbers(free[1]) {
                    free.swap(0, 1);
                }
                let x = free.first().or(varying.first()).ok_or(PictureError::NothingVaries)?;
                Ok(Self { x: (*x).to_owned(), y: free.get(1).map(|&axis| axis.to_owned()) })
            }
        }
    }

    /// The axes that are drawn.
    pub fn axes(&self) -> impl Iterator<Item = &str> {
        [Some(self.x.as_str()), self.y.as_deref()].into_iter().flatten()
    }

    /// A heat map of one column, or a line if there is only one axis. Over a map of depth and `σ_m²` lie three depth scales of the theory.
    ///
    /// # Errors
    ///
    /// [`PictureError::NoColumn`], and those of the chart.
    pub fn panel(&self, results: &Results, column: Column) -> Result<Panel, PictureError> {
        self.panel_with_scales(results, column, &[DEFAULT_REACH])
    }

    /// The same with other multiples of the depth scale.
    ///
    /// # Errors
    ///
    /// Those of [`View::panel`].
    pub fn panel_with_scales(&self, results: &Results, column: Column, scales: &[f64]) -> Result<Panel, PictureError> {
        check_column(results, column)?;
        let x = SweepAxis::of(&self.x, results);
        match &self.y {
            Some(y) => map::panel(results, &x, &SweepAxis::of(y, results), column, scales),
            None => Ok(lines::panel(results, &x, &[column])),
        }
    }

    /// Several columns as lines over `x`: means over the cells, and bands of one standard deviation to either side.
    ///
    /// # Errors
    ///
    /// [`PictureError::NoColumn`].
    pub fn lines(&self, results: &Results, columns: &[Column]) -> Result<Panel, PictureError> {
        columns.iter().try_for_each(|&column| check_column(results, column))?;
        Ok(lines::panel(results, &SweepAxis::of(&self.x, results), columns))
    }
}

fn check_column(results: &Results, column: Column) -> Result<(), PictureError> {
    if results.knows(column) { Ok(()) } else { Err(PictureError::NoColumn(column.to_string())) }
}

#[cfg(test)]
mod tests;
