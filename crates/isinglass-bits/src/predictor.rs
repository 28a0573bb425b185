//! Prediction: the networks laid out for one instruction set, and rows of inputs sent through them eight at a time.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
#[cfg(feature = "std")]
use std::sync::{Mutex, PoisonError};

#[cfg(feature = "std")]
use isinglass_pool::{MAX_THREADS, Pool};

use crate::kernels::{ByteWeights, Counts, GROUP, Images, Scratch, SpinPanels, limits_of_bytes, limits_of_spins, words_of};
use crate::prediction::{argmax, softmax};
use crate::{Error, Isa, PackedLayer, PackedModel, Prediction, Quantiser, Values};

/// Rows that go through the network side by side.
const TILE: usize = 8;
/// Products of weights and inputs that justify a second thread: some tens of microseconds.
#[cfg(feature = "std")]
const PRODUCTS: usize = 1 << 24;
/// Parts of the rows that each thread has on average, so that one that is held up leaves some to the others.
#[cfg(feature = "std")]
const PARTS: usize = 4;

/// Predicts with a packed model. A clone shares the weights and has its own working memory, for use on another thread.
///
/// Methods take anything that turns into [`Values`]: bytes, or real numbers if the model has a [`Quantiser`](crate::Quantiser).
/// All memory except that of the results is allocated when the predictor is made.
#[derive(Clone)]
pub struct Predictor {
    plan: Arc<Plan>,
    desk: Desk,
    #[cfg(feature = "std")]
    team: Team,
}

/// The working memory of one thread.
#[derive(Clone)]
struct Desk {
    tile: Workspace<TILE>,
    single: Workspace<1>,
    /// A tile of quantised rows; empty if the model takes bytes.
    quantised: Vec<u8>,
}

/// The other threads and their desks, from the first call that uses them on. A clone begins without.
#[cfg(feature = "std")]
#[derive(Default)]
struct Team {
    pool: Option<Pool>,
    desks: Vec<Mutex<Desk>>,
}

#[cfg(feature = "std")]
impl Clone for Team {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// The networks, laid out for an instruction set.
struct Plan {
    isa: Isa,
    networks: Vec<PlannedNetwork>,
    quantiser: Option<Arc<Quantiser>>,
    class_names: Option<Arc<[String]>>,
    inputs: usize,
    classes: usize,
    /// Products of weights and inputs for one row.
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
    input_limits: Vec<Counts>,
    hidden: Vec<PlannedLayer>,
    output: SpinPanels,
    /// Inputs of the output layer.
    last: i32,
}

/// A layer on spins.
struct PlannedLayer {
    panels: SpinPanels,
    limits: Vec<Counts>,
    /// Whether the counts of the layer before are added to its own.
    carries: bool,
}

impl Predictor {
    /// Lays a model out for an instruction set.
    pub fn new(model: &PackedModel, isa: Isa) -> Self {
        let networks: Vec<PlannedNetwork> = model.networks().iter().map(|network| PlannedNetwork::new(network, isa)).collect();
        let plan = Plan {
            isa,
            networks,
            quantiser: model.shared_quantiser(),
            class_names: model.shared_class_names(),
            inputs: model.inputs(),
            classes: model.classes(),
            #[cfg(feature = "std")]
            products: model.networks().iter().flat_map(|network| network.matrices()).map(|matrix| matrix.rows() * matrix.columns()).sum(),
            root: libm::sqrt(model.networks()[0].output().inputs() as f64),
            tau: model.tau(),
            bias: model.networks().iter().flat_map(|network| network.output().bias()).copied().collect(),
        };
        let quantised = vec![0; if plan.quantiser.is_some() { TILE * plan.inputs } else { 0 }];
        Self {
            desk: Desk { tile: Workspace::new(&plan), single: Workspace::new(&plan), quantised },
            plan: Arc::new(plan),
            #[cfg(feature = "std")]
            team: Team::default(),
        }
    }

    /// The instruction set.
    pub fn isa(&self) -> Isa {
        self.plan.isa
    }

    /// The classes of the rows, with probabilities and names.
    ///
    /// # Errors
    ///
    /// As [`Predictor::sums`].
    pub fn predict<'a>(&mut self, inputs: impl Into<Values<'a>>) -> Result<Prediction, Error> {
        let sums = self.sums(inputs)?;
        self.prediction_of(&sums)
    }

    /// The sums `Σ_j S_kj x_j` of the output layers, `[row][network][class]`.
    ///
    /// # Errors
    ///
    /// [`Error::Inputs`] if these are not whole rows, or bytes for a model of real numbers, or real numbers for a model of bytes;
    /// [`Error::NotFinite`] if a real number is missing or infinite.
    pub fn sums<'a>(&mut self, inputs: impl Into<Values<'a>>) -> Result<Vec<i32>, Error> {
        let inputs = inputs.into();
        let mut sums = vec![0; self.plan.rows(inputs)? * self.plan.sums_per_row()];
        self.desk.sums_into(&self.plan, inputs, &mut sums);
        Ok(sums)
    }

    /// The probabilities of the classes, averaged over the networks, `[row][class]`.
    ///
    /// # Errors
    ///
    /// As [`Predictor::sums`].
    pub fn probabilities<'a>(&mut self, inputs: impl Into<Values<'a>>) -> Result<Vec<f64>, Error> {
        let sums = self.sums(inputs)?;
        Ok(self.plan.probabilities_of(&sums))
    }

    /// The most likely classes, the first of equals.
    ///
    /// # Errors
    ///
    /// As [`Predictor::sums`].
    pub fn classes<'a>(&mut self, inputs: impl Into<Values<'a>>) -> Result<Vec<usize>, Error> {
        let sums = self.sums(inputs)?;
        Ok(self.plan.classes_of(&sums))
    }

    /// Like [`Predictor::predict`], on up to `threads` threads.
    ///
    /// # Errors
    ///
    /// As [`Predictor::sums`].
    #[cfg(feature = "std")]
    pub fn predict_on<'a>(&mut self, inputs: impl Into<Values<'a>>, threads: usize) -> Result<Prediction, Error> {
        let sums = self.sums_on(inputs, threads)?;
        self.prediction_of(&sums)
    }

    /// Like [`Predictor::sums`], on up to `threads` threads, if there is enough to do. They are started by the first call, and stay.
    ///
    /// # Errors
    ///
    /// As [`Predictor::sums`].
    #[cfg(feature = "std")]
    pub fn sums_on<'a>(&mut self, inputs: impl Into<Values<'a>>, threads: usize) -> Result<Vec<i32>, Error> {
        let inputs = inputs.into();
        let (plan, desk) = (&*self.plan, &mut self.desk);
        let (count, per_row) = (plan.rows(inputs)?, plan.sums_per_row());
        let mut sums = vec![0; count * per_row];
        let threads = threads.min(count.div_ceil(TILE)).min(MAX_THREADS);
        if threads <= 1 || count.saturating_mul(plan.products) < PRODUCTS {
            desk.sums_into(plan, inputs, &mut sums);
            return Ok(sums);
        }
        let Team { pool, desks } = &mut self.team;
        if pool.as_ref().is_none_or(|pool| pool.threads() != threads) {
            *pool = Some(Pool::new(threads));
            desks.resize_with(threads, || Mutex::new(desk.clone()));
        }
        let part = count.div_ceil(threads * PARTS).next_multiple_of(TILE);
        let parts: Vec<Mutex<&mut [i32]>> = sums.chunks_mut(part * per_row).map(Mutex::new).collect();
        let rows_of = |index: usize| inputs.slice(index * part * plan.inputs..((index + 1) * part * plan.inputs).min(inputs.len()));
        if let Some(pool) = pool {
            // Nobody waits for these locks: a part is one task's, a desk one thread's. What a panic left on a desk is overwritten.
            pool.run(parts.len(), &|worker, index| {
                let mut sums = parts[index].lock().unwrap_or_else(PoisonError::into_inner);
                let mut desk = desks[worker].lock().unwrap_or_else(PoisonError::into_inner);
                desk.sums_into(plan, rows_of(index), &mut sums);
            });
        }
        drop(parts);
        Ok(sums)
    }

    /// The prediction that belongs to these sums.
    ///
    /// # Errors
    ///
    /// [`Error::Shape`] if there is not a sum for every class of every network of every row.
    pub fn prediction_of(&self, sums: &[i32]) -> Result<Prediction, Error> {
        if !sums.len().is_multiple_of(self.plan.sums_per_row()) {
            return Err(Error::Shape(format!("{} sums do not make whole rows of {}", sums.len(), self.plan.sums_per_row())));
        }
        let (classes, probabilities) = (self.plan.classes_of(sums), self.plan.probabilities_of(sums));
        Prediction::new(classes, probabilities, self.plan.classes, self.plan.class_names.clone())
    }

    /// The probabilities that belong to these sums, `[row][class]`.
    pub fn probabilities_of(&self, sums: &[i32]) -> Vec<f64> {
        self.plan.probabilities_of(sums)
    }

    /// The classes that belong to these sums.
    pub fn classes_of(&self, sums: &[i32]) -> Vec<usize> {
        self.plan.classes_of(sums)
    }
}

impl Desk {
    /// `inputs` are those that [`Plan::rows`] accepted.
    fn sums_into(&mut self, plan: &Plan, inputs: Values<'_>, sums: &mut [i32]) {
        let Self { tile, single, quantised } = self;
        match (inputs, &plan.quantiser) {
            (Values::Floats(reals), Some(quantiser)) => {
                let rows = reals.chunks(TILE * plan.inputs).zip(sums.chunks_mut(TILE * plan.sums_per_row()));
                for (reals, sums) in rows {
                    let bytes = &mut quantised[..reals.len()];
                    quantiser.quantise_finite(reals, bytes);
                    sums_of_bytes(plan, tile, single, bytes, sums);
                }
            }
            (Values::Bytes(bytes), None) => sums_of_bytes(plan, tile, single, bytes, sums),
            _ => unreachable!("refused before"),
        }
    }
}

fn sums_of_bytes(plan: &Plan, tile: &mut Workspace<TILE>, single: &mut Workspace<1>, bytes: &[u8], sums: &mut [i32]) {
    let per_row = plan.sums_per_row();
    let whole = bytes.len() / plan.inputs / TILE * TILE;
    let (tiles, rest) = bytes.split_at(whole * plan.inputs);
    let (tile_sums, rest_sums) = sums.split_at_mut(whole * per_row);
    for (rows, sums) in tiles.chunks_exact(TILE * plan.inputs).zip(tile_sums.chunks_exact_mut(TILE * per_row)) {
        tile.run(plan, rows, sums);
    }
    for (row, sums) in rest.chunks_exact(plan.inputs).zip(rest_sums.chunks_exact_mut(per_row)) {
        single.run(plan, row, sums);
    }
}

impl Plan {
    /// Sums of one row.
    fn sums_per_row(&self) -> usize {
        self.networks.len() * self.classes
    }

    /// Number of rows, if the model can take these.
    fn rows(&self, inputs: Values<'_>) -> Result<usize, Error> {
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

    fn probabilities_of(&self, sums: &[i32]) -> Vec<f64> {
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

    fn classes_of(&self, sums: &[i32]) -> Vec<usize> {
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
    fn new(network: &crate::PackedNetwork, isa: Isa) -> Self {
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
        }
    }
}

/// Working memory for `IMAGES` rows side by side.
#[derive(Clone)]
struct Workspace<const IMAGES: usize> {
    images: Images<IMAGES>,
    /// The spins of a layer: 32 of each row, then the next 32.
    spins: Vec<[u32; IMAGES]>,
    /// Those of the next layer.
    next: Vec<[u32; IMAGES]>,
    counts: Vec<Counts>,
    /// The counts of the layer before, if a layer carries; otherwise empty.
    carried: Vec<Counts>,
    scratch: Scratch<IMAGES>,
}

impl<const IMAGES: usize> Workspace<IMAGES> {
    fn new(plan: &Plan) -> Self {
        let network = &plan.networks[0];
        let hidden = network.hidden.iter().map(|layer| layer.panels.groups);
        let groups = hidden.chain([network.output.groups, network.input.groups()]).max().unwrap_or(0);
        let carries = network.hidden.iter().any(|layer| layer.carries);
        let mut workspace = Self {
            images: Images::default(),
            spins: vec![[0; IMAGES]; words_of(groups * GROUP)],
            next: vec![[0; IMAGES]; words_of(groups * GROUP)],
            counts: vec![[0; GROUP]; groups * IMAGES],
            carried: vec![[0; GROUP]; if carries { groups * IMAGES } else { 0 }],
            scratch: Scratch::default(),
        };
        // The kernels allocate whatever else they need now.
        workspace.run(plan, &vec![0; IMAGES * plan.inputs], &mut vec![0; IMAGES * plan.sums_per_row()]);
        workspace
    }

    /// `sums` is `[row][network][class]`.
    fn run(&mut self, plan: &Plan, images: &[u8], sums: &mut [i32]) {
        let isa = plan.isa;
        isa.arrange(images, plan.inputs, &mut self.images);
        for (index, network) in plan.networks.iter().enumerate() {
            isa.deficits(&network.input, &self.images, &mut self.counts, &mut self.scratch);
            isa.compare(&self.counts[..network.input_limits.len() * IMAGES], &network.input_limits, &mut self.spins);
            for PlannedLayer { panels, limits, carries } in &network.hidden {
                let (inputs, used) = (&self.spins[..panels.words], limits.len() * IMAGES);
                if *carries {
                    core::mem::swap(&mut self.counts, &mut self.carried);
                }
                if self.carried.is_empty() {
                    isa.neurons((panels, limits), inputs, &mut self.counts, &mut self.next, &mut self.scratch);
                } else {
                    isa.mismatches(panels, inputs, &mut self.counts, &mut self.scratch);
                    if *carries {
                        isa.carry(&mut self.counts[..used], &self.carried[..used]);
                    }
                    isa.compare(&self.counts[..used], limits, &mut self.next);
                }
                core::mem::swap(&mut self.spins, &mut self.next);
            }
            isa.mismatches(&network.output, &self.spins[..network.output.words], &mut self.counts, &mut self.scratch);
            for (image, sums) in sums.chunks_exact_mut(plan.sums_per_row()).enumerate() {
                for (class, sum) in sums[index * plan.classes..][..plan.classes].iter_mut().enumerate() {
                    *sum = network.last - 2 * self.counts[class / GROUP * IMAGES + image][class % GROUP];
                }
            }
        }
    }
}
