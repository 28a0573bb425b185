//! Trains deep networks of ±1 weights and neurons through differentiable surrogates, and evaluates the binary networks behind them.
//!
//! A binary weight `S = ±1` has a mean `M ∈ [−1, 1]`, and the means are what is trained. One layer of the [deterministic surrogate](Surrogate) is
//!
//! ```text
//! h̄ = M x̄/√N + b        Σ = mean(1 − M²) + mean(M²(1 − x̄²))        x̄ = φ(h̄/√Σ)
//! ```
//!
//! two products forward and four backward, since gradients flow through the variance `Σ` as well. There is no batch norm; what carries a signal through many layers is the
//! [initialisation](Init), and [`isinglass_theory`] knows how far.
//!
//! | what | where |
//! |---|---|
//! | shape, neurons, initial means | [`NetworkConfig`], [`Network`], [`Init`] |
//! | optimiser, learning rate, polarisation | [`TrainConfig`], [`Goal`], [`Means`] |
//! | training, step by step | [`Trainer`] |
//! | accuracy of the surrogate, of `sign(M)`, of sampled networks | [`Evaluator`] |
//! | gradients alone | [`Gradients`] |
//! | what a network looks like inside | [`Diagnosis`] |
//! | files | [`Checkpoint`] |
//!
//! ```
//! use isinglass_net::{Evaluator, Examples, NetworkConfig, Rng, TrainConfig, Trainer, Values};
//!
//! // Is the left or the right half brighter?
//! let images: Vec<u8> = (0..200u32).flat_map(|i| if i % 2 == 0 { [200, 180, 10, 30] } else { [20, 40, 210, 190] }).collect();
//! let labels: Vec<u8> = (0..200).map(|i| (i % 2) as u8).collect();
//! let examples = Examples::new(Values::Bytes(&images), 4, &labels, 2)?;
//!
//! let network = NetworkConfig { inputs: 4, depth: 2, width: 33, classes: 2, ..NetworkConfig::default() }.init(&mut Rng::new(1))?;
//! let mut trainer = Trainer::new(network, TrainConfig { epochs: 10, ..TrainConfig::default() }, examples, 1)?;
//! while !trainer.is_finished() {
//!     trainer.step()?;
//! }
//! let network = trainer.network();
//! assert_eq!(Evaluator::new(&network, 1).binary(&examples, None).unwrap().accuracy, 1.0);
//! # Ok::<(), isinglass_net::Error>(())
//! ```
//!
//! Equal seeds give equal bits, whatever the number of threads, and on all instruction sets with fused multiply-add (`ISINGLASS_SIMD=avx512|avx2|neon|scalar` chooses one).

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

/// The instruction sets that the kernels can use on this machine, the fastest first: what `ISINGLASS_SIMD` may name.
pub fn instruction_sets() -> Vec<&'static str> {
    isinglass_simd::Isa::names()
}

pub use canonical::canonical_json;
pub use checkpoint::{Checkpoint, Progress};
pub use diagnosis::{Diagnosis, Histogram, LayerDiagnosis};
pub use error::Error;
pub use evaluate::{Evaluator, Inference, SampledScore, Score};
pub use examples::{Examples, Partition, Values};
pub use gradients::Gradients;
pub use init::{AUTO_REACH, Init, Initialisation};
pub use isinglass_theory::Neuron;
pub use network::{Layer, Network, NetworkConfig, Preprocessing};
pub use noise::lrt_noise;
pub use rng::Rng;
pub use surrogate::Surrogate;
pub use train_config::{Goal, Means, Optimizer, Schedule, TrainConfig};
pub use trainer::{EpochReport, Step, Trainer};
