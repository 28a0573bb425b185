//! Trains deep networks of ±1 weights and neurons through differentiable surrogates, and evaluates the binary networks behind them.

mod buffer;
mod canonical;
mod checkpoint;
mod diagnosis;
mod engine;
mod error;
mod evaluate;
mod examples;
mod gradients;
mod init;
mod kernels;
mod named;
mod network;
mod noise;
mod pool;
mod rng;
mod spins;
mod surrogate;
mod train_config;
mod trainer;

pub use canonical::canonical_json;
pub use checkpoint::{Checkpoint, Progress};
pub use diagnosis::{Diagnosis, Histogram, LayerDiagnosis};
pub use error::Error;
pub use evaluate::{Evaluator, SampledScore, Score};
pub use examples::{Examples, Partition, Values};
pub use gradients::Gradients;
pub use init::{Init, Initialisation};
pub use isinglass_theory::Neuron;
pub use network::{Layer, Network, NetworkConfig, Preprocessing};
pub use noise::lrt_noise;
pub use rng::Rng;
pub use surrogate::Surrogate;
pub use train_config::{Goal, Means, Optimizer, Schedule, TrainConfig};
pub use trainer::{EpochReport, Step, Trainer};
