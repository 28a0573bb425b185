//! One step: a batch forward, backward, and what the optimiser makes of it.

use super::Trainer;
use crate::engine::{BatchScore, Corruption, LayerSink, Scale};
use crate::kernels::{self, Dropout, Rule, Sink};
use crate::parametrisation::Betas;
use crate::{AnnealOrder, Error, Optimizer, Progress, Rng, TrainConfig, noise};

impl Trainer<'_> {
    pub(super) fn learning_rate(&self, step: u64) -> f64 {
        let Progress { steps, steps_per_epoch, .. } = self.progress();
        self.config.lr * self.config.schedule.factor(step, steps, steps_per_epoch)
    }

    /// The mean loss of the next step's batch, without the step: the forward part of a training step, with [`TrainConfig::adversarial`] the search for adversarial examples included.
    ///
    /// It may be infinite or no number, where [`Trainer::step`] would return an error.
    ///
    /// # Errors
    ///
    /// [`Error::Finished`] if there are no steps left.
    pub fn next_loss(&mut self) -> Result<f32, Error> {
        let Progress { step, steps, .. } = self.progress();
        if step >= steps {
            return Err(Error::Finished { steps });
        }
        let score = self.forward();
        Ok((score.nll / self.engine.examples() as f64) as f32)
    }

    /// The next step's batch, sent forward; the gradient of its loss is ready for the backward pass.
    fn forward(&mut self) -> BatchScore {
        let Progress { step, steps_per_epoch, .. } = self.progress();
        let first = (step % steps_per_epoch) as usize * self.config.batch;
        let indices = &self.order[first..self.order.len().min(first + self.config.batch)];
        let TrainConfig { seed, input_dropout, augment, .. } = self.config;
        let corruption = (input_dropout > 0.0 || augment > 0).then(|| {
            let key = Rng::new(seed).stream(Rng::CORRUPTION, step).next_u64();
            Corruption::new(key, input_dropout, augment, self.examples.features().isqrt())
        });
        self.engine.load_corrupted(self.examples.rows(), indices, &self.frame.input, Scale::Inputs, corruption);
        let rate = self.config.dropout as f32;
        let dropout = |layer: usize| (rate > 0.0).then(|| Dropout { rate, key: noise::dropout_key(seed, step, layer) });
        self.engine.forward_dropping(|layer| noise::key(seed, step, layer), dropout);
        let score = self.engine.score(&self.examples, indices);
        if self.config.adversarial > 0.0 {
            // The same noise and the same neurons left out, on examples that are harder.
            self.engine.move_inputs(self.config.adversarial as f32);
            self.engine.forward_dropping(|layer| noise::key(seed, step, layer), dropout);
            self.engine.score(&self.examples, indices);
        }
        score
    }

    /// Forward, backward and the step itself.
    pub(super) fn optimise(&mut self, lr: f64) -> Result<BatchScore, Error> {
        let score = self.forward();
        let Progress { step, steps, .. } = self.progress();
        let diverged = |loss: f64| match step {
            0 => Error::Overflow { loss: loss as f32, cause: self.frame.config.largest_setting() },
            _ => Error::Diverged { step: step + 1, loss: loss as f32, lr: self.config.lr },
        };
        // Useless, and on its way to infinity.
        let largest = 1e6 * self.engine.examples() as f64;
        if score.nll.is_nan() || score.nll > largest {
            return Err(diverged(score.nll));
        }
        let (config, parametrisation, layers) = (&self.config, self.parametrisation, self.engine.layers.len());
        let sink = |layer: usize| {
            let beta_at = |step: u64| config.beta_at(step, steps, layer, layers);
            let now = beta_at(step);
            let keeps_pace = config.anneal_order == AnnealOrder::FrontToBack && parametrisation.follows_beta();
            let own_lr = if keeps_pace { lr / now } else { lr };
            let bias = Some(rule(config.optimizer, lr, step));
            let rule = rule(config.optimizer, own_lr, step);
            let betas = Betas { now: now as f32, next: beta_at((step + 1).min(steps - 1)) as f32 };
            let decay = (own_lr * config.weight_decay) as f32;
            LayerSink { means: Sink::Step(kernels::Step { rule, parametrisation, betas, decay }), bias }
        };
        self.engine.backward(sink, &mut self.gradient_squares);
        if self.gradient_squares.iter().any(|square| !square.is_finite()) {
            return Err(diverged(f64::NAN));
        }
        Ok(score)
    }
}

/// The kernels' rule for a step (counted from 0).
pub(super) fn rule(optimizer: Optimizer, lr: f64, step: u64) -> Rule {
    let rate = lr as f32;
    match optimizer {
        Optimizer::Adam => {
            let t = (step + 1) as f64;
            let correction = |beta: f64| 1.0 - libm::pow(beta, t);
            Rule::Adam { rate: (lr / correction(0.9)) as f32, root: (1.0 / correction(0.999).sqrt()) as f32 }
        }
        Optimizer::Sgd => Rule::Sgd { rate },
        Optimizer::Momentum => Rule::Momentum { rate },
        Optimizer::Rmsprop => Rule::Rmsprop { rate },
    }
}
