//! The file of a packed network: safetensors, readable from any language.
//!
//! | tensor | shape | what |
//! |---|---|---|
//! | `input.weights` | networks × neurons × bytes | the first layer's weights, rows of a [`BitMatrix`] |
//! | `input.thresholds` | networks × neurons | its thresholds, for sums over bytes |
//! | `hidden.0.weights`, … | networks × layers × neurons × bytes | layers of one shape that follow each other; where the shape changes, `hidden.1` begins |
//! | `hidden.0.thresholds`, … | networks × layers × neurons | their thresholds |
//! | `output.weights` | networks × classes × bytes | the output layer's weights |
//! | `output.bias` | networks × classes | its biases |
//!
//! Weights are U8, thresholds I32, biases F32. The metadata have one key, `isinglass-bits`, with JSON: the number of inputs, the scale of the logits, the preprocessing, the images' shape, the
//! provenance, and the SHA-256 of these and of all tensors in the order above. So the file is as long as its bits and thresholds, and a header of a kilobyte, whatever the depth.
//!
//! A file is believed only if every size fits, every padding bit is 0 and the sum is right. What is read is never more than what is there: no size in the file makes the
//! reader reserve memory.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::network::{Layer, Model, Network, Output, Preprocessing};
use crate::{BitMatrix, Error};

/// The key of our metadata.
const KEY: &str = "isinglass-bits";
/// The version of the layout.
const FORMAT: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Metadata {
    format: u32,
    inputs: usize,
    tau: f64,
    preprocessing: Preprocessing,
    image: Option<(usize, usize)>,
    provenance: BTreeMap<String, String>,
    sha256: String,
}

/// A tensor to be written.
struct Tensor {
    name: String,
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl Model {
    /// The file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let tensors = self.tensors();
        let mut metadata = Metadata {
            format: FORMAT,
            inputs: self.inputs(),
            tau: self.tau,
            preprocessing: self.preprocessing,
            image: self.image,
            provenance: self.provenance.clone(),
            sha256: String::new(),
        };
        let text = |metadata: &Metadata| serde_json::to_string(metadata).expect("plain numbers and strings");
        metadata.sha256 = sum_of(&text(&metadata), tensors.iter().map(|tensor| &*tensor.bytes));
        let views = tensors.iter().map(|Tensor { name, dtype, shape, bytes }| {
            (name, TensorView::new(*dtype, shape.clone(), bytes).expect("as many bytes as its shape says"))
        });
        let information = core::iter::once((KEY.to_string(), text(&metadata))).collect();
        safetensors::serialize(views, Some(information)).expect("only a header of 100 MB is too long")
    }

    /// Whether these are the contents of a packed network, damaged or not.
    pub fn is_packed(bytes: &[u8]) -> bool {
        SafeTensors::read_metadata(bytes)
            .is_ok_and(|(_, header)| header.metadata().as_ref().is_some_and(|entries| entries.contains_key(KEY)))
    }

    /// Reads a file's contents.
    ///
    /// # Errors
    ///
    /// [`Error`] says what is wrong with it.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let foreign = |reason: &dyn core::fmt::Display| Error::File(format!("not a packed network ({reason})"));
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(|error| foreign(&error))?;
        let entries = header.metadata().as_ref();
        let text = entries.and_then(|entries| entries.get(KEY)).ok_or_else(|| match entries {
            Some(entries) if entries.contains_key("isinglass") => {
                Error::File("this is a checkpoint of a training run: `isinglass pack` makes a packed network of it".into())
            }
            _ => foreign(&"it has no metadata of ours"),
        })?;
        let metadata: Metadata = serde_json::from_str(text).map_err(|error| Error::File(format!("damaged metadata ({error})")))?;
        if metadata.format != FORMAT {
            return Err(Error::File(format!("a packed network of format {}, this program reads {FORMAT}", metadata.format)));
        }
        let tensors = SafeTensors::deserialize(bytes).map_err(|error| foreign(&error))?;
        let model = read_model(&tensors, &metadata)?;
        // As it was written, not as it is understood: a changed digit may be the same number.
        let found = sum_of(&text.replacen(&metadata.sha256, "", 1), model.tensors().iter().map(|tensor| &*tensor.bytes));
        if found != metadata.sha256 {
            return Err(Error::File("damaged: the contents are not those that were written".into()));
        }
        Ok(model)
    }

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// [`Error`] names the file and says what is wrong with it.
    #[cfg(feature = "std")]
    pub fn load(path: impl AsRef<std::path::Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let name = || path.display().to_string();
        let bytes = std::fs::read(path).map_err(|source| Error::Io { path: name(), source })?;
        Self::from_bytes(&bytes).map_err(|error| Error::In { path: name(), source: error.into() })
    }

    fn tensors(&self) -> Vec<Tensor> {
        let count = self.networks.len();
        let over_networks = |part: &dyn Fn(&Network, &mut Vec<u8>)| {
            let mut bytes = Vec::new();
            self.networks.iter().for_each(|network| part(network, &mut bytes));
            bytes
        };
        let tensor = |name: String, dtype, shape: &[usize], bytes| {
            let shape = core::iter::once(count).chain(shape.iter().copied()).collect();
            Tensor { name, dtype, shape, bytes }
        };
        let thresholds = |layer: &Layer, bytes: &mut Vec<u8>| bytes.extend(layer.thresholds.iter().flat_map(|value| value.to_le_bytes()));
        let stride = |matrix: &BitMatrix| matrix.columns().div_ceil(8);

        let first = &self.networks[0];
        let input = &first.layers[0].weights;
        let mut tensors = Vec::from([
            tensor(
                "input.weights".into(),
                Dtype::U8,
                &[input.rows(), stride(input)],
                over_networks(&|network, bytes| bytes.extend(network.layers[0].weights.bytes())),
            ),
            tensor(
                "input.thresholds".into(),
                Dtype::I32,
                &[input.rows()],
                over_networks(&|network, bytes| thresholds(&network.layers[0], bytes)),
            ),
        ]);
        let same_shape = |a: &Layer, b: &Layer| (a.weights.rows(), a.weights.columns()) == (b.weights.rows(), b.weights.columns());
        let mut begin = 1;
        for (block, layers) in first.layers[1..].chunk_by(same_shape).enumerate() {
            let (range, weights) = (begin..begin + layers.len(), &layers[0].weights);
            begin = range.end;
            tensors.push(tensor(
                format!("hidden.{block}.weights"),
                Dtype::U8,
                &[layers.len(), weights.rows(), stride(weights)],
                over_networks(&|network, bytes| network.layers[range.clone()].iter().for_each(|layer| bytes.extend(layer.weights.bytes()))),
            ));
            tensors.push(tensor(
                format!("hidden.{block}.thresholds"),
                Dtype::I32,
                &[layers.len(), weights.rows()],
                over_networks(&|network, bytes| network.layers[range.clone()].iter().for_each(|layer| thresholds(layer, bytes))),
            ));
        }
        let output = &first.output.weights;
        tensors.push(tensor(
            "output.weights".into(),
            Dtype::U8,
            &[output.rows(), stride(output)],
            over_networks(&|network, bytes| bytes.extend(network.output.weights.bytes())),
        ));
        tensors.push(tensor(
            "output.bias".into(),
            Dtype::F32,
            &[output.rows()],
            over_networks(&|network, bytes| bytes.extend(network.output.bias.iter().flat_map(|value| value.to_le_bytes()))),
        ));
        tensors
    }
}

fn read_model(tensors: &SafeTensors<'_>, metadata: &Metadata) -> Result<Model, Error> {
    let mut columns = metadata.inputs;
    let mut layers: Vec<Vec<Layer>> = Vec::new();
    let blocks = (tensors.len().saturating_sub(4)) / 2;
    let names = core::iter::once("input".to_string()).chain((0..blocks).map(|block| format!("hidden.{block}")));
    for (index, name) in names.enumerate() {
        let weights = find(tensors, &format!("{name}.weights"), Dtype::U8)?;
        let thresholds = find(tensors, &format!("{name}.thresholds"), Dtype::I32)?;
        let (count, depth, rows, stride) = match (index, weights.shape()) {
            (0, &[count, rows, stride]) => (count, 1, rows, stride),
            (1.., &[count, depth, rows, stride]) => (count, depth, rows, stride),
            (_, shape) => return Err(Error::File(format!("damaged: {name}.weights is of shape {shape:?}"))),
        };
        let expected: &[usize] = if index == 0 { &[count, rows] } else { &[count, depth, rows] };
        if thresholds.shape() != expected || count == 0 || depth == 0 || rows == 0 || stride == 0 {
            return Err(Error::File(format!("damaged: {name}.thresholds is of shape {:?}, not {expected:?}", thresholds.shape())));
        }
        if index == 0 {
            layers.resize_with(count, Vec::new);
        } else if layers.len() != count {
            return Err(Error::File(format!("damaged: {name} has {count} networks, not {}", layers.len())));
        }
        // The shapes were found to have as many bytes as the file: these products do not overflow.
        let weights = weights.data().chunks(rows * stride);
        let thresholds = thresholds.data().chunks(4 * rows);
        for (index, (weights, thresholds)) in weights.zip(thresholds).enumerate() {
            let columns = if index % depth == 0 { columns } else { rows };
            let weights = BitMatrix::new(rows, columns, weights.to_vec())?;
            let thresholds = thresholds.as_chunks::<4>().0.iter().map(|&bytes| i32::from_le_bytes(bytes)).collect();
            layers[index / depth].push(Layer { weights, thresholds });
        }
        columns = rows;
    }
    let (weights, bias) = (find(tensors, "output.weights", Dtype::U8)?, find(tensors, "output.bias", Dtype::F32)?);
    let &[count, classes, stride] = weights.shape() else {
        return Err(Error::File(format!("damaged: output.weights is of shape {:?}", weights.shape())));
    };
    if bias.shape() != [count, classes] || count != layers.len() || classes == 0 || stride == 0 || tensors.len() != 4 + 2 * blocks {
        return Err(Error::File("damaged: the output does not go with the other layers".into()));
    }
    let outputs = weights.data().chunks(classes * stride).zip(bias.data().chunks(4 * classes));
    let networks = layers.into_iter().zip(outputs).map(|(layers, (weights, bias))| {
        let weights = BitMatrix::new(classes, columns, weights.to_vec())?;
        let bias = bias.as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
        Network::from_layers(layers, Output { weights, bias })
    });
    let mut model = Model::new(networks.collect::<Result<_, _>>()?, metadata.preprocessing, metadata.tau)?;
    if metadata.image.is_some_and(|(height, width)| height.checked_mul(width) != Some(metadata.inputs)) {
        return Err(Error::File("damaged: the images' shape does not go with the number of inputs".into()));
    }
    model.image = metadata.image;
    model.provenance = metadata.provenance.clone();
    Ok(model)
}

fn find<'a>(tensors: &SafeTensors<'a>, name: &str, dtype: Dtype) -> Result<TensorView<'a>, Error> {
    let tensor = tensors.tensor(name).map_err(|_| Error::File(format!("damaged: {name} is missing")))?;
    if tensor.dtype() != dtype {
        return Err(Error::File(format!("damaged: {name} is of type {:?}, not {dtype:?}", tensor.dtype())));
    }
    Ok(tensor)
}

/// The SHA-256 of the metadata's text, its own `sha256` being empty, and of all tensors.
fn sum_of<'a>(text: &str, tensors: impl Iterator<Item = &'a [u8]>) -> String {
    let mut hash = Sha256::new();
    hash.update(text);
    tensors.for_each(|bytes| hash.update(bytes));
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
