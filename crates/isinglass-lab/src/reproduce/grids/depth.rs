//! The sweeps behind the depth curve: each of its lines over depth and seed, and deep networks of two lines, one for each seed, kept to be looked into.
//!
//! All lines share data, width, epochs, batches, schedule and optimiser, and start from means all over [−1, 1]. Layers are independent of each other, but for one line of plain networks,
//! whose layers are aligned. Each line has the parametrisation of the means and the learning rate that suit it: clipped means keep deep carried networks mobile, and plain ones do
//! not train with them beyond ten layers; aligned layers need smaller steps. Networks are polarised (`goal = "binary"`), since it is `sign(M)` that is judged.

use super::{Plan, fraction, read, seed_axis};
use crate::reproduce::study::{Scale, Study};

/// One line of the curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::reproduce) struct Line {
    /// As it is called in picture and tables.
    pub name: &'static str,
    /// Its sweep.
    pub sweep: &'static str,
    surrogate: &'static str,
    carry: &'static str,
    init: &'static str,
    means: &'static str,
    /// Its learning rate, if not that of the others.
    lr: Option<f64>,
}

/// What most lines share: independent layers of mobile means, at the common learning rate.
const INDEPENDENT: Line = Line { name: "", sweep: "", surrogate: "deterministic", carry: "off", init: "uniform", means: "tanh", lr: None };

pub(in crate::reproduce) const CARRIED: Line =
    Line { name: "surrogate, carried", sweep: "depth-carried", carry: "on", means: "clip", ..INDEPENDENT };
pub(in crate::reproduce) const ALIGNED: Line =
    Line { name: "surrogate, plain, aligned", sweep: "depth-aligned", init: "aligned", lr: Some(0.01), ..INDEPENDENT };
pub(in crate::reproduce) const PLAIN: Line = Line { name: "surrogate, plain", sweep: "depth-independent", ..INDEPENDENT };
pub(in crate::reproduce) const STE_CARRIED: Line =
    Line { name: "straight-through, carried", sweep: "depth-ste-carried", surrogate: "ste", carry: "on", ..INDEPENDENT };
pub(in crate::reproduce) const STE: Line = Line { name: "straight-through, plain", sweep: "depth-ste", surrogate: "ste", ..INDEPENDENT };

/// All lines, in the legend's order.
pub(in crate::reproduce) const LINES: [Line; 5] = [CARRIED, STE_CARRIED, ALIGNED, PLAIN, STE];

/// The lines of which a network is kept, and the sweeps that keep it.
pub(in crate::reproduce) const KEPT: [(Line, &str); 2] = [(CARRIED, "depth-use-carried"), (ALIGNED, "depth-use-aligned")];

struct Sizes {
    width: usize,
    /// Of the training images of MNIST.
    fraction: f64,
    /// Adam's learning rate: the larger the fewer steps there are.
    lr: f64,
    epochs: usize,
    depths: &'static [usize],
    /// Of the networks that are kept.
    kept_depth: usize,
    seeds: u64,
}

const SMOKE: Sizes = Sizes { width: 8, fraction: 0.5, lr: 0.03, epochs: 2, depths: &[2, 4, 6], kept_depth: 4, seeds: 2 };
const QUICK: Sizes = Sizes { width: 96, fraction: 0.25, lr: 0.03, epochs: 8, depths: &[3, 10, 20, 50], kept_depth: 20, seeds: 3 };
const PAPER: Sizes = Sizes { width: 256, fraction: 1.0, lr: 0.03, epochs: 12, depths: &[3, 5, 10, 20, 50, 100], kept_depth: 50, seeds: 3 };

fn sizes(scale: Scale) -> &'static Sizes {
    match scale {
        Scale::Smoke => &SMOKE,
        Scale::Quick | Scale::Medium => &QUICK,
        Scale::Paper => &PAPER,
    }
}

pub(super) fn plans(study: &Study) -> Vec<Plan> {
    let sizes = sizes(study.scale);
    let seeds = seed_axis(study, sizes.seeds);
    let lines = LINES.map(|line| plan(study, sizes, line, sizes.depths, &seeds));
    let kept = KEPT.map(|(line, name)| Plan { name, keep_runs: true, ..plan(study, sizes, line, &[sizes.kept_depth], &seeds) });
    lines.into_iter().chain(kept).collect()
}

fn plan(study: &Study, sizes: &Sizes, line: Line, depths: &[usize], seeds: &str) -> Plan {
    let data = format!("data = {:?}\ntrain-fraction = {:?}\nvalidation = 0.0\n", study.data, fraction(study, sizes.fraction));
    let network = format!(
        "width = {}\nsurrogate = {:?}\ncarry = {:?}\ninit = {:?}\nmeans = {:?}\n",
        sizes.width, line.surrogate, line.carry, line.init, line.means
    );
    let common = "goal = \"binary\"\noptimizer = \"adam\"\nschedule = \"cosine\"\nbatch = 64\nsamples = []\n";
    let text = format!(
        "[train]\n{data}{network}{common}lr = {:?}\nepochs = {}\n[grid]\ndepth = {depths:?}\n{seeds}",
        line.lr.unwrap_or(sizes.lr),
        sizes.epochs
    );
    Plan { name: line.sweep, grid: read(&text), keep_runs: false }
}
