//! Zeroed memory for the kernels, aligned to cache lines.

pub use isinglass_simd::{Arena, Buffer};
