//! Independent pieces of work on several threads, their results in order.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// `work(0), …, work(count − 1)` on `threads` threads (0: one per core). `done` is told how many are finished, from any thread.
pub(crate) fn in_order<T: Send>(count: usize, threads: usize, work: impl Fn(usize) -> T + Sync, done: impl Fn(usize) + Sync) -> Vec<T> {
    let threads = if threads == 0 { std::thread::available_parallelism().map_or(1, usize::from) } else { threads };
    let results: Vec<Mutex<Option<T>>> = (0..count).map(|_| Mutex::new(None)).collect();
    let (next, finished) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let worker = || {
        while let Some(slot) = {
            let index = next.fetch_add(1, Ordering::Relaxed);
            results.get(index).map(|slot| (index, slot))
        } {
            let result = work(slot.0);
            *slot.1.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(result);
            done(finished.fetch_add(1, Ordering::Relaxed) + 1);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(count) {
            scope.spawn(worker);
        }
        worker();
    });
    // A thread that panicked has ended the scope with its panic, so every slot is filled.
    results.into_iter().filter_map(|slot| slot.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)).collect()
}
