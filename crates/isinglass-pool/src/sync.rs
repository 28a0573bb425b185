//! Threads and atomics for the pool: those of the standard library, or, under `--cfg loom`, models whose interleavings are explored.

#[cfg(loom)]
pub(super) use loom::{
    cell::UnsafeCell,
    hint::spin_loop,
    sync::Arc,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence},
    thread::{JoinHandle, Thread, park, spawn, yield_now},
};
#[cfg(not(loom))]
pub(super) use {
    cell::UnsafeCell,
    std::hint::spin_loop,
    std::sync::Arc,
    std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence},
    std::thread::{JoinHandle, Thread, park, spawn, yield_now},
};

/// How often a worker looks for work before it sleeps: some tens of microseconds. In a model, the fewest times that still cover both ways of waiting.
pub(super) const SPINS: u32 = if cfg!(loom) { 2 } else { 2_000 };

#[cfg(not(loom))]
mod cell {
    /// A cell with the interface of loom's, which reports accesses that are not ordered.
    pub(in super::super) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        pub fn new(value: T) -> Self {
            Self(std::cell::UnsafeCell::new(value))
        }

        /// A pointer for reading.
        pub fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
            read(self.0.get())
        }

        /// A pointer for writing.
        pub fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
            write(self.0.get())
        }
    }
}
