//! The text of a query while it is parsed: characters, white space, names, integers and strings.

use super::bad_path::BadPath;
use super::syntax::Subquery;

/// The largest index, and the smallest with its sign (RFC 9535 §2.1): what is exact in I-JSON.
const INDEX_MAX: i64 = (1 << 53) - 1;

/// How deep brackets of filters, groups and functions may be nested in a query.
const NESTING_MAX: usize = 24;

pub(super) struct Cursor<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    /// How deep it is in filters, groups and functions.
    nesting: usize,
    /// The number of memos that the query needs.
    pub(super) memos: usize,
}

/// A query of a filter, as it was written.
pub(super) struct Written {
    pub(super) query: Subquery,
    /// Where it begins.
    pub(super) at: usize,
    /// Whether it is singular (§2.3.5.1): only names and indexes, one at a time and without white space in brackets.
    pub(super) is_singular: bool,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0, nesting: 0, memos: 0 }
    }

    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Steps over `token`, if it comes next.
    pub(super) fn eats(&mut self, token: &str) -> bool {
        let is_there = self.rest().starts_with(token);
        self.at += if is_there { token.len() } else { 0 };
        is_there
    }

    /// Steps over white space (`S`). Returns whether there was some.
    pub(super) fn skip_space(&mut self) -> bool {
        let rest = self.rest();
        let left = rest.trim_start_matches([' ', '\t', '\n', '\r']);
        self.at += rest.len() - left.len();
        rest.len() > left.len()
    }

    pub(super) fn new_memo(&mut self) -> usize {
        self.memos += 1;
        self.memos - 1
    }

    /// Calls `parse` one level deeper.
    pub(super) fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T, BadPath>) -> Result<T, BadPath> {
        if self.nesting == NESTING_MAX {
            return Err(
                self.wrong(format!("filters, groups and functions are nested deeper than {NESTING_MAX} levels"))
            );
        }
        self.nesting += 1;
        let parsed = parse(self);
        self.nesting -= 1;
        parsed
    }

    /// The error that something is wrong here.
    pub(super) fn wrong(&self, message: impl Into<String>) -> BadPath {
        BadPath::new(message, self.at)
    }

    /// The error that something else is expected here.
    pub(super) fn expected(&self, wanted: &str) -> BadPath {
        match self.peek() {
            Some(found) => self.wrong(format!("{found:?} stands where {wanted} is expected")),
            None => self.wrong(format!("the path ends where {wanted} is expected")),
        }
    }

    /// `member-name-shorthand`
    pub(super) fn short_name(&mut self) -> Option<&'t str> {
        let rest = self.rest();
        let len = rest.find(|char| !is_name_char(char)).unwrap_or(rest.len());
        let name = rest.get(..len).filter(|name| is_short_name(name))?;
        self.at += len;
        Some(name)
    }

    /// `int`: an index, or a part of a slice. `None` if no digit or sign comes next.
    pub(super) fn integer(&mut self) -> Result<Option<i64>, BadPath> {
        let rest = self.rest();
        let digits = rest.strip_prefix('-').unwrap_or(rest);
        let count = digits.bytes().take_while(u8::is_ascii_digit).count();
        let len = rest.len() - digits.len() + count;
        if len == 0 {
            return Ok(None);
        }
        let text = &rest[..len];
        if count == 0 || digits.starts_with('0') && text != "0" {
            return Err(self.wrong(format!("{text:?} is not an integer: it is `0`, or its first digit is another one")));
        }
        let value = text.parse().ok().filter(|value: &i64| value.abs() <= INDEX_MAX);
        let value = value.ok_or_else(|| self.wrong(format!("an index is at most {INDEX_MAX}, with either sign")))?;
        self.at += len;
        Ok(Some(value))
    }

    /// `string-literal`. `None` if no quote comes next.
    pub(super) fn string(&mut self) -> Result<Option<String>, BadPath> {
        let Some(quote @ ('\'' | '"')) = self.peek() else { return Ok(None) };
        let begin = self.at;
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = self.rest();
            let plain = rest.find(|char| char == quote || char == '\\' || char < ' ').unwrap_or(rest.len());
            out.push_str(&rest[..plain]);
            self.at += plain;
            match self.peek() {
                Some(char) if char == quote => {
                    self.at += 1;
                    return Ok(Some(out));
                }
                Some('\\') => out.push(self.escape(quote)?),
                Some(_) => return Err(self.wrong("a control character in a string is written as an escape")),
                None => return Err(BadPath::new(format!("the string is not closed by `{quote}`"), begin)),
            }
        }
    }

    /// `ESC escapable`
    fn escape(&mut self, quote: char) -> Result<char, BadPath> {
        let Some(char) = self.rest()[1..].chars().next() else { return Err(self.wrong("the path ends after `\\`")) };
        let plain = match char {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            '/' | '\\' => char,
            _ if char == quote => char,
            'u' => return self.unicode(),
            _ => {
                let other = if char == '\'' || char == '"' { ": this quote needs no escape here" } else { "" };
                return Err(self.wrong(format!("`\\{char}` is not an escape{other}")));
            }
        };
        self.at += 2;
        Ok(plain)
    }

    /// `\u` with four digits, or two of them for a character beyond U+FFFF.
    fn unicode(&mut self) -> Result<char, BadPath> {
        let unit = |text: &str| {
            let digits = text.strip_prefix("\\u")?.get(..4)?;
            digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
        };
        let rest = self.rest();
        let first = unit(rest).ok_or_else(|| self.wrong("`\\u` takes four hexadecimal digits"))?;
        let pair = [Some(first), rest.get(6..).and_then(unit)];
        let char = char::decode_utf16(pair.into_iter().flatten()).next();
        let Some(Ok(char)) = char else {
            return Err(self.wrong("`\\u` with half a surrogate pair: the other half is missing"));
        };
        self.at += 6 * char.len_utf16();
        Ok(char)
    }
}

/// Whether `.name` can be written for the name.
pub(super) fn is_short_name(name: &str) -> bool {
    name.starts_with(|char: char| !char.is_ascii_digit()) && name.chars().all(is_name_char)
}

/// `name-char`
fn is_name_char(char: char) -> bool {
    char.is_ascii_alphanumeric() || char == '_' || !char.is_ascii()
}
