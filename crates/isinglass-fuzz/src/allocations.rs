//! How much memory a thread takes.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    // Constant and without a destructor, so that the allocator can use them at any time.
    static TAKEN: Cell<usize> = const { Cell::new(0) };
    static PEAK: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, which also counts for [`peak_of`].
#[derive(Debug)]
pub struct Allocations;

fn count(before: usize, after: usize) {
    // Memory may be freed by a thread that did not take it: the count is then wrong, but never overflows.
    let taken = TAKEN.get().saturating_add(after).saturating_sub(before);
    TAKEN.set(taken);
    PEAK.set(PEAK.get().max(taken));
}

// SAFETY: all work is the system allocator's, with the arguments that were given; counting does not allocate.
unsafe impl GlobalAlloc for Allocations {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(0, layout.size());
        // SAFETY: the caller's contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(0, layout.size());
        // SAFETY: the caller's contract.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(layout.size(), 0);
        // SAFETY: the caller's contract.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // For a moment both may exist.
        count(0, size);
        count(layout.size(), 0);
        // SAFETY: the caller's contract.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// The result of `work`, and the most memory in bytes that it held at one time. 0 unless [`Allocations`] is the program's allocator.
pub fn peak_of<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = TAKEN.get();
    PEAK.set(before);
    let result = work();
    (result, PEAK.get().saturating_sub(before))
}
