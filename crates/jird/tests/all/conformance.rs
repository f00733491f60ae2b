//! The conformance sets of the corpus, as its MANIFEST says how to read them. Every document goes through `parse`,
//! `validate` and `Record::scan`, on every kernel, on several threads and with borders between chunks in many places ([`checks`]).

use crate::common;

use checks::reference::{self, Tree};
use common::{Document, corpus, files, table};
use jird::policy::{Numbers, Policy};
use jird::{Kind, Number, Parser, Value};

/// What every reader makes of `text`, which they must agree on: `accept`, or the code of the error.
fn outcome(text: &[u8]) -> &'static str {
    checks::parse(text);
    checks::kernels(text);
    checks::threads(text);
    checks::record(text);
    jird::parse(text).map_or_else(|error| error.code(), |_| "accept")
}

#[test]
fn json_test_suite_is_accepted_and_refused_as_its_names_say() {
    let Some(root) = corpus() else { return };
    let mut counts = [0, 0];
    for document in files(&root, "conformance/JSONTestSuite/test_parsing", ".json") {
        let wanted = match document.file_name().as_bytes()[0] {
            b'y' => true,
            b'n' => false,
            _ => continue,
        };
        counts[usize::from(wanted)] += 1;
        assert_eq!(outcome(&document.text) == "accept", wanted, "{}", document.name);
    }
    assert_eq!(counts, [188, 95], "files of each kind");
}

#[test]
fn what_json_test_suite_leaves_open_is_as_the_table_says() {
    let Some(root) = corpus() else { return };
    let mut rows = table(include_str!("conformance/i_outcomes.tsv"));
    for document in files(&root, "conformance/JSONTestSuite/test_parsing", ".json") {
        if document.file_name().starts_with("i_") {
            let row = rows.iter().position(|row| row[0] == document.file_name());
            let row = rows.swap_remove(row.unwrap_or_else(|| panic!("{} is not in the table", document.name)));
            assert!(row.len() == 3 && !row[2].is_empty(), "a row needs a reason: {row:?}");
            assert_eq!(outcome(&document.text), row[1], "{}", document.name);
        }
    }
    assert!(rows.is_empty(), "rows without a file: {rows:?}");
}

#[test]
fn surprising_values_are_read_as_the_table_says() {
    let Some(root) = corpus() else { return };
    let mut rows = table(include_str!("conformance/transform_outcomes.tsv"));
    for document in files(&root, "conformance/JSONTestSuite/test_transform", ".json") {
        let row = rows.iter().position(|row| row[0] == document.file_name());
        let row = rows.swap_remove(row.unwrap_or_else(|| panic!("{} is not in the table", document.name)));
        assert_eq!(outcome(&document.text), row[1], "{}", document.name);
        let read = jird::parse(&document.text).map_or(String::new(), |parsed| described(parsed.root()));
        assert_eq!(read, row[2], "{}", document.name);
    }
    assert!(rows.is_empty(), "rows without a file: {rows:?}");
}

/// A value in words: numbers as each machine type has them, strings decoded, and what `get` finds where keys repeat.
fn described(value: Value<'_>) -> String {
    match value.kind() {
        Kind::Number => {
            let whole =
                |name, number: Option<String>| number.map_or(String::new(), |number| format!(" {name}={number}"));
            let signed = whole("i64", value.as_i64().map(|number| number.to_string()));
            let unsigned = whole("u64", value.as_u64().map(|number| number.to_string()));
            let double = whole("f64", value.as_f64().map(|number| format!("{number:?}")));
            format!("{}:{signed}{unsigned}{double}", value.raw_str().expect("numbers are ASCII"))
        }
        Kind::String => value.as_str().expect("a string").escape_debug().to_string(),
        Kind::Array => {
            let elements: Vec<_> = value.elements().map(described).collect();
            format!("[{}]", elements.join(", "))
        }
        Kind::Object => {
            let members: Vec<_> = value
                .entries()
                .map(|(key, member)| {
                    let key = key.as_str().expect("a key");
                    let first = value.get(&key).expect("it is there");
                    let note = if first.offset() == member.offset() { "" } else { " (get finds an earlier one)" };
                    format!("{}={}{note}", key.escape_unicode(), described(member))
                })
                .collect();
            format!("{{{}}}", members.join(", "))
        }
        Kind::Null | Kind::Bool => value.raw_str().expect("literals are ASCII").to_owned(),
    }
}

#[test]
fn json_checker_passes_and_fails_as_its_names_say() {
    let Some(root) = corpus() else { return };
    // Grammatical numbers that only their size could make wrong, and a name that says that the file is not a failure.
    let accepted = ["fail41_toolarge.json", "fail60.json", "fail73.json"];
    let documents = files(&root, "conformance/jsonchecker", ".json");
    for document in &documents {
        let name = document.file_name();
        let wanted = name.starts_with("pass") || name.contains("EXCLUDE") || accepted.contains(&name);
        assert_eq!(outcome(&document.text) == "accept", wanted, "{name}");
        let machine = Policy { numbers: Numbers::Machine, ..Policy::default() };
        let code =
            Parser::with_policy(machine).validate(&document.text).map_or_else(|error| error.code(), |()| "accept");
        assert_eq!(code == "range", accepted.contains(&name), "{name} with machine numbers: {code}");
    }
    assert!(documents.len() > 100);
}

#[test]
fn streams_of_json_checker_are_read_line_by_line_as_the_reference_reads_them() {
    let Some(root) = corpus() else { return };
    files(&root, "conformance/jsonchecker", ".ndjson").iter().for_each(|document| checks::lines(&document.text));
}

#[test]
fn compact_documents_come_back_as_they_were() {
    let Some(root) = corpus() else { return };
    let documents = files(&root, "conformance/roundtrip", ".json");
    for Document { name, text } in &documents {
        assert_eq!(outcome(text), "accept", "{name}");
        assert_eq!(jird::parse(text).map(|parsed| parsed.root().raw().to_vec()).as_deref(), Ok(&text[..]), "{name}");
        assert_eq!(jird::minify(text).as_deref(), Ok(&text[..]), "{name}");
    }
    assert_eq!(documents.len(), 27);
}

#[test]
fn a_line_that_is_not_utf8_is_no_string_and_one_that_is_comes_back() {
    let Some(root) = corpus() else { return };
    let mut counts = [0, 0];
    let lines = files(&root, "conformance/unicode", ".txt").into_iter().chain(files(&root, "tables", ".csv"));
    for line in
        lines.flat_map(|document| document.text.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>())
    {
        let line: Vec<u8> = line.into_iter().filter(|&byte| byte >= 0x20 && byte != b'"' && byte != b'\\').collect();
        let text = [b"\"", &line[..], b"\""].concat();
        let wanted = std::str::from_utf8(&line);
        counts[usize::from(wanted.is_ok())] += 1;
        if counts[usize::from(wanted.is_ok())] > 2000 {
            continue;
        }
        assert_eq!(outcome(&text), if wanted.is_ok() { "accept" } else { "utf8" }, "{}", checks::shown(&text));
        match (jird::parse(&text), wanted) {
            (Ok(parsed), Ok(wanted)) => assert_eq!(parsed.root().as_str().as_deref(), Some(wanted)),
            // Where a character begins that is none, or up to three bytes later, where it does not go on.
            (Err(error), Err(wanted)) => {
                let begins = 1 + wanted.valid_up_to() as u64;
                assert!((begins..begins + 4).contains(&error.offset()), "{}", checks::shown(&text));
            }
            _ => unreachable!("compared above"),
        }
    }
    assert!(counts.iter().all(|&count| count > 50), "lines that are not UTF-8, and that are: {counts:?}");
}

#[test]
fn naughty_strings_come_back() {
    let Some(root) = corpus() else { return };
    for Document { text, .. } in files(&root, "conformance/unicode/blns", ".json") {
        assert_eq!(outcome(&text), "accept");
        let wanted: Vec<String> = serde_json::from_slice(&text).expect("serde_json reads it");
        let parsed = jird::parse(&text).expect("accepted");
        assert!(parsed.root().elements().map(|string| string.as_str().expect("a string")).eq(wanted));
        assert_eq!(jird::minify(&jird::minify(&text).expect("accepted")), jird::minify(&text));
    }
}

#[test]
fn hostile_documents_are_accepted_and_refused_as_serde_json_does() {
    let Some(root) = corpus() else { return };
    let mut documents = files(&root, "hostile", "");
    let valid = documents.iter().filter(|document| outcome(&document.text) == "accept").count();
    // `nested.json` is refused for its depth by both.
    documents.iter().for_each(|document| checks::serde_json(&document.text));
    assert!(documents.len() > 750 && valid >= 20, "{valid} of {}", documents.len());
    for document in &mut documents {
        checks::lines(&document.text);
        // The same without an end, so that something is open there.
        let half = document.text.len() / 2;
        document.text.truncate(half);
        outcome(&document.text);
        checks::lines(&document.text);
    }
}

#[test]
fn documents_of_every_other_set_are_read_as_the_reference_reads_them() {
    let Some(root) = corpus() else { return };
    for folder in [
        "bench",
        "conformance/csv",
        "conformance/jcs",
        "conformance/jsonpatch",
        "conformance/jsonpath",
        "conformance/jsonpointer",
        "ndjson",
        "tables",
    ] {
        for document in files(&root, folder, ".json") {
            assert_eq!(outcome(&document.text), "accept", "{}", document.name);
        }
    }
}

#[test]
fn every_number_of_the_conformance_data_is_bit_exact_as_a_value() {
    let Some(root) = corpus() else { return };
    let mut count = 0;
    for document in files(&root, "conformance/numbers/parse-number-fxx", ".txt") {
        let text = String::from_utf8(document.text).expect("it is text");
        let rows: Vec<[&str; 4]> =
            text.lines().map(|line| line.split(' ').collect::<Vec<_>>().try_into().expect("four columns")).collect();
        let rows: Vec<_> = rows.into_iter().filter(|row| Number::new(row[3]).is_some()).collect();
        // All in one document, so that they stand at all places of a block.
        let document = format!("[{}]", rows.iter().map(|row| row[3]).collect::<Vec<_>>().join(","));
        let parsed = jird::parse(document.as_bytes()).expect("numbers between commas");
        assert_eq!(parsed.root().len(), rows.len());
        for (value, [_, _, bits, text]) in parsed.root().elements().zip(rows) {
            let double = u64::from_str_radix(bits, 16).map(f64::from_bits).expect("16 digits");
            let wanted = double.is_finite().then(|| double.to_bits());
            assert_eq!(value.as_f64().map(f64::to_bits), wanted, "{text}");
            count += 1;
        }
    }
    assert!(count > 10_000, "only {count} numbers");
}

#[test]
fn each_number_policy_draws_its_line_where_it_says() {
    common::force_kernel();
    let check = |text: &str, wanted: [&str; 3]| {
        let found = [Numbers::Any, Numbers::Finite, Numbers::Machine].map(|numbers| {
            let mut parser = Parser::with_policy(Policy { numbers, ..Policy::default() });
            let text = format!("[0, {text}]");
            let parsed = parser
                .parse(text.as_bytes())
                .map_or_else(|error| error, |_| jird::Error::new(jird::ErrorKind::Empty, 4));
            assert_eq!(parsed.offset(), 4, "{text}");
            assert_eq!(parser.validate(text.as_bytes()).map_or_else(|error| error.code(), |()| "empty"), parsed.code());
            if parsed.code() == "empty" { "accept" } else { parsed.code() }
        });
        assert_eq!(found, wanted, "{text}");
    };
    let any = ["accept", "accept", "accept"];
    let infinite = ["accept", "range", "range"];
    let wide = ["accept", "accept", "range"];
    check("9223372036854775807", any); // 2^63 - 1
    check("9223372036854775808", any); // 2^63
    check("-9223372036854775808", any);
    check("-9223372036854775809", wide);
    check("18446744073709551615", any);
    check("18446744073709551616", wide); // 2^64
    check("18446744073709551616.0", any);
    check("1e19", any);
    check("1e309", infinite);
    check("-1e309", infinite);
    check("1.7976931348623157e308", any);
    check("1.7976931348623158e308", any);
    check("1.7976931348623159e308", infinite);
    check("1e-400", any);
    check("-0", any);
    check(&"9".repeat(309), infinite);
    check(&format!("-{}", "9".repeat(30)), wide);
    for text in ["9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809"] {
        let parsed = jird::parse(text.as_bytes()).expect("a number");
        let exact: i128 = text.parse().expect("it fits");
        assert_eq!(parsed.root().as_i64(), i64::try_from(exact).ok(), "{text}");
        assert_eq!(parsed.root().as_u64(), u64::try_from(exact).ok(), "{text}");
        assert_eq!(parsed.root().as_number().and_then(Number::as_i128), Some(exact));
    }
}

#[test]
fn an_escaped_nul_is_a_character_and_a_bare_one_is_an_error() {
    common::force_kernel();
    assert_eq!(outcome(br#""\u0000""#), "accept");
    assert_eq!(jird::parse(br#""\u0000""#).expect("accepted").root().as_str().as_deref(), Some("\0"));
    assert_eq!(outcome(b"\"\0\""), "control");
    assert_eq!(outcome(b"\0"), "value");
    assert_eq!(outcome(b"1\0"), "number");
    assert_eq!(outcome(b"1 \0"), "trailing");
    assert_eq!(outcome(b"[1 \0"), "comma");
    assert_eq!(outcome(b"{\0"), "key");
    assert_eq!(outcome(b"{\"a\"\0"), "colon");
}

#[test]
fn the_reference_itself_agrees_with_json_test_suite() {
    let Some(root) = corpus() else { return };
    for document in files(&root, "conformance/JSONTestSuite/test_parsing", ".json") {
        let read = reference::read(&document.text, Policy::DEPTH_MAX);
        match document.file_name().as_bytes()[0] {
            b'y' => assert!(read.is_ok_and(|node| !matches!(node.tree, Tree::Null) || node.end == node.start + 4)),
            b'n' => assert!(read.is_err(), "{}", document.name),
            _ => {}
        }
    }
}
