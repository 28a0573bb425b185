//! `isinglass sweep submit` and `status`, with stand-ins for Slurm's commands: shell scripts that keep a queue in a file. The real ones are in `slurm.rs`.
#![cfg(unix)]

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use common::sweeps::{collect, records, results, scratch};
use common::{Scratch, start};
use serde_json::{Value, json};

const GRID: &str = r#"
[train]
data = "mnist"
data-dir = "data"
width = 21
epochs = 1
batch = 16
samples = 2

[grid]
depth = [1, 3]
seed = [1, 2, 3, 4]
"#;

/// Puts the tasks of an array into the queue, all pending.
const SBATCH: &str = r#"#!/bin/sh
PATH=/usr/bin:/bin
echo "$@" >>"$HOME/sbatch.log"
sleep "${SBATCH_SLEEP:-0}"
if [ -f "$HOME/refusal" ]; then cat "$HOME/refusal" >&2; exit 1; fi
for script; do :; done
name=$(sed -n 's/^#SBATCH --job-name=//p' "$script")
last=$(sed -n 's/^#SBATCH --array=0-\([0-9]*\).*/\1/p' "$script")
job=$((40 + $(wc -l <"$HOME/sbatch.log")))
for index in $(seq 0 "$last"); do echo "$name|$job|$index|PENDING||Resources"; done >>"$HOME/queue"
if [ -f "$HOME/lost-answer" ]; then echo 'sbatch: error: Socket timed out' >&2; exit 1; fi
echo "$job;here"
"#;

const SQUEUE: &str = r#"#!/bin/sh
PATH=/usr/bin:/bin
echo "$@" >>"$HOME/squeue.log"
if [ -f "$HOME/silence" ]; then echo 'squeue: error: Unable to contact slurm controller' >&2; exit 1; fi
cat "$HOME/queue" 2>/dev/null
exit 0
"#;

const SCONTROL: &str = "#!/bin/sh\nPATH=/usr/bin:/bin\ncat \"$HOME/config\"\n";

/// A home with a grid, and with stand-ins for Slurm as the only commands there are.
fn cluster(name: &str, grid: &str) -> Scratch {
    let mut home = scratch(name, grid);
    for (program, text) in [("sbatch", SBATCH), ("squeue", SQUEUE), ("scontrol", SCONTROL)] {
        home.write(&format!("bin/{program}"), text.as_bytes());
        fs::set_permissions(home.path("bin").join(program), fs::Permissions::from_mode(0o755)).unwrap();
    }
    home.set("PATH", home.path("bin"));
    home
}

fn submissions(home: &Scratch, sweep: &str) -> Vec<String> {
    let entries = fs::read_dir(home.path(sweep).join("slurm")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = entries.filter(|name| !name.starts_with('.')).collect();
    names.sort();
    names
}

fn text(home: &Scratch, name: &str) -> String {
    String::from_utf8(home.read(name)).unwrap()
}

/// Runs a task of a submission as Slurm would.
fn run_task(home: &Scratch, submitted: &Value, task: usize) -> String {
    let script = submitted["script"].as_str().unwrap();
    let mut command = Command::new("/bin/sh");
    command.arg(script).current_dir("/").env_clear().env("PATH", "/usr/bin:/bin").env("HOME", home.path(""));
    command.env("SLURM_ARRAY_TASK_ID", task.to_string()).env("SLURM_CPUS_PER_TASK", "1").env("SLURM_ARRAY_JOB_ID", "41");
    let output = command.env("SLURMD_NODENAME", "n1").output().unwrap();
    let log = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{log}");
    log
}

#[test]
fn cells_are_packed_submitted_once_and_come_to_the_same_results() {
    let home = cluster("submit", GRID);
    home.succeeds("sweep run grid.toml --out whole --quiet");
    let flags = "--partition long --time 1:00:00 --cpus-per-task 1 --mem 500M --account me --qos low --max-running 2 --sbatch=--nice=5";
    let output = home.run(&format!("sweep submit grid.toml --out a --slurm --tasks 3 {flags} --format json"));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && told.starts_with("8 cells in 3 tasks of at most about "), "{told}");
    let submitted: Value = serde_json::from_slice(&output.stdout).unwrap();
    let facts = ["job", "tasks", "cells", "done", "queued"].map(|key| submitted[key].clone());
    assert_eq!(Value::from(facts.to_vec()), json!(["41", 3, 8, 0, 0]), "{submitted}");

    let [name] = &submissions(&home, "a")[..] else { panic!("one submission") };
    let script = text(&home, &format!("a/slurm/{name}/job.sh"));
    assert_eq!(submitted["name"], format!("isinglass-{name}"));
    for line in [
        &format!("#SBATCH --job-name=isinglass-{name}"),
        "#SBATCH --array=0-2%2",
        "#SBATCH --requeue --open-mode=append",
        &format!("#SBATCH --output={}/logs/%a.log", home.path("a/slurm").join(name).display()),
        "#SBATCH --cpus-per-task=1",
        "#SBATCH --partition=long",
        "#SBATCH --time=1:00:00",
        "#SBATCH --mem=500M",
        "#SBATCH --account=me",
        "#SBATCH --qos=low",
        "#SBATCH --nice=5",
    ] {
        assert!(script.lines().any(|other| other == line), "{line}\n{script}");
    }
    let told = text(&home, "sbatch.log");
    assert!(told.starts_with("--parsable ") && told.ends_with(&format!(" {}\n", submitted["script"].as_str().unwrap())), "{told}");
    let written: Value = serde_json::from_slice(&home.read(&format!("a/slurm/{name}/job.json"))).unwrap();
    assert_eq!((&written["job"], &written["tasks"], &written["cells"]), (&"41".into(), &3.into(), &8.into()));
    // Every cell in one task, and none with two more than another of the same length.
    let tasks = text(&home, &format!("a/slurm/{name}/tasks.txt"));
    let mut cells: Vec<&str> = tasks.split_whitespace().collect();
    cells.sort_unstable();
    let mut names: Vec<String> = collect(&home, "whole").iter().map(|row| row["cell"].clone()).collect();
    names.sort();
    assert_eq!((cells, tasks.lines().count()), (names.iter().map(String::as_str).collect(), 3));

    // In the queue, so not submitted again.
    let status = home.json("sweep status a");
    assert_eq!((&status["queued"], &status["waiting"], &status["done"]), (&8.into(), &0.into(), &0.into()));
    assert_eq!((&status["jobs"][0]["pending"], &status["jobs"][0]["reasons"][0]), (&3.into(), &"Resources".into()));
    assert_eq!((&status["unfinished"][0]["status"], &status["unfinished"][0]["reason"]), (&"queued".into(), &"Resources".into()));
    let again = home.json("sweep submit grid.toml --out a --slurm --quiet");
    assert_eq!((&again["job"], &again["tasks"], &again["queued"]), (&Value::Null, &0.into(), &8.into()));

    // One task ends, one runs, one has ended without a word.
    let log = run_task(&home, &submitted, 0);
    assert!(log.starts_with("task 0 of job 41 on n1, start 1, "), "{log}");
    home.write("queue", format!("isinglass-{name}|41|1|RUNNING|n1|None\nisinglass-other|7|2|RUNNING|n1|None\n").as_bytes());
    let status = home.json("sweep status a");
    let counts = ["done", "running", "failed", "waiting", "queued"].map(|key| status[key].as_u64().unwrap() as usize);
    let sizes: Vec<usize> = tasks.lines().map(|line| line.split_whitespace().count()).collect();
    assert_eq!(counts, [sizes[0], 0, 0, sizes[2], sizes[1]], "{status}");
    let job = &status["jobs"][0];
    assert_eq!((&job["running"], &job["pending"], &job["ended"], &job["nodes"][0]), (&1.into(), &0.into(), &2.into(), &"n1".into()));
    let lost = status["unfinished"].as_array().unwrap().iter().filter(|row| row["reason"] == "its task has ended");
    assert_eq!(lost.filter(|row| row["status"] == "waiting").count(), sizes[2]);
    let table = home.succeeds("sweep status a");
    assert!(table.contains("Job 41 has 3 tasks: 1 running on n1, 2 ended.") && table.contains("submit the sweep again"), "{table}");
    assert_eq!(home.succeeds("sweep status a --format csv").lines().next(), Some("sweep,cells,done,running,failed,waiting,queued,damaged"));

    // Only what was lost is sent, and by another task.
    let second = home.json("sweep submit grid.toml --out a --slurm --quiet");
    assert_eq!((&second["job"], second["cells"].as_u64()), (&"42".into(), Some(sizes[2] as u64)));
    run_task(&home, &second, 0);
    run_task(&home, &submitted, 1);
    // A task that is started once more, after the loss of its node or of the news that it ended, changes nothing.
    for task in 0..3 {
        assert!(run_task(&home, &submitted, task).contains("nothing to run"));
    }
    assert_eq!(results(&home, "a"), results(&home, "whole"));
    assert!(records(&home, "a") == records(&home, "whole"));
    assert!(collect(&home, "a").iter().all(|row| row["run_attempts"] == "1"));
    let nothing = home.run("sweep submit grid.toml --out a --slurm");
    assert!(nothing.status.success());
    assert_eq!(String::from_utf8(nothing.stderr).unwrap(), "nothing to submit; left out: 8 done\n");
    assert_eq!(text(&home, "sbatch.log").lines().count(), 2);
}

#[test]
fn without_a_scheduler_nothing_is_made() {
    let mut home = cluster("submit-none", GRID);
    home.set("PATH", home.path("nothing"));
    let message = home.fails("sweep submit grid.toml --out a --slurm", 2);
    assert!(message.contains("sbatch not found") && message.contains("isinglass sweep run"), "{message}");
    assert!(!home.path("a").exists());
    // What would be submitted can be seen anywhere.
    let script = home.succeeds("sweep submit grid.toml --out a --slurm --dry-run --quiet --cells-per-task 3");
    assert!(script.starts_with("#!/bin/sh\n#SBATCH --job-name=isinglass-") && script.contains("#SBATCH --array=0-2\n"), "{script}");
    let report = home.json("sweep submit grid.toml --out a --slurm --dry-run --quiet --cells-per-task 3");
    assert_eq!((&report["job"], &report["tasks"], report["text"].is_string()), (&Value::Null, &3.into(), true));
    assert!(!home.path("a").exists());
    home.succeeds("sweep run grid.toml --out a --quiet");
}

#[test]
fn a_refused_job_leaves_no_submission() {
    let home = cluster("submit-refused", GRID);
    home.write("refusal", b"sbatch: error: invalid partition specified: nope\nsbatch: error: Batch job submission failed\n");
    let message = home.fails("sweep submit grid.toml --out a --slurm --partition nope --quiet", 1);
    assert_eq!(message, "error: sbatch failed: invalid partition specified: nope; Batch job submission failed\n");
    assert!(submissions(&home, "a").is_empty());
    assert_eq!(home.json("sweep status a")["waiting"], 8);
    home.succeeds("sweep run grid.toml --out a --quiet");
}

#[test]
fn a_job_is_found_by_its_name_if_its_number_was_lost() {
    let home = cluster("submit-lost", GRID);
    // The controller took the job, but its answer did not arrive.
    home.write("lost-answer", b"");
    let submitted = home.json("sweep submit grid.toml --out a --slurm --quiet");
    assert_eq!(submitted["job"], "41");
    // The process was killed before it could write the number down.
    let [name] = &submissions(&home, "a")[..] else { panic!("one submission") };
    let path = format!("a/slurm/{name}/job.json");
    let written = text(&home, &path);
    assert!(written.contains("\"41\""));
    home.write(&path, written.replace("\"41\"", "null").as_bytes());
    let status = home.json("sweep status a");
    assert_eq!((&status["queued"], &status["jobs"][0]["job"]), (&8.into(), &"41".into()));
    assert_eq!(home.json("sweep submit grid.toml --out a --slurm --quiet")["tasks"], 0);
    // It was killed earlier, in the middle of writing: there is no job.
    home.write("queue", b"");
    fs::remove_file(home.path(&path)).unwrap();
    assert_eq!(home.json("sweep status a")["waiting"], 8);
    assert_eq!(home.json("sweep submit grid.toml --out a --slurm --quiet")["cells"], 8);
}

#[test]
fn a_scheduler_that_does_not_answer_is_told_and_nothing_is_submitted_blindly() {
    let home = cluster("submit-silent", GRID);
    home.json("sweep submit grid.toml --out a --slurm --quiet");
    home.write("silence", b"");
    let output = home.run("sweep status a --format json");
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && message.contains("showing on-disk state only: squeue failed: Unable to contact"), "{message}");
    let status: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&status["waiting"], &status["queued"], &status["jobs"][0]["job"]), (&8.into(), &Value::Null, &"41".into()));
    let message = home.fails("sweep submit grid.toml --out a --slurm --quiet", 1);
    assert!(message.contains("still in the queue") && message.contains("--again"), "{message}");
    assert_eq!(home.json("sweep submit grid.toml --out a --slurm --quiet --again")["cells"], 8);
    assert_eq!(text(&home, "sbatch.log").lines().count(), 2);
}

#[test]
fn the_size_of_arrays_is_respected() {
    let home = cluster("submit-size", GRID);
    home.write("config", b"Configuration data\nMaxArraySize            = 3\n");
    assert_eq!(home.json("sweep submit grid.toml --out a --slurm --quiet --dry-run --cells-per-task 1")["tasks"], 3);
    assert_eq!(home.json("sweep submit grid.toml --out a --slurm --quiet --dry-run --tasks 8")["tasks"], 3);
    // Short cells share a task.
    assert_eq!(home.json("sweep submit grid.toml --out a --slurm --quiet --dry-run")["tasks"], 1);
    // What does not fit into the time is told.
    let long = home.run("sweep submit grid.toml --out a --slurm --dry-run --tasks 1 --time 0:0");
    assert!(String::from_utf8(long.stderr).unwrap().contains("more than --time"));
    home.write("config", b"MaxArraySize = 0\n");
    assert!(home.fails("sweep submit grid.toml --out a --slurm --quiet", 2).contains("no job arrays"));
    assert!(submissions(&home, "a").is_empty());
}

#[test]
fn two_that_submit_at_once_submit_once() {
    let mut home = cluster("submit-two", GRID);
    home.set("SBATCH_SLEEP", "0.3");
    let both = [0, 1].map(|_| start(&home, "sweep submit grid.toml --out a --slurm"));
    let mut told = both.map(|child| String::from_utf8(child.wait_with_output().unwrap().stderr).unwrap());
    told.sort();
    assert!(told[0].starts_with("8 cells in 1 task") && told[1] == "nothing to submit; left out: 8 in the queue\n", "{told:?}");
    assert_eq!(text(&home, "sbatch.log").lines().count(), 1);
}

#[test]
fn failed_cells_are_submitted_if_asked_and_tried_once() {
    let grid =
        GRID.replace("seed = [1, 2, 3, 4]", "lr = [0.01, 1e38]").replace("samples = 2", "optimizer = \"sgd\"\nsurrogate = \"continuous\"");
    let home = cluster("submit-failed", &grid);
    assert_eq!(home.run("sweep run grid.toml --out a --quiet").status.code(), Some(1));
    let nothing = home.json("sweep submit grid.toml --out a --slurm --quiet");
    assert_eq!((&nothing["cells"], &nothing["failed"], &nothing["done"]), (&0.into(), &2.into(), &2.into()));
    let submitted = home.json("sweep submit grid.toml --out a --slurm --quiet --retry-failed");
    assert_eq!((&submitted["cells"], &submitted["failed"]), (&2.into(), &0.into()));
    assert_eq!(home.json("sweep status a")["queued"], 2);
    assert_eq!(home.json("sweep submit grid.toml --out a --slurm --quiet --retry-failed")["queued"], 2);
    // Started again, it does not try once more.
    run_task(&home, &submitted, 0);
    run_task(&home, &submitted, 0);
    assert_eq!(collect(&home, "a").iter().map(|row| row["run_attempts"].clone()).collect::<Vec<_>>(), ["1", "2", "1", "2"]);
    assert_eq!(home.json("sweep status a")["failed"], 2);
    assert_eq!(home.json("sweep submit grid.toml --out a --slurm --quiet --retry-failed")["cells"], 2);
}

#[test]
fn wrong_flags_and_places_are_one_sentence_and_leave_nothing() {
    let home = cluster("submit-bad", GRID);
    home.write("file", b"");
    home.write("bad.toml", GRID.replace("depth =", "dept =").as_bytes());
    for (args, names) in [
        ("grid.toml --out a", "--to slurm"),
        ("grid.toml --slurm", "--out"),
        ("bad.toml --out a --slurm", "dept"),
        ("grid.toml --out a --slurm --sbatch=--array=1-9", "set by isinglass"),
        ("grid.toml --out a --slurm --sbatch=constraint", "--constraint=avx512"),
        ("grid.toml --out a --slurm --cpus-per-task 0", "0"),
        ("grid.toml --out a --slurm --tasks 0", "0"),
        ("grid.toml --out a --slurm --tasks 2 --cells-per-task 2", "cannot be used with"),
        ("grid.toml --out a --slurm --checkpoint-seconds -1", "-1"),
        ("grid.toml --out data --slurm", "not empty"),
        ("grid.toml --out file/a --slurm", "cannot use the directory"),
        // Where nothing can be made, whoever asks.
        ("grid.toml --out /proc/isinglass --slurm", "cannot use the directory"),
    ] {
        let message = home.fails(&format!("sweep submit {args}"), 2);
        assert!(message.contains(names), "{args}: {message}");
        assert!(!home.path("a").exists() && !home.path("sbatch.log").exists(), "{args}");
    }
    assert!(home.fails("sweep run grid.toml --out /proc/isinglass", 2).contains("cannot use the directory"));
}

#[test]
fn figures_are_submitted_and_drawn_when_their_sweeps_are_done() {
    let mut home = cluster("submit-figures", GRID);
    let command = "reproduce fig6 --scale smoke --out figures --data-dir data --quiet";
    let submitted = home.json(&format!("{command} --slurm --partition long --time 30"));
    let sweep = &submitted["sweeps"][0];
    assert_eq!(sweep["sweep"], "figures/sweeps/initialisations");
    assert!(sweep["job"] == "41" && sweep["cells"].as_u64().unwrap() > 1, "{submitted}");
    let [name] = &submissions(&home, "figures/sweeps/initialisations")[..] else { panic!("one submission") };
    let script = format!("figures/sweeps/initialisations/slurm/{name}/job.sh");
    assert!(text(&home, &script).contains("#SBATCH --partition=long"));
    // What is in the queue is not submitted again, and nothing is drawn before it is done.
    let again = home.json(&format!("{command} --slurm"));
    assert!(again["sweeps"][0]["job"].is_null() && again["sweeps"][0]["queued"] == sweep["cells"], "{again}");
    let early = home.fails(command, 1);
    assert!(early.contains("in Slurm's queue") && early.contains("figures/sweeps/initialisations"), "{early}");
    assert!(!home.path("figures/fig6").exists());
    assert_eq!(home.json("sweep status figures/sweeps/initialisations")["done"], 0);
    for task in 0..usize::try_from(sweep["tasks"].as_u64().unwrap()).unwrap() {
        run_task(&home, &json!({ "script": home.path(&script) }), task);
    }
    fs::remove_file(home.path("queue")).unwrap();
    home.succeeds(command);
    home.read("figures/fig6/initialisations.svg");
    home.set("PATH", home.path("nothing"));
    assert!(home.fails("reproduce fig6 --scale smoke --out other --data-dir data --slurm --quiet", 2).contains("sbatch"));
}

/// Variables rank above a script, and flags above variables: they are told to sbatch itself.
#[test]
fn flags_win_over_variables() {
    let mut home = cluster("submit-flags", GRID);
    home.set("SBATCH_PARTITION", "other");
    home.succeeds(
        "sweep submit grid.toml --out a --to slurm --partition long --time 1:00:00 --max-running 2 --tasks 3 --sbatch=--nice=5 --quiet",
    );
    let told = text(&home, "sbatch.log");
    for word in ["--parsable", "--partition=long", "--time=1:00:00", "--array=0-2%2", "--cpus-per-task=1", "--nice=5", "--requeue"] {
        assert!(told.split_whitespace().any(|other| other == word), "{word}: {told}");
    }
    for option in ["-a1-5", "--arr=1-5", "-Jother", "--nice=5 -a3"] {
        let mut command = home.command("sweep submit grid.toml --out b --to slurm");
        let output = command.arg(format!("--sbatch={option}")).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{option}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("set by isinglass itself"), "{option}");
    }
    assert!(!home.path("b").exists());
}

#[test]
fn jobs_are_cancelled_and_logs_are_shown() {
    let home = cluster("submit-cancel", GRID);
    home.write("bin/scancel", b"#!/bin/sh\nPATH=/usr/bin:/bin\necho \"$@\" >>\"$HOME/scancel.log\"\n: >\"$HOME/queue\"\n");
    fs::set_permissions(home.path("bin/scancel"), fs::Permissions::from_mode(0o755)).unwrap();
    let submitted = home.json("sweep submit grid.toml --out a --to slurm --tasks 2 --quiet");
    let name = submissions(&home, "a").remove(0);
    let first = text(&home, &format!("a/slurm/{name}/tasks.txt")).split_whitespace().next().unwrap().to_owned();
    home.write(&format!("a/slurm/{name}/logs/0.log"), b"task 0 of job 41\nout of luck\n");
    let logs = home.json(&format!("sweep logs a {first}"));
    assert!(logs["logs"][0]["text"].as_str().unwrap().ends_with("out of luck"), "{logs}");
    assert!(home.succeeds(&format!("sweep logs a {first} --lines 1")).trim_end().ends_with("out of luck"));

    let cancelled = home.json("sweep cancel a --quiet");
    assert_eq!((&cancelled["cancelled"], &cancelled["jobs"]), (&1.into(), &submitted["job"]));
    assert_eq!(text(&home, "scancel.log").trim(), "41");
    assert_eq!(home.json("sweep cancel a --quiet")["cancelled"], 0);
    assert_eq!(home.json("sweep status a --quiet")["waiting"], 8);
    // What is in the queue is not known: nothing is cancelled, and that is said.
    home.succeeds("sweep submit grid.toml --out a --to slurm --quiet");
    home.write("silence", b"");
    assert!(home.fails("sweep cancel a", 1).contains("cannot learn which cells"));
}

/// A figure is not drawn while cells may still be computed elsewhere.
#[test]
fn reproduce_does_not_draw_if_the_queue_cannot_be_asked() {
    let home = cluster("submit-reproduce", GRID);
    home.succeeds("reproduce fig6 --scale smoke --out figures --data digits --slurm --quiet");
    home.write("silence", b"");
    let message = home.fails("reproduce fig6 --scale smoke --out figures --data digits --quiet", 1);
    assert!(message.contains("cannot learn which cells"), "{message}");
    assert!(!home.path("figures/fig6").exists());
}
