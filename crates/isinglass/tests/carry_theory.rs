//! `isinglass theory --carry` and `isinglass simulate --carry`, as a user runs them.

mod common;

use std::f64::consts::FRAC_2_PI;

use common::Scratch;
use serde_json::Value;

#[track_caller]
fn json(args: &str) -> Value {
    Scratch::new("carry").json(args)
}

#[track_caller]
fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_else(|| panic!("{key} of {value}"))
}

#[track_caller]
fn close(value: f64, expected: f64, tolerance: f64) {
    assert!((value / expected - 1.0).abs() < tolerance, "{value} is not {expected}");
}

#[test]
fn trajectory_carries_the_signal_through_fifty_nine_layers() {
    let result = json("theory trajectory --neuron sign --sigma-m2 0.3333333333333333 --depth 59 --carry");
    assert_eq!(result["carry"], true);
    let layers = result["layers"].as_array().unwrap();
    assert_eq!(layers.len(), 60);
    for (layer, q) in [(0, 1.0), (1, 0.588), (10, 0.146), (20, 0.0862), (59, 0.0369)] {
        close(number(&layers[layer], "q_a"), q, 4e-3);
    }
    assert!((number(&layers[59], "c") - 0.497).abs() < 5e-4);
    for (index, layer) in layers.iter().enumerate() {
        close(number(layer, "v_a") + number(layer, "spread_a"), 2.0 + index as f64, 1e-13);
    }
    // From inputs, the sum starts in the second layer.
    let inputs = "theory trajectory --neuron probit:2 --sigma-m2 0.8 --sigma-b2 0.05 --depth 4 --input-variance 0.1,0.3 --c 0.25";
    let (plain, carried) = (json(inputs), json(&format!("{inputs} --carry")));
    for layer in 0..=2 {
        for key in ["q_a", "q_b", "c"] {
            close(number(&carried["layers"][layer], key), number(&plain["layers"][layer], key), 1e-13);
        }
    }
    close(number(&carried["layers"][4], "v_b") + number(&carried["layers"][4], "spread_b"), 3.0, 1e-13);
    assert!(carried["layers"][0]["v_a"].is_null());
    let csv = Scratch::new("carry").succeeds("theory trajectory --model binary --depth 3 --carry --format csv");
    assert_eq!(csv.lines().next(), Some("layer,q_a,q_b,c,one_minus_c,v_a,v_b,spread_a,spread_b"));
}

#[test]
fn point_gives_exponents_in_place_of_depth_scales() {
    let sign = json("theory point --neuron sign --sigma-m2 0.9 --sigma-b2 0.1 --carry");
    assert_eq!((&sign["carry"], &sign["phase"]), (&Value::from(true), &Value::from("ordered")));
    assert_eq!(number(&sign, "q_star"), 0.0);
    close(number(&sign, "q_exponent"), 0.9 * FRAC_2_PI - 1.0, 1e-12);
    close(number(&sign, "gradient_depth_exponent"), 0.9 * FRAC_2_PI - 1.0, 1e-12);
    close(number(&sign, "gradient_layer_exponent"), -0.9 * FRAC_2_PI, 1e-12);
    assert!(sign["c_exponent"].is_null() && sign.get("xi_1").is_none());
    assert!(sign["verdict"].as_str().unwrap().contains("correlation freezes"), "{sign}");
    let binary = json("theory point --model binary --carry");
    close(number(&binary, "c_exponent"), FRAC_2_PI - 1.0, 1e-12);
    assert_eq!(number(&binary, "growth"), 1.0);
    assert!(binary["verdict"].as_str().unwrap().contains("No gradient goes through a step"), "{binary}");
    let lrt = json("theory point --model lrt-binary --neuron probit:1 --sigma-m2 0.6 --carry");
    close(number(&lrt, "c_exponent"), 0.6 * FRAC_2_PI - 1.0, 1e-12);
    // ρ = 2βσ_m² with β = 2a/π, a = 1/√2.
    close(number(&lrt, "gradient_root_rate"), 1.2 * FRAC_2_PI / 2f64.sqrt(), 1e-12);
    let chaotic = json("theory point --neuron erf:2 --sigma-m2 0.9 --carry");
    let plain = json("theory point --neuron erf:2 --sigma-m2 0.9");
    close(number(&chaotic, "q_star"), number(&plain, "q_star"), 1e-12);
    close(number(&chaotic, "c_exponent"), number(&plain, "chi") - 1.0, 1e-12);
}

#[test]
fn advise_says_whether_to_carry_and_what_is_left() {
    let deep = json("theory advise --neuron sign --depth 100 --carry");
    assert_eq!((&deep["carry"], &deep["reaches"]), (&Value::from("needed"), &Value::from(true)));
    let sigma_m2 = number(&deep["carried"], "sigma_m2");
    close(number(&deep["carried"], "signal"), (-3.0f64).exp(), 1e-6);
    let verdict = deep["verdict"].as_str().unwrap();
    assert!(verdict.starts_with("Depth 100: carry; σ_m² = 0."), "{verdict}");
    close(number(&deep, "plain_max_depth"), -3.0 / FRAC_2_PI.ln(), 1e-12);
    // What is left is what the trajectory has left.
    let given = json("theory advise --neuron sign --depth 100 --carry --sigma-m2 0.25 --reach 12");
    let layers = json("theory trajectory --neuron sign --sigma-m2 0.25 --depth 100 --carry")["layers"].clone();
    close(number(&given["carried"], "q"), number(&layers[100], "q_a"), 1e-12);
    assert!(sigma_m2 > 0.5 && number(&given["carried"], "sigma_m2") == 0.25);
    assert_eq!(json("theory advise --neuron sign --depth 4 --carry")["carry"], "helpful");
    assert_eq!(json("theory advise --model continuous --neuron tanh --depth 50 --carry")["carry"], "unneeded");
    assert_eq!(json("theory advise --model binary --depth 50 --carry")["carry"], "needed");
    assert_eq!(json("theory advise --hidden 64,64,64 --carry")["depth"], 3);
}

#[test]
fn phase_diagram_shows_what_is_left_at_a_depth() {
    let scratch = Scratch::new("carry");
    let args = "theory phase-diagram --neuron sign --carry --depth 30 --grid 5x3 --format csv";
    let csv = scratch.succeeds(args);
    assert_eq!(csv.lines().next(), Some("sigma_m2,sigma_b2,q,gradient"));
    assert_eq!(csv.lines().count(), 16);
    assert_eq!(csv, scratch.succeeds(&format!("{args} --threads 1")));
    let fields: Vec<f64> = csv.lines().nth(3).unwrap().split(',').map(|field| field.parse().unwrap()).collect();
    let advice = scratch.json("theory advise --neuron sign --depth 30 --carry --sigma-m2 0.5");
    close(fields[3], number(&advice["carried"], "gradient"), 1e-12);
    let signal = scratch.json("theory phase-diagram --neuron sign --carry --depth 30 --grid 5x3 --quantity signal");
    close(signal["signal"][0][2].as_f64().unwrap(), number(&advice["carried"], "signal"), 1e-12);
    let lrt = scratch.json("theory phase-diagram --model lrt-binary --neuron sign --carry --quantity signal --grid 3x3 --depth 10");
    assert_eq!(lrt["signal"].as_array().unwrap().len(), 3);
}

#[test]
fn what_has_no_answer_is_refused_with_a_reason() {
    let scratch = Scratch::new("carry");
    for (args, reason) in [
        ("theory map --sigma-m2 0.5 --carry", "differs from layer to layer"),
        ("theory critical-line --carry", "no critical line"),
        ("theory point --model continuous --neuron relu --sigma-w2 1 --carry", "no power laws"),
        ("theory advise --model continuous --neuron linear --depth 5 --carry", "no power laws"),
        ("theory point --model continuous --neuron tanh --sigma-w2 0 --carry", "σ_w² = 0"),
        ("theory phase-diagram --model binary --carry", "no plane"),
        ("theory phase-diagram --model lrt-binary --neuron sign --carry", "ask for the signal"),
        ("theory phase-diagram --carry --quantity xi_c", "--quantity gradient or signal"),
        ("theory phase-diagram --quantity signal", "add --carry"),
        ("theory phase-diagram --depth 10", "--carry"),
        ("theory advise --depth 10 --sigma-m2 0.3", "--carry"),
        ("theory advise --depth 10 --carry --sigma-m2 1.3", "cannot exceed 1"),
        ("theory advise --depth 10 --carry --sigma-w2 1", "takes no --sigma-w2"),
        ("theory advise --depth 0 --carry", "at least one layer"),
        ("theory advise --depth 1000000 --carry", "smaller depth"),
        ("theory trajectory --model continuous --neuron linear --sigma-w2 2 --depth 1100 --carry", "fewer layers"),
        ("theory trajectory --sigma-m2 0.9 --q-a -1 --carry", "q_a = -1"),
        ("simulate --sigma-m2 0.5 --carry --rows map", "no correlation map"),
    ] {
        let message = scratch.fails(args, 2);
        assert!(message.contains(reason), "{args}: {message}");
    }
    assert_eq!(scratch.entries(), 0);
}

#[test]
fn pictures_are_drawn() {
    let scratch = Scratch::new("carry");
    for (index, args) in [
        "theory trajectory --sigma-m2 0.333 --depth 20 --carry",
        "theory advise --depth 50 --carry",
        "theory advise --model binary --depth 50 --carry",
        "theory phase-diagram --carry --grid 6x5 --depth 20",
        "theory phase-diagram --carry --grid 6x5 --depth 20 --x 0:1.2 --quantity signal",
        "simulate --sigma-m2 0.3,0.6 --carry --width 40 --realisations 3 --depth 4",
        "simulate --model binary --carry --width 40 --realisations 3 --depth 4",
    ]
    .into_iter()
    .enumerate()
    {
        scratch.succeeds(&format!("{args} --plot {index}.svg"));
        assert!(scratch.text(&format!("{index}.svg")).starts_with("<svg"), "{args}");
    }
}

const SMALL: &str = "--width 160 --realisations 14 --depth 6 --carry";

#[test]
fn simulations_of_carried_fields_agree_with_the_theory() {
    for args in [
        "--neuron sign --sigma-m2 0.333",
        "--neuron logistic:0.5 --sigma-m2 0.8 --sigma-b2 0.05",
        "--model lrt-binary --neuron probit:1 --sigma-m2 0.6",
        "--model lrt-continuous --neuron tanh --sigma-m2 0.6 --sigma-b2 0.05",
        "--model continuous --neuron tanh --sigma-w2 0.5",
        "--model binary --sigma-b2 0.1",
        "--model stochastic-binary --neuron tanh",
    ] {
        let result = json(&format!("simulate {args} {SMALL}"));
        assert_eq!(result["carry"], true);
        let network = &result["networks"][0];
        assert_eq!(network["agrees"], true, "{args}: {}", network["verdict"]);
        assert!(network["verdict"].as_str().unwrap().contains("carried"), "{}", network["verdict"]);
        assert_eq!(network["map"].as_array().unwrap().len(), 0);
    }
}

#[test]
fn simulations_give_what_is_carried_and_the_way_back_through_it() {
    let scratch = Scratch::new("carry");
    let result = scratch.json(&format!("simulate --neuron sign --sigma-m2 0.5 --sigma-b2 0.02 --q-b 2 {SMALL}"));
    let theory = scratch.json("theory trajectory --neuron sign --sigma-m2 0.5 --sigma-b2 0.02 --q-b 2 --depth 6 --carry");
    let network = &result["networks"][0];
    assert_eq!(number(network, "q_star"), 0.0);
    for (simulated, layer) in network["layers"].as_array().unwrap().iter().zip(theory["layers"].as_array().unwrap()) {
        for (ours, theirs) in [("q_aa_theory", "q_a"), ("q_bb_theory", "q_b"), ("v_aa_theory", "v_a"), ("spread_theory", "spread_a")] {
            assert_eq!(simulated[ours], layer[theirs], "{ours}");
        }
    }
    for key in ["jacobian", "outlier_gain", "gradient", "gradient_fixed", "spread_gain", "spread_response"] {
        for end in ["", "_sd", "_theory", "_deviation", "_step"] {
            assert!(network["jacobians"][2][format!("{key}{end}")].is_f64(), "{key}{end}");
        }
    }
    assert!(network["jacobians"][2]["spread_gradient_theory"].as_f64().unwrap() > 0.0);
    let quantities: Vec<&str> = network["overall"].as_array().unwrap().iter().map(|row| row["quantity"].as_str().unwrap()).collect();
    let expected =
        ["q_aa", "q_bb", "q_ab", "c", "v_aa", "spread", "jacobian", "outlier_gain", "gradient_fixed", "spread_gain", "spread_response"];
    assert_eq!(quantities, expected);
    // Nothing of it without the flag.
    let plain = scratch.json("simulate --neuron sign --sigma-m2 0.5 --width 40 --realisations 3 --depth 2");
    assert!(plain.get("carry").is_none() && plain["networks"][0]["layers"][1].get("v_aa").is_none());
    assert!(plain["networks"][0]["jacobians"][0].get("spread_gain").is_none());
}
