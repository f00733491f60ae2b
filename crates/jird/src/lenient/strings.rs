//! Strings, in either kind of quotes.

use super::front::{Flow, Front, Last};
use super::hexadecimal::value_of;
use super::options::Allow;
use super::spaces::is_separator;
use super::words::unit;
use core::ops::ControlFlow;

/// An escape that is the first half of a surrogate pair, so far without its second: its offsets in the output and the text.
type Half = Option<(usize, usize)>;

/// The length of `\u0041`.
const UNIT_BYTES: usize = 6;

/// What half a pair becomes.
const REPLACED: &[u8; UNIT_BYTES] = br"\uFFFD";

impl Front<'_> {
    /// Rewrites a string, from its opening quote on.
    pub(super) fn string(&mut self, quote: u8) -> Flow {
        if quote == b'\'' && !self.allows(Allow::SingleQuotes) {
            return self.refuse(self.at, Allow::SingleQuotes);
        }
        self.out.push(b'"');
        self.at += 1;
        let mut half = None;
        while let Some(&byte) = self.text.get(self.at) {
            self.mark(self.at);
            match byte {
                b'\\' => self.escape(quote, &mut half)?,
                _ if byte == quote => return self.closed(&mut half),
                b'"' => {
                    self.unpaired(&mut half)?;
                    self.replace(1, br#"\""#);
                }
                0..0x20 => {
                    self.unpaired(&mut half)?;
                    self.control(byte)?;
                }
                _ => {
                    self.unpaired(&mut half)?;
                    self.plain(quote)?;
                }
            }
        }
        // The check says that it is not closed.
        ControlFlow::Break(())
    }

    fn closed(&mut self, half: &mut Half) -> Flow {
        self.unpaired(half)?;
        self.replace(1, b"\"");
        self.last = Last::Value;
        ControlFlow::Continue(())
    }

    /// Copies content up to the next byte that may need more than that. The first byte does not.
    fn plain(&mut self, quote: u8) -> Flow {
        let rest = &self.text[self.at..];
        let is_special = |byte: u8| byte < 0x20 || byte == b'\\' || byte == quote || byte == b'"';
        let len = rest.iter().position(|&byte| is_special(byte)).unwrap_or(rest.len());
        let content = &rest[..len];
        if self.at + len <= self.utf8_end {
            self.replace(len, content);
            return ControlFlow::Continue(());
        }
        for chunk in content.utf8_chunks() {
            self.mark(self.at);
            self.replace(chunk.valid().len(), chunk.valid().as_bytes());
            if !chunk.invalid().is_empty() {
                if !self.allows(Allow::InvalidUtf8) {
                    return self.refuse(self.at, Allow::InvalidUtf8);
                }
                self.replace(chunk.invalid().len(), "\u{FFFD}".as_bytes());
            }
        }
        ControlFlow::Continue(())
    }

    fn control(&mut self, byte: u8) -> Flow {
        let needs = if matches!(byte, b'\n' | b'\r') { Allow::LineBreaks } else { Allow::ControlCharacters };
        if !self.allows(needs) {
            return self.refuse(self.at, needs);
        }
        self.character(1, char::from(byte));
        ControlFlow::Continue(())
    }

    /// Rewrites an escape, which may stand for nothing.
    fn escape(&mut self, quote: u8, half: &mut Half) -> Flow {
        let rest = &self.text[self.at + 1..];
        let Some(&byte) = rest.first() else { return self.give_up(self.at) };
        match byte {
            b'u' => return self.unit(half),
            b'\n' | b'\r' => {
                let is_pair = rest.starts_with(b"\r\n");
                return self.continuation(2 + usize::from(is_pair));
            }
            0xE2 if is_separator(rest) => return self.continuation(4),
            _ => self.unpaired(half)?,
        }
        match byte {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.replace(2, &[b'\\', byte]),
            b'\'' if quote == b'\'' => self.replace(2, b"'"),
            _ if !self.allows(Allow::Escapes) => return self.refuse(self.at, Allow::Escapes),
            b'x' => match rest {
                [_, high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                    self.character(4, char::from(value_of(*high) << 4 | value_of(*low)));
                }
                _ => return self.give_up(self.at),
            },
            b'0' if !rest.get(1).is_some_and(u8::is_ascii_digit) => self.character(2, '\0'),
            b'0'..=b'9' => return self.give_up(self.at),
            b'v' => self.character(2, '\u{B}'),
            // The character that follows is read as if there were no backslash.
            0..0x20 | 0x80.. => self.at += 1,
            _ => self.replace(2, &[byte]),
        }
        ControlFlow::Continue(())
    }

    /// Leaves out the end of a line in a string.
    fn continuation(&mut self, len: usize) -> Flow {
        if !self.allows(Allow::LineContinuations) {
            return self.refuse(self.at, Allow::LineContinuations);
        }
        self.at += len;
        ControlFlow::Continue(())
    }

    /// Copies `\u0041`. Halves of surrogate pairs must come in pairs.
    fn unit(&mut self, half: &mut Half) -> Flow {
        let Some(unit) = unit(&self.text[self.at + 2..]) else { return self.give_up(self.at) };
        let escape = &self.text[self.at..self.at + UNIT_BYTES];
        match unit {
            0xD800..0xDC00 => {
                self.unpaired(half)?;
                *half = Some((self.out.len(), self.at));
                self.replace(UNIT_BYTES, escape);
            }
            0xDC00..0xE000 if half.take().is_none() => {
                if !self.allows(Allow::LoneSurrogates) {
                    return self.refuse(self.at, Allow::LoneSurrogates);
                }
                self.replace(UNIT_BYTES, REPLACED);
            }
            0xDC00..0xE000 => self.replace(UNIT_BYTES, escape),
            _ => {
                self.unpaired(half)?;
                self.replace(UNIT_BYTES, escape);
            }
        }
        ControlFlow::Continue(())
    }

    /// Replaces the first half of a pair that has no second.
    fn unpaired(&mut self, half: &mut Half) -> Flow {
        let Some((out, at)) = half.take() else { return ControlFlow::Continue(()) };
        if !self.allows(Allow::LoneSurrogates) {
            self.out.truncate(out);
            return self.refuse(at, Allow::LoneSurrogates);
        }
        self.out[out..out + UNIT_BYTES].copy_from_slice(REPLACED);
        ControlFlow::Continue(())
    }

    /// Writes `strict` for `len` bytes of the text.
    fn replace(&mut self, len: usize, strict: &[u8]) {
        self.out.extend_from_slice(strict);
        self.at += len;
    }

    /// Writes a character for `len` bytes of the text.
    fn character(&mut self, len: usize, char: char) {
        match char {
            '"' => self.replace(len, br#"\""#),
            '\\' => self.replace(len, br"\\"),
            '\n' => self.replace(len, br"\n"),
            '\r' => self.replace(len, br"\r"),
            '\t' => self.replace(len, br"\t"),
            '\0'..='\x1F' => {
                let digit = |value: u32| char::from_digit(value & 15, 16).map_or(b'0', |digit| digit as u8);
                let (high, low) = (digit(u32::from(char) >> 4), digit(u32::from(char)));
                self.replace(len, &[b'\\', b'u', b'0', b'0', high, low]);
            }
            _ => self.replace(len, char.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
}
