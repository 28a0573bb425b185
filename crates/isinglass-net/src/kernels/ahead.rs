//! Memory that will be needed soon, asked for while something is computed.
//!
//! A processor waits when it is asked for more than about a dozen cache lines at once, so lines are asked for a few at a time. Two kinds are worth it:
//!
//! - What will be read comes from main memory: the means of the next block.
//! - What will be written was read by other cores in the last step. A store has to wait until they have given the line up, unless it was asked for as one that will be written
//!   (`docs/speed.md` has the gain).

use isinglass_simd::{LANES, Lanes};

/// Terms of a tile's sums between two requests.
pub const TERMS_PER_REQUEST: usize = 64;

/// `rows` runs of `len` consecutive numbers, `stride` apart.
#[derive(Clone, Copy)]
pub struct Region {
    pub start: *const f32,
    pub len: usize,
    pub stride: usize,
    pub rows: usize,
}

impl Region {
    pub const NOTHING: Self = Self { start: std::ptr::null(), len: 0, stride: 0, rows: 0 };

    /// The region, if `needed`.
    #[inline(always)]
    pub fn when(self, needed: bool) -> Self {
        if needed { self } else { Self::NOTHING }
    }

    fn lines(&self) -> usize {
        self.rows * self.len.div_ceil(LANES)
    }
}

/// The lines of a region, asked for a few at a time.
#[derive(Clone, Copy)]
struct Walk {
    /// What is left, from the current row on.
    left: Region,
    /// The next line of that row.
    at: usize,
    /// Lines at a time.
    share: usize,
}

impl Walk {
    const DONE: Self = Self { left: Region::NOTHING, at: 0, share: 0 };

    /// All of a region, in `requests` requests.
    #[inline(always)]
    fn new(region: Region, requests: usize) -> Self {
        Self { left: region, at: 0, share: region.lines().div_ceil(requests.max(1)) }
    }

    /// The next line, if one is left.
    #[inline(always)]
    fn line(&mut self) -> Option<*const f32> {
        if self.left.rows == 0 {
            return None;
        }
        let line = self.left.start.wrapping_add(self.at);
        self.at += LANES;
        if self.at >= self.left.len {
            self.left.start = self.left.start.wrapping_add(self.left.stride);
            self.left.rows -= 1;
            self.at = 0;
        }
        Some(line)
    }
}

/// Arrays that a kernel writes.
pub const MAX_OUTPUTS: usize = 8;

/// Memory that will be read or written soon, asked for a few cache lines at a time while something is computed.
pub struct Ahead {
    reads: Walk,
    writes: [Walk; MAX_OUTPUTS],
}

impl Ahead {
    /// Prepares to ask for what will be written, in `requests` requests.
    #[inline(always)]
    pub fn to_write(outputs: [Region; MAX_OUTPUTS], requests: usize) -> Self {
        Self { reads: Walk::DONE, writes: outputs.map(|region| Walk::new(region, requests)) }
    }

    /// Prepares to ask for what will be read, in the next `requests` requests.
    #[inline(always)]
    pub fn read_next(&mut self, region: Region, requests: usize) {
        self.reads = Walk::new(region, requests);
    }

    /// Asks for the next lines.
    #[inline(always)]
    pub fn ask<L: Lanes>(&mut self, l: L) {
        for _ in 0..self.reads.share {
            let Some(line) = self.reads.line() else { break };
            l.prefetch(line);
        }
        for writes in &mut self.writes {
            for _ in 0..writes.share {
                let Some(line) = writes.line() else { break };
                l.prefetch_to_write(line);
            }
        }
    }
}
