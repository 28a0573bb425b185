//! Networks that carry sums, against sums of whole numbers written out; and what cannot carry.

mod support;

use isinglass_bits::{
    BiasedLayer, BitMatrix, Error, Isa, Output, PackedLayer, PackedModel, PackedNetwork, Predictor, Preprocessing, Products,
};
use support::files::{edit, forged_from, parts, whole};
use support::{Random, images};

/// Bytes become `(v − 32)/64`, which floats hold exactly.
const OFFSET: i64 = 32;
const SCALE: f32 = 1.0 / 64.0;

/// A network of whole numbers, except for its biases.
struct Written {
    sizes: Vec<usize>,
    /// `[layer][neuron][input]`, ±1.
    weights: Vec<Vec<Vec<i64>>>,
    bias: Vec<Vec<f32>>,
    /// For every layer below the output.
    carries: Vec<bool>,
}

impl Written {
    fn random(sizes: &[usize], carries: &[bool], random: &mut Random) -> Self {
        assert_eq!(sizes.len(), carries.len() + 2);
        let mut row = |inputs: usize| (0..inputs).map(|_| if random.bits() & 1 == 1 { 1 } else { -1 }).collect();
        let weights = sizes.windows(2).map(|pair| (0..pair[1]).map(|_| row(pair[0])).collect()).collect();
        // Half of them 0, so that fields of exactly 0 occur; some beyond what one layer can reach.
        let mut bias = |unit: usize| match unit % 4 {
            1 => 0.5 * random.signed(),
            3 => 4.0 * random.signed(),
            _ => 0.0,
        };
        let bias = sizes[1..].iter().map(|&neurons| (0..neurons).map(&mut bias).collect()).collect();
        Self { sizes: sizes.to_vec(), weights, bias, carries: carries.to_vec() }
    }

    /// A network of `depth` layers of one width; all that can carry do.
    fn deep(inputs: usize, width: usize, depth: usize, classes: usize, random: &mut Random) -> Self {
        let sizes: Vec<usize> = [inputs].into_iter().chain(vec![width; depth]).chain([classes]).collect();
        Self::random(&sizes, &(0..depth).map(|layer| layer >= 2).collect::<Vec<_>>(), random)
    }

    fn preprocessing() -> Preprocessing {
        Preprocessing::new(OFFSET as f32, SCALE).unwrap()
    }

    fn packed(&self) -> PackedNetwork {
        let layer = |(index, rows): (usize, &Vec<Vec<i64>>)| BiasedLayer {
            weights: BitMatrix::from_fn(rows.len(), rows[0].len(), |row, column| rows[row][column] == 1),
            bias: self.bias[index].clone(),
            carries: self.carries.get(index).copied().unwrap_or(false),
        };
        PackedNetwork::new(Self::preprocessing(), self.weights.iter().enumerate().map(layer).collect()).unwrap()
    }

    fn model(&self) -> PackedModel {
        PackedModel::new(vec![self.packed()], Self::preprocessing(), 1.5).unwrap()
    }

    /// The sums of the output for one image.
    fn sums(&self, image: &[u8]) -> Vec<i32> {
        let mut x: Vec<i64> = image.iter().map(|&byte| i64::from(byte) - OFFSET).collect();
        let mut fields: Vec<i64> = Vec::new();
        for (layer, rows) in self.weights.iter().enumerate() {
            let mut sums: Vec<i64> = rows.iter().map(|row| row.iter().zip(&x).map(|(weight, x)| weight * x).sum()).collect();
            if layer + 1 == self.weights.len() {
                return sums.iter().map(|&sum| i32::try_from(sum).unwrap()).collect();
            }
            if self.carries[layer] {
                for (sum, below) in sums.iter_mut().zip(&fields) {
                    *sum += below;
                }
            }
            let (unit, root) = (if layer == 0 { f64::from(SCALE) } else { 1.0 }, (self.sizes[layer] as f64).sqrt());
            let is_up = |(sum, bias): (&i64, &f32)| *sum as f64 * unit / root + f64::from(*bias) >= 0.0;
            x = sums.iter().zip(&self.bias[layer]).map(|pair| if is_up(pair) { 1 } else { -1 }).collect();
            fields = sums;
        }
        unreachable!("there is an output layer")
    }
}

/// A tile of eight rows and three on their own, on every instruction set, and on threads.
fn assert_same(written: &Written, model: &PackedModel) {
    let inputs = written.sizes[0];
    let images = images(inputs, 11, 3);
    let expected: Vec<i32> = images.chunks(inputs).flat_map(|image| written.sums(image)).collect();
    for isa in Isa::available() {
        let mut predictor = Predictor::new(model, isa);
        for round in 0..2 {
            assert_eq!(predictor.sums(&images).unwrap(), expected, "{} {:?}, round {round}", isa.name(), written.sizes);
        }
        assert_eq!(predictor.clone().sums(&images[..inputs]).unwrap(), expected[..model.classes()], "{}, one image", isa.name());
        assert_eq!(predictor.sums_on(&images, 3).unwrap(), expected, "{} {:?}, three threads", isa.name(), written.sizes);
        assert_eq!(predictor.sums(&images.repeat(4)).unwrap(), expected.repeat(4), "{} {:?}, many rows", isa.name(), written.sizes);
    }
}

#[test]
fn deep_networks_that_carry_are_those_written_out_on_every_instruction_set() {
    let mut random = Random(1);
    let widths = (1..=18).chain([31, 32, 33, 47, 48, 49, 63, 64, 65, 100, 257]);
    for width in widths {
        for depth in [3, 4, 60] {
            let written = Written::deep(21, width, depth, 5, &mut random);
            let model = written.model();
            assert_same(&written, &model);
            assert_same(&written, &PackedModel::from_bytes(&model.to_bytes()).unwrap());
        }
    }
}

#[test]
fn carrying_matters() {
    // Otherwise the tests above would prove nothing.
    let mut random = Random(2);
    let mut written = Written::deep(21, 33, 6, 5, &mut random);
    let images = images(21, 40, 5);
    let carried: Vec<i32> = images.chunks(21).flat_map(|image| written.sums(image)).collect();
    for layer in 2..6 {
        written.carries[layer] = false;
        let others: Vec<i32> = images.chunks(21).flat_map(|image| written.sums(image)).collect();
        assert_ne!(others, carried, "layer {layer}");
        written.carries[layer] = true;
    }
}

#[test]
fn chains_end_where_the_width_changes_or_a_layer_does_not_carry() {
    let mut random = Random(3);
    let sizes = [30, 17, 17, 17, 17, 5, 5, 5, 5, 64, 64, 64, 64, 64, 7, 3];
    //               |   bytes  |             | 17→5 |        | 5→64 |                  | 64→7
    let carries = [0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 0, 1, 0].map(|carries| carries == 1);
    let written = Written::random(&sizes, &carries, &mut random);
    let model = written.model();
    assert_eq!(model.carrying_layers(), [2..4, 6..8, 10..11, 12..13]);
    let largest = [255 * 30, 17, 34, 51, 17, 5, 10, 15, 5, 64, 128, 64, 128, 64];
    assert_eq!(model.networks()[0].largest_sums(), largest);
    assert_same(&written, &model);
    // The widest layer first, so that the memory of others is a part of its own.
    let sizes = [4, 130, 9, 9, 9, 33, 33, 33, 2];
    let written = Written::random(&sizes, &[false, false, false, true, false, false, true], &mut random);
    assert_same(&written, &written.model());
}

#[test]
fn networks_of_an_ensemble_carry_on_their_own() {
    let mut random = Random(4);
    let written: Vec<Written> = (0..3).map(|_| Written::deep(21, 20, 9, 4, &mut random)).collect();
    let model = PackedModel::new(written.iter().map(Written::packed).collect(), Written::preprocessing(), 1.0).unwrap();
    let images = images(21, 19, 5);
    let expected: Vec<i32> = images.chunks(21).flat_map(|image| written.iter().flat_map(|network| network.sums(image))).collect();
    for isa in Isa::available() {
        assert_eq!(Predictor::new(&model, isa).sums(&images).unwrap(), expected, "{}", isa.name());
    }
    let plain = Written::random(&written[0].sizes, &[false; 9], &mut random).packed();
    let error = PackedModel::new(vec![written[0].packed(), plain], Written::preprocessing(), 1.0).unwrap_err().to_string();
    assert!(error.contains("carry in the same layers") && error.contains("[2..9]"), "{error}");
}

#[test]
fn extreme_thresholds_hold_in_layers_that_carry() {
    let weights = |rows: usize, columns: usize| BitMatrix::from_fn(rows, columns, |row, column| (row * column) % 3 == 0);
    let thresholds = [i32::MIN, i32::MIN + 1, -18, -17, 18, 19, i32::MAX - 1, i32::MAX, 0];
    let layer = |columns: usize| PackedLayer::new(weights(9, columns), thresholds.to_vec()).unwrap();
    let layers = vec![layer(20), layer(9), layer(9).carrying(true).unwrap()];
    let network = PackedNetwork::from_layers(layers, Output::new(weights(3, 9), vec![0.0; 3]).unwrap()).unwrap();
    let model = PackedModel::new(vec![network], Preprocessing::default(), 1.0).unwrap();
    let images = images(20, 9, 2);
    for isa in Isa::available() {
        for (image, found) in images.chunks(20).zip(Predictor::new(&model, isa).sums(&images).unwrap().chunks(3)) {
            let dot = |rows: usize, x: &[i64]| -> Vec<i64> {
                let matrix = weights(rows, x.len());
                (0..rows).map(|row| x.iter().enumerate().map(|(column, x)| i64::from(matrix.spin(row, column)) * x).sum()).collect()
            };
            let spins = |sums: &[i64]| -> Vec<i64> {
                sums.iter().zip(thresholds).map(|(&sum, threshold)| if sum >= threshold.into() { 1 } else { -1 }).collect()
            };
            let x = spins(&dot(9, &image.iter().map(|&byte| byte.into()).collect::<Vec<_>>()));
            let below = dot(9, &x);
            let sums: Vec<i64> = dot(9, &spins(&below)).iter().zip(&below).map(|(sum, below)| sum + below).collect();
            let expected: Vec<i32> = dot(3, &spins(&sums)).iter().map(|&sum| sum as i32).collect();
            assert_eq!(found, expected, "{}", isa.name());
        }
    }
}

#[test]
fn layers_that_cannot_carry_are_refused() {
    let refused = |sizes: &[usize], layer: usize, words: &str| {
        let layers = sizes.windows(2).enumerate().map(|(index, pair)| BiasedLayer {
            weights: BitMatrix::from_fn(pair[1], pair[0], |_, _| true),
            bias: vec![0.0; pair[1]],
            carries: index == layer,
        });
        let error = PackedNetwork::new(Preprocessing::default(), layers.collect()).unwrap_err();
        assert!(matches!(error, Error::Shape(_)) && error.to_string().contains(words), "{sizes:?}, layer {layer}: {error}");
    };
    refused(&[4, 4, 4, 4, 2], 0, "layer 0 carries: it has no layer before it");
    refused(&[4, 4, 4, 4, 2], 1, "layer 1 carries: the sums of layer 0 are of bytes");
    refused(&[4, 4, 4, 4, 4], 3, "the output layer carries");
    refused(&[4, 4, 4, 3, 2], 2, "layer 2 carries, with 4 inputs and 3 neurons, from a layer with 4 inputs and 4 neurons");
    refused(&[4, 5, 4, 4, 2], 2, "layer 2 carries, with 4 inputs and 4 neurons, from a layer with 5 inputs and 4 neurons");
    refused(&[4, 4], 0, "the output layer carries");

    let square = PackedLayer::new(BitMatrix::from_fn(3, 3, |_, _| true), vec![0; 3]).unwrap();
    let carrying = square.clone().carrying(true).unwrap();
    assert_eq!(carrying.clone().carrying(false).unwrap(), square);
    let output = || Output::new(BitMatrix::from_fn(2, 3, |_, _| true), vec![0.0; 2]).unwrap();
    for layers in [vec![carrying.clone()], vec![square.clone(), carrying.clone()], vec![carrying.clone(), square.clone(), square.clone()]] {
        assert!(matches!(PackedNetwork::from_layers(layers, output()), Err(Error::Shape(_))));
    }
    assert!(PackedNetwork::from_layers(vec![square.clone(), square.clone(), carrying.clone()], output()).is_ok());
    let tall = PackedLayer::new(BitMatrix::from_fn(4, 3, |_, _| true), vec![0; 4]).unwrap();
    assert!(tall.carrying(true).unwrap_err().to_string().contains("not 4 and 3"));
    assert!(matches!(Products::new(&carrying, Isa::best()).err(), Some(Error::Shape(_))));
}

/// Two networks with chains that end at a change of width.
fn stored() -> PackedModel {
    let written =
        |seed| Written::random(&[9, 12, 12, 12, 5, 5, 5, 3], &[false, false, true, false, false, true], &mut Random(seed)).packed();
    PackedModel::new(vec![written(1), written(2)], Written::preprocessing(), 1.5).unwrap()
}

#[test]
fn files_say_which_layers_carry() {
    let model = stored();
    let (header, data) = parts(&model.to_bytes());
    assert!(header.contains(r#"\"format\":3"#) && header.contains(r#"\"carries\":[[2,3],[5,6]]"#), "{header}");
    assert_eq!(PackedModel::from_bytes(&model.to_bytes()).unwrap(), model);
    // Before the checksum is looked at.
    let error = PackedModel::from_bytes(&whole(&header.replace(r#"\"format\":3"#, r#"\"format\":2"#), &data)).unwrap_err().to_string();
    assert_eq!(error, "damaged: format 2 with the contents of format 3");
    // The same with all that other formats have.
    let names = ["a", "b", "c"];
    let full = stored().with_class_names(names).unwrap().with_image(3, 3).unwrap();
    assert_eq!(PackedModel::from_bytes(&full.to_bytes()).unwrap(), full);
    // However deep, the header does not grow.
    let deep = Written::deep(784, 8, 60, 10, &mut Random(1)).model();
    let contents = 8 * (98 + 4) + 59 * 8 * (1 + 4) + 10 * (1 + 4);
    assert!(deep.to_bytes().len() - contents < 1024);
}

#[test]
fn wrong_lists_of_carrying_layers_are_refused_whatever_their_checksum() {
    let list = r#""carries":[[2,3],[5,6]]"#;
    let huge = "18446744073709551615";
    assert!(PackedModel::from_bytes(&forged_from(&stored(), |_, _| {})).is_ok(), "the forger forges well");
    let lists = [
        "[]",
        "null",
        "[[0,1]]",
        "[[1,2]]",
        "[[3,4]]",
        "[[4,5]]",
        "[[2,4]]",
        "[[2,7]]",
        "[[6,7]]",
        "[[2,2],[5,6]]",
        "[[3,2],[5,6]]",
        "[[5,6],[2,3]]",
        "[[2,3],[2,3],[5,6]]",
        "[[2,3],[3,3],[5,6]]",
        "[[2,3,4]]",
        "[[2]]",
        "[2,3]",
        "true",
        "[[-1,3]]",
        "[[2.5,3]]",
    ];
    let mut lists: Vec<String> = lists.map(str::to_owned).into();
    lists.extend([
        format!("[[0,{huge}]]"),
        format!("[[{huge},{huge}]]"),
        format!("[[2,3],[{huge},1]]"),
        format!("[[2,3]{}]", ",[5,6]".repeat(500)),
    ]);
    for to in lists {
        let bytes = forged_from(&stored(), |header, _| edit(header, list, &format!(r#""carries":{to}"#)));
        let error = PackedModel::from_bytes(&bytes).expect_err(&to).to_string();
        assert!(!error.contains("SHA-256"), "{to} was noticed by its sum only: {error}");
    }
    let absent = forged_from(&stored(), |header, _| edit(header, &format!("{list},"), ""));
    let error = PackedModel::from_bytes(&absent).unwrap_err().to_string();
    assert_eq!(error, "damaged: format 3 with the contents of format 1");
    // Lists where there should be none.
    let plain = Written::random(&[9, 12, 12, 12, 3], &[false; 3], &mut Random(1)).model();
    for (to, sentence) in [("[[2,3]]", "format 1 with the contents of format 3"), ("[]", "an empty list"), ("[[1,2]]", "layer 1 carries")] {
        let bytes = forged_from(&plain, |header, _| edit(header, r#""sha256""#, &format!(r#""carries":{to},"sha256""#)));
        let error = PackedModel::from_bytes(&bytes).expect_err(to).to_string();
        assert!(error.contains(sentence), "{to}: {error}");
    }
    // A right list, but of other layers than were written: another network, with its own sum.
    let fewer = forged_from(&stored(), |header, _| edit(header, list, r#""carries":[[5,6]]"#));
    assert_eq!(PackedModel::from_bytes(&fewer).unwrap().networks()[0].largest_sums(), [9 * 255, 12, 12, 12, 5, 10]);
}
