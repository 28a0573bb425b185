//! A study: how well the surrogate of a carried network knows the variance of its fields.
//!
//! The surrogate adds the variances of the layers' fields, which is right while the means of different layers are uncorrelated. This compares its `Σ`, and the mean neurons that follow
//! from it, with networks drawn from the means, layer by layer, before training and after.
//!
//! `cargo run --release -p isinglass-lab --example carried_variance -- RUN [RUN…]` takes directories of runs with surrogate deterministic and neuron sign; those trained with
//! `--goal surrogate` are in the middle of what `--goal binary` does. It needs their data set.

use std::error::Error;
use std::path::Path;

use isinglass_lab::run::{LAST, RunConfig, read_checkpoint, read_config, values};
use isinglass_net::{Network, Neuron, Rng, Surrogate, Values};

const IMAGES: usize = 24;
const DRAWS: usize = 200;

/// Sums over units and images.
#[derive(Clone, Copy, Default)]
struct Sums {
    surrogate: f64,
    sampled: f64,
    neuron_error: f64,
    saturated: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    for directory in std::env::args().skip(1) {
        study(Path::new(&directory))?;
    }
    Ok(())
}

fn study(directory: &Path) -> Result<(), Box<dyn Error>> {
    let config: RunConfig = read_config(directory)?;
    let trained = read_checkpoint(directory, LAST)?.into_network();
    if (trained.config().surrogate, trained.config().neuron) != (Surrogate::Deterministic, Neuron::Sign) {
        return Err(format!("{}: the study is of the deterministic surrogate with sign neurons", directory.display()).into());
    }
    let data = config.load_data(None)?;
    let Values::Bytes(bytes) = values(&data.test) else { return Err("the study takes images of bytes".into()) };
    let images: Vec<Vec<f64>> = bytes
        .chunks(data.test.image_len())
        .take(IMAGES)
        .map(|image| image.iter().map(|&byte| f64::from(trained.input().preprocessing().apply(f32::from(byte)))).collect())
        .collect();
    let initial = trained.initial()?.ok_or("the run does not say how its network was drawn")?;
    let (before, after) = (measure(&initial, &images), measure(&trained, &images));
    println!("{}: {}, carry {}", directory.display(), trained.config().shape(), trained.config().carry);
    println!("       before training                           after");
    println!("layer   σ_m²   Σ    sampled  ratio  neuron rms   σ_m²   Σ    sampled  ratio  neuron rms  |x̄| > 0.9");
    for (index, (a, b)) in before.iter().zip(&after).enumerate() {
        if index < 6 || (index + 1) % 5 == 0 || index + 1 == before.len() {
            let sigma = |network: &Network| {
                let means = network.layers()[index].means();
                means.iter().map(|&m| f64::from(m * m)).sum::<f64>() / means.len() as f64
            };
            let row = |network: &Network, s: &Sums| {
                format!(
                    "{:6.3} {:7.3} {:7.3} {:6.2} {:8.3}",
                    sigma(network),
                    s.surrogate,
                    s.sampled,
                    s.sampled / s.surrogate,
                    s.neuron_error
                )
            };
            println!("{:5} {}   {} {:9.3}", index + 1, row(&initial, a), row(&trained, b), b.saturated);
        }
    }
    Ok(())
}

/// Averages over units and images of every hidden layer.
fn measure(network: &Network, images: &[Vec<f64>]) -> Vec<Sums> {
    let depth = network.config().depth();
    let surrogate: Vec<Vec<Moments>> = images.iter().map(|image| averages(network, image)).collect();
    // Over draws: sums of the carried fields, of their squares, and of the neurons, `[image][layer][unit]`.
    let zero = || -> Vec<Vec<[f64; 3]>> { network.layers()[..depth].iter().map(|layer| vec![[0.0; 3]; layer.outputs()]).collect() };
    let mut drawn: Vec<Vec<Vec<[f64; 3]>>> = images.iter().map(|_| zero()).collect();
    for draw in 0..DRAWS {
        let mut rng = Rng::new(1).stream(7, draw as u64);
        let weights: Vec<Vec<f32>> = network.layers()[..depth]
            .iter()
            .map(|layer| layer.means().iter().map(|&m| if rng.uniform() < 0.5 * (1.0 + f64::from(m)) { 1.0 } else { -1.0 }).collect())
            .collect();
        for (image, sums) in images.iter().zip(&mut drawn) {
            add_draw(network, &weights, image, sums);
        }
    }
    (0..depth)
        .map(|layer| {
            let mut total = Sums::default();
            let count = (images.len() * network.layers()[layer].outputs()) as f64;
            for (image, sums) in drawn.iter().enumerate() {
                for (unit, &[sum, square, neuron]) in sums[layer].iter().enumerate() {
                    let draws = DRAWS as f64;
                    let Moments { variance, neuron: expected, .. } = &surrogate[image][layer];
                    total.surrogate += variance[unit] / count;
                    total.sampled += (square - sum * sum / draws) / (draws - 1.0) / count;
                    total.neuron_error += (neuron / draws - expected[unit]).powi(2) / count;
                    total.saturated += f64::from(u8::from(expected[unit].abs() > 0.9)) / count;
                }
            }
            // Without the noise of a finite number of draws the error would be smaller by up to 1/√draws.
            Sums { neuron_error: total.neuron_error.sqrt(), ..total }
        })
        .collect()
}

/// The surrogate's view of a layer for one image.
struct Moments {
    /// Mean and variance of the carried field, without bias.
    mean: Vec<f64>,
    variance: Vec<f64>,
    neuron: Vec<f64>,
}

fn averages(network: &Network, image: &[f64]) -> Vec<Moments> {
    let mut layers: Vec<Moments> = Vec::new();
    for (index, layer) in network.layers()[..network.config().depth()].iter().enumerate() {
        let root = (layer.inputs() as f64).sqrt();
        let below = layers.last();
        let x = below.map_or(image, |below| &below.neuron[..]);
        let (mut mean, mut variance) = (Vec::new(), Vec::new());
        for (unit, row) in layer.rows().enumerate() {
            let carried = below.filter(|_| layer.spec().carries()).map_or((0.0, 0.0), |below| (below.mean[unit], below.variance[unit]));
            let sum: f64 = row.iter().zip(x).map(|(&m, x)| f64::from(m) * x).sum();
            let spread: f64 = row
                .iter()
                .zip(x)
                .map(|(&m, x)| if index == 0 { (1.0 - f64::from(m * m)) * x * x } else { 1.0 - f64::from(m * m) * x * x })
                .sum();
            mean.push(carried.0 + sum / root);
            variance.push(carried.1 + spread / layer.inputs() as f64);
        }
        let neuron =
            (0..mean.len()).map(|unit| libm::erf((mean[unit] + f64::from(layer.bias()[unit])) / (2.0 * variance[unit].max(1e-6)).sqrt()));
        let neuron = neuron.collect();
        layers.push(Moments { mean, variance, neuron });
    }
    layers
}

/// One image through one draw of the weights.
fn add_draw(network: &Network, weights: &[Vec<f32>], image: &[f64], sums: &mut [Vec<[f64; 3]>]) {
    let mut x: Vec<f32> = image.iter().map(|&x| x as f32).collect();
    let mut carried: Vec<f64> = Vec::new();
    for (index, weights) in weights.iter().enumerate() {
        let layer = &network.layers()[index];
        let root = (layer.inputs() as f64).sqrt();
        let fields: Vec<f64> = weights
            .chunks_exact(layer.inputs())
            .enumerate()
            .map(|(unit, row)| {
                let sum: f32 = row.iter().zip(&x).map(|(s, x)| s * x).sum();
                f64::from(sum) / root + if layer.spec().carries() { carried[unit] } else { 0.0 }
            })
            .collect();
        x = fields.iter().zip(layer.bias()).map(|(h, &b)| if h + f64::from(b) >= 0.0 { 1.0 } else { -1.0 }).collect();
        for ((sum, &h), &x) in sums[index].iter_mut().zip(&fields).zip(&x) {
            *sum = [sum[0] + h, sum[1] + h * h, sum[2] + f64::from(x)];
        }
        carried = fields;
    }
}
