//! Sweeps as a user runs them: whatever happens on the way, all cells are there in the end, with the same results.

mod common;

use std::fs;
use std::time::Duration;

use common::sweeps::{collect, records, results, scratch};
use common::{Scratch, kill_until_the_end, start, wait_until};

const GRID: &str = r#"
[train]
data = "mnist"
data-dir = "data"
width = 21
epochs = 3
batch = 16
samples = [2, 3]
init = "two-point"

[grid]
depth = [1, 3]
sigma-m2 = [0.5, 0.9]
seed = [1, 2]
"#;

/// Slow enough to be caught in the middle.
const SLOW: &str = r#"
[train]
data = "mnist"
data-dir = "data"
width = 101
depth = 3
batch = 8
samples = 2
[grid]
seed = [1, 2, 3]
epochs = [6, 4]
"#;

#[test]
fn one_row_for_each_cell_with_axes_results_and_facts() {
    let home = scratch("sweep", GRID);
    let output = home.run("sweep run grid.toml --out sweeps/a");
    let progress = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{progress}");
    assert!(progress.starts_with("sweeps/a: 8 cells, 8 to run on ") && progress.contains(" threads: about "), "{progress}");
    assert_eq!(progress.lines().filter(|line| line.starts_with("cell ")).count(), 8, "{progress}");
    assert!(String::from_utf8(output.stdout).unwrap().contains("done     8\n"));

    let rows = collect(&home, "sweeps/a");
    let axes: Vec<[&str; 3]> = rows.iter().map(|row| ["depth", "sigma-m2", "seed"].map(|axis| row[axis].as_str())).collect();
    assert_eq!(axes[..3], [["1", "0.5", "1"], ["1", "0.5", "2"], ["1", "0.9", "1"]]);
    assert_eq!((rows.len(), axes[7]), (8, ["3", "0.9", "2"]));
    for row in &rows {
        assert_eq!((row["status"].as_str(), row["error"].as_str(), row["run_attempts"].as_str()), ("done", "", "1"));
        for key in ["run_host", "run_threads", "run_began", "run_ended", "run_seconds"] {
            assert!(!row[key].is_empty(), "{key}");
        }
    }
    // A cell is the run that `train` makes with the same settings, to the last digit.
    let row = &rows[5];
    let axes = format!("--depth {} --sigma-m2 {} --seed {}", row["depth"], row["sigma-m2"], row["seed"]);
    let settings = "--data mnist --data-dir data --width 21 --epochs 3 --batch 16 --samples 2,3 --init two-point";
    let run = home.json(&format!("train {settings} {axes} --lr 0.01 --quiet --out run"));
    for (column, score) in [
        ("test_surrogate_accuracy", &run["test"]["surrogate"]["accuracy"]),
        ("test_binary_nll", &run["test"]["binary"]["nll"]),
        ("train_stochastic_3_nll", &run["train"]["stochastic"][1]["nll"]),
        ("validation_stochastic_2_accuracy", &run["validation"]["stochastic"][0]["accuracy"]),
        ("best_epoch", &run["best_epoch"]),
    ] {
        assert_eq!(row[column], score.to_string(), "{column}");
    }

    let status = home.json("sweep status sweeps/a");
    let count = |key: &str| status[key].as_u64().unwrap();
    assert_eq!([count("cells"), count("done"), count("running"), count("failed"), count("waiting")], [8, 8, 0, 0, 0]);
    let lines = home.succeeds("sweep collect sweeps/a --format jsonl --plot map.svg");
    let line: serde_json::Value = serde_json::from_str(lines.lines().nth(5).unwrap()).unwrap();
    assert_eq!((line["cell"].as_str().unwrap(), &line["depth"]), (row["cell"].as_str(), &3.into()));
    let map = String::from_utf8(home.read("map.svg")).unwrap();
    assert!(map.contains("depth L") && map.contains("sigma-m2 = "), "{map}");
    assert_eq!(home.json("sweep collect sweeps/a")["cells"][5], line);

    // Nothing is run again, whatever the order of the file.
    let before = home.succeeds("sweep collect sweeps/a --format csv");
    let text = GRID.replace("depth = [1, 3]\n", "").replace("seed = [1, 2]", "seed = [2, 1]\ndepth = [3, 1]");
    home.write("shuffled.toml", text.as_bytes());
    home.succeeds("sweep run shuffled.toml --out sweeps/a --quiet --threads 1");
    assert_eq!(home.succeeds("sweep collect sweeps/a --format csv"), before);

    // With one thread, and with runs kept: the same.
    home.succeeds("sweep run grid.toml --out kept --quiet --threads 1 --keep-runs");
    assert_eq!(results(&home, "kept"), results(&home, "sweeps/a"));
    let name = &row["cell"];
    assert_eq!(home.json(&format!("evaluate kept/runs/{name}"))["test"], run["test"]);
    assert!(home.read(&format!("kept/runs/{name}/last.safetensors")) == home.read("run/last.safetensors"));
    assert!(home.read(&format!("kept/runs/{name}/best.safetensors")) == home.read("run/best.safetensors"));
}

#[test]
fn killed_again_and_again_a_sweep_ends_as_if_it_had_not_been() {
    let home = scratch("sweep-kill", SLOW);
    home.succeeds("sweep run grid.toml --out whole --quiet");
    let child = start(&home, "sweep run grid.toml --out torn --quiet --checkpoint-seconds 0");
    wait_until("a run", || fs::read_dir(home.path("torn/runs")).is_ok_and(|runs| runs.count() > 0));
    let resume =
        |kills: u64| start(&home, &format!("sweep run grid.toml --out torn --quiet --checkpoint-seconds 0.01 --threads {}", 1 + kills % 3));
    kill_until_the_end(child, |round| Duration::from_millis(20 + 150 * round), resume);
    assert_eq!(results(&home, "torn"), results(&home, "whole"));
    assert!(records(&home, "torn") == records(&home, "whole"));
    assert!(collect(&home, "torn").iter().any(|row| row["run_attempts"] != "1"), "somebody went on with a cell");
}

#[cfg(unix)]
#[test]
fn a_signal_stops_a_sweep_at_once_and_says_how_to_go_on() {
    let home = scratch("sweep-signal", &SLOW.replace("[6, 4]", "[60]"));
    let child = start(&home, "sweep run grid.toml --out a --quiet");
    let steps = || fs::read_dir(home.path("a/runs")).into_iter().flatten().any(|run| run.unwrap().path().join("metrics.jsonl").exists());
    wait_until("training", steps);
    assert_eq!(home.json("sweep status a")["done"], 0);
    assert!(home.json("sweep status a")["running"].as_u64().unwrap() >= 1);
    std::thread::sleep(Duration::from_millis(100));
    assert!(std::process::Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        (output.status.code(), message.as_str()),
        (Some(130), "stopped with 0 of 3 cells done; resume with `isinglass sweep run grid.toml --out a`\n")
    );
    let status = home.json("sweep status a");
    assert_eq!((&status["running"], &status["waiting"]), (&0.into(), &3.into()));
    let saved =
        fs::read_dir(home.path("a/runs")).unwrap().filter(|run| run.as_ref().unwrap().path().join("last.safetensors").exists()).count();
    assert!(saved >= 1, "what was running has saved its state");
}

#[test]
fn two_processes_share_the_cells() {
    let home = scratch("sweep-two", SLOW);
    home.succeeds("sweep run grid.toml --out whole --quiet");
    let mut first = start(&home, "sweep run grid.toml --out shared --quiet --threads 1");
    let second = start(&home, "sweep run grid.toml --out shared --quiet --threads 1");
    // One more, that is killed with a cell in its hands: another takes it over.
    let mut killed = start(&home, "sweep run grid.toml --out shared --quiet --threads 1");
    wait_until("a run", || fs::read_dir(home.path("shared/runs")).is_ok_and(|runs| runs.count() > 0));
    std::thread::sleep(Duration::from_millis(50));
    killed.kill().unwrap();
    killed.wait().unwrap();
    let output = second.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // Whoever comes back has waited for the others' cells.
    assert_eq!(home.json("sweep status shared")["done"], 6);
    assert!(first.wait().unwrap().success());
    assert!(records(&home, "shared") == records(&home, "whole"));
    let again = collect(&home, "shared").iter().filter(|row| row["run_attempts"] != "1").count();
    assert!(again <= 1, "{again} cells were begun more than once, and one process was killed");
}

#[test]
fn threads_that_become_free_are_given_to_a_cell_in_its_middle_and_change_nothing() {
    let grid =
        "[train]\ndata = \"mnist\"\ndata-dir = \"data\"\nwidth = 201\ndepth = 6\nbatch = 16\nsamples = 2\n[grid]\nepochs = [1, 60]\n";
    let home = scratch("sweep-threads", grid);
    home.succeeds("sweep run grid.toml --out two --quiet --threads 2");
    home.succeeds("sweep run grid.toml --out one --quiet --threads 1");
    assert!(records(&home, "two") == records(&home, "one"));
    let threads = |sweep: &str| {
        let cells = fs::read_dir(home.path(sweep).join("cells")).unwrap().map(|entry| fs::read(entry.unwrap().path()).unwrap());
        let runs = cells.map(|cell| serde_json::from_slice::<serde_json::Value>(&cell).unwrap()["run"].clone());
        runs.map(|run| run["core_seconds"].as_f64().unwrap() / run["seconds"].as_f64().unwrap()).fold(0.0, f64::max)
    };
    assert_eq!(threads("one"), 1.0);
    // It began with one thread and went on with two.
    assert!(threads("two") > 1.1 && threads("two") < 2.0, "{}", threads("two"));
}

#[test]
fn a_cell_that_fails_keeps_its_error_and_stops_nobody() {
    let grid = GRID
        .replace("sigma-m2 = [0.5, 0.9]\nseed = [1, 2]", "lr = [0.01, 1e38]\noptimizer = [\"sgd\"]")
        .replace("init = \"two-point\"\n", "means = \"clip\"\nsurrogate = \"continuous\"\n");
    let home = scratch("sweep-fail", &grid);
    let output = home.run("sweep run grid.toml --out a --quiet");
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert_eq!(message, "error: 2 of 4 cells failed: `isinglass sweep status a` says why, --retry-failed runs them again\n");
    let rows = home.json("sweep collect a");
    for row in rows["cells"].as_array().unwrap() {
        let fails = row["lr"].as_f64().unwrap() > 1.0;
        assert_eq!(row["status"], if fails { "failed" } else { "done" });
        assert_eq!(row["error"].as_str().is_some_and(|error| error.contains("diverged")), fails, "{row}");
        assert_eq!(row["test_surrogate_accuracy"].is_null(), fails);
    }
    let status = home.json("sweep status a");
    assert_eq!((&status["done"], &status["failed"]), (&2.into(), &2.into()));
    assert!(status["unfinished"][0]["error"].as_str().unwrap().contains("diverged"));

    let attempts = |home: &Scratch| collect(home, "a").iter().map(|row| row["run_attempts"].clone()).collect::<Vec<_>>();
    assert_eq!(home.run("sweep run grid.toml --out a --quiet").status.code(), Some(1));
    assert_eq!(attempts(&home), ["1", "1", "1", "1"]);
    assert_eq!(home.run("sweep run grid.toml --out a --quiet --retry-failed").status.code(), Some(1));
    assert_eq!(attempts(&home), ["1", "2", "1", "2"]);
    assert_eq!(records(&home, "a").len(), 4);
}

#[test]
fn a_scheduler_may_run_any_cells_twice() {
    let home = scratch("sweep-work", GRID);
    home.succeeds("sweep run grid.toml --out whole --quiet");
    let mut names: Vec<String> = collect(&home, "whole").iter().map(|row| row["cell"].clone()).collect();
    home.write("parts/sweep.toml", &home.read("whole/sweep.toml"));
    home.succeeds(&format!("sweep work parts --quiet --cells {}", names[..5].join(",")));
    assert_eq!(home.json("sweep status parts")["done"], 5);
    names.reverse();
    home.succeeds(&format!("sweep work parts --quiet --cells {}", names[..4].join(",")));
    assert!(records(&home, "parts") == records(&home, "whole"));
    assert!(home.fails("sweep work parts --cells 0123456789ab", 2).contains("no cell 0123456789ab"));
}

#[test]
fn bad_grids_are_one_sentence_and_leave_nothing() {
    let home = scratch("sweep-bad", GRID);
    for (from, to, names) in [
        ("depth =", "dept =", "dept"),
        ("width =", "widht =", "widht"),
        ("[0.5, 0.9]", "[]", "sigma-m2 is empty"),
        ("[0.5, 0.9]", "[0.5, 1.2]", "cannot exceed 1"),
        ("[0.5, 0.9]", "[0.5, \"many\"]", "sigma-m2 = \"many\""),
        ("[0.5, 0.9]", "0.5", "write sigma-m2 = [0.5]"),
        ("width = 21", "depth = 2", "depth is both in [train] and in [grid]"),
        ("[grid]", "[grod]", "grod"),
        ("init = \"two-point\"", "init = \"auto\"", "chooses σ_m² itself"),
        ("seed = [1, 2]", "seed = [1, 1]", "the same"),
        ("seed = [1, 2]", "seed = [1, 2", "line "),
        ("data = \"mnist\"", "data = \"cifar\"", "cifar"),
        ("data = \"mnist\"", "data = \"fashion-mnist\"", "data fetch fashion-mnist"),
    ] {
        assert!(GRID.contains(from), "{from}");
        home.write("bad.toml", GRID.replace(from, to).as_bytes());
        let message = home.fails("sweep run bad.toml --out a", 2);
        assert!(message.contains(names), "{to}: {message}");
        assert!(!home.path("a").exists(), "{to}");
    }
    home.write("bad.toml", GRID.split("[grid]").next().unwrap().as_bytes());
    assert!(home.fails("sweep run bad.toml --out a", 2).contains("no table [grid]"));
    assert!(home.fails("sweep run nowhere.toml --out a", 2).contains("nowhere.toml"));
    assert!(home.fails("sweep run grid.toml", 2).contains("--out"));
    assert!(home.fails("sweep status nowhere", 2).contains("no sweep"));
    assert!(home.fails("sweep collect data", 2).contains("no sweep"));
    assert!(home.fails("sweep run grid.toml --out a --checkpoint-seconds -1", 2).contains("-1"));
    assert!(home.fails("sweep run grid.toml --out data", 2).contains("not empty"));
    // Where nothing can be made, whoever asks.
    home.write("file", b"");
    assert!(home.fails("sweep run grid.toml --out file/a", 2).contains("cannot use the directory"));
}

#[test]
fn a_directory_belongs_to_one_grid() {
    let home = scratch("sweep-other", &GRID.replace("epochs = 3", "epochs = 1"));
    home.succeeds("sweep run grid.toml --out a --quiet");
    home.write("other.toml", GRID.replace("epochs = 3", "epochs = 1").replace("seed = [1, 2]", "seed = [1, 3]").as_bytes());
    let message = home.fails("sweep run other.toml --out a", 2);
    assert!(message.contains("another grid") && message.contains("4 are in both"), "{message}");
    assert!(home.fails("sweep run grid.toml --out a --keep-runs", 2).contains("--keep-runs"));
    for (flags, names) in
        [("--x width", "width is not an axis"), ("--x depth --y depth", "both depth"), ("--value accuracy", "no column accuracy")]
    {
        assert!(home.fails(&format!("sweep collect a --plot map.svg {flags}"), 2).contains(names), "{flags}");
    }
    assert_eq!(results(&home, "a").len(), 8);
}
