//! The exact enumeration itself, against sums over every weight and neuron of still smaller networks, against sampling, and against examples worked out by hand.

mod support;

use support::oracle::{self, Neuron};
use support::random::Random;
use support::reference::softmax;

const NEURONS: [Neuron; 3] = [Neuron::Sign, Neuron::Probit(0.6), Neuron::Logistic(0.8)];

struct Tiny {
    means: Vec<Vec<Vec<f64>>>,
    biases: Vec<Vec<f64>>,
    input: Vec<f64>,
    tau: f64,
}

/// `widths`: inputs first, classes last.
fn tiny(widths: &[usize], random: &mut Random) -> Tiny {
    Tiny {
        means: widths.windows(2).map(|w| random.matrix(w[1], w[0], |random| 0.95 * random.symmetric())).collect(),
        biases: widths[1..].iter().map(|&width| random.vector(width, |random| 0.4 * random.normal())).collect(),
        input: random.vector(widths[0], Random::normal),
        tau: 1.7,
    }
}

fn close(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!((found - expected).abs() <= tolerance, "{what}: {found}, not {expected}");
}

/// `S x/√N + b`.
fn fields(weights: &[Vec<f64>], bias: &[f64], x: &[f64]) -> Vec<f64> {
    let root = (x.len() as f64).sqrt();
    weights.iter().zip(bias).map(|(row, b)| row.iter().zip(x).map(|(s, x)| s * x).sum::<f64>() / root + b).collect()
}

/// First and second moments of neurons (hidden layers) and fields (all layers), and mean class probabilities.
struct Moments {
    neurons: Vec<(Vec<f64>, Vec<Vec<f64>>)>,
    fields: Vec<(Vec<f64>, Vec<Vec<f64>>)>,
    classes: Vec<f64>,
}

impl Moments {
    fn zero(means: &[Vec<Vec<f64>>]) -> Self {
        let zero = |rows: &Vec<Vec<f64>>| (vec![0.0; rows.len()], vec![vec![0.0; rows.len()]; rows.len()]);
        Self {
            neurons: means[..means.len() - 1].iter().map(zero).collect(),
            fields: means.iter().map(zero).collect(),
            classes: vec![0.0; means[means.len() - 1].len()],
        }
    }

    fn covariance((first, second): &(Vec<f64>, Vec<Vec<f64>>), i: usize, j: usize) -> f64 {
        second[i][j] - first[i] * first[j]
    }
}

fn add((first, second): &mut (Vec<f64>, Vec<Vec<f64>>), p: f64, x: &[f64]) {
    for i in 0..x.len() {
        first[i] += p * x[i];
        (0..x.len()).for_each(|j| second[i][j] += p * x[i] * x[j]);
    }
}

/// Continues from layer `l` with the input `x`, through all states of its neurons, for fixed weights.
fn add_states(net: &Tiny, weights: &[Vec<Vec<f64>>], neuron: Neuron, l: usize, x: &[f64], p: f64, moments: &mut Moments) {
    let h = fields(&weights[l], &net.biases[l], x);
    add(&mut moments.fields[l], p, &h);
    if l + 1 == weights.len() {
        let logits: Vec<f64> = h.iter().map(|h| net.tau * h).collect();
        softmax(&logits).iter().zip(&mut moments.classes).for_each(|(y, total)| *total += p * y);
        return;
    }
    for state in 0..1usize << h.len() {
        let spins = oracle::spins(state, h.len());
        let plus = h.iter().map(|&h| neuron.probability_of_plus(h));
        let q: f64 = plus.zip(&spins).map(|(plus, x)| if *x > 0.0 { plus } else { 1.0 - plus }).product();
        if q > 0.0 {
            add(&mut moments.neurons[l], p * q, &spins);
            add_states(net, weights, neuron, l + 1, &spins, p * q, moments);
        }
    }
}

/// The sum over all `2^(number of weights)` networks and, in each, over all states of all neurons.
fn brute_force(net: &Tiny, neuron: Neuron) -> Moments {
    let count: usize = net.means.iter().flatten().map(Vec::len).sum();
    let mut moments = Moments::zero(&net.means);
    for choice in 0..1usize << count {
        let mut spins = oracle::spins(choice, count).into_iter();
        let mut p = 1.0;
        let mut weight = |m: &f64| {
            let s = spins.next().unwrap_or(f64::NAN);
            p *= 0.5 * (1.0 + s * m);
            s
        };
        let weights: Vec<Vec<Vec<f64>>> =
            net.means.iter().map(|rows| rows.iter().map(|row| row.iter().map(&mut weight).collect()).collect()).collect();
        add_states(net, &weights, neuron, 0, &net.input, p, &mut moments);
    }
    moments
}

#[test]
fn the_oracle_equals_the_sum_over_all_weights_and_neurons() {
    let mut random = Random(1);
    for widths in [&[2, 2, 2, 2][..], &[3, 2, 3], &[2, 1, 2, 1, 2], &[3, 3]] {
        for neuron in NEURONS {
            let net = tiny(widths, &mut random);
            let brute = brute_force(&net, neuron);
            let what = format!("{neuron:?} {widths:?}");
            let classes = oracle::class_probabilities(&net.means, &net.biases, net.tau, &net.input, neuron);
            classes.iter().zip(&brute.classes).for_each(|(found, expected)| close(*found, *expected, 1e-13, &what));

            let averages = oracle::neuron_means(&net.means, &net.biases, &net.input, neuron);
            let of_neurons = oracle::neuron_covariances(&net.means, &net.biases, &net.input, neuron);
            let of_fields = oracle::field_covariances(&net.means, &net.biases, &net.input, neuron);
            for (l, rows) in net.means.iter().enumerate() {
                for i in 0..rows.len() {
                    for j in 0..rows.len() {
                        close(of_fields[l][i][j], Moments::covariance(&brute.fields[l], i, j), 1e-13, &what);
                        if let Some(neurons) = brute.neurons.get(l) {
                            close(averages[l][i], neurons.0[i], 1e-13, &what);
                            close(of_neurons[l][i][j], Moments::covariance(neurons, i, j), 1e-13, &what);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn the_oracle_agrees_with_sampled_networks() {
    const SAMPLES: usize = 40_000;
    let mut random = Random(2);
    for neuron in NEURONS {
        let net = tiny(&[4, 4, 4, 4, 3], &mut random);
        let mut totals = [0.0; 3];
        let mut squares = [0.0; 3];
        for _ in 0..SAMPLES {
            let mut x = net.input.clone();
            for (l, rows) in net.means.iter().enumerate() {
                let mut spin = |p: f64| if random.uniform() < p { 1.0 } else { -1.0 };
                let weights: Vec<Vec<f64>> = rows.iter().map(|row| row.iter().map(|m| spin(0.5 * (1.0 + m))).collect()).collect();
                x = fields(&weights, &net.biases[l], &x);
                if l + 1 < net.means.len() {
                    x.iter_mut().for_each(|h| *h = spin(neuron.probability_of_plus(*h)));
                }
            }
            let logits: Vec<f64> = x.iter().map(|h| net.tau * h).collect();
            for (c, y) in softmax(&logits).into_iter().enumerate() {
                totals[c] += y / SAMPLES as f64;
                squares[c] += y * y / SAMPLES as f64;
            }
        }
        let exact = oracle::class_probabilities(&net.means, &net.biases, net.tau, &net.input, neuron);
        close(exact.iter().sum(), 1.0, 1e-13, "sum of class probabilities");
        for c in 0..3 {
            let standard_error = ((squares[c] - totals[c] * totals[c]) / SAMPLES as f64).sqrt();
            assert!(standard_error < 2e-3);
            close(totals[c], exact[c], 4.0 * standard_error, &format!("{neuron:?} class {c}"));
        }
    }
}

#[test]
fn a_field_of_zero_fires() {
    // Two fair weights on inputs of 1: sums −2, 0, 2 with ¼, ½, ¼.
    assert_eq!(oracle::field_distribution(&[0.0, 0.0], &[1.0, 1.0]), [(-2.0, 0.25), (0.0, 0.5), (2.0, 0.25)]);
    assert_eq!(oracle::unit_probability(&[0.0, 0.0], 0.0, &[1.0, 1.0], Neuron::Sign), 0.75);
    assert_eq!(oracle::unit_probability(&[0.0, 0.0], 0.0, &[1.0, 1.0], Neuron::Probit(1.0)), 0.5);
}

#[test]
fn field_moments_equal_the_surrogates_while_neurons_are_independent() {
    // The first two layers: Σ on the diagonal, and off it (1/N) Σ_k M_ik M_jk (1 − x̄_k²), which the surrogate leaves out.
    let mut random = Random(3);
    for neuron in NEURONS {
        let net = tiny(&[4, 4, 4, 2], &mut random);
        let x = &oracle::neuron_means(&net.means, &net.biases, &net.input, neuron)[0];
        let found = oracle::field_covariances(&net.means, &net.biases, &net.input, neuron);
        for (i, (first, second)) in net.means[0].iter().zip(&net.means[1]).enumerate() {
            close(found[0][i][i], (0..4).map(|k| (1.0 - first[k].powi(2)) * net.input[k].powi(2) / 4.0).sum(), 1e-14, "first layer");
            close(found[1][i][i], (0..4).map(|k| (1.0 - (second[k] * x[k]).powi(2)) / 4.0).sum(), 1e-14, "second layer");
            for (j, other) in net.means[1].iter().enumerate().filter(|(j, _)| *j != i) {
                close(found[0][i][j], 0.0, 1e-14, "pair in the first layer");
                let pair = (0..4).map(|k| second[k] * other[k] * (1.0 - x[k] * x[k]) / 4.0).sum();
                close(found[1][i][j], pair, 1e-14, "pair in the second layer");
            }
        }
    }
}

#[test]
fn two_neurons_behind_one_have_the_correlation_worked_out_by_hand() {
    // One sign neuron x of mean x̄ = P(S > −½) − P(S < −½) = M feeds two: each is S_i x, so E x_i = m M and E x_1 x_2 = m².
    let (first, second) = (0.5, 0.8);
    let means = vec![vec![vec![first]], vec![vec![second]; 2], vec![vec![0.0, 0.0]; 2]];
    let biases = vec![vec![0.5], vec![0.0; 2], vec![0.0; 2]];
    let error = oracle::factorisation_error(&means, &biases, &[1.0], Neuron::Sign);
    let square: f64 = (first * second) * (first * second);
    assert_eq!(error.len(), 2);
    close(error[0], 0.0, 0.0, "a layer of one");
    close(error[1], (second * second - square) / (1.0 - square), 1e-15, "a layer of two");
}
