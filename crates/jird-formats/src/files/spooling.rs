//! A copy of a pipe that is read while it is made.

use super::spool::{Spool, SpoolOptions, too_large, unwritten};
use super::system::splice;
use crate::detached::apart;
use jird::hooks::lines::{ReadAt, write_all_at};
use std::fs::File;
use std::io::{self, Read};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// A copy of a pipe on disk, which can be read at any offset while a thread still makes it: a read beyond its end
/// waits. So the text is used while it arrives, and can be read again afterwards. Clones share one copy.
///
/// ```
/// use jird_formats::files::{Spooling, SpoolOptions};
/// use std::io::{Read, Write};
/// let (reader, mut writer) = std::io::pipe()?;
/// let spooling = Spooling::start(b"[1, ".to_vec(), std::os::fd::OwnedFd::from(reader).into(), &SpoolOptions::default(), |_| ())?;
/// writer.write_all(b"2]")?;
/// drop(writer);
/// let mut text = String::new();
/// spooling.reader().read_to_string(&mut text)?;
/// assert_eq!((text.as_str(), spooling.finish()?.disk_bytes()), ("[1, 2]", 6));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Spooling {
    shared: Arc<SpoolState>,
}

#[derive(Debug)]
struct SpoolState {
    file: File,
    copied: Mutex<Copied>,
    changed: Condvar,
}

/// How far the copy is.
#[derive(Debug, Default)]
struct Copied {
    bytes: u64,
    end: Option<End>,
}

#[derive(Clone, Debug)]
enum End {
    Whole,
    /// An error, which cannot be cloned: its kind and its words.
    Failed(io::ErrorKind, String),
}

/// Bytes copied at a time, which is the room of a pipe.
const BLOCK_BYTES: usize = 1 << 20;

impl Spooling {
    /// Begins to copy `start`, and then all that `pipe` has. `count` is told how many bytes have come from the pipe.
    ///
    /// # Errors
    /// If no file can be made in the folder of the options, or no thread. Later failures are errors of the reads.
    ///
    /// # Panics
    /// If the copy is to be compressed: no part of it could be read then.
    pub fn start(
        start: Vec<u8>,
        pipe: File,
        options: &SpoolOptions,
        count: impl Fn(u64) + Send + 'static,
    ) -> io::Result<Self> {
        assert!(!options.compress, "a copy that is compressed is read when it is whole");
        let file = tempfile::tempfile_in(&options.folder).map_err(|error| unwritten(&error, options))?;
        let shared = Arc::new(SpoolState { file, copied: Mutex::default(), changed: Condvar::new() });
        let (own, options) = (Arc::clone(&shared), options.clone());
        apart("jird-spool", None, move || {
            let done = Copy { shared: &own, options: &options, count }.run(&start, &pipe);
            own.end(match done {
                Ok(()) => End::Whole,
                Err(error) => End::Failed(error.kind(), error.to_string()),
            });
        })?;
        Ok(Self { shared })
    }

    /// Waits until there are `bytes` bytes, or all. Returns how many there are, and whether these are all.
    ///
    /// # Errors
    /// If the pipe cannot be read, or the copy cannot be written or would be larger than the limit.
    pub fn wait_for(&self, bytes: u64) -> io::Result<(u64, bool)> {
        let copied = self.shared.copied();
        let is_short = |copied: &mut Copied| copied.bytes < bytes && copied.end.is_none();
        let copied = self.shared.changed.wait_while(copied, is_short).unwrap_or_else(PoisonError::into_inner);
        match &copied.end {
            None => Ok((copied.bytes, false)),
            Some(End::Whole) => Ok((copied.bytes, true)),
            Some(End::Failed(..)) if copied.bytes >= bytes => Ok((copied.bytes, false)),
            Some(End::Failed(kind, words)) => Err(io::Error::new(*kind, words.clone())),
        }
    }

    /// A reader of the whole text. Any number of readers can be used at once.
    pub fn reader(&self) -> impl Read + Send + 'static {
        Whole { spooling: self.clone(), at: 0 }
    }

    /// Waits until the copy is whole.
    ///
    /// # Errors
    /// As [`wait_for`](Self::wait_for); also if the system has no more file handles.
    pub fn finish(&self) -> io::Result<Spool> {
        let (bytes, _) = self.wait_for(u64::MAX)?;
        Ok(Spool::of_file(self.shared.file.try_clone()?, bytes))
    }
}

impl ReadAt for Spooling {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.wait_for(offset.saturating_add(1))?;
        self.shared.file.read_at(buffer, offset)
    }
}

impl SpoolState {
    fn copied(&self) -> MutexGuard<'_, Copied> {
        self.copied.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self, end: End) {
        self.copied().end = Some(end);
        self.changed.notify_all();
    }
}

/// Makes the copy.
struct Copy<'c, F> {
    shared: &'c Arc<SpoolState>,
    options: &'c SpoolOptions,
    count: F,
}

impl<F: Fn(u64)> Copy<'_, F> {
    fn run(&self, start: &[u8], pipe: &File) -> io::Result<()> {
        self.room(start.len())?;
        self.write(start)?;
        let mut buffer = Vec::new();
        let mut splices = true;
        // When the query is over, its other owners are gone.
        while Arc::strong_count(self.shared) > 1 {
            let spliced = if splices { self.splice(pipe)? } else { None };
            splices = spliced.is_some();
            let copied = match spliced {
                Some(copied) => copied,
                None => self.copy(pipe, &mut buffer)?,
            };
            if copied == 0 {
                return Ok(());
            }
            (self.count)(copied as u64);
        }
        Ok(())
    }

    /// The number of bytes that may be copied next: one more than there is room for, so that too much is noticed.
    fn most(&self) -> usize {
        let left = self.options.limit - self.shared.copied().bytes;
        usize::try_from(left).unwrap_or(usize::MAX).saturating_add(1).min(BLOCK_BYTES)
    }

    /// Whether there is room for this many bytes.
    fn room(&self, bytes: usize) -> io::Result<()> {
        if self.shared.copied().bytes + bytes as u64 > self.options.limit {
            return Err(unwritten(&too_large(self.options.limit), self.options));
        }
        Ok(())
    }

    /// Moves what is in the pipe to the file, within the system. `None` if the system cannot do it.
    fn splice(&self, pipe: &File) -> io::Result<Option<usize>> {
        let at = self.shared.copied().bytes;
        let spliced = splice(pipe, &self.shared.file, at, self.most());
        let spliced = spliced.map_err(|error| unwritten(&error, self.options))?;
        if let Some(copied) = spliced {
            self.room(copied)?;
            self.done(copied);
        }
        Ok(spliced)
    }

    /// Reads some of the pipe, and writes it.
    fn copy(&self, mut pipe: &File, buffer: &mut Vec<u8>) -> io::Result<usize> {
        buffer.resize(BLOCK_BYTES, 0);
        let most = self.most();
        let read = loop {
            match pipe.read(&mut buffer[..most]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        self.room(read)?;
        self.write(&buffer[..read])?;
        Ok(read)
    }

    fn write(&self, text: &[u8]) -> io::Result<()> {
        let at = self.shared.copied().bytes;
        write_all_at(&self.shared.file, text, at).map_err(|error| unwritten(&error, self.options))?;
        self.done(text.len());
        Ok(())
    }

    fn done(&self, bytes: usize) {
        self.shared.copied().bytes += bytes as u64;
        self.shared.changed.notify_all();
    }
}

/// Reads a copy from start to end, at a position of its own.
struct Whole {
    spooling: Spooling,
    at: u64,
}

impl Read for Whole {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.spooling.read_at(buffer, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    #[cfg(unix)]
    use std::os::fd::OwnedFd;
    #[cfg(windows)]
    use std::os::windows::io::OwnedHandle as OwnedFd;
    use std::thread;

    fn started(start: &[u8], limit: u64) -> (Spooling, io::PipeWriter) {
        let (reader, writer) = io::pipe().unwrap();
        let options = SpoolOptions { limit, ..SpoolOptions::default() };
        let spooling = Spooling::start(start.to_vec(), OwnedFd::from(reader).into(), &options, |_| ()).unwrap();
        (spooling, writer)
    }

    #[test]
    fn a_copy_is_read_while_it_grows() {
        let text: Vec<u8> = (0..3_000_000_u32).flat_map(u32::to_le_bytes).collect();
        let (spooling, mut writer) = started(&text[..10], u64::MAX);
        let mut buffer = [0; 100];
        assert_eq!(spooling.read_at(&mut buffer, 0).unwrap(), 10);
        writer.write_all(&text[10..20]).unwrap();
        assert_eq!(spooling.read_at(&mut buffer[..1], 19).unwrap(), 1);
        assert_eq!(buffer[0], text[19]);
        thread::scope(|scope| {
            let readers = [(); 3].map(|()| {
                scope.spawn(|| {
                    let mut again = Vec::new();
                    spooling.reader().read_to_end(&mut again).map(|_| again).unwrap()
                })
            });
            writer.write_all(&text[20..]).unwrap();
            drop(writer);
            assert!(readers.into_iter().all(|reader| reader.join().unwrap() == text));
        });
        assert_eq!(spooling.read_at(&mut buffer, text.len() as u64).unwrap(), 0);
        assert_eq!(spooling.wait_for(1).unwrap(), (text.len() as u64, true));
        let spool = spooling.finish().unwrap();
        let mut again = Vec::new();
        spool.reader().unwrap().read_to_end(&mut again).unwrap();
        assert!(again == text && spool.disk_bytes() == text.len() as u64);
    }

    #[test]
    fn a_file_that_is_no_pipe_is_copied_too() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![b'x'; 3 << 20]).unwrap();
        io::Seek::rewind(&mut file).unwrap();
        let spooling = Spooling::start(b"y".to_vec(), file, &SpoolOptions::default(), |_| ()).unwrap();
        assert_eq!(spooling.finish().unwrap().disk_bytes(), (3 << 20) + 1);
    }

    #[test]
    fn a_copy_does_not_grow_beyond_the_limit() {
        for (bytes, fits) in [(1000, true), (1001, false), (300_000, false)] {
            let (spooling, mut writer) = started(b"123", 1000);
            // The reader may be gone before all is written.
            let _ = writer.write_all(&vec![b' '; bytes - 3]);
            drop(writer);
            match spooling.finish() {
                Ok(spool) => assert!(fits && spool.disk_bytes() == 1000, "{bytes}"),
                Err(error) => {
                    assert!(!fits && error.to_string().contains("larger than 1000 bytes; --spool-limit"), "{error}");
                }
            }
        }
    }
}
