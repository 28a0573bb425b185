//! Prediction: the network laid out for one instruction set, and images sent through it eight at a time.

use alloc::format;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use crate::kernels::{ByteWeights, Counts, GROUP, Images, Scratch, SpinPanels, limits_of_bytes, limits_of_spins, words_of};
use crate::{Error, Isa, Model};

/// Images that go through the network side by side.
const TILE: usize = 8;
/// Products of weights and inputs that are worth starting a thread for: a few tenths of a millisecond.
#[cfg(feature = "std")]
const PRODUCTS: usize = 1 << 27;

/// Predicts with a packed network. A clone shares the weights and has working memory of its own, for another thread.
///
/// Once made, and its results' memory aside, it reserves none: nothing stands in the way of an answer within microseconds.
#[derive(Clone)]
pub struct Predictor {
    plan: Arc<Plan>,
    tile: Workspace<TILE>,
    single: Workspace<1>,
}

/// The networks, laid out.
struct Plan {
    isa: Isa,
    networks: Vec<PlannedNetwork>,
    inputs: usize,
    classes: usize,
    /// Products of weights and inputs for one image.
    #[cfg(feature = "std")]
    products: usize,
    /// `√N` of the output layer.
    root: f64,
    tau: f64,
    /// `[network][class]`.
    bias: Vec<f32>,
}

struct PlannedNetwork {
    input: ByteWeights,
    /// The limits of the first layer, then of every layer in `hidden`.
    limits: Vec<Vec<Counts>>,
    hidden: Vec<SpinPanels>,
    output: SpinPanels,
    /// Inputs of the output layer.
    last: i32,
}

impl Predictor {
    /// Lays a model out for an instruction set.
    pub fn new(model: &Model, isa: Isa) -> Self {
        let networks: Vec<PlannedNetwork> = model.networks.iter().map(|network| PlannedNetwork::new(network, isa)).collect();
        let last = model.networks[0].output.weights.columns();
        let plan = Plan {
            isa,
            networks,
            inputs: model.inputs(),
            classes: model.classes(),
            #[cfg(feature = "std")]
            products: model.networks.iter().flat_map(|network| network.matrices()).map(|matrix| matrix.rows() * matrix.columns()).sum(),
            root: libm::sqrt(last as f64),
            tau: model.tau,
            bias: model.networks.iter().flat_map(|network| &network.output.bias).copied().collect(),
        };
        Self { tile: Workspace::new(&plan), single: Workspace::new(&plan), plan: Arc::new(plan) }
    }

    /// The instruction set.
    pub fn isa(&self) -> Isa {
        self.plan.isa
    }

    /// The sums `Σ_j S_kj x_j` of the output layers, `[image][network][class]`.
    ///
    /// # Errors
    ///
    /// [`Error::Images`] if `images` are not whole images.
    pub fn sums(&mut self, images: &[u8]) -> Result<Vec<i32>, Error> {
        let mut sums = vec![0; self.count(images)? * self.plan.networks.len() * self.plan.classes];
        self.sums_into(images, &mut sums);
        Ok(sums)
    }

    /// The probabilities of the classes, averaged over the networks, `[image][class]`.
    ///
    /// # Errors
    ///
    /// [`Error::Images`] if `images` are not whole images.
    pub fn probabilities(&mut self, images: &[u8]) -> Result<Vec<f64>, Error> {
        let sums = self.sums(images)?;
        Ok(self.plan.probabilities_of(&sums))
    }

    /// The most likely classes, the first of equals.
    ///
    /// # Errors
    ///
    /// [`Error::Images`] if `images` are not whole images.
    pub fn classes(&mut self, images: &[u8]) -> Result<Vec<usize>, Error> {
        let sums = self.sums(images)?;
        Ok(self.plan.classes_of(&sums))
    }

    /// As [`Predictor::sums`], on several threads, as far as there is enough to do for them.
    ///
    /// # Errors
    ///
    /// [`Error::Images`] if `images` are not whole images.
    #[cfg(feature = "std")]
    pub fn sums_on(&mut self, images: &[u8], threads: usize) -> Result<Vec<i32>, Error> {
        let (plan, count) = (self.plan.clone(), self.count(images)?);
        let per_image = plan.networks.len() * plan.classes;
        let part = count.div_ceil(threads.max(1)).max(PRODUCTS / plan.products.max(1)).next_multiple_of(TILE);
        let mut sums = vec![0; count * per_image];
        let mut parts = images.chunks(part * plan.inputs).zip(sums.chunks_mut(part * per_image));
        let first = parts.next();
        std::thread::scope(|scope| {
            for (images, sums) in parts {
                let mut predictor = self.clone();
                scope.spawn(move || predictor.sums_into(images, sums));
            }
            if let Some((images, sums)) = first {
                self.sums_into(images, sums);
            }
        });
        Ok(sums)
    }

    /// The probabilities that go with sums, `[image][class]`.
    pub fn probabilities_of(&self, sums: &[i32]) -> Vec<f64> {
        self.plan.probabilities_of(sums)
    }

    /// The classes that go with sums.
    pub fn classes_of(&self, sums: &[i32]) -> Vec<usize> {
        self.plan.classes_of(sums)
    }

    fn count(&self, images: &[u8]) -> Result<usize, Error> {
        if images.len().is_multiple_of(self.plan.inputs) {
            return Ok(images.len() / self.plan.inputs);
        }
        Err(Error::Images(format!("{} bytes are not whole images of {}", images.len(), self.plan.inputs)))
    }

    fn sums_into(&mut self, images: &[u8], sums: &mut [i32]) {
        let per_image = self.plan.networks.len() * self.plan.classes;
        let whole = images.len() / self.plan.inputs / TILE * TILE;
        let (tiles, rest) = images.split_at(whole * self.plan.inputs);
        let (tile_sums, rest_sums) = sums.split_at_mut(whole * per_image);
        for (images, sums) in tiles.chunks_exact(TILE * self.plan.inputs).zip(tile_sums.chunks_exact_mut(TILE * per_image)) {
            self.tile.run(&self.plan, images, sums);
        }
        for (image, sums) in rest.chunks_exact(self.plan.inputs).zip(rest_sums.chunks_exact_mut(per_image)) {
            self.single.run(&self.plan, image, sums);
        }
    }
}

impl Plan {
    fn field(&self, sum: i32, place: usize) -> f64 {
        f64::from(sum) / self.root + f64::from(self.bias[place])
    }

    fn probabilities_of(&self, sums: &[i32]) -> Vec<f64> {
        let mut result = Vec::with_capacity(sums.len() / self.networks.len());
        let mut logits = vec![0.0; self.classes];
        for sums in sums.chunks_exact(self.networks.len() * self.classes) {
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

    fn classes_of(&self, sums: &[i32]) -> Vec<usize> {
        if self.networks.len() > 1 {
            return self.probabilities_of(sums).chunks_exact(self.classes).map(first_largest).collect();
        }
        let mut fields = vec![0.0; self.classes];
        let class = |sums: &[i32]| {
            fields.iter_mut().zip(sums).enumerate().for_each(|(class, (field, &sum))| *field = self.field(sum, class));
            first_largest(&fields)
        };
        sums.chunks_exact(self.classes).map(class).collect()
    }
}

fn softmax(logits: &mut [f64]) {
    let largest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    logits.iter_mut().for_each(|logit| *logit = libm::exp(*logit - largest));
    let total: f64 = logits.iter().sum();
    logits.iter_mut().for_each(|logit| *logit /= total);
}

fn first_largest(values: &[f64]) -> usize {
    (1..values.len()).fold(0, |best, index| if values[index] > values[best] { index } else { best })
}

impl PlannedNetwork {
    fn new(network: &crate::Network, isa: Isa) -> Self {
        let (first, hidden) = network.layers.split_first().expect("at least one hidden layer");
        Self {
            input: isa.byte_panels(&first.weights),
            limits: core::iter::once(limits_of_bytes(first)).chain(hidden.iter().map(limits_of_spins)).collect(),
            hidden: hidden.iter().map(|layer| isa.spin_panels(&layer.weights)).collect(),
            output: isa.spin_panels(&network.output.weights),
            last: network.output.weights.columns() as i32,
        }
    }
}

/// Working memory for some images side by side.
#[derive(Clone)]
struct Workspace<const IMAGES: usize> {
    images: Images<IMAGES>,
    /// The spins of a layer, 32 of each image, then the next 32.
    spins: Vec<[u32; IMAGES]>,
    counts: Vec<Counts>,
    scratch: Scratch<IMAGES>,
}

impl<const IMAGES: usize> Workspace<IMAGES> {
    fn new(plan: &Plan) -> Self {
        let network = &plan.networks[0];
        let groups = network.hidden.iter().chain([&network.output]).map(|panels| panels.groups).chain([network.input.groups()]);
        let groups = groups.max().unwrap_or(0);
        let mut workspace = Self {
            images: Images::default(),
            spins: vec![[0; IMAGES]; words_of(groups * GROUP)],
            counts: vec![[0; GROUP]; groups * IMAGES],
            scratch: Scratch::default(),
        };
        // Whatever else the kernels want is reserved now.
        workspace.run(plan, &vec![0; IMAGES * plan.inputs], &mut vec![0; IMAGES * plan.networks.len() * plan.classes]);
        workspace
    }

    /// `sums` is `[image][network][class]`.
    fn run(&mut self, plan: &Plan, images: &[u8], sums: &mut [i32]) {
        let isa = plan.isa;
        isa.arrange(images, plan.inputs, &mut self.images);
        for (index, network) in plan.networks.iter().enumerate() {
            isa.deficits(&network.input, &self.images, &mut self.counts);
            let mut limits = network.limits.iter();
            let mut fire = |counts: &[Counts], spins: &mut [[u32; IMAGES]]| {
                let limits = limits.next().expect("as many as layers");
                isa.compare(&counts[..limits.len() * IMAGES], limits, spins);
            };
            fire(&self.counts, &mut self.spins);
            for panels in &network.hidden {
                isa.mismatches(panels, &self.spins[..panels.words], &mut self.counts, &mut self.scratch);
                fire(&self.counts, &mut self.spins);
            }
            isa.mismatches(&network.output, &self.spins[..network.output.words], &mut self.counts, &mut self.scratch);
            for (image, sums) in sums.chunks_exact_mut(plan.networks.len() * plan.classes).enumerate() {
                for (class, sum) in sums[index * plan.classes..][..plan.classes].iter_mut().enumerate() {
                    *sum = network.last - 2 * self.counts[class / GROUP * IMAGES + image][class % GROUP];
                }
            }
        }
    }
}
