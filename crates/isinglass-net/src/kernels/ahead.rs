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

/// The lines of a region, one by one.
#[derive(Clone, Copy)]
struct Walk {
    /// What is left, from the current row on.
    left: Region,
    /// The next line of that row.
    at: usize,
}

impl Walk {
    #[inline(always)]
    fn new(region: Region) -> Self {
        Self { left: region, at: 0 }
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
///
/// What is asked for is decided beforehand, so that a request costs next to nothing where nothing is left: there are many.
pub struct Ahead {
    read: Walk,
    write: Walk,
    /// Regions to write after the current one; those before `next` are done.
    writes: [Region; MAX_OUTPUTS],
    next: usize,
    /// Lines at a time.
    reads_at_once: usize,
    writes_at_once: usize,
}

impl Ahead {
    /// Prepares to ask for what will be written, in `requests` requests.
    #[inline(always)]
    pub fn to_write(outputs: [Region; MAX_OUTPUTS], requests: usize) -> Self {
        let nothing = Walk::new(Region::NOTHING);
        let lines: usize = outputs.iter().map(Region::lines).sum();
        Self { read: nothing, write: nothing, writes: outputs, next: 0, reads_at_once: 0, writes_at_once: lines.div_ceil(requests.max(1)) }
    }

    /// Prepares to ask for what will be read, in the next `requests` requests.
    #[inline(always)]
    pub fn read_next(&mut self, region: Region, requests: usize) {
        self.read = Walk::new(region);
        self.reads_at_once = region.lines().div_ceil(requests.max(1));
    }

    /// Asks for the next lines.
    #[inline(always)]
    pub fn ask<L: Lanes>(&mut self, l: L) {
        for _ in 0..self.reads_at_once {
            let Some(line) = self.read.line() else { break };
            l.prefetch(line);
        }
        for _ in 0..self.writes_at_once {
            let Some(line) = self.line_to_write() else { break };
            l.prefetch_to_write(line);
        }
    }

    #[inline(always)]
    fn line_to_write(&mut self) -> Option<*const f32> {
        while self.write.left.rows == 0 {
            let Some(&region) = self.writes.get(self.next) else {
                self.writes_at_once = 0;
                return None;
            };
            self.next += 1;
            self.write = Walk::new(region);
        }
        self.write.line()
    }
}
