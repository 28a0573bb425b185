//! Sweeps on a cluster that is run by Slurm: cells are packed into the tasks of a job array.
//!
//! | in `slurm/<submission>/` of the sweep | holds |
//! |---|---|
//! | `tasks.txt` | one line for each task: its cells ([`TaskList`]) |
//! | `job.sh` | the batch script |
//! | `job.json` | what was submitted, and the job's number once there is one ([`Submission`]) |
//! | `logs/<task>.log` | what tasks say |
//!
//! A submission's name is the name of its job, so that the job is found in the queue even if the process that submitted it was killed before it could write down the number.
//!
//! A task runs `isinglass sweep work` on its cells. It may be started any number of times, after the loss of its node too: cells that have ended are left alone, and those that were
//! interrupted go on from their last checkpoints. Cells of tasks that are still in the queue are not submitted again, so that two tasks never have the same cell even where
//! the file system does not pass locks between nodes.

mod error;
mod jobs;
mod pack;
mod program;
mod queue;
mod script;
mod submission;
mod submit;
mod task_list;

pub use error::SlurmError;
pub use jobs::{Jobs, Place, Standing};
pub use pack::Packing;
pub(crate) use pack::{Bounds, pack, task_seconds};
pub use queue::{QueuedTask, TaskState};
pub use script::Resources;
pub use submission::Submission;
pub use submit::{Draft, SubmitOptions, Submitted};
pub use task_list::{Entry, TaskList};

/// Where submissions are kept in the directory of a sweep.
pub const SLURM: &str = "slurm";
