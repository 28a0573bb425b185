//! One layer of each model, at finite width.
//!
//! `P = W x/√N` with weights of unit variance, of which all `N²` are drawn; `b ~ N(0, σ_b²)` is shared by both inputs.
//!
//! | model | weights | field `h` | sent on |
//! |---|---|---|---|
//! | `continuous` | normal | `σ_w P + b` | `φ(h)` |
//! | `deterministic` | means `±σ_m` | `(σ_m P + b)/√(n² + sΣ)`, `Σ = mean(1 − σ_m²x̄²)` | `φ(h)` |
//! | `lrt-binary` | means `±σ_m` | `σ_m P + b + √Σ ε`, `Σ = mean(1 − σ_m²x̄²)` | `φ(h)` |
//! | `lrt-continuous` | means `±σ_m` | `σ_m P + b + √Σ ε`, `Σ = (1 − σ_m²) mean(x²)` | `φ(h)` |
//! | `binary` | signs | `P + b` | `sign(h)` |
//! | `stochastic-binary` | signs | `P + b` | `±1` of mean `φ(h)` |
//! | `stochastic-weights` | signs | `P + b` | `φ(h)` |
//! | `stochastic-neurons` | normal | `σ_w P + b` | `±1` of mean `φ(h)` |
//!
//! `ε` and the noise of neurons are drawn for each input separately; weights and biases are those of both. With two-point means `M_ij² = σ_m²`, so that `Σ` is the same for all
//! units of a layer.

use isinglass_net::Rng;
use isinglass_theory::activation::{Activation, Phi};
use isinglass_theory::{Denominator, MeanField, Model};

use super::gaussian::Gaussian;
use super::weights::{Law, Two, Weights};

/// What the random numbers of a layer are for.
const WEIGHTS: u64 = 1;
const BIASES: u64 = 2;
const FIELD_NOISE: u64 = 3;
const NEURON_NOISE: u64 = 4;

/// A layer's rule: the model at its variances.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    model: Model,
    phi: Phi,
    pub(super) denominator: Option<Denominator>,
    law: Law,
    /// Standard deviation of the weights (of their means).
    pub(super) sigma: f64,
    sigma_b: f64,
}

/// The derivative of the first input's fields by the signals `x` before them: `scale · W/√N + u vᵀ` with `v = coefficient · x/N`.
#[derive(Debug, Clone)]
pub(super) struct Linearisation {
    /// What the weights are multiplied with.
    pub(super) scale: f64,
    /// What `Σ`, which depends on the signals too, adds to the derivative: a matrix of rank one (misprint 9). Empty if there is no `Σ`.
    pub(super) u: Vec<f64>,
    /// Its size.
    pub(super) coefficient: f64,
}

impl Rule {
    pub(super) fn new(field: &MeanField) -> Self {
        let network = field.network();
        let model = network.model();
        let law = match model {
            Model::Continuous | Model::StochasticNeurons => Law::Normal,
            _ => Law::Signs,
        };
        let sigma = field.sigma2().unwrap_or(1.0).sqrt();
        Self { model, phi: *network.phi(), denominator: network.denominator(), law, sigma, sigma_b: field.sigma_b2().sqrt() }
    }

    /// The weights of the layer that `rng` stands for.
    pub(super) fn weights(&self, rng: &Rng) -> Weights {
        Weights::new(self.law, rng.stream(WEIGHTS, 0))
    }

    /// `φ'` of a field.
    pub(super) fn slope(&self, h: f64) -> f64 {
        self.phi.slope(h)
    }

    /// What neurons send on.
    pub(super) fn signals(&self, rng: &Rng, h: &[Two]) -> Vec<Two> {
        match self.model {
            Model::StochasticBinary | Model::StochasticNeurons => {
                // x = sign(h + αL) in one comparison: P(x = +1) = (1 + φ(h))/2.
                let mut noise = rng.stream(NEURON_NOISE, 0);
                let mut draw = |h: f64| if 2.0 * noise.uniform() < 1.0 + self.phi.value(h) { 1.0 } else { -1.0 };
                h.iter().map(|h| [draw(h[0]), draw(h[1])]).collect()
            }
            _ => h.iter().map(|h| h.map(|h| self.phi.value(h))).collect(),
        }
    }

    /// The fields that signals `x` cause in the layer that `rng` stands for, and their derivative.
    pub(super) fn fields(&self, rng: &Rng, x: &[Two]) -> (Vec<Two>, Linearisation) {
        let mut h = self.products(rng, x);
        self.add_biases(rng, &mut h);
        let m2 = self.sigma * self.sigma;
        match self.model {
            Model::Deterministic => {
                let Denominator { noise, spread } = self.denominator.unwrap_or(Denominator { noise: 0.0, spread: 1.0 });
                // Nothing random is left if means and neurons are all ±1; then h is as good as infinite.
                let d = self.spread(x).map(|sigma| (noise + spread * sigma).max(f64::MIN_POSITIVE));
                let roots = d.map(f64::sqrt);
                h.iter_mut().for_each(|h| *h = [h[0] / roots[0], h[1] / roots[1]]);
                let u = h.iter().map(|h| h[0]).collect();
                (h, Linearisation { scale: self.sigma / roots[0], u, coefficient: spread * m2 / d[0] })
            }
            _ => {
                let noise = self.add_noise(rng, x, &mut h);
                (h, noise)
            }
        }
    }

    /// `σ W x/√N`, without biases.
    pub(super) fn products(&self, rng: &Rng, x: &[Two]) -> Vec<Two> {
        let scale = self.sigma / (x.len() as f64).sqrt();
        let mut h = self.weights(rng).times(x);
        h.iter_mut().for_each(|h| *h = h.map(|sum| scale * sum));
        h
    }

    /// Adds the layer's biases, which both inputs share.
    pub(super) fn add_biases(&self, rng: &Rng, h: &mut [Two]) {
        let mut biases = Gaussian::new(rng.stream(BIASES, 0));
        for h in h {
            let bias = if self.sigma_b > 0.0 { self.sigma_b * biases.draw() } else { 0.0 };
            *h = h.map(|sum| sum + bias);
        }
    }

    /// `Σ` of the layer that signals `x` go into, for each input; 0 in models without.
    pub(super) fn spread(&self, x: &[Two]) -> Two {
        let mean = |f: fn(f64) -> f64, input: usize| x.iter().map(|x| f(x[input])).sum::<f64>() / x.len() as f64;
        let m2 = self.sigma * self.sigma;
        [0, 1].map(|input| match self.model {
            // 1 − σ_m² mean(x̄²), written so that it does not cancel when means and neurons polarise.
            Model::Deterministic | Model::LrtBinary => (1.0 - m2) + m2 * mean(|x| (1.0 - x) * (1.0 + x), input),
            Model::LrtContinuous => (1.0 - m2) * mean(|x| x * x, input),
            _ => 0.0,
        })
    }

    /// Adds the sampled noise of LRT, for each input its own, and gives the derivative. Other models have none.
    pub(super) fn add_noise(&self, rng: &Rng, x: &[Two], h: &mut [Two]) -> Linearisation {
        let slope = match self.model {
            Model::LrtBinary => -self.sigma * self.sigma,
            Model::LrtContinuous => 1.0 - self.sigma * self.sigma,
            _ => return Linearisation { scale: self.sigma, u: Vec::new(), coefficient: 0.0 },
        };
        let spread = self.spread(x).map(|sigma| sigma.max(0.0).sqrt());
        let mut noise = Gaussian::new(rng.stream(FIELD_NOISE, 0));
        let mut u = Vec::with_capacity(x.len());
        for h in h {
            let epsilon = [noise.draw(), noise.draw()];
            *h = [h[0] + spread[0] * epsilon[0], h[1] + spread[1] * epsilon[1]];
            u.push(epsilon[0]);
        }
        // ∂√Σ/∂x_j = (∂Σ/∂x_j)/(2√Σ).
        let coefficient = if spread[0] > 0.0 { slope / spread[0] } else { 0.0 };
        Linearisation { scale: self.sigma, u, coefficient }
    }
}

#[cfg(test)]
mod tests {
    use isinglass_theory::{Neuron, RandomNetwork};

    use super::*;

    /// Fields of three units worked out weight by weight, the formulas of theory.md written out.
    #[test]
    fn fields_are_those_of_the_formulas() {
        let x = [[0.5, -0.2], [-0.8, 0.4], [0.1, 0.9]];
        let n = 3.0f64;
        let cases = [
            (Model::Continuous, "tanh", Some(1.4)),
            (Model::Deterministic, "sign", Some(0.6)),
            (Model::Deterministic, "probit:0.5", Some(0.6)),
            (Model::Deterministic, "logistic:2", Some(0.6)),
            (Model::LrtBinary, "tanh", Some(0.3)),
            (Model::LrtContinuous, "tanh", Some(0.3)),
            (Model::Binary, "sign", None),
            (Model::StochasticBinary, "tanh", None),
            (Model::StochasticWeights, "tanh", None),
            (Model::StochasticNeurons, "tanh", Some(0.7)),
        ];
        for (model, neuron, sigma2) in cases {
            let field = RandomNetwork::new(model, neuron.parse::<Neuron>().unwrap()).unwrap().at(sigma2, 0.25).unwrap();
            let rule = Rule::new(&field);
            let rng = Rng::new(8);
            let unit = |j: usize| (0..3).map(|k| [f64::from(u8::from(k == j)), 0.0]).collect::<Vec<Two>>();
            let columns: Vec<Vec<Two>> = (0..3).map(|j| rule.weights(&rng).times(&unit(j))).collect();
            let mut biases = Gaussian::new(rng.stream(BIASES, 0));
            let mut noise = Gaussian::new(rng.stream(FIELD_NOISE, 0));
            let (h, _) = rule.fields(&rng, &x);
            for i in 0..3 {
                let weight = |j: usize| sigma2.unwrap_or(1.0).sqrt() * columns[j][i][0];
                let bias = 0.5 * biases.draw();
                let epsilon = [noise.draw(), noise.draw()];
                for a in 0..2 {
                    let mean = (0..3).map(|j| weight(j) * x[j][a]).sum::<f64>() / n.sqrt() + bias;
                    let spread = (0..3).map(|j| 1.0 - weight(j).powi(2) * x[j][a].powi(2)).sum::<f64>() / n;
                    let spread_of_continuous = (0..3).map(|j| (1.0 - weight(j).powi(2)) * x[j][a].powi(2)).sum::<f64>() / n;
                    let expected = match (model, neuron) {
                        (Model::Deterministic, "sign") => mean / spread.sqrt(),
                        (Model::Deterministic, "probit:0.5") => mean / (0.25 + spread).sqrt(),
                        (Model::Deterministic, _) => mean / (4.0 + std::f64::consts::FRAC_PI_2 * spread).sqrt(),
                        (Model::LrtBinary, _) => mean + spread.sqrt() * epsilon[a],
                        (Model::LrtContinuous, _) => mean + spread_of_continuous.sqrt() * epsilon[a],
                        _ => mean,
                    };
                    assert!((h[i][a] - expected).abs() < 1e-14, "{model}, {neuron}: {} is not {expected}", h[i][a]);
                }
            }
        }
    }

    #[test]
    fn stochastic_neurons_are_plus_one_with_the_right_probability() {
        let field = RandomNetwork::new(Model::StochasticBinary, Neuron::Tanh(1.0)).unwrap().at(None, 0.0).unwrap();
        let h = vec![[0.3, 0.3]; 40_000];
        let x = Rule::new(&field).signals(&Rng::new(4), &h);
        let mean = |f: fn(&Two) -> f64| x.iter().map(f).sum::<f64>() / x.len() as f64;
        let phi = 0.3f64.tanh();
        let error = (1.0 - phi * phi).sqrt() / 200.0;
        assert!((mean(|x| x[0]) - phi).abs() < 4.0 * error && (mean(|x| x[1]) - phi).abs() < 4.0 * error);
        // Noise is each input's own.
        assert!((mean(|x| x[0] * x[1]) - phi * phi).abs() < 4.0 / 200.0);
    }
}
