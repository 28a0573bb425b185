//! Tables: columns of any scale are learned, and a packed network takes the real numbers themselves.

mod support;

use isinglass_net::{Examples, Features, Init, Network, TrainConfig, Trainer, Values};
use support::random::Random;

const COLUMNS: usize = 6;

/// Three classes in columns of scale 1e-6 to 1e6, one of which is constant and one of which has outliers.
fn table(count: usize, seed: u64) -> (Vec<f32>, Vec<u8>) {
    let mut random = Random(seed);
    let mut values = Vec::new();
    let mut labels = Vec::new();
    for row in 0..count {
        let class = row % 3;
        let mut at = |centre: f64, scale: f64, offset: f64| (offset + scale * (centre + 0.4 * random.normal())) as f32;
        let of = |one: usize| if class == one { 1.5 } else { -0.5 };
        values.extend([at(of(0), 1e-6, 0.0), at(of(1), 1e6, -3e6), 42.0, at(of(2), 1.0, 1000.0), at(0.0, 1e-3, 0.0), at(of(1), 50.0, 7.0)]);
        if row % 37 == 5 {
            // Far from the rest of its column.
            let end = values.len();
            values[end - 2] *= 1e5;
        }
        labels.push(class as u8);
    }
    (values, labels)
}

fn trained() -> Network {
    let (values, labels) = table(300, 1);
    let examples = Examples::new(&values, COLUMNS, &labels, 3).unwrap();
    let mut network = Network::builder(COLUMNS).hidden([65, 33]).classes(3).init(Init::Auto, 1).unwrap();
    network.set_class_names(Some(["setosa", "versicolor", "virginica"].map(String::from).to_vec())).unwrap();
    let config = TrainConfig { epochs: 30, batch: 32, ..TrainConfig::default() };
    Trainer::new(network, config, &examples).unwrap().with_threads(2).run(|_| ()).unwrap()
}

#[test]
fn columns_of_any_scale_are_learned_and_packed() {
    let network = trained();
    assert!(network.input().quantiser().is_some(), "floats are tables unless someone says otherwise");
    let (values, labels) = table(300, 2);
    let examples = Examples::new(&values, COLUMNS, &labels, 3).unwrap();
    for counterpart in [network.surrogate(), network.binary()] {
        let accuracy = counterpart.score(&examples, None).unwrap().accuracy;
        assert!(accuracy > 0.95, "{accuracy}");
    }

    let path = support::files::directory("tables").join("model.safetensors");
    network.binary().pack().unwrap().save(&path).unwrap();
    let model = isinglass_bits::PackedModel::load(&path).unwrap();
    let (packed, own) = (model.predictor().predict(&values[..]).unwrap(), network.binary().predict(&values).unwrap());
    assert_eq!(packed, own); // classes, probabilities and names
    assert_eq!(model.predictor().sums(&values[..]).unwrap(), network.binary().in_floats().sums(&values).unwrap());
    assert_eq!(model.class_names().unwrap(), ["setosa", "versicolor", "virginica"]);
    assert_eq!(packed.name(0), Some(["setosa", "versicolor", "virginica"][own.classes()[0]]));

    let ensemble = network.sampled(1).pack().unwrap();
    assert_eq!(ensemble.class_names().unwrap().len(), 3);
    assert_eq!(ensemble.predictor().predict(&values[..]).unwrap(), network.sampled(1).predict(&values).unwrap());
}

#[test]
fn a_single_scale_fails_on_this_table() {
    let (values, labels) = table(300, 1);
    let examples = Examples::new(&values, COLUMNS, &labels, 3).unwrap();
    let network = Network::builder(COLUMNS).hidden([65, 33]).classes(3).init(Init::Auto, 1).unwrap();
    let config = TrainConfig { epochs: 30, batch: 32, ..TrainConfig::default() };
    let network = Trainer::with_features(network, config, &examples, Features::Image).unwrap().run(|_| ()).unwrap();
    let accuracy = network.surrogate().score(&examples, None).unwrap().accuracy;
    assert!(accuracy < 0.9, "{accuracy}: the table is too easy to test anything");
}

#[test]
fn training_sees_the_quantised_values() {
    let network = trained();
    let (values, _) = table(100, 3);
    let quantiser = network.input().quantiser().unwrap();
    let bytes = quantiser.quantise(&values).unwrap();
    let inputs = network.input().inputs(Values::Floats(&values), COLUMNS).unwrap();
    let expected: Vec<f32> = bytes.iter().map(|&byte| network.input().preprocessing().apply(f32::from(byte))).collect();
    assert_eq!(inputs, expected);
    // A column that was constant in training is ignored.
    let mut other = values.clone();
    other.iter_mut().skip(2).step_by(COLUMNS).for_each(|value| *value = -1e9);
    assert_eq!(network.surrogate().predict(&other).unwrap(), network.surrogate().predict(&values).unwrap());
    // Values beyond the range seen in training are clipped to its ends.
    let beyond = |value: f32| {
        let mut row = values[..COLUMNS].to_vec();
        row[1] = value;
        network.surrogate().predict(&row).unwrap()
    };
    assert_eq!(beyond(1e12), beyond(1e30));
    assert_eq!(beyond(-1e12), beyond(f32::MIN));
    assert_ne!(beyond(1e12), beyond(-1e12));
}

#[test]
fn errors_name_row_and_column_of_missing_values() {
    let (mut values, labels) = table(30, 1);
    values[4 * COLUMNS + 3] = f32::NAN;
    let message = Examples::new(&values, COLUMNS, &labels, 3).unwrap_err().to_string();
    assert!(message.contains("row 4, column 3"), "{message}");
    let network = trained();
    let message = network.binary().predict(&values).unwrap_err().to_string();
    assert!(message.contains("row 4, column 3"), "{message}");
}
