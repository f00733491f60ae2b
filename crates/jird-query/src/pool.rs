//! Threads that run queries.

use crate::error::Error;
use std::sync::Arc;
use tokio::runtime::{Builder, Handle, Runtime};

/// Threads that several queries share. Clones are the same threads, which end with the last of them.
///
/// ```
/// let pool = jird_query::Pool::new(2)?;
/// # Ok::<(), jird_query::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Pool(Arc<Threads>);

#[derive(Debug)]
struct Threads(Option<Runtime>);

impl Pool {
    /// Starts so many threads, one at least.
    pub fn new(threads: usize) -> Result<Self, Error> {
        let runtime = Builder::new_multi_thread()
            .enable_time()
            .worker_threads(threads.max(1))
            .thread_name("jird-query")
            .build()
            .map_err(|error| Error::sql(format!("cannot start threads: {error}")))?;
        Ok(Self(Arc::new(Threads(Some(runtime)))))
    }

    pub(crate) fn handle(&self) -> &Handle {
        self.0.0.as_ref().expect("it is there until it is dropped").handle()
    }
}

impl Drop for Threads {
    /// Scans whose results are no longer needed end by themselves, so nobody waits for them.
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
