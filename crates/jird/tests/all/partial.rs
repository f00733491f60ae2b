//! Documents whose text arrives in pieces, and texts that were cut short. `checks::partial` compares them with a model.

use crate::common::{corpus, files};
use checks::random::{self, Random};
use jird::partial::{PartialDocument, repair};
use proptest::prelude::*;
use serde::Deserialize;

/// Texts that have everything that can be cut.
const TEXTS: &[&str] = &[
    r#"{"answer": "It depends", "confidence": 0.5, "because": ["of", {"the": "weather"}, []], "sure": false}"#,
    r#"[null, true, false, -0, 0.25, 1e5, -12.5E-3, 1E+2, {}, [[]], ""]"#,
    "{ \"a\" : { \"b\" : [ ] } , \"\\u00e9\\n\" : \"\\ud83d\\ude00 \\\\ \\\" é語😀\" }\n",
    "\"just \\u0041 string\"",
    " -10.5e+10 ",
    "true",
    r#"[["a\\"], {"k\"": "}]"}, "[{,:]"]"#,
    r#"{"a":{"a":{"a":{"a":1}}},"a":2}"#,
];

/// Texts that are wrong somewhere.
const WRONG: &[&[u8]] = &[
    b"[1,]",
    b"[,",
    b"{,",
    b"{\"a\" 1",
    b"{\"a\":}",
    b"{\"a\":1,}",
    b"{1",
    b"[1 2",
    b"[01",
    b"[-a",
    b"[1.e",
    b"[1ex",
    b"12x",
    b"1 2",
    b"tru ",
    b"[nul]",
    b"[truex",
    b"}",
    b"]",
    b"[}",
    b"{]",
    b"[\"\\x",
    b"[\"\\u12g",
    b"[\"\\udc00",
    b"[\"\\ud83d x",
    b"[\"\\ud83d\\n",
    b"[\"\\ud83d\\u0041",
    b"[\"a\nb",
    b"[\"\xff",
    b"[\"\xe2\x28",
    b"[\xe2\x82\xac",
    b"[\xe2",
    b"\xef\xbb\xbf[1]",
    b"\xff\xfe[\0",
    b"[\"\\\xe2\x82\xac",
    b"[1\xe2",
    b"[tr\xe2",
    b"{\"a\xf0\x9f\x98\":1",
    b"'a'",
    b"[NaN",
    b"[Infinity",
    b"// c",
    b"\"a\" \"b\"",
    b"[1] x",
    b"[\"\x7f\x00",
];

#[test]
fn the_value_so_far_is_that_of_the_model() {
    TEXTS.iter().for_each(|text| checks::partial(text.as_bytes()));
}

#[test]
fn what_no_text_can_have_is_an_error_when_it_arrives() {
    WRONG.iter().for_each(|text| checks::partial(text));
}

#[test]
fn the_documents_of_the_json_test_suite_can_be_cut_anywhere() {
    let Some(root) = corpus() else { return };
    for document in files(&root, "conformance/JSONTestSuite/test_parsing", ".json") {
        checks::partial(&document.text);
    }
}

#[test]
fn documents_of_other_programs_can_be_cut() {
    let Some(root) = corpus() else { return };
    for document in files(&root, "bench", ".json").into_iter().filter(|document| document.text.len() < 300_000) {
        checks::partial(&document.text);
    }
}

#[test]
fn generated_documents_can_be_cut_anywhere_and_spoiled_anywhere() {
    let mut random = Random::new(46);
    for _ in 0..checks::rounds(2_000) {
        let mut text = String::new();
        random::value(&mut random, 4, &mut text);
        checks::partial(text.as_bytes());
        let mut spoiled = text.into_bytes();
        random::mutate(&mut random, &mut spoiled);
        checks::partial(&spoiled);
    }
}

proptest! {
    #[test]
    fn any_split_gives_what_one_piece_gives(text in ".{0,40}", cuts in prop::collection::vec(0..200_usize, 0..6)) {
        let text = jird::to_string(&[&text, "\u{1F600}", &text]).expect("it can be written");
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).chain([0, text.len()]).collect();
        cuts.sort_unstable();
        let mut document = PartialDocument::new();
        for piece in cuts.windows(2) {
            document.push(&text.as_bytes()[piece[0]..piece[1]]).expect("it is valid");
            let mut at_once = PartialDocument::new();
            at_once.push(&text.as_bytes()[..piece[1]]).expect("it is valid");
            let texts = [&mut document, &mut at_once].map(|document| document.snapshot().map(|now| now.text().to_owned()));
            prop_assert_eq!(&texts[0], &texts[1]);
        }
        prop_assert!(document.is_complete());
    }

    #[test]
    fn no_bytes_cause_a_panic(text in prop::collection::vec(any::<u8>(), 0..60)) {
        checks::partial(&text);
    }
}

/// How deeply a text may be nested.
#[test]
fn depth_is_limited() {
    let mut document = PartialDocument::new();
    document.push("[".repeat(1024).as_bytes()).expect("it is not too deep");
    assert_eq!(document.snapshot().expect("it has begun").text().len(), 2048);
    let error = document.push(b"[").unwrap_err();
    assert_eq!((error.code(), error.offset()), ("depth", 1024));
    assert_eq!(document.snapshot().expect("it has begun").text().len(), 2048);
    let mut shallow = PartialDocument::new().depth_max(1);
    let error = shallow.push(b"[{").unwrap_err();
    assert_eq!((error.code(), error.offset()), ("depth", 1));
}

#[test]
fn a_number_that_is_the_whole_text_is_complete_at_its_end() {
    let mut document = PartialDocument::new();
    document.push(b"12").expect("it is valid");
    assert!(document.snapshot().is_none() && !document.is_complete());
    document.finish().expect("it is valid");
    assert_eq!(document.snapshot().expect("it is complete").root().as_u64(), Some(12));
    let error = document.push(b"3").unwrap_err();
    assert_eq!(error.to_string(), "the document was finished, and takes no more text");
}

#[test]
fn a_text_that_ends_too_early_may_go_on_after_finish_has_said_so() {
    let mut document = PartialDocument::new();
    document.push(b"[1, 2").expect("it is valid");
    let error = document.finish().unwrap_err();
    assert!(error.is_eof() && error.offset() == 5 && error.code() == "unclosed", "{error}");
    document.push(b"3]").expect("it is valid");
    document.finish().expect("it is complete");
    assert_eq!(document.snapshot().expect("it is complete").text(), "[1, 23]");
}

#[test]
fn an_error_names_the_encoding_as_the_strict_parser_does() {
    for text in [&b"\xef\xbb\xbf[1]"[..], b"\xff\xfe[\0]\0", b"[\0"] {
        let mut document = PartialDocument::new();
        let error = document.push(text).unwrap_err();
        assert_eq!(error.to_string(), jird::parse(text).unwrap_err().to_string());
    }
}

#[test]
fn missing_members_have_defaults_and_cut_strings_can_be_withheld() {
    #[derive(Deserialize, Debug, PartialEq)]
    #[serde(rename_all = "lowercase")]
    enum Level {
        Low,
        High,
    }
    #[derive(Deserialize, Default, Debug, PartialEq)]
    #[serde(default)]
    struct Report<'a> {
        #[serde(borrow)]
        title: &'a str,
        level: Option<Level>,
        scores: Vec<f64>,
    }
    let text = br#"{"title": "Wind", "level": "high", "scores": [1.5, 2"#;
    let mut document = PartialDocument::new().withhold_strings();
    let mut seen = Vec::new();
    for byte in text {
        document.push(&[*byte]).expect("it is valid");
        if let Some(so_far) = document.snapshot() {
            let report: Report = so_far.root().decode().expect("what is there fits");
            let shown = format!("{report:?}");
            if seen.last() != Some(&shown) {
                seen.push(shown);
            }
        }
    }
    assert_eq!(
        seen,
        [
            r#"Report { title: "", level: None, scores: [] }"#,
            r#"Report { title: "Wind", level: None, scores: [] }"#,
            r#"Report { title: "Wind", level: Some(High), scores: [] }"#,
            r#"Report { title: "Wind", level: Some(High), scores: [1.5] }"#,
        ]
    );
    let _ = Level::Low;
}

#[test]
fn raw_text_of_an_incomplete_value_is_valid() {
    let mut document = PartialDocument::new();
    document.push(br#"{"a": [1, {"b": "c\u00"#).expect("it is valid");
    let so_far = document.snapshot().expect("it has begun");
    let raw: std::collections::BTreeMap<&str, &jird::RawValue> = so_far.root().decode().expect("it fits");
    assert_eq!(raw["a"].get(), r#"[1, {"b": "c"}]"#);
}

#[test]
fn only_cuts_are_repaired_and_the_message_says_how() {
    let cases = [
        (r#"{"a": 1, "b"#, r#"{"a": 1}"#, r#"cut short: removed 4 bytes from byte 7 (`, "b`), added `}`"#),
        (r#"["a", "b"#, r#"["a", "b"]"#, r#"cut short: added `"]`"#),
        (r#"["a\u12"#, r#"["a"]"#, r#"cut short: removed 4 bytes from byte 3 (`\u12`), added `"]`"#),
        ("[1,\n", "[1]", "cut short: removed 2 bytes from byte 2 (`,␊`), added `]`"),
        ("[tru", "[]", "cut short: removed 3 bytes from byte 1 (`tru`), added `]`"),
        ("[1]\n", "[1]\n", "not cut short: nothing was changed"),
        ("12", "12", "not cut short: nothing was changed"),
    ];
    for (text, wanted, message) in cases {
        let repair = repair(text.as_bytes()).expect("it is repaired");
        assert_eq!((repair.text(), repair.to_string().as_str()), (wanted, message), "{text}");
        assert_eq!(repair.is_changed(), text != wanted);
    }
    let cut = repair(b"[\"\xe2\x82").expect("it is repaired");
    assert_eq!((cut.text(), cut.removed()), (r#"[""]"#, &b"\xe2\x82"[..]));
    for (text, code) in
        [("", "empty"), (" ", "empty"), ("tru", "literal"), ("-", "number"), ("[1,]", "value"), ("[1]]", "trailing")]
    {
        assert_eq!(repair(text.as_bytes()).unwrap_err().code(), code, "{text}");
    }
}

#[test]
fn a_long_message_is_shortened() {
    let text = format!("[1, {}", " ".repeat(500));
    let repair = repair(text.as_bytes()).expect("it is repaired");
    assert_eq!(repair.removed().len(), 502);
    assert!(repair.to_string().len() < 200, "{repair}");
}
