//! A model laid out for one instruction set.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

#[cfg(target_arch = "x86_64")]
use crate::kernels::amx;
use crate::kernels::{ByteWeights, Counts, SpinPanels, limits_of_bytes, limits_of_spins};
use crate::prediction::{argmax, softmax};
use crate::{Error, Isa, PackedLayer, PackedModel, PackedNetwork, Quantiser, Values};

/// The networks, laid out for an instruction set.
pub(super) struct Plan {
    pub(super) isa: Isa,
    pub(super) networks: Vec<PlannedNetwork>,
    pub(super) quantiser: Option<Arc<Quantiser>>,
    pub(super) class_names: Option<Arc<[String]>>,
    pub(super) inputs: usize,
    pub(super) classes: usize,
    /// Products of weights and inputs for one row.
    #[cfg(feature = "std")]
    pub(super) products: usize,
    /// `√N` of the output layer.
    pub(super) root: f64,
    pub(super) tau: f64,
    /// `[network][class]`.
    pub(super) bias: Vec<f32>,
}

pub(super) struct PlannedNetwork {
    pub(super) input: ByteWeights,
    pub(super) input_limits: Vec<Counts>,
    pub(super) hidden: Vec<PlannedLayer>,
    pub(super) output: SpinPanels,
    /// Inputs of the output layer.
    pub(super) last: i32,
    /// The first layer for many rows, if the instruction set has tiles.
    #[cfg(target_arch = "x86_64")]
    pub(super) tiled: Option<amx::Layer>,
}

/// A layer on spins.
pub(super) struct PlannedLayer {
    pub(super) panels: SpinPanels,
    pub(super) limits: Vec<Counts>,
    /// Whether the counts of the layer before are added to its own.
    pub(super) carries: bool,
}

impl Plan {
    pub(super) fn new(model: &PackedModel, isa: Isa) -> Self {
        Self {
            isa,
            networks: model.networks().iter().map(|network| PlannedNetwork::new(network, isa)).collect(),
            quantiser: model.shared_quantiser(),
            class_names: model.shared_class_names(),
            inputs: model.inputs(),
            classes: model.classes(),
            #[cfg(feature = "std")]
            products: model.networks().iter().flat_map(|network| network.matrices()).map(|matrix| matrix.rows() * matrix.columns()).sum(),
            root: libm::sqrt(model.networks()[0].output().inputs() as f64),
            tau: model.tau(),
            bias: model.networks().iter().flat_map(|network| network.output().bias()).copied().collect(),
        }
    }

    /// Sums of one row.
    pub(super) fn sums_per_row(&self) -> usize {
        self.networks.len() * self.classes
    }

    /// Number of rows, if the model can take these.
    pub(super) fn rows(&self, inputs: Values<'_>) -> Result<usize, Error> {
        match (inputs, &self.quantiser) {
            (Values::Floats(reals), Some(quantiser)) => quantiser.check(reals)?,
            (Values::Bytes(bytes), None) => {
                if !bytes.len().is_multiple_of(self.inputs) {
                    return Err(Error::Inputs(format!("{} bytes do not make whole images of {}", bytes.len(), self.inputs)));
                }
            }
            (Values::Bytes(_), Some(_)) => {
                return Err(Error::Inputs("this model takes real numbers and quantises them itself; it was given bytes".into()));
            }
            (Values::Floats(_), None) => return Err(Error::Inputs("this model takes bytes; it was given real numbers".into())),
        }
        Ok(inputs.len() / self.inputs)
    }

    fn field(&self, sum: i32, place: usize) -> f64 {
        f64::from(sum) / self.root + f64::from(self.bias[place])
    }

    pub(super) fn probabilities_of(&self, sums: &[i32]) -> Vec<f64> {
        let mut result = Vec::with_capacity(sums.len() / self.networks.len());
        let mut logits = vec![0.0; self.classes];
        for sums in sums.chunks_exact(self.sums_per_row()) {
            let start = result.len();
            result.resize(start + self.classes, 0.0);
            for (network, sums) in sums.chunks_exact(self.classes).enumerate() {
                for (class, (logit, &sum)) in logits.iter_mut().zip(sums).enumerate() {
                    *logit = self.tau * self.field(sum, network * self.classes + class);
                }
                softmax(&mut logits);
                result[start..].iter_mut().zip(&logits).for_each(|(total, probability)| *total += probability);
            }
            result[start..].iter_mut().for_each(|total| *total /= self.networks.len() as f64);
        }
        result
    }

    pub(super) fn classes_of(&self, sums: &[i32]) -> Vec<usize> {
        if self.networks.len() > 1 {
            return self.probabilities_of(sums).chunks_exact(self.classes).map(argmax).collect();
        }
        let mut fields = vec![0.0; self.classes];
        let class = |sums: &[i32]| {
            fields.iter_mut().zip(sums).enumerate().for_each(|(class, (field, &sum))| *field = self.field(sum, class));
            argmax(&fields)
        };
        sums.chunks_exact(self.classes).map(class).collect()
    }
}

impl PlannedNetwork {
    fn new(network: &PackedNetwork, isa: Isa) -> Self {
        let (first, hidden) = network.layers().split_first().expect("at least one hidden layer");
        let planned = |(layer, largest): (&PackedLayer, i32)| PlannedLayer {
            panels: isa.spin_panels(layer.weights()),
            limits: limits_of_spins(layer, largest),
            carries: layer.carries(),
        };
        Self {
            input: isa.byte_panels(first.weights()),
            input_limits: limits_of_bytes(first),
            hidden: hidden.iter().zip(network.largest_sums().into_iter().skip(1)).map(planned).collect(),
            output: isa.spin_panels(network.output().weights()),
            last: network.output().inputs() as i32,
            #[cfg(target_arch = "x86_64")]
            tiled: isa.tiles().map(|token| amx::Layer::new(token, first)),
        }
    }
}
