//! JSONPath: queries compiled, and what they find in parsed documents and in texts.

use super::{ByteByByte, Way, case, each, used, way};
use crate::case::{Case, Prepared};
use crate::judge::Bar;
use crate::shapes::{Shape, documents, repeat, shape};
use jird::JsonPath;
use std::ops::ControlFlow;

/// Small, so that a text has many chunks.
const CHUNK_BYTES: usize = 256;

/// Most of what there is, over texts.
const QUERIES: [&str; 7] = ["$.*.a", "$..a.a.b", "$[*].a.a", "$[*].a[*].a[*].a", "$..a", "$..[?@.a > 1, 0]", "$..a..*"];

const TEXTS: &[Way] = &[
    // Each byte is read for seven queries.
    way("a path · search in a slice, small chunks", |text| search(text, false)).bar(Bar::LINEAR.per_byte(6000.0)),
    way("a path · search_trusted", |text| {
        for query in QUERIES.into_iter().map(compiled) {
            query.search_trusted(text, |node| {
                used(node.offset());
                ControlFlow::Continue(())
            });
        }
    })
    .bar(Bar::LINEAR.per_byte(6000.0)),
    way("a path · find_in_order", |text| {
        let Ok(document) = jird::parse(text) else { return };
        for query in QUERIES.into_iter().map(compiled) {
            used(query.find_in_order(document.root()).count());
        }
    })
    .bar(Bar::LINEAR.per_byte(6000.0)),
    way("a path · find", |text| {
        let Ok(document) = jird::parse(text) else { return };
        for query in ["$.*.a", "$..a", "$..[?@.a == 1]", "$[-1:0:-2]"].into_iter().map(compiled) {
            used(query.find(document.root()).count());
        }
    })
    .bar(Bar::LINEAR.per_byte(6000.0)),
];

const READERS: &[Way] =
    &[way("a path · search in a reader, byte by byte", |text| search(text, true)).bar(Bar::LINEAR.per_byte(12_000.0))];

const SHAPES: &[Shape] = &[
    shape("the key in the key", |bytes| nested("{\"a\":", "}", bytes)),
    shape("the key in arrays", |bytes| nested("[{\"a\":", "}]", bytes)),
    shape("the key as a text", |bytes| ["[", &repeat("\"a\",", bytes), "1]"].concat().into_bytes()),
    shape("the key in escapes", |bytes| ["[", &repeat("{\"\\u0061\":1},", bytes), "1]"].concat().into_bytes()),
    shape("almost the key", |bytes| ["[", &repeat("{\"aa\":\"\\\"a\\\":\"},", bytes), "1]"].concat().into_bytes()),
];

fn nested(open: &str, close: &str, bytes: usize) -> Vec<u8> {
    // At most as deep as is allowed.
    let levels = (bytes / (open.len() + close.len())).min(1000);
    let whole = [open.repeat(levels), "1".to_owned(), close.repeat(levels)].concat();
    ["[", &[&whole, ","].concat().repeat(bytes / whole.len()), "1]"].concat().into_bytes()
}

fn compiled(query: &str) -> JsonPath {
    JsonPath::new(query).unwrap_or_else(|error| panic!("{error}"))
}

fn search(text: &[u8], byte_by_byte: bool) {
    for query in QUERIES.into_iter().map(compiled) {
        let search = query.search().unwrap_or_else(|error| panic!("{error}"));
        let mut search = search.chunk_bytes(CHUNK_BYTES);
        let each = |node: jird::jsonpath::FoundNode<'_>| {
            used(node.offset());
            ControlFlow::Continue(())
        };
        let found = if byte_by_byte { search.in_reader(ByteByByte(text), each) } else { search.in_slice(text, each) };
        used(found.is_ok());
    }
}

pub(super) fn cases() -> Vec<Case> {
    let shapes = [SHAPES, &documents::core()].concat();
    let compile = |name: &str, make: fn(usize) -> String| {
        case(name, move |bytes| {
            let query = make(bytes);
            Prepared::new(query.len(), move || used(JsonPath::new(&query).map(|path| path.to_string().len())))
        })
    };
    let queries = vec![
        compile("a path · compile many names", |bytes| ["$", &repeat(".name", bytes)].concat()),
        compile("a path · compile many descents", |bytes| ["$", &repeat("..*", bytes)].concat()),
        compile("a path · compile many selectors", |bytes| ["$[0", &repeat(",'a'", bytes), "]"].concat()),
        compile("a path · compile a long name", |bytes| ["$['", &repeat("\\u00e9", bytes), "']"].concat()),
        compile("a path · compile a long condition", |bytes| ["$[?@.a", &repeat("&&@.b>1||@", bytes), "]"].concat()),
        compile("a path · compile open brackets", |bytes| ["$", &repeat("[?(", bytes)].concat()),
        compile("a path · compile negations", |bytes| ["$[?", &repeat("!", bytes), "@]"].concat()),
        compile("a path · compile a long number", |bytes| ["$[?@==", &repeat("7", bytes), "]"].concat()),
        compile("a path · compile white space", |bytes| ["$", &repeat(" \n", bytes), ".a"].concat()),
        found("a path · many names", |bytes| ["$", &repeat(".a", bytes)].concat()),
        found("a path · many selectors", |bytes| ["$..[0", &repeat(",'b'", bytes), "]"].concat()),
    ];
    each(TEXTS, &shapes).chain(each(READERS, SHAPES)).chain(queries).collect()
}

/// A long query over a text of one size.
fn found(name: &str, make: fn(usize) -> String) -> Case {
    let case = case(name, move |bytes| {
        let query = make(bytes);
        Prepared::new(query.len(), move || {
            let (path, text) = (compiled(&query), nested("{\"a\":", "}", 2000));
            let document = jird::parse(&text).unwrap_or_else(|error| panic!("{error}"));
            used(path.find_in_order(document.root()).count());
        })
    });
    // Each node is tried with each selector.
    Case { bar: Bar::LINEAR.per_byte(8000.0), ..case }
}
