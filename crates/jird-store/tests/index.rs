//! What an index leaves out has no match, whatever the events and the predicate.

mod made;

use checks::random::Random;
use jird::Path;
use jird::lines::{Check, Options, Scanner};
use jird::record::{Comparison, Like, Literal, Matcher, Predicate, Projection};
use jird_store::index::{Answer, Condition, FieldKinds, Index, IndexBuilder, SpanIndex};
use made::{Made, blocks, index_of, predicate};
use std::fmt::Write;
use std::ops::ControlFlow;

/// How many records of a block the engine keeps.
fn matches(block: &[Vec<u8>], predicate: &Predicate, paths: &[Path]) -> u64 {
    let text: Vec<u8> = block.iter().flat_map(|event| [event, &b"\n"[..]].concat()).collect();
    let options = Options { check: Check::All, ..Options::default() };
    let scanned = Scanner::new(options)
        .scan(&text, &Projection::new(paths), Some(predicate), |_| ControlFlow::Continue(()))
        .expect("the events are JSON");
    scanned.matched
}

#[test]
fn a_block_that_is_left_out_has_no_match() {
    let seeds = std::env::var("JIRD_STORE_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(1500);
    let (mut left_out, mut by) = (0, [0; 4]);
    for seed in 0..seeds {
        let mut random = Random::new(seed);
        let Made { blocks, paths } = blocks(&mut random);
        let index = index_of(&blocks);
        for _ in 0..12 {
            let predicate = predicate(&mut random, paths.len(), 3);
            let condition = Condition::new(&predicate, &paths);
            let answers = index.answers(&condition).expect("the index is sound");
            assert_eq!(answers.len(), blocks.len());
            for (block, answer) in answers.into_iter().enumerate() {
                let Answer::No(which) = answer else { continue };
                left_out += 1;
                by[which as usize] += 1;
                let found = matches(&blocks[block], &predicate, &paths);
                assert_eq!(
                    found,
                    0,
                    "seed {seed}, by {which:?}: {predicate:?} over {paths:?} of {}",
                    String::from_utf8_lossy(&blocks[block].join(&b'\n'))
                );
            }
        }
    }
    assert!(left_out > seeds * 5 && by.iter().all(|count| *count > seeds / 50), "{left_out} blocks, {by:?}");
}

#[test]
fn the_kinds_of_a_path_are_all_that_events_have_there() {
    let mut known = 0;
    for seed in 0..500 {
        let mut random = Random::new(seed);
        let Made { blocks, paths } = blocks(&mut random);
        let index = index_of(&blocks);
        for path in &paths {
            let Some(kinds) = index.kinds(path).expect("the index is sound") else { continue };
            known += 1;
            for event in blocks.iter().flatten() {
                let found = made::kind_at(event, path);
                assert!(found.is_within(kinds), "{path}: {found:?}, not {kinds:?}");
            }
        }
    }
    assert!(known > 500, "{known}");
}

fn text(slot: usize, wanted: &str) -> Predicate {
    Predicate::Compare { slot, op: Comparison::Eq, literal: Literal::Text(wanted.into()) }
}

fn number(slot: usize, op: Comparison, wanted: &str) -> Predicate {
    Predicate::Compare { slot, op, literal: Literal::Number(wanted.into()) }
}

fn of_events(blocks: &[&[&str]]) -> SpanIndex {
    let blocks: Vec<Vec<Vec<u8>>> =
        blocks.iter().map(|events| events.iter().map(|event| event.as_bytes().to_vec()).collect()).collect();
    index_of(&blocks)
}

/// The one answer of a span of one block.
fn answer(events: &[&str], path: &Path, predicate: &Predicate) -> Answer {
    let condition = Condition::new(predicate, std::slice::from_ref(path));
    of_events(&[events]).may_match(&condition, 0).expect("the index is sound")
}

#[test]
fn each_index_leaves_out_what_it_should() {
    use Comparison::{Eq, Ge, Gt, Lt, Ne};
    let key = |key: &str| Path::root().key(key);
    let like = |pattern: &str| Predicate::Like { slot: 0, pattern: Like::new(pattern) };
    let not = |inner| Predicate::Not(Box::new(inner));
    let truth = Predicate::Truth { slot: 0 };
    let null = Predicate::IsNull { slot: 0 };
    let matcher = |literal: &str| Matcher::new(|_| true).requiring([literal]);
    let numbers = matcher("1503").with_numbers(|_| Some(true));
    let rows: [(&[&str], Path, Predicate, Option<Index>); 34] = [
        (&[r#"{"a":"x"}"#], key("a"), text(0, "x"), None),
        (&[r#"{"a":"x"}"#], key("a"), text(0, "y"), Some(Index::Pairs)),
        (&[r#"{"a":"\u0078"}"#], key("a"), text(0, "x"), None),
        (&[r#"{"\u0061":"x"}"#], key("a"), text(0, "x"), None),
        (&[r#"{"a":1}"#], key("a"), text(0, "1"), Some(Index::Keys)),
        (&[r#"{"b":1}"#], key("a"), text(0, "1"), Some(Index::Keys)),
        (&[r#"{"a":1.0}"#], key("a"), number(0, Eq, "10e-1"), None),
        (&[r#"{"a":1}"#, r#"{"a":3}"#], key("a"), number(0, Eq, "2"), Some(Index::Pairs)),
        (&[r#"{"a":1}"#, r#"{"a":3}"#], key("a"), number(0, Eq, "4"), Some(Index::Range)),
        (&[r#"{"a":1}"#, r#"{"a":3}"#], key("a"), number(0, Gt, "3"), Some(Index::Range)),
        (&[r#"{"a":1}"#, r#"{"a":3}"#], key("a"), number(0, Ge, "3.0"), None),
        (&[r#"{"a":9007199254740993}"#], key("a"), number(0, Gt, "9007199254740992"), None),
        (&[r#"{"a":9007199254740993}"#], key("a"), number(0, Gt, "9007199254740993"), Some(Index::Range)),
        (&[r#"{"a":1e400}"#], key("a"), number(0, Lt, "1e399"), Some(Index::Range)),
        (&[r#"{"a":5}"#, r#"{"a":5.0}"#], key("a"), number(0, Ne, "5"), Some(Index::Range)),
        (&[r#"{"a":5}"#], key("a"), not(number(0, Lt, "6")), Some(Index::Range)),
        (&[r#"{"a":5}"#, "{}"], key("a"), null.clone(), None),
        (&[r#"{"a":5}"#, r#"{"a":null}"#], key("a"), null.clone(), None),
        (&[r#"{"a":5}"#], key("a"), null.clone(), Some(Index::Keys)),
        (&[r#"{"b":5}"#], key("a"), not(null.clone()), Some(Index::Keys)),
        (&[r#"{"a":false}"#], key("a"), truth.clone(), Some(Index::Keys)),
        (&[r#"{"a":false}"#], key("a"), not(truth), None),
        (&[r#"{"a":{"b":"x"}}"#], key("a").key("b"), text(0, "x"), None),
        (&[r#"{"a.b":"x"}"#], key("a").key("b"), text(0, "x"), Some(Index::Keys)),
        (&[r#"{"a.b":"x"}"#], key("a.b"), text(0, "x"), None),
        (&[r#"{"a":["xyz"]}"#], key("a").index(0), text(0, "xyz"), None),
        (&[r#"{"a":["xyz"]}"#], key("a").index(0), text(0, "uvw"), Some(Index::Words)),
        (&[r#"{"a":"a long text"}"#], key("a"), like("%long%"), None),
        (&[r#"{"a":"a l\u006fng text"}"#], key("a"), like("%long%"), None),
        (&[r#"{"a":"a long text"}"#], key("a"), like("%short%"), Some(Index::Words)),
        (&[r#"{"a":1503}"#], key("a"), Predicate::Matches { slot: 0, matcher: matcher("150") }, Some(Index::Keys)),
        (&[r#"{"a":1503}"#], key("a"), Predicate::Matches { slot: 0, matcher: numbers }, None),
        (&[r#""xyz""#], key("value"), text(0, "xyz"), None),
        (&["[1]", "5"], key("value"), number(0, Gt, "5"), Some(Index::Range)),
    ];
    for (events, path, predicate, wanted) in rows {
        let wanted = wanted.map_or(Answer::May, Answer::No);
        assert_eq!(answer(events, &path, &predicate), wanted, "{predicate:?} at {path} of {events:?}");
    }
}

/// A word of ten letters.
fn word(random: &mut Random) -> String {
    (0..10).map(|_| char::from(b'a' + random.below(26) as u8)).collect()
}

#[test]
fn what_is_not_there_is_seldom_looked_for_and_the_index_is_small() {
    let mut random = Random::new(7);
    let common: Vec<String> = (0..300).map(|_| word(&mut random)).collect();
    let (mut builder, mut bytes, blocks) = (IndexBuilder::new(), 0, 40);
    for _ in 0..blocks {
        builder.begin_block();
        for at in 0..700 {
            let words: Vec<&str> = (0..20).map(|_| common[random.below(common.len())].as_str()).collect();
            let (id, message) = (random.bits(), words.join(" "));
            let event =
                format!(r#"{{"RequestId":"{id:x}","Elapsed":{}.5,"At":{at},"Message":"{message}"}}"#, id % 100_000);
            bytes += event.len();
            builder.add(event.as_bytes());
        }
        builder.end_block();
    }
    let blob = builder.finish();
    assert!(blob.len() * 100 < bytes * 5, "{} bytes of {bytes}", blob.len());
    let index = SpanIndex::of_bytes(&blob, blocks).unwrap();
    let paths = ["RequestId", "Elapsed", "Message"].map(|key| Path::root().key(key));
    let mut found = [0; 3];
    for _ in 0..1000 {
        let id = random.bits();
        let absent = [
            text(0, &format!("{id:x}")),
            number(1, Comparison::Eq, &format!("{}.25", id % 100_000)),
            Predicate::Like { slot: 2, pattern: Like::new(&format!("%{}%", word(&mut random))) },
        ];
        for (found, predicate) in found.iter_mut().zip(absent) {
            let answers = index.answers(&Condition::new(&predicate, &paths)).unwrap();
            *found += answers.iter().filter(|answer| **answer == Answer::May).count();
        }
    }
    // Of a thousand lookups in each block, at most one in five hundred reads it, and one in fifty of words; filters miss
    // now and then.
    let most = [500, 500, 50].map(|share| 1000 * blocks / share);
    assert!(found.iter().zip(most).all(|(found, most)| *found < most) && found[0] > 0, "{found:?} of {most:?}");
}

#[test]
fn of_keys_that_repeat_every_one_counts() {
    let events = [r#"{"a":1,"a":{"b":2}}"#, r#"{"a":{"c":1},"a":{"b":1}}"#];
    let path = Path::root().key("a").key("b");
    // The engine takes the first `a`, which has no `b`.
    assert_eq!(answer(&events, &path, &Predicate::IsNull { slot: 0 }), Answer::May);
    let kinds = of_events(&[&events]).kinds(&path).unwrap();
    assert_eq!(kinds, Some(FieldKinds::NUMBER.with(FieldKinds::MISSING)));
}

#[test]
fn thousands_of_keys_do_not_blow_the_index_and_lose_nothing() {
    let mut builder = IndexBuilder::new();
    let event = |block: usize, at: usize| format!(r#"{{"k{block}-{at}":"value {at}","always":{at}}}"#);
    let (mut bytes, blocks) = (0, 20);
    for block in 0..blocks {
        builder.begin_block();
        for at in 0..4000 {
            let event = event(block, at);
            bytes += event.len();
            builder.add(event.as_bytes());
        }
        builder.end_block();
    }
    let blob = builder.finish();
    assert!(blob.len() * 12 < bytes, "{} of {bytes}", blob.len());
    let index = SpanIndex::of_bytes(&blob, blocks).unwrap();
    assert_eq!(index.unknown(), (0, blocks));
    for block in 0..blocks {
        for at in [0, 1, 1500, 3999] {
            let paths = [Path::root().key(format!("k{block}-{at}"))];
            let condition = Condition::new(&text(0, &format!("value {at}")), &paths);
            assert_eq!(index.may_match(&condition, block).unwrap(), Answer::May, "{block} {at}");
            let is_null = Condition::new(&Predicate::IsNull { slot: 0 }, &paths);
            assert_eq!(index.may_match(&is_null, block).unwrap(), Answer::May);
        }
    }
    // Keys that came while there was room are known to the end.
    let condition = Condition::new(&number(0, Comparison::Gt, "3999"), &[Path::root().key("always")]);
    assert!(index.answers(&condition).unwrap().iter().all(|answer| *answer == Answer::No(Index::Range)));
}

#[test]
fn an_event_that_is_not_as_promised_makes_its_block_unknown_and_no_other() {
    for bad in [
        "",
        " ",
        "{",
        r#"{"a""#,
        r#"{"a":"#,
        r#"{"a":1"#,
        r#"{"a": 1}"#,
        r#"{"a":1}x"#,
        r#"{"a":"x}"#,
        "[[",
        "{]",
        r#"{"a":+}"#,
        r#"{"a":"\"#,
        "]",
        "}",
        r#"{"a":tru}"#,
        r#"{"\ud800":1}"#,
    ] {
        let index = of_events(&[&[r#"{"a":1}"#], &[r#"{"a":1}"#, bad], &[r#"{"a":1}"#]]);
        let condition = Condition::new(&text(0, "x"), &[Path::root().key("a")]);
        let wanted = [Answer::No(Index::Keys), Answer::May, Answer::No(Index::Keys)];
        assert_eq!(index.answers(&condition).unwrap(), wanted, "{bad}");
        assert_eq!(index.kinds(&Path::root().key("a")).unwrap(), None);
    }
}

#[test]
fn paths_are_named_as_they_were_seen() {
    let index = of_events(&[&[r#"{"a":{"b/c":1,"d":[{"e":1}]},"f":{}}"#], &[r#"{"g":1}"#]]);
    let names: Vec<String> = index.paths().iter().map(Path::to_string).collect();
    assert_eq!(names, ["/a", "/a/b~1c", "/a/d", "/f", "/g"]);
    let kinds = |key: &str| index.kinds(&Path::root().key(key)).unwrap().unwrap().to_string();
    assert_eq!([kinds("a"), kinds("g"), kinds("nowhere")], ["missing, object", "missing, number", "missing"]);
}

/// Texts for templates, properties and searches.
const TEXTS: [&str; 16] = [
    "timeout",
    "TimeOut payment",
    "Order4711",
    "straße",
    "\u{212A}elvin",
    "ﬁxture",
    "Größenwahn",
    "new\\nline",
    "back\\\\slash",
    "\\u0074imed out",
    "true story",
    "12e45",
    "a-b_c",
    "customers",
    "null",
    "",
];

fn property(random: &mut Random, depth: usize) -> String {
    match random.below(if depth == 0 { 5 } else { 8 }) {
        0..3 => format!("\"{}\"", random.pick(&TEXTS)),
        3 => random.pick(&["4711", "-12e45", "1.5"]).to_owned(),
        4 => random.pick(&["true", "false", "null"]).to_owned(),
        5 => format!("[{},{}]", property(random, depth - 1), property(random, depth - 1)),
        6 => format!("{{\"{}\":{}}}", random.pick(&TEXTS), property(random, depth - 1)),
        _ => format!("{{\"@mt\":\"x{{a}}\",\"a\":{}}}", property(random, depth - 1)),
    }
}

fn event_with_message(random: &mut Random) -> String {
    let mut event = format!("{{\"n\":{}", random.below(9));
    if random.below(3) > 0 {
        let template =
            random.pick(&["{A}: {B}!", "paid by {A}", "{A}{B}", "x{A} {B:0.0}ms", "time{A}", "{{{A}}}", "ﬁ {A}"]);
        let key = random.pick(&["@mt", "MessageTemplate", "\\u0040mt"]);
        write!(event, ",\"{key}\":\"{template}\"").unwrap();
    }
    if random.below(4) == 0 {
        write!(event, ",\"@r\":[{},{}]", property(random, 0), property(random, 0)).unwrap();
    }
    if random.below(4) == 0 {
        write!(event, ",\"Properties\":{{\"B\":{}}}", property(random, 1)).unwrap();
    }
    format!("{event},\"A\":{},\"B\":{}}}", property(random, 2), property(random, 1))
}

#[test]
fn a_block_that_a_search_leaves_out_has_none_of_its_events() {
    let searches = [
        "timeout",
        "TIMED",
        "payment",
        "order4711",
        "strasse",
        "kelvin",
        "fixture",
        "wahn",
        "newline",
        "nline",
        "slash",
        "\"timed out\"",
        "story",
        "12e45",
        "4711",
        "xtimeout",
        "outpay",
        "paymentms",
        "5ms",
        "customers",
        "usto",
        "truems",
        "null",
        "true",
        "by timeout",
        "timetimeout",
        "payment customers",
        "\"out pay\"",
        "größe",
        "x1",
        "c\\",
        "slashed",
    ];
    let root = [Path::root(), Path::root().key("A")];
    let (mut left_out, mut found) = (0, 0);
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let blocks: Vec<Vec<Vec<u8>>> = (0..4)
            .map(|_| (0..=random.below(3)).map(|_| event_with_message(&mut random).into_bytes()).collect())
            .collect();
        let index = index_of(&blocks);
        for search in searches {
            let test = jird_store::Search::new(search).unwrap().expect("there are words").test();
            for slot in 0..root.len() {
                let predicate = Predicate::Json { slot, test: test.clone() };
                for wanted in [predicate.clone(), Predicate::Not(predicate.into())] {
                    let answers = index.answers(&Condition::new(&wanted, &root)).expect("the index is sound");
                    for (block, answer) in blocks.iter().zip(answers) {
                        let count = matches(block, &wanted, &root);
                        assert!(
                            count == 0 || answer == Answer::May,
                            "seed {seed}: {search} in {:?}: {}",
                            root[slot],
                            String::from_utf8_lossy(&block.join(&b'\n'))
                        );
                        found += count;
                        left_out += u64::from(answer == Answer::No(Index::Words));
                    }
                }
            }
        }
    }
    assert!(left_out > 20_000 && found > 100_000, "{left_out} blocks were left out, {found} events found");
}
