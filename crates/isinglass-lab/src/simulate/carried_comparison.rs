//! Carried fields, measured beside expected.
//!
//! As for plain networks the theory's map is applied to what was measured in the layer before: to the carried fields, their `Σ` and what the neurons saw. But what is carried stays: where a
//! network's neurons are not quite as Gaussian ones, they are so in the next layer too, and the steps of neighbouring layers are correlated. Drift and scatter
//! are therefore standardised by what they scatter from network to network ([`Overall::correlated`]).

use isinglass_theory::activation::{Activation, FieldPair};
use isinglass_theory::quadrature::expectation;
use isinglass_theory::{CarriedState, Correlation, Error as TheoryError, MeanField};

use super::comparison::{CarriedComparison, JacobianComparison, LayerComparison, SpreadComparison, measured, measured_deficit, mirrored};
use super::residuals::{Linearised, OfNetworks, QUANTITIES, Residuals, Steps, covariance, mean};
use super::statistics::Overall;
use super::{Comparison, Ensemble, Measurement, Realisation, SimulateError, expectations, parallel};

impl Measurement {
    /// Sets networks that carry their fields against a theory.
    pub(super) fn compare_carried(&self, theory: &MeanField) -> Result<Comparison, SimulateError> {
        let trajectory = theory.carried_trajectory(self.simulation.start, self.simulation.depth)?;
        let threads = self.simulation.threads;
        let of = |ensemble| residuals(theory, ensemble, threads);
        let steps = Steps { widths: [self.ensemble.width, self.narrow.width], residuals: [of(&self.ensemble)?, of(&self.narrow)?] };
        let layers: Vec<LayerComparison> =
            trajectory.iter().enumerate().map(|(layer, state)| self.carried_layer(layer, state, &steps)).collect();
        let jacobians = self.carried_jacobians(theory, &trajectory, &steps)?;
        let realisations = self.simulation.realisations;
        let of_layers = |name, quantity: usize, step: fn(&LayerComparison) -> Option<f64>| {
            // Layer 0 was not stepped to.
            let deviations: Vec<Option<f64>> = layers[1..].iter().map(step).collect();
            let overall = Overall::correlated(name, &deviations, &steps.by_place(|r| &r.layers, quantity), steps.widths, realisations);
            overall.map(|overall| Overall { largest: (overall.largest.0 + 1, overall.largest.1), ..overall })
        };
        let of_jacobians = |name, quantity: usize, step: fn(&JacobianComparison) -> Option<f64>| {
            let deviations: Vec<Option<f64>> = jacobians.iter().map(step).collect();
            Overall::correlated(name, &deviations, &steps.by_place(|r| &r.jacobians, quantity), steps.widths, realisations)
        };
        let overall = [
            of_layers("q_aa", 0, |layer| layer.q_aa.step),
            of_layers("q_bb", 1, |layer| layer.q_bb.step),
            of_layers("q_ab", 2, |layer| layer.q_ab.step),
            // Residuals are those of 1 − c.
            of_layers("c", 3, |layer| layer.one_minus_c.step),
            of_layers("v_aa", 4, |layer| layer.carried.and_then(|carried| carried.v_aa.step)),
            of_layers("spread", 5, |layer| layer.carried.and_then(|carried| carried.spread.step)),
            of_jacobians("jacobian", 0, |jacobian| jacobian.mean_square.step),
            of_jacobians("outlier_gain", 1, |jacobian| jacobian.outlier_gain.step),
            of_jacobians("gradient_fixed", 3, |jacobian| jacobian.gradient_fixed.step),
            of_jacobians("spread_gain", 4, |jacobian| jacobian.spread.and_then(|spread| spread.gain.step)),
            of_jacobians("spread_response", 5, |jacobian| jacobian.spread.and_then(|spread| spread.response.step)),
        ];
        Ok(Comparison { layers, jacobians, map: Vec::new(), overall: overall.into_iter().flatten().collect(), realisations })
    }

    fn carried_layer(&self, layer: usize, state: &CarriedState, steps: &Steps) -> LayerComparison {
        let networks = self.ensemble.networks.iter();
        let values = |value: fn(&Realisation, usize) -> f64| networks.clone().map(move |network| value(network, layer));
        let step = |size: f64, quantity: usize| layer.checked_sub(1).and_then(|from| steps.deviation(size, |r| &r.layers[from], quantity));
        let plain = |value, theory, quantity| measured(values(value), theory, step(theory, quantity));
        let (pair, deficit) = (state.fields(), state.fields().correlation.deficit());
        let one_minus_c = measured_deficit(values(|network, layer| network.layers[layer].deficit), deficit, || step(deficit, 3));
        LayerComparison {
            q_aa: plain(|network, layer| network.layers[layer].q_aa, pair.q_a, 0),
            q_bb: plain(|network, layer| network.layers[layer].q_bb, pair.q_b, 1),
            q_ab: plain(|network, layer| network.layers[layer].q_ab, covariance(pair), 2),
            c: mirrored(&one_minus_c),
            one_minus_c,
            carried: Some(CarriedComparison {
                v_aa: plain(|network, layer| network.carried[layer].fields.q_aa, state.carried().q_a, 4),
                spread: plain(|network, layer| network.carried[layer].spread[0], state.spread()[0], 5),
            }),
        }
    }

    fn carried_jacobians(
        &self,
        theory: &MeanField,
        trajectory: &[CarriedState],
        steps: &Steps,
    ) -> Result<Vec<JacobianComparison>, TheoryError> {
        let count = self.ensemble.networks.first().map_or(0, |network| network.jacobians.len());
        let mut comparisons = Vec::with_capacity(count);
        // G and Γ of the module on carried Jacobians.
        let (mut gradient, mut of_spread) = (1.0, 0.0);
        for layer in (0..count).rev() {
            let networks = self.ensemble.networks.iter();
            let values = |value: fn(&super::Jacobian) -> f64| networks.clone().map(move |network| value(&network.jacobians[layer]));
            let of_sigma = |value: fn(&super::SpreadJacobian) -> f64| {
                networks.clone().filter_map(move |network| network.jacobians[layer].spread.as_ref().map(value))
            };
            let [mean_square, gain, _, _, spread_gain, response] = expected(theory, &trajectory[layer])?;
            of_spread = of_spread * spread_gain * spread_gain + gradient * response;
            gradient *= mean_square;
            let step = |size: f64, quantity: usize| steps.deviation(size, |r| &r.jacobians[layer], quantity);
            let carries_spread = theory.network().denominator().is_some();
            comparisons.push(JacobianComparison {
                mean_square: measured(values(|j| j.mean_square), mean_square, step(mean_square, 0)),
                outlier: measured(values(|j| j.outlier), outlier(theory, &trajectory[layer], &trajectory[layer + 1])?, None),
                outlier_gain: measured(values(|j| j.outlier_gain), gain, step(gain, 1)),
                gradient: measured(values(|j| j.gradient), gradient, step(mean_square, 2)),
                gradient_fixed: measured(values(|j| j.gradient_fixed), gradient, step(mean_square, 3)),
                spread: carries_spread.then(|| SpreadComparison {
                    gain: measured(of_sigma(|j| j.gain), spread_gain, step(spread_gain, 4)),
                    response: measured(of_sigma(|j| j.response), response, step(response, 5)),
                    gradient: measured(of_sigma(|j| j.gradient), of_spread, None),
                }),
            });
        }
        comparisons.reverse();
        Ok(comparisons)
    }
}

fn residuals(theory: &MeanField, ensemble: &Ensemble, threads: usize) -> Result<Residuals, TheoryError> {
    let networks = &ensemble.networks;
    let depth = networks.first().map_or(0, |network| network.layers.len() - 1);
    let backwards = networks.first().map_or(0, |network| network.jacobians.len());
    let each = |count: usize, work: &(dyn Fn(usize) -> Result<OfNetworks, TheoryError> + Sync)| {
        parallel::in_order(count, threads, work, |_| {}).into_iter().collect::<Result<Vec<_>, _>>()
    };
    Ok(Residuals {
        layers: each(depth, &|layer| of_step(theory, networks, layer))?,
        map: Vec::new(),
        jacobians: each(backwards, &|layer| of_jacobian(theory, networks, layer))?,
    })
}

/// What is carried, its `Σ`, and what the neurons see.
fn state(network: &Realisation, layer: usize) -> [f64; 8] {
    let (carried, fields) = (&network.carried[layer], &network.layers[layer]);
    let of = |overlaps: &super::Overlaps| [overlaps.q_aa, overlaps.q_bb, overlaps.deficit];
    let ([v_a, v_b, apart], [q_a, q_b, deficit]) = (of(&carried.fields), of(fields));
    [v_a, v_b, apart, carried.spread[0], carried.spread[1], q_a, q_b, deficit]
}

/// `q_aa`, `q_bb`, `q_ab`, `1 − c`, `V_aa` and `Σ_a` after the theory's map.
fn mapped(
    theory: &MeanField,
    &[v_a, v_b, apart, sigma_a, sigma_b, q_a, q_b, deficit]: &[f64; 8],
) -> Result<[f64; QUANTITIES], TheoryError> {
    let pair = |q_a: f64, q_b: f64, deficit: f64| {
        Ok::<_, TheoryError>(FieldPair { q_a, q_b, correlation: Correlation::from_deficit(deficit.clamp(0.0, 2.0))? })
    };
    let state = CarriedState::from_parts(theory, pair(v_a, v_b, apart)?, [sigma_a, sigma_b], pair(q_a, q_b, deficit)?)?;
    let next = state.next(theory, true)?;
    let fields = next.fields();
    Ok([fields.q_a, fields.q_b, covariance(fields), fields.correlation.deficit(), next.carried().q_a, next.spread()[0]])
}

fn of_step(theory: &MeanField, networks: &[Realisation], layer: usize) -> Result<OfNetworks, TheoryError> {
    let before = networks.iter().map(|network| state(network, layer));
    let Some(map) = Linearised::new(mean(before), |x| mapped(theory, x))? else {
        return Ok(vec![[f64::NAN; QUANTITIES]; networks.len()]);
    };
    let residual = |network: &Realisation| {
        let (after, carried) = (&network.layers[layer + 1], &network.carried[layer + 1]);
        let measured = [after.q_aa, after.q_bb, after.q_ab, after.deficit, carried.fields.q_aa, carried.spread[0]];
        map.residual(&state(network, layer), measured)
    };
    Ok(networks.iter().map(residual).collect())
}

/// Mean squared singular value, the outlier's gain, the factors of `|g|²` with and without the outlier, `∂Σ'/∂Σ` and the mean square of `∂h̄'/∂Σ`.
fn expected(theory: &MeanField, state: &CarriedState) -> Result<[f64; QUANTITIES], TheoryError> {
    let jacobian = state.jacobian(theory)?;
    let gain = match theory.network().denominator() {
        Some(_) => jacobian.spread_response,
        None => expectations::jacobian(theory, state.q())?.outlier_gain,
    };
    let factor = jacobian.mean_square;
    Ok([factor, gain, factor, factor, jacobian.spread_gain, jacobian.field_response])
}

/// The singular value of the matrix of rank one.
fn outlier(theory: &MeanField, state: &CarriedState, next: &CarriedState) -> Result<f64, TheoryError> {
    if theory.network().denominator().is_none() {
        return expectations::outlier(theory, state.q(), next.q());
    }
    let phi = theory.phi();
    let square = expectation("E φ²φ'²", state.q(), |h| (phi.value(h) * phi.slope(h)).powi(2))?;
    Ok(2.0 * theory.sigma2().unwrap_or(1.0) * (square / state.denominator()[0]).sqrt())
}

fn of_jacobian(theory: &MeanField, networks: &[Realisation], layer: usize) -> Result<OfNetworks, TheoryError> {
    let place = |network: &Realisation| [network.layers[layer].q_aa, network.carried[layer].spread[0]];
    let at = |&[q, sigma]: &[f64; 2]| {
        let fields = FieldPair::equal(q, Correlation::ONE);
        expected(theory, &CarriedState::from_parts(theory, fields, [sigma; 2], fields)?)
    };
    let Some(expected) = Linearised::new(mean(networks.iter().map(place)), at)? else {
        return Ok(vec![[f64::NAN; QUANTITIES]; networks.len()]);
    };
    let residual = |network: &Realisation| {
        let jacobian = network.jacobians[layer];
        let (after, after_fixed) = network.jacobians.get(layer + 1).map_or((1.0, 1.0), |next| (next.gradient, next.gradient_fixed));
        let factors = [jacobian.gradient / after, jacobian.gradient_fixed / after_fixed];
        let (gain, response) = jacobian.spread.map_or((1.0, 0.0), |spread| (spread.gain, spread.response));
        expected.residual(&place(network), [jacobian.mean_square, jacobian.outlier_gain, factors[0], factors[1], gain, response])
    };
    Ok(networks.iter().map(residual).collect())
}
