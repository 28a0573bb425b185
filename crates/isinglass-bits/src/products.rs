//! One layer on its own: products of ±1 weights with packed spins.
//!
//! ```
//! use isinglass_bits::{BitMatrix, Isa, PackedLayer, Products};
//!
//! let weights = BitMatrix::from_fn(2, 5, |neuron, input| neuron == 0 || input < 2);
//! let mut products = Products::new(&PackedLayer::new(weights, vec![2, 0])?, Isa::best())?;
//! let inputs = BitMatrix::from_fn(3, 5, |row, input| input >= row);
//! assert_eq!(products.sums(&inputs)?, [5, -1, 3, -3, 1, -5]);
//! assert_eq!(products.neurons(&inputs)?, BitMatrix::from_fn(3, 2, |row, neuron| neuron == 0 && row < 2));
//! # Ok::<(), isinglass_bits::Error>(())
//! ```

use alloc::format;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use crate::kernels::{Counts, GROUP, Scratch, SpinPanels, interleave, limits_of_spins, words_of};
use crate::{BitMatrix, Error, Isa, PackedLayer};

/// Rows of inputs multiplied side by side.
const TILE: usize = 8;

/// A layer laid out for one instruction set. A clone shares the weights but has its own working memory, for another thread.
#[derive(Clone)]
pub struct Products {
    plan: Arc<Plan>,
    tile: Workspace<TILE>,
    single: Workspace<1>,
}

struct Plan {
    isa: Isa,
    panels: SpinPanels,
    limits: Vec<Counts>,
    inputs: usize,
    neurons: usize,
}

impl Products {
    /// Lays out a layer on spins for an instruction set.
    ///
    /// # Errors
    ///
    /// [`Error::Shape`] if the layer carries.
    pub fn new(layer: &PackedLayer, isa: Isa) -> Result<Self, Error> {
        let (neurons, inputs) = (layer.weights().rows(), layer.weights().columns());
        if layer.carries() {
            return Err(Error::Shape("a layer that carries needs the sums of the layer before: predict with the whole network".into()));
        }
        let plan = Plan { isa, panels: isa.spin_panels(layer.weights()), limits: limits_of_spins(layer, inputs as i32), inputs, neurons };
        Ok(Self { tile: Workspace::new(&plan), single: Workspace::new(&plan), plan: Arc::new(plan) })
    }

    /// The sums `Σ_j S_ij x_j` for every row `x` of `inputs`, `[row][neuron]`.
    ///
    /// # Errors
    ///
    /// [`Error::Shape`] if the rows are not as long as those of the weights.
    pub fn sums(&mut self, inputs: &BitMatrix) -> Result<Vec<i32>, Error> {
        let mut sums = vec![0; inputs.rows() * self.plan.neurons];
        self.sums_into(inputs, &mut sums)?;
        Ok(sums)
    }

    /// As [`Products::sums`], into existing memory.
    ///
    /// # Errors
    ///
    /// [`Error::Shape`] as for [`Products::sums`], and if `sums` does not have one element per sum.
    pub fn sums_into(&mut self, inputs: &BitMatrix, sums: &mut [i32]) -> Result<(), Error> {
        let neurons = self.plan.neurons;
        if sums.len() != inputs.rows() * neurons {
            return Err(Error::Shape(format!("{} places for the sums of {neurons} neurons at {} rows", sums.len(), inputs.rows())));
        }
        let (stride, whole) = self.tiles_of(inputs)?;
        let (tiles, rest) = inputs.bytes().split_at(whole * stride);
        let (tile_sums, rest_sums) = sums.split_at_mut(whole * neurons);
        for (rows, sums) in tiles.chunks_exact(TILE * stride).zip(tile_sums.chunks_exact_mut(TILE * neurons)) {
            self.tile.sums(&self.plan, rows, sums);
        }
        for (row, sums) in rest.chunks_exact(stride).zip(rest_sums.chunks_exact_mut(neurons)) {
            self.single.sums(&self.plan, row, sums);
        }
        Ok(())
    }

    /// The neurons for every row of `inputs`: +1 where the sum is not below the threshold.
    ///
    /// # Errors
    ///
    /// [`Error::Shape`] if the rows are not as long as those of the weights.
    pub fn neurons(&mut self, inputs: &BitMatrix) -> Result<BitMatrix, Error> {
        let mut neurons = BitMatrix::from_fn(inputs.rows(), self.plan.neurons, |_, _| false);
        self.neurons_into(inputs, &mut neurons)?;
        Ok(neurons)
    }

    /// As [`Products::neurons`], into existing memory.
    ///
    /// # Errors
    ///
    /// [`Error::Shape`] as for [`Products::neurons`], and if `neurons` does not have a row per row of inputs and a column per neuron.
    pub fn neurons_into(&mut self, inputs: &BitMatrix, neurons: &mut BitMatrix) -> Result<(), Error> {
        if (neurons.rows(), neurons.columns()) != (inputs.rows(), self.plan.neurons) {
            let found = format!("{} × {}", neurons.rows(), neurons.columns());
            return Err(Error::Shape(format!("{found} places for {} neurons at {} rows", self.plan.neurons, inputs.rows())));
        }
        let (stride, whole) = self.tiles_of(inputs)?;
        let out_stride = self.plan.neurons.div_ceil(8);
        let (tiles, rest) = inputs.bytes().split_at(whole * stride);
        let (tile_neurons, rest_neurons) = neurons.bytes_mut().split_at_mut(whole * out_stride);
        for (rows, neurons) in tiles.chunks_exact(TILE * stride).zip(tile_neurons.chunks_exact_mut(TILE * out_stride)) {
            self.tile.neurons(&self.plan, rows, neurons);
        }
        for (row, neurons) in rest.chunks_exact(stride).zip(rest_neurons.chunks_exact_mut(out_stride)) {
            self.single.neurons(&self.plan, row, neurons);
        }
        Ok(())
    }

    /// Bytes of a row, and rows in whole tiles.
    fn tiles_of(&self, inputs: &BitMatrix) -> Result<(usize, usize), Error> {
        if inputs.columns() != self.plan.inputs {
            return Err(Error::Shape(format!("rows of {} spins for a layer of {} inputs", inputs.columns(), self.plan.inputs)));
        }
        Ok((inputs.columns().div_ceil(8), inputs.rows() / TILE * TILE))
    }
}

/// Working memory for some rows side by side.
#[derive(Clone)]
struct Workspace<const ROWS: usize> {
    /// 32 spins of each row, then the next 32.
    inputs: Vec<[u32; ROWS]>,
    neurons: Vec<[u32; ROWS]>,
    counts: Vec<Counts>,
    scratch: Scratch,
}

impl<const ROWS: usize> Workspace<ROWS> {
    fn new(plan: &Plan) -> Self {
        Self {
            inputs: Vec::new(),
            neurons: vec![[0; ROWS]; words_of(plan.neurons)],
            counts: vec![[0; GROUP]; plan.panels.groups * ROWS],
            scratch: Scratch::default(),
        }
    }

    fn sums(&mut self, plan: &Plan, rows: &[u8], sums: &mut [i32]) {
        interleave(rows, plan.inputs.div_ceil(8), &mut self.inputs);
        plan.isa.mismatches(&plan.panels, &self.inputs, &mut self.counts, &mut self.scratch);
        for (row, sums) in sums.chunks_exact_mut(plan.neurons).enumerate() {
            for (sums, counts) in sums.chunks_mut(GROUP).zip(self.counts.iter().skip(row).step_by(ROWS)) {
                for (sum, count) in sums.iter_mut().zip(counts) {
                    *sum = plan.inputs as i32 - 2 * count;
                }
            }
        }
    }

    fn neurons(&mut self, plan: &Plan, rows: &[u8], neurons: &mut [u8]) {
        interleave(rows, plan.inputs.div_ceil(8), &mut self.inputs);
        let Self { inputs, neurons: words, counts, scratch } = self;
        plan.isa.neurons((&plan.panels, &plan.limits), inputs, counts, words, scratch);
        for (row, bytes) in neurons.chunks_exact_mut(plan.neurons.div_ceil(8)).enumerate() {
            let (whole, rest) = bytes.as_chunks_mut::<4>();
            let mut words = self.neurons.iter().map(|words| words[row].to_le_bytes());
            whole.iter_mut().zip(&mut words).for_each(|(bytes, word)| *bytes = word);
            rest.iter_mut().zip(words.next().into_iter().flatten()).for_each(|(byte, new)| *byte = new);
        }
    }
}
