//! White space and comments.

use super::error::Reason;
use super::front::{Flow, Front};
use super::options::Allow;
use crate::text::is_space;
use core::ops::ControlFlow;

impl Front<'_> {
    /// Copies white space of strict JSON.
    pub(super) fn spaces(&mut self) -> Flow {
        let rest = &self.text[self.at..];
        let len = rest.iter().position(|&byte| !is_space(byte)).unwrap_or(rest.len());
        self.out.extend_from_slice(&rest[..len]);
        self.at += len;
        ControlFlow::Continue(())
    }

    /// Writes a space for a character of `len` bytes that is white space elsewhere.
    pub(super) fn other_space(&mut self, len: usize) -> Flow {
        if !self.allows(Allow::WhiteSpace) {
            return self.refuse(self.at, Allow::WhiteSpace);
        }
        self.out.push(b' ');
        self.at += len;
        ControlFlow::Continue(())
    }

    /// Writes the line feeds of a comment, so that lines keep their numbers.
    pub(super) fn comment(&mut self) -> Flow {
        let (start, rest) = (self.at, &self.text[self.at..]);
        let end = match rest {
            [_, b'/', ..] => start + self.line_comment_len(rest),
            [_, b'*', inside @ ..] => match block_comment_len(inside) {
                Some(len) => start + 2 + len,
                None if self.allows(Allow::Comments) => return self.stop_for(start, Reason::Comment),
                None => return self.refuse(start, Allow::Comments),
            },
            _ => return self.give_up(start),
        };
        if !self.allows(Allow::Comments) {
            return self.refuse(start, Allow::Comments);
        }
        if (start..end).contains(&self.utf8_end) && !self.allows(Allow::InvalidUtf8) {
            return self.refuse(self.utf8_end, Allow::InvalidUtf8);
        }
        let breaks = memchr::memchr_iter(b'\n', &self.text[start..end]).count();
        if breaks > 0 {
            self.out.resize(self.out.len() + breaks, b'\n');
        } else {
            self.out.push(b' ');
        }
        self.at = end;
        ControlFlow::Continue(())
    }

    /// The length of a comment that its line ends. Looks at each byte of it once, also if lines end with U+2028.
    fn line_comment_len(&self, rest: &[u8]) -> usize {
        let separators = self.allows(Allow::WhiteSpace);
        let mut at = 0;
        while let Some(found) = memchr::memchr3(b'\n', b'\r', 0xE2, &rest[at..]) {
            at += found;
            if rest[at] != 0xE2 || separators && is_separator(&rest[at..]) {
                return at;
            }
            at += 1;
        }
        rest.len()
    }
}

/// The length of a comment from behind its `/*` to behind its `*/`.
fn block_comment_len(inside: &[u8]) -> Option<usize> {
    memchr::memchr_iter(b'*', inside).find(|star| inside.get(star + 1) == Some(&b'/')).map(|star| star + 2)
}

/// Whether a text begins with U+2028 or U+2029, which end lines in ECMAScript.
pub(super) fn is_separator(text: &[u8]) -> bool {
    matches!(text, [0xE2, 0x80, 0xA8 | 0xA9, ..])
}

/// White space of ECMAScript 5.1 beyond ASCII: section 7.2, `WhiteSpace`, and 7.3, `LineTerminator`.
pub(super) fn is_other_space(char: char) -> bool {
    matches!(
        char,
        '\u{A0}' | '\u{1680}' | '\u{2000}'
            ..='\u{200A}' | '\u{2028}' | '\u{2029}' | '\u{202F}' | '\u{205F}' | '\u{3000}' | '\u{FEFF}'
    )
}
