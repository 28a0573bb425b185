//! What the optimiser moves, and how the means follow from it.

use crate::{Means, Surrogate};

/// What the optimiser moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parametrisation {
    /// The weights themselves, without bounds.
    Free,
    /// The means themselves, clipped to `[−1, 1]`.
    Clip,
    /// `θ` in `[−1, 1]`, with `M = clip(βθ)`.
    ScaledClip,
    /// `θ`, with `M = tanh(βθ)`.
    Tanh,
    /// `θ` in `[−1, 1]`, with `M = sign(θ)`: the latent weights of straight-through estimation, whose gradient is that of `M`.
    Sign,
}

/// The `β` of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Betas {
    /// Its own: it made the means that the gradient was computed with.
    pub now: f32,
    /// The next step's: it makes the new means.
    pub next: f32,
}

impl Parametrisation {
    /// The parametrisation of a run. `β` grows only in runs that anneal.
    pub fn new(surrogate: Surrogate, means: Means, anneals: bool) -> Self {
        match (surrogate, means) {
            (Surrogate::Continuous, _) => Self::Free,
            (Surrogate::Ste, _) => Self::Sign,
            (_, Means::Tanh) => Self::Tanh,
            (_, Means::Clip) if anneals => Self::ScaledClip,
            (_, Means::Clip) => Self::Clip,
        }
    }

    /// Whether the optimiser moves `θ` rather than the means.
    pub fn has_theta(self) -> bool {
        matches!(self, Self::ScaledClip | Self::Tanh | Self::Sign)
    }

    /// Whether the means depend on `β`.
    pub fn follows_beta(self) -> bool {
        matches!(self, Self::ScaledClip | Self::Tanh)
    }

    /// The mean of `θ` at `β`.
    pub fn mean_of(self, theta: f32, beta: f32) -> f32 {
        match self {
            Self::Free | Self::Clip => theta,
            Self::ScaledClip => (beta * theta).clamp(-1.0, 1.0),
            Self::Tanh => libm::tanhf(beta * theta),
            Self::Sign => {
                if theta < 0.0 {
                    -1.0
                } else {
                    1.0
                }
            }
        }
    }

    /// The `θ` of a mean at `β = 1`.
    pub fn theta_of(self, mean: f32) -> f32 {
        // The `θ` of a mean of ±1 would be infinite.
        const LARGEST: f64 = 1.0 - 1e-6;
        match self {
            Self::Tanh => libm::atanh(f64::from(mean).clamp(-LARGEST, LARGEST)) as f32,
            _ => mean,
        }
    }
}
