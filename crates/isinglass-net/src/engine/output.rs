//! The end of the forward pass: probabilities, loss, and the gradient for the backward pass.

use isinglass_bits::argmax;

use super::{Engine, LANES, rows_of};
use crate::Examples;
use crate::network_config::MAX_CLASSES;

/// The score of a batch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BatchScore {
    /// Sum of the negative log-likelihoods.
    pub nll: f64,
    /// Examples classified correctly.
    pub correct: usize,
}

/// The probabilities of softmax, in place; returns the logarithm of its denominator.
pub fn softmax(logits: &mut [f32]) -> f32 {
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0;
    for logit in logits.iter_mut() {
        *logit = libm::expf(*logit - largest);
        sum += *logit;
    }
    logits.iter_mut().for_each(|p| *p /= sum);
    largest + libm::logf(sum)
}

impl Engine {
    /// Scores the batch; if the engine prepares a backward pass, stores the gradient of the mean loss for [`Engine::backward`].
    pub fn score(&mut self, examples: &Examples<'_>, indices: &[u32]) -> BatchScore {
        let last = self.layers.len() - 1;
        let classes = self.layers[last].outputs;
        let rows = rows_of(classes);
        let mut score = BatchScore { nll: 0.0, correct: 0 };
        let mut probabilities = [0.0; MAX_CLASSES];
        let probabilities = &mut probabilities[..classes];
        for example in 0..self.panels * LANES {
            let at = |class: usize| (example / LANES * rows + class) * LANES + example % LANES;
            if example < indices.len() {
                let label = examples.label(indices[example] as usize);
                (0..classes).for_each(|class| probabilities[class] = self.logits[at(class)]);
                score.correct += usize::from(argmax(probabilities) == label);
                score.nll -= f64::from(probabilities[label]);
                score.nll += f64::from(softmax(probabilities));
                if self.prepares_backward {
                    let smoothing = self.label_smoothing;
                    if smoothing > 0.0 {
                        probabilities.iter_mut().for_each(|p| *p -= smoothing / classes as f32);
                    }
                    probabilities[label] -= 1.0 - smoothing;
                    probabilities.iter_mut().for_each(|p| *p /= indices.len() as f32);
                }
            } else {
                probabilities.fill(0.0); // the padding of the last panel
            }
            if self.prepares_backward {
                let (gradients, slopes) = (&mut self.gradients[0], &self.slopes[last]);
                for (class, gradient) in probabilities.iter().enumerate() {
                    gradients.p[at(class)] = gradient * slopes.p[at(class)];
                    if self.variance_gradient {
                        gradients.q[at(class)] = gradient * slopes.q[at(class)];
                    }
                }
            }
        }
        score
    }
}
