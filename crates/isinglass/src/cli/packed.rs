//! A packed network's file, and what can be said of it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use isinglass_bits::{BitMatrix, PackedLayer, PackedModel, PackedNetwork, Values};
use isinglass_data::{Pixels, Split};
use isinglass_lab::words::percent;
use serde::Serialize;

use super::CliError;
use super::answer::{Record, write_columns};
use super::output::usage;
use super::predictions::Predictions;
use super::printable::printable;
use super::run::tables::grouped;

/// Weights of a layer's first neuron that are shown.
const SHOWN: usize = 32;

/// Which packed network.
#[derive(Debug, clap::Args)]
pub struct ModelArgs {
    /// Packed network, made by `isinglass pack`
    #[arg(value_name = "MODEL")]
    model: PathBuf,
}

impl ModelArgs {
    pub fn path(&self) -> &Path {
        &self.model
    }

    pub fn load(&self) -> Result<PackedModel, CliError> {
        if self.model.is_dir() {
            let name = self.model.display();
            return Err(usage(format!(
                "{name} is a directory, not a packed network: `isinglass pack {} -o model.safetensors` makes one",
                isinglass_lab::shell::path(&self.model)
            )));
        }
        Ok(PackedModel::load(&self.model)?)
    }
}

/// A packed network with the size of its file.
pub struct PackedFile {
    model: PackedModel,
    bytes: usize,
}

impl PackedFile {
    pub fn model(&self) -> &PackedModel {
        &self.model
    }

    /// Size of the file.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Opens a file if it is a packed network, whole or damaged.
    pub fn open_if_packed(path: &Path) -> Result<Option<Self>, CliError> {
        if !path.is_file() {
            return Ok(None);
        }
        let failed = |source| isinglass_bits::Error::Io { path: path.display().to_string(), source };
        let bytes = std::fs::read(path).map_err(failed)?;
        if !PackedModel::is_packed(&bytes) {
            return Ok(None);
        }
        let in_file = |source: isinglass_bits::Error| isinglass_bits::Error::In { path: path.display().to_string(), source: source.into() };
        Ok(Some(Self { model: PackedModel::from_bytes(&bytes).map_err(in_file)?, bytes: bytes.len() }))
    }

    /// All that `isinglass inspect` says.
    pub fn describe(&self) -> Description<'_> {
        let (model, networks) = (&self.model, self.model.networks());
        let layers: Vec<LayerDescription> =
            (0..networks[0].matrices().count()).map(|index| LayerDescription::new(networks, index)).collect();
        let total = |of: fn(&LayerDescription) -> usize| layers.iter().map(of).sum::<usize>();
        let bits = total(|layer| layer.bits);
        Description {
            shape: shape_text(model),
            networks: networks.len(),
            bits,
            bytes: self.bytes,
            header_bytes: self.bytes - total(|layer| layer.bytes),
            float32_bytes: 4 * (bits + total(|layer| layer.neurons)),
            image: model.image(),
            preprocessing: Scaling { offset: model.preprocessing().offset(), scale: model.preprocessing().scale() },
            inputs: if model.quantiser().is_some() { "real numbers" } else { "bytes" },
            class_names: model.class_names(),
            tau: model.tau(),
            provenance: &model.provenance,
            layers,
        }
    }
}

/// What a packed network consists of.
#[derive(Debug, Serialize)]
pub struct Description<'a> {
    shape: String,
    networks: usize,
    bits: usize,
    /// Of the whole file.
    bytes: usize,
    header_bytes: usize,
    /// What its parameters would take as floats.
    float32_bytes: usize,
    image: Option<(usize, usize)>,
    preprocessing: Scaling,
    inputs: &'static str,
    class_names: Option<&'a [String]>,
    tau: f64,
    provenance: &'a BTreeMap<String, String>,
    /// Over all networks of an ensemble.
    pub layers: Vec<LayerDescription>,
}

/// What becomes of an input byte before the first layer: `(byte − offset)·scale`.
#[derive(Debug, Serialize)]
struct Scaling {
    offset: f32,
    scale: f32,
}

/// A layer of a packed network.
#[derive(Debug, Serialize)]
pub struct LayerDescription {
    layer: usize,
    inputs: usize,
    outputs: usize,
    neurons: usize,
    bits: usize,
    weight_bytes: usize,
    threshold_bytes: usize,
    bytes: usize,
    /// The fraction of its weights that are +1.
    up: f64,
    first_weights: String,
    /// These four are missing in the output layer, which has biases instead.
    least_threshold: Option<i32>,
    largest_threshold: Option<i32>,
    always_up: Option<usize>,
    never_up: Option<usize>,
    carries: bool,
}

impl Description<'_> {
    pub fn write_tables(&self, out: &mut impl Write) -> io::Result<()> {
        let carries = self.layers.iter().any(|layer| layer.carries);
        writeln!(out, "{}, packed\n", self.shape)?;
        let row = |layer: &LayerDescription| {
            let mut row = Record::from_iter([
                ("layer".to_owned(), layer.layer.to_string().into()),
                ("shape".to_owned(), format!("{} × {}", layer.inputs, layer.outputs).into()),
                ("bits".to_owned(), grouped(layer.bits).into()),
                ("weight bytes".to_owned(), grouped(layer.weight_bytes).into()),
                ("threshold bytes".to_owned(), grouped(layer.threshold_bytes).into()),
                ("bytes".to_owned(), grouped(layer.bytes).into()),
                ("weights +1".to_owned(), percent(layer.up).into()),
                ("thresholds".to_owned(), layer.range_text().into()),
                ("first weights".to_owned(), layer.first_weights.clone().into()),
            ]);
            if carries {
                row.insert("carries".to_owned(), if layer.carries { "yes" } else { "" }.into());
            }
            row
        };
        let mut rows: Vec<Record> = self.layers.iter().map(row).collect();
        let line = |name: &str, bits: String, bytes: String| {
            let cells = [
                ("layer", name.to_owned()),
                ("shape", String::new()),
                ("bits", bits),
                ("weight bytes", String::new()),
                ("threshold bytes", String::new()),
                ("bytes", bytes),
            ];
            let empty = ["weights +1", "thresholds", "first weights"].into_iter().chain(carries.then_some("carries"));
            let empty = empty.map(|key| (key, String::new()));
            cells.into_iter().chain(empty).map(|(key, text)| (key.to_owned(), text.into())).collect()
        };
        rows.push(line("header", String::new(), grouped(self.header_bytes)));
        rows.push(line("file", grouped(self.bits), grouped(self.bytes)));
        write_columns(out, &rows)?;
        let times = (self.float32_bytes as f64 / self.bytes as f64).round();
        writeln!(out, "\n{} bytes in all; as float32 the network would take {times} times as many", grouped(self.bytes))?;
        let Scaling { offset, scale } = self.preprocessing;
        let inputs = if self.inputs == "bytes" { "bytes" } else { "real numbers, rounded to bytes column by column" };
        writeln!(out, "inputs are {inputs}; (byte − {offset})·{scale} is in the thresholds of layer 1")?;
        if carries {
            writeln!(out, "layers that carry add their sums to those of the layer before")?;
        }
        if let Some(names) = self.class_names {
            writeln!(out, "classes: {}", printable(&names.join(", ")))?;
        }
        for (key, value) in self.provenance {
            writeln!(out, "{}: {}", printable(key), printable(value))?;
        }
        Ok(())
    }
}

impl LayerDescription {
    fn new(networks: &[PackedNetwork], index: usize) -> Self {
        let matrices = || networks.iter().filter_map(move |network| network.matrices().nth(index));
        let matrix = &networks[0].matrices().nth(index).expect("counted before");
        let (inputs, outputs) = (matrix.columns(), matrix.rows());
        let bits = networks.len() * inputs * outputs;
        let weight_bytes: usize = matrices().map(|matrix| matrix.bytes().len()).sum();
        let threshold_bytes = 4 * outputs * networks.len();
        let thresholds: Vec<i32> =
            networks.iter().filter_map(|network| network.layers().get(index)).flat_map(|layer| layer.thresholds().to_vec()).collect();
        // No sum lies beyond it.
        let limit = networks[0].largest_sums().get(index).map_or(0, |&largest| i64::from(largest));
        let count = |test: &dyn Fn(i64) -> bool| {
            (!thresholds.is_empty()).then(|| thresholds.iter().filter(|&&threshold| test(threshold.into())).count())
        };
        let sign = |column: usize| if matrix.spin(0, column) > 0 { '+' } else { '−' };
        Self {
            layer: index + 1,
            inputs,
            outputs,
            neurons: outputs * networks.len(),
            bits,
            weight_bytes,
            threshold_bytes,
            bytes: weight_bytes + threshold_bytes,
            up: matrices().map(BitMatrix::ups).sum::<u64>() as f64 / bits as f64,
            first_weights: (0..inputs.min(SHOWN)).map(sign).collect(),
            least_threshold: thresholds.iter().min().copied(),
            largest_threshold: thresholds.iter().max().copied(),
            always_up: count(&|threshold| threshold <= -limit),
            never_up: count(&|threshold| threshold > limit),
            carries: networks[0].layers().get(index).is_some_and(PackedLayer::carries),
        }
    }

    fn range_text(&self) -> String {
        match (self.least_threshold, self.largest_threshold) {
            (Some(least), Some(largest)) => format!("{least} … {largest}"),
            _ => "(biases)".to_owned(),
        }
    }
}

/// `784-512×2-10`, or `16 networks 784-512×2-10` for an ensemble.
pub fn shape_text(model: &PackedModel) -> String {
    let sizes = model.sizes();
    let mut parts: Vec<String> = Vec::new();
    for run in sizes[1..sizes.len() - 1].chunk_by(|a, b| a == b) {
        parts.push(if run.len() > 1 { format!("{}×{}", run[0], run.len()) } else { run[0].to_string() });
    }
    let shape = format!("{}-{}-{}", sizes[0], parts.join("-"), model.classes());
    if model.networks().len() > 1 { format!("{} networks {shape}", model.networks().len()) } else { shape }
}

/// How many examples of a test set a packed network classifies correctly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Score {
    pub correct: usize,
    pub examples: usize,
}

impl Score {
    /// The score that comes to this accuracy.
    pub fn of_accuracy(accuracy: f64, examples: usize) -> Self {
        Self { correct: (accuracy * examples as f64).round() as usize, examples }
    }

    /// The fraction of the examples that are classified correctly.
    pub fn accuracy(self) -> f64 {
        self.correct as f64 / self.examples as f64
    }

    /// `accuracy 96.10 % (9 610 of 10 000 mnist test images)`.
    pub fn sentence(self, model: &PackedModel, data: &str) -> String {
        let what = if model.quantiser().is_some() { "rows" } else { "images" };
        let (correct, examples) = (grouped(self.correct), grouped(self.examples));
        format!("accuracy {} ({correct} of {examples} {data} test {what})", percent(self.accuracy()))
    }
}

/// How well a model does on a split.
pub fn score_on(model: &PackedModel, split: &Split, threads: usize) -> Result<Score, CliError> {
    let inputs = inputs_of(model, split)?;
    Predictions::new(model, inputs.values(), Some(split.labels()), threads).score()
}

/// A split's examples as a model takes them.
pub enum Inputs<'a> {
    Bytes(&'a [u8]),
    Floats(Cow<'a, [f32]>),
}

impl Inputs<'_> {
    pub fn values(&self) -> Values<'_> {
        match self {
            Self::Bytes(bytes) => Values::Bytes(bytes),
            Self::Floats(reals) => Values::Floats(reals),
        }
    }
}

/// The examples of a split for a model. A table may hold nothing but bytes; a model of bytes takes nothing else.
pub fn inputs_of<'a>(model: &PackedModel, split: &'a Split) -> Result<Inputs<'a>, CliError> {
    match (split.pixels(), model.quantiser()) {
        (Pixels::Bytes(bytes), None) => Ok(Inputs::Bytes(bytes)),
        (Pixels::Bytes(bytes), Some(_)) => Ok(Inputs::Floats(bytes.iter().map(|&byte| f32::from(byte)).collect())),
        (Pixels::Floats(reals), Some(_)) => Ok(Inputs::Floats(Cow::Borrowed(reals))),
        (Pixels::Floats(_), None) => Err(usage(
            "these examples are real numbers, and this network takes bytes: scale them as the training images were, to whole numbers from 0 to 255",
        )),
    }
}
