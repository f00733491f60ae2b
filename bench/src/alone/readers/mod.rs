//! `readers`: queries over generated events, with one loop over their lines, where only the record reader changes.
//!
//! The whole text is in memory. A line ends at a line feed that `memchr` finds; its reader hands out the message, decoded, of a
//! record that is asked for; what is kept is folded. The regular expression is the same for all, and nobody searches a line before
//! reading it. The `-lines` rows are not in this loop: they read many lines per scan, and search them first where they may.
//!
//! ```text
//! single   readers of one record, one per library
//! many     jird's Scanner
//! ```

mod many;
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

/// Runs whose median counts, after one over the text's first part.
const RUNS: usize = 3;

/// That part: one in so many bytes.
const WARMING: usize = 8;

/// What slow events exceed, in milliseconds.
const SLOW: f64 = 200.0;

/// What `match` looks for.
const PATH: &str = "/api/customers";

/// What `rare` looks for: a job's name, in four of five hundred messages.
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
];

/// Which events are asked for. The answer is their messages.
enum Query {
    /// `Elapsed > 200`.
    Filter,
    /// `match(Message, '/api/customers')`.
    Match(Regex),
    /// `Message like '%nightly-export%'`.
    Rare(Box<Finder<'static>>),
}

impl Query {
    fn named(name: &str) -> Result<Self, String> {
        match name {
            "filter" => Ok(Self::Filter),
            "match" => Regex::new(PATH).map(Self::Match).map_err(|error| error.to_string()),
            "rare" => Ok(Self::Rare(Box::new(Finder::new(JOB)))),
            _ => Err(format!("no query {name}")),
        }
    }
}

/// What was found.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Answer {
    records: u64,
    hits: u64,
    /// Of the messages.
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

/// The loop. `None` if a line is refused.
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
        }
    }
    Some(answer)
}

/// A reader in the loop. `make` gets the text that it will be given lines of.
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

    /// What `serde_json::Value` and no reader of ours finds.
    fn wanted(text: &[u8], input: &str) -> Answer {
        let mut answer = Answer::default();
        for line in text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
            let event: serde_json::Value = serde_json::from_slice(line).expect("valid JSON");
            let message = event["Message"].as_str().expect("every event has one");
            answer.records += 1;
            let is_hit = match input {
                "filter" => event["Elapsed"].as_f64().is_some_and(|elapsed| elapsed > SLOW),
                "match" => message.contains(PATH),
                _ => message.contains(JOB),
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
        for (input, hits) in Task::Readers.inputs().iter().zip([311, 182, 13]) {
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
