//! `isinglass evaluate` and `isinglass inspect`, run as a user runs them.

mod common;

use std::fs;

use common::Scratch;
use serde_json::Value;

fn trained(name: &str, args: &str) -> Scratch {
    let home = Scratch::new(name);
    home.small_images();
    home.succeeds(&format!("train --data mnist --data-dir data --width 33 --epochs 2 --batch 32 --samples 2 --quiet --out a {args}"));
    home
}

fn keys(object: &Value) -> Vec<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn evaluate_has_the_three_networks_on_every_set() {
    let home = trained("evaluate", "--goal surrogate");
    let result = home.json("evaluate a --samples 2,30");
    assert_eq!(keys(&result), ["test", "train", "validation", "path"]);
    assert_eq!(result["path"], "a");
    for set in ["test", "train", "validation"] {
        assert_eq!(keys(&result[set]), ["surrogate", "binary", "stochastic"]);
        for score in [&result[set]["surrogate"], &result[set]["binary"]] {
            assert_eq!(keys(score), ["accuracy", "nll"]);
            assert!((0.0..=1.0).contains(&score["accuracy"].as_f64().unwrap()) && score["nll"].as_f64().unwrap() > 0.0);
        }
        let samples: Vec<u64> =
            result[set]["stochastic"].as_array().unwrap().iter().map(|score| score["samples"].as_u64().unwrap()).collect();
        assert_eq!(samples, [2, 30]);
    }
    // What the run reported: as many samples, the same seed.
    let reported = home.metrics("a").pop().unwrap();
    assert_eq!((&home.json("evaluate a")["test"], &result["train"]["binary"]), (&reported["test"], &reported["train"]["binary"]));
    assert_eq!(result["test"]["stochastic"][0], reported["test"]["stochastic"][0]);
    assert_ne!(home.json("evaluate a --seed 99")["test"]["stochastic"], reported["test"]["stochastic"]);
    assert_eq!(home.json("evaluate a --threads 1"), home.json("evaluate a --threads 3"));

    let table = home.succeeds("evaluate a --samples 5,10");
    assert!(table.contains("stochastic ×10") && table.contains(" %") && table.lines().count() == 5, "{table}");
    let csv = home.succeeds("evaluate a --format csv");
    assert_eq!(csv.lines().next(), Some("set,network,samples,accuracy,nll"));
    assert!(csv.lines().nth(3).unwrap().starts_with("test,stochastic,2,") && csv.lines().count() == 10, "{csv}");
}

#[test]
fn a_checkpoint_is_enough() {
    let home = trained("file", "");
    let scores = |command: &str| {
        let mut result = home.json(command);
        result.as_object_mut().unwrap().shift_remove("path").unwrap();
        result
    };
    let result = scores("evaluate a");
    assert_eq!(scores("evaluate a/last.safetensors"), result, "the run's settings lie beside it");
    fs::rename(home.path("a/last.safetensors"), home.path("alone.safetensors")).unwrap();
    assert!(home.fails("evaluate alone.safetensors", 2).contains("--data"));
    assert_eq!(scores("evaluate alone.safetensors --data mnist --data-dir data --samples 2"), result);
    assert!(home.fails("evaluate alone.safetensors --data digits", 2).contains("64 inputs"));
    assert!(home.fails("inspect alone.safetensors --data digits", 2).contains("784"));
    assert!(home.fails("evaluate alone.safetensors --data mnist --data-dir data --checkpoint best", 2).contains("--checkpoint"));

    home.json("evaluate a --checkpoint best");
    let message = home.fails("evaluate a", 2);
    assert!(message.contains("no last.safetensors") && message.contains("isinglass resume a"), "{message}");
    assert!(home.fails("evaluate nowhere", 2).contains("no such run"));
    assert!(home.fails("evaluate data", 2).contains("no run"));
    assert!(home.fails("evaluate a --samples 0", 2).contains("samples = 0"));
    assert!(home.fails("evaluate", 2).contains("DIR|FILE"));
}

#[test]
fn without_binary_weights_there_are_no_binary_networks() {
    let home = trained("continuous", "--surrogate continuous --validation 0");
    let result = home.json("evaluate a --samples 5");
    assert!(result["test"]["binary"].is_null() && result["validation"].is_null());
    assert_eq!(result["test"]["stochastic"], Value::Array(Vec::new()));
    let table = home.succeeds("evaluate a");
    assert!(table.contains("surrogate") && !table.contains("binary") && !table.contains("validation"), "{table}");
}

#[test]
fn inspect_shows_every_layer() {
    let home = trained("inspect", "--depth 7 --goal surrogate");
    let result = home.json("inspect a");
    assert_eq!((&result["epoch"], &result["step"], &result["network"]["shape"]), (&2.into(), &24.into(), &"64-33×7-10".into()));
    let layers = result["layers"].as_array().unwrap();
    assert_eq!(layers.len(), 8);
    let last = home.metrics("a").into_iter().rfind(|line| line["kind"] == "diagnosis").unwrap();
    assert_eq!(layers[3]["field_variance"], last["layers"][3]["field_variance"]);
    assert!(layers[7]["chi_1"].is_null() && layers[7]["neurons"].is_null() && layers[0]["chi_1"].is_number());
    let total: u64 = layers[0]["means"]["counts"].as_array().unwrap().iter().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(total, 64 * 33);

    let table = home.succeeds("inspect a");
    assert!(table.contains("χ₁") && table.contains("means from −1 to 1") && table.contains('█'), "{table}");
    let csv = home.succeeds("inspect a --format csv");
    assert!(csv.starts_with("layer,inputs,outputs,sigma_m2,") && csv.lines().count() == 9 && !csv.contains("counts"), "{csv}");
    home.succeeds("inspect a --checkpoint best --plot many.png");
    assert!(home.read("many.png").starts_with(b"\x89PNG"));
}
