//! One random network: two signals forwards, one gradient backwards.

use isinglass_net::Rng;
use isinglass_theory::activation::FieldPair;

use super::carried::CarriedOverlaps;
use super::gaussian::Gaussian;
use super::layer::{Linearisation, Rule};
use super::weights::{Transposed, Two};

/// What the random numbers of a network are for; the index is the layer's.
const START: u64 = 1;
pub(super) const LAYER: u64 = 2;
const GRADIENT: u64 = 3;

/// The fields of two inputs in one layer, averaged over its units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Overlaps {
    /// `mean(h_a²)`.
    pub q_aa: f64,
    /// `mean(h_b²)`.
    pub q_bb: f64,
    /// `mean(h_a h_b)`.
    pub q_ab: f64,
    /// `1 − c`, computed from differences so that close signals keep their distance. NaN if a field vanishes everywhere.
    pub deficit: f64,
}

impl Overlaps {
    pub(super) fn of(h: &[Two]) -> Self {
        let mean = |f: &dyn Fn(&Two) -> f64| h.iter().map(f).sum::<f64>() / h.len() as f64;
        let (q_aa, q_bb) = (mean(&|h| h[0] * h[0]), mean(&|h| h[1] * h[1]));
        let (a, b) = (q_aa.sqrt(), q_bb.sqrt());
        let deficit = if a > 0.0 && b > 0.0 { 0.5 * mean(&|h| (h[0] / a - h[1] / b).powi(2)) } else { f64::NAN };
        Self { q_aa, q_bb, q_ab: mean(&|h| h[0] * h[1]), deficit }
    }

    /// `c = q_ab/√(q_aa q_bb)`.
    pub fn c(&self) -> f64 {
        1.0 - self.deficit
    }
}

/// The way back through one layer: how `h` of layer `ℓ + 1` depends on `h` of layer `ℓ`, for the first input.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Jacobian {
    /// Mean squared singular value, `Σ` held fixed: `‖J‖²_F/N`.
    pub mean_square: f64,
    /// The singular value of the matrix of rank one that `Σ` adds; 0 if there is no `Σ`.
    pub outlier: f64,
    /// How strongly that matrix responds if all fields of layer `ℓ` grow in proportion: `vᵀh`.
    pub outlier_gain: f64,
    /// `|g|²/N` in layer `ℓ`, of a random gradient with `|g|² = N` in the last layer.
    pub gradient: f64,
    /// The same if all of the network's `Σ` are held fixed.
    pub gradient_fixed: f64,
    /// What a carried `Σ` adds; `None` where no `Σ` is carried.
    pub spread: Option<SpreadJacobian>,
}

/// The way back through a layer's carried `Σ`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpreadJacobian {
    /// `∂Σ'/∂Σ`.
    pub gain: f64,
    /// The mean square of `∂h̄'_i/∂Σ` over the units.
    pub response: f64,
    /// `γ²/N`, `γ` the gradient with respect to `Σ` of layer `ℓ`.
    pub gradient: f64,
}

/// What was measured in one network.
#[derive(Debug, Clone, PartialEq)]
pub struct Realisation {
    /// Layers `0..=depth`.
    pub layers: Vec<Overlaps>,
    /// What the layers carry; empty if they carry nothing.
    pub carried: Vec<CarriedOverlaps>,
    /// From layer `ℓ` to `ℓ + 1`, for `ℓ` in `0..depth`; empty if it was not asked for.
    pub jacobians: Vec<Jacobian>,
}

/// Fields of the start: pairs of Gaussian numbers with the given covariance, a pair for each unit.
pub(super) fn start_fields(rng: &Rng, start: &FieldPair, width: usize) -> Vec<Two> {
    let mut gaussian = Gaussian::new(rng.stream(START, 0));
    let (a, b) = (start.q_a.sqrt(), start.q_b.sqrt());
    // From the common part, so that close signals differ by what they should: sin θ is small, 1 − cos θ smaller.
    let (c, sine) = (start.correlation.c(), start.correlation.one_minus_square().sqrt());
    let pair = |_| {
        let (common, own) = (gaussian.draw(), gaussian.draw());
        [a * common, b * (c * common + sine * own)]
    };
    (0..width).map(pair).collect()
}

impl Realisation {
    /// The network that `rng` stands for.
    pub(super) fn new(rule: &Rule, start: &FieldPair, width: usize, depth: usize, backwards: bool, rng: &Rng) -> Self {
        Self::from_fields(rule, start_fields(rng, start, width), depth, backwards, rng)
    }

    fn from_fields(rule: &Rule, mut h: Vec<Two>, depth: usize, backwards: bool, rng: &Rng) -> Self {
        let width = h.len();
        let mut layers = vec![Overlaps::of(&h)];
        let mut passages = Vec::new();
        for layer in 0..depth {
            let rng = rng.stream(LAYER, layer as u64);
            let x = rule.signals(&rng, &h);
            let (next, linearisation) = rule.fields(&rng, &x);
            layers.push(Overlaps::of(&next));
            if backwards {
                passages.push(Passage::new(rule, &h, &x, linearisation));
            }
            h = next;
        }
        Self { layers, carried: Vec::new(), jacobians: backwards_through(rule, &passages, width, rng) }
    }
}

/// What the way back needs of the way forth through one layer.
struct Passage {
    slopes: Vec<f64>,
    /// `v` of the matrix of rank one, with `φ'`: `u vᵀ` is its part of the Jacobian.
    v: Vec<f64>,
    gain: f64,
    linearisation: Linearisation,
}

impl Passage {
    fn new(rule: &Rule, h: &[Two], x: &[Two], linearisation: Linearisation) -> Self {
        let slopes: Vec<f64> = h.iter().map(|h| rule.slope(h[0])).collect();
        let per_unit = linearisation.coefficient / h.len() as f64;
        let v: Vec<f64> = x.iter().zip(&slopes).map(|(x, slope)| per_unit * x[0] * slope).collect();
        let gain = v.iter().zip(h).map(|(v, h)| v * h[0]).sum();
        Self { slopes, v, gain, linearisation }
    }
}

/// A random gradient of the last layer with `|g|² = N`, in both columns.
pub(super) fn random_gradient(width: usize, rng: &Rng) -> Vec<Two> {
    let mut gaussian = Gaussian::new(rng.stream(GRADIENT, 0));
    let g: Vec<Two> = (0..width).map(|_| [gaussian.draw(); 2]).collect();
    let norm = (g.iter().map(|g| g[0]).map(|g| g * g).sum::<f64>() / width as f64).sqrt();
    g.into_iter().map(|g| g.map(|g| g / norm)).collect()
}

/// A gradient that is random in the last layer, sent back to the first: column 0 through all of the Jacobian, column 1 with `Σ` held fixed.
fn backwards_through(rule: &Rule, passages: &[Passage], width: usize, rng: &Rng) -> Vec<Jacobian> {
    let n = width as f64;
    let mean_square = |values: &mut dyn Iterator<Item = f64>| values.map(|g| g * g).sum::<f64>() / n;
    let mut g = random_gradient(width, rng);
    let mut jacobians = Vec::with_capacity(passages.len());
    for (layer, Passage { slopes, v, gain, linearisation }) in passages.iter().enumerate().rev() {
        let Linearisation { scale, u, .. } = linearisation;
        let scale = scale / n.sqrt();
        let Transposed { sums, squares, .. } = rule.weights(&rng.stream(LAYER, layer as u64)).transposed_times(&g);
        let along: f64 = u.iter().zip(&g).map(|(u, g)| u * g[0]).sum();
        for (j, g) in g.iter_mut().enumerate() {
            let [all, fixed] = sums[j].map(|sum| scale * sum * slopes[j]);
            *g = [all + along * v[j], fixed];
        }
        // From 0, since an empty sum is −0 and would be printed so.
        let norm = |values: &[f64]| values.iter().fold(0.0, |sum, x| sum + x * x).sqrt();
        jacobians.push(Jacobian {
            mean_square: slopes.iter().zip(&squares).map(|(slope, square)| slope * slope * square).sum::<f64>() * scale * scale,
            outlier: norm(u) * norm(v),
            outlier_gain: *gain,
            gradient: mean_square(&mut g.iter().map(|g| g[0])),
            gradient_fixed: mean_square(&mut g.iter().map(|g| g[1])),
            spread: None,
        });
    }
    jacobians.reverse();
    jacobians
}

#[cfg(test)]
pub(super) mod tests {
    use isinglass_theory::{Correlation, Model, Neuron, RandomNetwork};

    use super::*;

    pub const N: usize = 9;

    /// Of every kind of model that has gradients.
    pub fn differentiable() -> [Rule; 6] {
        [
            (Model::Continuous, Neuron::Tanh(1.0), Some(1.3)),
            (Model::Deterministic, Neuron::Sign, Some(0.7)),
            (Model::Deterministic, Neuron::Logistic(0.5), Some(0.9)),
            (Model::LrtBinary, Neuron::Probit(0.8), Some(0.6)),
            (Model::LrtContinuous, Neuron::Tanh(1.2), Some(0.6)),
            (Model::StochasticWeights, Neuron::Erf(0.9), None),
        ]
        .map(|(model, neuron, sigma2)| Rule::new(&RandomNetwork::new(model, neuron).unwrap().at(sigma2, 0.05).unwrap()))
    }

    pub fn start(rng: &Rng) -> Vec<Two> {
        start_fields(rng, &FieldPair::equal(1.0, Correlation::new(0.5).unwrap()), N)
    }

    /// The fields of the last layer, with the same weights and noise whatever the start.
    fn forward(rule: &Rule, mut h: Vec<Two>, depth: usize, rng: &Rng) -> Vec<Two> {
        for layer in 0..depth {
            let rng = rng.stream(LAYER, layer as u64);
            h = rule.fields(&rng, &rule.signals(&rng, &h)).0;
        }
        h
    }

    /// `∂h_i/∂h_j` of the first input by central differences.
    fn differences(rule: &Rule, h: &[Two], depth: usize, rng: &Rng) -> Vec<Vec<f64>> {
        let step = 1e-5;
        let column = |j: usize| {
            let moved = |by: f64| {
                let mut h = h.to_vec();
                h[j][0] += by;
                forward(rule, h, depth, rng)
            };
            let (up, down) = (moved(step), moved(-step));
            up.iter().zip(&down).map(|(up, down)| (up[0] - down[0]) / (2.0 * step)).collect()
        };
        (0..h.len()).map(column).collect()
    }

    #[test]
    fn gradients_are_derivatives_of_the_whole_network() {
        for (index, rule) in differentiable().iter().enumerate() {
            let rng = Rng::new(index as u64);
            let h = start(&rng);
            let mut gaussian = Gaussian::new(rng.stream(GRADIENT, 0));
            let g: Vec<f64> = (0..N).map(|_| gaussian.draw()).collect();
            let norm = (g.iter().map(|g| g * g).sum::<f64>() / N as f64).sqrt();
            let back = |column: &Vec<f64>| column.iter().zip(&g).map(|(d, g)| d * g / norm).sum::<f64>();
            let expected = differences(rule, &h, 3, &rng).iter().map(|column| back(column).powi(2)).sum::<f64>() / N as f64;
            let found = Realisation::from_fields(rule, h, 3, true, &rng).jacobians[0].gradient;
            assert!((found / expected - 1.0).abs() < 1e-6, "{rule:?}: {found} is not {expected}");
        }
    }

    #[test]
    fn a_layers_jacobian_is_its_part_with_fixed_spread_and_one_of_rank_one() {
        for (index, rule) in differentiable().iter().enumerate() {
            let rng = Rng::new(100 + index as u64);
            let h = start(&rng);
            let columns = differences(rule, &h, 1, &rng);
            let layer = rng.stream(LAYER, 0);
            let x = rule.signals(&layer, &h);
            let passage = Passage::new(rule, &h, &x, rule.fields(&layer, &x).1);
            let u = |i: usize| passage.linearisation.u.get(i).copied().unwrap_or(0.0);
            let rest = (0..N).flat_map(|j| (0..N).map(move |i| (i, j))).map(|(i, j)| (columns[j][i] - u(i) * passage.v[j]).powi(2));
            let mean_square = rest.sum::<f64>() / N as f64;
            let found = Realisation::from_fields(rule, h, 1, true, &rng).jacobians[0];
            assert!((found.mean_square / mean_square - 1.0).abs() < 1e-6, "{rule:?}: {found:?}, {mean_square}");
            let frobenius = (0..N).flat_map(|j| (0..N).map(move |i| (i, j))).map(|(i, j)| (u(i) * passage.v[j]).powi(2));
            assert!((found.outlier - frobenius.sum::<f64>().sqrt()).abs() < 1e-12);
        }
    }

    #[test]
    fn overlaps_of_three_units_by_hand() {
        let overlaps = Overlaps::of(&[[1.0, 2.0], [-2.0, 0.0], [2.0, 1.0]]);
        assert_eq!((overlaps.q_aa, overlaps.q_bb, overlaps.q_ab), (3.0, 5.0 / 3.0, 4.0 / 3.0));
        assert!((overlaps.c() - 4.0 / 45f64.sqrt()).abs() < 1e-15);
        assert!(Overlaps::of(&[[0.0, 1.0]]).deficit.is_nan());
        // Closer than 1 − c can tell in f64.
        let close = Overlaps::of(&[[1.0, 1.0 + 1e-9], [1.0, 1.0 - 1e-9]]);
        assert!((close.deficit / 5e-19 - 1.0).abs() < 1e-6, "{close:?}");
    }
}
