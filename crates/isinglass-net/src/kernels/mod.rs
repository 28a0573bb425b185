//! The inner loops: written once, compiled for every instruction set, chosen at run time.
//!
//! This is the only place with SIMD. A kernel works on some rows of one layer (a *chunk*); chunks of different rows never touch the same memory, so any
//! number of threads may work on them.
//!
//! | path | vector | tile | needs |
//! |---|---|---|---|
//! | `avx512` | 1 register | 8 × 32 | AVX-512F |
//! | `avx2` | 2 registers | 6 × 16 | AVX2 and FMA |
//! | `neon` | 4 registers | 6 × 16 | 64-bit ARM |
//! | `scalar` | an array | 4 × 16 | nothing |

#[cfg(target_arch = "aarch64")]
mod arm;
mod backward;
mod forward;
mod lanes;
mod math;
mod product;
mod scalar;
#[cfg(test)]
mod tests;
mod update;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use backward::Backward;
pub use forward::{Activation, Field, Forward, Moments, sum_of_lanes};
pub use lanes::LANES;
pub use update::{Parameter, Rule, Sink, Update};

use lanes::Lanes;
use scalar::Scalar;

/// Most rows of a chunk; a multiple of 16 and of every tile's height.
pub const MAX_ROWS: usize = 96;
/// Inputs that are multiplied while they are in cache.
const BLOCK: usize = 256;
/// From row to row of the copied means: not a power of two, so that rows do not fall into the same places of the cache.
const BLOCK_STRIDE: usize = BLOCK + LANES;

/// A thread's own memory.
pub struct Scratch {
    a1: Vec<f32>,
    a2: Vec<f32>,
    c1: Vec<f32>,
    c2: Vec<f32>,
    row_sums: Vec<f32>,
}

impl Scratch {
    /// For batches of so many panels.
    pub fn new(panels: usize) -> Self {
        // The last tile of a product may read and write a little beyond the last row.
        let a = vec![0.0; MAX_ROWS * BLOCK_STRIDE + MAX_ROWS];
        let c = vec![0.0; (panels + 1) * MAX_ROWS * LANES];
        Self { a1: a.clone(), a2: a, c1: c.clone(), c2: c, row_sums: vec![0.0; MAX_ROWS * LANES] }
    }
}

/// The kernels of one instruction set. All take a layer, the first row of the chunk and the number of its rows.
///
/// # Safety
///
/// See the kernels themselves; that the machine has the instructions is what [`Kernels::all`] makes sure of.
#[derive(Clone, Copy)]
pub struct Kernels {
    /// The path's name.
    pub name: &'static str,
    /// Rows of a tile.
    pub tile_rows: usize,
    pub forward: unsafe fn(&Forward, usize, usize, &mut Scratch),
    pub backward: unsafe fn(&Backward, usize, usize, &mut Scratch),
    pub update: unsafe fn(&Update, usize, usize, &mut Scratch),
    /// `M = tanh(βθ)`: from, to, count (a multiple of 16), `β`.
    pub tanh: unsafe fn(*const f32, *mut f32, usize, f32),
    /// 16 standard normal numbers: counter, key, to.
    pub normal: unsafe fn(u32, [u32; 2], *mut f32),
}

macro_rules! kernels {
    ($name:ident, $lanes:ty, $rows:literal, $panels:literal $(, $features:literal)?) => {
        mod $name {
            use super::*;

            $(#[target_feature(enable = $features)])?
            unsafe fn forward(layer: &Forward, first: usize, rows: usize, scratch: &mut Scratch) {
                // SAFETY: as the caller vouches.
                unsafe { super::forward::forward::<$lanes, $rows, $panels>(layer, first, rows, scratch) }
            }

            $(#[target_feature(enable = $features)])?
            unsafe fn backward(layer: &Backward, first: usize, count: usize, scratch: &mut Scratch) {
                // SAFETY: as the caller vouches.
                unsafe { super::backward::backward::<$lanes, $rows, $panels>(layer, first, count, scratch) }
            }

            $(#[target_feature(enable = $features)])?
            unsafe fn update(layer: &Update, first: usize, rows: usize, scratch: &mut Scratch) {
                // SAFETY: as the caller vouches.
                unsafe { super::update::update::<$lanes, $rows, $panels>(layer, first, rows, scratch) }
            }

            $(#[target_feature(enable = $features)])?
            unsafe fn tanh(from: *const f32, to: *mut f32, count: usize, beta: f32) {
                for i in (0..count).step_by(LANES) {
                    // SAFETY: as the caller vouches.
                    unsafe {
                        let x = <$lanes>::mul(<$lanes>::load(from.add(i)), <$lanes>::splat(beta));
                        <$lanes>::store(to.add(i), super::math::tanh::<$lanes>(x).value);
                    }
                }
            }

            $(#[target_feature(enable = $features)])?
            unsafe fn normal(counter: u32, key: [u32; 2], to: *mut f32) {
                // SAFETY: as the caller vouches.
                unsafe { <$lanes>::store(to, super::math::normal::<$lanes>(counter, key)) }
            }

            pub const KERNELS: Kernels = Kernels { name: stringify!($name), tile_rows: $rows, forward, backward, update, tanh, normal };
        }
    };
}

#[cfg(target_arch = "x86_64")]
kernels!(avx512, super::x86::Avx512, 8, 2, "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma");
#[cfg(target_arch = "x86_64")]
kernels!(avx2, super::x86::Avx2, 6, 1, "avx2,fma");
#[cfg(target_arch = "aarch64")]
kernels!(neon, super::arm::Neon, 6, 1, "neon");
kernels!(scalar_path, Scalar, 4, 1);

impl Kernels {
    /// All that this machine can run, the fastest first.
    pub fn all() -> Vec<Self> {
        let mut all = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            let has_avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
            let has_avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl");
            if has_avx2 && has_avx512 {
                all.push(avx512::KERNELS);
            }
            if has_avx2 {
                all.push(avx2::KERNELS);
            }
        }
        #[cfg(target_arch = "aarch64")]
        all.push(neon::KERNELS);
        all.push(Self { name: "scalar", ..scalar_path::KERNELS });
        all
    }

    /// The names of all that this machine can run, the fastest first.
    pub fn names() -> Vec<&'static str> {
        Self::all().iter().map(|kernels| kernels.name).collect()
    }

    /// The fastest, or the one that the environment variable `ISINGLASS_SIMD` names.
    pub fn choose() -> Self {
        let all = Self::all();
        let wanted = std::env::var("ISINGLASS_SIMD").ok();
        all.iter().find(|kernels| wanted.as_deref() == Some(kernels.name)).copied().unwrap_or(all[0])
    }
}
