//! The trapezoidal rule over standard normal variables, with its two certificates: the step and the cut of the range.
//!
//! **Step.** It is halved until the last halving changed the result by less than the tolerance.
//!
//! **Cut.** The integrand is sampled on *rings* one standard deviation apart, as far out as the Gaussian weight can be represented. The range ends where all
//! rings beyond it add up to less than [`TAIL`] of the result, and no integral is certified before [`QUIET_RINGS`] such rings have been seen.

use std::f64::consts::PI;

use crate::Error;

/// The part of the integral that may lie beyond the cut.
const TAIL: f64 = 1e-16;
/// The shortest range, in standard deviations. Enough for every bounded integrand: the weight is 1e-18 of its peak there.
const SHORTEST: u32 = 9;
/// The last ring: the weight is 1e-297 of its peak there, and soon loses its digits to underflow.
const LAST_RING: u32 = 37;
/// The number of negligible rings that prove a cut.
const QUIET_RINGS: u32 = 2;
const FIRST_STEP: f64 = 0.5;

/// Sums of several integrands, and of their absolute values.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sums<const N: usize> {
    pub(super) value: [f64; N],
    size: [f64; N],
}

impl<const N: usize> Default for Sums<N> {
    fn default() -> Self {
        Self { value: [0.0; N], size: [0.0; N] }
    }
}

impl<const N: usize> Sums<N> {
    fn add(&mut self, weight: f64, terms: [f64; N]) {
        for (i, term) in terms.into_iter().enumerate() {
            self.value[i] += weight * term;
            self.size[i] += weight * term.abs();
        }
    }
}

/// `E f(x)` over a standard normal `x`.
pub(super) fn line<const N: usize>(request: &Request, f: impl Fn(f64) -> [f64; N]) -> Result<[f64; N], Error> {
    let ring = |k: u32| {
        let mut sums = Sums::default();
        for x in [f64::from(k), -f64::from(k)].into_iter().take(if k == 0 { 1 } else { 2 }) {
            sums.add(weight(x), f(x));
        }
        sums
    };
    let rule = |range: u32, step: f64| {
        let mut sums = Sums::default();
        for x in nodes(range, step) {
            sums.add(step * weight(x), f(x));
        }
        sums
    };
    certified(request, ring, rule)
}

/// `E f(x, y)` over two independent standard normals.
pub(super) fn plane<const N: usize>(request: &Request, f: impl Fn(f64, f64) -> [f64; N]) -> Result<[f64; N], Error> {
    let last = i64::from(LAST_RING);
    let weights: Vec<f64> = (0..=LAST_RING).map(|k| weight(f64::from(k))).collect();
    let ring = |k: u32| {
        let k = i64::from(k);
        let mut sums = Sums::default();
        for i in -k..=k {
            // Whole columns at either end, and the two nodes that close the ring between them.
            let stride = if i.abs() == k { 1 } else { 2 * k.max(1) };
            for j in (-k..=k).step_by(stride as usize) {
                // Corners whose weight underflows are left out.
                if i * i + j * j <= last * last {
                    let weight = weights[i.unsigned_abs() as usize] * weights[j.unsigned_abs() as usize];
                    sums.add(weight, f(i as f64, j as f64));
                }
            }
        }
        sums
    };
    let rule = |range: u32, step: f64| {
        let axis: Vec<(f64, f64)> = nodes(range, step).map(|x| (x, step * weight(x))).collect();
        let mut sums = Sums::default();
        for &(x, w_x) in &axis {
            for &(y, w_y) in &axis {
                sums.add(w_x * w_y, f(x, y));
            }
        }
        sums
    };
    certified(request, ring, rule)
}

/// The accuracy required of an integral, and its name for errors.
pub(super) struct Request {
    pub(super) what: &'static str,
    /// The variance of the field.
    pub(super) q: f64,
    /// The relative change that the last halving of the step may cause.
    pub(super) tolerance: f64,
    /// How often the step may be halved.
    pub(super) halvings: u32,
}

/// Finds the range by its rings, then the step by halving. The range is checked again with the size of the final result.
fn certified<const N: usize>(
    request: &Request,
    ring: impl Fn(u32) -> Sums<N>,
    rule: impl Fn(u32, f64) -> Sums<N>,
) -> Result<[f64; N], Error> {
    let tail = Tail::probe(ring);
    let heavy = || Error::HeavyTail { what: request.what, q: request.q, range: tail.seen() };
    let mut range = tail.range(tail.total()).ok_or_else(heavy)?;
    loop {
        let sums = halve_until_certified(request, |step| rule(range, step))?;
        let needed = tail.range(sums.size).ok_or_else(heavy)?;
        if needed <= range {
            return Ok(sums.value);
        }
        range = needed;
    }
}

fn halve_until_certified<const N: usize>(request: &Request, rule: impl Fn(f64) -> Sums<N>) -> Result<Sums<N>, Error> {
    let &Request { what, q, tolerance, halvings } = request;
    let mut step = FIRST_STEP;
    let mut coarse = rule(step);
    let mut achieved = f64::INFINITY;
    for _ in 0..halvings {
        step *= 0.5;
        let fine = rule(step);
        let changes = (0..N).map(|i| {
            let change = (fine.value[i] - coarse.value[i]).abs();
            if change == 0.0 { 0.0 } else { change / fine.size[i] }
        });
        // The largest; NaN if any is.
        achieved = changes.fold(0.0, |worst, change| if change <= worst || worst.is_nan() { worst } else { change });
        if achieved <= tolerance {
            return Ok(fine);
        }
        coarse = fine;
    }
    Err(Error::NotConverged { what, q, achieved, wanted: tolerance })
}

/// The size of the integrand at each distance from the origin.
struct Tail<const N: usize> {
    /// Size of ring `k`, at step 1.
    rings: Vec<[f64; N]>,
}

impl<const N: usize> Tail<N> {
    /// Samples the rings, up to the first that is not finite.
    fn probe(ring: impl Fn(u32) -> Sums<N>) -> Self {
        let rings = (0..=LAST_RING).map(|k| ring(k).size);
        Self { rings: rings.take_while(|size| size.iter().all(|x| x.is_finite())).collect() }
    }

    /// The last finite ring.
    fn seen(&self) -> usize {
        self.rings.len().saturating_sub(1)
    }

    fn total(&self) -> [f64; N] {
        self.beyond(None)
    }

    /// The sum of all rings beyond `range`.
    fn beyond(&self, range: Option<u32>) -> [f64; N] {
        let mut sum = [0.0; N];
        for ring in self.rings.iter().skip(range.map_or(0, |range| range as usize + 1)) {
            for (sum, size) in sum.iter_mut().zip(ring) {
                *sum += size;
            }
        }
        sum
    }

    /// The shortest range beyond which the integrand is negligible for integrals of these sizes; `None` if there is none.
    fn range(&self, sizes: [f64; N]) -> Option<u32> {
        let last = (self.rings.len() as u32).checked_sub(1 + QUIET_RINGS)?;
        (SHORTEST..=last).find(|&range| self.beyond(Some(range)).iter().zip(&sizes).all(|(tail, size)| *tail <= TAIL * size))
    }
}

fn nodes(range: u32, step: f64) -> impl Iterator<Item = f64> {
    let count = (f64::from(range) / step).ceil() as i64;
    (-count..=count).map(move |i| i as f64 * step)
}

fn weight(x: f64) -> f64 {
    libm::exp(-0.5 * x * x) / (2.0 * PI).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUEST: Request = Request { what: "test", q: 1.0, tolerance: 1e-11, halvings: 4 };

    #[test]
    fn the_plane_is_the_product_of_two_lines() {
        // E e^{3x} cosh y = e^{9/2} e^{1/2}
        let f = |x: f64, y: f64| [libm::exp(3.0 * x) * libm::cosh(y)];
        let [value] = plane(&REQUEST, f).unwrap();
        assert!((value / libm::exp(5.0) - 1.0).abs() < 1e-13, "{value}");
    }

    #[test]
    fn one_component_that_is_undefined_spoils_them_all() {
        // Only nodes of a finer step than the rings' fall into the gap.
        let gap = |x: f64| if x > 0.1 && x < 0.9 { f64::NAN } else { 1.0 };
        assert!(line(&REQUEST, |x| [gap(x), 1.0]).is_err());
        assert!(line(&REQUEST, |x| [1.0, gap(x)]).is_err());
    }

    #[test]
    fn narrow_integrands_are_cut_by_their_own_size() {
        // The rings overestimate the first integral by a factor of 1000, which must not hide the tail of the second.
        let narrow = |x: f64| 1.0 / libm::cosh(1000.0 * x) + 1e-3 * libm::exp(8.0 * x - 32.0);
        let request = Request { halvings: 14, ..REQUEST };
        let [value] = line(&request, |x| [narrow(x)]).unwrap();
        // ∫ sech(kx) p(x) dx = √(π/2)/k (1 − π²/8k² + …)
        let k = 1000.0;
        let exact = (0.5 * PI).sqrt() / k * (1.0 - PI * PI / (8.0 * k * k)) + 1e-3;
        assert!((value / exact - 1.0).abs() < 1e-11, "{value} and {exact}");
    }
}
