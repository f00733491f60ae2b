//! What stands at the limits of the tape. At full size that takes up to 34 GB, so these tests run in a build with small limits:
//!
//!     JIRD_SMALL_LIMITS=1 cargo test --package jird --test limits
#![cfg(jird_small_limits)]

use jird::hooks::Kernel;
use jird::partial::PartialDocument;
use jird::policy::Policy;
use jird::{ErrorKind, Kind, Parser, Value};

/// Texts of documents are shorter than this by a block.
const TEXT_BYTES: usize = 1 << 16;
const SIZE_MAX: usize = TEXT_BYTES - 1 - 64;
/// A container of this many words, or with this many children, has counts of its own.
const COUNT_MAX: usize = (1 << 10) - 1;
/// A scalar of this length has none on the tape.
const LENGTH_MAX: usize = (1 << 7) - 1;

fn parser(kernel: Kernel) -> Parser {
    Parser::with_kernel(Policy { depth_max: usize::MAX, ..Policy::default() }, kernel)
}

/// Reads the text checked and trusted, on every kernel.
fn check(text: &str, look: impl Fn(Value<'_>)) {
    for kernel in Kernel::available() {
        look(parser(kernel).parse(text.as_bytes()).unwrap());
        look(parser(kernel).with_threads(2).parse(text.as_bytes()).unwrap());
        look(parser(kernel).parse_trusted(text.as_bytes()));
    }
}

/// Everything that can be asked of a value's children, by every way to them.
fn children(value: Value<'_>) -> usize {
    let elements = value.elements().count();
    let members = value.entries().count();
    assert_eq!(value.len(), elements + members, "{:?}", value.kind());
    if let Some(last) = elements.checked_sub(1) {
        assert_eq!(value.at(last).map(Value::offset), value.elements().last().map(Value::offset));
    }
    assert!(value.at(elements).is_none());
    elements + members
}

#[test]
fn a_text_is_as_long_as_offsets_reach() {
    let text = |len: usize| format!("[{}1]", " ".repeat(len - 3));
    check(&text(SIZE_MAX), |value| assert_eq!(value.at(0).unwrap().offset(), SIZE_MAX - 2));
    let too_long = text(SIZE_MAX + 1);
    assert_eq!(Parser::new().parse(too_long.as_bytes()).unwrap_err().kind(), ErrorKind::Size);
    assert_eq!(Parser::new().validate(too_long.as_bytes()).unwrap_err().kind(), ErrorKind::Size);
    // It is cut off.
    assert_eq!(Parser::new().parse_trusted(too_long.as_bytes()).elements().count(), 1);
}

#[test]
fn counts_are_right_on_both_sides_of_their_limit() {
    for count in (COUNT_MAX - 4..=COUNT_MAX + 4).chain([2 * COUNT_MAX, 10_000]) {
        let array = format!("[{}0]", "1,".repeat(count - 1));
        check(&array, |value| {
            assert_eq!(children(value), count);
            assert_eq!(value.raw(), array.as_bytes());
            assert_eq!(value.descendants().count(), count + 1);
        });
        if 4 * count < SIZE_MAX / 2 {
            let object = format!("{{{}\"b\":[]}}", "\"a\":1,".repeat(count - 1));
            check(&object, |value| {
                assert_eq!(children(value), count);
                assert_eq!(value.get("b").map(Value::kind), Some(Kind::Array));
                assert_eq!(value.raw(), object.as_bytes());
            });
        }
    }
}

#[test]
fn large_containers_stand_in_each_other_and_side_by_side() {
    let many = format!("[{}0]", "[1],".repeat(COUNT_MAX));
    let text = format!(r#"[[],{many},{{"a":{many},"b":[{many},7]}},[{{}},{many}]]"#);
    assert!(text.len() < SIZE_MAX);
    check(&text, |value| {
        assert_eq!(children(value), 4);
        assert_eq!(value.raw(), text.as_bytes());
        for pointer in ["/1", "/2/a", "/2/b/0", "/3/1"] {
            let found = value.pointer(pointer).unwrap();
            assert_eq!(children(found), COUNT_MAX + 1, "{pointer}");
            assert_eq!(found.raw(), many.as_bytes());
            assert_eq!(found.descendants().count(), 2 * COUNT_MAX + 2);
        }
        assert_eq!(value.pointer("/2/b/1").and_then(Value::as_i64), Some(7));
        assert_eq!(jird::to_string(&value).unwrap(), text);
    });
}

#[test]
fn a_chain_of_large_containers_is_read_level_by_level() {
    let depth = 10_000;
    let text = format!("{}{}", "[1,".repeat(depth), "[]".to_owned() + &"]".repeat(depth));
    check(&text, |root| {
        let mut value = root;
        for _ in 0..depth {
            assert_eq!(value.len(), 2);
            value = value.at(1).unwrap();
        }
        assert!(value.is_empty());
        assert_eq!(root.descendants().count(), 2 * depth + 1);
    });
}

#[test]
fn scalars_are_right_on_both_sides_of_their_limit() {
    for len in LENGTH_MAX - 3..=LENGTH_MAX + 3 {
        let (word, digits) = ("x".repeat(len), "7".repeat(len));
        let escaped = format!("{}\\n", "y".repeat(len - 2));
        let text = format!(r#"["{word}",{digits},"{escaped}",  {digits}  ,"{word}"]"#);
        check(&text, |value| {
            assert_eq!(value.at(0).unwrap().as_str().unwrap(), word);
            assert!(value.at(4).unwrap().is_str(&word));
            assert_eq!(value.at(1).unwrap().as_number().unwrap().text(), digits);
            assert_eq!(value.at(3).unwrap().as_number().unwrap().text(), digits);
            assert_eq!(value.at(2).unwrap().as_str().unwrap().len(), len - 1);
        });
    }
}

/// The careful walk makes up to three words of a token: there are more of them than a text has bytes.
#[test]
fn unchecked_texts_make_more_words_than_offsets_count() {
    let head = "{".to_owned() + &"[1]".repeat(100);
    let text = head.clone() + &"[]".repeat((SIZE_MAX - head.len()) / 2);
    for kernel in Kernel::available() {
        let mut parser = parser(kernel);
        let root = parser.parse_trusted(text.as_bytes());
        assert_eq!(root.kind(), Kind::Object);
        // Each array is a value without a key, which gets an empty one.
        let arrays = root.entries().map(|(_, value)| children(value)).collect::<Vec<_>>();
        assert_eq!(arrays.len(), 100 + (SIZE_MAX - head.len()) / 2);
        assert!(arrays.iter().enumerate().all(|(index, &len)| len == usize::from(index < 100)));
        assert_eq!(root.len(), arrays.len());
    }
}

#[test]
fn brackets_that_nobody_closes_fill_a_text() {
    for (unit, kind) in [("[", Kind::Array), ("{", Kind::Object), ("{\"a\":", Kind::Object), ("[{", Kind::Array)] {
        let text = unit.repeat(SIZE_MAX / unit.len());
        for kernel in Kernel::available() {
            let mut parser = parser(kernel);
            assert!(parser.parse(text.as_bytes()).is_err());
            let root = parser.parse_trusted(text.as_bytes());
            assert_eq!(root.kind(), kind);
            assert!(root.descendants().count() >= text.len() / unit.len());
            assert_eq!(jird::to_string(&root).unwrap_err().kind(), ErrorKind::Depth);
        }
    }
}

#[test]
fn a_document_that_arrives_is_refused_before_its_tape_is_full() {
    for piece in ["[],", "1,", "{\"a\":{}},", "\"x\\n\",", "[", "{\"a\":"] {
        let mut document = PartialDocument::new().depth_max(usize::MAX);
        document.push(if piece.ends_with(',') { b"[" } else { b" " }).unwrap();
        let error = (0..TEXT_BYTES).find_map(|_| document.push(piece.as_bytes()).err()).unwrap();
        assert_eq!(error.kind(), ErrorKind::Size, "{piece}");
        let so_far = document.snapshot().unwrap();
        let mut parser = parser(Kernel::best());
        let parsed = parser.parse(so_far.text().as_bytes()).unwrap();
        let shown = |value: Value<'_>| (value.kind(), value.len(), value.raw().to_vec());
        let wanted: Vec<_> = parsed.descendants().map(shown).collect();
        assert_eq!(so_far.root().descendants().map(shown).collect::<Vec<_>>(), wanted, "{piece}");
        assert!(wanted.len() > COUNT_MAX / 4, "{piece}: {} values", wanted.len());
    }
}

#[test]
fn a_long_string_that_arrives_is_there_as_far_as_it_has_arrived() {
    let (mut document, mut strict) = (PartialDocument::new(), PartialDocument::new().withhold_strings());
    document.push(b"[1,\"").unwrap();
    strict.push(b"[1,\"").unwrap();
    let mut len = 0;
    let error = loop {
        if let Err(error) = document.push("é".repeat(10).as_bytes()) {
            break error;
        }
        strict.push("é".repeat(10).as_bytes()).unwrap();
        len += 20;
        let so_far = document.snapshot().unwrap();
        assert_eq!(so_far.root().at(1).and_then(Value::as_str).map(|text| text.len()), Some(len));
        assert_eq!(strict.snapshot().map(|so_far| so_far.root().len()), Some(1));
    };
    assert!(error.kind() == ErrorKind::Size && len > SIZE_MAX - 100 && len > 3 * LENGTH_MAX, "{len}: {error}");
}
