//! `readers`: queries over generated events. All contestants share one loop over the lines; only the record reader
//! differs.
//!
//! The whole text is in memory. A line ends at a line feed, which `memchr` finds. If a record matches the query, its
//! reader returns the decoded message, which the loop folds. All contestants use the same regular expression, and none
//! searches a line before reading it. The `-lines` and `-many` rows do not use this loop: they find the lines themselves. jird's
//! read many lines per scan, and search them first where that is possible; simdjson's look for the text of `match` and `rare`
//! without a regular expression.
//!
//! ```text
//! single   readers of one record, one per library
//! many     jird's Scanner
//! simdjson its streams of documents
//! ```

mod many;
#[cfg(bench_simdjson)]
mod simdjson;
mod single;

use std::collections::BTreeMap;
use std::fs;
use std::hint::black_box;
use std::time::Instant;

use jird::lines::Check;
use memchr::memmem::Finder;
use regex::Regex;

use super::{Contestant, Setting, here, median, told};
use crate::fold::Fold;
use crate::peers::RUST;
use crate::whole::Report;
use single::Reader;

/// The median of this many runs counts. A run over the first part of the text precedes them.
const RUNS: usize = 3;

/// That first part is one in this many bytes of the text.
const WARMING: usize = 8;

/// Slow events take more than this many milliseconds.
const SLOW: f64 = 200.0;

/// The text that `match` searches for.
const PATH: &str = "/api/customers";

/// The text that `rare` searches for: the name of a job, which is in four of five hundred messages.
const JOB: &str = "nightly-export";

pub(super) const CONTESTANTS: &[Contestant] = &[
    Contestant {
        builds: RUST,
        ..here("serde_json", "a struct; of what is skipped the grammar is checked, and not the UTF-8", |setting| {
            of_lines(setting, |_| Some(single::SerdeJson))
        })
    },
    Contestant {
        builds: RUST,
        ..here("serde_json-value", "a Value, for which everything is decoded", |setting| {
            of_lines(setting, |_| Some(single::SerdeValue))
        })
    },
    Contestant {
        builds: RUST,
        ..here(
            "simd-json",
            "tape and buffers reused; each line is copied first, since it is overwritten; chooses SIMD at run time too",
            |setting| of_lines(setting, |_| Some(single::SimdJson::default())),
        )
    },
    Contestant {
        builds: RUST,
        ..here("sonic-rs", "a struct; chooses SIMD at compile time", |setting| {
            of_lines(setting, |_| Some(single::Sonic))
        })
    },
    Contestant {
        builds: RUST,
        ..here(
            "sonic-rs-lazy",
            "get_many: what follows the last wanted field is not checked; chooses SIMD at compile time",
            |setting| of_lines(setting, |_| Some(single::SonicLazy::default())),
        )
    },
    Contestant {
        builds: RUST,
        ..here(
            "sonic-rs-unchecked",
            "get_unchecked: CHECKS NOTHING, and is unsafe for text that was not checked before; chooses SIMD at compile time",
            |setting| of_lines(setting, single::SonicUnchecked::of_checked),
        )
    },
    here("jird", "Record::scan: every line is checked whole", |setting| {
        of_lines(setting, |_| Some(single::Validated::default()))
    }),
    here("jird-trusted", "Record::scan_trusted: checks only the text that it hands out", |setting| {
        of_lines(setting, |_| Some(single::Trusting::default()))
    }),
    here("jird-lines", "many lines per scan; every line is checked whole", |setting| of_scans(setting, Check::All)),
    here(
        "jird-lines-touched",
        "many lines per scan; the engine searches the raw lines first, and checks those that may match: all, for filter",
        |setting| of_scans(setting, Check::Touched),
    ),
    here(
        "jird-lines-trusted",
        "many lines per scan; the same search, and checks only the text that it hands out",
        |setting| of_scans(setting, Check::Trusted),
    ),
    here("simdjson-parse-many", "a DOM of each line, one thread; every line is checked whole", |setting| {
        of_simdjson(setting, false)
    }),
    here(
        "simdjson-iterate-many",
        "On-Demand, one thread: of what is skipped only UTF-8 and the ends of strings are checked",
        |setting| of_simdjson(setting, true),
    ),
];

/// The condition on events. The answer consists of the messages of matching events.
enum Query {
    /// `Elapsed > 200`.
    Filter,
    /// `match(Message, '/api/customers')`.
    Match(Regex),
    /// `Message like '%nightly-export%'`.
    Rare(Box<Finder<'static>>),
    /// `count(*)`: no hits.
    Count,
}

impl Query {
    fn named(name: &str) -> Result<Self, String> {
        match name {
            "filter" => Ok(Self::Filter),
            "match" => Regex::new(PATH).map(Self::Match).map_err(|error| error.to_string()),
            "rare" => Ok(Self::Rare(Box::new(Finder::new(JOB)))),
            "count" => Ok(Self::Count),
            _ => Err(format!("no query {name}")),
        }
    }
}

/// The result of a query.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Answer {
    records: u64,
    hits: u64,
    /// The total length of the messages.
    bytes: u64,
    fold: Fold,
}

impl Answer {
    #[inline]
    fn add(&mut self, message: &str) {
        self.hits += 1;
        self.bytes += message.len() as u64;
        self.fold.string(message);
    }

    fn checksum(&self) -> u64 {
        let mut fold = self.fold;
        fold.unsigned(self.hits);
        fold.unsigned(self.bytes);
        fold.exact()
    }
}

/// The loop over the lines. Returns `None` if a line is refused.
fn read_lines(text: &[u8], query: &Query, reader: &mut impl Reader) -> Option<Answer> {
    let mut answer = Answer::default();
    let mut rest = text;
    while !rest.is_empty() {
        let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let line = &rest[..end];
        rest = rest.get(end + 1..).unwrap_or_default();
        answer.records += 1;
        match query {
            Query::Filter => reader.message_if_over(line, SLOW, |message| answer.add(message))?,
            Query::Match(regex) => reader.message(line, |message| {
                if regex.is_match(message) {
                    answer.add(message);
                }
            })?,
            Query::Rare(finder) => reader.message(line, |message| {
                if finder.find(message.as_bytes()).is_some() {
                    answer.add(message);
                }
            })?,
            Query::Count => reader.message(line, |_| ())?,
        }
    }
    Some(answer)
}

/// Runs a reader in the loop. `make` gets the text whose lines the reader will read.
fn of_lines<R: Reader>(setting: &Setting<'_>, make: impl FnOnce(&[u8]) -> Option<R>) -> Result<Report, String> {
    let (text, query) = asked(setting)?;
    let mut reader = make(&text).ok_or("refuses the text")?;
    timed(&text, |text| read_lines(text, &query, &mut reader))
}

fn of_scans(setting: &Setting<'_>, check: Check) -> Result<Report, String> {
    let (text, query) = asked(setting)?;
    let mut scans = many::Scans::new(&query, check);
    timed(&text, |text| scans.read(text))
}

#[cfg(bench_simdjson)]
fn of_simdjson(setting: &Setting<'_>, lazily: bool) -> Result<Report, String> {
    use simdjson::{Lines, Stream};
    let (text, query) = asked(setting)?;
    let stream = if lazily { Stream::Iterated } else { Stream::Parsed };
    let mut lines = Lines::new(&text, stream).ok_or("has no memory")?;
    timed(&text, |text| lines.read(text.len(), &query))
}

#[cfg(not(bench_simdjson))]
fn of_simdjson(_: &Setting<'_>, _: bool) -> Result<Report, String> {
    Err(env!("BENCH_SIMDJSON_MISSING").to_owned())
}

fn asked(setting: &Setting<'_>) -> Result<(Vec<u8>, Query), String> {
    let text = fs::read(setting.file).map_err(|error| format!("{}: {error}", setting.file.display()))?;
    Ok((text, Query::named(setting.input)?))
}

fn timed(text: &[u8], mut read: impl FnMut(&[u8]) -> Option<Answer>) -> Result<Report, String> {
    let part = &text[..text.len() / WARMING];
    let first = memchr::memrchr(b'\n', part).map_or(0, |feed| feed + 1);
    let refused = || "refuses a line".to_owned();
    read(&text[..first]).ok_or_else(refused)?;
    let (mut seconds, mut answer) = (Vec::new(), Answer::default());
    for _ in 0..RUNS {
        let started = Instant::now();
        answer = read(black_box(text)).ok_or_else(refused)?;
        seconds.push(started.elapsed().as_secs_f64());
    }
    let figures = BTreeMap::from([("hits".to_owned(), answer.hits as f64)]);
    Ok(Report { checksum: answer.checksum(), figures, ..told(median(seconds), answer.records) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::Task;
    use generate_events::{SEED_DEFAULT, write_events};

    /// The answer that `serde_json::Value` finds, without any of our readers.
    fn wanted(text: &[u8], input: &str) -> Answer {
        let mut answer = Answer::default();
        for line in text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
            let event: serde_json::Value = serde_json::from_slice(line).expect("valid JSON");
            let message = event["Message"].as_str().expect("every event has one");
            answer.records += 1;
            let is_hit = match input {
                "filter" => event["Elapsed"].as_f64().is_some_and(|elapsed| elapsed > SLOW),
                "match" => message.contains(PATH),
                "rare" => message.contains(JOB),
                _ => false,
            };
            if is_hit {
                answer.add(message);
            }
        }
        answer
    }

    #[test]
    fn all_readers_find_the_same() {
        let mut text = Vec::new();
        write_events(&mut text, 1000, SEED_DEFAULT).expect("a Vec takes everything");
        text.extend_from_slice(
            br#"{"Elapsed":2e3,"Message":"a \"\u0042\" \/api\u002fcustomers, nightl\u0079-export"}"#,
        );
        text.extend_from_slice(
            b"\n{\"Message\":\"\\\\/api/customers\",\"Elapsed\":null}\n{\"Elapsed\":200.0,\"Message\":\"\"}",
        );
        let file = std::env::temp_dir().join(format!("jird-readers-{}.ndjson", std::process::id()));
        fs::write(&file, &text).expect("the folder is writable");
        for (input, hits) in Task::Readers.inputs().iter().zip([311, 182, 13, 0]) {
            let wanted = wanted(&text, input);
            assert!(wanted.records == 1003 && wanted.hits == hits, "{input}: {wanted:?}");
            for contestant in CONTESTANTS {
                let super::super::Run::Here(run) = contestant.run else { continue };
                let report = run(&Setting { rows: 0, file: &file, input }).expect("all of it is JSON");
                let found = (report.records, report.checksum);
                assert_eq!(found, (wanted.records, wanted.checksum()), "{} {input}", contestant.name);
            }
        }
        let _ = fs::remove_file(&file);
    }
}
