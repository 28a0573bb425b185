//! Counts that are carried, and from counts to spins, on every instruction set.

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
        let groups = self.counts.as_chunks::<IMAGES>().0;
        let count = groups.len().min(self.limits.len());
        let (pairs, last) = groups[..count].as_chunks::<2>();
        let (limit_pairs, last_limits) = self.limits[..count].as_chunks::<2>();
        let (pair_spins, last_spins) = self.spins.split_at_mut(pairs.len());
        for (([low, high], [low_limits, high_limits]), spins) in pairs.iter().zip(limit_pairs).zip(pair_spins) {
            for ((spins, low), high) in spins.iter_mut().zip(low).zip(high) {
                *spins = u32::from(l.at_most(low, low_limits)) | u32::from(l.at_most(high, high_limits)) << 16;
            }
        }
        for ((counts, limits), spins) in last.iter().zip(last_limits).zip(last_spins) {
            for (spins, counts) in spins.iter_mut().zip(counts) {
                *spins = u32::from(l.at_most(counts, limits));
            }
        }
    }
}

/// Adds the counts of the layer before: the sum of `m` layers with `N` inputs is `mN` minus twice the counts of all of them.
pub struct Carry<'a> {
    pub counts: &'a mut [Counts],
    pub carried: &'a [Counts],
}

impl Kernel for Carry<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes, const ROWS: usize, const VECTORS: usize>(self, _: L) {
        // One loop over all numbers: the compiler makes vectors of it, where of loops within loops it makes gathers.
        for (count, carried) in self.counts.as_flattened_mut().iter_mut().zip(self.carried.as_flattened()) {
            *count += carried;
        }
    }
}
