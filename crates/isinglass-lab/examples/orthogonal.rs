//! Do orthogonal signs help? Singular values of single layers, and of the Jacobian through many.
//!
//! `cargo run --release -p isinglass-lab --example orthogonal [-- NETWORKS]` prints tables in Markdown; NETWORKS (4) random networks are averaged over in each row.
//!
//! Saxe et al. (2013) and Pennington et al. (2017) found that deep real networks learn faster from orthogonal than from Gaussian weights: the singular values `s` of the
//! Jacobian from end to end then stay together, whereas those of a product of `L` independent matrices spread as `sd(s²)/mean(s²) = √L`.
//! Here the same is asked of the means `±σ_m` of the deterministic surrogate: independent signs (`two-point`), rows and columns of a Hadamard matrix (`hadamard`), and,
//! to see whether random signs alone keep the layers apart, Sylvester matrices `D₁HD₂` in their usual order.

use std::error::Error;

use isinglass_net::{Init, NetworkConfig, Rng};
use isinglass_theory::activation::Activation;
use isinglass_theory::{Model, Neuron, RandomNetwork};

const DEPTHS: [usize; 4] = [1, 5, 10, 20];
const VARIANCES: [f64; 2] = [0.99, 0.85];

fn main() -> Result<(), Box<dyn Error>> {
    let networks: u64 = std::env::args().nth(1).map_or(Ok(4), |text| text.parse())?;
    layers(networks)?;
    jacobians(networks)?;
    alignment(50 * networks)
}

/// A matrix, row by row.
#[derive(Clone)]
struct Matrix {
    rows: Vec<Vec<f64>>,
}

impl Matrix {
    fn new(rows: usize, columns: usize, entry: impl Fn(usize, usize) -> f64) -> Self {
        Self { rows: (0..rows).map(|i| (0..columns).map(|j| entry(i, j)).collect()).collect() }
    }

    fn size(&self) -> (usize, usize) {
        (self.rows.len(), self.rows[0].len())
    }

    fn transposed(&self) -> Self {
        let (rows, columns) = self.size();
        Self::new(columns, rows, |i, j| self.rows[j][i])
    }

    fn times(&self, other: &Self) -> Self {
        let product = |row: &Vec<f64>| {
            let mut sum = vec![0.0; other.size().1];
            for (a, line) in row.iter().zip(&other.rows) {
                sum.iter_mut().zip(line).for_each(|(sum, b)| *sum += a * b);
            }
            sum
        };
        Self { rows: self.rows.iter().map(product).collect() }
    }

    /// Singular values (one-sided Jacobi: the shorter lines are rotated until they are orthogonal).
    fn singular_values(&self) -> Vec<f64> {
        let (rows, columns) = self.size();
        let mut lines = if rows <= columns { self.rows.clone() } else { self.transposed().rows };
        for _ in 0..40 {
            let mut largest: f64 = 0.0;
            for j in 1..lines.len() {
                let (before, after) = lines.split_at_mut(j);
                let b = &mut after[0];
                for a in before {
                    let (aa, bb, ab) = (dot(a, a), dot(b, b), dot(a, b));
                    let cosine = ab.abs() / (aa * bb).sqrt();
                    if cosine.is_nan() || cosine < 1e-12 {
                        continue;
                    }
                    largest = largest.max(cosine);
                    let zeta = (bb - aa) / (2.0 * ab);
                    let t = zeta.signum() / (zeta.abs() + zeta.hypot(1.0));
                    let c = 1.0 / t.hypot(1.0);
                    for (a, b) in a.iter_mut().zip(b.iter_mut()) {
                        (*a, *b) = (c * (*a - t * *b), c * (t * *a + *b));
                    }
                }
            }
            if largest == 0.0 {
                break;
            }
        }
        lines.iter().map(|line| dot(line, line).sqrt()).collect()
    }
}

/// A sum of products in eight parts, which the compiler can keep in vectors.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    for (a, b) in a.chunks(8).zip(b.chunks(8)) {
        sums.iter_mut().zip(a.iter().zip(b)).for_each(|(sum, (a, b))| *sum += a * b);
    }
    sums.iter().sum()
}

fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, count) = values.into_iter().fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}

/// How singular values are spread.
struct Spectrum {
    mean_square: f64,
    /// Standard deviation of `s²` over its mean.
    spread: f64,
    /// Largest `s²` over the mean.
    peak: f64,
    least: f64,
    most: f64,
}

impl Spectrum {
    fn of(matrix: &Matrix) -> Self {
        let values = matrix.singular_values();
        let mean_square = mean(values.iter().map(|s| s * s));
        let spread = mean(values.iter().map(|s| (s * s / mean_square - 1.0).powi(2))).sqrt();
        let (least, most) = values.iter().fold((f64::INFINITY, 0.0f64), |(least, most), &s| (least.min(s), most.max(s)));
        Self { mean_square, spread, peak: most * most / mean_square, least, most }
    }
}

/// How the signs of a network's layers are drawn.
#[derive(Clone, Copy, PartialEq)]
enum Signs {
    Drawn(Init),
    /// `D₁HD₂`, without the permutations.
    Sylvester,
}

impl Signs {
    const ALL: [Self; 3] = [Self::Drawn(Init::TwoPoint), Self::Drawn(Init::Hadamard), Self::Sylvester];

    fn name(self) -> String {
        match self {
            Self::Drawn(init) => init.to_string(),
            Self::Sylvester => "D₁HD₂ only".into(),
        }
    }

    /// The signs of the layers between layers of these widths.
    fn layers(self, widths: &[usize], seed: u64) -> Result<Vec<Matrix>, isinglass_net::Error> {
        match self {
            Self::Drawn(init) => {
                let hidden = widths[1..].to_vec();
                let config = NetworkConfig { inputs: widths[0], hidden, init, sigma_m2: Some(1.0), ..NetworkConfig::default() };
                let network = config.init(seed)?;
                let signs = |layer: &isinglass_net::Layer| {
                    Matrix::new(layer.spec().outputs(), layer.spec().inputs(), |i, j| f64::from(layer.row(i)[j]))
                };
                Ok(network.layers()[..widths.len() - 1].iter().map(signs).collect())
            }
            Self::Sylvester => {
                let mut rng = Rng::new(seed);
                let mut diagonal = |n: usize| -> Vec<f64> { (0..n).map(|_| if rng.next_u64() >> 63 == 0 { 1.0 } else { -1.0 }).collect() };
                let mut layer = |ends: &[usize]| {
                    let (right, left) = (diagonal(ends[0]), diagonal(ends[1]));
                    Matrix::new(ends[1], ends[0], |i, j| left[i] * right[j] * if (i & j).count_ones() % 2 == 0 { 1.0 } else { -1.0 })
                };
                Ok(widths.windows(2).map(&mut layer).collect())
            }
        }
    }
}

/// Single layers of shapes that have no Hadamard matrix of their own, and the ways to come near one.
fn layers(networks: u64) -> Result<(), Box<dyn Error>> {
    println!("Singular values s of S/√N, one layer: sd(s²)/mean(s²), and s from the least to the largest\n");
    println!("| inputs → outputs | two-point | hadamard | cut from the next power of two | square tiles |\n|---|---|---|---|---|");
    let shapes: [(usize, usize); 10] =
        [(256, 256), (784, 256), (784, 101), (256, 10), (100, 100), (101, 101), (92, 92), (300, 100), (300, 90), (101, 300)];
    for (inputs, outputs) in shapes {
        let (short, long) = (inputs.min(outputs), inputs.max(outputs));
        let power = long.next_power_of_two();
        let tiles = long.div_ceil(short);
        let scaled = |matrix: &dyn Fn(usize, usize) -> f64| Matrix::new(outputs, inputs, |i, j| matrix(i, j) / (inputs as f64).sqrt());
        let mut cells = [const { Vec::new() }; 4];
        for seed in 0..networks {
            for (cell, init) in cells.iter_mut().zip([Init::TwoPoint, Init::Hadamard]) {
                let layer = &Signs::Drawn(init).layers(&[inputs, outputs], seed)?[0];
                cell.push(Spectrum::of(&scaled(&|i, j| layer.rows[i][j])));
            }
            let whole = &Signs::Drawn(Init::Hadamard).layers(&[power, power], seed)?[0];
            cells[2].push(Spectrum::of(&scaled(&|i, j| whole.rows[i][j])));
            let tiled = Signs::Drawn(Init::Hadamard).layers(&vec![short; tiles + 1], seed)?;
            cells[3].push(Spectrum::of(&scaled(&|i, j| tiled[i.max(j) / short].rows[i % short][j % short])));
        }
        let cells = cells.map(|cell: Vec<Spectrum>| {
            let average = |f: fn(&Spectrum) -> f64| mean(cell.iter().map(f));
            format!("{:.3}, {:.3} to {:.3}", average(|s| s.spread), average(|s| s.least), average(|s| s.most))
        });
        println!("| {inputs} → {outputs} | {} |", cells.join(" | "));
    }
    println!();
    Ok(())
}

/// One layer of the deterministic surrogate with means `σ_m S`: fields, and their derivative by the fields before.
fn surrogate(network: &RandomNetwork, sigma_m2: f64, signs: &Matrix, h: &[f64]) -> (Vec<f64>, Matrix) {
    let (phi, n) = (network.phi(), h.len() as f64);
    let x: Vec<f64> = h.iter().map(|&h| phi.value(h)).collect();
    // Σ is the same for all units: M² = σ_m².
    let sigma = (1.0 - sigma_m2) + sigma_m2 * mean(x.iter().map(|x| (1.0 - x) * (1.0 + x)));
    let (noise, spread) = network.denominator().map_or((0.0, 1.0), |d| (d.noise, d.spread));
    let d = noise + spread * sigma;
    let scale = (sigma_m2 / (n * d)).sqrt();
    let after: Vec<f64> = signs.rows.iter().map(|row| scale * dot(row, &x)).collect();
    // The second term is what Σ adds, a matrix of rank one (misprint 9).
    let slope: Vec<f64> = h.iter().map(|&h| phi.slope(h)).collect();
    let entry = |i: usize, j: usize| (scale * signs.rows[i][j] + after[i] * spread * sigma_m2 * x[j] / (n * d)) * slope[j];
    let jacobian = Matrix::new(after.len(), x.len(), entry);
    (after, jacobian)
}

fn gaussian(width: usize, rng: &mut Rng) -> Vec<f64> {
    (0..width).map(|_| rng.normal()).collect()
}

/// The Jacobian from the fields of layer 0 (Gaussian, variance 1) to those of layer `L`.
fn jacobians(networks: u64) -> Result<(), Box<dyn Error>> {
    println!("Jacobian through L layers of the deterministic surrogate:");
    println!("two-point / hadamard (the last column: D₁HD₂ only)\n");
    println!("| neuron | σ_m² | N | L | mean(s²) | sd(s²)/mean(s²) | max(s²)/mean(s²) | s_max/s_min | sd(s²)/mean(s²), D₁HD₂ only |");
    println!("|---|---|---|---|---|---|---|---|---|");
    for neuron in [Neuron::Sign, Neuron::Tanh(1.0)] {
        let theory = RandomNetwork::new(Model::Deterministic, neuron)?;
        for sigma_m2 in VARIANCES {
            for width in [128, 256] {
                let mut spectra: [[Vec<Spectrum>; 3]; DEPTHS.len()] = Default::default();
                for (kind, signs) in Signs::ALL.into_iter().enumerate() {
                    for seed in 0..networks {
                        let mut h = gaussian(width, &mut Rng::new(seed).stream(201, 0));
                        let mut total: Option<Matrix> = None;
                        for (layer, signs) in (1..).zip(&signs.layers(&[width; DEPTHS[DEPTHS.len() - 1] + 1], seed)?) {
                            let (after, jacobian) = surrogate(&theory, sigma_m2, signs, &h);
                            let product = total.as_ref().map_or(jacobian.clone(), |total| jacobian.times(total));
                            if let Some(depth) = DEPTHS.iter().position(|&depth| depth == layer) {
                                spectra[depth][kind].push(Spectrum::of(&product));
                            }
                            (h, total) = (after, Some(product));
                        }
                    }
                }
                for (depth, spectra) in DEPTHS.iter().zip(&spectra) {
                    let average = |s: &[Spectrum], f: fn(&Spectrum) -> f64| mean(s.iter().map(f));
                    let both = |f: &dyn Fn(&[Spectrum]) -> String| format!("{} / {}", f(&spectra[0]), f(&spectra[1]));
                    println!(
                        "| `{neuron}` | {sigma_m2} | {width} | {depth} | {} | {} | {} | {} | {:.2} |",
                        both(&|s| format!("{:.2e}", average(s, |s| s.mean_square))),
                        both(&|s| format!("{:.2}", average(s, |s| s.spread))),
                        both(&|s| format!("{:.1}", average(s, |s| s.peak))),
                        both(&|s| condition(average(s, |s| (s.most / s.least).ln()).exp())),
                        average(&spectra[2], |s| s.spread),
                    );
                }
            }
        }
    }
    println!();
    Ok(())
}

/// A condition number, as far as products in double precision tell.
fn condition(ratio: f64) -> String {
    if ratio > 1e12 { "> 1e12".into() } else { format!("{ratio:.0e}") }
}

/// Whether layers know of each other: Gaussian fields, unrelated from layer to layer, and correlations of two inputs as the theory has them.
fn alignment(networks: u64) -> Result<(), Box<dyn Error>> {
    const WIDTH: usize = 128;
    const LAYERS: usize = 10;
    let sigma_m2 = VARIANCES[0];
    println!("Fields of {networks} networks of {LAYERS} layers, N = {WIDTH}, tanh:1, σ_m² = {sigma_m2}, all layers (standard errors)\n");
    println!(
        "| signs | kurtosis | N · mean-square correlation of h_ℓ and h_ℓ₊₁ | the same of h_ℓ and h_ℓ₊₂ | c of two inputs in layer {LAYERS} | sd of ln q there |"
    );
    println!("|---|---|---|---|---|---|");
    let theory = RandomNetwork::new(Model::Deterministic, Neuron::Tanh(1.0))?;
    for signs in Signs::ALL {
        let mut columns: [Vec<f64>; 5] = Default::default();
        for seed in 0..networks {
            let mut rng = Rng::new(seed).stream(202, 0);
            let a = gaussian(WIDTH, &mut rng);
            let b: Vec<f64> = gaussian(WIDTH, &mut rng).iter().zip(&a).map(|(own, a)| 0.5 * a + 0.75f64.sqrt() * own).collect();
            let (mut fields, mut other) = (vec![a], b);
            for signs in &signs.layers(&[WIDTH; LAYERS + 1], seed)? {
                let last = &fields[fields.len() - 1];
                let after = surrogate(&theory, sigma_m2, signs, last).0;
                other = surrogate(&theory, sigma_m2, signs, &other).0;
                fields.push(after);
            }
            let cosine = |a: &[f64], b: &[f64]| dot(a, b) / (dot(a, a) * dot(b, b)).sqrt();
            let apart =
                |distance: usize| mean(fields[1..].windows(distance + 1).map(|h| WIDTH as f64 * cosine(&h[0], &h[distance]).powi(2)));
            let fourth = |h: &Vec<f64>| mean(h.iter().map(|h| h.powi(4))) / (dot(h, h) / WIDTH as f64).powi(2);
            let last = &fields[LAYERS];
            let values = [mean(fields[1..].iter().map(fourth)), apart(1), apart(2), cosine(last, &other), (dot(last, last)).ln()];
            columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
        }
        let of = |column: &Vec<f64>| {
            let average = mean(column.iter().copied());
            (average, mean(column.iter().map(|value| (value - average).powi(2))).sqrt())
        };
        let error = |column| format!("{:.3} ({:.3})", of(column).0, of(column).1 / (networks as f64).sqrt());
        let [kurtosis, next, second, c, q] = &columns;
        println!("| {} | {} | {} | {} | {} | {:.3} |", signs.name(), error(kurtosis), error(next), error(second), error(c), of(q).1);
    }
    Ok(())
}
