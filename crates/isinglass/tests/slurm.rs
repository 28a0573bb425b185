//! Sweeps on a real Slurm cluster: two nodes on this machine, one of which is killed in the middle.
//!
//! Runs if `ISINGLASS_SLURM` is 1, and then needs slurmctld, slurmd, munged and Slurm's commands (on Debian, the packages `slurm-wlm` and `munge`).
#![cfg(target_os = "linux")]

mod common;

use std::time::Duration;

use common::cluster::Cluster;
use common::sweeps::{collect, records, results, scratch};
use common::{Scratch, start};
use serde_json::Value;

/// Cells that take some seconds, also on a fast machine: asking for their state takes up to one. The nodes share a machine.
const GRID: &str = r#"
[train]
data = "mnist"
data-dir = "data"
width = 101
depth = 3
batch = 8
samples = 2
[grid]
seed = [1, 2, 3, 4, 5]
epochs = [90, 75]
"#;

/// A name that has to be quoted for the shell and for sbatch.
const SWEEP: &str = "it's_100%,(all)";

const LONG: Duration = Duration::from_secs(300);

struct Bench {
    cluster: Cluster,
    home: Scratch,
}

impl Bench {
    fn new() -> Self {
        let mut home = scratch("slurm", GRID);
        home.write("small.toml", GRID.replace("[1, 2, 3, 4, 5]", "[6, 7]").as_bytes());
        let cluster = Cluster::start(&home.path("cluster"));
        home.set("SLURM_CONF", cluster.configuration());
        Self { cluster, home }
    }

    fn submit(&self, grid: &str, sweep: &str, flags: &str) -> Value {
        self.home.json(&format!("sweep submit {grid} --out {sweep} --slurm --quiet --checkpoint-seconds 0.1 {flags}"))
    }

    fn status(&self, sweep: &str) -> Value {
        self.home.json(&format!("sweep status {sweep}"))
    }

    /// The rows of cells that have not ended, in a certain way.
    fn unfinished(&self, sweep: &str, wanted: impl Fn(&Value) -> bool) -> Vec<Value> {
        self.status(sweep)["unfinished"].as_array().unwrap().iter().filter(|row| wanted(row)).cloned().collect()
    }

    /// Waits until a cell has left a checkpoint on a node (or anywhere), and returns its name.
    fn wait_for_checkpoint(&self, sweep: &str, node: Option<&str>) -> String {
        let mut found = None;
        self.cluster.wait_for("a cell with a checkpoint", LONG, || {
            let running = self.unfinished(sweep, |row| row["status"] == "running" && node.is_none_or(|node| row["node"] == node));
            found = self.with_checkpoint(sweep, &running).into_iter().next();
            found.is_some()
        });
        found.unwrap()
    }

    /// The names of those of these cells that have left a checkpoint.
    fn with_checkpoint(&self, sweep: &str, cells: &[Value]) -> Vec<String> {
        let names = cells.iter().map(|row| row["cell"].as_str().unwrap().to_owned());
        names.filter(|name| self.home.path(sweep).join("runs").join(name).join("last.safetensors").exists()).collect()
    }

    /// Waits until all cells are done; says so if one fails.
    fn wait_for_the_end(&self, sweep: &str) {
        self.cluster.wait_for("all cells done", LONG, || {
            let status = self.status(sweep);
            assert_eq!(status["failed"], 0, "{status}");
            status["done"] == status["cells"]
        });
        // The last of them is on record, but its run may have to be removed yet.
        let runs = self.home.path(sweep).join("runs");
        self.cluster.wait_for("runs removed", LONG, || std::fs::read_dir(&runs).unwrap().count() == 0);
        // Every cell is there once, and nothing else is.
        assert_eq!(records(&self.home, sweep).len() as u64, self.status(sweep)["cells"].as_u64().unwrap());
    }

    fn attempts(&self, sweep: &str, cell: &str) -> usize {
        collect(&self.home, sweep).iter().find(|row| row["cell"] == cell).unwrap()["run_attempts"].parse().unwrap()
    }
}

#[test]
fn a_sweep_survives_the_loss_of_a_node() {
    if std::env::var_os("ISINGLASS_SLURM").is_none_or(|value| value != "1") {
        isinglass_fuzz::skip("ISINGLASS_SLURM=1 does not say that Slurm and munge are installed");
        return;
    }
    let bench = Bench::new();
    let (home, cluster) = (&bench.home, &bench.cluster);

    // What the cluster refuses is said, and leaves nothing.
    let message = home.fails(&format!("sweep submit grid.toml --out {SWEEP} --slurm --quiet --partition nowhere"), 1);
    assert!(message.contains("sbatch failed: ") && message.contains("partition"), "{message}");
    assert_eq!(bench.status(SWEEP)["jobs"].as_array().unwrap().len(), 0);

    let submitted = bench.submit("grid.toml", SWEEP, "--cells-per-task 2 --partition main --time 30 --mem 100M");
    assert_eq!((&submitted["tasks"], &submitted["cells"]), (&5.into(), &10.into()));
    // All of them are in the queue or running.
    let again = bench.submit("grid.toml", SWEEP, "");
    assert_eq!((&again["job"], &again["cells"]), (&Value::Null, &0.into()), "{again}");
    let status = bench.status(SWEEP);
    assert_eq!((&status["waiting"], &status["jobs"][0]["job"]), (&0.into(), &submitted["job"]), "{status}");

    bench.wait_for_checkpoint(SWEEP, Some("n2"));
    let killed = cluster.kill_node("n2");
    // The scheduler does not know yet: by its word the node still runs what it left.
    let torn = bench.wait_for_checkpoint(SWEEP, Some("n2"));
    eprintln!("{killed} tasks were killed with their node, one of them at cell {torn}");
    assert!(killed >= 1);
    // Meanwhile, the same on this machine.
    let whole = start(home, "sweep run grid.toml --out whole --quiet --threads 1");
    // The scheduler puts the task back, and the cell waits with it.
    let is_put_back = |row: &Value| row["cell"] == *torn && row["status"] == "queued" && row["reason"].is_string();
    cluster.wait_for("the task put back", LONG, || !bench.unfinished(SWEEP, is_put_back).is_empty());
    assert_eq!(bench.submit("grid.toml", SWEEP, "")["cells"], 0);

    bench.wait_for_the_end(SWEEP);
    assert!(whole.wait_with_output().unwrap().status.success());
    assert_eq!(results(home, SWEEP), results(home, "whole"));
    assert!(records(home, SWEEP) == records(home, "whole"));
    assert!(bench.attempts(SWEEP, &torn) >= 2, "somebody went on with the cell");
    let logs = std::path::Path::new(submitted["directory"].as_str().unwrap()).join("logs");
    let logs: Vec<String> = std::fs::read_dir(logs).unwrap().map(|log| std::fs::read_to_string(log.unwrap().path()).unwrap()).collect();
    assert_eq!(logs.len(), 5);
    assert!(logs.iter().any(|log| log.contains(" on n2, start 1, ") && log.contains(" on n1, start 2, ")), "{logs:?}");
    let nothing = bench.submit("grid.toml", SWEEP, "");
    assert_eq!((&nothing["job"], &nothing["done"]), (&Value::Null, &10.into()));

    // A job that is held, and cancelled before it began: its cells wait until they are submitted again.
    let held = bench.submit("small.toml", "small", "--tasks 1 --sbatch=--hold");
    let reasons = bench.unfinished("small", |row| row["status"] == "queued" && row["reason"] == "JobHeldUser");
    assert_eq!(reasons.len(), 4, "{}", bench.status("small"));
    cluster.run("scancel", &[held["job"].as_str().unwrap()]);
    cluster.wait_for("cells without a task", LONG, || {
        bench.unfinished("small", |row| row["status"] == "waiting" && row["reason"] == "its task has ended").len() == 4
    });
    // A task that is cancelled while it runs saves its state.
    let cancelled = bench.submit("small.toml", "small", "--tasks 1 --cpus-per-task 2");
    assert_eq!(cancelled["cells"], 4);
    bench.wait_for_checkpoint("small", None);
    cluster.run("scancel", &[cancelled["job"].as_str().unwrap()]);
    cluster.wait_for("cells without a task", LONG, || bench.status("small")["queued"] == 0 && bench.status("small")["running"] == 0);
    // The cell that was waited for may have ended before the signal came; another is running then.
    let stopped = bench.with_checkpoint("small", &bench.unfinished("small", |_| true));
    assert!(!stopped.is_empty(), "{}", bench.status("small"));
    let log = std::fs::read_to_string(std::path::Path::new(cancelled["directory"].as_str().unwrap()).join("logs/0.log")).unwrap();
    assert!(log.contains("stopped with ") && log.contains(" of 4 cells done"), "{log}");
    bench.submit("small.toml", "small", "--tasks 2");
    home.succeeds("sweep run small.toml --out small-whole --quiet --threads 1");
    bench.wait_for_the_end("small");
    assert!(records(home, "small") == records(home, "small-whole"));
    assert!(stopped.iter().all(|cell| bench.attempts("small", cell) >= 2), "{stopped:?}");
}
