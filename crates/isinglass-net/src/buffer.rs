//! Zeroed memory for the kernels, aligned to cache lines.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ops::{Deref, DerefMut};

/// Cache lines, so that no vector straddles two.
const ALIGNMENT: usize = 64;

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
        // SAFETY: the layout is not empty.
        let start = unsafe { alloc_zeroed(Self::layout(len)) }.cast::<f32>();
        if start.is_null() {
            handle_alloc_error(Self::layout(len));
        }
        Self { start, len }
    }

    fn layout(len: usize) -> Layout {
        Layout::array::<f32>(len).and_then(|layout| layout.align_to(ALIGNMENT)).expect("a buffer smaller than the address space")
    }

    /// The first float; null if there are none.
    pub fn pointer(&self) -> *mut f32 {
        self.start
    }
}

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
