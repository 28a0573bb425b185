//! Memory for many arrays in one block of huge pages.
//!
//! A processor remembers where about 1500 to 3000 pages lie. At 4 KiB a page that is 6 to 12 MiB, much less than the parameters of a deep network, and every array on a new
//! page costs a search through the page table, in a virtual machine through two. A huge page has 2 MiB. Linux gives them to those who ask, for whole aligned 2 MiB only, so
//! arrays of a layer, which are smaller, share a block.

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use crate::Buffer;
use crate::aligned::LINE;

/// Bytes of a huge page.
const HUGE: usize = 2 << 20;
/// The least memory that is worth huge pages: less is found without them.
const WORTH: usize = 4 << 20;
/// Cache lines between arrays. Were arrays of equal size to follow each other at a multiple of 4 KiB, equal places in them would compete for the same lines of the cache.
const GAP: usize = 5;

/// Zeroed memory that many arrays share.
///
/// An array that finds no room in it has memory of its own, so its size need only be about right. The memory is freed with the last of its arrays.
pub struct Arena {
    block: Option<Arc<Block>>,
    /// Bytes that belong to arrays.
    used: usize,
}

impl Arena {
    /// Room for arrays of `floats` numbers in total.
    pub fn new(floats: usize) -> Self {
        let bytes = floats.saturating_mul(size_of::<f32>());
        Self { block: (bytes >= WORTH).then(|| Arc::new(Block::new(bytes))), used: 0 }
    }

    /// `len` zeros.
    ///
    /// # Panics
    ///
    /// If they do not fit the address space.
    pub fn floats(&mut self, len: usize) -> Buffer {
        let Some(block) = self.block.as_ref().filter(|block| len > 0 && len <= (block.len - self.used) / size_of::<f32>()) else {
            return Buffer::new(len);
        };
        let start = block.start.wrapping_add(self.used).cast();
        let end = (self.used + len * size_of::<f32>()).next_multiple_of(LINE) + GAP * LINE;
        self.used = end.min(block.len);
        // SAFETY: within the block as checked above, at a cache line, zero, and given to nobody before or after.
        unsafe { Buffer::part(Arc::clone(block), start, len) }
    }
}

/// The memory of an arena, in huge pages where the system has them.
pub(crate) struct Block {
    start: *mut u8,
    len: usize,
    _memory: Vec<u8>,
}

// SAFETY: a block only keeps its memory; who may use which part of it is up to the arrays.
unsafe impl Send for Block {}
// SAFETY: see above.
unsafe impl Sync for Block {}

impl Block {
    fn new(bytes: usize) -> Self {
        let len = bytes.next_multiple_of(HUGE);
        // As in `Aligned::new`, zeros come from the system page by page.
        let mut memory = vec![0; len + HUGE];
        let skipped = (memory.as_ptr() as usize).wrapping_neg() % HUGE;
        let start = memory.as_mut_ptr().wrapping_add(skipped);
        ask_for_huge_pages(start, len);
        Self { start, len, _memory: memory }
    }
}

#[cfg(all(target_os = "linux", feature = "std", not(miri)))]
fn ask_for_huge_pages(start: *mut u8, len: usize) {
    // SAFETY: whole pages of memory that is ours. A kernel without huge pages refuses, which is as well.
    unsafe { libc::madvise(start.cast(), len, libc::MADV_HUGEPAGE) };
}

#[cfg(not(all(target_os = "linux", feature = "std", not(miri))))]
fn ask_for_huge_pages(_: *mut u8, _: usize) {}

/// Gives memory that nobody will use again back to the system, as far as it is whole pages: a network that is handed over layer by layer is not in memory twice.
#[cfg(all(target_os = "linux", feature = "std", not(miri)))]
pub(crate) fn give_back(start: *mut u8, bytes: usize) {
    /// No page is smaller; one that is larger refuses unless all of it is given back, which is as well.
    const PAGE: usize = 4096;
    let skipped = (start as usize).wrapping_neg() % PAGE;
    let len = bytes.saturating_sub(skipped) / PAGE * PAGE;
    if len > 0 {
        // SAFETY: whole pages within memory whose only user is gone.
        unsafe { libc::madvise(start.wrapping_add(skipped).cast(), len, libc::MADV_DONTNEED) };
    }
}

#[cfg(not(all(target_os = "linux", feature = "std", not(miri))))]
pub(crate) fn give_back(_: *mut u8, _: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_zeroed_aligned_and_apart() {
        let len = 300_001;
        let mut arena = Arena::new(5 * len);
        let mut arrays: Vec<Buffer> = (0..4).map(|_| arena.floats(len)).collect();
        for (i, array) in arrays.iter_mut().enumerate() {
            assert!(array.iter().all(|&x| x == 0.0) && array.len() == len && (array.pointer() as usize).is_multiple_of(LINE));
            array.fill(i as f32 + 1.0);
        }
        drop(arena);
        for (i, array) in arrays.iter().enumerate() {
            assert!(array.iter().all(|&x| x == i as f32 + 1.0), "{i}");
        }
    }

    #[test]
    fn an_array_that_is_gone_leaves_the_others_alone() {
        let len = 300_001;
        let mut arena = Arena::new(4 * len);
        let mut arrays: Vec<Buffer> = (0..3).map(|_| arena.floats(len)).collect();
        for (i, array) in arrays.iter_mut().enumerate() {
            array.fill(i as f32 + 1.0);
        }
        drop(arrays.remove(1));
        assert!(arrays[0].iter().all(|&x| x == 1.0) && arrays[1].iter().all(|&x| x == 3.0));
        // Its place is not given to another.
        let next = arena.floats(1000);
        assert!(next.iter().all(|&x| x == 0.0) && arrays[1].iter().all(|&x| x == 3.0));
    }

    #[test]
    fn what_does_not_fit_has_its_own_memory() {
        let mut arena = Arena::new(WORTH / 4);
        assert_eq!(arena.floats(WORTH / 4 - 100).len(), WORTH / 4 - 100);
        let used = arena.used;
        let own = arena.floats(WORTH);
        assert_eq!((own.len(), arena.used), (WORTH, used));
        assert!(own.iter().all(|&x| x == 0.0));
        assert!(arena.floats(0).pointer().is_null());
        assert_eq!(Arena::new(16).floats(16).len(), 16);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_block_begins_at_a_huge_page() {
        assert_eq!(Block::new(WORTH).start as usize % HUGE, 0);
    }
}
