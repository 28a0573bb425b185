//! Tables of real numbers, from CSV and `.npy` to packed networks and exports.

mod common;

use std::fs;
use std::path::Path;
use std::process::Command;

use common::{Scratch, floats, npy};
use serde_json::Value;

const TABLE: &str = "train --train-images train.csv --test-images test.csv --hidden 24,16 --epochs 12 --batch 8 --samples 2 --quiet";

fn scratch(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.small_table();
    scratch
}

/// A trained run `a`, packed as `m.safetensors`.
fn packed(name: &str) -> Scratch {
    let home = scratch(name);
    home.succeeds(&format!("{TABLE} --out a"));
    home.succeeds("pack a -o m.safetensors");
    home
}

fn features(home: &Scratch, run: &str) -> String {
    let config = home.text(&format!("{run}/config.toml"));
    config.lines().find(|line| line.starts_with("features")).expect("the features are in config.toml").to_owned()
}

/// The class of every row of a CSV answer.
fn classes(csv: &str) -> Vec<String> {
    let at = csv.lines().next().unwrap().split(',').position(|column| column == "class").unwrap();
    csv.lines().skip(1).map(|line| line.split(',').nth(at).unwrap().to_owned()).collect()
}

#[test]
fn the_data_say_what_the_features_are_unless_a_flag_does() {
    let home = scratch("features");
    home.small_images();
    let labels = |n: usize| npy("|u1", &format!("({n},)"), &(0..n).map(|i| (i % 2) as u8).collect::<Vec<_>>());
    let reals = |n: usize| floats((0..4 * n).map(|at| ((at / 4) % 2) as f32 + at as f32 / 1000.0));
    let bytes = |n: usize| (0..4 * n).map(|at| (100 * ((at / 4) % 2) + at % 50) as u8).collect::<Vec<_>>();
    let whole = (0..40).map(|i| format!("{},{},{}\n", i % 2, 250 * (i % 2), i)).collect::<String>();
    home.write("whole.csv", whole.as_bytes());
    for (name, kind, shape) in [("rows", "<f4", "(40, 4)"), ("pictures", "<f4", "(40, 2, 2)"), ("bytes", "|u1", "(40, 4)")] {
        let data = if kind == "<f4" { reals(40) } else { bytes(40) };
        home.write(&format!("{name}.npy"), &npy(kind, shape, &data));
    }
    home.write("y.npy", &labels(40));
    let own = |name: &str| format!("--train-images {name}.npy --train-labels y.npy --test-images {name}.npy --test-labels y.npy");
    let settings = "--depth 1 --width 9 --epochs 1 --samples 1 --quiet";
    let csv = |name: &str| format!("--train-images {name} --test-images {name}");
    for (out, data, usual, other) in [
        ("csv", csv("train.csv"), "table", "image"),
        ("rows", own("rows"), "table", "image"),
        ("pictures", own("pictures"), "image", "table"),
        ("bytes", own("bytes"), "image", "table"),
        ("whole", csv("whole.csv"), "image", "table"),
        ("mnist", "--data mnist --data-dir data".to_owned(), "image", "table"),
    ] {
        home.succeeds(&format!("train {data} {settings} --out {out}"));
        assert_eq!(features(&home, out), format!("features = \"{usual}\""), "{out}");
        home.succeeds(&format!("train {data} {settings} --features {usual} --out {out}-same"));
        assert!(home.read(&format!("{out}-same/last.safetensors")) == home.read(&format!("{out}/last.safetensors")), "{out}");
        home.succeeds(&format!("train {data} {settings} --features {other} --out {out}-other"));
        assert_eq!(features(&home, &format!("{out}-other")), format!("features = \"{other}\""), "{out}");
        assert!(home.read(&format!("{out}-other/last.safetensors")) != home.read(&format!("{out}/last.safetensors")), "{out}");
        // The settings of a run are the run, and what it is evaluated and packed with.
        home.succeeds(&format!("train --config {out}-other/config.toml --quiet --out {out}-again"));
        assert_eq!(features(&home, &format!("{out}-again")), format!("features = \"{other}\""), "{out}");
        for run in [out.to_owned(), format!("{out}-again")] {
            let binary = &home.json(&format!("evaluate {run}"))["test"]["binary"]["accuracy"];
            assert_eq!(&home.json(&format!("pack {run} -o m.safetensors"))["accuracy"], binary, "{run}");
        }
    }
    for value in ["tables", "Table", ""] {
        let output = home.command("train --data mnist --data-dir data --out x --features").arg(value).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), message.lines().count()), (Some(2), 1), "{message}");
        home.write("bad.toml", format!("features = \"{value}\"").as_bytes());
        let message = home.fails("train --config bad.toml --out x", 2);
        assert!(message.contains("known are image, table"), "{message}");
    }
    assert!(!home.path("x").exists());
}

#[test]
fn columns_of_any_scale_are_learnt() {
    let home = scratch("scales");
    let table = home.json(&format!("{TABLE} --out table"));
    let image = home.json(&format!("{TABLE} --features image --out image"));
    let accuracy = |result: &Value| result["test"]["binary"]["accuracy"].as_f64().unwrap();
    assert!(accuracy(&table) > 0.9, "{}", table["test"]);
    assert!(accuracy(&image) < 0.8, "one scale for all columns hides the small ones: {}", image["test"]);
    assert_eq!(home.json("evaluate table")["test"], table["test"]);
    assert!(home.succeeds("inspect table").contains("4-24-16-3"));
    home.succeeds("inspect table --plot layers.png");
    home.succeeds("report table -o page.html");
    // Another constant, or none, in the column that was constant: nothing changes.
    home.write("other.csv", home.text("test.csv").replace(",7.5,", ",-1000.25,").as_bytes());
    let other = home.json("evaluate table --train-images train.csv --test-images other.csv");
    assert_eq!(other["test"], table["test"]);
}

#[test]
fn packed_tables_take_real_numbers() {
    let home = packed("packed-table");
    let evaluated = &home.json("evaluate a")["test"]["binary"]["accuracy"];
    let scored = home.json("predict m.safetensors --test-images test.csv");
    assert_eq!((&scored["accuracy"], &scored["images"], &scored["data"]), (evaluated, &60.into(), &"test.csv".into()));
    assert!(home.succeeds("predict m.safetensors --test-images test.csv").contains("of 60 test.csv test rows"));
    assert!(home.fails("predict m.safetensors", 2).contains("--test-images"));
    let csv = home.succeeds("predict m.safetensors --test-images test.csv --format csv");
    assert!(csv.starts_with("image,label,class,probability,p0,p1,p2\n"), "{csv}");
    let expected = classes(&csv);

    let rows = home.rows("test.csv");
    let text: String = rows.iter().map(|row| row.iter().map(f32::to_string).collect::<Vec<_>>().join(",") + "\n").collect();
    home.write("rows.csv", text.as_bytes());
    home.write("headed.csv", format!("height,weight,constant,tiny\n{text}").as_bytes());
    home.write("rows.npy", &npy("<f4", "(60, 4)", &floats(rows.iter().flatten().copied())));
    let doubles: Vec<u8> = rows.iter().flatten().flat_map(|&value| f64::from(value).to_le_bytes()).collect();
    home.write("doubles.npy", &npy("<f8", "(60, 4)", &doubles));
    for input in ["rows.csv", "headed.csv", "rows.npy", "doubles.npy"] {
        let csv = home.succeeds(&format!("predict m.safetensors --input {input} --format csv"));
        assert!(csv.starts_with("image,class,probability,p0,p1,p2\n"), "{csv}");
        assert_eq!(classes(&csv), expected, "{input}");
        let result = home.json(&format!("predict m.safetensors --input {input}"));
        for (prediction, class) in result["predictions"].as_array().unwrap().iter().zip(&expected) {
            assert_eq!(prediction["class"].to_string(), *class);
            let sum: f64 = prediction["probabilities"].as_array().unwrap().iter().map(|p| p.as_f64().unwrap()).sum();
            assert!((sum - 1.0).abs() < 1e-12);
        }
        assert!(home.succeeds(&format!("predict m.safetensors --input {input}")).contains("images  60"));
    }

    let inspected = home.json("inspect m.safetensors");
    assert_eq!((&inspected["inputs"], &inspected["shape"]), (&"real numbers".into(), &"4-24-16-3".into()));
    assert!(home.succeeds("inspect m.safetensors").contains("inputs are real numbers"));
    assert_eq!(home.succeeds("inspect m.safetensors --format csv").lines().count(), 4);
    let bench = home.json("bench m.safetensors --seconds 0.01 --threads 1");
    assert_eq!(bench["agreeing_images"], bench["images"]);
}

/// Rows of the test set, and rows far beyond what training saw, with anything in the constant column.
fn rows_of_all_kinds(home: &Scratch) -> Vec<Vec<f32>> {
    let mut rows = home.rows("test.csv");
    let far = [0.0, -0.0, 1e-40, 1.0, -1e9, 3e38, -3e38, f32::MAX, f32::MIN];
    for at in 0..far.len() {
        rows.push((0..4).map(|column| far[(at + 2 * column) % far.len()]).collect());
    }
    rows
}

#[test]
fn exports_round_real_numbers_exactly_as_predict_does() {
    let home = packed("export-table");
    let rows = rows_of_all_kinds(&home);
    let raw = floats(rows.iter().flatten().copied());
    home.write("rows.raw", &raw);
    home.write("rows.npy", &npy("<f4", &format!("({}, 4)", rows.len()), &raw));
    let expected = classes(&home.succeeds("predict m.safetensors --input rows.npy --format csv"));
    assert_eq!(expected.len(), 69);

    home.succeeds("export m.safetensors --to c -o net.c");
    let flags = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-DNET_MAIN", "-o", "net", "net.c"];
    assert!(Command::new("cc").args(flags).current_dir(home.path(".")).status().expect("there is a C compiler").success());
    let program = Command::new(home.path("net")).stdin(fs::File::open(home.path("rows.raw")).unwrap()).output().unwrap();
    let printed = String::from_utf8(program.stdout).unwrap();
    let first = |line: &str| line.split([' ', ';']).next().unwrap().to_owned();
    assert_eq!(printed.lines().map(first).collect::<Vec<_>>(), expected);

    home.succeeds("export m.safetensors --to onnx -o net.onnx");
    let Ok(python) = std::env::var("ISINGLASS_PYTHON") else {
        isinglass_fuzz::skip("ISINGLASS_PYTHON names no Python with onnxruntime");
        return;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../isinglass-bits/tests/onnx_peer.py");
    let output = Command::new(python).arg(script).args(["net.onnx", "rows.raw"]).current_dir(home.path(".")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let without_probabilities = |line: &str| line.rsplit_once(';').unwrap().0.replace(';', " ");
    let onnx: Vec<String> = String::from_utf8(output.stdout).unwrap().lines().map(without_probabilities).collect();
    assert_eq!(onnx, printed.lines().collect::<Vec<_>>());
}

#[test]
fn missing_values_are_named_by_row_and_column() {
    let home = packed("missing");
    let text = home.text("test.csv");
    let line = text.lines().nth(3).unwrap().to_owned();
    let with = |value: &str| {
        let mut fields: Vec<&str> = line.split(',').collect();
        fields[2] = value;
        text.replace(&line, &fields.join(","))
    };
    for value in ["", "nan", "NA", "?"] {
        home.write("holes.csv", with(value).as_bytes());
        let place = "holes.csv: missing value in row 2, column 1 (line 4)";
        for args in [
            "train --train-images holes.csv --test-images test.csv --out x",
            "train --train-images train.csv --test-images holes.csv --out x",
            "evaluate a --train-images train.csv --test-images holes.csv",
            "predict m.safetensors --test-images holes.csv",
        ] {
            let message = home.fails(args, 2);
            assert!(message.contains(place), "{value:?}, {args}: {message}");
        }
        home.write(
            "holes-only.csv",
            with(value).lines().map(|line| line.split_once(',').unwrap().1.to_owned() + "\n").collect::<String>().as_bytes(),
        );
        let message = home.fails("predict m.safetensors --input holes-only.csv", 2);
        assert!(message.contains("holes-only.csv: missing value in row 2, column 1 (line 4)"), "{value:?}: {message}");
    }
    let mut rows = home.rows("test.csv");
    let labels: Vec<u8> = (0..60).map(|row| row % 3).collect();
    home.write("y.npy", &npy("|u1", "(60,)", &labels));
    for (value, name) in [(f32::NAN, "NaN"), (f32::INFINITY, "inf"), (f32::NEG_INFINITY, "-inf")] {
        rows[2][1] = value;
        home.write("x.npy", &npy("<f4", "(60, 4)", &floats(rows.iter().flatten().copied())));
        for args in [
            "predict m.safetensors --input x.npy",
            "predict m.safetensors --test-images x.npy --test-labels y.npy",
            "train --train-images x.npy --train-labels y.npy --test-images x.npy --test-labels y.npy --out x",
        ] {
            let message = home.fails(args, 2);
            assert!(message.contains("x.npy: ") && message.contains(name) && message.contains("row 2, column 1"), "{args}: {message}");
        }
    }
    assert!(!home.path("x").exists());
}

#[test]
fn networks_refuse_data_of_the_other_kind() {
    let home = packed("kinds");
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, 2, 2);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.write_header().unwrap().write_image_data(&[0, 50, 100, 255]).unwrap();
    home.write("x.png", &file);
    home.write("narrow.csv", b"1.5,2.5\n");
    home.write("words.csv", b"1.5,2.5,heavy,1\n1.5,2.5,3.5,1\n");
    home.write("large.csv", b"1e39,0,0,0\n");
    home.write("empty.csv", b"");
    for (input, reason) in [
        ("x.png", "a PNG file, where the network takes rows of real numbers"),
        ("test.csv", "leave the labels out"),
        ("narrow.csv", "rows of 2 values: the network takes 4"),
        ("words.csv", "\"heavy\""),
        ("large.csv", "1e39 in row 0, column 0"),
        ("empty.csv", "empty.csv"),
        ("test.csv --invert", "--invert is for images"),
    ] {
        let message = home.fails(&format!("predict m.safetensors --input {input}"), 2);
        assert!(message.contains(reason), "{input}: {message}");
    }
    assert!(home.fails("predict m.safetensors --data digits", 2).contains("784"));
    // Whole numbers are real numbers.
    home.write("whole.csv", b"1,10000,7,0\n2,20000,8,0\n");
    assert_eq!(home.json("predict m.safetensors --input whole.csv")["images"], 2);

    home.small_images();
    home.succeeds("train --data mnist --data-dir data --width 9 --epochs 1 --samples 1 --quiet --out bytes");
    home.succeeds("pack bytes -o bytes.safetensors");
    let line = vec!["0.5"; 64].join(",");
    home.write("reals.csv", format!("{line}\n").as_bytes());
    home.write("labelled.csv", format!("1,{line}\n").as_bytes());
    home.write("reals.npy", &npy("<f4", "(2, 8, 8)", &floats([0.5; 128])));
    for (args, reason) in [
        ("--input reals.csv", "reals.csv: 0.5 in row 0, column 0: the network takes grey values"),
        ("--input reals.npy", "reals.npy: 0.5 in row 0, column 0: the network takes grey values"),
        ("--test-images labelled.csv", "this network takes bytes"),
    ] {
        let message = home.fails(&format!("predict bytes.safetensors {args}"), 2);
        assert!(message.contains(reason), "{args}: {message}");
    }
}

#[test]
fn every_instruction_set_and_number_of_threads_gives_the_same_table() {
    let home = packed("table-isa");
    let evaluated = home.json("evaluate a");
    let predicted = home.succeeds("predict m.safetensors --test-images test.csv --format csv");
    let sets = isinglass_net::instruction_sets();
    for isa in &sets {
        for threads in [1, 3] {
            let run = |args: &str| {
                let output = home.command(&format!("{args} --threads {threads}")).env("ISINGLASS_SIMD", isa).output().unwrap();
                assert!(output.status.success(), "{isa}: {}", String::from_utf8_lossy(&output.stderr));
                String::from_utf8(output.stdout).unwrap()
            };
            let name = format!("{isa}-{threads}");
            run(&format!("pack a -o {name}.safetensors"));
            assert!(home.read(&format!("{name}.safetensors")) == home.read("m.safetensors"), "{name}");
            assert_eq!(run("predict m.safetensors --test-images test.csv --format csv"), predicted, "{name}");
            // Without fused multiply–adds training rounds in another way.
            if *isa == "scalar" && sets.len() > 1 {
                continue;
            }
            assert_eq!(serde_json::from_str::<Value>(&run("evaluate a --format json")).unwrap(), evaluated, "{name}");
            run(&format!("{TABLE} --out {name}"));
            for file in ["last.safetensors", "best.safetensors"] {
                assert!(home.read(&format!("{name}/{file}")) == home.read(&format!("a/{file}")), "{name}/{file}");
            }
            assert_eq!(home.metrics(&name).pop(), home.metrics("a").pop(), "{name}");
        }
    }
}
