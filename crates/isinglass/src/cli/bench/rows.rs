//! A packed network in floats, row by row: what a library's product of a matrix and a vector does.

use isinglass_bits::{BitMatrix, PackedModel, PackedNetwork, argmax};

/// A network of ±1 weights as 32-bit numbers.
pub struct RowNetwork {
    layers: Vec<RowLayer>,
}

struct RowLayer {
    inputs: usize,
    /// `[neuron][input]`.
    weights: Vec<f32>,
    bias: Vec<f32>,
    carries: bool,
}

impl RowNetwork {
    /// The networks of a model, an ensemble's one after the other.
    pub fn of(model: &PackedModel) -> Vec<Self> {
        model.networks().iter().map(Self::new).collect()
    }

    fn new(network: &PackedNetwork) -> Self {
        let row_layer = |weights: &BitMatrix, bias: Vec<f32>, carries: bool| {
            let spins = (0..weights.rows()).flat_map(|row| (0..weights.columns()).map(move |column| f32::from(weights.spin(row, column))));
            RowLayer { inputs: weights.columns(), weights: spins.collect(), bias, carries }
        };
        let hidden = network.layers().iter().map(|layer| {
            // Halfway between the sums below and above each threshold.
            let root = (layer.inputs() as f64).sqrt();
            let bias = layer.thresholds().iter().map(|&threshold| ((0.5 - f64::from(threshold)) / root) as f32).collect();
            row_layer(layer.weights(), bias, layer.carries())
        });
        let output = network.output();
        Self { layers: hidden.chain([row_layer(output.weights(), output.bias().to_vec(), false)]).collect() }
    }

    /// The fields of the output for one image.
    pub fn fields(&self, image: &[u8]) -> Vec<f32> {
        let mut x: Vec<f32> = image.iter().map(|&byte| f32::from(byte)).collect();
        let mut carried: Vec<f32> = Vec::new();
        for (index, layer) in self.layers.iter().enumerate() {
            let mut sums: Vec<f32> = layer.weights.chunks_exact(layer.inputs).map(|row| dot(row, &x)).collect();
            if layer.carries {
                sums.iter_mut().zip(&carried).for_each(|(sum, carried)| *sum += carried);
            }
            let scale = 1.0 / (layer.inputs as f32).sqrt();
            let fields = sums.iter().zip(&layer.bias).map(|(sum, bias)| sum * scale + bias);
            x = if index + 1 == self.layers.len() {
                fields.collect()
            } else {
                fields.map(|field| if field >= 0.0 { 1.0 } else { -1.0 }).collect()
            };
            carried = sums;
        }
        x
    }

    /// The classes of images, on this many threads.
    pub fn classes(&self, images: &[u8], threads: usize) -> Vec<usize> {
        let inputs = self.layers[0].inputs;
        let count = images.len() / inputs;
        let mut classes = vec![0; count];
        let part = count.div_ceil(threads.max(1)).max(1);
        let find = |images: &[u8], classes: &mut [usize]| {
            let pairs = images.chunks_exact(inputs).zip(classes);
            pairs.for_each(|(image, class)| *class = argmax(&self.fields(image)));
        };
        let mut parts = images.chunks(part * inputs).zip(classes.chunks_mut(part));
        let first = parts.next();
        std::thread::scope(|scope| {
            for (images, classes) in parts {
                scope.spawn(move || find(images, classes));
            }
            if let Some((images, classes)) = first {
                find(images, classes);
            }
        });
        classes
    }
}

/// In 32 sums, for the compiler to put into vectors.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    const LANES: usize = 32;
    let mut sums = [0.0; LANES];
    let (blocks, rest) = a.as_chunks::<LANES>();
    let (other_blocks, other_rest) = b.as_chunks::<LANES>();
    for (a, b) in blocks.iter().zip(other_blocks) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f32>() + rest.iter().zip(other_rest).map(|(a, b)| a * b).sum::<f32>()
}
