//! Hidden layers of different widths, from the command line to the export.

mod common;

use std::fs;
use std::process::Command;

use common::sweeps::scratch as sweep_scratch;
use common::{Scratch, start, wait_until};
use serde_json::Value;

const BASE: &str = "train --data mnist --data-dir data --epochs 2 --batch 32 --lr 0.1 --samples 2 --quiet";

fn scratch(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.small_images();
    scratch
}

/// The lines of `config.toml` about the shape.
fn shape(home: &Scratch, run: &str) -> Vec<String> {
    let config = home.text(&format!("{run}/config.toml"));
    config.lines().filter(|line| ["hidden", "depth", "width"].iter().any(|key| line.starts_with(key))).map(str::to_owned).collect()
}

#[test]
fn flags_and_files_name_every_layer() {
    let home = scratch("hidden-flags");
    let result = home.json(&format!("{BASE} --hidden 24,16,8 --out a"));
    assert_eq!(result["network"]["shape"], "64-24-16-8-10");
    let layers: Vec<[u64; 2]> =
        result["layers"].as_array().unwrap().iter().map(|layer| ["inputs", "outputs"].map(|key| layer[key].as_u64().unwrap())).collect();
    assert_eq!(layers, [[64, 24], [24, 16], [16, 8], [8, 10]]);
    assert_eq!(shape(&home, "a"), ["hidden = [24, 16, 8]"]);

    // In files a rate that is not given is 0.01.
    home.write("run.toml", b"hidden = [24, 16, 8]\nlr = 0.03\n");
    home.succeeds(&format!("{BASE} --config run.toml --out file"));
    home.succeeds("train --config a/config.toml --quiet --out again");
    for run in ["file", "again"] {
        assert_eq!(home.text(&format!("{run}/config.toml")), home.text("a/config.toml"), "{run}");
        for file in ["last.safetensors", "best.safetensors"] {
            assert!(home.read(&format!("{run}/{file}")) == home.read(&format!("a/{file}")), "{run}/{file}");
        }
    }
    // The short form is the same network.
    home.succeeds(&format!("{BASE} --hidden 16,16 --out list"));
    home.succeeds(&format!("{BASE} --depth 2 --width 16 --out short"));
    assert_eq!(shape(&home, "short"), ["depth = 2", "width = 16"]);
    assert_eq!(home.metrics("list").pop(), home.metrics("short").pop());
}

#[test]
fn the_short_form_and_the_list_exclude_each_other() {
    let home = scratch("hidden-excludes");
    for flags in ["--hidden 24,16 --depth 2", "--hidden 24,16 --width 8", "--depth 2 --width 8 --hidden 9"] {
        let message = home.fails(&format!("{BASE} {flags} --out x"), 2);
        assert!(message.contains("--hidden") && message.contains("cannot be used with"), "{message}");
    }
    for text in ["hidden = [24, 16]\ndepth = 2\n", "width = 8\nhidden = [24]\n"] {
        home.write("both.toml", text.as_bytes());
        assert!(home.fails(&format!("{BASE} --config both.toml --out x"), 2).contains("leave out one or the other"));
    }
    // Flags replace what the file says, in either direction.
    home.write("list.toml", b"hidden = [24, 16]\n");
    home.write("short.toml", b"depth = 3\nwidth = 12\n");
    for (args, expected) in [
        ("--config list.toml --depth 1 --width 7", ["depth = 1", "width = 7"].as_slice()),
        ("--config list.toml --width 7", &["depth = 2", "width = 7"]),
        ("--config short.toml --hidden 9,8", &["hidden = [9, 8]"]),
        ("--config short.toml --depth 1", &["depth = 1", "width = 12"]),
    ] {
        let out = format!("run{}", args.replace([' ', ',', '.'], "_"));
        home.succeeds(&format!("{BASE} {args} --out {out}"));
        assert_eq!(shape(&home, &out), expected, "{args}");
    }
}

#[test]
fn impossible_lists_are_one_sentence() {
    let home = scratch("hidden-bad");
    for (list, reason) in [
        ("0", "hidden = 0"),
        ("24,0,8", "hidden = 24,0,8"),
        ("24,,8", "empty"),
        (",", "empty"),
        ("-1", "-1"),
        ("24,many", "many"),
        ("24,10000000", "10000000"),
        ("99999999999999999999", "99999999999999999999"),
    ] {
        let message = home.fails(&format!("{BASE} --hidden {list} --out x"), 2);
        assert!(message.contains(reason), "{list}: {message}");
    }
    for (text, reason) in [
        ("hidden = []", "hidden is empty"),
        ("hidden = 24", "such as [512, 256]"),
        ("hidden = \"24,8\"", "such as [512, 256]"),
        ("hidden = [24, 8.5]", "8.5"),
        ("hidden = [24, -8]", "-8"),
    ] {
        home.write("bad.toml", text.as_bytes());
        let message = home.fails(&format!("{BASE} --config bad.toml --out x"), 2);
        assert!(message.contains(reason), "{text}: {message}");
    }
    assert!(!home.path("x").exists());
}

#[test]
fn every_surrogate_and_initialisation_takes_a_list() {
    let home = scratch("hidden-kinds");
    for surrogate in ["deterministic", "lrt-binary", "lrt-continuous", "continuous", "ste"] {
        let result = home.json(&format!("{BASE} --hidden 12,9,15 --surrogate {surrogate} --out {surrogate}"));
        assert_eq!(result["network"]["shape"], "64-12-9-15-10");
        assert_eq!(home.json(&format!("evaluate {surrogate}"))["test"], result["test"]);
    }
    for init in ["auto", "critical", "two-point", "hadamard", "aligned", "aligned:3", "clipped-gaussian", "uniform", "glorot", "he"] {
        home.succeeds(&format!("{BASE} --hidden 12,9,15 --init {init} --out {init}"));
    }
    // Three of these layers cannot carry fields (two, if all widths are equal), so they need the means of three plain layers: 0.578 by the paper's reach.
    let deep = format!("--hidden 12,{}", vec!["9"; 40].join(","));
    for (init, sigma_m2) in [("auto", 1.0 / 3.0), ("critical", 0.578)] {
        let list = home.json(&format!("{BASE} {deep} --init {init} --epochs 1 --out list-{init}"))["initialisation"].clone();
        let equal =
            home.json(&format!("{BASE} --depth 41 --width 9 --init {init} --epochs 1 --out equal-{init}"))["initialisation"].clone();
        assert_eq!(list["reason"], "fields are carried by 38 of 41 layers", "{init}");
        assert!(equal["reason"].as_str().unwrap().contains("of the signal is left after 41 layers"), "{init}: {equal}");
        for key in ["distribution", "sigma_b2"] {
            assert_eq!(list[key], equal[key], "{init}");
        }
        let taken = list["sigma_m2"].as_f64().unwrap();
        assert!((taken - sigma_m2).abs() < 1e-3 && equal["sigma_m2"].as_f64().unwrap() <= taken, "{init}: {list} and {equal}");
    }
    let note = "signals survive only 6.643 layers (3 depth scales): for 41 layers";
    assert!(home.succeeds("theory advise --depth 41").replace('\n', " ").contains(note));
}

#[test]
fn a_trained_list_is_looked_at_packed_and_exported() {
    let home = scratch("hidden-chain");
    home.succeeds(&format!("{BASE} --hidden 24,9,33 --out a"));
    assert!(home.succeeds("inspect a").contains("64-24-9-33-10"));
    let inspected = home.json("inspect a");
    assert_eq!((&inspected["network"]["shape"], inspected["layers"].as_array().unwrap().len()), (&"64-24-9-33-10".into(), 4));
    assert_eq!(home.succeeds("inspect a --format csv").lines().count(), 5);
    home.succeeds("inspect a --plot layers.svg");
    assert!(home.text("layers.svg").trim_end().ends_with("</svg>"));

    let packed = home.json("pack a -o m.safetensors");
    assert_eq!(packed["shape"], "64-24-9-33-10");
    assert_eq!(packed["accuracy"], home.json("evaluate a")["test"]["binary"]["accuracy"]);
    assert_eq!(home.json("predict m.safetensors --data-dir data")["accuracy"], packed["accuracy"]);
    assert!(home.succeeds("inspect m.safetensors").contains("9 × 33"));
    home.succeeds("bench m.safetensors --seconds 0.01 --threads 1");
    home.succeeds("report a -o page.html");
    assert!(home.text("page.html").contains("64-24-9-33-10"));

    let images = home.read("data/mnist/t10k-images-idx3-ubyte")[16..].to_vec();
    home.write("images.raw", &images);
    home.succeeds("export m.safetensors --to c -o net.c");
    home.succeeds("export m.safetensors --to onnx -o net.onnx");
    let flags = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-DNET_MAIN", "-o", "net", "net.c"];
    assert!(Command::new("cc").args(flags).current_dir(home.path(".")).status().expect("there is a C compiler").success());
    let program = Command::new(home.path("net")).stdin(fs::File::open(home.path("images.raw")).unwrap()).output().unwrap();
    let printed = String::from_utf8(program.stdout).unwrap();
    let csv = home.succeeds("predict m.safetensors --data-dir data --format csv");
    let classes: Vec<&str> = csv.lines().skip(1).map(|line| line.split(',').nth(2).unwrap()).collect();
    assert_eq!(printed.lines().map(|line| line.split([' ', ';']).next().unwrap()).collect::<Vec<_>>(), classes);
}

#[test]
fn a_killed_run_resumes_to_the_same_bits() {
    let home = scratch("hidden-kill");
    let slow = BASE.replace("--batch 32", "--batch 4").replace("--epochs 2", "--epochs 8");
    let args = format!("{slow} --hidden 101,33,65");
    home.succeeds(&format!("{args} --out whole"));
    let mut child = start(&home, &format!("{args} --checkpoint-steps 5 --out torn"));
    wait_until("a checkpoint", || home.path("torn/last.safetensors").exists());
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!home.path("torn/summary.json").exists(), "killed before its end");
    home.succeeds("resume torn --quiet --threads 3");
    for file in ["last.safetensors", "best.safetensors"] {
        assert!(home.read(&format!("torn/{file}")) == home.read(&format!("whole/{file}")), "{file}");
    }
    assert_eq!(home.metrics("torn").pop(), home.metrics("whole").pop());
}

const GRID: &str = r#"
[train]
data = "mnist"
data-dir = "data"
epochs = 1
samples = 2

[grid]
hidden = [[24, 8], [12, 12], [16]]
seed = [1, 2]
"#;

#[test]
fn lists_are_an_axis_of_sweeps() {
    let home = sweep_scratch("hidden-sweep", GRID);
    let output = home.run("sweep run grid.toml --out a");
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && told.contains("hidden = 24,8, seed = 1"), "{told}");
    assert_eq!(home.json("sweep status a")["done"], 6);
    let lines = home.succeeds("sweep collect a --format jsonl --plot map.svg");
    let rows: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let axes: Vec<(&str, u64)> = rows.iter().map(|row| (row["hidden"].as_str().unwrap(), row["seed"].as_u64().unwrap())).collect();
    assert_eq!(axes, [("24,8", 1), ("24,8", 2), ("12,12", 1), ("12,12", 2), ("16", 1), ("16", 2)]);
    let csv = home.succeeds("sweep collect a --format csv");
    assert!(csv.lines().nth(1).unwrap().contains(",\"24,8\",1,done,"), "{csv}");
    let map = home.text("map.svg");
    assert!(["hidden", "24,8", "12,12", "16"].iter().all(|text| map.contains(text)), "{map}");
    home.succeeds("report a -o page.html");
    assert!(home.text("page.html").contains("24,8"));

    // A cell is the run that `train` makes; in files a rate that is not given is 0.01.
    let run = home.json("train --data mnist --data-dir data --epochs 1 --lr 0.01 --samples 2 --hidden 12,12 --seed 2 --quiet --out run");
    assert_eq!(rows[3]["test_surrogate_nll"], run["test"]["surrogate"]["nll"]);
    // Nothing runs again.
    let output = home.run("sweep run grid.toml --out a");
    assert!(String::from_utf8(output.stderr).unwrap().contains("6 cells, nothing to run"));

    let output = home.run("sweep submit grid.toml --out b --slurm --dry-run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8(output.stdout).unwrap().contains("#SBATCH --array=0-"));
}

#[test]
fn cells_that_fail_are_shown_with_their_layers() {
    let grid = GRID.replace("samples = 2", "surrogate = \"continuous\"\noptimizer = \"sgd\"\nlr = 1e38");
    let home = sweep_scratch("hidden-failed", &grid);
    assert_eq!(home.run("sweep run grid.toml --out a --quiet").status.code(), Some(1));
    let status = home.json("sweep status a");
    assert_eq!((&status["failed"], &status["unfinished"][0]["hidden"]), (&6.into(), &serde_json::json!([24, 8])), "{status}");
    let table = home.succeeds("sweep status a");
    assert!(table.contains("  24,8     1  failed"), "{table}");
}

#[test]
fn bad_lists_in_a_grid_are_named() {
    let home = sweep_scratch("hidden-grid", GRID);
    for (list, reason) in [
        ("[24, 8]", "such as [512, 256]"),
        ("[[24, 8], []]", "hidden is empty"),
        ("[[24, 8], [24, 8]]", "the same as the cell hidden = 24,8"),
        ("[[24, 8], [24, 0]]", "hidden = 24,0"),
        ("[[24, 8]]\ndepth = [2]", "leave out one or the other"),
    ] {
        home.write("bad.toml", GRID.replace("[[24, 8], [12, 12], [16]]", list).as_bytes());
        let message = home.fails("sweep run bad.toml --out x", 2);
        assert!(message.contains(reason), "{list}: {message}");
    }
}
