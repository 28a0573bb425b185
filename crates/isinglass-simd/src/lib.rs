//! Vectors of 16 numbers, on every machine.
//!
//! - [`Isa`] is an instruction set that the machine has. It finds out which these are, and reads the environment variable `ISINGLASS_SIMD`.
//! - [`Lanes`] is what a vector of 16 floats can do. Its implementations are *tokens*: values of no size that exist only where their instructions do, so that their methods are safe.
//! - [`Kernel`] is code written once for all of them. [`Isa::run`] compiles it for each set and runs it on one.
//! - [`Aligned`] is zeroed memory that begins at a cache line; in an [`Arena`], many arrays share huge pages.
//!
//! | set | a vector of 16 floats | needs |
//! |---|---|---|
//! | `amx` | 1 register | `avx512`, and AMX with bytes, for programs that multiply tiles of bytes |
//! | `avx512` | 1 register | AVX-512 F, BW, DQ and VL; AVX2; FMA |
//! | `avx2` | 2 registers | AVX2 and FMA |
//! | `neon` | 4 registers | NEON on 64-bit ARM |
//! | `scalar` | an array | nothing |
//!
//! ```
//! use isinglass_simd::{Isa, Kernel, LANES, Lanes};
//!
//! /// `x ← 1 + x/2`.
//! struct Affine<'a>(&'a mut [f32; LANES]);
//!
//! impl Kernel for Affine<'_> {
//!     type Output = ();
//!
//!     #[inline(always)]
//!     fn run<L: Lanes, const ROWS: usize, const VECTORS: usize>(self, l: L) {
//!         let x = l.read(self.0);
//!         l.write(self.0, l.fma(x, l.splat(0.5), l.splat(1.0)));
//!     }
//! }
//!
//! for isa in Isa::available() {
//!     let mut x = [3.0; LANES];
//!     isa.run(Affine(&mut x));
//!     assert_eq!(x, [2.5; LANES]);
//! }
//! ```
//!
//! The crate needs `alloc` only. The feature `std`, on by default, detects instruction sets at run time.

#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

#[cfg(all(target_arch = "x86_64", feature = "std"))]
macro_rules! has {
    ($($feature:tt),*) => { $(std::arch::is_x86_feature_detected!($feature))&&* };
}
#[cfg(all(target_arch = "aarch64", feature = "std"))]
macro_rules! has {
    ($($feature:tt),*) => { $(std::arch::is_aarch64_feature_detected!($feature))&&* };
}
#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(feature = "std")))]
macro_rules! has {
    ($($feature:tt),*) => { $(cfg!(target_feature = $feature))&&* };
}

/// Safe methods of a token, each an expression that calls instructions of its set but does not touch memory.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! instructions {
    ($(fn $name:ident$(<const $constant:ident: i32>)?($($argument:ident: $type:ty),*) -> $result:ty { $body:expr })*) => {$(
        #[inline(always)]
        fn $name$(<const $constant: i32>)?(self, $($argument: $type),*) -> $result {
            // SAFETY: a token exists only where its instructions were detected, and the expression touches no memory.
            unsafe { $body }
        }
    )*};
}

mod aligned;
#[cfg(target_arch = "x86_64")]
mod amx;
mod arena;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod isa;
mod lanes;
#[cfg(target_arch = "aarch64")]
mod neon;
mod scalar;

pub use aligned::{Aligned, Buffer};
#[cfg(target_arch = "x86_64")]
pub use amx::Amx;
pub use arena::Arena;
#[cfg(target_arch = "x86_64")]
pub use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub use avx512::{Avx512, IceLake};
pub use isa::{Error, Isa, VARIABLE};
pub use lanes::{Kernel, LANES, Lanes};
#[cfg(target_arch = "aarch64")]
pub use neon::Neon;
pub use scalar::Scalar;
