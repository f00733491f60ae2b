//! One text for each kind of error, with everything that is reported about it: code, offset, line, column, pointer, and
//! the words.

use crate::common;

use jird::hooks::Kernel;
use jird::policy::{Duplicates, Numbers, Policy};
use jird::{ErrorKind, Parser, record::RecordBuffer};
use std::collections::HashSet;

struct Case {
    text: &'static [u8],
    kind: ErrorKind,
    offset: u64,
    /// Line and column.
    place: (u64, u64),
    pointer: &'static str,
    rendered: &'static str,
}

fn case(
    text: &'static [u8],
    kind: ErrorKind,
    offset: u64,
    place: (u64, u64),
    pointer: &'static str,
    rendered: &'static str,
) -> Case {
    Case { text, kind, offset, place, pointer, rendered }
}

#[rustfmt::skip]
fn cases() -> Vec<Case> {
    vec![
        case(b"[\"a\xFF\"]", ErrorKind::Utf8, 3, (1, 4), "/0",
            "bytes that are not UTF-8 at line 1 column 4 (byte 3, at /0)\n  [\"a�\"]\n     ^"),
        case(b"{\"a\":\n \"bc", ErrorKind::String, 10, (2, 5), "/a",
            "the string is not closed at line 2 column 5 (byte 10, at /a)\n   \"bc\n      ^"),
        case(br#"["\q"]"#, ErrorKind::Escape, 3, (1, 4), "/0",
            "not a valid escape at line 1 column 4 (byte 3, at /0)\n  [\"\\q\"]\n     ^"),
        case(b"[1, \"\t\"]", ErrorKind::Control, 5, (1, 6), "/1",
            "a control character in a string must be escaped at line 1 column 6 (byte 5, at /1)\n  [1, \" \"]\n       ^"),
        case(b"{\"a\": [0, 1.]}", ErrorKind::Number, 12, (1, 13), "/a/1",
            "not a valid number at line 1 column 13 (byte 12, at /a/1)\n  {\"a\": [0, 1.]}\n              ^"),
        case(b"[1e309]", ErrorKind::Range, 1, (1, 2), "/0",
            "the number is out of the allowed range at line 1 column 2 (byte 1, at /0)\n  [1e309]\n   ^"),
        case(b"[trve]", ErrorKind::Literal, 3, (1, 4), "/0",
            "expected `true`, `false` or `null` at line 1 column 4 (byte 3, at /0)\n  [trve]\n     ^"),
        case(b"[1,\n]", ErrorKind::Value, 4, (2, 1), "/1",
            "expected a value at line 2 column 1 (byte 4, at /1)\n  ]\n  ^"),
        case(b" \n ", ErrorKind::Empty, 3, (2, 2), "",
            "expected a value, found nothing at line 2 column 2 (byte 3)\n   \n   ^"),
        case(b"{\"a\": 1, b: 2}", ErrorKind::Key, 9, (1, 10), "",
            "expected a key in double quotes at line 1 column 10 (byte 9)\n  {\"a\": 1, b: 2}\n           ^"),
        case(b"{\"a\" 1}", ErrorKind::Colon, 5, (1, 6), "",
            "expected `:` after the key at line 1 column 6 (byte 5)\n  {\"a\" 1}\n       ^"),
        case(b"[[1 2]]", ErrorKind::Comma, 4, (1, 5), "/0/0",
            "expected `,` or the closing bracket at line 1 column 5 (byte 4, at /0/0)\n  [[1 2]]\n      ^"),
        case(b"{\"a\": {}", ErrorKind::Unclosed, 8, (1, 9), "/a",
            "an array or object is not closed at line 1 column 9 (byte 8, at /a)\n  {\"a\": {}\n          ^"),
        case(b"{}\n{}", ErrorKind::Trailing, 3, (2, 1), "",
            "unexpected text after the value at line 2 column 1 (byte 3)\n  {}\n  ^"),
        case(b"{\"a\":[[]]}", ErrorKind::Depth, 6, (1, 7), "/a/0",
            "nested too deeply at line 1 column 7 (byte 6, at /a/0)\n  {\"a\":[[]]}\n        ^"),
        case(b"{\"a\":1,\"b\":{},\"\\u0061\":2}", ErrorKind::Duplicate, 14, (1, 15), "/a",
            "the object already has this key at line 1 column 15 (byte 14, at /a)\n  {\"a\":1,\"b\":{},\"\\u0061\":2}\n                ^"),
    ]
}

/// The policy under which each case is what it is.
fn policy(kind: ErrorKind) -> Policy {
    let default = Policy::default();
    match kind {
        ErrorKind::Range => Policy { numbers: Numbers::Finite, ..default },
        ErrorKind::Duplicate => Policy { duplicates: Duplicates::Refuse, ..default },
        ErrorKind::Depth => Policy { depth_max: 2, ..default },
        _ => default,
    }
}

#[test]
fn every_kind_of_error_says_what_and_where() {
    common::force_kernel();
    for Case { text, kind, offset, place, pointer, rendered } in cases() {
        let error = Parser::with_policy(policy(kind)).parse(text).map(drop).expect_err("it is wrong");
        assert_eq!((error.kind(), error.offset()), (kind, offset), "{rendered}");
        let located = error.locate(text);
        assert_eq!(((located.line(), located.column()), located.pointer()), (place, pointer), "{rendered}");
        assert_eq!(located.to_string(), rendered);
        assert_eq!(format!("{located:#}"), rendered.lines().next().unwrap_or_default());
        assert_eq!(error.to_string(), format!("{kind} (byte {offset})"));
        assert_eq!(error.code(), kind.code());
        let mut buffer = RecordBuffer::with_policy(policy(kind));
        assert_eq!(jird::record::Record::scan(text, &mut buffer).map(drop), Err(error), "a record says the same");
    }
}

#[test]
fn the_kinds_have_the_codes_that_were_promised_and_a_case_each() {
    let cases: HashSet<_> = cases().iter().map(|case| case.kind.code()).collect();
    let promised =
        "utf8 string escape control number range literal value empty key colon comma unclosed trailing depth duplicate";
    assert_eq!(cases, promised.split(' ').collect());
    // Of whole documents too long for any test, and of records: the tests of lines.
    assert_eq!(ErrorKind::Size.code(), "size");
}

#[test]
fn an_error_is_the_same_whatever_the_chunk_the_kernel_and_the_place() {
    for Case { text, kind, offset, .. } in cases() {
        for kernel in Kernel::available() {
            for chunk_bytes in checks::CHUNK_BYTES {
                let mut parser = Parser::with_kernel(policy(kind), kernel).with_chunk_bytes(chunk_bytes);
                for leading in 0..140 {
                    let moved = [&b" ".repeat(leading)[..], text].concat();
                    let wanted = jird::Error::new(kind, offset + leading as u64);
                    let name = || format!("{kernel:?} {chunk_bytes} {leading} {}", checks::shown(text));
                    assert_eq!(parser.parse(&moved).map(drop), Err(wanted.clone()), "{}", name());
                    assert_eq!(parser.validate(&moved), Err(wanted.clone()), "{}", name());
                }
            }
        }
    }
}

#[test]
fn a_byte_that_begins_no_character_is_named_wherever_it_stands_and_whatever_else_is_wrong_there() {
    let before = [
        "",
        "[",
        "[1",
        "[1 ",
        "[\"a\"",
        "{",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":\"\"",
        "{\"a\":0,",
        "t",
        "[tru",
        "1",
        "[-",
        "1 ",
        "\"",
    ];
    let broken: [&[u8]; 4] = [b"\xFF", b"\xC1", b"\xF5\x80\x80", b"\x80"];
    for before in before {
        for broken in broken {
            for after in [&b""[..], b",1]", b"\"", b"                                        ,,,,"] {
                for leading in 50..66 {
                    let text = [&b" ".repeat(leading)[..], before.as_bytes(), broken, after].concat();
                    let wanted = ("utf8", (leading + before.len()) as u64);
                    let found = jird::validate(&text).map_err(|error| (error.code(), error.offset()));
                    assert_eq!(found, Err(wanted), "{}", checks::shown(&text));
                    checks::kernels(&text);
                }
            }
        }
    }
}

#[test]
fn the_first_of_several_errors_is_the_one_that_is_named() {
    let broken: [&[u8]; 6] = [b"\"\xFF\"", b"\"\x01\"", b"\"\\q\"", b"1.", b"trve", b"}"];
    let separate = b",          ";
    for gap in [0, 1, 5, 12] {
        for first in broken {
            for second in broken {
                let text = [b"[", first, &separate.repeat(gap + 1)[..], second, b"]"].concat();
                checks::kernels(&text);
                let alone = [b"[", first].concat();
                let wanted = jird::validate(&alone).expect_err("it is wrong");
                let found = jird::validate(&text).expect_err("it is wrong");
                assert!(found.offset() <= wanted.offset(), "{}", checks::shown(&text));
            }
        }
    }
}

#[test]
fn a_message_cannot_speak_to_the_terminal() {
    let text = "{\"\\u001b[31m\":{\"\u{9b}31m\":[\"\x1b]0;x\x07".as_bytes();
    let error = jird::validate(text).expect_err("a control character");
    let located = error.locate(text);
    assert_eq!(located.pointer(), "/\x1b[31m/\u{9b}31m/0", "the pointer itself is exact");
    assert!(!located.to_string().chars().any(|char| char.is_control() && char != '\n'), "{:?}", located.to_string());
}

#[test]
fn the_place_of_an_error_far_into_a_long_line_shows_a_part_of_it() {
    let text = format!("[{}x]", "\"é\", ".repeat(1_000_000));
    let error = jird::validate(text.as_bytes()).expect_err("it is wrong");
    let located = error.locate(text.as_bytes());
    assert_eq!((located.line(), located.pointer()), (1, "/1000000"));
    assert_eq!(located.column(), text.len() as u64 - 1);
    let shown = located.to_string();
    assert!(shown.len() < 400, "{shown}");
    let [_, line, caret] = shown.lines().collect::<Vec<_>>()[..] else { panic!("three lines: {shown}") };
    assert_eq!(line.chars().nth(caret.chars().count() - 1), Some('x'), "{shown}");
}

#[test]
fn an_error_in_a_part_of_an_input_can_be_moved_to_the_whole() {
    let error = jird::validate(b"[1,]").expect_err("it is wrong");
    assert_eq!(error.clone().shifted(1 << 40).offset(), (1 << 40) + 3);
    let located = error.locate(b"[1,]").after_lines(9, 100);
    assert_eq!((located.line(), located.column(), located.error().offset()), (10, 4, 103));
}
