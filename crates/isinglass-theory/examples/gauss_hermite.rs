//! Why the library does not use Gauss–Hermite quadrature: its error on `E erf²(h)`, against the closed form and the certified trapezoidal rule.
//!
//! `cargo run --release -p isinglass-theory --example gauss_hermite`

use isinglass_theory::Error;
use isinglass_theory::activation::{Activation, Erf};
use isinglass_theory::quadrature::expectation;

/// `E f(√q z)` by `n`-point Gauss–Hermite quadrature for the weight `exp(−z²/2)`; nodes by bisection between sign changes of `He_n`.
fn gauss_hermite(n: u32, q: f64, f: impl Fn(f64) -> f64) -> f64 {
    // He_n and He_{n−1}, both divided by √n! to stay in range.
    let hermite = |z: f64| {
        let (mut previous, mut current) = (0.0, 1.0);
        for k in 1..=n {
            (previous, current) = (current, (z * current - f64::from(k - 1).sqrt() * previous) / f64::from(k).sqrt());
        }
        (current, previous)
    };
    let grid: Vec<f64> = (0..=40_000).map(|i| -20.0 + f64::from(i) * 1e-3 + 1e-4).collect();
    let mut sum = 0.0;
    for cell in grid.windows(2) {
        let (mut low, mut high) = (cell[0], cell[1]);
        if hermite(low).0 * hermite(high).0 > 0.0 {
            continue;
        }
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if hermite(low).0 * hermite(middle).0 > 0.0 { low = middle } else { high = middle }
        }
        let weight = 1.0 / (f64::from(n) * hermite(low).1 * hermite(low).1);
        sum += weight * f(q.sqrt() * low);
    }
    sum
}

fn main() -> Result<(), Error> {
    let square = |h: f64| libm::erf(h) * libm::erf(h);
    println!("| q | E erf² | error of 25 nodes | of 100 nodes | of the trapezoidal rule |\n|---|---|---|---|---|");
    for q in [1.0, 10.0, 100.0] {
        let exact = Erf::new(1.0).moments(q)?.mean_square;
        let [few, many] = [25, 100].map(|n| (gauss_hermite(n, q, square) - exact).abs());
        let trapezoidal = (expectation("E erf²", q, square)? - exact).abs();
        println!("| {q} | {exact:.6} | {few:.1e} | {many:.1e} | {trapezoidal:.1e} |");
    }
    Ok(())
}
