//! `isinglass simulate`, as a user runs it.

mod common;

use common::Scratch;
use serde_json::Value;

const SMALL: &str = "--width 120 --realisations 12 --depth 6 --map-points 5";

fn json(args: &str) -> Value {
    Scratch::new("simulate").json(&format!("simulate {args} {SMALL}"))
}

#[test]
fn json_has_the_keys_of_its_contract() {
    let result = json("--neuron sign --sigma-m2 0.2,0.9 --sigma-b2 0.01 --q-b 2 --c 0.3");
    for (key, value) in [("width", 120), ("narrow_width", 30), ("realisations", 12), ("depth", 6), ("seed", 1)] {
        assert_eq!(result[key], value, "{key}");
    }
    assert_eq!((&result["model"], &result["neuron"]), (&Value::from("deterministic"), &Value::from("sign")));
    assert_eq!((result["q_a"].as_f64(), result["q_b"].as_f64(), result["c"].as_f64()), (Some(1.0), Some(2.0), Some(0.3)));
    let networks = result["networks"].as_array().unwrap();
    assert_eq!(networks.len(), 2);
    for (network, sigma_m2) in networks.iter().zip([0.2, 0.9]) {
        assert_eq!(network["sigma_m2"].as_f64(), Some(sigma_m2));
        assert_eq!(network["agrees"], true, "{}", network["verdict"]);
        for key in ["sigma_b2", "q_star", "deviation", "verdict"] {
            assert!(!network[key].is_null(), "{key}");
        }
        let list = |key: &str| network[key].as_array().unwrap_or_else(|| panic!("{key}"));
        assert_eq!((list("layers").len(), list("map").len(), list("jacobians").len()), (7, 5, 6));
        let quantities: Vec<&str> = list("overall").iter().map(|row| row["quantity"].as_str().unwrap()).collect();
        assert_eq!(quantities, ["q_aa", "q_bb", "q_ab", "c", "map", "jacobian", "outlier_gain", "gradient_fixed"]);
        let has = |record: &Value, key: &str| {
            for end in ["", "_sd", "_theory", "_deviation", "_step"] {
                assert!(record[format!("{key}{end}")].is_f64(), "{key}{end} of {record}");
            }
        };
        ["q_aa", "q_bb", "q_ab", "c"].iter().for_each(|key| has(&list("layers")[3], key));
        has(&list("map")[1], "c_out");
        ["jacobian", "outlier_gain", "gradient", "gradient_fixed"].iter().for_each(|key| has(&list("jacobians")[2], key));
        assert!(list("jacobians")[2]["outlier_theory"].as_f64().unwrap() > 0.0);
        // Layer 0 is the start, to which no step leads.
        assert!(list("layers")[0]["q_aa_step"].is_null());
        assert_eq!(list("layers")[0]["q_bb_theory"].as_f64(), Some(2.0));
    }
}

#[test]
fn the_theory_beside_it_is_that_of_the_other_commands() {
    let scratch = Scratch::new("simulate");
    let theory = scratch.json("theory trajectory --model lrt-continuous --neuron tanh --sigma-m2 0.8 --sigma-b2 0.05 --depth 6 --c 0.3");
    let result = json("--model lrt-continuous --neuron tanh --sigma-m2 0.8 --sigma-b2 0.05 --c 0.3");
    for (simulated, layer) in result["networks"][0]["layers"].as_array().unwrap().iter().zip(theory["layers"].as_array().unwrap()) {
        assert_eq!(simulated["q_aa_theory"], layer["q_a"]);
        let c = |value: &Value| value.as_f64().unwrap();
        assert!((c(&simulated["c_theory"]) - c(&layer["c"])).abs() < 1e-15);
    }
    let map = scratch.json("theory map --model lrt-continuous --neuron tanh --sigma-m2 0.8 --sigma-b2 0.05 --points 5");
    for (simulated, point) in result["networks"][0]["map"].as_array().unwrap().iter().zip(map["map"].as_array().unwrap()) {
        assert_eq!(simulated["c_in"], point["c_in"]);
        assert!((simulated["c_out_theory"].as_f64().unwrap() - point["c_out"].as_f64().unwrap()).abs() < 1e-15);
    }
}

#[test]
fn every_model_can_be_simulated() {
    for args in [
        "--model continuous --neuron tanh --sigma-w2 1.5",
        "--model continuous --neuron relu --sigma-w2 2",
        "--model deterministic --neuron probit:0.5 --sigma-m2 0.9",
        "--model lrt-binary --neuron sign --sigma-m2 0.9",
        "--model lrt-binary --neuron logistic --sigma-m2 0.9",
        "--model lrt-continuous --neuron tanh --sigma-m2 1",
        "--model binary",
        "--model stochastic-binary --neuron tanh",
        "--model stochastic-weights --neuron erf:0.8",
        "--model stochastic-neurons --neuron tanh --sigma-w2 0.5",
    ] {
        let result = json(&format!("{args} --sigma-b2 0.05"));
        assert_eq!(result["networks"][0]["agrees"], true, "{args}: {}", result["networks"][0]["verdict"]);
    }
    // Where signals die out, and where nothing is random.
    assert_eq!(json("--neuron sign --sigma-m2 0.5")["networks"][0]["agrees"], true);
    let still = json("--neuron sign --sigma-m2 0");
    assert_eq!(still["networks"][0]["layers"][1]["q_aa"].as_f64(), Some(0.0));
    assert!(still["networks"][0]["layers"][1]["c"].is_null());
    // Nothing compared is nothing agreed upon.
    assert!(still["networks"][0]["agrees"].is_null(), "{}", still["networks"][0]["verdict"]);
    // No gradient goes through a step.
    assert_eq!(json("--model binary --sigma-b2 0.1")["networks"][0]["jacobians"].as_array().unwrap().len(), 0);
}

#[test]
fn equal_seeds_give_equal_bytes_for_any_number_of_threads() {
    let scratch = Scratch::new("simulate");
    let run = |rest: &str, picture: &str| {
        let text = scratch.succeeds(&format!("simulate --sigma-m2 0.5,0.9 --sigma-b2 0.01 {SMALL} --format json --plot {picture} {rest}"));
        (text, std::fs::read(scratch.path(picture)).unwrap())
    };
    let one = run("--threads 1", "a.svg");
    assert_eq!(one, run("--threads 3", "b.svg"));
    assert_ne!(one.0, run("--seed 2", "c.svg").0);
    let svg = String::from_utf8(one.1).unwrap();
    for text in ["(a) variance", "(b) correlation", "(c) correlation map", "N = 120"] {
        assert!(svg.contains(text), "{text}");
    }
}

#[test]
fn rows_choose_what_table_and_csv_show() {
    let scratch = Scratch::new("simulate");
    for (rows, lines, start) in [
        ("layers", 15, "sigma_m2,sigma_b2,layer,q_aa,q_aa_sd,q_aa_theory,q_aa_deviation,q_aa_step,"),
        ("map", 11, "sigma_m2,sigma_b2,c_in,c_out,c_out_sd,"),
        ("jacobians", 13, "sigma_m2,sigma_b2,layer,jacobian,"),
        ("overall", 17, "sigma_m2,sigma_b2,quantity,count,drift,scatter,largest,largest_at"),
    ] {
        let csv = scratch.succeeds(&format!("simulate --sigma-m2 0.5,0.9 --sigma-b2 0.01 {SMALL} --rows {rows} --format csv"));
        assert_eq!(csv.lines().count(), lines, "{rows}");
        assert!(csv.starts_with(start), "{csv}");
    }
    let table = scratch.succeeds(&format!("simulate --sigma-m2 0.9 --sigma-b2 0.01 {SMALL}"));
    assert!(table.contains("the theory agrees with the simulation"), "{table}");
    let few = scratch.succeeds("simulate --sigma-m2 0.9 --width 20 --realisations 2 --depth 2 --map-points 0 --no-gradients");
    assert!(few.contains("at least 10 realisations"), "{few}");
}

#[test]
fn bad_input_ends_with_one_sentence() {
    let scratch = Scratch::new("simulate");
    for (args, part) in [
        ("--sigma-m2 0.5,1.2", "σ_m² = 1.2: the variance of means in [-1, 1] cannot exceed 1"),
        ("--sigma-m2 0.5 --width 0", "width = 0: at least 2"),
        ("--sigma-m2 0.5 --realisations 0", "realisations = 0: at least 2"),
        ("--sigma-m2 0.5 --realisations 1", "realisations = 1: at least 2"),
        ("--sigma-m2 0.5 --depth 0", "depth = 0: at least 1"),
        ("--sigma-m2 0.5 --depth -3", "-3"),
        ("--sigma-m2 0.5 --width 10000000", "width = 10000000: at most"),
        ("--sigma-m2 0.5 --q-a -1", "q_a = -1"),
        ("--sigma-m2 0.5 --c 1.5", "c = 1.5"),
        ("--sigma-m2 0.5 --map-points 1", "--map-points 1"),
        ("--sigma-m2 0.5 --plot fig.pdf", "fig.pdf"),
        ("", "--sigma-m2"),
        ("--sigma-w2 1", "--sigma-m2"),
        ("--model binary --sigma-m2 0.5", "takes neither"),
        ("--model binary --neuron tanh", "cannot have neuron tanh:1"),
        ("--model nothing --sigma-m2 0.5", "unknown model"),
    ] {
        let message = scratch.fails(&format!("simulate {args}"), 2);
        assert!(message.contains(part), "{args}: {message}");
    }
    assert_eq!(scratch.entries(), 0);
}
