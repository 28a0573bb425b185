//! `isinglass theory`, run as a user runs it: what it answers.

mod common;

use common::Scratch;
use serde_json::Value;

/// One command in a directory of its own.
#[track_caller]
fn succeeds(args: &str) -> String {
    Scratch::new("theory").succeeds(args)
}

#[track_caller]
fn json(args: &str) -> Value {
    Scratch::new("theory").json(args)
}

#[track_caller]
fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_else(|| panic!("{key} of {value}"))
}

#[track_caller]
fn close(value: f64, expected: f64) {
    assert!((value / expected - 1.0).abs() < 1e-12, "{value} is not {expected}");
}

#[test]
fn point_prints_all_the_keys_of_its_contract() {
    let point = json("theory point --model deterministic --neuron sign --sigma-m2 0.9 --sigma-b2 0.001");
    for key in
        ["model", "neuron", "sigma_m2", "sigma_b2", "q_star", "c_star", "chi_1", "chi", "xi_1", "xi_q", "xi_c", "dq", "phase", "verdict"]
    {
        assert!(!point[key].is_null(), "{key} of {point}");
    }
    assert_eq!(point["model"], "deterministic");
    assert_eq!(point["neuron"], "sign");
    assert_eq!(point["phase"], "ordered");
    assert_eq!(number(&point, "c_star"), 1.0);
    // ξ = −1/ln χ, and ξ_q = ξ_1 for the sign neuron.
    close(number(&point, "xi_1"), -1.0 / number(&point, "chi_1").ln());
    close(number(&point, "xi_q"), number(&point, "xi_1"));
    assert!(point["verdict"].as_str().unwrap().contains("No critical initialisation exists"));

    let continuous = json("theory point --model continuous --neuron tanh --sigma-w2 1.5 --sigma-b2 0.1");
    assert_eq!(number(&continuous, "sigma_w2"), 1.5);
    assert!(continuous.get("sigma_m2").is_none());
    assert_eq!(continuous["neuron"], "tanh:1");
}

#[test]
fn point_leaves_out_what_does_not_exist_and_says_why() {
    let cases: [(&str, &[&str], &str); 7] = [
        ("--neuron sign --sigma-m2 0.9", &["c_star", "chi", "xi_c"], "freezes"),
        ("--neuron tanh --sigma-m2 1", &["c_star", "chi", "xi_c", "xi_1", "xi_q"], "ξ₁, ξ_q diverge"),
        ("--model binary --sigma-b2 0.1", &["chi_1", "xi_1"], "infinite"),
        ("--model continuous --neuron relu --sigma-w2 2", &["q_star", "xi_1", "xi_q", "xi_c"], "Every variance is kept"),
        ("--model continuous --neuron relu --sigma-w2 3", &["q_star", "c_star", "chi", "xi_c", "xi_q", "dq"], "without limit"),
        ("--model continuous --neuron linear --sigma-w2 1 --sigma-b2 0.1", &["q_star"], "without limit"),
        ("--model continuous --neuron linear --sigma-w2 0.5", &["c_star", "chi", "xi_c"], "freezes"),
    ];
    for (args, missing, reason) in cases {
        let point = json(&format!("theory point {args}"));
        for key in missing {
            assert!(point[key].is_null(), "{args}: {key} of {point}");
        }
        assert!(point["verdict"].as_str().unwrap().contains(reason), "{args}: {}", point["verdict"]);
    }
    let chi_1 = |args: &str| number(&json(&format!("theory point {args}")), "chi_1");
    close(chi_1("--neuron sign --sigma-m2 0.9"), 0.9 * std::f64::consts::FRAC_2_PI);
    assert_eq!(chi_1("--model continuous --neuron relu --sigma-w2 2"), 1.0);
    assert_eq!(chi_1("--model continuous --neuron relu --sigma-w2 3"), 1.5);
}

#[test]
fn point_names_the_phase() {
    for (args, phase) in [
        ("--neuron erf:1 --sigma-m2 0.5", "ordered"),
        ("--neuron erf:1 --sigma-m2 0.95", "chaotic"),
        ("--neuron tanh --sigma-m2 1", "critical"),
        ("--model lrt-binary --neuron tanh --sigma-m2 1", "noise-limited"),
        ("--model lrt-continuous --neuron tanh --sigma-m2 0.99", "noise-limited"),
        ("--model lrt-continuous --neuron tanh --sigma-m2 1", "critical"),
        ("--model stochastic-neurons --neuron tanh --sigma-w2 2", "noise-limited"),
        ("--model stochastic-binary --neuron probit:1", "noise-limited"),
        ("--model stochastic-weights --neuron tanh:2", "chaotic"),
        ("--model binary", "chaotic"),
        ("--model continuous --neuron relu --sigma-w2 2", "critical"),
    ] {
        assert_eq!(json(&format!("theory point {args}"))["phase"], phase, "{args}");
    }
    for (args, words) in [
        ("--model lrt-binary --neuron tanh --sigma-m2 1 --sigma-b2 0.1", "separates even equal signals, until their correlation is 0."),
        ("--model binary --sigma-b2 1e5", "until their correlation is 1 − 8.1"),
        ("--model continuous --neuron relu --sigma-w2 3 --sigma-b2 0.1", "the signal and its gradient grow without limit"),
        ("--model continuous --neuron relu --sigma-w2 2 --sigma-b2 0.1", "that keeps the variance is (σ_w², σ_b²) = (2, 0)"),
        ("--model stochastic-neurons --neuron tanh --sigma-w2 2", "the best without exploding gradients (χ₁ = 1)"),
    ] {
        let verdict = json(&format!("theory point {args}"))["verdict"].as_str().unwrap().to_owned();
        assert!(verdict.contains(words), "{args}: {verdict}");
    }
    // Neurons without dependence on q: dq = 0 and ξ_q = 0.
    let lrt = json("theory point --model lrt-binary --neuron tanh --sigma-m2 0.9");
    assert_eq!((number(&lrt, "dq"), number(&lrt, "xi_q"), number(&lrt, "q_star")), (0.0, 0.0, 1.0));
}

#[test]
fn trajectory_gives_every_layer() {
    let args = "theory trajectory --model lrt-continuous --neuron tanh --sigma-m2 0.99 --depth 60 --q-a 1 --q-b 1 --c 0.5";
    let layers = json(args)["layers"].as_array().unwrap().clone();
    assert_eq!(layers.len(), 61);
    for (i, layer) in layers.iter().enumerate() {
        assert_eq!(layer["layer"], i);
        assert!(number(layer, "q_a") == number(layer, "q_b") && number(layer, "c") <= 0.5);
    }
    let csv = succeeds(&format!("{args} --format csv"));
    assert_eq!(csv.lines().next(), Some("layer,q_a,q_b,c,one_minus_c"));
    assert_eq!(csv.lines().count(), 62);
}

#[test]
fn trajectory_starts_from_inputs_by_their_own_rule() {
    let layers =
        json("theory trajectory --neuron probit:2 --sigma-m2 0.8 --sigma-b2 0.05 --depth 3 --input-variance 0.1 --c 0.25")["layers"]
            .clone();
    assert_eq!(number(&layers[0], "q_a"), 0.1);
    // (σ_m² q⁰ + σ_b²)/(α² + (1 − σ_m²) q⁰)
    close(number(&layers[1], "q_a"), (0.8 * 0.1 + 0.05) / (4.0 + 0.2 * 0.1));
    close(number(&layers[1], "c"), (0.8 * 0.1 * 0.25 + 0.05) / (0.8 * 0.1 + 0.05));
    let two =
        json("theory trajectory --model lrt-binary --neuron tanh --sigma-m2 0.8 --depth 1 --input-variance 0.1,0.4")["layers"].clone();
    close(number(&two[1], "q_b"), 0.4);
}

#[test]
fn trajectory_follows_signals_closer_than_rounding() {
    let layers = json("theory trajectory --neuron erf:1 --sigma-m2 0.9 --sigma-b2 0.01 --depth 5 --q-a 0.5 --q-b 0.5 --one-minus-c 1e-20")
        ["layers"]
        .clone();
    assert_eq!(number(&layers[5], "c"), 1.0);
    let last = number(&layers[5], "one_minus_c");
    assert!(last > 1e-21 && last < 1e-19, "{last}");
}

#[test]
fn map_keeps_the_diagonal_where_equal_signals_stay_equal() {
    let map = json("theory map --neuron sign --sigma-m2 0.99 --sigma-b2 0.001");
    let rows = map["map"].as_array().unwrap();
    assert_eq!(rows.len(), 21);
    assert_eq!((number(&rows[20], "c_in"), number(&rows[20], "c_out")), (1.0, 1.0));
    assert!(number(&map, "q_star") > 0.0);
    let csv = succeeds("theory map --model binary --c -0.5,0,0.5 --format csv");
    let last: Vec<f64> = csv.lines().last().unwrap().split(',').map(|field| field.parse().unwrap()).collect();
    close(last[1], 1.0 / 3.0);
    let diverging = json("theory map --model continuous --neuron relu --sigma-w2 3 --sigma-b2 0.1");
    assert_eq!(number(&diverging, "sigma_b2"), 0.1);
    // A dying signal keeps its correlation.
    let frozen = json("theory map --neuron sign --sigma-m2 0.5 --c 0.3");
    close(number(&frozen["map"][0], "c_out"), 0.3);
}

#[test]
fn critical_line_reaches_down_to_the_smallest_biases_and_says_what_is_allowed() {
    let line = json("theory critical-line --model deterministic --neuron probit:1");
    assert_eq!(line["reachable"], false);
    close(number(&line["start"], "sigma_m2"), std::f64::consts::PI);
    let first = &line["points"][0];
    // probit:1 is sign at half the variances: σ_b² = 2 (π/2)(2/π) t³/3 with t ≈ q, to leading order.
    let q = number(first, "q");
    assert!(number(first, "sigma_b2") < 1e-30 && (number(first, "sigma_b2") / (2.0 * q.powi(3) / 3.0) - 1.0).abs() < 1e-8, "{first}");
    assert!(line["points"].as_array().unwrap().iter().all(|point| point["allowed"] == false));
    assert!(line["verdict"].as_str().unwrap().contains("never enters σ_m² ≤ 1"));

    // tanh:1.1 starts inside and leaves: the end of the allowed part is at σ_m² = 1.
    let line = json("theory critical-line --neuron tanh:1.1");
    close(number(&line["allowed"][0]["to"], "sigma_m2"), 1.0);
    close(number(&line["allowed"][0]["from"], "sigma_m2"), 1.0 / 1.21);
    // What `allowed` says agrees with the verdict, however little the line has left the limit.
    let start = json("theory critical-line --neuron tanh --q 1e-30:1e-20 --points 3");
    assert!(start["points"].as_array().unwrap().iter().all(|point| point["allowed"] == false), "{start}");
    let unit = json("theory critical-line --neuron tanh");
    assert!(unit["verdict"].as_str().unwrap().contains("only its start"));
    let point = json("theory critical-line --model lrt-continuous --neuron tanh:1.5");
    assert!((number(&point["points"][0], "sigma_b2") - 0.08273).abs() < 1e-5);
    let none = json("theory critical-line --model lrt-binary --neuron tanh");
    assert_eq!(none["points"].as_array().unwrap().len(), 0);
    assert_eq!(succeeds("theory critical-line --model lrt-binary --neuron tanh --format csv"), "q,sigma_m2,sigma_b2,allowed\n");
}

#[test]
fn points_of_the_critical_line_are_critical() {
    let csv = succeeds("theory critical-line --model continuous --neuron tanh --q 1e-4:10 --points 4 --format csv");
    for line in csv.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let point = json(&format!("theory point --model continuous --neuron tanh --sigma-w2 {} --sigma-b2 {}", fields[1], fields[2]));
        assert_eq!(point["phase"], "critical", "{line}");
    }
}

#[test]
fn phase_diagram_has_one_row_per_point_whatever_the_number_of_threads() {
    let args = "theory phase-diagram --model deterministic --neuron erf:1 --grid 30x20 --x 0:1.2 --y 0:0.2 --format csv";
    let csv = succeeds(args);
    assert_eq!(csv.lines().next(), Some("sigma_m2,sigma_b2,q_star,chi_1,phase"));
    assert_eq!(csv.lines().count(), 601);
    assert_eq!(csv, succeeds(&format!("{args} --threads 1")));
    assert_eq!(csv, succeeds(&format!("{args} --threads 7")));
    // Beyond σ_m² = 1 there is nothing to compute.
    let last = csv.lines().last().unwrap();
    assert!(last.starts_with("1.2,0.2,,,"), "{last}");
    // The whole default range of every model that has a plane.
    for model in ["continuous", "deterministic", "lrt-binary", "lrt-continuous", "stochastic-neurons"] {
        for neuron in ["sign", "probit:1", "tanh:1.5"] {
            let rows = succeeds(&format!("theory phase-diagram --model {model} --neuron {neuron} --quantity xi_c --grid 6x5 --format csv"));
            assert_eq!(rows.lines().count(), 31, "{model} {neuron}");
        }
    }
    let json = json("theory phase-diagram --model lrt-continuous --neuron tanh --grid 4x3 --quantity xi_c");
    assert_eq!(json["xi_c"].as_array().unwrap().len(), 3);
    assert_eq!(json["xi_c"][0].as_array().unwrap().len(), 4);
    assert_eq!(json["phase"][2][0], "noise-limited");
}

#[test]
fn phase_diagram_agrees_with_point() {
    let csv = succeeds("theory phase-diagram --model continuous --neuron tanh --grid 3x3 --x 1:3 --y 0:0.2 --quantity xi_c --format csv");
    for line in csv.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let point = json(&format!("theory point --model continuous --neuron tanh --sigma-w2 {} --sigma-b2 {}", fields[0], fields[1]));
        for (column, key) in [(2, "q_star"), (3, "chi_1"), (4, "xi_c")] {
            match (fields[column].parse::<f64>().ok(), point[key].as_f64()) {
                (Some(value), Some(expected)) if expected != 0.0 => close(value, expected),
                (value, expected) => assert_eq!(value, expected, "{key} of {line}"),
            }
        }
        assert_eq!(point["phase"], fields[5]);
    }
}

#[test]
fn advise_is_honest_about_the_sign_neuron() {
    let advice = json("theory advise --model deterministic --neuron sign --depth 40");
    assert_eq!(advice["critical_exists"], false);
    assert_eq!(number(&advice["best"], "sigma_m2"), 1.0);
    assert_eq!(number(&advice["best"], "sigma_b2"), 0.0);
    // What is left of a variance of 1 after 40 layers: a little less than (2/π)⁴⁰.
    let layers = json("theory trajectory --sigma-m2 1 --depth 40")["layers"].clone();
    close(number(&advice["best"], "signal"), number(&layers[40], "q_a"));
    let ratio = number(&advice["best"], "signal") / std::f64::consts::FRAC_2_PI.powi(40);
    assert!(ratio > 0.3 && ratio < 1.0, "{ratio}");
    assert!(advice["smallest"].is_null());
    assert!(advice["verdict"].as_str().unwrap().contains("No critical initialisation exists for sign"));
    // CSV has the same columns whether there is a smallest σ_m² or not.
    let header = |depth: usize| succeeds(&format!("theory advise --depth {depth} --format csv")).lines().next().unwrap().to_owned();
    assert_eq!(header(4), header(40));
    // A shallow one it can carry: χ₁ = exp(−3/depth) at the smallest σ_m².
    let shallow = json("theory advise --model deterministic --neuron sign --depth 4");
    close(number(&shallow["smallest"], "sigma_m2"), (-0.75f64).exp() / std::f64::consts::FRAC_2_PI);
}

#[test]
fn advise_finds_the_critical_point_where_there_is_one() {
    let advice = json("theory advise --neuron erf:1 --depth 40");
    assert_eq!(advice["critical_exists"], true);
    close(number(&advice["best"], "sigma_m2"), std::f64::consts::FRAC_PI_4);
    assert!(advice["max_depth"].is_null());
    close(number(&advice["smallest"], "sigma_m2"), std::f64::consts::FRAC_PI_4 * (-3.0f64 / 40.0).exp());
    let lrt = json("theory advise --model lrt-continuous --neuron tanh:1.5 --depth 10");
    assert!((number(&lrt["best"], "sigma_b2") - 0.08273).abs() < 1e-5);
    // What it suggests in place of the limit is above what it says is needed.
    let deep = json("theory advise --neuron tanh --depth 1000");
    assert!(
        deep["verdict"].as_str().unwrap().contains("is 0.9970. ") || deep["verdict"].as_str().unwrap().contains("is 0.997. "),
        "{deep}"
    );
    assert!(deep["verdict"].as_str().unwrap().contains("such as 0.9985"), "{deep}");
    for model in ["binary", "stochastic-binary", "stochastic-weights"] {
        let advice = json(&format!("theory advise --model {model} --neuron sign --depth 5"));
        assert_eq!(advice["critical_exists"], false, "{model}");
    }
    let gradients = json("theory advise --model stochastic-neurons --neuron tanh --depth 5");
    close(number(&gradients["best"], "chi_1"), 1.0);
}
