//! The extension module `isinglass._native`, on which the Python package is built.
//!
//! Everything here is thin: values in and out, the interpreter released during long work, errors as exceptions. What is computed lives in the other crates, so that Python and the command
//! line give the same numbers.
//!
//! | module | for |
//! |---|---|
//! | `theory` | the questions of `isinglass theory` |
//! | `network` | networks, their counterparts, gradients and packing |
//! | `training` | training on arrays |
//! | `packed` | packed networks |
//! | `lab` | data sets, runs and sweeps |
//! | `arrays`, `values`, `errors` | NumPy arrays, JSON, exceptions |

mod arrays;
mod errors;
mod lab;
mod network;
mod packed;
mod theory;
mod training;
mod values;

use pyo3::prelude::*;

/// The compiled part of the package.
#[pymodule(name = "_native")]
mod isinglass_native {
    #[pymodule_export]
    use super::lab::{load_data, read_run, run_picture, sweep_picture, sweep_rows, sweep_run};
    #[pymodule_export]
    use super::network::{Network, lrt_noise};
    #[pymodule_export]
    use super::packed::PackedModel;
    #[pymodule_export]
    use super::theory::{
        Answer, Plane, theory_advise, theory_critical_line, theory_map, theory_phase_diagram, theory_point, theory_trajectory,
    };
    #[pymodule_export]
    use super::training::{curves, insides, train};
    #[pymodule_export]
    use super::{instruction_sets, main};

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}

/// Runs the command line and returns its exit code.
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<std::ffi::OsString>) -> u8 {
    py.detach(|| isinglass::command_line(arguments))
}

/// The instruction sets of this machine, fastest first.
#[pyfunction]
fn instruction_sets() -> Vec<&'static str> {
    isinglass::net::instruction_sets()
}

/// A number of threads; 0 stands for all of the machine's.
fn threads_or_all(threads: usize) -> usize {
    match threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    }
}
