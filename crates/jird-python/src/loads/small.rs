//! Short texts → Python's values, in one pass.
//!
//! A tape pays off when there is much to put on it. A text of a few hundred bytes is read from left to right, and each value
//! is made where it ends. What is not common in such texts, escapes for instance, and every mistake is left to the engine: it
//! reads the text again, and says what is wrong. So this reader may give up wherever it likes, but what it accepts, the
//! engine accepts, with the same values.
//!
//! Code of Python may run whenever a container is made: all that is made so far has references of its own, and a list is made
//! when all of its elements are there.

use super::build::Making;
use crate::raw::keys::Keys;
use crate::raw::make::{self, Member};
use crate::raw::stack::Stack;
use jird::hooks::{number_at, plain_end};
use jird::value::MachineNumber;
use pyo3::prelude::*;

/// The longest text that is read like this, in bytes.
pub(super) const SMALL_MAX: usize = 512;

/// How many containers may be open.
const DEPTH_MAX: usize = 32;

/// How many containers are open when the free stack is checked: all of `DEPTH_MAX` take a small part of what must be
/// free.
const LEVELS: usize = 3;

/// How many digits an integer may have: with 18, it fits into 64 bits.
const DIGITS_MAX: usize = 18;

/// Room for more elements or members is not kept for the next text.
const PARTS_MAX: usize = 1 << 17;

/// A value; or `None`, with Python's exception set, or because there is something that is not read here.
pub(super) type SmallResult<'py> = Option<Bound<'py, PyAny>>;

/// The value of a text; `None` if the engine must read it, unless Python's exception is set.
#[inline(always)]
pub(super) fn read<'py>(py: Python<'py>, text: &[u8], making: &mut Making) -> SmallResult<'py> {
    let Making { keys, parts, .. } = making;
    let mut reader = SmallReader { py, text, at: 0, depth: 0, keys, parts };
    let made = reader.document();
    if made.is_none() {
        reader.parts.release();
    }
    made
}

pub(super) struct SmallReader<'t, 'py> {
    pub(super) py: Python<'py>,
    pub(super) text: &'t [u8],
    /// The next byte.
    pub(super) at: usize,
    pub(super) depth: usize,
    pub(super) keys: &'t mut Keys,
    pub(super) parts: &'t mut Parts,
}

/// What the containers that are open have so far, the innermost last. It is empty between two texts.
#[derive(Default)]
pub(crate) struct Parts {
    pub(super) elements: Vec<Py<PyAny>>,
    pub(super) members: Vec<Member>,
}

impl Parts {
    /// Drops what containers have that will not be made, and room that is not kept.
    #[cold]
    fn release(&mut self) {
        self.elements.clear();
        self.members.clear();
        if self.elements.capacity() > PARTS_MAX || self.members.capacity() > PARTS_MAX {
            *self = Self::default();
        }
    }
}

impl<'py> SmallReader<'_, 'py> {
    /// The result of a text of any length.
    #[inline(always)]
    pub(super) fn ended_with(self, made: SmallResult<'py>) -> SmallResult<'py> {
        if made.is_none() || self.parts.elements.capacity() > PARTS_MAX || self.parts.members.capacity() > PARTS_MAX {
            self.parts.release();
        }
        made
    }

    #[inline(always)]
    fn document(&mut self) -> SmallResult<'py> {
        let first = self.next();
        let value = self.value(first)?;
        self.end()?;
        Some(value)
    }

    /// Nothing follows but white space.
    #[inline]
    pub(super) fn end(&mut self) -> Option<()> {
        self.skip_spaces();
        if self.at == self.text.len() { Some(()) } else { None }
    }

    #[inline(always)]
    pub(super) fn skip_spaces(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.text.get(self.at) {
            self.at += 1;
        }
    }

    /// Takes the first byte that is not white space; 0 at the end.
    #[inline(always)]
    pub(super) fn next(&mut self) -> u8 {
        self.skip_spaces();
        let next = self.text.get(self.at).copied().unwrap_or_default();
        self.at += 1;
        next
    }

    /// The value that begins with this byte, which was taken.
    #[inline(always)]
    pub(super) fn value(&mut self, first: u8) -> SmallResult<'py> {
        match first {
            b'"' => {
                let (from, to) = self.string()?;
                make::string_of(self.py, &self.text[from..to]).ok()?
            }
            b'{' => self.object(),
            b'[' => self.array(),
            b'-' | b'0'..=b'9' => self.number(),
            b't' => self.literal(b"rue", make::bool(self.py, true)),
            b'f' => self.literal(b"alse", make::bool(self.py, false)),
            b'n' => self.literal(b"ull", make::none(self.py)),
            _ => None,
        }
    }

    #[inline(always)]
    pub(super) fn literal(&mut self, rest: &[u8], value: Bound<'py, PyAny>) -> SmallResult<'py> {
        if !self.text[self.at..].starts_with(rest) {
            return None;
        }
        self.at += rest.len();
        Some(value)
    }

    /// Where the content of a string is, whose quote was taken. It has no escapes and no control characters.
    #[inline(always)]
    pub(super) fn string(&mut self) -> Option<(usize, usize)> {
        let from = self.at;
        self.ended(from, plain_end(self.text, from))
    }

    #[inline(always)]
    fn ended(&mut self, from: usize, to: usize) -> Option<(usize, usize)> {
        self.at = to + 1;
        if self.text.get(to) == Some(&b'"') { Some((from, to)) } else { None }
    }

    /// The number whose first byte was taken.
    #[inline(always)]
    fn number(&mut self) -> SmallResult<'py> {
        let start = self.at - 1;
        let is_negative = self.text[start] == b'-';
        let from = start + usize::from(is_negative);
        let (at, value) = self.digits(from, 0);
        let digits = at - from;
        if digits == 0 || digits > DIGITS_MAX || (self.text[from] == b'0' && digits > 1) {
            return None;
        }
        match self.text.get(at) {
            Some(b'.') => self.decimal(start, at, value),
            Some(b'e' | b'E') => self.float(start),
            _ => {
                self.at = at;
                make::int(self.py, if is_negative { -value } else { value })
            }
        }
    }

    /// Appends the digits from `at` on to those of a value. Returns where they end. More than `DIGITS_MAX` make no sense.
    #[inline(always)]
    fn digits(&self, mut at: usize, mut value: i64) -> (usize, i64) {
        while let Some(digit @ b'0'..=b'9') = self.text.get(at) {
            value = value.wrapping_mul(10).wrapping_add(i64::from(digit - b'0'));
            at += 1;
        }
        (at, value)
    }

    /// The number from `start` on, with its point at `point` and what stands before it as an integer without a sign.
    fn decimal(&mut self, start: usize, point: usize, whole: i64) -> SmallResult<'py> {
        /// A double holds every integer of 15 digits exactly, and every power of ten up to 10^15, so one division rounds
        /// correctly (William Clinger, "How to Read Floating Point Numbers Accurately", 1990).
        const EXACT: usize = 15;
        const POWERS: [f64; EXACT + 1] =
            [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];
        let (end, value) = self.digits(point + 1, whole);
        let decimals = end - point - 1;
        let is_long = end - start > EXACT + 1 || matches!(self.text.get(end), Some(b'e' | b'E'));
        if is_long || decimals == 0 {
            return self.float(start);
        }
        self.at = end;
        #[expect(clippy::cast_precision_loss, reason = "it has fifteen digits at most")]
        let size = value as f64 / POWERS[decimals];
        let is_negative = self.text[start] == b'-';
        make::float(self.py, if is_negative { -size } else { size })
    }

    /// The number from `start` on, which has a point or an exponent.
    pub(super) fn float(&mut self, start: usize) -> SmallResult<'py> {
        match number_at(self.text, start) {
            Some((MachineNumber::F64(value), end)) => {
                self.at = end;
                make::float(self.py, value)
            }
            _ => None,
        }
    }

    #[inline(always)]
    pub(super) fn open(&mut self) -> Option<()> {
        self.depth += 1;
        // A few levels are always there.
        let is_refused = self.depth == LEVELS && !Stack::here().has_room() || self.depth > DEPTH_MAX;
        if is_refused { None } else { Some(()) }
    }

    /// The object whose bracket was taken.
    #[inline(always)]
    fn object(&mut self) -> SmallResult<'py> {
        match self.next() {
            b'}' => make::empty_dict(self.py),
            first => self.members(first),
        }
    }

    /// The object whose first member begins with this byte, which was taken.
    #[inline(never)]
    fn members(&mut self, first: u8) -> SmallResult<'py> {
        self.open()?;
        let from = self.parts.members.len();
        let mut next = first;
        loop {
            if next != b'"' {
                return None;
            }
            let (start, end) = self.string()?;
            let key = self.keys.key_of(self.py, &self.text[start..end]).ok()??;
            if self.next() != b':' {
                return None;
            }
            let first = self.next();
            let value = self.value(first)?;
            self.parts.members.push(Member::new(key, value));
            match self.next() {
                b',' => next = self.next(),
                b'}' => break,
                _ => return None,
            }
        }
        self.depth -= 1;
        make::dict(self.py, self.parts.members.drain(from..))
    }

    /// The array whose bracket was taken.
    #[inline(always)]
    fn array(&mut self) -> SmallResult<'py> {
        match self.next() {
            b']' => make::empty_list(self.py),
            first => self.elements(first),
        }
    }

    /// The array whose first element begins with this byte, which was taken.
    #[inline(never)]
    fn elements(&mut self, first: u8) -> SmallResult<'py> {
        self.open()?;
        let from = self.parts.elements.len();
        let mut next = first;
        loop {
            let element = self.value(next)?;
            self.parts.elements.push(element.unbind());
            match self.next() {
                b',' => next = self.next(),
                b']' => break,
                _ => return None,
            }
        }
        self.depth -= 1;
        make::list(self.py, self.parts.elements.drain(from..))
    }
}
