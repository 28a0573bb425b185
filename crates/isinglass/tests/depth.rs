//! Networks that carry their fields, from the command line.

mod common;

use common::Scratch;
use serde_json::Value;

/// A few seconds at most, on generated digits.
const SMALL: &str = "--train-fraction 0.05 --epochs 1 --width 24 --samples 1";

fn config(home: &Scratch, run: &str) -> String {
    home.text(&format!("{run}/config.toml"))
}

#[test]
fn auto_carries_where_plain_layers_cannot_reach_and_says_so() {
    let home = Scratch::new("auto");
    let stderr = |args: &str| {
        let output = home.run(args);
        assert_eq!(output.status.code(), Some(0), "{args}");
        String::from_utf8(output.stderr).unwrap()
    };
    let deep = stderr(&format!("train {SMALL} --depth 9 --out deep"));
    assert!(deep.contains("carries signals through 6.6 layers at best, not 9") && deep.contains("--carry off"), "{deep}");
    assert!(config(&home, "deep").contains("carry = \"on\""));
    let shallow = stderr(&format!("train {SMALL} --depth 4 --out shallow"));
    assert!(!shallow.contains("are carried"), "{shallow}");
    assert!(config(&home, "shallow").contains("carry = \"off\""));
    // tanh:1 over √Σ is critical in the limit of 1: plain layers reach any depth, but in the end only with means that are signs already.
    stderr(&format!("train {SMALL} --depth 9 --neuron tanh:1 --out unit-gain"));
    assert!(config(&home, "unit-gain").contains("carry = \"off\""));
    let large = stderr(&format!("train {SMALL} --depth 30 --neuron tanh:1 --out large-means"));
    assert!(large.contains("hardly change sign (σ_m² = 0.905)"), "{large}");
    assert!(config(&home, "large-means").contains("carry = \"on\""));
}

#[test]
fn auto_does_not_carry_where_too_few_layers_can() {
    let home = Scratch::new("mixed");
    let funnel = "--train-fraction 0.05 --epochs 1 --samples 1 --hidden 40,40,40,36,32,28,24,20,18,16";
    let output = home.run(&format!("train {funnel} --out auto"));
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(config(&home, "auto").contains("carry = \"off\"") && !text.contains("of the signal is left"), "{text}");
    // Asked for, it is done, and the start is that of a network most of whose layers are plain.
    let carried = home.json(&format!("train {funnel} --carry --quiet --out on"));
    let init = &carried["initialisation"];
    assert_eq!(init["reason"], "fields are carried by 1 of 10 layers");
    assert!(init["sigma_m2"].as_f64().unwrap() > 0.34, "{init}");
    // Blocks of equal layers are enough.
    let blocks = "--train-fraction 0.05 --epochs 1 --samples 1 --hidden 40,32,32,32,32,32,24,24,24,24,24";
    let text = String::from_utf8(home.run(&format!("train {blocks} --out blocks")).stderr).unwrap();
    assert!(config(&home, "blocks").contains("carry = \"on\"") && text.contains("carried by 6 of 11 layers"), "{text}");
}

#[test]
fn critical_is_what_advise_recommends_with_carried_fields_too() {
    let home = Scratch::new("critical");
    let advised = home.json("theory advise --neuron sign --depth 100 --carry");
    let trained =
        home.json("train --train-fraction 0.01 --epochs 1 --width 24 --samples 1 --depth 100 --carry --init critical --quiet --out a");
    let (advised, taken) = (&advised["carried"]["sigma_m2"], &trained["initialisation"]["sigma_m2"]);
    assert!(advised.as_f64().unwrap() > 0.5 && advised == taken, "{advised} and {taken}");
}

#[test]
fn settings_without_effect_are_named() {
    let home = Scratch::new("idle");
    let cases = [
        ("--width 24 --depth 2 --carry", vec!["carry = \"on\": no field is carried"]),
        ("--width 24 --depth 3 --carry", vec![]),
        ("--hidden 24,20,16 --carry", vec!["no field is carried"]),
        (
            "--hidden 24 --surrogate ste --means clip --anneal-from 0.2 --beta 10 --anneal-order front-to-back --bias-correction",
            vec!["means", "anneal-from", "beta", "anneal-order", "bias-correction = true has no effect"],
        ),
        ("--hidden 24 --surrogate continuous --means clip", vec!["real weights"]),
        ("--hidden 24 --goal surrogate --bias-correction", vec!["bias-correction = true has no effect: goal"]),
        ("--hidden 24 --surrogate ste --adversarial 0.1", vec![]),
        ("--hidden 24 --goal surrogate --anneal-order front-to-back --means clip", vec!["anneal-order = \"front-to-back\" has no effect"]),
        ("--hidden 24 --means clip --anneal-from 0.2", vec![]),
        ("--width 24 --depth 20 --surrogate ste --carry off", vec!["20 plain layers that are drawn independently do not train"]),
        ("--width 24 --depth 20 --surrogate ste --carry off --init aligned", vec![]),
        ("--width 24 --depth 20 --surrogate ste --carry on", vec![]),
        ("--width 24 --depth 10 --surrogate ste --carry off", vec![]),
    ];
    for (index, (flags, expected)) in cases.iter().enumerate() {
        let result = home.json(&format!("train --train-fraction 0.02 --epochs 1 --samples 1 {flags} --quiet --out {index}"));
        let notices = result["notices"].as_array().unwrap().iter().map(|notice| notice.as_str().unwrap());
        let found: Vec<&str> =
            notices.filter(|notice| ["no effect", "no field", "do not train"].iter().any(|words| notice.contains(words))).collect();
        assert!(
            found.len() == expected.len() && found.iter().zip(expected).all(|(found, part)| found.contains(part)),
            "{flags}: {found:?}"
        );
    }
}

#[test]
fn every_kind_of_regularisation_is_recorded_and_changes_the_result() {
    let home = Scratch::new("regularised");
    let train = |flags: &str, out: &str| {
        home.json(&format!("train --train-fraction 0.05 --epochs 3 --width 24 --depth 2 --samples 1 {flags} --quiet --out {out}"))["test"]
            .clone()
    };
    let plain = train("", "plain");
    for (flags, line) in [
        ("--input-dropout 0.2", "input-dropout = 0.2"),
        ("--dropout 0.2", "dropout = 0.2"),
        ("--weight-decay 0.5", "weight-decay = 0.5"),
        ("--label-smoothing 0.2", "label-smoothing = 0.2"),
        ("--adversarial 0.1", "adversarial = 0.1"),
        ("--average 2", "average = 2"),
        ("--augment 1", "augment = 1"),
        ("--anneal-order front-to-back", "anneal-order = \"front-to-back\""),
    ] {
        let out = flags.split(' ').next().unwrap().trim_start_matches('-');
        assert_ne!(train(flags, out)["surrogate"], plain["surrogate"], "{flags}");
        let (config, before) = (config(&home, out), config(&home, "plain"));
        assert!(config.lines().any(|found| found == line) && !before.contains(line), "{flags}: {config}");
    }
}

#[test]
fn biases_are_corrected_where_it_is_asked_for_or_examples_are_adversarial() {
    let home = Scratch::new("corrected");
    let train = |flags: &str, out: &str| {
        let test = home
            .json(&format!("train --train-fraction 0.05 --epochs 3 --width 24 --depth 2 --samples 1 {flags} --quiet --out {out}"))["test"]
            .clone();
        let is_on = config(&home, out).lines().any(|line| line == "bias-correction = true");
        (is_on, test)
    };
    let (plain, corrected) = (train("", "plain"), train("--bias-correction", "corrected"));
    assert!(!plain.0 && corrected.0);
    assert_ne!(plain.1["binary"], corrected.1["binary"]);
    assert!(train("--adversarial 0.1", "adversarial").0);
    assert!(!train("--adversarial 0.1 --bias-correction off", "off").0);
    for other in ["ste", "lrt-binary", "lrt-continuous"] {
        assert!(!train(&format!("--adversarial 0.1 --surrogate {other}"), other).0, "{other}");
    }
    assert!(!train("--adversarial 0.1 --neuron probit:1", "probit").0);
    assert!(train("--adversarial 0.1 --neuron tanh:1", "tanh").0);
    assert!(!train("--adversarial 0.1 --goal surrogate", "surrogate").0);
    home.write("old.toml", b"adversarial = 0.1\n");
    assert!(!train("--config old.toml", "old").0, "files of earlier versions mean what they meant");
    home.write("new.toml", b"adversarial = 0.1\nbias-correction = \"on\"\n");
    assert!(train("--config new.toml", "new").0);
}

#[test]
fn the_flag_alone_is_on_and_files_without_the_key_mean_off() {
    let home = Scratch::new("flag");
    for (flag, expected) in [("--carry", "on"), ("--carry on", "on"), ("--carry off", "off"), ("--carry auto", "off")] {
        let name = flag.replace([' ', '-'], "");
        home.json(&format!("train {SMALL} --depth 4 --quiet --out {name} {flag}"));
        assert!(config(&home, &name).contains(&format!("carry = \"{expected}\"")), "{flag}");
    }
    home.write("old.toml", b"depth = 9\nwidth = 24\nepochs = 1\ntrain-fraction = 0.05\nsamples = 1\n");
    home.json("train --config old.toml --quiet --out old");
    assert!(config(&home, "old").contains("carry = \"off\""));
    for (value, expected) in [("true", "on"), ("false", "off"), ("\"auto\"", "on")] {
        home.write(
            "new.toml",
            format!("depth = 9\nwidth = 24\nepochs = 1\ntrain-fraction = 0.05\nsamples = 1\ncarry = {value}\n").as_bytes(),
        );
        let name = format!("new-{expected}-{}", value.len());
        home.json(&format!("train --config new.toml --quiet --out {name}"));
        assert!(config(&home, &name).contains(&format!("carry = \"{expected}\"")), "{value}");
    }
    let message = home.fails("train --carry perhaps", 2);
    assert!(message.contains("auto, on, off"), "{message}");
}

#[test]
fn every_surrogate_carries() {
    let home = Scratch::new("surrogates");
    for surrogate in ["deterministic", "lrt-binary", "lrt-continuous", "continuous", "ste"] {
        let summary = home.json(&format!("train {SMALL} --depth 5 --carry --surrogate {surrogate} --quiet --out {surrogate}"));
        let carries: Vec<&Value> = summary["layers"].as_array().unwrap().iter().map(|layer| &layer["carries"]).collect();
        assert_eq!(carries, [false, false, true, true, true, false], "{surrogate}");
        let layers = summary["layers"].as_array().unwrap();
        assert!(layers[2]["chi_1"].is_null() && layers.iter().all(|layer| layer["field_variance"].as_f64().unwrap() > 0.0), "{surrogate}");
        assert!(layers[..5].iter().all(|layer| layer["predicted_variance"].is_number()), "{surrogate}");
        let evaluated = home.json(&format!("evaluate {surrogate}"));
        assert_eq!(evaluated["test"]["surrogate"], summary["test"]["surrogate"], "{surrogate}");
    }
}

#[test]
fn carried_networks_are_packed_exported_and_inspected() {
    let home = Scratch::new("packed");
    home.json(&format!("train {SMALL} --depth 6 --carry --quiet --out a"));
    let run = home.json("evaluate a");
    home.json("pack a -o a.safetensors");
    let predicted = home.json("predict a.safetensors --data digits");
    assert_eq!(predicted["accuracy"], run["test"]["binary"]["accuracy"]);
    let inspected = home.json("inspect a.safetensors");
    let carries: Vec<bool> =
        inspected["layers"].as_array().unwrap().iter().map(|layer| layer["carries"].as_bool().unwrap_or(false)).collect();
    assert_eq!(carries, [false, false, true, true, true, true, false]);
    for kind in ["onnx", "c"] {
        home.succeeds(&format!("export a.safetensors --to {kind} -o a.{kind}"));
        assert!(home.path(&format!("a.{kind}")).exists());
    }
    let table = home.succeeds("inspect a");
    assert!(table.contains("carries") && table.contains("yes"), "{table}");
}

#[test]
fn sweeps_take_carry_as_an_axis() {
    let home = Scratch::new("sweep");
    home.write(
        "grid.toml",
        b"[train]\ndepth = 5\nwidth = 24\nepochs = 1\ntrain-fraction = 0.05\nsamples = 1\n[grid]\ncarry = [\"on\", \"off\"]\ninput-dropout = [0.0, 0.2]\n",
    );
    let output = home.run("sweep run grid.toml --out s --quiet");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let table = home.succeeds("sweep collect s --format csv");
    let header = table.lines().next().unwrap();
    assert!(header.contains("carry") && header.contains("input-dropout"), "{header}");
    assert_eq!(table.lines().count(), 5, "{table}");
    assert_eq!(table.lines().filter(|line| line.contains("on,0.0,") || line.contains("off,0.0,")).count(), 2, "{table}");
}

#[test]
fn impossible_regularisation_is_refused() {
    let home = Scratch::new("refused");
    for (flags, reason) in [
        ("--input-dropout 1", "input-dropout = 1"),
        ("--dropout -0.1", "dropout = -0.1"),
        ("--label-smoothing 1", "label-smoothing = 1"),
        ("--adversarial 11", "adversarial = 11: must be from 0 to 10"),
        ("--anneal-order back-to-front", "front-to-back"),
        ("--weight-decay 1000", "weight-decay = 1000"),
        ("--average 3 --epochs 2", "there are epochs, 2"),
        ("--augment 28", "28 × 28"),
    ] {
        let message = home.fails(&format!("train {SMALL} {flags} --quiet --out a"), 2);
        assert!(message.contains(reason), "{flags}: {message}");
    }
}

#[test]
fn rates_too_large_for_aligned_layers_are_named() {
    let home = Scratch::new("rates");
    let notices = |flags: &str, out: &str| {
        let result = home.json(&format!(
            "train --data digits --depth 20 --width 64 --carry off --epochs 1 --train-fraction 0.02 --samples 1 {flags} --quiet --out {out}"
        ));
        result["notices"].as_array().unwrap().iter().filter(|notice| notice.as_str().unwrap().contains("train badly")).count()
    };
    assert_eq!(notices("--lr 0.03", "a"), 1);
    assert_eq!(notices("", "b"), 0);
    assert_eq!(notices("--lr 0.03 --init uniform", "c"), 0);
}

#[test]
fn aligned_plain_layers_are_polarised_earlier_unless_a_file_decides() {
    let home = Scratch::new("earlier");
    let train = |flags: &str, out: &str| {
        home.json(&format!(
            "train --depth 20 --width 64 --carry off --epochs 1 --train-fraction 0.02 --samples 1 {flags} --quiet --out {out}"
        ));
        config(&home, out)
    };
    let usual = train("", "usual");
    assert!(usual.contains("anneal-from = 0.2") && usual.contains("lr = 0.01"), "{usual}");
    assert!(train("--anneal-from 0.6", "given").contains("anneal-from = 0.6"));
    assert!(train("--init uniform", "independent").contains("anneal-from = 0.6"));
    home.write("file.toml", b"carry = \"off\"\n");
    let of_file = train("--config file.toml", "file");
    assert!(of_file.contains("anneal-from = 0.6") && of_file.contains("lr = 0.01"), "{of_file}");
}

#[test]
fn advice_for_carried_fields_says_that_it_is_for_equal_widths() {
    let home = Scratch::new("widths");
    let stderr = |widths: &str| {
        let output = home.run(&format!("theory advise --hidden {widths} --carry"));
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(stderr("64,64,64,64,32,16").contains("in yours 2 of 6 layers can carry a field"));
    assert!(stderr("64,32,16").contains("in yours 0 of 3 layers"));
    assert_eq!(stderr("64,64,64"), "");
}

#[test]
fn means_of_a_users_choice_are_no_reason_to_carry() {
    let home = Scratch::new("chosen-means");
    let carry = |flags: &str, out: &str| {
        home.json(&format!("train --train-fraction 0.02 --epochs 1 --samples 1 --width 24 --depth 5 {flags} --quiet --out {out}"));
        config(&home, out)
    };
    assert!(carry("", "a").contains("carry = \"on\""));
    assert!(carry("--sigma-m2 0.9", "b").contains("carry = \"off\""));
}

#[test]
fn a_single_aligned_layer_has_no_layer_to_be_aligned_with() {
    let home = Scratch::new("single");
    let result =
        home.json("train --train-fraction 0.02 --epochs 1 --samples 1 --width 24 --depth 1 --init aligned --lr 0.05 --quiet --out a");
    assert!(!result["notices"].to_string().contains("aligned"), "{}", result["notices"]);
    assert!(config(&home, "a").contains("anneal-from = 0.6"));
}
