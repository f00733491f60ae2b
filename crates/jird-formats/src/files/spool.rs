//! A copy of an input that cannot be read twice, for work that must read it twice.

use super::{Compression, Compressor, Reader};
use jird::hooks::lines::ReadAt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{channel, sync_channel};
use std::thread;

/// How much of an input is kept, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpoolOptions {
    /// The maximum size of the copy on disk, in bytes.
    pub limit: u64,
    /// Whether the copy is compressed, with Zstandard. That takes less room and more time.
    pub compress: bool,
    /// The folder of the copy.
    pub folder: PathBuf,
}

impl SpoolOptions {
    /// The default of [`limit`](Self::limit): 16 GiB.
    pub const LIMIT: u64 = 16 << 30;
}

impl Default for SpoolOptions {
    /// At most 16 GiB, not compressed, in the folder for temporary files (`$TMPDIR`, usually `/tmp`).
    fn default() -> Self {
        Self { limit: Self::LIMIT, compress: false, folder: std::env::temp_dir() }
    }
}

/// A copy of an input on disk, which can be read any number of times. The file has no name: no other program sees it,
/// and the system removes it when the program ends, however it ends.
///
/// ```
/// use jird_formats::files::{Spool, SpoolOptions};
/// use std::io::Read;
/// let spool = Spool::fill(&mut &b"{\"a\": 1}\n"[..], &SpoolOptions::default())?;
/// for _ in 0..2 {
///     let mut text = String::new();
///     spool.reader()?.read_to_string(&mut text)?;
///     assert_eq!(text, "{\"a\": 1}\n");
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Spool {
    file: Arc<File>,
    compression: Compression,
    len: u64,
}

/// Bytes copied at a time.
const BUFFER_BYTES: usize = 1 << 18;

/// The maximum number of blocks that wait to be written.
const WAITING: usize = 4;

impl Spool {
    /// Copies everything that `reader` returns. One thread reads and another writes, with 2 MiB of memory.
    ///
    /// # Errors
    /// The errors of `reader` as they are. If the copy cannot be written, or would be larger than the limit, an error
    /// that names the folder and says what to do.
    pub fn fill(reader: &mut impl Read, options: &SpoolOptions) -> io::Result<Self> {
        let unwritten = |error: io::Error| unwritten(&error, options);
        let file = tempfile::tempfile_in(&options.folder).map_err(unwritten)?;
        let compression = if options.compress { Compression::Zstd } else { Compression::None };
        let writer = compression.compress(Bounded { file, len: 0, limit: options.limit }).map_err(unwritten)?;
        let Bounded { file, len, .. } = copy(reader, writer)?.map_err(unwritten)?;
        Ok(Self { file: Arc::new(file), compression, len })
    }

    /// A file that is as good as a copy of itself: its first `len` bytes.
    pub fn of_file(file: File, len: u64) -> Self {
        Self { file: Arc::new(file), compression: Compression::None, len }
    }

    /// The size of the copy on disk, in bytes.
    pub fn disk_bytes(&self) -> u64 {
        self.len
    }

    /// Whether the copy is compressed. If it is not, [`read_at`](Self::read_at) can read any part of it.
    pub fn is_compressed(&self) -> bool {
        self.compression != Compression::None
    }

    /// The file itself, for readers that seek. All of them share one position.
    ///
    /// # Errors
    /// If the copy is compressed, or the system has no more file handles.
    pub fn file(&self) -> io::Result<File> {
        if self.is_compressed() {
            return Err(io::Error::other("a compressed copy can be read only from its start"));
        }
        self.file.try_clone()
    }

    /// Reads a part of the copy as it is on disk.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        ReadAt::read_at(&*self.file, buffer, offset)
    }

    /// A reader of the whole content, decompressed. Any number of readers can be used at once.
    ///
    /// # Errors
    /// If the decoder cannot be created.
    pub fn reader(&self) -> io::Result<Reader> {
        self.compression.decompress(Box::new(Whole { spool: self.clone(), at: 0 }))
    }
}

/// The error of a copy that cannot be written: it names the folder, and says what to do.
pub(super) fn unwritten(error: &io::Error, options: &SpoolOptions) -> io::Error {
    let advice = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "; set TMPDIR to a folder with more room",
        _ => "",
    };
    let folder = options.folder.display();
    io::Error::new(error.kind(), format!("it must be read twice, and cannot be copied to {folder}: {error}{advice}"))
}

/// The error of a copy that is at its limit.
pub(super) fn too_large(limit: u64) -> io::Error {
    io::Error::other(format!("the copy would be larger than {limit} bytes; --spool-limit sets another limit"))
}

/// Copies all of `reader`, whose errors are the outer ones.
fn copy(reader: &mut impl Read, mut writer: Compressor<Bounded>) -> io::Result<io::Result<Bounded>> {
    let (full, blocks) = sync_channel::<Vec<u8>>(WAITING);
    let (used, free) = channel();
    thread::scope(|scope| {
        let writing = scope.spawn(move || {
            for block in blocks {
                writer.write_all(&block)?;
                // If the reader is done, the block is not needed.
                let _ = used.send(block);
            }
            writer.finish()
        });
        let read = loop {
            let mut block = free.try_recv().unwrap_or_default();
            block.resize(BUFFER_BYTES, 0);
            match reader.read(&mut block) {
                Ok(0) => break Ok(()),
                Ok(read) => block.truncate(read),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => break Err(error),
            }
            if full.send(block).is_err() {
                // The writer has failed.
                break Ok(());
            }
        };
        drop(full);
        let written = writing.join().unwrap_or_else(|_| Err(io::Error::other("the thread that writes it has failed")));
        read.map(|()| written)
    })
}

/// Reads a spool from start to end, at a position of its own.
struct Whole {
    spool: Spool,
    at: u64,
}

impl Read for Whole {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.spool.read_at(buffer, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

/// A file that does not grow beyond a limit.
struct Bounded {
    file: File,
    len: u64,
    limit: u64,
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.limit - self.len < bytes.len() as u64 {
            return Err(too_large(self.limit));
        }
        let written = self.file.write(bytes)?;
        self.len += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(limit: u64, compress: bool) -> SpoolOptions {
        SpoolOptions { limit, compress, ..SpoolOptions::default() }
    }

    #[test]
    fn a_spooled_pipe_can_be_read_again() {
        let text = b"{\"a\": 1}\n".repeat(100_000);
        for compress in [false, true] {
            let spool = Spool::fill(&mut &text[..], &options(1 << 20, compress)).unwrap();
            assert_eq!(spool.disk_bytes() < 10_000, compress);
            let mut readers = [spool.reader().unwrap(), spool.reader().unwrap()];
            let mut again = [Vec::new(), Vec::new()];
            // In turns: each has a position of its own.
            let mut buffer = [0; 1000];
            loop {
                let mut read = 0;
                for (reader, again) in readers.iter_mut().zip(&mut again) {
                    read = reader.read(&mut buffer).unwrap();
                    again.extend_from_slice(&buffer[..read]);
                }
                if read == 0 {
                    break;
                }
            }
            assert!(again.iter().all(|again| *again == text));
        }
    }

    #[test]
    fn a_copy_does_not_grow_beyond_the_limit() {
        assert!(Spool::fill(&mut &[b' '; 1000][..], &options(1000, false)).is_ok());
        let error = Spool::fill(&mut &[b' '; 1001][..], &options(1000, false)).unwrap_err().to_string();
        assert!(error.contains("larger than 1000 bytes; --spool-limit"), "{error}");
        let error = Spool::fill(&mut io::repeat(b' '), &options(300_000, false)).unwrap_err().to_string();
        assert!(error.contains("300000 bytes"), "{error}");
    }

    #[test]
    fn a_folder_that_is_missing_is_named() {
        let options = SpoolOptions { folder: "/nowhere/at/all".into(), ..SpoolOptions::default() };
        let error = Spool::fill(&mut &b"1"[..], &options).unwrap_err().to_string();
        assert!(error.contains("/nowhere/at/all"), "{error}");
    }
}
