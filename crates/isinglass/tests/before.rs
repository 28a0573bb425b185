//! Files of the version before networks became lists of layers: settings, a stopped run, packed networks and a sweep.
//!
//! `fixtures/before` was written by that version, on the small images of these tests; `results.json` is what it printed for them.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::Scratch;
use serde_json::Value;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/before").join(name)
}

/// A directory with the small images and copies of old files.
fn scratch(name: &str, files: &[&str]) -> Scratch {
    let home = Scratch::new(name);
    home.small_images();
    for file in files {
        home.write(file, &fs::read(fixture(file)).unwrap());
    }
    home
}

const STOPPED: [&str; 4] = ["stopped/config.toml", "stopped/metrics.jsonl", "stopped/last.safetensors", "stopped/best.safetensors"];

fn results() -> Value {
    serde_json::from_slice(&fs::read(fixture("results.json")).unwrap()).unwrap()
}

/// Equal but for the last digits of numbers, which are the platform's.
#[track_caller]
fn assert_same(now: &Value, before: &Value) {
    match (now, before) {
        (Value::Object(a), Value::Object(b)) => {
            assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>());
            a.values().zip(b.values()).for_each(|(a, b)| assert_same(a, b));
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => a.iter().zip(b).for_each(|(a, b)| assert_same(a, b)),
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            assert!((a - b).abs() <= 1e-12 * b.abs(), "{a} is now what {b} was");
        }
        _ => assert_eq!(now, before),
    }
}

#[test]
fn settings_are_read_as_they_were() {
    for surrogate in ["deterministic", "lrt-binary", "lrt-continuous", "continuous", "ste"] {
        let file = format!("configs/{surrogate}.toml");
        let home = scratch("old-settings", &[&file]);
        let flags = "--data mnist --data-dir data --train-fraction 1 --quiet";
        let result = home.json(&format!("train --config {file} {flags} --out a"));
        assert_eq!(result["network"]["shape"], "64-64×3-10");
        // What the old version would have written, and what kind of features these are.
        let written: Vec<String> = home.text("a/config.toml").lines().map(str::to_owned).collect();
        for line in home.text(&file).lines().filter(|line| !line.starts_with("data") && !line.starts_with("train-fraction")) {
            assert!(written.iter().any(|other| other == line), "{surrogate}: {line}");
        }
        assert!(written.contains(&"features = \"image\"".to_owned()), "{written:?}");
    }
}

#[test]
fn a_stopped_run_is_evaluated_and_resumed_to_the_same_end() {
    let home = scratch("old-run", &STOPPED);
    let before = results();
    let evaluated = |command: &str| {
        let mut result = home.json(command);
        result.as_object_mut().unwrap().shift_remove("path").expect("a path");
        result
    };
    assert_same(&evaluated("evaluate stopped --samples 2"), &before["evaluate"]);
    assert_eq!(home.json("inspect stopped")["step"], 183);
    home.succeeds("inspect stopped --checkpoint best");
    let resumed = home.json("resume stopped --quiet");
    for key in ["test", "train", "validation", "best_epoch", "steps"] {
        assert_same(&resumed[key], &before["resumed"][key]);
    }
    // As the same settings end now.
    home.succeeds("train --config stopped/config.toml --quiet --out anew");
    assert_eq!(evaluated("evaluate anew"), evaluated("evaluate stopped"));
    home.succeeds("pack stopped -o m.safetensors");
    home.succeeds("report stopped -o page.html");
}

#[test]
fn old_packed_networks_predict_the_same_classes() {
    let home = scratch("old-packed", &["packed.safetensors", "ensemble.safetensors"]);
    for (model, networks, before) in [
        ("packed", 1, "0123976789092393678901031769290123190789012397678701239763870127976789012397678901239367890127976989"),
        ("ensemble", 3, "0023525223022353222300230322020023332273002523222306233222320073333232002342292200233222830022323202"),
    ] {
        let csv = home.succeeds(&format!("predict {model}.safetensors --data-dir data --format csv"));
        let classes: String = csv.lines().skip(1).map(|line| line.split(',').nth(2).unwrap()).collect();
        assert_eq!(classes, before, "{model}");
        let inspected = home.json(&format!("inspect {model}.safetensors"));
        assert_eq!((&inspected["networks"], &inspected["inputs"]), (&networks.into(), &"bytes".into()), "{inspected}");
        home.succeeds(&format!("export {model}.safetensors --to c -o {model}.c"));
        home.succeeds(&format!("export {model}.safetensors --to onnx -o {model}.onnx"));
    }
}

#[test]
fn an_old_sweep_continues_with_the_cells_that_are_left() {
    let done = ["bd1cabe8f926", "db057e772895", "0a315c536827"];
    let files: Vec<String> = done.iter().map(|cell| format!("sweep/cells/{cell}.json")).chain(["sweep/sweep.toml".to_owned()]).collect();
    let home = scratch("old-sweep", &files.iter().map(String::as_str).collect::<Vec<_>>());
    let status = home.json("sweep status sweep");
    assert_eq!((&status["cells"], &status["done"], &status["waiting"]), (&4.into(), &3.into(), &1.into()), "{status}");
    home.write("grid.toml", home.text("sweep/sweep.toml").replace("../data", "data").as_bytes());
    let output = home.run("sweep run grid.toml --out sweep");
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && told.starts_with("sweep: 4 cells, 1 to run on "), "{told}");
    let rows = common::sweeps::collect(&home, "sweep");
    let names: Vec<&str> = rows.iter().map(|row| row["cell"].as_str()).collect();
    assert_eq!(names, [&done[..], &["df98eec9aeba"]].concat());
    assert!(rows.iter().all(|row| row["status"] == "done"));
    let hosts = rows.iter().filter(|row| row["run_host"] == "elsewhere").count();
    assert_eq!(hosts, 3, "the others were not run again");
    assert_eq!(rows[3]["test_binary_accuracy"], "0.11", "as the old version has it");
    // And the same numbers as if all were run now.
    home.succeeds("sweep run grid.toml --out anew --quiet");
    for (now, then) in common::sweeps::results(&home, "anew").iter().zip(&common::sweeps::results(&home, "sweep")) {
        for (column, value) in now.iter().filter(|(column, _)| column.ends_with("_accuracy")) {
            assert_eq!(value, &then[column], "{column}");
        }
    }
}
