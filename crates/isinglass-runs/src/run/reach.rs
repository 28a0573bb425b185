//! Whether a run can change the signs of its weights at all.
//!
//! Adam and RMSprop move a parameter by about the learning rate in every step, whatever the gradient. Over a run that is the sum of all learning
//! rates, and a mean that starts farther than that from 0 keeps its sign: at a learning rate of 2e-4 and means of ±0.95 the binary network `sign(M)`
//! is still the random one it began as.

use isinglass_net::{Means, Network, Optimizer, Progress, TrainConfig};

use crate::words::digits;

/// Enough weights of a layer to know them all.
const SAMPLE: usize = 10_000;

/// How far weights are from changing sign.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reach {
    distances: Vec<f64>,
}

impl Reach {
    /// Measures an initial network. Nothing is measured where there are no signs.
    pub(crate) fn new(initial: &Network, config: &TrainConfig) -> Self {
        let distance = |&mean: &f32| match config.means {
            Means::Clip => f64::from(mean).abs(),
            Means::Tanh => f64::from(mean).abs().atanh(),
        };
        let layers = if initial.has_binary_weights() { initial.layers() } else { &[] };
        Self { distances: layers.iter().flat_map(|layer| layer.means().iter().take(SAMPLE).map(distance)).collect() }
    }

    /// A sentence, if most weights cannot change sign. Of optimisers whose steps depend on the size of the gradient nothing can be said.
    pub(crate) fn notice(&self, config: &TrainConfig, progress: Progress) -> Option<String> {
        if !matches!(config.optimizer, Optimizer::Adam | Optimizer::Rmsprop) {
            return None;
        }
        let factor = |step| config.schedule.factor(step, progress.steps, progress.steps_per_epoch);
        // Long runs by every so many steps: the rates of neighbours are nearly the same.
        let stride = (progress.steps / 100_000).max(1);
        let movement = config.lr * stride as f64 * (0..progress.steps).step_by(stride as usize).map(factor).sum::<f64>();
        let stuck = self.distances.iter().filter(|&&distance| distance > movement).count() as f64 / self.distances.len() as f64;
        let outcome = if stuck > 0.95 {
            "the binary network sign(M) can hardly differ from the random initial one"
        } else {
            "most signs of the binary network stay as drawn"
        };
        (stuck > 0.5).then(|| {
            format!(
                "with these settings a parameter moves by at most about {}, too little for {:.0} % of the means to change sign: {outcome}; \
                 a larger lr, more epochs or a smaller sigma-m2 would let them",
                digits(movement),
                100.0 * stuck
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use isinglass_net::{Init, NetworkConfig, Schedule};

    fn notice(sigma_m2: f64, means: Means, lr: f64) -> Option<String> {
        let config =
            NetworkConfig { inputs: 10, hidden: vec![5; 2], init: Init::TwoPoint, sigma_m2: Some(sigma_m2), ..NetworkConfig::default() };
        let network = config.init(1).unwrap();
        let train = TrainConfig { means, lr, schedule: Schedule::Constant, ..TrainConfig::default() };
        let progress = Progress { step: 0, steps: 1000, steps_per_epoch: 100, epoch: 0, epochs: 10 };
        Reach::new(&network, &train).notice(&train, progress)
    }

    #[test]
    fn a_small_learning_rate_cannot_flip_large_means() {
        assert!(notice(0.9025, Means::Clip, 2e-4).unwrap().contains("about 0.2,")); // ±0.95, and 1000 steps of 2e-4
        assert!(notice(0.9025, Means::Clip, 1e-3).is_none());
        assert!(notice(0.9025, Means::Tanh, 1e-3).is_some()); // atanh(0.95) = 1.83
        assert!(notice(0.01, Means::Clip, 2e-4).is_none());
        assert!(notice(1.0, Means::Tanh, 1.0).is_some()); // tanh never reaches 1
    }
}
