//! What can go wrong between a sweep and its scheduler.

use std::path::PathBuf;

use thiserror::Error;

/// The scheduler is not there, does not answer, or does not want the job.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SlurmError {
    /// One of Slurm's commands is not installed.
    #[error(
        "{program} not found: submit on a machine where Slurm is installed, such as a cluster's login node, or use `isinglass sweep run` on this one"
    )]
    Missing {
        /// The command.
        program: &'static str,
    },
    /// A command ended with an error.
    #[error("{program} failed: {message}")]
    Failed {
        /// The command.
        program: &'static str,
        /// What it says.
        message: String,
    },
    /// A command did not come back.
    #[error("{program} has not answered for {seconds} seconds")]
    Silent {
        /// The command.
        program: &'static str,
        /// For how long.
        seconds: u64,
    },
    /// `sbatch` succeeded, but said something else than a job's number.
    #[error("sbatch answered {answer:?} where the number of a job was expected: look for the job {name} with squeue")]
    NoNumber {
        /// What it said.
        answer: String,
        /// The job's name.
        name: String,
    },
    /// It is not known which cells are in the queue.
    #[error(
        "cannot learn which cells of the sweep are still in the queue: {source}; try again later (`isinglass sweep submit --again` submits them in any case)"
    )]
    UnknownQueue {
        /// Why.
        source: Box<SlurmError>,
    },
    /// The cluster has no job arrays.
    #[error("this cluster allows no job arrays (its MaxArraySize is 0): run the cells with `isinglass sweep run` in a job of your own")]
    NoArrays,
    /// A value cannot be written into a batch script.
    #[error("{what} {value:?} cannot be given to Slurm: {reason}")]
    Value {
        /// What the value is for.
        what: String,
        /// The value.
        value: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A list of tasks is damaged, or has no such task.
    #[error("{}: {reason}", .path.display())]
    TaskList {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
}
