//! The threads of a query.

use crate::base::error::Error;
use jird_formats::{catches_panics_of_this_thread, caught};
use std::any::Any;
use std::future::Future;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// The stack of a thread: expressions are evaluated recursively.
const STACK_BYTES: usize = 64 << 20;

/// The threads on which DataFusion runs a plan. Each query has its own: a step of a plan may take long, and the
/// operating system shares the processors fairly, which steps on shared threads would not.
#[derive(Debug)]
pub(crate) struct Threads {
    runtime: Option<Runtime>,
    ends: Arc<Ends>,
}

/// Holds back threads that end until they have been detached, for the reason that [`jird_formats::apart`] names.
#[derive(Debug, Default)]
struct Ends {
    now: Mutex<End>,
    changed: Condvar,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum End {
    /// The runtime works, or was never whole: it waits for its threads then.
    #[default]
    Joined,
    Held,
    Free,
}

impl Ends {
    fn set(&self, end: End) {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = end;
        self.changed.notify_all();
    }

    fn wait(&self) {
        let now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.changed.wait_while(now, |end| *end == End::Held));
    }
}

/// What threads keep until they have ended.
pub(crate) type KeepAlive = Arc<dyn Any + Send + Sync>;

impl Threads {
    /// Starts this many threads, at least one. They keep something until the last of them has ended. Their panics end
    /// what waits for them, as panics there.
    pub(crate) fn new(threads: usize, kept: Option<&KeepAlive>) -> Result<Self, Error> {
        let kept = kept.cloned();
        let ends = Arc::<Ends>::default();
        let held = Arc::clone(&ends);
        let mut builder = Builder::new_multi_thread();
        builder
            .enable_time()
            .worker_threads(threads.max(1))
            .thread_stack_size(STACK_BYTES)
            .on_thread_start(move || {
                let _ = &kept;
                catches_panics_of_this_thread();
            })
            // None ends before all do.
            .thread_keep_alive(Duration::from_hours(24))
            .on_thread_stop(move || held.wait());
        // Where the system has no more threads, it panics.
        let built = caught(|| builder.build().map_err(|error| error.to_string())).unwrap_or_else(Err);
        let runtime = built.map_err(|words| Error::unread(format!("cannot start threads: {words}")))?;
        Ok(Self { runtime: Some(runtime), ends })
    }

    /// Starts none: what is waited for happens elsewhere.
    pub(crate) fn here() -> Result<Self, Error> {
        let built = Builder::new_current_thread().enable_time().build();
        let runtime = built.map_err(|error| Error::unread(format!("cannot wait: {error}")))?;
        Ok(Self { runtime: Some(runtime), ends: Arc::default() })
    }

    /// Waits for something here.
    pub(crate) fn wait<F: Future>(&self, wanted: F) -> F::Output {
        self.runtime.as_ref().expect("it is there until it is dropped").block_on(wanted)
    }
}

impl Drop for Threads {
    /// Scans whose results are no longer needed end by themselves, so the query does not wait for them.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            self.ends.set(End::Held);
            runtime.shutdown_background();
            self.ends.set(End::Free);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Threads;

    #[test]
    fn queries_that_end_at_once_leave_threads_that_end_whenever_they_do() {
        for _ in 0..2_000 {
            let threads = Threads::new(3, None).unwrap();
            threads.wait(async { tokio::task::spawn_blocking(|| ()).await }).unwrap();
        }
    }
}
