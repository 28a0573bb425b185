//! Packed networks.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use isinglass::bits::{self, Isa, Predictor};
use isinglass::lab::replace;
use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::arrays::{Rows, matrix};
use crate::errors::{check_place, raise, wrong};
use crate::threads_or_all;

/// A packed network, laid out for this machine.
#[pyclass(frozen)]
pub struct PackedModel {
    model: bits::PackedModel,
    first: Predictor,
    /// Predictors that no call is using: one for each thread that ever called at the same time.
    idle: Mutex<Vec<Predictor>>,
}

#[pymethods]
impl PackedModel {
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        Self::new(py.detach(|| bits::PackedModel::load(&path)).map_err(raise)?)
    }

    #[staticmethod]
    fn from_bytes(data: &[u8]) -> PyResult<Self> {
        Self::new(bits::PackedModel::from_bytes(data).map_err(raise)?)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.model.to_bytes())
    }

    fn save(&self, path: PathBuf) -> PyResult<()> {
        check_place(&path)?;
        replace::write_packed(&self.model, &path).map(drop).map_err(raise)
    }

    fn export(&self, path: PathBuf, kind: &str, name: &str) -> PyResult<()> {
        let bytes = match kind {
            "onnx" => self.model.to_onnx(),
            "c" => self.model.to_c(name).map_err(raise)?.into_bytes(),
            other => return Err(wrong(format!("unknown export {other:?}: use onnx or c"))),
        };
        check_place(&path)?;
        replace::write_export(&bytes, &path, false).map_err(raise)
    }

    fn classes<'py>(&self, py: Python<'py>, x: Rows<'py>, threads: usize) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let classes =
            self.with_sums(py, &x, threads, |predictor, sums| predictor.classes_of(sums).into_iter().map(|class| class as i64).collect())?;
        Ok(Vec::into_pyarray(classes, py))
    }

    fn probabilities<'py>(&self, py: Python<'py>, x: Rows<'py>, threads: usize) -> PyResult<Bound<'py, PyArray2<f64>>> {
        matrix(py, self.with_sums(py, &x, threads, |predictor, sums| predictor.probabilities_of(sums))?, self.model.classes())
    }

    fn sums<'py>(&self, py: Python<'py>, x: Rows<'py>, threads: usize) -> PyResult<Bound<'py, PyArray2<i32>>> {
        let columns = self.model.networks().len() * self.model.classes();
        matrix(py, self.with_sums(py, &x, threads, |_, sums| sums.to_vec())?, columns)
    }

    /// The seconds that `count` predictions of these rows take in Rust, one after the other: the benchmark's yardstick.
    fn time_classes(&self, py: Python<'_>, x: Rows<'_>, count: usize) -> PyResult<f64> {
        let values = x.values_for(self.model.inputs())?;
        let mut predictor = self.first.clone();
        let measure = || {
            let began = std::time::Instant::now();
            for _ in 0..count {
                std::hint::black_box(predictor.classes(values)?);
            }
            Ok(began.elapsed().as_secs_f64())
        };
        py.detach(measure).map_err(|error: bits::Error| raise(error))
    }

    #[getter]
    fn sizes(&self) -> Vec<usize> {
        self.model.sizes()
    }

    #[getter]
    fn networks(&self) -> usize {
        self.model.networks().len()
    }

    #[getter]
    fn class_names(&self) -> Option<Vec<String>> {
        self.model.class_names().map(<[String]>::to_vec)
    }

    #[getter]
    fn image(&self) -> Option<(usize, usize)> {
        self.model.image()
    }

    #[getter]
    fn takes_floats(&self) -> bool {
        self.model.quantiser().is_some()
    }

    #[getter]
    fn tau(&self) -> f64 {
        self.model.tau()
    }

    #[getter]
    fn provenance(&self) -> BTreeMap<String, String> {
        self.model.provenance.iter().map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    #[getter]
    fn carrying_layers(&self) -> Vec<usize> {
        self.model.carrying_layers().into_iter().flatten().collect()
    }
}

impl PackedModel {
    pub(crate) fn new(model: bits::PackedModel) -> PyResult<Self> {
        let first = Predictor::new(&model, Isa::chosen().map_err(|error| wrong(error.to_string()))?);
        Ok(Self { model, first, idle: Mutex::default() })
    }

    /// The output sums of all rows, turned into a result while other threads of Python run.
    fn with_sums<T: Send>(
        &self,
        py: Python<'_>,
        x: &Rows<'_>,
        threads: usize,
        result: impl Fn(&Predictor, &[i32]) -> Vec<T> + Send + Sync,
    ) -> PyResult<Vec<T>> {
        let values = x.values_for(self.model.inputs())?;
        let compute = || {
            let mut predictor = self.idle().pop().unwrap_or_else(|| self.first.clone());
            let sums = match threads {
                1 => predictor.sums(values),
                threads => predictor.sums_on(values, threads_or_all(threads)),
            };
            let results = sums.map(|sums| result(&predictor, &sums));
            self.idle().push(predictor);
            results
        };
        py.detach(compute).map_err(raise)
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Predictor>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
