//! Networks: drawn, given or trained.

use std::path::PathBuf;

use isinglass::bits::{Preprocessing, Quantiser};
use isinglass::lab::provenance::{Draws, provenance};
use isinglass::lab::run::{InitialisationSummary, Inspection};
use isinglass::net::{Carry, Checkpoint, Gradients, InputRule, Layer, Network as Net, NetworkConfig, Surrogate, Values};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde_json::{Value, json};

use crate::arrays::{Rows, matrix};
use crate::errors::{raise, wrong};
use crate::packed::PackedModel;
use crate::threads_or_all;
use crate::values::{describe, settings_from_python, settings_to_python};

/// Means and biases of a layer.
type Parameters<'py> = (Bound<'py, PyArray2<f32>>, Bound<'py, PyArray1<f32>>);

/// A network with all it takes to continue its training.
#[pyclass(frozen)]
pub struct Network {
    pub(crate) checkpoint: Checkpoint,
}

#[pymethods]
impl Network {
    #[staticmethod]
    fn draw(py: Python<'_>, config: &Bound<'_, PyDict>, seed: u64) -> PyResult<Self> {
        let config = network_config(config)?;
        isinglass::lab::memory::check_drawing(&config).map_err(raise)?;
        let network = py.detach(|| config.init(seed)).map_err(raise)?;
        Ok(Checkpoint::at_rest(network).into())
    }

    #[staticmethod]
    fn from_layers(
        config: &Bound<'_, PyDict>,
        layers: Vec<(PyReadonlyArray2<'_, f32>, PyReadonlyArray1<'_, f32>)>,
        input: Option<&Bound<'_, PyDict>>,
        class_names: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let config = network_config(config)?;
        let specs = config.layers().map_err(raise)?;
        if specs.len() != layers.len() {
            return Err(wrong(format!("{} layers for a network of {}", layers.len(), specs.len())));
        }
        let layer = |(spec, (means, bias)): (_, &(PyReadonlyArray2<'_, f32>, PyReadonlyArray1<'_, f32>))| {
            let spec: isinglass::net::LayerSpec = spec;
            if means.shape() != [spec.outputs(), spec.inputs()] {
                let [outputs, inputs] = [means.shape()[0], means.shape()[1]];
                return Err(wrong(format!("means of {outputs} × {inputs} for a layer of {} × {}", spec.outputs(), spec.inputs())));
            }
            let (means, bias) = (means.as_array().iter().copied().collect(), bias.as_array().iter().copied().collect());
            Layer::new(spec, means, bias).map_err(raise)
        };
        let layers = specs.into_iter().zip(&layers).map(layer).collect::<PyResult<Vec<_>>>()?;
        let mut network = Net::new(config, layers).map_err(raise)?;
        if let Some(input) = input {
            network.set_input(input_rule(input)?).map_err(raise)?;
        }
        network.set_class_names(class_names).map_err(raise)?;
        Ok(Checkpoint::at_rest(network).into())
    }

    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        py.detach(|| Checkpoint::load(&path)).map(Self::from).map_err(raise)
    }

    #[staticmethod]
    fn from_bytes(data: &[u8]) -> PyResult<Self> {
        Checkpoint::from_bytes(data).map(Self::from).map_err(wrong)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &py.detach(|| self.checkpoint.to_bytes()))
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.checkpoint.save(&path)).map_err(raise)
    }

    #[getter]
    fn config<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let config = settings_to_python(py, &json!(self.network().config()))?;
        // Files leave out what is not set.
        for key in ["sigma_m2", "sigma_b2"] {
            if !config.contains(key)? {
                config.set_item(key, py.None())?;
            }
        }
        config.set_item("carry", self.network().config().carry)?;
        Ok(config)
    }

    #[getter]
    fn train_config<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        settings_to_python(py, &json!(self.checkpoint.train_config()))
    }

    #[getter]
    fn initialisation<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let summary = self.network().initialisation().cloned().map(InitialisationSummary::from);
        summary.map(|summary| describe(py, &json!(summary))).transpose()
    }

    #[getter]
    fn progress<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let progress = self.checkpoint.progress();
        let value = json!({
            "step": progress.step, "steps": progress.steps, "steps_per_epoch": progress.steps_per_epoch, "epoch": progress.epoch, "epochs": progress.epochs,
        });
        describe(py, &value)
    }

    #[getter]
    fn layers<'py>(&self, py: Python<'py>) -> PyResult<Vec<Parameters<'py>>> {
        let layer = |layer: &Layer| Ok((matrix(py, layer.means().to_vec(), layer.inputs())?, PyArray1::from_slice(py, layer.bias())));
        self.network().layers().iter().map(layer).collect()
    }

    #[getter]
    fn carried(&self) -> Vec<usize> {
        self.network().layers().iter().map(|layer| layer.spec().carried()).collect()
    }

    #[getter]
    fn input<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (rule, dict) = (self.network().input(), PyDict::new(py));
        dict.set_item("offset", rule.preprocessing().offset())?;
        dict.set_item("scale", rule.preprocessing().scale())?;
        dict.set_item("bytes", rule.are_bytes())?;
        dict.set_item("centres", rule.quantiser().map(|quantiser| PyArray1::from_slice(py, quantiser.centres())))?;
        dict.set_item("factors", rule.quantiser().map(|quantiser| PyArray1::from_slice(py, quantiser.factors())))?;
        Ok(dict)
    }

    #[getter]
    fn class_names(&self) -> Option<Vec<String>> {
        self.network().class_names().map(<[String]>::to_vec)
    }

    #[getter]
    fn shape(&self) -> String {
        self.network().config().shape()
    }

    fn is_packable(&self) -> bool {
        let surrogate = self.network().config().surrogate;
        surrogate.has_binary_weights() && surrogate.has_binary_neurons()
    }

    fn inputs<'py>(&self, py: Python<'py>, x: Rows<'py>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let (inputs, rule) = (self.network().config().inputs, self.network().input());
        let values = x.values_for(inputs)?;
        matrix(py, py.detach(|| rule.inputs(values, inputs)).map_err(raise)?, inputs)
    }

    fn probabilities<'py>(
        &self,
        py: Python<'py>,
        x: Rows<'py>,
        network: &str,
        draws: usize,
        seed: Option<u64>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let of = self.network();
        let counterpart = match network {
            "surrogate" => of.surrogate(),
            "binary" => of.binary(),
            "sampled" if draws == 0 => return Err(wrong("draws = 0: at least one network is needed")),
            "sampled" => of.sampled(draws).seed(seed.unwrap_or(self.checkpoint.train_config().seed)),
            other => return Err(wrong(format!("unknown network {other:?}: use surrogate, binary or sampled"))),
        };
        let values = x.values_for(of.config().inputs)?;
        let counterpart = counterpart.threads(threads_or_all(threads));
        let prediction = py.detach(|| counterpart.predict(values)).map_err(raise)?;
        matrix(py, prediction.probabilities().to_vec(), of.config().classes)
    }

    fn gradients<'py>(
        &self,
        py: Python<'py>,
        x: Rows<'py>,
        y: PyReadonlyArray1<'py, u8>,
        variance_gradient: bool,
        threads: usize,
    ) -> PyResult<(f64, Vec<Parameters<'py>>)> {
        let network = self.network();
        let examples = x.examples(&y, network.config().classes)?;
        let indices: Vec<u32> = (0..examples.len() as u32).collect();
        let gradients =
            py.detach(|| Gradients::new(network, &examples, &indices, variance_gradient, threads_or_all(threads))).map_err(raise)?;
        let layers = gradients.layers.into_iter().zip(network.layers());
        let layers = layers.map(|(of, layer)| Ok((matrix(py, of.means, layer.inputs())?, of.bias.into_pyarray(py))));
        Ok((gradients.loss, layers.collect::<PyResult<_>>()?))
    }

    fn inspect<'py>(&self, py: Python<'py>, x: Rows<'py>, y: PyReadonlyArray1<'py, u8>, threads: usize) -> PyResult<Bound<'py, PyDict>> {
        let network = self.network();
        let examples = x.examples(&y, network.config().classes)?;
        let everything: Vec<u32>;
        let indices = match self.checkpoint.was_trained_on(&examples) {
            true => self.checkpoint.partition().train(),
            false => {
                everything = (0..examples.len() as u32).collect();
                &everything
            }
        };
        let inspection = py.detach(|| Inspection::with_examples(network, &examples, indices, threads_or_all(threads))).map_err(raise)?;
        describe(py, &json!(inspection))
    }

    fn pack(&self, py: Python<'_>, x: Option<Rows<'_>>, draws: Option<usize>, seed: Option<u64>, threads: usize) -> PyResult<PackedModel> {
        let network = self.network();
        let values = match &x {
            Some(rows) => rows.values_for(network.config().inputs)?,
            None => Values::Bytes(&[]),
        };
        let draws = draws.map(|samples| Draws { samples, seed: seed.unwrap_or(self.checkpoint.train_config().seed) });
        let counterpart = draws.map_or(network.binary(), |Draws { samples, seed }| network.sampled(samples).seed(seed));
        let counterpart = counterpart.threads(threads_or_all(threads));
        let mut model = py.detach(|| counterpart.pack_checked(values, &mut |_, _| {})).map_err(raise)?.model;
        model.provenance.extend(provenance(&self.checkpoint, draws));
        PackedModel::new(model)
    }
}

impl Network {
    fn network(&self) -> &Net {
        self.checkpoint.network()
    }
}

impl From<Checkpoint> for Network {
    fn from(checkpoint: Checkpoint) -> Self {
        Self { checkpoint }
    }
}

/// Settings of a network, from a dictionary. The surrogate chooses the neuron unless it is named.
fn network_config(dict: &Bound<'_, PyDict>) -> PyResult<NetworkConfig> {
    let mut settings = settings_from_python(dict)?;
    if !settings.contains_key("neuron")
        && let Some(surrogate) = settings.get("surrogate").and_then(Value::as_str)
    {
        let surrogate: Surrogate = surrogate.parse().map_err(|error: isinglass::net::Error| raise(error))?;
        settings.insert("neuron".into(), surrogate.default_neuron().to_string().into());
    }
    let carry = match settings.remove("carry") {
        Some(Value::String(choice)) => choice.parse().map_err(|error: isinglass::net::Error| raise(error))?,
        Some(Value::Bool(true)) => Carry::On,
        Some(Value::Bool(false)) | None => Carry::Off,
        Some(other) => return Err(wrong(format!("carry = {other}: use true, false or \"auto\""))),
    };
    let mut config: NetworkConfig = serde_json::from_value(Value::Object(settings)).map_err(|error| wrong(error.to_string()))?;
    config.carry = carry.resolve(&config).map_err(raise)?.carry;
    config.check().map_err(raise)?;
    Ok(config)
}

/// The rule that `Network.input` describes.
fn input_rule(dict: &Bound<'_, PyDict>) -> PyResult<InputRule> {
    let number = |key: &str, usual: f32| match dict.get_item(key)? {
        Some(value) if !value.is_none() => value.extract(),
        _ => Ok(usual),
    };
    let preprocessing = Preprocessing::new(number("offset", 0.0)?, number("scale", 1.0)?).map_err(raise)?;
    let array = |key: &str| match dict.get_item(key)? {
        Some(value) if !value.is_none() => Ok::<_, PyErr>(Some(value.extract::<PyReadonlyArray1<'_, f32>>()?.as_array().to_vec())),
        _ => Ok(None),
    };
    let of_bytes = match dict.get_item("bytes")? {
        Some(value) if !value.is_none() => value.extract::<bool>()?,
        _ => false,
    };
    Ok(match (array("centres")?, array("factors")?) {
        (Some(centres), Some(factors)) => InputRule::quantised(Quantiser::new(centres, factors).map_err(raise)?, preprocessing),
        (None, None) if of_bytes => InputRule::of_bytes(preprocessing),
        (None, None) => InputRule::shared(preprocessing),
        _ => return Err(wrong("centres and factors belong together")),
    })
}

/// The engine's noise, units × examples.
#[pyfunction]
pub fn lrt_noise(py: Python<'_>, seed: u64, step: u64, layer: usize, units: usize, examples: usize) -> PyResult<Bound<'_, PyArray2<f32>>> {
    let noise = isinglass::net::lrt_noise(seed, step, layer, units, examples).map_err(raise)?;
    matrix(py, noise.concat(), examples)
}
