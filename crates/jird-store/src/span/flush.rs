//! Puts a growing file on disk while it grows, so that little is left to wait for at its end.

use crate::error::Error;
use crate::files::Output;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

/// After this many bytes, the system is asked to begin. A seal of 32 MB then waits only for the last of them.
const FLUSH_BYTES: u64 = if cfg!(test) { 64 << 10 } else { 4 << 20 };

/// A file that grows.
pub(super) struct Flushed {
    file: Arc<dyn Output>,
    written: u64,
    /// How long the file was when a sync was last asked for.
    asked: u64,
    syncing: Option<Syncing>,
}

/// A thread that syncs when it is told to.
struct Syncing {
    tell: SyncSender<()>,
    thread: JoinHandle<io::Result<()>>,
}

impl Flushed {
    pub(super) fn new(file: Arc<dyn Output>) -> Self {
        Self { file, written: 0, asked: 0, syncing: None }
    }

    /// Bytes in the file.
    pub(super) fn written(&self) -> u64 {
        self.written
    }

    pub(super) fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.append(bytes)?;
        self.written += bytes.len() as u64;
        if self.written - self.asked >= FLUSH_BYTES {
            self.ask()?;
        }
        Ok(())
    }

    /// Begins to sync what is there, unless that goes on.
    fn ask(&mut self) -> io::Result<()> {
        let syncing = match &self.syncing {
            Some(syncing) => syncing,
            None => self.syncing.insert(Syncing::start(&self.file)?),
        };
        // If a request waits already, the next block asks again. If the thread ended by an error, `sync` tells.
        if !matches!(syncing.tell.try_send(()), Err(TrySendError::Full(()))) {
            self.asked = self.written;
        }
        Ok(())
    }

    /// Makes all of the file survive a loss of power.
    ///
    /// # Errors
    /// This sync or an earlier one failed. The system tells of a page that it could not write only once, so an error is
    /// one of the whole file.
    pub(super) fn sync(mut self, path: &Path) -> Result<(), Error> {
        let before = self.syncing.take().map_or(Ok(()), Syncing::end);
        before.and_then(|()| self.file.sync()).map_err(|error| Error::io("sync", path, &error))
    }
}

impl Syncing {
    fn start(file: &Arc<dyn Output>) -> io::Result<Self> {
        let (tell, told) = sync_channel(1);
        let file = Arc::clone(file);
        let sync = move || told.into_iter().try_for_each(|()| file.sync());
        let thread = std::thread::Builder::new().name("flush".into()).spawn(sync)?;
        Ok(Self { tell, thread })
    }

    fn end(self) -> io::Result<()> {
        drop(self.tell);
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Files;
    use crate::files::simulated::{Disk, Trouble};

    #[test]
    fn an_error_of_an_early_sync_is_one_of_the_file() {
        for fails in [false, true] {
            let (disk, path) = (Disk::default(), Path::new("/file"));
            let mut file = Flushed::new(disk.create(path).unwrap());
            let block = vec![7; FLUSH_BYTES as usize];
            // The first operation is the append, the second the sync that it begins.
            disk.set(if fails { Trouble::Fail(2) } else { Trouble::None });
            file.append(&block).unwrap();
            while disk.operations() < 2 {
                std::thread::yield_now();
            }
            for _ in 0..3 {
                file.append(&block).unwrap();
            }
            assert_eq!(file.written(), 4 * FLUSH_BYTES);
            assert_eq!(file.sync(path).is_err(), fails);
        }
    }
}
