//! Writes words and blocks into a buffer whose memory may move.
//!
//! A [`Writer`] holds the position of the next byte and the [`Out`] that it writes to. A writer is passed by value. A
//! function that takes a writer returns a [`Mark`]: only the position that its writer has reached, with the same
//! lifetime. The caller's writer continues from there ([`Writer::with`]). So the position stays in a register and not
//! in memory, even from one function to the next.
//!
//! Each method of a writer makes room for what it writes and for [`SLACK`] bytes more. So it can store whole words and
//! blocks, even if only a part of them counts.

#![allow(unsafe_code, reason = "stores into a vector's spare capacity")]

use super::direct;
use super::escape::{self, ESCAPE_MAX};
use crate::error::{Category, Error};
use crate::kernel::{BLOCK, Kernel, SIXTEEN, sixteen_digits};
use crate::number;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

/// Decides what happens to a full buffer.
pub(crate) trait Overflow {
    /// Whether what was written before an error can be [kept](Out::keep). Then writers say where they are before and
    /// after each part that they pass on.
    const KEEPS: bool = false;

    /// Either takes all of the buffer's content and returns true; or returns false, and the buffer grows.
    fn take(&mut self, text: &[u8]) -> Result<bool, Error>;
}

/// Takes nothing: the buffer grows.
impl Overflow for () {
    #[inline(always)]
    fn take(&mut self, _text: &[u8]) -> Result<bool, Error> {
        Ok(false)
    }
}

/// Writes each full buffer to a writer, unless it holds the output back.
pub(crate) struct Drain<W> {
    pub(crate) writer: W,
    pub(crate) holds: bool,
    /// The number of bytes it has taken from the buffer.
    pub(crate) taken: u64,
}

impl<W: std::io::Write> Drain<W> {
    pub(crate) fn new(writer: W) -> Self {
        Self { writer, holds: false, taken: 0 }
    }

    /// Writes all of `text`, as [`Write::write_all`](std::io::Write::write_all) does; but where that panics, because
    /// the writer reports more bytes than it was given, this returns an error.
    pub(crate) fn write(&mut self, text: &[u8]) -> Result<(), Error> {
        let mut rest = text;
        while !rest.is_empty() {
            match self.writer.write(rest) {
                Ok(0) => return Err(std::io::Error::from(std::io::ErrorKind::WriteZero).into()),
                Ok(taken) => rest = rest.get(taken..).ok_or_else(|| writer_lies(taken, rest.len()))?,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

impl<W: std::io::Write> Overflow for Drain<W> {
    const KEEPS: bool = true;

    fn take(&mut self, text: &[u8]) -> Result<bool, Error> {
        if self.holds {
            return Ok(false);
        }
        self.taken += text.len() as u64;
        self.write(text)?;
        Ok(true)
    }
}

#[cold]
fn writer_lies(taken: usize, given: usize) -> std::io::Error {
    std::io::Error::other(format!("the writer said that it took {taken} bytes of {given}"))
}

/// A buffer, and where its content goes when it is full.
pub(crate) struct Out<S> {
    buffer: Vec<u8>,
    overflow: S,
    kernel: Kernel,
    /// Whether writers wrote all of the buffer's content.
    is_ours: bool,
    /// Where a writer last said that it was, if the overflow keeps what was written before an error.
    ///
    /// Invariant: the first `reached` bytes of the buffer's memory are written, unless it is `NOWHERE`.
    reached: usize,
}

/// The number of bytes that may be stored beyond those that count.
pub(super) const SLACK: usize = 64;

/// Long texts are written in parts of this size, so that a buffer need not hold all of one.
const PART: usize = 4096;

/// A position beyond the end of any buffer: asking for room there ends in [`make_room`], which returns an error.
const NOWHERE: usize = usize::MAX / 2;

/// Appends a string as JSON, with its quotes and with as few escapes as possible.
///
/// ```
/// let mut text = Vec::new();
/// jird::hooks::write_string("a\n\u{e9}", &mut text);
/// assert_eq!(text, "\"a\\n\u{e9}\"".as_bytes());
/// ```
#[expect(clippy::missing_panics_doc, reason = "a vector takes everything")]
pub fn write_string(content: &str, text: &mut Vec<u8>) {
    let mut out = Out::new(core::mem::take(text), ());
    let mut writer = out.writer();
    writer.string(content).expect("a vector takes everything");
    writer.commit();
    *text = out.into_buffer();
}

/// A string as JSON, with its quotes.
///
/// ```
/// assert_eq!(jird::hooks::quoted("a\n\u{e9}"), "\"a\\n\u{e9}\"");
/// ```
#[expect(clippy::missing_panics_doc, reason = "a vector takes everything")]
pub fn quoted(content: &str) -> String {
    let mut out = Out::new(Vec::new(), ());
    let mut writer = out.writer();
    writer.string(content).expect("a vector takes everything");
    writer.commit();
    out.into_string()
}

impl<S: Overflow> Out<S> {
    /// Appends to `buffer`.
    pub(crate) fn new(buffer: Vec<u8>, overflow: S) -> Self {
        Self { is_ours: buffer.is_empty(), reached: buffer.len(), buffer, overflow, kernel: Kernel::best() }
    }

    /// The output, as text.
    ///
    /// # Panics
    /// If the buffer was not empty at the start.
    pub(crate) fn into_string(self) -> String {
        assert!(self.is_ours);
        if cfg!(any(debug_assertions, jird_checked)) {
            return String::from_utf8(self.buffer).expect("writers write whole strings and ASCII");
        }
        // SAFETY: the buffer was empty at the start, and only writers change it. They write whole `str`s; or the parts
        // of a `str` that need no escape, which are cut only before and after ASCII bytes; and apart from that only
        // ASCII.
        unsafe { String::from_utf8_unchecked(self.buffer) }
    }

    /// The output that the overflow has not taken yet.
    pub(crate) fn into_buffer(self) -> Vec<u8> {
        self.buffer
    }

    /// A view of the output that the overflow has not taken yet.
    pub(crate) fn buffer(&self) -> &[u8] {
        &self.buffer
    }

    /// Keeps the first `len` bytes of the buffer, and forgets the rest.
    pub(crate) fn truncate(&mut self, len: usize) {
        // The cut may fall within a character.
        self.is_ours &= len == 0;
        self.buffer.truncate(len);
        self.reached = self.buffer.len();
    }

    /// Passes the output that the overflow has not taken to `use_it`, and forgets it.
    pub(crate) fn held(&mut self, use_it: impl FnOnce(&[u8], &mut S) -> Result<(), Error>) -> Result<(), Error> {
        let used = use_it(&self.buffer, &mut self.overflow);
        self.clear();
        used
    }

    pub(crate) fn into_overflow(self) -> S {
        self.overflow
    }

    pub(crate) fn overflow(&mut self) -> &mut S {
        &mut self.overflow
    }

    /// A writer at the end of the buffer. Its output counts once it is [committed](Writer::commit).
    #[inline]
    pub(crate) fn writer(&mut self) -> Writer<'_, S> {
        self.reached = self.buffer.len();
        Writer { at: self.buffer.len(), out: self, brand: PhantomData }
    }

    /// Offers the buffer's content to the overflow. After an error the buffer is empty.
    pub(crate) fn flush(&mut self) -> Result<(), Error> {
        let taken = self.overflow.take(&self.buffer);
        if !matches!(taken, Ok(false)) {
            self.clear();
        }
        taken.map(|_| ())
    }

    /// Offers the buffer's content to the overflow, except for the beginning of a character that is not complete. After an
    /// error the buffer is empty.
    pub(crate) fn flush_whole(&mut self) -> Result<(), Error> {
        let cut = super::cut_len(&self.buffer);
        if cut == 0 {
            return self.flush();
        }
        let whole = self.buffer.len() - cut;
        let taken = self.overflow.take(&self.buffer[..whole]);
        match taken {
            Ok(true) => drop(self.buffer.drain(..whole)),
            Ok(false) => {}
            Err(_) => self.buffer.clear(),
        }
        self.reached = self.buffer.len();
        taken.map(|_| ())
    }

    fn clear(&mut self) {
        self.buffer.clear();
        self.reached = 0;
    }

    /// Makes what was written before an error count, up to the last place that a writer named.
    pub(crate) fn keep(&mut self) {
        if self.reached <= self.buffer.capacity() {
            // SAFETY: the first `self.reached` bytes are written, by the invariant, and they are within the capacity.
            unsafe { self.buffer.set_len(self.reached) };
        }
    }

    #[cfg(test)]
    pub(super) fn with_kernel(mut self, kernel: Kernel) -> Self {
        self.kernel = kernel;
        self
    }
}

/// The position that a writer has reached: the only thing that is returned to the caller.
pub(crate) struct Mark<'o> {
    at: usize,
    brand: Brand<'o>,
}

/// An invariant lifetime: it matches itself and no other.
type Brand<'o> = PhantomData<fn(&'o ()) -> &'o ()>;

/// A position in an [`Out`] at which the next byte is written.
///
/// Invariant: the first `at` bytes of the buffer's memory are written, unless `at` is `NOWHERE`.
pub(crate) struct Writer<'o, S> {
    out: &'o mut Out<S>,
    at: usize,
    /// Makes `'o` unique to this writer; see [`Writer::with`].
    brand: Brand<'o>,
}

impl<'o, S: Overflow> Writer<'o, S> {
    /// Passes a writer to `write`, and continues from the position that it returns.
    ///
    /// Since `write` must work for every lifetime `'p`, the only mark of type `Mark<'p>` that it can return is that of
    /// its own writer.
    #[inline(always)]
    pub(crate) fn with<E>(
        &mut self,
        write: impl for<'p> FnOnce(Writer<'p, S>) -> Result<Mark<'p>, E>,
    ) -> Result<(), E> {
        self.reach();
        // After an error the position stays `NOWHERE`, so that nothing more can be written.
        let at = core::mem::replace(&mut self.at, NOWHERE);
        self.at = write(Writer { out: &mut *self.out, at, brand: PhantomData })?.at;
        Ok(())
    }

    /// The position reached.
    #[inline(always)]
    pub(crate) fn mark(mut self) -> Mark<'o> {
        self.reach();
        Mark { at: self.at, brand: self.brand }
    }

    /// Says where the writer is, if the overflow keeps what was written before an error.
    #[inline(always)]
    pub(crate) fn reach(&mut self) {
        if S::KEEPS {
            self.out.reached = self.at;
        }
    }

    /// Makes the output count.
    #[inline]
    pub(crate) fn commit(self) -> &'o mut Out<S> {
        assert!(self.at <= self.out.buffer.capacity(), "a writer is back from where it was handed on to");
        // SAFETY: the first `self.at` bytes are written, by the invariant, and they are within the capacity, as was
        // just asserted.
        unsafe { self.out.buffer.set_len(self.at) };
        self.out
    }

    /// The overflow, which also holds a serializer's format and options.
    #[inline(always)]
    pub(crate) fn overflow(&mut self) -> &mut S {
        &mut self.out.overflow
    }

    /// Makes room for `len` bytes and `SLACK` more.
    #[inline(always)]
    fn room(&mut self, len: usize) -> Result<(), Error> {
        // This cannot overflow: nothing in memory is longer than half of `usize`, and `NOWHERE` is such a half.
        if self.at + len + SLACK > self.out.buffer.capacity() {
            self.at = make_room(self.out, self.at, len + SLACK)?;
        }
        Ok(())
    }

    /// A pointer to the place of the next byte.
    ///
    /// # Safety
    /// Call this only after [`room`](Self::room).
    #[inline(always)]
    unsafe fn end(&mut self) -> *mut u8 {
        debug_assert!(self.at <= self.out.buffer.capacity());
        // SAFETY: there was room at `at`, so it is not beyond the capacity.
        unsafe { self.out.buffer.as_mut_ptr().add(self.at) }
    }

    /// Stores `bytes`; the first `len` count.
    ///
    /// # Safety
    /// There is room for `len` bytes, and `len <= LEN`.
    #[inline(always)]
    unsafe fn store<const LEN: usize>(&mut self, bytes: [u8; LEN], len: usize) {
        const { assert!(LEN <= SLACK, "room for what does not count") };
        debug_assert!(len <= LEN && self.at + len + SLACK <= self.out.buffer.capacity(), "there is room");
        // SAFETY: room for `len` bytes includes `SLACK` bytes more, and `LEN` is at most `SLACK`.
        unsafe { self.end().cast::<[u8; LEN]>().write(bytes) };
        self.at += len;
    }

    /// Copies `bytes`.
    ///
    /// # Safety
    /// There is room for them.
    #[inline(always)]
    unsafe fn copy(&mut self, bytes: &[u8]) {
        debug_assert!(self.at + bytes.len() + SLACK <= self.out.buffer.capacity(), "there is room");
        // SAFETY: there is room, and no slice refers to the buffer's spare capacity.
        unsafe { self.end().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        self.at += bytes.len();
    }

    /// Writes the first `len` of these bytes. They should be compile-time constants.
    ///
    /// # Panics
    /// If `len > LEN`, or if they are not ASCII.
    #[inline(always)]
    pub(crate) fn bytes<const LEN: usize>(&mut self, bytes: [u8; LEN], len: usize) -> Result<(), Error> {
        assert!(len <= LEN && bytes.iter().fold(0, |all, byte| all | byte) < 0x80);
        self.room(len)?;
        // SAFETY: room was made, and the length was asserted.
        unsafe { self.store(bytes, len) };
        Ok(())
    }

    /// Writes `text` as it is.
    pub(crate) fn raw(&mut self, text: &str) -> Result<(), Error> {
        for part in text.as_bytes().chunks(PART) {
            self.room(part.len())?;
            // SAFETY: room was made.
            unsafe { self.copy(part) };
        }
        Ok(())
    }

    /// Writes `,` unless this is the first member, then the key and the colon. Meant for keys that are compile-time
    /// constants: little but stores is then left of it.
    #[inline(always)]
    pub(crate) fn member(&mut self, first: bool, key: &str) -> Result<(), Error> {
        if key.len() > PART || !escape::is_plain(key.as_bytes()) {
            return self.other_member(first, key);
        }
        self.room(key.len() + 4)?;
        // SAFETY: room was made for all of it.
        unsafe {
            self.store(*b",\"", usize::from(!first));
            self.store([b'"'], 1);
            self.copy(key.as_bytes());
            self.store(*b"\":", 2);
        }
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn other_member(&mut self, first: bool, key: &str) -> Result<(), Error> {
        self.bytes([b','], usize::from(!first))?;
        self.string(key)?;
        self.bytes([b':'], 1)
    }

    /// Writes `text` as a JSON string. Escapes only what RFC 8259 §7 demands. An escape has its short form where there
    /// is one, `\b \t \n \f \r \" \\`, and otherwise the form `\u00xx` in lower case. DEL, `/` and everything beyond
    /// ASCII are written unescaped.
    #[inline(always)]
    pub(crate) fn string(&mut self, text: &str) -> Result<(), Error> {
        self.at = string(self.out, self.at, text)?;
        Ok(())
    }

    /// Writes what stands between the quotes of [`string`](Self::string), and leaves room for another byte.
    pub(crate) fn content(&mut self, text: &str) -> Result<(), Error> {
        self.at = content(self.out, self.at, text.as_bytes())?;
        Ok(())
    }

    /// Writes a number.
    #[inline(always)]
    pub(crate) fn unsigned(&mut self, value: u64) -> Result<(), Error> {
        self.room(20)?;
        // SAFETY: room was made for the longest number.
        unsafe { self.store_unsigned(value) };
        Ok(())
    }

    /// # Safety
    /// There is room for 20 bytes.
    #[inline(always)]
    unsafe fn store_unsigned(&mut self, value: u64) {
        // SAFETY: the caller's promise; and room includes `SLACK` bytes more.
        self.at += unsafe { direct::put_unsigned(value, self.end()) };
    }

    /// Writes a number.
    #[inline(always)]
    pub(crate) fn signed(&mut self, value: i64) -> Result<(), Error> {
        self.room(21)?;
        // SAFETY: room was made for the sign and the longest number.
        unsafe {
            self.store([b'-'], usize::from(value < 0));
            self.store_unsigned(value.unsigned_abs());
        }
        Ok(())
    }

    /// Writes a number of any size.
    pub(crate) fn huge(&mut self, value: u128) -> Result<(), Error> {
        let Ok(small) = u64::try_from(value) else {
            self.huge(value / u128::from(SIXTEEN))?;
            let (digits, _) = sixteen_digits((value % u128::from(SIXTEEN)) as u64);
            self.room(16)?;
            // SAFETY: room was made.
            unsafe { self.store(digits.to_le_bytes(), 16) };
            return Ok(());
        };
        self.unsigned(small)
    }

    /// Writes a finite number with the shortest digits that read back as the same number.
    #[inline(always)]
    pub(crate) fn double(&mut self, value: f64) -> Result<(), Error> {
        self.at = double(self.out, self.at, value)?;
        Ok(())
    }

    /// Writes a finite number of any float type with the shortest digits.
    #[inline(always)]
    pub(crate) fn float<T: zmij::Float>(&mut self, value: T) -> Result<(), Error> {
        self.at = float(self.out, self.at, value)?;
        Ok(())
    }
}

// Functions that are not inlined take a writer in its parts and return its position: results of that size are returned
// in registers.

/// [`Writer::string`]
#[inline(never)]
fn string<S: Overflow>(out: &mut Out<S>, at: usize, text: &str) -> Result<usize, Error> {
    let mut writer = Writer { out, at, brand: PhantomData };
    let text = text.as_bytes();
    if text.len() > BLOCK {
        writer.bytes([b'"'], 1)?;
        writer.at = content(writer.out, writer.at, text)?;
    } else {
        writer.room(BLOCK + 2)?;
        // SAFETY: room was made for the text, as if none of it needed an escape, and for the quotes.
        let plain = unsafe {
            writer.store([b'"'], 1);
            escape::copy_plain(text, writer.end())
        };
        writer.at += plain;
        if plain < text.len() {
            writer.at = escaped(writer.out, writer.at, text, plain)?;
        }
    }
    // SAFETY: there is still room for the quote, or `escaped` has made it again.
    unsafe { writer.store([b'"'], 1) };
    Ok(writer.at)
}

/// [`Writer::content`]
#[inline(never)]
fn content<S: Overflow>(out: &mut Out<S>, at: usize, text: &[u8]) -> Result<usize, Error> {
    let mut writer = Writer { out, at, brand: PhantomData };
    let mut rest = text;
    while rest.len() >= BLOCK {
        // Room for a part in which nothing needs an escape, plus a block of escapes at its end.
        writer.room(rest.len().min(PART) + escape::ROOM)?;
        let len = writer.out.buffer.capacity() - writer.at;
        // SAFETY: this is the rest of the buffer's capacity, and `writer` stays borrowed while `room` is in use.
        let room = unsafe { spare(writer.end(), len) };
        let (read, written) = escape::escape_blocks(writer.out.kernel, rest, room);
        assert!(written <= len, "what was written is within the room");
        // All of these bytes are initialised: by the last block that was stored, and by what was stored over it.
        writer.at += written;
        rest = &rest[read..];
    }
    writer.room(rest.len() + 1)?;
    // SAFETY: room was made for the rest, as if none of it needed an escape.
    let plain = unsafe { escape::copy_plain(rest, writer.end()) };
    writer.at += plain;
    if plain == rest.len() {
        Ok(writer.at)
    } else {
        escaped(writer.out, writer.at, text, text.len() - rest.len() + plain)
    }
}

/// Writes the end of `text`, less than a block, and leaves room for another byte.
#[inline(never)]
fn escaped<S: Overflow>(out: &mut Out<S>, at: usize, text: &[u8], from: usize) -> Result<usize, Error> {
    let mut writer = Writer { out, at, brand: PhantomData };
    writer.room(ESCAPE_MAX * BLOCK + 1)?;
    // SAFETY: there is room for a block of escapes.
    writer.at += unsafe { escape::escape_block(text, from, text.len(), writer.end()) };
    Ok(writer.at)
}

/// [`Writer::double`]
#[inline(never)]
fn double<S: Overflow>(out: &mut Out<S>, at: usize, value: f64) -> Result<usize, Error> {
    let Some(number) = number::shortest(value) else { return float(out, at, value) };
    let mut writer = Writer { out, at, brand: PhantomData };
    writer.room(24)?;
    // SAFETY: room was made for a sign, seventeen digits, a point, and the zeros that `shortest` allows before them.
    unsafe {
        writer.store([b'-'], usize::from(value.is_sign_negative()));
        writer.at += direct::put_shortest(&number, writer.end());
    }
    Ok(writer.at)
}

/// [`Writer::float`]
#[inline(never)]
fn float<S: Overflow, T: zmij::Float>(out: &mut Out<S>, at: usize, value: T) -> Result<usize, Error> {
    let mut writer = Writer { out, at, brand: PhantomData };
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format_finite(value).as_bytes();
    writer.room(text.len())?;
    // SAFETY: room was made. Nothing in a number needs an escape, so `copy_plain` copies all of it, without a call to
    // `memcpy`.
    writer.at += unsafe { escape::copy_plain(text, writer.end()) };
    Ok(writer.at)
}

/// Makes room for `more` bytes after the first `at`; returns where they begin.
#[cold]
#[inline(never)]
fn make_room<S: Overflow>(out: &mut Out<S>, at: usize, more: usize) -> Result<usize, Error> {
    if at > out.buffer.capacity() {
        return Err(Error::message(Category::Data, &"this serializer was used again after an error"));
    }
    // SAFETY: by the writer's invariant the first `at` bytes are written; and they are within the capacity.
    unsafe { out.buffer.set_len(at) };
    if let Err(error) = out.flush_whole() {
        // Without a buffer, the writer is beyond its end: a caller that ignores the error can write nothing more.
        out.buffer = Vec::new();
        return Err(error);
    }
    out.buffer.reserve(more);
    Ok(out.buffer.len())
}

/// The `len` bytes at `to`, as a slice to fill.
///
/// # Safety
/// They are writable memory to which nothing else refers during `'a`.
unsafe fn spare<'a>(to: *mut u8, len: usize) -> &'a mut [MaybeUninit<u8>] {
    // SAFETY: the caller's promise; and `MaybeUninit` needs no initialisation.
    unsafe { core::slice::from_raw_parts_mut(to.cast(), len) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(kernel: Kernel, content: &str) -> String {
        // The buffer begins without capacity, so any store out of bounds would be detected.
        let mut out = Out::new(Vec::new(), ()).with_kernel(kernel);
        let mut writer = out.writer();
        writer.string(content).expect("a vector takes everything");
        writer.commit();
        out.into_string()
    }

    #[test]
    fn every_kernel_escapes_alike_at_every_length_and_place() {
        let plain: String = (0..200_u8).map(|index| char::from(b'a' + index % 26)).collect();
        for kernel in Kernel::available() {
            for len in 0..plain.len() {
                assert_eq!(written(kernel, &plain[..len]), format!("\"{}\"", &plain[..len]), "{kernel:?}");
                for at in 0..len {
                    for (char, escape) in [("\"", "\\\""), ("\u{1f}", "\\u001f"), ("\\\n", "\\\\\\n")] {
                        let (before, behind) = (&plain[..at], &plain[at..len]);
                        let wanted = format!("\"{before}{escape}{behind}\"");
                        assert_eq!(written(kernel, &format!("{before}{char}{behind}")), wanted, "{kernel:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_pen_that_was_lost_writes_nothing() {
        let mut out = Out::new(Vec::new(), ());
        let mut writer = out.writer();
        assert_eq!(writer.with(|_| Err(1)), Err(1));
        assert!(writer.bytes(*b"x", 1).is_err());
    }
}
