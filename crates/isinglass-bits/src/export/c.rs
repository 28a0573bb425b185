//! C99 without dependencies, for microcontrollers and whatever else has a C compiler.
//!
//! One file holds the network, as constants, and two functions for a program to call:
//!
//! ```c
//! void NAME_sums(const uint8_t image[NAME_INPUTS], int32_t sums[NAME_NETWORKS * NAME_CLASSES]);
//! int NAME_classify(const uint8_t image[NAME_INPUTS]);
//! ```
//!
//! If the model has a [`Quantiser`](crate::Quantiser), both take `const float row[NAME_INPUTS]` instead, and turn it into bytes by the same rule, with the same result on every compiler that
//! follows the C standard (so not with `-ffast-math`). A missing value (NaN) becomes byte 128; an infinite one ends at byte 0 or 255.
//! If the classes have names, they are in `NAME_class_names`.
//!
//! Rows of weights are words of 32 bits, spin `j` being bit `j mod 32` of word `j/32`; written as numbers, they do not depend on the byte order of a machine. A sum over `N` spins is
//!
//! ```text
//! Σ_j S_j x_j = N − 2·popcount(S xor x)
//! ```
//!
//! and over bytes twice the sum of those whose weight is +1, minus the sum of all. Layers that carry add up such sums in an array, one for every neuron. All of it uses integers of 32 bits, except for the last step, the comparison of the fields `sum/√N + bias`, which needs a double
//! of 64 bits. Sums and classes are those of [`Predictor`](crate::Predictor); the class of an ensemble, that of the largest probability, may differ where two probabilities differ only by the rounding of `exp`.
//!
//! ```
//! use isinglass_bits::{BitMatrix, PackedModel, PackedNetwork, Preprocessing};
//!
//! let preprocessing = Preprocessing::new(127.5, 1.0 / 127.5)?;
//! let layers = vec![(BitMatrix::from_fn(3, 4, |i, j| i != j), vec![0.0; 3]), (BitMatrix::from_fn(2, 3, |i, j| i > j), vec![0.0, 0.5])];
//! let code = PackedModel::new(vec![PackedNetwork::new(preprocessing, layers)?], preprocessing, 1.0)?.to_c("digits")?;
//! assert!(code.contains("int digits_classify(const uint8_t image[DIGITS_INPUTS])"));
//! # Ok::<(), isinglass_bits::Error>(())
//! ```

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Display;

use crate::{BitMatrix, Error, PackedLayer, PackedModel, PackedNetwork};

/// The functions. `net` and `NET` stand for the prefix; what follows a line `//% bytes` or `//% reals` is for models that take those, and `//% plain` or `//% carries` for those without or with layers that carry, up to `//% all`.
const TEMPLATE: &str = include_str!("template.c");
const MARK: &str = "//% ";

impl PackedModel {
    /// The model as one file of C99, which needs no library (an ensemble needs `exp`) and allocates no memory. All its names begin with `name`, its macros with `name` in capitals.
    ///
    /// Compiled with `-DNAME_MAIN`, it is a program that reads raw images, or rows of little-endian float32 if the model takes real numbers, and writes a line for each: the class, and the sums.
    ///
    /// # Errors
    ///
    /// [`Error::Value`] if `name` cannot begin a C identifier.
    pub fn to_c(&self, name: &str) -> Result<String, Error> {
        if !name.starts_with(|first: char| first.is_ascii_alphabetic()) || name.contains(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
            return Err(Error::Value(format!("{name:?} cannot name C functions: it needs a letter first, then letters, digits and _")));
        }
        let capitals = name.to_ascii_uppercase();
        let data = Data::new(self);
        // The prefix in capitals contains no `net_`, so what the first step inserts is not replaced again.
        let functions = functions(self).replace("NET_", &format!("{capitals}_")).replace("net_", &format!("{name}_"));
        Ok([header(self, &data, name, &capitals), data.definitions(self, name, &capitals), functions].concat())
    }
}

/// The part of the template that is for a model.
fn functions(model: &PackedModel) -> String {
    let inputs = if model.quantiser().is_some() { "reals" } else { "bytes" };
    let layers = if model.carrying_layers().is_empty() { "plain" } else { "carries" };
    let mine = ["all", inputs, layers];
    let mut chosen = true;
    let mut text = String::new();
    for line in TEMPLATE.lines() {
        match line.strip_prefix(MARK) {
            Some(part) => chosen = mine.contains(&part),
            None if chosen => text += &format!("{line}\n"),
            None => {}
        }
    }
    text
}

/// The constants.
struct Data {
    /// Every row of every layer of every network, in words.
    weights: Vec<u32>,
    input_thresholds: Thresholds,
    thresholds: Thresholds,
}

impl Data {
    fn new(model: &PackedModel) -> Self {
        let weights = model.networks().iter().flat_map(|network| network.matrices()).flat_map(words).collect();
        let networks = || model.networks().iter();
        Self {
            weights,
            input_thresholds: Thresholds::new(networks().flat_map(|network| with_largest_sums(network).take(1))),
            thresholds: Thresholds::new(networks().flat_map(|network| with_largest_sums(network).skip(1))),
        }
    }

    /// Bytes of all constants.
    fn size(&self, model: &PackedModel) -> usize {
        let thresholds = self.input_thresholds.size() + self.thresholds.size();
        let quantiser = model.quantiser().map_or(0, |quantiser| 8 * quantiser.columns());
        4 * self.weights.len()
            + thresholds
            + quantiser
            + 4 * model.networks()[0].layers().len()
            + if widest_carrying(model) > 0 { model.networks()[0].layers().len() + 1 } else { 0 }
            + 4 * model.networks().len() * model.classes()
    }

    fn definitions(&self, model: &PackedModel, name: &str, capitals: &str) -> String {
        let first = &model.networks()[0];
        let widths: Vec<usize> = first.layers().iter().map(|layer| layer.weights().rows()).collect();
        let widest = widths.iter().max().copied().unwrap_or(0);
        let mut text = String::from("#include <stdint.h>\n");
        if model.networks().len() > 1 {
            text += "#include <math.h>\n";
        }
        text += "\n";
        let mut define =
            |suffix: &str, value: &dyn Display, meaning: &str| text += &format!("#define {capitals}_{suffix} {value} /* {meaning} */\n");
        // Products of sizes may need more than the 16 bits of a small machine's int.
        let long = |size: usize| format!("{size}UL");
        let inputs = if model.quantiser().is_some() { "columns of a row" } else { "bytes of an image" };
        define("INPUTS", &long(model.inputs()), inputs);
        define("CLASSES", &long(model.classes()), "numbered from 0");
        define("NETWORKS", &long(model.networks().len()), "in the ensemble");
        define("DEPTH", &long(widths.len()), "layers of neurons, not counting the output layer");
        define("WIDEST", &long(widest), "neurons of the widest of them");
        if widest_carrying(model) > 0 {
            define("CARRIED", &long(widest_carrying(model)), "neurons of the widest layer that carries");
        }
        define(
            "ROOT",
            &format!("{:?}", libm::sqrt(first.output().weights().columns() as f64)),
            "square root of the inputs of the output layer",
        );
        if model.networks().len() > 1 {
            define("TAU", &format!("{:?}", model.tau()), "logits are this times the fields");
        }
        let biases = model.networks().iter().flat_map(|network| network.output().bias()).map(|bias| format!("{bias:?}f"));
        text += &format!("\ntypedef {} {name}_input_threshold;\n", self.input_thresholds.c_type());
        if widths.len() > 1 {
            text += &format!("typedef {} {name}_threshold;\n", self.thresholds.c_type());
        }
        text += &array("Neurons of every layer.", "uint32_t", &format!("{name}_widths"), widths.iter());
        if widest_carrying(model) > 0 {
            let carries = first.layers().iter().map(|layer| u8::from(layer.carries())).chain([0]);
            text += &array(
                "1 for layers that carry: they add their sums to those of the layer before. The output layer does not.",
                "uint8_t",
                &format!("{name}_carries"),
                carries,
            );
        }
        text += &array(
            "PackedNetwork by network, layer by layer, row by row: 1 for +1, 0 for -1, the lowest bit first. Rows begin at word boundaries.",
            "uint32_t",
            &format!("{name}_weights"),
            self.weights.iter().map(|word| format!("0x{word:08x}")),
        );
        if let Some(quantiser) = model.quantiser() {
            for (part, comment, values) in [
                ("centres", "Real numbers become bytes: subtracted from the values of each column.", quantiser.centres()),
                ("factors", "Then multiplied; 0 for columns that were constant in training.", quantiser.factors()),
            ] {
                text += &array(comment, "float", &format!("{name}_{part}"), values.iter().map(|value| format!("{value:?}f")));
            }
        }
        if let Some(names) = model.class_names() {
            let variable = format!("const char *const {name}_class_names[{capitals}_CLASSES]");
            let strings: String = names.iter().map(|name| format!("    \"{}\",\n", in_string(name))).collect();
            text += &format!("\n/* UTF-8. */\nextern {variable};\n{variable} = {{\n{strings}}};\n");
        }
        let numbers = |thresholds: &Thresholds| thresholds.values.clone().into_iter();
        text += &array(
            "A neuron is +1 if its sum is at least its threshold: the first layers.",
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

/// The layers of neurons, with the largest sums they can have.
fn with_largest_sums(network: &PackedNetwork) -> impl Iterator<Item = (&PackedLayer, i32)> {
    network.layers().iter().zip(network.largest_sums())
}

/// Neurons of the widest layer that carries; 0 if none does.
fn widest_carrying(model: &PackedModel) -> usize {
    let carrying = model.networks()[0].layers().iter().filter(|layer| layer.carries());
    carrying.map(PackedLayer::neurons).max().unwrap_or(0)
}

/// Thresholds, and the smallest type that holds them.
struct Thresholds {
    values: Vec<i32>,
    bits: usize,
}

impl Thresholds {
    /// The thresholds of layers, given with their largest sums. Those that no sum reaches are moved to the nearest that no sum reaches.
    fn new<'a>(layers: impl Iterator<Item = (&'a PackedLayer, i32)>) -> Self {
        let clamped = |(layer, largest): (&'a PackedLayer, i32)| {
            layer.thresholds().iter().map(move |&threshold| threshold.clamp(-largest, largest + 1))
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
fn header(model: &PackedModel, data: &Data, name: &str, capitals: &str) -> String {
    let widest = model.networks()[0].layers().iter().map(|layer| layer.weights().rows()).max().unwrap_or(0);
    let (count, classes) = (model.networks().len(), model.classes());
    let ensemble = count > 1;
    let reals = model.quantiser().is_some();
    // As in the template: neurons of two layers, the sums that are carried, the sums, the bytes of a row, and two doubles for every class of an ensemble.
    let bytes = if reals { model.inputs() } else { 0 };
    let ram = 8 * widest.div_ceil(32) + 4 * widest_carrying(model) + 4 * count * classes + bytes + if ensemble { 16 * classes } else { 0 };
    let inputs = if reals { "rows of little-endian float32" } else { "raw images" };
    let link = if ensemble { " -lm" } else { "" };
    let mut lines = Vec::from([super::description(model), String::new()]);
    lines.extend(super::properties(model).into_iter().map(|(key, value)| format!("{key}: {value}")));
    lines.extend([
        String::new(),
        format!("Flash: {} bytes of constants, plus the code.", data.size(model)),
        format!("RAM: {ram} bytes of stack for arrays, no static data, no malloc. (AVR copies constants to RAM.)"),
        format!("Compile: cc -std=c99 -O2 -c {name}.c"),
        format!("Or as a program, {inputs} in, classes and sums out: cc -std=c99 -O2 -D{capitals}_MAIN {name}.c -o {name}{link}"),
    ]);
    if ensemble {
        lines.push("It uses exp from <math.h>: link with -lm.".into());
    }
    lines.push("Sums are exact on every machine; classes need a double of 64 bits where fields nearly tie.".into());
    let body: String = lines.iter().map(|line| format!("{}\n", format!(" * {}", in_comment(line)).trim_end())).collect();
    format!("/*\n{body} */\n\n")
}

/// Text for a string constant: three octal digits for what is not plain ASCII, and for what would end the string or begin a trigraph.
fn in_string(text: &str) -> String {
    let plain = |byte: u8| byte == b' ' || byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\' | b'?');
    text.bytes().map(|byte| if plain(byte) { char::from(byte).into() } else { format!("\\{byte:03o}") }).collect()
}

/// Text for a comment, without anything that could end it or begin another.
fn in_comment(text: &str) -> String {
    // `*` and `\` have a meaning in comments, `?` in C99's trigraphs.
    let harmless = |c: char| c == ' ' || c.is_alphanumeric() || c.is_ascii_graphic() && !matches!(c, '*' | '\\' | '?');
    text.chars().map(|c| if harmless(c) { c } else { '_' }).collect()
}
