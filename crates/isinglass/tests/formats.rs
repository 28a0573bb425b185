//! Every command prints the same in every format: JSON has all of it, CSV and tables any part of it.

mod common;

use std::collections::BTreeMap;

use common::Scratch;
use serde_json::Value;

const SETTINGS: &str = "--data mnist --data-dir data --width 9 --depth 2 --epochs 2 --batch 64 --samples 2,3 --quiet";
const SIMULATION: &str = "simulate --sigma-m2 0.5,0.9 --sigma-b2 0.01 --width 40 --realisations 12 --depth 3 --map-points 3";

/// Rows of fields, with quotes as RFC 4180 has them.
fn parse_csv(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut field, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match (quoted, c) {
            (true, '"') if characters.peek() == Some(&'"') => field.push(characters.next().unwrap()),
            (_, '"') => quoted = !quoted,
            (false, ',') => row.push(std::mem::take(&mut field)),
            (false, '\n') => {
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            (_, c) => field.push(c),
        }
    }
    assert!(!quoted && row.is_empty() && field.is_empty(), "{text}");
    rows
}

/// The header, and every row by its columns.
fn table(csv: &str) -> (Vec<String>, Vec<BTreeMap<String, String>>) {
    let mut rows = parse_csv(csv).into_iter();
    let header = rows.next().expect("a header");
    let rows = rows.map(|row| {
        assert_eq!(row.len(), header.len(), "{csv}");
        header.iter().cloned().zip(row).collect()
    });
    let rows = rows.collect();
    (header, rows)
}

/// A value as a field of CSV.
fn field(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The values of an object, nested ones as `outer.inner`; lists of objects and of lists are tables of their own.
fn leaves(object: &Value, of_rows: bool) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for (key, value) in object.as_object().expect("an object") {
        match value {
            Value::Object(_) => all.extend(leaves(value, of_rows).into_iter().map(|(inner, value)| (format!("{key}.{inner}"), value))),
            Value::Array(list) if !of_rows && list.iter().any(|value| value.is_object() || value.is_array()) => {}
            value => {
                all.insert(key.clone(), field(value));
            }
        }
    }
    all
}

/// The facts, the rows of every list, and the usual CSV agree with JSON; the table says something.
fn check(home: &Scratch, command: &str, lists: &[&str]) -> Value {
    let json = home.json(command);
    let mut facts = leaves(&json, false);
    facts.remove("path");
    let shown = home.succeeds(command);
    assert!(shown.lines().count() > 0, "{command}");
    let has_rows = !lists.is_empty();
    let csv = home.succeeds(&format!("{command} --format csv{}", if has_rows { " --rows facts" } else { "" }));
    let (_, rows) = table(&csv);
    assert_eq!(rows.len(), 1, "{csv}");
    for (key, value) in &facts {
        // What cannot be there for want of a value may be missing as a whole.
        assert!(rows[0].get(key).is_some_and(|found| found == value) || value.is_empty(), "{command}: {key} = {value} in\n{csv}");
    }
    for list in lists {
        let (header, rows) = table(&home.succeeds(&format!("{command} --format csv --rows {list}")));
        let objects = json[*list].as_array().unwrap_or_else(|| panic!("{command}: {list} in {json}"));
        assert_eq!(rows.len(), objects.len(), "{command} --rows {list}");
        for (object, row) in objects.iter().zip(&rows) {
            let mut values = leaves(object, true);
            values.remove("path");
            for (key, value) in values.iter().filter(|(key, _)| header.contains(key)) {
                assert_eq!(&row[key], value, "{command} --rows {list}: {key}");
            }
        }
        let brief = home.succeeds(&format!("{command} --rows {list}"));
        assert!(brief.lines().count() > rows.len() || rows.is_empty(), "{command} --rows {list}: {brief}");
    }
    json
}

/// The columns of CSV.
fn header(home: &Scratch, command: &str) -> Vec<String> {
    table(&home.succeeds(&format!("{command} --format csv"))).0
}

#[test]
fn theory_is_the_same_in_every_format() {
    let home = Scratch::new("formats-theory");
    check(&home, "theory point --sigma-m2 0.9 --sigma-b2 0.1", &[]);
    check(&home, "theory point --sigma-m2 0.9 --carry", &[]);
    check(&home, "theory trajectory --sigma-m2 0.9 --depth 4", &["layers"]);
    check(&home, "theory trajectory --sigma-m2 0.9 --depth 4 --carry", &["layers"]);
    check(&home, "theory map --sigma-m2 0.9 --points 3", &["map"]);
    check(&home, "theory critical-line --neuron tanh:1.1 --points 3", &["points", "allowed"]);
    check(&home, "theory advise --depth 4", &[]);
    check(&home, "theory advise --depth 100 --carry", &[]);
    for args in ["--neuron erf:1 --quantity xi_c", "--neuron sign --carry --depth 9 --quantity signal"] {
        let command = format!("theory phase-diagram --grid 4x3 {args}");
        let lists: &[&str] = if args.contains("carry") { &[] } else { &["critical_line"] };
        let json = home.json(&command);
        if !lists.is_empty() {
            check(&home, &command, lists);
        }
        let (columns, rows) = table(&home.succeeds(&format!("{command} --format csv")));
        assert_eq!((rows.len(), &json["points"]), (12, &12.into()));
        assert_eq!(table(&home.succeeds(&format!("{command} --format csv --rows points"))), (columns.clone(), rows.clone()));
        for (index, row) in rows.iter().enumerate() {
            assert_eq!(row["sigma_m2"], field(&json["sigma_m2"][index % 4]));
            for column in columns.iter().filter(|column| !column.starts_with("sigma")) {
                assert_eq!(row[column], field(&json[column][index / 4][index % 4]), "{column}");
            }
        }
        let shown = home.succeeds(&format!("{command} --rows points"));
        assert_eq!(shown.lines().count(), 13, "{shown}");
    }
}

#[test]
fn a_simulation_has_the_rows_that_are_chosen_in_every_format() {
    let home = Scratch::new("formats-simulate");
    let whole = home.json(SIMULATION);
    assert!(whole.get("rows").is_none());
    for rows in ["layers", "map", "jacobians", "overall"] {
        let json = home.json(&format!("{SIMULATION} --rows {rows}"));
        assert_eq!(json["networks"], whole["networks"]);
        let (header, csv) = table(&home.succeeds(&format!("{SIMULATION} --rows {rows} --format csv")));
        let objects = json["rows"].as_array().unwrap();
        assert_eq!(objects.len(), csv.len(), "{rows}");
        for (object, row) in objects.iter().zip(&csv) {
            assert_eq!(object.as_object().unwrap().keys().collect::<Vec<_>>(), header.iter().collect::<Vec<_>>());
            assert_eq!(&leaves(object, true), row);
        }
        home.succeeds(&format!("{SIMULATION} --rows {rows}"));
    }
    let (_, networks) = table(&home.succeeds(&format!("{SIMULATION} --rows networks --format csv")));
    assert_eq!(networks.len(), 2);
    assert_eq!(networks[1]["verdict"], whole["networks"][1]["verdict"].as_str().unwrap());
    let (_, facts) = table(&home.succeeds(&format!("{SIMULATION} --rows facts --format csv")));
    assert_eq!((facts[0]["width"].as_str(), facts[0]["model"].as_str()), ("40", "deterministic"));
    assert!(home.fails(&format!("{SIMULATION} --rows layer"), 2).contains("'layers'"));
}

#[test]
fn runs_and_packed_networks_are_the_same_in_every_format() {
    let home = Scratch::new("formats-runs");
    home.small_images();
    let json = home.json(&format!("train {SETTINGS} --out a"));
    assert_eq!((&json["run"], &json["path"]), (&"a".into(), &"a".into()));
    assert_eq!(header(&home, &format!("train {SETTINGS} --out b")), ["set", "network", "samples", "accuracy", "nll"]);
    // A run that has ended prints its result again.
    let again = check(&home, "resume a --quiet", &["layers"]);
    assert_eq!(again, json);
    for command in ["resume a --quiet", "evaluate a"] {
        let json = home.json(command);
        let (_, scores) = table(&home.succeeds(&format!("{command} --format csv")));
        // Surrogate, binary and two numbers of samples on three sets.
        assert_eq!(scores.len(), 12, "{command}");
        for score in scores {
            let of_set = &json[&score["set"]];
            let object = match score["network"].as_str() {
                "stochastic" => {
                    let all = of_set["stochastic"].as_array().unwrap();
                    all.iter().find(|object| field(&object["samples"]) == score["samples"]).unwrap()
                }
                network => &of_set[network],
            };
            assert_eq!((field(&object["accuracy"]), field(&object["nll"])), (score["accuracy"].clone(), score["nll"].clone()));
        }
    }
    check(&home, "inspect a", &["layers"]);
    let packed = check(&home, "pack a -o m.safetensors", &[]);
    assert_eq!((&packed["file"], &packed["path"]), (&"m.safetensors".into(), &"m.safetensors".into()));
    check(&home, "inspect m.safetensors", &["layers"]);
    let exported = check(&home, "export m.safetensors --to c -o m.c", &[]);
    assert_eq!((&exported["file"], &exported["path"]), (&"m.c".into(), &"m.c".into()));

    let predict = "predict m.safetensors --data-dir data";
    let json = check(&home, predict, &["predictions"]);
    assert_eq!((json["images"].as_u64(), json["predictions"].as_array().unwrap().len()), (Some(100), 100));
    let (_, rows) = table(&home.succeeds(&format!("{predict} --format csv")));
    for (object, row) in json["predictions"].as_array().unwrap().iter().zip(&rows) {
        for class in 0..10 {
            assert_eq!(row[&format!("p{class}")], field(&object["probabilities"][class]));
        }
        assert_eq!(row["label"], field(&object["label"]));
    }
    let correct = rows.iter().filter(|row| row["label"] == row["class"]).count();
    assert_eq!(json["correct"], correct);

    let bench = "bench m.safetensors --seconds 0.001 --threads 1";
    let json = home.json(bench);
    let (columns, rows) = table(&home.succeeds(&format!("{bench} --format csv")));
    let measurements = json["measurements"].as_array().unwrap();
    assert_eq!(rows.len(), measurements.len());
    assert_eq!(measurements[0].as_object().unwrap().keys().collect::<Vec<_>>(), columns.iter().collect::<Vec<_>>());
    let (_, facts) = table(&home.succeeds(&format!("{bench} --format csv --rows facts")));
    assert_eq!(facts[0]["shape"], json["shape"].as_str().unwrap());
}

#[test]
fn data_sweeps_figures_and_reports_are_the_same_in_every_format() {
    let home = Scratch::new("formats-sweeps");
    home.small_images();
    check(&home, "data show mnist --data-dir data", &["class_counts"]);
    let sets = home.json("data list --data-dir data")["datasets"].clone();
    assert_eq!((&sets[0]["path"], &sets[1]["path"]), (&Value::Null, &sets[1]["where"]));
    assert_eq!(table(&home.succeeds("data list --data-dir data --format csv")).1.len(), 3);

    let grid = "[train]\ndata = \"mnist\"\ndata-dir = \"data\"\nwidth = 9\nsurrogate = \"continuous\"\noptimizer = \"sgd\"\nepochs = 1\nsamples = 1\n[grid]\nlr = [0.01, 1e38]\n";
    home.write("grid.toml", grid.as_bytes());
    let output = home.run("sweep run grid.toml --out s --quiet --format json");
    assert_eq!(output.status.code(), Some(1), "a cell has failed: {}", String::from_utf8_lossy(&output.stderr));
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    let status = check(&home, "sweep status s", &["unfinished", "jobs"]);
    assert_eq!((&printed["failed"], &printed["path"], &printed["unfinished"]), (&1.into(), &"s".into(), &status["unfinished"]));
    assert_eq!(status["unfinished"][0]["status"], "failed");
    let cells = home.json("sweep collect s")["cells"].clone();
    let (header, rows) = table(&home.succeeds("sweep collect s --format csv"));
    assert_eq!(cells[0].as_object().unwrap().keys().collect::<Vec<_>>(), header.iter().collect::<Vec<_>>());
    assert_eq!(leaves(&cells[1], true), rows[1]);
    // Every draft has a name of its own.
    let draft = "sweep submit grid.toml --out t --slurm --dry-run --quiet";
    let mut keys: Vec<String> = leaves(&home.json(draft), false).into_keys().filter(|key| key != "path").collect();
    let mut columns = table(&home.succeeds(&format!("{draft} --format csv"))).0;
    keys.sort();
    columns.sort();
    assert_eq!(columns, keys);
    assert!(home.succeeds(draft).starts_with("#!/bin/sh"));

    let figures = "reproduce fig3 --scale smoke --out figures --data digits --quiet";
    let json = check(&home, figures, &["figures"]);
    assert_eq!((&json["directory"], &json["path"]), (&"figures".into(), &"figures".into()));
    let (_, claims) = table(&home.succeeds(&format!("{figures} --format csv")));
    let recorded = json["figures"][0]["claims"].as_array().unwrap();
    assert_eq!(claims.len(), recorded.len());
    for (row, claim) in claims.iter().zip(recorded) {
        assert!(["claim", "verdict", "evidence"].iter().all(|key| row[*key] == field(&claim[*key])), "{claim}");
    }
    let report = check(&home, "report figures -o page.html", &[]);
    assert_eq!(report["path"], "page.html");
}
