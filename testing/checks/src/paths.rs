//! What leads to places of a document, and changes them: JSONPath, patches and differences. Every way of finding finds the
//! same, and every difference leads from one document to the other.

use crate::{shown, ways};
use jird::jsonpath::FoundNode;
use jird::patch::{apply, are_equal, diff, merge, merge_diff};
use jird::{Document, Error, JsonPath};
use std::io::{self, Read};
use std::ops::ControlFlow;

/// A first line that begins with `$` is a query for the rest; for any other text, there are some. And a text of two lines
/// is a document, and another one, or a patch.
///
/// # Panics
/// If the ways of finding differ, a difference does not lead to the other document, or an edit makes something that is no
/// document.
pub fn paths(data: &[u8]) {
    let end = data.iter().position(|&byte| byte == b'\n').unwrap_or(data.len());
    let (first, rest) = (&data[..end], data.get(end + 1..).unwrap_or_default());
    match core::str::from_utf8(first) {
        Ok(query) if query.starts_with('$') => found(query, rest),
        _ => ways(QUERIES).for_each(|query| found(query, data)),
    }
    if let (Ok(old), Ok(new)) = (jird::parse(first), jird::parse(rest)) {
        differ(&old, &new);
        differ(&new, &old);
        edited(first, rest);
    }
}

/// Queries of every kind.
const QUERIES: [&str; 11] = [
    "$..a.b",
    "$.a.b",
    "$.*[*].a.*",
    "$.a[*].b",
    "$..a",
    "$..*",
    "$[*]['a',0,-1,1:3]",
    "$..[?@.a > 1 || @ == 'a']",
    "$..a..b",
    "$[?length(@) > 1 && count(@..*) < 9].a",
    "$..[?match(@.a, 'a.*') || @.b == $.b]",
];

/// The most steps of a search that may take more time than the document is long.
const STEPS_MAX: u64 = 100_000;

fn found(query: &str, text: &[u8]) {
    let Ok(path) = JsonPath::new(query) else { return };
    let written = path.to_string();
    let again = JsonPath::new(&written).unwrap_or_else(|error| panic!("{query:?} as {written:?}: {error}"));
    assert_eq!(again.to_string(), written, "{query:?}");
    match jird::parse(text) {
        Ok(document) => {
            let wanted = in_order(&path, &document);
            assert_found_anyhow(&path, &document, &wanted);
            assert_searched(&path, text, &wanted);
        }
        Err(error) => {
            let Ok(mut search) = path.search() else { return };
            let told = |error: Error| (error.kind(), error.offset());
            let wrong = search.in_slice(text, |_| ControlFlow::Continue(())).map_err(told);
            assert_eq!(wrong, Err(told(error)), "{query:?} in {}", shown(text));
            let wrong_read = search.in_reader(text, |_| ControlFlow::Continue(())).map_err(told);
            assert_eq!(wrong_read, wrong, "{query:?} in {}", shown(text));
        }
    }
}

/// The nodes that a walk in the order of the document finds: where each begins, and where it ends.
fn in_order(path: &JsonPath, document: &Document<'_>) -> Vec<(usize, usize)> {
    let mut nodes = path.find_in_order(document.root());
    let mut all = Vec::new();
    while let Some(node) = nodes.next() {
        let location = nodes.location();
        let there = document.root().pointer(&location.to_string()).map(jird::Value::offset);
        // Of members with one key, a pointer leads to the first.
        assert!(there.is_some_and(|offset| offset <= node.offset()), "{path}: {location}");
        all.push((node.offset(), node.offset() + node.raw().len()));
    }
    assert!(all.is_sorted_by(|one, next| one.0 < next.0), "{path}: {all:?}");
    all
}

/// The order of the standard gives the same nodes, some of them several times.
fn assert_found_anyhow(path: &JsonPath, document: &Document<'_>, wanted: &[(usize, usize)]) {
    let Ok(found) = path.find_within(document.root(), STEPS_MAX) else { return };
    let mut found: Vec<_> = found.iter().map(|node| (node.offset(), node.offset() + node.raw().len())).collect();
    if path.is_in_order() {
        assert_eq!(found, wanted, "{path}: in order");
    }
    found.sort_unstable();
    found.dedup();
    assert_eq!(found, wanted, "{path} in {}", shown(document.text()));
}

/// Searches of the text find the same, whatever its reader does.
fn assert_searched(path: &JsonPath, text: &[u8], wanted: &[(usize, usize)]) {
    // The caller vouches that no key is repeated.
    let repeats = jird::parse(text).is_ok_and(|document| repeats_a_key(&document));
    let mut trusted = Vec::new();
    path.search_trusted(text, |node| {
        trusted.push((node.offset(), node.offset() + node.raw().len()));
        ControlFlow::Continue(())
    });
    assert!(repeats || trusted == wanted, "{path} in {}, trusted: {trusted:?}", shown(text));
    let Ok(search) = path.search() else { return };
    let mut search = search.chunk_bytes(64);
    let mut nodes = Vec::new();
    let take = |node: FoundNode<'_>, nodes: &mut Vec<_>| {
        let at = usize::try_from(node.offset()).expect("offsets are of a slice");
        nodes.push((at, at + node.raw().len()));
        ControlFlow::Continue(())
    };
    let searched = search.in_slice(text, |node| take(node, &mut nodes));
    assert!(searched.is_ok() && nodes == wanted, "{path} in {}: {searched:?}, {nodes:?}", shown(text));
    for manner in ways([Manner::ByteByByte, Manner::GoesOn, Manner::Fails, Manner::Interrupted]) {
        nodes.clear();
        let reader = Neighbour { text, at: 0, manner, ended: false };
        let searched = search.in_reader(reader, |node| take(node, &mut nodes));
        if manner == Manner::Fails && !text.is_empty() {
            assert!(searched.is_err_and(|error| error.is_io()), "{path} in {}: it failed", shown(text));
            assert!(wanted.starts_with(&nodes), "{path} in {}: before it failed", shown(text));
        } else {
            assert!(searched.is_ok() && nodes == wanted, "{path} in {}: {manner:?} {searched:?}", shown(text));
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    ByteByByte,
    /// It gives more after its end.
    GoesOn,
    /// It fails in the middle.
    Fails,
    /// Every other call is interrupted.
    Interrupted,
}

/// A reader that behaves as badly as it may.
struct Neighbour<'t> {
    text: &'t [u8],
    at: usize,
    manner: Manner,
    ended: bool,
}

impl Read for Neighbour<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.ended && self.manner == Manner::GoesOn {
            let len = buffer.len().min(3);
            buffer[..len].fill(b'[');
            return Ok(len);
        }
        if self.manner == Manner::Fails && self.at >= self.text.len() / 2 {
            return Err(io::Error::other("it fails"));
        }
        if self.manner == Manner::Interrupted {
            self.ended = !self.ended;
            if self.ended {
                return Err(io::ErrorKind::Interrupted.into());
            }
        }
        let some = if self.manner == Manner::ByteByByte { 1 } else { 7 };
        let len = some.min(buffer.len()).min(self.text.len() - self.at);
        buffer[..len].copy_from_slice(&self.text[self.at..self.at + len]);
        self.at += len;
        self.ended |= len == 0 && self.manner == Manner::GoesOn;
        Ok(len)
    }
}

/// The difference leads from one document to the other.
fn differ(old: &Document<'_>, new: &Document<'_>) {
    let name = || format!("{} and {}", shown(old.text()), shown(new.text()));
    let difference = diff(old, new);
    assert_eq!(difference.is_empty(), are_equal(old.root(), new.root()), "{}", name());
    assert_eq!(difference.changes().count(), difference.len(), "{}", name());
    let patch = difference.to_patch();
    match apply(old.text(), patch.as_bytes()) {
        Ok(edited) => assert_leads(&edited, new, &patch),
        Err(error) => assert!([old, new].into_iter().any(repeats_a_key), "{error}: {patch} between {}", name()),
    }
    if let Ok(patch) = merge_diff(old, new) {
        match merge(old.text(), patch.as_bytes()) {
            Ok(edited) => assert_leads(&edited, new, &patch),
            Err(error) => assert!([old, new].into_iter().any(repeats_a_key), "{error}: {patch} between {}", name()),
        }
    }
}

fn assert_leads(edited: &[u8], new: &Document<'_>, patch: &str) {
    let edited_document = jird::parse(edited).unwrap_or_else(|error| panic!("{error}: {}", shown(edited)));
    assert!(are_equal(edited_document.root(), new.root()), "{patch} gives {}", shown(edited));
}

/// Whether an object has a key twice, which patches refuse.
fn repeats_a_key(document: &Document<'_>) -> bool {
    document.root().descendants().any(|value| {
        let mut keys: Vec<_> = value.entries().map(|(key, _)| key.as_str().unwrap_or_default()).collect();
        keys.sort_unstable();
        keys.windows(2).any(|pair| pair[0] == pair[1])
    })
}

/// What an edit returns is a document; and merging twice is merging once (RFC 7396).
fn edited(document: &[u8], patch: &[u8]) {
    match apply(document, patch) {
        Ok(edited) => assert!(jird::validate(&edited).is_ok(), "{}", shown(&edited)),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    let Ok(once) = merge(document, patch) else { return };
    let twice = merge(&once, patch).unwrap_or_else(|error| panic!("{error}: {}", shown(&once)));
    assert_eq!(once, twice, "{} with {}", shown(document), shown(patch));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_every_kind_pass() {
        for text in [
            "$..a\n{\"a\":[{\"a\":1,\"b\":2},\"a\"],\"b\":{\"a\":{}}}",
            "$[?@.a=='x' && match(@.b,'y*')]\n[{\"a\":\"x\",\"b\":\"yy\"}]",
            "$['a','b'][::-1]\n{\"b\":[1,2],\"a\":[3,4]}",
            "$..a\n{\"a\":[1,}",
            "$..a\n[\"\\ud800\"]",
            "$.\n1",
            "{\"a\":1,\"b\":[1,2,3]}\n{\"b\":[2,3,4],\"c\":null}",
            "[1,2,3]\n[{\"op\":\"remove\",\"path\":\"/0\"},{\"op\":\"add\",\"path\":\"/-\",\"value\":[]}]",
            "{\"a\":1,\"a\":2}\n{\"a\":2}",
            "{\"a\":{\"b\":null}}\n{\"a\":{\"b\":null,\"c\":1}}",
            "{\"a\":[1,{\"b\":2}],\"b\":[{\"a\":7},1,2]}",
            "1",
            "",
        ] {
            paths(text.as_bytes());
        }
    }
}
