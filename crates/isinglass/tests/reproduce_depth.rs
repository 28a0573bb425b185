//! `isinglass reproduce depth` and `isinglass reproduce ablation`, as a user runs them.

mod common;

use common::Scratch;
use serde_json::Value;

fn scratch() -> Scratch {
    let scratch = Scratch::new("reproduce-depth");
    scratch.small_images();
    scratch
}

/// A CSV file of a figure, without its header, which must be this one. Only quoted names have commas.
fn table(scratch: &Scratch, file: &str, header: &str) -> Vec<Vec<String>> {
    let text = String::from_utf8(scratch.read(&format!("figures/{file}"))).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some(header));
    let fields = |line: &str| {
        let (name, rest) = line.strip_prefix('"').map_or_else(|| line.split_once(','), |line| line.split_once("\",")).unwrap();
        std::iter::once(name.to_owned()).chain(rest.split(',').map(str::to_owned)).collect()
    };
    lines.map(fields).collect()
}

fn number(text: &str) -> f64 {
    text.parse().unwrap()
}

/// What every figure has, here with these pictures and sweeps.
fn check(scratch: &Scratch, record: &Value, pictures: &[&str], sweeps: usize) {
    let name = record["figure"].as_str().unwrap();
    let list = |key: &str| record[key].as_array().unwrap();
    assert_eq!(&serde_json::from_slice::<Value>(&scratch.read(&format!("figures/{name}/figure.json"))).unwrap(), record);
    assert_eq!(list("pictures").iter().map(|picture| picture["file"].as_str().unwrap()).collect::<Vec<_>>(), pictures);
    for file in pictures {
        assert!(scratch.read(&format!("figures/{name}/{file}")).starts_with(b"<svg"), "{name}/{file}");
        assert!(scratch.read(&format!("figures/{name}/{}", file.replace(".svg", ".png"))).starts_with(b"\x89PNG"), "{name}/{file}");
    }
    for claim in list("claims") {
        // Two seeds decide nothing.
        assert!(claim["verdict"] == "not decided" && claim["evidence"].as_str().unwrap().contains("fewer than 3 seeds: 2"), "{claim}");
    }
    for table in list("tables") {
        let columns = table["columns"].as_array().unwrap().len();
        assert!(table["rows"].as_array().unwrap().iter().all(|row| row.as_array().unwrap().len() == columns), "{table}");
    }
    assert_eq!(list("sweeps").len(), sweeps);
    for sweep in list("sweeps") {
        scratch.read(&format!("figures/{name}/{}/sweep.toml", sweep.as_str().unwrap()));
    }
    assert_eq!(record["seeds"], serde_json::json!([1, 2]));
    assert_eq!(record["command"], format!("isinglass reproduce {name} --scale smoke --out figures --data mnist"));
}

#[test]
fn the_depth_curve_has_five_lines_and_the_use_of_every_layer() {
    let scratch = scratch();
    let result = scratch.json("reproduce depth --scale smoke --data-dir data --quiet");
    let record = &result["figures"][0];
    check(&scratch, record, &["depth.svg", "use.svg"], 7);
    assert_eq!(record["claims"].as_array().unwrap().len(), 6);

    let accuracy = table(&scratch, "depth/accuracy.csv", "network,depth,seed,test_accuracy");
    // Five lines, three depths, two seeds.
    assert_eq!(accuracy.len(), 5 * 3 * 2);
    let lines =
        ["surrogate, carried", "straight-through, carried", "surrogate, plain, aligned", "surrogate, plain", "straight-through, plain"];
    for line in lines {
        assert_eq!(accuracy.iter().filter(|row| row[0] == line).count(), 6, "{line}");
    }
    assert!(accuracy.iter().all(|row| (0.0..=1.0).contains(&number(&row[3]))));
    // The table is of the same numbers.
    let rows = record["tables"][0]["rows"].as_array().unwrap();
    assert_eq!(record["tables"][0]["columns"].as_array().unwrap()[1..], lines.map(Value::from));
    let of = |depth: f64| accuracy.iter().filter(move |row| row[0] == lines[0] && number(&row[1]) == depth).map(|row| number(&row[3]));
    let mean = 50.0 * of(rows[0][0].as_f64().unwrap()).sum::<f64>();
    assert!(rows[0][1].as_str().unwrap().starts_with(&format!("{mean:.2} ± ")), "{rows:?} {mean}");

    // Every hidden layer of two networks of two seeds.
    let layers = table(&scratch, "depth/layers.csv", "network,layer,flip_ratio,accuracy_with_random_signs,accuracy,seed");
    let places: Vec<(&str, &str)> = layers.iter().map(|row| (row[5].as_str(), row[1].as_str())).collect();
    assert_eq!(places, ["1", "2", "1", "2"].map(|seed| ["1", "2", "3", "4"].map(|layer| (seed, layer))).concat());
    assert!(layers.iter().all(|row| row[2..5].iter().all(|part| (0.0..=1.0).contains(&number(part)))));
    // The network as it is, and its flips, are those that its sweep reports.
    for (name, row) in [("carried", &layers[0]), ("carried", &layers[4]), ("aligned", &layers[8])] {
        let cells = std::fs::read_dir(scratch.path(&format!("figures/sweeps/depth-use-{name}/cells"))).unwrap();
        let cells = cells.map(|cell| serde_json::from_slice(&std::fs::read(cell.unwrap().path()).unwrap()).unwrap());
        let cell: Value = cells.into_iter().find(|cell: &Value| cell["axes"]["seed"] == number(&row[5])).unwrap();
        assert_eq!(cell["result"]["test"]["binary"]["accuracy"], number(&row[4]), "{name}");
        assert_eq!(cell["result"]["layers"][0]["flip_ratio"], number(&row[2]), "{name}");
    }
    // A report shows it beside others.
    scratch.succeeds("report figures -o report.html");
    let page = String::from_utf8(scratch.read("report.html")).unwrap();
    assert!(page.contains("Deep binary networks") && page.contains("The use of depth"));
}

#[test]
fn the_ablation_has_a_line_for_each_regularisation() {
    let scratch = scratch();
    let result = scratch.json("reproduce ablation --scale smoke --data-dir data --quiet");
    let record = &result["figures"][0];
    check(&scratch, record, &["ablation.svg"], 10);
    let columns = ["regularisation", "training accuracy", "validation accuracy", "test accuracy", "seeds"];
    assert_eq!(record["tables"][0]["columns"], serde_json::json!(columns));
    let rows = record["tables"][0]["rows"].as_array().unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row[0].as_str().unwrap()).collect();
    assert_eq!((names[0], names[2], names[9]), ("none", "input dropout 0.2, τ = 3", "100 draws averaged"));
    assert!(rows.iter().all(|row| row[2].as_str().unwrap().contains(" ± ") && row[4] == 2), "{rows:?}");

    let header = "regularisation,seed,train_accuracy,validation_accuracy,test_accuracy";
    let data = table(&scratch, "ablation/ablation.csv", header);
    assert_eq!(data.len(), 10 * 2);
    // What is shown is the binary network, and of the last line the ensemble.
    for (sweep, row, network) in [("none", &data[0], "binary_accuracy"), ("ensemble", &data[18], "stochastic_100_accuracy")] {
        let cells = common::sweeps::collect(&scratch, &format!("figures/sweeps/ablation-{sweep}"));
        let cell = cells.iter().find(|cell| cell["seed"] == "1").unwrap();
        for (part, value) in [("train", &row[2]), ("validation", &row[3]), ("test", &row[4])] {
            assert_eq!(&cell[&format!("{part}_{network}")], value, "{sweep} {part}");
        }
    }
}

#[test]
fn all_means_the_papers_figures() {
    let scratch = scratch();
    let cost = |figures: &str| scratch.json(&format!("reproduce {figures} --scale quick --dry-run --data-dir data --quiet"));
    let sweeps = |cost: &Value| cost["sweeps"].as_array().unwrap().iter().map(|row| row["sweep"].to_string()).collect::<Vec<_>>();
    let is_beyond = |name: &String| name.contains("depth") || name.contains("ablation");
    let (all, more) = (sweeps(&cost("all")), sweeps(&cost("all depth")));
    assert!(!all.iter().any(is_beyond) && more.iter().filter(|name| is_beyond(name)).count() == 7, "{all:?} {more:?}");
    assert!(scratch.succeeds("reproduce --help").contains("Beyond the paper"));
}

#[test]
fn curves_are_the_same_bytes_again_and_trained_once() {
    let (one, other) = (scratch(), scratch());
    let command = "reproduce depth --scale smoke --data-dir data --seed 7";
    for (scratch, threads) in [(&one, 1), (&other, 2)] {
        scratch.succeeds(&format!("{command} --threads {threads} --quiet"));
    }
    for file in ["figure.json", "depth.svg", "use.svg", "accuracy.csv", "layers.csv"] {
        assert_eq!(one.read(&format!("figures/depth/{file}")), other.read(&format!("figures/depth/{file}")), "{file}");
    }
    let output = one.run(command);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && message.contains("nothing to run"), "{message}");
    assert_eq!(one.read("figures/depth/figure.json"), other.read("figures/depth/figure.json"));
}

#[test]
fn a_network_that_failed_decides_nothing() {
    let scratch = scratch();
    let command = "reproduce depth --scale smoke --data-dir data --quiet";
    scratch.succeeds(command);
    let fail = |error: &str| {
        for entry in std::fs::read_dir(scratch.path("figures/sweeps/depth-use-carried/cells")).unwrap() {
            common::sweeps::fail(&entry.unwrap().path(), error);
        }
    };
    fail(&common::synthetic::diverged());
    let record = &scratch.json(command)["figures"][0];
    assert_eq!(record["claims"][5]["evidence"], "There is no network of seed 1: its loss diverged.");
    let names: Vec<&Value> = record["tables"][1]["rows"].as_array().unwrap().iter().map(|row| &row[0]).collect();
    assert_eq!(names, ["surrogate, plain, aligned"]);
    assert!(record["caption"].as_str().unwrap().contains("Of the sweep depth-use-carried, 2 of 2 cells failed, since their loss diverged"));
    fail("it panicked");
    let output = scratch.run(command);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("depth-use-carried` says why"));
}
