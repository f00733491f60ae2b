//! Literals that are searched for: no match is lost, and nothing is read for nothing.

use crate::common;
use crate::lines::a;
use checks::random::{self, Random};
use jird::hooks::Kernel;
use jird::hooks::lines::When;
use jird::lines::{Check, Options, Scanned, Scanner};
use jird::{
    Path,
    record::{Comparison, Like, Literal, Matcher, Predicate, Projection},
};
use std::ops::ControlFlow;

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
        for search in [When::Always, When::Never] {
            let found = keep(Options { kernel, search, ..Options::default() });
            assert_eq!(found, all, "{} {search:?} {predicate:?}: {}", kernel.name(), String::from_utf8_lossy(text));
        }
        for (check, search) in
            [(Check::Touched, When::Always), (Check::Touched, When::Never), (Check::Trusted, When::Always)]
        {
            let found = keep(Options { kernel, check, search, ..Options::default() });
            let name =
                format!("{} {check:?} {search:?} {predicate:?}: {}", kernel.name(), String::from_utf8_lossy(text));
            if check == Check::Trusted && !all.1.is_empty() {
                continue;
            }
            assert_eq!(found.0, all.0, "{name}");
            assert_eq!(found.2 + found.1.len() as u64, all.2 + all.1.len() as u64, "{name}");
            let other = keep(Options { kernel, check, search: When::Measured, ..Options::default() });
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
        (Check::All, When::Always, 3, 0, 3),
        (Check::All, When::Never, 3, 0, 3),
        (Check::Touched, When::Measured, 0, 0, 1),
        (Check::Touched, When::Never, 0, 0, 3),
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
    let seen = [When::Always, When::Never].map(|search| {
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
        let visit = |row: jird::lines::Match<'_, '_>| {
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
    let scanned = scan(&text, When::Measured);
    assert_eq!((scanned.searched_bytes, scanned.unsearched_bytes), (text.len() as u64, 0));
    assert_eq!((scanned.records, scanned.touched, scanned.matched, scanned.bad), (20_000, 20_000, 200, 0));
    let unsearched = Scanned { searched_bytes: 0, unsearched_bytes: text.len() as u64, ..scanned };
    assert_eq!(scan(&text, When::Never), unsearched);
    // A bad line is reported, wherever it is.
    for at in [0, text.len() / 2, text.len()] {
        let at = text[..at].rfind('\n').map_or(0, |feed| feed + 1);
        let scanned = scan(&[&text[..at], "{\"a\":[}\n", &text[at..]].concat(), When::Measured);
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
