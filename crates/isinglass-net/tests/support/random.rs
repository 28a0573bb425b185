//! Random numbers for the tests: SplitMix64, so that a test needs nothing but its seed.

use std::f64::consts::PI;

/// SplitMix64 (Steele, Lea, Flood 2014).
pub struct Random(pub u64);

impl Random {
    /// Uniform over all 64-bit words.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform on [0, 1).
    pub fn uniform(&mut self) -> f64 {
        (self.word() >> 11) as f64 * 2f64.powi(-53)
    }

    /// Uniform on [−1, 1).
    pub fn symmetric(&mut self) -> f64 {
        2.0 * self.uniform() - 1.0
    }

    /// ±1 with equal probability.
    pub fn spin(&mut self) -> f64 {
        if self.uniform() < 0.5 { 1.0 } else { -1.0 }
    }

    /// N(0, 1), by Box and Muller.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (2.0 * PI * self.uniform()).cos()
    }

    /// `count` draws of one of the above.
    pub fn vector(&mut self, count: usize, mut draw: impl FnMut(&mut Self) -> f64) -> Vec<f64> {
        (0..count).map(|_| draw(self)).collect()
    }

    /// `rows` × `columns` draws of one of the above.
    pub fn matrix(&mut self, rows: usize, columns: usize, mut draw: impl FnMut(&mut Self) -> f64) -> Vec<Vec<f64>> {
        (0..rows).map(|_| self.vector(columns, &mut draw)).collect()
    }
}
