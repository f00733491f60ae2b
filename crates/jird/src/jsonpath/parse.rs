//! Text to queries: segments and selectors (RFC 9535 §2.1 to §2.5). `parse_filter.rs` has what stands in filters.

use super::bad_path::BadPath;
use super::cursor::Cursor;
use super::syntax::{Query, Segment, Selector, Slice};

/// Parses a whole query. Returns it with the number of memos that its filters need.
pub(super) fn parse(text: &str) -> Result<(Query, usize), BadPath> {
    let mut cursor = Cursor::new(text);
    if !cursor.eats("$") {
        let hint = if text.is_empty() { ": `$` alone is the whole document" } else { "" };
        return Err(cursor.wrong(format!("a JSONPath begins with `$`{hint}")));
    }
    let query = cursor.segments()?.query;
    if cursor.at < text.len() {
        let is_blank = cursor.skip_space() && cursor.at == text.len();
        let wrong = || cursor.wrong("white space stands after the path");
        return Err(if is_blank { wrong() } else { cursor.expected("`.`, `..`, `[` or the end") });
    }
    Ok((query, cursor.memos))
}

/// Segments, and whether they make a query singular (§2.3.5.1).
pub(super) struct Segments {
    pub(super) query: Query,
    pub(super) is_singular: bool,
}

impl Cursor<'_> {
    /// `segments`: as many as there are. White space after the last one is not consumed.
    pub(super) fn segments(&mut self) -> Result<Segments, BadPath> {
        let mut segments = Vec::new();
        let mut is_singular = true;
        loop {
            let before = self.at;
            self.skip_space();
            let begin = self.at;
            let descends = self.eats("..");
            let selectors = if self.eats("[") {
                self.selection()?
            } else if descends || self.eats(".") {
                vec![self.shorthand(descends)?]
            } else {
                self.at = before;
                return Ok(Segments { query: Query { segments }, is_singular });
            };
            let has_space = self.text[begin..self.at].starts_with('[') && self.has_space_in_brackets(begin);
            is_singular &= !descends && !has_space && is_single(&selectors);
            segments.push(Segment { descends, selectors });
        }
    }

    /// Whether the brackets that were just read have white space inside, next to them.
    fn has_space_in_brackets(&self, begin: usize) -> bool {
        let is_space = |byte: Option<&u8>| byte.is_some_and(|byte| b" \t\n\r".contains(byte));
        let bytes = self.text.as_bytes();
        is_space(bytes.get(begin + 1)) || is_space(bytes.get(self.at - 2))
    }

    /// What stands after `.` or `..`, if it is not a bracket.
    fn shorthand(&mut self, descends: bool) -> Result<Selector, BadPath> {
        if self.eats("*") {
            return Ok(Selector::Wildcard);
        }
        if let Some(name) = self.short_name() {
            return Ok(Selector::Name(name.into()));
        }
        Err(match self.peek() {
            Some('[') => self.wrong("`[` stands directly after a name: write `['a']` or `[0]`, without `.`"),
            Some('0'..='9') => self.wrong("a name after `.` does not begin with a digit: write `['1a']`, or `[1]`"),
            Some('\'' | '"') => self.wrong("a name in quotes stands in brackets, as in `['a b']`"),
            _ if descends => self.expected("a name, `*` or `[` after `..`"),
            _ => self.expected("a name or `*` after `.`"),
        })
    }

    /// `bracketed-selection`, after its `[`.
    fn selection(&mut self) -> Result<Vec<Selector>, BadPath> {
        let mut selectors = Vec::new();
        loop {
            self.skip_space();
            selectors.push(self.selector()?);
            self.skip_space();
            if self.eats("]") {
                return Ok(selectors);
            }
            if !self.eats(",") {
                return Err(self.expected("`,` or `]`"));
            }
        }
    }

    fn selector(&mut self) -> Result<Selector, BadPath> {
        if self.eats("*") {
            return Ok(Selector::Wildcard);
        }
        if self.eats("?") {
            self.skip_space();
            return Ok(Selector::Filter(Box::new(self.nested(Self::test)?)));
        }
        if let Some(name) = self.string()? {
            return Ok(Selector::Name(name.into()));
        }
        let start = self.integer()?;
        let before = self.at;
        self.skip_space();
        if self.eats(":") {
            return self.slice(start).map(Selector::Slice);
        }
        self.at = before;
        match start {
            Some(index) => Ok(Selector::Index(index)),
            None if self.peek().is_some_and(|char| char.is_alphabetic() || char == '_') => {
                Err(self.wrong("a name in brackets stands in quotes, as in `['a']`"))
            }
            None => Err(self.expected("a name in quotes, an index, a slice, `*` or `?`")),
        }
    }

    /// A slice after its first `:`.
    fn slice(&mut self, start: Option<i64>) -> Result<Slice, BadPath> {
        self.skip_space();
        let end = self.integer()?;
        let before = self.at;
        self.skip_space();
        if !self.eats(":") {
            self.at = before;
            return Ok(Slice { start, end, step: 1 });
        }
        self.skip_space();
        let step = self.integer()?.unwrap_or(1);
        Ok(Slice { start, end, step })
    }
}

fn is_single(selectors: &[Selector]) -> bool {
    matches!(selectors, [Selector::Name(_) | Selector::Index(_)])
}
