//! `isinglass train`, run as a user runs it.

mod common;

use std::fs;

use common::Scratch;
use isinglass::lab::run::RunConfig;
use serde_json::Value;

/// A small network on small images: a fraction of a second.
const SMALL: &str = "train --data mnist --data-dir data --width 33 --epochs 3 --batch 32 --lr 0.1 --samples 3 --quiet";

fn scratch(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.small_images();
    scratch
}

fn keys(object: &Value) -> Vec<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn a_run_is_a_directory_with_settings_metrics_checkpoints_and_the_result() {
    let home = scratch("run");
    let result = home.json(&format!("{SMALL} --out runs/a"));
    assert_eq!(result["run"], "runs/a");
    for set in ["test", "train", "validation"] {
        assert_eq!(keys(&result[set]), ["surrogate", "binary", "stochastic"]);
        assert_eq!(keys(&result[set]["surrogate"]), ["accuracy", "nll"]);
        assert_eq!(keys(&result[set]["stochastic"][0]), ["samples", "accuracy", "nll"]);
        assert_eq!(result[set]["stochastic"][0]["samples"], 3);
    }
    assert!(result["test"]["binary"]["accuracy"].as_f64().unwrap() > 0.5, "{}", result["test"]);
    let layers = result["layers"].as_array().unwrap();
    assert_eq!(layers.len(), 3);
    for key in [
        "sigma_m2",
        "initial_sigma_m2",
        "polarised",
        "flip_ratio",
        "field_variance",
        "predicted_variance",
        "chi_1",
        "saturated",
        "gradient_norm",
    ] {
        assert!(layers[0].get(key).is_some(), "{key}");
    }
    assert_eq!((&layers[0]["inputs"], &layers[0]["outputs"], &layers[2]["outputs"]), (&64.into(), &33.into(), &10.into()));
    assert_eq!((&layers[0]["binary_parameters"], &layers[0]["float_parameters"]), (&(64 * 33).into(), &33.into()));
    assert_eq!(layers[1]["bits"], 33 * 33 + 32 * 33);
    // The goal is a binary network: it is its own surrogate in the end.
    assert_eq!(result["layers"][1]["polarised"], 1.0);

    let summary: Value = serde_json::from_slice(&home.read("runs/a/summary.json")).unwrap();
    assert_eq!((&summary["test"], &summary["layers"]), (&result["test"], &result["layers"]));
    let metrics = home.metrics("runs/a");
    let kinds: Vec<&str> = metrics.iter().map(|line| line["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["start", "diagnosis", "epoch", "epoch", "epoch", "diagnosis", "final"]);
    for key in
        ["epoch", "step", "lr", "beta", "train", "validation", "validation_binary", "gradient_norms", "seconds", "samples_per_second"]
    {
        assert!(metrics[2].get(key).is_some(), "{key}");
    }
    assert_eq!((&metrics[4]["epoch"], &metrics[4]["step"], &metrics[4]["beta"]), (&3.into(), &36.into(), &30.0.into()));
    assert_eq!((&metrics[6]["test"], &metrics[6]["train"]), (&result["test"], &result["train"]));
    assert_eq!(metrics[2]["gradient_norms"].as_array().unwrap().len(), 3);
    let config = RunConfig::from_toml(&String::from_utf8(home.read("runs/a/config.toml")).unwrap()).unwrap();
    assert_eq!((config.epochs, config.neuron.unwrap().to_string(), config.samples), (3, "sign".to_owned(), vec![3]));
    assert!(home.read("runs/a/last.safetensors").len() > 4 * 64 * 33 && home.path("runs/a/best.safetensors").exists());
}

#[test]
fn a_run_is_never_overwritten() {
    let home = scratch("overwrite");
    home.succeeds(&format!("{SMALL} --out a"));
    let before = home.read("a/last.safetensors");
    let message = home.fails(&format!("{SMALL} --seed 2 --out a"), 2);
    assert!(message.contains("isinglass resume a") && message.contains("--out"), "{message}");
    assert_eq!(home.read("a/last.safetensors"), before);

    // Neither is anything else, and nothing is added to it.
    home.write("thesis/chapter1.tex", b"In the beginning");
    assert!(home.fails(&format!("{SMALL} --out thesis"), 2).contains("not empty"));
    assert_eq!(fs::read_dir(home.path("thesis")).unwrap().count(), 1);
    assert!(home.fails(&format!("{SMALL} --out thesis/chapter1.tex"), 2).contains("cannot create the directory"));

    fs::create_dir(home.path("empty")).unwrap();
    home.succeeds(&format!("{SMALL} --out empty"));
}

#[test]
fn without_out_a_run_is_named_after_time_and_settings() {
    let home = scratch("name");
    // Two of them in the same second have the same name and a number.
    for _ in 0..2 {
        let table = home.succeeds(SMALL);
        assert!(table.contains("binary sign(M)") && table.contains("stochastic ×3") && table.contains("total"), "{table}");
        let place = table.lines().last().unwrap().strip_prefix("The run is in ").unwrap();
        assert!(home.path(place).join("summary.json").exists(), "{place}");
    }
    let names: Vec<String> =
        fs::read_dir(home.path("runs")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(names.len(), 2);
    let hash = |name: &str| name.split('-').nth(2).unwrap().to_owned();
    assert_eq!(hash(&names[0]), hash(&names[1]));
    assert!(names.iter().all(|name| name[..8].bytes().all(|byte| byte.is_ascii_digit()) && hash(name).len() == 12), "{names:?}");
}

#[test]
fn a_file_says_the_same_as_flags_and_flags_go_first() {
    let home = scratch("config");
    let flags = "--depth 1 --width 21 --surrogate lrt-binary --init two-point --sigma-m2 0.5 --sigma-b2 0.01 --tau 2 --goal surrogate --means clip --variance-gradient off \
                 --optimizer rmsprop --lr 3e-3 --schedule step:1:0.5 --batch 50 --epochs 2 --validation 0.2 --train-fraction 0.5 --seed 7 --samples 2,4";
    home.succeeds(&format!("train --data mnist --data-dir data {flags} --quiet --out flags"));
    home.write(
        "settings/run.toml",
        b"data = \"mnist\"\ndata-dir = \"../data\"\ndepth = 1\nwidth = 21\nsurrogate = \"lrt-binary\"\ninit = \"two-point\"\nsigma-m2 = 0.5\nsigma-b2 = 0.01\ntau = 2\n\
          goal = \"surrogate\"\nmeans = \"clip\"\nvariance-gradient = \"off\"\noptimizer = \"rmsprop\"\nlr = 3e-3\nschedule = \"step:1:0.5\"\nbatch = 50\nepochs = 2\n\
          validation = 0.2\ntrain-fraction = 0.5\nseed = 7\nsamples = [2, 4]\n",
    );
    home.succeeds("train --config settings/run.toml --quiet --out file");
    home.succeeds("train --config flags/config.toml --quiet --out again");
    home.succeeds("train --config settings/run.toml --seed 8 --epochs 1 --quiet --out other");
    // Where the data lie is said in another way, and is no part of the hash that names a run.
    let config = |run: &str| {
        let text = String::from_utf8(home.read(&format!("{run}/config.toml"))).unwrap();
        text.lines().filter(|line| !line.starts_with("data-dir")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(config("file"), config("flags"));
    for file in ["last.safetensors", "best.safetensors"] {
        let expected = home.read(&format!("flags/{file}"));
        assert_eq!(home.read(&format!("file/{file}")), expected, "{file}");
        assert_eq!(home.read(&format!("again/{file}")), expected, "{file}");
        assert_ne!(home.read(&format!("other/{file}")), expected, "{file}");
    }
    // Nothing of where and how it was made is in a checkpoint.
    let checkpoint = home.read("flags/last.safetensors");
    let text = String::from_utf8_lossy(&checkpoint);
    assert!(!text.contains("data-dir") && !text.contains(home.path("data").to_str().unwrap()) && !text.contains("threads"));

    for (file, names) in [
        ("dept = 3", "line 1: unknown key `dept`; did you mean `depth`?"),
        ("surogate = \"ste\"", "did you mean `surrogate`?"),
        ("surrogate = \"determinstic\"", "(did you mean deterministic?)"),
        ("neuron = \"tnah:2\"", "did you mean tanh:2?"),
        ("frobnicate = 1", "the keys are recipe, data, "),
        ("depth = 3\nlr = \"fast\"", "line 2"),
        ("surrogate = \"magic\"", "known are deterministic"),
        ("variance-gradient = 3", "\"off\""),
        ("neuron = \"relu6\"", "relu6"),
        ("depth =", "line 1"),
    ] {
        home.write("bad.toml", file.as_bytes());
        let message = home.fails("train --config bad.toml --out x", 2);
        assert!(message.contains("bad.toml") && message.contains(names), "{file}: {message}");
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let home = scratch("threads");
    for surrogate in ["deterministic", "lrt-continuous"] {
        for threads in [1, 2, 4] {
            home.succeeds(&format!("{SMALL} --surrogate {surrogate} --threads {threads} --out {surrogate}-{threads}"));
            for file in ["last.safetensors", "best.safetensors"] {
                let one = home.read(&format!("{surrogate}-1/{file}"));
                assert_eq!(home.read(&format!("{surrogate}-{threads}/{file}")), one, "{surrogate}, {threads} threads, {file}");
            }
        }
        let scores = |threads: u32| home.metrics(&format!("{surrogate}-{threads}")).pop().unwrap();
        assert_eq!(scores(1), scores(4));
    }
}

#[test]
fn every_surrogate_trains() {
    let home = scratch("surrogates");
    for (surrogate, neuron) in
        [("deterministic", "sign"), ("lrt-binary", "logistic:1"), ("lrt-continuous", "tanh:1"), ("continuous", "tanh:1"), ("ste", "sign")]
    {
        let result = home.json(&format!("{SMALL} --depth 1 --surrogate {surrogate} --out {surrogate}"));
        assert_eq!(result["config"]["neuron"], neuron);
        let binary = surrogate != "continuous";
        assert_eq!(result["config"]["goal"], if binary { "binary" } else { "surrogate" });
        assert_eq!(result["test"]["binary"].is_object(), binary, "{surrogate}");
        assert_eq!(result["test"]["stochastic"].as_array().unwrap().len(), usize::from(binary));
        assert_eq!(result["network"]["binary_parameters"].as_u64().unwrap() > 0, binary);
    }
    home.succeeds(&format!("{SMALL} --validation 0 --out all"));
    assert!(home.metrics("all")[2]["validation"].is_null() && home.metrics("all").pop().unwrap()["validation"].is_null());
    let message = home.fails(&format!("{SMALL} --surrogate continuous --goal binary --out x"), 2);
    assert!(message.contains("goal binary") && message.contains("goal surrogate"), "{message}");
}

#[test]
fn weights_that_cannot_change_sign_are_noticed() {
    let home = scratch("notice");
    let stuck = format!("{SMALL} --init two-point --sigma-m2 0.9 --lr 2e-4");
    let result = home.json(&format!("{stuck} --out a"));
    assert!(result["notices"][0].as_str().unwrap().contains("hardly differ"), "{}", result["notices"]);
    let output = home.run(&format!("{stuck} --out b").replace("--quiet", ""));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("note: with these settings") && told.contains("σ_m² = 0.9"), "{told}");
    assert!(String::from_utf8(output.stdout).unwrap().contains("hardly"));
    let free = home.json(&format!("{SMALL} --lr 1 --out c"));
    let notices: Vec<&str> = free["notices"].as_array().unwrap().iter().map(|notice| notice.as_str().unwrap()).collect();
    assert!(matches!(notices[..], [data] if data.contains("published as mnist")), "{notices:?}");
}

#[test]
fn progress_goes_to_standard_error() {
    let home = scratch("progress");
    let output = home.run(&format!("{SMALL} --format json --out a").replace("--quiet", ""));
    let told = String::from_utf8(output.stderr).unwrap();
    let lines: Vec<&str> = told.lines().collect();
    assert!(lines[0].starts_with("network  64-33×2-10, surrogate deterministic, neuron sign: 3 531 binary weights"), "{told}");
    assert!(lines[1].starts_with("means    uniform, σ_m² = ") && lines[3] == "run      a", "{told}");
    assert!(told.contains("epoch 1/3: loss ") && told.contains("samples/s"), "{told}");
    assert!(serde_json::from_slice::<Value>(&output.stdout).is_ok());
}

#[test]
fn curves_are_drawn() {
    let home = scratch("plot");
    for file in ["curves.svg", "curves.png"] {
        home.succeeds(&format!("{SMALL} --depth 1 --out {file}.run --plot {file}"));
    }
    let svg = fs::read_to_string(home.path("curves.svg")).unwrap();
    assert!(svg.contains("64-33×1-10") && svg.contains("validation, sign(M)") && svg.trim_end().ends_with("</svg>"));
    assert!(home.read("curves.png").starts_with(b"\x89PNG"));
    assert!(home.fails(&format!("{SMALL} --plot curves.gif --out x"), 2).contains("svg"));
    assert!(!home.path("x").exists());
}

#[test]
fn help_tells_the_defaults_and_its_examples_are_understood() {
    let home = scratch("help");
    let help = home.succeeds("train --help").replace('\n', " ");
    let help: Vec<&str> = help.split_whitespace().collect();
    let help = help.join(" ");
    let defaults: toml::Table = RunConfig::default().to_toml().parse().unwrap();
    for (key, value) in &defaults {
        let value = match value {
            toml::Value::Boolean(on) => if *on { "on" } else { "off" }.to_owned(),
            toml::Value::String(text) => text.clone(),
            toml::Value::Float(number) => number.to_string(),
            toml::Value::Array(list) => list[0].to_string(),
            other => other.to_string(),
        };
        let flag = help.find(&format!("--{key} <")).unwrap_or_else(|| panic!("--{key} is missing"));
        let default = help[flag..].find("[default: ").unwrap();
        let said = &help[flag + default..];
        assert!([']', ';'].iter().any(|end| said.starts_with(&format!("[default: {value}{end}"))), "{key} = {value}");
    }

    home.succeeds(&format!("{SMALL} --out runs/a"));
    home.succeeds("pack runs/a -o model.safetensors");
    for command in ["train", "resume", "evaluate", "inspect"] {
        let help = home.succeeds(&format!("{command} --help")).replace("\\\n", "");
        let examples: Vec<&str> = help.lines().filter_map(|line| line.trim().strip_prefix("isinglass ")).collect();
        assert!(examples.len() >= 2, "{help}");
        for example in examples {
            if command == "train" {
                // Understood, and refused before anything is done.
                let message = home.fails(&format!("{example} --batch 0"), 2);
                assert!(message.contains("batch = 0"), "{example}: {message}");
            } else if !example.contains("last.safetensors") {
                let output = home.run(example);
                assert!(output.status.success(), "{example}: {}", String::from_utf8_lossy(&output.stderr));
            }
        }
    }
}
