//! What training does to its inputs: shifted images and inputs left out at random.
//!
//! Every random number depends only on the key of the step, the example and the input, so the result depends neither on threads nor on where a run was resumed.

use super::LANES;
use crate::Rng;
use crate::examples::Rows;

/// How the examples of one training step are changed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Corruption {
    key: u64,
    /// The probability that an input is left out, in units of 2⁻¹⁶.
    rate: u16,
    /// The factor of the others, which keeps the mean.
    factor: f32,
    /// The largest shift of an image in pixels, and its side.
    shift: usize,
    side: usize,
}

impl Corruption {
    /// Leaves out inputs with a probability of `dropout`, below 1, and shifts square images of `side` pixels by up to `shift` in both directions.
    pub fn new(key: u64, dropout: f64, shift: usize, side: usize) -> Self {
        let rate = (dropout * 65536.0).round() as u16;
        let factor = (65536.0 / (65536.0 - f64::from(rate))) as f32;
        Self { key, rate, factor, shift, side }
    }

    /// Copies raw values of an example, shifted. Pixels from outside the image repeat its edge.
    pub fn copy_part(&self, rows: &Rows<'_>, index: u32, first: usize, raw: &mut [f32]) {
        if self.shift == 0 {
            return rows.copy_part(index as usize, first, raw);
        }
        let bits = Rng::mix(self.key ^ Rng::mix(u64::from(index) << 1 | 1));
        let range = 2 * self.shift as u64 + 1;
        let (down, right) = ((bits >> 32) % range, (bits & 0xffff_ffff) % range);
        let moved = |place: usize, by: u64| (place + by as usize).saturating_sub(self.shift).min(self.side - 1);
        for (offset, to) in raw.iter_mut().enumerate() {
            let (row, column) = ((first + offset) / self.side, (first + offset) % self.side);
            let from = moved(row, down) * self.side + moved(column, right);
            rows.copy_part(index as usize, from, std::slice::from_mut(to));
        }
    }

    /// Leaves out inputs of an example; `first` is a multiple of 16, and there are at most 16.
    pub fn drop_inputs(&self, index: u32, first: usize, inputs: &mut [f32]) {
        if self.rate == 0 {
            return;
        }
        debug_assert!(first.is_multiple_of(LANES) && inputs.len() <= LANES);
        for (word, inputs) in inputs.chunks_mut(4).enumerate() {
            // Four numbers of 16 bits; even, so that it never meets the place of a shift.
            let place = (u64::from(index) << 32 | (first / 4 + word) as u64) << 1;
            let bits = Rng::mix(self.key ^ Rng::mix(place));
            for (lane, input) in inputs.iter_mut().enumerate() {
                let is_out = ((bits >> (16 * lane)) as u16) < self.rate;
                *input = if is_out { 0.0 } else { *input * self.factor };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Values;

    #[test]
    fn the_rate_is_kept_and_so_is_the_mean() {
        let corruption = Corruption::new(7, 0.2, 0, 0);
        let (mut out, mut sum) = (0, 0.0);
        for index in 0..1000 {
            let mut inputs = [1.0f32; LANES];
            corruption.drop_inputs(index, 32, &mut inputs);
            out += inputs.iter().filter(|&&x| x == 0.0).count();
            sum += inputs.iter().map(|&x| f64::from(x)).sum::<f64>();
        }
        let count = 1000.0 * LANES as f64;
        assert!((out as f64 / count - 0.2).abs() < 0.015, "{out}");
        assert!((sum / count - 1.0).abs() < 0.02, "{sum}");
    }

    #[test]
    fn steps_examples_and_inputs_differ() {
        let pattern = |key: u64, index: u32, first: usize| {
            let mut inputs = [1.0f32; LANES];
            Corruption::new(key, 0.5, 0, 0).drop_inputs(index, first, &mut inputs);
            inputs.map(|x| x == 0.0)
        };
        let usual = pattern(1, 1, 0);
        assert_eq!(usual, pattern(1, 1, 0));
        for other in [pattern(2, 1, 0), pattern(1, 2, 0), pattern(1, 1, 16)] {
            assert_ne!(usual, other);
        }
    }

    #[test]
    fn images_move_as_a_whole_and_repeat_their_edge() {
        // Every pixel holds its row and column.
        let side = 5usize;
        let image: Vec<u8> = (0..side * side).map(|at| (at / side * 10 + at % side) as u8).collect();
        let rows = Rows::new(Values::Bytes(&image), side * side).unwrap();
        let mut shifts = std::collections::BTreeSet::new();
        for key in 0..200 {
            let mut moved = vec![0.0; side * side];
            Corruption::new(key, 0.0, 1, side).copy_part(&rows, 0, 0, &mut moved);
            let centre = moved[2 * side + 2] as i32;
            let (down, right) = (centre / 10 - 2, centre % 10 - 2);
            shifts.insert((down, right));
            for (at, &value) in moved.iter().enumerate() {
                let place = |at: usize, by: i32| (at as i32 + by).clamp(0, side as i32 - 1);
                assert_eq!(value as i32, place(at / side, down) * 10 + place(at % side, right), "{key}");
            }
        }
        assert_eq!(shifts.len(), 9, "all nine shifts by up to one pixel occur");
    }
}
