//! Sweeps that grow, are damaged, or do not fit: nothing is lost, nothing is believed that is not true.

mod common;

use std::fs;
use std::path::Path;
use std::process::Command;

use common::sweeps::{collect, records, results, scratch};
use common::{Scratch, start, wait_until};
use serde_json::Value;

const GRID: &str = r#"
[train]
data = "mnist"
data-dir = "data"
width = 21
epochs = 2
batch = 16
samples = 2
init = "two-point"

[grid]
depth = [1, 3]
sigma-m2 = [0.5, 0.9]
"#;

fn record(home: &Scratch, sweep: &str, cell: &str) -> Value {
    serde_json::from_slice(&home.read(&format!("{sweep}/cells/{cell}.json"))).unwrap()
}

fn names(home: &Scratch, sweep: &str) -> Vec<String> {
    collect(home, sweep).iter().map(|row| row["cell"].clone()).collect()
}

#[test]
fn a_sweep_is_extended_and_what_is_done_stays() {
    let home = scratch("sweep-extend", GRID);
    let told = home.succeeds("sweep run grid.toml --out a --quiet");
    assert!(told.contains("Best cells:") && told.contains("validation_binary_accuracy"), "{told}");
    let before = names(&home, "a");
    let kept: Vec<Vec<u8>> = before.iter().map(|name| home.read(&format!("a/cells/{name}.json"))).collect();
    // More values, and an axis that was a setting until now.
    let more = GRID.replace("[0.5, 0.9]", "[0.5, 0.7, 0.9]\nseed = [1, 2]");
    home.write("more.toml", more.as_bytes());
    let output = home.run("sweep run more.toml --out a --format json");
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && message.starts_with("a: 12 cells, 8 to run on "), "{message}");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((answer["done"].as_u64(), answer["best"].as_array().unwrap().len()), (Some(12), 5), "{answer}");
    for (name, bytes) in before.iter().zip(&kept) {
        assert!(home.read(&format!("a/cells/{name}.json")) == *bytes, "{name} was run again");
    }
    let rows = collect(&home, "a");
    assert_eq!((rows.len(), rows[1]["seed"].as_str(), rows[2]["sigma-m2"].as_str()), (12, "2", "0.7"));
    // It is the sweep that the larger grid makes at once.
    home.succeeds("sweep run more.toml --out whole --quiet");
    assert_eq!(results(&home, "a"), results(&home, "whole"));
    // A grid without all of the cells is another.
    let refusal = home.fails("sweep run grid.toml --out a", 2);
    assert!(refusal.contains("12 cells, this one has 4, and 4 are in both"), "{refusal}");
    assert_eq!(collect(&home, "a").len(), 12);
}

#[test]
fn more_epochs_resume_from_the_shorter_runs_where_that_changes_nothing() {
    let grid = GRID
        .replace("epochs = 2\n", "goal = \"surrogate\"\nschedule = \"constant\"\n")
        .replace("sigma-m2 = [0.5, 0.9]", "sigma-m2 = [0.5]\nepochs = [2]");
    let home = scratch("sweep-longer", &grid);
    home.succeeds("sweep run grid.toml --out a --quiet --keep-runs");
    home.write("more.toml", grid.replace("epochs = [2]", "epochs = [2, 5]").as_bytes());
    home.succeeds("sweep run more.toml --out a --quiet --keep-runs");
    home.succeeds("sweep run more.toml --out whole --quiet");
    assert_eq!(results(&home, "a"), results(&home, "whole"));
    // The first epochs are those of the shorter run, down to the time that they took.
    let rows = collect(&home, "a");
    let second_epoch = |cell: &str| {
        let text = String::from_utf8(home.read(&format!("a/runs/{cell}/metrics.jsonl"))).unwrap();
        text.lines().find(|line| line.starts_with("{\"kind\":\"epoch\",\"epoch\":2,")).unwrap().to_owned()
    };
    assert_eq!((rows[0]["epochs"].as_str(), rows[1]["epochs"].as_str()), ("2", "5"));
    assert_eq!(second_epoch(&rows[0]["cell"]), second_epoch(&rows[1]["cell"]));
    // Without an axis it is another grid, and what to do is said.
    home.write("edited.toml", grid.replace("epochs = [2]", "epochs = [4]").as_bytes());
    home.succeeds("sweep run grid.toml --out b --quiet");
    assert!(home.fails("sweep run edited.toml --out b", 2).contains("make epochs an axis: epochs = [2, 4]"));
}

#[test]
fn settings_are_overridden_by_flags() {
    let home = scratch("sweep-set", GRID);
    home.succeeds("sweep run grid.toml --out a --quiet --set epochs=1 --set samples=[1,3] --set neuron=probit:1");
    let record = record(&home, "a", &names(&home, "a")[0]);
    assert_eq!((&record["config"]["epochs"], &record["config"]["neuron"]), (&1.into(), &"probit:1".into()));
    assert!(home.fails("sweep run grid.toml --out b --set depth=2", 2).contains("is an axis"));
    assert!(home.fails("sweep run grid.toml --out b --set epochs", 2).contains("KEY=VALUE"));
    assert!(home.fails("sweep run grid.toml --out b --set epohcs=2", 2).contains("epohcs"));
    assert!(!home.path("b").exists());
}

#[test]
fn the_manifest_says_what_the_cells_are() {
    let home = scratch("sweep-manifest", GRID);
    home.succeeds("sweep run grid.toml --out a --quiet --keep-runs");
    let manifest: Value = serde_json::from_slice(&home.read("a/manifest.json")).unwrap();
    assert_eq!((&manifest["format"], &manifest["keep_runs"]), (&1.into(), &true.into()));
    assert_eq!(manifest["cells"].as_array().unwrap().len(), 4);
    // Settings that the grid leaves open are there: another version's defaults change nothing.
    assert_eq!(manifest["settings"]["schedule"], "cosine", "{manifest}");
    // A newer version's is refused, and nothing is touched.
    let text = String::from_utf8(home.read("a/manifest.json")).unwrap();
    home.write("a/manifest.json", text.replacen("\"format\":1", "\"format\":9", 1).as_bytes());
    for command in ["sweep status a", "sweep collect a", "sweep run grid.toml --out a --keep-runs", "sweep work a"] {
        let message = home.fails(command, 2);
        assert!(message.contains("use that version or a later one"), "{message}");
    }
    assert_eq!(fs::read_dir(home.path("a/cells")).unwrap().count(), 4);
    home.write("a/manifest.json", text.replacen("0.9", "0.8", 1).as_bytes());
    assert!(home.fails("sweep status a", 2).contains("checksum"));
    // Without one, as older versions left it, it is made again; if the cells are others, that is said.
    fs::remove_file(home.path("a/manifest.json")).unwrap();
    assert_eq!(home.json("sweep status a")["done"], 4);
    home.succeeds("sweep run grid.toml --out a --quiet --keep-runs");
    assert!(home.path("a/manifest.json").exists());
    fs::remove_file(home.path("a/manifest.json")).unwrap();
    let name = &names(&home, "a")[0];
    fs::rename(home.path(&format!("a/cells/{name}.json")), home.path("a/cells/0123456789ab.json")).unwrap();
    assert!(home.fails("sweep run grid.toml --out a", 2).contains("another version of isinglass"));
}

#[test]
fn records_are_checked_and_one_damaged_cell_stops_nobody() {
    let home = scratch("sweep-damaged", GRID);
    home.succeeds("sweep run grid.toml --out whole --quiet");
    home.succeeds("sweep run grid.toml --out a --quiet");
    let cells = names(&home, "a");
    let path = |cell: &str| format!("a/cells/{cell}.json");
    // One cell's scores under another's axes; a digit that flipped; half a file; and a missing one.
    home.write(&path(&cells[0]), &home.read(&path(&cells[1])));
    let text = String::from_utf8(home.read(&path(&cells[1]))).unwrap();
    let place = text.find("\"accuracy\":").unwrap() + 13;
    let digit = if &text[place..=place] == "9" { "8" } else { "9" };
    home.write(&path(&cells[1]), format!("{}{digit}{}", &text[..place], &text[place + 1..]).as_bytes());
    let half = home.read(&path(&cells[2]));
    home.write(&path(&cells[2]), &half[..half.len() / 2]);
    fs::remove_file(home.path(&path(&cells[3]))).unwrap();

    let status = home.json("sweep status a");
    assert_eq!([&status["done"], &status["damaged"], &status["waiting"]], [&Value::from(0), &3.into(), &1.into()]);
    let reasons: Vec<&str> = status["unfinished"].as_array().unwrap().iter().map(|row| row["error"].as_str().unwrap()).collect();
    assert!(reasons[0].contains(&format!("the record of the cell {}", cells[1])), "{reasons:?}");
    assert!(reasons[1].contains("checksum") && reasons[2].contains("damaged"), "{reasons:?}");
    let rows = home.json("sweep collect a");
    assert_eq!(rows["cells"][0]["status"], "damaged");
    assert!(rows["cells"][0]["test_surrogate_accuracy"].is_null());

    // The others are run, and nothing damaged is overwritten without being asked for.
    let output = home.run("sweep run grid.toml --out a --quiet");
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("3 of 4 cells have a damaged record"), "{message}");
    assert_eq!(home.json("sweep status a")["done"], 1);
    home.succeeds("sweep run grid.toml --out a --quiet --retry-failed");
    assert_eq!(results(&home, "a"), results(&home, "whole"));
    assert!(home.path(&format!("a/cells/{}.json.damaged", cells[0])).exists(), "set aside, not deleted");
}

/// Stops a sweep in the middle of a cell, and gives back that cell's directory.
fn stopped(home: &Scratch) -> String {
    let mut child = start(home, "sweep run grid.toml --out a --quiet --checkpoint-seconds 0 --threads 1");
    let begun = || {
        let runs = fs::read_dir(home.path("a/runs")).into_iter().flatten().flatten().map(|run| run.path());
        runs.filter(|run| run.join("last.safetensors").exists())
            .find(|run| fs::read_to_string(run.join("metrics.jsonl")).is_ok_and(|text| text.matches("\"kind\":\"epoch\"").count() >= 3))
    };
    wait_until("three epochs", || begun().is_some());
    child.kill().unwrap();
    child.wait().unwrap();
    let run = begun().unwrap();
    format!("a/runs/{}", run.file_name().unwrap().to_str().unwrap())
}

#[test]
fn a_cell_with_a_damaged_checkpoint_or_damaged_metrics_starts_again() {
    let slow = "[train]\ndata = \"mnist\"\ndata-dir = \"data\"\nwidth = 101\ndepth = 3\nbatch = 8\nsamples = 2\nepochs = 30\n[grid]\nseed = [1, 2]\n";
    let home = scratch("sweep-restart", slow);
    home.succeeds("sweep run grid.toml --out whole --quiet");
    for (file, damage) in [
        ("last.safetensors", (|bytes: &mut Vec<u8>| bytes.truncate(bytes.len() / 2)) as fn(&mut Vec<u8>)),
        ("last.safetensors", |bytes| *bytes.last_mut().unwrap() ^= 1),
        ("metrics.jsonl", |bytes| {
            let second = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
            bytes[second + 2] = b'?';
        }),
    ] {
        let _ = fs::remove_dir_all(home.path("a"));
        let run = stopped(&home);
        let mut bytes = home.read(&format!("{run}/{file}"));
        damage(&mut bytes);
        home.write(&format!("{run}/{file}"), &bytes);
        let output = home.run("sweep run grid.toml --out a");
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && message.contains("starts again ("), "{file}: {message}");
        assert!(records(&home, "a") == records(&home, "whole"), "{file}");
    }
}

#[test]
fn a_cell_too_large_for_the_memory_is_refused_by_itself() {
    let mut home = scratch(
        "sweep-memory",
        &GRID.replace("depth = [1, 3]", "depth = [1]").replace("width = 21\n", "").replace("[grid]\n", "[grid]\nwidth = [20000, 21]\n"),
    );
    home.set("ISINGLASS_MEMORY", "0.02");
    // Not even the largest cell first: it is not begun at all.
    let output = home.run("sweep run grid.toml --out a");
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{message}");
    let refusal = "(width = 20000, depth = 1, sigma-m2 = 0.5) needs about ";
    assert!(message.contains(refusal), "{message}");
    assert!(message.contains(" MiB of memory, and 20.48 MiB are available"), "{message}");
    let end = message.lines().last().unwrap();
    assert!(end.starts_with("error: not run for lack of memory: 2 of 4 cells, "), "{message}");
    assert!(
        end.contains("(width = 20000, depth = 1, sigma-m2 = 0.5)") && end.contains("(width = 20000, depth = 1, sigma-m2 = 0.9)"),
        "{message}"
    );
    let status = home.json("sweep status a");
    assert_eq!([&status["done"], &status["failed"], &status["waiting"]], [&Value::from(2), &0.into(), &2.into()]);
    // A larger machine runs them.
    home.set("ISINGLASS_MEMORY", "8");
    home.succeeds("sweep run grid.toml --out a --quiet");
    assert_eq!(home.json("sweep status a")["done"], 4);

    let refusal = home.fails("train --data mnist --data-dir data --depth 3 --width 999999 --out run", 2);
    assert!(refusal.contains("GiB of memory") && !home.path("run").exists(), "{refusal}");
}

#[test]
fn a_damaged_line_of_metrics_is_refused_and_a_torn_one_is_not() {
    let home = scratch("metrics-damaged", GRID);
    let settings = "--data mnist --data-dir data --width 64 --depth 3 --batch 8 --epochs 40 --samples 2 --quiet";
    home.succeeds(&format!("train {settings} --out whole"));
    let mut child = start(&home, &format!("train {settings} --out run"));
    wait_until("three epochs", || fs::read_to_string(home.path("run/metrics.jsonl")).is_ok_and(|text| text.lines().count() > 5));
    child.kill().unwrap();
    child.wait().unwrap();
    let whole = home.read("run/metrics.jsonl");
    let mut damaged = whole.clone();
    let third = damaged.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(1).unwrap().0 + 5;
    damaged[third] = 0;
    home.write("run/metrics.jsonl", &damaged);
    let message = home.fails("resume run --quiet", 2);
    assert!(message.contains("metrics.jsonl: line 3 is damaged") && message.contains("remove it"), "{message}");
    assert!(home.read("run/metrics.jsonl") == damaged, "nothing is cut off");
    home.write("run/metrics.jsonl", &[&whole[..], b"{\"kind\":\"epo"].concat());
    home.succeeds("resume run --quiet");
    assert!(home.read("run/last.safetensors") == home.read("whole/last.safetensors"));
}

#[test]
fn commands_for_any_scheduler_run_the_cells() {
    let home = scratch("sweep-commands", &GRID.replace("[0.5, 0.9]", "[0.5, 0.9]\nseed = [1, 2]"));
    home.succeeds("sweep run grid.toml --out whole --quiet");
    let lines = home.succeeds("sweep submit grid.toml --out a --to commands --tasks 3 --quiet");
    assert_eq!(lines.lines().count(), 3, "{lines}");
    assert!(lines.lines().all(|line| line.contains(" sweep work /") && line.contains(" --cells ")), "{lines}");
    // Each is a whole command: from anywhere, two at a time, as GNU parallel would; and the first one twice.
    home.write("tasks.txt", format!("{lines}{}\n", lines.lines().next().unwrap()).as_bytes());
    let shell = format!("tr '\\n' '\\0' < {} | xargs -0 -P 2 -I CMD sh -c CMD", home.path("tasks.txt").display());
    let output = Command::new("sh").args(["-c", &shell]).current_dir("/").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(records(&home, "a") == records(&home, "whole"));
    assert_eq!(home.succeeds("sweep submit grid.toml --out a --to commands --quiet"), "");
    let answer = home.json("sweep submit grid.toml --out a --to commands --quiet");
    assert_eq!([&answer["tasks"], &answer["done"]], [&Value::from(0), &8.into()]);
    assert!(home.fails("sweep submit grid.toml --out a", 2).contains("--to commands"));
    let dry = home.succeeds("sweep submit grid.toml --out dry --to commands --dry-run --quiet");
    assert!(!dry.is_empty() && !home.path("dry").exists());
}

#[test]
fn watching_ends_with_the_sweep_and_logs_tell_of_one_cell() {
    let home = scratch("sweep-watch", &GRID.replace("epochs = 2", "epochs = 8"));
    let mut child = start(&home, "sweep run grid.toml --out a --quiet --threads 1");
    wait_until("the sweep", || home.path("a/manifest.json").exists());
    let text = home.succeeds("sweep status a --watch 1");
    assert!(text.trim_end().ends_with("damaged  0") && text.contains("done     4"), "{text}");
    assert!(child.wait().unwrap().success());
    let cell = &names(&home, "a")[1];
    let logs = home.succeeds(&format!("sweep logs a {} --lines 3", &cell[..6]));
    assert!(logs.contains(cell.as_str()) && logs.contains("process") && logs.contains("validation, sign(M)"), "{logs}");
    let logs = home.json("sweep logs a depth=1,sigma-m2=0.9");
    assert_eq!((logs["cell"].as_str(), logs["epochs"].as_array().unwrap().len()), (Some(cell.as_str()), 8));
    assert!(home.fails("sweep logs a depth=1", 2).contains("2 cells"));
    assert!(home.fails("sweep logs a depth=7", 2).contains("no cell depth=7"));
    let output = home.run("sweep cancel a --format json");
    assert!(output.status.success());
    assert_eq!(serde_json::from_slice::<Value>(&output.stdout).unwrap()["cancelled"], 0);
}

#[test]
fn runs_are_listed_and_compared() {
    let home = scratch("runs", GRID);
    let settings = "--data mnist --data-dir data --width 21 --epochs 2 --samples 2 --quiet";
    home.succeeds(&format!("train {settings} --lr 0.01 --out runs/a"));
    home.succeeds(&format!("train {settings} --lr 0.02 --dropout 0.1 --out runs/b"));
    home.write("runs/c/config.toml", b"epochs = \"many\"\n");
    let list = home.json("runs list");
    let rows = list["runs"].as_array().unwrap();
    let statuses: Vec<&str> = rows.iter().map(|row| row["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["ended", "ended", "damaged"], "{list}");
    assert!(rows[0]["test_binary_accuracy"].is_f64() && rows[2]["error"].as_str().unwrap().contains("config.toml"));
    assert!(home.succeeds("runs list runs/a").contains("ended"));
    let compared = home.json("runs compare runs/a runs/b --plot curves.svg");
    let settings: Vec<&str> = compared["settings"].as_array().unwrap().iter().map(|line| line["setting"].as_str().unwrap()).collect();
    assert_eq!(settings, ["lr", "dropout"], "{compared}");
    assert_eq!(compared["settings"][0]["values"], serde_json::json!([0.01, 0.02]));
    let curves = String::from_utf8(home.read("curves.svg")).unwrap();
    assert!(curves.contains("runs/a") && curves.contains("Training loss"));
    let table = home.succeeds("runs compare runs/a runs/b");
    assert!(table.contains("dropout") && table.contains("test_binary_accuracy") && table.contains(" %"), "{table}");
    assert!(home.succeeds("runs compare runs/a runs/b --format csv").starts_with("kind,name,runs/a,runs/b\n"));
    assert!(home.fails("runs compare runs/a runs/none", 2).contains("runs/none"));
    assert!(home.fails("runs list nowhere", 2).contains("nowhere"));
}

/// What is said of it, and what does it to a sweep.
type Damage<'a> = (&'static str, &'a dyn Fn(&str));

#[test]
fn a_kept_run_that_is_not_its_cell_s_is_set_aside() {
    let home = scratch("sweep-kept", GRID);
    home.succeeds("sweep run grid.toml --out whole --quiet --keep-runs");
    let cells = names(&home, "whole");
    let damages: [Damage<'_>; 4] = [
        ("the settings in its config.toml are not those of the cell", &|sweep| {
            // The run of another cell, with its scores.
            let (from, to) = (home.path(&format!("{sweep}/runs/{}", cells[1])), home.path(&format!("{sweep}/runs/{}", cells[0])));
            fs::remove_dir_all(&to).unwrap();
            copy_directory(&from, &to);
        }),
        ("the settings in its config.toml are not those of the cell", &|sweep| {
            let path = format!("{sweep}/runs/{}/config.toml", cells[0]);
            let text = String::from_utf8(home.read(&path)).unwrap();
            assert!(text.contains("seed = 1"), "{text}");
            home.write(&path, text.replace("seed = 1", "seed = 3").as_bytes());
        }),
        ("its config.toml cannot be used", &|sweep| home.write(&format!("{sweep}/runs/{}/config.toml", cells[0]), b"rubbish")),
        ("its directory has no config.toml", &|sweep| {
            fs::remove_file(home.path(&format!("{sweep}/runs/{}/config.toml", cells[0]))).unwrap();
        }),
    ];
    for (number, (reason, damage)) in damages.iter().enumerate() {
        let sweep = format!("copy{number}");
        copy_directory(&home.path("whole"), &home.path(&sweep));
        fs::remove_file(home.path(&format!("{sweep}/cells/{}.json", cells[0]))).unwrap();
        damage(&sweep);
        let output = home.run(&format!("sweep run grid.toml --out {sweep} --keep-runs"));
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && message.contains("starts again (") && message.contains(reason), "{message}");
        assert_eq!(results(&home, &sweep), results(&home, "whole"), "{reason}");
        assert!(home.path(&format!("{sweep}/runs/{}.damaged-1", cells[0])).is_dir(), "nothing is deleted");
    }
}

#[test]
fn a_record_that_cannot_be_read_hides_no_other() {
    let home = scratch("sweep-unreadable", GRID);
    home.succeeds("sweep run grid.toml --out a --quiet");
    let whole = results(&home, "a");
    let path = home.path(&format!("a/cells/{}.json", names(&home, "a")[0]));
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    let status = home.json("sweep status a");
    assert_eq!((&status["done"], &status["damaged"]), (&3.into(), &1.into()), "{status}");
    let output = home.run("sweep run grid.toml --out a");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("1 of 4 cells have a damaged record"));
    home.succeeds("sweep run grid.toml --out a --quiet --retry-failed");
    assert_eq!(results(&home, "a"), whole);
}

#[test]
fn the_memory_of_a_batch_counts() {
    let mut home = scratch("sweep-batch-memory", GRID);
    home.set("ISINGLASS_MEMORY", "1");
    let message = home.fails("train --depth 1000 --width 100 --batch 65536 --epochs 1 --quiet --out run", 2);
    assert!(message.contains("training takes about ") && message.contains("1.00 GiB are available"), "{message}");
}

fn copy_directory(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy_directory(&from, &to);
        } else {
            fs::copy(&from, &to).unwrap();
        }
    }
}
