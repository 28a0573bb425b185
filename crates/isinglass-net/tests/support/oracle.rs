//! Exact averages over all binary weights and all neuron states of a tiny network.
//!
//! The network: `h = S x/√N + b`, independent weights `S_ij = ±1` of mean `M_ij`, neurons ±1 with `P(x = +1 | h)` of [`Neuron`], class probabilities
//! `softmax(τh)` of the output layer's field. For one input:
//!
//! - Rows of `S` are independent, so given the state `x` of one layer the units of the next are independent, and
//!   `P(x'_i = +1 | x) = Σ_S P(S_i) P(+1 | S_i·x/√N + b_i)`, a sum over all rows `S_i` ([`field_distribution`]).
//! - Layers have weights of their own, so the states of the layers are a Markov chain: the distribution over the 2^N states of a layer gives the next
//!   layer's by one product with that transfer matrix ([`state_distributions`]).
//! - Given the last state, the output fields are independent over classes, and `E softmax` is a sum over their product ([`class_probabilities`]).
//!
//! Nothing is sampled, and no field is taken to be Gaussian. Arrays are `means[layer][out][in]` and `biases[layer][out]` of the hidden layers and, last, the output layer.
//! Bit `i` of a state's number is set where neuron `i` is +1.

use super::reference::softmax;

/// A neuron of ±1, `sign(h + αL)`.
#[derive(Clone, Copy, Debug)]
pub enum Neuron {
    /// No noise: `sign h`, `sign 0 = +1`.
    Sign,
    /// Noise `α N(0, 1)`.
    Probit(f64),
    /// Noise `α Logistic(0, ½)`.
    Logistic(f64),
}

impl Neuron {
    /// `P(x = +1 | h)`.
    pub fn probability_of_plus(self, h: f64) -> f64 {
        match self {
            Self::Sign => f64::from(u8::from(h >= 0.0)),
            Self::Probit(alpha) => 0.5 * libm::erfc(-h / (alpha * 2f64.sqrt())),
            Self::Logistic(alpha) => 1.0 / (1.0 + (-2.0 * h / alpha).exp()),
        }
    }
}

/// All values of `Σ_j S_j x_j`, ascending and each with its probability. Equal sums are one entry, so N inputs of ±1 give N + 1 and not 2^N.
pub fn field_distribution(means: &[f64], inputs: &[f64]) -> Vec<(f64, f64)> {
    let mut sums = vec![(0.0, 1.0)];
    for (&m, &x) in means.iter().zip(inputs) {
        let mut longer: Vec<(f64, f64)> =
            sums.iter().flat_map(|&(sum, p)| [(sum + x, p * 0.5 * (1.0 + m)), (sum - x, p * 0.5 * (1.0 - m))]).collect();
        longer.sort_by(|a, b| a.0.total_cmp(&b.0));
        longer.dedup_by(|next, kept| {
            let equal = next.0 == kept.0;
            if equal {
                kept.1 += next.1;
            }
            equal
        });
        sums = longer;
    }
    sums
}

/// `P(x = +1)` of one unit whose inputs are given.
pub fn unit_probability(means: &[f64], bias: f64, inputs: &[f64], neuron: Neuron) -> f64 {
    let root = (inputs.len() as f64).sqrt();
    field_distribution(means, inputs).iter().map(|&(sum, p)| p * neuron.probability_of_plus(sum / root + bias)).sum()
}

/// The ±1 vector of state number `state`.
pub fn spins(state: usize, width: usize) -> Vec<f64> {
    (0..width).map(|i| if state >> i & 1 == 1 { 1.0 } else { -1.0 }).collect()
}

/// The inputs a layer may see, with their probabilities: the input itself, or all states of the layer before.
fn possible_inputs(input: &[f64], distributions: &[Vec<f64>], width: usize) -> Vec<(Vec<f64>, f64)> {
    match distributions.last() {
        None => vec![(input.to_vec(), 1.0)],
        Some(distribution) => distribution.iter().enumerate().map(|(state, &p)| (spins(state, width), p)).collect(),
    }
}

/// The distribution over the 2^N states of every hidden layer, `[layer][state]`.
pub fn state_distributions(means: &[Vec<Vec<f64>>], biases: &[Vec<f64>], input: &[f64], neuron: Neuron) -> Vec<Vec<f64>> {
    let mut distributions: Vec<Vec<f64>> = Vec::new();
    for l in 0..means.len() - 1 {
        let width = means[l].len();
        let mut distribution = vec![0.0; 1 << width];
        for (x, p) in possible_inputs(input, &distributions, means[l][0].len()) {
            let plus: Vec<f64> = (0..width).map(|i| unit_probability(&means[l][i], biases[l][i], &x, neuron)).collect();
            for (state, total) in distribution.iter_mut().enumerate() {
                *total += p * (0..width).map(|i| if state >> i & 1 == 1 { plus[i] } else { 1.0 - plus[i] }).product::<f64>();
            }
        }
        distributions.push(distribution);
    }
    distributions
}

/// `E softmax(τh)` over all weights and neurons.
pub fn class_probabilities(means: &[Vec<Vec<f64>>], biases: &[Vec<f64>], tau: f64, input: &[f64], neuron: Neuron) -> Vec<f64> {
    let distributions = state_distributions(means, biases, input, neuron);
    let (Some(rows), Some(bias)) = (means.last(), biases.last()) else { return Vec::new() };
    let mut expected = vec![0.0; rows.len()];
    for (x, p) in possible_inputs(input, &distributions, rows[0].len()) {
        let root = (x.len() as f64).sqrt();
        let logits: Vec<Vec<(f64, f64)>> = rows
            .iter()
            .zip(bias)
            .map(|(row, b)| field_distribution(row, &x).iter().map(|&(sum, q)| (tau * (sum / root + b), q)).collect())
            .collect();
        add_softmax(&logits, &mut Vec::new(), p, &mut expected);
    }
    expected
}

/// Adds `p · softmax` over all combinations of the classes' logits that begin with `chosen`.
fn add_softmax(logits: &[Vec<(f64, f64)>], chosen: &mut Vec<f64>, p: f64, expected: &mut [f64]) {
    if chosen.len() == logits.len() {
        softmax(chosen).iter().zip(expected).for_each(|(y, total)| *total += p * y);
        return;
    }
    for &(logit, q) in &logits[chosen.len()] {
        chosen.push(logit);
        add_softmax(logits, chosen, p * q, expected);
        chosen.pop();
    }
}

/// `E x_i` of every hidden layer, `[layer][unit]`.
pub fn neuron_means(means: &[Vec<Vec<f64>>], biases: &[Vec<f64>], input: &[f64], neuron: Neuron) -> Vec<Vec<f64>> {
    let distributions = state_distributions(means, biases, input, neuron);
    distributions.iter().zip(means).map(|(distribution, rows)| layer_means(distribution, rows.len())).collect()
}

fn layer_means(distribution: &[f64], width: usize) -> Vec<f64> {
    (0..width).map(|i| distribution.iter().enumerate().map(|(state, p)| p * spins(state, width)[i]).sum()).collect()
}

/// `Cov(x_i, x_j)` of every hidden layer, `[layer][unit][unit]`.
pub fn neuron_covariances(means: &[Vec<Vec<f64>>], biases: &[Vec<f64>], input: &[f64], neuron: Neuron) -> Vec<Vec<Vec<f64>>> {
    let distributions = state_distributions(means, biases, input, neuron);
    let covariance = |(distribution, rows): (&Vec<f64>, &Vec<Vec<f64>>)| {
        let width = rows.len();
        let average = layer_means(distribution, width);
        let mut covariance = vec![vec![0.0; width]; width];
        for (state, p) in distribution.iter().enumerate() {
            let x = spins(state, width);
            for i in 0..width {
                for j in 0..width {
                    covariance[i][j] += p * (x[i] - average[i]) * (x[j] - average[j]);
                }
            }
        }
        covariance
    };
    distributions.iter().zip(means).map(covariance).collect()
}

/// `Cov(h_i, h_j)` of the fields of every layer, the output layer included.
///
/// `S_ik` and `S_jl` are independent unless they are the same weight: off the diagonal `(M C Mᵀ)_ij / N` with `C = Cov(x)`, on it
/// `(1/N) Σ_j (1 − M_ij²) E x_j²` more.
pub fn field_covariances(means: &[Vec<Vec<f64>>], biases: &[Vec<f64>], input: &[f64], neuron: Neuron) -> Vec<Vec<Vec<f64>>> {
    let of_neurons = neuron_covariances(means, biases, input, neuron);
    (0..means.len())
        .map(|l| {
            let rows = &means[l];
            let n = rows[0].len();
            let mut covariance = vec![vec![0.0; rows.len()]; rows.len()];
            for i in 0..rows.len() {
                for j in 0..rows.len() {
                    for k in 0..n {
                        if l > 0 {
                            covariance[i][j] += (0..n).map(|m| rows[i][k] * of_neurons[l - 1][k][m] * rows[j][m]).sum::<f64>() / n as f64;
                        }
                        if i == j {
                            let mean_square = if l == 0 { input[k] * input[k] } else { 1.0 };
                            covariance[i][i] += (1.0 - rows[i][k] * rows[i][k]) * mean_square / n as f64;
                        }
                    }
                }
            }
            covariance
        })
        .collect()
}

/// `|correlation|` of every pair, from a covariance matrix. A pair with a unit that does not vary has none.
pub fn pair_correlations(covariance: &[Vec<f64>]) -> Vec<f64> {
    let mut correlations = Vec::new();
    for i in 0..covariance.len() {
        for j in 0..i {
            let scale = (covariance[i][i] * covariance[j][j]).sqrt();
            correlations.push(if scale > 1e-14 { covariance[i][j].abs() / scale } else { 0.0 });
        }
    }
    correlations
}

/// How far each hidden layer is from the assumption that its neurons are independent (the paper's Assumption 2): the largest `|correlation|` of two neurons.
/// The first layer's is 0 up to rounding.
pub fn factorisation_error(means: &[Vec<Vec<f64>>], biases: &[Vec<f64>], input: &[f64], neuron: Neuron) -> Vec<f64> {
    neuron_covariances(means, biases, input, neuron).iter().map(|c| pair_correlations(c).into_iter().fold(0.0, f64::max)).collect()
}
