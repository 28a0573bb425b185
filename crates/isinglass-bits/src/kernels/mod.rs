//! Products of ±1 weights with spins and with bytes, on every instruction set.
//!
//! A neuron's sum over `N` spins is `N − 2·(number of inputs that differ from their weights)`, and over bytes `2·(sum of the bytes whose weight is +1) − (sum of all)`. All kernels count what is missing to the
//! largest sum, so that a neuron is +1 where its count is at most a limit.
//!
//! The kernels are safe code but for single loads and stores from arrays of the right length: there is no index or pointer arithmetic that could be wrong.

mod layout;
mod scalar;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;

#[cfg(test)]
mod tests;

use alloc::format;
use alloc::vec::Vec;

pub(crate) use layout::{Counts, GROUP, SpinPanels, interleave, limits_of_bytes, limits_of_spins, words_of};

use layout::BytePanels;
#[cfg(target_arch = "x86_64")]
use layout::IndexPanels;

use crate::{BitMatrix, Error};

/// An instruction set that this machine has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Isa(Kind);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "aarch64")]
    Neon,
    Scalar,
}

#[cfg(all(target_arch = "x86_64", feature = "std"))]
macro_rules! has {
    ($feature:tt) => {
        std::arch::is_x86_feature_detected!($feature)
    };
}
#[cfg(all(target_arch = "x86_64", not(feature = "std")))]
macro_rules! has {
    ($feature:tt) => {
        cfg!(target_feature = $feature)
    };
}

impl Isa {
    /// Those of this machine, the fastest first. Without the standard library, those that the program is compiled for.
    pub fn available() -> Vec<Self> {
        let mut sets = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            if has!("avx512f") && has!("avx512bw") && has!("avx512vbmi") && has!("avx512vpopcntdq") && has!("avx512vnni") {
                sets.push(Self(Kind::Avx512));
            }
            if has!("avx2") {
                sets.push(Self(Kind::Avx2));
            }
        }
        #[cfg(target_arch = "aarch64")]
        sets.push(Self(Kind::Neon));
        sets.push(Self(Kind::Scalar));
        sets
    }

    /// The fastest, or the one that the environment variable `ISINGLASS_SIMD` names, if the machine has it.
    pub fn best() -> Self {
        #[cfg(feature = "std")]
        if let Some(isa) = std::env::var("ISINGLASS_SIMD").ok().and_then(|name| Self::named(&name).ok()) {
            return isa;
        }
        Self::available()[0]
    }

    /// `avx512`, `avx2`, `neon` or `scalar`.
    ///
    /// # Errors
    ///
    /// [`Error::Isa`] if the machine does not have it.
    pub fn named(name: &str) -> Result<Self, Error> {
        let available = Self::available();
        available.iter().copied().find(|isa| isa.name() == name).ok_or_else(|| {
            let names: Vec<&str> = available.iter().map(|isa| isa.name()).collect();
            Error::Isa(format!("instruction set {name}: this machine has {}", names.join(", ")))
        })
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => "avx512",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => "avx2",
            #[cfg(target_arch = "aarch64")]
            Kind::Neon => "neon",
            Kind::Scalar => "scalar",
        }
    }

    /// Lays weights out for [`Isa::mismatches`].
    pub(crate) fn spin_panels(self, matrix: &BitMatrix) -> SpinPanels {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => SpinPanels::new(matrix, 32, 1),
            _ => SpinPanels::new(matrix, GROUP, 4),
        }
    }

    /// How many inputs differ from the weights, as [`scalar::mismatches`]. `scratch` is for the kernel to use.
    pub(crate) fn mismatches<const IMAGES: usize>(
        self,
        panels: &SpinPanels,
        inputs: &[[u32; IMAGES]],
        counts: &mut [Counts],
        scratch: &mut Scratch<IMAGES>,
    ) {
        match self.0 {
            // SAFETY: an `Isa` is made only where the machine has its instructions; here and below.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => unsafe { avx512::mismatches(panels, inputs, counts) },
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => unsafe { avx2::mismatches(panels, inputs, counts, &mut scratch.tables) },
            #[cfg(target_arch = "aarch64")]
            Kind::Neon => unsafe { neon::mismatches(panels, inputs, counts) },
            Kind::Scalar => scalar::mismatches(panels, inputs, counts),
        }
        // Only AVX2 has a use for it.
        let _ = scratch;
    }

    /// Lays weights out for [`Isa::deficits`].
    pub(crate) fn byte_panels(self, matrix: &BitMatrix) -> ByteWeights {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => ByteWeights::Indices(IndexPanels::new(matrix)),
            _ => ByteWeights::Quads(BytePanels::new(matrix)),
        }
    }

    /// Lays images of so many bytes out for [`Isa::deficits`].
    pub(crate) fn arrange<const IMAGES: usize>(self, images: &[u8], inputs: usize, arranged: &mut Images<IMAGES>) {
        for (total, bytes) in arranged.totals.iter_mut().zip(images.chunks_exact(inputs)) {
            *total = bytes.iter().map(|&byte| i32::from(byte)).sum();
        }
        match self.0 {
            // SAFETY: as in `mismatches`.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => unsafe { avx512::tabulate(images, inputs, &mut arranged.tables) },
            _ => layout::interleave(images, inputs, &mut arranged.quads),
        }
    }

    /// Minus the sums of weights times bytes, as [`scalar::deficits`].
    pub(crate) fn deficits<const IMAGES: usize>(self, weights: &ByteWeights, images: &Images<IMAGES>, counts: &mut [Counts]) {
        let Images { totals, quads, .. } = images;
        match (self.0, weights) {
            // SAFETY: as in `mismatches`.
            #[cfg(target_arch = "x86_64")]
            (Kind::Avx512, ByteWeights::Indices(panels)) => unsafe { avx512::deficits(panels, &images.tables, totals, counts) },
            #[cfg(target_arch = "x86_64")]
            (Kind::Avx2, ByteWeights::Quads(panels)) => unsafe { avx2::deficits(panels, quads, totals, counts) },
            #[cfg(target_arch = "aarch64")]
            (Kind::Neon, ByteWeights::Quads(panels)) => unsafe { neon::deficits(panels, quads, totals, counts) },
            (Kind::Scalar, ByteWeights::Quads(panels)) => scalar::deficits(panels, quads, totals, counts),
            #[cfg(target_arch = "x86_64")]
            _ => unreachable!("laid out for another instruction set"),
        }
    }

    /// Turns counts into spins, as [`scalar::compare`].
    pub(crate) fn compare<const IMAGES: usize>(self, counts: &[Counts], limits: &[Counts], spins: &mut [[u32; IMAGES]]) {
        match self.0 {
            // SAFETY: as in `mismatches`.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => unsafe { avx512::compare(counts, limits, spins) },
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => unsafe { avx2::compare(counts, limits, spins) },
            #[cfg(target_arch = "aarch64")]
            Kind::Neon => unsafe { neon::compare(counts, limits, spins) },
            Kind::Scalar => scalar::compare(counts, limits, spins),
        }
    }
}

/// Weights for bytes, as an instruction set has them.
pub(crate) enum ByteWeights {
    Quads(BytePanels),
    #[cfg(target_arch = "x86_64")]
    Indices(IndexPanels),
}

impl ByteWeights {
    /// Groups of 16 neurons in all panels.
    pub fn groups(&self) -> usize {
        match self {
            Self::Quads(panels) => panels.groups,
            #[cfg(target_arch = "x86_64")]
            Self::Indices(panels) => panels.groups,
        }
    }
}

/// Images side by side, as an instruction set has them.
#[derive(Clone)]
pub(crate) struct Images<const IMAGES: usize> {
    /// The sum of an image's bytes.
    totals: [i32; IMAGES],
    /// Four bytes of each image, then the next four.
    quads: Vec<[u32; IMAGES]>,
    #[cfg(target_arch = "x86_64")]
    tables: Vec<avx512::Tables<IMAGES>>,
}

impl<const IMAGES: usize> Default for Images<IMAGES> {
    fn default() -> Self {
        Self {
            totals: [0; IMAGES],
            quads: Vec::new(),
            #[cfg(target_arch = "x86_64")]
            tables: Vec::new(),
        }
    }
}

/// What a kernel keeps between calls, so that it need not reserve memory.
#[derive(Clone, Default)]
pub(crate) struct Scratch<const IMAGES: usize> {
    #[cfg(target_arch = "x86_64")]
    tables: Vec<[avx2::Tables; IMAGES]>,
}
