//! The threads of a query.

use crate::error::Error;
use std::future::Future;
use tokio::runtime::{Builder, Runtime};

/// The stack of a thread: conditions are evaluated recursively.
const STACK_BYTES: usize = 16 << 20;

/// The threads on which DataFusion runs a plan. Each query has its own: a step of a plan may take long, and the operating
/// system shares the processors fairly, which steps on shared threads would not.
#[derive(Debug)]
pub(crate) struct Threads(Option<Runtime>);

impl Threads {
    /// Starts so many threads, one at least.
    pub(crate) fn new(threads: usize) -> Result<Self, Error> {
        let runtime = Builder::new_multi_thread()
            .enable_time()
            .worker_threads(threads.max(1))
            .thread_stack_size(STACK_BYTES)
            .build()
            .map_err(|error| Error::sql(format!("cannot start threads: {error}")))?;
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
