//! Zeroed memory for the kernels, aligned to cache lines.

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc, handle_alloc_error};
use std::ops::{Deref, DerefMut};

/// Cache lines, so that no vector straddles two.
const ALIGNMENT: usize = 64;
/// Large arrays lie on huge pages where the system has them: rows of means are a page apart, and every row would need its own entry in the page tables' cache.
const HUGE_PAGE: usize = 2 << 20;

/// A fixed number of floats. Kernels of several threads write to different parts of it, through [`Buffer::pointer`].
pub struct Buffer {
    start: *mut f32,
    len: usize,
}

// SAFETY: a buffer owns its memory, as a vector does.
unsafe impl Send for Buffer {}
// SAFETY: shared references only read; those who write through the pointer see to it themselves.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// Zeros.
    pub fn new(len: usize) -> Self {
        if len == 0 {
            return Self { start: std::ptr::null_mut(), len };
        }
        let layout = Self::layout(len);
        // SAFETY: the layout is not empty; a large one is zeroed below, since zeroing it here would already take small pages.
        let start = unsafe { if layout.align() == HUGE_PAGE { alloc(layout) } else { alloc_zeroed(layout) } };
        if start.is_null() {
            handle_alloc_error(layout);
        }
        if layout.align() == HUGE_PAGE {
            ask_for_huge_pages(start, layout.size());
            // SAFETY: so many bytes were allocated.
            unsafe { start.write_bytes(0, layout.size()) };
        }
        Self { start: start.cast(), len }
    }

    fn layout(len: usize) -> Layout {
        let plain = Layout::array::<f32>(len);
        let alignment = if plain.as_ref().is_ok_and(|layout| layout.size() >= HUGE_PAGE) { HUGE_PAGE } else { ALIGNMENT };
        plain.and_then(|layout| layout.align_to(alignment)).expect("a buffer smaller than the address space")
    }

    /// The first float; null if there are none.
    pub fn pointer(&self) -> *mut f32 {
        self.start
    }
}

#[cfg(target_os = "linux")]
fn ask_for_huge_pages(start: *mut u8, bytes: usize) {
    // SAFETY: the range is ours; the advice changes nothing but speed, so that a refusal can be ignored.
    unsafe { libc::madvise(start.cast(), bytes, libc::MADV_HUGEPAGE) };
}

#[cfg(not(target_os = "linux"))]
fn ask_for_huge_pages(_: *mut u8, _: usize) {}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.len > 0 {
            // SAFETY: allocated in `new` with this layout.
            unsafe { dealloc(self.start.cast(), Self::layout(self.len)) };
        }
    }
}

impl Deref for Buffer {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        // SAFETY: `len` floats were allocated and zeroed.
        if self.len == 0 { &[] } else { unsafe { std::slice::from_raw_parts(self.start, self.len) } }
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [f32] {
        // SAFETY: `len` floats were allocated and zeroed, and we are borrowed alone.
        if self.len == 0 { &mut [] } else { unsafe { std::slice::from_raw_parts_mut(self.start, self.len) } }
    }
}
