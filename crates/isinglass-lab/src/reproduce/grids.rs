//! The sweeps behind the figures that are made by training.
//!
//! What the paper states is taken from it: half of MNIST, ten epochs (five for the binary counterparts), Adam at 2e-4, batches of 64, `σ_b² = 0`, depths below 70. Its width
//! is not stated; ours is 256. The quick scale has networks of width 64, a tenth of MNIST and, since it takes a fifth of the steps, a learning rate of 1e-3, so that a
//! mean can move about as far. Every scale but the smallest has three seeds, the fewest that decide anything.

use super::study::{Scale, Study, Subject};
use isinglass_runs::sweep::Grid;

pub(super) mod ablation;
pub(super) mod depth;

/// A sweep to be run.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Its name, also that of its directory.
    pub name: &'static str,
    /// Its cells.
    pub grid: Grid,
    /// Whether trained networks are looked at afterwards.
    pub keep_runs: bool,
}

/// Accuracy over depth and `σ_m²`: a surrogate and a neuron.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Plane {
    pub name: &'static str,
    pub surrogate: &'static str,
    pub neuron: &'static str,
}

/// The only deterministic surrogate whose depth scale diverges, at `σ_m² → 1`.
pub(super) const UNIT_GAIN: Plane = Plane { name: "deterministic-tanh-1", surrogate: "deterministic", neuron: "tanh:1" };
pub(super) const LRT_CONTINUOUS: Plane = Plane { name: "lrt-continuous-tanh-1", surrogate: "lrt-continuous", neuron: "tanh:1" };
pub(super) const SIGN: Plane = Plane { name: "deterministic-sign", surrogate: "deterministic", neuron: "sign" };
/// Critical at `σ_m² = 1/1.5² = 0.444`, chaotic beyond.
pub(super) const SUPERCRITICAL: Plane = Plane { name: "deterministic-tanh-1.5", surrogate: "deterministic", neuron: "tanh:1.5" };
pub(super) const LRT_BINARY: Plane = Plane { name: "lrt-binary-logistic-1", surrogate: "lrt-binary", neuron: "logistic:1" };

/// Surrogates and their binary counterparts.
pub(super) const COUNTERPARTS: &str = "counterparts";
/// Common initialisations.
pub(super) const INITIALISATIONS: &str = "initialisations";
/// Adam and others.
pub(super) const OPTIMIZERS: &str = "optimizers";
/// One network after more and more epochs.
pub(super) const EPOCHS: &str = "epochs";
/// Numbers of stochastic networks that it is compared with.
pub(super) const SAMPLES: [usize; 7] = [1, 2, 5, 10, 20, 50, 100];

/// The sweeps of a figure.
pub(super) fn plans(study: &Study, subject: Subject) -> Vec<Plan> {
    match subject {
        Subject::Fig1 | Subject::Fig3 | Subject::Fig4 => Vec::new(),
        Subject::Fig2 => vec![plane(study, UNIT_GAIN), plane(study, LRT_CONTINUOUS), counterparts(study)],
        Subject::Fig5 => [SIGN, UNIT_GAIN, SUPERCRITICAL, LRT_BINARY].map(|one| plane(study, one)).into(),
        Subject::Fig6 => vec![initialisations(study)],
        Subject::Table => vec![optimizers(study), growing_epochs(study)],
        Subject::Depth => depth::plans(study),
        Subject::Ablation => ablation::plans(study),
    }
}

/// What tells scales apart. Lists are as they stand in a grid.
struct Sizes {
    width: usize,
    /// Images, of all training images of MNIST; of the generated digits three times that part, at most all.
    part: f64,
    /// Adam's learning rate.
    lr: f64,
    epochs: usize,
    /// After which binary counterparts are looked at, and optimisers compared.
    fewer_epochs: usize,
    plane: [&'static str; 2],
    counterparts: [&'static str; 2],
    initialisations: &'static str,
    optimizers: [&'static str; 3],
    growing_epochs: &'static str,
    seeds: u64,
}

const QUICK: Sizes = Sizes {
    width: 64,
    part: 0.1,
    lr: 1e-3,
    epochs: 10,
    fewer_epochs: 5,
    // 3ξ of the unit gain is 2.5, 4.3, 8.4, 18 and 300 layers.
    plane: ["[0.3, 0.5, 0.7, 0.85, 0.99]", "[4, 10, 24, 50]"],
    // Most of the time goes into sampling.
    counterparts: ["[0.1, 0.5, 0.99]", "[2, 5, 10]"],
    initialisations: "[2, 10, 30]",
    // Steps of Adam and RMSprop are as long as the learning rate, those of the others as long as the gradient allows.
    optimizers: ["[1e-3, 1e-1, 1.0]", "[0.3, 0.95]", "[4, 10, 20]"],
    growing_epochs: "[1, 5, 20]",
    seeds: 3,
};

const PAPER: Sizes = Sizes {
    width: 256,
    part: 0.5,
    lr: 2e-4,
    epochs: 10,
    fewer_epochs: 5,
    plane: [TWENTY, "[5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 65]"],
    counterparts: [TWENTY, "[2, 4, 6, 8, 10, 12, 14, 16, 18, 20]"],
    initialisations: "[2, 5, 10, 15, 20, 30, 40, 50, 60]",
    optimizers: ["[2e-4, 1e-3, 1e-2, 1e-1, 1.0]", "[0.1, 0.3, 0.5, 0.7, 0.9, 0.99]", "[5, 10, 20, 30, 45, 60]"],
    growing_epochs: "[1, 2, 5, 10, 20, 50]",
    seeds: 3,
};
/// The paper's data, optimiser and epochs, three seeds; narrower networks, and depths that are dense where `3ξ` is short.
const MEDIUM: Sizes = Sizes {
    width: 96,
    plane: ["[0.3, 0.5, 0.7, 0.85, 0.95, 0.99]", "[3, 6, 10, 15, 22, 32, 45, 60]"],
    counterparts: ["[0.3, 0.7, 0.95, 0.99]", "[3, 6, 10, 15]"],
    initialisations: "[3, 6, 10, 22, 45]",
    optimizers: ["[2e-4, 1e-3, 1e-2, 1e-1]", "[0.3, 0.7, 0.95]", "[6, 15, 32]"],
    growing_epochs: "[1, 3, 10, 30]",
    ..PAPER
};

const TWENTY: &str =
    "[0.04, 0.09, 0.14, 0.19, 0.24, 0.29, 0.34, 0.39, 0.44, 0.49, 0.54, 0.59, 0.64, 0.69, 0.74, 0.79, 0.84, 0.89, 0.94, 0.99]";

const SMOKE: Sizes = Sizes {
    width: 8,
    part: 0.05,
    lr: 1e-2,
    epochs: 2,
    fewer_epochs: 1,
    plane: ["[0.5, 0.9]", "[2, 4]"],
    counterparts: ["[0.5, 0.9]", "[1, 2]"],
    initialisations: "[2, 10]",
    optimizers: ["[1e-3, 1e-2]", "[0.5, 0.9]", "[2]"],
    growing_epochs: "[1, 3]",
    seeds: 2,
};

fn sizes(scale: Scale) -> &'static Sizes {
    match scale {
        Scale::Smoke => &SMOKE,
        Scale::Quick => &QUICK,
        Scale::Medium => &MEDIUM,
        Scale::Paper => &PAPER,
    }
}

fn plane(study: &Study, plane: Plane) -> Plan {
    let sizes = sizes(study.scale);
    let own = format!("surrogate = {:?}\nneuron = {:?}\nepochs = {}\nsamples = []\n", plane.surrogate, plane.neuron, sizes.epochs);
    let [sigma_m2, depth] = sizes.plane;
    plan(study, plane.name, &(own + TWO_POINT + &adam(sizes)), &format!("sigma-m2 = {sigma_m2}\ndepth = {depth}\n{}", seeds(study)))
}

fn counterparts(study: &Study) -> Plan {
    let sizes = sizes(study.scale);
    let own = format!("{UNIT_GAIN_NETWORK}epochs = {}\nsamples = [1, 5, 100]\n", sizes.fewer_epochs);
    let [sigma_m2, depth] = sizes.counterparts;
    plan(study, COUNTERPARTS, &(own + TWO_POINT + &adam(sizes)), &format!("sigma-m2 = {sigma_m2}\ndepth = {depth}\n{}", seeds(study)))
}

fn initialisations(study: &Study) -> Plan {
    let sizes = sizes(study.scale);
    let own = format!("{UNIT_GAIN_NETWORK}epochs = {}\nsamples = []\n", sizes.epochs);
    let axes = format!("init = [\"glorot\", \"he\", \"uniform\", \"critical\"]\ndepth = {}\n{}", sizes.initialisations, seeds(study));
    plan(study, INITIALISATIONS, &(own + &adam(sizes)), &axes)
}

fn optimizers(study: &Study) -> Plan {
    let sizes = sizes(study.scale);
    let own = format!("{UNIT_GAIN_NETWORK}epochs = {}\nsamples = []\n{TWO_POINT}", sizes.fewer_epochs);
    let [lr, sigma_m2, depth] = sizes.optimizers;
    let optimizers = "optimizer = [\"adam\", \"sgd\", \"momentum\", \"rmsprop\"]\n";
    let axes = format!("{optimizers}lr = {lr}\ndepth = {depth}\nsigma-m2 = {sigma_m2}\n{}", seeds(study));
    plan(study, OPTIMIZERS, &own, &axes)
}

fn growing_epochs(study: &Study) -> Plan {
    let sizes = sizes(study.scale);
    // The sign neuron: its surrogate is the mean of a real network, and what is left between the two is due to sampling alone.
    let own = format!("surrogate = \"deterministic\"\nneuron = \"sign\"\ndepth = 3\nsigma-m2 = 0.3\nsamples = {SAMPLES:?}\n");
    let axes = format!("epochs = {}\n{}", sizes.growing_epochs, seeds(study));
    Plan { keep_runs: true, ..plan(study, EPOCHS, &(own + TWO_POINT + &adam(sizes)), &axes) }
}

const TWO_POINT: &str = "init = \"two-point\"\n";
const UNIT_GAIN_NETWORK: &str = "surrogate = \"deterministic\"\nneuron = \"tanh:1\"\n";

fn adam(sizes: &Sizes) -> String {
    format!("optimizer = \"adam\"\nlr = {:?}\n", sizes.lr)
}

fn seeds(study: &Study) -> String {
    seed_axis(study, sizes(study.scale).seeds)
}

/// The study's seed and those that follow it.
fn seed_axis(study: &Study, count: u64) -> String {
    let seeds: Vec<String> = (0..count).map(|index| (study.seed + index).to_string()).collect();
    format!("seed = [{}]\n", seeds.join(", "))
}

/// The fraction of a data set's training images: there are a third as many generated digits as images of MNIST.
fn fraction(study: &Study, of_mnist: f64) -> f64 {
    if study.data == "digits" { (3.0 * of_mnist).min(1.0) } else { of_mnist }
}

fn read(text: &str) -> Grid {
    Grid::from_toml(text).expect("checked by a test: the grids of all figures can be read")
}

fn plan(study: &Study, name: &'static str, own: &str, axes: &str) -> Plan {
    let sizes = sizes(study.scale);
    let part = fraction(study, sizes.part);
    let data = format!("data = {:?}\ntrain-fraction = {part:?}\nvalidation = 0.0\n", study.data);
    let common = "sigma-b2 = 0.0\ngoal = \"surrogate\"\nmeans = \"clip\"\nschedule = \"constant\"\nbatch = 64\n";
    let text = format!("[train]\n{data}width = {}\n{common}{own}[grid]\n{axes}", sizes.width);
    Plan { name, grid: read(&text), keep_runs: false }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::interval::FEWEST;
    use super::*;

    #[test]
    fn all_grids_can_be_read_and_have_possible_cells() {
        for scale in [Scale::Smoke, Scale::Quick, Scale::Medium, Scale::Paper] {
            for data in ["mnist", "digits"] {
                let study = Study { directory: "figures".into(), scale, data: data.into(), data_dir: None, seed: 3, threads: 1 };
                let plans = study.plans(&Subject::ALL);
                assert_eq!(plans.len(), 9);
                for plan in plans {
                    let cells = plan.grid.cells().unwrap();
                    let seeds: BTreeSet<u64> = cells.iter().map(|cell| cell.config.seed).collect();
                    assert_eq!(seeds.len(), if scale == Scale::Smoke { 2 } else { FEWEST }, "{}", plan.name);
                    assert!(
                        cells.iter().all(|cell| cell.config.depth < Some(70) && cell.config.data.as_deref() == Some(data)),
                        "{}",
                        plan.name
                    );
                }
                for plan in study.plans(&Subject::BEYOND) {
                    let cells = plan.grid.cells().unwrap();
                    assert!(cells.iter().all(|cell| cell.config.data.as_deref() == Some(data) && cell.config.seed >= 3), "{}", plan.name);
                    assert!(scale == Scale::Smoke || cells.iter().any(|cell| cell.config.seed == 5), "{}: three seeds", plan.name);
                }
            }
        }
    }
}
