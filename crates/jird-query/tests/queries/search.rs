//! `search('words')` against a plain model: by one scan and by a plan, over several files.

use crate::dice::Random;
use crate::model::Folder;
use jird_query::{Check, Options, Query, Report};
use std::fmt::Write;

const WORDS: [&str; 10] =
    ["Timeout", "payment", "ÖSTLICH", "straße", "4711", "1.50", "a\"b", "back\\slash", "order 17", "Σίσυφος"];
const SEARCHES: [&str; 13] = [
    "timeout",
    "TIMEOUT payment",
    "östlich",
    "STRASSE",
    "4711",
    "1.5",
    "\"order 17\"",
    "17 order",
    "a\\slash",
    "σίσυφοσ",
    "\"paid by timeout\"",
    "Field",
    "",
];

/// An event: its number, and all texts in it, its message included.
struct Event {
    json: String,
    texts: Vec<String>,
    field: Option<String>,
}

/// A string of JSON, with escapes that need not be there.
fn spelled(random: &mut Random, text: &str) -> String {
    let mut json = "\"".to_owned();
    for char in text.chars() {
        match char {
            '"' | '\\' => json.extend(['\\', char]),
            char if char.is_ascii() && random.below(9) == 0 => write!(json, "\\u{:04x}", char as u32).unwrap(),
            char => json.push(char),
        }
    }
    json + "\""
}

fn event(random: &mut Random, number: usize) -> Event {
    let mut texts = vec![number.to_string()];
    let mut json = format!("{{\"n\":{number}");
    let mut field = None;
    if random.below(2) == 0 {
        let text = random.pick(&WORDS);
        write!(json, ",\"Field\":{}", spelled(random, text)).unwrap();
        texts.push(text.to_owned());
        field = Some(text.to_owned());
    }
    if random.below(3) == 0 {
        let (one, two) = (random.pick(&WORDS), random.pick(&WORDS));
        write!(
            json,
            ",\"deep\":[true,{{\"{number}k\":{}}},1.50,null,[{}]]",
            spelled(random, one),
            spelled(random, two)
        )
        .unwrap();
        texts.extend([one.to_owned(), "1.50".to_owned(), two.to_owned()]);
    }
    if let Some(text) = field.as_ref().filter(|_| random.below(3) == 0) {
        json += ",\"@mt\":\"paid by {Field}\"";
        texts.extend(["paid by {Field}".to_owned(), format!("paid by {text}")]);
    }
    Event { json: json + "}", texts, field }
}

fn fold(text: &str) -> String {
    text.to_lowercase().to_uppercase().to_lowercase().replace('ς', "σ")
}

/// Whether each word, or phrase in quotes, is in one of the texts.
fn is_in(search: &str, texts: &[String]) -> bool {
    let texts: Vec<_> = texts.iter().map(|text| fold(text)).collect();
    let parts = search.split('"').enumerate();
    let mut terms = parts.flat_map(|(at, part)| match at % 2 {
        0 => part.split_whitespace().map(str::to_owned).collect(),
        _ => vec![part.to_owned()],
    });
    terms.all(|term| texts.iter().any(|text| text.contains(&fold(&term))))
}

fn rows(sql: &str, folder: &Folder, options: &Options) -> (Vec<usize>, bool) {
    let (mut out, mut report) = (Vec::new(), Report::default());
    let done = Query::new(sql, folder.files().to_vec(), options.clone()).run(&mut out, &mut report);
    done.unwrap_or_else(|error| panic!("{sql}: {error}"));
    let text = String::from_utf8(out).unwrap();
    let number = |line: &str| line.trim_matches(|char: char| !char.is_ascii_digit()).parse().expect("a number");
    (text.lines().map(number).collect(), report.direct)
}

#[test]
fn words_are_found_in_any_text_of_a_record() {
    let mut folder = Folder::new("search");
    let (mut found, mut left) = (0, 0);
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let events: Vec<_> = (0..=random.below(60)).map(|number| event(&mut random, number)).collect();
        let cut = random.below(events.len());
        let text = |events: &[Event]| events.iter().map(|event| event.json.clone() + "\n").collect::<Vec<_>>().concat();
        folder.hold(&[&text(&events[..cut]), &text(&events[cut..])]);
        let options = Options {
            threads: random.pick(&[1, 3]),
            chunk_bytes: random.pick(&[61, 1 << 20]),
            check: random.pick(&[Check::All, Check::Touched, Check::Trusted]),
            ..Options::default()
        };
        for search in SEARCHES {
            let of = |holds: &dyn Fn(&Event) -> bool| -> Vec<_> {
                events.iter().enumerate().filter(|(_, event)| holds(event)).map(|(number, _)| number).collect()
            };
            let in_field = |event: &Event| event.field.clone().map(|text| is_in(search, &[text]));
            let cases = [
                (format!("search('{search}')"), of(&|event| is_in(search, &event.texts))),
                (format!("not search('{search}')"), of(&|event| !is_in(search, &event.texts))),
                (format!("search(\"Field\", '{search}')"), of(&|event| in_field(event) == Some(true))),
                (format!("not search(stream.\"Field\", '{search}')"), of(&|event| in_field(event) == Some(false))),
                (
                    format!("search('{search}') and \"Field\" is null"),
                    of(&|event| event.field.is_none() && is_in(search, &event.texts)),
                ),
            ];
            for (condition, wanted) in cases {
                let (by_scan, is_direct) = rows(&format!("select n where {condition}"), &folder, &options);
                let planned = format!("with unused as (select 1) select n from stream where {condition}");
                let (by_plan, is_other) = rows(&planned, &folder, &options);
                assert!(is_direct && !is_other);
                assert_eq!(by_scan, wanted, "seed {seed}: {condition}");
                assert_eq!(by_plan, wanted, "seed {seed}: {condition}, by a plan");
                found += by_scan.len();
                left += events.len() - by_scan.len();
            }
            let told = format!("select n from stream where case when search('{search}') then n >= 0 else false end");
            assert_eq!(rows(&told, &folder, &options).0, of(&|event| is_in(search, &event.texts)), "seed {seed}");
        }
    }
    assert!(found > 5000 && left > 5000, "{found} were found, and {left} were not");
}

#[test]
fn a_search_that_looks_nowhere_is_refused_in_one_line() {
    let mut folder = Folder::new("search-refused");
    folder.hold(&["{\"a\":\"x\"}\n"]);
    let many = "w ".repeat(33);
    for (condition, words) in [
        ("search()", "search takes words"),
        ("search(a)", "must be a constant text"),
        ("search(a, 'x', 'y')", "search takes words"),
        ("search(lower(a), 'x')", "`lower(a)` is computed: use `like` or `match`"),
        (&format!("search('{many}')"), "at most 32 words"),
        (&format!("search('{}')", "w".repeat(1001)), "at most 1000 characters"),
    ] {
        let sql = format!("select a from stream where {condition}");
        let error = Query::new(&sql, folder.files().to_vec(), Options::default())
            .run(&mut Vec::new(), &mut Report::default())
            .expect_err(condition)
            .to_string();
        assert!(error.contains(words) && error.lines().count() == 1, "{condition}: {error}");
    }
    let joined = "select s.a from stream as s join stream as t on s.a = t.a where search('x')";
    let error = Query::new(joined, folder.files().to_vec(), Options::default())
        .run(&mut Vec::new(), &mut Report::default())
        .expect_err(joined)
        .to_string();
    assert!(error.contains("name a field"), "{error}");
}

#[test]
fn keys_of_folders_are_texts_of_their_records() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for (day, text) in [("2024-01-01", "{\"n\":1}\n{\"n\":2,\"day\":\"own\"}\n"), ("2024-01-02", "{\"n\":3}\n")] {
        let path = folder.path().join(format!("day={day}"));
        std::fs::create_dir(&path).unwrap();
        std::fs::write(path.join("a.ndjson"), text).unwrap();
    }
    for (condition, wanted) in [
        ("search('2024-01-01')", "12"),
        ("search('own')", ""),
        ("not search('01-02') and _line < 2", "1"),
        ("search('2024') and day = '2024-01-02'", "3"),
    ] {
        for prefix in ["", "with unused as (select 1) "] {
            let sql = format!("{prefix}select n from stream where {condition}");
            let (mut out, mut report) = (Vec::new(), Report::default());
            let files = vec![folder.path().to_str().unwrap().to_owned()];
            Query::new(&sql, files, Options::default()).run(&mut out, &mut report).unwrap();
            let found: String = String::from_utf8(out).unwrap().chars().filter(char::is_ascii_digit).collect();
            assert_eq!(found, wanted, "{sql}");
            assert_eq!(report.direct, prefix.is_empty(), "{sql}");
        }
    }
}
