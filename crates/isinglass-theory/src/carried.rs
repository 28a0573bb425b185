//! Carried fields: a layer adds its field to the one before, `h' = h + S x/√N`.
//!
//! Biases and the neurons' noise enter at the neuron and are not carried. Carrying begins at the second hidden layer: the first layer's field comes from the data, in other units,
//! and is left behind; the second layer's field starts the sum.
//!
//! The state of a layer is the carried field, with variances `V_a`, `V_b` and covariance `K`, and in the deterministic surrogate its variance `Σ`. With `w`, `v` and `X` from the table
//! in [`mean_field`](crate::mean_field), a layer adds
//!
//! `V' = V + wX`,  `K' = K + vC`,  `Σ' = Σ + 1 − σ_m²A`,
//!
//! and its neurons see fields of `q = (V + σ_b²)/d` and `k = (K + σ_b²)/√(d_a d_b)`, `d = n² + sΣ` (`d = 1` without a `Σ`). LRT carries the sampled field itself, so what it adds
//! up is the second moment, noise included: `V' = V + 1` or `V + A`. All eight models can be carried. `relu` and `linear` have these maps too, but grow by a factor per layer
//! and have no power laws.
//!
//! | question | answer |
//! |---|---|
//! | one layer, with variances of its own, carried or not | [`CarriedState::next`] |
//! | a pair of signals, layer by layer | [`MeanField::carried_trajectory`] |
//! | one layer's Jacobian | [`CarriedState::jacobian`] |
//! | limits, and exponents in place of depth scales | [`CarriedPoint`] |
//! | what is left at a depth, and which variances to use | [`CarriedAdvice`] |
//!
//! ```
//! use isinglass_theory::activation::FieldPair;
//! use isinglass_theory::{Correlation, Model, Neuron, RandomNetwork};
//!
//! let field = RandomNetwork::new(Model::Deterministic, Neuron::Sign)?.at(Some(1.0 / 3.0), 0.0)?;
//! let layers = field.carried_trajectory(FieldPair::equal(1.0, Correlation::new(0.5)?), 59)?;
//! // V + Σ grows by exactly 1 per layer.
//! assert!((layers[59].carried().q_a + layers[59].spread()[0] - 61.0).abs() < 1e-12);
//! // The plain network has q = 2e-14 after 20 layers; this one keeps 0.086, and 0.037 after 59.
//! assert!((layers[20].q() - 0.0862).abs() < 5e-5 && (layers[59].q() - 0.0369).abs() < 5e-5);
//! # Ok::<(), isinglass_theory::Error>(())
//! ```

mod advice;
mod jacobian;
mod point;

pub use advice::{CarriedAdvice, CarriedRecommendation, CarryVerdict, Remains};
pub use jacobian::CarriedJacobian;
pub use point::CarriedPoint;

use crate::activation::{Activation, FieldPair};
use crate::mean_field::check_variance;
use crate::trajectory::check_layers;
use crate::{Correlation, Denominator, Error, MeanField};

/// `Σ` of a start that is given by its fields alone: about that of one layer of small means.
pub const START_SPREAD: f64 = 1.0;

/// Powers of a larger variance would overflow.
const LARGEST: f64 = 1e90;

/// A layer of a network that carries its fields: what is carried, and what its neurons see.
///
/// Layers may differ in their variances, and some may carry while others do not:
///
/// ```
/// use isinglass_theory::activation::FieldPair;
/// use isinglass_theory::{CarriedState, Correlation, Model, Neuron, RandomNetwork};
///
/// let network = RandomNetwork::new(Model::Deterministic, Neuron::Sign)?;
/// let inputs = FieldPair::equal(0.1, Correlation::new(0.5)?);
/// // The first hidden layer, from inputs with |x|²/N = 0.1; the second, where the sum starts; the third, which adds to it.
/// let first = CarriedState::from_inputs(&network.at(Some(0.5), 0.0)?, &inputs)?;
/// let second = first.next(&network.at(Some(0.4), 0.0)?, false)?;
/// let third = second.next(&network.at(Some(0.3), 0.01)?, true)?;
/// assert!((second.carried().q_a + second.spread()[0] - 1.0).abs() < 1e-15);
/// assert!((third.carried().q_a + third.spread()[0] - 2.0).abs() < 1e-15);
/// println!("the third layer's neurons see q = {}, k = {}", third.q(), third.k());
/// # Ok::<(), isinglass_theory::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CarriedState {
    carried: FieldPair,
    spread: [f64; 2],
    denominator: [f64; 2],
    fields: FieldPair,
}

impl CarriedState {
    /// A layer whose neurons see `fields`, without biases, and whose carried fields have variance `spread` (`Σ`; ignored by models that keep none): `V = qd`.
    pub fn start<A: Activation>(field: &MeanField<A>, fields: FieldPair, spread: f64) -> Result<Self, Error> {
        check_variance("q_a", fields.q_a)?;
        check_variance("q_b", fields.q_b)?;
        check_variance("Σ", spread)?;
        let spread = if field.network().denominator().is_some() { spread } else { 0.0 };
        let d = denominator_of(field, spread)?;
        let carried = FieldPair { q_a: fields.q_a * d, q_b: fields.q_b * d, ..fields };
        Ok(Self { carried, spread: [spread; 2], denominator: [d; 2], fields })
    }

    /// The first hidden layer, whose inputs are fixed: `inputs` holds `q⁰ = |x|²/N` of each and their correlation. It follows
    /// [`MeanField::first_layer`]; the layer after it does not carry its field.
    pub fn from_inputs<A: Activation>(field: &MeanField<A>, inputs: &FieldPair) -> Result<Self, Error> {
        check_variance("|x_a|²/N", inputs.q_a)?;
        check_variance("|x_b|²/N", inputs.q_b)?;
        let fields = field.first_layer(inputs)?;
        let (w, v) = (field.own_weight(), field.shared_weight());
        let ratio = if w == 0.0 || w == v { 1.0 } else { v / w };
        let correlation = Correlation::from_both(ratio * inputs.correlation.c(), (1.0 - ratio) + ratio * inputs.correlation.deficit());
        let carried = FieldPair { q_a: w * inputs.q_a, q_b: w * inputs.q_b, correlation };
        let keeps = field.network().denominator().is_some();
        let spread = [inputs.q_a, inputs.q_b].map(|q| if keeps { (1.0 - w) * q } else { 0.0 });
        let denominator = [denominator_of(field, spread[0])?, denominator_of(field, spread[1])?];
        Ok(Self { carried, spread, denominator, fields })
    }

    /// The next layer, with the variances of `field`. If it `carries`, it adds its own field to this one's; otherwise it starts anew, as a plain layer does.
    pub fn next<A: Activation>(&self, field: &MeanField<A>, carries: bool) -> Result<Self, Error> {
        let (own, own_spread) = field.contribution(&self.fields)?;
        let (carried, spread) = if carries {
            (sum(&self.carried, &own), [self.spread[0] + own_spread[0], self.spread[1] + own_spread[1]])
        } else {
            (own, own_spread)
        };
        if !(carried.q_a < LARGEST && carried.q_b < LARGEST) {
            return Err(Error::Unsupported(format!("the variance exceeds {LARGEST:e}: use fewer layers")));
        }
        let biased = sum(&carried, &FieldPair::equal(field.sigma_b2(), Correlation::ONE));
        let denominator = [denominator_of(field, spread[0])?, denominator_of(field, spread[1])?];
        let fields = FieldPair { q_a: biased.q_a / denominator[0], q_b: biased.q_b / denominator[1], correlation: biased.correlation };
        Ok(Self { carried, spread, denominator, fields })
    }

    /// A layer by its parts: what is carried, its `Σ` of each signal, and what the neurons see.
    pub fn from_parts<A: Activation>(field: &MeanField<A>, carried: FieldPair, spread: [f64; 2], fields: FieldPair) -> Result<Self, Error> {
        let denominator = [denominator_of(field, spread[0])?, denominator_of(field, spread[1])?];
        Ok(Self { carried, spread, denominator, fields })
    }

    /// What the neurons see: variances `q_a`, `q_b` and their correlation, biases included.
    pub fn fields(&self) -> &FieldPair {
        &self.fields
    }

    /// What is carried: variances `V_a`, `V_b` of the fields' means (LRT: of the fields) and their correlation, without biases.
    pub fn carried(&self) -> &FieldPair {
        &self.carried
    }

    /// `Σ` of each signal; 0 in models that keep none.
    pub fn spread(&self) -> [f64; 2] {
        self.spread
    }

    /// `d = n² + sΣ` of each signal.
    pub fn denominator(&self) -> [f64; 2] {
        self.denominator
    }

    /// `q` of the first signal.
    pub fn q(&self) -> f64 {
        self.fields.q_a
    }

    /// `k`, the covariance of what the neurons see.
    pub fn k(&self) -> f64 {
        self.fields.q_a.sqrt() * self.fields.q_b.sqrt() * self.fields.correlation.c()
    }
}

fn denominator_of<A: Activation>(field: &MeanField<A>, spread: f64) -> Result<f64, Error> {
    let Some(Denominator { noise, spread: s }) = field.network().denominator() else { return Ok(1.0) };
    let d = noise + s * spread;
    if d > 0.0 {
        Ok(d)
    } else {
        Err(Error::NothingRandom("neither weights, neurons nor noise are random; use σ_m² < 1, or model binary"))
    }
}

/// The sum of two independent pairs of fields.
///
/// `1 − c` comes from `V_aV_b − K²`, a sum of terms none of which is negative, and keeps its digits where signals are close.
fn sum(x: &FieldPair, y: &FieldPair) -> FieldPair {
    if y.q_a == 0.0 && y.q_b == 0.0 {
        return *x;
    }
    let (q_a, q_b) = (x.q_a + y.q_a, x.q_b + y.q_b);
    let norm = q_a.sqrt() * q_b.sqrt();
    if norm == 0.0 {
        return FieldPair { q_a, q_b, correlation: x.correlation };
    }
    let part = |pair: &FieldPair| pair.q_a.sqrt() * pair.q_b.sqrt() / norm;
    let (r, s) = (part(x), part(y));
    let (c_x, c_y) = (x.correlation.c(), y.correlation.c());
    let c = r * c_x + s * c_y;
    if c < 0.5 {
        return FieldPair { q_a, q_b, correlation: Correlation::from_both(c, 1.0 - c) };
    }
    let gap = (x.q_a.sqrt() * y.q_b.sqrt() - x.q_b.sqrt() * y.q_a.sqrt()) / norm;
    let apart = x.correlation.deficit() + c_x * y.correlation.deficit();
    let determinant = r * r * x.correlation.one_minus_square() + s * s * y.correlation.one_minus_square() + gap * gap + 2.0 * r * s * apart;
    FieldPair { q_a, q_b, correlation: Correlation::from_both(c, determinant / (1.0 + c)) }
}

impl<A: Activation> MeanField<A> {
    /// Layers `0..=depth` of a network that carries its fields. Layer 0 is where the sum starts: its neurons see `start`, and its carried field has variance
    /// `Σ = 1` ([`START_SPREAD`]).
    pub fn carried_trajectory(&self, start: FieldPair, depth: usize) -> Result<Vec<CarriedState>, Error> {
        check_layers(depth)?;
        let mut layers = Vec::with_capacity(depth + 1);
        layers.push(CarriedState::start(self, start, START_SPREAD)?);
        for layer in 0..depth {
            layers.push(layers[layer].next(self, true)?);
        }
        Ok(layers)
    }

    /// Hidden layers `1..=depth` of a network from its inputs, `q⁰ = |x|²/N` of each and their correlation. The second layer starts the sum, all others add to it.
    pub fn carried_trajectory_from_inputs(&self, inputs: FieldPair, depth: usize) -> Result<Vec<CarriedState>, Error> {
        check_layers(depth)?;
        let mut layers = Vec::with_capacity(depth);
        for layer in 0..depth {
            layers.push(match layers.last() {
                None => CarriedState::from_inputs(self, &inputs)?,
                Some(last) => CarriedState::next(last, self, layer > 1)?,
            });
        }
        Ok(layers)
    }
}
