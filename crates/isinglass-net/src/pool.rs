//! A few threads that wait for work nearby.
//!
//! A training step has several short parallel regions per layer, far too short to wake sleeping threads for. Workers therefore spin for a moment before they sleep. A region is
//! closed as soon as its tasks are taken: nobody waits for a worker that the system did not run in time.

use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{JoinHandle, Thread};

/// A task: called with the worker's number and the task's.
type Job<'a> = &'a (dyn Fn(usize, usize) + Sync);

/// How often a worker looks for work before it sleeps: some tens of microseconds.
const SPINS: u32 = 2_000;
/// More would not fit the count of those at work.
pub const MAX_THREADS: usize = 1024;
/// Set in the state while no worker may join.
const CLOSED: usize = 1 << 15;
/// The part of the state that counts workers at work.
const ACTIVE: usize = CLOSED - 1;

struct Shared {
    /// The region's number, [`CLOSED`], and how many workers are at work.
    state: AtomicUsize,
    job: UnsafeCell<Option<(Job<'static>, usize)>>,
    next_task: AtomicUsize,
    sleeping: AtomicUsize,
    panicked: AtomicBool,
    stop: AtomicBool,
}

// SAFETY: `job` is written only while the state is closed and nobody is active, and read only by workers that have joined since.
unsafe impl Sync for Shared {}

impl Shared {
    fn work(&self, worker: usize, job: Job<'_>, tasks: usize) {
        loop {
            let task = self.next_task.fetch_add(1, Ordering::Relaxed);
            if task >= tasks {
                return;
            }
            job(worker, task);
        }
    }

    /// Waits for a region other than `seen` that is open, and joins it. `None` when the pool ends.
    fn join(&self, seen: usize) -> Option<usize> {
        let mut spins = 0;
        loop {
            if self.stop.load(Ordering::Acquire) {
                return None;
            }
            let state = self.state.load(Ordering::Acquire);
            let region = state & !(CLOSED | ACTIVE);
            if region != seen && state & CLOSED == 0 {
                if self.state.compare_exchange_weak(state, state + 1, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                    return Some(region);
                }
                continue;
            }
            spins += 1;
            if spins < SPINS {
                std::hint::spin_loop();
            } else {
                self.sleeping.fetch_add(1, Ordering::SeqCst);
                // Work that came meanwhile would have found nobody to wake.
                let state = self.state.load(Ordering::SeqCst);
                if (state & CLOSED != 0 || state & !(CLOSED | ACTIVE) == seen) && !self.stop.load(Ordering::SeqCst) {
                    std::thread::park();
                }
                self.sleeping.fetch_sub(1, Ordering::SeqCst);
                spins = 0;
            }
        }
    }
}

/// Threads that share the tasks of one region after another.
pub struct Pool {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
    handles: Vec<Thread>,
}

impl Pool {
    /// A pool of so many threads, the caller's included.
    pub fn new(threads: usize) -> Self {
        assert!(threads <= MAX_THREADS, "a pool of {threads} threads: at most {MAX_THREADS}");
        let shared = Arc::new(Shared {
            state: AtomicUsize::new(CLOSED),
            job: UnsafeCell::new(None),
            next_task: AtomicUsize::new(0),
            sleeping: AtomicUsize::new(0),
            panicked: AtomicBool::new(false),
            stop: AtomicBool::new(false),
        });
        let workers: Vec<JoinHandle<()>> = (1..threads.max(1))
            .map(|worker| {
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || {
                    let mut seen = 0;
                    while let Some(region) = shared.join(seen) {
                        seen = region;
                        // SAFETY: the region is open and counts us: the caller of `run` neither returns nor writes before we leave.
                        if let Some((job, tasks)) = unsafe { *shared.job.get() } {
                            let leave = LeaveOnDrop(&shared);
                            shared.work(worker, job, tasks);
                            drop(leave);
                        }
                    }
                })
            })
            .collect();
        let handles = workers.iter().map(|worker| worker.thread().clone()).collect();
        Self { shared, workers, handles }
    }

    /// Number of threads, the caller's included.
    pub fn threads(&self) -> usize {
        self.workers.len() + 1
    }

    /// Calls `job` once for every task below `tasks`, on all threads, and returns when all are done.
    pub fn run(&mut self, tasks: usize, job: &(dyn Fn(usize, usize) + Sync)) {
        if self.workers.is_empty() || tasks <= 1 {
            (0..tasks).for_each(|task| job(0, task));
            return;
        }
        let shared = &*self.shared;
        // SAFETY: the region is closed and nobody is active, so nobody reads. The borrow is made to look static only until the region is closed again, below:
        // the guard waits for the last worker even if a task panics here.
        unsafe { *shared.job.get() = Some((std::mem::transmute::<Job<'_>, Job<'static>>(job), tasks)) };
        shared.next_task.store(0, Ordering::Relaxed);
        let region = (shared.state.load(Ordering::Relaxed) & !(CLOSED | ACTIVE)).wrapping_add(CLOSED << 1);
        shared.state.store(region, Ordering::SeqCst);
        if shared.sleeping.load(Ordering::SeqCst) > 0 {
            self.handles.iter().for_each(Thread::unpark);
        }
        let close = CloseOnDrop(shared);
        shared.work(0, job, tasks);
        drop(close);
        assert!(!shared.panicked.load(Ordering::Relaxed), "a task panicked on another thread");
    }
}

/// Leaves the region, also when a task panics: the caller would wait for ever.
struct LeaveOnDrop<'a>(&'a Shared);

impl Drop for LeaveOnDrop<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.panicked.store(true, Ordering::Relaxed);
        }
        self.0.state.fetch_sub(1, Ordering::AcqRel);
    }
}

struct CloseOnDrop<'a>(&'a Shared);

impl Drop for CloseOnDrop<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state.fetch_or(CLOSED, Ordering::AcqRel);
        let mut spins = 0u32;
        while state & ACTIVE != 0 {
            spins += 1;
            // A worker that holds the last task may have lost its core.
            if spins.is_multiple_of(SPINS) {
                std::thread::yield_now()
            } else {
                std::hint::spin_loop()
            }
            state = self.0.state.load(Ordering::Acquire);
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        self.handles.iter().for_each(Thread::unpark);
        for worker in self.workers.drain(..) {
            // A worker that panicked has nothing left to clean up.
            let _ = worker.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "panic")]
    fn a_panic_ends_the_region() {
        let caller = std::thread::current().id();
        // Until the worker has taken a task.
        for _ in 0..1000 {
            Pool::new(2).run(64, &|_, _| {
                assert!(std::thread::current().id() == caller, "a panic on purpose");
                std::thread::sleep(std::time::Duration::from_micros(100));
            });
        }
    }

    #[test]
    fn every_task_runs_once_in_every_region() {
        for threads in [1, 2, 4] {
            let mut pool = Pool::new(threads);
            for region in 0..2_000 {
                let counts: Vec<AtomicUsize> = (0..region % 17).map(|_| AtomicUsize::new(0)).collect();
                pool.run(counts.len(), &|worker, task| {
                    assert!(worker < threads);
                    counts[task].fetch_add(1, Ordering::Relaxed);
                });
                assert!(counts.iter().all(|count| count.load(Ordering::Relaxed) == 1));
                if region % 500 == 0 {
                    std::thread::sleep(std::time::Duration::from_millis(5)); // long enough for the workers to fall asleep
                }
            }
        }
    }
}
