//! The pointwise part of a forward pass: from the sums of a chunk to fields, neurons, and the factors of their gradients.

use isinglass_simd::{LANES, Lanes};

use super::forward::{Carry, Dropout, Field, Forward, Nonlinearity, VARIANCE_FLOOR, VarianceRule};
use super::math::{Response, abs, erf, flush, normal, tanh, uniform};
use super::{MAX_ROWS, Scratch, Span};

/// The place in its layer's sequence where the noise of a unit and a panel of examples begins.
pub fn noise_counter(unit: usize, panels: usize, panel: usize) -> u64 {
    (unit as u64 * panels as u64 + panel as u64) * LANES as u64
}

/// All neurons of some rows, pointwise.
///
/// # Safety
///
/// As for [`forward`](super::forward::forward).
#[inline(always)]
pub unsafe fn respond<L: Lanes>(l: L, layer: &Forward, span: Span, scratch: &Scratch) {
    for p in 0..layer.panels() {
        // SAFETY: the caller upholds the contract.
        unsafe { neurons(l, layer, span, p, scratch) };
    }
}

/// All neurons of a panel of examples, pointwise. Rows follow each other in memory, panels are far apart: this way around the processor sees what will be needed next.
///
/// # Safety
///
/// As for [`forward`](super::forward::forward).
#[inline(always)]
unsafe fn neurons<L: Lanes>(l: L, layer: &Forward, span: Span, p: usize, scratch: &Scratch) {
    let n = layer.inputs as f32;
    let (by_root, by_n) = (1.0 / n.sqrt(), 1.0 / n);
    // SAFETY: the caller upholds the contract.
    unsafe {
        for row in 0..span.rows {
            let output = span.first + row;
            let own_variance = scratch.own_variances[row];
            let bias = l.splat(*layer.bias.add(output));
            let c = (p * MAX_ROWS + row) * LANES;
            let sum = l.load(scratch.c1.pointer().add(c));
            let variance = match layer.variance {
                VarianceRule::None => l.splat(0.0),
                VarianceRule::Spins => l.mul(l.add(l.load(scratch.c2.pointer().add(c)), l.splat(own_variance)), l.splat(by_n)),
                VarianceRule::Numbers => l.mul(l.load(scratch.c2.pointer().add(c)), l.splat(by_n)),
            };
            let counter = noise_counter(output, layer.panels(), p);
            let made = match layer.carry {
                None => {
                    let mean_field = if layer.field == Field::Sum { sum } else { l.fma(sum, l.splat(by_root), bias) };
                    field(l, layer.field, mean_field, variance, counter)
                }
                Some(carry) => {
                    let scale = l.splat(if layer.field == Field::Sum { 1.0 } else { by_root });
                    let bias = if layer.field == Field::Sum { l.splat(0.0) } else { bias };
                    carried(l, layer, carry, [l.mul(sum, scale), variance, bias], (p * layer.x_rows + output) * LANES, counter)
                }
            };
            let mean_field = made.mean;
            let mut response = activate(l, layer.nonlinearity, made.h);
            if matches!(layer.field, Field::Averaged { .. }) && !matches!(layer.nonlinearity, Nonlinearity::Linear(_)) {
                response = Response {
                    value: l.select(made.is_random, response.value, sign(l, mean_field)),
                    rest: l.select(made.is_random, response.rest, l.splat(0.0)),
                    slope: l.select(made.is_random, response.slope, l.splat(0.0)),
                };
            }
            if let Some(dropout) = layer.dropout {
                response = dropped(l, dropout, layer.next_variance, response, counter);
            }
            write(l, layer, p, output, &made, &response, [by_root, by_n]);
        }
    }
}

/// The field of 16 neurons on top of the one carried to them, from their own `h̄` without bias, their own `Σ`, and their bias. What is carried on replaces what was.
///
/// # Safety
///
/// As for [`forward`](super::forward::forward); `at` is the neurons' place in the carried arrays.
#[inline(always)]
unsafe fn carried<L: Lanes>(
    l: L,
    layer: &Forward,
    carry: Carry,
    [own, variance, bias]: [L::Floats; 3],
    at: usize,
    counter: u64,
) -> Made<L> {
    // SAFETY: the caller upholds the contract.
    unsafe {
        let (place, variances) = (carry.field.wrapping_add(at), carry.variance.wrapping_add(at));
        let mean = if carry.receives { l.add(l.load(place), own) } else { own };
        match layer.field {
            // The noise is drawn for this layer's field alone; what is carried already has its own.
            Field::Sampled { .. } => {
                let made = field(l, layer.field, mean, variance, counter);
                l.store(place, made.h);
                Made { mean: l.add(made.mean, bias), h: l.add(made.h, bias), ..made }
            }
            Field::Averaged { .. } => {
                let variance = if carry.receives { l.add(l.load(variances), variance) } else { variance };
                l.store(place, mean);
                l.store(variances, variance);
                field(l, layer.field, l.add(mean, bias), variance, counter)
            }
            Field::Plain | Field::Sum => {
                l.store(place, mean);
                field(l, layer.field, l.add(mean, bias), variance, counter)
            }
        }
    }
}

/// Leaves out some of 16 neurons. A spin that is left out is a fair coin, of mean 0; a number is 0, and the others grow so that their mean stays the same.
#[inline(always)]
fn dropped<L: Lanes>(l: L, dropout: Dropout, next: VarianceRule, response: Response<L::Floats>, counter: u64) -> Response<L::Floats> {
    let is_out = l.less(uniform(l, counter, dropout.key), l.splat(dropout.rate));
    let scale = l.splat(if next == VarianceRule::Spins { 1.0 } else { 1.0 / (1.0 - dropout.rate) });
    Response {
        value: l.select(is_out, l.splat(0.0), l.mul(response.value, scale)),
        rest: l.select(is_out, l.splat(1.0), response.rest),
        slope: l.select(is_out, l.splat(0.0), l.mul(response.slope, scale)),
    }
}

/// Stores 16 neurons, and their derivatives for the backward pass.
///
/// # Safety
///
/// As for [`forward`](super::forward::forward).
#[inline(always)]
unsafe fn write<L: Lanes>(
    l: L,
    layer: &Forward,
    panel: usize,
    output: usize,
    made: &Made<L>,
    response: &Response<L::Floats>,
    [by_root, by_n]: [f32; 2],
) {
    let at = (panel * layer.x_rows + output) * LANES;
    let slope_at = (panel * layer.slope_rows + output) * LANES;
    // SAFETY: the caller upholds the contract.
    unsafe {
        let value = flush(l, response.value);
        l.store(layer.out_x.add(at), value);
        if !layer.out_second.is_null() {
            let second = if layer.next_variance == VarianceRule::Spins { response.rest } else { l.mul(value, value) };
            l.store(layer.out_second.add(at), flush(l, second));
        }
        if !layer.out_p.is_null() {
            l.store(layer.out_p.add(slope_at), flush(l, l.mul(l.mul(response.slope, made.by_mean), l.splat(by_root))));
        }
        if !layer.out_q.is_null() {
            let q = if layer.passes_on && matches!(layer.field, Field::Sampled { .. }) {
                l.mul(made.by_variance, l.splat(by_root))
            } else {
                l.mul(l.mul(response.slope, made.by_variance), l.splat(by_n))
            };
            l.store(layer.out_q.add(slope_at), flush(l, q));
        }
        if !layer.out_field.is_null() {
            l.store(layer.out_field.add(at), l.select(made.is_random, made.h, made.mean));
        }
    }
}

/// A field and its derivatives.
struct Made<L: Lanes> {
    /// `h̄`.
    mean: L::Floats,
    h: L::Floats,
    /// `∂h/∂h̄`.
    by_mean: L::Floats,
    /// `−2 ∂h/∂Σ`.
    by_variance: L::Floats,
    /// Where the variance is not exactly 0.
    is_random: L::Mask,
}

#[inline(always)]
fn field<L: Lanes>(l: L, rule: Field, mean_field: L::Floats, variance: L::Floats, counter: u64) -> Made<L> {
    let (zero, one, floor) = (l.splat(0.0), l.splat(1.0), l.splat(VARIANCE_FLOOR));
    match rule {
        Field::Averaged { noise, spread } => {
            let variance = l.fma(variance, l.splat(spread), l.splat(noise));
            let is_random = l.less(zero, variance);
            let below = l.less(variance, floor);
            let by_root = l.div(one, l.sqrt(l.max(variance, floor)));
            let h = l.mul(mean_field, by_root);
            let by_variance = l.mul(l.mul(h, l.splat(spread)), l.mul(by_root, by_root));
            Made { mean: mean_field, h, by_mean: by_root, by_variance: l.select(below, zero, by_variance), is_random }
        }
        Field::Sampled { key } => {
            let is_random = l.less(zero, variance);
            let below = l.less(variance, floor);
            let noise = normal(l, counter, key);
            let deviation = l.sqrt(l.max(variance, floor));
            let h = l.select(is_random, l.fma(deviation, noise, mean_field), mean_field);
            let by_variance = l.sub(zero, l.div(noise, deviation));
            Made { mean: mean_field, h, by_mean: one, by_variance: l.select(below, zero, by_variance), is_random }
        }
        Field::Plain | Field::Sum => {
            Made { mean: mean_field, h: mean_field, by_mean: one, by_variance: zero, is_random: l.less(zero, one) }
        }
    }
}

/// `sign(h)`, `sign(0) = +1`.
#[inline(always)]
pub fn sign<L: Lanes>(l: L, h: L::Floats) -> L::Floats {
    l.select(l.less(h, l.splat(0.0)), l.splat(-1.0), l.splat(1.0))
}

#[inline(always)]
fn activate<L: Lanes>(l: L, rule: Nonlinearity, h: L::Floats) -> Response<L::Floats> {
    match rule {
        Nonlinearity::Erf(a) => {
            let response = erf(l, l.mul(h, l.splat(a)));
            Response { slope: l.mul(response.slope, l.splat(a)), ..response }
        }
        Nonlinearity::Tanh(k) => {
            let response = tanh(l, l.mul(h, l.splat(k)));
            Response { slope: l.mul(response.slope, l.splat(k)), ..response }
        }
        Nonlinearity::Step(width) => {
            let outside = l.less(l.splat(width), abs(l, h));
            Response { value: sign(l, h), rest: l.splat(0.0), slope: l.select(outside, l.splat(0.0), l.splat(1.0 / width)) }
        }
        Nonlinearity::Linear(tau) => Response { value: l.mul(h, l.splat(tau)), rest: l.splat(0.0), slope: l.splat(tau) },
    }
}
