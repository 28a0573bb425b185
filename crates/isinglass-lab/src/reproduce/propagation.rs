//! How far signals in a trained binary network are from those in its surrogate.
//!
//! Two images go through the surrogate and through binary networks drawn from its means. In each hidden layer the overlap of the two is the mean over neurons of `x̄_a x̄_b`, or of `x_a x_b` where neurons
//! are ±1. The distance is the root mean square difference between the two kinds of network, over pairs of images, samples and layers. It is computed here in plain f64, layer by layer as written
//! in docs/training.md.

use isinglass_data::{Dataset, Pixels};
use isinglass_net::{InputRule, Network, Values};
use isinglass_theory::activation::{Activation, Phi};
use isinglass_theory::{Denominator, Neuron};

/// Images, taken in pairs.
const IMAGES: usize = 40;
/// Binary networks drawn.
const SAMPLES: u64 = 10;

/// The first images of the test set, as inputs.
pub(super) fn inputs(data: &Dataset, rule: &InputRule) -> Result<Vec<Vec<f64>>, isinglass_net::Error> {
    let length = data.test.image_len();
    let count = length * IMAGES.min(data.test.len());
    let values = match data.test.pixels() {
        Pixels::Bytes(bytes) => Values::Bytes(&bytes[..count]),
        Pixels::Floats(floats) => Values::Floats(&floats[..count]),
    };
    let inputs = rule.inputs(values, length)?;
    Ok(inputs.chunks(length).map(|image| image.iter().map(|&input| f64::from(input)).collect()).collect())
}

/// The distance of a network with sign neurons from its surrogate.
pub(super) fn distance(network: &Network, images: &[Vec<f64>], seed: u64) -> Result<f64, isinglass_net::Error> {
    let surrogate = overlaps(images, |image| means(network, image));
    let (mut sum, mut count) = (0.0, 0usize);
    for sample in 0..SAMPLES {
        let drawn = network.draw(seed, sample)?;
        let binary = overlaps(images, |image| signs(&drawn, image));
        sum += surrogate.iter().zip(&binary).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
        count += surrogate.len();
    }
    Ok((sum / count.max(1) as f64).sqrt())
}

/// The part of the surrogate's neurons beyond ±0.9.
pub(super) fn saturated(network: &Network, images: &[Vec<f64>]) -> f64 {
    let neurons: Vec<f64> = images.iter().flat_map(|image| means(network, image)).flatten().collect();
    neurons.iter().filter(|x| x.abs() > 0.9).count() as f64 / neurons.len().max(1) as f64
}

/// The overlaps of all pairs of neighbouring images in all hidden layers.
fn overlaps(images: &[Vec<f64>], neurons: impl Fn(&[f64]) -> Vec<Vec<f64>>) -> Vec<f64> {
    let layers: Vec<Vec<Vec<f64>>> = images.iter().map(|image| neurons(image)).collect();
    let overlap = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() / a.len() as f64;
    layers.windows(2).flat_map(|pair| pair[0].iter().zip(&pair[1]).map(|(a, b)| overlap(a, b)).collect::<Vec<_>>()).collect()
}

/// `h̄ = M x/√N + b` of one neuron.
fn field(weights: &[f32], x: &[f64], bias: f32) -> f64 {
    let sum: f64 = weights.iter().zip(x).map(|(&weight, &x)| f64::from(weight) * x).sum();
    sum / (x.len() as f64).sqrt() + f64::from(bias)
}

/// Hidden layers of the deterministic surrogate.
fn means(network: &Network, image: &[f64]) -> Vec<Vec<f64>> {
    let (phi, Denominator { noise, spread }): (Phi, Denominator) =
        network.config().neuron.averaged().expect("neurons of binary networks have a mean");
    let mut layers: Vec<Vec<f64>> = Vec::new();
    for (index, layer) in network.layers().iter().filter(|layer| !layer.spec().is_output()).enumerate() {
        let x = layers.last().map_or(image, Vec::as_slice);
        let neuron = |(weights, &bias): (&[f32], &f32)| {
            let squares = weights.iter().zip(x).map(|(&weight, &x)| (f64::from(weight).powi(2), x * x));
            // Inputs are not random; neurons are, and their squares are 1.
            let variance: f64 =
                squares.map(|(m2, x2)| if index == 0 { (1.0 - m2) * x2 } else { 1.0 - m2 * x2 }).sum::<f64>() / x.len() as f64;
            let root = (noise + spread * variance).sqrt();
            let h = field(weights, x, bias);
            if root > 0.0 { phi.value(h / root) } else { sign(h) }
        };
        let next = layer.rows().zip(layer.bias()).map(neuron).collect();
        layers.push(next);
    }
    layers
}

/// Hidden layers of a binary network with sign neurons.
fn signs(network: &Network, image: &[f64]) -> Vec<Vec<f64>> {
    debug_assert_eq!(network.config().neuron, Neuron::Sign);
    let mut layers: Vec<Vec<f64>> = Vec::new();
    for layer in network.layers().iter().filter(|layer| !layer.spec().is_output()) {
        let x = layers.last().map_or(image, Vec::as_slice);
        let next = layer.rows().zip(layer.bias()).map(|(weights, &bias)| sign(field(weights, x, bias))).collect();
        layers.push(next);
    }
    layers
}

/// `sign(0) = +1`.
fn sign(h: f64) -> f64 {
    if h >= 0.0 { 1.0 } else { -1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use isinglass_net::{Init, NetworkConfig, Rng};

    fn network(sigma_m2: f64) -> Network {
        let config = NetworkConfig {
            inputs: 50,
            hidden: vec![61; 3],
            init: Init::TwoPoint,
            sigma_m2: Some(sigma_m2),
            sigma_b2: Some(0.0),
            ..NetworkConfig::default()
        };
        config.init(1).unwrap()
    }

    #[test]
    fn a_network_of_means_one_is_its_surrogate_and_others_are_not() {
        let mut rng = Rng::new(5);
        let images: Vec<Vec<f64>> = (0..4).map(|_| (0..50).map(|_| rng.normal()).collect()).collect();
        let distances = [1.0, 0.9, 0.3].map(|sigma_m2| distance(&network(sigma_m2), &images, 1).unwrap());
        assert_eq!(distances[0], 0.0);
        assert!(distances[0] < distances[1] && distances[1] < distances[2], "{distances:?}");
    }
}
