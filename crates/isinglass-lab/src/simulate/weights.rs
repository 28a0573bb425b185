//! The random weights of a layer: every one of them is drawn, and none is kept.
//!
//! Signals of two inputs are only two columns, so a product costs what its `N²` random numbers cost. Signs come 64 to a random word. Eight columns have 256 signed sums, which
//! are tabulated once per layer; a row then adds eight table entries per word instead of 64 numbers, and the sum is that of the signs, to rounding. Going backwards the same bits
//! are drawn again and transposed in blocks of 8 × 8.

use isinglass_net::Rng;

use super::gaussian::Gaussian;

/// How the weights of a layer are distributed, at unit variance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Law {
    /// `±1` with equal probability: binary weights, or two-point means over their `σ_m`.
    Signs,
    /// Standard normal.
    Normal,
}

/// Signals of the two inputs, or whatever else goes through the same weights.
pub(super) type Two = [f64; 2];

/// The weights of one layer, `N × N`.
#[derive(Debug, Clone)]
pub(super) struct Weights {
    law: Law,
    rng: Rng,
}

/// A product with the transposed weights.
pub(super) struct Transposed {
    /// `Wᵀ g`.
    pub(super) sums: Vec<Two>,
    /// The mean square of each column of `W`.
    pub(super) squares: Vec<f64>,
    /// The diagonal of `W`.
    pub(super) diagonal: Vec<f64>,
}

/// The 256 signed sums of eight numbers; bit `k` set means a plus before number `k`.
fn signed_sums(numbers: &[Two], sums: &mut [Two; 256]) {
    sums[0] = numbers.iter().fold([0.0; 2], |sum, x| [sum[0] - x[0], sum[1] - x[1]]);
    for index in 1..256usize {
        let before = sums[index & (index - 1)];
        let x = numbers.get(index.trailing_zeros() as usize).copied().unwrap_or_default();
        sums[index] = [before[0] + 2.0 * x[0], before[1] + 2.0 * x[1]];
    }
}

/// Transposes an 8 × 8 matrix of bits, a row to a byte (Hacker's Delight, 7-3).
fn transpose(mut x: u64) -> u64 {
    for (shift, mask) in [(7, 0x00aa_00aa_00aa_00aa), (14, 0x0000_cccc_0000_cccc), (28, 0x0000_0000_f0f0_f0f0)] {
        let t = (x ^ (x >> shift)) & mask;
        x ^= t ^ (t << shift);
    }
    x
}

impl Weights {
    /// The weights that `rng` stands for.
    pub(super) fn new(law: Law, rng: Rng) -> Self {
        Self { law, rng }
    }

    /// `W x` for both columns of `x`.
    pub(super) fn times(&self, x: &[Two]) -> Vec<Two> {
        match self.law {
            Law::Signs => self.signs_times(x),
            Law::Normal => self.normal_times(x),
        }
    }

    /// `Wᵀ g` for both columns of `g`, with what else is learnt of `W` on the way.
    pub(super) fn transposed_times(&self, g: &[Two]) -> Transposed {
        match self.law {
            Law::Signs => self.signs_transposed_times(g),
            Law::Normal => self.normal_transposed_times(g),
        }
    }

    fn signs_times(&self, x: &[Two]) -> Vec<Two> {
        let mut rng = self.rng.clone();
        let mut sums = vec![[0.0; 2]; x.len()];
        let mut tables = vec![[[0.0; 2]; 256]; 8];
        // Words of 64 columns, and for each of them all rows: the tables in use fit the nearest cache.
        for columns in x.chunks(64) {
            for (k, table) in tables.iter_mut().enumerate() {
                signed_sums(columns.get(8 * k..).map_or(&[], |rest| &rest[..rest.len().min(8)]), table);
            }
            for sum in &mut sums {
                let bytes = rng.next_u64().to_le_bytes();
                // Two chains of additions, so that one does not wait for the other.
                let (mut even, mut odd) = ([0.0; 2], [0.0; 2]);
                for (pair, bytes) in tables.chunks_exact(2).zip(bytes.chunks_exact(2)) {
                    let (a, b) = (pair[0][usize::from(bytes[0])], pair[1][usize::from(bytes[1])]);
                    even = [even[0] + a[0], even[1] + a[1]];
                    odd = [odd[0] + b[0], odd[1] + b[1]];
                }
                *sum = [sum[0] + (even[0] + odd[0]), sum[1] + (even[1] + odd[1])];
            }
        }
        sums
    }

    fn signs_transposed_times(&self, g: &[Two]) -> Transposed {
        let mut rng = self.rng.clone();
        let mut tables = vec![[[0.0; 2]; 256]; g.len().div_ceil(8)];
        for (rows, table) in g.chunks(8).zip(&mut tables) {
            signed_sums(rows, table);
        }
        let mut out = Vec::with_capacity(g.len());
        let mut diagonal = vec![0.0; g.len()];
        for first in (0..g.len()).step_by(64) {
            let mut sums = [[0.0; 2]; 64];
            for (group, table) in tables.iter().enumerate() {
                let mut words = [0; 8];
                let rows = (g.len() - 8 * group).min(8);
                words[..rows].fill_with(|| rng.next_u64());
                for (row, word) in (8 * group..).zip(&words[..rows]).filter(|(row, _)| (first..first + 64).contains(row)) {
                    diagonal[row] = if word >> (row - first) & 1 == 1 { 1.0 } else { -1.0 };
                }
                for (byte, sums) in sums.chunks_exact_mut(8).enumerate() {
                    let block = u64::from_le_bytes(words.map(|word| word.to_le_bytes()[byte]));
                    for (sum, index) in sums.iter_mut().zip(transpose(block).to_le_bytes()) {
                        let entry = table[usize::from(index)];
                        *sum = [sum[0] + entry[0], sum[1] + entry[1]];
                    }
                }
            }
            out.extend_from_slice(&sums[..(g.len() - first).min(64)]);
        }
        Transposed { sums: out, squares: vec![1.0; g.len()], diagonal }
    }

    fn normal_times(&self, x: &[Two]) -> Vec<Two> {
        let mut weights = Gaussian::new(self.rng.clone());
        let row = |_| {
            x.iter().fold([0.0; 2], |sum, x| {
                let w = weights.draw();
                [sum[0] + w * x[0], sum[1] + w * x[1]]
            })
        };
        (0..x.len()).map(row).collect()
    }

    fn normal_transposed_times(&self, g: &[Two]) -> Transposed {
        let mut weights = Gaussian::new(self.rng.clone());
        let mut out = vec![[0.0; 2]; g.len()];
        let (mut squares, mut diagonal) = (vec![0.0; g.len()], vec![0.0; g.len()]);
        for (i, g_i) in g.iter().enumerate() {
            for (j, (out, square)) in out.iter_mut().zip(&mut squares).enumerate() {
                let w = weights.draw();
                *out = [out[0] + w * g_i[0], out[1] + w * g_i[1]];
                *square += w * w;
                if i == j {
                    diagonal[i] = w;
                }
            }
        }
        squares.iter_mut().for_each(|square| *square /= g.len() as f64);
        Transposed { sums: out, squares, diagonal }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The weights one by one, from products with unit vectors.
    fn matrix(weights: &Weights, n: usize) -> Vec<Vec<f64>> {
        let column = |j: usize| weights.times(&(0..n).map(|k| [f64::from(u8::from(k == j)), 0.0]).collect::<Vec<_>>());
        let columns: Vec<Vec<Two>> = (0..n).map(column).collect();
        (0..n).map(|i| (0..n).map(|j| columns[j][i][0]).collect()).collect()
    }

    #[test]
    fn products_are_those_of_the_matrix() {
        for law in [Law::Signs, Law::Normal] {
            for n in [1, 2, 7, 8, 9, 63, 64, 65, 130] {
                let weights = Weights::new(law, Rng::new(n as u64));
                let matrix = matrix(&weights, n);
                if law == Law::Signs {
                    assert!(matrix.iter().flatten().all(|w| w.abs() == 1.0), "N = {n}");
                }
                let mut rng = Rng::new(99);
                let x: Vec<Two> = (0..n).map(|_| [rng.normal(), rng.normal()]).collect();
                let (forward, Transposed { sums: backward, squares, diagonal }) = (weights.times(&x), weights.transposed_times(&x));
                for i in 0..n {
                    for c in 0..2 {
                        let row: f64 = (0..n).map(|j| matrix[i][j] * x[j][c]).sum();
                        let column: f64 = (0..n).map(|j| matrix[j][i] * x[j][c]).sum();
                        assert!((forward[i][c] - row).abs() < 1e-12, "{law:?}, N = {n}, row {i}");
                        assert!((backward[i][c] - column).abs() < 1e-12, "{law:?}, N = {n}, column {i}");
                    }
                    let square = (0..n).map(|j| matrix[j][i] * matrix[j][i]).sum::<f64>() / n as f64;
                    assert!((squares[i] - square).abs() < 1e-12, "{law:?}, N = {n}");
                    assert!((diagonal[i] - matrix[i][i]).abs() < 1e-12, "{law:?}, N = {n}");
                }
            }
        }
    }

    #[test]
    fn signs_are_fair_and_unrelated() {
        let n = 200;
        let matrix = matrix(&Weights::new(Law::Signs, Rng::new(3)), n);
        let error = |sum: f64, count: usize| sum / (count as f64).sqrt();
        assert!(error(matrix.iter().flatten().sum(), n * n).abs() < 4.0);
        let beside: f64 = matrix.iter().flat_map(|row| row.windows(2).map(|w| w[0] * w[1])).sum();
        let below: f64 = matrix.windows(2).flat_map(|rows| rows[0].iter().zip(&rows[1]).map(|(a, b)| a * b)).sum();
        assert!(error(beside, n * n).abs() < 4.0 && error(below, n * n).abs() < 4.0);
    }
}
