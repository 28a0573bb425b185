//! One seeded generator, and independent streams of it.
//!
//! A stream is identified by its purpose and an index, never by how much was drawn before: epoch 7 shuffles the same way whether or not the run was
//! resumed, and the number of threads does not matter.
//!
//! ```
//! use isinglass_net::Rng;
//!
//! let (mut a, mut b) = (Rng::new(1), Rng::new(1));
//! assert_eq!(a.next_u64(), b.next_u64());
//! assert_ne!(Rng::new(1).stream(Rng::SHUFFLE, 0).next_u64(), Rng::new(1).stream(Rng::SHUFFLE, 1).next_u64());
//! ```

/// A xoshiro256++ generator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rng {
    seed: u64,
    state: [u64; 4],
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

impl Rng {
    /// Streams of initial means and biases, by layer.
    pub const INIT: u64 = 1;
    /// Streams of the order of examples, by epoch.
    pub const SHUFFLE: u64 = 2;
    /// The stream that chooses training and validation examples.
    pub const PARTITION: u64 = 3;
    /// Streams of the noise of local reparameterisation, by step.
    pub const NOISE: u64 = 4;
    /// Streams of sampled binary weights, by sample.
    pub const WEIGHTS: u64 = 5;
    /// Streams of sampled neurons, by sample.
    pub const NEURONS: u64 = 6;
    /// Streams of what training does to inputs, by step.
    pub const CORRUPTION: u64 = 7;
    /// Streams of the neurons that are left out in training, by step.
    pub const DROPOUT: u64 = 8;
    /// Streams of the vectors that align layers, by hidden layer.
    pub const ALIGNMENT: u64 = 9;

    /// SplitMix64's finaliser: every bit of the result depends on every bit of `x`.
    pub(crate) fn mix(x: u64) -> u64 {
        let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// The generator of a seed.
    pub fn new(seed: u64) -> Self {
        let mut x = seed;
        let state = std::array::from_fn(|_| {
            x = x.wrapping_add(GOLDEN);
            Self::mix(x)
        });
        Self { seed, state }
    }

    /// An independent generator for a purpose and an index. It does not depend on how much was drawn from this one.
    pub fn stream(&self, purpose: u64, index: u64) -> Self {
        let key = Self::mix(self.seed.wrapping_add(GOLDEN.wrapping_mul(purpose)));
        Self::new(Self::mix(key.wrapping_add(GOLDEN.wrapping_mul(index.wrapping_add(1)))))
    }

    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        let [a, b, c, d] = self.state;
        let result = a.wrapping_add(d).rotate_left(23).wrapping_add(a);
        let mut s = [a, b, c ^ a, d ^ b];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= b << 17;
        s[3] = s[3].rotate_left(45);
        self.state = s;
        result
    }

    /// Uniform in `[0, 1)`.
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Standard normal (Box–Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * libm::log(1.0 - self.uniform())).sqrt();
        radius * libm::cos(2.0 * std::f64::consts::PI * self.uniform())
    }

    /// Uniform below `bound`, without bias.
    ///
    /// # Panics
    ///
    /// If `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "an empty range has no elements");
        // Lemire: the high word of the product is uniform once the few low words that cause a bias are rejected.
        loop {
            let product = u128::from(self.next_u64()) * u128::from(bound);
            if product as u64 >= bound.wrapping_neg() % bound {
                return (product >> 64) as u64;
            }
        }
    }

    /// Shuffles a slice (Fisher–Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u64 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_xoshiro256_plus_plus() {
        // The first outputs of the reference implementation from state 1, 2, 3, 4.
        let mut rng = Rng { seed: 0, state: [1, 2, 3, 4] };
        let first: Vec<u64> = (0..4).map(|_| rng.next_u64()).collect();
        assert_eq!(first, [41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386]);
    }

    #[test]
    fn moments_are_those_of_the_distributions() {
        let mut rng = Rng::new(7);
        let n = 200_000;
        let (mut sum, mut square, mut fourth) = (0.0, 0.0, 0.0);
        for _ in 0..n {
            let x = rng.normal();
            sum += x;
            square += x * x;
            fourth += x.powi(4);
        }
        let n = f64::from(n);
        assert!((sum / n).abs() < 0.01 && (square / n - 1.0).abs() < 0.015 && (fourth / n - 3.0).abs() < 0.15);
    }

    #[test]
    fn a_shuffle_is_a_permutation() {
        let mut items: Vec<u32> = (0..1000).collect();
        Rng::new(3).shuffle(&mut items);
        assert_ne!(items, (0..1000).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..1000).collect::<Vec<_>>());
    }
}
