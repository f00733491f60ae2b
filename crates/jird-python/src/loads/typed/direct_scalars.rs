//! Scalars of texts that are read without a tape, and values that are passed over.

use super::direct::{DirectReader, DirectResult};
use super::plan::{Choice, Step};
use super::times::time_of;
use super::uuids::uuid_of;
use crate::loads::small::Stop;
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

/// How many bytes a date has.
const DATE: usize = 10;

/// The powers of ten of up to eight zeros.
const TENS: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// Appends the digits from `at` on to those of a value. Returns where they end. More than `LONG_MAX` make no sense.
#[inline(always)]
fn digits(text: &[u8], mut at: usize, mut value: u64) -> (usize, u64) {
    // Eight bytes at a time, however many of them are digits: most numbers have no length that could be predicted.
    while let Some(word) = text.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let (count, head) = head(*word);
        value = value.wrapping_mul(TENS[count]).wrapping_add(head);
        at += count;
        if count < 8 {
            return (at, value);
        }
    }
    while let Some(digit @ b'0'..=b'9') = text.get(at) {
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
        at += 1;
    }
    (at, value)
}

/// How many of the bytes are digits before the first that is not, and their value. Pairs of digits are joined, pairs of
/// those, and pairs of those, each by one multiplication.
#[inline(always)]
fn head(bytes: [u8; 8]) -> (usize, u64) {
    let word = u64::from_le_bytes(bytes);
    let low = word.wrapping_sub(0x3030_3030_3030_3030);
    // Marks the high bit of bytes other than digits. The first mark is right; later ones may not be.
    let others = (word.wrapping_add(0x4646_4646_4646_4646) | low) & 0x8080_8080_8080_8080;
    let count = (others.trailing_zeros() / 8) as usize;
    if count == 0 {
        return (0, 0);
    }
    // Zeros in front of the digits.
    let eight = low << (64 - 8 * count);
    let pairs = eight.wrapping_mul(10).wrapping_add(eight >> 8);
    let first = (pairs & 0x0000_00FF_0000_00FF).wrapping_mul(0x000F_4240_0000_0064);
    let second = (pairs >> 16 & 0x0000_00FF_0000_00FF).wrapping_mul(0x0000_2710_0000_0001);
    (count, first.wrapping_add(second) >> 32)
}

impl<'py> DirectReader<'_, '_, 'py> {
    /// The integer whose first byte was taken.
    #[inline(always)]
    pub(super) fn int(&mut self, first: u8) -> DirectResult<'py> {
        let text = self.reader.text;
        let from = self.reader.at - usize::from(first != b'-');
        let (at, value) = digits(text, from, 0);
        let len = at - from;
        let is_refused = len == 0 || len > LONG_MAX || text[from] == b'0' && len > 1;
        if is_refused || matches!(text.get(at), Some(b'.' | b'e' | b'E')) {
            return Err(Stop::Unusual);
        }
        self.reader.at = at;
        let py = self.reader.py;
        let made = match i64::try_from(value) {
            Ok(value) => make::int(py, if first == b'-' { -value } else { value }),
            Err(_) if first == b'-' => return Err(Stop::Unusual),
            Err(_) => make::uint(py, value),
        };
        made.ok_or(Stop::Raised)
    }

    /// The number whose first byte was taken, as a float.
    #[inline(always)]
    pub(super) fn float(&mut self, first: u8) -> DirectResult<'py> {
        let text = self.reader.text;
        let start = self.reader.at - 1;
        let from = start + usize::from(first == b'-');
        let (at, value) = digits(text, from, 0);
        let len = at - from;
        if len == 0 || text[from] == b'0' && len > 1 {
            return Err(Stop::Unusual);
        }
        match text.get(at) {
            Some(b'.') => self.decimal(start, from, at, value),
            Some(b'e' | b'E') => self.reader.float(start),
            _ if len > LONG_MAX => Err(Stop::Unusual),
            _ => {
                self.reader.at = at;
                #[expect(clippy::cast_precision_loss, reason = "it is the nearest float")]
                let size = value as f64;
                make::float(self.reader.py, if first == b'-' { -size } else { size }).ok_or(Stop::Raised)
            }
        }
    }

    /// The number from `start` on, without its sign from `from` on, with its point at `point` and an integer before it.
    #[inline(always)]
    fn decimal(&mut self, start: usize, from: usize, point: usize, whole: u64) -> DirectResult<'py> {
        let text = self.reader.text;
        let (end, value) = digits(text, point + 1, whole);
        let (len, places) = (end - from, end - point - 1);
        if len > LONG_MAX + 1 || places == 0 || matches!(text.get(end), Some(b'e' | b'E')) {
            return self.reader.float(start);
        }
        self.reader.at = end;
        make::float(self.reader.py, decimal(start != from, value, places as u32, len)).ok_or(Stop::Raised)
    }

    /// The string whose first byte was taken.
    #[inline(always)]
    pub(super) fn string(&mut self, first: u8) -> DirectResult<'py> {
        if first != b'"' {
            return Err(Stop::Unusual);
        }
        let (py, text, from) = (self.reader.py, self.reader.text, self.reader.at);
        match self.reader.string() {
            Ok((from, to)) => {
                let made = self.values.value_of(py, &text[from..to]).map_err(|_| Stop::Unusual)?;
                made.ok_or(Stop::Raised)
            }
            Err(_) => make::string(py, &self.escaped(from)?).ok_or(Stop::Raised),
        }
    }

    /// What a string says whose content begins at `from`, and which has escapes.
    #[cold]
    #[inline(never)]
    fn escaped(&mut self, from: usize) -> Result<String, Stop> {
        let text = self.reader.text;
        let mut at = from;
        loop {
            match text.get(at) {
                Some(b'"') => break,
                Some(b'\\') => at += 2,
                Some(_) => at += 1,
                None => return Err(Stop::Unusual),
            }
        }
        self.reader.at = at + 1;
        jird::from_slice(&text[from - 1..=at]).map_err(|_| Stop::Unusual)
    }

    /// A member of an enum, or value of a `Literal`.
    #[inline]
    pub(super) fn choice(&mut self, choice: &Choice, first: u8) -> DirectResult<'py> {
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
            _ => self.number_of_choice(first)?.and_then(|number| choice.ints.get(&number)),
        };
        found.map(|found| found.bind(self.reader.py).clone()).ok_or(Stop::Unusual)
    }

    /// A short integer by which something is chosen.
    pub(super) fn number_of_choice(&mut self, first: u8) -> Result<Option<i64>, Stop> {
        self.int(first)?.extract().map(Some).map_err(|_| Stop::Unusual)
    }

    /// What a string stands for, whose quote was taken.
    #[inline]
    pub(super) fn of_string(&mut self, step: &Step) -> DirectResult<'py> {
        let (py, text) = (self.reader.py, self.reader.text);
        if matches!(step, Step::Date)
            && let Some((date, [b'"', ..])) = text.get(self.reader.at..).and_then(|rest| rest.split_at_checked(DATE))
        {
            self.reader.at += DATE + 1;
            return time_of(py, step, date).and_then(PyResult::ok).ok_or(Stop::Unusual);
        }
        let (from, to) = self.reader.string()?;
        let text = &text[from..to];
        let made = match step {
            Step::Uuid(of) => uuid_of(py, of, text),
            Step::DateTime | Step::Date | Step::Time | Step::TimeDelta => time_of(py, step, text),
            Step::Decimal(class) => str::from_utf8(text).ok().map(|text| class.bind(py).call1((text,))),
            _ => None,
        };
        // The tape finds the same mistake, and has the words.
        made.and_then(PyResult::ok).ok_or(Stop::Unusual)
    }

    /// Passes over a value whose first byte was taken. What is not JSON is unusual.
    pub(super) fn skip(&mut self, first: u8) -> Result<(), Stop> {
        match first {
            b'"' => {
                let (text, from) = (self.reader.text, self.reader.at);
                match self.reader.string() {
                    Ok((from, to)) => str::from_utf8(&text[from..to]).map(drop).map_err(|_| Stop::Unusual),
                    Err(_) => self.escaped(from).map(drop),
                }
            }
            b'{' | b'[' => self.skip_container(first),
            b'-' | b'0'..=b'9' => {
                let start = self.reader.at - 1;
                let (_, end): (MachineNumber, usize) = number_at(self.reader.text, start).ok_or(Stop::Unusual)?;
                self.reader.at = end;
                Ok(())
            }
            _ => self.reader.value(first).map(drop),
        }
    }

    fn skip_container(&mut self, first: u8) -> Result<(), Stop> {
        self.reader.open()?;
        let is_object = first == b'{';
        let end = if is_object { b'}' } else { b']' };
        let mut next = self.reader.next();
        if next != end {
            loop {
                if is_object {
                    if next != b'"' {
                        return Err(Stop::Unusual);
                    }
                    self.skip(next)?;
                    if self.reader.next() != b':' {
                        return Err(Stop::Unusual);
                    }
                    next = self.reader.next();
                }
                self.skip(next)?;
                match self.reader.next() {
                    b',' => next = self.reader.next(),
                    after if after == end => break,
                    _ => return Err(Stop::Unusual),
                }
            }
        }
        self.reader.depth -= 1;
        Ok(())
    }
}
