//! The threads of a query.

use crate::error::Error;
use jird_formats::catches_panics_of_this_thread;
use std::any::Any;
use std::future::Future;
use std::sync::Arc;
use tokio::runtime::{Builder, Runtime};

/// The stack of a thread: expressions are evaluated recursively.
const STACK_BYTES: usize = 64 << 20;

/// The threads on which DataFusion runs a plan. Each query has its own: a step of a plan may take long, and the
/// operating system shares the processors fairly, which steps on shared threads would not.
#[derive(Debug)]
pub(crate) struct Threads(Option<Runtime>);

/// What threads keep until they have ended.
pub(crate) type Held = Arc<dyn Any + Send + Sync>;

impl Threads {
    /// Starts this many threads, at least one. They keep something until the last of them has ended. Their panics end
    /// what waits for them, as panics there.
    pub(crate) fn new(threads: usize, kept: Option<&Held>) -> Result<Self, Error> {
        let kept = kept.cloned();
        let runtime = Builder::new_multi_thread()
            .enable_time()
            .worker_threads(threads.max(1))
            .thread_stack_size(STACK_BYTES)
            .on_thread_start(move || {
                let _ = &kept;
                catches_panics_of_this_thread();
            })
            .build()
            .map_err(|error| Error::unread(format!("cannot start threads: {error}")))?;
        Ok(Self(Some(runtime)))
    }

    /// Waits for something here.
    pub(crate) fn wait<F: Future>(&self, wanted: F) -> F::Output {
        self.0.as_ref().expect("it is there until it is dropped").block_on(wanted)
    }
}

impl Drop for Threads {
    /// Scans whose results are no longer needed end by themselves, so the query does not wait for them.
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
