//! Many lines at a time against one line at a time: what a scanner finds, where it stops, what it goes on after, and that it
//! does not matter how an input was cut or how many threads read it.

mod common;

use checks::random::{self, Random};
use checks::reference;
use common::{corpus, files};
use jird::lines::{self, Check, Options, Scanned, Scanner, Search, in_order, read_range, read_stream};
use jird::{
    Comparison, DEPTH_MAX, Duplicates, ErrorKind, Kernel, Like, Literal, Matcher, Numbers, Path, Policy, Predicate,
    Projection,
};
use std::io::{self, Read};
use std::ops::ControlFlow;

/// What reading can end with.
#[derive(Debug)]
enum Failure {
    Data(jird::Error),
    Io,
    Asked,
}

impl From<jird::Error> for Failure {
    fn from(error: jird::Error) -> Self {
        Self::Data(error)
    }
}

impl From<io::Error> for Failure {
    fn from(_: io::Error) -> Self {
        Self::Io
    }
}

#[test]
fn lines_of_the_corpus_are_read_as_the_reference_reads_them() {
    let Some(root) = corpus() else { return };
    for document in files(&root, "ndjson", "") {
        // The first half MB: every kind of line of each file is in it.
        let end = document
            .text
            .iter()
            .skip(500_000)
            .position(|&byte| byte == b'\n')
            .map_or(document.text.len(), |at| at + 500_000);
        checks::lines(&document.text[..end]);
    }
}

#[test]
fn generated_lines_are_read_as_the_reference_reads_them() {
    common::force_kernel();
    for seed in 0..1500 {
        let mut random = Random::new(seed);
        let count = random.below(30);
        checks::lines(&random::lines(&mut random, count, 0));
        checks::lines(&random::lines(&mut random, count, 20));
    }
}

#[test]
fn generated_predicates_keep_what_the_naive_evaluator_keeps() {
    common::force_kernel();
    for seed in 0..6000_u64 {
        let mut random = Random::new(seed);
        let mut data = seed.to_le_bytes().to_vec();
        data.extend(random::lines(&mut random, 12, if seed % 4 == 0 { 20 } else { 0 }));
        checks::predicates(&data);
    }
}

/// Lines whose values are made of pieces of what is searched for, spelled in every way.
fn spelled_lines(random: &mut Random, texts: &[&str]) -> Vec<u8> {
    let mut lines = String::new();
    for _ in 0..random.below(40) {
        lines.push_str(random.pick(&["{", "{", "{\"z\":12.50,", " {"]));
        for key in ["k/", "Ä", "q"] {
            let mut content = String::new();
            for _ in 0..random.below(4) {
                let text = random.pick(texts);
                let cut = text.floor_char_boundary(random.below(2 * text.len() + 1));
                content.push_str(random.pick(&["", "", "x", "\\", "\"", "\n", "é", "/", "u002f", "\u{1F600}"]));
                content.push_str(&text[..cut.min(text.len())]);
            }
            if random.below(3) > 0 {
                random::spelled(random, key, &mut lines);
                lines.push(':');
                random::spelled(random, &content, &mut lines);
                lines.push(',');
            }
        }
        lines.push_str(random.pick(&[
            "\"\":0}\n",
            "\"\":[]}\n",
            "\"\":null}\r\n",
            "\"\":\"\"} \n\n",
            "\"\":1}\n \t\r\n",
            "\"\":1\n",
        ]));
    }
    if random.below(2) == 0 {
        lines.truncate(lines.trim_end().len());
    }
    lines.into_bytes()
}

#[test]
fn no_match_is_lost_to_an_escape() {
    common::force_kernel();
    let texts = [
        "/api/customers",
        "/",
        "a",
        "é\u{1F600}日",
        "say \"yes\"\\ or",
        "uu002f",
        "",
        "0123456789012345678901234567890123456789",
    ];
    let paths = ["k/", "Ä", "q"].map(|key| Path::root().key(key));
    let projection = Projection::new(&paths);
    let kinds: [fn(&str) -> Predicate; 5] = [
        |text| Predicate::Compare { slot: 0, op: Comparison::Eq, literal: Literal::Text(text.into()) },
        |text| Predicate::Like { slot: 1, pattern: Like::new(&format!("%{}%", text.replace('\\', "\\\\"))) },
        |text| Predicate::Like { slot: 0, pattern: Like::new(&format!("x{}_%", text.replace('\\', "\\\\"))) },
        |text| {
            let wanted = text.to_owned();
            let matcher = Matcher::new(move |text| text.contains(&wanted));
            Predicate::Matches { slot: 2, matcher: matcher.requiring([text]) }
        },
        |text| {
            Predicate::Not(Box::new(Predicate::Compare {
                slot: 2,
                op: Comparison::Ne,
                literal: Literal::Text(text.into()),
            }))
        },
    ];
    let mut matched = 0;
    for seed in 0..1200 {
        let mut random = Random::new(seed);
        let text = spelled_lines(&mut random, &texts);
        let one = |random: &mut Random| random.pick(&kinds)(random.pick(&texts));
        let predicate = match random.below(4) {
            0 => Predicate::Or(vec![one(&mut random), one(&mut random), one(&mut random)]),
            1 => Predicate::And(vec![one(&mut random), Predicate::Not(Box::new(Predicate::IsNull { slot: 1 }))]),
            _ => one(&mut random),
        };
        matched += assert_searches_agree(&text, &projection, &predicate);
    }
    assert!(matched > 500, "{matched} matches are hardly a test");
}

/// What is kept is what is kept where all lines are read, for every kernel. Returns how many rows that are.
fn assert_searches_agree(text: &[u8], projection: &Projection, predicate: &Predicate) -> u64 {
    let keep = |options: Options| {
        let (mut rows, mut bad) = (Vec::new(), Vec::new());
        let scanned = Scanner::new(options).scan_all(
            text,
            projection,
            Some(predicate),
            |row| {
                rows.push((row.offset(), row.fields().to_vec()));
                ControlFlow::Continue(())
            },
            |line| {
                bad.push(line.offset);
                ControlFlow::Continue(())
            },
        );
        (rows, bad, scanned.records, scanned.mismatches, scanned.matched)
    };
    let all = keep(Options::default());
    for kernel in Kernel::available() {
        for search in [Search::Always, Search::Never] {
            let found = keep(Options { kernel, search, ..Options::default() });
            assert_eq!(found, all, "{} {search:?} {predicate:?}: {}", kernel.name(), String::from_utf8_lossy(text));
        }
        for (check, search) in
            [(Check::Touched, Search::Always), (Check::Touched, Search::Never), (Check::Trusted, Search::Always)]
        {
            let found = keep(Options { kernel, check, search, ..Options::default() });
            let name =
                format!("{} {check:?} {search:?} {predicate:?}: {}", kernel.name(), String::from_utf8_lossy(text));
            if check == Check::Trusted && !all.1.is_empty() {
                continue;
            }
            assert_eq!(found.0, all.0, "{name}");
            assert_eq!(found.2 + found.1.len() as u64, all.2 + all.1.len() as u64, "{name}");
            let other = keep(Options { kernel, check, search: Search::Measured, ..Options::default() });
            assert_eq!(found, other, "{name}");
        }
    }
    all.4
}

#[test]
fn a_needle_is_found_wherever_blocks_and_lines_end() {
    common::force_kernel();
    let projection = Projection::new(&[Path::root().key("a")]);
    let predicate = Predicate::Like { slot: 0, pattern: Like::new("%Zq/%") };
    for spelling in ["Zq/", "Zq\\/", "\\u005aq/", "Z\\u0071\\u002F"] {
        for before in 0..200 {
            for after in [0, 1, 40, 64, 130] {
                let miss = format!("{{\"a\":\"{}Z q/\"}}\r\n", "-".repeat(before));
                let hit = format!("{{\"a\":\"{}{spelling}{}\"}}", "-".repeat(before / 3), "+".repeat(after));
                let text = format!("{miss}\n{hit}\n{miss}{hit}");
                assert_eq!(assert_searches_agree(text.as_bytes(), &projection, &predicate), 2);
            }
        }
    }
}

#[test]
fn what_cannot_match_is_not_read_unless_all_is_checked() {
    let text = b"{\"a\":\"no\"}\n{\"a\":\n\n{\"a\":\"yes\"}\nnonsense yes\n\xff\n{\"a\":1}";
    let yes = Predicate::Compare { slot: 0, op: Comparison::Eq, literal: Literal::Text("yes".into()) };
    for (check, search, bad, mismatches, touched) in [
        (Check::All, Search::Always, 3, 0, 3),
        (Check::All, Search::Never, 3, 0, 3),
        (Check::Touched, Search::Measured, 0, 0, 1),
        (Check::Touched, Search::Never, 0, 0, 3),
    ] {
        let options = Options { check, search, ..Options::default() };
        let scanned = Scanner::new(options).scan_all(
            text,
            &a(),
            Some(&yes),
            |_| ControlFlow::Continue(()),
            |_| ControlFlow::Continue(()),
        );
        assert_eq!((scanned.records + scanned.bad, scanned.matched), (6, 1), "{check:?} {search:?}");
        assert_eq!(
            (scanned.bad, scanned.mismatches.kinds, scanned.touched),
            (bad, mismatches, touched),
            "{check:?} {search:?}"
        );
    }
}

#[test]
fn a_bad_record_is_no_record_whether_it_is_searched_for_or_not() {
    let text = b"{\"a\":01}\n{\"a\":\"zz\",\"a\":02}\n{\"a\":03,\"b\":\"zz\"}\n";
    let wanted = Predicate::Compare { slot: 0, op: Comparison::Eq, literal: Literal::Text("zz".into()) };
    let seen = [Search::Always, Search::Never].map(|search| {
        let options = Options { check: Check::Trusted, search, ..Options::default() };
        let mut scanner = Scanner::new(options);
        let (projection, filter) = (a(), Some(&wanted));
        let scanned =
            scanner.scan_all(text, &projection, filter, |_| ControlFlow::Continue(()), |_| ControlFlow::Continue(()));
        (scanned.records, scanned.bad, scanned.matched)
    });
    assert_eq!(seen, [(2, 1, 1); 2]);
}

#[test]
fn what_is_trusted_ends_with_its_line_whatever_is_open() {
    for text in [&b"{\"x\":[1\n,\"a\":2}\n"[..], b"{\"x\":[1\n}\n", b"{\"x\":{\"y\":[\n]},\"a\":3}\n"] {
        let options = Options { check: Check::Trusted, ..Options::default() };
        let mut rows = 0;
        let visit = |row: jird::lines::Row<'_, '_>| {
            rows += 1;
            assert!(!row.text().contains(&b'\n') && row.field(0).raw().is_empty(), "{row:?}");
            ControlFlow::Continue(())
        };
        Scanner::new(options).scan_all(text, &a(), None, visit, |bad| panic!("{bad:?}"));
        assert_eq!(rows, 2, "{}", String::from_utf8_lossy(text));
    }
}

#[test]
fn a_search_is_switched_off_where_it_finds_all_and_on_again_where_it_does_not() {
    let common = "{\"a\":\"GET /index\"}\n".repeat(400_000);
    let rare = "{\"a\":\"POST\"}\n".repeat(1_200_000);
    let text = [common, rare].concat();
    let get = Predicate::Like { slot: 0, pattern: Like::new("GET%") };
    let options = Options { check: Check::Touched, ..Options::default() };
    let scanned = Scanner::new(options).scan(text.as_bytes(), &a(), Some(&get), |_| ControlFlow::Continue(())).unwrap();
    assert_eq!((scanned.records, scanned.matched), (1_600_000, 400_000));
    assert!(scanned.searched_bytes > 8 << 20 && scanned.searched_bytes < 16 << 20, "{scanned:?}");
    assert!(scanned.touched > 400_000 && scanned.touched < 1_000_000, "{scanned:?}");
}

#[test]
fn what_is_checked_whole_is_looked_at_where_it_has_a_literal() {
    let text = ["{\"a\":\"GET /\"}\n".to_owned(), "{\"a\":[\"PUT\"]}\n".repeat(99)].concat().repeat(200);
    let get = Predicate::Like { slot: 0, pattern: Like::new("GET%") };
    let scan = |text: &str, search| {
        let mut scanner = Scanner::new(Options { search, ..Options::default() });
        scanner.scan_all(
            text.as_bytes(),
            &a(),
            Some(&get),
            |row| {
                assert_eq!(row.field(0).raw(), "\"GET /\"");
                ControlFlow::Continue(())
            },
            |_| ControlFlow::Continue(()),
        )
    };
    let scanned = scan(&text, Search::Measured);
    assert_eq!((scanned.searched_bytes, scanned.unsearched_bytes), (text.len() as u64, 0));
    assert_eq!((scanned.records, scanned.touched, scanned.matched, scanned.bad), (20_000, 20_000, 200, 0));
    let unsearched = Scanned { searched_bytes: 0, unsearched_bytes: text.len() as u64, ..scanned };
    assert_eq!(scan(&text, Search::Never), unsearched);
    // A bad line is told of, wherever it stands.
    for at in [0, text.len() / 2, text.len()] {
        let at = text[..at].rfind('\n').map_or(0, |feed| feed + 1);
        let scanned = scan(&[&text[..at], "{\"a\":[}\n", &text[at..]].concat(), Search::Measured);
        assert_eq!((scanned.records, scanned.matched, scanned.bad), (20_000, 200, 1));
    }
}

#[test]
fn a_search_stays_on_where_few_lines_of_small_texts_have_a_literal() {
    let get = Predicate::Like { slot: 0, pattern: Like::new("GET%") };
    let mut scanner = Scanner::new(Options { check: Check::Touched, ..Options::default() });
    for line in 0..40_000 {
        let text = if line % 5 == 0 { "{\"a\":\"GET /\"}\n" } else { "{\"a\":\"PUT /index\"}\n" };
        let scanned = scanner.scan(text.as_bytes(), &a(), Some(&get), |_| ControlFlow::Continue(())).unwrap();
        assert_eq!((scanned.unsearched_bytes, scanned.touched), (0, u64::from(line % 5 == 0)), "line {line}");
    }
}

#[test]
fn a_search_is_switched_off_where_escapes_make_it_slow() {
    let get = Predicate::Like { slot: 0, pattern: Like::new("%/api%") };
    for (spelled, is_slow) in
        [("\\u0434\\u0430", true), ("\\/\\/a\\/", true), ("/a/pi, and so on: a caf\\u00e9 of theirs; ", false)]
    {
        let text = format!("{{\"a\":\"{}\"}}\n", spelled.repeat(40)).repeat(10_000);
        let options = Options { check: Check::Touched, ..Options::default() };
        let scanned =
            Scanner::new(options).scan(text.as_bytes(), &a(), Some(&get), |_| ControlFlow::Continue(())).unwrap();
        assert_eq!((scanned.records, scanned.matched), (10_000, 0));
        assert_eq!(scanned.unsearched_bytes > text.len() as u64 / 2, is_slow, "{spelled}: {scanned:?}");
        assert_eq!(scanned.searched_bytes + scanned.unsearched_bytes, text.len() as u64);
    }
}

fn a() -> Projection {
    Projection::new(&[Path::root().key("a")])
}

/// The raw text of `a` of each record, the errors, and whether both came in order.
fn all(text: &[u8], options: Options) -> (Vec<String>, Vec<(&'static str, u64)>) {
    common::force_kernel();
    let (mut found, mut bad) = (Vec::new(), Vec::new());
    let last = std::cell::Cell::new(0);
    let scanned = Scanner::new(options).scan_all(
        text,
        &a(),
        None,
        |row| {
            assert!(row.offset() >= last.replace(row.offset()), "out of order");
            found.push(row.field(0).raw().to_owned());
            ControlFlow::Continue(())
        },
        |line| {
            assert!(line.offset >= last.replace(line.offset), "out of order");
            assert_eq!(&text[line.offset..line.offset + line.text.len()], line.text);
            assert!(!line.text.contains(&b'\n'));
            let within = line.error.offset() - line.offset as u64;
            assert!(within <= line.text.len() as u64, "the error is outside of its line");
            assert_eq!((line.locate().line(), line.locate().column()), (1, within + 1));
            bad.push((line.error.code(), line.error.offset()));
            ControlFlow::Continue(())
        },
    );
    assert_eq!((scanned.records, scanned.bad, scanned.stopped), (found.len() as u64, bad.len() as u64, false));
    (found, bad)
}

fn sizes() -> impl Iterator<Item = Options> {
    [64, 65, 300, 64 << 10].map(|piece_bytes| Options { piece_bytes, ..Options::default() }).into_iter()
}

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
                let (kind, offset) = reference::read(bad.as_bytes(), DEPTH_MAX).expect_err("it is bad");
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
        assert_eq!(all(&text, options), (vec!["1".into(), "2".into()], vec![("utf8", 14), ("utf8", 24)]));
    }
}

#[test]
fn broken_lines_are_exactly_those_that_the_reference_refuses() {
    for seed in 0..300 {
        let text = random::lines(&mut Random::new(seed), 40, 4);
        let mut wanted = (Vec::new(), Vec::new());
        let mut from = 0;
        for line in text.split(|&byte| byte == b'\n') {
            match reference::read(line, DEPTH_MAX) {
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

#[test]
fn the_first_of_repeated_keys_counts_at_every_level() {
    let paths = [Path::root().key("a"), Path::root().key("a").key("b"), Path::root().key("c").index(1).key("b")];
    let text = r#"{"a":1,"a":{"b":2},"c":[0,{"b":3,"\u0062":4}],"\u0063":[5,{"b":6}]}"#;
    for options in sizes() {
        for check in [Check::All, Check::Touched, Check::Trusted] {
            let mut found = Vec::new();
            let result = Scanner::new(Options { check, ..options }).scan(
                text.as_bytes(),
                &Projection::new(&paths),
                None,
                |row| {
                    found = row.fields().iter().map(|field| field.raw().to_owned()).collect();
                    ControlFlow::Continue(())
                },
            );
            assert!(result.is_ok());
            assert_eq!(found, ["1", "", "3"]);
        }
    }
}

#[test]
fn the_first_of_repeated_keys_counts_without_arrays_too() {
    let paths =
        [Path::root().key("a"), Path::root().key("a").key("b"), Path::root().key("c").key("b"), Path::root().key("d")];
    let text = r#"{"a":1,"a":{"b":2},"x":[{"d":0}],"c":{"b":3,"\u0062":4,"z":{}},"\u0063":{"b":6},"y":{"d":[0]},"d":{"e":{}}}"#;
    for options in sizes() {
        for check in [Check::All, Check::Touched, Check::Trusted] {
            let mut found = Vec::new();
            let scanned = Scanner::new(Options { check, ..options }).scan(
                text.as_bytes(),
                &Projection::new(&paths),
                None,
                |row| {
                    found = row.fields().iter().map(|field| field.raw().to_owned()).collect();
                    ControlFlow::Continue(())
                },
            );
            assert!(scanned.is_ok());
            assert_eq!(found, ["1", "", "3", "{\"e\":{}}"], "{check:?}");
        }
    }
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
    for round in 0..4000 {
        let mut text = random::lines(&mut random, 8, 1);
        for _ in 0..round % 7 {
            random::mutate(&mut random, &mut text);
        }
        // What is handed out is looked at there.
        checks::lines(&text);
        checks::record(&text);
    }
}

/// A text of many lines, some of them long, with the offset of each.
fn text_of_lines(bytes: usize) -> (Vec<u8>, Vec<u64>) {
    let mut random = Random::new(4);
    let (mut text, mut offsets) = (Vec::new(), Vec::new());
    while text.len() < bytes {
        offsets.push(text.len() as u64);
        let fill = if random.below(50) == 0 { random.below(20_000) } else { random.below(200) };
        text.extend(format!("{{\"a\":{},\"b\":\"{}\"}}\n", offsets.len(), "x".repeat(fill)).bytes());
    }
    text.pop();
    (text, offsets)
}

/// The offset and `a` of each record in what a reader hands out.
fn collect(at: u64, piece: &[u8], found: &mut Vec<(u64, u64)>) -> Result<ControlFlow<()>, Failure> {
    Scanner::new(Options::default()).scan(piece, &a(), None, |row| {
        let number = row.field(0).as_number().and_then(jird::Number::as_u64).expect("a number");
        found.push((at + row.offset() as u64, number));
        ControlFlow::Continue(())
    })?;
    Ok(ControlFlow::Continue(()))
}

#[test]
fn however_an_input_is_cut_the_same_records_come_in_the_same_order() {
    common::force_kernel();
    let (text, offsets) = text_of_lines(3 << 20);
    let wanted: Vec<(u64, u64)> = offsets.iter().copied().zip(1..).collect();
    let source = &text[..];
    let mut random = Random::new(5);
    for parts in [1, 2, 3, 10, 100] {
        let mut cuts: Vec<u64> = (1..parts).map(|_| random.below(text.len()) as u64).collect();
        // One cut at a line's start and one right behind a line feed's.
        cuts.extend([offsets[offsets.len() / 2], offsets[offsets.len() / 3] - 1, 0, text.len() as u64]);
        cuts.sort_unstable();
        let ranges: Vec<_> = cuts.windows(2).map(|cut| cut[0]..cut[1]).collect();
        for threads in [1, 2, 5] {
            let mut found = Vec::new();
            in_order(
                0..ranges.len(),
                threads,
                Vec::new,
                |buffer, job| {
                    let mut part = Vec::new();
                    let flow =
                        read_range(&source, ranges[job].clone(), buffer, lines::RECORD_BYTES_MAX, |at, piece| {
                            collect(at, piece, &mut part)
                        });
                    assert!(matches!(flow, Ok(ControlFlow::Continue(()))));
                    part
                },
                |part| {
                    found.extend(part);
                    ControlFlow::Continue(())
                },
            );
            assert_eq!(found, wanted, "{parts} parts, {threads} threads");
        }
    }
}

/// Gives as much as it likes, and is interrupted now and then.
struct Trickle<'a>(&'a [u8], Random);

impl Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.1.below(10) == 0 {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let most = if self.1.below(3) == 0 { 50 } else { 100_000 };
        let len = (1 + self.1.below(most)).min(buffer.len()).min(self.0.len());
        let (now, later) = self.0.split_at(len);
        buffer[..len].copy_from_slice(now);
        self.0 = later;
        Ok(len)
    }
}

#[test]
fn a_stream_gives_the_same_records_however_it_trickles() {
    common::force_kernel();
    let (text, offsets) = text_of_lines(3 << 20);
    for seed in 0..5 {
        let mut found = Vec::new();
        let stream = Trickle(&text, Random::new(seed));
        let flow =
            read_stream(stream, &mut Vec::new(), lines::RECORD_BYTES_MAX, |at, piece| collect(at, piece, &mut found));
        assert!(matches!(flow, Ok(ControlFlow::Continue(()))));
        assert!(found.iter().copied().eq(offsets.iter().copied().zip(1..)));
    }
}

#[test]
fn readers_stop_when_asked_and_pass_on_what_fails() {
    let (text, _) = text_of_lines(1 << 20);
    let source = &text[..];
    let mut calls = 0;
    let flow = read_range::<Failure>(&source, 0..text.len() as u64, &mut Vec::new(), 1 << 20, |_, _| {
        calls += 1;
        Ok(ControlFlow::Break(()))
    });
    assert!(matches!(flow, Ok(ControlFlow::Break(()))) && calls == 1);
    let flow = read_stream::<Failure>(&text[..], &mut Vec::new(), 1 << 20, |_, _| Ok(ControlFlow::Break(())));
    assert!(matches!(flow, Ok(ControlFlow::Break(()))));
    let flow = read_stream::<Failure>(&text[..], &mut Vec::new(), 1 << 20, |_, _| Err(Failure::Asked));
    assert!(matches!(flow, Err(Failure::Asked)));
    let flow = read_range::<Failure>(&Broken, 0..10, &mut Vec::new(), 1 << 20, |_, _| Ok(ControlFlow::Continue(())));
    assert!(matches!(flow, Err(Failure::Io)));
}

/// What cannot be read.
struct Broken;

impl lines::ReadAt for Broken {
    fn read_at(&self, _: &mut [u8], _: u64) -> io::Result<usize> {
        Err(io::ErrorKind::PermissionDenied.into())
    }
}

#[test]
fn a_stream_without_line_feeds_is_refused_before_it_fills_the_memory() {
    let mut buffer = Vec::new();
    let flow = read_stream::<Failure>(io::repeat(b'x'), &mut buffer, 1 << 20, |_, _| panic!("there is no whole line"));
    let Err(Failure::Data(error)) = flow else { panic!("an error of the data") };
    assert_eq!((error.code(), error.offset()), ("size", 1 << 20));
    assert!(buffer.len() <= 2 << 20, "{} bytes of buffer", buffer.len());
}
