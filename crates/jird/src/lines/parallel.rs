//! Work on several threads, results in order.

use core::ops::ControlFlow;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, PoisonError};

/// Results per thread that may wait to be consumed.
const WAITING_PER_THREAD: usize = 3;

/// Does `jobs` pieces of work on `threads` threads, and consumes the results on this thread in the order of the jobs, until
/// `consume` breaks. A few results per thread are in flight at most. `state` makes what a thread keeps from job to job.
///
/// With one thread, or one job, everything happens on this thread.
///
/// ```
/// let mut squares = Vec::new();
/// jird::lines::in_order(5, 2, || (), |(), job| job * job, |square| {
///     squares.push(square);
///     std::ops::ControlFlow::Continue(())
/// });
/// assert_eq!(squares, [0, 1, 4, 9, 16]);
/// ```
///
/// # Panics
/// If `work` or `consume` panics.
pub fn in_order<S, T: Send>(
    jobs: usize,
    threads: usize,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) -> T + Sync,
    mut consume: impl FnMut(T) -> ControlFlow<()>,
) {
    if threads <= 1 || jobs <= 1 {
        let mut state = state();
        let _ = (0..jobs).try_for_each(|job| consume(work(&mut state, job)));
        return;
    }
    let queue = Queue::new(jobs, threads * WAITING_PER_THREAD);
    std::thread::scope(|scope| {
        for _ in 0..threads.min(jobs) {
            scope.spawn(|| {
                let _stop = StopOnPanic(&queue);
                let mut state = state();
                while let Some(job) = queue.take() {
                    queue.put(job, work(&mut state, job));
                }
            });
        }
        let _stop = StopOnPanic(&queue);
        for job in 0..jobs {
            let Some(result) = queue.wait(job) else { break };
            if consume(result).is_break() {
                break;
            }
        }
        queue.stop();
    });
}

/// Jobs to be taken and results to be consumed.
struct Queue<T> {
    next: AtomicUsize,
    jobs: usize,
    waiting_max: usize,
    stopped: AtomicBool,
    results: Mutex<Results<T>>,
    changed: Condvar,
}

struct Results<T> {
    ready: BTreeMap<usize, T>,
    consumed: usize,
}

impl<T> Queue<T> {
    fn new(jobs: usize, waiting_max: usize) -> Self {
        let results = Mutex::new(Results { ready: BTreeMap::new(), consumed: 0 });
        Self {
            next: AtomicUsize::new(0),
            jobs,
            waiting_max,
            stopped: AtomicBool::new(false),
            results,
            changed: Condvar::new(),
        }
    }

    /// The next job, once there is room for its result.
    fn take(&self) -> Option<usize> {
        let job = self.next.fetch_add(1, Ordering::Relaxed);
        if job >= self.jobs {
            return None;
        }
        let results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        let _room = self
            .changed
            .wait_while(results, |results| {
                job >= results.consumed + self.waiting_max && !self.stopped.load(Ordering::Relaxed)
            })
            .unwrap_or_else(PoisonError::into_inner);
        (!self.stopped.load(Ordering::Relaxed)).then_some(job)
    }

    fn put(&self, job: usize, result: T) {
        let mut results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        results.ready.insert(job, result);
        drop(results);
        self.changed.notify_all();
    }

    /// The result of `job`; `None` if all was stopped.
    fn wait(&self, job: usize) -> Option<T> {
        let results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        let mut results = self
            .changed
            .wait_while(results, |results| !results.ready.contains_key(&job) && !self.stopped.load(Ordering::Relaxed))
            .unwrap_or_else(PoisonError::into_inner);
        let result = results.ready.remove(&job);
        results.consumed = job + 1;
        drop(results);
        self.changed.notify_all();
        result
    }

    fn stop(&self) {
        // Under the lock, so that nobody misses it between its test and its wait.
        let results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        self.stopped.store(true, Ordering::Relaxed);
        drop(results);
        self.changed.notify_all();
    }
}

/// Lets the others go when a thread panics, or they would wait for ever.
struct StopOnPanic<'q, T>(&'q Queue<T>);

impl<T> Drop for StopOnPanic<'_, T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_whatever_the_jobs_take() {
        let mut seen = Vec::new();
        let slow = |(): &mut (), job: usize| {
            std::thread::sleep(std::time::Duration::from_micros(((job * 7919) % 13 * 100) as u64));
            job
        };
        in_order(
            60,
            4,
            || (),
            slow,
            |job| {
                seen.push(job);
                ControlFlow::Continue(())
            },
        );
        assert_eq!(seen, (0..60).collect::<Vec<_>>());
    }

    #[test]
    fn a_consumer_that_stops_stops_the_workers() {
        let done = AtomicUsize::new(0);
        in_order(
            1_000_000,
            2,
            || (),
            |(), job| {
                done.fetch_add(1, Ordering::Relaxed);
                job
            },
            |job| {
                if job == 10 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            },
        );
        assert!(done.load(Ordering::Relaxed) < 100);
    }

    #[test]
    #[should_panic(expected = "a scoped thread panicked")]
    fn a_worker_that_panics_does_not_leave_the_others_waiting() {
        in_order(10, 2, || (), |(), job| assert_ne!(job, 3, "broken"), |()| ControlFlow::Continue(()));
    }
}
