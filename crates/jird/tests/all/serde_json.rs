//! `jird` against `serde_json`: the same documents accepted and refused, the same values read. The wanted differences are
//! in `serde_json/differences.tsv`.

use crate::common;

use checks::random::{self, Random};
use checks::{SerdeTree, serde_tree};
use common::{corpus, documents, files, table};
use proptest::prelude::*;

#[test]
fn every_document_of_the_corpus_is_read_alike() {
    let Some(root) = corpus() else { return };
    let documents = documents(&root);
    documents.iter().for_each(|document| checks::serde_json(&document.text));
    assert!(documents.len() > 1200, "{}", documents.len());
}

#[test]
fn every_line_of_the_corpus_is_read_alike() {
    let Some(root) = corpus() else { return };
    let mut count = 0;
    for document in files(&root, "ndjson", ".ndjson") {
        for line in document.text.split(|&byte| byte == b'\n') {
            checks::serde_json(line);
            count += 1;
        }
    }
    assert!(count > 30_000, "{count}");
}

#[test]
fn documents_of_the_corpus_with_one_byte_changed_are_refused_alike() {
    let Some(root) = corpus() else { return };
    let mut random = Random::new(1);
    for document in documents(&root).iter().filter(|document| document.text.len() < 2000) {
        for _ in 0..20 {
            let mut text = document.text.clone();
            random::mutate(&mut random, &mut text);
            checks::serde_json(&text);
            checks::parse(&text);
        }
    }
}

#[test]
fn the_wanted_differences_are_those_of_the_table() {
    common::force_kernel();
    let rows = table(include_str!("serde_json/differences.tsv"));
    for row in &rows {
        let [text, ours, theirs, reason] = row[..] else { panic!("four columns: {row:?}") };
        assert!(!reason.is_empty(), "a row needs a reason: {row:?}");
        // `N*[` stands for N times the byte.
        let text = match text.split_once('*') {
            Some((count, byte)) => {
                let count = count.parse().expect("a count");
                format!("{}{}", byte.repeat(count), if byte == "[" { "]".repeat(count) } else { String::new() })
            }
            None => text.to_owned(),
        };
        let found = match jird::parse(text.as_bytes()) {
            Ok(parsed) => parsed.root().get("a").map_or_else(|| "accept".to_owned(), |a| format!("a={a:?}")),
            Err(error) => error.code().to_owned(),
        };
        assert_eq!(found, ours, "jird: {text}");
        let found = match serde_json::from_str::<serde_json::Value>(&text) {
            Ok(value) => value.get("a").map_or_else(|| "accept".to_owned(), |a| format!("a={a}")),
            Err(error) => error.to_string().split(" at line").next().expect("there is a first").to_owned(),
        };
        assert_eq!(found, theirs, "serde_json: {text}");
        assert_ne!(ours, theirs, "no difference: {row:?}");
        checks::serde_json(text.as_bytes());
    }
    assert!(!rows.is_empty());
}

#[test]
fn repeated_keys_are_all_there_and_in_order() {
    let text = br#"{"a":1,"b":2,"a":3,"\u0061":4}"#;
    let SerdeTree::Object(members) = serde_tree(text).expect("it is JSON") else { panic!("an object") };
    assert_eq!(members.iter().map(|(key, _)| &**key).collect::<Vec<_>>(), ["a", "b", "a", "a"]);
    checks::serde_json(text);
}

/// Any white space, of any of the four kinds.
fn space() -> impl Strategy<Value = String> {
    prop_oneof![4 => Just(String::new()), 1 => "[ \t\r\n]{1,4}", 1 => " {50,80}"]
}

/// A string in its quotes: plain, escaped in every way, non-ASCII, long enough for borders.
fn string() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[ -!#-\\[\\]-~]{1,12}",
        2 => prop::sample::select(vec!["\\\"", "\\\\", "\\/", "\\b", "\\f", "\\n", "\\r", "\\t"]).prop_map(str::to_owned),
        1 => any::<u16>().prop_filter("no surrogate", |unit| !(0xD800..0xE000).contains(unit))
            .prop_map(|unit| format!("\\u{unit:04x}")),
        1 => (0x1_0000_u32..0x11_0000).prop_map(|point| {
            format!("\\u{:04X}\\u{:04x}", 0xD800 + ((point - 0x1_0000) >> 10), 0xDC00 + ((point - 0x1_0000) & 0x3FF))
        }),
        2 => any::<char>().prop_filter("it stands for itself", |char| *char >= ' ' && *char != '"' && *char != '\\')
            .prop_map(|char| char.to_string()),
        1 => "é{1,70}",
        1 => (1_usize..70).prop_map(|count| "\\\\".repeat(count)),
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
}

/// A number of many shapes.
fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|number| number.to_string()),
        any::<u64>().prop_map(|number| number.to_string()),
        any::<f64>()
            .prop_filter("JSON has no other", |number| number.is_finite())
            .prop_map(|number| format!("{number:e}")),
        any::<f32>()
            .prop_filter("JSON has no other", |number| number.is_finite())
            .prop_map(|number| number.to_string()),
        "-?(0|[1-9][0-9]{0,25})(\\.[0-9]{1,30})?([eE][+-]?[0-9]{1,3})?",
        "-?(0|[1-9][0-9]{0,3})(\\.[0-9]{1,4})?",
        prop::sample::select(vec!["0", "-0", "-0.0", "0e0", "1E+0", "9007199254740993", "2.2250738585072011e-308"])
            .prop_map(str::to_owned),
    ]
}

fn value() -> impl Strategy<Value = String> {
    let literal = prop::sample::select(vec!["true", "false", "null"]).prop_map(str::to_owned);
    let scalar = prop_oneof![1 => literal, 2 => number(), 2 => string()];
    scalar.prop_recursive(6, 60, 8, |inner| {
        let element = (space(), inner.clone(), space())
            .prop_map(|(before, value, after)| format!("{before}{value}{after}"))
            .boxed();
        let member = (space(), string(), space(), element.clone())
            .prop_map(|(before, key, after, value)| format!("{before}{key}{after}:{value}"));
        prop_oneof![
            (prop::collection::vec(element, 0..8), space()).prop_map(|(elements, space)| match &*elements {
                [] => format!("[{space}]"),
                _ => format!("[{}]", elements.join(",")),
            }),
            (prop::collection::vec(member, 0..8), space()).prop_map(|(members, space)| match &*members {
                [] => format!("{{{space}}}"),
                _ => format!("{{{}}}", members.join(",")),
            }),
        ]
    })
}

fn document() -> impl Strategy<Value = String> {
    (space(), value(), space()).prop_map(|(before, value, after)| format!("{before}{value}{after}"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn generated_documents_are_read_alike(text in document()) {
        common::force_kernel();
        checks::serde_json(text.as_bytes());
        checks::parse(text.as_bytes());
        checks::kernels(text.as_bytes());
    }

    #[test]
    fn what_is_minified_is_as_short_as_it_can_be_and_means_the_same(text in document()) {
        common::force_kernel();
        prop_assume!(jird::parse(text.as_bytes()).is_ok());
        let small = jird::minify(text.as_bytes()).expect("it was parsed");
        checks::serde_json(&small);
        prop_assert_eq!(jird::minify(&small).expect("it was minified"), small.clone());
        let tree = |text: &[u8]| serde_tree(text).map_err(|error| error.to_string());
        if let (Ok(before), Ok(after)) = (tree(text.as_bytes()), tree(&small)) {
            prop_assert_eq!(before, after);
        }
    }

    #[test]
    fn generated_documents_with_bytes_changed_are_refused_alike(text in document(), seed in any::<u64>()) {
        common::force_kernel();
        let mut random = Random::new(seed);
        let mut text = text.into_bytes();
        for _ in 0..3 {
            random::mutate(&mut random, &mut text);
            checks::serde_json(&text);
            checks::parse(&text);
            checks::kernels(&text);
            checks::record(&text);
        }
    }
}
