//! Which queries can be decided while a text is read.

use super::pattern::PatternSource;
use super::syntax::{Operand, Query, Selector, Start, Subquery, Test};
use core::fmt;

/// A query cannot be decided while the text is read: it needs a parsed document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeedsDocument(pub(super) &'static str);

impl fmt::Display for NeedsDocument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the path needs the whole document, because {}", self.0)
    }
}

impl std::error::Error for NeedsDocument {}

/// Why a query needs the whole document.
pub(super) fn why_not(query: &Query) -> Option<&'static str> {
    if query.segments.is_empty() {
        return Some("it selects all of it");
    }
    query.segments.iter().flat_map(|segment| &segment.selectors).find_map(|selector| match selector {
        Selector::Index(index) if *index < 0 => Some("it counts from the end of an array"),
        Selector::Slice(slice) if slice.counts_from_end() => Some("it counts from the end of an array"),
        Selector::Filter(test) if asks_root(test) => Some("a filter looks at `$`"),
        _ => None,
    })
}

/// Whether some query in a test begins at the root.
fn asks_root(test: &Test) -> bool {
    match test {
        Test::Any(tests) | Test::All(tests) => tests.iter().any(asks_root),
        Test::Not(test) => asks_root(test),
        Test::Compare(left, _, right) => operand_asks_root(left) || operand_asks_root(right),
        Test::Exists(query) => query_asks_root(query),
        Test::Matches(text, pattern) => {
            let asks = |source: &PatternSource| match source {
                PatternSource::Literal(..) => false,
                PatternSource::Computed(operand, _) => operand_asks_root(operand),
            };
            operand_asks_root(text) || asks(&pattern.source)
        }
    }
}

fn operand_asks_root(operand: &Operand) -> bool {
    match operand {
        Operand::Singular(query) | Operand::Count(query) | Operand::Value(query) => query_asks_root(query),
        Operand::Length(operand) => operand_asks_root(operand),
        Operand::Null | Operand::Bool(_) | Operand::Number(_) | Operand::String(_) => false,
    }
}

fn query_asks_root(query: &Subquery) -> bool {
    let mut selectors = query.query.segments.iter().flat_map(|segment| &segment.selectors);
    query.start != Start::Current
        || selectors.any(|selector| matches!(selector, Selector::Filter(test) if asks_root(test)))
}
