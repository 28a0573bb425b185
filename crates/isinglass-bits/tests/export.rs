//! Exported networks against the predictor: sums and classes are equal.

mod support;

use isinglass_bits::{BitMatrix, Output, PackedLayer, PackedModel, PackedNetwork, Preprocessing, Values};
use support::Random;
use support::exports::{cc_knows, compile, directory, onnxruntime, run};

/// From −limit to limit.
fn within(random: &mut Random, limit: i64) -> i32 {
    (random.bits() as i64).rem_euclid(2 * limit + 1) as i32 - limit as i32
}

fn matrix(random: &mut Random, rows: usize, columns: usize) -> BitMatrix {
    BitMatrix::from_fn(rows, columns, |_, _| random.bits() & 1 == 1)
}

/// Thresholds near typical sums, so that being off by one shows, and some that no sum reaches.
/// Inputs are at most `largest`, and the sums of `summed` layers add up.
fn layer(random: &mut Random, rows: usize, columns: usize, largest: i64, summed: usize) -> PackedLayer {
    let spread = largest * ((summed * columns) as f64).sqrt() as i64;
    let limit = largest as i32 * (summed * columns) as i32;
    let never_or_always = [i32::MIN, i32::MAX, -limit, limit + 1];
    let mut threshold = |row: usize| if row % 16 == 15 { never_or_always[row / 16 % 4] } else { within(random, spread) };
    let thresholds = (0..rows).map(&mut threshold).collect();
    PackedLayer::new(matrix(random, rows, columns), thresholds).unwrap()
}

fn usual_bias(random: &mut Random) -> f32 {
    within(random, 1 << 20) as f32 / 1e6
}

/// Networks of sizes from the inputs to the classes.
fn model(random: &mut Random, count: usize, sizes: &[usize], bias: fn(&mut Random) -> f32) -> PackedModel {
    carrying(random, count, sizes, &[], bias)
}

/// Networks some of whose layers carry.
fn carrying(random: &mut Random, count: usize, sizes: &[usize], carrying: &[usize], bias: fn(&mut Random) -> f32) -> PackedModel {
    let [widths @ .., classes] = sizes else { panic!("{sizes:?}") };
    let network = |_| {
        let mut summed = 0;
        let packed = |(index, pair): (usize, &[usize])| {
            let carries = carrying.contains(&index);
            summed = if carries { summed + 1 } else { 1 };
            layer(random, pair[1], pair[0], if index == 0 { 255 } else { 1 }, summed).carrying(carries).unwrap()
        };
        let layers = widths.windows(2).enumerate().map(packed).collect();
        let bias = (0..*classes).map(|_| bias(random)).collect();
        PackedNetwork::from_layers(layers, Output::new(matrix(random, *classes, widths[widths.len() - 1]), bias).unwrap()).unwrap()
    };
    let networks = (0..count).map(network).collect();
    let mut model = PackedModel::new(networks, Preprocessing::new(127.5, 1.0 / 127.5).unwrap(), 1.5).unwrap();
    model.provenance.insert("data set".into(), "noise, μ = 0 */ #error \\\n ??/".into());
    model
}

/// A black image, a white one, noise, and sparse noise.
fn images(random: &mut Random, inputs: usize) -> Vec<u8> {
    let mut images = vec![0; inputs];
    images.extend(vec![255; inputs]);
    images.extend((0..200 * inputs).map(|_| random.bits() as u8));
    images.extend((0..100 * inputs).map(|_| if random.bits().is_multiple_of(8) { 255 } else { 0 }));
    images
}

/// Odd widths, depths from 1 to 4, ensembles, and ties; and networks that carry.
fn models() -> Vec<PackedModel> {
    let shapes: [(usize, &[usize]); 13] = [
        (1, &[1, 1, 1]),
        (1, &[63, 1, 2]),
        (1, &[64, 63, 10]),
        (1, &[65, 64, 65, 3]),
        (1, &[784, 501, 501, 10]),
        (1, &[501, 65, 65, 64, 33]),
        (1, &[784, 63, 64, 65, 501, 10]),
        (1, &[7, 501, 1, 501, 501, 5]),
        (2, &[63, 64, 10]),
        (3, &[784, 65, 501, 501, 501, 10]),
        (16, &[65, 63, 63, 10]),
        (5, &[100, 8, 16, 3]),
        (1, &[5, 17, 3]),
    ];
    let mut random = Random(7);
    let mut models: Vec<PackedModel> = shapes.iter().map(|(count, sizes)| model(&mut random, *count, sizes, usual_bias)).collect();
    // Classes that tie, and those that the smallest biases decide.
    models.push(model(&mut random, 1, &[20, 16, 8, 10], |_| 0.0));
    models.push(model(&mut random, 3, &[20, 16, 2, 11], |_| 0.0));
    models.push(model(&mut random, 1, &[20, 16, 4, 30], |random| [0.0, -0.0, 1e-45, -1e-40, 1.2e-38][random.bits() as usize % 5]));
    let deep: Vec<usize> = [33].into_iter().chain([47; 60]).chain([10]).collect();
    models.push(carrying(&mut random, 1, &deep, &(2..60).collect::<Vec<_>>(), usual_bias));
    models.push(carrying(&mut random, 3, &deep, &(2..60).filter(|layer| layer % 7 != 0).collect::<Vec<_>>(), usual_bias));
    for width in [1, 2, 3, 31, 32, 33, 65, 300] {
        models.push(carrying(&mut random, 1, &[5, width, width, width, width, 3], &[2, 3], usual_bias));
    }
    // Chains that end where the width changes, or because a layer does not carry; the widest layer is in none of them.
    let sizes = [30, 130, 17, 17, 17, 5, 5, 5, 64, 64, 64, 64, 64, 7, 3];
    models.push(carrying(&mut random, 2, &sizes, &[3, 6, 9, 11], usual_bias));
    models
}

/// Compares with what was printed, a line per image: the class, the sums, and perhaps the probabilities.
fn assert_same(model: &PackedModel, images: &[u8], lines: &[&str]) {
    let mut predictor = model.predictor();
    let per_image = model.networks().len() * model.classes();
    let (sums, classes) = (predictor.sums(images).unwrap(), predictor.classes(images).unwrap());
    let probabilities = predictor.probabilities(images).unwrap();
    assert_eq!(lines.len(), classes.len(), "a line per image");
    for (image, line) in lines.iter().enumerate() {
        let at = || format!("image {image} of {} × {:?}", model.networks().len(), model.sizes());
        let (integers, shares) = line.rsplit_once(';').map_or((*line, None), |(integers, shares)| (integers, Some(shares)));
        let integers: Vec<i64> = integers.split([' ', ';']).map(|number| number.parse().unwrap()).collect();
        let expected: Vec<i64> = sums[image * per_image..][..per_image].iter().map(|&sum| sum.into()).collect();
        assert_eq!(integers[1..], expected, "{}", at());
        assert_eq!(integers[0], classes[image] as i64, "class of {}", at());
        if let Some(shares) = shares {
            let shares: Vec<f64> = shares.split(' ').map(|share| share.parse().unwrap()).collect();
            let expected = &probabilities[image * model.classes()..][..model.classes()];
            assert_eq!(shares.len(), expected.len());
            for (share, expected) in shares.iter().zip(expected) {
                assert!((share - expected).abs() <= 1e-13 * expected, "{share} instead of {expected}, {}", at());
            }
        }
    }
}

#[test]
fn c_gives_the_sums_and_classes_of_the_predictor() {
    if !cc_knows("-std=c99") {
        return;
    }
    let directory = directory("export-c");
    for (index, model) in models().iter().enumerate() {
        let name = format!("net_{index}");
        let program = compile(&directory, &name, &model.to_c(&name).unwrap(), &format!("-std=c99 -O2 -DNET_{index}_MAIN"));
        let images = images(&mut Random(1 + index as u64), model.inputs());
        let text = run(&program, Values::from(&images));
        assert_same(model, &images, &text.lines().collect::<Vec<_>>());
    }
}

#[test]
fn onnxruntime_gives_the_sums_and_classes_of_the_predictor() {
    let mut random = Random(3);
    let models: Vec<PackedModel> = models().into_iter().chain([deep(&mut random)]).collect();
    let images: Vec<Vec<u8>> = models.iter().map(|model| self::images(&mut random, model.inputs())).collect();
    let cases: Vec<_> = models.iter().zip(images.iter().map(Values::from)).collect();
    let Some(lines) = onnxruntime(&directory("export-onnx"), &cases) else { return };
    for ((model, images), lines) in models.iter().zip(&images).zip(lines) {
        assert_same(model, images, &lines.iter().map(String::as_str).collect::<Vec<_>>());
    }
}

/// 100 layers, 16 networks.
fn deep(random: &mut Random) -> PackedModel {
    let sizes: Vec<usize> = [100].into_iter().chain([48; 100]).chain([10]).collect();
    model(random, 16, &sizes, usual_bias)
}

#[test]
fn carried_networks_take_memory_for_their_sums_and_others_do_not() {
    let mut random = Random(6);
    let sizes = [20, 64, 64, 64, 64, 3];
    let code = |model: PackedModel| model.to_c("net").unwrap();
    let (plain, carried) = (code(model(&mut random, 1, &sizes, usual_bias)), code(carrying(&mut random, 1, &sizes, &[3], usual_bias)));
    // Two words of neurons twice, three sums, and 64 sums that are carried.
    assert!(plain.contains("RAM: 28 bytes") && carried.contains("RAM: 284 bytes"));
    assert!(!plain.contains("carried") && !plain.contains("CARRIED"));
    assert!(carried.contains("carries: layers 3 to 3, counted from 0") && carried.contains("#define NET_CARRIED 64UL"));
}

#[test]
fn files_are_as_large_as_their_bits_and_thresholds() {
    let mut random = Random(5);
    for (count, sizes) in [(1, vec![784, 1024, 1024, 1024, 10]), (4, vec![784, 500, 500, 10])] {
        let model = model(&mut random, count, &sizes, usual_bias);
        let (packed, onnx) = (model.to_bytes().len(), model.to_onnx().len());
        let allowed = 2500 + 150 * count * sizes.len();
        assert!(onnx <= packed + allowed, "{onnx} bytes, the packed file {packed}");
    }
    let sizes: Vec<usize> = [784].into_iter().chain([256; 60]).chain([10]).collect();
    let model = carrying(&mut random, 4, &sizes, &(2..60).collect::<Vec<_>>(), usual_bias);
    let (packed, onnx) = (model.to_bytes().len(), model.to_onnx().len());
    assert!(onnx <= packed + 2500 + 180 * 4 * sizes.len(), "{onnx} bytes, the packed file {packed}");
}

#[test]
fn names_that_c_does_not_allow_are_refused() {
    let model = model(&mut Random(9), 1, &[4, 3, 2], usual_bias);
    for name in ["", "7th", "_net", "my-net", "netz\u{e9}", "a b", "a\n"] {
        let error = model.to_c(name).unwrap_err().to_string();
        assert!(error.contains("a letter first"), "{error}");
    }
    assert!(model.to_c("Net_2").unwrap().contains("int Net_2_classify(const uint8_t image[NET_2_INPUTS])"));
}

#[test]
fn thresholds_of_c_take_the_smallest_type() {
    let layer = |threshold| PackedLayer::new(BitMatrix::from_fn(1, 300, |_, _| true), vec![threshold]).unwrap();
    for (threshold, expected) in [(-128, "int8_t"), (127, "int8_t"), (128, "int16_t"), (-129, "int16_t"), (32_768, "int32_t")] {
        let output = Output::new(BitMatrix::from_fn(1, 1, |_, _| true), vec![0.0]).unwrap();
        let network = PackedNetwork::from_layers(vec![layer(threshold)], output).unwrap();
        let model = PackedModel::new(vec![network], Preprocessing::default(), 1.0).unwrap();
        assert!(model.to_c("net").unwrap().contains(&format!("typedef {expected} net_input_threshold;")), "{threshold}");
    }
}
