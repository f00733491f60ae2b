//! Queries that one scan answers, compared with DataFusion's plans for the same queries: what goes out must be the
//! same, byte for byte, and so must the notes and the figures.

use crate::dice::Random;
use crate::model::Folder;
use crate::random::number_of;
use crate::random::{Maker, texts, words};
use jird_query::{Check, Format, OnError, Options, Query, Report};

/// How many texts, unless `JIRD_QUERY_SEEDS` gives the number of seeds.
const TEXTS: u64 = 300;

/// An answer: its text, its notes, and the figures that do not depend on time.
type Answer = Result<(Vec<u8>, Vec<String>, Vec<String>), String>;

/// The answer of a query, and whether one scan gave it.
fn answer(sql: &str, files: &[String], options: &Options) -> (Answer, bool) {
    let (mut out, mut report) = (Vec::new(), Report::default());
    let done = Query::new(sql, files.to_vec(), options.clone()).run(&mut out, &mut report);
    let is_timed = |line: &&str| line.starts_with("seconds") || line.starts_with("MB/s");
    let figures = report.to_string();
    let figures = figures.lines().filter(|line| !is_timed(line)).map(str::to_owned).collect();
    let said = [report.notes, report.unreadable, report.refused, report.first_bad.into_iter().collect()].concat();
    (done.map(|()| (out, said, figures)).map_err(|error| error.to_string()), report.direct)
}

/// Conditions on where a record is from.
const ORIGINS: [&str; 10] = [
    "_line > 2",
    "_line between 2 and 4",
    "_line in (1, 3)",
    "not (_line = 2)",
    "_line is null",
    "_line < 'x'",
    "_file like '%1%'",
    "match(_file, 'nd(j|x)son$')",
    "_file <> ''",
    "_file is not null",
];

/// A text of the form that a scan can answer, and whether it has limits.
fn text(maker: &mut Maker<'_>) -> (String, bool) {
    const NAMES: [&str; 4] = ["a", "b.c as \"the c\"", "Missing", "_line"];
    let items = match maker.random.below(8) {
        0 => "*".to_owned(),
        1 => "count(*)".to_owned(),
        2 => "count(*) as n".to_owned(),
        3 => "*, _file".to_owned(),
        4 => maker.random.pick(&NAMES).to_owned(),
        _ => {
            let rows = maker.some(1, 3, Maker::field);
            rows.iter().enumerate().map(|(at, item)| format!("{item} as c{at}")).collect::<Vec<_>>().join(", ")
        }
    };
    let from = maker.random.pick(&["", " from stream", " from stream", " from stream as s"]);
    let condition = match maker.random.below(8) {
        0 | 1 => String::new(),
        2 => format!(" where {}", maker.random.pick(&ORIGINS)),
        3 => format!(" where {} and {}", maker.condition(1), maker.random.pick(&ORIGINS)),
        4 => {
            format!(" where {} and not ({} or {})", maker.condition(1), maker.random.pick(&ORIGINS), maker.condition(1))
        }
        _ => format!(" where {}", maker.condition(2)),
    };
    let limits = maker.random.pick(&["", "", "", " limit 2", " limit 0", " limit 3 offset 1", " offset 2"]);
    // Without a field, the stream must be named.
    let from = if from.is_empty() && condition.is_empty() { " from stream" } else { from };
    (format!("select {items}{from}{condition}{limits}"), limits.contains("limit"))
}

#[test]
fn one_scan_answers_as_a_plan_does() {
    let count = number_of("JIRD_QUERY_SEEDS").unwrap_or(TEXTS);
    let alone = number_of("JIRD_QUERY_SEED");
    let mut folder = Folder::new("direct");
    let (mut direct, mut with_rows) = (0, 0);
    for seed in alone.map_or(0..count, |seed| seed..seed + 1) {
        let mut random = Random::new(seed);
        let records = 1 + random.below(12);
        let (mut texts, _) = texts(&mut random, records);
        if random.below(6) == 0 {
            texts[0].push_str("\n{\"a\": 1, bad\n{\"a\":2}\n");
        }
        folder.hold(&texts.iter().map(String::as_str).collect::<Vec<_>>());
        let words = words();
        let (sql, is_cut) = text(&mut Maker { words: &words, random: &mut random });
        let formats = [Format::Ndjson, Format::Ndjson, Format::Json, Format::Csv, Format::Table, Format::Lines];
        let options = Options {
            format: random.pick(&formats),
            threads: random.pick(&[1, 2, 5]),
            chunk_bytes: random.pick(&[1, 61, 1 << 20]),
            check: random.pick(&[Check::All, Check::Touched, Check::Trusted]),
            on_error: if random.below(3) == 0 { OnError::Skip } else { OnError::Stop },
            limit: (random.below(8) == 0).then_some(1),
            ..Options::default()
        };
        let (found, by_scan) = answer(&sql, folder.files(), &options);
        // A name that is not used makes a plan necessary, and changes nothing in it.
        let (planned, by_other) = answer(&format!("with unused as (select 1 as one) {sql}"), folder.files(), &options);
        assert!(!by_other, "{sql}");
        direct += u64::from(by_scan);
        let is_cut = is_cut || options.limit.is_some();
        let same = match (&found, &planned) {
            // How much is read before enough is read depends on time, and so does what is known of names.
            (Ok((text, ..)), Ok((other, ..))) if is_cut => text == other,
            (found, planned) => found == planned,
        };
        let shown = |answer: &Answer| match answer {
            Ok((text, said, figures)) => format!("{}\n{said:#?}\n{figures:#?}", String::from_utf8_lossy(text)),
            Err(error) => error.clone(),
        };
        let input = texts.join("--\n");
        assert!(
            same,
            "seed {seed}, {options:?}\n{sql}\nof\n{input}\nis by a scan {}\nand by a plan {}",
            shown(&found),
            shown(&planned)
        );
        with_rows += u64::from(found.is_ok_and(|(text, ..)| text.len() > 3));
    }
    assert!(
        alone.is_some() || direct * 3 > count * 2 && with_rows * 3 > count,
        "of {count} texts {direct} were direct, {with_rows} had rows"
    );
}

/// Where records are from, by the numbers of the file and of the line, both from 1.
#[test]
fn one_scan_decides_conditions_on_files_and_lines() {
    type Holds = fn(u64, u64) -> bool;
    let text = |file: u64| {
        let record = |line: u64| match line % 10 {
            7 => format!("{{\"n\": {}, \"_line\": \"own\"}}\n", line * file),
            _ => format!("{{\"n\": {}}}\n", line * file),
        };
        (1..=300).map(record).collect::<Vec<_>>().concat()
    };
    let mut folder = Folder::new("direct-origins");
    folder.hold(&[&text(1), &text(2)]);
    let first = folder.files()[0].clone();
    let cases: [(String, Holds); 6] = [
        ("_line = 250".to_owned(), |_, line| line == 250),
        ("_line > 280 and n < 570".to_owned(), |file, line| line > 280 && line % 10 != 7 && line * file < 570),
        ("_line = 'own'".to_owned(), |_, line| line % 10 == 7),
        (format!("_file = '{first}' and _line <= 12"), |file, line| file == 1 && line <= 12 && line % 10 != 7),
        (format!("not (_file = '{first}') and n >= 590"), |file, line| file == 2 && line * 2 >= 590),
        ("n = 300 or _line = 3".to_owned(), |file, line| line * file == 300 || line == 3),
    ];
    for (condition, holds) in cases {
        let places = (1..=2).flat_map(|file| (1..=300).map(move |line| (file, line)));
        let wanted: Vec<_> = places.filter(|(file, line)| holds(*file, *line)).collect();
        let row = |(file, line): &(u64, u64)| format!("{{\"n\":{}}}\n", line * file);
        let rows = wanted.iter().map(row).collect::<Vec<_>>().concat();
        for (threads, chunk_bytes) in [(1, 1 << 20), (3, 61), (2, 1 << 20)] {
            let options = Options { threads, chunk_bytes, ..Options::default() };
            let (found, is_direct) = answer(&format!("select n where {condition}"), folder.files(), &options);
            let (text, ..) = found.expect(&condition);
            assert_eq!(String::from_utf8_lossy(&text), rows, "{condition}");
            let (count, is_counted) =
                answer(&format!("select count(*) as n where {condition}"), folder.files(), &options);
            assert_eq!(String::from_utf8_lossy(&count.expect(&condition).0), format!("{{\"n\":{}}}\n", wanted.len()));
            assert!(is_direct && is_counted, "{condition}");
        }
    }
}
