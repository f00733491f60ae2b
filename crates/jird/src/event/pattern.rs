//! Patterns that select the records of a document.

use crate::message;
use core::fmt;
use core::str::FromStr;

/// Selects the values of a document that are its records: a JSON Pointer (RFC 6901) in which `*` stands for every
/// element and every member. `/items/*` is each element of `items`; the empty pattern is the whole document.
///
/// ```
/// let pattern: jird::event::Pattern = "/items/*".parse()?;
/// assert_eq!(pattern.to_string(), "/items/*");
/// assert!("items/*".parse::<jird::event::Pattern>().is_err());
/// # Ok::<(), jird::event::BadPattern>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pattern(Vec<Segment>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Segment {
    Any,
    /// A key, and its value as an index if it can be one.
    Name(Box<str>, Option<u64>),
}

/// The pattern does not begin with `/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadPattern(String);

impl Pattern {
    /// The pattern of a path whose steps have dots between them, as in `user.name` or `items.*.id`. A key that contains
    /// a dot needs the JSON Pointer form.
    ///
    /// ```
    /// assert_eq!(jird::event::Pattern::dotted("items.*.id").to_string(), "/items/*/id");
    /// ```
    pub fn dotted(path: &str) -> Self {
        Self(path.split('.').map(|part| Segment::new(part, part)).collect())
    }

    /// Matches each element or member of the document.
    pub fn each() -> Self {
        Self(vec![Segment::Any])
    }

    pub(super) fn segments(&self) -> &[Segment] {
        &self.0
    }
}

impl Segment {
    /// The segment for `part`, whose unescaped form is `name`.
    fn new(part: &str, name: &str) -> Self {
        if part == "*" {
            return Self::Any;
        }
        let is_index = part == "0" || !part.starts_with('0') && part.bytes().all(|byte| byte.is_ascii_digit());
        Self::Name(name.into(), if is_index { part.parse().ok() } else { None })
    }

    /// The key that the segment stands for, and its value as an index if it can be one; `None` for `*`.
    pub(super) fn name(&self) -> Option<(&str, Option<u64>)> {
        match self {
            Self::Any => None,
            Self::Name(name, index) => Some((name, *index)),
        }
    }
}

impl FromStr for Pattern {
    type Err = BadPattern;

    fn from_str(text: &str) -> Result<Self, BadPattern> {
        let mut parts = text.split('/');
        if parts.next() != Some("") {
            return Err(BadPattern(text.to_owned()));
        }
        Ok(Self(parts.map(|part| Segment::new(part, &part.replace("~1", "/").replace("~0", "~"))).collect()))
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|segment| match segment {
            Segment::Any => f.write_str("/*"),
            Segment::Name(name, _) => message::write_step(f, &message::Step::Key(name)),
        })
    }
}

impl fmt::Display for BadPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is not a pattern: a pattern is empty or begins with `/`, as in `/items/*`", self.0)
    }
}

impl std::error::Error for BadPattern {}
