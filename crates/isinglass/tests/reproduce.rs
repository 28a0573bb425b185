//! `isinglass reproduce`, as a user runs it.

mod common;

use common::Scratch;
use common::synthetic;
use isinglass_lab::reproduce::{Scale, Subject};
use serde_json::Value;

const FIGURES: [&str; 7] = ["fig1", "fig2", "fig3", "fig4", "fig5", "fig6", "table"];

/// Everything at once, on few and small images.
fn all(scratch: &Scratch) -> Value {
    scratch.small_images();
    scratch.json("reproduce all --scale smoke --out figures --data-dir data --quiet")
}

fn record(scratch: &Scratch, figure: &str) -> Value {
    serde_json::from_slice(&scratch.read(&format!("figures/{figure}/figure.json"))).unwrap()
}

#[test]
fn every_figure_has_pictures_tables_claims_and_a_record() {
    let scratch = Scratch::new("reproduce");
    let result = all(&scratch);
    assert_eq!((&result["scale"], &result["data"]), (&"smoke".into(), &"mnist".into()));
    let figures = result["figures"].as_array().unwrap();
    assert_eq!(figures.iter().map(|figure| figure["figure"].as_str().unwrap()).collect::<Vec<_>>(), FIGURES);
    for (name, printed) in FIGURES.into_iter().zip(figures) {
        let record = record(&scratch, name);
        assert_eq!(&record, printed, "{name}");
        let list = |key: &str| record[key].as_array().unwrap();
        for picture in list("pictures") {
            let file = picture["file"].as_str().unwrap();
            assert!(scratch.read(&format!("figures/{name}/{file}")).starts_with(b"<svg"), "{name}/{file}");
            assert!(scratch.read(&format!("figures/{name}/{}", file.replace(".svg", ".png"))).starts_with(b"\x89PNG"), "{name}/{file}");
        }
        assert!(!list("pictures").is_empty() && !list("tables").is_empty() && !list("claims").is_empty(), "{name}");
        for claim in list("claims") {
            let evidence = claim["evidence"].as_str().unwrap();
            assert!(evidence.ends_with('.') && !evidence.contains("NaN"), "{claim}");
            // What is computed is as the theory has it; two seeds of training decide nothing.
            let (verdict, words) = match name {
                "fig1" => ("holds", "over 12 random networks"),
                "fig3" | "fig4" => ("holds in part", "there is nothing random in it"),
                _ => ("not decided", "There are "),
            };
            assert!(claim["verdict"] == verdict && evidence.contains(words), "{name}: {claim}");
        }
        for table in list("tables") {
            let columns = table["columns"].as_array().unwrap().len();
            assert!(table["rows"].as_array().unwrap().iter().all(|row| row.as_array().unwrap().len() == columns), "{name}: {table}");
        }
        for sweep in list("sweeps") {
            scratch.read(&format!("figures/{name}/{}/sweep.toml", sweep.as_str().unwrap()));
        }
        let command = record["command"].as_str().unwrap();
        assert!(command.starts_with(&format!("isinglass reproduce {name} --scale smoke --out figures")), "{command}");
    }
    // Both figures show the unit gain, from one sweep.
    let sweeps = |name: &str| record(&scratch, name)["sweeps"].as_array().unwrap().clone();
    assert!(
        sweeps("fig2").contains(&"../sweeps/deterministic-tanh-1".into())
            && sweeps("fig5").contains(&"../sweeps/deterministic-tanh-1".into())
    );
    assert_eq!(std::fs::read_dir(scratch.path("figures/sweeps")).unwrap().count(), 9);
}

#[test]
fn figures_are_the_same_bytes_again_and_trained_once() {
    let (one, other) = (Scratch::new("reproduce"), Scratch::new("reproduce"));
    let command = "reproduce fig2 table --scale smoke --out figures --data-dir data --seed 7";
    for (scratch, threads) in [(&one, 1), (&other, 2)] {
        scratch.small_images();
        scratch.succeeds(&format!("{command} --threads {threads} --quiet"));
    }
    for file in ["fig2/figure.json", "fig2/surrogates.svg", "fig2/counterparts.png", "table/figure.json", "table/samples.svg"] {
        assert_eq!(one.read(&format!("figures/{file}")), other.read(&format!("figures/{file}")), "{file}");
    }
    // Drawn again, from what is there.
    let output = one.run(command);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && message.contains("nothing to run") && !message.contains("cell 1"), "{message}");
    assert_eq!(one.read("figures/fig2/figure.json"), other.read("figures/fig2/figure.json"));
}

#[test]
fn the_theory_behind_figures_is_that_of_the_other_commands() {
    let scratch = Scratch::new("reproduce");
    let result = scratch.json("reproduce fig3 fig4 --out figures --quiet");
    let starts = result["figures"][0]["tables"][0]["rows"].as_array().unwrap();
    assert_eq!(starts.len(), 6);
    for (row, neuron) in starts.iter().zip(["sign", "probit:1", "logistic:1", "tanh:1", "erf:0.5", "erf:0.25"]) {
        let line = scratch.json(&format!("theory critical-line --model deterministic --neuron {neuron} --points 2"));
        assert!((row[1].as_f64().unwrap() - line["start"]["sigma_m2"].as_f64().unwrap()).abs() < 1e-5, "{row} {line}");
        assert_eq!(row[3] != "none", line["reachable"] == true, "{row}");
    }
    // The lines go down to where they were asked for.
    let lines = String::from_utf8(scratch.read("figures/fig3/lines.csv")).unwrap();
    let smallest =
        lines.lines().skip(1).map(|line| line.split(',').next_back().unwrap().parse::<f64>().unwrap()).fold(f64::INFINITY, f64::min);
    assert!((1e-20..2e-20).contains(&smallest), "{smallest}");
    let scales = result["figures"][1]["tables"][0]["rows"].as_array().unwrap();
    let point = scratch.json("theory point --model deterministic --neuron sign --sigma-m2 0.9");
    let sign = scales.iter().find(|row| row[0] == "sign").unwrap();
    assert!((sign[2].as_f64().unwrap() - point["xi_1"].as_f64().unwrap()).abs() < 0.005, "{sign} {point}");
    assert_eq!(scales.iter().find(|row| row[0] == "tanh:1, unit gain").unwrap()[4], "∞");
}

#[test]
fn the_cost_is_said_first_and_a_dry_run_makes_nothing() {
    let scratch = Scratch::new("reproduce");
    scratch.small_images();
    let before = scratch.entries();
    let cost = scratch.json("reproduce all --scale paper --dry-run --data-dir data --quiet");
    assert_eq!(scratch.entries(), before);
    assert_eq!(cost["sweeps"].as_array().unwrap().len(), 9);
    assert!(cost["core_seconds"].as_f64().unwrap() > 0.0 && cost["cells"].as_u64().unwrap() > 5000, "{cost}");
    assert_eq!(cost["waiting"], cost["cells"]);
    let output = scratch.run("reproduce fig6 --scale smoke --data-dir data --threads 2");
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    let first = message.lines().next().unwrap();
    assert!(first.starts_with("figures, smoke scale, mnist: 1 sweep, ") && first.contains(" to run: about "), "{message}");
    // The result alone is on standard output.
    assert!(String::from_utf8_lossy(&output.stdout).contains("Common initialisations"), "{message}");
}

#[test]
fn bad_requests_say_what_is_wrong() {
    let scratch = Scratch::new("reproduce");
    scratch.small_images();
    let unknown = scratch.run("reproduce fig7");
    assert_eq!(unknown.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("fig6, table, all"));
    assert_eq!(scratch.run("reproduce").status.code(), Some(2));
    assert!(scratch.fails("reproduce fig6 --data nothing", 2).contains("nothing"));
    scratch.succeeds("reproduce fig6 --scale smoke --data-dir data --quiet");
    // Another seed is another sweep.
    let other = scratch.fails("reproduce fig6 --scale smoke --data-dir data --seed 2 --quiet", 2);
    assert!(other.contains("another seed") && other.contains("--out"), "{other}");
    assert!(scratch.fails("reproduce fig3 --slurm --quiet", 2).contains("leave out --slurm"));
    scratch.write("taken", b"");
    assert!(scratch.fails("reproduce fig3 --out taken --quiet", 1).contains("taken"));
}

#[test]
fn cells_that_failed_are_told() {
    let scratch = Scratch::new("reproduce");
    scratch.small_images();
    let command = "reproduce fig6 table --scale smoke --out figures --data-dir data --quiet";
    scratch.succeeds(command);
    // As if these had diverged: all networks but those of one epoch, and everything critical.
    for (sweep, fails) in [("epochs", "\"epochs\":3"), ("initialisations", "\"init\":\"critical\"")] {
        fail(&scratch, sweep, fails, &synthetic::diverged());
    }
    scratch.succeeds(command);
    for (figure, sweep, cells) in [("table", "epochs", "2 of 4"), ("fig6", "initialisations", "4 of 16")] {
        let record = record(&scratch, figure);
        let caption = record["caption"].as_str().unwrap();
        let words = format!("Of the sweep {sweep}, {cells} cells failed, since their loss diverged. They count as untrained.");
        assert!(caption.contains(&words) && !record.to_string().contains("NaN"), "{record}");
    }
    // An untrained network still has an accuracy, that of chance; there is nothing to look into.
    assert_eq!(record(&scratch, "fig6")["tables"][0]["rows"][3][2], 0.1);
    let table = record(&scratch, "table");
    for claim in &table["claims"].as_array().unwrap()[1..] {
        assert!(claim["evidence"].as_str().unwrap().contains("There is no network of seed 1 after 3 epochs"), "{claim}");
    }
    // Other failures end with exit code 1, after everything that can be drawn.
    fail(&scratch, "epochs", "\"epochs\":1", "it panicked");
    let output = scratch.run(command);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("epochs = 1, seed = 2: it panicked") && message.contains("error: 2 of 4 cells failed"), "{message}");
    assert!(String::from_utf8(output.stdout).unwrap().contains("Fewer samples are needed"), "{message}");
}

/// Changes the records of a sweep's cells that contain some text, as if they had failed.
fn fail(scratch: &Scratch, sweep: &str, cells: &str, error: &str) {
    let mut changed = 0;
    for entry in std::fs::read_dir(scratch.path(&format!("figures/sweeps/{sweep}/cells"))).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        if text.contains(cells) {
            common::sweeps::fail(&path, error);
            changed += 1;
        }
    }
    assert!(changed > 0, "{sweep}: {cells}");
}

/// How many cells of Figure 6 have ended.
fn ended(scratch: &Scratch) -> usize {
    std::fs::read_dir(scratch.path("figures/sweeps/initialisations/cells")).map_or(0, Iterator::count)
}

#[test]
fn a_signal_stops_it_and_the_command_it_prints_resumes() {
    let scratch = Scratch::new("reproduce");
    // All cells but one can end.
    let held = synthetic::hold_a_cell(&synthetic::study(&scratch, Scale::Smoke, 7), Subject::Fig6);
    let child = common::start(&scratch, "reproduce fig6 --scale smoke --data-dir data --seed 7 --threads 1 --quiet");
    common::wait_until("all other cells to end", || ended(&scratch) == 15);
    assert!(std::process::Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{message}");
    assert!(!scratch.path("figures/fig6").exists());
    drop(held);
    let command = message.split('`').nth(1).unwrap().strip_prefix("isinglass ").unwrap();
    assert!(command.contains("--data mnist --seed 7 --data-dir data"), "{message}");
    scratch.succeeds(&format!("{command} --quiet"));
    assert_eq!((ended(&scratch), &record(&scratch, "fig6")["seeds"]), (16, &serde_json::json!([7, 8])));
}

#[test]
fn a_run_that_is_killed_resumes() {
    let scratch = Scratch::new("reproduce");
    let held = synthetic::hold_a_cell(&synthetic::study(&scratch, Scale::Smoke, 1), Subject::Fig6);
    let command = "reproduce fig6 --scale smoke --data-dir data --threads 1";
    let mut child = common::start(&scratch, command);
    common::wait_until("a cell to end", || ended(&scratch) > 0);
    child.kill().unwrap();
    assert!(!child.wait().unwrap().success());
    assert!(!scratch.path("figures/fig6").exists());
    drop(held);
    scratch.succeeds(&format!("{command} --quiet"));
    let status = scratch.json("sweep status figures/sweeps/initialisations");
    assert_eq!((&status["done"], &status["cells"]), (&16.into(), &16.into()), "{status}");
    scratch.read("figures/fig6/initialisations.svg");
}
