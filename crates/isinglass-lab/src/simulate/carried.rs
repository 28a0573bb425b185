//! One random network that carries its fields: two signals forwards, one gradient backwards.
//!
//! A layer adds what its weights make of the signals to the field `f` before it: `f' = f + σ W x/√N`, with the sampled noise of LRT, `√Σ ε`, and without biases. The deterministic surrogate
//! carries `Σ' = Σ + mean(1 − σ_m²x̄²)` as well. Neurons see `h = (f + b)/√(n² + sΣ)`. Layer 0 is where the sum starts: its fields are Gaussian, without biases, and `Σ = 1`.

use isinglass_net::Rng;
use isinglass_theory::Denominator;
use isinglass_theory::activation::FieldPair;
use isinglass_theory::carried::START_SPREAD;

use super::layer::{Linearisation, Rule};
use super::realisation::{LAYER, random_gradient, start_fields};
use super::weights::{Transposed, Two};
use super::{Jacobian, Overlaps, Realisation, SpreadJacobian};

/// What one layer carries.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CarriedOverlaps {
    /// Of the carried fields, without biases.
    pub fields: Overlaps,
    /// `Σ` of each input; 0 where none is carried.
    pub spread: [f64; 2],
}

/// The state of a layer.
struct State {
    carried: Vec<Two>,
    spread: Two,
    /// What the neurons see.
    h: Vec<Two>,
    /// `d` of each input.
    d: Two,
}

impl State {
    fn start(rule: &Rule, h: Vec<Two>) -> Self {
        let spread = [if rule.denominator.is_some() { START_SPREAD } else { 0.0 }; 2];
        let d = denominators(rule, spread);
        let carried = h.iter().map(|h| [h[0] * d[0].sqrt(), h[1] * d[1].sqrt()]).collect();
        Self { carried, spread, h, d }
    }

    /// The next layer, which `rng` stands for, and the derivative of what its weights add by the signals.
    fn next(&self, rule: &Rule, rng: &Rng, x: &[Two]) -> (Self, Linearisation) {
        let mut carried = rule.products(rng, x);
        let linearisation = rule.add_noise(rng, x, &mut carried);
        carried.iter_mut().zip(&self.carried).for_each(|(own, before)| *own = [own[0] + before[0], own[1] + before[1]]);
        let own = if rule.denominator.is_some() { rule.spread(x) } else { [0.0; 2] };
        let spread = [self.spread[0] + own[0], self.spread[1] + own[1]];
        let d = denominators(rule, spread);
        let mut h = carried.clone();
        rule.add_biases(rng, &mut h);
        h.iter_mut().for_each(|h| *h = [h[0] / d[0].sqrt(), h[1] / d[1].sqrt()]);
        (Self { carried, spread, h, d }, linearisation)
    }

    fn overlaps(&self) -> CarriedOverlaps {
        CarriedOverlaps { fields: Overlaps::of(&self.carried), spread: self.spread }
    }
}

fn denominators(rule: &Rule, spread: Two) -> Two {
    spread.map(|sigma| rule.denominator.map_or(1.0, |Denominator { noise, spread }| (noise + spread * sigma).max(f64::MIN_POSITIVE)))
}

impl Realisation {
    /// The network that `rng` stands for, with carried fields.
    pub(super) fn carried(rule: &Rule, start: &FieldPair, width: usize, depth: usize, backwards: bool, rng: &Rng) -> Self {
        Self::carried_from(rule, start_fields(rng, start, width), depth, backwards, rng)
    }

    fn carried_from(rule: &Rule, h: Vec<Two>, depth: usize, backwards: bool, rng: &Rng) -> Self {
        let width = h.len();
        let mut state = State::start(rule, h);
        let (mut layers, mut carried) = (vec![Overlaps::of(&state.h)], vec![state.overlaps()]);
        let mut passages = Vec::new();
        for layer in 0..depth {
            let rng = rng.stream(LAYER, layer as u64);
            let x = rule.signals(&rng, &state.h);
            let (next, linearisation) = state.next(rule, &rng, &x);
            if backwards {
                passages.push(Passage::new(rule, &rng, &state, &x, linearisation));
            }
            state = next;
            layers.push(Overlaps::of(&state.h));
            carried.push(state.overlaps());
        }
        Self { layers, carried, jacobians: backwards_through(rule, &passages, width, rng) }
    }
}

/// What the way back needs of the way forth through one layer, for the first input.
struct Passage {
    /// `φ'` of the layer before.
    slopes: Vec<f64>,
    /// `σ/√d`, by which the weights act on its carried fields.
    scale: f64,
    /// The derivative of `Σ'` by its carried fields or, in LRT, that of `√Σ`.
    v: Vec<f64>,
    /// `ε` of LRT; empty otherwise.
    u: Vec<f64>,
    /// `vᵀ√d h`: the response if all fields grow in proportion.
    gain: f64,
    spread: Option<SpreadPassage>,
}

/// The same of a carried `Σ`.
struct SpreadPassage {
    /// `∂Σ'/∂Σ`.
    gain: f64,
    /// `∂x_j/∂Σ`.
    moved: Vec<f64>,
    /// The mean square of `∂h̄'_i/∂Σ`.
    response: f64,
}

impl Passage {
    fn new(rule: &Rule, rng: &Rng, state: &State, x: &[Two], linearisation: Linearisation) -> Self {
        let n = x.len() as f64;
        let slopes: Vec<f64> = state.h.iter().map(|h| rule.slope(h[0])).collect();
        let root = state.d[0].sqrt();
        let m2 = rule.sigma * rule.sigma;
        let coefficient = if rule.denominator.is_some() { -2.0 * m2 / root } else { linearisation.coefficient };
        let v: Vec<f64> = x.iter().zip(&slopes).map(|(x, slope)| coefficient / n * x[0] * slope).collect();
        let gain = v.iter().zip(&state.h).map(|(v, h)| v * h[0]).sum::<f64>() * root;
        let spread = rule.denominator.map(|Denominator { spread: s, .. }| {
            let moved: Vec<f64> = state.h.iter().zip(&slopes).map(|(h, slope)| -0.5 * s / state.d[0] * h[0] * slope).collect();
            let both: Vec<Two> = moved.iter().map(|&moved| [moved, 0.0]).collect();
            let response = rule.products(rng, &both).iter().map(|sum| sum[0] * sum[0]).sum::<f64>() / n;
            let along = x.iter().zip(&moved).map(|(x, moved)| x[0] * moved).sum::<f64>() / n;
            SpreadPassage { gain: 1.0 - 2.0 * m2 * along, moved, response }
        });
        Self { slopes, scale: rule.sigma / root, v, u: linearisation.u, gain, spread }
    }

    /// The singular value of the matrix of rank one: `|u||v|`, with a unit `u` for every unit's `Σ'`.
    fn outlier(&self) -> f64 {
        let norm = |values: &[f64]| values.iter().fold(0.0, |sum, x| sum + x * x).sqrt();
        let u = if self.spread.is_some() { (self.v.len() as f64).sqrt() } else { norm(&self.u) };
        u * norm(&self.v)
    }
}

/// A gradient that is random in the last layer's carried fields and 0 in its `Σ`, sent back to the first: column 0 through all of the Jacobian, column 1 with `Σ` held fixed.
fn backwards_through(rule: &Rule, passages: &[Passage], width: usize, rng: &Rng) -> Vec<Jacobian> {
    let n = width as f64;
    let mean_square = |g: &[Two], column: usize| g.iter().map(|g| g[column] * g[column]).sum::<f64>() / n;
    let mut g = random_gradient(width, rng);
    let mut of_spread = 0.0;
    let mut jacobians = Vec::with_capacity(passages.len());
    for (layer, passage) in passages.iter().enumerate().rev() {
        let Passage { slopes, v, u, .. } = passage;
        let scale = passage.scale / n.sqrt();
        let Transposed { sums, squares, diagonal } = rule.weights(&rng.stream(LAYER, layer as u64)).transposed_times(&g);
        // What the matrix of rank one sends back: through Σ', or through the sampled noise.
        let along: f64 = of_spread + u.iter().zip(&g).map(|(u, g)| u * g[0]).sum::<f64>();
        for (j, g) in g.iter_mut().enumerate() {
            let [all, fixed] = sums[j].map(|sum| scale * sum * slopes[j]);
            *g = [g[0] + all + along * v[j], g[1] + fixed];
        }
        if let Some(spread) = &passage.spread {
            let through_fields = spread.moved.iter().zip(&sums).map(|(moved, sum)| moved * sum[0]).sum::<f64>() * rule.sigma / n.sqrt();
            of_spread = spread.gain * of_spread + through_fields;
        }
        let trace: f64 = slopes.iter().zip(&diagonal).map(|(slope, w)| slope * w).sum::<f64>() * scale / n;
        let square: f64 = slopes.iter().zip(&squares).map(|(slope, square)| slope * slope * square).sum::<f64>() * scale * scale;
        jacobians.push(Jacobian {
            mean_square: 1.0 + 2.0 * trace + square,
            outlier: passage.outlier(),
            outlier_gain: passage.gain,
            gradient: mean_square(&g, 0),
            gradient_fixed: mean_square(&g, 1),
            spread: passage.spread.as_ref().map(|spread| SpreadJacobian {
                gain: spread.gain,
                response: spread.response,
                gradient: of_spread * of_spread / n,
            }),
        });
    }
    jacobians.reverse();
    jacobians
}

#[cfg(test)]
mod tests {
    use super::super::realisation::tests::{N, differentiable, start};
    use super::*;

    /// The carried fields of the last layer after a change of layer 0's carried fields or of its `Σ`.
    fn forward(rule: &Rule, h: &[Two], depth: usize, rng: &Rng, change: impl Fn(&mut State)) -> Vec<f64> {
        let mut state = State::start(rule, h.to_vec());
        change(&mut state);
        state.d = denominators(rule, state.spread);
        // Layer 0 has no biases.
        let root = state.d[0].sqrt();
        state.h.iter_mut().zip(&state.carried).for_each(|(h, carried)| h[0] = carried[0] / root);
        for layer in 0..depth {
            let rng = rng.stream(LAYER, layer as u64);
            let x = rule.signals(&rng, &state.h);
            state = state.next(rule, &rng, &x).0;
        }
        state.carried.iter().map(|carried| carried[0]).collect()
    }

    /// The derivative along a change, by central differences, times a gradient.
    fn derivative(rule: &Rule, h: &[Two], rng: &Rng, change: impl Fn(&mut State, f64)) -> f64 {
        let step = 1e-5;
        let g = random_gradient(N, rng);
        let (up, down) = (forward(rule, h, 3, rng, |state| change(state, step)), forward(rule, h, 3, rng, |state| change(state, -step)));
        up.iter().zip(&down).zip(&g).map(|((up, down), g)| g[0] * (up - down) / (2.0 * step)).sum()
    }

    #[test]
    fn gradients_are_derivatives_of_the_whole_network() {
        for (index, rule) in differentiable().iter().enumerate() {
            let rng = Rng::new(index as u64);
            let h = start(&rng);
            let of_field = |j: usize| derivative(rule, &h, &rng, |state, by| state.carried[j][0] += by);
            let expected = (0..N).map(|j| of_field(j).powi(2)).sum::<f64>() / N as f64;
            let found = Realisation::carried_from(rule, h.clone(), 3, true, &rng).jacobians[0];
            assert!((found.gradient / expected - 1.0).abs() < 1e-6, "{rule:?}: {found:?} is not {expected}");
            if let Some(spread) = found.spread {
                let expected = derivative(rule, &h, &rng, |state, by| state.spread[0] += by).powi(2) / N as f64;
                assert!((spread.gradient / expected - 1.0).abs() < 1e-6, "{rule:?}: {spread:?} is not {expected}");
            }
        }
    }

    #[test]
    fn the_jacobian_with_fixed_spread_has_the_diagonal_of_what_is_carried() {
        let rule = &differentiable()[0];
        let rng = Rng::new(11);
        let h = start(&rng);
        let column = |j: usize| {
            let moved = |by: f64| forward(rule, &h, 1, &rng, |state| state.carried[j][0] += by);
            moved(1e-5).iter().zip(&moved(-1e-5)).map(|(up, down)| ((up - down) / 2e-5).powi(2)).sum::<f64>()
        };
        let expected = (0..N).map(column).sum::<f64>() / N as f64;
        let found = Realisation::carried_from(rule, h.clone(), 1, true, &rng).jacobians[0].mean_square;
        assert!((found / expected - 1.0).abs() < 1e-6, "{found} is not {expected}");
    }
}
