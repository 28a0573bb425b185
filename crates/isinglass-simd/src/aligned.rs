//! Zeroed memory, aligned to cache lines.

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::{Deref, DerefMut};

use crate::arena::{Block, give_back};

/// Bytes of a cache line.
pub(crate) const LINE: usize = 64;

/// A fixed number of elements, zero at first. They begin at a cache line, so that no vector straddles two.
///
/// Kernels of several threads write to different parts through [`Aligned::pointer`].
pub struct Aligned<T> {
    start: *mut T,
    len: usize,
    /// What `start` points into.
    _memory: Memory<T>,
}

/// Floats, aligned to cache lines.
pub type Buffer = Aligned<f32>;

/// Where elements lie. It is only kept.
enum Memory<T> {
    /// Elements of this array alone, and room to begin at a cache line.
    Own { _elements: Vec<T> },
    /// A part of an [`Arena`](crate::Arena)'s block that belongs to this array alone.
    Part { _part: Part },
}

/// A part of a block. Its memory goes back to the system with it; its addresses stay the block's, and nobody else gets them.
struct Part {
    start: *mut u8,
    bytes: usize,
    _block: Arc<Block>,
}

impl Drop for Part {
    fn drop(&mut self) {
        give_back(self.start, self.bytes);
    }
}

// SAFETY: it owns its elements, as a vector does; `start` points to them.
unsafe impl<T: Send> Send for Aligned<T> {}
// SAFETY: shared references only read; writing through `pointer` is unsafe, and up to those who do.
unsafe impl<T: Sync> Sync for Aligned<T> {}

impl<T: Copy + Default> Aligned<T> {
    /// `len` zeros.
    ///
    /// # Panics
    ///
    /// If they do not fit the address space.
    pub fn new(len: usize) -> Self {
        const { assert!(LINE.is_multiple_of(size_of::<T>()), "elements fill cache lines") };
        let room = LINE / size_of::<T>();
        // Zeros come from the system, which provides a page when it is first touched. Memory aligned by the allocator would be written here, all of it.
        let mut elements = vec![T::default(); if len == 0 { 0 } else { len + room }];
        let skipped = (elements.as_ptr() as usize).wrapping_neg() % LINE / size_of::<T>();
        // The vector's own pointer, not one of a slice: borrowing the elements later does not invalidate it.
        let start = if len == 0 { core::ptr::null_mut() } else { elements.as_mut_ptr().wrapping_add(skipped) };
        Self { start, len, _memory: Memory::Own { _elements: elements } }
    }
}

impl<T> Aligned<T> {
    /// A part of a block.
    ///
    /// # Safety
    ///
    /// `len` elements at `start` lie in the block, aligned and valid, and nobody else uses them.
    pub(crate) unsafe fn part(block: Arc<Block>, start: *mut T, len: usize) -> Self {
        let part = Part { _block: block, start: start.cast(), bytes: len * size_of::<T>() };
        Self { start, len, _memory: Memory::Part { _part: part } }
    }

    /// The first element; null if there are none.
    pub fn pointer(&self) -> *mut T {
        self.start
    }
}

impl<T> Deref for Aligned<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: these are this array's elements for as long as it lives.
        unsafe { core::slice::from_raw_parts(self.start, self.len) }
    }
}

impl<T> DerefMut for Aligned<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        if self.len == 0 {
            return &mut [];
        }
        // SAFETY: as in `deref`; the exclusive reference to `self` is the only one.
        unsafe { core::slice::from_raw_parts_mut(self.start, self.len) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_zeroed_and_aligned() {
        for len in [1, 15, 16, 17, 1000] {
            let buffer = Buffer::new(len);
            assert_eq!((buffer.len(), buffer.pointer() as usize % LINE), (len, 0));
            assert!(buffer.iter().all(|&x| x == 0.0));
            let bytes = Aligned::<u8>::new(len);
            assert_eq!((bytes.len(), bytes.as_ptr() as usize % LINE), (len, 0));
        }
    }

    #[test]
    fn no_elements_are_a_null_pointer() {
        let buffer = Buffer::new(0);
        assert!(buffer.pointer().is_null() && buffer.is_empty());
    }

    #[test]
    fn pointer_and_slice_see_the_same_memory() {
        let mut buffer = Buffer::new(20);
        buffer[3] = 1.0;
        // SAFETY: within the buffer, and nobody else touches it.
        unsafe {
            assert_eq!(*buffer.pointer().add(3), 1.0);
            *buffer.pointer().add(19) = 2.0;
        }
        assert_eq!(buffer[19], 2.0);
    }
}
