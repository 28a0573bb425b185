//! A study: what a network loses when it becomes binary, its undecided weights or its undecided neurons.
//!
//! Two things change when the means of a surrogate become ±1: the weights that were undecided, and the neurons, which were averages over such weights and become signs. This scores the
//! held-out images with either, both and neither; where weights are signs and neurons averages, `Σ` is still that of the means.
//!
//! `cargo run --release -p isinglass-lab --example polarising -- RUN [RUN…]` takes directories of runs with surrogate deterministic, neuron sign and goal binary that were stopped
//! (Ctrl-C) after β has begun to rise; when a run has ended, nothing is undecided any more. It needs their data set.

use std::error::Error;
use std::f32::consts::PI;
use std::path::Path;

use isinglass_lab::run::{LAST, RunConfig, read_checkpoint, read_config, values};
use isinglass_net::{Goal, Layer, Network, Neuron, Surrogate, Values};

/// Images that pass through the network together.
const BATCH: usize = 250;

fn main() -> Result<(), Box<dyn Error>> {
    println!("network               undecided weights   means, averages   signs, averages   means, signs   signs, signs");
    for directory in std::env::args().skip(1) {
        study(Path::new(&directory))?;
    }
    Ok(())
}

fn study(directory: &Path) -> Result<(), Box<dyn Error>> {
    let config: RunConfig = read_config(directory)?;
    let checkpoint = read_checkpoint(directory, LAST)?;
    let held_out = checkpoint.partition().validation().to_vec();
    let network = checkpoint.into_network();
    if (network.config().surrogate, network.config().neuron) != (Surrogate::Deterministic, Neuron::Sign) {
        return Err(format!("{}: the study is of the deterministic surrogate with sign neurons", directory.display()).into());
    }
    if config.goal != Some(Goal::Binary) {
        return Err(format!("{}: the study is of runs with goal binary", directory.display()).into());
    }
    if held_out.is_empty() {
        return Err(format!("{}: the run holds out no images; train with --validation", directory.display()).into());
    }
    let data = config.load_data(None)?;
    let Values::Bytes(bytes) = values(&data.train) else { return Err("the study takes images of bytes".into()) };
    let rule = network.input().preprocessing();
    let pixels = data.train.image_len();
    let image = |index: u32| bytes[index as usize * pixels..][..pixels].iter().map(|&byte| rule.apply(f32::from(byte)));
    let undecided = |layer: &Layer| layer.means().iter().filter(|m| m.abs() < 0.999).count();
    let (free, all) = network.layers().iter().fold((0, 0), |(free, all), layer| (free + undecided(layer), all + layer.means().len()));
    let choices = [(false, false), (true, false), (false, true), (true, true)];
    let mut correct = [0usize; 4];
    for batch in held_out.chunks(BATCH) {
        let inputs: Vec<f32> = batch.iter().flat_map(|&index| image(index)).collect();
        for (correct, (signs, spins)) in correct.iter_mut().zip(choices) {
            let classes = classify(&network, &inputs, signs, spins);
            let label = |index: u32| usize::from(data.train.labels()[index as usize]);
            *correct += classes.iter().zip(batch).filter(|&(&class, &index)| class == label(index)).count();
        }
    }
    let percent = |part: usize, of: usize| 100.0 * part as f64 / of as f64;
    let [soft, weights, neurons, hard] = correct.map(|correct| percent(correct, held_out.len()));
    println!("{:20} {:17.2} % {soft:15.2} % {weights:15.2} % {neurons:12.2} % {hard:12.2} %", network.config().shape(), percent(free, all));
    Ok(())
}

/// The classes of some images, with `sign(M)` in place of the means, and with signs in place of averaged neurons.
fn classify(network: &Network, inputs: &[f32], signs: bool, spins: bool) -> Vec<usize> {
    let mut x = inputs.to_vec();
    // Fields and variances that are carried, `[image][unit]`.
    let mut carried: Vec<(f32, f32)> = Vec::new();
    let (hidden, tau) = (network.config().depth(), network.config().tau as f32);
    for (index, layer) in network.layers().iter().enumerate() {
        let n = layer.inputs();
        let weights: Vec<f32> = layer.means().iter().map(|&m| if signs { sign(m) } else { m }).collect();
        // The part of Σ that does not depend on the inputs, and the factor of x²: 1 − M² of pixels, and 1 − M²x² of spins.
        let spread: Vec<f32> = layer.means().iter().map(|&m| if index == 0 { 1.0 - m * m } else { -m * m }).collect();
        let own: f32 = if index == 0 { 0.0 } else { n as f32 };
        let mut next = Vec::with_capacity(x.len() / n * layer.outputs());
        let mut fields = Vec::with_capacity(next.capacity());
        for image in x.chunks_exact(n) {
            let squares: Vec<f32> = image.iter().map(|x| x * x).collect();
            for (unit, (weights, spread)) in weights.chunks_exact(n).zip(spread.chunks_exact(n)).enumerate() {
                let (field, variance) = if layer.spec().carries() { carried[fields.len()] } else { (0.0, 0.0) };
                let field = field + dot(weights, image) / (n as f32).sqrt();
                let variance = if !spins { variance + (own + dot(spread, &squares)) / n as f32 } else { 0.0 };
                fields.push((field, variance));
                let field = field + layer.bias()[unit];
                next.push(match (index < hidden, spins) {
                    // Logits up to the factor τ, which does not change the order.
                    (false, true) => field,
                    (false, false) => field / (1.0 + PI * tau * tau / 8.0 * variance).sqrt(),
                    (true, false) if variance > 0.0 => libm::erff(field / (2.0 * variance.max(1e-6)).sqrt()),
                    (true, _) => sign(field),
                });
            }
        }
        (x, carried) = (next, fields);
    }
    // The first of the largest.
    let largest = |logits: &[f32]| (0..logits.len()).rev().max_by(|&a, &b| logits[a].total_cmp(&logits[b])).unwrap_or(0);
    x.chunks_exact(network.config().classes).map(largest).collect()
}

/// `sign(0) = +1`.
fn sign(x: f32) -> f32 {
    if x < 0.0 { -1.0 } else { 1.0 }
}

/// The inner product, in 16 sums.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0f32; 16];
    let (a, b) = (a.chunks(16), b.chunks(16));
    for (a, b) in a.zip(b) {
        sums.iter_mut().zip(a.iter().zip(b)).for_each(|(sum, (a, b))| *sum += a * b);
    }
    sums.iter().sum()
}
