//! Trains deep networks of ±1 weights and neurons through differentiable surrogates, and evaluates the binary networks behind them.
//!
//! A binary weight `S = ±1` has a mean `M ∈ [−1, 1]`, and training moves the means. One layer of the [deterministic surrogate](Surrogate) is
//!
//! ```text
//! h̄ = M x̄/√N + b        Σ = mean(1 − M²) + mean(M²(1 − x̄²))        x̄ = φ(h̄/√Σ)
//! ```
//!
//! two products forward and four backward, since gradients flow through the variance `Σ` as well. There is no batch norm: the
//! [initialisation](Init) carries the signal through many layers, and [`isinglass_theory`] predicts how far.
//!
//! | what | where |
//! |---|---|
//! | shape, neurons, initial means | [`Network::builder`], [`NetworkConfig`], [`Init`] |
//! | the layers, checked | [`Network`], [`Layer`], [`LayerSpec`] |
//! | how raw values become inputs | [`Features`], [`InputRule`] |
//! | optimiser, learning rate, polarisation | [`TrainConfig`], [`Goal`], [`Means`] |
//! | training | [`Trainer`] |
//! | predictions and scores of the surrogate, of `sign(M)` and of sampled networks | [`Network::surrogate`], [`Network::binary`], [`Network::sampled`] |
//! | packed bits | [`Counterpart::pack`] |
//! | gradients alone | [`Gradients`] |
//! | the inside of a network | [`Diagnosis`] |
//! | files | [`Checkpoint`] |
//!
//! ```standalone_crate
//! use isinglass_net::{Examples, Init, Network, TrainConfig, Trainer};
//!
//! # let directory = std::env::temp_dir().join(format!("isinglass-net-doc-{}", std::process::id()));
//! # std::fs::create_dir_all(&directory).unwrap();
//! # std::env::set_current_dir(&directory).unwrap();
//! // Is the left or the right half brighter?
//! let images: Vec<u8> = (0..200u32).flat_map(|i| if i % 2 == 0 { [200, 180, 10, 30] } else { [20, 40, 210, 190] }).collect();
//! let labels: Vec<u8> = (0..200).map(|i| (i % 2) as u8).collect();
//! let train = Examples::new(&images, 4, &labels, 2)?;
//! let seed = 1;
//!
//! let network = Network::builder(4).hidden([33, 17]).classes(2).init(Init::Auto, seed)?;
//! let network = Trainer::new(network, TrainConfig::default(), &train)?.run(|epoch| eprintln!("{epoch}"))?;
//! let prediction = network.binary().predict(&images)?; // no labels needed; surrogate() and sampled(k) likewise
//! assert_eq!(prediction.classes()[..4], [0, 1, 0, 1]);
//! network.binary().pack()?.save("model.safetensors")?; // one bit per weight
//! # assert!(directory.join("model.safetensors").is_file());
//! # std::fs::remove_dir_all(&directory).unwrap();
//! # Ok::<(), isinglass_net::Error>(())
//! ```
//!
//! Equal seeds give equal bits, whatever the number of threads, and on all instruction sets with fused multiply-add (`ISINGLASS_SIMD=amx|avx512|avx2|neon|scalar` chooses one).

#[cfg(not(target_pointer_width = "64"))]
compile_error!("sizes of networks and buffers are products that need 64 bits; isinglass-bits runs packed networks on smaller machines");

mod buffer;
mod canonical;
mod carry;
mod checkpoint;
mod counterpart;
mod diagnosis;
mod engine;
mod error;
mod examples;
mod gradients;
mod init;
mod input;
mod kernels;
mod layer;
mod named;
mod network;
mod network_config;
mod noise;
mod or_nan;
mod packing;
mod parametrisation;
mod partition;
mod rng;
mod score;
mod spins;
mod surrogate;
mod train_config;
mod trainer;
mod votes;

/// The instruction sets that the kernels can use on this machine, fastest first: the values that `ISINGLASS_SIMD` may take.
pub fn instruction_sets() -> Vec<&'static str> {
    isinglass_simd::Isa::names()
}

/// The number of threads that the machine runs in parallel.
fn default_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

pub use canonical::canonical_json;
pub use carry::{Carry, CarryChoice};
pub use checkpoint::{Checkpoint, Progress};
pub use counterpart::Counterpart;
pub use diagnosis::{Diagnosis, Histogram, LayerDiagnosis};
pub use error::Error;
pub use examples::Examples;
pub use gradients::{Gradients, LayerGradients};
pub use init::{AUTO_REACH, Init, Initialisation};
pub use input::{Features, InputRule};
pub use isinglass_bits::{Prediction, Preprocessing, Quantiser, Values};
pub use isinglass_theory::Neuron;
pub use layer::{Layer, LayerSpec};
pub use network::{Network, NetworkBuilder};
pub use network_config::NetworkConfig;
pub use noise::lrt_noise;
pub use packing::Packed;
pub use partition::Partition;
pub use rng::Rng;
pub use score::{Inference, SampledScore, Score};
pub use surrogate::Surrogate;
pub use train_config::{AnnealOrder, Goal, Means, Optimizer, Schedule, TrainConfig};
pub use trainer::{EpochReport, Step, Trainer};
