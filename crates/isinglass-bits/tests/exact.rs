//! Packed networks against plain sums, and thresholds against integer arithmetic.

mod support;

use isinglass_bits::{
    BitMatrix, Isa, MAX_COLUMNS, PackedModel, Predictor, Preprocessing, threshold_of_bytes, threshold_of_carried, threshold_of_spins,
};
use support::{Plain, Random, images, network};

/// Around the sizes of bytes, words, and panels of 16 and 32; and the widths of the paper's networks and the benchmarks.
const WIDTHS: [usize; 9] = [1, 17, 63, 64, 65, 501, 784, 1000, 4096];

#[test]
fn packed_networks_are_the_plain_ones_on_every_instruction_set() {
    for (number, width) in WIDTHS.into_iter().enumerate() {
        for (inputs, depth, classes) in [(784, 1, 10), (width, 2, 3), (65, 3, 33)] {
            if inputs * width > 1 << 22 {
                continue;
            }
            let sizes: Vec<usize> = [inputs].into_iter().chain(std::iter::repeat_n(width, depth)).chain([classes]).collect();
            let (model, plain) = network(&sizes, number as u64 + 5);
            // One tile of eight and three single images.
            let images = images(inputs, 11, 3);
            let expected: Vec<i32> = images.chunks(inputs).flat_map(|image| plain.sums(image)).collect();
            for isa in Isa::available() {
                let mut predictor = Predictor::new(&model, isa);
                assert_eq!(predictor.sums(&images).unwrap(), expected, "{} {sizes:?}", isa.name());
                assert_eq!(predictor.sums_on(&images, 3).unwrap(), expected, "{} {sizes:?}, three threads", isa.name());
            }
        }
    }
}

/// More rows than go through the first layer together, and numbers of rows that fill no tile. 11 different images do not repeat in step with tiles of 8 or 16 rows.
#[test]
fn many_rows_give_what_each_gives_alone_on_every_instruction_set() {
    for (number, sizes) in
        [vec![784, 501, 64, 10], vec![1, 1, 1], vec![64, 33, 3], vec![65, 16, 40], vec![1000, 100, 100, 17]].iter().enumerate()
    {
        let (model, plain) = network(sizes, number as u64 + 21);
        let few = images(sizes[0], 11, number as u64 + 3);
        let expected: Vec<Vec<i32>> = few.chunks(sizes[0]).map(|image| plain.sums(image)).collect();
        for isa in Isa::available() {
            let mut predictor = Predictor::new(&model, isa);
            // The last: what more rows left behind does not matter.
            for count in [23, 24, 31, 32, 33, 256, 257, 300, 24] {
                let rows: Vec<u8> = few.iter().copied().cycle().take(count * sizes[0]).collect();
                let expected: Vec<i32> = expected.iter().cycle().take(count).flatten().copied().collect();
                assert_eq!(predictor.sums(&rows).unwrap(), expected, "{} {sizes:?}, {count} rows", isa.name());
                assert_eq!(predictor.sums_on(&rows, 2).unwrap(), expected, "{} {sizes:?}, {count} rows, two threads", isa.name());
            }
        }
    }
}

#[test]
fn threads_share_images_and_lose_none() {
    // Enough for three threads, and neither whole parts nor whole tiles.
    let (model, _) = network(&[784, 501, 501, 10], 4);
    let images = images(784, 1003, 6);
    let mut predictor = model.predictor();
    let expected = predictor.sums(&images).unwrap();
    for threads in [0, 1, 2, 3, 64] {
        assert_eq!(predictor.sums_on(&images, threads).unwrap(), expected, "{threads} threads");
    }
}

#[test]
fn layers_may_differ_in_width() {
    let sizes = [30, 100, 7, 7, 64, 5];
    let (model, plain) = network(&sizes, 9);
    let images = images(30, 20, 4);
    let expected: Vec<i32> = images.chunks(30).flat_map(|image| plain.sums(image)).collect();
    for isa in Isa::available() {
        assert_eq!(Predictor::new(&model, isa).sums(&images).unwrap(), expected, "{}", isa.name());
    }
    assert_eq!(PackedModel::from_bytes(&model.to_bytes()).unwrap(), model);
}

/// Whether `s/√N + b ≥ 0`, in whole numbers: `b = m·2^e`, so that `s²·2^(−2e)` is compared with `m²·N`, with the signs of both.
fn is_up_exactly(sum: i64, inputs: usize, bias: f32) -> bool {
    let (mantissa, exponent) = decompose(bias);
    let squared = |value: i64| i128::from(value) * i128::from(value) * i128::from(value.signum());
    let (left, right) = (squared(sum), -squared(mantissa) * inputs as i128);
    match exponent {
        0.. => left >= right << (2 * exponent),
        _ => left << (-2 * exponent) >= right,
    }
}

fn decompose(value: f32) -> (i64, i32) {
    let (mut mantissa, mut exponent) = (f64::from(value), 0);
    while mantissa.fract() != 0.0 {
        mantissa *= 2.0;
        exponent -= 1;
    }
    (mantissa as i64, exponent)
}

#[test]
fn thresholds_of_spins_are_exact_at_every_edge() {
    let mut ties = 0;
    for inputs in [1, 2, 49, 63, 64, 65, 100, 501, 784, 1000, 2401, 4096, 65_536] {
        ties += assert_thresholds_are_exact(inputs, 1, 1e-6);
    }
    assert!(ties > 100, "only {ties} fields of exactly 0 were met");
}

#[test]
fn thresholds_of_carried_sums_are_exact_at_every_edge() {
    let mut ties = 0;
    for inputs in [1, 2, 49, 63, 64, 65, 100, 501, 784, 1000, 2401, 4096, 65_536] {
        for layers in [2, 3, 59, 1000] {
            ties += assert_thresholds_are_exact(inputs, layers, 1e-3);
        }
    }
    assert!(ties > 400, "only {ties} fields of exactly 0 were met");
}

/// Checks thresholds of biases of at least `least`, beyond which the integers of the check would overflow; counts fields of exactly 0.
fn assert_thresholds_are_exact(inputs: usize, layers: usize, least: f32) -> usize {
    let mut random = Random(7);
    let mut ties = 0;
    let (root, largest) = ((inputs as f64).sqrt(), inputs * layers);
    for trial in 0..400 {
        // A third of the biases put the field of some sum to 0 as nearly as a float can, a third are whole numbers of 1/2⁹.
        let sum = random.below(2 * largest + 1) as f64 - largest as f64;
        let bias = match trial % 3 {
            0 => (-sum / root) as f32,
            1 => (layers as f32 * random.signed() * 512.0).round() / 512.0,
            _ => layers as f32 * random.signed(),
        };
        if bias != 0.0 && bias.abs() < least {
            continue;
        }
        let threshold = i64::from(threshold_of_carried(inputs, layers, bias));
        let limit = largest as i64;
        let at = format!("{layers} layers of {inputs} inputs, bias {bias}: {threshold}");
        assert!((-limit..=limit + 1).contains(&threshold), "{at}");
        assert!(threshold > limit || is_up_exactly(threshold, inputs, bias), "{at} is too low");
        assert!(threshold == -limit || !is_up_exactly(threshold - 1, inputs, bias), "{at} is too high");
        if layers == 1 {
            assert_eq!(i64::from(threshold_of_spins(inputs, bias)), threshold);
        }
        let (mantissa, exponent) = decompose(bias);
        ties += usize::from(
            exponent <= 0 && mantissa != 0 && {
                let squared = i128::from(threshold) * i128::from(threshold);
                squared << (-2 * exponent) == i128::from(mantissa) * i128::from(mantissa) * inputs as i128
            },
        );
    }
    ties
}

#[test]
fn thresholds_of_the_largest_sums_fit_32_bits() {
    let (inputs, layers) = (MAX_COLUMNS, 2047);
    let largest = (inputs * layers) as i32;
    assert_eq!(threshold_of_carried(inputs, layers, f32::MAX), -largest);
    assert_eq!(threshold_of_carried(inputs, layers, f32::MIN), largest + 1);
    // √2²⁰ = 1024.
    assert_eq!(threshold_of_carried(inputs, layers, -1_000_000.5), 1_024_000_512);
    // Sums that no network has.
    assert_eq!(threshold_of_carried(inputs, 2048, f32::MIN), i32::MAX);
    assert_eq!(threshold_of_carried(usize::MAX, usize::MAX, f32::MIN), i32::MAX);
}

#[test]
fn a_field_of_zero_is_up_where_a_product_with_the_inverse_root_would_not_be() {
    // 49·(1/49) is 0.9999999999999999 in floats.
    assert_eq!(threshold_of_spins(49 * 49, -1.0), 49);
}

#[test]
fn thresholds_of_bytes_decide_as_the_field_does() {
    let mut random = Random(8);
    for inputs in [1, 3, 784, 4096] {
        for trial in 0..50 {
            let preprocessing = match trial % 2 {
                0 => Preprocessing::new(0.0, 1.0).unwrap(),
                _ => Preprocessing::new(255.0 * random.signed().abs(), 0.02 * random.signed().abs() + 1e-4).unwrap(),
            };
            let row_sum = inputs as i64 - 2 * random.below(inputs + 1) as i64;
            let bias = if trial % 4 == 0 { 0.0 } else { 3.0 * random.signed() };
            let threshold = i64::from(threshold_of_bytes(inputs, row_sum, bias, preprocessing));
            let field = |sum: i64| {
                let shifted = sum as f64 - f64::from(preprocessing.offset()) * row_sum as f64;
                shifted * f64::from(preprocessing.scale()) / (inputs as f64).sqrt() + f64::from(bias)
            };
            let limit = 255 * inputs as i64;
            assert!(threshold > limit || field(threshold) >= 0.0);
            assert!(threshold == -limit || field(threshold - 1) < 0.0);
        }
    }
}

#[test]
fn the_preprocessing_is_in_the_threshold_without_rounding() {
    // With a scale of 1 and no bias the threshold is ⌈offset·Σ S⌉, in whole numbers: the offset is m/2²⁰.
    let mut random = Random(9);
    for _ in 0..200 {
        let inputs = 60_000 + random.below(5_000);
        let row_sum = inputs as i64 - 2 * random.below(inputs + 1) as i64;
        let offset = (random.below(1 << 24) as f64 / f64::from(1 << 20)) as f32;
        let product = i128::from(row_sum) * (f64::from(offset) * f64::from(1 << 20)) as i128;
        let expected = (product + (1 << 20) - 1).div_euclid(1 << 20);
        let found = threshold_of_bytes(inputs, row_sum, 0.0, Preprocessing::new(offset, 1.0).unwrap());
        assert_eq!(i128::from(found), expected, "{inputs} inputs, offset {offset}, sum of weights {row_sum}");
    }
}

#[test]
fn extreme_thresholds_hold_on_every_instruction_set() {
    // Whatever a file may hold: neurons that are always or never up, whatever the sum.
    let weights = |rows: usize, columns: usize| BitMatrix::from_fn(rows, columns, |row, column| (row + column) % 3 == 0);
    let thresholds = vec![i32::MIN, i32::MIN + 1, -1, 0, 1, i32::MAX];
    let layers = vec![
        isinglass_bits::PackedLayer::new(weights(6, 20), thresholds.clone()).unwrap(),
        isinglass_bits::PackedLayer::new(weights(6, 6), thresholds).unwrap(),
    ];
    let output = isinglass_bits::Output::new(weights(2, 6), vec![0.0, 0.5]).unwrap();
    let network = isinglass_bits::PackedNetwork::from_layers(layers.clone(), output).unwrap();
    let model = PackedModel::new(vec![network], Preprocessing::new(0.0, 1.0).unwrap(), 1.0).unwrap();
    let images = images(20, 9, 2);
    let dot = |layer: &BitMatrix, row: usize, x: &[i64]| (0..x.len()).map(|j| i64::from(layer.spin(row, j)) * x[j]).sum::<i64>();
    for isa in Isa::available() {
        let sums = Predictor::new(&model, isa).sums(&images).unwrap();
        for (image, sums) in images.chunks(20).zip(sums.chunks(2)) {
            let mut x: Vec<i64> = image.iter().map(|&byte| byte.into()).collect();
            for layer in &layers {
                x = (0..6).map(|row| if dot(layer.weights(), row, &x) >= layer.thresholds()[row].into() { 1 } else { -1 }).collect();
            }
            let expected: Vec<i32> = (0..2).map(|row| dot(&weights(2, 6), row, &x) as i32).collect();
            assert_eq!(sums, expected, "{}", isa.name());
        }
    }
}

#[test]
fn probabilities_of_an_ensemble_are_averaged() {
    let preprocessing = Plain::random(&[2, 2], &mut Random(1)).preprocessing;
    let plains: Vec<Plain> = (0..3).map(|seed| Plain::random(&[40, 21, 4], &mut Random(seed + 1))).collect();
    let model = PackedModel::new(plains.iter().map(Plain::packed).collect(), preprocessing, 2.0).unwrap();
    let images = images(40, 13, 5);
    let mut predictor = model.predictor();
    let (probabilities, classes) = (predictor.probabilities(&images).unwrap(), predictor.classes(&images).unwrap());
    for ((image, found), class) in images.chunks(40).zip(probabilities.chunks(4)).zip(classes) {
        let mut expected = [0.0; 4];
        for plain in &plains {
            let bias = &plain.layers[1].2;
            let weights: Vec<f64> =
                plain.sums(image).iter().zip(bias).map(|(&sum, &b)| (2.0 * (f64::from(sum) / 21f64.sqrt() + f64::from(b))).exp()).collect();
            let total: f64 = weights.iter().sum();
            expected.iter_mut().zip(weights).for_each(|(p, weight)| *p += weight / total / 3.0);
        }
        assert!(found.iter().zip(expected).all(|(p, q)| (p - q).abs() < 1e-14), "{found:?} instead of {expected:?}");
        let best = (0..4).rev().max_by(|&a, &b| expected[a].total_cmp(&expected[b])).unwrap();
        assert_eq!(class, best);
    }
}

#[test]
fn equal_fields_go_to_the_first_class() {
    let same = |rows: usize, columns: usize| BitMatrix::from_fn(rows, columns, |_, _| true);
    let preprocessing = Preprocessing::new(0.0, 1.0).unwrap();
    let network =
        isinglass_bits::PackedNetwork::new(preprocessing, vec![(same(5, 4), vec![0.0; 5]), (same(3, 5), vec![-0.1, 0.0, 0.0])]).unwrap();
    let mut predictor = PackedModel::new(vec![network], preprocessing, 1.0).unwrap().predictor();
    assert_eq!(predictor.classes(&[1, 2, 3, 4]).unwrap(), [1]);
    assert!(predictor.classes(&[0_u8; 0]).unwrap().is_empty());
    assert!(predictor.classes(&[1, 2, 3]).unwrap_err().to_string().contains("3 bytes do not make whole images of 4"));
}
