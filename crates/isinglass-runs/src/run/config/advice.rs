//! What is taken for settings that are left open, and what a user should know about those that are given.

use isinglass_net::{AnnealOrder, Carry, Goal, Init, Initialisation, Means, NetworkConfig, Optimizer, Surrogate, TrainConfig};

use super::RunConfig;
use crate::run::RunError;

/// Settings that nobody has named, where there is advice. In files such settings are what they have always been.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Open {
    /// [`RunConfig::advised_lr`].
    pub lr: bool,
    /// [`RunConfig::advised_anneal_from`].
    pub anneal_from: bool,
    /// [`RunConfig::advised_bias_correction`].
    pub bias_correction: bool,
}

impl RunConfig {
    /// The learning rate for settings that name none: [`TrainConfig::advised_lr`] with Adam, else the default of files. Plain layers that are aligned learn coherently and need the smaller
    /// rate.
    pub fn advised_lr(&self) -> f64 {
        match self.optimizer {
            Optimizer::Adam if !self.is_aligned_and_plain() => TrainConfig::advised_lr(self.surrogate, self.goal_or_default()),
            _ => TrainConfig::default().lr,
        }
    }

    /// [`TrainConfig::anneal_from`] for settings that name none: plain layers that are aligned learn fast and gain from being polarised slowly.
    pub fn advised_anneal_from(&self) -> f64 {
        let polarises = self.goal_or_default() == Goal::Binary && self.surrogate == Surrogate::Deterministic;
        if polarises && self.is_aligned_and_plain() { 0.2 } else { TrainConfig::default().anneal_from }
    }

    /// [`TrainConfig::bias_correction`] for settings that do not name it: adversarial examples leave many means undecided, those of uninformative inputs. Neurons with noise of their own are left alone: the correction keeps the
    /// fields of the surrogate, which averages over that noise, and `sign(M)` has none.
    pub fn advised_bias_correction(&self) -> bool {
        let is_noiseless = self.neuron_or_default().averaged().is_some_and(|(_, denominator)| denominator.noise == 0.0);
        self.goal_or_default() == Goal::Binary && self.surrogate == Surrogate::Deterministic && is_noiseless && self.adversarial > 0.0
    }

    /// Takes the advised value of every setting that is open.
    pub fn take_advice(&mut self, open: Open) {
        if open.lr {
            self.lr = self.advised_lr();
        }
        if open.anneal_from {
            self.anneal_from = self.advised_anneal_from();
        }
        if open.bias_correction {
            self.bias_correction = self.advised_bias_correction();
        }
    }

    /// Sentences about settings that do nothing, or are known not to work.
    pub(crate) fn notices(&self) -> Vec<String> {
        let single = [self.rate_notice(), self.carry_notice(), self.deep_ste_notice()];
        single.into_iter().flatten().chain(self.idle_notices()).collect()
    }

    /// Plain layers that are aligned did not train at twice the [advised](RunConfig::advised_lr) rate and more (`docs/training.md`).
    fn rate_notice(&self) -> Option<String> {
        let advised = self.advised_lr();
        let is_too_large = self.surrogate == Surrogate::Deterministic
            && self.optimizer == Optimizer::Adam
            && self.lr >= 2.0 * advised
            && self.is_aligned_and_plain();
        is_too_large.then(|| {
            let lr = isinglass_files::number(self.lr);
            format!("lr = {lr}: plain layers that are aligned learn coherently and train badly at such rates; {advised} works, and init = \"uniform\" starts with independent layers")
        })
    }

    /// Asked to carry, the network has no layers that do.
    fn carry_notice(&self) -> Option<String> {
        let carries_nothing = || {
            let layers = Self { carry: Some(Carry::On), ..self.clone() }.network_config(1, 2)?.layers()?;
            Ok::<_, RunError>(!layers.iter().any(|layer| layer.carries()))
        };
        (self.carry == Some(Carry::On) && carries_nothing().unwrap_or(false))
            .then(|| "carry = \"on\": no field is carried, for that takes three successive hidden layers of equal width".into())
    }

    /// Twenty plain, independent layers were at chance with straight-through gradients, ten were not (`docs/records.md`).
    fn deep_ste_notice(&self) -> Option<String> {
        const AT_CHANCE: usize = 20;
        let depth = self.hidden_layers().len();
        (self.surrogate == Surrogate::Ste && depth >= AT_CHANCE && self.layers() == Some(Layers::PlainIndependent)).then(|| {
            format!(
                "{depth} plain layers that are drawn independently do not train with straight-through gradients ({AT_CHANCE} stayed at chance): --carry on adds their fields, \
                 and --init aligned --lr 0.01 draws layers that hand signals on"
            )
        })
    }

    /// Settings that differ from their defaults and change nothing.
    fn idle_notices(&self) -> Vec<String> {
        let usual = TrainConfig::default();
        let why = match (self.surrogate, self.goal_or_default()) {
            (Surrogate::Ste, _) => "straight-through estimation trains latent weights, which have signs from the start",
            (Surrogate::Continuous, _) => "real weights are not polarised",
            (_, Goal::Surrogate) => "goal = \"surrogate\" polarises nothing",
            _ => return Vec::new(),
        };
        // Under the goal `surrogate` binary weights still have means.
        let has_means = self.surrogate.has_binary_weights() && self.surrogate != Surrogate::Ste;
        let number = isinglass_files::number;
        [
            (self.means != Means::Tanh && !has_means).then(|| format!("means = \"{}\"", self.means)),
            (self.anneal_from != usual.anneal_from).then(|| format!("anneal-from = {}", number(self.anneal_from))),
            (self.beta != usual.beta).then(|| format!("beta = {}", number(self.beta))),
            (self.anneal_order != AnnealOrder::Together).then(|| format!("anneal-order = \"{}\"", self.anneal_order)),
            self.bias_correction.then(|| "bias-correction = true".into()),
        ]
        .into_iter()
        .flatten()
        .map(|setting| format!("{setting} has no effect: {why}"))
        .collect()
    }

    /// Whether there are several hidden layers, they are initially aligned, and no field is carried.
    fn is_aligned_and_plain(&self) -> bool {
        self.hidden_layers().len() > 1 && self.layers() == Some(Layers::PlainAligned)
    }

    /// What the hidden layers begin as. None of this depends on the data; settings that describe no network are refused elsewhere.
    fn layers(&self) -> Option<Layers> {
        let network = Self { carry: None, ..self.clone() }.network_config(1, 2).ok()?;
        let carry = self.carry.unwrap_or(Carry::Off).resolve(&network).ok()?.carry;
        Some(match Initialisation::new(&NetworkConfig { carry, ..network }).ok()?.distribution {
            _ if carry => Layers::Carrying,
            Init::Aligned(_) => Layers::PlainAligned,
            _ => Layers::PlainIndependent,
        })
    }
}

/// What hidden layers begin as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layers {
    Carrying,
    PlainAligned,
    PlainIndependent,
}
