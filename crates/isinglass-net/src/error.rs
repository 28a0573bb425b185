//! Errors, each with a message that says what to do.

use isinglass_files::did_you_mean;
use thiserror::Error;

/// A bad request, bad data, or a run that cannot continue.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// An unknown name.
    #[error("unknown {kind} \"{name}\"{}; known are {known}", did_you_mean(.name, .known.split(", ")))]
    UnknownName {
        /// What was looked for.
        kind: &'static str,
        /// The name given.
        name: String,
        /// The known names.
        known: String,
    },
    /// A setting with an impossible value, or settings that exclude each other.
    #[error("{0}")]
    Config(String),
    /// A layer that does not fit its specification or its network.
    #[error("{0}")]
    Layer(String),
    /// There is no binary network behind the surrogate.
    #[error("surrogate {0}: there is no binary network behind it; train with surrogate deterministic, lrt-binary or ste")]
    NotBinary(crate::Surrogate),
    /// A network that cannot be packed.
    #[error("{0}")]
    Pack(String),
    /// A packed network that differs from the original: a bug in this library.
    #[error(
        "the packed network ({isa}) differs from the trained one: network {network}, example {example}, class {class} has the sum {packed}, not {float}; \
         nothing was written; this is a bug in isinglass, please report it"
    )]
    PackedDiffers {
        /// The instruction set.
        isa: &'static str,
        /// Which network of an ensemble.
        network: usize,
        /// Which example.
        example: usize,
        /// Which class.
        class: usize,
        /// Its sum in the packed network.
        packed: i32,
        /// Its sum in floats.
        float: i32,
    },
    /// Bits that cannot be packed, or inputs that a packed network cannot take.
    #[error(transparent)]
    Bits(#[from] isinglass_bits::Error),
    /// The theory does not cover the network.
    #[error(transparent)]
    Theory(#[from] isinglass_theory::Error),
    /// The environment variable `ISINGLASS_SIMD` names an instruction set that this machine does not have.
    #[error(transparent)]
    InstructionSet(#[from] isinglass_simd::Error),
    /// Examples that cannot be used.
    #[error("{0}")]
    Examples(String),
    /// The loss is no longer a number.
    #[error("the loss became {loss:e} in step {step}: training diverged; a smaller learning rate than {lr:e} may help")]
    Diverged {
        /// The step, counted from 1.
        step: u64,
        /// The loss.
        loss: f32,
        /// The learning rate.
        lr: f64,
    },
    /// The loss is not a number, or a useless one, before anything was learned.
    #[error("the loss is {loss:e} in step 1, before anything was learned, so no learning rate will help: {cause}")]
    Overflow {
        /// The loss.
        loss: f32,
        /// The setting that is out of proportion.
        cause: String,
    },
    /// A step after the last.
    #[error("all {steps} steps of the run are done; to train on, resume its checkpoint with more epochs")]
    Finished {
        /// Steps of the run.
        steps: u64,
    },
    /// A file that is damaged or not a checkpoint.
    #[error("{path}: {reason}")]
    Checkpoint {
        /// The file.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A file that cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The file.
        path: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// A file that cannot be written.
    #[error("cannot write {path}: {source}; any earlier file is unchanged")]
    Write {
        /// The file.
        path: String,
        /// The system's error.
        source: std::io::Error,
    },
}

impl Error {
    pub(crate) fn config(message: impl Into<String>) -> Self {
        Self::Config(message.into())
    }
}
