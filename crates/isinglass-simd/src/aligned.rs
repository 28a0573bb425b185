//! Zeroed memory, aligned to cache lines.

use alloc::alloc::handle_alloc_error;
use alloc::vec::Vec;
use core::alloc::Layout;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};

use bytemuck::{Pod, Zeroable};

/// A cache line.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// A fixed number of elements, zero at first. They begin at a cache line, so that no vector straddles two.
///
/// Kernels of several threads write to different parts through [`Aligned::pointer`].
pub struct Aligned<T> {
    lines: Vec<Line>,
    start: *mut T,
    len: usize,
    elements: PhantomData<T>,
}

/// Floats, aligned to cache lines.
pub type Buffer = Aligned<f32>;

// SAFETY: it owns its elements, as a vector does; `start` points to them.
unsafe impl<T: Send> Send for Aligned<T> {}
// SAFETY: shared references only read; writing through `pointer` is unsafe, and up to those who do.
unsafe impl<T: Sync> Sync for Aligned<T> {}

impl<T: Pod> Aligned<T> {
    /// `len` zeros. Large memory comes zeroed from the system, which provides each page when it is first touched.
    ///
    /// # Panics
    ///
    /// If they do not fit the address space.
    pub fn new(len: usize) -> Self {
        const { assert!(64 % size_of::<T>() == 0, "elements fill cache lines") };
        let mut lines = zeroed_lines(len.div_ceil(64 / size_of::<T>()));
        let start = if len == 0 { core::ptr::null_mut() } else { lines.as_mut_ptr().cast() };
        Self { lines, start, len, elements: PhantomData }
    }

    /// The first element; null if there are none.
    pub fn pointer(&self) -> *mut T {
        self.start
    }
}

/// The one place that asks the system for memory.
fn zeroed_lines(count: usize) -> Vec<Line> {
    bytemuck::allocation::try_zeroed_vec(count)
        .unwrap_or_else(|()| handle_alloc_error(Layout::array::<Line>(count).expect("memory within the address space")))
}

impl<T: Pod> Deref for Aligned<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &bytemuck::cast_slice(&self.lines)[..self.len]
    }
}

impl<T: Pod> DerefMut for Aligned<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut bytemuck::cast_slice_mut(&mut self.lines)[..self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_zeroed_and_aligned() {
        for len in [1, 15, 16, 17, 1000] {
            let buffer = Buffer::new(len);
            assert_eq!((buffer.len(), buffer.pointer() as usize % 64), (len, 0));
            assert!(buffer.iter().all(|&x| x == 0.0));
            let bytes = Aligned::<u8>::new(len);
            assert_eq!((bytes.len(), bytes.as_ptr() as usize % 64), (len, 0));
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
