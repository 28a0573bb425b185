//! ONNX, for onnxruntime and others.
//!
//! | | name | type | shape |
//! |---|---|---|---|
//! | input | `images` | uint8 | batch × inputs |
//! | output | `sums` | int32 | batch × networks × classes |
//! | output | `probabilities` | float64 | batch × classes |
//! | output | `classes` | int64 | batch |
//!
//! If the model has a [`Quantiser`](crate::Quantiser), the input is `rows` instead, float32, batch × inputs, and the graph begins with the quantiser's rule: Sub, Mul, Clip and Round, which rounds ties to even.
//! A missing value (NaN) becomes byte 128; an infinite one ends at byte 0 or 255.
//!
//! The outputs are those of [`Predictor`](crate::Predictor): equal sums, equal classes, and probabilities equal up to rounding.
//! The class of an ensemble is that of the largest probability, so it may differ where two probabilities differ only by rounding.
//!
//! Weights stay packed in the file, as rows of a [`BitMatrix`](crate::BitMatrix): `input_weights`, `hidden_0_weights` and so on, one tensor for all layers and networks of one shape. The graph unpacks them,
//!
//! ```text
//! S = BitwiseOr(−(BitwiseAnd(bytes, [1, 2, 4, …, 128]) = 0), 1)
//! ```
//!
//! which a runtime does once, when it loads the file. `MatMulInteger` multiplies bytes by int8: neurons are 0 and 1 here instead of ±1. With `x = 2y − 1` and `R_i = Σ_j S_ij`,
//!
//! ```text
//! Σ_j S_ij x_j ≥ t_i  ⇔  Σ_j S_ij y_j ≥ ⌈(t_i + R_i)/2⌉
//! ```
//!
//! so the hidden layers compare with the integers on the right. The first layer takes bytes, and its thresholds are unchanged.
//! Layers that carry add up the `Σ_j S_ij y_j` (`Add`, on int32), and `R_i` is then that of all layers which add up.
//!
//! ```
//! use isinglass_bits::{BitMatrix, PackedModel, PackedNetwork, Preprocessing};
//!
//! let preprocessing = Preprocessing::new(127.5, 1.0 / 127.5)?;
//! let layers = vec![(BitMatrix::from_fn(512, 784, |i, j| i > j), vec![0.0; 512]), (BitMatrix::from_fn(10, 512, |i, j| i > j), vec![0.0; 10])];
//! let model = PackedModel::new(vec![PackedNetwork::new(preprocessing, layers)?], preprocessing, 1.0)?;
//! // std::fs::write("network.onnx", model.to_onnx())
//! let bits = (512 * 784 + 10 * 512) / 8;
//! assert!(model.to_onnx().len() < bits + 4 * 512 + 3000);
//! # Ok::<(), isinglass_bits::Error>(())
//! ```

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use super::protobuf::Message;
use crate::{BitMatrix, PackedLayer, PackedModel, PackedNetwork, Quantiser};

/// The first set of operators with `BitwiseAnd`, and the version of the file format that came with it.
const OPSET: i64 = 18;
const IR_VERSION: i64 = 8;

/// Types of elements, as ONNX numbers them.
#[derive(Clone, Copy)]
enum Type {
    F32 = 1,
    U8 = 2,
    I8 = 3,
    I32 = 6,
    I64 = 7,
    Bool = 9,
    F64 = 11,
}

impl PackedModel {
    /// The model as an ONNX file for [`onnxruntime`](https://onnxruntime.ai). Its input is `images`, or `rows` if the model takes real numbers; its outputs are `sums`, `probabilities` and `classes`, as those of a
    /// [`Predictor`](crate::Predictor).
    ///
    /// The file takes as many bytes as the bits and thresholds, plus 150 for every layer of every network (180 if it carries), 700 for every change of shape, and two kilobytes. (Protobuf does not support files of 2 GB and more.)
    pub fn to_onnx(&self) -> Vec<u8> {
        // The empty domain is that of ONNX's own operators.
        let opset = Message::default().bytes(1, "").number(2, OPSET);
        let model = Message::default()
            .number(1, IR_VERSION)
            .bytes(2, "isinglass")
            .bytes(3, env!("CARGO_PKG_VERSION"))
            .bytes(6, super::description(self))
            .message(7, graph(self))
            .message(8, opset);
        let entry = |(key, value): (String, String)| Message::default().bytes(1, key).bytes(2, value);
        super::properties(self).into_iter().fold(model, |model, property| model.message(14, entry(property))).into_bytes()
    }
}

/// A graph under construction.
#[derive(Default)]
struct Graph(Message);

impl Graph {
    fn add(&mut self, field: u32, message: Message) {
        self.0 = core::mem::take(&mut self.0).message(field, message);
    }

    /// Adds a tensor whose values are in the file.
    fn constant(&mut self, name: &str, element: Type, shape: &[usize], values: impl AsRef<[u8]>) {
        let tensor = shape.iter().fold(Message::default(), |tensor, &size| tensor.number(1, size as i64));
        let tensor = tensor.number(2, element as i64).bytes(8, name).bytes(9, values);
        self.add(5, tensor);
    }

    /// Adds a tensor of indices or sizes.
    fn integers(&mut self, name: &str, values: &[usize]) {
        self.constant(name, Type::I64, &[values.len()], little_endian(values.iter().map(|&value| (value as i64).to_le_bytes())));
    }

    /// Adds an operation.
    fn node(&mut self, operator: &str, inputs: &[&str], output: &str, attributes: &[Attribute<'_>]) {
        self.node_of_many(operator, inputs, &[output], attributes);
    }

    /// Adds an operation with several outputs.
    fn node_of_many(&mut self, operator: &str, inputs: &[&str], outputs: &[impl AsRef<str>], attributes: &[Attribute<'_>]) {
        let node = inputs.iter().fold(Message::default(), |node, input| node.bytes(1, input));
        let node = outputs.iter().fold(node, |node, output| node.bytes(2, output.as_ref())).bytes(4, operator);
        self.add(1, attributes.iter().fold(node, |node, attribute| node.message(5, attribute.message())));
    }

    /// Cuts a tensor into equal parts.
    fn split(&mut self, input: &str, outputs: &[String], axis: i64) {
        let attributes = [Attribute::Number("axis", axis), Attribute::Number("num_outputs", outputs.len() as i64)];
        self.node_of_many("Split", &[input], outputs, &attributes);
    }

    /// Adds an input, field 11, or an output, field 12. The first size is that of the batch.
    fn value(&mut self, field: u32, name: &str, element: Type, sizes: &[usize], meaning: &str) {
        let batch = Message::default().message(1, Message::default().bytes(2, "batch"));
        let shape = sizes.iter().fold(batch, |shape, &size| shape.message(1, Message::default().number(1, size as i64)));
        let tensor = Message::default().number(1, element as i64).message(2, shape);
        let value = Message::default().bytes(1, name).message(2, Message::default().message(1, tensor)).bytes(3, meaning);
        self.add(field, value);
    }
}

/// An attribute of an operation.
enum Attribute<'a> {
    Number(&'a str, i64),
    Numbers(&'a str, &'a [i64]),
}

impl Attribute<'_> {
    fn message(&self) -> Message {
        match *self {
            Self::Number(name, value) => Message::default().bytes(1, name).number(3, value).number(20, 2),
            Self::Numbers(name, values) => {
                values.iter().fold(Message::default().bytes(1, name), |message, &value| message.number(8, value)).number(20, 7)
            }
        }
    }
}

fn graph(model: &PackedModel) -> Message {
    let mut graph = Graph::default();
    graph.0 = graph.0.bytes(2, "isinglass");
    match model.quantiser() {
        Some(_) => graph.value(11, "rows", Type::F32, &[model.inputs()], "real numbers, not yet standardised"),
        None => graph.value(11, "images", Type::U8, &[model.inputs()], "raw bytes: the thresholds include the preprocessing"),
    }
    let (count, classes) = (model.networks().len(), model.classes());
    graph.value(12, "sums", Type::I32, &[count, classes], "weights times neurons, summed, in the output layers");
    graph.value(12, "probabilities", Type::F64, &[classes], "softmax(tau (sum / sqrt(N) + bias)), averaged over the networks");
    graph.value(12, "classes", Type::I64, &[], "the most likely, the first of equals");

    graph.constant("masks", Type::U8, &[8, 1], [1, 2, 4, 8, 16, 32, 64, 128]);
    graph.constant("lowest", Type::I8, &[], 1_i8.to_le_bytes());
    graph.integers("axis_1", &[1]);
    if model.networks()[0].matrices().any(is_padded) {
        graph.integers("axis_0", &[0]);
    }
    if let Some(quantiser) = model.quantiser() {
        quantise(&mut graph, quantiser);
    }
    hidden_layers(&mut graph, model);
    output_layers(&mut graph, model);
    graph.0
}

/// From `rows` to `images`, the bytes that the first layer takes.
fn quantise(graph: &mut Graph, quantiser: &Quantiser) {
    let mut constants = |name: &str, shape: &[usize], values: &[f32]| {
        graph.constant(name, Type::F32, shape, little_endian(values.iter().map(|value| value.to_le_bytes())));
    };
    constants("centres", &[quantiser.columns()], quantiser.centres());
    constants("factors", &[quantiser.columns()], quantiser.factors());
    constants("zero", &[], &[0.0]);
    constants("lowest_step", &[], &[-128.0]);
    constants("highest_step", &[], &[127.0]);
    graph.constant("middle", Type::I32, &[], 128_i32.to_le_bytes());
    graph.node("Sub", &["rows", "centres"], "centred", &[]);
    graph.node("Mul", &["centred", "factors"], "stretched", &[]);
    // Before Clip, which need not keep NaN.
    graph.node("IsNaN", &["stretched"], "undefined", &[]);
    graph.node("Where", &["undefined", "zero", "stretched"], "defined", &[]);
    graph.node("Clip", &["defined", "lowest_step", "highest_step"], "clipped", &[]);
    graph.node("Round", &["clipped"], "rounded", &[]);
    graph.node("Cast", &["rounded"], "steps", &[Attribute::Number("to", Type::I32 as i64)]);
    graph.node("Add", &["steps", "middle"], "shifted", &[]);
    graph.node("Cast", &["shifted"], "images", &[Attribute::Number("to", Type::U8 as i64)]);
}

/// Layers of ±1 neurons; those of network `k`, layer `l` are `yk_l`, 0 and 1.
fn hidden_layers(graph: &mut Graph, model: &PackedModel) {
    // Layers of one shape share their unpacking, as they share a tensor in our own file.
    let first = model.networks()[0].layers();
    let blocks = core::iter::once(&first[..1]).chain(first[1..].chunk_by(PackedLayer::has_shape_of));
    let bit_thresholds: Vec<Vec<Vec<i32>>> = model.networks().iter().map(thresholds_of_bits).collect();
    let mut begin = 0;
    for (block, layers) in blocks.enumerate() {
        let name = if block == 0 { "input".to_string() } else { format!("hidden_{}", block - 1) };
        let range = begin..begin + layers.len();
        begin = range.end;
        let places: Vec<(usize, usize)> = (0..model.networks().len()).flat_map(|k| range.clone().map(move |l| (k, l))).collect();
        let all: Vec<&PackedLayer> = places.iter().map(|&(network, layer)| &model.networks()[network].layers()[layer]).collect();
        let named = |letter: char| places.iter().map(|(network, layer)| format!("{letter}{network}_{layer}")).collect::<Vec<_>>();

        spins(graph, &name, &all.iter().map(|layer| layer.weights()).collect::<Vec<_>>(), &named('S'));
        let thresholds = places.iter().flat_map(|&(network, layer)| &bit_thresholds[network][layer]);
        let thresholds = little_endian(thresholds.map(|threshold| threshold.to_le_bytes()));
        let thresholds_name = format!("{name}_thresholds");
        graph.constant(&thresholds_name, Type::I32, &[thresholds.len() / 4], thresholds);
        graph.split(&thresholds_name, &named('t'), 0);
        for (network, layer) in places {
            let below = if layer == 0 { "images".to_string() } else { format!("y{network}_{}", layer - 1) };
            let this = |letter: char| format!("{letter}{network}_{layer}");
            graph.node("MatMulInteger", &[&below, &this('S')], &this('s'), &[]);
            let sum = sum_of(first, network, layer);
            if first[layer].carries() {
                graph.node("Add", &[&sum_of(first, network, layer - 1), &this('s')], &sum, &[]);
            }
            graph.node("GreaterOrEqual", &[&sum, &this('t')], &this('b'), &[]);
            graph.node("Cast", &[&this('b')], &this('y'), &[Attribute::Number("to", Type::U8 as i64)]);
        }
    }
}

/// Sums, probabilities and classes.
fn output_layers(graph: &mut Graph, model: &PackedModel) {
    let (count, classes) = (model.networks().len(), model.classes());
    let outputs = || model.networks().iter().map(|network| network.output());
    let named = |what: &str| (0..count).map(|network| format!("{what}{network}_output")).collect::<Vec<_>>();
    let (weights, products, parts) = (named("S"), named("s"), named("part"));
    spins(graph, "output", &outputs().map(|output| output.weights()).collect::<Vec<_>>(), &weights);
    for network in 0..count {
        let below = format!("y{network}_{}", model.networks()[0].layers().len() - 1);
        graph.node("MatMulInteger", &[&below, &weights[network]], &products[network], &[]);
        graph.node("Unsqueeze", &[&products[network], "axis_1"], &parts[network], &[]);
    }
    // Σ_j S_kj (2y_j − 1), for all networks at once.
    let row_sums = outputs().flat_map(|output| (0..classes).map(|class| output.weights().row_sum(class) as i32));
    graph.constant("two", Type::I32, &[], 2_i32.to_le_bytes());
    graph.constant("output_row_sums", Type::I32, &[count, classes], little_endian(row_sums.map(i32::to_le_bytes)));
    graph.node("Concat", &parts.iter().map(String::as_str).collect::<Vec<_>>(), "products", &[Attribute::Number("axis", 1)]);
    graph.node("Mul", &["products", "two"], "doubled", &[]);
    graph.node("Sub", &["doubled", "output_row_sums"], "sums", &[]);

    let to_double = [Attribute::Number("to", Type::F64 as i64)];
    let last = model.networks()[0].output().weights().columns();
    graph.constant("root", Type::F64, &[], libm::sqrt(last as f64).to_le_bytes());
    graph.constant("tau", Type::F64, &[], model.tau().to_le_bytes());
    let bias = outputs().flat_map(|output| output.bias()).map(|bias| bias.to_le_bytes());
    graph.constant("output_bias", Type::F32, &[count, classes], little_endian(bias));
    graph.node("Cast", &["output_bias"], "bias", &to_double);
    graph.node("Cast", &["sums"], "numbers", &to_double);
    graph.node("Div", &["numbers", "root"], "scaled", &[]);
    graph.node("Add", &["scaled", "bias"], "fields", &[]);
    graph.node("Mul", &["fields", "tau"], "logits", &[]);
    graph.node("Softmax", &["logits"], "each", &[Attribute::Number("axis", 2)]);
    graph.node("ReduceMean", &["each", "axis_1"], "probabilities", &[Attribute::Number("keepdims", 0)]);

    // A single network's classes are those of its fields: probabilities near 1 may round to equal ones.
    let judged = if count == 1 { "only" } else { "probabilities" };
    if count == 1 {
        graph.node("Squeeze", &["fields", "axis_1"], judged, &[]);
    }
    graph.node("ArgMax", &[judged], "classes", &[Attribute::Number("axis", 1), Attribute::Number("keepdims", 0)]);
}

/// Adds the packed matrices of one shape, and nodes that unpack them into matrices of ±1, column × row, named `outputs`.
///
/// They are unpacked side by side and then split in one operation: onnxruntime copies the inputs of every operation on constants, so that one operation each would take quadratic time.
fn spins(graph: &mut Graph, name: &str, matrices: &[&BitMatrix], outputs: &[String]) {
    let (rows, columns) = (matrices.len() * matrices[0].rows(), matrices[0].columns());
    let stride = columns.div_ceil(8);
    let step = |step: &str| format!("{name}_{step}");
    let bytes: Vec<u8> = matrices.iter().flat_map(|matrix| matrix.bytes()).copied().collect();
    graph.constant(&step("weights"), Type::U8, &[rows, stride], bytes);
    graph.integers(&step("shape"), &[8 * stride, rows]);
    // Transposed while packed, at an eighth of the size: byte × row, then byte × bit × row.
    graph.node("Transpose", &[&step("weights")], &step("turned"), &[Attribute::Numbers("perm", &[1, 0])]);
    graph.node("Unsqueeze", &[&step("turned"), "axis_1"], &step("bytes"), &[]);
    graph.node("BitwiseAnd", &[&step("bytes"), "masks"], &step("masked"), &[]);
    graph.node("Cast", &[&step("masked")], &step("bits"), &[Attribute::Number("to", Type::Bool as i64)]);
    // −1 where a bit is 0, and 0 where it is 1; with its lowest bit set, −1 and +1. `Where` would do it in one operation, but older versions of onnxruntime lack it for int8.
    graph.node("Not", &[&step("bits")], &step("downs"), &[]);
    graph.node("Cast", &[&step("downs")], &step("ones"), &[Attribute::Number("to", Type::I8 as i64)]);
    graph.node("Neg", &[&step("ones")], &step("negative"), &[]);
    graph.node("BitwiseOr", &[&step("negative"), "lowest"], &step("unpacked"), &[]);
    graph.node("Reshape", &[&step("unpacked"), &step("shape")], &step("spins"), &[]);
    if !is_padded(matrices[0]) {
        return graph.split(&step("spins"), outputs, 1);
    }
    graph.integers(&step("columns"), &[columns]);
    graph.node("Slice", &[&step("spins"), "axis_0", &step("columns"), "axis_0"], &step("cut"), &[]);
    graph.split(&step("cut"), outputs, 1);
}

/// Whether a row's last byte has bits beyond the columns.
fn is_padded(matrix: &BitMatrix) -> bool {
    !matrix.columns().is_multiple_of(8)
}

/// The sums of a layer: its products `s`, or `a` with those of the layer before.
fn sum_of(layers: &[PackedLayer], network: usize, layer: usize) -> String {
    format!("{}{network}_{layer}", if layers[layer].carries() { 'a' } else { 's' })
}

/// The thresholds of every layer, for neurons that are 0 and 1 instead of ±1.
fn thresholds_of_bits(network: &PackedNetwork) -> Vec<Vec<i32>> {
    // R, of all layers that add up.
    let mut row_sums: Vec<i64> = Vec::new();
    let mut of_layer = |(index, layer): (usize, &PackedLayer)| {
        if index == 0 {
            return layer.thresholds().to_vec();
        }
        if !layer.carries() {
            row_sums = vec![0; layer.neurons()];
        }
        row_sums.iter_mut().enumerate().for_each(|(row, sum)| *sum += layer.weights().row_sum(row));
        // |R| < 2³¹ − 1 by the limit on sums, so half of t + R + 1 fits 32 bits.
        let threshold = |(&threshold, sum): (&i32, &i64)| (i64::from(threshold) + sum + 1).div_euclid(2) as i32;
        layer.thresholds().iter().zip(&row_sums).map(threshold).collect()
    };
    network.layers().iter().enumerate().map(&mut of_layer).collect()
}

fn little_endian<const BYTES: usize>(values: impl Iterator<Item = [u8; BYTES]>) -> Vec<u8> {
    values.flatten().collect()
}
