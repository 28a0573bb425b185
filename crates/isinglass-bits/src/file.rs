//! The file of a packed network: safetensors, readable from any language.
//!
//! | tensor | shape | contents |
//! |---|---|---|
//! | `input.centres`, `input.factors` | inputs | the [`Quantiser`], if the model takes real numbers |
//! | `input.weights` | networks × neurons × bytes | the first layer's weights, rows of a [`BitMatrix`] |
//! | `input.thresholds` | networks × neurons | its thresholds, for sums over bytes |
//! | `hidden.0.weights`, … | networks × layers × neurons × bytes | consecutive layers of one shape; `hidden.1` begins where the shape changes |
//! | `hidden.0.thresholds`, … | networks × layers × neurons | their thresholds |
//! | `output.weights` | networks × classes × bytes | the output layer's weights |
//! | `output.bias` | networks × classes | its biases |
//!
//! Weights are U8, thresholds I32, the others F32.
//! The metadata have one key, `isinglass-bits`, with JSON: the format, the number of inputs, the scale of the logits, the preprocessing, the images' shape, the provenance, the names of the classes if they have any,
//! which layers carry if any do, and the SHA-256 of these and of all tensors in the order above.
//! So the file is as long as its bits and thresholds, plus a header of a kilobyte, whatever the depth.
//!
//! `carries` lists the layers that carry as ranges `[begin, end]`, `end` excluded, the first layer being 0: `[[2, 5]]` for layers 2, 3 and 4.
//! Ranges ascend and do not touch, so that there is one way to write them.
//!
//! `format` is 3 if a layer carries; otherwise it is 1 for a model of bytes whose classes have no names, and 2 for the rest, so that older versions read every file they understand.
//!
//! A file is accepted only if every size fits, every padding bit is 0 and the checksum matches.
//! No size in the file makes the reader allocate more memory than the file itself takes.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{BitMatrix, Error, Output, PackedLayer, PackedModel, PackedNetwork, Preprocessing, Quantiser};

/// The key of our metadata.
const KEY: &str = "isinglass-bits";
/// The layout of a model of bytes whose classes have no names.
const PLAIN: u32 = 1;
/// The layout with a quantiser, class names, or both.
const EXTENDED: u32 = 2;
/// The layout with layers that carry, and with whatever else there may be.
const CARRYING: u32 = 3;

/// The part of the metadata that every format has.
#[derive(Deserialize)]
struct Version {
    format: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Metadata {
    format: u32,
    inputs: usize,
    tau: f64,
    preprocessing: Preprocessing,
    image: Option<(usize, usize)>,
    provenance: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    class_names: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    carries: Option<Vec<(usize, usize)>>,
    sha256: String,
}

/// A tensor to write.
struct Tensor {
    name: String,
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl PackedModel {
    /// The contents of the model's file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let tensors = self.tensors();
        let mut metadata = Metadata {
            format: self.format(),
            inputs: self.inputs(),
            tau: self.tau(),
            preprocessing: self.preprocessing(),
            image: self.image(),
            provenance: self.provenance.clone(),
            class_names: self.class_names().map(<[String]>::to_vec),
            carries: self.carries(),
            sha256: String::new(),
        };
        let text = |metadata: &Metadata| serde_json::to_string(metadata).expect("plain numbers and strings");
        metadata.sha256 = sum_of(&text(&metadata), tensors.iter().map(|tensor| &*tensor.bytes));
        let views = tensors.iter().map(|Tensor { name, dtype, shape, bytes }| {
            (name, TensorView::new(*dtype, shape.clone(), bytes).expect("as many bytes as the shape says"))
        });
        let information = core::iter::once((KEY.to_string(), text(&metadata))).collect();
        safetensors::serialize(views, Some(information)).expect("the header is far below 100 MB")
    }

    /// Whether these are the contents of a packed file, damaged or not.
    pub fn is_packed(bytes: &[u8]) -> bool {
        SafeTensors::read_metadata(bytes)
            .is_ok_and(|(_, header)| header.metadata().as_ref().is_some_and(|entries| entries.contains_key(KEY)))
    }

    /// Reads the contents of a file.
    ///
    /// # Errors
    ///
    /// [`Error`] says what is wrong with them.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let foreign = |reason: &dyn core::fmt::Display| Error::File(format!("not a packed network ({reason})"));
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(|error| foreign(&error))?;
        let entries = header.metadata().as_ref();
        let text = entries.and_then(|entries| entries.get(KEY)).ok_or_else(|| match entries {
            Some(entries) if entries.contains_key("isinglass") => {
                Error::File("a checkpoint of a training run, not a packed network: pack it with `isinglass pack`".into())
            }
            _ => foreign(&"no isinglass metadata"),
        })?;
        let damaged = |error: serde_json::Error| Error::File(format!("damaged metadata ({error})"));
        let Version { format } = serde_json::from_str(text).map_err(damaged)?;
        if ![PLAIN, EXTENDED, CARRYING].contains(&format) {
            return Err(Error::File(format!(
                "a packed network of format {format}, but this version of isinglass reads only {PLAIN}, {EXTENDED} and {CARRYING}: update isinglass, or pack the run again with this version"
            )));
        }
        let metadata: Metadata = serde_json::from_str(text).map_err(damaged)?;
        let tensors = SafeTensors::deserialize(bytes).map_err(|error| foreign(&error))?;
        let model = read_model(&tensors, &metadata)?;
        if model.format() != format {
            return Err(Error::File(format!("damaged: format {format} with the contents of format {}", model.format())));
        }
        if model.carries() != metadata.carries {
            return Err(Error::File("damaged: an empty list of layers that carry".into()));
        }
        // The text as it was written, not as it was parsed: a changed digit may still be the same number.
        let found = sum_of(&text.replacen(&metadata.sha256, "", 1), model.tensors().iter().map(|tensor| &*tensor.bytes));
        if found != metadata.sha256 {
            return Err(Error::File("damaged: the contents do not match their SHA-256".into()));
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
        let bytes = isinglass_files::read_safetensors(path).map_err(|source| Error::Io { path: name(), source })?;
        Self::from_bytes(&bytes).map_err(|error| Error::In { path: name(), source: error.into() })
    }

    /// Writes the file atomically: after an error, an earlier file is unchanged.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] names the file.
    #[cfg(feature = "std")]
    pub fn save(&self, path: impl AsRef<std::path::Path>) -> Result<(), Error> {
        let path = path.as_ref();
        isinglass_files::write(path, self.to_bytes()).map_err(|source| Error::Io { path: path.display().to_string(), source })
    }

    fn format(&self) -> u32 {
        match (self.carrying_layers().is_empty(), self.quantiser(), self.class_names()) {
            (false, _, _) => CARRYING,
            (true, None, None) => PLAIN,
            _ => EXTENDED,
        }
    }

    /// The layers that carry, as the metadata list them.
    fn carries(&self) -> Option<Vec<(usize, usize)>> {
        let ranges: Vec<(usize, usize)> = self.carrying_layers().into_iter().map(|range| (range.start, range.end)).collect();
        (!ranges.is_empty()).then_some(ranges)
    }

    fn tensors(&self) -> Vec<Tensor> {
        let count = self.networks().len();
        let over_networks = |part: &dyn Fn(&PackedNetwork, &mut Vec<u8>)| {
            let mut bytes = Vec::new();
            self.networks().iter().for_each(|network| part(network, &mut bytes));
            bytes
        };
        let tensor = |name: String, dtype, shape: &[usize], bytes| {
            let shape = core::iter::once(count).chain(shape.iter().copied()).collect();
            Tensor { name, dtype, shape, bytes }
        };
        let thresholds =
            |layer: &PackedLayer, bytes: &mut Vec<u8>| bytes.extend(layer.thresholds().iter().flat_map(|value| value.to_le_bytes()));
        let stride = |matrix: &BitMatrix| matrix.columns().div_ceil(8);

        let first = &self.networks()[0];
        let input = first.layers()[0].weights();
        let mut tensors = Vec::new();
        if let Some(quantiser) = self.quantiser() {
            for (name, values) in [("input.centres", quantiser.centres()), ("input.factors", quantiser.factors())] {
                let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
                tensors.push(Tensor { name: name.into(), dtype: Dtype::F32, shape: Vec::from([values.len()]), bytes });
            }
        }
        tensors.extend([
            tensor(
                "input.weights".into(),
                Dtype::U8,
                &[input.rows(), stride(input)],
                over_networks(&|network, bytes| bytes.extend(network.layers()[0].weights().bytes())),
            ),
            tensor(
                "input.thresholds".into(),
                Dtype::I32,
                &[input.rows()],
                over_networks(&|network, bytes| thresholds(&network.layers()[0], bytes)),
            ),
        ]);
        let mut begin = 1;
        for (block, layers) in first.layers()[1..].chunk_by(PackedLayer::has_shape_of).enumerate() {
            let (range, weights) = (begin..begin + layers.len(), layers[0].weights());
            begin = range.end;
            tensors.push(tensor(
                format!("hidden.{block}.weights"),
                Dtype::U8,
                &[layers.len(), weights.rows(), stride(weights)],
                over_networks(&|network, bytes| {
                    network.layers()[range.clone()].iter().for_each(|layer| bytes.extend(layer.weights().bytes()))
                }),
            ));
            tensors.push(tensor(
                format!("hidden.{block}.thresholds"),
                Dtype::I32,
                &[layers.len(), weights.rows()],
                over_networks(&|network, bytes| network.layers()[range.clone()].iter().for_each(|layer| thresholds(layer, bytes))),
            ));
        }
        let output = first.output().weights();
        tensors.push(tensor(
            "output.weights".into(),
            Dtype::U8,
            &[output.rows(), stride(output)],
            over_networks(&|network, bytes| bytes.extend(network.output().weights().bytes())),
        ));
        tensors.push(tensor(
            "output.bias".into(),
            Dtype::F32,
            &[output.rows()],
            over_networks(&|network, bytes| bytes.extend(network.output().bias().iter().flat_map(|value| value.to_le_bytes()))),
        ));
        tensors
    }
}

fn read_model(tensors: &SafeTensors<'_>, metadata: &Metadata) -> Result<PackedModel, Error> {
    let mut columns = metadata.inputs;
    let mut layers: Vec<Vec<PackedLayer>> = Vec::new();
    let quantiser = read_quantiser(tensors)?;
    // Pairs of tensors beside the hidden layers: the first layer, the output and the quantiser.
    let others = 2 + usize::from(quantiser.is_some());
    let blocks = (tensors.len() / 2).saturating_sub(others);
    let names = core::iter::once("input".to_string()).chain((0..blocks).map(|block| format!("hidden.{block}")));
    for (index, name) in names.enumerate() {
        let weights = find(tensors, &format!("{name}.weights"), Dtype::U8)?;
        let thresholds = find(tensors, &format!("{name}.thresholds"), Dtype::I32)?;
        let (count, depth, rows, stride) = match (index, weights.shape()) {
            (0, &[count, rows, stride]) => (count, 1, rows, stride),
            (1.., &[count, depth, rows, stride]) => (count, depth, rows, stride),
            (_, shape) => return Err(Error::File(format!("damaged: {name}.weights has shape {shape:?}"))),
        };
        let expected: &[usize] = if index == 0 { &[count, rows] } else { &[count, depth, rows] };
        if thresholds.shape() != expected || count == 0 || depth == 0 || rows == 0 || stride == 0 {
            return Err(Error::File(format!("damaged: {name}.thresholds has shape {:?}, not {expected:?}", thresholds.shape())));
        }
        if index == 0 {
            layers.resize_with(count, Vec::new);
        } else if layers.len() != count {
            return Err(Error::File(format!("damaged: {name} has {count} networks, not {}", layers.len())));
        }
        // The shapes have as many bytes as the file, so these products do not overflow.
        let weights = weights.data().chunks(rows * stride);
        let thresholds = thresholds.data().chunks(4 * rows);
        for (index, (weights, thresholds)) in weights.zip(thresholds).enumerate() {
            let columns = if index % depth == 0 { columns } else { rows };
            let weights = BitMatrix::new(rows, columns, weights.to_vec())?;
            let thresholds = thresholds.as_chunks::<4>().0.iter().map(|&bytes| i32::from_le_bytes(bytes)).collect();
            layers[index / depth].push(PackedLayer::new(weights, thresholds)?);
        }
        columns = rows;
    }
    let carries = read_carries(metadata.carries.as_deref().unwrap_or(&[]), layers.first().map_or(0, Vec::len))?;
    let (weights, bias) = (find(tensors, "output.weights", Dtype::U8)?, find(tensors, "output.bias", Dtype::F32)?);
    let &[count, classes, stride] = weights.shape() else {
        return Err(Error::File(format!("damaged: output.weights has shape {:?}", weights.shape())));
    };
    if bias.shape() != [count, classes] || count != layers.len() || classes == 0 || stride == 0 || tensors.len() != 2 * (others + blocks) {
        return Err(Error::File("damaged: the output layer does not fit the other tensors".into()));
    }
    let outputs = weights.data().chunks(classes * stride).zip(bias.data().chunks(4 * classes));
    let networks = layers.into_iter().zip(outputs).map(|(layers, (weights, bias))| {
        let weights = BitMatrix::new(classes, columns, weights.to_vec())?;
        let bias = floats(bias);
        let layers = layers.into_iter().zip(&carries).map(|(layer, &carries)| layer.carrying(carries)).collect::<Result<_, _>>()?;
        PackedNetwork::from_layers(layers, Output::new(weights, bias)?)
    });
    let mut model = PackedModel::new(networks.collect::<Result<_, _>>()?, metadata.preprocessing, metadata.tau)?;
    if let Some((height, width)) = metadata.image {
        model = model.with_image(height, width)?;
    }
    if let Some(quantiser) = quantiser {
        model = model.with_quantiser(quantiser)?;
    }
    if let Some(names) = &metadata.class_names {
        model = model.with_class_names(names)?;
    }
    model.provenance = metadata.provenance.clone();
    Ok(model)
}

/// Which of the layers carry, given in ascending ranges that do not touch.
fn read_carries(ranges: &[(usize, usize)], depth: usize) -> Result<Vec<bool>, Error> {
    let mut carries = vec![false; depth];
    let mut least = 0;
    for &(begin, end) in ranges {
        if !(least <= begin && begin < end && end <= depth) {
            return Err(Error::File(format!("damaged: the range of carrying layers [{begin}, {end}] must lie within [{least}, {depth}]")));
        }
        carries[begin..end].fill(true);
        least = end + 1;
    }
    Ok(carries)
}

fn read_quantiser(tensors: &SafeTensors<'_>) -> Result<Option<Quantiser>, Error> {
    let names = ["input.centres", "input.factors"];
    if names.iter().all(|name| tensors.tensor(name).is_err()) {
        return Ok(None);
    }
    let [centres, factors] = names.map(|name| {
        let tensor = find(tensors, name, Dtype::F32)?;
        match tensor.shape() {
            [_] => Ok(floats(tensor.data())),
            shape => Err(Error::File(format!("damaged: {name} has shape {shape:?}"))),
        }
    });
    Quantiser::new(centres?, factors?).map(Some)
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect()
}

fn find<'a>(tensors: &SafeTensors<'a>, name: &str, dtype: Dtype) -> Result<TensorView<'a>, Error> {
    let tensor = tensors.tensor(name).map_err(|_| Error::File(format!("damaged: {name} is missing")))?;
    if tensor.dtype() != dtype {
        return Err(Error::File(format!("damaged: {name} has type {:?}, not {dtype:?}", tensor.dtype())));
    }
    Ok(tensor)
}

/// The SHA-256 of the metadata, with an empty `sha256`, and of all tensors.
fn sum_of<'a>(text: &str, tensors: impl Iterator<Item = &'a [u8]>) -> String {
    let mut hash = Sha256::new();
    hash.update(text);
    tensors.for_each(|bytes| hash.update(bytes));
    isinglass_files::hex(&hash.finalize())
}
