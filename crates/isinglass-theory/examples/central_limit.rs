//! The central limit theorem at means of ±1 (the paper's closing remark): only the neurons are then random, and the field is still Gaussian.
//!
//! `cargo run --release -p isinglass-theory --example central_limit`

/// The excess kurtosis of `(1/√n) Σ_j ±x_j`, with `x_j = ±1` of means spread over `tanh(−3 … 3)`. It is 0 for a Gaussian.
fn kurtosis(n: u32) -> f64 {
    let size = f64::from(n);
    let (mut variance, mut fourth) = (0.0, 0.0);
    for j in 0..n {
        let x = libm::tanh((f64::from(j) + 0.5) / size * 6.0 - 3.0);
        let spread = 1.0 - x * x;
        variance += spread / size;
        // The fourth cumulant of a ±1 variable of mean x is −2(1 − x²)(1 − 3x²).
        fourth += -2.0 * spread * (1.0 - 3.0 * x * x) / (size * size);
    }
    fourth / (variance * variance)
}

fn main() {
    println!("| width N | excess kurtosis | times N |\n|---|---|---|");
    for n in [10, 100, 1000, 10_000] {
        let kurtosis = kurtosis(n);
        println!("| {n} | {kurtosis:.2e} | {:.4} |", f64::from(n) * kurtosis);
    }
    println!("It falls as 1/N, so the field becomes Gaussian.");
}
