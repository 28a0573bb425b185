//! The sweeps behind the figures that are made by training.
//!
//! What the paper states is taken from it: half of MNIST, ten epochs (five for the binary counterparts), Adam at 2e-4, batches of 64, `σ_b² = 0`, depths below 70. Its width
//! is not stated; ours is 256. The quick scale has networks of width 64, a tenth of MNIST and, since it takes a fifth of the steps, a learning rate of 1e-3, so that a
//! mean can move about as far.

use super::study::{Scale, Study, Subject};
use crate::sweep::Grid;

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

/// The sweeps of a figure.
pub(super) fn plans(study: &Study, subject: Subject) -> Vec<Plan> {
    match subject {
        Subject::Fig1 | Subject::Fig3 | Subject::Fig4 => Vec::new(),
        Subject::Fig2 => vec![plane(study, UNIT_GAIN), plane(study, LRT_CONTINUOUS), counterparts(study)],
        Subject::Fig5 => [SIGN, UNIT_GAIN, SUPERCRITICAL, LRT_BINARY].map(|one| plane(study, one)).into(),
        Subject::Fig6 => vec![initialisations(study)],
        Subject::Table => vec![optimizers(study), epochs(study)],
    }
}

fn plane(study: &Study, plane: Plane) -> Plan {
    let axes = match study.scale {
        Scale::Quick => "sigma-m2 = [0.03, 0.19, 0.35, 0.51, 0.67, 0.83, 0.99]\ndepth = [10, 20, 30, 40, 50, 60]\n",
        Scale::Paper => {
            "sigma-m2 = [0.04, 0.09, 0.14, 0.19, 0.24, 0.29, 0.34, 0.39, 0.44, 0.49, 0.54, 0.59, 0.64, 0.69, 0.74, 0.79, 0.84, 0.89, 0.94, 0.99]\n\
             depth = [5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 65]\n"
        }
    };
    let own = format!("surrogate = {:?}\nneuron = {:?}\nepochs = 10\n", plane.surrogate, plane.neuron);
    plan(study, plane.name, &(own + TWO_POINT + ADAM + ONE_SAMPLE), axes)
}

fn counterparts(study: &Study) -> Plan {
    let axes = match study.scale {
        // Most of the time goes into sampling.
        Scale::Quick => "sigma-m2 = [0.03, 0.35, 0.67, 0.99]\ndepth = [2, 5, 8, 11]\n",
        Scale::Paper => {
            "sigma-m2 = [0.04, 0.09, 0.14, 0.19, 0.24, 0.29, 0.34, 0.39, 0.44, 0.49, 0.54, 0.59, 0.64, 0.69, 0.74, 0.79, 0.84, 0.89, 0.94, 0.99]\n\
             depth = [2, 4, 6, 8, 10, 12, 14, 16, 18, 20]\n"
        }
    };
    let own = "surrogate = \"deterministic\"\nneuron = \"tanh:1\"\nepochs = 5\nsamples = [1, 5, 100]\n";
    plan(study, COUNTERPARTS, &(own.to_owned() + TWO_POINT + ADAM), axes)
}

fn initialisations(study: &Study) -> Plan {
    let axes = match study.scale {
        Scale::Quick => "depth = [2, 5, 10, 20, 40]\n".to_owned(),
        Scale::Paper => format!("depth = [2, 5, 10, 15, 20, 30, 40, 50, 60]\n{}", three_seeds(study)),
    };
    let axes = format!("init = [\"glorot\", \"he\", \"uniform\", \"critical\"]\n{axes}");
    let own = "surrogate = \"deterministic\"\nneuron = \"tanh:1\"\nepochs = 10\n";
    plan(study, INITIALISATIONS, &(own.to_owned() + ADAM + ONE_SAMPLE), &axes)
}

fn optimizers(study: &Study) -> Plan {
    let axes = match study.scale {
        Scale::Quick => "depth = [4, 12, 24]\nsigma-m2 = [0.2, 0.6, 0.95]\n",
        Scale::Paper => "depth = [5, 10, 20, 30, 45, 60]\nsigma-m2 = [0.1, 0.3, 0.5, 0.7, 0.9, 0.99]\n",
    };
    // Steps of Adam and RMSprop are as long as the learning rate, those of the others as long as the gradient allows.
    let rates = match study.scale {
        Scale::Quick => "lr = [1e-3, 1e-2, 1e-1, 1.0]\n",
        Scale::Paper => "lr = [2e-4, 1e-3, 1e-2, 1e-1, 1.0]\n",
    };
    let own = "surrogate = \"deterministic\"\nneuron = \"tanh:1\"\nepochs = 5\n";
    let axes = format!("optimizer = [\"adam\", \"sgd\", \"momentum\", \"rmsprop\"]\n{rates}{axes}");
    plan(study, OPTIMIZERS, &(own.to_owned() + TWO_POINT + ONE_SAMPLE), &axes)
}

fn epochs(study: &Study) -> Plan {
    let axes = match study.scale {
        Scale::Quick => "epochs = [1, 3, 10, 30]\n".to_owned(),
        Scale::Paper => format!("epochs = [1, 2, 5, 10, 20, 50]\n{}", three_seeds(study)),
    };
    // The sign neuron: its surrogate is the mean of a real network, and what is left between the two is due to sampling alone.
    let own = "surrogate = \"deterministic\"\nneuron = \"sign\"\ndepth = 3\nsigma-m2 = 0.3\nsamples = [1, 2, 5, 10, 20, 50, 100]\n";
    Plan { keep_runs: true, ..plan(study, EPOCHS, &(own.to_owned() + TWO_POINT + ADAM), &axes) }
}

fn three_seeds(study: &Study) -> String {
    format!("seed = [{}, {}, {}]\n", study.seed, study.seed + 1, study.seed + 2)
}

const TWO_POINT: &str = "init = \"two-point\"\n";
/// With the scale's learning rate.
const ADAM: &str = "optimizer = \"adam\"\nlr = LR\n";
/// Binary networks are not what these sweeps are about.
const ONE_SAMPLE: &str = "samples = 1\n";

fn plan(study: &Study, name: &'static str, own: &str, axes: &str) -> Plan {
    let (width, lr) = match study.scale {
        Scale::Quick => (64, "1e-3"),
        Scale::Paper => (256, "2e-4"),
    };
    // Half of MNIST, as in the paper; the quick scale takes 6000 images of either.
    let part = match (study.scale, study.data.as_str()) {
        (Scale::Paper, _) => 0.5,
        (Scale::Quick, "digits") => 0.3,
        (Scale::Quick, _) => 0.1,
    };
    let seed = if axes.contains("seed = ") { String::new() } else { format!("seed = {}\n", study.seed) };
    let data = format!("data = {:?}\ntrain-fraction = {part}\nvalidation = 0.0\n", study.data);
    let common = "sigma-b2 = 0.0\ngoal = \"surrogate\"\nmeans = \"clip\"\nschedule = \"constant\"\nbatch = 64\n";
    let text = format!("[train]\n{data}width = {width}\n{common}{seed}{}[grid]\n{axes}", own.replace("LR", lr));
    let grid = Grid::from_toml(&text).expect("checked by a test: the grids of all figures can be read");
    Plan { name, grid, keep_runs: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_grids_can_be_read_and_have_possible_cells() {
        for scale in [Scale::Quick, Scale::Paper] {
            for data in ["mnist", "digits"] {
                let study = Study { directory: "figures".into(), scale, data: data.into(), data_dir: None, seed: 3, threads: 1 };
                let plans = study.plans(&Subject::ALL);
                assert_eq!(plans.len(), 9);
                for plan in plans {
                    let cells = plan.grid.cells().unwrap();
                    assert!(cells.iter().all(|cell| cell.config.depth < 70 && cell.config.data.as_deref() == Some(data)), "{}", plan.name);
                }
            }
        }
    }
}
