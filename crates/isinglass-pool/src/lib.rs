//! A few threads that share short parallel regions.
//!
//! A training step has several parallel regions per layer, and a prediction one per batch, each too short to start threads for, or to wake sleeping ones. Workers therefore spin for a
//! moment before they sleep. A region closes as soon as its tasks are taken: nobody waits for a worker that the system did not schedule in time.
//!
//! Every thread begins with a share of its own, the same in every region with that number of tasks, so that it finds in its cache what it wrote there before; then it helps the others.
//! Between distant cores of a server this matters: a cache line takes about a quarter of a microsecond from one to the other (`docs/speed.md`).
//!
//! ```
//! use std::sync::atomic::{AtomicUsize, Ordering};
//!
//! let mut pool = isinglass_pool::Pool::new(2);
//! let sum = AtomicUsize::new(0);
//! pool.run(10, &|_worker, task| {
//!     sum.fetch_add(task, Ordering::Relaxed);
//! });
//! assert_eq!(sum.into_inner(), 45);
//! ```
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p isinglass-pool --lib --release` explores how the threads can interleave; see `model.rs`.

#[cfg(all(test, loom))]
mod model;
mod sync;

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use sync::{Arc, AtomicBool, AtomicUsize, JoinHandle, Ordering, SPINS, Thread, UnsafeCell, fence};

/// A task: called with the worker's number and the task's.
type Job<'a> = &'a (dyn Fn(usize, usize) + Sync);

/// The largest number of threads in a pool: the state must be able to count them.
pub const MAX_THREADS: usize = 1024;
/// Set in the state while no worker may join.
const CLOSED: usize = 1 << 15;
/// The bits of the state that count the workers inside the region.
const ACTIVE: usize = CLOSED - 1;

struct Shared {
    /// The region's number, [`CLOSED`], and the number of workers inside.
    state: AtomicUsize,
    job: UnsafeCell<Option<(Job<'static>, usize)>>,
    /// The next task of every thread's share.
    next_tasks: Box<[Alone<AtomicUsize>]>,
    /// Workers that sleep or are about to.
    sleeping: AtomicUsize,
    panicked: AtomicBool,
    stop: AtomicBool,
}

/// A value that shares its line of the cache, and the one that is fetched with it, with no other.
#[repr(align(128))]
struct Alone<T>(T);

/// How the tasks of a region are shared out at first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shares {
    tasks: usize,
    threads: usize,
}

impl Shares {
    /// The tasks that a thread begins with. They follow each other; the first threads have at most one more than the others.
    pub fn of(&self, thread: usize) -> Range<usize> {
        let (each, more) = (self.tasks / self.threads, self.tasks % self.threads);
        let begin = |thread: usize| thread * each + thread.min(more);
        begin(thread)..begin(thread + 1)
    }
}

// SAFETY: `job` is written only while the state is closed and nobody is active, and read only by workers that have joined since.
unsafe impl Send for Shared {}
// SAFETY: see above.
unsafe impl Sync for Shared {}

impl Shared {
    fn shares(&self, tasks: usize) -> Shares {
        Shares { tasks, threads: self.next_tasks.len() }
    }

    /// Does the tasks of the worker's own share, then those that are left of others.
    fn work(&self, worker: usize, job: Job<'_>, tasks: usize) {
        let shares = self.shares(tasks);
        for thread in (worker..shares.threads).chain(0..worker) {
            let (next, end) = (&self.next_tasks[thread].0, shares.of(thread).end);
            // Looking first leaves the line with its owner if nothing is left.
            while next.load(Ordering::Relaxed) < end {
                let task = next.fetch_add(1, Ordering::Relaxed);
                if task < end {
                    job(worker, task);
                }
            }
        }
    }

    /// Waits for an open region other than `seen` and joins it. `None` when the pool shuts down.
    fn join(&self, seen: usize) -> Option<usize> {
        let mut spins = 0;
        loop {
            if self.stop.load(Ordering::Acquire) {
                return None;
            }
            let state = self.state.load(Ordering::Acquire);
            if is_new(state, seen) {
                if self.state.compare_exchange_weak(state, state + 1, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                    return Some(region_of(state));
                }
                continue;
            }
            spins += 1;
            if spins < SPINS {
                sync::spin_loop();
            } else {
                self.sleep(seen);
                spins = 0;
            }
        }
    }

    /// Sleeps until there may be work. It may wake early.
    fn sleep(&self, seen: usize) {
        self.sleeping.fetch_add(1, Ordering::Relaxed);
        // Either `open` finds the count above, or we find its region below: each side writes, fences and then reads what the other side wrote.
        fence(Ordering::SeqCst);
        if !is_new(self.state.load(Ordering::Relaxed), seen) && !self.stop.load(Ordering::Relaxed) {
            sync::park();
        }
        self.sleeping.fetch_sub(1, Ordering::Relaxed);
    }

    /// Lets workers join the next region, of `tasks` tasks. Returns whether some may be asleep.
    fn open(&self, tasks: usize) -> bool {
        let shares = self.shares(tasks);
        for (thread, next) in self.next_tasks.iter().enumerate() {
            next.0.store(shares.of(thread).start, Ordering::Relaxed);
        }
        let region = region_of(self.state.load(Ordering::Relaxed)).wrapping_add(CLOSED << 1);
        self.state.store(region, Ordering::Release);
        fence(Ordering::SeqCst);
        self.sleeping.load(Ordering::Relaxed) > 0
    }

    /// Leaves the region.
    fn leave(&self) {
        self.state.fetch_sub(1, Ordering::Release);
    }

    /// Lets no more workers join, and waits for those inside.
    fn close(&self) {
        let mut state = self.state.fetch_or(CLOSED, Ordering::Acquire);
        let mut spins = 0u32;
        while state & ACTIVE != 0 {
            spins += 1;
            // A worker that holds the last task may have lost its core.
            if spins.is_multiple_of(SPINS) {
                sync::yield_now();
            } else {
                sync::spin_loop();
            }
            state = self.state.load(Ordering::Acquire);
        }
    }
}

/// Whether a region other than `seen` is open.
fn is_new(state: usize, seen: usize) -> bool {
    state & CLOSED == 0 && region_of(state) != seen
}

fn region_of(state: usize) -> usize {
    state & !(CLOSED | ACTIVE)
}

/// Threads that share the tasks of one region after another.
pub struct Pool {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
    handles: Vec<Thread>,
}

impl Pool {
    /// A pool of `threads` threads, including the caller's.
    pub fn new(threads: usize) -> Self {
        assert!(threads <= MAX_THREADS, "a pool of {threads} threads: at most {MAX_THREADS}");
        let shared = Arc::new(Shared {
            state: AtomicUsize::new(CLOSED),
            job: UnsafeCell::new(None),
            next_tasks: (0..threads.max(1)).map(|_| Alone(AtomicUsize::new(0))).collect(),
            sleeping: AtomicUsize::new(0),
            panicked: AtomicBool::new(false),
            stop: AtomicBool::new(false),
        });
        let workers: Vec<JoinHandle<()>> = (1..threads.max(1))
            .map(|worker| {
                let shared = Arc::clone(&shared);
                sync::spawn(move || work_until_the_end(&shared, worker))
            })
            .collect();
        let handles = workers.iter().map(|worker| worker.thread().clone()).collect();
        Self { shared, workers, handles }
    }

    /// Number of threads, including the caller's.
    pub fn threads(&self) -> usize {
        self.workers.len() + 1
    }

    /// How the tasks of a region will be shared out at first.
    pub fn shares(&self, tasks: usize) -> Shares {
        self.shared.shares(tasks)
    }

    /// Calls `job` once for every task below `tasks`, on all threads, and returns when all are done.
    ///
    /// # Panics
    ///
    /// If a task panics. Some tasks may then not have run.
    pub fn run(&mut self, tasks: usize, job: &(dyn Fn(usize, usize) + Sync)) {
        if self.workers.is_empty() || tasks <= 1 {
            (0..tasks).for_each(|task| job(0, task));
            return;
        }
        let shared = &*self.shared;
        // SAFETY: only the lifetime changes. Only workers inside the region call the job, and the guard below waits for the last of them before this
        // function returns, even if a task panics here.
        let lasting = unsafe { std::mem::transmute::<Job<'_>, Job<'static>>(job) };
        // SAFETY: the region is closed and nobody is inside, so nobody reads.
        shared.job.with_mut(|job| unsafe { *job = Some((lasting, tasks)) });
        // Left over if a task of the caller panicked in the last region too.
        shared.panicked.store(false, Ordering::Relaxed);
        if shared.open(tasks) {
            self.handles.iter().for_each(Thread::unpark);
        }
        let close = CloseOnDrop(shared);
        shared.work(0, job, tasks);
        drop(close);
        assert!(!shared.panicked.swap(false, Ordering::Relaxed), "a task panicked on another thread");
    }
}

fn work_until_the_end(shared: &Shared, worker: usize) {
    let mut seen = 0;
    while let Some(region) = shared.join(seen) {
        seen = region;
        // SAFETY: the region is open and counts us: the caller of `run` neither returns nor writes before we leave.
        if let Some((job, tasks)) = shared.job.with(|job| unsafe { *job })
            // The caller of `run` would wait forever for a worker that did not leave.
            && catch_unwind(AssertUnwindSafe(|| shared.work(worker, job, tasks))).is_err()
        {
            shared.panicked.store(true, Ordering::Relaxed);
        }
        shared.leave();
    }
}

struct CloseOnDrop<'a>(&'a Shared);

impl Drop for CloseOnDrop<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        // Also for a worker that is about to sleep: it will not.
        self.handles.iter().for_each(Thread::unpark);
        for worker in self.workers.drain(..) {
            // Panics of tasks were reported by `run`.
            let _ = worker.join();
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_pool_survives_a_panic() {
        let caller = std::thread::current().id();
        let mut pool = Pool::new(2);
        // Until the worker has taken a task.
        let panicked = (0..1000).any(|_| {
            let region = || {
                pool.run(64, &|_, _| {
                    assert!(std::thread::current().id() == caller, "a panic on purpose");
                    std::thread::sleep(std::time::Duration::from_micros(100));
                });
            };
            catch_unwind(AssertUnwindSafe(region)).is_err()
        });
        assert!(panicked, "the worker took no task in 1000 regions");
        let count = AtomicUsize::new(0);
        pool.run(10, &|_, _| {
            count.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!(count.into_inner(), 10);
    }

    #[test]
    fn a_panic_of_the_caller_waits_for_the_workers() {
        let caller = std::thread::current().id();
        let finished = AtomicUsize::new(0);
        let mut pool = Pool::new(2);
        let mut started = 0;
        for _ in 0..50 {
            let begun = AtomicUsize::new(0);
            let region = || {
                pool.run(2, &|_, _| {
                    if std::thread::current().id() == caller {
                        std::thread::sleep(std::time::Duration::from_micros(200));
                        panic!("on purpose");
                    }
                    begun.fetch_add(1, Ordering::Relaxed);
                    std::thread::sleep(std::time::Duration::from_micros(500));
                    finished.fetch_add(1, Ordering::Relaxed);
                });
            };
            let _ = catch_unwind(AssertUnwindSafe(region));
            started += begun.into_inner();
            assert_eq!(finished.load(Ordering::Relaxed), started);
        }
    }

    #[test]
    fn shares_are_even_and_follow_each_other() {
        for (tasks, threads) in [(0, 3), (1, 4), (7, 3), (16, 2), (1000, 7)] {
            let shares: Vec<_> = (0..threads).map(|thread| Shares { tasks, threads }.of(thread)).collect();
            assert_eq!(shares.iter().cloned().flatten().collect::<Vec<_>>(), (0..tasks).collect::<Vec<_>>());
            assert!(shares.iter().all(|share| share.len() == tasks / threads || share.len() == tasks.div_ceil(threads)));
        }
    }

    #[test]
    fn a_worker_begins_with_its_own_share() {
        let mut pool = Pool::new(2);
        let shares = [0, 1].map(|worker| pool.shares(8).of(worker));
        for _ in 0..100 {
            let firsts = [const { AtomicUsize::new(usize::MAX) }; 2];
            pool.run(8, &|worker, task| {
                let _ = firsts[worker].compare_exchange(usize::MAX, task, Ordering::Relaxed, Ordering::Relaxed);
                std::thread::sleep(std::time::Duration::from_micros(20));
            });
            // A worker that came too late found nothing left.
            for (first, share) in firsts.map(AtomicUsize::into_inner).into_iter().zip(&shares) {
                assert!(first == usize::MAX || share.contains(&first), "{first} of {share:?}");
            }
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
