//! Random numbers that depend on a place, not on a history: the same on every machine and in every order.

/// The numbers of one image.
///
/// The `n`-th number is a mix of the key and `n` (SplitMix64: Steele, Lea, Flood, 2014), so that image 7 can be drawn without drawing the first six.
pub(super) struct Random {
    state: u64,
}

/// 2⁶⁴ over the golden ratio.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl Random {
    /// The numbers of image `index` in the given stream.
    pub(super) fn new(stream: u64, index: u64) -> Self {
        Self { state: mix(mix(stream.wrapping_mul(STEP)) ^ index.wrapping_mul(STEP)) }
    }

    fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        mix(self.state)
    }

    /// Evenly in [0, 1), in steps of 2⁻²⁴ so that it is exact.
    pub(super) fn unit(&mut self) -> f32 {
        (self.bits() >> 40) as f32 / 16_777_216.0
    }

    /// Evenly in [low, high).
    pub(super) fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.unit()
    }

    /// One of `0..n`.
    pub(super) fn below(&mut self, n: usize) -> usize {
        (((self.bits() >> 32) * n as u64) >> 32) as usize
    }

    /// Mean 0 and variance 1, nearly Gaussian and never beyond 3.5: the sum of four even numbers of 16 bits, so that no logarithm is needed.
    pub(super) fn bell(&mut self) -> f32 {
        let bits = self.bits();
        let sum: u32 = (0..4).map(|lane| (bits >> (16 * lane)) as u32 & 0xffff).sum();
        (sum as f32 / 65_536.0 - 2.0) * 1.732_050_8
    }
}

/// SplitMix64's finaliser. The generator of `isinglass-net` has the same; this crate does not depend on that one, and its images must not change with it.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mix_is_that_of_splitmix64() {
        // The first numbers of the reference implementation with seed 1234567.
        let mut random = Random { state: 1_234_567 };
        assert_eq!(random.bits(), 6_457_827_717_110_365_317);
        assert_eq!(random.bits(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn numbers_stay_inside_their_range_and_have_their_moments() {
        let mut random = Random::new(1, 2);
        let (mut sum, mut squares, mut seen) = (0.0, 0.0, [0; 3]);
        for _ in 0..30_000 {
            let x = random.bell();
            assert!(x.abs() < 3.5);
            sum += x;
            squares += x * x;
            seen[random.below(3)] += 1;
            assert!((2.0..3.0).contains(&random.between(2.0, 3.0)));
        }
        assert!((sum / 30_000.0).abs() < 0.02 && (squares / 30_000.0 - 1.0).abs() < 0.02);
        assert!(seen.iter().all(|n| (9_500..10_500).contains(n)), "{seen:?}");
    }
}
