//! A naive parser that goes byte by byte. The real parser must give the same acceptance, the same error and the
//! same tape. It is part of tests and of checked builds only, where every parse is compared with it.

use super::build::{TapeBuilder, TapeVisitor};
#[cfg(jird_checked)]
use super::value::Value;
use crate::fault::{ErrorKind, Fault};
use crate::limits::SIZE_MAX;
use crate::number::Class;
use crate::policy::Policy;
use crate::walk::{Bracket, Build, Literal, Visitor};

/// The tape of `text`, or its first error.
pub(crate) fn parse(text: &[u8], policy: &Policy) -> Result<Vec<u64>, Fault> {
    if text.len() > SIZE_MAX {
        return Err(Fault::at_byte(ErrorKind::Size, SIZE_MAX));
    }
    let mut tape = TapeBuilder::default();
    // Each byte is at most one token.
    let mut model = Model { text, at: 0, policy, tape: tape.visitor(text.len()) };
    let result = model.document();
    // A byte that cannot begin a UTF-8 character is reported as a UTF-8 error, whatever else is wrong with it.
    // Inside an escape, the escape is the error. A number that is out of range comes before the byte.
    let (begins_none, at) = (model.begins_no_character(), model.at);
    model.tape.finish();
    match result {
        Err(error) if begins_none && !matches!(error.kind(), ErrorKind::Escape | ErrorKind::Range) => {
            Err(fault(ErrorKind::Utf8, at))
        }
        result => result.map(|()| {
            super::long::spell_out(&mut tape.words);
            tape.words
        }),
    }
}

/// The result of `read` on the value of `text`, if the text is valid.
#[cfg(jird_checked)]
pub(crate) fn read<T>(text: &[u8], policy: &Policy, read: impl FnOnce(Value<'_>) -> T) -> Result<T, Fault> {
    let words = parse(text, policy)?;
    // SAFETY: the model writes its tape with the same builder, for this text, which it has checked.
    Ok(read(unsafe { Value::new(text, &words) }))
}

fn fault(kind: ErrorKind, at: usize) -> Fault {
    Fault::new(kind, at as u64)
}

struct Model<'t> {
    text: &'t [u8],
    at: usize,
    policy: &'t Policy,
    tape: TapeVisitor<'t>,
}

struct ModelFrame {
    mark: usize,
    bracket: Bracket,
    count: u32,
}

impl Model<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// Whether a byte comes that cannot begin a UTF-8 character.
    fn begins_no_character(&self) -> bool {
        matches!(self.peek(), Some(0x80..0xC2 | 0xF5..))
    }

    fn space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    /// The error for a byte that is not `wanted`.
    fn unexpected(&self, wanted: ErrorKind) -> Fault {
        fault(if self.at == self.text.len() { ErrorKind::Unclosed } else { wanted }, self.at)
    }

    fn document(&mut self) -> Result<(), Fault> {
        let mut frames: Vec<ModelFrame> = Vec::new();
        self.space();
        if self.at == self.text.len() {
            return Err(fault(ErrorKind::Empty, self.at));
        }
        loop {
            // A value is due here, or a member in an object.
            self.space();
            if let Some(frame) = frames.last_mut() {
                frame.count += 1;
                if frame.bracket == Bracket::Object {
                    if self.peek() != Some(b'"') {
                        return Err(self.unexpected(ErrorKind::Key));
                    }
                    self.string()?;
                    self.space();
                    if self.peek() != Some(b':') {
                        return Err(self.unexpected(ErrorKind::Colon));
                    }
                    self.at += 1;
                    self.space();
                }
            }
            let opened = self.value(&mut frames)?;
            if !opened {
                self.after_value(&mut frames)?;
            }
            if frames.is_empty() {
                self.space();
                return if self.at == self.text.len() { Ok(()) } else { Err(fault(ErrorKind::Trailing, self.at)) };
            }
        }
    }

    /// Closes every container that ends here, up to the comma after which a value or member is due.
    fn after_value(&mut self, frames: &mut Vec<ModelFrame>) -> Result<(), Fault> {
        while let Some(frame) = frames.last() {
            self.space();
            match (self.peek(), frame.bracket) {
                (Some(b','), _) => {
                    self.at += 1;
                    return Ok(());
                }
                (Some(b'}'), Bracket::Object) | (Some(b']'), Bracket::Array) => {
                    self.at += 1;
                    self.tape.close(frame.mark, frame.bracket, frame.count, self.at);
                    frames.pop();
                }
                _ => return Err(self.unexpected(ErrorKind::Comma)),
            }
        }
        Ok(())
    }

    /// Reads a scalar or an empty container and returns false, or opens another container and returns true.
    fn value(&mut self, frames: &mut Vec<ModelFrame>) -> Result<bool, Fault> {
        match self.peek() {
            Some(b'{') => self.open(frames, Bracket::Object, b'}'),
            Some(b'[') => self.open(frames, Bracket::Array, b']'),
            Some(b'"') => self.string().map(|()| false),
            Some(b'-' | b'0'..=b'9') => self.number().map(|()| false),
            Some(b't') => self.literal(Literal::True).map(|()| false),
            Some(b'f') => self.literal(Literal::False).map(|()| false),
            Some(b'n') => self.literal(Literal::Null).map(|()| false),
            _ => Err(self.unexpected(ErrorKind::Value)),
        }
    }

    fn open(&mut self, frames: &mut Vec<ModelFrame>, bracket: Bracket, closing: u8) -> Result<bool, Fault> {
        if frames.len() >= self.policy.depth_max {
            return Err(fault(ErrorKind::Depth, self.at));
        }
        let mark = self.tape.open(bracket, self.at);
        self.at += 1;
        self.space();
        if self.peek() == Some(closing) {
            self.at += 1;
            self.tape.close(mark, bracket, 0, self.at);
            return Ok(false);
        }
        frames.push(ModelFrame { mark, bracket, count: 0 });
        Ok(true)
    }

    fn string(&mut self) -> Result<(), Fault> {
        let start = self.at + 1;
        let mut escaped = false;
        self.at = start;
        loop {
            match self.peek() {
                None => return Err(self.string_ends()),
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    let leading = self.escape()?;
                    if leading {
                        self.trailing()?;
                    }
                }
                Some(0..0x20) => return Err(fault(ErrorKind::Control, self.at)),
                Some(0x80..) => self.character()?,
                Some(_) => self.at += 1,
            }
        }
        self.tape.string(start, self.at, escaped);
        self.at += 1;
        Ok(())
    }

    /// A character beyond ASCII, by the table of RFC 3629 §4.
    fn character(&mut self) -> Result<(), Fault> {
        const ANY: (u8, u8) = (0x80, 0xBF);
        let rest: &[(u8, u8)] = match self.text[self.at] {
            0xC2..=0xDF => &[ANY],
            0xE0 => &[(0xA0, 0xBF), ANY],
            0xED => &[(0x80, 0x9F), ANY],
            0xE1..=0xEF => &[ANY, ANY],
            0xF0 => &[(0x90, 0xBF), ANY, ANY],
            0xF1..=0xF3 => &[ANY, ANY, ANY],
            0xF4 => &[(0x80, 0x8F), ANY, ANY],
            _ => return Err(fault(ErrorKind::Utf8, self.at)),
        };
        self.at += 1;
        for &(first, last) in rest {
            match self.peek() {
                None => return Err(self.string_ends()),
                Some(byte) if (first..=last).contains(&byte) => self.at += 1,
                Some(_) => return Err(fault(ErrorKind::Utf8, self.at)),
            }
        }
        Ok(())
    }

    /// The text ends inside a string.
    fn string_ends(&self) -> Fault {
        fault(ErrorKind::String, self.at)
    }

    /// Reads one escape; true if it is a leading surrogate.
    fn escape(&mut self) -> Result<bool, Fault> {
        self.at += 1;
        match self.peek() {
            None => return Err(self.string_ends()),
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 1,
            Some(b'u') => {
                self.at += 1;
                let first = self.hex(|_| true)?;
                let second = self.hex(|digit| first != 0xD || digit < 0xC)?;
                self.hex(|_| true)?;
                self.hex(|_| true)?;
                return Ok(first == 0xD && second >= 8);
            }
            Some(_) => return Err(fault(ErrorKind::Escape, self.at)),
        }
        Ok(false)
    }

    /// The `\uDC00` to `\uDFFF` that must follow a leading surrogate.
    fn trailing(&mut self) -> Result<(), Fault> {
        for wanted in [b'\\', b'u'] {
            match self.peek() {
                None => return Err(self.string_ends()),
                Some(found) if found == wanted => self.at += 1,
                Some(_) => return Err(fault(ErrorKind::Escape, self.at)),
            }
        }
        self.hex(|digit| digit == 0xD)?;
        self.hex(|digit| digit >= 0xC)?;
        self.hex(|_| true)?;
        self.hex(|_| true).map(drop)
    }

    fn hex(&mut self, fits: impl Fn(u32) -> bool) -> Result<u32, Fault> {
        let Some(byte) = self.peek() else { return Err(self.string_ends()) };
        match char::from(byte).to_digit(16).filter(|&digit| fits(digit)) {
            Some(digit) => {
                self.at += 1;
                Ok(digit)
            }
            None => Err(fault(ErrorKind::Escape, self.at)),
        }
    }

    fn number(&mut self) -> Result<(), Fault> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        let ends = self.scalar_ends(ErrorKind::Number);
        let token = &self.text[start..self.at];
        // A byte that begins no character ends the number.
        if (ends.is_ok() || self.begins_no_character())
            && !crate::number::in_range(token, Class::of(token), self.policy.numbers)
        {
            return Err(fault(ErrorKind::Range, start));
        }
        ends?;
        self.tape.number(start, self.at, Class::of(token));
        Ok(())
    }

    fn digits(&mut self) -> Result<(), Fault> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at > start { Ok(()) } else { Err(fault(ErrorKind::Number, self.at)) }
    }

    fn literal(&mut self, literal: Literal) -> Result<(), Fault> {
        let start = self.at;
        for byte in literal.text().bytes() {
            if self.peek() != Some(byte) {
                return Err(fault(ErrorKind::Literal, self.at));
            }
            self.at += 1;
        }
        self.scalar_ends(ErrorKind::Literal)?;
        self.tape.literal(start, literal);
        Ok(())
    }

    /// After a number or literal comes a structural byte, white space, or the end.
    fn scalar_ends(&self, kind: ErrorKind) -> Result<(), Fault> {
        match self.peek() {
            None | Some(b' ' | b'\t' | b'\n' | b'\r' | b'{' | b'}' | b'[' | b']' | b':' | b',') => Ok(()),
            Some(_) => Err(fault(kind, self.at)),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::error::Error;
    use crate::policy::{Numbers, Policy};
    use crate::{Parser, kernel::Kernel};

    #[test]
    fn of_a_number_out_of_range_and_bad_utf8_the_first_is_the_error() {
        let texts: [(&[u8], &str, u64); 7] = [
            (b"[1e400\xFF]", "range", 1),
            (b"[1e400 \xFF]", "range", 1),
            (b"[1e400,\xFF]", "range", 1),
            (b"[\xFF,1e400]", "utf8", 1),
            (b"[1\xFF]", "utf8", 2),
            (b"[1e400x]", "number", 6),
            (b"[1e400\xC3\xA9]", "number", 6),
        ];
        for numbers in [Numbers::Finite, Numbers::Machine] {
            let policy = Policy { numbers, ..Policy::default() };
            for (text, code, offset) in texts {
                let model = Error::from(super::parse(text, &policy).expect_err("it is out of range"));
                assert_eq!((model.code(), model.offset()), (code, offset), "{text:?}");
                for kernel in Kernel::available() {
                    let error = Parser::with_kernel(policy, kernel).parse(text).expect_err("it is out of range");
                    assert_eq!((error.code(), error.offset()), (code, offset), "{text:?} {kernel:?}");
                }
            }
        }
    }

    #[test]
    fn scalars_end_before_any_amount_of_white_space() {
        for kernel in Kernel::available() {
            let mut parser = Parser::with_kernel(Policy::default(), kernel);
            for len in 0..200 {
                let blank: String = " \n\t\r".chars().cycle().skip(len).take(len).collect();
                let text =
                    format!("[\"a\\n\"{blank},12{blank},{{\"b\"{blank}:true{blank}}},{blank}null{blank}]{blank}");
                let root = parser.parse(text.as_bytes()).expect("it is valid");
                let raw: Vec<_> = root.descendants().filter(|value| !value.kind().is_container()).collect();
                let raw: Vec<_> = raw.iter().map(|value| value.raw()).collect();
                let wanted: [&[u8]; 5] = [b"\"a\\n\"", b"12", b"\"b\"", b"true", b"null"];
                assert_eq!(raw, wanted, "{kernel:?} {len}");
            }
        }
    }

    /// Every short text over an alphabet that reaches all states, on every kernel, with chunk borders at every place.
    #[test]
    fn the_parser_equals_the_model_on_short_texts() {
        const PIECES: &[&[u8]] = &[
            b"{",
            b"}",
            b"[",
            b"]",
            b":",
            b",",
            b"\"",
            b"\\",
            b"1",
            b"-",
            b".5",
            b"e",
            b"true",
            b" ",
            b"\n",
            b"a",
            b"\xC3\xA9",
            b"\xC3",
            b"\x01",
            b"\\ud83d",
            b"\\ude00",
        ];
        let mut parsers: Vec<_> = Kernel::available()
            .map(|kernel| Parser::with_kernel(Policy::default(), kernel).with_chunk_bytes(64))
            .chain([Parser::new()])
            .collect();
        let mut text = Vec::new();
        for len in 0..=if checks::is_slow() { 4 } else { 5 } {
            for mut code in 0..PIECES.len().pow(len) {
                let pad = code % 67;
                text.clear();
                text.resize(pad, b' ');
                for _ in 0..len {
                    text.extend_from_slice(PIECES[code % PIECES.len()]);
                    code /= PIECES.len();
                }
                let wanted = super::parse(&text, &Policy::default());
                for parser in &mut parsers {
                    let found = parser.parse(&text).map(|_| ());
                    assert_eq!(
                        found,
                        wanted.as_ref().map(|_| ()).map_err(|fault| Error::in_text(*fault, &text)),
                        "{:?}",
                        String::from_utf8_lossy(&text)
                    );
                    if let Ok(words) = &wanted {
                        assert_eq!(parser.words(), &words[..], "{:?}", String::from_utf8_lossy(&text));
                    }
                }
            }
        }
    }

    /// The first bytes of these characters look like marked brackets. They stand at the end of a chunk, and what follows is
    /// ASCII.
    #[test]
    fn a_character_that_looks_like_a_bracket_is_none_in_a_chunk_before() {
        for kernel in Kernel::available() {
            let mut parser = Parser::with_kernel(Policy::default(), kernel).with_chunk_bytes(64);
            for (character, pad) in ["\u{6f5}", "\u{752}"].into_iter().flat_map(|c| (0..140).map(move |pad| (c, pad))) {
                for (before, after) in
                    [("[", "]"), ("[", "]]"), ("[1,", "1]]"), ("", "]"), ("{\"a\":1", "}}"), ("[[", "]]")]
                {
                    for space in ["", " "] {
                        let text = [before, &" ".repeat(pad), character, space, after].concat();
                        assert!(parser.parse(text.as_bytes()).is_err(), "{kernel:?} {text}");
                        assert!(parser.validate(text.as_bytes()).is_err(), "{kernel:?} {text}");
                    }
                }
                let text = ["[\"", &"x".repeat(pad), character, "\",[1]]"].concat();
                assert!(parser.parse(text.as_bytes()).is_ok(), "{kernel:?} {text}");
            }
        }
    }
}
