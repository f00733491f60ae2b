//! Paths to values; a projection is made of them. A path is displayed as a JSON Pointer (RFC 6901).

use crate::message;
use core::fmt;

/// One step of a path, from a container to a value in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// To the first member with this key.
    Key(Box<str>),
    /// To the element at this zero-based index.
    Index(usize),
}

/// The path from the root to a value: keys and zero-based indices. `Display` writes it as a JSON Pointer; `{:#}` writes
/// it for messages, with a visible character in place of each one that would control a terminal.
///
/// ```
/// use jird::Path;
/// assert_eq!(Path::root().key("a/b").index(2).to_string(), "/a~1b/2");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Path(Vec<Step>);

impl Path {
    /// The root itself.
    pub fn root() -> Self {
        Self::default()
    }

    /// Appends a step to the first member with this key.
    #[must_use]
    pub fn key(mut self, key: impl Into<Box<str>>) -> Self {
        self.0.push(Step::Key(key.into()));
        self
    }

    /// Appends a step to the element at this zero-based index.
    #[must_use]
    pub fn index(mut self, index: usize) -> Self {
        self.0.push(Step::Index(index));
        self
    }

    /// The path as a normalized path of JSONPath (RFC 9535 §2.7), for display: of all queries that select the value, the
    /// one that every program writes alike.
    ///
    /// ```
    /// use jird::Path;
    /// assert_eq!(Path::root().key("it's").index(2).normalized().to_string(), r"$['it\'s'][2]");
    /// ```
    pub fn normalized(&self) -> impl fmt::Display + '_ {
        Normalized(self)
    }

    /// The steps from the root.
    pub fn steps(&self) -> &[Step] {
        &self.0
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !f.alternate() {
            return self.0.iter().try_for_each(|step| message::write_step(f, &step.borrowed()));
        }
        let (mut pointer, mut shown) = (String::new(), String::new());
        self.0.iter().try_for_each(|step| message::write_step(&mut pointer, &step.borrowed()))?;
        message::printable(pointer.as_bytes(), &mut shown);
        f.write_str(&shown)
    }
}

struct Normalized<'p>(&'p Path);

impl fmt::Display for Normalized<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("$")?;
        self.0.0.iter().try_for_each(|step| match step {
            Step::Index(index) => write!(f, "[{index}]"),
            Step::Key(key) => {
                f.write_str("[")?;
                write_quoted(f, key)?;
                f.write_str("]")
            }
        })
    }
}

/// Writes a name in single quotes, with as few escapes as there can be (RFC 9535 §2.7).
pub(crate) fn write_quoted(out: &mut impl fmt::Write, name: &str) -> fmt::Result {
    out.write_char('\'')?;
    let mut rest = name;
    while let Some(at) = rest.find(|char| matches!(char, '\'' | '\\' | '\0'..='\x1f')) {
        out.write_str(&rest[..at])?;
        match rest.as_bytes()[at] {
            8 => out.write_str("\\b"),
            b'\t' => out.write_str("\\t"),
            b'\n' => out.write_str("\\n"),
            12 => out.write_str("\\f"),
            b'\r' => out.write_str("\\r"),
            quoted @ (b'\'' | b'\\') => write!(out, "\\{}", char::from(quoted)),
            control => write!(out, "\\u{control:04x}"),
        }?;
        rest = &rest[at + 1..];
    }
    write!(out, "{rest}'")
}

impl Step {
    pub(crate) fn borrowed(&self) -> message::Step<'_> {
        match self {
            Self::Key(key) => message::Step::Key(key),
            Self::Index(index) => message::Step::Index(*index),
        }
    }
}
