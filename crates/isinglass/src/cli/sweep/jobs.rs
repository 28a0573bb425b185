//! What `isinglass sweep status` says about jobs.

use std::collections::BTreeSet;

use isinglass_lab::sweep::slurm::{Jobs, QueuedTask, Submission, TaskState};
use isinglass_lab::words::counted;
use serde_json::Value;

use crate::cli::answer::Record;

/// How the tasks of a job stand.
struct Tally {
    pending: usize,
    running: usize,
    ended: usize,
    nodes: BTreeSet<String>,
    reasons: BTreeSet<String>,
}

impl Tally {
    fn of(submission: &Submission, queued: &[&QueuedTask]) -> Self {
        let count = |state| queued.iter().filter(|task| task.state == state).count();
        let words =
            |word: fn(&QueuedTask) -> &String| queued.iter().map(|task| word(task).clone()).filter(|word| !word.is_empty()).collect();
        // What is about to leave the queue, or to be put back, neither runs nor has ended.
        Self {
            pending: count(TaskState::Pending) + count(TaskState::Completing),
            running: count(TaskState::Running),
            ended: submission.list.tasks.len().saturating_sub(queued.len()),
            nodes: words(|task| &task.nodes),
            reasons: words(|task| &task.reason),
        }
    }
}

/// One object for each submission, the last one last.
pub fn job_rows(jobs: &Jobs) -> Value {
    let row = |submission: &Submission| {
        let tally = jobs.trouble().is_none().then(|| Tally::of(submission, &jobs.queued(submission)));
        let mut row = Record::new();
        row.insert("job".into(), submission.job.clone().into());
        row.insert("name".into(), submission.job_name().into());
        row.insert("tasks".into(), submission.list.tasks.len().into());
        row.insert("cells".into(), submission.list.cells().into());
        row.insert("pending".into(), tally.as_ref().map(|tally| tally.pending).into());
        row.insert("running".into(), tally.as_ref().map(|tally| tally.running).into());
        row.insert("ended".into(), tally.as_ref().map(|tally| tally.ended).into());
        let list = |words: fn(&Tally) -> &BTreeSet<String>| tally.as_ref().map(|tally| words(tally).iter().cloned().collect::<Vec<_>>());
        row.insert("nodes".into(), list(|tally| &tally.nodes).into());
        row.insert("reasons".into(), list(|tally| &tally.reasons).into());
        row.insert("directory".into(), submission.directory.display().to_string().into());
        row.insert("path".into(), submission.directory.display().to_string().into());
        Value::Object(row)
    };
    jobs.submissions().iter().map(row).collect()
}

/// A sentence for each job in the queue, and one if cells have been left behind.
pub fn describe_jobs(jobs: &Jobs, lost: usize) -> Record {
    let mut sentences = Record::new();
    if jobs.trouble().is_some() {
        return sentences;
    }
    for submission in jobs.submissions() {
        let queued = jobs.queued(submission);
        if queued.is_empty() {
            continue;
        }
        let tally = Tally::of(submission, &queued);
        let list = |words: &BTreeSet<String>| words.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        let number = submission.job.as_deref().unwrap_or("?");
        let mut text = format!("Job {number} has {}", counted(submission.list.tasks.len(), "task"));
        text += &match tally.running {
            0 => ": none running".to_owned(),
            running => format!(": {running} running on {}", list(&tally.nodes)),
        };
        if tally.pending > 0 {
            text += &format!(", {} pending", tally.pending);
            if !tally.reasons.is_empty() {
                text += &format!(" ({})", list(&tally.reasons));
            }
        }
        text += &format!(", {} ended. Logs: {}", tally.ended, submission.directory.join("logs").display());
        sentences.insert(format!("job {number}"), text.into());
    }
    if lost > 0 {
        let text = format!(
            "{} without a result, in tasks that have ended: submit the sweep again, and only these are sent.",
            counted(lost, "cell")
        );
        sentences.insert("lost".into(), text.into());
    }
    sentences
}
