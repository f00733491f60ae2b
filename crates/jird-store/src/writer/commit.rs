//! Making batches durable: one `fsync` for all that wait.

use super::WriterState;
use crate::error::{Error, ErrorKind, Sync};
use std::sync::Arc;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

impl WriterState {
    /// Waits until this many batches are durable.
    pub(super) fn sync_to(&self, batches: u64) -> Result<(), Error> {
        let mut state = self.state();
        loop {
            if let Some(error) = &state.failed {
                return Err(error.clone());
            }
            if state.synced >= batches {
                return Ok(());
            }
            if state.is_syncing {
                state = self.wait(state);
                continue;
            }
            state.is_syncing = true;
            let (target, arrivals) = (state.appended, state.arrivals);
            let mut files: Vec<_> = state.unsynced.iter().map(|(_, file)| Arc::clone(file)).collect();
            files.push(state.log.file.clone());
            drop(state);
            let result = files.iter().try_for_each(|file| file.sync());
            state = self.state();
            state.is_syncing = false;
            match result {
                Ok(()) => {
                    Self::note_synced(&mut state, target);
                    if self.options.sync == Sync::Batch {
                        state.taken.note(arrivals);
                    }
                }
                // The system may have dropped what it could not write: trying again would prove nothing.
                Err(error) => {
                    let error = Error::io("sync the log in", &self.folder.path, &error);
                    let message =
                        format!("{error}; the writer has ended, and what it had not acknowledged may be lost");
                    state.failed = Some(Error::new(ErrorKind::Closed, message));
                }
            }
            self.changed.notify_all();
        }
    }

    /// Syncs at intervals until the writer ends.
    pub(super) fn sync_at(self: &Arc<Self>, interval: Duration) {
        let mut next = Instant::now() + interval;
        loop {
            let mut state = self.state();
            while !state.is_closing && Instant::now() < next {
                let rest = next.saturating_duration_since(Instant::now());
                state = self.changed.wait_timeout(state, rest).unwrap_or_else(PoisonError::into_inner).0;
            }
            let (appended, has_more) = (state.appended, state.synced < state.appended);
            let is_closing = state.is_closing;
            drop(state);
            // An error is returned by the next `append` or `commit`.
            if has_more && self.sync_to(appended).is_err() || is_closing {
                return;
            }
            next = Instant::now() + interval;
        }
    }
}
