//! What a network of many layers comes to: where its correlation map settles, how far a signal reaches, whether gradients exist.

use crate::activation::Activation;
use crate::advice::signal_rate;
use crate::mean_field::LINEAR_BELOW;
use crate::{Error, MeanField, Model, Point, VarianceFixedPoint, depth_scale};

impl<A: Activation + Clone> MeanField<A> {
    /// The layer whose correlation map is that of the network in the long run, and the variance of its fields: that of the fixed point. Where signals die out it is that of
    /// vanishing ones; where every variance is kept or none is finite (relu, linear), that of large ones, against which biases do not count.
    ///
    /// # Errors
    ///
    /// Those of [`MeanField::variance_fixed_point`].
    pub fn at_fixed_point(&self) -> Result<(Self, f64), Error> {
        Ok(match self.variance_fixed_point()? {
            VarianceFixedPoint::Positive(q) => (self.clone(), q),
            VarianceFixedPoint::Zero => (self.clone(), 0.5 * LINEAR_BELOW),
            VarianceFixedPoint::Every | VarianceFixedPoint::Diverges => (self.network().at(self.sigma2(), 0.0)?, 1.0),
        })
    }

    /// The depth scale of the signal, infinite where it diverges; `None` where there is none.
    ///
    /// ```
    /// use isinglass_theory::{Model, Neuron, RandomNetwork};
    ///
    /// let unit_gain = RandomNetwork::new(Model::Deterministic, Neuron::Tanh(1.0))?;
    /// let scale = unit_gain.at(Some(0.9), 0.0)?.signal_scale()?.unwrap();
    /// assert!((scale + 1.0 / 0.9f64.ln()).abs() < 1e-12);
    /// assert_eq!(unit_gain.at(Some(1.0), 0.0)?.signal_scale()?, Some(f64::INFINITY));
    /// # Ok::<(), isinglass_theory::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Point::of`].
    pub fn signal_scale(&self) -> Result<Option<f64>, Error> {
        Ok(signal_rate(&Point::of(self)?).map(|rate| depth_scale(rate).unwrap_or(f64::INFINITY)))
    }

    /// Whether gradients exist: not through ±1 neurons that are really ±1, nor through a step.
    pub fn is_differentiable(&self) -> bool {
        let network = self.network();
        let passes_means = !matches!(network.model(), Model::Binary | Model::StochasticBinary | Model::StochasticNeurons);
        passes_means && !network.is_step()
    }
}

/// `count` numbers from `low` to `high`, both included.
///
/// ```
/// assert_eq!(isinglass_theory::linspace(0.0, 1.0, 3), [0.0, 0.5, 1.0]);
/// ```
pub fn linspace(low: f64, high: f64, count: usize) -> Vec<f64> {
    let last = count.saturating_sub(1).max(1) as f64;
    (0..count).map(|i| if i + 1 == count && count > 1 { high } else { low + (high - low) * i as f64 / last }).collect()
}
