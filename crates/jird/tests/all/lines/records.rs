//! What a record is, which is bad, and what is found in it.

use super::{a, all, sizes};
use checks::random::{self, Random};
use checks::reference;
use jird::hooks::Kernel;
use jird::lines::{Check, Options, Scanner};
use jird::policy::{Duplicates, Numbers, Policy};
use jird::{
    ErrorKind, Path,
    record::{Comparison, Literal, Predicate, Projection},
};
use std::ops::ControlFlow;

#[test]
fn two_documents_on_a_line_are_an_error() {
    for options in sizes() {
        for text in
            ["{\"a\":1} {\"a\":2}\n", "{\"a\":1}{\"a\":2}", "{\"a\":1}\n1 2\n", "{\"a\":1}\n[]null", "{\"a\":1},\n"]
        {
            let (_, bad) = all(text.as_bytes(), options);
            assert_eq!(bad.len(), 1, "{text:?}");
            assert_eq!(bad[0].0, "trailing", "{text:?}");
        }
        assert_eq!(
            all(b"{\"a\":1}\n{\"a\":2} {\"a\":3}\n{\"a\":4}", options),
            (vec!["1".into(), "4".into()], vec![("trailing", 16)])
        );
    }
}

#[test]
fn blank_lines_and_carriage_returns_are_no_records_and_no_errors() {
    for options in sizes() {
        let text = b"\n\r\n{\"a\":1}\r\n \t \r\n\r\r\n{\"a\":2}\r\n\n\n{\"a\":3}";
        assert_eq!(all(text, options), (vec!["1".into(), "2".into(), "3".into()], vec![]));
        for blank in ["", "\n", "\r\n", " ", "\n\n\n"] {
            assert_eq!(all(blank.as_bytes(), options), (vec![], vec![]), "{blank:?}");
        }
    }
}

#[test]
fn a_record_may_not_go_on_after_its_line() {
    for options in sizes() {
        assert_eq!(all(b"{\"a\":\n1}\n{\"a\":2}", options).1, [("unclosed", 5), ("trailing", 7)]);
        assert_eq!(all(b"{\"a\":\"x\ny\"}\n{\"a\":2}", options).1[0], ("string", 7));
        assert_eq!(all(b"{\"a\":\"x\\\ny\"}\n{\"a\":2}", options).1[0], ("string", 8));
        assert_eq!(all(b"{\"a\":tru\ne}\n{\"a\":2}", options).1[0], ("literal", 8));
        assert_eq!(all(b"{\"a\":-\n1}\n{\"a\":2}", options).1[0], ("number", 6));
    }
}

#[test]
fn a_bad_record_is_told_of_in_its_turn_and_the_rest_is_read() {
    for options in sizes() {
        for bad in
            ["{\"a\":}", "{\"a\":\"", "\u{1}", "\"\\q\"", "[[[", "tru", "{\"a\":1}x", "\"\\", "\"\\u12", "\"x\\\""]
        {
            for before in [0, 1, 40] {
                let text =
                    [&"{\"a\":1}\n".repeat(before), bad, "\n{\"a\":2}\n", bad, "\n", bad, "\n{\"a\":3}"].concat();
                let (found, errors) = all(text.as_bytes(), options);
                let wanted = [vec!["1".to_owned(); before], vec!["2".into(), "3".into()]].concat();
                assert_eq!(found, wanted, "{text}");
                let (kind, offset) = reference::read(bad.as_bytes(), Policy::DEPTH_MAX).expect_err("it is bad");
                let first = before * 8;
                let second = first + bad.len() + 9;
                let wanted = [first, second, second + bad.len() + 1].map(|line| (kind.code(), (line + offset) as u64));
                assert_eq!(errors, wanted, "{text}");
            }
        }
        // At the end of the input, where no line feed shows that the string was not closed.
        for (last, offset) in [("\"x\\\"", 12), ("{\"a\":\"x\\\"", 17), ("\"", 9), ("\"\\", 10)] {
            let found = all(format!("{{\"a\":1}}\n{last}").as_bytes(), options);
            assert_eq!(found, (vec!["1".into()], vec![("string", offset)]), "{last}");
        }
        let text = [&b"{\"a\":1}\n{\"a\":\"\xFF\"}\n{\"a\":\"\xC3"[..], b"\n{\"a\":2}"].concat();
        assert_eq!(all(&text, options), (vec!["1".into(), "2".into()], vec![("utf8", 14), ("string", 25)]));
    }
}

#[test]
fn broken_lines_are_exactly_those_that_the_reference_refuses() {
    for seed in 0..300 {
        let text = random::lines(&mut Random::new(seed), 40, 4);
        let mut wanted = (Vec::new(), Vec::new());
        let mut from = 0;
        for line in text.split(|&byte| byte == b'\n') {
            match reference::read(line, Policy::DEPTH_MAX) {
                Ok(node) => wanted.0.push(
                    node.get("a")
                        .map_or(String::new(), |a| String::from_utf8_lossy(&line[a.start..a.end]).into_owned()),
                ),
                Err((ErrorKind::Empty, _)) => {}
                Err((kind, offset)) => wanted.1.push((kind.code(), (from + offset) as u64)),
            }
            from += line.len() + 1;
        }
        for kernel in Kernel::available() {
            for options in sizes() {
                assert_eq!(all(&text, Options { kernel, ..options }), wanted, "{}", checks::shown(&text));
            }
        }
    }
}

#[test]
fn many_lines_at_once_give_what_few_give_with_prefetch_and_without() {
    let mut text = Vec::new();
    for seed in 0..300 {
        text.extend(random::lines(&mut Random::new(seed), 40, 4));
        text.push(b'\n');
    }
    assert!(text.len() > 100_000, "{}", text.len());
    let wanted = all(&text, Options { piece_bytes: 300, ..Options::default() });
    for kernel in Kernel::available() {
        for prefetch in [false, true] {
            assert_eq!(all(&text, Options { kernel, prefetch, ..Options::default() }), wanted, "{kernel:?} {prefetch}");
        }
    }
}

#[test]
fn a_record_over_the_limit_is_an_error_of_its_own_and_costs_no_other_record() {
    let long = format!("{{\"a\":\"{}\"}}", "x".repeat(100));
    for options in sizes() {
        for limit in [20, 64, 107] {
            let text = format!("{{\"a\":1}}\n{{\"a\":2}}\n{long}\n{{\"a\":3}}\n{long}");
            let options = Options { record_bytes_max: limit, ..options };
            let wanted =
                [16 + limit as u64, 16 + 8 + long.len() as u64 + 1 + limit as u64].map(|offset| ("size", offset));
            let (found, bad) = all(text.as_bytes(), options);
            assert_eq!((found, &bad[..]), (vec!["1".into(), "2".into(), "3".into()], &wanted[..]), "{limit}");
            let mut visited = 0;
            let result = Scanner::new(options).scan(text.as_bytes(), &a(), None, |_| {
                visited += 1;
                ControlFlow::Continue(())
            });
            assert_eq!((result.map_err(|error| error.code()).err(), visited), (Some("size"), 2));
        }
        let exact = Options { record_bytes_max: long.len(), ..options };
        assert_eq!(all(format!("{long}\n{long}").as_bytes(), exact).1, []);
    }
}

#[test]
fn a_visitor_that_stops_is_called_no_more_and_sees_no_error_after() {
    for options in sizes() {
        for stop_after in 1..=3 {
            let mut visited = 0;
            let scanned = Scanner::new(options).scan(b"{}\n{}\n{}\nbad\n{}", &a(), None, |_| {
                visited += 1;
                if visited == stop_after { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            let scanned = scanned.expect("the bad line comes later");
            assert_eq!((visited, scanned.records, scanned.stopped), (stop_after, stop_after, true));
        }
    }
}

#[test]
fn the_policy_holds_in_every_line() {
    let check = |policy: Policy, text: &str, wanted: &[(&'static str, u64)]| {
        for options in sizes() {
            assert_eq!(all(text.as_bytes(), Options { policy, ..options }).1, wanted, "{text}");
        }
    };
    let default = Policy::default();
    check(
        Policy { numbers: Numbers::Finite, ..default },
        "1e309\n[1e308,\n[-1e309]",
        &[("range", 0), ("unclosed", 13), ("range", 15)],
    );
    check(
        Policy { numbers: Numbers::Machine, ..default },
        "18446744073709551615\n18446744073709551616",
        &[("range", 21)],
    );
    check(
        Policy { duplicates: Duplicates::Refuse, ..default },
        "{\"a\":1,\"b\":2}\n {\"a\":1,\"\\u0061\":2}\n{\"a\":1}",
        &[("duplicate", 22)],
    );
    check(
        Policy { depth_max: 2, ..default },
        "[[]]\n[[[]]]\n[[],[]]\n{\"a\":{\"a\":[]}}",
        &[("depth", 7), ("depth", 30)],
    );
}

/// A line has these values at these paths, however it is read.
#[track_caller]
fn assert_fields(text: &str, paths: &[Path], expected: &[&str]) {
    for options in sizes() {
        for check in [Check::All, Check::Touched, Check::Trusted] {
            let mut found = Vec::new();
            let scanned = Scanner::new(Options { check, ..options }).scan(
                text.as_bytes(),
                &Projection::new(paths),
                None,
                |row| {
                    found = row.fields().iter().map(|field| field.raw().to_owned()).collect();
                    ControlFlow::Continue(())
                },
            );
            assert!(scanned.is_ok());
            assert_eq!(found, expected, "{check:?}");
        }
    }
}

#[test]
fn the_first_of_repeated_keys_counts_at_every_level() {
    let paths = [Path::root().key("a"), Path::root().key("a").key("b"), Path::root().key("c").index(1).key("b")];
    let text = r#"{"a":1,"a":{"b":2},"c":[0,{"b":3,"\u0062":4}],"\u0063":[5,{"b":6}]}"#;
    assert_fields(text, &paths, &["1", "", "3"]);
}

#[test]
fn the_first_of_repeated_keys_counts_without_arrays_too() {
    let paths =
        [Path::root().key("a"), Path::root().key("a").key("b"), Path::root().key("c").key("b"), Path::root().key("d")];
    let text = r#"{"a":1,"a":{"b":2},"x":[{"d":0}],"c":{"b":3,"\u0062":4,"z":{}},"\u0063":{"b":6},"y":{"d":[0]},"d":{"e":{}}}"#;
    assert_fields(text, &paths, &["1", "", "3", "{\"e\":{}}"]);
}

#[test]
fn white_space_before_a_colon_is_seen_wherever_the_text_ends() {
    let paths = [Path::root().key("a"), Path::root().key("k")];
    let filter = Predicate::Compare { slot: 0, op: Comparison::Eq, literal: Literal::Number("1".into()) };
    for len in 0..130 {
        for start in ["{\"z\":\"", "{\"z\":"] {
            // Where a string is open it is filled up with what looks like white space.
            let text = format!("{{\"a\":1,\"k\" :2}}\n{start}{}", "x".repeat(len));
            for (kernel, check) in
                Kernel::available().flat_map(|kernel| [(kernel, Check::All), (kernel, Check::Trusted)])
            {
                let mut first = None;
                let options = Options { check, kernel, ..Options::default() };
                let _ = Scanner::new(options).scan(text.as_bytes(), &Projection::new(&paths), Some(&filter), |row| {
                    first.get_or_insert(row.field(1).raw().to_owned());
                    ControlFlow::Continue(())
                });
                assert_eq!(first.as_deref(), Some("2"), "{kernel:?} {check:?} {text}");
            }
        }
    }
}

#[test]
fn a_nul_in_trusted_text_ends_no_record() {
    for kernel in Kernel::available() {
        let options = Options { check: Check::Trusted, kernel, ..Options::default() };
        let projection = Projection::new(&[Path::root().key("b")]);
        let mut found = Vec::new();
        let scanned = Scanner::new(options).scan(b"{\"x\":[]\0,\"b\":1}\n{\"b\":2}", &projection, None, |row| {
            found.push(row.field(0).raw().to_owned());
            ControlFlow::Continue(())
        });
        assert!(scanned.is_ok() && found == ["1", "2"], "{kernel:?} {found:?}");
    }
}

/// A record in which the keys that are wanted come after `before` other members, some of them as long as those, of values of every
/// kind, with white space as `colon` has it.
fn record_after(before: usize, colon: &str) -> String {
    let values =
        ["1", "\"xy\"", "{\"kk\":{\"in\":[{\"kk\":0}]}}", "[{\"kk\":3},[]]", "null", "\"\\\"kk\\\":\"", "-2.5e3", "{}"];
    let keys = ["other", "mm", "Ä", "k\\u006c"];
    let member = |key: &str, value: &str| format!("\"{key}\"{colon}{value}");
    let others = (0..before).map(|index| member(keys[index % keys.len()], values[index % values.len()]));
    let object = ["{", &member("x", "[]"), ",", &member("in", "true"), ",\"in\":2}"].concat();
    let wanted = [member("oo", &object), member("k\\u006b", "\"found\"")];
    let repeated = ["\"kk\":0", "\"oo\":{\"in\":7}", "\"last\":{\"in\":\"z\"}"].map(str::to_owned);
    let members: Vec<String> = others.chain(wanted).chain(repeated).collect();
    format!("{{{}}}", members.join(","))
}

#[test]
fn what_is_wanted_is_found_wherever_it_stands() {
    let paths = [
        Path::root().key("kk"),
        Path::root().key("oo").key("in"),
        Path::root().key("last"),
        Path::root().key("nowhere"),
    ];
    let projection = Projection::new(&paths);
    // Alone each is the last that is looked for, and of two objects only one has the key.
    let some: Vec<_> = paths.iter().map(|path| Projection::new(std::slice::from_ref(path))).collect();
    for colon in [":", ": ", " :", "\t:\r"] {
        let records: Vec<String> = (0..150).map(|before| record_after(before, colon)).collect();
        let text = records.join("\n");
        let last = "{\"in\":\"z\"}";
        let wanted = ["\"found\"", "true", last, ""];
        for kernel in Kernel::available() {
            for check in [Check::All, Check::Trusted] {
                let options = Options { check, kernel, ..Options::default() };
                let mut rows = 0;
                let scanned = Scanner::new(options).scan(text.as_bytes(), &projection, None, |row| {
                    let found: Vec<_> = row.fields().iter().map(|field| field.raw()).collect();
                    assert_eq!(found, wanted, "{kernel:?} {check:?} {}", records[rows]);
                    rows += 1;
                    ControlFlow::Continue(())
                });
                assert!(scanned.is_ok() && rows == records.len(), "{kernel:?} {check:?} {scanned:?}");
                for (projection, wanted) in some.iter().zip(wanted) {
                    let scanned = Scanner::new(options).scan(text.as_bytes(), projection, None, |row| {
                        assert_eq!(row.field(0).raw(), wanted, "{kernel:?} {check:?}");
                        ControlFlow::Continue(())
                    });
                    assert!(scanned.is_ok());
                }
            }
        }
    }
}

#[test]
fn unchecked_lines_of_any_bytes_never_panic_and_give_only_text() {
    let mut random = Random::new(3);
    for round in 0..checks::rounds(4000) {
        let mut text = random::lines(&mut random, 8, 1);
        for _ in 0..round % 7 {
            random::mutate(&mut random, &mut text);
        }
        // What is handed out is looked at there.
        checks::lines(&text);
        checks::record(&text);
    }
}

#[test]
fn of_many_fields_each_is_found_as_if_it_were_asked_for_alone() {
    crate::common::force_kernel();
    let key = |index: usize| format!("{}{index}", "key".repeat(index % 4));
    let spelled = |index: usize| key(index).replace('1', if index.is_multiple_of(3) { "\\u0031" } else { "1" });
    let line = |from: usize, to: usize, space: &str| {
        let members = (from..to).rev().map(|index| format!("\"{}\"{space}:{index},", spelled(index)));
        // Of a key that comes again the first counts.
        format!("{{{}\"{}\":\"again\"}}\n", members.collect::<String>(), key(to - 1))
    };
    let text = [line(0, 100, ""), line(50, 150, " "), line(10, 20, ""), "{}\n[1]\n".to_owned()].concat();
    let asked: Vec<Path> = (0..120).map(|index| Path::root().key(key(index))).collect();
    for check in [Check::All, Check::Touched, Check::Trusted] {
        let found = |paths: &[Path]| {
            let mut rows: Vec<Vec<String>> = Vec::new();
            let options = Options { check, ..Options::default() };
            let scanned = Scanner::new(options).scan(text.as_bytes(), &Projection::new(paths), None, |row| {
                rows.push(row.fields().iter().map(|field| field.raw().to_owned()).collect());
                ControlFlow::Continue(())
            });
            scanned.expect("it is right");
            rows
        };
        let together = found(&asked);
        for (slot, path) in asked.iter().enumerate() {
            let alone = found(std::slice::from_ref(path));
            for (together, alone) in together.iter().zip(&alone) {
                assert_eq!(together[slot], alone[0], "{path}, {check:?}");
            }
        }
        let wanted: Vec<String> =
            (0..120).map(|slot| if slot < 100 { slot.to_string() } else { String::new() }).collect();
        assert_eq!(together[0], wanted);
    }
}
