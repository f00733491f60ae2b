//! The public type, and its search in parsed values.

use super::bad_path::BadPath;
use super::evaluation::Evaluation;
use super::nodes::NodeWalk;
use super::ordered::OrderedWalk;
use super::parse::parse;
use super::pattern::PatternSource;
use super::syntax::{Query, Selector};
use crate::path::{Path, write_quoted};
use crate::tape::Value;
use core::fmt;
use core::str::FromStr;

/// A query of JSONPath (RFC 9535), compiled. [The module](crate::jsonpath) says how it finds nodes, and what that costs.
///
/// `Display` writes the query in one canonical form, which parses as the same query.
///
/// ```
/// use jird::JsonPath;
/// let path: JsonPath = r#"$["a"][ 'b c' , 0 ]..*"#.parse()?;
/// assert_eq!(path.to_string(), "$.a['b c', 0]..*");
/// let wrong = JsonPath::new("$.a[?@.b = 1]").unwrap_err();
/// assert_eq!(wrong.to_string(), "a comparison is written `==`, at byte 9 of the path");
/// # Ok::<(), jird::jsonpath::BadPath>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct JsonPath {
    pub(super) query: Query,
    pub(super) memos: usize,
}

impl JsonPath {
    /// Compiles a query.
    ///
    /// # Errors
    /// If the text is not well-formed or not well-typed: what is expected, and at which byte.
    pub fn new(text: &str) -> Result<Self, BadPath> {
        let (query, memos) = parse(text)?;
        Ok(Self { query, memos })
    }

    /// The nodes that the query selects from the document with this root, in the order of RFC 9535: what a segment
    /// selects from a node stays together, containers come before what is in them, and a node that is selected twice
    /// comes twice. They are found as they are asked for.
    ///
    /// ```
    /// use jird::JsonPath;
    /// let document = jird::parse(br#"{"x":{"a":1},"a":[2,3]}"#)?;
    /// let found = |path: &str| -> Result<Vec<_>, jird::jsonpath::BadPath> {
    ///     Ok(JsonPath::new(path)?.find(document.root()).filter_map(|value| value.raw_str()).collect())
    /// };
    /// assert_eq!(found("$..a")?, ["[2,3]", "1"]);
    /// assert_eq!(found("$.a[1,0,0]")?, ["3", "2", "2"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn find<'p, 'a>(&'p self, root: Value<'a>) -> Nodes<'p, 'a> {
        self.nodes(root, u64::MAX)
    }

    /// All nodes of [`find`](Self::find), or an error if that takes more than `steps_max` steps. A step is a look at one
    /// child, one pair of a comparison of containers, or one of the members or elements that are passed over to find a
    /// name or an index. For queries that users may send.
    ///
    /// ```
    /// use jird::JsonPath;
    /// let document = jird::parse(b"[[[[[[[[[[1]]]]]]]]]]")?;
    /// let path = JsonPath::new("$..*..*..*..*")?;
    /// assert_eq!(path.find_within(document.root(), 10_000)?.len(), 210);
    /// assert!(path.find_within(document.root(), 100).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`TooManySteps`]
    pub fn find_within<'a>(&self, root: Value<'a>, steps_max: u64) -> Result<Vec<Value<'a>>, TooManySteps> {
        let mut nodes = self.nodes(root, steps_max);
        let found = nodes.by_ref().collect();
        if nodes.run.is_exhausted() { Err(TooManySteps(steps_max)) } else { Ok(found) }
    }

    /// As [`find_within`](Self::find_within), with a limit that suits paths of strangers: 64 steps for each byte of the value,
    /// and 10,000 besides. Only paths with several `..` reach it.
    ///
    /// # Errors
    /// If the limit is reached.
    pub fn find_all<'a>(&self, root: Value<'a>) -> Result<Vec<Value<'a>>, TooManySteps> {
        let bytes = root.raw().len() as u64;
        self.find_within(root, bytes.saturating_mul(64).saturating_add(10_000))
    }

    fn nodes<'a>(&self, root: Value<'a>, steps_max: u64) -> Nodes<'_, 'a> {
        Nodes { run: Evaluation::new(root, self.memos, steps_max), walk: NodeWalk::new(&self.query.segments, root) }
    }

    /// The nodes that the query selects, in the order in which they begin in the document, each once. Looks at each
    /// node of the document at most once, so queries without filters take time linear in the document, times the number
    /// of segments at worst.
    ///
    /// ```
    /// use jird::JsonPath;
    /// let document = jird::parse(br#"{"x":{"a":1},"a":[2,3]}"#)?;
    /// let path = JsonPath::new("$..a")?;
    /// let found: Vec<_> = path.find_in_order(document.root()).filter_map(|value| value.raw_str()).collect();
    /// assert_eq!(found, ["1", "[2,3]"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn find_in_order<'p, 'a>(&'p self, root: Value<'a>) -> OrderedNodes<'p, 'a> {
        let run = Evaluation::new(root, self.memos, u64::MAX);
        OrderedNodes { run, walk: OrderedWalk::new(&self.query.segments, root) }
    }

    /// The path that the query is, if it leads to one node by names and by indexes from the beginning: then it can also
    /// be written as a JSON Pointer.
    ///
    /// ```
    /// use jird::JsonPath;
    /// assert_eq!(JsonPath::new("$.items[0]['a/b']")?.as_path().map(|path| path.to_string()), Some("/items/0/a~1b".into()));
    /// assert!(JsonPath::new("$.items[-1]")?.as_path().is_none());
    /// # Ok::<(), jird::jsonpath::BadPath>(())
    /// ```
    pub fn as_path(&self) -> Option<Path> {
        self.query.segments.iter().try_fold(Path::root(), |path, segment| match &segment.selectors[..] {
            _ if segment.descends => None,
            [Selector::Name(name)] => Some(path.key(name.clone())),
            [Selector::Index(index)] => usize::try_from(*index).ok().map(|index| path.index(index)),
            _ => None,
        })
    }

    /// Whether it is a singular query (RFC 9535 §2.3.5.1, but for white space): it finds one node at most, by names and
    /// indexes.
    pub fn is_singular(&self) -> bool {
        let is_single = |selectors: &[Selector]| matches!(selectors, [Selector::Name(_) | Selector::Index(_)]);
        self.query.segments.iter().all(|segment| !segment.descends && is_single(&segment.selectors))
    }

    /// Whether [`find`](Self::find) and [`find_in_order`](Self::find_in_order) give the same nodes in the same order, in
    /// every document: the query has no `..`, and no segment selects an element or a member out of turn or twice.
    pub fn is_in_order(&self) -> bool {
        self.query.segments.iter().all(|segment| match &segment.selectors[..] {
            _ if segment.descends => false,
            [Selector::Slice(slice)] => slice.step >= 0,
            selectors => selectors.len() == 1,
        })
    }

    /// What is likely a mistake, though RFC 9535 has a meaning for it: one sentence for each pattern of the query that is
    /// not an I-Regexp (RFC 9485), and so matches nothing.
    ///
    /// ```
    /// use jird::JsonPath;
    /// let doubts = JsonPath::new(r"$[?match(@.id, '\\d+')]")?.doubts();
    /// assert_eq!(doubts, [r"the pattern '\\d+' matches nothing: `\d` is not an escape of I-Regexp, at byte 0 of the pattern"]);
    /// # Ok::<(), jird::jsonpath::BadPath>(())
    /// ```
    pub fn doubts(&self) -> Vec<String> {
        let mut doubts = Vec::new();
        self.query.each_pattern(&mut |pattern| {
            if let PatternSource::Literal(text, Err(wrong)) = &pattern.source {
                let mut quoted = String::new();
                if write_quoted(&mut quoted, text).is_ok() {
                    doubts.push(format!("the pattern {quoted} matches nothing: {wrong}"));
                }
            }
        });
        doubts
    }

    /// Whether the query has `..`.
    pub fn descends(&self) -> bool {
        self.query.segments.iter().any(|segment| segment.descends)
    }
}

impl FromStr for JsonPath {
    type Err = BadPath;

    fn from_str(text: &str) -> Result<Self, BadPath> {
        Self::new(text)
    }
}

impl fmt::Display for JsonPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "${}", self.query)
    }
}

/// The nodes of a query in the order of RFC 9535: see [`JsonPath::find`].
pub struct Nodes<'p, 'a> {
    run: Evaluation<'a>,
    walk: NodeWalk<'p, 'a>,
}

impl Nodes<'_, '_> {
    /// The path from the root to the last node; that to the root if there was none. Takes time linear in its steps.
    pub fn location(&self) -> Path {
        self.walk.path()
    }
}

impl<'a> Iterator for Nodes<'_, 'a> {
    type Item = Value<'a>;

    fn next(&mut self) -> Option<Value<'a>> {
        self.walk.next(&self.run)
    }
}

/// The nodes of a query in document order: see [`JsonPath::find_in_order`].
pub struct OrderedNodes<'p, 'a> {
    run: Evaluation<'a>,
    walk: OrderedWalk<'p, 'a>,
}

impl OrderedNodes<'_, '_> {
    /// The path from the root to the last node; that to the root if there was none. Takes time linear in its steps.
    pub fn location(&self) -> Path {
        self.walk.path(Path::root())
    }
}

impl<'a> Iterator for OrderedNodes<'_, 'a> {
    type Item = Value<'a>;

    fn next(&mut self) -> Option<Value<'a>> {
        self.walk.next(&self.run)
    }
}

/// A query took more steps than it may: see [`JsonPath::find_within`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManySteps(u64);

impl fmt::Display for TooManySteps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the path takes more than {} steps in this document", self.0)
    }
}

impl std::error::Error for TooManySteps {}
