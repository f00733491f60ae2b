//! The threads on which requests run. There is one runtime for the process, and it never ends: it must not be dropped by
//! the threads of another runtime, which are among those that read.

use futures_util::StreamExt;
use std::future::Future;
use std::io;
use std::sync::mpsc::sync_channel;
use std::sync::{Mutex, PoisonError};
use tokio::runtime::{Builder, Handle, Runtime};

/// The most threads. They decrypt and copy, and the threads that scan need the cores, too.
const THREADS_MAX: usize = 4;

/// The most objects that are opened at a time.
const OPENED_AT_ONCE: usize = 16;

/// The runtime, which is started when the first request is made.
pub(super) fn handle() -> io::Result<Handle> {
    static RUNTIME: Mutex<Option<Runtime>> = Mutex::new(None);
    let mut runtime = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
    if runtime.is_none() {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX);
        let started =
            Builder::new_multi_thread().worker_threads(threads).thread_name("jird-fetch").enable_all().build()?;
        *runtime = Some(started);
    }
    runtime.as_ref().map(|runtime| runtime.handle().clone()).ok_or_else(|| io::ErrorKind::Other.into())
}

/// Waits for something that requests bring. May be called on any thread.
pub(super) fn wait_for<T: Send + 'static>(
    wanted: impl Future<Output = io::Result<T>> + Send + 'static,
) -> io::Result<T> {
    let (sender, receiver) = sync_channel(1);
    handle()?.spawn(async move {
        // The receiver may be gone.
        let _ = sender.send(wanted.await);
    });
    receiver.recv().unwrap_or_else(|_| Err(failed()))
}

/// Waits for several; only some are under way at a time. The results are in their order.
pub(super) fn wait_for_all<T: Send + 'static, F: Future<Output = io::Result<T>> + Send + 'static>(
    wanted: impl Iterator<Item = F>,
) -> Vec<io::Result<T>> {
    let wanted: Vec<F> = wanted.collect();
    let count = wanted.len();
    let all = async move { Ok(futures_util::stream::iter(wanted).buffered(OPENED_AT_ONCE).collect::<Vec<_>>().await) };
    match wait_for(all) {
        Ok(results) => results,
        Err(error) => (0..count).map(|_| Err(io::Error::new(error.kind(), error.to_string()))).collect(),
    }
}

/// A request that panicked.
pub(super) fn failed() -> io::Error {
    io::Error::other("the request has failed inside the program")
}
