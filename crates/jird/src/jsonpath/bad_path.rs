//! What is wrong with a query.

use core::fmt;

/// A text is not a JSONPath query: what is wrong, and where. `Display` writes one line.
///
/// ```
/// let wrong = jird::JsonPath::new("$.statuses[0").unwrap_err();
/// assert_eq!(wrong.offset(), 12);
/// assert_eq!(wrong.to_string(), "the path ends where `,` or `]` is expected, at byte 12 of the path");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadPath {
    message: String,
    offset: usize,
}

impl BadPath {
    #[cold]
    pub(super) fn new(message: impl Into<String>, offset: usize) -> Self {
        Self { message: message.into(), offset }
    }

    /// The offset in bytes, from the query's beginning, of what is wrong.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// What is wrong, without the place.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for BadPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, at byte {} of the path", self.message, self.offset)
    }
}

impl std::error::Error for BadPath {}
