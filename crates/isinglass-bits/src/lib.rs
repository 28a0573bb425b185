//! Binary neural networks as packed bits.
//!
//! Weights and neurons are ±1, one bit each.
//! A layer's sum is counted with XNOR and popcount, a neuron compares that sum with an integer ([`threshold_of_spins`]), and the first layer takes raw bytes.
//! A layer may carry: it adds its sums to those of the layer before, so that deep networks have skip connections in whole numbers ([`PackedLayer::carrying`]).
//! Nothing is rounded, so every machine gives the same answer.
//! Tables of real numbers are turned into bytes first, by a rule that is stored with the network ([`Quantiser`]).
//! Files are safetensors, as large as their bits.
//!
//! Three lines load a network and predict:
//!
//! ```
//! # use isinglass_bits::{BitMatrix, PackedNetwork, Preprocessing};
//! # let path = std::env::temp_dir().join(format!("isinglass-bits-doc-{}.safetensors", std::process::id()));
//! # let preprocessing = Preprocessing::new(127.5, 1.0 / 127.5)?;
//! # let layers = vec![(BitMatrix::from_fn(3, 4, |i, j| i != j), vec![0.0; 3]), (BitMatrix::from_fn(2, 3, |i, j| i == 0 || j == 0), vec![0.0, 0.1])];
//! # isinglass_bits::PackedModel::new(vec![PackedNetwork::new(preprocessing, layers)?], preprocessing, 1.0)?.save(&path)?;
//! # let images = [0, 255, 255, 0, 255, 0, 0, 0];
//! use isinglass_bits::PackedModel;
//!
//! let mut predictor = PackedModel::load(&path)?.predictor();
//! let prediction = predictor.predict(&images)?; // one image after the other
//! assert_eq!(prediction.classes(), [1, 0]);
//! # std::fs::remove_file(path).unwrap();
//! # Ok::<(), isinglass_bits::Error>(())
//! ```
//!
//! [`PackedModel::to_onnx`] exports a model for onnxruntime, and [`PackedModel::to_c`] to C99 without dependencies, for microcontrollers.
//!
//! The crate needs only `alloc`; the feature `std`, on by default, adds files, threads, and the choice of the instruction set at run time.

#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

mod carry;
mod error;
mod export;
mod file;
mod kernels;
mod layer;
mod matrix;
mod model;
mod network;
mod prediction;
mod predictor;
mod preprocessing;
mod products;
pub mod quantiser;
mod threshold;
mod values;

pub use carry::MAX_SUM;
pub use error::Error;
pub use kernels::Isa;
pub use layer::{BiasedLayer, Output, PackedLayer};
pub use matrix::{BitMatrix, MAX_COLUMNS};
pub use model::PackedModel;
pub use network::PackedNetwork;
pub use prediction::{Prediction, argmax, softmax};
pub use predictor::Predictor;
pub use preprocessing::Preprocessing;
pub use products::Products;
pub use quantiser::Quantiser;
pub use threshold::{threshold_of_bytes, threshold_of_carried, threshold_of_spins};
pub use values::Values;
