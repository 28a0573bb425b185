//! How many multiplications and additions the machine can do.

use std::sync::Barrier;
use std::thread;
use std::time::Instant;

/// Fused multiply-adds on registers alone, on all threads at once, in GFLOP/s: the best of a few short runs.
pub fn fma_peak(threads: usize) -> Option<f64> {
    const RUNS: usize = 3;
    const LOOPS: usize = 10_000_000;
    let (kernel, flops_per_loop) = fma_kernel()?;
    let run = || {
        let barrier = Barrier::new(threads);
        let spans: Vec<(Instant, Instant)> = thread::scope(|scope| {
            let measure = || {
                barrier.wait();
                let start = Instant::now();
                kernel(LOOPS);
                (start, Instant::now())
            };
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(measure)).collect();
            workers.into_iter().map(|worker| worker.join().expect("no panic")).collect()
        });
        let start = spans.iter().map(|span| span.0).min()?;
        let end = spans.iter().map(|span| span.1).max()?;
        Some((threads * LOOPS * flops_per_loop) as f64 / (end - start).as_secs_f64() / 1e9)
    };
    (0..RUNS).filter_map(|_| run()).max_by(f64::total_cmp)
}

/// A loop of fused multiply-adds, and the operations of one turn.
#[cfg(target_arch = "x86_64")]
fn fma_kernel() -> Option<(fn(usize), usize)> {
    use std::arch::x86_64::{_mm256_fmadd_ps, _mm256_set1_ps, _mm512_fmadd_ps, _mm512_set1_ps};
    use std::hint::black_box;

    /// Enough to hide the latency of four or five cycles of two units.
    const CHAINS: usize = 12;

    #[target_feature(enable = "avx512f")]
    fn avx512(loops: usize) {
        let (factor, term) = (_mm512_set1_ps(black_box(0.5)), _mm512_set1_ps(black_box(0.5)));
        let mut sums = [_mm512_set1_ps(black_box(1.0)); CHAINS];
        for _ in 0..loops {
            for sum in &mut sums {
                *sum = _mm512_fmadd_ps(*sum, factor, term);
            }
        }
        black_box(sums);
    }

    #[target_feature(enable = "avx2,fma")]
    fn avx2(loops: usize) {
        let (factor, term) = (_mm256_set1_ps(black_box(0.5)), _mm256_set1_ps(black_box(0.5)));
        let mut sums = [_mm256_set1_ps(black_box(1.0)); CHAINS];
        for _ in 0..loops {
            for sum in &mut sums {
                *sum = _mm256_fmadd_ps(*sum, factor, term);
            }
        }
        black_box(sums);
    }

    // Kernels for AVX2 are measured against its peak.
    let narrow = std::env::var_os("ISINGLASS_SIMD").is_some_and(|name| name == "avx2");
    if is_x86_feature_detected!("avx512f") && !narrow {
        // SAFETY: the feature was detected.
        Some((|loops| unsafe { avx512(loops) }, 2 * 16 * CHAINS))
    } else if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        // SAFETY: the features were detected.
        Some((|loops| unsafe { avx2(loops) }, 2 * 8 * CHAINS))
    } else {
        None
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn fma_kernel() -> Option<(fn(usize), usize)> {
    None
}
