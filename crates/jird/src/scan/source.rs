//! Sources of text: memory, a reader, or pieces that a caller passes.

use std::io::{self, ErrorKind};

/// A source that a deserializer or an event reader reads JSON from. This trait is sealed.
pub trait Read<'de>: private::Source<'de> {}

mod private {
    /// Seals [`Read`](super::Read).
    pub trait Source<'de>: crate::scan::TextSource<'de> {}
}

/// A source of text.
///
/// # Safety
/// The window's bytes are those of the text and do not change: [`window`](Self::window) gives the same bytes each
/// time, except that [`forget`](Self::forget) drops bytes at its beginning and [`fill`](Self::fill) adds bytes at its
/// end; this holds also if `fill` fails or panics. [`slice`](Self::slice) gives bytes of the window. Because of these
/// rules, text that pass one has checked is UTF-8 when it is used later.
pub unsafe trait TextSource<'de> {
    /// The part of a key that is kept, to say where an error is.
    type Key: Copy + Default + AsRef<[u8]>;
    /// The window drops bytes that are not needed any more when there are at least this many.
    const FORGETS_BYTES: usize;
    /// If true, pass one checks neither UTF-8 nor escapes nor the content of strings, and skipped values are not
    /// checked at all.
    const TRUSTED: bool = false;

    /// The part of the text that is in memory.
    fn window(&self) -> &[u8];
    /// Drops the first `bytes` of the window.
    fn forget(&mut self, bytes: usize);
    /// Makes the window at least `len` bytes long, if the text has them, and makes room for `room` bytes. Returns true
    /// if the text ends where the window ends.
    fn fill(&mut self, len: usize, room: usize) -> io::Result<bool>;
    /// A part of the window.
    fn slice(&self, start: usize, end: usize) -> Slice<'de, '_>;
    /// The part of the window from a key's quote up to the next token, or the beginning of that part.
    fn key(&self, start: usize, next: usize) -> Self::Key;
}

/// A part of the text: borrowed from the text itself, or valid only while the window does not change.
#[derive(Clone, Copy)]
pub enum Slice<'de, 's> {
    Borrowed(&'de [u8]),
    Passing(&'s [u8]),
}

/// Text in memory; strings without escapes are borrowed from it.
#[derive(Debug)]
pub struct SliceRead<'de> {
    all: &'de [u8],
    /// The part that 32-bit offsets can reach.
    window: &'de [u8],
}

impl<'de> SliceRead<'de> {
    pub(crate) fn new(text: &'de [u8]) -> Self {
        Self { all: text, window: Self::reach(text) }
    }

    fn reach(text: &'de [u8]) -> &'de [u8] {
        &text[..text.len().min(crate::limits::SIZE_MAX)]
    }
}

impl<'de> private::Source<'de> for SliceRead<'de> {}
impl<'de> Read<'de> for SliceRead<'de> {}

// SAFETY: the window is a part of a slice that is borrowed for `'de`, so nothing changes it. `forget` drops its
// beginning. If the window ends before the text, because offsets are 32 bits wide, `forget` lets it grow at its end by
// as much.
unsafe impl<'de> TextSource<'de> for SliceRead<'de> {
    type Key = &'de [u8];
    const FORGETS_BYTES: usize = 1 << 30;

    #[inline(always)]
    fn window(&self) -> &[u8] {
        self.window
    }

    fn forget(&mut self, bytes: usize) {
        self.all = &self.all[bytes..];
        self.window = Self::reach(self.all);
    }

    fn fill(&mut self, _: usize, _: usize) -> io::Result<bool> {
        Ok(self.all.len() == self.window.len())
    }

    #[inline(always)]
    fn slice(&self, start: usize, end: usize) -> Slice<'de, '_> {
        Slice::Borrowed(&self.window[start..end])
    }

    #[inline(always)]
    fn key(&self, start: usize, next: usize) -> &'de [u8] {
        self.window.get(start..next).unwrap_or_default()
    }
}

/// A source whose text the caller believes to be JSON: less of it is checked, and reading it is still memory-safe.
#[derive(Debug)]
pub struct Trusted<R>(pub(crate) R);

impl<'de, R: Read<'de>> private::Source<'de> for Trusted<R> {}
impl<'de, R: Read<'de>> Read<'de> for Trusted<R> {}

// SAFETY: every method forwards to the inner source, which keeps the rules.
unsafe impl<'de, R: TextSource<'de>> TextSource<'de> for Trusted<R> {
    type Key = R::Key;
    const FORGETS_BYTES: usize = R::FORGETS_BYTES;
    const TRUSTED: bool = true;

    #[inline(always)]
    fn window(&self) -> &[u8] {
        self.0.window()
    }

    fn forget(&mut self, bytes: usize) {
        self.0.forget(bytes);
    }

    fn fill(&mut self, len: usize, room: usize) -> io::Result<bool> {
        self.0.fill(len, room)
    }

    #[inline(always)]
    fn slice(&self, start: usize, end: usize) -> Slice<'de, '_> {
        self.0.slice(start, end)
    }

    #[inline(always)]
    fn key(&self, start: usize, next: usize) -> R::Key {
        self.0.key(start, next)
    }
}

/// A reader's text, read as it is needed and partly ahead.
#[derive(Debug)]
pub struct IoRead<R> {
    reader: R,
    buffer: Vec<u8>,
    /// `start..end` is the window: the bytes that were read and not forgotten.
    start: usize,
    end: usize,
    ended: bool,
}

/// The window drops bytes that are not needed any more when there are at least this many.
const READ_BYTES: usize = 64 << 10;

impl<R: io::Read> IoRead<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self { reader, buffer: Vec::new(), start: 0, end: 0, ended: false }
    }
}

impl<R: io::Read> private::Source<'_> for IoRead<R> {}
impl<R: io::Read> Read<'_> for IoRead<R> {}

// SAFETY: `start..end` of the buffer is the window. The reader gets only the part after `end`, and the window grows by
// the number of bytes that the reader says it has read, if that many fit. `forget` moves the window as a whole. If the
// reader panics, the window does not change.
unsafe impl<'de, R: io::Read> TextSource<'de> for IoRead<R> {
    type Key = ShortKey;
    const FORGETS_BYTES: usize = READ_BYTES;

    #[inline(always)]
    fn window(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    fn forget(&mut self, bytes: usize) {
        self.start += bytes;
        // Moving the rest costs no more than the bytes that were forgotten.
        if self.start > self.end - self.start {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
    }

    fn fill(&mut self, len: usize, room: usize) -> io::Result<bool> {
        while !self.ended && self.end - self.start < len {
            if self.buffer.len() < self.start + room {
                // The buffer is doubled for a long string, so that moving it takes linear time.
                self.buffer.resize((self.start + room).max(2 * self.buffer.len()), 0);
            }
            let free = &mut self.buffer[self.end..];
            let free_bytes = free.len();
            match self.reader.read(free) {
                Ok(0) => self.ended = true,
                Ok(read) if read > free_bytes => return Err(lies(read, free_bytes)),
                Ok(read) => self.end += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(self.ended)
    }

    #[inline(always)]
    fn slice(&self, start: usize, end: usize) -> Slice<'de, '_> {
        Slice::Passing(&self.window()[start..end])
    }

    fn key(&self, start: usize, next: usize) -> ShortKey {
        let mut key = ShortKey::default();
        key.len = (next - start).min(key.bytes.len()) as u8;
        let len = usize::from(key.len);
        key.bytes[..len].copy_from_slice(&self.window()[start..start + len]);
        key
    }
}

/// The error for a reader that says it has read more bytes than fit. How many it has really read is unknown.
#[cold]
fn lies(read: usize, free_bytes: usize) -> io::Error {
    io::Error::other(format!("the reader said that it read {read} bytes into a buffer of {free_bytes}"))
}

/// The number of bytes of a key's text, quotes included, that are kept for messages. Messages show less, unless the
/// key has many escapes.
pub(crate) const KEY_BYTES: usize = 96;

/// The beginning of a key, for messages.
#[derive(Clone, Copy, Debug)]
pub struct ShortKey {
    len: u8,
    bytes: [u8; KEY_BYTES],
}

impl Default for ShortKey {
    fn default() -> Self {
        Self { len: 0, bytes: [0; KEY_BYTES] }
    }
}

impl AsRef<[u8]> for ShortKey {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}
