//! Deep neural networks of ±1 weights and neurons (Ising spins): one dependency for all of isinglass.
//!
//! - [`theory`]: how signals travel through such a network, before any training.
//! - [`net`]: building, training and evaluating such a network, through a differentiable surrogate.
//! - [`bits`]: the binary network itself, packed into bits.
//! - [`data`]: data to train with: generated digits, MNIST and Fashion-MNIST, and readers for your own images and tables.
//! - [`lab`]: training runs, sweeps, simulations, charts and reports.
//!
//! `docs/library.md` in the repository is a tour with examples.
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

// A message that cannot be written must not end a command: the macros panic, `cli::terminal::tell` does not.
#![deny(clippy::print_stderr, clippy::print_stdout)]

mod cli;

pub mod questions;

pub use cli::{CliError, command_line};
pub use isinglass_bits as bits;
pub use isinglass_data as data;
pub use isinglass_lab as lab;
pub use isinglass_net as net;
pub use isinglass_theory as theory;

/// The programs of `docs/library.md`, tested in a checkout; the page is not part of a packaged crate.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/library.md")]
struct LibraryPage;

/// The program of `README.md`.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
