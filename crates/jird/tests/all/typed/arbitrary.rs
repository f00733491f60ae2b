//! Texts that no author would think of.

use crate::common;
use crate::typed::judge::{ours, place, theirs};
use crate::typed::shapes::all_types;
use proptest::prelude::*;

/// Texts that are JSON, or nearly.
fn nearly_json() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"a\"",
        "\"b\"",
        "\"c\"",
        "\"t\"",
        "\"A\"",
        "\"\\u0061\"",
        "\"x\"",
        "1",
        "-1",
        "2.5",
        "0",
        "256",
        "true",
        "false",
        "null",
        " ",
        "\n",
        "{\"a\":1,\"b\":\"x\"}",
        "\"a\":1",
        "\"b\":\"x\",",
        "[1,2]",
        "\"é\"",
        "{\"t\":\"A\"}",
        "Û",
    ]);
    prop::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat())
}

pub(crate) fn json() -> impl Strategy<Value = serde_json::Value> {
    use serde_json::{Value, json};
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (0_u8..20).prop_map(Value::from),
        any::<f64>().prop_map(|value| json!(value)),
        ".{0,12}".prop_map(Value::from),
        "[abct\"\\\\\u{1}]{0,3}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map("[abctABCD]|.{0,5}", inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_nearly_json_is_judged_alike(text in nearly_json()) {
        common::force_kernel();
        all_types(text.as_bytes());
    }

    #[test]
    fn every_document_has_the_same_value(value in json(), pretty in any::<bool>()) {
        common::force_kernel();
        let text = if pretty { serde_json::to_vec_pretty(&value) } else { serde_json::to_vec(&value) }.unwrap();
        all_types(&text);
        prop_assert_eq!(ours::<serde_json::Value>(&text).unwrap(), theirs::<serde_json::Value>(&text).unwrap());
    }

    #[test]
    fn any_bytes_are_taken_or_refused_alike(
        value in json(), changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..3),
    ) {
        common::force_kernel();
        let mut text = serde_json::to_vec(&value).unwrap();
        for (at, byte) in changes {
            let at = at.index(text.len());
            text[at] = byte;
        }
        let (wanted, found) = (theirs::<serde_json::Value>(&text), ours::<serde_json::Value>(&text));
        prop_assert_eq!(wanted.as_ref().ok().map(ToString::to_string), found.as_ref().ok().map(ToString::to_string));
        if let Err(error) = found {
            place(&text, &error);
            if core::str::from_utf8(&text).is_ok() {
                prop_assert_eq!(wanted.err(), Some(error.classify()), "{}", error);
            }
        }
    }
}
