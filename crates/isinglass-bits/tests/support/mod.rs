//! Random networks, and the same networks in plain sums.
#![allow(dead_code)] // every test binary uses some of it

pub mod exports;
pub mod files;

use isinglass_bits::{BitMatrix, PackedModel, PackedNetwork, Preprocessing};

/// A generator good enough to choose bits.
pub struct Random(pub u64);

impl Random {
    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.bits() % bound as u64) as usize
    }

    /// Within ±1.
    pub fn signed(&mut self) -> f32 {
        self.bits() as u32 as f32 / u32::MAX as f32 * 2.0 - 1.0
    }
}

/// Weights ±1 and biases as floats: `[layer] (inputs, weights, biases)`.
pub struct Plain {
    pub layers: Vec<(usize, Vec<f64>, Vec<f32>)>,
    pub preprocessing: Preprocessing,
}

impl Plain {
    pub fn random(sizes: &[usize], random: &mut Random) -> Self {
        let layer = |pair: &[usize]| {
            let weights = (0..pair[0] * pair[1]).map(|_| if random.bits() & 1 == 1 { 1.0 } else { -1.0 }).collect();
            // Half the biases are 0, so that fields of exactly 0 occur.
            let biases = (0..pair[1]).map(|unit| if unit % 2 == 0 { 0.0 } else { 0.3 * random.signed() }).collect();
            (pair[0], weights, biases)
        };
        Self { layers: sizes.windows(2).map(layer).collect(), preprocessing: Preprocessing::new(33.5, 0.0125).unwrap() }
    }

    pub fn packed(&self) -> PackedNetwork {
        let layers = self.layers.iter().map(|(inputs, weights, biases)| {
            (BitMatrix::from_fn(biases.len(), *inputs, |row, column| weights[row * inputs + column] > 0.0), biases.clone())
        });
        PackedNetwork::new(self.preprocessing, layers.collect()).unwrap()
    }

    /// The output's sums for one image: every input preprocessed by itself, every field in 64-bit floats, `sign(0) = +1`.
    pub fn sums(&self, image: &[u8]) -> Vec<i32> {
        let (offset, scale) = (self.preprocessing.offset(), self.preprocessing.scale());
        let mut x: Vec<f64> = image.iter().map(|&byte| (f64::from(byte) - f64::from(offset)) * f64::from(scale)).collect();
        for (index, (inputs, weights, biases)) in self.layers.iter().enumerate() {
            let sums: Vec<f64> = weights.chunks(*inputs).map(|row| row.iter().zip(&x).map(|(w, x)| w * x).sum()).collect();
            if index + 1 == self.layers.len() {
                return sums.iter().map(|sum| *sum as i32).collect();
            }
            let root = (*inputs as f64).sqrt();
            x = sums.iter().zip(biases).map(|(sum, &bias)| if sum / root + f64::from(bias) >= 0.0 { 1.0 } else { -1.0 }).collect();
        }
        unreachable!("there is an output layer")
    }
}

/// A packed network and its plain twin.
pub fn network(sizes: &[usize], seed: u64) -> (PackedModel, Plain) {
    let plain = Plain::random(sizes, &mut Random(seed));
    (PackedModel::new(vec![plain.packed()], plain.preprocessing, 1.5).unwrap(), plain)
}

/// Random images, after a black and a white one.
pub fn images(inputs: usize, count: usize, seed: u64) -> Vec<u8> {
    let mut random = Random(seed);
    let mut images: Vec<u8> = (0..inputs * count).map(|_| random.bits() as u8).collect();
    images[..inputs].fill(0);
    images[inputs..2 * inputs].fill(255);
    images
}
