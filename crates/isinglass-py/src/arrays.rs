//! NumPy arrays as the values that networks take, without a copy.

use isinglass::net::{Examples, Values};
use numpy::{IntoPyArray, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::errors::{raise, wrong};

/// Rows of bytes or of 32-bit floats, one after the other in memory.
pub enum Rows<'py> {
    /// uint8.
    Bytes(PyReadonlyArray2<'py, u8>),
    /// float32.
    Floats(PyReadonlyArray2<'py, f32>),
}

impl<'a, 'py> FromPyObject<'a, 'py> for Rows<'py> {
    type Error = PyErr;

    fn extract(array: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = array.extract::<PyReadonlyArray2<'py, u8>>() {
            return Ok(Self::Bytes(bytes));
        }
        let floats = array.extract::<PyReadonlyArray2<'py, f32>>();
        floats.map(Self::Floats).map_err(|_| wrong("rows of values are a two-dimensional array of uint8 or float32"))
    }
}

impl Rows<'_> {
    /// Number of rows, and values per row.
    pub fn shape(&self) -> (usize, usize) {
        let shape = match self {
            Self::Bytes(bytes) => bytes.shape(),
            Self::Floats(floats) => floats.shape(),
        };
        (shape[0], shape[1])
    }

    /// The values.
    pub fn values(&self) -> PyResult<Values<'_>> {
        let scattered = |_| wrong("rows must lie one after the other in memory: numpy.ascontiguousarray(x)");
        Ok(match self {
            Self::Bytes(bytes) => Values::Bytes(bytes.as_slice().map_err(scattered)?),
            Self::Floats(floats) => Values::Floats(floats.as_slice().map_err(scattered)?),
        })
    }

    /// The values, checked against the number of inputs.
    pub fn values_for(&self, inputs: usize) -> PyResult<Values<'_>> {
        let (_, columns) = self.shape();
        if columns != inputs {
            return Err(wrong(format!("rows of {columns} values for a network with {inputs} inputs")));
        }
        self.values()
    }

    /// The rows with their labels.
    pub fn examples<'a>(&'a self, labels: &'a PyReadonlyArray1<'_, u8>, classes: usize) -> PyResult<Examples<'a>> {
        let labels = labels.as_slice().map_err(|_| wrong("labels must lie one after the other in memory: numpy.ascontiguousarray(y)"))?;
        Examples::new(self.values()?, self.shape().1, labels, classes).map_err(raise)
    }
}

/// A matrix given row by row.
pub fn matrix<'py, T: numpy::Element>(py: Python<'py>, values: Vec<T>, columns: usize) -> PyResult<Bound<'py, PyArray2<T>>> {
    let rows = values.len() / columns.max(1);
    values.into_pyarray(py).reshape([rows, columns])
}
