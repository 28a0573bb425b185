//! The layer-to-layer maps of variance and correlation.
//!
//! One rule covers all eight models. With `N = wX + σ_b²`, where `X` is `A = E φ²` or, for ±1 neurons, 1,
//!
//! `q' = N/d`,  `k' = (vC + σ_b²)/√(d_a d_b)`,  `c' = (vC + σ_b²)/√(N_a N_b)`:
//!
//! | model | `X` | `w` | `v` | `d` |
//! |---|---|---|---|---|
//! | `continuous` | `A` | `σ_w²` | `σ_w²` | 1 |
//! | `deterministic` (Sec. 3.2) | `A` | `σ_m²` | `σ_m²` | `n² + s(1 − σ_m²A)` |
//! | `lrt-binary` | 1 | 1 | `σ_m²` | 1 |
//! | `lrt-continuous` | `A` | 1 | `σ_m²` | 1 |
//! | `binary`, `stochastic-binary` | 1 | 1 | 1 | 1 |
//! | `stochastic-weights` | `A` | 1 | 1 | 1 |
//! | `stochastic-neurons` | 1 | `σ_w²` | `σ_w²` | 1 |
//!
//! The slope of the correlation map at the variance fixed point is `χ = vD/d`.
//!
//! ```
//! use isinglass_theory::activation::FieldPair;
//! use isinglass_theory::{Correlation, Model, Neuron, RandomNetwork};
//!
//! let field = RandomNetwork::new(Model::Deterministic, Neuron::Sign)?.at(Some(0.9), 0.0)?;
//! // q' = σ_m²A/(1 − σ_m²A) with A = 1/3 at q = 1: 0.3/0.7.
//! assert!((field.variance_map(1.0)? - 3.0 / 7.0).abs() < 1e-15);
//! // The distance between signals that differ by 1e-15 is accurate.
//! let next = field.pair_map(&FieldPair::equal(1.0, Correlation::from_deficit(1e-15)?))?;
//! assert!((next.correlation.deficit() / 1.102_657_790_843_585e-15 - 1.0).abs() < 1e-12);
//! # Ok::<(), isinglass_theory::Error>(())
//! ```

mod contribution;

use crate::activation::{Activation, FieldPair, Moments, Parity, Phi};
use crate::model::WeightVariance;
use crate::neuron::Denominator;
use crate::{Correlation, Error, Model, Neuron};

/// The random networks of one model and neuron: what the theory describes before variances are chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RandomNetwork<A = Phi> {
    model: Model,
    phi: A,
    denominator: Option<Denominator>,
    neuron: Option<Neuron>,
}

impl RandomNetwork {
    /// One of the paper's networks. Fails if the model cannot have this neuron.
    pub fn new(model: Model, neuron: Neuron) -> Result<Self, Error> {
        model.check_neuron(neuron.check()?)?;
        let (phi, denominator) = match (model, neuron.averaged()) {
            (Model::Deterministic, Some((phi, denominator))) => (phi, Some(denominator)),
            _ => (neuron.mean(), None),
        };
        Ok(Self { model, phi, denominator, neuron: Some(neuron) })
    }
}

impl<A: Activation + Clone> RandomNetwork<A> {
    /// A model with an activation of your own, taken as the neuron's mean `φ`. In [`Model::Deterministic`] it is applied to the normalised field,
    /// `φ(h̄/√Σ)`. [`Model::Binary`] is refused: its neuron is fixed.
    ///
    /// ```
    /// use isinglass_theory::activation::{Activation, Parity};
    /// use isinglass_theory::{Model, RandomNetwork};
    ///
    /// #[derive(Clone)]
    /// struct Softsign;
    /// impl Activation for Softsign {
    ///     fn value(&self, h: f64) -> f64 { h / (1.0 + h * h).sqrt() }
    ///     fn parity(&self) -> Parity { Parity::Odd }
    /// }
    /// let field = RandomNetwork::with_activation(Model::Continuous, Softsign)?.at(Some(1.5), 0.05)?;
    /// assert!((field.variance_fixed_point()?.finite().unwrap() - 0.336_721_985_647).abs() < 1e-11);
    /// # Ok::<(), isinglass_theory::Error>(())
    /// ```
    pub fn with_activation(model: Model, phi: A) -> Result<Self, Error> {
        let denominator = match model {
            Model::Binary => return Err(Error::Unsupported("model binary takes no activation: its neurons are the sign function".into())),
            Model::Deterministic => Some(Denominator { noise: 0.0, spread: 1.0 }),
            _ => None,
        };
        Ok(Self { model, phi, denominator, neuron: None })
    }

    /// The network at initialisation: `sigma2` is `σ_m²`, `σ_w²` or `None`, depending on the model.
    pub fn at(&self, sigma2: Option<f64>, sigma_b2: f64) -> Result<MeanField<A>, Error> {
        let sigma2 = check_weight_variance(self.model, sigma2)?;
        check_variance("σ_b²", sigma_b2)?;
        let (second_moment, own_weight) = match self.model {
            Model::Continuous | Model::Deterministic => (SecondMoment::OfActivation, sigma2),
            Model::LrtContinuous | Model::StochasticWeights => (SecondMoment::OfActivation, 1.0),
            Model::LrtBinary | Model::Binary | Model::StochasticBinary => (SecondMoment::Unit, 1.0),
            Model::StochasticNeurons => (SecondMoment::Unit, sigma2),
        };
        Ok(MeanField { network: self.clone(), second_moment, own_weight, shared_weight: sigma2, sigma_b2 })
    }

    /// The same network with neurons that have no noise of their own.
    pub(crate) fn without_noise(&self) -> Self {
        let denominator = self.denominator.map(|d| Denominator { noise: 0.0, ..d });
        Self { denominator, ..self.clone() }
    }
}

impl<A: Activation> RandomNetwork<A> {
    /// The model.
    pub fn model(&self) -> Model {
        self.model
    }

    /// The activation `φ`, as a function of the surrogate's own field.
    pub fn phi(&self) -> &A {
        &self.phi
    }

    /// The neuron, unless the activation is the user's own.
    pub fn neuron(&self) -> Option<Neuron> {
        self.neuron
    }

    /// The denominator of the deterministic surrogate's field.
    pub fn denominator(&self) -> Option<Denominator> {
        self.denominator
    }

    /// Whether `φ` is a step, whose slope has no finite mean square.
    pub fn is_step(&self) -> bool {
        self.phi.slope(0.0).is_infinite()
    }
}

/// For fields of smaller variance `φ` is linear to the last digit.
pub const LINEAR_BELOW: f64 = 1e-60;

/// The mean-field description of a random network at initialisation.
#[derive(Debug, Clone, PartialEq)]
pub struct MeanField<A = Phi> {
    network: RandomNetwork<A>,
    second_moment: SecondMoment,
    /// `w` in the module's table.
    own_weight: f64,
    /// `v` in the module's table.
    shared_weight: f64,
    sigma_b2: f64,
}

/// `X` in the module's table: a neuron's contribution to the variance of the next field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SecondMoment {
    /// `E φ²`.
    OfActivation,
    /// `x² = 1`.
    Unit,
}

impl<A: Activation> MeanField<A> {
    /// The network.
    pub fn network(&self) -> &RandomNetwork<A> {
        &self.network
    }

    /// The activation `φ`.
    pub fn phi(&self) -> &A {
        &self.network.phi
    }

    /// `σ_m²` or `σ_w²`; `None` for models without either.
    pub fn sigma2(&self) -> Option<f64> {
        (self.network.model.weight_variance() != WeightVariance::None).then_some(self.shared_weight)
    }

    /// `σ_b²`.
    pub fn sigma_b2(&self) -> f64 {
        self.sigma_b2
    }

    /// Whether the variance of a field is the same in every layer, as with ±1 neurons.
    pub(crate) fn variance_is_constant(&self) -> bool {
        self.second_moment == SecondMoment::Unit
    }

    /// Whether equal signals stay equal, so that `c = 1` is a fixed point. Noise drawn for each input prevents it, unless all weights are 0.
    pub fn keeps_equal_signals_equal(&self) -> bool {
        if self.own_weight == 0.0 {
            return true;
        }
        let same_weights = self.own_weight == self.shared_weight;
        // ±1 neurons map equal inputs to equal outputs only if they are not random: E φ² = 1.
        let same_neurons = match self.second_moment {
            SecondMoment::OfActivation => true,
            SecondMoment::Unit => self.network.is_step(),
        };
        same_weights && same_neurons
    }

    /// `d` and `N = wX + σ_b²` of a layer, from `X` and `1 − X`.
    fn denominator_and_numerator(&self, mean_square: f64, deficit: f64) -> (f64, f64) {
        let numerator = self.own_weight * mean_square + self.sigma_b2;
        let d = self.network.denominator.map_or(1.0, |Denominator { noise, spread }| {
            // 1 − σ_m²A, without cancellation as σ_m² → 1 and A → 1.
            let sigma = (1.0 - self.own_weight) + self.own_weight * deficit;
            noise + spread * sigma
        });
        (d, numerator)
    }

    /// `d` at variance `q`.
    fn denominator_at(&self, q: f64) -> Result<f64, Error> {
        if self.network.denominator.is_none() {
            return Ok(1.0);
        }
        let m = self.phi().moments(q)?;
        Ok(self.denominator_and_numerator(m.mean_square, m.deficit).0)
    }

    /// `q'`, the variance of the next field.
    pub fn variance_map(&self, q: f64) -> Result<f64, Error> {
        Ok(self.variance_step(q)?.0)
    }

    /// `dq'/dq` at `q`: for the deterministic surrogate `σ_m²A'(1 + sq')/d` (misprint 2).
    pub fn variance_slope(&self, q: f64) -> Result<f64, Error> {
        Ok(self.variance_step(q)?.1)
    }

    /// `q'` and `dq'/dq`.
    pub(crate) fn variance_step(&self, q: f64) -> Result<(f64, f64), Error> {
        if self.second_moment == SecondMoment::Unit {
            return Ok((self.own_weight + self.sigma_b2, 0.0));
        }
        Ok(self.variance_step_from(&self.phi().moments(q)?))
    }

    fn variance_step_from(&self, m: &Moments) -> (f64, f64) {
        let (d, numerator) = self.denominator_and_numerator(m.mean_square, m.deficit);
        let next = numerator / d;
        let spread = self.network.denominator.map_or(0.0, |d| d.spread);
        (next, self.own_weight * m.growth * (1.0 + spread * next) / d)
    }

    /// `dq'/dq` and `χ₁` at a fixed point `q`, from one evaluation of the moments. `χ₁` of a step is infinite.
    pub(crate) fn slopes(&self, q: f64) -> Result<(f64, f64), Error> {
        let m = self.phi().moments(q)?;
        let dq = if self.second_moment == SecondMoment::Unit { 0.0 } else { self.variance_step_from(&m).1 };
        let (d, _) = self.denominator_and_numerator(m.mean_square, m.deficit);
        Ok((dq, self.slope_from(m.slope_square, d)))
    }

    /// `χ = vD/d`; 0 without weights, even for a step.
    fn slope_from(&self, slopes: f64, d: f64) -> f64 {
        if self.shared_weight == 0.0 { 0.0 } else { self.shared_weight * slopes / d }
    }

    /// The next pair of fields. Variances and correlation are mapped together, since at `q* = 0` the correlation alone has no map.
    pub fn pair_map(&self, pair: &FieldPair) -> Result<FieldPair, Error> {
        if self.second_moment == SecondMoment::Unit {
            let q = self.own_weight + self.sigma_b2;
            let moments = self.phi().pair_moments(pair)?;
            let c = (self.shared_weight * moments.product + self.sigma_b2) / q;
            let deficit = ((self.own_weight - self.shared_weight) + self.shared_weight * moments.deficit) / q;
            return Ok(FieldPair::equal(q, if q > 0.0 { Correlation::from_both(c, deficit) } else { pair.correlation }));
        }
        let m_a = self.phi().moments(pair.q_a)?;
        let (d_a, n_a) = self.denominator_and_numerator(m_a.mean_square, m_a.deficit);
        let (m_b, d_b, n_b) = if pair.q_a == pair.q_b {
            (m_a, d_a, n_a)
        } else {
            let m_b = self.phi().moments(pair.q_b)?;
            let (d_b, n_b) = self.denominator_and_numerator(m_b.mean_square, m_b.deficit);
            (m_b, d_b, n_b)
        };
        let correlation = if self.is_linear_at(pair) {
            let ratio = self.correlation_ratio_of_small_signals();
            Correlation::from_both(ratio * pair.correlation.c(), (1.0 - ratio) + ratio * pair.correlation.deficit())
        } else {
            self.next_correlation(pair, (m_a.mean_square, n_a), (m_b.mean_square, n_b), self.sigma_b2)?
        };
        // A signal about to underflow becomes 0 before it loses digits.
        let flush = |q: f64| if q < f64::MIN_POSITIVE / f64::EPSILON { 0.0 } else { q };
        Ok(FieldPair { q_a: flush(n_a / d_a), q_b: flush(n_b / d_b), correlation })
    }

    /// `c'` and `1 − c'` from `A` and `N = wA + b` of each field.
    fn next_correlation(&self, pair: &FieldPair, (a_a, n_a): (f64, f64), (a_b, n_b): (f64, f64), b: f64) -> Result<Correlation, Error> {
        let norm = n_a.sqrt() * n_b.sqrt();
        if norm == 0.0 {
            return Ok(pair.correlation);
        }
        let moments = self.phi().pair_moments(pair)?;
        let (w, v) = (self.own_weight, self.shared_weight);
        let c = (v * moments.product + b) / norm;
        if c < 0.5 {
            return Ok(Correlation::from_both(c, 1.0 - c));
        }
        // √(N_aN_b) − b − wC vanishes for equal signals; noise drawn for each input adds to it.
        let difference = if pair.q_a == pair.q_b {
            0.5 * w * moments.distance / norm
        } else {
            // N_aN_b − (wC + b)² = w²(A_aA_b − C²) + wb E(φ_a − φ_b)²: neither term is negative.
            let determinant = (w * a_a / n_a) * (w * a_b / n_b) * moments.decorrelation + w * moments.distance * (b / norm) / norm;
            determinant / (1.0 + (w * moments.product + b) / norm)
        };
        Ok(Correlation::from_both(c, difference + (w - v) * moments.product / norm))
    }

    /// `c'/c = v/w` without biases, for fields so small that `φ` is linear.
    pub(crate) fn correlation_ratio_of_small_signals(&self) -> f64 {
        if self.own_weight == self.shared_weight { 1.0 } else { self.shared_weight / self.own_weight }
    }

    /// Whether the fields are so small that `φ` is linear to the last digit, and products of variances may underflow.
    fn is_linear_at(&self, pair: &FieldPair) -> bool {
        self.sigma_b2 == 0.0 && self.adds_linearly_at(pair)
    }

    /// The same without regard to biases.
    fn adds_linearly_at(&self, pair: &FieldPair) -> bool {
        self.own_weight > 0.0 && pair.q_a.max(pair.q_b) < LINEAR_BELOW && self.phi().parity() == Parity::Odd && !self.network.is_step()
    }

    /// The slope `χ = dc'/dc` of the correlation map between fields of variance `q`, a fixed point of the variance map.
    /// Infinite for a step at `c = 1`.
    pub fn chi(&self, q: f64, correlation: Correlation) -> Result<f64, Error> {
        let d = self.denominator_at(q)?;
        let slopes = if q == 0.0 || correlation == Correlation::ONE {
            self.phi().moments(q)?.slope_square
        } else {
            self.phi().slope_product(&FieldPair::equal(q, correlation))?
        };
        Ok(self.slope_from(slopes, d))
    }

    /// The fields of the first layer, whose inputs are fixed: `inputs` holds `q⁰ = |x|²/N` of each and their correlation.
    pub fn first_layer(&self, inputs: &FieldPair) -> Result<FieldPair, Error> {
        let (w, v, b) = (self.own_weight, self.shared_weight, self.sigma_b2);
        let field = |q0: f64| {
            let numerator = w * q0 + b;
            let d = self.network.denominator.map_or(1.0, |d| d.noise + d.spread * (1.0 - w) * q0);
            (numerator, numerator / d)
        };
        let ((n_a, q_a), (n_b, q_b)) = (field(inputs.q_a), field(inputs.q_b));
        if !(q_a.is_finite() && q_b.is_finite()) {
            return Err(Error::NothingRandom(if w == 1.0 {
                "at σ_m² = 1 neither weights nor inputs are random; use σ_m² < 1, or model binary"
            } else {
                "with an input of variance 0 and a neuron without noise nothing is random; use an input variance above 0"
            }));
        }
        let norm = n_a.sqrt() * n_b.sqrt();
        if norm == 0.0 {
            return Ok(FieldPair { q_a, q_b, correlation: inputs.correlation });
        }
        let root = inputs.q_a.sqrt() * inputs.q_b.sqrt();
        let gap = inputs.q_a.sqrt() - inputs.q_b.sqrt();
        let product = root * inputs.correlation.c();
        let distance = gap * gap + 2.0 * root * inputs.correlation.deficit();
        let overlap = w * root / norm;
        let determinant = overlap * overlap * inputs.correlation.one_minus_square() + w * b * distance / (norm * norm);
        let c = (v * product + b) / norm;
        let deficit = if c < 0.5 { 1.0 - c } else { determinant / (1.0 + (w * product + b) / norm) + (w - v) * product / norm };
        Ok(FieldPair { q_a, q_b, correlation: Correlation::from_both(c, deficit) })
    }
}

fn check_weight_variance(model: Model, sigma2: Option<f64>) -> Result<f64, Error> {
    let kind = model.weight_variance();
    match (kind.symbol(), sigma2) {
        (None, None) => Ok(1.0),
        (None, Some(_)) => Err(Error::UnwantedVariance {
            model: model.name(),
            symbol: "σ_m² or σ_w²",
            instead: "its weights are random ±1, and only σ_b² can be chosen",
        }),
        (Some(symbol), None) => {
            let of = if kind == WeightVariance::Means { "weights' means" } else { "weights" };
            Err(Error::MissingVariance { model: model.name(), symbol, of })
        }
        (Some(_), Some(value)) if kind == WeightVariance::Means && value > 1.0 => Err(Error::MeanVariance(value)),
        (Some(symbol), Some(value)) => check_variance(symbol, value),
    }
}

/// Powers of variances must not overflow or underflow.
pub(crate) fn check_variance(symbol: &'static str, value: f64) -> Result<f64, Error> {
    if value == 0.0 || (1e-100..=1e30).contains(&value) { Ok(value) } else { Err(Error::Variance { symbol, value }) }
}
