//! Ending a query before its end.

use crate::base::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use tokio::sync::Notify;

/// Ends a query from another thread. Its scans end within a chunk, and the query ends with an error of kind
/// [`Interrupted`](crate::ErrorKind::Interrupted).
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
    stopped: Notify,
}

impl Interrupt {
    /// Ends the query.
    pub fn stop(&self) {
        self.0.is_stopped.store(true, Relaxed);
        self.0.stopped.notify_waiters();
    }

    /// Why the query ends now, if it does.
    pub(crate) fn error(&self) -> Option<Error> {
        self.0.is_stopped.load(Relaxed).then(Error::interrupted)
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
            stopped.await;
        }
    }
}
