//! Models of real numbers: the predictor, C and ONNX compute the same bytes and sums.

mod support;

use std::sync::Arc;

use isinglass_bits::{BitMatrix, Error, Isa, Output, PackedLayer, PackedModel, PackedNetwork, Predictor, Preprocessing, Quantiser, Values};
use support::exports::{cc_knows, compile, directory, onnxruntime, run};
use support::{Plain, Random};

/// A model with one input whose single sum is `2·byte − 254`: neuron `i` of 256 is up where the byte is at least `i`.
fn thermometer(centre: f32, factor: f32) -> PackedModel {
    let layer = PackedLayer::new(BitMatrix::from_fn(256, 1, |_, _| true), (0..256).collect()).unwrap();
    let output = Output::new(BitMatrix::from_fn(1, 256, |_, _| true), vec![0.0]).unwrap();
    let network = PackedNetwork::from_layers(vec![layer], output).unwrap();
    let quantiser = Quantiser::new(vec![centre], vec![factor]).unwrap();
    PackedModel::new(vec![network], Preprocessing::default(), 1.0).unwrap().with_quantiser(quantiser).unwrap()
}

fn byte_of_sum(sum: i32) -> u8 {
    u8::try_from((sum + 254) / 2).unwrap()
}

/// The rule in 64 bits, with the infinities and NaN that only exports are given.
fn byte_by_doubles(value: f32, centre: f32, factor: f32) -> u8 {
    let difference = (f64::from(value) - f64::from(centre)) as f32;
    let t = f64::from((f64::from(difference) * f64::from(factor)) as f32);
    let clamped = if t.is_nan() { 0.0 } else { t.clamp(-128.0, 127.0) };
    128_u8.wrapping_add(clamped.round_ties_even() as i8 as u8)
}

/// Centres and factors: plain, inexact, extreme, and of constant columns.
const RULES: [(f32, f32); 10] = [
    (0.0, 1.0),
    (0.1, 3.7),
    (-17.3, 0.01),
    (1e6, 0.3),
    (128.0 / 255.0, 255.0),
    (1e-40, 3e38),
    (3e38, 4e-37),
    (f32::MIN, 1.2e-38),
    (5.0, 0.0),
    (f32::MAX, 0.0),
];

/// Values for a rule: those whose `t` is at or beside every half step and the ends of the range, ±0, subnormal and huge numbers, and random ones.
fn adversarial(centre: f32, factor: f32, random: &mut Random) -> Vec<f32> {
    let mut values = vec![0.0, -0.0, 1e-45, -1e-45, 1.1e-38, -1e-40, f32::MIN_POSITIVE, f32::MAX, f32::MIN, 1e38, -3e38, centre];
    for half_steps in -260..=260 {
        let value = (f64::from(half_steps) / 2.0 / f64::from(factor) + f64::from(centre)) as f32;
        values.extend([value.next_down(), value, value.next_up()]);
    }
    values.extend((0..300).map(|_| centre + 130.0 * random.signed() / factor));
    values.extend((0..300).map(|_| f32::from_bits(random.bits() as u32)));
    values.retain(|value| value.is_finite());
    values
}

#[test]
fn the_predictor_quantises_by_the_rule() {
    let mut random = Random(21);
    for (centre, factor) in RULES {
        let values = adversarial(centre, factor, &mut random);
        let expected: Vec<u8> = values.iter().map(|&value| byte_by_doubles(value, centre, factor)).collect();
        let sums = thermometer(centre, factor).predictor().sums(&values).unwrap();
        assert_eq!(sums.into_iter().map(byte_of_sum).collect::<Vec<_>>(), expected, "centre {centre:?}, factor {factor:?}");
    }
}

/// Adversarial values, and those that the predictor refuses.
fn values_for_exports(centre: f32, factor: f32, random: &mut Random) -> Vec<f32> {
    let mut values = adversarial(centre, factor, random);
    values.extend([f32::NAN, f32::INFINITY, f32::NEG_INFINITY]);
    values
}

/// Optimised or not, with contraction, with vectors, in GNU and ISO mode, and with the excess precision of x87.
const FLAGS: [&str; 8] = [
    "-std=c99 -O2",
    "-O0",
    "-O2 -march=native -ffp-contract=fast",
    "-O3 -march=native",
    "-std=gnu17 -Os",
    "-std=c11 -O3 -funroll-loops",
    "-O2 -mfpmath=387",
    "-O3 -mfpmath=387 -std=c99",
];

#[test]
fn c_quantises_by_the_rule_whatever_the_flags() {
    let mut random = Random(22);
    let directory = directory("tables-c");
    let rules: Vec<_> = RULES.iter().map(|&(centre, factor)| (centre, factor, values_for_exports(centre, factor, &mut random))).collect();
    let code = |index: usize| thermometer(rules[index].0, rules[index].1).to_c(&format!("rule_{index}")).unwrap();
    // All rules in one program, which reads the number of a rule and a value, both as float32.
    let mut program: String = (0..rules.len()).map(code).collect();
    program += "#include <stdio.h>\nint main(void)\n{\n    float record[2];\n    int32_t sum = 0;\n    while (fread(record, 4, 2, stdin) == 2) {\n        switch ((int)record[0]) {\n";
    for index in 0..rules.len() {
        program += &format!(
            "        case {index}: rule_{index}_sums(record + 1, &sum); if (rule_{index}_classify(record + 1) != 0) return 2; break;\n"
        );
    }
    program += "        default: return 1;\n        }\n        printf(\"%ld\\n\", (long)sum);\n    }\n    return 0;\n}\n";
    let records = rules.iter().enumerate().flat_map(|(index, (_, _, values))| values.iter().flat_map(move |&value| [index as f32, value]));
    let records: Vec<f32> = records.collect();
    let expected: Vec<u8> = rules.iter().flat_map(|(c, f, values)| values.iter().map(|&value| byte_by_doubles(value, *c, *f))).collect();
    for (number, flags) in FLAGS.into_iter().enumerate() {
        if cc_knows(flags) {
            let text = run(&compile(&directory, &format!("rules_{number}"), &program, flags), Values::from(&records));
            let found: Vec<u8> = text.lines().map(|line| byte_of_sum(line.parse().unwrap())).collect();
            assert_eq!(found.len(), expected.len());
            if let Some(place) = (0..found.len()).find(|&place| found[place] != expected[place]) {
                let (rule, value) = (records[2 * place] as usize, records[2 * place + 1]);
                panic!("{flags}: byte {} for {value:?}, not {}; centre and factor {:?}", found[place], expected[place], RULES[rule]);
            }
        }
    }
}

#[test]
fn onnxruntime_quantises_by_the_rule() {
    let mut random = Random(23);
    let models: Vec<PackedModel> = RULES.iter().map(|&(centre, factor)| thermometer(centre, factor)).collect();
    let values: Vec<Vec<f32>> = RULES.iter().map(|&(centre, factor)| values_for_exports(centre, factor, &mut random)).collect();
    let cases: Vec<_> = models.iter().zip(values.iter().map(Values::from)).collect();
    let Some(lines) = onnxruntime(&directory("tables-onnx-rules"), &cases) else { return };
    for (((centre, factor), values), lines) in RULES.into_iter().zip(&values).zip(lines) {
        for (&value, line) in values.iter().zip(lines) {
            let sum = line.split(';').nth(1).unwrap().parse().unwrap();
            assert_eq!(byte_of_sum(sum), byte_by_doubles(value, centre, factor), "({value:?} − {centre:?})·{factor:?}");
        }
    }
}

/// A table whose columns differ in size, one of them constant, and a model with a quantiser chosen on its first half.
fn table(networks: u64, sizes: &[usize], seed: u64) -> (PackedModel, PackedModel, Vec<f32>) {
    let (columns, rows) = (sizes[0], 83);
    let mut random = Random(seed);
    let scales: Vec<(f32, f32)> = (0..columns).map(|column| (30.0 * random.signed(), 10f32.powi(column as i32 % 9 - 4))).collect();
    let value = |column: usize, random: &mut Random| match column % 5 {
        3 => 2.5,
        4 => (8.0 * random.signed()).round() * scales[column].1,
        _ => scales[column].0 + scales[column].1 * (random.signed() + random.signed() + random.signed()),
    };
    let values: Vec<f32> = (0..rows * columns).map(|place| value(place % columns, &mut random)).collect();
    let (quantiser, preprocessing) = Quantiser::table(&values, columns, 0..rows / 2).unwrap();
    let network = |index: u64| Plain { preprocessing, ..Plain::random(sizes, &mut Random(seed + index)) }.packed();
    let bytes = PackedModel::new((0..networks).map(network).collect(), preprocessing, 1.5).unwrap();
    let names = (0..bytes.classes()).map(|class| format!("class \"{class}\" ??/ \\ é"));
    let reals = bytes.clone().with_quantiser(quantiser).unwrap().with_class_names(names).unwrap();
    (reals, bytes, values)
}

fn tables() -> Vec<(PackedModel, PackedModel, Vec<f32>)> {
    let shapes: [(u64, &[usize]); 6] =
        [(1, &[1, 1, 2]), (1, &[5, 17, 3]), (1, &[13, 64, 33, 3]), (3, &[30, 31, 2]), (2, &[65, 65, 65, 7]), (1, &[257, 8, 10])];
    shapes.iter().enumerate().map(|(seed, (networks, sizes))| table(*networks, sizes, seed as u64 + 31)).collect()
}

#[test]
fn real_rows_give_the_sums_of_their_bytes_on_every_instruction_set() {
    for (reals, bytes, values) in tables() {
        let quantised = reals.quantiser().unwrap().quantise(&values).unwrap();
        for isa in Isa::available() {
            let expected = Predictor::new(&bytes, isa).sums(&quantised).unwrap();
            let mut predictor = Predictor::new(&reals, isa);
            assert_eq!(predictor.sums(&values).unwrap(), expected, "{} {:?}", isa.name(), reals.sizes());
            assert_eq!(predictor.sums_on(&values, 3).unwrap(), expected, "{} {:?}, three threads", isa.name(), reals.sizes());
            let row = &values[..reals.inputs()];
            assert_eq!(predictor.sums(row).unwrap(), expected[..expected.len() / 83]);
        }
        let mut predictor = reals.predictor();
        let prediction = predictor.predict_on(&values, 2).unwrap();
        assert_eq!(prediction, predictor.predict(&values).unwrap());
        assert_eq!(prediction.classes(), predictor.classes(&values).unwrap());
        assert_eq!(prediction.probabilities(), predictor.probabilities(&values).unwrap());
        assert_eq!(prediction.class_names(), reals.class_names());
        for row in 0..prediction.len() {
            assert_eq!(prediction.name(row).unwrap(), reals.class_names().unwrap()[prediction.classes()[row]]);
            assert_eq!(prediction.probabilities_of(row), &prediction.probabilities()[row * reals.classes()..][..reals.classes()]);
        }
    }
}

#[test]
fn threads_share_real_rows_and_lose_none() {
    let (model, _, values) = table(1, &[300, 2001, 501, 10], 3);
    let values: Vec<f32> = values.iter().copied().cycle().take(300 * 411).collect();
    let mut predictor = model.predictor();
    let expected = predictor.sums(&values).unwrap();
    for threads in [0, 1, 2, 3, 64] {
        assert_eq!(predictor.sums_on(&values, threads).unwrap(), expected, "{threads} threads");
    }
}

/// The integers of a line, class first, against the predictor's.
fn assert_same(model: &PackedModel, values: &[f32], lines: &[String]) {
    let mut predictor = model.predictor();
    let (sums, classes) = (predictor.sums(values).unwrap(), predictor.classes(values).unwrap());
    let per_row = sums.len() / classes.len();
    assert_eq!(lines.len(), classes.len(), "a line for each row");
    for (row, line) in lines.iter().enumerate() {
        let integers = line.rsplit_once(';').map_or(line.as_str(), |(integers, _)| integers);
        let found: Vec<i64> = integers.split([' ', ';']).map(|number| number.parse().unwrap()).collect();
        let expected = std::iter::once(classes[row] as i64).chain(sums[row * per_row..][..per_row].iter().map(|&sum| sum.into()));
        assert_eq!(found, expected.collect::<Vec<_>>(), "row {row} of {:?}", model.sizes());
    }
}

#[test]
fn c_predicts_real_rows_as_the_predictor_does() {
    if !cc_knows("-std=c99") {
        return;
    }
    let directory = directory("tables-c");
    for (index, (model, _, values)) in tables().iter().enumerate() {
        let name = format!("table_{index}");
        let program = compile(&directory, &name, &model.to_c(&name).unwrap(), &format!("-std=c99 -O2 -DTABLE_{index}_MAIN"));
        let lines: Vec<String> = run(&program, Values::from(values)).lines().map(str::to_owned).collect();
        assert_same(model, values, &lines);
    }
}

#[test]
fn c_has_the_names_of_the_classes() {
    if !cc_knows("-std=c99") {
        return;
    }
    let (model, _, _) = table(1, &[5, 17, 3], 8);
    let names = ["plain", "a \"quoted\" \\ ??/ name", "Größe\n9"];
    let code = model.with_class_names(names).unwrap().to_c("net").unwrap();
    let main = "#include <stdio.h>\nint main(void)\n{\n    uint32_t i;\n    for (i = 0; i < NET_CLASSES; i++) printf(\"%s;\", net_class_names[i]);\n    return 0;\n}\n";
    let program = compile(&directory("tables-c"), "names", &(code + main), "-std=c99");
    assert_eq!(run(&program, Values::Bytes(&[])), names.map(|name| format!("{name};")).concat());
}

#[test]
fn onnxruntime_predicts_real_rows_as_the_predictor_does() {
    let tables = tables();
    let cases: Vec<_> = tables.iter().map(|(model, _, values)| (model, Values::from(values))).collect();
    let Some(lines) = onnxruntime(&directory("tables-onnx"), &cases) else { return };
    for ((model, _, values), lines) in tables.iter().zip(lines) {
        assert_same(model, values, &lines);
    }
}

#[test]
fn inputs_of_the_wrong_kind_are_refused() {
    let (reals, bytes, values) = table(1, &[5, 17, 3], 4);
    let error = reals.predictor().sums(&[0_u8; 5]).unwrap_err().to_string();
    assert!(error.contains("takes real numbers"), "{error}");
    let error = bytes.predictor().sums(&values).unwrap_err().to_string();
    assert!(error.contains("takes bytes"), "{error}");
    let error = reals.predictor().predict(&values[..7]).unwrap_err().to_string();
    assert_eq!(error, "7 values do not make whole rows of 5");
    let mut damaged = values.clone();
    damaged[5 * 60 + 2] = f32::NAN;
    for threads in [1, 4] {
        let error = reals.predictor().sums_on(&damaged, threads).unwrap_err();
        assert_eq!(error.to_string(), "missing value (NaN) in row 60, column 2");
        assert!(matches!(error, Error::NotFinite { row: 60, column: 2, .. }));
    }
    assert!(reals.predictor().predict(&[0.0; 0]).unwrap().is_empty());
}

#[test]
fn what_does_not_fit_the_model_is_refused() {
    let (_, model, _) = table(1, &[6, 17, 3], 5);
    let quantiser = |columns: usize| Quantiser::new(vec![0.0; columns], vec![1.0; columns]).unwrap();
    assert!(model.clone().with_quantiser(quantiser(5)).is_err());
    assert!(model.clone().with_class_names(["a", "b"]).is_err());
    assert!(model.clone().with_class_names(["a", "b", "a"]).unwrap_err().to_string().contains("\"a\""));
    assert!(model.clone().with_image(2, 4).is_err());
    assert!(model.clone().with_image(usize::MAX, 6).is_err());
    let model = model.with_quantiser(quantiser(6)).unwrap().with_image(2, 3).unwrap().with_class_names(["a", "b", "c"]).unwrap();
    assert_eq!((model.image(), model.class_names().map(<[_]>::len)), (Some((2, 3)), Some(3)));
    let names: Arc<[String]> = ["a", "b"].map(String::from).into();
    use isinglass_bits::Prediction;
    assert!(Prediction::new(vec![0], vec![0.5; 3], 2, None).is_err());
    assert!(Prediction::new(vec![2], vec![0.5; 2], 2, None).is_err());
    assert!(Prediction::new(vec![0], vec![0.3; 3], 3, Some(names)).is_err());
}
