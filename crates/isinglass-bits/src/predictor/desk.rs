//! The working memory of one thread, in which rows go through the networks, eight at a time.

use alloc::vec;
use alloc::vec::Vec;

use super::plan::{Plan, PlannedLayer, PlannedNetwork};
use crate::Values;
#[cfg(target_arch = "x86_64")]
use crate::kernels::amx;
use crate::kernels::{Counts, GROUP, Images, Scratch, words_of};

/// Rows that go through the network side by side.
pub(super) const TILE: usize = 8;
/// Rows whose first layer is faster with tiles.
#[cfg(target_arch = "x86_64")]
const ROWS_THAT_PAY: usize = 24;

/// The working memory of one thread.
#[derive(Clone)]
pub(super) struct Desk {
    spaces: Spaces,
    /// Quantised rows, as many as are taken together; empty if the model takes bytes.
    quantised: Vec<u8>,
}

/// Working memory for eight rows side by side, for one, and for many.
#[derive(Clone)]
struct Spaces {
    tile: Workspace<TILE>,
    single: Workspace<1>,
    /// For the first layer of many rows, if the instruction set has tiles.
    #[cfg(target_arch = "x86_64")]
    block: Option<Block>,
}

/// Rows whose first layer is computed together.
#[cfg(target_arch = "x86_64")]
#[derive(Clone)]
struct Block {
    images: amx::Block,
    /// Neurons of the first layer, as in a workspace, tile by tile.
    spins: Vec<[u32; TILE]>,
}

impl Desk {
    pub(super) fn new(plan: &Plan) -> Self {
        let spaces = Spaces {
            tile: Workspace::new(plan),
            single: Workspace::new(plan),
            #[cfg(target_arch = "x86_64")]
            block: plan.networks[0].tiled.as_ref().map(|_| Block::new(plan)),
        };
        let quantised = vec![0; if plan.quantiser.is_some() { spaces.rows(plan) * plan.inputs } else { 0 }];
        Self { spaces, quantised }
    }

    /// How many rows should be given at once.
    #[cfg(feature = "std")]
    pub(super) fn rows_that_pay(&self) -> usize {
        #[cfg(target_arch = "x86_64")]
        if self.spaces.block.is_some() {
            return 2 * ROWS_THAT_PAY;
        }
        TILE
    }

    /// `inputs` are those that [`Plan::rows`] accepted.
    pub(super) fn sums_into(&mut self, plan: &Plan, inputs: Values<'_>, sums: &mut [i32]) {
        let Self { spaces, quantised } = self;
        let rows = spaces.rows(plan);
        let sums = sums.chunks_mut(rows * plan.sums_per_row());
        match (inputs, &plan.quantiser) {
            (Values::Floats(reals), Some(quantiser)) => {
                for (reals, sums) in reals.chunks(rows * plan.inputs).zip(sums) {
                    let bytes = &mut quantised[..reals.len()];
                    quantiser.quantise_finite(reals, bytes);
                    spaces.sums_of_bytes(plan, bytes, sums);
                }
            }
            (Values::Bytes(bytes), None) => {
                for (bytes, sums) in bytes.chunks(rows * plan.inputs).zip(sums) {
                    spaces.sums_of_bytes(plan, bytes, sums);
                }
            }
            _ => unreachable!("refused before"),
        }
    }
}

impl Spaces {
    /// The most rows that are taken together.
    fn rows(&self, plan: &Plan) -> usize {
        #[cfg(target_arch = "x86_64")]
        if self.block.is_some() {
            return amx::Block::rows_of(plan.inputs);
        }
        let _ = plan;
        TILE
    }

    /// At most as many rows as are taken together.
    fn sums_of_bytes(&mut self, plan: &Plan, bytes: &[u8], sums: &mut [i32]) {
        let (inputs, per_row) = (plan.inputs, plan.sums_per_row());
        #[cfg(target_arch = "x86_64")]
        if let Some(block) = self.block.as_mut().filter(|_| bytes.len() / inputs >= ROWS_THAT_PAY) {
            return block.run(plan, &mut self.tile, bytes, sums);
        }
        let whole = bytes.len() / inputs / TILE * TILE;
        let (tiles, rest) = bytes.split_at(whole * inputs);
        let (tile_sums, rest_sums) = sums.split_at_mut(whole * per_row);
        for (rows, sums) in tiles.chunks_exact(TILE * inputs).zip(tile_sums.chunks_exact_mut(TILE * per_row)) {
            self.tile.run(plan, rows, sums);
        }
        for (row, sums) in rest.chunks_exact(inputs).zip(rest_sums.chunks_exact_mut(per_row)) {
            self.single.run(plan, row, sums);
        }
    }
}

#[cfg(target_arch = "x86_64")]
impl Block {
    fn new(plan: &Plan) -> Self {
        let words = words_of(plan.networks[0].input_limits.len() * GROUP);
        let tiles = amx::Block::rows_of(plan.inputs).div_ceil(TILE);
        Self { images: amx::Block::new(plan.inputs), spins: vec![[0; TILE]; tiles * words] }
    }

    /// `sums` is `[row][network][class]`.
    fn run(&mut self, plan: &Plan, tile: &mut Workspace<TILE>, images: &[u8], sums: &mut [i32]) {
        let Self { images: block, spins } = self;
        let count = images.len() / plan.inputs;
        block.fill(images, plan.inputs);
        for (index, network) in plan.networks.iter().enumerate() {
            let words = words_of(network.input_limits.len() * GROUP);
            let layer = network.tiled.as_ref().expect("all networks are laid out for tiles");
            block.neurons(layer, count, spins);
            for (sums, spins) in sums.chunks_mut(TILE * plan.sums_per_row()).zip(spins.chunks_exact(words)) {
                tile.spins[..words].copy_from_slice(spins);
                tile.finish(plan, index, network, sums);
            }
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
    scratch: Scratch,
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
            self.finish(plan, index, network, sums);
        }
    }

    /// The layers after the first, whose neurons are in `spins`. There may be sums for fewer rows.
    fn finish(&mut self, plan: &Plan, index: usize, network: &PlannedNetwork, sums: &mut [i32]) {
        let isa = plan.isa;
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
