//! The file of a checkpoint, written array by array: a network in training need not fit the memory twice.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;

use isinglass_files::hex;
use safetensors::tensor::{Dtype, Metadata as Header, SafeTensors, TensorInfo, View};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Checkpoint, Memories, State};
use crate::canonical::canonical_json;
use crate::{Error, Layer, Network, NetworkConfig, Preprocessing, TrainConfig};

/// The key of our metadata.
const KEY: &str = "isinglass";
/// The version of the layout.
const FORMAT: u32 = 1;

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

impl Metadata {
    fn text(&self) -> Result<String, serde_json::Error> {
        serde_json::to_value(self).map(|value| canonical_json(&value))
    }
}

/// The SHA-256 of the metadata's text, its own `sha256` being empty, and of all tensors.
fn sum_of<B: AsRef<[u8]>>(text: &str, tensors: impl Iterator<Item = B>) -> String {
    let mut hash = Sha256::new();
    hash.update(text);
    tensors.for_each(|bytes| hash.update(bytes));
    hex(&hash.finalize())
}

/// A layer's arrays where they lie; empty ones are not written.
pub(crate) struct LayerArrays<'a> {
    pub inputs: usize,
    pub outputs: usize,
    /// From one row of a matrix to the next.
    pub stride: usize,
    pub means: &'a [f32],
    pub bias: &'a [f32],
    pub theta: &'a [f32],
    pub m: &'a [f32],
    pub v: &'a [f32],
    pub bias_m: &'a [f32],
    pub bias_v: &'a [f32],
}

impl<'a> LayerArrays<'a> {
    /// The arrays in the order in which they are hashed.
    fn tensors(&self, index: usize) -> impl Iterator<Item = (String, Array<'a>)> {
        let matrix =
            |values: &'a [f32]| Array { shape: vec![self.outputs, self.inputs], columns: self.inputs, stride: self.stride, values };
        let vector = |values: &'a [f32]| Array { shape: vec![self.outputs], columns: self.outputs, stride: self.outputs, values };
        let all = [
            ("means", matrix(self.means)),
            ("bias", vector(self.bias)),
            ("theta", matrix(self.theta)),
            ("m", matrix(self.m)),
            ("v", matrix(self.v)),
            ("bias_m", vector(self.bias_m)),
            ("bias_v", vector(self.bias_v)),
        ];
        let named = move |(name, array)| (format!("layers.{index}.{name}"), array);
        all.into_iter().filter(|(_, array)| !array.values.is_empty()).map(named)
    }
}

/// Rows of numbers, with or without padding between them.
struct Array<'a> {
    shape: Vec<usize>,
    columns: usize,
    stride: usize,
    values: &'a [f32],
}

impl View for Array<'_> {
    fn dtype(&self) -> Dtype {
        Dtype::F32
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        let rows = self.values.chunks_exact(self.stride).map(|row| &row[..self.columns]);
        Cow::Owned(rows.flatten().flat_map(|value| value.to_le_bytes()).collect())
    }

    fn data_len(&self) -> usize {
        4 * self.shape.iter().product::<usize>()
    }
}

/// Everything that goes into a file, borrowed.
pub(crate) struct Snapshot<'a> {
    pub network: &'a NetworkConfig,
    pub train: &'a TrainConfig,
    pub preprocessing: Preprocessing,
    pub state: State,
    pub examples: usize,
    pub data: &'a str,
    pub layers: Vec<LayerArrays<'a>>,
}

impl Snapshot<'_> {
    /// Writes the file, complete or not at all.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        let tensors: Vec<(String, Array<'_>)> = self.layers.iter().enumerate().flat_map(|(index, layer)| layer.tensors(index)).collect();
        let mut metadata = Metadata {
            format: FORMAT,
            network: self.network.clone(),
            train: self.train.clone(),
            preprocessing: self.preprocessing,
            state: self.state,
            examples: self.examples,
            data: self.data.to_owned(),
            sha256: String::new(),
        };
        let failed = |source: std::io::Error| Error::Write { path: path.display().to_string(), source };
        let text_of = |metadata: &Metadata| metadata.text().map_err(|error| failed(error.into()));
        metadata.sha256 = sum_of(&text_of(&metadata)?, tensors.iter().map(|(_, array)| array.data().into_owned()));
        let text = text_of(&metadata)?;
        isinglass_files::write_with(path, |out| write_tensors(out, text, &tensors)).map_err(failed)
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
        (name.clone(), TensorInfo { dtype: Dtype::F32, shape: array.shape.clone(), data_offsets: (start, end) })
    });
    let header = Header::new(Some(HashMap::from([(KEY.to_owned(), text)])), infos.collect()).map_err(io::Error::other)?;
    let mut header = serde_json::to_vec(&header)?;
    header.resize(header.len().next_multiple_of(8), b' ');
    out.write_all(&(header.len() as u64).to_le_bytes())?;
    out.write_all(&header)?;
    tensors.iter().try_for_each(|(_, array)| out.write_all(&array.data()))
}

/// Reads a checkpoint; the error says what is wrong with it.
pub(super) fn parse(bytes: &[u8]) -> Result<Checkpoint, String> {
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
    let found = {
        let arrays = layers
            .iter()
            .zip(&memories)
            .flat_map(|(layer, memory)| [&layer.means, &layer.bias, &memory.theta, &memory.m, &memory.v, &memory.bias_m, &memory.bias_v]);
        // As it was written, not as it is understood: a changed digit may be the same number.
        sum_of(&text.replacen(&metadata.sha256, "", 1), arrays.map(|values| little_endian(values)))
    };
    if found != metadata.sha256 {
        return Err("damaged: the numbers are not those that were written".into());
    }
    let network = Network { config: metadata.network, layers, preprocessing: metadata.preprocessing };
    let (train, state, data, examples) = (metadata.train, metadata.state, metadata.data, metadata.examples);
    let checkpoint = Checkpoint { network, train, state, memories, examples, data };
    Ok(checkpoint)
}

fn read_tensor(tensors: &SafeTensors<'_>, name: &str, shape: &[usize]) -> Result<Option<Vec<f32>>, String> {
    let Ok(tensor) = tensors.tensor(name) else { return Ok(None) };
    if tensor.dtype() != Dtype::F32 || tensor.shape() != shape {
        return Err(format!("damaged: {name} is {:?} {:?}, not F32 {shape:?}", tensor.dtype(), tensor.shape()));
    }
    Ok(Some(tensor.data().as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect()))
}

fn little_endian(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_written_array_by_array_are_those_of_safetensors() {
        // Rows of 2 of 3 columns; names that do not come in alphabetical order.
        let values = [1.0, 2.0, f32::NAN, 3.0, 4.0, f32::NAN];
        let array = |shape: &[usize], stride| Array { shape: shape.to_vec(), columns: 2, stride, values: &values[..stride * 2] };
        let tensors = [("b".to_owned(), array(&[2, 2], 3)), ("a\"".to_owned(), array(&[4], 2))];
        let mut found = Vec::new();
        write_tensors(&mut found, "text".into(), &tensors).unwrap();
        let data = tensors.each_ref().map(|(_, array)| array.data());
        let views = tensors
            .iter()
            .zip(&data)
            .map(|((name, array), data)| (name, safetensors::tensor::TensorView::new(Dtype::F32, array.shape.clone(), data).unwrap()));
        let expected = safetensors::serialize(views, Some(HashMap::from([(KEY.to_owned(), "text".to_owned())]))).unwrap();
        assert_eq!(found, expected);
    }
}
