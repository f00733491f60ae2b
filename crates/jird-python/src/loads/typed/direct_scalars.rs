//! Scalars of texts that are read without a tape, and values that are passed over.

use super::digits::digits;
use super::direct::DirectReader;
use super::plan::{Choice, Step};
use super::times::Moment;
use super::uuids::uuid_of;
use crate::loads::small::SmallResult;
use crate::raw::make;
use jird::hooks::{decimal, number_at};
use jird::value::MachineNumber;
use pyo3::prelude::*;

/// How many digits an integer may have that is read here: all fit into 64 bits without a sign.
const LONG_MAX: usize = 19;

/// 2 if the number whose first byte is before `at` is an integer, and 3 otherwise, as `Union` counts kinds.
#[inline(always)]
pub(super) fn first_of_number(text: &[u8], mut at: usize) -> usize {
    while let Some(b'0'..=b'9') = text.get(at) {
        at += 1;
    }
    if matches!(text.get(at), Some(b'.' | b'e' | b'E')) { 3 } else { 2 }
}

impl<'py> DirectReader<'_, '_, 'py> {
    /// The integer whose first byte was taken.
    #[inline(always)]
    pub(super) fn int(&mut self, first: u8) -> SmallResult<'py> {
        let text = self.reader.text;
        let from = self.reader.at - usize::from(first != b'-');
        let (at, value) = digits(text, from, 0);
        let len = at - from;
        let is_refused = len == 0 || len > LONG_MAX || text[from] == b'0' && len > 1;
        if is_refused || matches!(text.get(at), Some(b'.' | b'e' | b'E')) {
            return None;
        }
        self.reader.at = at;
        let py = self.reader.py;
        match i64::try_from(value) {
            Ok(value) => make::int(py, if first == b'-' { -value } else { value }),
            Err(_) if first == b'-' => None,
            Err(_) => make::uint(py, value),
        }
    }

    /// The number whose first byte was taken, as a float.
    #[inline(always)]
    pub(super) fn float(&mut self, first: u8) -> SmallResult<'py> {
        let text = self.reader.text;
        let start = self.reader.at - 1;
        let from = start + usize::from(first == b'-');
        let (at, value) = digits(text, from, 0);
        let len = at - from;
        if len == 0 || text[from] == b'0' && len > 1 {
            return None;
        }
        match text.get(at) {
            Some(b'.') => self.decimal(start, from, at, value),
            Some(b'e' | b'E') => self.reader.float(start),
            _ if len > LONG_MAX => None,
            _ => {
                self.reader.at = at;
                #[expect(clippy::cast_precision_loss, reason = "it is the nearest float")]
                let size = value as f64;
                make::float(self.reader.py, if first == b'-' { -size } else { size })
            }
        }
    }

    /// The number from `start` on, without its sign from `from` on, with its point at `point` and an integer before it.
    #[inline(always)]
    fn decimal(&mut self, start: usize, from: usize, point: usize, whole: u64) -> SmallResult<'py> {
        let text = self.reader.text;
        let (end, value) = digits(text, point + 1, whole);
        let (len, places) = (end - from, end - point - 1);
        if len > LONG_MAX + 1 || places == 0 || matches!(text.get(end), Some(b'e' | b'E')) {
            return self.reader.float(start);
        }
        self.reader.at = end;
        make::float(self.reader.py, decimal(start != from, value, places as u32, len))
    }

    /// The string whose first byte was taken.
    #[inline(always)]
    pub(super) fn string(&mut self, first: u8) -> SmallResult<'py> {
        if first != b'"' {
            return None;
        }
        let (py, text, from) = (self.reader.py, self.reader.text, self.reader.at);
        match self.reader.string() {
            Some((from, to)) => self.values.value_of(py, &text[from..to]).ok()?,
            None => make::string(py, &self.escaped(from)?),
        }
    }

    /// What a string says whose content begins at `from`, and which has escapes.
    #[cold]
    #[inline(never)]
    fn escaped(&mut self, from: usize) -> Option<String> {
        let text = self.reader.text;
        let mut at = from;
        loop {
            match text.get(at) {
                Some(b'"') => break,
                Some(b'\\') => at += 2,
                Some(_) => at += 1,
                None => return None,
            }
        }
        self.reader.at = at + 1;
        jird::from_slice(&text[from - 1..=at]).ok()
    }

    /// A member of an enum, or value of a `Literal`.
    #[inline]
    pub(super) fn choice(&mut self, choice: &Choice, first: u8) -> SmallResult<'py> {
        let text = self.reader.text;
        let found = match first {
            b'"' => {
                let (from, to) = self.reader.string()?;
                choice.strings.get(&text[from..to])
            }
            b't' | b'f' => {
                let made = self.reader.value(first)?;
                choice.bools[usize::from(made.is(make::bool(self.reader.py, true)))].as_ref()
            }
            b'n' => {
                self.reader.value(first)?;
                choice.null.as_ref()
            }
            _ => choice.ints.get(&self.number_of_choice(first)?),
        };
        found.map(|found| found.bind(self.reader.py).clone())
    }

    /// A short integer by which something is chosen.
    pub(super) fn number_of_choice(&mut self, first: u8) -> Option<i64> {
        self.int(first)?.extract().ok()
    }

    /// What a string stands for, whose quote was taken.
    #[inline]
    pub(super) fn of_string(&mut self, step: &Step) -> SmallResult<'py> {
        let (py, text) = (self.reader.py, self.reader.text);
        if matches!(step, Step::DateTime | Step::Date | Step::Time | Step::TimeDelta) {
            // None of their characters needs an escape, or ends a string.
            let (moment, rest) = Moment::first(step, text.get(self.reader.at..)?)?;
            self.reader.at = text.len() - rest.len() + 1;
            return if let [b'"', ..] = rest { moment.object(py).ok() } else { None };
        }
        let (from, to) = self.reader.string()?;
        let text = &text[from..to];
        let made = match step {
            Step::Uuid(of) => uuid_of(py, of, text),
            Step::Decimal(class) => Some(class.bind(py).call1((make::string_of(py, text).ok()??,))),
            _ => None,
        };
        // The tape finds the same mistake, and has the words.
        made.and_then(PyResult::ok)
    }

    /// Passes over a value whose first byte was taken. What is not JSON is unusual.
    pub(super) fn skip(&mut self, first: u8) -> Option<()> {
        match first {
            b'"' => {
                let (text, from) = (self.reader.text, self.reader.at);
                match self.reader.string() {
                    Some((from, to)) => str::from_utf8(&text[from..to]).map(drop).ok(),
                    None => self.escaped(from).map(drop),
                }
            }
            b'{' | b'[' => self.skip_container(first),
            b'-' | b'0'..=b'9' => {
                let start = self.reader.at - 1;
                let (_, end): (MachineNumber, usize) = number_at(self.reader.text, start)?;
                self.reader.at = end;
                Some(())
            }
            _ => self.reader.value(first).map(drop),
        }
    }

    fn skip_container(&mut self, first: u8) -> Option<()> {
        self.reader.open()?;
        let is_object = first == b'{';
        let end = if is_object { b'}' } else { b']' };
        let mut next = self.reader.next();
        if next != end {
            loop {
                if is_object {
                    if next != b'"' {
                        return None;
                    }
                    self.skip(next)?;
                    if self.reader.next() != b':' {
                        return None;
                    }
                    next = self.reader.next();
                }
                self.skip(next)?;
                match self.reader.next() {
                    b',' => next = self.reader.next(),
                    after if after == end => break,
                    _ => return None,
                }
            }
        }
        self.reader.depth -= 1;
        Some(())
    }
}
