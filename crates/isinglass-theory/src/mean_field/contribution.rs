//! What one layer's weights add to a field: the numerator of its map, without biases.

use super::{MeanField, SecondMoment};
use crate::activation::{Activation, FieldPair, Moments};
use crate::{Correlation, Error};

impl<A: Activation> MeanField<A> {
    /// What a layer's weights make of the fields before it, without biases and before the denominator: variances `wX`, covariance `vC`, and `Σ` of each signal
    /// (0 where no `Σ` is kept apart from the field).
    pub(crate) fn contribution(&self, pair: &FieldPair) -> Result<(FieldPair, [f64; 2]), Error> {
        let (w, v) = (self.own_weight, self.shared_weight);
        if self.second_moment == SecondMoment::Unit {
            if w == 0.0 {
                return Ok((FieldPair::equal(0.0, pair.correlation), [0.0; 2]));
            }
            let moments = self.phi().pair_moments(pair)?;
            let correlation = Correlation::from_both(v * moments.product / w, ((w - v) + v * moments.deficit) / w);
            return Ok((FieldPair::equal(w, correlation), [0.0; 2]));
        }
        let m_a = self.phi().moments(pair.q_a)?;
        let m_b = if pair.q_a == pair.q_b { m_a } else { self.phi().moments(pair.q_b)? };
        let (n_a, n_b) = (w * m_a.mean_square, w * m_b.mean_square);
        let correlation = if self.adds_linearly_at(pair) {
            let ratio = self.correlation_ratio_of_small_signals();
            Correlation::from_both(ratio * pair.correlation.c(), (1.0 - ratio) + ratio * pair.correlation.deficit())
        } else {
            self.next_correlation(pair, (m_a.mean_square, n_a), (m_b.mean_square, n_b), 0.0)?
        };
        let spread = |m: &Moments| if self.network.denominator.is_some() { (1.0 - w) + w * m.deficit } else { 0.0 };
        Ok((FieldPair { q_a: n_a, q_b: n_b, correlation }, [spread(&m_a), spread(&m_b)]))
    }

    /// `w`, the variance that a saturated neuron adds to the next field.
    pub(crate) fn own_weight(&self) -> f64 {
        self.own_weight
    }

    /// `v`, the variance of the weights that both signals share.
    pub(crate) fn shared_weight(&self) -> f64 {
        self.shared_weight
    }
}
