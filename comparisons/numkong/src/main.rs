//! `cargo run --release` in this directory: packed products of isinglass-bits in turns with those of NumKong, on the same instructions.
//!
//! Both multiply a batch of packed rows with a packed matrix into 32-bit integers: ours into sums of ±1, theirs into Hamming distances, and for the least work that NumKong could do
//! also into the counts of common ones (`dots`), from which distances follow by a second pass. Results are compared first. Times are the best of a few short slices, ratios medians
//! over rounds of a round's own ratio.

use std::ffi::c_void;
use std::time::Instant;

use isinglass_bits::{BitMatrix, Isa, PackedLayer, Products};
// NumKong's own interface takes the best kernel of the machine, so kernels are asked for by capability; the crate brings the library.
use numkong as _;

/// Constants of NumKong's `capabilities.h` and `types.h`.
mod kind {
    pub const PACKED_SIZE: u32 = b'P' as u32;
    pub const PACK: u32 = b'Q' as u32;
    pub const DOTS: u32 = b'G' as u32;
    pub const HAMMINGS: u32 = b'M' as u32;
}
const U1: u32 = 1 << 1;
const HASWELL: u64 = 1 << 2;
const ICE_LAKE: u64 = 1 << 7;

type Kernel = Option<unsafe extern "C" fn()>;
type PackedSize = unsafe extern "C" fn(usize, usize) -> usize;
type Pack = unsafe extern "C" fn(*const u8, usize, usize, usize, *mut c_void);
type Packed = unsafe extern "C" fn(*const u8, *const c_void, *mut u32, usize, usize, usize, usize, usize);

unsafe extern "C" {
    fn nk_find_kernel_punned(kind: u32, dtype: u32, viable: u64, kernel: *mut Kernel, capability: *mut u64);
}

fn kernel(kind: u32, capability: u64) -> unsafe extern "C" fn() {
    let (mut kernel, mut found) = (None, 0);
    // SAFETY: the declaration is that of NumKong's header, and both results have their place.
    unsafe { nk_find_kernel_punned(kind, U1, capability, &mut kernel, &mut found) };
    assert_eq!(found, capability, "NumKong was built with this kernel");
    kernel.expect("a kernel")
}

/// NumKong's matrix, packed for one of its kernels.
struct Theirs {
    packed: Vec<u64>,
    dots: Packed,
    hammings: Packed,
    rows: usize,
    columns: usize,
}

impl Theirs {
    fn new(matrix: &BitMatrix, capability: u64) -> Self {
        let (rows, columns) = (matrix.rows(), matrix.columns());
        // SAFETY: the kernels of these kinds have these types; the packed matrix is as large as they ask.
        unsafe {
            let size = std::mem::transmute::<unsafe extern "C" fn(), PackedSize>(kernel(kind::PACKED_SIZE, capability));
            let pack = std::mem::transmute::<unsafe extern "C" fn(), Pack>(kernel(kind::PACK, capability));
            let mut packed = vec![0_u64; size(rows, columns).div_ceil(8)];
            pack(matrix.bytes().as_ptr(), rows, columns, columns / 8, packed.as_mut_ptr().cast());
            let dots = std::mem::transmute::<unsafe extern "C" fn(), Packed>(kernel(kind::DOTS, capability));
            let hammings = std::mem::transmute::<unsafe extern "C" fn(), Packed>(kernel(kind::HAMMINGS, capability));
            Self { packed, dots, hammings, rows, columns }
        }
    }

    fn run(&self, kernel: Packed, inputs: &BitMatrix, result: &mut [u32]) {
        assert_eq!((inputs.columns(), result.len()), (self.columns, inputs.rows() * self.rows));
        let (stride, result_stride) = (self.columns / 8, 4 * self.rows);
        // SAFETY: rows and strides are those of the matrices, and the result has a place for every pair of rows.
        unsafe {
            let packed = self.packed.as_ptr().cast();
            kernel(inputs.bytes().as_ptr(), packed, result.as_mut_ptr(), inputs.rows(), self.rows, self.columns, stride, result_stride);
        }
    }
}

fn main() {
    println!("{:<28} {:>12} {:>12} {:>12} {:>14} {:>12}", "", "ours GMAC/s", "hammings", "dots", "hammings/ours", "dots/ours");
    for (isa, theirs, capability) in [("avx512", "Ice Lake", ICE_LAKE), ("avx2", "Haswell", HASWELL)] {
        let Ok(isa) = Isa::named(isa) else { continue };
        for size in [256, 1024, 4096] {
            compare(isa, theirs, capability, size);
        }
    }
}

fn compare(isa: Isa, name: &str, capability: u64, size: usize) {
    let mut state = 1_u64;
    let mut bit = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        state >> 63 == 1
    };
    let weights = BitMatrix::from_fn(size, size, |_, _| bit());
    let inputs = BitMatrix::from_fn(size, size, |_, _| bit());
    let theirs = Theirs::new(&weights, capability);
    let mut ours = Products::new(&PackedLayer::new(weights, vec![0; size]).expect("as many thresholds as neurons"), isa).expect("a layer");
    let (mut sums, mut distances, mut dots) = (vec![0; size * size], vec![0; size * size], vec![0; size * size]);

    let mut sides: [Box<dyn FnMut()>; 3] = [
        Box::new(|| ours.sums_into(&inputs, &mut sums).expect("sizes that fit")),
        Box::new(|| theirs.run(theirs.hammings, &inputs, &mut distances)),
        Box::new(|| theirs.run(theirs.dots, &inputs, &mut dots)),
    ];
    let large = size > 1024;
    let (rounds, slices) = if large { (9, 1) } else { (25, 8) };
    let counts: Vec<usize> = sides.iter_mut().map(|side| (0.002 / seconds(side, 1, 3)) as usize + 1).collect();
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..rounds {
        for ((side, &count), times) in sides.iter_mut().zip(&counts).zip(&mut times) {
            times.push(seconds(side, count, slices) / count as f64);
        }
    }
    drop(sides);
    let agree = sums.iter().zip(&distances).all(|(&sum, &distance)| sum == size as i32 - 2 * distance as i32);
    assert!(agree, "both sides count the same");
    let products = (size * size * size) as f64;
    let speeds = times.each_ref().map(|times| products / median(times.clone()) / 1e9);
    let ratio = |side: usize| median(times[side].iter().zip(&times[0]).map(|(theirs, ours)| theirs / ours).collect());
    let case = format!("{size}³, {} and {name}", isa.name());
    println!("{case:<28} {:>12.0} {:>12.0} {:>12.0} {:>14.2} {:>12.2}", speeds[0], speeds[1], speeds[2], ratio(1), ratio(2));
}

/// Seconds for so many runs, the least of some slices.
fn seconds(run: &mut Box<dyn FnMut() + '_>, count: usize, slices: usize) -> f64 {
    let slice = |_| {
        let start = Instant::now();
        (0..count).for_each(|_| run());
        start.elapsed().as_secs_f64()
    };
    (0..slices).map(slice).fold(f64::INFINITY, f64::min)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
