//! The pool under every interleaving of its threads, up to a number of preemptions: [loom](https://docs.rs/loom) runs each model again and again, with a different
//! order of the threads' steps and different values that weak memory allows, and reports unordered accesses to cells, deadlocks and failed assertions.

use loom::model::Builder;
use loom::thread::yield_now;

use super::sync::{Arc, AtomicBool, AtomicUsize, Ordering, UnsafeCell};
use super::{AssertUnwindSafe, Pool, catch_unwind};

/// Plain memory; each task accesses only its own cell.
struct Cells(Vec<UnsafeCell<usize>>);

// SAFETY: none is claimed; loom reports every access that is not ordered with the others.
unsafe impl Send for Cells {}
// SAFETY: as above.
unsafe impl Sync for Cells {}

impl Cells {
    fn new(count: usize) -> Arc<Self> {
        Arc::new(Self((0..count).map(|_| UnsafeCell::new(0)).collect()))
    }

    fn add(&self, index: usize, amount: usize) {
        // SAFETY: loom has checked that this access is ordered with the others.
        self.0[index].with_mut(|value| unsafe { *value += amount });
    }

    fn values(&self) -> Vec<usize> {
        // SAFETY: as above.
        self.0.iter().map(|cell| cell.with(|value| unsafe { *value })).collect()
    }
}

fn explore(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

/// Each task of each region runs once. The tasks see what the caller wrote before, and the caller sees what they wrote, without further synchronisation.
fn regions_in_turn(threads: usize, regions: &'static [usize]) -> impl Fn() + Sync + Send + 'static {
    move || {
        let mut pool = Pool::new(threads);
        for &tasks in regions {
            let cells = Cells::new(tasks + 1);
            cells.add(tasks, 7);
            pool.run(tasks, &|_, task| {
                assert_eq!(cells.0[tasks].with(|given| unsafe { *given }), 7);
                cells.add(task, 1);
            });
            // Also a conflict with a worker that is late and still inside.
            cells.add(tasks, 1);
            let mut expected = vec![1; tasks];
            expected.push(8);
            assert_eq!(cells.values(), expected);
        }
    }
}

#[test]
fn one_worker_shares_three_regions() {
    explore(3, regions_in_turn(2, &[2, 2, 2]));
}

#[test]
fn two_workers_share_a_region() {
    explore(2, regions_in_turn(3, &[2, 2]));
}

#[test]
fn workers_of_a_pool_without_work_end() {
    explore(4, || drop(Pool::new(2)));
    explore(3, || drop(Pool::new(3)));
}

/// The caller's task waits for the worker's: no wake-up is lost, or this would not end.
#[test]
fn workers_that_sleep_are_woken() {
    explore(3, || {
        let mut pool = Pool::new(2);
        for _ in 0..2 {
            let arrived = Arc::new(AtomicUsize::new(0));
            pool.run(2, &|_, _| {
                arrived.fetch_add(1, Ordering::Relaxed);
                while arrived.load(Ordering::Relaxed) < 2 {
                    yield_now();
                }
            });
        }
    });
}

/// A panic on a worker is reported by this region and no later one, and the worker joins the next.
#[test]
fn panics_of_workers_are_reported_once() {
    // Each would be printed, some thousand times.
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let message = panic.payload_as_str().unwrap_or_default();
        if message != "on purpose" && message != "a task panicked on another thread" {
            usual(panic);
        }
    }));
    explore(2, || {
        let mut pool = Pool::new(2);
        let panicked = Arc::new(AtomicBool::new(false));
        let region = AssertUnwindSafe(|| {
            pool.run(2, &|worker, _| {
                if worker > 0 {
                    panicked.store(true, Ordering::Relaxed);
                    panic!("on purpose");
                }
            })
        });
        let reported = catch_unwind(region).is_err();
        assert_eq!(reported, panicked.load(Ordering::Relaxed));
        let cells = Cells::new(2);
        pool.run(2, &|_, task| cells.add(task, 1));
        assert_eq!(cells.values(), [1, 1]);
    });
}
