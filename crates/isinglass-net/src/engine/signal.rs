//! Batches on their way through a network, kept between two layers.

use super::{Engine, LANES};

/// A batch as a layer reads it: the layer's inputs, and the fields that are carried to it.
#[derive(Clone)]
pub struct Signal {
    layer: usize,
    examples: usize,
    x: Vec<f32>,
    second: Vec<f32>,
    field: Vec<f32>,
    variance: Vec<f32>,
}

impl Engine {
    /// The loaded batch, before the first layer.
    pub fn signal(&self) -> Signal {
        let mut signal = Signal { layer: 0, examples: self.examples, x: vec![], second: vec![], field: vec![], variance: vec![] };
        self.read_signal(&mut signal);
        signal
    }

    /// Sends a signal through its layer, whose noise has this key.
    ///
    /// # Panics
    ///
    /// If there is no layer above, or the signal is another engine's.
    pub fn pass(&mut self, signal: &mut Signal, key: [u32; 2]) {
        (self.examples, self.panels) = (signal.examples, signal.examples.div_ceil(LANES));
        let inputs = &mut self.inputs[signal.layer];
        for (to, from) in [
            (&mut inputs.x, &signal.x),
            (&mut inputs.second, &signal.second),
            (&mut self.carried.field, &signal.field),
            (&mut self.carried.variance, &signal.variance),
        ] {
            to.copy_from_slice(from);
        }
        self.forward_layer(signal.layer, self.forward_job(signal.layer, key));
        signal.layer += 1;
        self.read_signal(signal);
    }

    fn read_signal(&self, signal: &mut Signal) {
        let inputs = &self.inputs[signal.layer];
        for (to, from) in [
            (&mut signal.x, &inputs.x),
            (&mut signal.second, &inputs.second),
            (&mut signal.field, &self.carried.field),
            (&mut signal.variance, &self.carried.variance),
        ] {
            to.clear();
            to.extend_from_slice(from);
        }
    }
}

impl Signal {
    /// Adds up every input of the layer over the batch.
    pub fn add_inputs(&self, sums: &mut [f64]) {
        for (panel, values) in self.x.chunks_exact(sums.len() * LANES).take(self.examples.div_ceil(LANES)).enumerate() {
            let present = LANES.min(self.examples - panel * LANES);
            for (sum, lanes) in sums.iter_mut().zip(values.chunks_exact(LANES)) {
                *sum += lanes[..present].iter().map(|&value| f64::from(value)).sum::<f64>();
            }
        }
    }
}
