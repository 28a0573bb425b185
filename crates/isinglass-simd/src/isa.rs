//! Which instruction sets the machine has, and which one is used.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

#[cfg(target_arch = "aarch64")]
use crate::Neon;
#[cfg(target_arch = "x86_64")]
use crate::{Amx, Avx2, Avx512};
use crate::{Kernel, Scalar};

/// The environment variable that names the instruction set to use.
pub const VARIABLE: &str = "ISINGLASS_SIMD";

/// An instruction set that this machine, or this build, does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A program asked for it.
    #[error("instruction set {name}: this machine has {}", .available.join(", "))]
    Unavailable {
        /// The name given.
        name: String,
        /// The names of those available, the fastest first.
        available: Vec<&'static str>,
    },
    /// The environment variable `ISINGLASS_SIMD` names it.
    #[error("{VARIABLE} = {name}: this machine has {}", .available.join(", "))]
    Environment {
        /// The name given.
        name: String,
        /// The names of those available, the fastest first.
        available: Vec<&'static str>,
    },
}

/// An instruction set that this machine has: each value holds the token that proves it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Isa {
    /// `amx`: vectors are those of `avx512`, and there are products of tiles of bytes.
    #[cfg(target_arch = "x86_64")]
    Amx(Amx),
    /// `avx512`.
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
    /// `avx2`.
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    /// `neon`.
    #[cfg(target_arch = "aarch64")]
    Neon(Neon),
    /// `scalar`.
    Scalar(Scalar),
}

impl Isa {
    /// The sets of this machine, the fastest first. Without the standard library, those that the program is compiled for.
    pub fn available() -> Vec<Self> {
        let mut sets = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            sets.extend(Amx::detect().map(Self::Amx));
            sets.extend(Avx512::detect().map(Self::Avx512));
            sets.extend(Avx2::detect().map(Self::Avx2));
        }
        #[cfg(target_arch = "aarch64")]
        sets.extend(Neon::detect().map(Self::Neon));
        sets.push(Self::Scalar(Scalar));
        sets
    }

    /// The set that the environment variable `ISINGLASS_SIMD` names; if it is not set, or without the standard library, the fastest.
    ///
    /// # Errors
    ///
    /// [`Error::Environment`] if the machine does not have the set that the variable names.
    pub fn chosen() -> Result<Self, Error> {
        #[cfg(feature = "std")]
        if let Some(name) = std::env::var_os(VARIABLE) {
            return Self::from_variable(&name.to_string_lossy());
        }
        Ok(Self::available()[0])
    }

    /// What `ISINGLASS_SIMD=name` chooses.
    #[cfg(feature = "std")]
    fn from_variable(name: &str) -> Result<Self, Error> {
        Self::find(name).ok_or_else(|| Error::Environment { name: name.to_string(), available: Self::names() })
    }

    /// The set called `amx`, `avx512`, `avx2`, `neon` or `scalar`.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] if the machine does not have it.
    pub fn named(name: &str) -> Result<Self, Error> {
        Self::find(name).ok_or_else(|| Error::Unavailable { name: name.to_string(), available: Self::names() })
    }

    fn find(name: &str) -> Option<Self> {
        Self::available().into_iter().find(|isa| isa.name() == name)
    }

    /// The names of the sets of this machine, the fastest first.
    pub fn names() -> Vec<&'static str> {
        Self::available().into_iter().map(Self::name).collect()
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Amx(_) => "amx",
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(_) => "avx512",
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(_) => "avx2",
            #[cfg(target_arch = "aarch64")]
            Self::Neon(_) => "neon",
            Self::Scalar(_) => "scalar",
        }
    }

    /// The set whose vectors this one has: `avx512` for `amx`, otherwise itself.
    pub fn of_vectors(self) -> Self {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Amx(token) => Self::Avx512(token.avx512()),
            other => other,
        }
    }

    /// Runs a kernel compiled for this set.
    #[inline]
    pub fn run<K: Kernel>(self, kernel: K) -> K::Output {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Amx(token) => token.avx512().run(kernel),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(token) => token.run(kernel),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(token) => token.run(kernel),
            #[cfg(target_arch = "aarch64")]
            Self::Neon(token) => token.run(kernel),
            Self::Scalar(token) => token.run(kernel),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kernel, LANES, Lanes};

    #[test]
    fn names_lead_back_to_their_sets() {
        for isa in Isa::available() {
            assert_eq!(Isa::named(isa.name()), Ok(isa));
        }
        assert_eq!(Isa::names().last(), Some(&"scalar"));
    }

    #[test]
    fn vectors_of_every_set_are_those_of_one_that_the_machine_has() {
        for isa in Isa::available() {
            let expected = if isa.name() == "amx" { "avx512" } else { isa.name() };
            assert_eq!(isa.of_vectors().name(), expected);
            assert!(Isa::available().contains(&isa.of_vectors()));
        }
    }

    #[test]
    fn unknown_names_are_errors_that_list_the_sets_of_the_machine() {
        let list = Isa::names().join(", ");
        for name in ["sse9", "", "AVX2", "scalar "] {
            assert_eq!(Isa::named(name).unwrap_err().to_string(), alloc::format!("instruction set {name}: this machine has {list}"));
        }
        #[cfg(feature = "std")]
        assert_eq!(Isa::from_variable("sse9").unwrap_err().to_string(), alloc::format!("ISINGLASS_SIMD = sse9: this machine has {list}"));
    }

    struct Transpose<'a>(&'a [[f32; LANES]; LANES], &'a mut [[f32; LANES]; LANES]);

    impl Kernel for Transpose<'_> {
        type Output = ();

        #[inline(always)]
        fn run<L: Lanes, const ROWS: usize, const VECTORS: usize>(self, l: L) {
            l.transpose(self.0.each_ref(), self.1);
        }
    }

    #[test]
    fn rows_become_columns_with_every_set() {
        let from: [[f32; LANES]; LANES] = core::array::from_fn(|row| core::array::from_fn(|column| (100 * row + column) as f32));
        for isa in Isa::available() {
            let mut to = [[f32::NAN; LANES]; LANES];
            isa.of_vectors().run(Transpose(&from, &mut to));
            for (column, rows) in to.iter().enumerate() {
                for (row, &x) in rows.iter().enumerate() {
                    assert_eq!(x, (100 * row + column) as f32, "{}: row {row}, column {column}", isa.name());
                }
            }
        }
    }
}
