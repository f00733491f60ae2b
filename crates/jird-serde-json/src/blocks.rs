//! Values from a reader that is read in blocks, and goes on to be used.
//!
//! The end of each value is searched before the value is decoded: outside strings only brackets count. So the reader is
//! never asked for more once a value is complete. While a value is not complete, the engine checks what is there, so
//! that an error is reported at once, and not after a read that may wait forever.

use crate::de::{from_slice, honest};
use crate::error::{Error, Result};
use jird::event::{Feed, Sink};
use serde_core::de::{self, Deserialize, IgnoredAny};
use std::convert::Infallible;
use std::io;

/// What is read at a time, in bytes, as long as values are not longer.
const BLOCK_BYTES: usize = 64 << 10;

/// The longest value that a [`ValueReader`] keeps in memory, unless the caller chooses another limit: 256 MB.
pub const VALUE_BYTES_MAX: usize = 256 << 20;

/// Reads values from a reader in blocks of 64 KB, and gives back what was read and not used.
///
/// [`Deserializer::from_reader`](crate::Deserializer::from_reader) takes exactly the bytes of a value, one by one; this
/// type takes whole blocks, and keeps the bytes after the value. Once a value is complete, the reader is not
/// asked for more, so that nothing blocks on a connection that stays open. White space between values is skipped. A
/// number is complete when another byte follows it, or at the reader's end.
///
/// The text of one value is in memory, up to a limit. The time is linear in the text.
///
/// ```
/// use jird_serde_json::blocks::ValueReader;
///
/// let mut values = ValueReader::new(&br#"{"len": 5} [1, 2]payload"#[..]);
/// let header: serde::de::IgnoredAny = values.read()?.expect("a value");
/// let list: Vec<u8> = values.read()?.expect("a value");
/// let (_reader, rest) = values.into_parts();
/// assert_eq!((list, rest), (vec![1, 2], b"payload".to_vec()));
/// # let _ = header;
/// # Ok::<(), jird_serde_json::Error>(())
/// ```
pub struct ValueReader<R> {
    reader: R,
    /// `text[at..end]` was read and is not used yet.
    text: Vec<u8>,
    at: usize,
    end: usize,
    /// The offset of `text[at]` in all that was read.
    offset: u64,
    boundary: Boundary,
    /// Checks the beginning of a value that is not complete.
    check: Option<Check>,
    value_bytes_max: usize,
}

impl<R: io::Read> ValueReader<R> {
    /// Reads values from this reader. It needs no `BufReader`.
    pub fn new(reader: R) -> Self {
        let (boundary, value_bytes_max) = (Boundary::default(), VALUE_BYTES_MAX);
        Self { reader, text: Vec::new(), at: 0, end: 0, offset: 0, boundary, check: None, value_bytes_max }
    }

    /// Refuses values that are longer than this, instead of [`VALUE_BYTES_MAX`].
    #[must_use]
    pub fn with_value_bytes_max(self, value_bytes_max: usize) -> Self {
        Self { value_bytes_max, ..self }
    }

    /// Decodes the next value; `None` at the reader's end. Strings without escapes can be borrowed.
    ///
    /// # Errors If the text is not JSON, or does not fit `T`, or the reader fails. Line and column are counted from
    /// where the value before ends; [`byte_offset`](Self::byte_offset) is that place. A value that does not fit `T` is
    /// used up, so that the next call reads the value after it. After an error of the reader, the next call goes on.
    /// Other errors come again with each call, and [`into_parts`](Self::into_parts) gives the text that is wrong.
    pub fn read<'a, T: Deserialize<'a>>(&'a mut self) -> Result<Option<T>> {
        let Some(len) = self.find()? else { return Ok(None) };
        let start = self.at;
        (self.boundary, self.check) = (Boundary::default(), None);
        match from_slice(&self.text[start..start + len]) {
            // A text that breaks a rule of JSON stays.
            Err(error) if !error.is_data() => Err(error),
            used => {
                self.at = start + len;
                self.offset += len as u64;
                used.map(Some)
            }
        }
    }

    /// Reads until the next value is complete. Its length, with the white space before it; `None` if there is no more.
    fn find(&mut self) -> Result<Option<usize>> {
        loop {
            if let Some(len) = self.boundary.find(&self.text[self.at..self.end]) {
                return Ok(Some(len));
            }
            self.check_so_far()?;
            if self.end - self.at > self.value_bytes_max {
                let max = self.value_bytes_max;
                return Err(de::Error::custom(format_args!("a value is longer than {max} bytes")));
            }
            if self.fill()? == 0 {
                let is_over = self.boundary.state == State::Before;
                if is_over {
                    self.offset += (self.end - self.at) as u64;
                    (self.at, self.boundary) = (self.end, Boundary::default());
                }
                return Ok((!is_over).then_some(self.end - self.at));
            }
        }
    }

    /// Fails if no valid text can begin like this.
    fn check_so_far(&mut self) -> Result<()> {
        let so_far = &self.text[self.at..self.end];
        if self.boundary.state == State::Before {
            return Ok(());
        }
        let check = self.check.get_or_insert_with(Check::default);
        if check.is_wrong(so_far) {
            // What is wrong for the engine may be right for `serde_json`: half a surrogate pair in a value that is not
            // read.
            match from_slice::<IgnoredAny>(so_far) {
                Err(error) if error.is_syntax() => return Err(error),
                _ => check.feed = None,
            }
        }
        Ok(())
    }

    /// Reads once. Returns how many bytes came.
    fn fill(&mut self) -> Result<usize> {
        if self.at > 0 {
            self.text.copy_within(self.at..self.end, 0);
            (self.at, self.end) = (0, self.end - self.at);
        }
        if self.end == self.text.len() {
            self.text.resize((2 * self.end).max(BLOCK_BYTES), 0);
        }
        loop {
            match honest(&mut self.reader, &mut self.text[self.end..]) {
                Ok(len) => {
                    self.end += len;
                    return Ok(len);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => (),
                Err(error) => return Err(Error::io(error)),
            }
        }
    }
}

impl<R> ValueReader<R> {
    /// How many bytes were used: where the last value ends.
    pub fn byte_offset(&self) -> u64 {
        self.offset
    }

    /// The reader, for example to answer on the same connection. What is read from it does not come from here.
    pub fn get_mut(&mut self) -> &mut R {
        &mut self.reader
    }

    /// The reader, and the bytes that were read from it and not used: what stands after the last value.
    pub fn into_parts(mut self) -> (R, Vec<u8>) {
        self.text.truncate(self.end);
        self.text.drain(..self.at);
        (self.reader, self.text)
    }
}

/// Where a value ends, as far as its text is known.
#[derive(Default)]
struct Boundary {
    /// The length of what was searched.
    searched: usize,
    /// How many brackets are open.
    depth: usize,
    state: State,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum State {
    /// In white space before the value.
    #[default]
    Before,
    /// Within brackets, outside strings.
    Open,
    String,
    /// After a backslash.
    Escape,
    Number,
    /// In `true`, `false` or `null`: how many bytes are to come.
    Word(u8),
}

impl Boundary {
    /// Searches on. `text` begins where it began before. The length of the value, if its end is there.
    fn find(&mut self, text: &[u8]) -> Option<usize> {
        let mut at = self.searched;
        while at < text.len() {
            if self.state == State::String {
                let Some(len) = text[at..].iter().position(|&byte| matches!(byte, b'"' | b'\\')) else { break };
                at += len;
            }
            let byte = text[at];
            at += 1;
            let is_complete = match (self.state, byte) {
                (State::Before, b' ' | b'\t' | b'\n' | b'\r')
                | (State::Number, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9') => false,
                (State::Before | State::Open, b'[' | b'{') => {
                    self.depth += 1;
                    self.state = State::Open;
                    false
                }
                (State::Before | State::Open, b'"') | (State::Escape, _) => {
                    self.state = State::String;
                    false
                }
                (State::Before, b'-' | b'0'..=b'9') => {
                    self.state = State::Number;
                    false
                }
                (State::Before, b't' | b'n' | b'f') => {
                    self.state = State::Word(if byte == b'f' { 4 } else { 3 });
                    false
                }
                // No value begins like this.
                (State::Before, _) => true,
                (State::Open, b']' | b'}') => {
                    self.depth -= 1;
                    self.depth == 0
                }
                (State::Open, _) => false,
                (State::String, b'\\') => {
                    self.state = State::Escape;
                    false
                }
                (State::String, _) => {
                    self.state = State::Open;
                    self.depth == 0
                }
                (State::Number, _) => {
                    at -= 1;
                    true
                }
                (State::Word(left), _) => {
                    self.state = State::Word(left - 1);
                    left == 1
                }
            };
            if is_complete {
                return Some(at);
            }
        }
        self.searched = text.len();
        None
    }
}

/// Checks a text that grows.
struct Check {
    /// `None` if it has found an error that is none for `serde_json`.
    feed: Option<Feed>,
    checked: usize,
}

impl Default for Check {
    fn default() -> Self {
        Self { feed: Some(Feed::new()), checked: 0 }
    }
}

impl Check {
    /// Whether the engine refuses the text, which begins with what it was before.
    fn is_wrong(&mut self, text: &[u8]) -> bool {
        struct Nobody;
        impl Sink for Nobody {
            type Error = Infallible;
        }
        let new = &text[self.checked..];
        self.checked = text.len();
        self.feed.as_mut().is_some_and(|feed| feed.feed(new, &mut Nobody).is_err())
    }
}
