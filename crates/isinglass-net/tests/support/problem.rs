//! Small problems to train on.

use isinglass_net::{Examples, Values};

use super::random::Random;

/// Bytes with labels.
pub struct Problem {
    pub values: Vec<u8>,
    pub labels: Vec<u8>,
    pub features: usize,
    pub classes: usize,
}

impl Problem {
    /// One random picture of 0 and 255 for each class, and copies of it in which a fraction `noise` of the pixels is drawn again. Label `i` is `i mod classes`.
    pub fn pictures(features: usize, classes: usize, count: usize, noise: f64, seed: u64) -> Self {
        let mut random = Random(seed);
        let pictures = random.matrix(classes, features, Random::spin);
        let mut values = Vec::with_capacity(count * features);
        for i in 0..count {
            for &pixel in &pictures[i % classes] {
                let shown = if random.uniform() < noise { random.spin() } else { pixel };
                values.push(if shown > 0.0 { 255 } else { 0 });
            }
        }
        Self { values, labels: (0..count).map(|i| (i % classes) as u8).collect(), features, classes }
    }

    /// Bytes and labels without any meaning.
    pub fn noise(features: usize, classes: usize, count: usize, seed: u64) -> Self {
        let mut random = Random(seed);
        let values = (0..count * features).map(|_| (random.word() >> 56) as u8).collect();
        Self { values, labels: (0..count).map(|_| (random.word() % classes as u64) as u8).collect(), features, classes }
    }

    pub fn examples(&self) -> Examples<'_> {
        Examples::new(Values::Bytes(&self.values), self.features, &self.labels, self.classes).unwrap()
    }
}
