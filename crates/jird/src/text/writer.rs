//! Writing by words and blocks into memory that may move on.
//!
//! Whoever writes holds a [`Writer`]: where the next byte goes, and the [`Out`] that it goes to. A writer is handed on by value. A
//! function that takes one gives back a [`Mark`]: only the place that its writer came to, of the same lifetime, with which the
//! caller's writer goes on ([`Writer::with`]). So the place is in a register and not in memory, even from one function to the next.
//!
//! Each of a writer's methods makes room for what it writes and [`SLACK`] bytes more, which lets it store whole words and blocks
//! of which only a part counts.

#![allow(unsafe_code, reason = "stores into a vector's spare capacity")]

use super::escape::{self, ESCAPE_MAX};
use crate::error::{Category, Error};
use crate::kernel::{BLOCK, Kernel, SIXTEEN, sixteen_digits};
use crate::number::{self, Shortest};
use core::marker::PhantomData;
use core::mem::MaybeUninit;

/// What happens to a buffer that is full.
pub(crate) trait Sink {
    /// Takes all that the buffer holds and says so; or leaves it, and the buffer grows.
    fn take(&mut self, text: &[u8]) -> Result<bool, Error>;
}

/// A buffer that grows.
impl Sink for () {
    #[inline(always)]
    fn take(&mut self, _text: &[u8]) -> Result<bool, Error> {
        Ok(false)
    }
}

/// Buffers are written and emptied, unless they are held back.
pub(crate) struct Drain<W> {
    pub(crate) writer: W,
    pub(crate) holds: bool,
    /// How many bytes of the buffer it took.
    pub(crate) taken: u64,
}

impl<W: std::io::Write> Drain<W> {
    pub(crate) fn new(writer: W) -> Self {
        Self { writer, holds: false, taken: 0 }
    }

    /// Writes all of `text`: as [`Write::write_all`](std::io::Write::write_all), which panics if the writer says that it took more than
    /// it was given.
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

impl<W: std::io::Write> Sink for Drain<W> {
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

/// A buffer, and what happens when it is full.
pub(crate) struct Out<S> {
    buffer: Vec<u8>,
    sink: S,
    kernel: Kernel,
    /// Whether all that the buffer holds was written by writers.
    is_ours: bool,
}

/// How many bytes may be stored beyond those that count.
pub(super) const SLACK: usize = 64;

/// Long texts are written in parts of this many bytes, so that a buffer need not hold all of one.
const PART: usize = 4096;

/// No place at all: further than any buffer is long, so that whoever wants room there is told so by [`make_room`].
const NOWHERE: usize = usize::MAX / 2;

impl<S: Sink> Out<S> {
    /// Appends to `buffer`.
    pub(crate) fn new(buffer: Vec<u8>, sink: S) -> Self {
        Self { is_ours: buffer.is_empty(), buffer, sink, kernel: Kernel::best() }
    }

    /// What was written, as text.
    ///
    /// # Panics
    /// If something else was in the buffer before.
    pub(crate) fn into_string(self) -> String {
        assert!(self.is_ours);
        if cfg!(any(debug_assertions, jird_checked)) {
            return String::from_utf8(self.buffer).expect("writers write whole strings and ASCII");
        }
        // SAFETY: the buffer was empty, and is changed by writers alone. They write whole `str`s, or what of these needs no
        // escape, which is cut only before and behind ASCII; and besides ASCII.
        unsafe { String::from_utf8_unchecked(self.buffer) }
    }

    /// What was written and not taken yet.
    pub(crate) fn into_buffer(self) -> Vec<u8> {
        self.buffer
    }

    /// The same, to look at.
    pub(crate) fn buffer(&self) -> &[u8] {
        &self.buffer
    }

    /// Forgets what was written last, and keeps `len` bytes of what is there.
    pub(crate) fn truncate(&mut self, len: usize) {
        // A character may be cut, for all that is known here.
        self.is_ours &= len == 0;
        self.buffer.truncate(len);
    }

    /// Hands over what was written and not taken yet, and forgets it.
    pub(crate) fn held(&mut self, use_it: impl FnOnce(&[u8], &mut S) -> Result<(), Error>) -> Result<(), Error> {
        let used = use_it(&self.buffer, &mut self.sink);
        self.buffer.clear();
        used
    }

    pub(crate) fn into_sink(self) -> S {
        self.sink
    }

    pub(crate) fn sink(&mut self) -> &mut S {
        &mut self.sink
    }

    /// A writer at the end of the buffer. What it writes counts when it is [committed](Writer::commit).
    #[inline]
    pub(crate) fn writer(&mut self) -> Writer<'_, S> {
        Writer { at: self.buffer.len(), out: self, brand: PhantomData }
    }

    /// Hands the sink what the buffer holds. After an error it holds nothing.
    pub(crate) fn flush(&mut self) -> Result<(), Error> {
        let taken = self.sink.take(&self.buffer);
        if !matches!(taken, Ok(false)) {
            self.buffer.clear();
        }
        taken.map(|_| ())
    }

    #[cfg(test)]
    pub(super) fn with_kernel(mut self, kernel: Kernel) -> Self {
        self.kernel = kernel;
        self
    }
}

/// Where a writer came to, which alone is handed back.
pub(crate) struct Mark<'o> {
    at: usize,
    brand: Brand<'o>,
}

/// A lifetime that stands for itself and no other.
type Brand<'o> = PhantomData<fn(&'o ()) -> &'o ()>;

/// Where the next byte goes.
///
/// Invariant: the first `at` bytes of the buffer's memory are written, unless `at` is `NOWHERE`.
pub(crate) struct Writer<'o, S> {
    out: &'o mut Out<S>,
    at: usize,
    /// Makes `'o` a name of this writer's own, see [`Writer::with`].
    brand: Brand<'o>,
}

impl<'o, S: Sink> Writer<'o, S> {
    /// Hands the writer on, and goes on from where it came to.
    ///
    /// Since `write` knows nothing of the lifetime, there is but one mark of that type that it can give back: its writer's.
    #[inline(always)]
    pub(crate) fn with<E>(
        &mut self,
        write: impl for<'p> FnOnce(Writer<'p, S>) -> Result<Mark<'p>, E>,
    ) -> Result<(), E> {
        // Until it is back. Whoever goes on after an error gets nowhere.
        let at = core::mem::replace(&mut self.at, NOWHERE);
        self.at = write(Writer { out: &mut *self.out, at, brand: PhantomData })?.at;
        Ok(())
    }

    /// Where it came to.
    #[inline(always)]
    pub(crate) fn mark(self) -> Mark<'o> {
        Mark { at: self.at, brand: self.brand }
    }

    /// Makes what was written count.
    #[inline]
    pub(crate) fn commit(self) -> &'o mut Out<S> {
        assert!(self.at <= self.out.buffer.capacity(), "a writer is back from where it was handed on to");
        // SAFETY: so many bytes are written, by the invariant, and no more than the capacity, as was just asserted.
        unsafe { self.out.buffer.set_len(self.at) };
        self.out
    }

    /// What the sink knows besides.
    #[inline(always)]
    pub(crate) fn sink(&mut self) -> &mut S {
        &mut self.out.sink
    }

    /// Makes room for `len` bytes and `SLACK` more.
    #[inline(always)]
    fn room(&mut self, len: usize) -> Result<(), Error> {
        // No overflow: nothing that is in memory is longer than half of `usize`, and `NOWHERE` is such a half.
        if self.at + len + SLACK > self.out.buffer.capacity() {
            self.at = make_room(self.out, self.at, len + SLACK)?;
        }
        Ok(())
    }

    /// Where the next byte goes.
    ///
    /// # Safety
    /// Only behind a call of [`room`](Self::room).
    #[inline(always)]
    unsafe fn end(&mut self) -> *mut u8 {
        debug_assert!(self.at <= self.out.buffer.capacity());
        // SAFETY: there was room at `at`, so it is not beyond the capacity.
        unsafe { self.out.buffer.as_mut_ptr().add(self.at) }
    }

    /// Stores `bytes`, of which the first `len` count.
    ///
    /// # Safety
    /// There is room for `len` bytes, and `len <= LEN`.
    #[inline(always)]
    unsafe fn store<const LEN: usize>(&mut self, bytes: [u8; LEN], len: usize) {
        const { assert!(LEN <= SLACK, "room for what does not count") };
        debug_assert!(len <= LEN && self.at + len + SLACK <= self.out.buffer.capacity(), "there is room");
        // SAFETY: room for `len` bytes is room for `SLACK` more, and `LEN` is no more than that.
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
        // SAFETY: there is room, and the buffer's spare capacity is in nobody's slice.
        unsafe { self.end().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        self.at += bytes.len();
    }

    /// Writes the first `len` of these bytes, of which the compiler should know what they are.
    ///
    /// # Panics
    /// If `len > LEN`, or they are not ASCII.
    #[inline(always)]
    pub(crate) fn bytes<const LEN: usize>(&mut self, bytes: [u8; LEN], len: usize) -> Result<(), Error> {
        assert!(len <= LEN && bytes.iter().fold(0, |all, byte| all | byte) < 0x80);
        self.room(len)?;
        // SAFETY: room was made, and the length asserted.
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

    /// Writes `,` unless it is the first, the key, and the colon. Meant for keys that are known when this is compiled: then
    /// little is left of it but stores.
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

    /// Writes `text` as a JSON string. Escapes only what RFC 8259 §7 demands, in the shortest form that has a name:
    /// `\b \t \n \f \r \" \\`, else `\u00xx` in lower case. DEL, `/` and all beyond ASCII stand for themselves.
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
        // SAFETY: room was made for the longest.
        unsafe { self.store_unsigned(value) };
        Ok(())
    }

    /// # Safety
    /// There is room for 20 bytes.
    #[inline(always)]
    unsafe fn store_unsigned(&mut self, value: u64) {
        if value < SIXTEEN {
            let (digits, len) = number::digits(value);
            // SAFETY: at most sixteen.
            unsafe { self.store(digits.to_le_bytes(), len) };
            return;
        }
        let (head, len) = number::digits(value / SIXTEEN);
        // SAFETY: at most four digits, and sixteen.
        unsafe {
            self.store(head.to_le_bytes(), len);
            self.store(sixteen_digits(value % SIXTEEN).0.to_le_bytes(), 16);
        }
    }

    /// Writes a number.
    #[inline(always)]
    pub(crate) fn signed(&mut self, value: i64) -> Result<(), Error> {
        self.room(21)?;
        // SAFETY: room was made for the sign and the longest.
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

    /// Writes a finite number: the shortest digits that read back as the same.
    #[inline(always)]
    pub(crate) fn double(&mut self, value: f64) -> Result<(), Error> {
        self.at = double(self.out, self.at, value)?;
        Ok(())
    }

    /// # Safety
    /// There is room for 23 bytes.
    #[inline(always)]
    unsafe fn store_shortest(&mut self, number: &Shortest) {
        let (digits, last, count) = (number.digits(), number.last(), number.count());
        let Ok(point @ 1..) = usize::try_from(number.point()) else {
            let zeros = 2 + number.point().unsigned_abs() as usize;
            // SAFETY: at most four zeros follow the point, by the invariant of `Shortest`, and at most seventeen digits these.
            unsafe {
                self.store(*b"0.000000", zeros);
                self.store(digits.to_le_bytes(), 16);
                self.store([last], 1);
            }
            self.at -= 17 - count;
            return;
        };
        // SAFETY: a point, and seventeen digits before and behind it: at most sixteen before it, by the invariant of `Shortest`.
        unsafe {
            self.store(digits.to_le_bytes(), point);
            self.store([b'.'], 1);
            self.store((digits >> (8 * (point & 15))).to_le_bytes(), 16 - point);
            self.store([last], 1);
        }
        // Before the point all count, and behind it one at least.
        self.at -= 17 - count.max(point + 1);
    }

    /// Writes any finite number so.
    #[inline(always)]
    pub(crate) fn float<T: zmij::Float>(&mut self, value: T) -> Result<(), Error> {
        self.at = float(self.out, self.at, value)?;
        Ok(())
    }
}

// What is not inlined takes a writer in its parts and hands back its place: results of that size travel in registers.

/// [`Writer::string`]
#[inline(never)]
fn string<S: Sink>(out: &mut Out<S>, at: usize, text: &str) -> Result<usize, Error> {
    let mut writer = Writer { out, at, brand: PhantomData };
    let text = text.as_bytes();
    if text.len() > BLOCK {
        writer.bytes([b'"'], 1)?;
        writer.at = content(writer.out, writer.at, text)?;
    } else {
        writer.room(BLOCK + 2)?;
        // SAFETY: room was made for the text, as if none of it needed an escape, and for quotes.
        let plain = unsafe {
            writer.store([b'"'], 1);
            escape::copy_plain(text, writer.end())
        };
        writer.at += plain;
        if plain < text.len() {
            writer.at = escaped(writer.out, writer.at, text, plain)?;
        }
    }
    // SAFETY: there is room still, or again.
    unsafe { writer.store([b'"'], 1) };
    Ok(writer.at)
}

/// [`Writer::content`]
#[inline(never)]
fn content<S: Sink>(out: &mut Out<S>, at: usize, text: &[u8]) -> Result<usize, Error> {
    let mut writer = Writer { out, at, brand: PhantomData };
    let mut rest = text;
    while rest.len() >= BLOCK {
        // For a part as if none of it needed an escape, and for a block of escapes at its end.
        writer.room(rest.len().min(PART) + escape::ROOM)?;
        let len = writer.out.buffer.capacity() - writer.at;
        // SAFETY: that is what is left of the buffer, and `writer` is borrowed for so long.
        let room = unsafe { spare(writer.end(), len) };
        let (read, written) = escape::escape_blocks(writer.out.kernel, rest, room);
        assert!(written <= len, "what was written is within the room");
        // All of it was written, by the last block that was stored and what was stored over it.
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
fn escaped<S: Sink>(out: &mut Out<S>, at: usize, text: &[u8], from: usize) -> Result<usize, Error> {
    let mut writer = Writer { out, at, brand: PhantomData };
    writer.room(ESCAPE_MAX * BLOCK + 1)?;
    // SAFETY: there is room for a block of escapes.
    writer.at += unsafe { escape::escape_block(text, from, text.len(), writer.end()) };
    Ok(writer.at)
}

/// [`Writer::double`]
#[inline(never)]
fn double<S: Sink>(out: &mut Out<S>, at: usize, value: f64) -> Result<usize, Error> {
    let Some(number) = number::shortest(value) else { return float(out, at, value) };
    let mut writer = Writer { out, at, brand: PhantomData };
    writer.room(24)?;
    // SAFETY: room was made for a sign, seventeen digits, a point, and the zeros that `shortest` allows before them.
    unsafe {
        writer.store([b'-'], usize::from(value.is_sign_negative()));
        writer.store_shortest(&number);
    }
    Ok(writer.at)
}

/// [`Writer::float`]
#[inline(never)]
fn float<S: Sink, T: zmij::Float>(out: &mut Out<S>, at: usize, value: T) -> Result<usize, Error> {
    let mut writer = Writer { out, at, brand: PhantomData };
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format_finite(value).as_bytes();
    writer.room(text.len())?;
    // SAFETY: room was made. Nothing in a number needs an escape; and this is a copy without a call.
    writer.at += unsafe { escape::copy_plain(text, writer.end()) };
    Ok(writer.at)
}

/// Room for `more` bytes behind the first `at`; returns where they are.
#[cold]
#[inline(never)]
fn make_room<S: Sink>(out: &mut Out<S>, at: usize, more: usize) -> Result<usize, Error> {
    if at > out.buffer.capacity() {
        return Err(Error::message(Category::Data, &"writing went on after an error"));
    }
    // SAFETY: by the writer's invariant so many are written; and they are within the capacity.
    unsafe { out.buffer.set_len(at) };
    out.flush()?;
    out.buffer.reserve(more);
    Ok(out.buffer.len())
}

/// `len` bytes at `to`, for those that fill a slice.
///
/// # Safety
/// They are nobody else's for so long.
unsafe fn spare<'a>(to: *mut u8, len: usize) -> &'a mut [MaybeUninit<u8>] {
    // SAFETY: the caller's promise; and what may be uninitialised needs no initialisation.
    unsafe { core::slice::from_raw_parts_mut(to.cast(), len) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(kernel: Kernel, content: &str) -> String {
        // No room at all: each store behind it would be seen.
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
