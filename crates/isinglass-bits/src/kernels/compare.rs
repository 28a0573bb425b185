//! From counts to spins, on every instruction set.

use isinglass_simd::{Kernel, Lanes};

use super::layout::Counts;

/// Sets spins to +1 where counts, `[group][image]`, are at most the limits. 32 spins of every image, then the next.
pub struct Compare<'a, const IMAGES: usize> {
    pub counts: &'a [Counts],
    pub limits: &'a [Counts],
    pub spins: &'a mut [[u32; IMAGES]],
}

impl<const IMAGES: usize> Kernel for Compare<'_, IMAGES> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes, const ROWS: usize, const VECTORS: usize>(self, l: L) {
        for ((counts, limits), spins) in self.counts.chunks(2 * IMAGES).zip(self.limits.chunks(2)).zip(self.spins) {
            *spins = [0; IMAGES];
            for (half, (counts, limits)) in counts.chunks_exact(IMAGES).zip(limits).enumerate() {
                for (spins, counts) in spins.iter_mut().zip(counts) {
                    *spins |= u32::from(l.at_most(counts, limits)) << (16 * half);
                }
            }
        }
    }
}
