//! Runs work on several threads, with results in order.

use core::iter::Fuse;
use core::ops::ControlFlow;
use core::sync::atomic::{AtomicBool, Ordering};
use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, PoisonError};

/// The number of results per thread that may wait to be consumed.
const WAITING_PER_THREAD: usize = 3;

/// Whether this platform has threads.
const HAS_THREADS: bool = cfg!(any(not(target_family = "wasm"), target_feature = "atomics"));

/// Runs `jobs` on `threads` threads, and consumes the results on the calling thread, in the order of the jobs, until
/// `consume` breaks. Each thread takes the next job when it is free; at most a few results per thread are in flight.
/// `state` makes the state that a thread keeps from job to job.
///
/// With one thread, or one job, everything runs on the calling thread; so it does in WebAssembly, which has no threads.
///
/// ```
/// let mut squares = Vec::new();
/// jird::hooks::lines::in_order(0..5, 2, || (), |(), job| job * job, |square| {
///     squares.push(square);
///     std::ops::ControlFlow::Continue(())
/// });
/// assert_eq!(squares, [0, 1, 4, 9, 16]);
/// ```
///
/// # Panics
/// If `jobs`, `work` or `consume` panics.
pub fn in_order<J, S, T: Send>(
    jobs: impl IntoIterator<Item = J, IntoIter: Send>,
    threads: usize,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, J) -> T + Sync,
    mut consume: impl FnMut(T) -> ControlFlow<()>,
) {
    let mut jobs = jobs.into_iter();
    let most = jobs.size_hint().1.unwrap_or(usize::MAX);
    if threads <= 1 || most <= 1 || !HAS_THREADS {
        let mut state = state();
        let _ = jobs.try_for_each(|job| consume(work(&mut state, job)));
        return;
    }
    let queue = Queue::new(jobs, threads * WAITING_PER_THREAD);
    std::thread::scope(|scope| {
        let run = || {
            let _stop = StopOnPanic(&queue);
            let mut state = state();
            while let Some((number, job)) = queue.take() {
                queue.put(number, work(&mut state, job));
            }
        };
        let workers: Vec<_> = (0..threads.min(most)).map(|_| scope.spawn(run)).collect();
        let _stop = StopOnPanic(&queue);
        while let Some(result) = queue.wait() {
            if consume(result).is_break() {
                break;
            }
        }
        queue.stop();
        // Joined, because detaching a thread that ends at that moment may crash in glibc 2.36 (its bug 19951).
        for worker in workers {
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    });
}

/// The jobs, and the results that are not consumed yet.
struct Queue<I, T> {
    jobs: Mutex<Jobs<I>>,
    waiting_max: usize,
    stopped: AtomicBool,
    results: Mutex<Results<T>>,
    changed: Condvar,
}

struct Jobs<I> {
    /// Fused, because every thread reaches the end and asks there.
    jobs: Fuse<I>,
    taken: usize,
}

struct Results<T> {
    ready: BTreeMap<usize, T>,
    consumed: usize,
    /// The number of jobs, after it is known.
    len: Option<usize>,
}

impl<I: Iterator, T> Queue<I, T> {
    fn new(jobs: I, waiting_max: usize) -> Self {
        let results = Mutex::new(Results { ready: BTreeMap::new(), consumed: 0, len: None });
        let jobs = Mutex::new(Jobs { jobs: jobs.fuse(), taken: 0 });
        Self { jobs, waiting_max, stopped: AtomicBool::new(false), results, changed: Condvar::new() }
    }

    /// The next job and its number. Waits until there is room for its result.
    fn take(&self) -> Option<(usize, I::Item)> {
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        let results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        let room = self.changed.wait_while(results, |results| {
            jobs.taken >= results.consumed + self.waiting_max && !self.stopped.load(Ordering::Relaxed)
        });
        drop(room.unwrap_or_else(PoisonError::into_inner));
        if self.stopped.load(Ordering::Relaxed) {
            return None;
        }
        let number = jobs.taken;
        let Some(job) = jobs.jobs.next() else {
            self.results.lock().unwrap_or_else(PoisonError::into_inner).len = Some(number);
            self.changed.notify_all();
            return None;
        };
        jobs.taken += 1;
        Some((number, job))
    }

    fn put(&self, job: usize, result: T) {
        let mut results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        results.ready.insert(job, result);
        drop(results);
        self.changed.notify_all();
    }

    /// The next result; `None` after the last one, or if the queue was stopped.
    fn wait(&self) -> Option<T> {
        let results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        let waits = |results: &mut Results<T>| {
            let next = results.consumed;
            let is_ready = results.ready.contains_key(&next) || results.len == Some(next);
            !is_ready && !self.stopped.load(Ordering::Relaxed)
        };
        let mut results = self.changed.wait_while(results, waits).unwrap_or_else(PoisonError::into_inner);
        let next = results.consumed;
        let result = results.ready.remove(&next)?;
        results.consumed += 1;
        drop(results);
        self.changed.notify_all();
        Some(result)
    }

    fn stop(&self) {
        // Set under the lock, so that no thread misses it between its test and its wait.
        let results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        self.stopped.store(true, Ordering::Relaxed);
        drop(results);
        self.changed.notify_all();
    }
}

/// Releases the other threads when a thread panics; otherwise they would wait for ever.
struct StopOnPanic<'q, I: Iterator, T>(&'q Queue<I, T>);

impl<I: Iterator, T> Drop for StopOnPanic<'_, I, T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::AtomicUsize;

    #[test]
    fn results_come_in_order_whatever_the_jobs_take() {
        let mut seen = Vec::new();
        let slow = |(): &mut (), job: usize| {
            std::thread::sleep(std::time::Duration::from_micros(((job * 7919) % 13 * 100) as u64));
            job
        };
        in_order(
            // The iterator's length is unknown.
            (0..60).filter(|_| true),
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
    fn nobody_asks_behind_the_end() {
        for _ in 0..100 {
            let mut left = 5_u32;
            // This iterator begins again after its end.
            let jobs = core::iter::from_fn(|| {
                left = left.checked_sub(1).unwrap_or(5);
                (left > 0).then_some(left)
            });
            let mut seen = Vec::new();
            in_order(
                jobs,
                4,
                || (),
                |(), job| job,
                |job| {
                    seen.push(job);
                    ControlFlow::Continue(())
                },
            );
            assert_eq!(seen, [4, 3, 2, 1]);
        }
    }

    #[test]
    fn a_consumer_that_stops_stops_the_workers() {
        let done = AtomicUsize::new(0);
        in_order(
            0..1_000_000,
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
    #[should_panic(expected = "broken")]
    fn jobs_that_panic_do_not_leave_the_others_waiting() {
        let jobs = (0..10).inspect(|&job| assert_ne!(job, 3, "broken"));
        in_order(jobs, 2, || (), |(), job| job, |_| ControlFlow::Continue(()));
    }

    #[test]
    #[should_panic(expected = "broken")]
    fn a_worker_that_panics_does_not_leave_the_others_waiting() {
        in_order(0..10, 2, || (), |(), job| assert_ne!(job, 3, "broken"), |()| ControlFlow::Continue(()));
    }
}
