//! Room on disk, which sorts and groups take when their memory is full.
//!
//! The files have no name: no other program sees them, and the system removes them when the query ends, however it ends.

use super::spill::Spill;
use crate::base::error::Error;
use bytes::Bytes;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::disk_manager::DiskManagerBuilder;
use datafusion::execution::spill_file::{SpillFile, SpillWriter, TempFileFactory};
use futures::Stream;
use futures::stream::try_unfold;
use jird::hooks::lines::{ReadAt, write_all_at};
use std::fs::File;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Bytes that are read at a time.
const BLOCK_BYTES: usize = 128 << 10;

/// The disk of a query that may put this much aside.
pub(crate) fn disk(allowed: &Spill) -> DiskManagerBuilder {
    let files = Files { allowed: allowed.clone(), used: Arc::default() };
    DiskManagerBuilder::default().with_temp_file_factory(Arc::new(files))
}

/// Makes the files of a query.
struct Files {
    allowed: Spill,
    /// The bytes of all files that are there.
    used: Arc<AtomicU64>,
}

impl TempFileFactory for Files {
    fn create_temp_file(&self, _: &str) -> Result<Arc<dyn SpillFile>> {
        let file = tempfile::tempfile_in(&self.allowed.folder)
            .map_err(|error| Error::unspilled(&self.allowed.folder, &error))?;
        let (allowed, used) = (self.allowed.clone(), Arc::clone(&self.used));
        Ok(Arc::new(Aside(Arc::new(Inner { file, len: AtomicU64::new(0), allowed, used }))))
    }
}

/// A file without a name.
struct Aside(Arc<Inner>);

struct Inner {
    file: File,
    len: AtomicU64,
    allowed: Spill,
    used: Arc<AtomicU64>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.used.fetch_sub(*self.len.get_mut(), Relaxed);
    }
}

impl SpillFile for Aside {
    fn size(&self) -> Option<u64> {
        Some(self.0.len.load(Relaxed))
    }

    fn read_stream(&self) -> Result<Pin<Box<dyn Stream<Item = Result<Bytes>> + Send>>> {
        let inner = Arc::clone(&self.0);
        let next = move |at: u64| {
            let mut block = vec![0; BLOCK_BYTES];
            let read = ReadAt::read_at(&inner.file, &mut block, at).map(|read| {
                block.truncate(read);
                (read > 0).then(|| (Bytes::from(block), at + read as u64))
            });
            let read = read.map_err(|error| DataFusionError::from(Error::unspilled(&inner.allowed.folder, &error)));
            async move { read }
        };
        Ok(Box::pin(try_unfold(0, next)))
    }

    fn open_writer(&self) -> Result<Box<dyn SpillWriter>> {
        Ok(Box::new(Appending(Arc::clone(&self.0))))
    }
}

/// Writes at the end of a file.
struct Appending(Arc<Inner>);

impl io::Write for Appending {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Inner { file, len, allowed, used } = &*self.0;
        let more = bytes.len() as u64;
        if used.fetch_add(more, Relaxed) + more > allowed.limit {
            used.fetch_sub(more, Relaxed);
            return Err(io::Error::other(Error::spilled(allowed.limit)));
        }
        // From here on, the bytes are given back when the file goes.
        let at = len.fetch_add(more, Relaxed);
        write_all_at(file, bytes, at).map_err(|error| io::Error::other(Error::unspilled(&allowed.folder, &error)))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl SpillWriter for Appending {
    fn finish(&mut self) -> Result<()> {
        Ok(())
    }
}
