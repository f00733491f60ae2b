//! Inputs made to hurt: too deep, too long, never closed. A clear error or a right answer, in linear time and without
//! recursion.

use crate::common;

use jird::hooks::lines::When;
use jird::lines::{Check, Options, Scanner};
use jird::policy::Policy;
use jird::{
    Kind, Parser, Path, Value,
    record::{Like, Predicate, Projection, Record, RecordBuffer},
};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

const MB: usize = 1 << 20;

fn nested(open: &str, inner: &str, close: &str, depth: usize) -> Vec<u8> {
    [open.repeat(depth), inner.to_owned(), close.repeat(depth)].concat().into_bytes()
}

#[test]
fn nesting_beyond_the_limit_is_an_error_at_the_bracket_that_is_too_much() {
    common::force_kernel();
    for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":", "}]")] {
        let text = nested(open, "1", close, 100_000);
        let brackets = open.bytes().filter(|byte| matches!(byte, b'[' | b'{')).count();
        let wanted = ("depth", (jird::policy::Policy::DEPTH_MAX / brackets * open.len()) as u64);
        let code = |error: jird::Error| (error.code(), error.offset());
        assert_eq!(jird::parse(&text).map(drop).map_err(code), Err(wanted));
        assert_eq!(jird::validate(&text).map_err(code), Err(wanted));
        assert_eq!(Record::scan(&text, &mut RecordBuffer::new()).map(drop).map_err(code), Err(wanted));
        let lines =
            Scanner::new(Options::default()).scan(&text, &Projection::new(&[]), None, |_| ControlFlow::Continue(()));
        assert_eq!(lines.map(drop).map_err(code), Err(wanted));
        assert_eq!(jird::minify(&text).map(drop).map_err(code), Err(wanted));
        // The limit itself is fine.
        let text = nested(open, "1", close, jird::policy::Policy::DEPTH_MAX / brackets);
        assert!(jird::parse(&text).is_ok() && jird::validate(&text).is_ok());
    }
}

/// serde serializes values in values by calls in calls, and a trusted parse has no limit of its own.
#[test]
fn values_that_are_too_deep_to_serialize_are_errors_on_a_small_stack() {
    common::force_kernel();
    let deep = || {
        for (open, close, brackets) in [("[", "]", 1), ("{\"a\":", "}", 1), ("[{\"a\":", "}]", 2), ("[", "", 1)] {
            let text = nested(open, "1", close, 40_000);
            let wanted = Err(("depth", (jird::policy::Policy::DEPTH_MAX / brackets * open.len()) as u64));
            let mut parser = Parser::new();
            let value = parser.parse_trusted(&text);
            let place = |error: jird::Error| (error.code(), error.offset());
            assert_eq!(jird::to_string(&value).map(drop).map_err(place), wanted);
            assert_eq!(jird::to_string_pretty(&value).map(drop).map_err(place), wanted);
            assert_eq!(jird::ser::to_string_canonical(&value).map(drop).map_err(place), wanted);
            assert_eq!(jird::to_writer(std::io::sink(), &value).map_err(place), wanted);
            let mut sink = jird::event::JsonSink::new(Vec::new());
            match jird::event::send_value(&value, &mut sink) {
                Err(jird::event::Failure::Source(error)) => assert_eq!(Err(place(error)), wanted),
                other => panic!("{other:?}"),
            }
            // Other formats say the same in words.
            let words = serde_json::to_string(&value).unwrap_err().to_string();
            assert!(words.starts_with("nested too deeply (byte "), "{words}");
            // The limit itself is fine.
            let text = nested(open, "1", close, jird::policy::Policy::DEPTH_MAX / brackets);
            let value = parser.parse_trusted(&text);
            let written = jird::to_string(&value).expect("deep, and right");
            assert!(close.is_empty() || written.as_bytes() == text);
        }
    };
    let small_stack = std::thread::Builder::new().stack_size(2 * MB);
    small_stack.spawn(deep).expect("a thread can be made").join().expect("it does not panic");
}

#[test]
fn a_raised_limit_reads_and_drops_deep_documents_on_a_small_stack() {
    common::force_kernel();
    let small_stack = std::thread::Builder::new().stack_size(2 * MB);
    let deep = || {
        let policy = Policy { depth_max: 1_000_000, ..Policy::default() };
        let mut parser = Parser::with_policy(policy);
        for (open, close, inner) in [("[", "]", "1"), ("{\"a\":", "}", "[]"), ("[0,{\"b\":0,\"a\":", "},2]", "{}")] {
            let text = nested(open, inner, close, 100_000);
            assert_eq!(parser.validate(&text), Ok(()));
            let mut value = parser.parse(&text).expect("deep, and right");
            assert_eq!(value.raw().len(), text.len());
            let mut depth = 0;
            let deeper = |value: Value<'_>| {
                value
                    .elements()
                    .chain(value.entries().map(|(_, value)| value))
                    .find(|value| value.kind().is_container())
                    .is_some()
            };
            while deeper(value) {
                let next = value
                    .elements()
                    .chain(value.entries().map(|(_, value)| value))
                    .find(|value| value.kind().is_container());
                value = next.expect("seen before");
                depth += 1;
            }
            assert!(depth >= 99_999, "{depth}");
            let located = parser.validate(&text[..text.len() - 1]).expect_err("unclosed").locate(&text);
            assert_eq!(located.error().code(), "unclosed");
            assert!(located.to_string().len() < 2000);
            let mut buffer = RecordBuffer::new();
            assert!(Record::scan_trusted(&text, &mut buffer).root().kind().is_container());
            let projection = Projection::new(&[Path::root().key("a").key("a").key("a")]);
            let mut scanner = Scanner::new(Options { policy, ..Options::default() });
            let lines = scanner.scan(&text, &projection, None, |_| ControlFlow::Continue(()));
            assert_eq!(lines.map(|scanned| scanned.records), Ok(1));
        }
    };
    small_stack.spawn(deep).expect("a thread can be made").join().expect("it does not panic");
}

#[test]
fn a_string_of_100_mb_is_a_string() {
    common::force_kernel();
    for piece in ["x", "é", "\\n", "\\ud83d\\ude00"] {
        let bytes = 100 * MB / piece.len() * piece.len();
        let text = ["[\"", &piece.repeat(bytes / piece.len()), "\",1]"].concat();
        let document = jird::parse(text.as_bytes()).expect("a long string");
        let string = document.root().at(0).expect("the string");
        assert_eq!((string.kind(), string.raw().len()), (Kind::String, bytes + 2));
        let content = string.as_str().expect("a string");
        let char = match piece {
            "x" => 'x',
            "é" => 'é',
            "\\n" => '\n',
            _ => '😀',
        };
        assert_eq!(content.len(), bytes / piece.len() * char.len_utf8());
        assert!(content.chars().all(|found| found == char));
        assert_eq!(document.root().at(1).and_then(Value::as_u64), Some(1));
        assert_eq!(jird::validate(&text.as_bytes()[..text.len() - 4]).map_err(|error| error.code()), Err("string"));
    }
}

/// With fewer bits, no slice is that long.
#[cfg(target_pointer_width = "64")]
#[test]
fn what_is_longer_than_4_gb_is_refused_and_not_misread() {
    common::force_kernel();
    // Zeroed memory that is never written to takes no room.
    let text = vec![0; (1 << 32) + 1000];
    let limit = u64::from(u32::MAX) - 64;
    let size = |error: jird::Error| (error.code(), error.offset());
    assert_eq!(jird::parse(&text).map(drop).map_err(size), Err(("size", limit)));
    assert_eq!(jird::validate(&text).map_err(size), Err(("size", limit)));
    let options = Options { record_bytes_max: usize::MAX, ..Options::default() };
    let mut scanner = Scanner::new(options);
    let scanned = scanner.scan(&text, &Projection::new(&[]), None, |_| ControlFlow::Continue(()));
    assert_eq!(scanned.map(drop).map_err(size), Err(("size", limit)));
}

#[test]
fn strings_at_the_length_that_the_tape_no_longer_holds_are_whole() {
    common::force_kernel();
    let max = (1 << 27) - 1;
    for len in [max - 1, max, max + 1] {
        let text = ["[\"\\\"", &"x".repeat(len - 2), "\",7]"].concat().into_bytes();
        let document = jird::parse(&text).expect("a long string");
        let string = document.root().at(0).expect("the string");
        assert_eq!(string.raw().len(), len + 2);
        assert_eq!(string.as_str().map(|content| content.len()), Some(len - 1));
        assert_eq!(document.root().at(1).and_then(Value::as_u64), Some(7));
    }
}

#[test]
fn a_number_of_a_million_digits_is_a_number() {
    common::force_kernel();
    let digits = "7".repeat(1_000_000);
    for (number, double) in [
        (digits.clone(), None),
        (format!("-{digits}"), None),
        (format!("0.{digits}"), Some(0.777_777_777_777_777_8)),
        (format!("{digits}e-999999"), Some(7.777_777_777_777_778)),
        (format!("0.{}1", "0".repeat(1_000_000)), Some(0.0)),
        (format!("1e{digits}"), None),
        (format!("1e-{digits}"), Some(0.0)),
        (format!("1{}", "0".repeat(308)), Some(1e308)),
    ] {
        let text = format!("[{number} ,1]");
        let document = jird::parse(text.as_bytes()).expect("a long number");
        let value = document.root().at(0).expect("the number");
        assert_eq!(value.as_number().map(jird::Number::text), Some(&*number));
        assert_eq!(value.as_f64(), double, "{} digits", number.len());
        assert_eq!((value.as_i64(), value.as_u64()), (None, None));
        let other = document.root().at(1).and_then(Value::as_number).expect("a number");
        let order = value.as_number().map(|number| number.compare(other));
        assert_eq!(
            order,
            Some(if number.starts_with('-') || double.is_some_and(|double| double < 1.0) {
                std::cmp::Ordering::Less
            } else {
                std::cmp::Ordering::Greater
            })
        );
        assert!(jird::parse(format!("[{number}.]").as_bytes()).is_err());
    }
}

#[test]
fn megabytes_of_one_byte_are_refused_at_the_right_place() {
    common::force_kernel();
    let check = |byte: &str, bytes: usize, wanted: (&str, usize)| {
        let text = byte.repeat(bytes / byte.len());
        let found = jird::validate(text.as_bytes()).expect_err("it is no document");
        assert_eq!((found.code(), found.offset()), (wanted.0, wanted.1 as u64), "{byte:?}");
        assert_eq!(jird::parse(text.as_bytes()).map(drop), Err(found.clone()), "{byte:?}");
        assert!(!found.locate(text.as_bytes()).to_string().is_empty());
        let trusted = checks::assert_consistent(
            text.as_bytes(),
            Record::scan_trusted(text.as_bytes(), &mut RecordBuffer::new()).root(),
        );
        assert!(trusted > 0);
    };
    check("[", 8 * MB, ("depth", 1024));
    check("{", 8 * MB, ("key", 1));
    check("]", 8 * MB, ("value", 0));
    check("\"", 8 * MB, ("trailing", 2));
    check("\\", 8 * MB, ("value", 0));
    check(",", 8 * MB, ("value", 0));
    check("\0", 8 * MB, ("value", 0));
    check("-", 8 * MB, ("number", 1));
    check("1 ", 8 * MB, ("trailing", 2));
    check(" ", 8 * MB, ("empty", 8 * MB));
    check("\n", 8 * MB, ("empty", 8 * MB));
    check("1,", 8 * MB, ("trailing", 1));
    check("{\"a\":", 5 * MB, ("depth", 5 * 1024));
    check("\"\\", 8 * MB, ("string", 8 * MB));
}

#[test]
fn huge_runs_of_white_space_are_passed_over() {
    common::force_kernel();
    let space = " \t\r\n".repeat(8 * MB);
    let text = format!("{space}[{space}1{space},{space}]{space}");
    let error = jird::validate(text.as_bytes()).expect_err("a comma too much");
    assert_eq!((error.code(), error.offset()), ("value", text.len() as u64 - space.len() as u64 - 1));
    let text = format!("{space}{{{space}\"a\"{space}:{space}1{space}}}{space}");
    let document = jird::parse(text.as_bytes()).expect("mostly white space");
    assert_eq!(document.root().get("a").and_then(Value::as_u64), Some(1));
}

#[test]
fn a_character_cut_short_at_the_end_could_go_on_in_a_string_and_nowhere_else() {
    common::force_kernel();
    for char in ["é", "€", "😀"] {
        for cut in 1..char.len() {
            for leading in 0..140 {
                for (before, code, offset) in
                    [("\"", "string", 1 + cut), ("", "value", 0), ("[1,", "value", 3), ("[tru", "literal", 4)]
                {
                    let text = [&b" ".repeat(leading)[..], before.as_bytes(), &char.as_bytes()[..cut]].concat();
                    let found = jird::validate(&text).expect_err("cut short");
                    assert_eq!(
                        (found.code(), found.offset(), found.is_eof()),
                        (code, (leading + offset) as u64, code == "string"),
                        "{}",
                        checks::shown(&text)
                    );
                    checks::record(&text);
                }
            }
        }
    }
}

/// How long `work` takes, at its best of some runs.
fn best(mut work: impl FnMut()) -> Duration {
    let once = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    (0..5).map(|_| once(&mut work)).min().expect("five runs")
}

/// Eight times the text takes eight times as long. What is quadratic takes 64 times as long, and then seconds; below
/// half a second nothing is concluded, since other work shares the machine.
fn assert_linear(name: &str, make: impl Fn(usize) -> Vec<u8>, read: impl Fn(&[u8])) {
    let [small, large] = [1, 8].map(|factor| {
        let text = make(factor * 200_000);
        best(|| read(&text))
    });
    let linear = large < small * 32 || large < Duration::from_millis(500);
    assert!(linear, "{name}: {small:?}, and {large:?} for 8 times as much");
}

/// Makes a text of about this many bytes.
type Make = Box<dyn Fn(usize) -> Vec<u8>>;

#[test]
fn what_is_wrong_takes_no_more_than_linear_time() {
    common::force_kernel();
    let repeat = |text: &'static str| move |bytes: usize| text.repeat(bytes / text.len()).into_bytes();
    let all: [(&str, Make); 10] = [
        ("open brackets", Box::new(repeat("["))),
        ("open objects", Box::new(repeat("{\"a\":"))),
        ("quotes", Box::new(repeat("\""))),
        ("backslashes", Box::new(repeat("\\"))),
        ("escaped quotes", Box::new(repeat("\"\\\""))),
        ("bad escapes", Box::new(repeat("\"\\u12\","))),
        ("leading surrogates", Box::new(repeat("\\ud800"))),
        ("bad lines", Box::new(repeat("{\"a\":}\n"))),
        ("bad bytes", Box::new(|bytes| vec![0xFF; bytes])),
        ("good and bad lines", Box::new(repeat("{\"a\":1}\n{\"a\":\"\\q\"}\n"))),
    ];
    let deep = Policy { depth_max: usize::MAX, ..Policy::default() };
    for (name, make) in &all {
        for quoted in [false, true] {
            let make = |bytes| if quoted { [b"[\"", &make(bytes)[..]].concat() } else { make(bytes) };
            assert_linear(name, make, |text| assert!(Parser::with_policy(deep).parse(text).is_err()));
            assert_linear(name, make, |text| {
                assert!(Record::scan_trusted(text, &mut RecordBuffer::new()).root().raw().len() <= text.len());
            });
            let projection = Projection::new(&[Path::root().key("a"), Path::root().key("b").index(0)]);
            assert_linear(name, make, |text| {
                Scanner::new(Options { policy: deep, ..Options::default() }).scan_all(
                    text,
                    &projection,
                    None,
                    |_| ControlFlow::Continue(()),
                    |_| ControlFlow::Continue(()),
                );
            });
        }
    }
}

#[test]
fn a_search_takes_no_more_than_linear_time() {
    common::force_kernel();
    let long = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab";
    let all: [(&str, Make); 8] = [
        ("one line that nearly has it", Box::new(|bytes| vec![b'a'; bytes])),
        ("one line that has it everywhere", Box::new(move |bytes| long.repeat(bytes / 32).into_bytes())),
        ("escapes that nearly spell it", Box::new(|bytes| "\\u0061".repeat(bytes / 6).into_bytes())),
        (
            "escapes behind what it begins with",
            Box::new(|bytes| "aaaaaaaaaaaaaaaaaaaaaaaaaaa\\u0061".repeat(bytes / 33).into_bytes()),
        ),
        ("lines that all have it", Box::new(move |bytes| format!("\"{long}\"\n").repeat(bytes / 35).into_bytes())),
        ("bad lines that all have it", Box::new(move |bytes| format!("{long}\n").repeat(bytes / 33).into_bytes())),
        ("blank lines", Box::new(|bytes| vec![b'\n'; bytes])),
        (
            "lines of white space",
            Box::new(|bytes| [&vec![b' '; bytes / 2][..], b"\n", &vec![b'\r'; bytes / 2]].concat()),
        ),
    ];
    let projection = Projection::new(&[Path::root().key("value")]);
    let filter = Predicate::Like { slot: 0, pattern: Like::new(&format!("%{long}%")) };
    for (name, make) in &all {
        for (check, search) in
            [(Check::All, When::Always), (Check::Touched, When::Always), (Check::Touched, When::Never)]
        {
            assert_linear(name, make, |text| {
                Scanner::new(Options { check, search, ..Options::default() }).scan_all(
                    text,
                    &projection,
                    Some(&filter),
                    |_| ControlFlow::Continue(()),
                    |_| ControlFlow::Continue(()),
                );
            });
        }
    }
}

#[test]
fn an_error_at_the_end_costs_hardly_more_than_none() {
    common::force_kernel();
    let good = format!("[{}1]", r#"{"id":12345,"name":"some name","tags":["a","b"],"ok":true},"#.repeat(50_000));
    let broken = [&good[..good.len() - 1], "}"].concat();
    let mut parser = Parser::new();
    // The barometer measures this well; here it is only to be seen that nothing is done twice. Other work shares the machine,
    // so that one good measurement of some is enough.
    let cheap = (0..5).any(|_| {
        let mut time = |text: &str, right| best(|| assert_eq!(parser.parse(text.as_bytes()).is_ok(), right));
        let (whole, failed) = (time(&good, true), time(&broken, false));
        failed < whole * 4 / 3
    });
    assert!(cheap, "a failed parse costs more than a good one");
}

/// The first bytes of these characters are those of square brackets with the highest bit set.
#[test]
fn a_character_that_looks_like_a_marked_bracket_is_none() {
    common::force_kernel();
    for text in
        ["\u{6f5} 1]", "\u{6f5}", "[1\u{752}", "[1 \u{752}", "[\u{6f5} 1]]", "{\"a\" \u{6f5} 1]}", "\u{6f5}\u{752}"]
    {
        assert!(jird::parse(text.as_bytes()).is_err(), "{text}");
        assert!(jird::format(text.as_bytes(), jird::Layout::Indent(2)).is_err(), "{text}");
        assert!(jird::minify(text.as_bytes()).is_err(), "{text}");
        let mut scanner = jird::lines::Scanner::new(jird::lines::Options::default());
        let scanned = scanner
            .scan(text.as_bytes(), &jird::record::Projection::new(&[]), None, |_| std::ops::ControlFlow::Continue(()));
        assert!(scanned.is_err(), "{text}");
    }
}
