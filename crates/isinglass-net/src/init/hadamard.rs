//! Orthogonal signs: layers cut out of Hadamard matrices.
//!
//! A Hadamard matrix has entries ±1 and orthogonal rows and columns, `HᵀH = n·1`. Three constructions give one for most orders `n` that allow it (1, 2 and the
//! multiples of 4):
//!
//! | construction | orders |
//! |---|---|
//! | Sylvester | `2ᵏ`: `H_ij = (−1)^popcount(i & j)` |
//! | Paley I | `q + 1` for a prime `q ≡ 3 (mod 4)` |
//! | Paley II | `2(q + 1)` for `q ≡ 1 (mod 4)`, a prime or the square of one |
//!
//! and Kronecker products of Paley's with Sylvester's. A layer of any shape takes the smallest of these orders that holds it, and random rows and columns of that
//! matrix with random signs: `D₁P₁HP₂D₂`. What is lost by cutting is small: with `N` columns left of `n`, all but `n − N` of the singular values of `M/√N` are
//! `σ_m√(n/N)` (all of them if `n = N`, as for powers of two and for 784), because the dropped columns change the Gram matrix by a matrix of rank `n − N`.
//!
//! Entries are computed one by one, so that a wide layer needs no square matrix.

use crate::Rng;

/// A Hadamard matrix: the Kronecker product of a core and a Sylvester matrix of order `2^twos`.
#[derive(Debug)]
struct Hadamard {
    core: Core,
    twos: u32,
}

#[derive(Debug)]
enum Core {
    /// The matrix (1).
    One,
    /// Order `q + 1`.
    PaleyI(Field),
    /// Order `2(q + 1)`.
    PaleyII(Field),
}

impl Hadamard {
    /// The matrix of the smallest order, from `size` up, that the constructions reach.
    fn at_least(size: usize) -> Self {
        let power = size.next_power_of_two();
        (size..power).find_map(Self::of_order).unwrap_or(Self { core: Core::One, twos: power.trailing_zeros() })
    }

    fn of_order(order: usize) -> Option<Self> {
        if order.is_power_of_two() {
            return Some(Self { core: Core::One, twos: order.trailing_zeros() });
        }
        (0..=order.trailing_zeros()).find_map(|twos| Some(Self { core: Core::paley(order >> twos)?, twos }))
    }

    fn order(&self) -> usize {
        self.core.order() << self.twos
    }

    /// Whether an entry is −1.
    fn is_negative(&self, i: usize, j: usize) -> bool {
        let low = (1 << self.twos) - 1;
        let sylvester = (i & j & low).count_ones() % 2 == 1;
        sylvester != self.core.is_negative(i >> self.twos, j >> self.twos)
    }
}

impl Core {
    /// Paley's matrix of an order, if there is one.
    fn paley(order: usize) -> Option<Self> {
        if !order.is_multiple_of(4) {
            return None;
        }
        match Field::of_size(order - 1) {
            Some(field) => Some(Self::PaleyI(field)),
            None if (order / 2 - 1) % 4 == 1 => Field::of_size(order / 2 - 1).map(Self::PaleyII),
            None => None,
        }
    }

    fn order(&self) -> usize {
        match self {
            Self::One => 1,
            Self::PaleyI(field) => field.size() + 1,
            Self::PaleyII(field) => 2 * (field.size() + 1),
        }
    }

    fn is_negative(&self, i: usize, j: usize) -> bool {
        match self {
            Self::One => false,
            // 1 + S, where S = [0 1ᵀ; −1 Q] and Qᵀ = −Q.
            Self::PaleyI(field) => match (i, j) {
                _ if i == j => false,
                (0, _) => false,
                (_, 0) => true,
                _ => field.is_negative(i - 1, j - 1),
            },
            // C ⊗ [1 1; 1 −1] + 1 ⊗ [1 −1; −1 −1], where C = [0 1ᵀ; 1 Q] and Qᵀ = Q.
            Self::PaleyII(field) => match (i / 2, j / 2) {
                (a, b) if a == b => i % 2 == 1 || j % 2 == 1,
                (a, b) => (i % 2 == 1 && j % 2 == 1) != (a > 0 && b > 0 && field.is_negative(a - 1, b - 1)),
            },
        }
    }
}

/// The quadratic character of a finite field of `p` or `p²` elements: `χ(x)` is 1 for squares, −1 for the others, and 0 for 0.
///
/// The element `a + b√r` of the larger field, `r` not a square in the smaller one, has the number `a + bp`.
#[derive(Debug)]
struct Field {
    p: usize,
    is_square: Vec<bool>,
}

impl Field {
    /// The field of `q` elements; `None` unless `q` is an odd prime or the square of one.
    fn of_size(q: usize) -> Option<Self> {
        let p = if is_odd_prime(q) { q } else { q.isqrt() };
        if !is_odd_prime(p) || (p != q && p * p != q) {
            return None;
        }
        let mut is_square = vec![false; p];
        (0..p).for_each(|a| is_square[a * a % p] = true);
        if p != q {
            let r = is_square.iter().position(|is_square| !is_square)?;
            is_square = vec![false; q];
            for (a, b) in (0..p).flat_map(|a| (0..p).map(move |b| (a, b))) {
                is_square[(a * a + r * b * b) % p + 2 * a * b % p * p] = true;
            }
        }
        Some(Self { p, is_square })
    }

    fn size(&self) -> usize {
        self.is_square.len()
    }

    /// Whether `χ(i − j)`, the entry of Jacobsthal's matrix `Q` at `i ≠ j`, is −1.
    fn is_negative(&self, i: usize, j: usize) -> bool {
        let p = self.p;
        let minus = |a: usize, b: usize| if a >= b { a - b } else { a + p - b };
        let difference = if self.size() == p { minus(i, j) } else { minus(i % p, j % p) + p * minus(i / p, j / p) };
        !self.is_square[difference]
    }
}

fn is_odd_prime(n: usize) -> bool {
    n % 2 == 1 && n > 1 && (3..=n.isqrt()).step_by(2).all(|d| !n.is_multiple_of(d))
}

/// The signs of a layer, row by row, a row for every output: `true` is −1.
pub(super) fn signs(outputs: usize, inputs: usize, rng: &mut Rng) -> impl Iterator<Item = bool> {
    let matrix = Hadamard::at_least(outputs.max(inputs));
    let rows = choose(matrix.order(), outputs, rng);
    let columns = choose(matrix.order(), inputs, rng);
    rows.into_iter().flat_map(move |(i, row)| {
        let signs: Vec<bool> = columns.iter().map(|&(j, column)| row ^ column ^ matrix.is_negative(i, j)).collect();
        signs
    })
}

/// `count` different indices below `order`, each with a sign.
fn choose(order: usize, count: usize, rng: &mut Rng) -> Vec<(usize, bool)> {
    let mut indices: Vec<usize> = (0..order).collect();
    rng.shuffle(&mut indices);
    indices.into_iter().take(count).map(|index| (index, rng.next_u64() >> 63 == 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sign(is_negative: bool) -> i64 {
        if is_negative { -1 } else { 1 }
    }

    fn drawn(outputs: usize, inputs: usize, seed: u64) -> Vec<Vec<i64>> {
        let signs: Vec<i64> = signs(outputs, inputs, &mut Rng::new(seed)).map(sign).collect();
        assert_eq!(signs.len(), outputs * inputs);
        signs.chunks_exact(inputs).map(<[i64]>::to_vec).collect()
    }

    fn transposed(rows: &[Vec<i64>]) -> Vec<Vec<i64>> {
        (0..rows[0].len()).map(|j| rows.iter().map(|row| row[j]).collect()).collect()
    }

    /// The largest product of two different rows.
    fn overlap(rows: &[Vec<i64>]) -> i64 {
        let product = |a: &[i64], b: &[i64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<i64>().abs();
        rows.iter().enumerate().flat_map(|(i, a)| rows[..i].iter().map(move |b| product(a, b))).max().unwrap_or(0)
    }

    #[test]
    fn every_matrix_is_orthogonal() {
        let mut orders = Vec::new();
        for (order, matrix) in (1..=344).filter_map(|order| Some((order, Hadamard::of_order(order)?))) {
            assert_eq!(matrix.order(), order);
            assert!(order <= 2 || order % 4 == 0, "{order}");
            let rows: Vec<Vec<i64>> = (0..order).map(|i| (0..order).map(|j| sign(matrix.is_negative(i, j))).collect()).collect();
            assert_eq!(overlap(&rows), 0, "order {order}");
            orders.push(order);
        }
        // The published list of orders that Paley and Sylvester leave open, and 344 = 7³ + 1: cubes are left out here.
        let missing: Vec<usize> = (1..=86).map(|k| 4 * k).filter(|order| !orders.contains(order)).collect();
        assert_eq!(missing, [92, 116, 156, 172, 184, 188, 232, 236, 260, 268, 292, 324, 344]);
    }

    #[test]
    fn powers_of_two_are_sylvester_matrices() {
        for k in 0..=20 {
            let matrix = Hadamard::at_least(1 << k);
            assert!(matches!(matrix.core, Core::One) && matrix.twos == k);
        }
        assert!(Hadamard::at_least(4).is_negative(3, 1) && !Hadamard::at_least(4).is_negative(3, 3));
    }

    #[test]
    fn the_next_order_is_near() {
        let excess = |size: usize| Hadamard::at_least(size).order() - size;
        assert!((1..=2048).all(|size| excess(size) <= 15), "{:?}", (1..=2048).map(excess).max());
        for exact in [1, 2, 4, 12, 20, 28, 36, 52, 100, 200, 300, 400, 500, 784, 1000, 1200, 1 << 20] {
            assert_eq!(excess(exact), 0, "{exact}");
        }
        assert!(excess((1 << 20) - 1000) <= 100);
    }

    #[test]
    fn layers_between_powers_of_two_are_orthogonal() {
        for (outputs, inputs) in [(1, 1), (2, 2), (64, 64), (256, 256), (16, 128), (128, 16), (10, 256), (101, 784)] {
            let rows = drawn(outputs, inputs, 3);
            let short = if outputs <= inputs { rows } else { transposed(&rows) };
            assert_eq!(overlap(&short), 0, "{inputs} → {outputs}");
        }
    }

    #[test]
    fn other_layers_are_nearly_orthogonal() {
        // Rows of the whole matrix are orthogonal, so what is left of them overlaps by no more than what was cut off.
        for (outputs, inputs) in [(9, 9), (101, 101), (90, 90), (10, 93), (93, 10), (21, 33), (130, 97), (7, 3)] {
            let rows = drawn(outputs, inputs, 5);
            let short = if outputs <= inputs { rows } else { transposed(&rows) };
            let dropped = Hadamard::at_least(outputs.max(inputs)).order() - outputs.max(inputs);
            let overlap = overlap(&short);
            assert!(overlap <= dropped as i64, "{inputs} → {outputs}: {overlap} with {dropped} dropped");
        }
    }

    #[test]
    fn rows_and_columns_have_signs_of_their_own() {
        // Without D₁ and D₂ some row and some column of a Sylvester matrix would be all ones, and every other would sum to 0.
        let n = 256;
        for seed in 0..4 {
            let rows = drawn(n, n, seed);
            for lines in [&rows, &transposed(&rows)] {
                let sums: Vec<i64> = lines.iter().map(|line| line.iter().sum()).collect();
                // Parseval: the squares of the sums always add up to n²; here no line has much of it.
                assert_eq!(sums.iter().map(|sum| sum * sum).sum::<i64>(), (n * n) as i64);
                assert!(sums.iter().all(|sum| sum.abs() <= 5 * 16), "a sum has a standard deviation of 16: {sums:?}");
            }
        }
        // Signs of both kinds are fair: entry (0, 0) of many matrices, and of D₁ and D₂ by themselves.
        let corners: i64 = (0..400).map(|seed| drawn(4, 4, seed)[0][0]).sum();
        assert!(corners.abs() <= 80, "{corners} of 400");
        let chosen: i64 = choose(1 << 12, 1 << 12, &mut Rng::new(1)).iter().map(|&(_, negative)| sign(negative)).sum();
        assert!(chosen.abs() <= 4 * 64, "{chosen} of 4096");
    }

    #[test]
    fn layers_and_seeds_are_unrelated() {
        // Entry by entry, the product of two matrices averages to 0 ± 1/n.
        let n: usize = 128;
        let layers: Vec<Vec<Vec<i64>>> = (0..6).map(|seed| drawn(n, n, seed)).collect();
        for (i, a) in layers.iter().enumerate() {
            for b in &layers[..i] {
                let sum: i64 = a.iter().flatten().zip(b.iter().flatten()).map(|(a, b)| a * b).sum();
                assert!(sum.unsigned_abs() as usize <= 5 * n, "{sum}");
                // Nor is a matrix the inverse of the next: entries of AB/√n are signs summed at random, not n on a line.
                let product = |a: &[i64], b: &[i64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<i64>().abs();
                let columns = transposed(b);
                let largest = a.iter().flat_map(|row| columns.iter().map(|column| product(row, column))).max();
                assert!(largest.is_some_and(|largest| largest < 7 * 12), "{largest:?}");
            }
        }
        assert_eq!(drawn(33, 20, 7), drawn(33, 20, 7));
    }
}
