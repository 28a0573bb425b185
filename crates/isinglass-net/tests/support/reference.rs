//! Every surrogate network in plain `f64`: forward pass, loss, and gradients written out by hand.
//!
//! Layer ℓ takes `x` (N numbers for each sample) to
//!
//! - the mean field `h̄_i = Σ_j M_ij x_j / √N + b_i`;
//! - the field's variance `Σ_i`, never below a floor. Random ±1 inputs of mean `x_j` (hidden and output layers of the deterministic surrogate and of LRT with
//!   binary neurons): `Σ_i = mean_j(1 − M_ij²) + mean_j(M_ij² (1 − x_j²))`. Inputs that are not random (the first layer of all, every layer of LRT with continuous neurons):
//!   `Σ_i = mean_j((1 − M_ij²) x_j²)`;
//! - the field `h` and the neuron `x`:
//!
//! | surrogate | field | neuron | logits |
//! |---|---|---|---|
//! | deterministic | `h̄ / √(n² + sΣ)` | `φ(h)` | `τ h̄ / √(1 + πτ²Σ/8)` |
//! | LRT, both | `h̄ + √Σ ε` | `φ(h)` | `τ h` |
//! | continuous | `h̄` | `φ(h)` | `τ h` |
//! | straight-through (STE) | `h̄` with `sign M` for `M` | `sign h` | `τ h` |
//!
//! `φ(h)` is `erf(ah)` or `tanh(kh)`, and `sign 0 = +1`. A deterministic neuron with `n² = 0` and Σ exactly 0 is `sign h̄`, of slope 0.
//! STE passes gradients through `sign h` where `|h| ≤ 1`, and through `sign M` everywhere.
//!
//! Where fields are carried, a layer begins with the sums of the layers below: of `h̄` without biases and of Σ (deterministic), of `h` without biases (all others). STE's window is then
//! `|h| ≤ √k` for a sum of k fields, with a slope of `1/√k`.
//!
//! The loss is the batch's mean of `−log softmax(logits)[label]`. Gradients are of `M`, `b` and `τ`; where the floor holds Σ, none goes through Σ.

use std::f64::consts::PI;

/// `φ`.
#[derive(Clone, Copy, Debug)]
pub enum Activation {
    /// `erf(a h)`.
    Erf(f64),
    /// `tanh(k h)`.
    Tanh(f64),
}

impl Activation {
    pub fn value(self, h: f64) -> f64 {
        match self {
            Self::Erf(a) => libm::erf(a * h),
            Self::Tanh(k) => (k * h).tanh(),
        }
    }

    pub fn slope(self, h: f64) -> f64 {
        match self {
            Self::Erf(a) => 2.0 * a / PI.sqrt() * (-(a * h).powi(2)).exp(),
            Self::Tanh(k) => k / (k * h).cosh().powi(2),
        }
    }

    /// `1 − φ²`, without the cancellation of that difference.
    pub fn deficit(self, h: f64) -> f64 {
        match self {
            Self::Erf(a) => libm::erfc(a * h) * libm::erfc(-a * h),
            Self::Tanh(k) => (k * h).cosh().powi(-2),
        }
    }
}

/// Which surrogate, see the table above.
#[derive(Clone, Copy, Debug)]
pub enum Surrogate {
    Deterministic { activation: Activation, n2: f64, s: f64 },
    LrtBinary { activation: Activation },
    LrtContinuous { activation: Activation },
    Continuous { activation: Activation },
    Ste,
}

impl Surrogate {
    /// `erf(κh)` or `tanh(κh)` over `√Σ`.
    pub fn scaled(activation: Activation) -> Self {
        Self::Deterministic { activation, n2: 0.0, s: 1.0 }
    }

    /// The averaged sign neuron.
    pub fn sign() -> Self {
        Self::scaled(Activation::Erf(0.5f64.sqrt()))
    }

    /// The averaged probit neuron of noise α.
    pub fn probit(alpha: f64) -> Self {
        Self::Deterministic { activation: Activation::Erf(0.5f64.sqrt()), n2: alpha * alpha, s: 1.0 }
    }

    /// The averaged logistic neuron of noise α.
    pub fn logistic(alpha: f64) -> Self {
        Self::Deterministic { activation: Activation::Tanh(1.0), n2: alpha * alpha, s: 0.5 * PI }
    }

    fn activation(self) -> Option<Activation> {
        match self {
            Self::Deterministic { activation, .. }
            | Self::LrtBinary { activation }
            | Self::LrtContinuous { activation }
            | Self::Continuous { activation } => Some(activation),
            Self::Ste => None,
        }
    }

    fn has_random_neurons(self) -> bool {
        matches!(self, Self::Deterministic { .. } | Self::LrtBinary { .. })
    }

    fn has_variance(self) -> bool {
        !matches!(self, Self::Continuous { .. } | Self::Ste)
    }
}

/// `means[out][in]` (the weights themselves where the surrogate has real weights) and `bias[out]`.
#[derive(Clone, Debug)]
pub struct Layer {
    pub means: Vec<Vec<f64>>,
    pub bias: Vec<f64>,
}

/// Hidden layers and, last, the output layer.
#[derive(Clone, Debug)]
pub struct Network {
    pub surrogate: Surrogate,
    pub layers: Vec<Layer>,
    /// τ, the scale of the logits.
    pub tau: f64,
    /// Σ is at least this.
    pub floor: f64,
    /// Whether gradients go through Σ.
    pub variance_gradient: bool,
    /// Whether fields are carried between hidden layers with as many inputs as outputs, but not from the first.
    pub carry: bool,
}

/// `inputs[sample][pixel]`, `labels[sample]`, and `noise[layer][unit][sample]`, which only LRT reads.
#[derive(Clone, Debug)]
pub struct Batch {
    pub inputs: Vec<Vec<f64>>,
    pub labels: Vec<usize>,
    pub noise: Vec<Vec<Vec<f64>>>,
}

/// One layer of one forward pass, all `[unit][sample]`. In the output layer `neuron` holds the logits, and `field` is `h̄` for the deterministic surrogate.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// `h̄`.
    pub mean_field: Vec<Vec<f64>>,
    /// Σ after the floor; 0 where the surrogate has none.
    pub variance: Vec<Vec<f64>>,
    /// `h`. At the sign limit, `h̄` over the root of the floor.
    pub field: Vec<Vec<f64>>,
    /// `x̄`.
    pub neuron: Vec<Vec<f64>>,
    /// `1 − x̄²`.
    pub deficit: Vec<Vec<f64>>,
    /// What a layer above may receive: the sum of fields without biases, of `h̄` in the deterministic surrogate.
    pub carried: Vec<Vec<f64>>,
    /// Whether the floor holds Σ.
    pub floored: Vec<Vec<bool>>,
    /// Whether the unit is at the limit `x̄ = sign h̄`.
    pub sign_limit: Vec<Vec<bool>>,
}

/// The loss and its derivatives, laid out as the network is.
#[derive(Clone, Debug)]
pub struct Gradients {
    pub loss: f64,
    pub layers: Vec<Layer>,
    pub tau: f64,
}

/// `sign 0 = +1`.
pub fn sign(x: f64) -> f64 {
    if x >= 0.0 { 1.0 } else { -1.0 }
}

/// `softmax(logits)`.
pub fn softmax(logits: &[f64]) -> Vec<f64> {
    let largest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = logits.iter().map(|z| (z - largest).exp()).sum();
    logits.iter().map(|z| (z - largest).exp() / sum).collect()
}

/// `−log softmax(logits)[label]`.
pub fn cross_entropy(logits: &[f64], label: usize) -> f64 {
    let largest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    largest - logits[label] + logits.iter().map(|z| (z - largest).exp()).sum::<f64>().ln()
}

impl Network {
    /// All layers' fields and neurons.
    pub fn forward(&self, batch: &Batch) -> Vec<Trace> {
        self.forward_with(batch, None)
    }

    /// The same with every Σ taken from another pass, `frozen`, instead of from means and neurons.
    pub fn forward_with(&self, batch: &Batch, frozen: Option<&[Trace]>) -> Vec<Trace> {
        let mut traces = Vec::with_capacity(self.layers.len());
        for l in 0..self.layers.len() {
            let trace = self.layer_forward(l, &traces, batch, frozen);
            traces.push(trace);
        }
        traces
    }

    fn layer_forward(&self, l: usize, before: &[Trace], batch: &Batch, frozen: Option<&[Trace]>) -> Trace {
        let samples = batch.inputs.len();
        let Layer { means, bias } = &self.layers[l];
        let is_output = l + 1 == self.layers.len();
        let mut trace = Trace::default();
        for (i, row) in means.iter().enumerate() {
            let n = row.len() as f64;
            for unit_values in
                [&mut trace.mean_field, &mut trace.variance, &mut trace.field, &mut trace.neuron, &mut trace.deficit, &mut trace.carried]
            {
                unit_values.push(vec![0.0; samples]);
            }
            trace.floored.push(vec![false; samples]);
            trace.sign_limit.push(vec![false; samples]);

            for t in 0..samples {
                let mut sum = 0.0;
                let mut variance = 0.0;
                for (j, &m) in row.iter().enumerate() {
                    let x = self.layer_input(l, j, t, before, batch);
                    sum += self.weight(m) * x;
                    variance += if self.inputs_are_random(l) {
                        (1.0 - m) * (1.0 + m) + m * m * before[l - 1].deficit[j][t]
                    } else {
                        (1.0 - m) * (1.0 + m) * x * x
                    };
                }
                let received = if self.carries(l) { before[l - 1].carried[i][t] } else { 0.0 };
                let without_bias = received + sum / n.sqrt();
                let mean_field = without_bias + bias[i];
                variance /= n;
                if self.carries(l) && matches!(self.surrogate, Surrogate::Deterministic { .. }) {
                    variance += before[l - 1].variance[i][t];
                }
                if !self.surrogate.has_variance() {
                    variance = 0.0;
                } else if let Some(frozen) = frozen {
                    variance = frozen[l].variance[i][t];
                    trace.sign_limit[i][t] = frozen[l].sign_limit[i][t];
                } else {
                    trace.sign_limit[i][t] = variance == 0.0 && !is_output && self.is_noiseless();
                    trace.floored[i][t] = variance <= self.floor;
                    variance = variance.max(self.floor);
                }
                trace.mean_field[i][t] = mean_field;
                trace.variance[i][t] = variance;

                let field = match self.surrogate {
                    Surrogate::Deterministic { .. } if is_output => mean_field,
                    Surrogate::Deterministic { n2, s, .. } => mean_field / (n2 + s * variance).sqrt(),
                    Surrogate::LrtBinary { .. } | Surrogate::LrtContinuous { .. } => mean_field + variance.sqrt() * batch.noise[l][i][t],
                    Surrogate::Continuous { .. } | Surrogate::Ste => mean_field,
                };
                trace.field[i][t] = field;
                trace.carried[i][t] = match self.surrogate {
                    Surrogate::Deterministic { .. } => without_bias,
                    _ => field - bias[i],
                };

                if is_output {
                    trace.neuron[i][t] = match self.surrogate {
                        Surrogate::Deterministic { .. } => self.tau * mean_field / (1.0 + PI * self.tau * self.tau * variance / 8.0).sqrt(),
                        _ => self.tau * field,
                    };
                } else if trace.sign_limit[i][t] {
                    trace.neuron[i][t] = sign(mean_field);
                } else if let Some(activation) = self.surrogate.activation() {
                    trace.neuron[i][t] = activation.value(field);
                    trace.deficit[i][t] = activation.deficit(field);
                } else {
                    trace.neuron[i][t] = sign(field);
                }
            }
        }
        trace
    }

    /// The batch's mean cross-entropy.
    pub fn loss(&self, batch: &Batch) -> f64 {
        self.loss_with(batch, None)
    }

    /// The same with every Σ taken from another pass.
    pub fn loss_with(&self, batch: &Batch, frozen: Option<&[Trace]>) -> f64 {
        let traces = self.forward_with(batch, frozen);
        let samples = batch.inputs.len();
        (0..samples).map(|t| cross_entropy(&logits(&traces, t), batch.labels[t])).sum::<f64>() / samples as f64
    }

    /// `softmax(logits)` of every sample, `[sample][class]`.
    pub fn class_probabilities(&self, batch: &Batch) -> Vec<Vec<f64>> {
        let traces = self.forward(batch);
        (0..batch.inputs.len()).map(|t| softmax(&logits(&traces, t))).collect()
    }

    /// The loss and its gradients, sample after sample, layer after layer from the last.
    pub fn gradients(&self, batch: &Batch) -> Gradients {
        let traces = self.forward(batch);
        let samples = batch.inputs.len();
        let zero =
            |layer: &Layer| Layer { means: vec![vec![0.0; layer.means[0].len()]; layer.means.len()], bias: vec![0.0; layer.bias.len()] };
        let mut gradients = Gradients { loss: 0.0, layers: self.layers.iter().map(zero).collect(), tau: 0.0 };

        for t in 0..samples {
            let logits = logits(&traces, t);
            gradients.loss += cross_entropy(&logits, batch.labels[t]) / samples as f64;
            // ∂loss/∂neuron of the layer at hand; of the output layer, ∂loss/∂logit = softmax − one-hot.
            let mut upstream = softmax(&logits);
            upstream[batch.labels[t]] -= 1.0;
            upstream.iter_mut().for_each(|g| *g /= samples as f64);
            // ∂loss/∂(what this layer passes on): of the carried field and, in the deterministic surrogate, of its variance.
            let mut passed_on: Vec<[f64; 2]> = Vec::new();

            for l in (0..self.layers.len()).rev() {
                let means = &self.layers[l].means;
                let n = means[0].len() as f64;
                let mut downstream = vec![0.0; means[0].len()];
                let mut received = Vec::new();
                for i in 0..means.len() {
                    let (by_mean_field, by_variance, by_tau) = self.unit_slopes(l, i, t, &traces, batch);
                    let [above, variance_above] = passed_on.get(i).copied().unwrap_or_default();
                    let to_mean_field = upstream[i] * by_mean_field + above;
                    let to_variance = match self.surrogate {
                        _ if !self.variance_gradient => 0.0,
                        Surrogate::Deterministic { .. } => upstream[i] * by_variance + variance_above,
                        // Only the layer's own noise has this variance, and all that is passed on depends on it.
                        _ if traces[l].floored[i][t] || traces[l].variance[i][t] == 0.0 => 0.0,
                        _ => to_mean_field * batch.noise[l][i][t] / (2.0 * traces[l].variance[i][t].sqrt()),
                    };
                    gradients.tau += upstream[i] * by_tau;
                    gradients.layers[l].bias[i] += upstream[i] * by_mean_field;
                    if self.carries(l) {
                        received.push([to_mean_field, to_variance]);
                    }
                    for j in 0..means[i].len() {
                        let m = means[i][j];
                        let x = self.layer_input(l, j, t, &traces, batch);
                        gradients.layers[l].means[i][j] += to_mean_field * x / n.sqrt() - to_variance * 2.0 * m * x * x / n;
                        let variance_by_input = if self.inputs_are_random(l) { -2.0 * m * m * x } else { 2.0 * (1.0 - m * m) * x };
                        downstream[j] += to_mean_field * self.weight(m) / n.sqrt() + to_variance * variance_by_input / n;
                    }
                }
                upstream = downstream;
                passed_on = received;
            }
        }
        gradients
    }

    /// Derivatives of one unit's output (a neuron, or a logit) by its own `h̄`, Σ and τ.
    fn unit_slopes(&self, l: usize, i: usize, t: usize, traces: &[Trace], batch: &Batch) -> (f64, f64, f64) {
        let trace = &traces[l];
        let (mean_field, variance, field) = (trace.mean_field[i][t], trace.variance[i][t], trace.field[i][t]);
        let unless_floored = |slope: f64| if trace.floored[i][t] { 0.0 } else { slope };
        let is_output = l + 1 == self.layers.len();
        // ∂h/∂h̄ and ∂h/∂Σ.
        let (field_by_mean, field_by_variance) = match self.surrogate {
            Surrogate::Deterministic { .. } if is_output => {
                let d = 1.0 + PI * self.tau * self.tau * variance / 8.0;
                let by_variance = -self.tau * mean_field * d.powf(-1.5) * PI * self.tau * self.tau / 16.0;
                return (self.tau / d.sqrt(), unless_floored(by_variance), mean_field * d.powf(-1.5));
            }
            Surrogate::Deterministic { n2, s, .. } => {
                let d = n2 + s * variance;
                (1.0 / d.sqrt(), -0.5 * s * mean_field * d.powf(-1.5))
            }
            Surrogate::LrtBinary { .. } | Surrogate::LrtContinuous { .. } => (1.0, batch.noise[l][i][t] / (2.0 * variance.sqrt())),
            Surrogate::Continuous { .. } | Surrogate::Ste => (1.0, 0.0),
        };
        let (slope, by_tau) = match self.surrogate.activation() {
            _ if is_output => (self.tau, field),
            _ if trace.sign_limit[i][t] => (0.0, 0.0),
            Some(activation) => (activation.slope(field), 0.0),
            None => {
                let fields = 1 + (0..=l).rev().take_while(|&l| self.carries(l)).count();
                let window = (fields as f64).sqrt();
                (if field.abs() <= window { 1.0 / window } else { 0.0 }, 0.0)
            }
        };
        (slope * field_by_mean, unless_floored(slope * field_by_variance), by_tau)
    }

    fn layer_input(&self, l: usize, j: usize, t: usize, before: &[Trace], batch: &Batch) -> f64 {
        if l == 0 { batch.inputs[t][j] } else { before[l - 1].neuron[j][t] }
    }

    /// Whether layer `l` receives the field of the one below: both are hidden layers with N inputs and N outputs, and neither is the first.
    pub fn carries(&self, l: usize) -> bool {
        let is_square = |layer: &Layer| layer.means.len() == layer.means[0].len();
        self.carry && l >= 2 && l + 1 < self.layers.len() && is_square(&self.layers[l]) && is_square(&self.layers[l - 1])
    }

    fn inputs_are_random(&self, l: usize) -> bool {
        l > 0 && self.surrogate.has_random_neurons()
    }

    fn is_noiseless(&self) -> bool {
        matches!(self.surrogate, Surrogate::Deterministic { n2: 0.0, .. })
    }

    fn weight(&self, mean: f64) -> f64 {
        if matches!(self.surrogate, Surrogate::Ste) { sign(mean) } else { mean }
    }
}

/// The logits of sample `t`.
pub fn logits(traces: &[Trace], t: usize) -> Vec<f64> {
    traces.last().map_or_else(Vec::new, |output| output.neuron.iter().map(|unit| unit[t]).collect())
}
