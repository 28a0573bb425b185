//! What is made again, how large, and where it goes.

use std::fmt;
use std::path::{Path, PathBuf};

use super::ReproduceError;
use super::grids::{self, Plan};
use isinglass_runs::shell;
use isinglass_runs::sweep::Sweep;

/// A figure of the paper, or one that belongs beside them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Subject {
    /// Dynamics of variance and correlation in random networks.
    Fig1,
    /// Accuracy over depth and `σ_m²`.
    Fig2,
    /// Critical lines.
    Fig3,
    /// Depth scales.
    Fig4,
    /// Ours: the grid of Figure 2 for other neurons.
    Fig5,
    /// Ours: common initialisations, put on means.
    Fig6,
    /// The statements of Section 4.2 that have no figure.
    Table,
    /// Beyond the paper: binary accuracy over depth, with fields carried and without.
    Depth,
    /// Beyond the paper: what each kind of regularisation is worth.
    Ablation,
}

impl Subject {
    /// The paper's figures and those that belong beside them, in order: what `reproduce all` makes.
    pub const ALL: [Self; 7] = [Self::Fig1, Self::Fig2, Self::Fig3, Self::Fig4, Self::Fig5, Self::Fig6, Self::Table];

    /// Experiments beyond the paper, which are made by name only.
    pub const BEYOND: [Self; 2] = [Self::Depth, Self::Ablation];

    /// The name of its directory.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fig1 => "fig1",
            Self::Fig2 => "fig2",
            Self::Fig3 => "fig3",
            Self::Fig4 => "fig4",
            Self::Fig5 => "fig5",
            Self::Fig6 => "fig6",
            Self::Table => "table",
            Self::Depth => "depth",
            Self::Ablation => "ablation",
        }
    }

    /// What it shows.
    pub fn title(self) -> &'static str {
        match self {
            Self::Fig1 => "Figure 1: signals in random networks, simulated and predicted",
            Self::Fig2 => "Figure 2: which networks train, over depth and σ_m²",
            Self::Fig3 => "Figure 3: critical lines of the deterministic surrogate",
            Self::Fig4 => "Figure 4: depth scales",
            Self::Fig5 => "Figure 5: the scale of the neuron decides",
            Self::Fig6 => "Figure 6: common initialisations, put on means",
            Self::Table => "The statements of Section 4.2",
            Self::Depth => "Deep binary networks, with fields carried and without",
            Self::Ablation => "Regularisation: what each kind is worth",
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How large experiments are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Seconds: whether everything works, and nothing else.
    Smoke,
    /// Minutes on two cores: narrow networks, few cells, a part of the data.
    Quick,
    /// The paper's data, optimiser and epochs in narrower networks: a few hours on two cores.
    Medium,
    /// The paper's settings: hours of many cores.
    Paper,
}

impl Scale {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Smoke => "smoke",
            Self::Quick => "quick",
            Self::Medium => "medium",
            Self::Paper => "paper",
        }
    }
}

/// What all figures of one directory have in common.
#[derive(Debug, Clone)]
pub struct Study {
    /// Where the figures go, a directory for each, and the sweeps behind them.
    pub directory: PathBuf,
    /// How large they are.
    pub scale: Scale,
    /// The data set networks are trained with.
    pub data: String,
    /// Where data sets are looked for first.
    pub data_dir: Option<PathBuf>,
    /// The seed of everything random.
    pub seed: u64,
    /// Number of threads, which changes nothing but the time.
    pub threads: usize,
}

impl Study {
    /// The directory of a figure.
    pub fn directory_of(&self, subject: Subject) -> PathBuf {
        self.directory.join(subject.name())
    }

    /// The sweeps that figures are drawn from, each once.
    pub fn plans(&self, subjects: &[Subject]) -> Vec<Plan> {
        let mut plans: Vec<Plan> = Vec::new();
        for plan in subjects.iter().flat_map(|&subject| grids::plans(self, subject)) {
            if plans.iter().all(|other| other.name != plan.name) {
                plans.push(plan);
            }
        }
        plans
    }

    /// Where a sweep is kept.
    pub fn sweep_directory(&self, name: &str) -> PathBuf {
        self.directory.join("sweeps").join(name)
    }

    /// Makes the directory of a sweep, or opens it.
    ///
    /// # Errors
    ///
    /// Those of [`Sweep::create`].
    pub fn sweep(&self, plan: &Plan) -> Result<Sweep, ReproduceError> {
        Ok(Sweep::create(&self.sweep_directory(plan.name), plan.grid.clone(), plan.keep_runs)?)
    }

    /// The command that makes a figure again.
    pub(super) fn command(&self, subject: Subject) -> String {
        let mut text =
            format!("isinglass reproduce {subject} --scale {} --out {}", self.scale.name(), shell::word(&portable(&self.directory)));
        if !grids::plans(self, subject).is_empty() {
            text += &format!(" --data {}", shell::word(&self.data));
        }
        text + &if self.seed == 1 { String::new() } else { format!(" --seed {}", self.seed) }
    }
}

fn portable(path: &Path) -> String {
    path.file_name().map_or_else(|| "figures".to_owned(), |name| name.to_string_lossy().into_owned())
}
