//! Runs that are stopped, in every way there is, go on to the very same end.

mod common;

use std::fs;
use std::time::Duration;

use common::{Scratch, kill_until_the_end, start, wait_until};

/// Slow enough to be caught in the middle.
const SLOW: &str = "train --data mnist --data-dir data --width 101 --depth 3 --epochs 8 --batch 8 --samples 2 --quiet";

/// The same on a table, with layers of different widths.
const SLOW_TABLE: &str =
    "train --train-images train.csv --test-images test.csv --hidden 101,33,65 --epochs 12 --batch 4 --samples 2 --quiet";

fn scratch(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.small_images();
    scratch.small_table();
    scratch
}

/// How many epochs are in the metrics.
fn epochs(home: &Scratch, run: &str) -> usize {
    fs::read_to_string(home.path(run).join("metrics.jsonl")).map_or(0, |text| text.matches("\"kind\":\"epoch\"").count())
}

#[track_caller]
fn same_end(home: &Scratch, run: &str, undisturbed: &str) {
    for file in ["last.safetensors", "best.safetensors"] {
        assert!(
            home.read(&format!("{run}/{file}")) == home.read(&format!("{undisturbed}/{file}")),
            "{run}/{file} differs from {undisturbed}/{file}"
        );
    }
    let without_times = |run: &str| -> Vec<serde_json::Value> {
        let mut lines = home.metrics(run);
        lines.retain(|line| line["kind"] != "resume" && line["kind"] != "start");
        for line in &mut lines {
            line.as_object_mut().unwrap().retain(|key, _| key != "seconds" && key != "samples_per_second");
        }
        lines
    };
    assert_eq!(without_times(run), without_times(undisturbed));
    let entries = |run: &str| {
        let mut names: Vec<String> =
            fs::read_dir(home.path(run)).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    assert_eq!(entries(run), entries(undisturbed), "nothing half-written is left");
}

/// Kills a run until it comes to its end.
fn tear(home: &Scratch, args: &str) {
    home.succeeds(&format!("{args} --out whole"));
    // From before the first step to the middle of everything; later processes get more time, so that the run comes to its end.
    let child = start(home, &format!("{args} --out torn --checkpoint-steps 7"));
    wait_until("config.toml", || home.path("torn/config.toml").exists());
    let resume = |kills: u64| {
        let every = if kills.is_multiple_of(2) { " --checkpoint-steps 7" } else { "" };
        start(home, &format!("resume torn --quiet --threads {}{every}", 1 + kills % 3))
    };
    kill_until_the_end(child, |round| Duration::from_millis(3 + 17 * round), resume);
    same_end(home, "torn", "whole");
}

#[test]
fn killed_again_and_again_a_run_ends_as_if_it_had_not_been() {
    tear(&scratch("kill"), SLOW);
}

#[test]
fn killed_again_and_again_a_run_on_a_table_ends_as_if_it_had_not_been() {
    tear(&scratch("kill-table"), SLOW_TABLE);
}

#[cfg(unix)]
fn stop(home: &Scratch, args: &str, steps: usize) {
    home.succeeds(&format!("{args} --out whole"));
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let child = start(home, &format!("{args} --out {signal}"));
        wait_until("an epoch", || epochs(home, signal) >= 1);
        let sent = std::process::Command::new("sh").args(["-c", &format!("kill -{signal} {}", child.id())]).status().unwrap();
        assert!(sent.success());
        let output = child.wait_with_output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{message}");
        assert!(message.starts_with("stopped after step ") && message.contains(&format!("`isinglass resume {signal}`")), "{message}");
        assert!(!home.path(signal).join("summary.json").exists());
        // It stopped in the middle of an epoch and can be looked at.
        let step = home.json(&format!("inspect {signal}"))["step"].as_u64().unwrap();
        assert!(message.contains(&format!("step {step} of {steps}")), "{message}");
        home.succeeds(&format!("resume {signal} --quiet"));
        same_end(home, signal, "whole");
    }
}

#[cfg(unix)]
#[test]
fn signals_stop_a_run_after_its_step() {
    stop(&scratch("signals"), SLOW, 360);
}

#[cfg(unix)]
#[test]
fn signals_stop_a_run_on_a_table_after_its_step() {
    stop(&scratch("signals-table"), SLOW_TABLE, 12 * 54);
}

#[test]
fn the_kind_of_features_cannot_change_on_the_way() {
    let home = scratch("features");
    home.succeeds(&format!("{SLOW_TABLE} --out a"));
    fs::remove_file(home.path("a/summary.json")).unwrap();
    let config = home.text("a/config.toml");
    assert!(config.contains("features = \"table\""));
    home.write("a/config.toml", config.replace("\"table\"", "\"image\"").as_bytes());
    let message = home.fails("resume a --quiet", 2);
    assert!(message.contains("not the settings the run began with") && message.contains("features"), "{message}");
    home.write("a/config.toml", config.as_bytes());
    home.succeeds("resume a --quiet");
}

#[test]
fn two_processes_do_not_train_one_run() {
    let home = scratch("busy");
    let mut child = start(&home, &format!("{SLOW} --epochs 10000 --out a"));
    wait_until("an epoch", || epochs(&home, "a") >= 1);
    assert!(home.fails("resume a", 2).contains("another process is training in a"));
    // Looking at it is allowed.
    wait_until("a checkpoint", || home.path("a/last.safetensors").exists());
    home.json("evaluate a --samples 1");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_run_that_has_ended_is_printed_again() {
    let home = scratch("ended");
    let args = SLOW.replace("--epochs 8", "--epochs 1");
    let result = home.json(&format!("{args} --out a"));
    let before = home.read("a/metrics.jsonl");
    assert_eq!(home.json("resume a --quiet --plot curves.svg"), result);
    assert_eq!(home.read("a/metrics.jsonl"), before);
    assert!(home.path("curves.svg").exists());
    let output = home.run("resume a");
    assert!(output.status.success() && String::from_utf8(output.stderr).unwrap().contains("the run has ended"));

    // Stopped after its last step, before its report: the report is made again, and once.
    fs::remove_file(home.path("a/summary.json")).unwrap();
    let again = home.json("resume a --quiet");
    assert_eq!((&again["test"], &again["layers"]), (&result["test"], &result["layers"]));
    assert_eq!(home.metrics("a").iter().filter(|line| line["kind"] == "final").count(), 1);
}

#[test]
fn a_result_that_is_none_is_one_sentence() {
    let home = scratch("result");
    home.succeeds("train --data mnist --data-dir data --width 9 --depth 1 --epochs 1 --samples 1 --quiet --out a");
    for text in ["", "x", "5", "[]", "{}", r#"{"layers": [], "test": {}}"#, r#"{"layers": [5], "network": {}, "test": {"surrogate": {}}}"#]
    {
        home.write("a/summary.json", text.as_bytes());
        let message = home.fails("resume a --quiet", 2);
        assert!(message.contains("summary.json") && message.contains("remove the file"), "{text}: {message}");
    }
}

/// Every entry of a directory with its length and time.
#[cfg(unix)]
fn entries(home: &Scratch, run: &str) -> std::collections::BTreeMap<std::ffi::OsString, (u64, std::time::SystemTime)> {
    let entry = |entry: std::io::Result<fs::DirEntry>| {
        let (name, metadata) = entry.map(|entry| (entry.file_name(), entry.metadata().unwrap())).unwrap();
        (name, (metadata.len(), metadata.modified().unwrap()))
    };
    fs::read_dir(home.path(run)).unwrap().map(entry).collect()
}

#[cfg(unix)]
#[test]
fn a_result_is_printed_from_a_disk_that_takes_nothing() {
    use std::os::unix::fs::PermissionsExt;
    let home = scratch("read-only");
    home.succeeds("train --data mnist --data-dir data --width 9 --depth 1 --epochs 1 --samples 1 --quiet --out a");
    home.succeeds("train --recipe mnist-501 --data mnist --data-dir data --width 32 --epochs 1 --quiet --out b");
    for run in ["a", "b"] {
        let result = home.json(&format!("resume {run} --quiet"));
        // A lock is left by the run itself; without it there is nothing to hold.
        fs::remove_file(home.path(run).join(".lock")).unwrap();
        let before = entries(&home, run);
        fs::set_permissions(home.path(run), fs::Permissions::from_mode(0o555)).unwrap();
        assert_eq!(home.json(&format!("resume {run} --quiet")), result);
        fs::set_permissions(home.path(run), fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(entries(&home, run), before, "nothing was written, permitted (to root) or not");
    }
}

#[test]
fn resume_removes_only_what_a_run_left_unfinished() {
    let home = scratch("unfinished");
    home.succeeds("train --data mnist --data-dir data --width 9 --depth 1 --epochs 1 --samples 1 --quiet --out a");
    fs::remove_file(home.path("a/summary.json")).unwrap();
    let (own, others) = (
        [".config.toml.tmp", ".last.safetensors.4711-0.tmp", "best.safetensors.tmp", ".summary.json.tmp"],
        [".notes.tmp", ".last.safetensors.old.tmp", "mine.safetensors.tmp", ".picture.svg.tmp", "config.toml.tmp"],
    );
    own.iter().chain(&others).for_each(|name| home.write(&format!("a/{name}"), b"x"));
    home.succeeds("resume a --quiet");
    let left = |names: &[&str]| names.iter().filter(|name| home.path("a").join(name).exists()).count();
    assert_eq!((left(&own), left(&others)), (0, others.len()));
}

#[test]
fn what_cannot_go_on_is_one_sentence() {
    let home = scratch("bad");
    let args = SLOW.replace("--epochs 8", "--epochs 2");
    home.succeeds(&format!("{args} --out a"));
    fs::remove_file(home.path("a/summary.json")).unwrap();
    let (checkpoint, config) = (home.read("a/last.safetensors"), String::from_utf8(home.read("a/config.toml")).unwrap());
    assert!(home.fails("resume nowhere", 2).contains("no run"));
    assert!(home.fails("resume data", 2).contains("it has no config.toml"));
    assert!(home.fails("resume a --epochs 3", 2).contains("--epochs"));

    let mut flipped = checkpoint.clone();
    *flipped.last_mut().unwrap() ^= 1;
    // In the settings, where another number would look as good.
    let mut header = checkpoint.clone();
    let lr = header.windows(6).position(|bytes| bytes == b"\"lr\\\":").expect("the learning rate is in the metadata");
    header[lr + 8] ^= 1;
    // A safetensors file of somebody else's.
    let text = r#"{"weight":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#;
    let foreign = [&(text.len() as u64).to_le_bytes()[..], text.as_bytes(), &[0; 4]].concat();
    for (what, bytes) in [
        ("cut", &checkpoint[..checkpoint.len() - 1]),
        ("short", &checkpoint[..5]),
        ("empty", &[][..]),
        ("flipped", &flipped),
        ("header", &header),
        ("foreign", &foreign),
        ("text", b"not a checkpoint at all"),
    ] {
        home.write("a/last.safetensors", bytes);
        for command in ["resume a", "evaluate a", "inspect a", "evaluate a/last.safetensors --data digits"] {
            let message = home.fails(command, 2);
            assert!(message.contains("last.safetensors: "), "{what}, {command}: {message}");
        }
        assert_eq!(home.read("a/last.safetensors"), bytes, "{what}: left as it is");
    }
    home.write("a/last.safetensors", &checkpoint);

    home.write("a/config.toml", config.replace("epochs = 2", "epochs = 3").as_bytes());
    assert!(home.fails("resume a", 2).contains("not the settings the run began with"));
    home.write("a/config.toml", config.replace("width = 101", "width = 100").as_bytes());
    assert!(home.fails("resume a", 2).contains("not the settings the run began with"));
    home.write("a/config.toml", b"epochs = \"two\"");
    assert!(home.fails("resume a", 2).contains("a/config.toml: line 1"));
    home.write("a/config.toml", config.as_bytes());

    let mut labels = home.read("data/mnist/train-labels-idx1-ubyte");
    labels[8] ^= 1;
    home.write("data/mnist/train-labels-idx1-ubyte", &labels);
    assert!(home.fails("resume a --quiet", 2).contains("not the training examples"));
    fs::remove_dir_all(home.path("data")).unwrap();
    assert!(home.fails("resume a --quiet", 2).contains("data fetch mnist"));
}
