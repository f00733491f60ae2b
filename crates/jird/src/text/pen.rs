//! Writing by words and blocks into memory that may move on.
//!
//! Whoever writes holds a [`Pen`]: where the next byte goes, and the [`Out`] that it goes to. A pen is handed on and handed
//! back by value, so that the place is in a register and not in memory, even from one function to the next. Each of its
//! methods makes room for what it writes and [`SLACK`] bytes more, which lets it store whole words and blocks of which only
//! a part counts.

#![allow(unsafe_code, reason = "stores into a vector's spare capacity")]

use super::escape;
use crate::error::{Category, Error};
use crate::kernel::Kernel;
use crate::number;
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

/// A buffer, and what happens when it is full.
pub(crate) struct Out<S> {
    buffer: Vec<u8>,
    sink: S,
    kernel: Kernel,
    /// Whether all that the buffer holds was written by pens.
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
            return String::from_utf8(self.buffer).expect("pens write whole strings and ASCII");
        }
        // SAFETY: the buffer was empty, and is changed by pens alone. They write whole `str`s, or what of these needs no
        // escape, which is cut only before and behind ASCII; and besides ASCII.
        unsafe { String::from_utf8_unchecked(self.buffer) }
    }

    /// What was written and not taken yet.
    pub(crate) fn into_buffer(self) -> Vec<u8> {
        self.buffer
    }

    pub(crate) fn into_sink(self) -> S {
        self.sink
    }

    pub(crate) fn sink(&mut self) -> &mut S {
        &mut self.sink
    }

    /// A pen at the end of the buffer. What it writes counts when it is [put down](Pen::put_down).
    #[inline]
    pub(crate) fn pen(&mut self) -> Pen<'_, S> {
        Pen { at: self.buffer.len(), out: self, brand: PhantomData }
    }

    /// Forgets what the buffer holds.
    pub(crate) fn clear(&mut self) {
        self.buffer.clear();
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

/// Where the next byte goes.
///
/// Invariant: the first `at` bytes of the buffer's memory are written, unless `at` is `NOWHERE`.
pub(crate) struct Pen<'o, S> {
    out: &'o mut Out<S>,
    at: usize,
    /// Makes `'o` a name of this pen's own, see [`Pen::with`].
    brand: PhantomData<fn(&'o ()) -> &'o ()>,
}

impl<'o, S: Sink> Pen<'o, S> {
    /// Hands the pen on and takes it back.
    ///
    /// Since `write` knows nothing of the lifetime, it has but one pen of that type to give back: this one.
    #[inline(always)]
    pub(crate) fn with<E>(&mut self, write: impl for<'p> FnOnce(Pen<'p, S>) -> Result<Pen<'p, S>, E>) -> Result<(), E> {
        // Until it is back. Whoever goes on after an error gets nowhere.
        let at = core::mem::replace(&mut self.at, NOWHERE);
        self.at = write(Pen { out: &mut *self.out, at, brand: PhantomData })?.at;
        Ok(())
    }

    /// Makes what was written count.
    #[inline]
    pub(crate) fn put_down(self) -> &'o mut Out<S> {
        assert!(self.at <= self.out.buffer.capacity(), "a pen is back from where it was handed on to");
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
    pub(crate) fn bytes<const LEN: usize>(mut self, bytes: [u8; LEN], len: usize) -> Result<Self, Error> {
        assert!(len <= LEN && bytes.iter().fold(0, |all, byte| all | byte) < 0x80);
        self.room(len)?;
        // SAFETY: room was made, and the length asserted.
        unsafe { self.store(bytes, len) };
        Ok(self)
    }

    /// Writes `text` as it is.
    pub(crate) fn raw(mut self, text: &str) -> Result<Self, Error> {
        for part in text.as_bytes().chunks(PART) {
            self.room(part.len())?;
            // SAFETY: room was made.
            unsafe { self.copy(part) };
        }
        Ok(self)
    }

    /// Writes `,` unless it is the first, the key, and the colon. Meant for keys that are known when this is compiled: then
    /// little is left of it but stores.
    #[inline(always)]
    pub(crate) fn member(mut self, first: bool, key: &str) -> Result<Self, Error> {
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
        Ok(self)
    }

    #[cold]
    #[inline(never)]
    fn other_member(self, first: bool, key: &str) -> Result<Self, Error> {
        self.bytes([b','], usize::from(!first))?.string(key)?.bytes([b':'], 1)
    }

    /// Writes `text` as a JSON string. Escapes only what RFC 8259 §7 demands, in the shortest form that has a name:
    /// `\b \t \n \f \r \" \\`, else `\u00xx` in lower case. DEL, `/` and all beyond ASCII stand for themselves.
    #[inline(never)]
    pub(crate) fn string(mut self, text: &str) -> Result<Self, Error> {
        self.room(1)?;
        // SAFETY: room was made.
        unsafe { self.store([b'"'], 1) };
        self = self.content(text)?;
        // SAFETY: `content` leaves room for it.
        unsafe { self.store([b'"'], 1) };
        Ok(self)
    }

    /// Writes what stands between the quotes of [`string`](Self::string), and leaves room for another byte.
    #[inline(always)]
    pub(crate) fn content(mut self, text: &str) -> Result<Self, Error> {
        let mut content = text.as_bytes();
        while content.len() > PART {
            let (part, rest) = content.split_at(PART);
            self = self.part(part)?;
            content = rest;
        }
        self.part(content)
    }

    #[inline(always)]
    fn part(mut self, content: &[u8]) -> Result<Self, Error> {
        let mut from = 0;
        loop {
            // For all that is left, as if none of it needed an escape, and for an escape and a quote.
            self.room(content.len() - from + escape::ESCAPE_MAX + 1)?;
            // SAFETY: room for so many bytes, and `SLACK` more.
            let plain = unsafe { escape::copy_plain(self.out.kernel, content, from, self.end()) };
            from += plain;
            self.at += plain;
            let Some(&byte) = content.get(from) else { return Ok(self) };
            self = self.escape(byte, content.len() - from)?;
            from += 1;
            // Escapes often come in rows.
            while let Some(&byte) = content.get(from).filter(|&&byte| escape::needs(byte)) {
                self = self.escape(byte, content.len() - from)?;
                from += 1;
            }
        }
    }

    #[inline(always)]
    fn escape(mut self, byte: u8, left: usize) -> Result<Self, Error> {
        let (escape, len) = escape::of(byte);
        self.room(left + escape::ESCAPE_MAX)?;
        // SAFETY: room for the longest was made.
        unsafe { self.store(escape, len) };
        Ok(self)
    }

    /// Writes a number.
    #[inline(always)]
    pub(crate) fn unsigned(mut self, value: u64) -> Result<Self, Error> {
        self.room(20)?;
        // SAFETY: room was made for the longest.
        unsafe { self.store_unsigned(value) };
        Ok(self)
    }

    /// # Safety
    /// There is room for 20 bytes.
    #[inline(always)]
    unsafe fn store_unsigned(&mut self, value: u64) {
        let (head, eights) = match value {
            0..number::EIGHT => (value, 0),
            number::EIGHT..10_000_000_000_000_000 => (value / number::EIGHT, 1),
            _ => (value / number::EIGHT / number::EIGHT, 2),
        };
        let (word, len) = number::digits(head);
        // SAFETY: at most four digits, or eight if two words of eight follow, or none.
        unsafe { self.store(word.to_le_bytes(), len) };
        if eights == 2 {
            let eight = number::eight_digits(value / number::EIGHT % number::EIGHT);
            // SAFETY: as above.
            unsafe { self.store(eight.to_le_bytes(), 8) };
        }
        if eights > 0 {
            // SAFETY: as above.
            unsafe { self.store(number::eight_digits(value % number::EIGHT).to_le_bytes(), 8) };
        }
    }

    /// Writes a number.
    #[inline(always)]
    pub(crate) fn signed(mut self, value: i64) -> Result<Self, Error> {
        self.room(21)?;
        // SAFETY: room was made for the sign and the longest.
        unsafe {
            self.store([b'-'], usize::from(value < 0));
            self.store_unsigned(value.unsigned_abs());
        }
        Ok(self)
    }

    /// Writes a number of any size.
    pub(crate) fn huge(mut self, value: u128) -> Result<Self, Error> {
        /// Ten to the sixteenth: what two words hold.
        const SIXTEEN: u128 = (number::EIGHT * number::EIGHT) as u128;
        let Ok(small) = u64::try_from(value) else {
            self = self.huge(value / SIXTEEN)?;
            let low = (value % SIXTEEN) as u64;
            let words = [low / number::EIGHT, low % number::EIGHT].map(number::eight_digits);
            self.room(16)?;
            // SAFETY: room was made for both.
            unsafe {
                self.store(words[0].to_le_bytes(), 8);
                self.store(words[1].to_le_bytes(), 8);
            }
            return Ok(self);
        };
        self.unsigned(small)
    }

    /// Writes a finite number: the shortest digits that read back as the same.
    #[inline(always)]
    pub(crate) fn double(self, value: f64) -> Result<Self, Error> {
        let mut buffer = zmij::Buffer::new();
        self.short(buffer.format_finite(value).as_bytes())
    }

    /// Writes a finite number: the shortest digits that read back as the same.
    #[inline(always)]
    pub(crate) fn single(self, value: f32) -> Result<Self, Error> {
        let mut buffer = zmij::Buffer::new();
        self.short(buffer.format_finite(value).as_bytes())
    }

    fn short(mut self, text: &[u8]) -> Result<Self, Error> {
        self.room(text.len())?;
        // SAFETY: room was made.
        unsafe { self.copy(text) };
        Ok(self)
    }
}

/// Room for `more` bytes behind the first `at`; returns where they are.
#[cold]
#[inline(never)]
fn make_room<S: Sink>(out: &mut Out<S>, at: usize, more: usize) -> Result<usize, Error> {
    if at > out.buffer.capacity() {
        return Err(Error::message(Category::Data, &"writing went on after an error"));
    }
    // SAFETY: by the pen's invariant so many are written; and they are within the capacity.
    unsafe { out.buffer.set_len(at) };
    out.flush()?;
    out.buffer.reserve(more);
    Ok(out.buffer.len())
}

/// `len` bytes at `to`, for those that fill a slice.
///
/// # Safety
/// They are nobody else's for so long.
pub(super) unsafe fn spare<'a>(to: *mut u8, len: usize) -> &'a mut [MaybeUninit<u8>] {
    // SAFETY: the caller's promise; and what may be uninitialised needs no initialisation.
    unsafe { core::slice::from_raw_parts_mut(to.cast(), len) }
}
