//! The Jacobian of one layer of the deterministic surrogate (misprint 9 in `docs/paper.md`): which slopes it contains, and what the denominator adds.
//!
//! `cargo run --release -p isinglass-theory --example jacobian`

use std::f64::consts::PI;

use isinglass_theory::activation::{Activation, Erf, Phi};
use isinglass_theory::{Correlation, Error, Model, Neuron, RandomNetwork};

/// A small generator (xorshift64*).
struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * libm::log(1.0 - self.uniform())).sqrt() * libm::cos(2.0 * PI * self.uniform())
    }
}

/// A random layer of the deterministic surrogate, its input fields, and both terms of its Jacobian.
struct Layer {
    n: usize,
    means: Vec<f64>,
    input: Vec<f64>,
}

impl Layer {
    fn new(n: usize, sigma_m2: f64, q: f64, seed: u64) -> Self {
        let mut random = Random(seed);
        let sigma_m = sigma_m2.sqrt();
        let means = (0..n * n).map(|_| if random.uniform() < 0.5 { sigma_m } else { -sigma_m }).collect();
        let input = (0..n).map(|_| q.sqrt() * random.normal()).collect();
        Self { n, means, input }
    }

    /// `h̄_i` and `Σ_i` for an input.
    fn moments(&self, phi: &Phi, input: &[f64], i: usize) -> (f64, f64) {
        let row = &self.means[i * self.n..(i + 1) * self.n];
        let n = self.n as f64;
        let (mut mean, mut sigma) = (0.0, 0.0);
        for (m, h) in row.iter().zip(input) {
            let x = phi.value(*h);
            mean += m * x / n.sqrt();
            sigma += (1.0 - m * m * x * x) / n;
        }
        (mean, sigma)
    }

    /// `∂h_i/∂h_j`: the term of the numerator and the term of the denominator. `φ'` and `φ` belong to the layer before, index `j`.
    fn jacobian_row(&self, phi: &Phi, i: usize) -> Vec<(f64, f64)> {
        let (mean, sigma) = self.moments(phi, &self.input, i);
        let n = self.n as f64;
        let row = self.means[i * self.n..(i + 1) * self.n].iter().zip(&self.input);
        row.map(|(m, h)| {
            (phi.slope(*h) * m / (n * sigma).sqrt(), phi.slope(*h) * m * m * phi.value(*h) * mean / (n * (sigma * sigma.sqrt())))
        })
        .collect()
    }

    /// `(1/N) Σ_ij` of the squares of either term.
    fn mean_squares(&self, phi: &Phi) -> (f64, f64) {
        let (mut first, mut second) = (0.0, 0.0);
        for i in 0..self.n {
            for (a, b) in self.jacobian_row(phi, i) {
                first += a * a / self.n as f64;
                second += b * b / self.n as f64;
            }
        }
        (first, second)
    }
}

/// One entry of the Jacobian: by finite differences, by the corrected formula, and as printed.
fn entry(phi: &Phi) {
    let layer = Layer::new(30, 0.9, 1.0, 7);
    let (i, j, step) = (3, 5, 1e-5);
    let output = |shift: f64| {
        let mut input = layer.input.clone();
        input[j] += shift;
        let (mean, sigma) = layer.moments(phi, &input, i);
        mean / sigma.sqrt()
    };
    let differences = (output(step) - output(-step)) / (2.0 * step);
    let (numerator, denominator) = layer.jacobian_row(phi, i)[j];
    // As printed, φ' and φ are those of the output h_i.
    let (mean, sigma) = layer.moments(phi, &layer.input, i);
    let h = mean / sigma.sqrt();
    let m = layer.means[i * layer.n + j];
    let n = layer.n as f64;
    let printed = phi.slope(h) * (m / (n * sigma).sqrt() + m * m * mean / (n * sigma * sigma.sqrt()) * phi.value(h));
    println!("∂h_{i}/∂h_{j}: {differences:.8} by finite differences, {:.8} corrected, {printed:.8} as printed", numerator + denominator);
}

fn main() -> Result<(), Error> {
    let (sigma_m2, q) = (0.9, 1.0);
    let phi = Phi::Erf(Erf::standard());
    entry(&phi);
    let chi_1 = RandomNetwork::new(Model::Deterministic, Neuron::Sign)?.at(Some(sigma_m2), 0.0)?.chi(q, Correlation::ONE)?;
    println!("\nMean squared singular values; χ₁ = {chi_1:.4}\n");
    println!("| N | numerator | denominator | largest singular value of the denominator |\n|---|---|---|---|");
    for n in [64, 128, 256, 512] {
        const LAYERS: u64 = 4;
        let sums = (0..LAYERS).map(|seed| Layer::new(n, sigma_m2, q, 11 + seed).mean_squares(&phi));
        let (first, second) = sums.fold((0.0, 0.0), |s, x| (s.0 + x.0 / LAYERS as f64, s.1 + x.1 / LAYERS as f64));
        // Two-point means make M² constant and the term of rank one: its only singular value is √(N · mean square).
        println!("| {n} | {first:.4} | {second:.5} | {:.3} |", (n as f64 * second).sqrt());
    }
    Ok(())
}
