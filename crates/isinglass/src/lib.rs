//! Deep neural networks of ±1 weights and neurons (Ising spins): one dependency for all of isinglass.
//!
//! - [`theory`]: how signals travel through such a network, before any training.
//! - [`net`]: training such a network through a differentiable surrogate.
//! - [`bits`]: the binary network itself, packed into bits.
//! - [`data`]: images to train with: generated digits, MNIST and Fashion-MNIST, and files of one's own.
//! - [`lab`]: training runs, phase diagrams and charts.
//!
//! ```
//! use isinglass::theory::{Advice, Model, Neuron, RandomNetwork, advice};
//!
//! // Which initialisation for 20 layers of unit-gain neurons?
//! let network = RandomNetwork::new(Model::Deterministic, Neuron::Tanh(1.0))?;
//! let advice = Advice::new(&network, 20, advice::DEFAULT_REACH)?;
//! assert_eq!(advice.best.sigma2, Some(1.0));
//! // σ_m² = exp(−3/20) is the least that carries signals through.
//! assert!((advice.smallest.unwrap().sigma2.unwrap() - (-3.0f64 / 20.0).exp()).abs() < 1e-9);
//! # Ok::<(), isinglass::theory::Error>(())
//! ```

pub use isinglass_bits as bits;
pub use isinglass_data as data;
pub use isinglass_lab as lab;
pub use isinglass_net as net;
pub use isinglass_theory as theory;
