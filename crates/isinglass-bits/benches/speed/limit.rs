//! What this machine could do at most: counting bits on registers alone.

use std::hint::black_box;
use std::time::Instant;

use isinglass_bits::Isa;

/// A loop of independent counts, and the products that one turn could count.
pub struct Limit {
    turn: fn(usize),
    products: usize,
}

/// Independent counts in flight; a count takes three cycles.
const CHAINS: usize = 12;

impl Limit {
    /// `vpopcntd` for AVX-512, with AMX or without, `vpshufb` for AVX2 (32 look-ups of four bits), `popcnt` otherwise; none without such an instruction.
    pub fn new(isa: Isa) -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        {
            // SAFETY: an `Isa` exists only where the machine has its instructions, and `popcnt` is detected.
            match isa.name() {
                "amx" | "avx512" => return Some(Self { turn: |turns| unsafe { x86::avx512(turns) }, products: 512 * CHAINS }),
                "avx2" => return Some(Self { turn: |turns| unsafe { x86::avx2(turns) }, products: 128 * CHAINS }),
                _ if is_x86_feature_detected!("popcnt") => {
                    return Some(Self { turn: |turns| unsafe { x86::scalar(turns) }, products: 64 * CHAINS });
                }
                _ => {}
            }
        }
        let _ = isa;
        None
    }

    /// Products per second of one thread: the most of several slices of `seconds` each.
    pub fn measure(&self, seconds: f64, slices: usize) -> f64 {
        let run = |turns: usize| {
            let start = Instant::now();
            (self.turn)(turns);
            (turns * self.products) as f64 / start.elapsed().as_secs_f64()
        };
        let turns = (seconds * run(10_000) / self.products as f64) as usize;
        (0..slices).map(|_| run(turns)).fold(0.0, f64::max)
    }
}

/// Cycles per second: a multiplication waits three cycles for the one before it on every x86-64 and most other processors of the last decade.
pub fn clock() -> f64 {
    const TURNS: usize = 300_000;
    let run = || {
        let start = Instant::now();
        let mut x = black_box(3_u64);
        for _ in 0..TURNS {
            x = x.wrapping_mul(x);
        }
        black_box(x);
        3.0 * TURNS as f64 / start.elapsed().as_secs_f64()
    };
    (0..5).map(|_| run()).fold(0.0, f64::max)
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;
    use std::hint::black_box;

    use super::CHAINS;

    #[target_feature(enable = "avx512f,avx512vpopcntdq")]
    pub fn avx512(turns: usize) {
        let mut counts = [_mm512_set1_epi32(black_box(-1)); CHAINS];
        for _ in 0..turns {
            for count in &mut counts {
                *count = _mm512_popcnt_epi32(*count);
            }
        }
        black_box(counts);
    }

    #[target_feature(enable = "avx2")]
    pub fn avx2(turns: usize) {
        let table = _mm256_set1_epi8(black_box(3));
        let mut counts = [_mm256_set1_epi8(black_box(1)); CHAINS];
        for _ in 0..turns {
            for count in &mut counts {
                *count = _mm256_shuffle_epi8(table, *count);
            }
        }
        black_box(counts);
    }

    #[target_feature(enable = "popcnt")]
    pub fn scalar(turns: usize) {
        let mut counts = [black_box(u64::MAX); CHAINS];
        for _ in 0..turns {
            for count in &mut counts {
                *count = _popcnt64(*count as i64) as u64;
            }
        }
        black_box(counts);
    }
}
