//! Skipping values.

use super::scalar::{Content, QUOTE};
use super::{Pull, TextSource, Token};
use crate::error::Error;
use crate::fault::ErrorKind;
use crate::scan::tokens::CUT;
use crate::scan::{BATCH, BracketSearch, END};
use crate::text::trim_end;

#[cfg_attr(not(feature = "serde"), allow(dead_code, reason = "types pull more than events do"))]
impl<'de, S: TextSource<'de>> Pull<S> {
    /// Skips one value of a trusted text: up to where as many brackets are closed as were opened.
    pub(crate) fn skip_trusted(&mut self) -> Result<(), Error> {
        let token = self.token();
        match token.plain() {
            b'{' | b'[' => {}
            b'}' | b']' | b',' | b':' | b'\n' | END | CUT => return Err(self.unexpected(ErrorKind::Value)),
            _ => {
                self.step();
                return Ok(());
            }
        }
        self.step();
        let mut inside = BracketSearch::<true>::default();
        loop {
            self.token();
            let kinds = self.tokens.kinds();
            let Some(passed) = inside.pass(kinds) else {
                self.tokens.step_by(kinds.len());
                continue;
            };
            self.tokens.step_by(passed);
            return match self.token() {
                token if matches!(token.plain(), b'}' | b']') => {
                    self.step();
                    Ok(())
                }
                // A string that is cut off may stand here; the error is then what cuts it off.
                token if token.kind == CUT => Err(self.unexpected(ErrorKind::Value)),
                _ => Err(self.unexpected(ErrorKind::Comma)),
            };
        }
    }

    /// Skips one value, and checks everything in it except the depth. Keeps a bit for each open bracket.
    pub(crate) fn skip(&mut self) -> Result<(), Error> {
        self.skip_within(usize::MAX)
    }

    /// The same, with a limit of the number of arrays and objects that are open at once.
    #[inline(always)]
    pub(crate) fn skip_within(&mut self, depth_max: usize) -> Result<(), Error> {
        let mut open = OpenBrackets::default();
        loop {
            let token = self.token();
            match token.kind {
                b'"' | QUOTE => self.step(),
                b'-' | b'0'..=b'9' => {
                    self.checked_number(token)?;
                    self.step();
                }
                b't' => self.literal(token, b"true")?,
                b'f' => self.literal(token, b"false")?,
                b'n' => self.literal(token, b"null")?,
                _ => match self.bracket(token) {
                    b'{' | b'[' if open.depth() >= depth_max => return Err(self.syntax(ErrorKind::Depth, token.start)),
                    b'{' => {
                        self.step();
                        open.push(true);
                        let token = self.token();
                        if self.bracket(token) == b'}' {
                            self.step();
                            open.pop();
                        } else {
                            self.skip_key(token)?;
                            continue;
                        }
                    }
                    b'[' => {
                        self.step();
                        open.push(false);
                        let token = self.token();
                        if self.bracket(token) != b']' {
                            continue;
                        }
                        self.step();
                        open.pop();
                    }
                    _ => return Err(self.unexpected(ErrorKind::Value)),
                },
            }
            // After a value.
            loop {
                if open.depth == 0 {
                    return Ok(());
                }
                let token = self.token();
                let in_object = open.is_object();
                match self.bracket(token) {
                    b',' => {
                        self.step();
                        if in_object {
                            let token = self.token();
                            self.skip_key(token)?;
                        }
                        break;
                    }
                    b'}' if in_object => {}
                    b']' if !in_object => {}
                    _ => return Err(self.unexpected(ErrorKind::Comma)),
                }
                self.step();
                open.pop();
            }
        }
    }

    #[inline(always)]
    fn skip_key(&mut self, token: Token) -> Result<(), Error> {
        if token.plain() != b'"' {
            return Err(self.unexpected(ErrorKind::Key));
        }
        self.step();
        let token = self.token();
        if token.plain() != b':' {
            return Err(self.unexpected(ErrorKind::Colon));
        }
        self.step();
        Ok(())
    }

    /// Skips one value as [`skip`](Self::skip) does, and returns its text.
    pub(crate) fn raw(&mut self) -> Result<Content<'de, '_>, Error> {
        self.raw_within(usize::MAX)
    }

    /// The same, with a limit of the number of arrays and objects that are open at once.
    #[inline(always)]
    pub(crate) fn raw_within(&mut self, depth_max: usize) -> Result<Content<'de, '_>, Error> {
        let token = self.token();
        // One field is enough: if several values were pinned, the outermost would count, and raw values hold no other
        // raw values.
        self.pin = token.start;
        let skipped = self.skip_within(depth_max);
        // To see where the value ends, the next token is asked for, and the window may move once more.
        let end = skipped.map(|()| self.value_end());
        let start = core::mem::replace(&mut self.pin, usize::MAX);
        self.checked(start, end?)
    }

    /// The end of the value that was just skipped.
    pub(crate) fn value_end(&mut self) -> usize {
        let next = self.token().start;
        trim_end(self.window(), self.before().unwrap_or(0), next)
    }
}

/// The open brackets: a bit for each, set for objects; the innermost is the lowest.
#[derive(Debug, Default)]
pub(crate) struct OpenBrackets {
    depth: usize,
    inner: u64,
    /// The outer brackets in groups of 64, if there are more than 64.
    outer: Vec<u64>,
}

impl OpenBrackets {
    /// The number of open brackets.
    #[inline(always)]
    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, object: bool) {
        if self.depth > 0 && self.depth.is_multiple_of(BATCH) {
            self.outer.push(self.inner);
        }
        self.depth += 1;
        self.inner = self.inner << 1 | u64::from(object);
    }

    #[inline(always)]
    pub(crate) fn pop(&mut self) {
        debug_assert!(self.depth > 0, "what closes was opened");
        self.depth = self.depth.saturating_sub(1);
        self.inner >>= 1;
        if self.depth > 0 && self.depth.is_multiple_of(BATCH) {
            self.inner = self.outer.pop().unwrap_or_default();
        }
    }

    /// Whether the innermost bracket opens an object.
    #[inline(always)]
    pub(crate) fn is_object(&self) -> bool {
        self.inner & 1 != 0
    }
}
