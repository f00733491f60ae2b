//! Queries of children only, in a text that was checked before: `$.a[*].b`.
//!
//! No tape is made. Members and elements that the query does not go through are skipped by masks, and after a name is found
//! the rest of its object is not looked at.

use super::syntax::{Segment, Selector};
use crate::kernel::Kernel;
use crate::record::value_len;
use crate::text::{closing_quote, eq_unescaped, is_space};
use core::cell::Cell;
use core::ops::ControlFlow;

/// With more wildcards, a tape is made: the end of each child of one may be found by reading the child again.
const WILDCARDS_MAX: usize = 4;

/// Whether every segment selects one child by its name.
pub(super) fn are_names(segments: &[Segment]) -> bool {
    segments.iter().all(|segment| !segment.descends && matches!(segment.selectors[..], [Selector::Name(_)]))
}

/// Whether every segment selects one child by its name, or all children.
pub(super) fn are_children(segments: &[Segment]) -> bool {
    let is_child = |segment: &Segment| {
        !segment.descends && matches!(&segment.selectors[..], [Selector::Name(_) | Selector::Wildcard])
    };
    segments.iter().all(is_child) && segments.iter().filter(|segment| is_wildcard(segment)).count() <= WILDCARDS_MAX
}

fn is_wildcard(segment: &Segment) -> bool {
    matches!(segment.selectors[..], [Selector::Wildcard])
}

/// Passes the offset of each node to `each`, in the order of the document. Takes time linear in the text, for each
/// wildcard. In a text that is not JSON, it finds some nodes.
pub(super) fn search_children(
    text: &[u8],
    segments: &[Segment],
    mut each: impl FnMut(usize) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let walk = ChildWalk::new(text, segments);
    // The containers whose children are gone through, from the outermost on.
    let mut open: Vec<SearchedContainer> = Vec::new();
    let mut next = walk.past_space(0).map(|root| (root, 0));
    loop {
        if let Some((start, segment)) = next.take() {
            match walk.by_names(start, segment) {
                Some((node, end)) if end == segments.len() => each(node)?,
                Some((start, segment)) => open.push(SearchedContainer { start, at: start + 1, child: None, segment }),
                None => {}
            }
        }
        let Some(container) = open.last_mut() else { return ControlFlow::Continue(()) };
        match walk.next_child(container) {
            Some(Ok(child)) => next = Some((child, container.segment + 1)),
            Some(Err(end)) => {
                let start = container.start;
                open.pop();
                // If it is itself a child that is gone through, its end is known now.
                if let Some(above) = open.last_mut().filter(|above| above.child == Some(start)) {
                    (above.at, above.child) = (end, None);
                }
            }
            None => return ControlFlow::Continue(()),
        }
    }
}

/// A container whose children are all selected.
struct SearchedContainer {
    start: usize,
    /// Where its text goes on, if the last child is not to be skipped.
    at: usize,
    /// The last child, whose end is not known.
    child: Option<usize>,
    /// The segment that selects the children.
    segment: usize,
}

pub(super) struct ChildWalk<'t, 'q> {
    text: &'t [u8],
    segments: &'q [Segment],
    kernel: Kernel,
    /// How far the last search for names has read.
    read: Cell<usize>,
}

impl<'t, 'q> ChildWalk<'t, 'q> {
    pub(super) fn new(text: &'t [u8], segments: &'q [Segment]) -> Self {
        Self { text, segments, kernel: Kernel::best(), read: Cell::new(0) }
    }

    /// Follows the names of the segments, which have nothing else, from a value. Returns the node, if there is one, and how
    /// far the text was read.
    pub(super) fn node(&self, start: usize) -> (Option<usize>, usize) {
        self.read.set(start);
        let found = self.by_names(start, 0);
        (found.map(|(node, _)| node), self.read.get())
    }

    /// Follows the names from a value, up to the end of the query, or to a container whose children are all selected.
    fn by_names(&self, mut start: usize, mut segment: usize) -> Option<(usize, usize)> {
        while let Some(Segment { selectors, .. }) = self.segments.get(segment) {
            let Some(Selector::Name(name)) = selectors.first() else {
                return matches!(self.text[start], b'{' | b'[').then_some((start, segment));
            };
            start = self.member(start, name)?;
            segment += 1;
        }
        Some((start, segment))
    }

    /// The value of the first member with a name, of the object that begins there.
    fn member(&self, object: usize, name: &str) -> Option<usize> {
        if self.text[object] != b'{' {
            return None;
        }
        let mut at = self.past_space(object + 1)?;
        while self.text[at] == b'"' {
            let key = &self.text[at + 1..];
            let key = &key[..closing_quote(key)?];
            let value = self.value_after(at + key.len() + 2)?;
            self.read.set(value);
            if key == name.as_bytes() || key.contains(&b'\\') && is_escaped_name(key, name) {
                return Some(value);
            }
            let end = self.end(value)?;
            self.read.set(end);
            at = self.past_space(end)?;
            if self.text[at] != b',' {
                return None;
            }
            at = self.past_space(at + 1)?;
        }
        None
    }

    /// The next child of a container; or, as an error, the end of the container. `None` if the text is not JSON.
    fn next_child(&self, container: &mut SearchedContainer) -> Option<Result<usize, usize>> {
        if let Some(child) = container.child.take() {
            container.at = self.end(child)?;
        }
        let mut at = self.past_space(container.at)?;
        if self.text[at] == b',' {
            at = self.past_space(at + 1)?;
        }
        let is_object = self.text[container.start] == b'{';
        let child = match self.text[at] {
            b'}' | b']' => return Some(Err(at + 1)),
            b'"' if is_object => self.value_after(at + closing_quote(&self.text[at + 1..])? + 2)?,
            _ if is_object => return None,
            _ => at,
        };
        container.child = Some(child);
        Some(Ok(child))
    }

    /// The offset of the value after a key that ends there.
    fn value_after(&self, key_end: usize) -> Option<usize> {
        let colon = self.past_space(key_end).filter(|&at| self.text[at] == b':')?;
        self.past_space(colon + 1)
    }

    /// The end of a value. `None` if none begins there.
    fn end(&self, value: usize) -> Option<usize> {
        let len = value_len(self.kernel, &self.text[value..]);
        (len > 0).then_some(value + len)
    }

    /// The first byte that is not white space.
    #[inline]
    fn past_space(&self, from: usize) -> Option<usize> {
        match self.text.get(from) {
            Some(&byte) if !is_space(byte) => Some(from),
            _ => Some(from + self.text.get(from..)?.iter().position(|&byte| !is_space(byte))?),
        }
    }
}

/// Whether a key with escapes is this name.
#[cold]
fn is_escaped_name(key: &[u8], name: &str) -> bool {
    core::str::from_utf8(key).is_ok() && eq_unescaped(key, name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::JsonPath;

    fn found<'t>(query: &str, text: &'t str) -> Vec<&'t str> {
        let mut found = Vec::new();
        JsonPath::new(query).unwrap().search_trusted(text.as_bytes(), |node| {
            found.push(core::str::from_utf8(node.raw()).unwrap());
            ControlFlow::Continue(())
        });
        found
    }

    #[test]
    fn children_are_found_in_order() {
        let text = r#" { "a" : [ {"b":1,"c":{"b":[2,"x]"]}} , {"c":{"b":3,"d":4}}, [5], {"\u0063":{"b":{}}} ], "b":[[6,7],[]] } "#;
        for (query, wanted) in [
            ("$.a[*].c.b", &["[2,\"x]\"]", "3", "{}"][..]),
            ("$.a[*].b", &["1"]),
            ("$.a[*][*]", &["1", "{\"b\":[2,\"x]\"]}", "{\"b\":3,\"d\":4}", "5", "{\"b\":{}}"]),
            ("$.*[*][*]", &["1", "{\"b\":[2,\"x]\"]}", "{\"b\":3,\"d\":4}", "5", "{\"b\":{}}", "6", "7"]),
            ("$.*[*].c.*", &["[2,\"x]\"]", "3", "4", "{}"]),
            ("$.b[*]", &["[6,7]", "[]"]),
            ("$.b[*][*]", &["6", "7"]),
            ("$.none.b", &[]),
            ("$..c.b", &["[2,\"x]\"]", "3", "{}"]),
            ("$..a.b", &[]),
            ("$.a.b", &[]),
        ] {
            assert_eq!(found(query, text), wanted, "{query}");
        }
        assert_eq!(found("$", " 1 "), ["1"]);
        assert_eq!(found("$.a", "1"), [""; 0]);
    }

    #[test]
    fn what_is_not_json_ends_the_search() {
        for text in [
            "",
            " ",
            "[",
            "[1",
            "[,",
            "[:]",
            "[1:2]",
            "{",
            "{\"a\"",
            "{\"a\":",
            "{\"a\":}",
            "{\"a\" 1}",
            "{1:2}",
            "[}",
            "[[[",
            "{\"a",
            "]",
            "[\"",
            "{\"a\":1 \"a\"}",
        ] {
            for query in ["$.a", "$[*]", "$[*].a", "$.a[*]", "$.*[*]", "$[*][*][*][*]"] {
                JsonPath::new(query).unwrap().search_trusted(text.as_bytes(), |node| {
                    assert!(node.offset() <= text.len());
                    ControlFlow::Continue(())
                });
            }
        }
        // What is open is not read again and again.
        let deep = "[{\"a\":".repeat(200_000);
        assert!(found("$[*].a[*].a[*].a[*].a", &deep).len() <= 1);
    }
}
