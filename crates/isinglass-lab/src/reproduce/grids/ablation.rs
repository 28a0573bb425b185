//! The sweeps behind the table of regularisation: one for each of its lines, over seeds.
//!
//! Lines differ from the first in what they name and in nothing else. A sixth of the training images is held out: with all of MNIST, 50,000 images to train with and 10,000 to validate.

use super::{Plan, fraction, read, seed_axis};
use crate::reproduce::results::Behind;
use crate::reproduce::study::{Scale, Study};

/// One line of the table.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::reproduce) struct Line {
    /// As it is called in table and picture.
    pub name: String,
    /// Its sweep.
    pub sweep: &'static str,
    /// Which network is judged.
    pub network: Behind,
    /// Its own settings.
    settings: String,
}

/// The sweep of the network without regularisation.
pub(in crate::reproduce) const NONE: &str = "ablation-none";
pub(in crate::reproduce) const INPUT_DROPOUT: &str = "ablation-input-dropout";
pub(in crate::reproduce) const LARGE_TAU: &str = "ablation-tau";
pub(in crate::reproduce) const ADVERSARIAL: &str = "ablation-adversarial";
pub(in crate::reproduce) const ENSEMBLE: &str = "ablation-ensemble";

struct Sizes {
    hidden: [usize; 2],
    /// Of the training images of MNIST.
    fraction: f64,
    epochs: usize,
    seeds: u64,
}

const SMOKE: Sizes = Sizes { hidden: [8, 8], fraction: 0.5, epochs: 2, seeds: 2 };
const QUICK: Sizes = Sizes { hidden: [128, 128], fraction: 0.25, epochs: 10, seeds: 3 };
const PAPER: Sizes = Sizes { hidden: [501, 501], fraction: 1.0, epochs: 30, seeds: 3 };

fn sizes(scale: Scale) -> &'static Sizes {
    match scale {
        Scale::Smoke => &SMOKE,
        Scale::Quick | Scale::Medium => &QUICK,
        Scale::Paper => &PAPER,
    }
}

/// All lines, the one without regularisation first.
pub(in crate::reproduce) fn lines(scale: Scale) -> Vec<Line> {
    // The last sixth of the run, in which the learning rate is small.
    let average = (sizes(scale).epochs / 6).max(2);
    let line = |sweep: &'static str, name: &str, settings: &str| Line {
        name: name.to_owned(),
        sweep,
        network: Behind::Binary,
        settings: settings.to_owned(),
    };
    vec![
        line(NONE, "none", ""),
        line(INPUT_DROPOUT, "input dropout 0.2", "input-dropout = 0.2\n"),
        line(LARGE_TAU, "input dropout 0.2, τ = 3", "input-dropout = 0.2\ntau = 3.0\n"),
        line("ablation-dropout", "neuron dropout 0.1", "dropout = 0.1\n"),
        line("ablation-weight-decay", "weight decay 0.01", "weight-decay = 0.01\n"),
        line("ablation-label-smoothing", "label smoothing 0.1", "label-smoothing = 0.1\n"),
        line(ADVERSARIAL, "adversarial examples, ε = 0.1", "adversarial = 0.1\n"),
        line("ablation-average", &format!("average of the last {average} epochs"), &format!("average = {average}\n")),
        line("ablation-augment", "shifts by up to 1 pixel", "augment = 1\n"),
        Line { network: Behind::Stochastic(100), ..line(ENSEMBLE, "100 draws averaged", "goal = \"surrogate\"\nsamples = [100]\n") },
    ]
}

pub(super) fn plans(study: &Study) -> Vec<Plan> {
    lines(study.scale).into_iter().map(|line| plan(study, &line)).collect()
}

fn plan(study: &Study, line: &Line) -> Plan {
    let Sizes { hidden, fraction: of_mnist, epochs, seeds } = sizes(study.scale);
    let data = format!("data = {:?}\ntrain-fraction = {:?}\nvalidation = {:?}\n", study.data, fraction(study, *of_mnist), 1.0 / 6.0);
    let own = |key: &str| line.settings.lines().any(|setting| setting.starts_with(&format!("{key} =")));
    let usual: String = [("goal", "\"binary\""), ("samples", "[]")]
        .into_iter()
        .filter(|(key, _)| !own(key))
        .map(|(key, value)| format!("{key} = {value}\n"))
        .collect();
    let common = "surrogate = \"deterministic\"\nmeans = \"tanh\"\noptimizer = \"adam\"\nlr = 0.03\nschedule = \"cosine\"\nbatch = 100\n";
    let text = format!(
        "[train]\n{data}hidden = {hidden:?}\n{common}{usual}{}epochs = {epochs}\n[grid]\n{}",
        line.settings,
        seed_axis(study, *seeds)
    );
    Plan { name: line.sweep, grid: read(&text), keep_runs: false }
}
