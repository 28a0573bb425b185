//! Binary neural networks as packed bits.
//!
//! Weights and neurons are ±1, one bit each. A layer's sum is counted with XNOR and popcount, a neuron is a comparison of that sum with an integer ([`threshold_of_spins`]), and the first
//! layer looks at bytes as they are; nothing is rounded anywhere, so every machine gives the same answer. Files are safetensors, as large as their bits.
//!
//! In another program it takes three lines:
//!
//! ```
//! # use isinglass_bits::{BitMatrix, Network, Preprocessing};
//! # let path = std::env::temp_dir().join(format!("isinglass-bits-doc-{}.safetensors", std::process::id()));
//! # let preprocessing = Preprocessing { offset: 127.5, scale: 1.0 / 127.5 };
//! # let layers = vec![(BitMatrix::from_fn(3, 4, |i, j| i != j), vec![0.0; 3]), (BitMatrix::from_fn(2, 3, |i, j| i == 0 || j == 0), vec![0.0, 0.1])];
//! # std::fs::write(&path, isinglass_bits::Model::new(vec![Network::new(preprocessing, layers)?], preprocessing, 1.0)?.to_bytes()).unwrap();
//! # let images = [0, 255, 255, 0, 255, 0, 0, 0];
//! use isinglass_bits::Model;
//!
//! let mut predictor = Model::load(&path)?.predictor();
//! let classes = predictor.classes(&images)?; // bytes, one image after the other
//! # assert_eq!(classes, [1, 0]);
//! # std::fs::remove_file(path).unwrap();
//! # Ok::<(), isinglass_bits::Error>(())
//! ```
//!
//! For other programs, [`Model::to_onnx`] writes a file for onnxruntime, and [`Model::to_c`] C99 without dependencies, for microcontrollers.
//!
//! The crate needs `alloc` only; the feature `std`, on by default, adds files, threads, and choosing the instruction set at run time.

#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

mod error;
mod export;
mod file;
mod kernels;
mod matrix;
mod network;
mod predictor;
mod products;
mod threshold;

pub use error::Error;
pub use kernels::Isa;
pub use matrix::{BitMatrix, MAX_COLUMNS};
pub use network::{Layer, Model, Network, Output, Preprocessing};
pub use predictor::Predictor;
pub use products::Products;
pub use threshold::{threshold_of_bytes, threshold_of_spins};
