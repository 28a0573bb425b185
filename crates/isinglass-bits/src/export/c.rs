//! C99 without dependencies, for microcontrollers and whatever else has a C compiler.
//!
//! One file with the network in it, as constants, and two functions for a program to call:
//!
//! ```c
//! void NAME_sums(const uint8_t image[NAME_INPUTS], int32_t sums[NAME_NETWORKS * NAME_CLASSES]);
//! int NAME_classify(const uint8_t image[NAME_INPUTS]);
//! ```
//!
//! Rows of weights are words of 32 bits, spin `j` being bit `j mod 32` of word `j/32`; written as numbers, they do not depend on the order of a machine's bytes. A sum over `N` spins is
//!
//! ```text
//! Σ_j S_j x_j = N − 2·popcount(S xor x)
//! ```
//!
//! and over bytes twice the sum of those whose weight is +1, minus the sum of all. All of it is done in integers of 32 bits but for the last step, the comparison of the fields `sum/√N + bias`, which takes a double
//! of 64 bits. Sums and classes are those of [`Predictor`](crate::Predictor); an ensemble's class, that of the largest probability, may differ where two probabilities differ by the rounding of `exp` only.
//!
//! ```
//! use isinglass_bits::{BitMatrix, Model, Network, Preprocessing};
//!
//! let preprocessing = Preprocessing { offset: 127.5, scale: 1.0 / 127.5 };
//! let layers = vec![(BitMatrix::from_fn(3, 4, |i, j| i != j), vec![0.0; 3]), (BitMatrix::from_fn(2, 3, |i, j| i > j), vec![0.0, 0.5])];
//! let code = Model::new(vec![Network::new(preprocessing, layers)?], preprocessing, 1.0)?.to_c("digits")?;
//! assert!(code.contains("int digits_classify(const uint8_t image[DIGITS_INPUTS])"));
//! # Ok::<(), isinglass_bits::Error>(())
//! ```

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Display;

use crate::{BitMatrix, Error, Layer, Model};

/// The functions. `net` and `NET` stand for the prefix.
const TEMPLATE: &str = include_str!("template.c");

impl Model {
    /// The model as one file of C99, which needs no library (an ensemble: `exp`) and reserves no memory. All its names begin with `name`, its macros with the same in capitals.
    ///
    /// With `-DNAME_MAIN`, it is a program that reads images, bytes as they are, and writes a line for each: the class, and the sums.
    ///
    /// # Errors
    ///
    /// [`Error::Value`] if `name` cannot begin a C identifier.
    pub fn to_c(&self, name: &str) -> Result<String, Error> {
        if !name.starts_with(|first: char| first.is_ascii_alphabetic()) || name.contains(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
            return Err(Error::Value(format!("{name:?} as the name of C functions: it needs a letter first, then letters, digits and _")));
        }
        let capitals = name.to_ascii_uppercase();
        let data = Data::new(self);
        // The prefix in capitals has no `net_` in it: what is put in is not replaced again.
        let functions = TEMPLATE.replace("NET_", &format!("{capitals}_")).replace("net_", &format!("{name}_"));
        Ok([header(self, &data, name, &capitals), data.definitions(self, name, &capitals), functions].concat())
    }
}

/// The constants.
struct Data {
    /// Every row of every layer of every network, in words.
    weights: Vec<u32>,
    input_thresholds: Thresholds,
    thresholds: Thresholds,
}

impl Data {
    fn new(model: &Model) -> Self {
        let weights = model.networks.iter().flat_map(|network| network.matrices()).flat_map(words).collect();
        let networks = || model.networks.iter();
        Self {
            weights,
            input_thresholds: Thresholds::new(networks().map(|network| &network.layers[0]), 255),
            thresholds: Thresholds::new(networks().flat_map(|network| &network.layers[1..]), 1),
        }
    }

    /// Bytes of all constants.
    fn size(&self, model: &Model) -> usize {
        let thresholds = self.input_thresholds.size() + self.thresholds.size();
        4 * self.weights.len() + thresholds + 4 * model.networks[0].layers.len() + 4 * model.networks.len() * model.classes()
    }

    fn definitions(&self, model: &Model, name: &str, capitals: &str) -> String {
        let first = &model.networks[0];
        let widths: Vec<usize> = first.layers.iter().map(|layer| layer.weights.rows()).collect();
        let widest = widths.iter().max().copied().unwrap_or(0);
        let mut text = String::from("#include <stdint.h>\n");
        if model.networks.len() > 1 {
            text += "#include <math.h>\n";
        }
        text += "\n";
        let mut define =
            |suffix: &str, value: &dyn Display, meaning: &str| text += &format!("#define {capitals}_{suffix} {value} /* {meaning} */\n");
        // Products of sizes may need more than the 16 bits of a small machine's int.
        let long = |size: usize| format!("{size}UL");
        define("INPUTS", &long(model.inputs()), "bytes of an image");
        define("CLASSES", &long(model.classes()), "numbered from 0");
        define("NETWORKS", &long(model.networks.len()), "of the ensemble");
        define("DEPTH", &long(widths.len()), "layers of neurons, without the output layer");
        define("WIDEST", &long(widest), "neurons of the widest of them");
        define("ROOT", &format!("{:?}", libm::sqrt(first.output.weights.columns() as f64)), "of the inputs of the output layer");
        if model.networks.len() > 1 {
            define("TAU", &format!("{:?}", model.tau), "times the fields: logits");
        }
        let biases = model.networks.iter().flat_map(|network| &network.output.bias).map(|bias| format!("{bias:?}f"));
        text += &format!("\ntypedef {} {name}_input_threshold;\n", self.input_thresholds.c_type());
        if widths.len() > 1 {
            text += &format!("typedef {} {name}_threshold;\n", self.thresholds.c_type());
        }
        text += &array("Neurons of every layer.", "uint32_t", &format!("{name}_widths"), widths.iter());
        text += &array(
            "Network by network, layer by layer, row by row: 1 for +1, 0 for -1, the lowest bit first. Rows begin at whole words.",
            "uint32_t",
            &format!("{name}_weights"),
            self.weights.iter().map(|word| format!("0x{word:08x}")),
        );
        let numbers = |thresholds: &Thresholds| thresholds.values.clone().into_iter();
        text += &array(
            "A neuron is +1 where its sum is not below its threshold: the first layers.",
            &format!("{name}_input_threshold"),
            &format!("{name}_input_thresholds"),
            numbers(&self.input_thresholds),
        );
        if widths.len() > 1 {
            text += &array("The other layers.", &format!("{name}_threshold"), &format!("{name}_thresholds"), numbers(&self.thresholds));
        }
        text += &array("The output layers.", "float", &format!("{name}_bias"), biases);
        text + "\n"
    }
}

/// Thresholds, and the type that holds them.
struct Thresholds {
    values: Vec<i32>,
    bits: usize,
}

impl Thresholds {
    /// Of layers whose inputs are at most `largest`. Beyond the largest sum, and below the smallest, one threshold is as good as another.
    fn new<'a>(layers: impl Iterator<Item = &'a Layer>, largest: i32) -> Self {
        let clamped = |layer: &'a Layer| {
            let limit = largest * layer.weights.columns() as i32;
            layer.thresholds.iter().map(move |&threshold| threshold.clamp(-limit, limit + 1))
        };
        let values: Vec<i32> = layers.flat_map(clamped).collect();
        let fits = |bits: usize| values.iter().all(|&value| (-1_i64 << (bits - 1)..1_i64 << (bits - 1)).contains(&i64::from(value)));
        let bits = if fits(8) {
            8
        } else if fits(16) {
            16
        } else {
            32
        };
        Self { values, bits }
    }

    fn c_type(&self) -> String {
        format!("int{}_t", self.bits)
    }

    fn size(&self) -> usize {
        self.values.len() * self.bits / 8
    }
}

/// A matrix's rows, 32 spins in a word.
fn words(matrix: &BitMatrix) -> impl Iterator<Item = u32> {
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte));
    (0..matrix.rows()).flat_map(move |row| matrix.row(row).chunks(4).map(word))
}

/// The definition of an array, sixteen numbers to a line.
fn array(comment: &str, element: &str, name: &str, values: impl Iterator<Item = impl Display>) -> String {
    let mut text = format!("\n/* {comment} */\nstatic const {element} {name}[] = {{");
    for (index, value) in values.enumerate() {
        text += if index % 16 == 0 { "\n    " } else { " " };
        text += &format!("{value},");
    }
    text + "\n};\n"
}

/// The comment at the top.
fn header(model: &Model, data: &Data, name: &str, capitals: &str) -> String {
    let widest = model.networks[0].layers.iter().map(|layer| layer.weights.rows()).max().unwrap_or(0);
    let (count, classes) = (model.networks.len(), model.classes());
    let ensemble = count > 1;
    // As in the template: neurons of two layers, the sums, and two doubles for every class of an ensemble.
    let ram = 8 * widest.div_ceil(32) + 4 * count * classes + if ensemble { 16 * classes } else { 0 };
    let link = if ensemble { " -lm" } else { "" };
    let mut lines = Vec::from([super::description(model), String::new()]);
    lines.extend(super::properties(model).into_iter().map(|(key, value)| format!("{key}: {value}")));
    lines.extend([
        String::new(),
        format!("Flash: {} bytes of constants, and the code.", data.size(model)),
        format!("RAM: {ram} bytes of stack for arrays, no static data, no malloc. (AVR copies constants to RAM.)"),
        format!("Compile: cc -std=c99 -O2 -c {name}.c"),
        format!("Or as a program, raw images in, classes and sums out: cc -std=c99 -O2 -D{capitals}_MAIN {name}.c -o {name}{link}"),
    ]);
    if ensemble {
        lines.push("It takes exp from <math.h>: link with -lm.".into());
    }
    lines.push("Sums are exact on every machine; the classes need a double of 64 bits where fields nearly tie.".into());
    let body: String = lines.iter().map(|line| format!("{}\n", format!(" * {}", in_comment(line)).trim_end())).collect();
    format!("/*\n{body} */\n\n")
}

/// What a comment may hold: no end of it, no beginning of another, nothing that a compiler may take for more than text.
fn in_comment(text: &str) -> String {
    // `*` and `\` have a meaning in comments, `?` in C99's trigraphs.
    let harmless = |c: char| c == ' ' || c.is_alphanumeric() || c.is_ascii_graphic() && !matches!(c, '*' | '\\' | '?');
    text.chars().map(|c| if harmless(c) { c } else { '_' }).collect()
}
