//! Ending a query before its end.

use crate::base::error::Error;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Ends a query from another thread, or when its time is over. Its scans end within a chunk, and the query ends with an
/// error of kind [`Interrupted`](crate::ErrorKind::Interrupted) or [`Time`](crate::ErrorKind::Time).
///
/// Clones end the same query.
///
/// ```
/// # let file = std::env::temp_dir().join(format!("jird-interrupt-{}", std::process::id()));
/// # std::fs::write(&file, "{}\n")?;
/// use jird_query::{ErrorKind, Options, Query, Report};
/// let query = Query::new("select * from stream", vec![file.display().to_string()], Options::default());
/// query.interrupt().stop();
/// let error = query.run(&mut Vec::new(), &mut Report::default()).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Interrupted);
/// # std::fs::remove_file(file)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    is_stopped: AtomicBool,
    until: OnceLock<Instant>,
    stopped: Notify,
}

impl Interrupt {
    /// Ends the query.
    pub fn stop(&self) {
        self.0.is_stopped.store(true, Relaxed);
        self.0.stopped.notify_waiters();
    }

    /// Ends the query when so much time has passed from now on. The first call decides.
    pub fn stop_after(&self, time: Duration) {
        if let Some(until) = Instant::now().checked_add(time) {
            let _ = self.0.until.set(until);
        }
    }

    /// Why the query ends now, if it does.
    pub(crate) fn error(&self) -> Option<Error> {
        if self.0.is_stopped.load(Relaxed) {
            return Some(Error::interrupted());
        }
        self.0.until.get().filter(|until| **until <= Instant::now()).map(|_| Error::time())
    }

    /// Fails if the query ends now.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.error().map_or(Ok(()), Err)
    }

    /// Waits until the query ends.
    pub(crate) async fn wait(&self) -> Error {
        loop {
            let stopped = self.0.stopped.notified();
            let mut stopped = std::pin::pin!(stopped);
            // From here on no call is missed.
            stopped.as_mut().enable();
            if let Some(error) = self.error() {
                return error;
            }
            match self.0.until.get() {
                Some(until) => {
                    let _ = tokio::time::timeout_at((*until).into(), stopped).await;
                }
                None => stopped.await,
            }
        }
    }
}
