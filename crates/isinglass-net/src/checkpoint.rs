//! Checkpoints: safetensors files that hold a network and all that is needed to go on training it.
//!
//! | tensor | what |
//! |---|---|
//! | `layers.0.means`, `layers.0.bias`, `layers.1.means`, … | `M` (outputs × inputs) and `b` of every layer, the output layer last |
//! | `layers.0.theta`, … | the parameter behind the means, where it is not the means themselves |
//! | `layers.0.m`, `.v`, `.bias_m`, `.bias_v`, … | the optimiser's memories |
//!
//! The metadata have one key, `isinglass`, with canonical JSON (keys sorted, no spaces): the settings of network and training, the preprocessing, where the run stands,
//! the digest of the training examples, and the SHA-256 of this text (without the SHA-256) and of all tensors. Nothing of threads, paths, time or host is in it: equal runs give equal bytes.

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::canonical::canonical_json;
use crate::{Error, Layer, Network, NetworkConfig, Partition, Preprocessing, Rng, TrainConfig};

/// The key of our metadata.
const KEY: &str = "isinglass";
/// The version of the layout.
const FORMAT: u32 = 1;

/// Where a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Steps done.
    pub step: u64,
    /// Steps in all.
    pub steps: u64,
    /// Steps per epoch.
    pub steps_per_epoch: u64,
    /// Epochs done.
    pub epoch: usize,
    /// Epochs in all.
    pub epochs: usize,
}

impl Progress {
    pub(crate) fn new(config: &TrainConfig, examples: usize, step: u64) -> Self {
        let steps_per_epoch = examples.div_ceil(config.batch) as u64;
        let steps = steps_per_epoch * config.epochs as u64;
        Self { step, steps, steps_per_epoch, epoch: (step / steps_per_epoch) as usize, epochs: config.epochs }
    }
}

/// What a run remembers besides its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct State {
    /// Steps done.
    pub step: u64,
    /// The best accuracy so far, of what the goal is.
    pub best: Option<f64>,
    /// Sums over the epoch at hand.
    pub nll: f64,
    pub correct: u64,
    pub examples: u64,
}

/// What the optimiser remembers of a layer; arrays it has no use for are empty.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Memories {
    pub theta: Vec<f32>,
    pub m: Vec<f32>,
    pub v: Vec<f32>,
    pub bias_m: Vec<f32>,
    pub bias_v: Vec<f32>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Metadata {
    format: u32,
    network: NetworkConfig,
    train: TrainConfig,
    preprocessing: Preprocessing,
    state: State,
    examples: usize,
    data: String,
    sha256: String,
}

/// A network in training.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// The network.
    pub network: Network,
    /// The run's settings.
    pub train: TrainConfig,
    pub(crate) state: State,
    pub(crate) memories: Vec<Memories>,
    /// Number and digest of the training examples.
    pub(crate) examples: usize,
    pub(crate) data: String,
}

impl Checkpoint {
    /// Where the run stands.
    pub fn progress(&self) -> Progress {
        let (trained, _) = Partition::sizes(self.examples, &self.train);
        Progress::new(&self.train, trained.max(1), self.state.step)
    }

    /// The network as it was before training: drawn again from the seed.
    ///
    /// # Errors
    ///
    /// Those of [`NetworkConfig::init`].
    pub fn initial_network(&self) -> Result<Network, Error> {
        let mut network = self.network.config.init(&mut Rng::new(self.train.seed))?;
        network.preprocessing = self.network.preprocessing;
        Ok(network)
    }

    /// The arrays by name and shape, in the order in which they are hashed.
    fn tensors(&self) -> Vec<(String, Vec<usize>, &[f32])> {
        let mut tensors = Vec::new();
        for (index, layer) in self.network.layers.iter().enumerate() {
            let (matrix, vector) = (vec![layer.outputs, layer.inputs], vec![layer.outputs]);
            let mut add = |name: &str, shape: &[usize], values| tensors.push((format!("layers.{index}.{name}"), shape.to_vec(), values));
            add("means", &matrix, &layer.means[..]);
            add("bias", &vector, &layer.bias[..]);
            if let Some(memory) = self.memories.get(index) {
                let arrays = [("theta", &matrix, &memory.theta), ("m", &matrix, &memory.m), ("v", &matrix, &memory.v)];
                let of_bias = [("bias_m", &vector, &memory.bias_m), ("bias_v", &vector, &memory.bias_v)];
                for (name, shape, values) in arrays.into_iter().chain(of_bias).filter(|(_, _, values)| !values.is_empty()) {
                    add(name, shape, &values[..]);
                }
            }
        }
        tensors
    }

    /// Writes the file: beside its place first, then renamed into it.
    ///
    /// # Errors
    ///
    /// [`Error::Write`]; a file that was there before is then untouched.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        let bytes: Vec<(String, Vec<usize>, Vec<u8>)> =
            self.tensors().into_iter().map(|(name, shape, values)| (name, shape, little_endian(values))).collect();
        let mut metadata = Metadata {
            format: FORMAT,
            network: self.network.config.clone(),
            train: self.train.clone(),
            preprocessing: self.network.preprocessing,
            state: self.state,
            examples: self.examples,
            data: self.data.clone(),
            sha256: String::new(),
        };
        let failed = |source: std::io::Error| Error::Write { path: path.display().to_string(), source };
        let text_of =
            |metadata: &Metadata| serde_json::to_value(metadata).map(|value| canonical_json(&value)).map_err(|error| failed(error.into()));
        metadata.sha256 = digest(&text_of(&metadata)?, bytes.iter().map(|(_, _, bytes)| &bytes[..]));
        let text = text_of(&metadata)?;
        let views: Vec<(&str, TensorView<'_>)> = bytes
            .iter()
            .map(|(name, shape, bytes)| Ok((name.as_str(), TensorView::new(Dtype::F32, shape.clone(), bytes)?)))
            .collect::<Result<_, safetensors::SafeTensorError>>()
            .map_err(|error| failed(std::io::Error::other(error)))?;
        let beside = path.with_extension("safetensors.tmp");
        let written = safetensors::serialize_to_file(views, Some(HashMap::from([(KEY.to_owned(), text)])), &beside)
            .map_err(|error| match error {
                safetensors::SafeTensorError::IoError(error) => error,
                error => std::io::Error::other(error),
            })
            .and_then(|()| File::open(&beside)?.sync_all())
            .and_then(|()| std::fs::rename(&beside, path))
            .and_then(|()| sync_directory(path));
        if written.is_err() {
            // The half-written file is of no use; that it could not be removed would not be news.
            let _ = std::fs::remove_file(&beside);
        }
        written.map_err(failed)
    }

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// [`Error::Read`] if there is none, [`Error::Checkpoint`] if it is damaged or not one of ours.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let name = || path.display().to_string();
        let bytes = std::fs::read(path).map_err(|source| Error::Read { path: name(), source })?;
        Self::parse(&bytes).map_err(|reason| Error::Checkpoint { path: name(), reason })
    }

    fn parse(bytes: &[u8]) -> Result<Self, String> {
        let damaged = |what: &dyn std::fmt::Display| format!("not a checkpoint, or a damaged one: {what}");
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(|error| damaged(&error))?;
        let tensors = SafeTensors::deserialize(bytes).map_err(|error| damaged(&error))?;
        let Some(text) = header.metadata().as_ref().and_then(|metadata| metadata.get(KEY)) else {
            return Err("a safetensors file, but not a checkpoint of isinglass".into());
        };
        let metadata: Metadata = serde_json::from_str(text).map_err(|error| damaged(&error))?;
        if metadata.format != FORMAT {
            return Err(format!("written in format {}, and this version reads format {FORMAT}", metadata.format));
        }
        metadata.network.check().map_err(|error| damaged(&error))?;
        metadata.train.check().map_err(|error| damaged(&error))?;
        let shapes = metadata.network.shapes();
        let array = |name: String, shape: &[usize]| read_tensor(&tensors, &name, shape);
        let mut layers = Vec::with_capacity(shapes.len());
        let mut memories = Vec::with_capacity(shapes.len());
        for (index, (inputs, outputs)) in shapes.into_iter().enumerate() {
            let required = |name: &str, shape: &[usize]| {
                let name = format!("layers.{index}.{name}");
                array(name.clone(), shape)?.ok_or_else(|| damaged(&format!("{name} is missing")))
            };
            let optional = |name: &str, shape: &[usize]| array(format!("layers.{index}.{name}"), shape).map(Option::unwrap_or_default);
            let (matrix, vector) = ([outputs, inputs], [outputs]);
            layers.push(Layer { inputs, outputs, means: required("means", &matrix)?, bias: required("bias", &vector)? });
            memories.push(Memories {
                theta: optional("theta", &matrix)?,
                m: optional("m", &matrix)?,
                v: optional("v", &matrix)?,
                bias_m: optional("bias_m", &vector)?,
                bias_v: optional("bias_v", &vector)?,
            });
        }
        let network = Network { config: metadata.network, layers, preprocessing: metadata.preprocessing };
        let (train, state, data, examples) = (metadata.train, metadata.state, metadata.data, metadata.examples);
        let checkpoint = Self { network, train, state, memories, examples, data };
        let unsigned = text.replacen(&metadata.sha256, "", 1);
        if digest(&unsigned, checkpoint.tensors().iter().map(|(_, _, values)| little_endian(values))) != metadata.sha256 {
            return Err("damaged: the numbers are not those that were written".into());
        }
        Ok(checkpoint)
    }
}

fn read_tensor(tensors: &SafeTensors<'_>, name: &str, shape: &[usize]) -> Result<Option<Vec<f32>>, String> {
    let Ok(tensor) = tensors.tensor(name) else { return Ok(None) };
    if tensor.dtype() != Dtype::F32 || tensor.shape() != shape {
        return Err(format!("damaged: {name} is {:?} {:?}, not F32 {shape:?}", tensor.dtype(), tensor.shape()));
    }
    Ok(Some(tensor.data().as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect()))
}

/// The SHA-256 of the metadata (their own `sha256` being empty) and of all tensors.
fn digest(metadata: &str, tensors: impl Iterator<Item = impl AsRef<[u8]>>) -> String {
    let mut hash = Sha256::new();
    hash.update(metadata);
    tensors.for_each(|bytes| hash.update(bytes));
    hex(&hash.finalize())
}

fn little_endian(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A renamed file is safe from a power cut only once its directory is written.
fn sync_directory(path: &Path) -> std::io::Result<()> {
    match path.parent() {
        Some(parent) if cfg!(unix) && !parent.as_os_str().is_empty() => File::open(parent)?.sync_all(),
        _ => Ok(()),
    }
}
