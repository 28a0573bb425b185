//! JSON values as Python objects, and back.

use isinglass::lab::chart::Figure;
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString};
use serde_json::{Map, Value};

use crate::errors::{raise, wrong};

/// A value as Python writes it: null is None.
pub fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Value::Null => Ok(py.None().into_bound(py)),
        Value::Bool(truth) => truth.into_bound_py_any(py),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(whole), _) => whole.into_bound_py_any(py),
            (_, Some(whole)) => whole.into_bound_py_any(py),
            _ => number.as_f64().into_bound_py_any(py),
        },
        Value::String(text) => text.into_bound_py_any(py),
        Value::Array(values) => {
            let items = values.iter().map(|value| to_python(py, value)).collect::<PyResult<Vec<_>>>()?;
            Ok(PyList::new(py, items)?.into_any())
        }
        Value::Object(map) => Ok(to_dict(py, map)?.into_any()),
    }
}

/// An object as a dictionary.
pub fn to_dict<'py>(py: Python<'py>, map: &Map<String, Value>) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (key, value) in map {
        dict.set_item(key, to_python(py, value)?)?;
    }
    Ok(dict)
}

/// A dictionary of any value that has named parts.
pub fn describe<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyDict>> {
    match value {
        Value::Object(map) => to_dict(py, map),
        _ => Ok(PyDict::new(py)),
    }
}

/// Python's numbers, texts, lists and dictionaries as JSON. Scalars of NumPy count as numbers, paths as texts.
pub fn from_python(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    if value.is_none() {
        return Ok(Value::Null);
    }
    if value.is_instance_of::<PyBool>() {
        return Ok(value.is_truthy()?.into());
    }
    if value.is_instance_of::<PyString>() {
        return Ok(value.extract::<String>()?.into());
    }
    if value.is_instance_of::<PyInt>() {
        return Ok(match value.extract::<u64>() {
            Ok(whole) => whole.into(),
            Err(_) => value.extract::<i64>()?.into(),
        });
    }
    if value.is_instance_of::<PyFloat>() {
        let number = value.extract::<f64>()?;
        return if number.is_finite() { Ok(number.into()) } else { Err(wrong(format!("{value}: must be a finite number"))) };
    }
    if let Ok(dict) = value.cast::<PyDict>() {
        return dict_from_python(dict).map(Value::Object);
    }
    if value.hasattr("__fspath__")? {
        return Ok(value.call_method0("__fspath__")?.extract::<String>()?.into());
    }
    if value.hasattr("tolist")? {
        return from_python(&value.call_method0("tolist")?);
    }
    if let Ok(items) = value.try_iter() {
        return items.map(|item| from_python(&item?)).collect::<PyResult<Vec<_>>>().map(Value::Array);
    }
    Err(PyTypeError::new_err(format!("{value} is neither a number, a text, a list nor a dictionary")))
}

/// A dictionary with texts for keys.
pub fn dict_from_python(dict: &Bound<'_, PyDict>) -> PyResult<Map<String, Value>> {
    let named = |(key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let key = key.extract::<String>()?;
        let value = from_python(&value).map_err(|error| match error.is_instance_of::<PyValueError>(value.py()) {
            true => wrong(format!("{key} = {}", error.value(value.py()))),
            false => error,
        })?;
        Ok((key, value))
    };
    dict.iter().map(named).collect()
}

/// Settings as the crates spell them: `anneal_from` is `anneal-from`. None leaves a setting open.
pub fn settings_from_python(dict: &Bound<'_, PyDict>) -> PyResult<Map<String, Value>> {
    let settings = dict_from_python(dict)?;
    Ok(settings.into_iter().filter(|(_, value)| !value.is_null()).map(|(key, value)| (key.replace('_', "-"), value)).collect())
}

/// Settings as Python spells them.
pub fn settings_to_python<'py>(py: Python<'py>, settings: &Value) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (key, value) in settings.as_object().into_iter().flatten() {
        dict.set_item(key.replace('-', "_"), to_python(py, value)?)?;
    }
    Ok(dict)
}

/// A figure as the text of an SVG, or the bytes of a PNG.
pub fn drawn<'py>(py: Python<'py>, figure: &Figure, png: bool) -> PyResult<Bound<'py, PyAny>> {
    match png {
        true => Ok(PyBytes::new(py, &py.detach(|| figure.to_png(2.0)).map_err(raise)?).into_any()),
        false => figure.to_svg().map_err(raise)?.into_bound_py_any(py),
    }
}
