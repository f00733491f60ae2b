//! Ways to a value: JSON Pointer (RFC 6901), and the paths that a projection is made of.

use core::fmt;

/// One step down.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// To the first member with this key.
    Key(Box<str>),
    /// To the element at this zero-based index.
    Index(usize),
}

/// Where a value stands below the root: keys and zero-based indices. `Display` writes it as a JSON Pointer.
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

    /// The first member with this key of what this path leads to.
    #[must_use]
    pub fn key(mut self, key: impl Into<Box<str>>) -> Self {
        self.0.push(Step::Key(key.into()));
        self
    }

    /// The element at this zero-based index of what this path leads to.
    #[must_use]
    pub fn index(mut self, index: usize) -> Self {
        self.0.push(Step::Index(index));
        self
    }

    /// The steps from the root.
    pub fn steps(&self) -> &[Step] {
        &self.0
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|step| match step {
            Step::Key(key) => write!(f, "/{}", key.replace('~', "~0").replace('/', "~1")),
            Step::Index(index) => write!(f, "/{index}"),
        })
    }
}
