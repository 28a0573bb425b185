//! The file of a checkpoint, written array by array, so that no second copy of the network is needed in memory.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;

use isinglass_bits::{Preprocessing, Quantiser};
use isinglass_files::hex;
use safetensors::tensor::{Dtype, Metadata as Header, SafeTensors, TensorInfo};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::arrays::{Array, StoredLayer, read_layer};
use super::{Checkpoint, State};
use crate::canonical::canonical_json;
use crate::network::{Drawn, Frame};
use crate::{Error, Initialisation, InputRule, Layer, NetworkConfig, Partition, TrainConfig};

/// The key of our metadata.
const KEY: &str = "isinglass";
/// The version of the layout.
const FORMAT: u32 = 2;

/// The metadata of a file.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Metadata {
    format: u32,
    network: NetworkConfig,
    initialisation: Option<Initialisation>,
    init_seed: Option<u64>,
    train: TrainConfig,
    preprocessing: Preprocessing,
    /// Whether the inputs are bytes, given or quantised; unknown in files of format 1.
    bytes: Option<bool>,
    class_names: Option<Vec<String>>,
    state: State,
    /// The numbers of training and of validation examples.
    partition: Option<[usize; 2]>,
    examples: usize,
    data: String,
    sha256: String,
}

impl Metadata {
    fn text(&self) -> Result<String, serde_json::Error> {
        serde_json::to_value(self).map(|value| canonical_json(&value))
    }
}

/// The SHA-256 of the metadata's text, with an empty `sha256`, and of all tensors.
fn sum_of<B: AsRef<[u8]>>(text: &str, tensors: impl Iterator<Item = B>) -> String {
    let mut hash = Sha256::new();
    hash.update(text);
    tensors.for_each(|bytes| hash.update(bytes));
    hex(&hash.finalize())
}

/// Everything that goes into a file, borrowed.
pub(crate) struct Snapshot<'a> {
    pub network: Frame,
    pub train: &'a TrainConfig,
    pub state: State,
    pub partition: &'a Partition,
    pub examples: usize,
    pub data: &'a str,
    pub layers: Vec<StoredLayer<'a>>,
}

impl Snapshot<'_> {
    /// Writes the file atomically.
    pub fn save(self, path: &Path) -> Result<(), Error> {
        let failed = |source: std::io::Error| Error::Write { path: path.display().to_string(), source };
        self.with_contents(|text, tensors| isinglass_files::write_with(path, |out| write_tensors(out, text, tensors))).map_err(failed)
    }

    /// The file's contents.
    pub fn into_bytes(self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.with_contents(|text, tensors| write_tensors(&mut bytes, text, tensors)).expect("memory takes all that is written");
        bytes
    }

    /// Hands the metadata's text and the tensors to `write`.
    fn with_contents(self, write: impl FnOnce(String, &[(String, Array<'_>)]) -> io::Result<()>) -> io::Result<()> {
        let Self { network: Frame { config, input, class_names, drawn }, layers, .. } = self;
        let mut tensors: Vec<(String, Array<'_>)> = layers.iter().enumerate().flat_map(|(index, layer)| layer.tensors(index)).collect();
        if let Some(quantiser) = input.quantiser() {
            tensors.push(("input.centres".into(), Array::vector(quantiser.centres())));
            tensors.push(("input.factors".into(), Array::vector(quantiser.factors())));
        }
        tensors.push(("partition.train".into(), Array::indices(self.partition.train())));
        tensors.push(("partition.validation".into(), Array::indices(self.partition.validation())));
        tensors.retain(|(_, array)| !array.is_empty());
        let (initialisation, init_seed) = drawn.map(|Drawn { initialisation, seed }| (initialisation, seed)).unzip();
        let mut metadata = Metadata {
            format: FORMAT,
            network: config,
            initialisation,
            init_seed,
            train: self.train.clone(),
            preprocessing: input.preprocessing(),
            bytes: input.are_bytes(),
            class_names,
            state: self.state,
            partition: Some([self.partition.train().len(), self.partition.validation().len()]),
            examples: self.examples,
            data: self.data.to_owned(),
            sha256: String::new(),
        };
        metadata.sha256 = sum_of(&metadata.text()?, tensors.iter().map(|(_, array)| array.data()));
        write(metadata.text()?, &tensors)
    }
}

/// Writes a safetensors file as `safetensors::serialize` would, one array at a time.
fn write_tensors(out: &mut impl Write, text: String, tensors: &[(String, Array<'_>)]) -> io::Result<()> {
    let mut tensors: Vec<&(String, Array<'_>)> = tensors.iter().collect();
    tensors.sort_by(|(left, _), (right, _)| left.cmp(right));
    let mut end = 0;
    let infos = tensors.iter().map(|(name, array)| {
        let start = end;
        end += array.data_len();
        (name.clone(), TensorInfo { dtype: array.dtype(), shape: array.shape.clone(), data_offsets: (start, end) })
    });
    let header = Header::new(Some(HashMap::from([(KEY.to_owned(), text)])), infos.collect()).map_err(io::Error::other)?;
    let mut header = serde_json::to_vec(&header)?;
    header.resize(header.len().next_multiple_of(8), b' ');
    out.write_all(&(header.len() as u64).to_le_bytes())?;
    out.write_all(&header)?;
    tensors.iter().try_for_each(|(_, array)| out.write_all(&array.data()))
}

/// Reads a checkpoint; the error describes the problem.
pub(super) fn parse(bytes: &[u8]) -> Result<Checkpoint, String> {
    let (_, header) = SafeTensors::read_metadata(bytes).map_err(|error| damaged(&error))?;
    let tensors = SafeTensors::deserialize(bytes).map_err(|error| damaged(&error))?;
    let Some(text) = header.metadata().as_ref().and_then(|metadata| metadata.get(KEY)) else {
        return Err("a safetensors file, but not an isinglass checkpoint".into());
    };
    let value: Value = serde_json::from_str(text).map_err(|error| damaged(&error))?;
    let format = value["format"].as_u64().ok_or_else(|| damaged(&"the format is missing"))?;
    let value = match format {
        1 => from_format_1(value)?,
        2 => value,
        _ => return Err(format!("format {format}: this version reads formats 1 and {FORMAT}; use a newer isinglass")),
    };
    let metadata: Metadata = serde_json::from_value(value).map_err(|error| damaged(&error))?;
    metadata.train.check().map_err(|error| damaged(&error))?;
    let specs = metadata.network.layers().map_err(|error| damaged(&error))?;
    let mut reader = Reader { tensors: &tensors, hash: Sha256::new(), read: 0 };
    // The text itself, not the parsed value: a changed digit may give the same number.
    reader.hash.update(text.replacen(&metadata.sha256, "", 1));
    let mut layers = Vec::new();
    let mut optimizer = Vec::new();
    for (index, spec) in specs.into_iter().enumerate() {
        let missing = |name: &str| damaged(&format!("{name} is missing"));
        let (means, bias, state) = read_layer(index, &spec, |name, shape| reader.floats(name, shape), missing)?;
        layers.push((spec, means, bias));
        optimizer.push(state);
    }
    let columns = [metadata.network.inputs];
    let quantiser = match (reader.floats("input.centres", &columns)?, reader.floats("input.factors", &columns)?) {
        (None, None) => None,
        (Some(centres), Some(factors)) => Some(Quantiser::new(centres, factors).map_err(|error| damaged(&error))?),
        _ => return Err(damaged(&"input.centres or input.factors is missing")),
    };
    let indices = (reader.indices("partition.train")?, reader.indices("partition.validation")?);
    if reader.read != tensors.len() {
        return Err(damaged(&"unexpected tensors"));
    }
    if hex(&reader.hash.finalize()) != metadata.sha256 {
        return Err("damaged: the contents do not match the checksum".into());
    }
    // A checksum can be made for any contents.
    optimizer.iter().enumerate().try_for_each(|(index, state)| state.check(index))?;
    let partition = match indices {
        (None, None) if format == 1 => Partition::new(metadata.examples, &metadata.train).map_err(|error| damaged(&error))?,
        (train, validation) => {
            let (train, validation) = (train.unwrap_or_default(), validation.unwrap_or_default());
            if metadata.partition != Some([train.len(), validation.len()]) {
                return Err(damaged(&"the size of the partition does not match"));
            }
            Partition::from_indices(train, validation, metadata.examples).map_err(|error| damaged(&error))?
        }
    };
    let input = match quantiser {
        Some(quantiser) => InputRule::quantised(quantiser, metadata.preprocessing),
        None if metadata.bytes == Some(true) => InputRule::of_bytes(metadata.preprocessing),
        None => InputRule::shared(metadata.preprocessing),
    };
    let initialisation = match format {
        // Not written down then; if today's theory refuses the network, nothing is known of it.
        1 => Initialisation::of_independent_layers(&metadata.network).ok(),
        _ => metadata.initialisation,
    };
    if let Some(initialisation) = &initialisation {
        initialisation.check(&metadata.network).map_err(|error| damaged(&error))?;
    }
    let drawn = initialisation.zip(metadata.init_seed).map(|(initialisation, seed)| Drawn { initialisation, seed });
    let frame = Frame { config: metadata.network, input, class_names: metadata.class_names, drawn };
    let layers: Result<Vec<Layer>, Error> = layers.into_iter().map(|(spec, means, bias)| Layer::new(spec, means, bias)).collect();
    let network = layers.and_then(|layers| frame.with_layers(layers)).map_err(|error| damaged(&error))?;
    let Metadata { train, state, data, examples, .. } = metadata;
    Ok(Checkpoint { network, train, state, optimizer, partition, examples, data })
}

fn damaged(what: &dyn std::fmt::Display) -> String {
    format!("not a checkpoint, or a damaged one: {what}")
}

/// The metadata of format 1 as those of format 2. Networks had one width, and neither the initialisation nor the partition was stored: both follow from the settings.
fn from_format_1(mut value: Value) -> Result<Value, String> {
    let wrong = || damaged(&"the network's settings are incomplete");
    let network = value.get_mut("network").and_then(Value::as_object_mut).ok_or_else(wrong)?;
    let mut number = |key: &str| network.remove(key).as_ref().and_then(Value::as_u64).ok_or_else(wrong);
    let (depth, width) = (number("depth")?, number("width")?);
    // Checked before a list of that length is allocated.
    if depth > crate::network_config::MAX_DEPTH as u64 {
        return Err(damaged(&format!("depth = {depth}: at most {}", crate::network_config::MAX_DEPTH)));
    }
    network.insert("hidden".into(), vec![width; depth as usize].into());
    let seed = value["train"]["seed"].clone();
    let members = value.as_object_mut().ok_or_else(wrong)?;
    members.insert("initialisation".into(), Value::Null);
    members.insert("init-seed".into(), seed);
    members.insert("class-names".into(), Value::Null);
    members.insert("partition".into(), Value::Null);
    members.insert("bytes".into(), Value::Null);
    Ok(value)
}

/// Takes tensors out of a file, in the order in which they are hashed.
struct Reader<'a, 'b> {
    tensors: &'a SafeTensors<'b>,
    hash: Sha256,
    /// Number of tensors found.
    read: usize,
}

impl Reader<'_, '_> {
    fn tensor(&mut self, name: &str, dtype: Dtype, shape: Option<&[usize]>) -> Result<Option<&[u8]>, String> {
        let Ok(tensor) = self.tensors.tensor(name) else { return Ok(None) };
        if tensor.dtype() != dtype || shape.map_or(tensor.shape().len() != 1, |shape| tensor.shape() != shape) {
            let shape = shape.map_or_else(|| "[…]".into(), |shape| format!("{shape:?}"));
            return Err(format!("damaged: {name} is {:?} {:?}, not {dtype:?} {shape}", tensor.dtype(), tensor.shape()));
        }
        self.hash.update(tensor.data());
        self.read += 1;
        Ok(Some(tensor.data()))
    }

    fn floats(&mut self, name: &str, shape: &[usize]) -> Result<Option<Vec<f32>>, String> {
        let data = self.tensor(name, Dtype::F32, Some(shape))?;
        Ok(data.map(|data| data.as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect()))
    }

    fn indices(&mut self, name: &str) -> Result<Option<Vec<u32>>, String> {
        let data = self.tensor(name, Dtype::U32, None)?;
        Ok(data.map(|data| data.as_chunks::<4>().0.iter().map(|&bytes| u32::from_le_bytes(bytes)).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_written_array_by_array_are_those_of_safetensors() {
        // Rows of 2 columns with a stride of 3; names not in alphabetical order.
        let values = [1.0, 2.0, f32::NAN, 3.0, 4.0, f32::NAN];
        let tensors = [
            ("b".to_owned(), Array::matrix(&values, 2, 2, 3)),
            ("a\"".to_owned(), Array::vector(&values[..4])),
            ("c".to_owned(), Array::indices(&[7, 8])),
        ];
        let mut found = Vec::new();
        write_tensors(&mut found, "text".into(), &tensors).unwrap();
        let data = tensors.each_ref().map(|(_, array)| array.data());
        let views = tensors
            .iter()
            .zip(&data)
            .map(|((name, array), data)| (name, safetensors::tensor::TensorView::new(array.dtype(), array.shape.clone(), data).unwrap()));
        let expected = safetensors::serialize(views, Some(HashMap::from([(KEY.to_owned(), "text".to_owned())]))).unwrap();
        let same = |bytes: &[u8]| {
            let tensors = SafeTensors::deserialize(bytes).unwrap();
            let mut all: Vec<_> = tensors.tensors().into_iter().map(|(name, view)| (name, view.dtype(), view.data().to_vec())).collect();
            all.sort_by(|a, b| a.0.cmp(&b.0));
            all
        };
        // The data may be in any order.
        assert_eq!(same(&found), same(&expected));
    }
}
