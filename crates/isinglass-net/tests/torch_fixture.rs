//! Losses and gradients of the plain f64 network, as a file that the Python package's PyTorch modules are tested with.
//!
//! `ISINGLASS_BLESS=1 cargo test -p isinglass-net --test torch_fixture` writes `crates/isinglass-py/tests/fixtures/torch_reference.json` anew.
//! Numbers have all the digits of an f64. `means[layer][out][in]`, `bias[layer][out]`, `inputs[sample][pixel]`, `noise[layer][unit][sample]`.

mod support;

use std::path::PathBuf;

use serde_json::{Value, json};
use support::random::Random;
use support::reference::{Activation, Batch, Layer, Network, Surrogate};

/// The largest difference that another platform's libm may cause, of the largest number in an array.
const TOLERANCE: f64 = 1e-13;
/// Inputs, three hidden layers of which the last receives a field, classes.
const WIDTHS: [usize; 5] = [5, 4, 4, 4, 3];
const SAMPLES: usize = 6;

/// Every surrogate with every neuron that it takes, by the engine's names.
fn cases() -> Vec<(&'static str, &'static str, Surrogate)> {
    use Activation::{Erf, Tanh};
    let mut cases = vec![
        ("deterministic", "sign", Surrogate::sign()),
        ("deterministic", "probit:0.7", Surrogate::probit(0.7)),
        ("deterministic", "logistic:0.8", Surrogate::logistic(0.8)),
        ("deterministic", "erf:0.9", Surrogate::scaled(Erf(0.9))),
        ("deterministic", "tanh:1.3", Surrogate::scaled(Tanh(1.3))),
        ("ste", "sign", Surrogate::Ste),
    ];
    let probit = 1.0 / (0.7 * 2f64.sqrt());
    for (neuron, activation) in
        [("probit:0.7", Erf(probit)), ("logistic:0.8", Tanh(1.0 / 0.8)), ("erf:0.9", Erf(0.9)), ("tanh:1.3", Tanh(1.3))]
    {
        cases.push(("lrt-binary", neuron, Surrogate::LrtBinary { activation }));
        cases.push(("lrt-continuous", neuron, Surrogate::LrtContinuous { activation }));
        cases.push(("continuous", neuron, Surrogate::Continuous { activation }));
    }
    cases
}

fn layers(random: &mut Random, mut mean: impl FnMut(&mut Random) -> f64) -> Vec<Layer> {
    let layer =
        |w: &[usize]| Layer { means: random.matrix(w[1], w[0], &mut mean), bias: random.vector(w[1], |random| 0.3 * random.normal()) };
    WIDTHS.windows(2).map(layer).collect()
}

fn written(layers: &[Layer]) -> (Value, Value) {
    (layers.iter().map(|layer| json!(layer.means)).collect(), layers.iter().map(|layer| json!(layer.bias)).collect())
}

fn fixture() -> Value {
    let mut random = Random(20);
    let batch = Batch {
        inputs: random.matrix(SAMPLES, WIDTHS[0], Random::normal),
        labels: (0..SAMPLES).map(|sample| sample % WIDTHS[4]).collect(),
        noise: WIDTHS[1..].iter().map(|&width| random.matrix(width, SAMPLES, Random::normal)).collect(),
    };
    let networks = [
        ("bounded", layers(&mut random, |random| 0.95 * random.symmetric())),
        ("real", layers(&mut random, |random| 1.8 * random.symmetric())),
    ];
    // The scale is that of the inputs and of the first layer's biases.
    let gradients = |name: &'static str, surrogate: Surrogate, (carry, variance_gradient, tau, scale): (bool, bool, f64, f64)| {
        let mut layers = networks.iter().find(|(of, _)| *of == name).expect("one of the above").1.clone();
        layers[0].bias.iter_mut().for_each(|bias| *bias *= scale);
        let mut batch = batch.clone();
        batch.inputs.iter_mut().flatten().for_each(|x| *x *= scale);
        let network = Network { surrogate, layers, tau, floor: 1e-6, variance_gradient, carry };
        if scale < 1.0 {
            let floored = network.forward(&batch)[0].floored.concat();
            assert!(floored.contains(&true) && floored.contains(&false), "the floor should hold some variances and not others");
        }
        let found = network.gradients(&batch);
        let (means, bias) = written(&found.layers);
        json!({
            "network": name, "carry": carry, "variance_gradient": variance_gradient, "tau": tau, "scale": scale,
            "loss": found.loss, "means": means, "bias": bias,
        })
    };
    let mut written_cases = Vec::new();
    for (surrogate, neuron, reference) in cases() {
        let name = if surrogate == "continuous" { "real" } else { "bounded" };
        let mut add = |name, how| {
            let mut case = gradients(name, reference, how);
            (case["surrogate"], case["neuron"]) = (surrogate.into(), neuron.into());
            written_cases.push(case);
        };
        for carry in [false, true] {
            add(name, (carry, true, 1.0, 1.0));
        }
        if matches!(neuron, "sign" | "logistic:0.8") {
            add(name, (true, false, 1.0, 1.0));
            add(name, (false, true, 2.5, 1.0));
        }
        // Variances around the floor. The reference's is that of Σ, the engine's that of n² + sΣ: they are one where n = 0 and s = 1.
        if matches!((surrogate, neuron), ("deterministic", "sign" | "erf:0.9" | "tanh:1.3") | ("lrt-binary" | "lrt-continuous", "tanh:1.3"))
        {
            add(name, (false, true, 1.0, 1e-3));
        }
    }
    let networks: serde_json::Map<_, _> = networks
        .iter()
        .map(|(name, layers)| {
            let (means, bias) = written(layers);
            ((*name).to_owned(), json!({ "means": means, "bias": bias }))
        })
        .collect();
    json!({
        "widths": WIDTHS, "inputs": batch.inputs, "labels": batch.labels, "noise": batch.noise,
        "networks": networks, "cases": written_cases,
    })
}

/// One line for every case.
fn text(fixture: &Value) -> String {
    let Value::Object(fields) = fixture else { unreachable!("made above") };
    let lines = |value: &Value| match value {
        Value::Array(items) if items.iter().all(Value::is_object) => {
            format!("[\n  {}\n]", items.iter().map(Value::to_string).collect::<Vec<_>>().join(",\n  "))
        }
        value => value.to_string(),
    };
    let fields: Vec<_> = fields.iter().map(|(name, value)| format!("{name:?}: {}", lines(value))).collect();
    format!("{{\n{}\n}}\n", fields.join(",\n"))
}

/// Checks that two documents are equal up to rounding; the numbers of an array are rounded like its largest.
fn assert_close(found: &Value, expected: &Value, place: &str) {
    fn numbers(value: &Value) -> Option<Vec<f64>> {
        match value {
            Value::Number(number) => number.as_f64().map(|number| vec![number]),
            Value::Array(items) => items.iter().map(numbers).collect::<Option<Vec<_>>>().map(|items| items.concat()),
            _ => None,
        }
    }
    if let (Some(found), Some(expected)) = (numbers(found), numbers(expected)) {
        let largest = expected.iter().fold(0f64, |largest, number| largest.max(number.abs()));
        assert_eq!(found.len(), expected.len(), "{place}");
        for (found, expected) in found.iter().zip(&expected) {
            assert!((found - expected).abs() <= TOLERANCE * largest, "{place}: {found} for {expected}");
        }
        return;
    }
    match (found, expected) {
        (Value::Array(found), Value::Array(expected)) if found.len() == expected.len() => {
            found
                .iter()
                .zip(expected)
                .enumerate()
                .for_each(|(i, (found, expected))| assert_close(found, expected, &format!("{place}[{i}]")));
        }
        (Value::Object(found), Value::Object(expected)) if found.keys().eq(expected.keys()) => {
            found.iter().for_each(|(key, found)| assert_close(found, &expected[key], &format!("{place}.{key}")));
        }
        (found, expected) => assert_eq!(found, expected, "{place}"),
    }
}

#[test]
fn the_file_for_pytorch_holds_the_reference() {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "..", "isinglass-py", "tests", "fixtures", "torch_reference.json"].iter().collect();
    let made = fixture();
    if std::env::var_os("ISINGLASS_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().expect("the path has a folder")).unwrap();
        std::fs::write(&path, text(&made)).unwrap();
    }
    let file = std::fs::read_to_string(&path).expect("the file is part of the repository; ISINGLASS_BLESS=1 writes it");
    assert_close(&serde_json::from_str(&file).unwrap(), &made, "fixture");
}
