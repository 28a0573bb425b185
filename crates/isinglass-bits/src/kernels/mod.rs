//! Products of ±1 weights with spins and with bytes, on every instruction set.
//!
//! A neuron's sum over `N` spins is `N − 2·(number of inputs that differ from their weights)`, and over bytes `2·(sum of the bytes whose weight is +1) − (sum of all)`. All kernels count what the sum lacks of the
//! largest, so that a neuron is +1 where its count is at most a limit.
//!
//! The kernels are safe code except for single loads and stores on arrays of the right length, without index or pointer arithmetic.

mod compare;
mod layout;
mod scalar;

#[cfg(target_arch = "x86_64")]
pub(crate) mod amx;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;

#[cfg(test)]
mod tests;

use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;

#[cfg(target_arch = "aarch64")]
use isinglass_simd::Neon;
use isinglass_simd::Scalar;
#[cfg(target_arch = "x86_64")]
use isinglass_simd::{Amx, Avx2, Avx512, IceLake};

pub(crate) use layout::{Counts, GROUP, SpinPanels, interleave, limits_of_bytes, limits_of_spins, words_of};

use compare::{Carry, Compare};
use layout::BytePanels;
#[cfg(target_arch = "x86_64")]
use layout::IndexPanels;

use crate::{BitMatrix, Error};

/// An instruction set that this machine has.
///
/// `avx512` needs more here than for vectors of floats: VBMI, VNNI and VPOPCNTDQ (Ice Lake, Zen 4, and later). On a machine without them, `ISINGLASS_SIMD=avx512` means `avx2` here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Isa(Kind);

/// The sets, with the tokens that prove them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    #[cfg(target_arch = "x86_64")]
    Amx(Amx),
    #[cfg(target_arch = "x86_64")]
    Avx512(IceLake),
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    #[cfg(target_arch = "aarch64")]
    Neon(Neon),
    Scalar(Scalar),
}

impl Isa {
    /// The sets of this machine, the fastest first. Without the standard library, those that the program is compiled for.
    pub fn available() -> Vec<Self> {
        let mut sets: Vec<Self> = isinglass_simd::Isa::available().into_iter().map(Self::of).collect();
        sets.dedup();
        sets
    }

    /// The set that the environment variable `ISINGLASS_SIMD` names; if it is not set, or without the standard library, the fastest.
    ///
    /// # Errors
    ///
    /// [`Error::Isa`] if the machine does not have the set that the variable names.
    pub fn chosen() -> Result<Self, Error> {
        isinglass_simd::Isa::chosen().map(Self::of).map_err(|error| Error::Isa(error.to_string()))
    }

    /// As [`Isa::chosen`].
    ///
    /// # Panics
    ///
    /// If the machine does not have the set that `ISINGLASS_SIMD` names.
    pub fn best() -> Self {
        Self::chosen().unwrap_or_else(|error| panic!("{error}"))
    }

    /// The set called `amx`, `avx512`, `avx2`, `neon` or `scalar`.
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

    /// The set for products of bits on a machine that has a set for floats.
    fn of(isa: isinglass_simd::Isa) -> Self {
        match isa {
            #[cfg(target_arch = "x86_64")]
            isinglass_simd::Isa::Amx(token) => Self(Kind::Amx(token)),
            #[cfg(target_arch = "x86_64")]
            isinglass_simd::Isa::Avx512(token) => Self::of_avx512(token, IceLake::detect()),
            #[cfg(target_arch = "x86_64")]
            isinglass_simd::Isa::Avx2(token) => Self(Kind::Avx2(token)),
            #[cfg(target_arch = "aarch64")]
            isinglass_simd::Isa::Neon(token) => Self(Kind::Neon(token)),
            _ => Self(Kind::Scalar(Scalar)),
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn of_avx512(token: Avx512, extended: Option<IceLake>) -> Self {
        Self(extended.map_or(Kind::Avx2(token.into()), Kind::Avx512))
    }

    /// The set for vectors of 16 numbers.
    fn lanes(self) -> isinglass_simd::Isa {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Kind::Amx(token) => isinglass_simd::Isa::Amx(token),
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512(token) => isinglass_simd::Isa::Avx512(token.avx512()),
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2(token) => isinglass_simd::Isa::Avx2(token),
            #[cfg(target_arch = "aarch64")]
            Kind::Neon(token) => isinglass_simd::Isa::Neon(token),
            Kind::Scalar(token) => isinglass_simd::Isa::Scalar(token),
        }
    }

    /// The token for products of tiles, if this set has them.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn tiles(self) -> Option<Amx> {
        match self.0 {
            Kind::Amx(token) => Some(token),
            _ => None,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Kind::Amx(_) => "amx",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512(_) => "avx512",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2(_) => "avx2",
            #[cfg(target_arch = "aarch64")]
            Kind::Neon(_) => "neon",
            Kind::Scalar(_) => "scalar",
        }
    }

    /// Lays weights out for [`Isa::mismatches`].
    pub(crate) fn spin_panels(self, matrix: &BitMatrix) -> SpinPanels {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2(_) => SpinPanels::new(matrix, 32, 1),
            _ => SpinPanels::new(matrix, GROUP, 4),
        }
    }

    /// How many inputs differ from the weights, as [`scalar::mismatches`]. `scratch` is for the kernel to use.
    pub(crate) fn mismatches<const IMAGES: usize>(
        self,
        panels: &SpinPanels,
        inputs: &[[u32; IMAGES]],
        counts: &mut [Counts],
        scratch: &mut Scratch,
    ) {
        match self.0 {
            // SAFETY: the token proves that the machine has the instructions; here and below.
            #[cfg(target_arch = "x86_64")]
            Kind::Amx(_) | Kind::Avx512(_) => unsafe { avx512::mismatches(panels, inputs, counts) },
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2(_) => unsafe { avx2::mismatches(panels, inputs, counts, &mut scratch.tables) },
            #[cfg(target_arch = "aarch64")]
            Kind::Neon(_) => unsafe { neon::mismatches(panels, inputs, counts) },
            Kind::Scalar(_) => scalar::mismatches(panels, inputs, counts),
        }
        // Only AVX2 has a use for it.
        let _ = scratch;
    }

    /// The neurons of a layer on spins: [`Isa::mismatches`], then [`Isa::compare`]. `counts` and `scratch` are for the kernels to use.
    pub(crate) fn neurons<const IMAGES: usize>(
        self,
        (panels, limits): (&SpinPanels, &[Counts]),
        inputs: &[[u32; IMAGES]],
        counts: &mut [Counts],
        spins: &mut [[u32; IMAGES]],
        scratch: &mut Scratch,
    ) {
        match self.0 {
            // SAFETY: as in `mismatches`.
            #[cfg(target_arch = "x86_64")]
            Kind::Amx(_) | Kind::Avx512(_) => unsafe { avx512::neurons(panels, inputs, limits, spins) },
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2(_) if avx2::fits(inputs) => unsafe { avx2::neurons(panels, inputs, limits, spins, &mut scratch.tables) },
            _ => {
                self.mismatches(panels, inputs, counts, scratch);
                self.compare(&counts[..limits.len() * IMAGES], limits, spins);
            }
        }
    }

    /// Lays weights out for [`Isa::deficits`].
    pub(crate) fn byte_panels(self, matrix: &BitMatrix) -> ByteWeights {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Kind::Amx(_) | Kind::Avx512(_) => ByteWeights::Indices(IndexPanels::new(matrix)),
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2(_) => ByteWeights::Spins(self.spin_panels(matrix)),
            _ => ByteWeights::Quads(BytePanels::new(matrix)),
        }
    }

    /// Lays images of `inputs` bytes out for [`Isa::deficits`].
    pub(crate) fn arrange<const IMAGES: usize>(self, images: &[u8], inputs: usize, arranged: &mut Images<IMAGES>) {
        for (total, bytes) in arranged.totals.iter_mut().zip(images.chunks_exact(inputs)) {
            *total = bytes.iter().map(|&byte| i32::from(byte)).sum();
        }
        match self.0 {
            // SAFETY: as in `mismatches`.
            #[cfg(target_arch = "x86_64")]
            Kind::Amx(_) | Kind::Avx512(_) => unsafe { arranged.sixes.arrange(images, inputs) },
            _ => {
                layout::interleave(images, inputs, &mut arranged.quads);
                layout::leave_out_zeros(&mut arranged.quads, self.quads_per_place(), &mut arranged.places);
            }
        }
    }

    /// Quads of bytes that are left out together.
    fn quads_per_place(self) -> usize {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2(_) => 2,
            _ => 1,
        }
    }

    /// Minus the sums of weights times bytes, as [`scalar::deficits`]. `scratch` is for the kernel to use.
    pub(crate) fn deficits<const IMAGES: usize>(
        self,
        weights: &ByteWeights,
        images: &Images<IMAGES>,
        counts: &mut [Counts],
        scratch: &mut Scratch,
    ) {
        let Images { totals, .. } = images;
        let quads = Quads { places: &images.places, values: &images.quads };
        match (self.0, weights) {
            // SAFETY: as in `mismatches`.
            #[cfg(target_arch = "x86_64")]
            (Kind::Amx(_) | Kind::Avx512(_), ByteWeights::Indices(panels)) => unsafe {
                avx512::deficits(panels, &images.sixes, totals, counts, &mut scratch.sums);
            },
            #[cfg(target_arch = "x86_64")]
            (Kind::Avx2(_), ByteWeights::Spins(panels)) => unsafe {
                avx2::deficits(panels, quads, totals, counts, &mut scratch.tables);
            },
            #[cfg(target_arch = "aarch64")]
            (Kind::Neon(_), ByteWeights::Quads(panels)) => unsafe { neon::deficits(panels, quads, totals, counts) },
            (Kind::Scalar(_), ByteWeights::Quads(panels)) => scalar::deficits(panels, quads, totals, counts),
            #[cfg(target_arch = "x86_64")]
            _ => unreachable!("laid out for another instruction set"),
        }
        // Only x86-64 has a use for it.
        let _ = scratch;
    }

    /// Turns counts, `[group][image]`, into spins: +1 where they are at most the limits. 32 spins of every image, then the next.
    pub(crate) fn compare<const IMAGES: usize>(self, counts: &[Counts], limits: &[Counts], spins: &mut [[u32; IMAGES]]) {
        self.lanes().run(Compare { counts, limits, spins });
    }

    /// Adds the counts that the layer before carries to those of a layer.
    pub(crate) fn carry(self, counts: &mut [Counts], carried: &[Counts]) {
        self.lanes().run(Carry { counts, carried });
    }
}

/// Weights for bytes, as an instruction set has them.
pub(crate) enum ByteWeights {
    Quads(BytePanels),
    #[cfg(target_arch = "x86_64")]
    Spins(SpinPanels),
    #[cfg(target_arch = "x86_64")]
    Indices(IndexPanels),
}

impl ByteWeights {
    /// Groups of 16 neurons in all panels.
    pub fn groups(&self) -> usize {
        match self {
            Self::Quads(panels) => panels.groups,
            #[cfg(target_arch = "x86_64")]
            Self::Spins(panels) => panels.groups,
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
    /// Four bytes of each image, then the next four, but for those that are 0 in all images.
    quads: Vec<[u32; IMAGES]>,
    /// Where they are in an image.
    places: Vec<u32>,
    #[cfg(target_arch = "x86_64")]
    sixes: avx512::Sixes,
}

impl<const IMAGES: usize> Default for Images<IMAGES> {
    fn default() -> Self {
        Self {
            totals: [0; IMAGES],
            quads: Vec::new(),
            places: Vec::new(),
            #[cfg(target_arch = "x86_64")]
            sixes: avx512::Sixes::default(),
        }
    }
}

/// Quads of bytes of images side by side, and where they are in an image. All others are 0.
#[derive(Clone, Copy)]
pub(crate) struct Quads<'a, const IMAGES: usize> {
    pub places: &'a [u32],
    pub values: &'a [[u32; IMAGES]],
}

#[cfg(target_arch = "aarch64")]
impl<'a, const IMAGES: usize> Quads<'a, IMAGES> {
    /// Parts of `count` quads.
    fn parts(self, count: usize) -> impl Iterator<Item = Self> {
        self.places.chunks(count).zip(self.values.chunks(count)).map(|(places, values)| Self { places, values })
    }
}

/// What a kernel keeps between calls, so that it allocates nothing.
#[derive(Clone, Default)]
pub(crate) struct Scratch {
    #[cfg(target_arch = "x86_64")]
    tables: Vec<avx2::Tables>,
    #[cfg(target_arch = "x86_64")]
    sums: Vec<avx512::Table>,
}
