//! Grammar and tokens in one pass, byte by byte, which can stop after any byte and go on later.
//!
//! The other readers of the engine take two passes over blocks of 64 bytes. Here most pieces are shorter than a block, and
//! pass one would scan the last blocks again with each of them: [`Feed`](crate::event::Feed) takes twice as long with
//! pieces of 20 bytes, and makes no tree in that time. Only within strings does this machine read words of eight bytes. It
//! finds the first byte that is wrong; what is wrong with it is for the strict parser to say.

use super::number::NumberSoFar;
use crate::tape::{GrowingTape, StringSpan};
use crate::text::{check_escape, is_space, plain_end};

/// Where a text has come to.
#[derive(Debug)]
pub(super) struct Machine {
    expect: NextToken,
    token: OpenToken,
    /// The bytes that were read.
    at: usize,
    /// After the last byte of the text that can be kept when the text is cut and closed.
    cut: usize,
    pub(super) depth_max: usize,
    /// Whether strings that are not closed are withheld.
    pub(super) withholds_strings: bool,
}

/// What must come next, apart from white space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NextToken {
    Value,
    /// An element, or the end of the array.
    FirstElement,
    Key,
    /// A key, or the end of the object.
    FirstKey,
    Colon,
    /// A comma, or the end of what is open.
    Next,
    /// The end of the text.
    End,
}

/// The token that the text so far ends in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OpenToken {
    None,
    /// A string whose content begins at `start`.
    String {
        start: usize,
        is_key: bool,
        is_escaped: bool,
    },
    /// A number that begins at `start`.
    Number {
        start: usize,
        so_far: NumberSoFar,
    },
    /// A literal that begins at `start`.
    Literal {
        start: usize,
        value: Option<bool>,
    },
}

/// No JSON text begins like this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Malformed;

impl Machine {
    pub(super) fn new(depth_max: usize) -> Self {
        let (expect, token) = (NextToken::Value, OpenToken::None);
        Self { expect, token, at: 0, cut: 0, depth_max, withholds_strings: false }
    }

    /// Reads the new part of the tail.
    pub(super) fn run(&mut self, tape: &mut GrowingTape) -> Result<(), Malformed> {
        loop {
            let goes_on = match self.token {
                OpenToken::None => self.between(tape)?,
                OpenToken::String { start, is_key, is_escaped } => self.string(tape, start, is_key, is_escaped)?,
                OpenToken::Number { start, so_far } => self.number(tape, start, so_far)?,
                OpenToken::Literal { start, value } => self.literal(tape, start, value)?,
            };
            if !goes_on {
                return Ok(());
            }
        }
    }

    /// The text ends here. True if it is complete.
    pub(super) fn finish(&mut self, tape: &mut GrowingTape) -> bool {
        if let OpenToken::Number { start, so_far } = self.token
            && so_far.is_number()
            && tape.depth() == 0
        {
            tape.hide();
            tape.number(start, self.at);
            self.value_ended(tape, self.at);
        }
        self.is_complete()
    }

    /// Whether the value is complete.
    pub(super) fn is_complete(&self) -> bool {
        self.expect == NextToken::End
    }

    /// Whether a character beyond ASCII can come next: only in a string, and not in an escape.
    pub(super) fn takes_characters(&self, tape: &GrowingTape) -> bool {
        let is_all_read = self.at == tape.tail_start() + tape.tail().len();
        matches!(self.token, OpenToken::String { .. }) && is_all_read
    }

    /// Where the text can be cut and closed. Everything that the tape has nodes of stands before it.
    pub(super) fn cut(&self) -> usize {
        self.cut
    }

    /// The string that is open, as far as it is kept.
    pub(super) fn open_string(&self) -> Option<StringSpan> {
        match self.token {
            OpenToken::String { start, is_key: false, is_escaped } if !self.withholds_strings => {
                Some(StringSpan { start, end: self.cut, is_escaped })
            }
            _ => None,
        }
    }

    /// White space, and the first byte of a token. False if the text so far has none.
    #[inline(always)]
    fn between(&mut self, tape: &mut GrowingTape) -> Result<bool, Malformed> {
        let (tail_start, tail) = (tape.tail_start(), tape.tail().as_bytes());
        let mut at = self.at - tail_start;
        while tail.get(at).is_some_and(|&byte| is_space(byte)) {
            at += 1;
        }
        let start = tail_start + at;
        self.at = start;
        let Some(&byte) = tail.get(at) else { return Ok(false) };
        let expect = self.expect;
        let takes_value = matches!(expect, NextToken::Value | NextToken::FirstElement);
        match byte {
            b'"' if takes_value || matches!(expect, NextToken::Key | NextToken::FirstKey) => {
                self.at = start + 1;
                if takes_value && !self.withholds_strings {
                    self.cut = start + 1;
                }
                return self.string(tape, start + 1, !takes_value, false);
            }
            b'{' | b'[' if takes_value && tape.depth() < self.depth_max => {
                let is_object = byte == b'{';
                tape.begin(is_object, start);
                self.cut = start + 1;
                self.expect = if is_object { NextToken::FirstKey } else { NextToken::FirstElement };
            }
            b'}' if matches!(expect, NextToken::Next | NextToken::FirstKey) && tape.in_object() => {
                self.close(tape, start);
            }
            b']' if matches!(expect, NextToken::Next | NextToken::FirstElement) && !tape.in_object() => {
                self.close(tape, start);
            }
            b',' if expect == NextToken::Next => {
                self.expect = if tape.in_object() { NextToken::Key } else { NextToken::Value }
            }
            b':' if expect == NextToken::Colon => self.expect = NextToken::Value,
            b'-' | b'0'..=b'9' if takes_value => {
                self.at = start + 1;
                return self.number(tape, start, NumberSoFar::begun(byte));
            }
            b't' if takes_value => self.token = OpenToken::Literal { start, value: Some(true) },
            b'f' if takes_value => self.token = OpenToken::Literal { start, value: Some(false) },
            b'n' if takes_value => self.token = OpenToken::Literal { start, value: None },
            _ => return Err(Malformed),
        }
        self.at = start + 1;
        Ok(true)
    }

    #[inline(always)]
    fn close(&mut self, tape: &mut GrowingTape, at: usize) {
        tape.end(at);
        self.value_ended(tape, at + 1);
    }

    #[inline(always)]
    fn value_ended(&mut self, tape: &GrowingTape, end: usize) {
        self.token = OpenToken::None;
        self.cut = end;
        self.expect = if tape.depth() == 0 { NextToken::End } else { NextToken::Next };
    }

    /// The rest of a string. False if the text so far ends in it.
    #[inline(always)]
    fn string(
        &mut self,
        tape: &mut GrowingTape,
        start: usize,
        is_key: bool,
        mut is_escaped: bool,
    ) -> Result<bool, Malformed> {
        let (tail_start, tail) = (tape.tail_start(), tape.tail().as_bytes());
        let mut at = self.at - tail_start;
        let goes_on = loop {
            at = plain_end(tail, at);
            match tail.get(at) {
                Some(b'"') => {
                    let end = tail_start + at;
                    self.at = end + 1;
                    self.string_ended(tape, StringSpan { start, end, is_escaped }, is_key);
                    return Ok(true);
                }
                Some(b'\\') => match check_escape(tail, at) {
                    Ok(len) => (at, is_escaped) = (at + len, true),
                    Err(wrong) if wrong == tail.len() => break Ok(false),
                    Err(_) => break Err(Malformed),
                },
                Some(_) => break Err(Malformed),
                None => break Ok(false),
            }
        };
        self.at = tail_start + at;
        self.token = OpenToken::String { start, is_key, is_escaped };
        if !is_key && !self.withholds_strings {
            self.cut = self.at;
        }
        goes_on
    }

    #[inline(always)]
    fn string_ended(&mut self, tape: &mut GrowingTape, span: StringSpan, is_key: bool) {
        if is_key {
            tape.key(span);
            (self.token, self.expect) = (OpenToken::None, NextToken::Colon);
        } else {
            tape.string(span);
            self.value_ended(tape, span.end + 1);
        }
    }

    /// The rest of a number. False if the text so far ends in it.
    #[inline(always)]
    fn number(&mut self, tape: &mut GrowingTape, start: usize, mut so_far: NumberSoFar) -> Result<bool, Malformed> {
        let (tail_start, tail) = (tape.tail_start(), tape.tail().as_bytes());
        let mut at = self.at - tail_start;
        while let Some(next) = tail.get(at).and_then(|&byte| so_far.then(byte)) {
            (at, so_far) = (at + 1, next);
        }
        let end = tail_start + at;
        (self.at, self.token) = (end, OpenToken::Number { start, so_far });
        match tail.get(at) {
            None => Ok(false),
            Some(b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r') if so_far.is_number() => {
                tape.number(start, end);
                self.value_ended(tape, end);
                Ok(true)
            }
            Some(_) => Err(Malformed),
        }
    }

    /// The rest of a literal. False if the text so far ends in it.
    fn literal(&mut self, tape: &mut GrowingTape, start: usize, value: Option<bool>) -> Result<bool, Malformed> {
        let word: &[u8] = match value {
            Some(true) => b"true",
            Some(false) => b"false",
            None => b"null",
        };
        let tail_start = tape.tail_start();
        let rest = &word[self.at - start..];
        let new = &tape.tail().as_bytes()[self.at - tail_start..];
        let same = rest.iter().zip(new).take_while(|(wanted, found)| wanted == found).count();
        self.at += same;
        if same == rest.len() {
            tape.literal(value, start, self.at);
            self.value_ended(tape, self.at);
            return Ok(true);
        }
        if same == new.len() { Ok(false) } else { Err(Malformed) }
    }
}
