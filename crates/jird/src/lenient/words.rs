//! Words: literals, keys without quotes, and white space beyond ASCII.

use super::front::{Flow, Front, Last};
use super::hexadecimal::value_of;
use super::options::Allow;
use super::spaces::is_other_space;
use core::ops::ControlFlow;

impl Front<'_> {
    /// Reads what begins with neither a quote, a digit nor a sign.
    pub(super) fn word_or_space(&mut self) -> Flow {
        let (start, rest) = (self.at, &self.text[self.at..]);
        match char_at(rest) {
            Some('\u{FEFF}') if start == 0 && self.allows(Allow::ByteOrderMark) => {
                self.at += '\u{FEFF}'.len_utf8();
                return ControlFlow::Continue(());
            }
            Some('\u{FEFF}') if start == 0 && !self.allows(Allow::WhiteSpace) => {
                return self.refuse(start, Allow::ByteOrderMark);
            }
            Some(space) if is_other_space(space) => return self.other_space(space.len_utf8()),
            _ => {}
        }
        match identifier_len(rest) {
            0 => self.give_up(start),
            len if self.is_key_due() => self.bare_key(&rest[..len]),
            len => self.word(&rest[..len]),
        }
    }

    fn bare_key(&mut self, key: &[u8]) -> Flow {
        if !self.allows(Allow::BareKeys) {
            return self.refuse(self.at, Allow::BareKeys);
        }
        // Its escapes are those of strict JSON.
        self.out.push(b'"');
        self.out.extend_from_slice(key);
        self.out.push(b'"');
        self.at += key.len();
        self.last = Last::Value;
        ControlFlow::Continue(())
    }

    /// A word where a value can stand.
    fn word(&mut self, word: &[u8]) -> Flow {
        let (strict, needs): (&[u8], _) = match word {
            b"true" | b"false" | b"null" => (word, None),
            b"True" => (b"true", Some(Allow::PythonLiterals)),
            b"False" => (b"false", Some(Allow::PythonLiterals)),
            b"None" => (b"null", Some(Allow::PythonLiterals)),
            b"undefined" => (b"null", Some(Allow::Undefined)),
            b"NaN" | b"Infinity" => return self.nonfinite(self.at, word, word.len()),
            _ => return self.give_up(self.at),
        };
        if let Some(allow) = needs.filter(|allow| !self.allows(*allow)) {
            return self.refuse(self.at, allow);
        }
        self.out.extend_from_slice(strict);
        self.at += word.len();
        self.last = Last::Value;
        ControlFlow::Continue(())
    }
}

/// The length of the identifier that a text begins with (ECMAScript 5.1, section 7.6); 0 if it begins with none.
fn identifier_len(text: &[u8]) -> usize {
    let mut at = text.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    while let Some((char, len)) = char_or_escape(&text[at..]) {
        if !(begins_identifier(char) || at > 0 && continues_identifier(char)) {
            break;
        }
        at += len;
    }
    at
}

/// The character that a text begins with, also if it is written `\u0061`, and its length in the text.
fn char_or_escape(text: &[u8]) -> Option<(char, usize)> {
    match text {
        [byte, ..] if byte.is_ascii() && *byte != b'\\' => Some((char::from(*byte), 1)),
        [b'\\', b'u', digits @ ..] => Some((char::from_u32(u32::from(unit(digits)?))?, 6)),
        _ => char_at(text).map(|char| (char, char.len_utf8())),
    }
}

/// The UTF-16 code unit that four hexadecimal digits at the beginning of a text stand for.
pub(super) fn unit(text: &[u8]) -> Option<u16> {
    let digits = text.get(..4).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))?;
    Some(digits.iter().fold(0, |unit, &digit| unit << 4 | u16::from(value_of(digit))))
}

/// The character that a text begins with.
pub(super) fn char_at(text: &[u8]) -> Option<char> {
    let len = match text.first()? {
        0..0x80 => 1,
        0xC2..0xE0 => 2,
        0xE0..0xF0 => 3,
        _ => 4,
    };
    core::str::from_utf8(text.get(..len)?).ok()?.chars().next()
}

fn begins_identifier(char: char) -> bool {
    char == '$' || char == '_' || char.is_alphabetic()
}

/// Digits, marks that combine, punctuation that connects, and the two joiners.
fn continues_identifier(char: char) -> bool {
    let is_mark = matches!(
        char,
        '\u{300}'..='\u{36F}'
            | '\u{483}'..='\u{487}'
            | '\u{591}'..='\u{5BD}'
            | '\u{1AB0}'..='\u{1AFF}'
            | '\u{1DC0}'..='\u{1DFF}'
            | '\u{20D0}'..='\u{20F0}'
            | '\u{FE00}'..='\u{FE0F}'
            | '\u{FE20}'..='\u{FE2F}'
    );
    let connects = matches!(
        char,
        '\u{203F}' | '\u{2040}' | '\u{2054}' | '\u{FE33}' | '\u{FE34}' | '\u{FE4D}'..='\u{FE4F}' | '\u{FF3F}'
    );
    char.is_numeric() || is_mark || connects || matches!(char, '\u{200C}' | '\u{200D}')
}
