//! What the scheduler says about tasks.

use super::SlurmError;
use super::program::{PATIENCE, ask};

/// Name, job, task, state, nodes, reason: the last may have anything in it.
const FORMAT: &str = "%j|%F|%K|%T|%N|%r";

/// A task in the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedTask {
    /// The number of its job array.
    pub job: String,
    /// Its place in the array.
    pub index: usize,
    /// How it stands.
    pub state: TaskState,
    /// Where it runs; empty if it does not.
    pub nodes: String,
    /// Why it does not run, in Slurm's word; empty if it does.
    pub reason: String,
}

/// How a task in the queue stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TaskState {
    /// It will be started.
    Pending,
    /// It has nodes.
    Running,
    /// It has ended or lost its node, and is about to leave the queue or to be put back.
    Completing,
}

/// All tasks of jobs by their names, each beside its job's name.
pub(crate) fn queued_tasks(names: &[String]) -> Result<Vec<(String, QueuedTask)>, SlurmError> {
    let args = ["--noheader", "--array", &format!("--name={}", names.join(",")), &format!("--format={FORMAT}")];
    let answer = ask("squeue", &args.map(str::to_owned), Some(PATIENCE))?;
    Ok(answer.lines().filter_map(parse).collect())
}

/// A line that is not about a task in the queue says nothing.
fn parse(line: &str) -> Option<(String, QueuedTask)> {
    let mut fields = line.trim().splitn(6, '|');
    let mut next = || fields.next().map(str::trim);
    let (name, job, index, state, nodes, reason) = (next()?, next()?, next()?, next()?, next()?, next()?);
    let state = match state {
        "BOOT_FAIL" | "CANCELLED" | "COMPLETED" | "DEADLINE" | "FAILED" | "NODE_FAIL" | "OUT_OF_MEMORY" | "PREEMPTED" | "REVOKED"
        | "TIMEOUT" => return None,
        "COMPLETING" => TaskState::Completing,
        "PENDING" | "CONFIGURING" | "REQUEUED" | "REQUEUE_FED" | "REQUEUE_HOLD" | "RESV_DEL_HOLD" | "SPECIAL_EXIT" => TaskState::Pending,
        // Running, suspended, or a word of another version: better to wait for it than to run its cells twice.
        _ => TaskState::Running,
    };
    let reason = if reason == "None" { "" } else { reason };
    let task = QueuedTask { job: job.to_owned(), index: index.parse().ok()?, state, nodes: nodes.to_owned(), reason: reason.to_owned() };
    Some((name.to_owned(), task))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_squeue_are_understood() {
        let task = |line: &str| parse(line).map(|(_, task)| task);
        let running = task("isinglass-x|12|3|RUNNING|n1|None").unwrap();
        assert_eq!(
            running,
            QueuedTask { job: "12".into(), index: 3, state: TaskState::Running, nodes: "n1".into(), reason: String::new() }
        );
        let pending = task(" isinglass-x|12|0|PENDING||(Nodes|down) ").unwrap();
        assert_eq!((pending.state, pending.nodes.as_str(), pending.reason.as_str()), (TaskState::Pending, "", "(Nodes|down)"));
        assert_eq!(task("isinglass-x|12|0|COMPLETING|n1|BeginTime").unwrap().state, TaskState::Completing);
        assert_eq!(task("isinglass-x|12|0|SUSPENDED|n1|None").unwrap().state, TaskState::Running);
        for line in ["", "CLUSTER: here", "x|12|N/A|RUNNING|n1|None", "x|12|1|TIMEOUT||None"] {
            assert_eq!(task(line), None, "{line}");
        }
    }
}
