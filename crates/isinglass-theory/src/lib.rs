//! Mean-field theory of deep networks of ±1 weights and neurons, and of the continuous surrogates that train them.
//!
//! Before any training, it answers how a signal and its gradient propagate through a random network: in which phase the network is, how deep they reach, and
//! which variances of the weights' means and of the biases to choose. It follows "Critical initialisation in continuous approximations of binary
//! neural networks" (Stamatescu, Gerace, Lucibello, Fuss, White; ICLR 2020), with its misprints corrected.
//!
//! Start with a [`RandomNetwork`] (a model and a neuron), choose its variances with [`at`](RandomNetwork::at), and ask:
//!
//! | question | answer |
//! |---|---|
//! | fixed points, slopes, depth scales, phase | [`Point`] |
//! | a pair of signals, layer by layer | [`MeanField::trajectory`] |
//! | one step of the maps | [`MeanField::pair_map`], [`MeanField::chi`] |
//! | where the network is critical | [`RandomNetwork::critical_set`] |
//! | which variances to use for a depth | [`Advice`] |
//! | the same if layers carry their fields on | [`carried`] |
//!
//! ```
//! use isinglass_theory::{Model, Neuron, Phase, Point, RandomNetwork};
//!
//! // A deep tanh network of real weights, at the edge of chaos.
//! let network = RandomNetwork::new(Model::Continuous, "tanh".parse()?)?;
//! let on_the_line = network.critical_point(0.5)?;
//! let point = Point::of(&network.at(on_the_line.sigma2, on_the_line.sigma_b2)?)?;
//! assert_eq!(point.phase, Phase::Critical);
//! assert!((point.q_star.finite().unwrap() - 0.5).abs() < 1e-12);
//!
//! // The sign neuron cannot be critical: its depth scale is at most 2.2 layers.
//! let sign = RandomNetwork::new(Model::Deterministic, Neuron::Sign)?;
//! assert!(!sign.critical_set()?.is_reachable());
//! assert!(Point::of(&sign.at(Some(1.0), 0.0)?)?.xi_1().unwrap() < 2.2145);
//! # Ok::<(), isinglass_theory::Error>(())
//! ```
//!
//! Results have a relative error below 1e-12 for erf and sign (`q` from 1e-12 to 1e12, `1 − c` down to 1e-15) and below 1e-10 for tanh and logistic
//! (`q` from 1e-12 to 1e6, `1 − c` down to 1e-12). An integral that cannot be certified is an error. Results have the same bits on every platform.

mod correlation;
mod double_double;
mod error;
mod fixed_point;
mod long_run;
mod root;
mod trajectory;

pub mod activation;
pub mod advice;
pub mod carried;
pub mod critical;
pub mod mean_field;
pub mod model;
pub mod neuron;
pub mod point;
pub mod quadrature;

pub use advice::{Advice, Recommendation};
pub use carried::{CarriedAdvice, CarriedPoint, CarriedState, CarryVerdict};
pub use correlation::Correlation;
pub use critical::{CriticalPoint, CriticalSet, Segment};
pub use error::Error;
pub use fixed_point::VarianceFixedPoint;
pub use long_run::linspace;
pub use mean_field::{MeanField, RandomNetwork};
pub use model::{Model, WeightVariance};
pub use neuron::{Denominator, Neuron};
pub use point::{Phase, Point, depth_scale};
pub use trajectory::MOST_LAYERS;
