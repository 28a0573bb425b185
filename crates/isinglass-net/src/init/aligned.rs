//! Aligned layers: each layer reads what the one below writes.
//!
//! Every hidden neuron gets a random unit vector `u` of `K` components. The mean between two of them follows from the angle of their vectors,
//!
//! `M_ij = a·erf(g_ij/√2)`, `g_ij = √K u_i · u_j`.
//!
//! `g` is close to a standard normal variable, so the means of a layer are spread as those of `uniform` are, and any two of them are uncorrelated. But layers are not independent:
//! `K` directions of the neurons are handed on from layer to layer, each amplified by `√(N/K)` over what independent means do, and all others are left behind.
//! The first hidden layer, which reads data, and the output layer have independent means.
//!
//! In independent layers a signal's variance grows at most by `γσ_m²` per layer, `γ = φ'(0)²/s`, which is below 1 for the sign neuron whatever the means. In aligned layers the
//! factor is `γσ_m²(1 + ρ²N/K)`, where `ρ² = 3/π` is what the error function leaves of the correlation of `M` and `g`, so that small, mobile means carry a signal through any depth.
//! `docs/training.md` derives it.

use std::f64::consts::SQRT_2;
use std::num::NonZeroU32;

use crate::{LayerSpec, Rng};

/// Neurons for each direction, unless the number of directions is given.
const NEURONS_PER_DIRECTION: usize = 16;

/// Fewer directions than these tell too few classes apart, if the layer has the neurons.
const FEWEST: usize = 8;

/// The usual number of directions in a network with these hidden layers.
pub(super) fn usual_directions(hidden: &[usize]) -> NonZeroU32 {
    let narrowest = hidden.iter().copied().min().unwrap_or(1);
    let directions = (narrowest / NEURONS_PER_DIRECTION).max(FEWEST).min(narrowest);
    u32::try_from(directions).ok().and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MIN)
}

/// Whether layers are wide enough for [`FEWEST`] directions to be amplified well beyond what is lost.
pub(super) fn suits(hidden: &[usize]) -> bool {
    hidden.iter().all(|&width| width >= 8 * FEWEST)
}

/// The vectors of a hidden layer's neurons.
struct Vectors {
    directions: usize,
    components: Vec<f64>,
}

impl Vectors {
    fn draw(count: usize, directions: usize, mut rng: Rng) -> Self {
        let mut components = Vec::with_capacity(count * directions);
        while components.len() < count * directions {
            let vector: Vec<f64> = (0..directions).map(|_| rng.normal()).collect();
            let norm = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
            // A vector of zeros has no direction.
            if norm > 0.0 {
                components.extend(vector.iter().map(|x| x / norm));
            }
        }
        Self { directions, components }
    }

    fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.components.chunks_exact(self.directions)
    }
}

/// The means (or real weights) of the layer between two hidden ones: number `index`, counted from 0, and the one below.
pub(super) fn means(spec: &LayerSpec, index: usize, directions: NonZeroU32, scale: Scale, rng: &Rng) -> Vec<f32> {
    let directions = directions.get() as usize;
    let vectors = |index: usize, count: usize| Vectors::draw(count, directions, rng.stream(Rng::ALIGNMENT, index as u64));
    let (below, above) = (vectors(index - 1, spec.inputs()), vectors(index, spec.outputs()));
    let root = (directions as f64).sqrt();
    let mut means = Vec::with_capacity(spec.weights());
    for u in above.rows() {
        means.extend(below.rows().map(|v| {
            let g = root * u.iter().zip(v).map(|(u, v)| u * v).sum::<f64>();
            match scale {
                Scale::Uniform { half_width } => (half_width * libm::erf(g / SQRT_2)).clamp(-1.0, 1.0) as f32,
                Scale::Normal { sigma } => (sigma * g) as f32,
            }
        }));
    }
    means
}

/// How a weight follows from `g`.
#[derive(Debug, Clone, Copy)]
pub(super) enum Scale {
    /// A mean, uniform between ± this, clipped at ±1.
    Uniform {
        /// Half the width of the distribution.
        half_width: f64,
    },
    /// A real weight with this standard deviation.
    Normal {
        /// The standard deviation.
        sigma: f64,
    },
}
