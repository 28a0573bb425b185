//! Standard normal numbers, many and fast: a network of real weights needs one for every weight.
//!
//! The ziggurat of Marsaglia and Tsang with 256 layers, in the form of Doornik (the layer and the place in it come from different bits). One random word gives a number
//! in 99 % of cases.

use std::sync::OnceLock;

use isinglass_net::Rng;

/// Where the tail begins, and the area of every layer, for 256 layers.
const TAIL: f64 = 3.654_152_885_361_009;
const AREA: f64 = 0.004_928_673_233_974_655;

struct Ziggurat {
    /// Right ends of the layers, the largest first; entry 0 is that of the base if it were a rectangle.
    x: [f64; 257],
    /// `exp(−x²/2)` of them.
    density: [f64; 257],
}

fn ziggurat() -> &'static Ziggurat {
    static TABLE: OnceLock<Ziggurat> = OnceLock::new();
    TABLE.get_or_init(|| {
        let density = |x: f64| libm::exp(-0.5 * x * x);
        let mut x = [0.0; 257];
        x[0] = AREA / density(TAIL);
        x[1] = TAIL;
        for i in 2..256 {
            x[i] = (-2.0 * libm::log(AREA / x[i - 1] + density(x[i - 1]))).sqrt();
        }
        Ziggurat { x, density: x.map(density) }
    })
}

/// A source of standard normal numbers.
pub(super) struct Gaussian {
    rng: Rng,
    table: &'static Ziggurat,
}

impl Gaussian {
    pub(super) fn new(rng: Rng) -> Self {
        Self { rng, table: ziggurat() }
    }

    /// The next number.
    #[inline]
    pub(super) fn draw(&mut self) -> f64 {
        let bits = self.rng.next_u64();
        let layer = (bits & 255) as usize;
        // The upper 53 bits, as a place in [−1, 1).
        let place = ((bits as i64) >> 11) as f64 * (1.0 / (1u64 << 52) as f64);
        let x = place * self.table.x[layer];
        if x.abs() < self.table.x[layer + 1] { x } else { self.edge(layer, x) }
    }

    /// A place outside of the rectangle that lies under the density for certain.
    #[cold]
    fn edge(&mut self, layer: usize, x: f64) -> f64 {
        if layer == 0 {
            return self.tail(x < 0.0);
        }
        let (low, high) = (self.table.density[layer], self.table.density[layer + 1]);
        if low + self.rng.uniform() * (high - low) < libm::exp(-0.5 * x * x) { x } else { self.draw() }
    }

    /// Marsaglia's exact method for the tail.
    fn tail(&mut self, negative: bool) -> f64 {
        loop {
            let x = -libm::log(1.0 - self.rng.uniform()) / TAIL;
            let y = -libm::log(1.0 - self.rng.uniform());
            if 2.0 * y >= x * x {
                return if negative { -(TAIL + x) } else { TAIL + x };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_have_equal_areas_and_close_at_the_top() {
        let Ziggurat { x, density } = ziggurat();
        for i in 1..256 {
            let area = x[i] * (density[i + 1] - density[i]);
            assert!((area / AREA - 1.0).abs() < 1e-9, "layer {i}: {area}");
        }
    }

    #[test]
    fn it_is_the_normal_distribution() {
        let mut gaussian = Gaussian::new(Rng::new(5));
        let count = 1_000_000;
        let thresholds = [-3.8, -3.0, -2.0, -1.0, -0.3, 0.0, 0.7, 1.5, 2.5, 3.66, 4.2];
        let mut below = [0u32; 11];
        let mut moments = [0.0; 4];
        for _ in 0..count {
            let x = gaussian.draw();
            for (threshold, below) in thresholds.iter().zip(&mut below) {
                *below += u32::from(x < *threshold);
            }
            for (power, moment) in moments.iter_mut().enumerate() {
                *moment += x.powi(power as i32 + 1) / f64::from(count);
            }
        }
        let n = f64::from(count);
        for (threshold, below) in thresholds.iter().zip(below) {
            let p = 0.5 * libm::erfc(-threshold / std::f64::consts::SQRT_2);
            let error = (f64::from(below) - n * p) / (n * p * (1.0 - p)).sqrt();
            assert!(error.abs() < 4.0, "P(x < {threshold}) is {error} standard errors off");
        }
        // Standard errors of the first four moments: √(1, 2, 15, 96)/1000.
        for (moment, (expected, error)) in moments.iter().zip([(0.0, 1e-3), (1.0, 1.42e-3), (0.0, 3.9e-3), (3.0, 9.8e-3)]) {
            assert!((moment - expected).abs() < 4.0 * error, "{moments:?}");
        }
    }
}
